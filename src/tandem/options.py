"""Options that several commands share."""

from __future__ import annotations

import argparse

from .session import Options


#: --builder, for commands that take no other side.
BUILDER: dict[str, str] = {
    "metavar": "installed|FILE",
    "help": "the reference: torch's own builder (default), or a builder.py loaded over it",
}


def add_sides(parser: argparse.ArgumentParser) -> None:
    """--builder, --revision, --subject."""
    parser.add_argument("--builder", **BUILDER)
    parser.add_argument(
        "--revision",
        choices=("mission", "installed", "auto"),
        help="which behaviour the subject follows (default: auto, by the builder's syntax tree)",
    )
    parser.add_argument("--subject", metavar="FILE.so", help="a subject with the ABI of td_abi.h in place of ours")


def add_other_side(parser: argparse.ArgumentParser) -> None:
    """--other-side: the harness's test of itself."""
    parser.add_argument(
        "--other-side",
        choices=("subject", "reference", "reference-swapped"),
        help="what stands against the reference (reference: itself, a test of the harness)",
    )


def add_verdicts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-unsupported",
        action="store_true",
        help="subject-unsupported and poisoned alone do not fail the command",
    )
    parser.add_argument("--all", action="store_true", help="print every divergence, not only the first of each")


def sides(args: argparse.Namespace, coverage: bool = False) -> Options:
    """What a Judge is made with."""
    builder = None if args.builder in (None, "installed") else args.builder
    revision = None if args.revision in (None, "auto") else args.revision
    return Options(builder, revision, args.subject, getattr(args, "other_side", None), coverage)
