"""tandem show PROGRAM|CASE.py: one side's observation, as a readable tree."""

from __future__ import annotations

import argparse
from .. import cases, options, programs, session, watching
from ..errors import EXIT_DIFFERS, EXIT_OK
from ..output import Output

HELP = "one side's observation, as a readable tree"
WATCHED = True


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM|CASE.py")
    parser.add_argument("--side", choices=("subject", "reference"), default="reference")
    options.add_sides(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    watching.at(args.program)
    is_case = args.program.endswith(".py")
    if is_case:
        cases.require(args.program)
    program = None if is_case else programs.load(args.program)
    judge = session.get(options.sides(args))
    if program is None:
        shown = judge.show_case(cases.load(args.program), args.side)
    else:
        shown = judge.show(args.program, program.binary, args.side)
    if output.json:
        output.document(
            {
                "schema": 1,
                **judge.loaded,
                "case": args.program,
                "side": args.side,
                "built": shown["built"],
                "why": shown["why"],
                "observation": shown["observation"],
            }
        )
    else:
        output.line(shown["tree"].rstrip("\n"))
    if not shown["built"]:
        output.note(f"{args.program}: {args.side}: {shown['why']}")
    return EXIT_OK if shown["built"] else EXIT_DIFFERS
