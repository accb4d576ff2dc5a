"""Load one builder per process: torch's own, or a file over it.

`torch._dynamo` can be imported only once, so the builder is put in place before
that: a finder on `sys.meta_path` gives `torch._dynamo.variables.builder` the
text that was asked for, and every module of torch that builds, builds through it.

The module keeps the name, `__file__` and code file name of the installed
builder: Dynamo decides by file name what it may trace into, and to it this *is*
the installed builder.  `linecache` holds the text that really runs, so that
tracebacks show the right lines.
"""
from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from types import ModuleType
from typing import Iterable

MODULE = "torch._dynamo.variables.builder"
TORCH_VERSION = "2.1.2"
INSTALLED = "installed"
#: Builders that cannot be used (blind.py), and the revision whose shims are put in.
BLIND = {"blind": "mission", "blind:installed": "installed"}

#: What makes a file a builder: names that the rest of Dynamo takes from it.
NEEDED = {
    "class": ("VariableBuilder", "SourcelessBuilder", "GraphArg", "TrackedFake"),
    "function": ("wrap_fx_proxy", "wrap_fx_proxy_cls", "wrap_to_fake_tensor_and_record"),
}


class LoadError(Exception):
    """A builder could not be loaded; str() is one line, exit_code its verdict."""

    exit_code = 3


class BuilderUnreadable(LoadError):
    """The file cannot be read."""

    exit_code = 2


class BuilderSyntaxError(LoadError):
    """The file does not parse."""

    exit_code = 2


class NotABuilder(LoadError):
    """The file parses, but is no builder, or fails while it is imported."""

    exit_code = 2


class TorchMissing(LoadError):
    """There is no torch."""


class TorchWrong(LoadError):
    """There is a torch, of another version."""


class AlreadyLoaded(LoadError):
    """This process has a builder already, and it is another one."""


def _at(path: str, line: int | None, column: int | None, what: str) -> str:
    """One line `path:line:column: what`."""
    return f"{path}:{line or 1}:{column or 1}: {' '.join(str(what).split())}"


class Reference:
    """The builder that this process runs.

    module     the loaded module
    builder    "installed" or the path that was given
    path       the file whose text was loaded
    revision   "mission" or "installed": the known revision that it is or is nearest to
    distance   syntax nodes that it is away from that revision (0: it is that one)
    arms       arms.Arms: its decision outcomes
    """

    def __init__(self, builder: str, path: str, text: str, tree: ast.Module) -> None:
        self.builder = builder
        self.path = path
        self.text = text
        self.tree = tree
        self.module: ModuleType | None = None
        self.arms = None
        self.revision = ""
        self.distance = 0
        self.torch = TORCH_VERSION


_loaded: Reference | None = None


def loaded() -> Reference:
    """The reference of this process; raises LoadError before `load`."""
    if _loaded is None:
        raise LoadError("no builder is loaded in this process")
    return _loaded


class _Loader(importlib.abc.Loader):
    """Runs the reference's code as the module torch._dynamo.variables.builder."""

    def __init__(self, reference: Reference, origin: str, without: frozenset[str]) -> None:
        self.reference = reference
        self.origin = origin
        self.without = without

    def create_module(self, spec):
        return None

    def exec_module(self, module: ModuleType) -> None:
        from . import arms, shims

        reference = self.reference
        if reference.revision == "mission":
            shims.apply(shims.BEFORE, self.without)
        text = reference.text
        linecache.cache[self.origin] = (len(text), None, text.splitlines(True), self.origin)
        reference.arms = arms.Arms(reference.tree, self.origin)
        reference.arms.run(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for the builder's module only."""

    def __init__(self, reference: Reference, without: frozenset[str]) -> None:
        self.reference = reference
        self.without = without

    def find_spec(self, name, path, target=None):
        if name != MODULE:
            return None
        origin = os.path.join(list(path)[0], "builder.py")
        loader = _Loader(self.reference, origin, self.without)
        spec = importlib.machinery.ModuleSpec(name, loader, origin=origin)
        spec.has_location = True
        return spec


def _torch() -> str:
    """The folder of the pinned torch; raises TorchMissing or TorchWrong."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise TorchMissing(
            f"torch is missing ({error}): Tandem needs torch {TORCH_VERSION} in its environment"
        ) from None
    except Exception as error:
        raise TorchMissing(f"torch cannot be imported: {' '.join(str(error).split())}") from None
    version = str(getattr(torch, "__version__", "unknown"))
    if version.split("+")[0] != TORCH_VERSION:
        raise TorchWrong(f"torch is {version}, but Tandem needs exactly {TORCH_VERSION}")
    return os.path.dirname(torch.__file__)


def _place(raw: bytes, offset: int) -> tuple[int, int]:
    """Line and column of a byte."""
    return raw.count(b"\n", 0, offset) + 1, offset - raw.rfind(b"\n", 0, offset)


def parse(path: str, shown: str | None = None, check: bool = True) -> tuple[str, ast.Module]:
    """Text and syntax tree of the builder at path; check: that it is one.

    Raises BuilderUnreadable, BuilderSyntaxError or NotABuilder with one line that
    names the place (shown: what to call the file, by default path).
    """
    shown = shown or path
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise BuilderUnreadable(_at(shown, 1, 1, f"cannot be read: {error.strerror}")) from None
    if b"\0" in raw:
        line, column = _place(raw, raw.index(b"\0"))
        raise BuilderSyntaxError(_at(shown, line, column, "a file of Python has no null bytes"))
    try:
        text = importlib.util.decode_source(raw)
        tree = ast.parse(text, filename=path)
        compile(text, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise BuilderSyntaxError(_at(shown, error.lineno, error.offset, error.msg)) from None
    except UnicodeDecodeError as error:
        line, column = _place(raw, error.start)
        raise BuilderSyntaxError(_at(shown, line, column, f"not {error.encoding} text")) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BuilderSyntaxError(_at(shown, 1, 1, str(error) or type(error).__name__)) from None
    if check:
        _check_is_builder(tree, shown)
    return text, tree


def _check_is_builder(tree: ast.Module, shown: str) -> None:
    have = {
        "class": {node.name for node in tree.body if isinstance(node, ast.ClassDef)},
        "function": {node.name for node in tree.body if isinstance(node, ast.FunctionDef)},
    }
    missing = [f"{kind} {name}" for kind, names in NEEDED.items() for name in names if name not in have[kind]]
    if missing:
        raise NotABuilder(_at(shown, 1, 1, f"not a builder: it has no {', no '.join(missing)}"))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Builder"):
            names = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            if "__call__" not in names:
                what = f"not a builder: {node.name} has no __call__"
                raise NotABuilder(_at(shown, node.lineno, node.col_offset + 1, what))


def load(builder: str | None = None, without: Iterable[str] = ()) -> Reference:
    """Load the builder of this process and everything that it needs.

    builder  None or "installed": torch's own; "blind" or "blind:installed": a
             stand-in that cannot be used; else the path of a file.
    without  names of shims to leave out (tests only).

    A second call with the same builder gives the same Reference; with another
    one it raises AlreadyLoaded.
    """
    global _loaded
    from . import revisions

    if builder in BLIND:
        return _load_blind(builder)
    wanted = INSTALLED if builder in (None, INSTALLED) else os.path.abspath(builder)
    if _loaded is not None:
        if wanted != (INSTALLED if _loaded.builder == INSTALLED else _loaded.path):
            raise AlreadyLoaded(f"this process runs {_loaded.builder}; another builder needs another process")
        return _loaded
    folder = None if wanted != INSTALLED else _torch()
    path = wanted if folder is None else os.path.join(folder, "_dynamo", "variables", "builder.py")
    text, tree = parse(path, builder if folder is None else path)
    folder = folder or _torch()
    if MODULE in sys.modules:
        raise AlreadyLoaded("torch._dynamo was imported before the reference could be put in place")
    reference = Reference(INSTALLED if wanted == INSTALLED else str(builder), path, text, tree)
    reference.revision, reference.distance = revisions.nearest(
        tree, os.path.join(folder, "_dynamo", "variables", "builder.py")
    )
    _import(reference, frozenset(without))
    _loaded = reference
    return reference


def _load_blind(builder: str) -> Reference:
    """Put the stand-in in the builder's place."""
    global _loaded
    if _loaded is not None:
        if _loaded.builder != builder:
            raise AlreadyLoaded(f"this process runs {_loaded.builder}; another builder needs another process")
        return _loaded
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "blind.py")
    text, tree = parse(path, check=False)
    _torch()
    if MODULE in sys.modules:
        raise AlreadyLoaded("torch._dynamo was imported before the stand-in could be put in place")
    reference = Reference(builder, path, text, tree)
    reference.revision = BLIND[builder]
    _import(reference, frozenset())
    _loaded = reference
    return reference


def _import(reference: Reference, without: frozenset[str]) -> None:
    """Import torch._dynamo with the reference in place; undo the finder after it."""
    from . import shims

    unknown = without - {shim.name for shim in shims.SHIMS}
    if unknown:
        raise LoadError(f"no such shim: {', '.join(sorted(unknown))}")
    finder = _Finder(reference, without)
    sys.meta_path.insert(0, finder)
    try:
        reference.module = importlib.import_module(MODULE)
        import torch._dynamo  # noqa: F401  the rest of the package, through the finder

        if reference.revision == "mission":
            shims.apply(shims.AFTER, without)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a builder does not end the tool
        what = f"{type(error).__name__}: {error}"
        raise NotABuilder(_at(reference.builder, _line(error), 1, what)) from error
    finally:
        sys.meta_path.remove(finder)
    from . import state

    state.prepare(reference)


def _line(error: BaseException) -> int | None:
    """The last line of the builder's module body in the error's traceback."""
    line = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals.get("__name__") == MODULE:
            line = step.tb_lineno
        step = step.tb_next
    return line
