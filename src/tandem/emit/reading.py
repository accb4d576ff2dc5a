"""A program's canonical text as data: nodes, changes, roots, settings."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from .. import core

_NODE = re.compile(r"%(\d+) = (\w+)(.*)", re.DOTALL)
_OUTSIDE = re.compile(r'("(?:[^"\\]|\\.)*")|%(\d+)|([a-z]+)\(')

#: Before the word of a source: "global" by itself is no name in Python.
SOURCE = "source_"


@dataclass
class Node:
    """payload: the text after the kind, without the edges."""

    index: int
    kind: str
    payload: str
    edges: list[int]


@dataclass
class Do:
    """One change: op, the object, the other operands (node numbers, names, ints)."""

    op: str
    target: int
    operands: list[ast.expr]


@dataclass
class Root:
    """entry: build, sourceless, fxcall...; operands: as expressions in which node
    %3 is the name n3 and argument (ref 1) the call ref(1)."""

    entry: str
    operands: list[ast.expr]


@dataclass
class Program:
    """before: nodes and changes in order; frames: roots and changes in order."""

    before: list[Node | Do] = field(default_factory=list)
    frames: list[list[Root | Do]] = field(default_factory=list)
    config: list[tuple[str, str]] = field(default_factory=list)
    export: bool = False
    constraints: bool = False

    def nodes(self) -> dict[int, Node]:
        return {one.index: one for one in self.before if isinstance(one, Node)}


def _python(text: str) -> str:
    """Operands as Python: outside of strings %3 becomes n3, local( source_local(."""

    def spell(found: re.Match[str]) -> str:
        return found[1] or (f"n{found[2]}" if found[2] else f"{SOURCE}{found[3]}(")

    return _OUTSIDE.sub(spell, text)


def _operands(text: str) -> list[ast.expr]:
    """Operands that stand side by side: words, strings, sources, argument lists."""
    text = re.sub(r"(?<=[(, ])ref (\d+)", r"ref(\1)", _python(text)).strip()
    parts, depth, start, quoted, at = [], 0, 0, False, 0
    while at < len(text):
        char = text[at]
        if quoted:
            at += char == "\\"
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == " " and depth == 0:
            parts.append(text[start:at])
            start = at + 1
        at += 1
    parts.append(text[start:])
    return [_operand(part) for part in parts if part]


def _operand(text: str) -> ast.expr:
    """One operand; an argument list is a tuple, of one or none too."""
    if text.startswith("("):
        text = f"({text[1:-1]},)" if text != "()" else text
    return ast.parse(text, mode="eval").body


def _node(line: str) -> Node:
    found = _NODE.fullmatch(line)
    assert found is not None, line
    rest = found[3]
    edges: list[int] = []
    if not re.match(r' b?"', rest):
        edges = [int(number) for number in re.findall(r"%(\d+)", rest)]
        rest = rest.split("%")[0]
    return Node(int(found[1]), found[2], rest.strip(), edges)


def _do(rest: str) -> Do:
    op, _, operands = rest.partition(" ")
    first, *others = _operands(operands)
    assert isinstance(first, ast.Name)
    return Do(op, int(first.id[1:]), others)


def read(binary: bytes) -> Program:
    """The program whose binary form is given."""
    program = Program()
    for line in core.disasm(binary).split("\n")[1:]:
        word, _, rest = line.strip(" ").partition(" ")
        if word.startswith("%"):
            program.before.append(_node(line.strip(" ")))
        elif word == "frame":
            program.frames.append([])
        elif word == "do":
            (program.frames[-1] if program.frames else program.before).append(_do(rest))
        elif word == "root":
            entry, _, operands = rest.partition(" ")
            program.frames[-1].append(Root(entry, _operands(operands)))
        elif word == "config":
            name, _, value = rest.partition(" = ")
            program.config.append((name, value))
        program.export |= word == "export"
        program.constraints |= word == "constraint"
    return program
