"""What the processes of a campaign counted, added up and shown."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from ..output import table

_SUMS = ("programs", "compared", "broken", "flaky", "internal_errors", "distinct")
_TABLES = ("kinds", "sources", "entries", "changes", "layouts", "dtypes", "config")


class Counts:
    """The sum of several processes' counts (see src/target/td_campaign.c).

    numbers   totals by name; with "shared", "frames" and "drift": programs with sharing,
              with two frames or more, and with ints or sizes that may become dynamic
    tables    for each sort of thing {name: [seen, in programs that were compared]}
    sizes     how many programs have index objects
    """

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
        self.arms.update(one["arms"])
        self.top = max(self.top, one["top"])
        self.sizes = [sum(pair) for pair in zip_longest(self.sizes, one["sizes"], fillvalue=0)]
        for name in ("shared", "frames", "drift"):
            self.numbers[name] += one["mix_seen"][f"programs_{name}"]
        for column, mix in enumerate(("mix_seen", "mix_compared")):
            for name in _TABLES:
                for key, count in flatten(one[mix][name]):
                    self.tables[name].setdefault(key, [0, 0])[column] += count

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


def flatten(names: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """{"list": 3} as it is; {"specialize_int": {"True": 1}} as "specialize_int=True"."""
    for name, count in names.items():
        if isinstance(count, dict):
            for value, inner in count.items():
                yield f"{name}={value}", inner
        else:
            yield name, count


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
    top = percent(counts.top / programs if programs else 0)
    lines = []
    for name, title in (
        ("kinds", "objects, by kind"),
        ("sources", "sources, by kind"),
        ("entries", "roots, by entry point"),
        ("changes", "changes between builds"),
        ("config", "programs that set a config value"),
    ):
        lines += _table_lines(counts, name, title)
    if counts.unsupported:
        lines.append("subject-unsupported, by arm")
        lines += table([(str(count), why) for why, count in counts.unsupported.most_common(20)])
    lines += [
        "",
        f"programs   {programs} in {seconds:.0f} s ({programs / seconds if seconds else 0:.0f}/s), "
        f"{counts.numbers['distinct']} different, the most frequent {top}",
        f"shape      median {counts.median_size()} objects, {percent(counts.share('shared'))} with sharing, "
        f"{percent(counts.share('frames'))} with two frames or more, "
        f"{percent(counts.share('drift'))} with shapes that may drift",
        f"compared   {counts.numbers['compared']} ({percent(counts.share('compared'))})",
        "verdicts   " + (", ".join(f"{count} {name}" for name, count in counts.verdicts.items() if count) or "none"),
        f"arms       {len(counts.arms)} reached by programs that agree",
    ]
    return lines
