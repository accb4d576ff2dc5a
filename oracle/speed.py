"""Work of Dynamo that no observation can see, left out: one list, PATCHES.

Making a context costs more than building a small object, and most of it is text
and stacks for messages that nobody reads here.  Each patch says what it leaves
out and why that cannot be observed; a test builds programs with and without them
and compares.  They are in force from loading on; `switch(False)` gives the work
back.  The *bare reference* that the harness is measured against runs with them.
"""
from __future__ import annotations

import dataclasses
import functools
import traceback
from types import SimpleNamespace
from typing import Any, Callable


@dataclasses.dataclass
class Patch:
    """One attribute of torch that is replaced.  make gives what stands in for it."""

    name: str
    leaves_out: str
    unseen: str
    owner: Callable[[], Any]
    attribute: str
    make: Callable[[Any], Any]
    before: Any = None


def _fake_tensor() -> Any:
    from torch._subclasses import fake_tensor

    return fake_tensor


def _captured_traceback() -> Any:
    from torch.utils._traceback import CapturedTraceback

    return CapturedTraceback


def _tracer() -> Any:
    from torch.fx import Tracer

    return Tracer


def _without_format_stack(module: Any) -> Any:
    """The module traceback, but for format_stack, which gives nothing."""
    return SimpleNamespace(**{**vars(traceback), "format_stack": lambda *args, **kwargs: []})


def _no_extract(_extract: Any) -> Any:
    captured = _captured_traceback()

    def extract(*, script=False, cpp=False, skip=0):
        return captured(None, 0 if script or cpp else skip + 1)

    return staticmethod(extract)


def _from_template(init: Callable) -> Callable:
    template = object.__new__(_tracer())
    init(template)
    names = template._autowrap_function_ids
    modules = template._autowrap_search
    rest = {name: value for name, value in vars(template).items() if name not in _FRESH}

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):
        if args or kwargs:
            init(self, *args, **kwargs)
            return
        mine = vars(self)
        mine["_autowrap_function_ids"] = set(names)
        mine["_autowrap_search"] = list(modules)
        mine.update(rest)
        for name, make in _FRESH.items():
            mine.setdefault(name, make())

    return __init__


def _scope() -> Any:
    from torch.fx.proxy import Scope

    return Scope("", None)


def _module_stack() -> Any:
    import collections

    return collections.OrderedDict()


#: Attributes of a Tracer that each must have for itself.
_FRESH: dict[str, Callable[[], Any]] = {
    "_autowrap_function_ids": set,
    "_autowrap_search": list,
    "scope": _scope,
    "module_stack": _module_stack,
    "node_name_to_scope": dict,
}

PATCHES = [
    Patch(
        name="no stack text in fake modes",
        leaves_out="FakeTensorMode.stack, the formatted stack of where a mode was made",
        unseen="only the message about mixed fake modes quotes it, and that is asked by back ends",
        owner=_fake_tensor,
        attribute="traceback",
        make=_without_format_stack,
    ),
    Patch(
        name="no captured tracebacks",
        leaves_out="the interpreter's stack in Guard.stack and in the records of ShapeEnv",
        unseen="the schema ignores them as bookkeeping; they are quoted when guards are generated",
        owner=_captured_traceback,
        attribute="extract",
        make=_no_extract,
    ),
    Patch(
        name="tracers from a template",
        leaves_out="looking the functions of math up for every tracer",
        unseen="math has the same functions all the time; each tracer gets containers of its own",
        owner=_tracer,
        attribute="__init__",
        make=_from_template,
    ),
]


def switch(on: bool) -> None:
    """Put all patches in place, or all of them out of the way."""
    for patch in PATCHES:
        owner = patch.owner()
        if on and patch.before is None:
            patch.before = vars(owner)[patch.attribute]
            setattr(owner, patch.attribute, patch.make(patch.before))
        elif not on and patch.before is not None:
            setattr(owner, patch.attribute, patch.before)
            patch.before = None
