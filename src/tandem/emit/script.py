"""A program as a script: objects, then the builder's calls or a compiled function."""

from __future__ import annotations

import ast
import os
from importlib import resources

from .. import core
from .expressions import CannotEmit, Objects, change, scope, source, spelled
from .reading import Do, Node, Program, Root, read

_CONTEXT_NAMES = ("force_unspec_int_unbacked_size_like",)


def _text(name: str, package: str = __package__) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _part(title: str, name: str, package: str = __package__) -> str:
    """A module's text below its docstring and __future__, as a part of a script."""
    text = _text(name, package)
    first = next(
        one
        for one in ast.parse(text).body
        if not isinstance(one, ast.Expr) and not (isinstance(one, ast.ImportFrom) and one.module == "__future__")
    )
    return _ruled(title) + "\n\n\n" + "\n".join(text.splitlines()[first.lineno - 1 :]) + "\n"


def _ruled(title: str) -> str:
    return f"# ---- {title} ".ljust(88, "-")


# ---- the program's own definitions --------------------------------------------------


def _names(statement: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)}


def _defines(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return set()


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _owner(statement: ast.stmt) -> str | None:
    """Whose attribute a statement sets."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute):
        return ast.unparse(statement.targets[0].value)
    return None


def definitions(needs: set[str]) -> str:
    """The classes and functions of tandem.objects that are named, and what they name."""
    text = _text("objects.py", __package__.rpartition(".")[0])
    body, lines = ast.parse(text).body, text.splitlines()
    named: dict[str, set[str]] = {}
    for one in body:
        for name in _defines(one) or {_owner(one) or ""}:
            named[name] = named.get(name, set()) | _names(one)
    wanted: set[str] = set()
    todo = [name for name in needs if name in named]
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += [other for other in named[name] if other in named]
    kept = [one for one in body if _defines(one) & wanted or _owner(one) in wanted]
    return "\n\n\n".join("\n".join(lines[_first_line(one) - 1 : one.end_lineno]) for one in kept)


_OBJECT_IMPORTS = (
    "import abc\nimport collections\nimport contextlib\nimport dataclasses\nimport enum\nimport functools\n"
    "import types\nimport warnings\n"
    "from typing import Any, ClassVar, NamedTuple, Optional\n"
)


# ---- parts ---------------------------------------------------------------------------


def _header(path: str, builder: bool, arguments: str) -> str:
    how = "python THIS.py BUILDER.py" if builder else "python THIS.py"
    return (
        f'"""{os.path.basename(path)} as a script of its own, written by tandem emit{arguments}.\n\n'
        f"Needs torch {core_torch()} alone.  Run: {how}\n"
        '"""\nfrom __future__ import annotations\n\nimport sys\n\nimport torch\n'
    )


def core_torch() -> str:
    from ..session import TORCH

    return TORCH


def _loading(shims: bool) -> str:
    parts = [_part("what torch lacks for this builder", "shims.py", "tandem.oracle")] if shims else []
    parts.append(_part("another builder in the place of torch's", "loading.py"))
    act = "lambda: apply(BEFORE), lambda: apply(AFTER)" if shims else "lambda: None, lambda: None"
    parts.append("if len(sys.argv) != 2:\n    sys.exit('usage: ' + sys.argv[0] + ' BUILDER.py')")
    return "\n\n".join([*parts, f"load(sys.argv[1], {act})\n"])


def _settings(program: Program, objects: Objects) -> list[str]:
    lines = []
    for name, value in program.config:
        objects.needs |= {one for one in _names(ast.parse(value)) if one != "set"}
        module, _, key = name.rpartition(".")
        if name not in _CONTEXT_NAMES:
            lines.append(f"torch._{module or 'dynamo'}.config.{key} = {value}")
    functorch = any("_functorch" in line for line in lines)
    return ["import torch._dynamo", *(["import torch._functorch.config"] if functorch else []), *lines]


def _objects(program: Program, objects: Objects) -> list[str]:
    lines: list[str] = []
    for one in program.before:
        if isinstance(one, Node):
            lines += objects.lines(one)
        else:
            made = change(one, objects)
            lines += [made] if made else []
    return lines


def _arguments(operand: ast.expr) -> str:
    """An argument list, with ref(1) as the proxy of root 1's tracker."""
    assert isinstance(operand, ast.Tuple)
    parts = [
        f"frame.proxy({ast.unparse(one.args[0])})" if isinstance(one, ast.Call) else ast.unparse(one)
        for one in operand.elts
    ]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _root(root: Root) -> str:
    given = root.operands
    if root.entry == "build":
        return f"frame.build({source(given[0])}, {ast.unparse(given[1])})"
    if root.entry == "sourceless":
        return f"frame.sourceless({ast.unparse(given[0])})"
    if root.entry in ("fxcall", "fxmethod"):
        return f"frame.{root.entry}({ast.unparse(given[0])}, lambda: {_arguments(given[1])})"
    raise CannotEmit(f"a root of entry {root.entry} calls what only the harness has")


def _variables(steps: list[Root | Do]) -> dict[str, dict[str, str]]:
    """The variables of a frame: the first root of a name gives its object."""
    found: dict[str, dict[str, str]] = {"local": {}, "global": {}}
    for step in steps:
        if isinstance(step, Root) and step.entry == "build":
            place = scope(step.operands[0])
            if place is not None:
                found[place[0]].setdefault(place[1], ast.unparse(step.operands[1]))
    return found


def _dict(names: dict[str, str]) -> str:
    return "{" + ", ".join(f"{ascii(name)}: {value}" for name, value in names.items()) + "}"


def _frames(program: Program, objects: Objects) -> list[str]:
    context = [(name, value) for name, value in program.config if name in _CONTEXT_NAMES and value == "True"]
    more = ", export=True" if program.export else ""
    more += f", context_values=[{', '.join(f'({name!r}, {value})' for name, value in context)}]" if context else ""
    lines = ["frame_state = {}"]
    for number, steps in enumerate(program.frames):
        names = _variables(steps)
        lines.append(f"frame = Frame({number}, {_dict(names['local'])}, {_dict(names['global'])}, frame_state{more})")
        for step in steps:
            made = _root(step) if isinstance(step, Root) else change(step, objects)
            lines += [made] if made else []
        lines.append("frame.close()")
    return lines


# ---- as a compiled function -------------------------------------------------------------


def _pairs(roots: list[Root]) -> list[ast.Tuple]:
    """The source and the object of each root."""
    return [ast.Tuple(list(root.operands[:2]), ast.Load()) for root in roots]


def _function(program: Program, objects: Objects) -> list[str]:
    if len(program.frames) != 1:
        raise CannotEmit("its frames share a frame state; a compiled function is one frame")
    if program.export:
        raise CannotEmit("it builds for export, which torch.compile does not")
    if any(name in _CONTEXT_NAMES for name, _ in program.config):
        raise CannotEmit("it sets a value of the tracing context, which torch.compile makes itself")
    changes, roots = [], []
    for step in program.frames[0]:
        if isinstance(step, Do) and roots:
            raise CannotEmit("an object changes between two builds, which no compiled function sees")
        if isinstance(step, Do):
            changes.append(change(step, objects))
        elif step.entry != "build":
            raise CannotEmit(f"a root of entry {step.entry} is no variable of a function")
        else:
            roots.append(step)
    names = _variables(list(roots))
    bound = set(names["local"]) | set(names["global"])
    if set(names["local"]) & set(names["global"]):
        raise CannotEmit("a variable is both local and global")
    if len({ast.unparse(root.operands[0]) for root in roots}) < len({ast.unparse(one) for one in _pairs(roots)}):
        raise CannotEmit("one source gives two objects, which no variable does")
    values = [spelled(root.operands[0], bound, objects) for root in roots]
    parameters = ", ".join(names["local"])
    given = "".join(f"{one}, " for one in names["local"].values())
    return [
        *(one for one in changes if one),
        "",
        "",
        f"def program({parameters}):",
        "    torch.ones(1) + 1  # a frame without an operator is not compiled",
        f"    return [{', '.join(values)}]",
        "",
        "",
        f"compile_and_tell(program, {_dict(names['global'])}, ({given}))",
    ]


# ---- the whole --------------------------------------------------------------------------


def emit(path: str, binary: bytes, builder: str | None, shims: bool, compiled: bool) -> str:
    """The script; CannotEmit says why there is none."""
    program = read(binary)
    if program.constraints:
        raise CannotEmit("it has export constraints, which no script makes")
    if any(isinstance(one, Node) and one.kind == "fx_option" for one in program.before):
        raise CannotEmit("it gives wrap_fx_proxy options, which only the harness reads")
    objects = Objects(program)
    made = _objects(program, objects)
    steps = _function(program, objects) if compiled else _frames(program, objects)
    settings = _settings(program, objects)
    needs = definitions(objects.needs)
    arguments = (" --compile" if compiled else "") + (f" --builder {os.path.basename(builder)}" if builder else "")
    objects.imports |= {"numpy"} if "numpy." in needs else set()
    imports = sorted(one for one in objects.imports if one != "torch")
    parts = [
        _header(path, builder is not None, arguments),
        _loading(shims) if builder is not None else "",
        _part("small things", "common.py"),
        _part("what the compiler guards on", "compiled.py") if compiled else _part("a context of Dynamo", "runtime.py"),
        _ruled("the program"),
        "\n".join(f"import {one}" for one in imports),
        f"{_OBJECT_IMPORTS}\n\n{needs}\n" if needs else "",
        "\n".join(settings),
        "\n".join(made),
        "\n".join(steps),
    ]
    text = "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
    ast.parse(text)
    return text
