"""tandem run PROGRAM...: both sides on programs."""

from __future__ import annotations

import argparse
import functools
import time

from .. import judging, options, programs, session
from ..output import Output

HELP = "both sides on programs; prints the first divergence of each"
WATCHED = True


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("programs", nargs="+", metavar="PROGRAM", help="text or binary; a folder: all its .tdm")
    options.add_sides(parser)
    options.add_other_side(parser)
    options.add_verdicts(parser)


def judge_one(observations: bool, judge: session.Judge, program: programs.Program) -> dict:
    return judge.run(program.path, program.binary, observations)


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    sides = options.sides(args, coverage=True)
    names = programs.find(args.programs)
    one = functools.partial(judge_one, output.json)  # nobody reads observations elsewhere
    results = judging.judge_all(names, programs.load, one, output, args, sides)
    return judging.finish(results, output, args, sides, started)
