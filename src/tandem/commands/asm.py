"""tandem asm PROGRAM: text to binary."""

from __future__ import annotations

import argparse

from .. import programs, writing
from ..errors import EXIT_OK
from ..output import Output

HELP = "a program's binary form"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help='text or binary; "-" is standard input')
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: stdout)")


def run(args: argparse.Namespace, output: Output) -> int:
    binary = programs.load(args.program).binary
    if args.output is not None:
        writing.write(args.output, binary)
    elif not output.json:
        output.raw(binary)
    if output.json:
        output.document({"schema": 1, "program": args.program, "size": len(binary), "hex": binary.hex()})
    return EXIT_OK
