"""Rows of the entry points "method" and "compile".

("method", name, args): the object is given to a listed function of the loaded
file, which other parts of Dynamo call directly (code generation, guards,
ShapeEnv, tracing of random numbers and of dataclasses.fields).  Arguments are
constants or trackers of the frame.

("compile", name): a function of a fixed set is run through the compiler on the
object; every builder call of its translation counts as done by this root.
"""
from __future__ import annotations

import random
from typing import Any, Callable

import torch
from torch._dynamo import source as sources
from torch._dynamo.variables import builder as reference
from torch._dynamo.variables.base import VariableTracker


class BadOperand(TypeError):
    """A method was given a tracker or an argument that it cannot take."""


# ---- methods -----------------------------------------------------------------


def _graph_arg(tracker: Any) -> Any:
    """The GraphArg of the placeholder behind a tracker."""
    proxy = getattr(tracker, "proxy", None)
    if proxy is None or "grapharg" not in proxy.node.meta:
        raise BadOperand("the tracker has no graph input")
    return proxy.node.meta["grapharg"]


def _source(name: Any) -> sources.Source:
    """A local source for a name; a random one for an int; a constant one for
    ("const", name)."""
    if type(name) is int:
        return sources.RandomValueSource(name)
    if type(name) is tuple and len(name) == 2 and name[0] == "const":
        return sources.ConstantSource(name[1])
    return sources.LocalSource(str(name))


def _arg_example(frame, _value, tracker):
    return _graph_arg(tracker).example


def _arg_equal(frame, _value, tracker, other):
    return _graph_arg(tracker) == _graph_arg(other)


def _arg_erase(frame, _value, tracker):
    arg = _graph_arg(tracker)
    arg.erase()
    return arg.example


class _Recorder:
    """Stands in for PyCodegen where GraphArg.load reconstructs a local."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def create_load(self, name: str) -> str:
        self.loaded.append(name)
        return name


def _arg_load(frame, _value, tracker):
    return str(_graph_arg(tracker).load(_Recorder()))


def _tracked(value: Any, name: Any) -> Any:
    return reference.TrackedFake(value, _source(name), None)


def _tracked_hash(frame, value, name="a"):
    return hash(_tracked(value, name)) == hash(_tracked(value, name))


def _tracked_equal(frame, value, name="a", other="a"):
    return _tracked(value, name) == _tracked(value, other)


def _tracked_equal_else(frame, value, name="a"):
    return _tracked(value, name) == value


def _unspecialized(frame, value, name="x"):
    return reference.VariableBuilder(frame.tx, _source(name)).wrap_unspecialized_primitive(value)


def _fields(frame, value, tracker):
    return reference._dataclasses_fields_lambda(tracker)


def _fields_sourceless(frame, value):
    return reference._dataclasses_fields_lambda(reference.UserDefinedObjectVariable(value))


def _to_fake(frame, value, name="x", is_tensor=True, ignore_subclass=False):
    source = None if name is None else _source(name)
    return reference.wrap_to_fake_tensor_and_record(
        value, frame.tx, ignore_subclass, source=source, is_tensor=is_tensor
    )


def _automatic_dynamic(frame, value, name="x", static_shapes=False):
    return reference._automatic_dynamic(value, frame.tx, name, static_shapes)


def _constant_literal(frame, value):
    return reference.SourcelessBuilder.wrap_constant_literal(value)


METHODS: dict[str, Callable] = {
    "GraphArg.example": _arg_example,
    "GraphArg.__eq__": _arg_equal,
    "GraphArg.erase": _arg_erase,
    "GraphArg.load": _arg_load,
    "TrackedFake.__hash__": _tracked_hash,
    "TrackedFake.__eq__": _tracked_equal,
    "TrackedFake.__eq__ other": _tracked_equal_else,
    "VariableBuilder.wrap_unspecialized_primitive": _unspecialized,
    "_dataclasses_fields_lambda": _fields,
    "_dataclasses_fields_lambda sourceless": _fields_sourceless,
    "wrap_to_fake_tensor_and_record": _to_fake,
    "_automatic_dynamic": _automatic_dynamic,
    "SourcelessBuilder.wrap_constant_literal": _constant_literal,
}


# ---- compiles ------------------------------------------------------------------


def _add_one(x):
    return x + 1


def _random_size(x):
    return x + random.randint(1, 5)


def _field_names(x):
    import dataclasses

    return torch.ones(2) * len(dataclasses.fields(x))


def _set_weight(module):
    module.extra = torch.ones(2)
    return module.extra + 1


def _numpy_item(x):
    return torch.ones(4)[: int(x)]


def _compile(function: Callable) -> Callable:
    """A row: runs function(value) through the compiler and gives the trackers that
    the outermost builder calls made, in order."""

    def row(frame, value) -> list[VariableTracker]:
        made: list[VariableTracker] = []
        depth = 0
        call = reference.VariableBuilder.__call__

        def spying(self, inner):
            nonlocal depth
            depth += 1
            try:
                tracker = call(self, inner)
            finally:
                depth -= 1
            if depth == 0:
                made.append(tracker)
            return tracker

        torch._dynamo.reset()
        reference.VariableBuilder.__call__ = spying
        try:
            torch._dynamo.optimize("eager")(function)(value)
        finally:
            reference.VariableBuilder.__call__ = call
            torch._dynamo.reset()
        return made

    return row


COMPILES: dict[str, Callable] = {
    "add_one": _compile(_add_one),
    "random": _compile(_random_size),
    "fields": _compile(_field_names),
    "set_weight": _compile(_set_weight),
    "numpy_item": _compile(_numpy_item),
}
