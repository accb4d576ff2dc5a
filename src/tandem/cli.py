"""The command line: finds the command, runs it, turns failures into one line.

A command is a module of tandem.commands with

    HELP = "one line"
    def arguments(parser) -> None       declares what it takes
    def run(args, output) -> int        does it; gives the exit code
    WATCHED = True                      where it runs what others wrote (tandem.watching)
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
import warnings
from types import ModuleType
from typing import NoReturn

from . import __version__, watching
from .errors import (
    EXIT_BAD_INPUT,
    EXIT_HARNESS,
    EXIT_INTERRUPTED,
    BadInput,
    TandemError,
    describe,
    of_os_error,
    one_line,
)
from .output import Output, say


class Parser(argparse.ArgumentParser):
    """Usage errors in one line."""

    def error(self, message: str) -> NoReturn:
        say(f"{self.prog}: {one_line(message)} ({self.prog} --help says more)\n")
        raise SystemExit(EXIT_BAD_INPUT)


def command_names() -> list[str]:
    from . import commands

    return sorted(found.name for found in pkgutil.iter_modules(commands.__path__))


def _command(name: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.commands.{name}")


def make_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, or (quicker) of one."""
    parser = Parser(
        prog="tandem",
        description="Holds a builder in C against the builder in Python that it reimplements.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tandem {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name in [only] if only else command_names():
        module = _command(name)
        one = commands.add_parser(name, help=module.HELP, description=module.HELP, allow_abbrev=False)
        one.add_argument("--json", action="store_true", help="one JSON document on stdout, nothing else there")
        module.arguments(one)
        one.set_defaults(module=module)
    return parser


def _say(command: str, text: str) -> None:
    say(f"tandem {command}: {text}\n")


def _require_text(args: argparse.Namespace) -> None:
    """Values of options go to C as UTF-8; names of files stay as they are."""
    for name in ("builder", "subject", "only"):
        value = getattr(args, name, None)
        if value is not None and not one_line(value):
            raise BadInput(f"--{name}: it is empty")
        try:
            (value or "").encode()
        except UnicodeEncodeError:
            raise BadInput(f"--{name} {value!r}: it is no UTF-8") from None


def _parsed(argv: list[str]) -> argparse.Namespace:
    """What was asked for; SystemExit once a help text or a usage error was said."""
    parser = make_parser(argv[0] if argv and argv[0] in command_names() else None)
    args, rest = parser.parse_known_args(argv)
    if rest:
        parser.prog = f"tandem {args.command}"  # else the line would not say whose they are not
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def _perform(args: argparse.Namespace) -> int:
    # What a builder or torch warns of is no result of ours, and must not become an
    # exception of one side because the environment says so (PYTHONWARNINGS).
    warnings.simplefilter("ignore")
    output = Output(args.json)
    try:
        return args.module.run(args, output)
    finally:
        output.close()


def _told(code: int) -> int:
    """The code of a help text, once stdout took it."""
    try:
        print(end="", flush=True)
        return code
    except OSError as error:
        _drop_stdout()
        say(f"tandem: stdout: {error.strerror or error}\n")
        return EXIT_HARNESS


def _drop_stdout() -> None:
    """Nothing more is written there, nor tried at the interpreter's end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main(argv: list[str], watch: bool = False) -> int:
    """Runs a command; gives its exit code.  With watch a command that is WATCHED runs in a
    child, and the call returns in both processes."""
    try:
        args = _parsed(argv)
    except SystemExit as error:  # --help, --version, usage
        return _told(error.code if isinstance(error.code, int) else EXIT_BAD_INPUT)
    if watch and getattr(args.module, "WATCHED", False):
        return watching.watched(args.command, lambda: _run(args))
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    try:
        _require_text(args)
        return _perform(args)
    except TandemError as error:
        _say(args.command, str(error))
        return error.exit_code
    except BrokenPipeError:
        # Whoever read our output left; that is no fault of anybody's.
        _drop_stdout()
        return EXIT_HARNESS
    except OSError as error:
        failure = of_os_error(error)
        _say(args.command, str(failure))
        return failure.exit_code
    except KeyboardInterrupt:
        _say(args.command, "interrupted")
        return EXIT_INTERRUPTED
    except MemoryError:
        _say(args.command, "out of memory")
        return EXIT_HARNESS
    except BaseException as error:  # a fault of ours: one line, the rest on demand
        if os.environ.get("TANDEM_TRACEBACK"):
            raise
        _say(args.command, f"internal fault: {describe(error)} (TANDEM_TRACEBACK=1 shows where)")
        return EXIT_HARNESS
