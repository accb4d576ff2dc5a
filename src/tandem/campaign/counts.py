"""What the processes of a campaign counted, added up and shown."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from ..output import table

_SUMS = ("programs", "compared", "flaky", "internal_errors", "shared", "two_frames", "distinct")
_TABLES = ("kinds", "sources", "entries", "dos", "config")


class Counts:
    """The sum of several processes' counts (see src/target/td_campaign.c)."""

    def __init__(self) -> None:
        self.numbers: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.unsupported: Counter[str] = Counter()
        self.findings: Counter[str] = Counter()
        self.tables: dict[str, dict[str, list[int]]] = {name: {} for name in _TABLES}
        self.sizes: list[int] = []
        self.arms: set[str] = set()
        self.top = 0

    def add(self, one: dict[str, Any]) -> None:
        for name in _SUMS:
            self.numbers[name] += one[name]
        self.verdicts.update(one["verdicts"])
        self.unsupported.update(one["unsupported"])
        self.findings.update(one["findings"])
        for name in _TABLES:
            for key, (seen, compared) in one[name].items():
                row = self.tables[name].setdefault(key, [0, 0])
                row[0] += seen
                row[1] += compared
        self.sizes += [0] * (len(one["sizes"]) - len(self.sizes))
        for index, count in enumerate(one["sizes"]):
            self.sizes[index] += count
        self.arms.update(one["arms"])
        self.top = max(self.top, one["top"])

    def median_size(self) -> int:
        """Objects in the median program."""
        half, total = 0, sum(self.sizes)
        for size, count in enumerate(self.sizes):
            half += count
            if 2 * half >= total:
                return size
        return 0

    def share(self, name: str) -> float:
        programs = self.numbers["programs"]
        return self.numbers[name] / programs if programs else 0.0


def read(path: str) -> dict[str, Any] | None:
    """One process's counts; None when it has written none yet."""
    try:
        with open(path, encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return None


def gather(folder: str, prefix: str) -> Counts:
    """The counts of all processes whose file in folder begins with prefix."""
    counts = Counts()
    for name in sorted(os.listdir(folder)):
        one = read(os.path.join(folder, name)) if name.startswith(prefix) and name.endswith(".json") else None
        if one is not None:
            counts.add(one)
    return counts


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def live_line(counts: Counts, seconds: float, findings: int) -> str:
    """How a campaign stands, in one line."""
    programs = counts.numbers["programs"]
    speed = programs / seconds if seconds > 0 else 0.0
    return (
        f"{seconds:.0f} s: {programs} programs ({speed:.0f}/s), {percent(counts.share('compared'))} compared, "
        f"{len(counts.arms)} arms, {findings} finding{'s' if findings != 1 else ''}"
    )


def _table_lines(counts: Counts, name: str, title: str) -> list[str]:
    rows = [(key, str(seen), str(compared)) for key, (seen, compared) in counts.tables[name].items() if seen]
    return [f"{title:<34} seen / compared", *table(rows)] if rows else []


def summary_lines(counts: Counts, seconds: float) -> list[str]:
    """The tables at the end of a campaign."""
    programs = counts.numbers["programs"]
    lines = []
    for name, title in (
        ("kinds", "object kinds, in programs"),
        ("sources", "source kinds"),
        ("entries", "entry points"),
        ("dos", "changes between builds"),
        ("config", "config values"),
    ):
        lines += _table_lines(counts, name, title)
    if counts.unsupported:
        lines.append("subject-unsupported, by arm")
        lines += table([(str(count), why) for why, count in counts.unsupported.most_common(20)])
    lines += [
        "",
        f"programs   {programs} in {seconds:.0f} s ({programs / seconds if seconds else 0:.0f}/s), "
        f"{counts.numbers['distinct']} different, the most frequent {percent(counts.top / programs if programs else 0)}",
        f"shape      median {counts.median_size()} objects, {percent(counts.share('shared'))} with sharing, "
        f"{percent(counts.share('two_frames'))} with two frames or more",
        f"compared   {counts.numbers['compared']} ({percent(counts.share('compared'))})",
        "verdicts   " + (", ".join(f"{count} {name}" for name, count in counts.verdicts.items() if count) or "none"),
        f"arms       {len(counts.arms)} reached by programs that agree",
    ]
    return lines
