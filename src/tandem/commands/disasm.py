"""tandem disasm PROGRAM: binary to text."""

from __future__ import annotations

import argparse


from .. import core, programs, writing
from ..errors import EXIT_OK
from ..output import Output

HELP = "a program's text form"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help='text or binary; "-" is standard input')
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: stdout)")


def run(args: argparse.Namespace, output: Output) -> int:
    text = core.disasm(programs.load(args.program).binary)
    if args.output is not None:
        writing.write(args.output, text.encode())
    elif not output.json:
        output.raw(text.encode())
    if output.json:
        output.document({"schema": 1, "program": args.program, "text": text})
    return EXIT_OK
