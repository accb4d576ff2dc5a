"""Failures that end a command, each with one line for people and an exit code."""

from __future__ import annotations

import errno

EXIT_OK, EXIT_DIFFERS, EXIT_BAD_INPUT, EXIT_HARNESS = 0, 1, 2, 3
EXIT_INTERRUPTED = 130  # as a shell calls it


class TandemError(Exception):
    """Ends a command; str() is the line that is printed."""

    exit_code = EXIT_HARNESS


class BadInput(TandemError):
    """What the user gave is not what it should be."""

    exit_code = EXIT_BAD_INPUT


class HarnessFailed(TandemError):
    """The harness or the environment is at fault, not the input."""


def _text(thing: object) -> str:
    """str(thing); nothing where the thing, which a user may have made, cannot say."""
    try:
        return str(thing)
    except Exception:
        return ""


def one_line(text: object) -> str:
    """The first line of a text that says something, without its indentation."""
    return next((line.strip() for line in _text(text).splitlines() if line.strip()), "")


def describe(error: BaseException) -> str:
    """An exception as "Class: first line of its message"."""
    text = one_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def of_os_error(error: OSError, writing: bool = False) -> TandemError:
    """An OSError as ours.  Reading what is not there is bad input; a full disk or a
    failed write is the environment's fault."""
    where = f"{error.filename or repr('')}: " if error.filename is not None else ""
    text = f"{where}{error.strerror or error}"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENOMEM)
    return HarnessFailed(text) if writing or full else BadInput(text)
