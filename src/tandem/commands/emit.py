"""tandem emit PROGRAM: the program as a Python script that needs torch alone."""

from __future__ import annotations

import argparse
import importlib.util
import os

from .. import options, programs, writing
from ..emit import script
from ..emit.expressions import CannotEmit
from ..errors import EXIT_DIFFERS, EXIT_OK, BadInput, HarnessFailed
from ..output import Output

HELP = "the program as a Python script that needs torch alone"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM", help='text or binary; "-" is standard input')
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write it (default: stdout)")
    parser.add_argument("--compile", action="store_true", help="as a function under torch.compile, with its guards")
    parser.add_argument("--builder", **options.BUILDER)


def _needs_shims(builder: str) -> bool:
    """Whether a builder is (nearest to) the mission's revision, as its tree tells."""
    from ..oracle import loader, revisions

    try:
        _, tree = loader.parse(builder)
    except loader.LoadError as error:
        raise BadInput(str(error)) from None
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        raise HarnessFailed("torch is missing, whose builder the file is held against; tandem doctor says more")
    installed = os.path.join(found.submodule_search_locations[0], "_dynamo", "variables", "builder.py")
    return revisions.nearest(tree, installed)[0] == "mission"


def run(args: argparse.Namespace, output: Output) -> int:
    builder = None if args.builder in (None, "installed") else args.builder
    program = programs.load(args.program)
    shims = builder is not None and _needs_shims(builder)
    try:
        text, why = script.emit(program.path, program.binary, builder, shims, args.compile), ""
    except CannotEmit as error:
        text, why = None, str(error)
    if output.json:
        output.document({"schema": 1, "program": args.program, "written": text is not None, "why": why, "text": text})
    if text is None:
        output.note(f"{args.program}: no script: {why}")
        return EXIT_DIFFERS
    if args.output is not None:
        writing.write(args.output, text.encode())
    elif not output.json:
        output.raw(text.encode())
    return EXIT_OK
