"""Case files: objects that a user made in Python."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Callable

from .errors import BadInput, describe, one_line


@dataclass(frozen=True)
class Case:
    """What a case file says; see the project's design page, section Cases."""

    path: str
    frames: Callable[[], list]
    config: dict[str, Any]
    constraints: Callable[[int, list], list | None] | None
    export: bool
    shared: bool
    report: str


def place(path: str, error: BaseException) -> str:
    """Where in the file at path an exception came from: "path:line:column"."""
    full = os.path.abspath(path)
    if isinstance(error, SyntaxError) and os.path.abspath(error.filename or "") == full:
        return f"{path}:{max(error.lineno or 1, 1)}:{max(error.offset or 1, 1)}"
    for step in reversed(traceback.extract_tb(error.__traceback__)):
        if os.path.abspath(step.filename) == full:
            return f"{path}:{step.lineno or 1}:{(step.colno or 0) + 1}"
    return f"{path}:1:1"


def blame(path: str, error: BaseException) -> BadInput:
    """An exception of a case's own code as bad input."""
    text = one_line(error.msg) if isinstance(error, SyntaxError) else describe(error)
    return BadInput(f"{place(path, error)}: {text}")


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Gives back what a case may change in the process and the next one hangs on."""
    folder, path, limit = os.getcwd(), list(sys.path), sys.getrecursionlimit()
    streams, hooks = (sys.stdout, sys.stderr), (sys.gettrace(), sys.getprofile())
    filters, modules = list(warnings.filters), dict(sys.modules)
    try:
        yield
    finally:
        os.chdir(folder)
        sys.path[:] = path
        sys.stdout, sys.stderr = streams
        sys.settrace(hooks[0])
        sys.setprofile(hooks[1])
        sys.setrecursionlimit(limit)
        warnings.filters[:] = filters
        for name, module in modules.items():
            sys.modules.setdefault(name, module)


def _execute(path: str) -> ModuleType:
    name = "case_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path}:1:1: a case is a Python file; its name ends in .py")
    module = importlib.util.module_from_spec(spec)
    # Classes of the case are found again under this name, as pickling needs it.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: a case does not end the tool
        sys.modules.pop(name, None)
        raise blame(path, error) from None
    return module


def require(path: str) -> str:
    """The path of a file that parses; BadInput otherwise.  Nothing of it is run: a case
    may import Dynamo, which must find the reference in its place."""
    if not os.path.isfile(path):
        what = "is a folder" if os.path.isdir(path) else "No such file or directory"
        raise BadInput(f"{path}: {what}")
    if path.endswith((".tdm", ".bin")):
        raise BadInput(f"{path}: a case is a Python file; for a program type: tandem run {path}")
    try:
        with open(path, "rb") as file:
            compile(file.read(), os.path.abspath(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise blame(path, error) from None
    except (MemoryError, RecursionError):  # how the compiler refuses what nests too deeply
        raise BadInput(f"{path}:1:1: it is nested too deeply to be compiled") from None
    return path


def load(path: str) -> Case:
    """Runs a case file; BadInput when it is not there, raises, or has no frames()."""
    module = _execute(require(path))
    try:
        return _read(path, module)
    except (BadInput, KeyboardInterrupt):
        raise
    except BaseException as error:  # a hostile value, or a __getattr__ of the module
        raise blame(path, error) from None


def _read(path: str, module: ModuleType) -> Case:
    frames = getattr(module, "frames", None)
    if not callable(frames):
        raise BadInput(f"{path}:1:1: a case needs a function frames() that returns a list of frames")
    config = getattr(module, "CONFIG", {})
    if not isinstance(config, dict):
        raise BadInput(f"{path}:1:1: CONFIG is no dict")
    return Case(
        path,
        frames,
        config,
        getattr(module, "constraints", None),
        bool(getattr(module, "EXPORT", False)),
        bool(getattr(module, "SHARED", False)),
        str(getattr(module, "REPORT", "")),
    )
