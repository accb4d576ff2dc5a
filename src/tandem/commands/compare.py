"""tandem compare CASE.py...: both sides on objects made in Python."""

from __future__ import annotations

import argparse
import functools
import time
from typing import Any

from .. import cases, judging, options, programs, session
from ..output import Output

HELP = "both sides on objects that case files make"
WATCHED = True


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", nargs="+", metavar="CASE.py", help="a case file; a folder: all its .py")
    options.add_sides(parser)
    options.add_other_side(parser)
    options.add_verdicts(parser)


def _compare(observations: bool, judge: session.Judge, path: str) -> dict[str, Any]:
    with cases.undisturbed():
        return judge.compare_case(cases.load(path), observations)


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    sides = options.sides(args, coverage=True)
    names = programs.find(args.cases, ".py")
    one = functools.partial(_compare, output.json)  # nobody reads observations elsewhere
    results = judging.judge_all(names, cases.require, one, output, args, sides)
    return judging.finish(results, output, args, sides, started)
