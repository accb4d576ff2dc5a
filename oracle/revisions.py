"""Which known revision a builder is, or is nearest to.

A file is told by its *normalised syntax tree*: the tree without positions,
comments and docstrings (none of which can change what is built), so that
reformatting a file leaves it the revision that it is.  A revision is known by
the SHA-256 of that tree.

A file of another tree takes the known revision whose tree is nearest.  The
distance is counted in syntax nodes: each node is *marked* by the function it
stands in, its parent's kind, its own kind and its own data (names, constants,
operators), and the distance is the larger of the numbers of marks that one file
has and the other has not; 1 at least.  A changed constant or operator is 1, an
added statement the number of its nodes.

Nothing is ever run or probed to find a revision: the subject must not follow an
edit or a planted fault.

The marks of the mission's file are kept as hashes beside this module
(mission.marks); those of the installed builder are taken from the installed file
as long as it is the known one.
"""
from __future__ import annotations

import ast
import collections
import hashlib
import os
from typing import Iterator

#: SHA-256 of the normalised trees.
KNOWN = {
    "mission": "636f91a57dc30635eb603d520b7e047a38fdaac56914570821091de2b8d5c684",
    "installed": "a04546cf2b551751461673e478d38a06f36dd447b210183c968b41f1eebd99e9",
}
_MARKS = os.path.join(os.path.dirname(__file__), "mission.marks")
_MARK_SZ = 3  # bytes of one mark: two of a file's 5,000 nodes are taken for one another once in 3,000 edits


def normalise(tree: ast.Module) -> ast.Module:
    """A copy of tree without docstrings."""
    tree = ast.parse(ast.unparse(tree))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return tree


def fingerprint(tree: ast.Module) -> str:
    """SHA-256 of the normalised tree, in hexadecimal."""
    text = ast.dump(normalise(tree), annotate_fields=False, include_attributes=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _data(node: ast.AST) -> list[str]:
    """What is the node's own: names, constants, operators, not its children."""
    own: list[str] = []
    for field, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
                own.append(type(part).__name__)
            elif not isinstance(part, ast.AST):
                own.append(f"{field}={type(part).__name__}:{part!r}")
    return own


def _nodes(node: ast.AST, scope: str, parent: str) -> Iterator[bytes]:
    if isinstance(node, (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
        return
    kind = type(node).__name__
    mark = "\0".join((scope, parent, kind, *_data(node)))
    yield hashlib.blake2b(mark.encode("utf-8", "surrogatepass"), digest_size=_MARK_SZ).digest()
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        scope = f"{scope}.{node.name}"
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child, scope, kind)


def marks(tree: ast.Module) -> collections.Counter[bytes]:
    """The marks of all nodes of the normalised tree."""
    return collections.Counter(_nodes(normalise(tree), "", ""))


def pack(bag: collections.Counter[bytes]) -> bytes:
    """Marks as bytes, equal ones as often as they occur."""
    return b"".join(sorted(bag.elements()))


def unpack(packed: bytes) -> collections.Counter[bytes]:
    """The inverse of pack."""
    return collections.Counter(packed[at : at + _MARK_SZ] for at in range(0, len(packed), _MARK_SZ))


def distance(one: collections.Counter[bytes], other: collections.Counter[bytes]) -> int:
    """Nodes that one file has and the other has not, at least 1."""
    return max((one - other).total(), (other - one).total(), 1)


def nearest(tree: ast.Module, installed: str) -> tuple[str, int]:
    """The known revision of a builder's tree and how far it is away (0: it is that one).

    installed is the path of the installed builder.
    """
    found = fingerprint(tree)
    for revision, known in KNOWN.items():
        if found == known:
            return revision, 0
    own = marks(tree)
    with open(_MARKS, "rb") as file:
        distances = {"mission": distance(own, unpack(file.read()))}
    with open(installed, "rb") as file:
        other = ast.parse(file.read())
    if fingerprint(other) == KNOWN["installed"]:
        distances["installed"] = distance(own, marks(other))
    revision = min(distances, key=lambda name: distances[name])
    return revision, distances[revision]
