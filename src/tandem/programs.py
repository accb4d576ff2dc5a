"""Reading programs, with a place for everything that is wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from . import core
from .errors import BadInput, of_os_error, one_line


@dataclass(frozen=True)
class Program:
    """path: as given; binary: its canonical bytes."""

    path: str
    binary: bytes


def read(path: str) -> bytes:
    """A file's bytes; "-" is standard input."""
    try:
        if path == "-":
            with open(0, "rb", closefd=False) as stream:
                return stream.read()
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        error.filename = error.filename or path
        raise of_os_error(error) from None


def refusal(path: str, error: Exception) -> BadInput:
    """file:line:column: what is wrong.  In a binary program the line is 1 and the
    column the byte, counted from 1."""
    what = getattr(error, "what", str(error))
    line = getattr(error, "line", 0)
    if line:
        return BadInput(f"{path}:{line}:{error.column}: {what}")
    offset = getattr(error, "offset", 0)
    return BadInput(f"{path}:1:{offset + 1}: byte {offset}: {what}")


def load(path: str) -> Program:
    """The program in a file, text or binary; BadInput with the place of the fault."""
    data = read(path)
    if not data:
        raise BadInput(f"{path}:1:1: the file is empty")
    try:
        return Program(path, core.asm(data))
    except core.BadInput as error:
        raise refusal(path, error) from None


def generate(seed: int, only: str | None = None, nodes: int = 0, swarm: bool = True) -> bytes:
    """The program that a seed gives; BadInput for words that `--only` does not know."""
    try:
        return core.gen(seed, nodes=nodes, only=only, swarm=swarm)
    except core.BadInput as error:
        raise BadInput(f"--only {only}: {one_line(error)}") from None


def find(paths: list[str], suffix: str = ".tdm") -> Iterator[str]:
    """Files as given; folders as all their files of that suffix, sorted, at any depth."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        found = []
        for folder, folders, names in os.walk(path):
            folders.sort()
            found += [os.path.join(folder, name) for name in names if name.endswith(suffix)]
        yield from sorted(found)
