"""The lines of the subject that neither a program nor a failing allocation reaches, and
why: the rules and rows of excused.toml.

Lines that stand together and are not reached are a gap.  A row tells a gap by its file
and function, the text of its first line and that of the line before, so that it holds
wherever these stand.  A rule is about every gap whose first line, or the line before, has
a certain form.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass

from .lines import Lines

_PATH = os.path.join(os.path.dirname(__file__), "excused.toml")


@dataclass(frozen=True)
class Gap:
    """Lines of one function with no reached one between them."""

    file: str
    function: str
    before: str  #: the text of the line before
    first: str  #: and of the first line
    lines: tuple[int, ...]

    @property
    def at(self) -> str:
        """As a row names it."""
        return f"{self.file} {self.function}: {self.before} > {self.first}"

    def __str__(self) -> str:
        return f"{self.file}:{self.lines[0]}-{self.lines[-1]}" if self.lines[1:] else f"{self.file}:{self.lines[0]}"


@dataclass(frozen=True)
class Row:
    """About one gap; revision "" is whichever is followed."""

    at: str
    reason: str
    revision: str = ""


@dataclass(frozen=True)
class Rule:
    """About gaps whose first line, and the line before it, are of these forms ("": any)."""

    first: str
    before: str
    reason: str

    def holds(self, gap: Gap) -> bool:
        return bool(re.search(self.first, gap.first) and re.search(self.before, gap.before))


@dataclass(frozen=True)
class Table:
    rules: list[Rule]
    rows: list[Row]


def table(path: str = _PATH) -> Table:
    """What excused.toml says; ValueError for what has no reason, or two rows for one gap."""
    with open(path, "rb") as file:
        read = tomllib.load(file)
    rules = [Rule(rule.get("first", ""), rule.get("before", ""), rule["reason"]) for rule in read["rule"]]
    rows = [
        Row(at, group["reason"], group.get("revision", "")) for group in read.get("excuse", []) for at in group["at"]
    ]
    if not all(one.reason for one in (*rules, *rows)):
        raise ValueError(f"{os.path.basename(path)}: a row without a reason")
    if len({(row.at, row.revision) for row in rows}) != len(rows):
        raise ValueError(f"{os.path.basename(path)}: two rows are about one gap")
    return Table(rules, rows)


def _text(source: list[str], line: int) -> str:
    return " ".join(source[line - 1].split()) if 0 < line <= len(source) else ""


def _before(source: list[str], line: int) -> str:
    """The text of the nearest line before that has any."""
    return next((text for text in (_text(source, one) for one in range(line - 1, 0, -1)) if text), "")


def _sources(lines: Lines) -> dict[str, list[str]]:
    sources = {}
    for file in sorted({file for file, _ in lines.counts}):
        with open(lines.paths[file], encoding="utf-8") as opened:
            sources[file] = opened.read().splitlines()
    return sources


def _gap(lines: Lines, source: list[str], file: str, run: list[int]) -> Gap:
    function, first = lines.function((file, run[0])), run[0]
    return Gap(file, function, _before(source, first), _text(source, first), tuple(run))


def gaps(lines: Lines) -> list[Gap]:
    """What is not reached, in the files' order."""
    found: list[Gap] = []
    reached = lines.reached()
    for file, source in _sources(lines).items():
        run: list[int] = []
        for line in [*sorted(line for name, line in lines.counts if name == file), 0]:
            apart = run and lines.function((file, line)) != lines.function((file, run[0]))
            if run and (not line or apart or (file, line) in reached):
                found.append(_gap(lines, source, file, run))
                run = []
            if line and (file, line) not in reached:
                run.append(line)
    return found


def open_places(lines: Lines) -> set[str]:
    """Where a gap begins, or would if what stands before it were reached."""
    sources, reached = _sources(lines), lines.reached()
    return {_gap(lines, sources[file], file, [line]).at for file, line in lines.counts if (file, line) not in reached}


@dataclass(frozen=True)
class Excused:
    """Gaps with their reason, gaps without one, and rows about what is reached or stands
    no longer."""

    with_reason: list[tuple[Gap, str]]
    without: list[Gap]
    stale: list[Row]

    def document(self) -> dict[str, object]:
        """The keys of `subject_lines` that are about reasons."""
        return {
            "excused": [{"lines": str(gap), "at": gap.at, "reason": reason} for gap, reason in self.with_reason],
            "without_reason": [str(gap) for gap in self.without],
        }


def judge(lines: Lines, said: Table, revision: str) -> Excused:
    """What is not reached, under the table's rows that hold for this revision (one for it
    alone comes first), then under its rules."""
    rows = {row.at: row for row in sorted(said.rows, key=lambda row: row.revision) if row.revision in ("", revision)}
    with_reason, without = [], []
    for gap in gaps(lines):
        row = rows.get(gap.at) or next((rule for rule in said.rules if rule.holds(gap)), None)
        if row is None:
            without.append(gap)
        else:
            with_reason.append((gap, row.reason))
    there = open_places(lines)
    return Excused(with_reason, without, [row for at, row in rows.items() if at not in there])
