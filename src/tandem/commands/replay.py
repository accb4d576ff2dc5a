"""tandem replay [CORPUS]: a whole corpus, both sides, or the subject against what
was recorded."""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Callable
from typing import Any

from .. import core, fixtures, judging, options, programs, session
from ..errors import EXIT_OK, BadInput
from ..output import Output

HELP = "a whole corpus: both sides, or the subject against recorded observations"
WATCHED = True

BLIND = "blind"  # a stand-in for the builder, each of whose names raises when it is used


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="files or folders (default: the checkout's corpus)")
    parser.add_argument("--fixtures", action="store_true", help="against the .expected beside each; loads no builder")
    parser.add_argument("--record", action="store_true", help="write the .expected files from the reference")
    parser.add_argument("--observations", action="store_true", help="with --json: also of cases that agree")
    parser.add_argument("-q", "--quiet", action="store_true", help="no line for a program that agrees")
    options.add_sides(parser)
    options.add_other_side(parser)
    options.add_verdicts(parser)


def default_corpus() -> str:
    """The corpus of the checkout that this package comes from."""
    root = os.environ.get("TANDEM_ROOT")
    if root is None:
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))) + "/.."
    folder = os.path.normpath(os.path.join(root, "corpus"))
    if not os.path.isdir(folder):
        raise BadInput("no CORPUS was given, and there is no checkout with one")
    return folder


def judge_one(judge: session.Judge, program: programs.Program, observations: bool = False) -> dict[str, Any]:
    """Both sides, and what the subject leaves behind when it has run alone."""
    case = judge.run(program.path, program.binary, observations)
    if case["verdict"] == "agree" and judge.options.other_side is None:
        why = judge.left_behind(program.path, program.binary)
        if why is not None:
            session.leak(case, why)
    return case


def judge_fixture(judge: session.Judge, program: programs.Program, observations: bool = False) -> dict[str, Any]:
    """The subject alone, against what is recorded beside the program."""
    stamp, frames, records = fixtures.read(program.path, judge.loaded["revision"])
    if stamp.observation_schema != core.OBSERVATION_SCHEMA:
        raise BadInput(
            f"{fixtures.path_of(program.path)}:1:1: is of observation schema {stamp.observation_schema}, "
            f"this is {core.OBSERVATION_SCHEMA} (tandem replay --record)"
        )
    return judge.run_recorded(program.path, program.binary, frames, records, observations)


def observed(
    one: Callable[..., dict[str, Any]], always: bool, judge: session.Judge, program: programs.Program
) -> dict[str, Any]:
    """A case with its observations: always, or where it does not agree.  Writing them
    can take many times as long as judging, so most programs are spared it."""
    case = one(judge, program, always)
    return case if always or case["verdict"] == "agree" else one(judge, program, True)


def thin(case: dict[str, Any]) -> dict[str, Any]:
    """A case without its observations."""
    return {name: value for name, value in case.items() if name not in ("reference", "subject")}


def record(args: argparse.Namespace, output: Output, names: list[str]) -> int:
    """Writes what the reference does with each program beside it."""
    judge = session.get(options.sides(args))
    stamp = fixtures.Stamp(
        judge.loaded["revision"], session.builder_hash(), judge.loaded["torch"], core.OBSERVATION_SCHEMA
    )
    moved = []
    for done, name in enumerate(names):
        output.progress(f"{done} recorded; {name}")
        frames, records = judge.frames(name, programs.load(name).binary)
        if fixtures.write(name, stamp, frames, records):
            moved.append(fixtures.path_of(name))
            output.line(f"{moved[-1]}: recorded")
    output.line(f"{len(names)} programs, {len(moved)} observations of revision {stamp.revision} moved")
    if output.json:
        output.document({"schema": 1, **judge.loaded, "programs": len(names), "moved": moved})
    return EXIT_OK


def without_compiler(names: list[str], output: Output) -> list[str]:
    """The programs whose roots are all their own: builder calls of a compiler cannot be recorded,
    since the objects that they are made on are the compiler's."""
    kept = [name for name in names if "root compile" not in core.disasm(programs.load(name).binary)]
    if len(kept) != len(names):
        output.line(f"{len(names) - len(kept)} programs run the compiler: left out")
    return kept


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    names = list(programs.find(args.corpus or [default_corpus()]))
    if args.record:
        return record(args, output, names)
    if args.fixtures:
        names = without_compiler(names, output)
        args.builder = f"{BLIND}:installed" if args.revision == "installed" else BLIND
    sides = options.sides(args, coverage=not args.fixtures)
    one: Callable[..., dict[str, Any]] = judge_fixture if args.fixtures else judge_one
    if output.json:
        one = functools.partial(observed, one, args.observations)
    results = judging.judge_all(names, programs.load, one, output, args, sides)
    if not args.observations:
        results = [thin(case) if case["verdict"] == "agree" else case for case in results]
    return judging.finish(results, output, args, sides, started)
