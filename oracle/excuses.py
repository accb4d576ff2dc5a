"""The arms that no program reaches, and why: the rows of excuses.toml.

A row tells an arm by what it decides (function, kind, condition, outcome), so that it
holds in every revision where that condition stands.
"""
from __future__ import annotations

import collections
import dataclasses
import os
import tomllib
from typing import Iterable

from .arms import Arm

_PATH = os.path.join(os.path.dirname(__file__), "excuses.toml")
SORTS = ("dead", "planted", "process")


@dataclasses.dataclass(frozen=True)
class Excuse:
    """A row.  after tells apart what a function has several of: the condition (or
    statement) whose arms stand right before."""

    function: str
    kind: str
    condition: str
    outcome: str
    sort: str
    reason: str
    after: str = ""


def rows(path: str = _PATH) -> list[Excuse]:
    """The rows of the table; ValueError for a sort that is none, or two rows for one arm."""
    with open(path, "rb") as file:
        found = [Excuse(**row) for row in tomllib.load(file)["excuse"]]
    for row in found:
        if row.sort not in SORTS:
            raise ValueError(f"{os.path.basename(path)}: {row.condition}: {row.sort!r} is none of {', '.join(SORTS)}")
    if len({dataclasses.replace(row, sort="", reason="") for row in found}) != len(found):
        raise ValueError(f"{os.path.basename(path)}: two rows are about one arm")
    return found


def excused(arms: Iterable[Arm], table: Iterable[Excuse] | None = None) -> dict[str, Excuse]:
    """Of these arms (all of a file, in order) the excused ones: id -> row."""
    alike: dict[tuple[str, str, str, str], list[tuple[Arm, str]]] = collections.defaultdict(list)
    before = text = ""
    for arm in arms:
        if arm.text != text:
            before, text = text, arm.text
        alike[arm.qualname, arm.kind, arm.text, arm.arm].append((arm, before))
    found = {}
    for row in rows() if table is None else table:
        for arm, before in alike[row.function, row.kind, row.condition, row.outcome]:
            if row.after in ("", before):
                found[arm.id] = row
    return found
