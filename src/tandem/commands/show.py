"""tandem show PROGRAM|CASE.py: one side's observation, as a readable tree."""

from __future__ import annotations

import argparse
from typing import Any

from .. import cases, options, programs, session
from ..errors import EXIT_DIFFERS, EXIT_OK
from ..output import Output

HELP = "one side's observation, as a readable tree"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM|CASE.py")
    parser.add_argument("--side", choices=("subject", "reference"), default="reference")
    options.add_sides(parser)


def tree_lines(value: Any, name: str, indent: int = 0) -> list[str]:
    """A value as an indented tree; what fits is kept on one line."""
    head = "  " * indent + (f"{name}: " if name else "")
    flat = _flat(value)
    if flat is not None and len(head) + len(flat) <= 110:
        return [head + flat]
    if isinstance(value, dict):
        kind = value.get("kind")
        lines = [head + (kind if isinstance(kind, str) else "")]
        for key, part in value.items():
            if key != "kind" or not isinstance(part, str):
                lines += tree_lines(part, key, indent + 1)
        return lines
    if isinstance(value, list):
        lines = [head.rstrip()]
        for index, part in enumerate(value):
            lines += tree_lines(part, f"[{index}]", indent + 1)
        return lines
    return [head + str(flat if flat is not None else value)]


def _flat(value: Any) -> str | None:
    """A value without records in it, on one line."""
    if isinstance(value, dict):
        return None if value else "{}"
    if isinstance(value, list):
        parts = [_flat(part) for part in value]
        return None if any(part is None for part in parts) else f"[{', '.join(map(str, parts))}]"
    if isinstance(value, str):
        return repr(value)
    return {None: "None", True: "True", False: "False"}.get(value, str(value))


def run(args: argparse.Namespace, output: Output) -> int:
    is_case = args.program.endswith(".py")
    thing = cases.load(args.program) if is_case else programs.load(args.program)
    judge = session.get(options.sides(args))
    if isinstance(thing, cases.Case):
        shown = judge.show_case(thing, args.side)
    else:
        shown = judge.show(args.program, thing.binary, args.side)
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
        for index, frame in enumerate(shown["observation"]["frames"]):
            for line in tree_lines(frame, f"frame {index}"):
                output.line(line)
    if not shown["built"]:
        output.note(f"{args.program}: {args.side}: {shown['why']}")
    return EXIT_OK if shown["built"] else EXIT_DIFFERS
