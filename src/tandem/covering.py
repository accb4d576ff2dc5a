"""What a corpus covers: the arms of the reference that its agreeing programs reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .oracle.arms import Arm
from .oracle.excuses import Excuse


@dataclass(frozen=True)
class Cover:
    """The arms of a builder in the file's order, which of them are excused, and which
    ones programs reached that agree; an arm that is both counts as reached."""

    arms: list[Arm]
    excuses: dict[str, Excuse]
    reached: frozenset[str]

    @property
    def excused(self) -> list[Arm]:
        return [arm for arm in self.arms if arm.id in self.excuses and arm.id not in self.reached]

    @property
    def missing(self) -> list[Arm]:
        return [arm for arm in self.arms if arm.id not in self.excuses and arm.id not in self.reached]

    def stale(self) -> list[str]:
        """Arms that are excused and reached all the same."""
        return [arm.id for arm in self.arms if arm.id in self.excuses and arm.id in self.reached]

    def document(self) -> dict[str, Any]:
        """The keys of `tandem cover --json` that are about arms."""
        return {
            "arms": len(self.arms),
            "reached": len(self.reached),
            "excused": [
                {"arm": arm.id, "sort": self.excuses[arm.id].sort, "reason": self.excuses[arm.id].reason}
                for arm in self.excused
            ],
            "missing": [arm.id for arm in self.missing],
        }


def of_cases(arms: list[Arm], excuses: dict[str, Excuse], cases: Iterable[dict[str, Any]]) -> Cover:
    """Of judged cases: an arm counts by a program that was compared and agrees."""
    reached: set[str] = set()
    for case in cases:
        if case["verdict"] == "agree":
            reached.update(case["arms"])
    unknown = reached - {arm.id for arm in arms}
    if unknown:
        raise ValueError(f"arms that the builder does not have: {', '.join(sorted(unknown))}")
    return Cover(arms, excuses, frozenset(reached))


def family(arm: Arm) -> str:
    """The function that an arm stands in; one within a function belongs to it."""
    parts = arm.qualname.split(".")
    inner = [part for part in parts[:2] if not part.startswith("<")]
    return ".".join(inner if parts[0][:1].isupper() else inner[:1]) or "(module)"


def by_family(cover: Cover) -> list[tuple[str, int, int, int]]:
    """(function, agreed, of, excused) in the file's order; `of` leaves the excused out."""
    agreed, total, excused = Counter(), Counter(), Counter()
    without = {arm.id for arm in cover.excused}
    order = dict.fromkeys(map(family, cover.arms))
    for arm in cover.arms:
        name = family(arm)
        excused[name] += arm.id in without
        total[name] += arm.id not in without
        agreed[name] += arm.id in cover.reached
    return [(name, agreed[name], total[name], excused[name]) for name in order]


_HEAD = """# Arms of the reference that this corpus reaches

Arms agreed of those that programs can reach, function by function, for each revision: an arm counts by a program
that is compared and agrees. Written by `tandem cover --table corpus/ARMS.md`, a revision at a time; `tandem cover`
names the arms that are missing.
"""
_ALL = "all"


def column(cover: Cover) -> dict[str, str]:
    """A revision's column of the page: function -> "agreed / of"."""
    rows = by_family(cover)
    cells = {f"`{name}`": f"{agreed} / {of}" for name, agreed, of, _ in rows if of}
    return cells | {_ALL: f"{sum(row[1] for row in rows)} / {sum(row[2] for row in rows)}"}


def page(columns: dict[str, dict[str, str]]) -> str:
    """The text of corpus/ARMS.md."""
    names = [name for name in dict.fromkeys(name for cells in columns.values() for name in cells) if name != _ALL]
    rows = [["function", *columns], ["---"] * (len(columns) + 1)]
    rows += [[name, *(cells.get(name, "") for cells in columns.values())] for name in [*names, _ALL]]
    return _HEAD + "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def columns_of(text: str) -> dict[str, dict[str, str]]:
    """The columns of such a page; none where the text is no such page."""
    rows = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    if len(rows) < 2 or rows[0][0] != "function":
        return {}
    result: dict[str, dict[str, str]] = {revision: {} for revision in rows[0][1:]}
    for name, *cells in rows[2:]:
        for revision, cell in zip(result, cells):
            if cell:
                result[revision][name] = cell
    return result
