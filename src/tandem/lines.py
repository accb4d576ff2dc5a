"""Which lines of the subject a corpus reaches: those that its programs run, and those
that only hand on an error, which allocations that fail do.

The subject that runs is <build>/subjects/covered.so (src/cover): the same sources,
with counters at their lines.  The compiler's own tools read the counters.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from . import core
from .errors import HarnessFailed, one_line

#: Between two allocations that fail in turn the next ones are left out that behave alike:
#: one in SHARE of what was tried already.
SHARE = 64

#: Whose allocation fails, as td_cover_arm has it.
OWNERS = {0: "the subject's", 1: "Python's"}


@dataclass
class Lines:
    """Counts of lines, by (file, line).  A decision is a line with a branch on it."""

    counts: dict[tuple[str, int], int] = field(default_factory=dict)
    decisions: set[tuple[str, int]] = field(default_factory=set)
    functions: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)

    def reached(self) -> set[tuple[str, int]]:
        return {line for line, count in self.counts.items() if count}

    def function(self, place: tuple[str, int]) -> str:
        """The function that a line stands in."""
        name, line = place
        before = [(start, function) for start, function in self.functions.get(name, []) if start <= line]
        return max(before)[1] if before else ""


def parse(text: str) -> Lines:
    """Of the form that lcov reads (SF, FN, DA and BRDA lines)."""
    lines, name = Lines(), ""
    for row in text.splitlines():
        what, _, rest = row.partition(":")
        if what == "SF":
            name = os.path.basename(rest)
            lines.paths[name] = rest
        elif what == "FN":
            line, function = rest.split(",", 1)
            lines.functions.setdefault(name, []).append((int(line), function.rpartition(":")[2]))
        elif what == "DA":
            line, count = rest.split(",")[:2]
            place = name, int(line)
            lines.counts[place] = lines.counts.get(place, 0) + int(count)
        elif what == "BRDA":
            lines.decisions.add((name, int(rest.split(",")[0])))
    return lines


def _tool(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise HarnessFailed(f"{command[0]}: {error.strerror} (tandem doctor says what is missing)") from None
    if done.returncode:
        raise HarnessFailed(f"{command[0]}: {one_line(done.stderr) or done.returncode}")
    return done.stdout


class Covered:
    """The covered subject, loaded already as this process's subject."""

    def __init__(self, path: str, sources: str) -> None:
        self.path, self.sources = path, sources
        try:
            self._library = ctypes.CDLL(path)
            self._library.td_cover_arm.argtypes = [ctypes.c_uint64, ctypes.c_int]
            self._library.td_cover_live_cnt.restype = ctypes.c_int64
        except (OSError, AttributeError) as error:
            raise HarnessFailed(f"{path}: no subject that counts its lines ({one_line(error)})") from None

    def lines(self) -> Lines:
        """What ran since the process started."""
        with tempfile.TemporaryDirectory(prefix="tandem-lines-") as folder:
            raw, data = os.path.join(folder, "raw"), os.path.join(folder, "data")
            if self._library.td_cover_write(os.fsencode(raw)):
                raise HarnessFailed(f"{raw}: the counters of the subject's lines could not be written")
            _tool("llvm-profdata", "merge", "-sparse", raw, "-o", data)
            return parse(_tool("llvm-cov", "export", "-format=lcov", "-instr-profile", data, self.path, self.sources))

    def starve(self, program: bytes) -> Iterator[str]:
        """Runs the subject alone on a program, one failing allocation after the other, of
        its own and of Python's, with the operator records that it asks for; gives what is
        wrong with how that ends."""
        core.run(program, False)
        for whose in OWNERS:
            core.testing["quiet"](program, True)
            held = self._library.td_cover_live_cnt()
            for nth, why in self._failing(program, whose):
                if why is not None:
                    yield f"allocation {nth} of {OWNERS[whose]} failed, and {why}"
            core.testing["quiet"](program, True)
            lost = self._library.td_cover_live_cnt() - held
            if lost > 0:
                yield f"{lost} blocks are held after allocations of {OWNERS[whose]} that failed"

    def _failing(self, program: bytes, whose: int) -> Iterator[tuple[int, str | None]]:
        """Each allocation that failed in its turn, and what the subject left behind then."""
        nth = 1
        while True:
            self._library.td_cover_arm(nth, whose)
            try:
                why = _left_behind(program)
            finally:
                failed = self._library.td_cover_disarm()
            if not failed:
                return
            yield nth, why
            nth += 1 + nth // SHARE


def _left_behind(program: bytes) -> str | None:
    """What the subject still holds after a run that may have failed."""
    try:
        return core.testing["quiet"](program, True)
    except core.HarnessError:
        return None  # it ended, and said why


def document(replayed: Lines, starved: Lines) -> dict[str, int]:
    """The keys of `tandem cover --json` that are about lines: decisions by replay, all lines
    by replay and failing allocations together."""
    decisions = replayed.decisions
    return {
        "decision_total": len(decisions),
        "decision_reached": len(decisions & replayed.reached()),
        "total": len(starved.counts),
        "reached": len(starved.reached()),
    }


def unreached(lines: Lines, places: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """File -> lines among these places that did not run."""
    missing = sorted(set(places) - lines.reached())
    return {name: [line for file, line in missing if file == name] for name in Counter(file for file, _ in missing)}
