"""Rows of the entry points "method" and "compile".

("method", name, args): a listed function of the loaded file is called directly,
as other parts of Dynamo do (code generation, guards, ShapeEnv, tracing of random
numbers and of dataclasses.fields).  Arguments are objects or trackers of the
frame; the step's own object is not used.

("compile", name): a function of a fixed set is run through the compiler; the
step's object is the tuple of its arguments (anything else: its one argument).
Every builder call of its translation is a root of the context that it is made in
(tandem.oracle.calls); the step itself gives nothing.
"""
from __future__ import annotations

import dataclasses
import random
from typing import Any, Callable

import torch
from torch._dynamo import source as sources
from torch._dynamo.bytecode_transformation import _NotProvided
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.variables import builder as reference
from torch._dynamo.variables.base import VariableTracker
from torch.utils.weak import TensorWeakRef

from . import state


class BadOperand(TypeError):
    """A method was given a tracker or an argument that it cannot take."""


# ---- methods -----------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Method:
    """A listed function: called as function(frame, *operands), with `least` to `most` of them."""

    function: Callable
    least: int
    most: int

    def check(self, operands: tuple) -> None:
        if not self.least <= len(operands) <= self.most:
            raise BadOperand(f"{len(operands)} operands where {self.least} to {self.most} are taken")


METHODS: dict[str, Method] = {}


def _method(name: str, least: int, most: int):
    def enter(function: Callable) -> Callable:
        METHODS[name] = Method(function, least, most)
        return function

    return enter


def _source(name: Any) -> sources.Source:
    """The source that an argument stands for: a str a local, an int a random value,
    ("const", name) a constant, ("global", name) a global."""
    if type(name) is str:
        return sources.LocalSource(name)
    if type(name) is int:
        return sources.RandomValueSource(name)
    if type(name) is tuple and len(name) == 2 and all(type(one) is str for one in name):
        if name[0] == "const":
            return sources.ConstantSource(name[1])
        if name[0] == "global":
            return sources.GlobalSource(name[1])
    raise BadOperand("no source")


def _optional_source(name: Any) -> sources.Source | None:
    return None if name is None else _source(name)


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise BadOperand("no bool")
    return value


def _is_tracker(value: Any) -> bool:
    """Of its own class, whatever it says that it is."""
    return issubclass(type(value), VariableTracker)


def _graph_arg(tracker: Any) -> Any:
    """The GraphArg of the placeholder behind a tracker."""
    proxy = getattr(tracker, "proxy", None) if _is_tracker(tracker) else None
    if proxy is None or "grapharg" not in proxy.node.meta:
        raise BadOperand("no graph input")
    return proxy.node.meta["grapharg"]


def _dead_graph_arg(frame) -> Any:
    """The frame's last GraphArg, with a tensor that is there no more (one that is no
    tensor cannot go)."""
    args = [node.meta["grapharg"] for node in frame.output.graph.nodes if "grapharg" in node.meta]
    if not args:
        raise BadOperand("no graph input")
    if isinstance(args[-1]._example, TensorWeakRef):
        args[-1]._example = TensorWeakRef(torch.ones(2))
    return args[-1]


def _instruction(one: Any) -> tuple:
    """An instruction as plain data: its name and its arguments."""
    number = () if one.arg is None else (one.arg,)
    return (one.opname, *number, *(() if one.argval is _NotProvided else (one.argval,)))


@_method("wrap_unspecialized_primitive", 1, 2)
def _unspecialized(frame, value, name="x"):
    """VariableBuilder.wrap_unspecialized_primitive, past the checks of its callers."""
    return reference.VariableBuilder(frame.tx, _optional_source(name)).wrap_unspecialized_primitive(value)


@_method("wrap_to_fake_tensor_and_record", 1, 4)
def _to_fake(frame, value, name="x", is_tensor=True, ignore_subclass=False):
    """As builtin.call_setattr does for a tensor that becomes a module's attribute."""
    is_tensor, ignore_subclass, source = _flag(is_tensor), _flag(ignore_subclass), _optional_source(name)
    return reference.wrap_to_fake_tensor_and_record(
        value, frame.tx, ignore_subclass, source=source, is_tensor=is_tensor
    )


@_method("_dataclasses_fields_lambda", 1, 1)
def _fields(frame, value):
    """On a tracker of the frame, or on a tracker without source made for an object."""
    if not _is_tracker(value):
        value = reference.UserDefinedObjectVariable(value)
    return reference._dataclasses_fields_lambda(value)


@_method("wrap_constant_literal", 1, 1)
def _constant_literal(frame, value):
    """SourcelessBuilder.wrap_constant_literal, past the check of its caller."""
    return reference.SourcelessBuilder.wrap_constant_literal(value)


@_method("VariableBuilder.__init__", 0, 1)
def _builder(frame, name="x"):
    """A builder that is made where nothing is traced, which it refuses."""
    held, source = torch._guards._TLS, _optional_source(name)
    before, held.tracing_context = held.tracing_context, None
    try:
        reference.VariableBuilder(frame.tx, source)
    finally:
        held.tracing_context = before


@_method("SourcelessBuilder.__call__", 1, 1)
def _sourceless(frame, value):
    """On an object, or on a tracker of the frame, as for default values of functions."""
    return reference.SourcelessBuilder()(frame.tx, value)


@_method("GraphArg.example", 0, 1)
def _example(frame, *tracker):
    """The example behind a tracker; without one, that of a tensor which died."""
    return (_graph_arg(*tracker) if tracker else _dead_graph_arg(frame)).example


@_method("GraphArg.__eq__", 1, 2)
def _arg_equal(frame, tracker, *other):
    return _graph_arg(tracker) == _graph_arg(*other or (tracker,))


@_method("GraphArg.load", 1, 1)
def _arg_load(frame, tracker):
    """The instructions that load the argument."""
    options = frame.output.code_options
    before = dict(options)
    try:
        return [_instruction(one) for one in _graph_arg(tracker).load(PyCodegen(frame.tx))]
    finally:
        options.update(before)  # names that the code needs are no part of the frame yet


@_method("GraphArg.erase", 1, 1)
def _arg_erase(frame, tracker):
    """What is left of the example."""
    arg = _graph_arg(tracker)
    arg.erase()
    return arg.example


def _tracked(value: Any, name: Any) -> Any:
    if _is_tracker(value):
        raise BadOperand("no fake")
    return reference.TrackedFake(value, _source(name), None)


@_method("TrackedFake.__eq__", 1, 4)
def _tracked_equal(frame, value, name="a", other="a", *other_value):
    """Against a tracked fake of another name or another value, or against an object
    that is none."""
    one = _tracked(value, name)
    if type(other) is str:
        other = _tracked(*other_value or (value,), other)
    return one == other


@_method("TrackedFake.__hash__", 1, 2)
def _tracked_hash(frame, value, name="a"):
    """Whether two tracked fakes of one value and name have the same hash."""
    one, other = (_tracked(value, name) for _ in range(2))
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


def _compile(function: Callable, count: int | None) -> Callable:
    """A row: runs function through the compiler, on count arguments where that is no
    None (those that are missing are 1, more are left out).  What the function raises is
    its own affair: a root is what the builder is called for."""

    def row(frame, args: tuple) -> None:
        if count is not None:
            args = (args + (1,) * count)[:count]
        state.forget_compiled()
        try:
            with frame.watch(), state.sources_forgotten():
                torch._dynamo.optimize("eager")(function)(*args)
        except Exception:  # noqa: S110
            pass
        finally:
            state.forget_compiled()

    return row


COMPILES: dict[str, Callable] = {
    "frame": _compile(_frame, None),
    "setattr": _compile(_setattr, 2),
    "item": _compile(_item, 2),
    "fields": _compile(_fields_of, 2),
    "random": _compile(_random, 1),
}
