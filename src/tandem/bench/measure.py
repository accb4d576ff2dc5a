"""Timed passes and the numbers made of them.

A pass builds one program, or one family's objects, on one side; the loops are in C
(bench_pass), in processor time.  Sides take turns round by round, so that what else
the machine does falls on both; every number is a median over rounds.
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass, field
from typing import Any

from .. import core
from ..errors import HarnessFailed, one_line
from . import families
from .families import Family


@dataclass
class Effort:
    """How much is measured."""

    rounds: int = 7
    reference_rounds: int = 5
    subject_passes: int = 9  # of each round, since they are short
    growth: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    growth_rounds: int = 5
    generated: int = 300
    random_strings: int = 300


QUICK = Effort(
    rounds=2, reference_rounds=1, subject_passes=3,
    growth=(1_000, 8_000), growth_rounds=2, generated=12, random_strings=12,
)  # fmt: skip


def geomean(values: list[float]) -> float | None:
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def exponent(points: list[tuple[int, float]]) -> float:
    """The slope of log(time) over log(nodes): 1 is linear."""
    xs, ys = [math.log(nodes) for nodes, _ in points], [math.log(max(time, 1.0)) for _, time in points]
    return statistics.linear_regression(xs, ys).slope


def _pass(side: str, source: Any, **options: Any) -> dict[str, int]:
    try:
        return core.bench_pass(side, source, **options)
    except core.HarnessError as error:
        raise HarnessFailed(one_line(error)) from None


class Clock:
    """Takes off what reading the clock costs."""

    def __init__(self) -> None:
        self.cost = statistics.median(core.bench_clock() for _ in range(5))

    def net(self, nanoseconds: float, readings: int = 1) -> float:
        return max(nanoseconds - self.cost * readings, 1.0)

    def roots(self, passed: dict[str, int]) -> float:
        return self.net(passed["roots"], passed["stretch_cnt"])


# ---- families --------------------------------------------------------------------


def family(one: Family, clock: Clock, effort: Effort, peers: bool = True) -> dict[str, Any]:
    """Subject, bare reference and pickle on one family.  Its objects are made in the state
    that a reset gives: a module says when it was made, and no family may hang on what ran
    before it."""
    _pass("subject", [])
    made, nodes = one.make(one.size)
    frames = one.program(made)
    result: dict[str, Any] = {"family": one.name, "what": one.what, "nodes": nodes}
    if _pass("subject", frames)["stopped_cnt"]:
        return {**result, "why": "subject-unsupported"}
    subject, context, reference, reference_context, pickled = [], [], [], [], []
    for turn in range(effort.rounds):
        for _ in range(effort.subject_passes):
            passed = _pass("subject", frames)
            subject.append(clock.roots(passed))
            context.append(passed["context"])
        if turn < effort.reference_rounds:
            passed = _pass("reference", frames)
            reference.append(clock.roots(passed))
            reference_context.append(passed["context"])
        if one.pickles:
            pickled += [clock.net(core.bench_pickle(made)) for _ in range(effort.subject_passes)]
    ns = {"subject": statistics.median(subject), "reference": statistics.median(reference)}
    result |= {
        "subject_ns_per_node": ns["subject"] / nodes,
        "reference_ns_per_node": ns["reference"] / nodes,
        "subject_vs_reference": ns["reference"] / ns["subject"],
        "subject_context_ns": statistics.median(context),
        "reference_context_ns": statistics.median(reference_context),
        "nested": one.nested,
    }
    if pickled:
        result["pickle_ns_per_node"] = statistics.median(pickled) / nodes
        result["subject_vs_pickle"] = ns["subject"] / statistics.median(pickled)
    return result


def growth(one: Family, clock: Clock, effort: Effort) -> dict[str, Any]:
    """The subject on ever more nodes of a family: time and memory a node.  The first
    pass is told apart: it may pay for memory that the process never had before."""
    rows, points = [], []
    for size in effort.growth:
        made, nodes = one.make(size)
        frames = one.program(made)
        passes = [_pass("subject", frames) for _ in range(effort.growth_rounds)]
        if passes[0]["stopped_cnt"]:
            return {"family": one.name, "why": "subject-unsupported"}
        time = statistics.median(clock.roots(passed) for passed in passes)
        pickled = statistics.median(core.bench_pickle(made) for _ in range(effort.growth_rounds))
        held = _pass("subject", frames, memory=True)["memory"]
        points.append((nodes, time))
        rows.append(
            {
                "nodes": nodes,
                "ns_per_node": time / nodes,
                "first_ns_per_node": clock.roots(passes[0]) / nodes,
                "pickle_ns_per_node": pickled / nodes,
                "bytes_per_node": held / nodes,
            }
        )
    return {
        "family": one.name,
        "exponent": exponent(points),
        "last_vs_first": rows[-1]["ns_per_node"] / rows[0]["ns_per_node"],
        "sizes": rows,
    }


# ---- programs --------------------------------------------------------------------


@dataclass
class Timed:
    """A program and what its passes took, in nanoseconds."""

    path: str
    binary: bytes
    verdict: str = ""
    compared: bool = False
    harness: list[float] = field(default_factory=list)  # without the making of objects
    harness_making: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    bare_roots: list[float] = field(default_factory=list)
    making: list[float] = field(default_factory=list)
    subject_roots: list[float] = field(default_factory=list)
    subject: list[float] = field(default_factory=list)


def _round(programs: list[Timed], clock: Clock, effort: Effort, bare: bool) -> None:
    """One turn of each: the whole harness, then the bare reference, then the subject."""
    core.bench_arms(True)
    for one in programs:
        spent, one.verdict, one.compared, making = core.bench_harness(one.binary)
        one.harness.append(spent - making)
        one.harness_making.append(making)
    core.bench_arms(False)
    for one in programs:
        if one.verdict == "agree" and bare:
            passed = _pass("reference", one.binary)
            one.bare.append(passed["run"] + passed["reset"])
            one.bare_roots.append(clock.roots(passed))
            one.making.append(passed["make"])
    for one in programs:
        for _ in range(effort.subject_passes if one.verdict == "agree" else 0):
            passed = _pass("subject", one.binary)
            one.subject_roots.append(clock.roots(passed))
            one.subject.append(passed["run"])


def programs(timed: list[Timed], clock: Clock, effort: Effort) -> dict[str, Any]:
    """Programs on the whole harness, the bare reference and the subject.  Only those
    that agree are timed; making the objects is left out and told apart."""
    for one in timed:  # what runs first pays for what is made once
        core.bench_harness(one.binary)
    for _ in range(effort.reference_rounds):
        _round(timed, clock, effort, True)
    good = [one for one in timed if one.verdict == "agree" and one.bare]
    result: dict[str, Any] = {"programs": len(timed), "agree": len(good)}
    if not good:
        return {**result, "why": "no program agrees"}
    making = sum(statistics.median(one.making) for one in good)
    harness = sum(statistics.median(one.harness) for one in good)
    harness_making = sum(statistics.median(one.harness_making) for one in good)
    bare = sum(statistics.median(one.bare) for one in good)
    subject = sum(statistics.median(one.subject) for one in good)
    ratios = {one.path: statistics.median(one.bare_roots) / statistics.median(one.subject_roots) for one in good}
    slowest = min(ratios, key=ratios.__getitem__)
    second = 1e9 * len(good)
    return result | {
        "harness_vs_bare_reference": bare / harness,
        "programs_per_s": {
            "harness": second / harness,
            "bare_reference": second / bare,
            "subject": second / subject,
            "harness_with_objects": second / (harness + harness_making),
            "making_objects": second / making,
        },
        "subject_vs_reference": sum(statistics.median(one.bare_roots) for one in good)
        / sum(statistics.median(one.subject_roots) for one in good),
        "geomean_of_programs": geomean(list(ratios.values())),
        "slowest": {"program": slowest, "subject_vs_reference": ratios[slowest]},
    }


def share_compared(effort: Effort) -> float:
    """How many random byte strings, once repaired, are programs that get compared."""
    chance = random.Random(0)
    compared = 0
    core.bench_arms(True)
    for _ in range(effort.random_strings):
        program, _ = core.repair(chance.randbytes(chance.randint(64, 512)))
        compared += core.bench_harness(program)[2]
    return compared / effort.random_strings


def all_families(clock: Clock, effort: Effort, told) -> tuple[list[dict], list[dict]]:
    """Every family's row, and the growth of those that grow."""
    core.bench_arms(False)
    rows, grown = [], []
    for one in families.FAMILIES:
        told(one.name)
        rows.append(family(one, clock, effort))
    for one in families.FAMILIES:
        if one.grows:
            told(f"growth of {one.name}")
            grown.append(growth(one, clock, effort))
    return rows, grown
