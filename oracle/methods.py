"""Rows of the entry points "method" and "compile".

("method", name, args): a listed function of the loaded file is called directly,
as other parts of Dynamo do (code generation, guards, ShapeEnv, tracing of random
numbers and of dataclasses.fields).  Arguments are objects or trackers of the
frame; the step's own object is not used.

("compile", name): a function of a fixed set is run through the compiler; the
step's object is the tuple of its arguments (anything else: its one argument).
Every builder call of its translation counts as done by this root.
"""
from __future__ import annotations

import dataclasses
import random
from typing import Any, Callable

import torch
from torch._dynamo import source as sources
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.variables import builder as reference
from torch._dynamo.variables.base import VariableTracker

from . import state


class BadOperand(TypeError):
    """A method was given a tracker or an argument that it cannot take."""


# ---- methods -----------------------------------------------------------------


def _source(name: Any) -> sources.Source | None:
    """The source that an argument stands for: a str a local, an int a random value,
    ("const", name) a constant, None no source."""
    if name is None:
        return None
    if type(name) is int:
        return sources.RandomValueSource(name)
    if type(name) is tuple and len(name) == 2 and name[0] == "const":
        return sources.ConstantSource(name[1])
    return sources.LocalSource(str(name))


def _graph_arg(tracker: Any) -> Any:
    """The GraphArg of the placeholder behind a tracker."""
    proxy = getattr(tracker, "proxy", None)
    if proxy is None or "grapharg" not in proxy.node.meta:
        raise BadOperand("the tracker has no graph input")
    return proxy.node.meta["grapharg"]


def _dead_graph_arg(frame) -> Any:
    """The GraphArg of a tensor that is there no more.  Side effects forget it too:
    its id may be another object's the next moment."""
    tensor = torch.ones(2)
    tracker = reference.VariableBuilder(frame.tx, sources.LocalSource("gone"))(tensor)
    side_effects = frame.output.side_effects
    side_effects.id_to_variable.pop(id(tensor))
    assert side_effects.keepalive.pop() is tensor
    return _graph_arg(tracker)


METHODS: dict[str, Callable] = {}


def _method(name: str):
    def enter(function: Callable) -> Callable:
        METHODS[name] = function
        return function

    return enter


@_method("wrap_unspecialized_primitive")
def _unspecialized(frame, value, name="x"):
    """VariableBuilder.wrap_unspecialized_primitive, past the checks of its callers."""
    return reference.VariableBuilder(frame.tx, _source(name)).wrap_unspecialized_primitive(value)


@_method("wrap_to_fake_tensor_and_record")
def _to_fake(frame, value, name="x", is_tensor=True, ignore_subclass=False):
    """As builtin.call_setattr does for a tensor that becomes a module's attribute."""
    return reference.wrap_to_fake_tensor_and_record(
        value, frame.tx, ignore_subclass, source=_source(name), is_tensor=is_tensor
    )


@_method("_dataclasses_fields_lambda")
def _fields(frame, value):
    """On a tracker of the frame, or on a tracker without source made for an object."""
    if not isinstance(value, VariableTracker):
        value = reference.UserDefinedObjectVariable(value)
    return reference._dataclasses_fields_lambda(value)


@_method("wrap_constant_literal")
def _constant_literal(frame, value):
    """SourcelessBuilder.wrap_constant_literal, past the check of its caller."""
    return reference.SourcelessBuilder.wrap_constant_literal(value)


@_method("GraphArg.example")
def _example(frame, tracker=None):
    """The example behind a tracker; without one, that of a tensor which died."""
    return (_graph_arg(tracker) if tracker is not None else _dead_graph_arg(frame)).example


@_method("GraphArg.__eq__")
def _arg_equal(frame, tracker, other=None):
    return _graph_arg(tracker) == _graph_arg(tracker if other is None else other)


@_method("GraphArg.load")
def _arg_load(frame, tracker):
    """The instructions that load the argument, as text."""
    return [one.opname for one in _graph_arg(tracker).load(PyCodegen(frame.tx))]


@_method("GraphArg.erase")
def _arg_erase(frame, tracker):
    arg = _graph_arg(tracker)
    arg.erase()
    return arg.example


@_method("TrackedFake.__eq__")
def _tracked_equal(frame, value, name="a", other="a", *other_value):
    """Against a tracked fake of another name or another value, or against an object
    that is none."""
    if type(other) is str:
        other = reference.TrackedFake(other_value[0] if other_value else value, _source(other), None)
    return reference.TrackedFake(value, _source(name), None) == other


@_method("TrackedFake.__hash__")
def _tracked_hash(frame, value, name="a"):
    """Whether two tracked fakes of one value and name have the same hash."""
    one, other = (reference.TrackedFake(value, _source(name), None) for _ in range(2))
    return hash(one) == hash(other)


# ---- compiles ------------------------------------------------------------------


def _frame(*args):
    result = 0
    for arg in args:
        result = result + arg
    return result


def _setattr(holder, value):
    holder.extra = value + 1
    return holder.extra


def _item(tensor, number):
    return tensor.sum(int(number)) if number > 0 else tensor


def _fields_of(tensor, value):
    return tensor + len(dataclasses.fields(value))


def _random(tensor):
    return tensor * random.random() + random.randint(1, 5)


def _compile(function: Callable) -> Callable:
    """A row: runs function(*args) through the compiler and gives the trackers that
    the outermost builder calls made, in order."""

    def row(frame, args: tuple) -> list[VariableTracker]:
        made: list[VariableTracker] = []
        depth = 0
        call = reference.VariableBuilder.__call__

        def spying(self, value):
            nonlocal depth
            depth += 1
            try:
                tracker = call(self, value)
            finally:
                depth -= 1
            if depth == 0:
                made.append(tracker)
            return tracker

        state.forget_compiled()
        reference.VariableBuilder.__call__ = spying
        try:
            torch._dynamo.optimize("eager")(function)(*args)
        finally:
            reference.VariableBuilder.__call__ = call
            state.forget_compiled()
        return made

    return row


COMPILES: dict[str, Callable] = {
    "frame": _compile(_frame),
    "setattr": _compile(_setattr),
    "item": _compile(_item),
    "fields": _compile(_fields_of),
    "random": _compile(_random),
}
