"""tandem compare CASE.py...: both sides on objects made in Python."""

from __future__ import annotations

import argparse
import time

from .. import cases, judging, options, programs, session
from ..output import Output

HELP = "both sides on objects that case files make"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cases", nargs="+", metavar="CASE.py", help="a case file; a folder: all its .py")
    options.add_sides(parser)
    options.add_other_side(parser)
    options.add_verdicts(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    judge = session.get(options.sides(args, coverage=True))

    def judge_one(path: str) -> dict:
        return judge.compare_case(cases.load(path))

    results = judging.judge_all(programs.find(args.cases, ".py"), judge_one, output, args)
    return judging.finish(results, judge, output, args, started)
