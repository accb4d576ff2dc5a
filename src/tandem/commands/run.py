"""tandem run PROGRAM...: both sides on programs."""

from __future__ import annotations

import argparse
import time

from .. import judging, options, programs, session
from ..output import Output

HELP = "both sides on programs; prints the first divergence of each"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="text or binary; a folder: all its .tdm")
    options.add_sides(parser)
    options.add_other_side(parser)
    options.add_verdicts(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    judge = session.get(options.sides(args, coverage=True))

    def judge_one(path: str) -> dict:
        return judge.run(path, programs.load(path).binary)

    results = judging.judge_all(programs.find(args.programs), judge_one, output, args)
    return judging.finish(results, judge, output, args, started)
