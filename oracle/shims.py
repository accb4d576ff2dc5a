"""What the pinned torch lacks for the mission's revision: one list, SHIMS.

The mission's builder is of October 2023; torch 2.1.2 was cut before and lacks
names that the file imports, and some behaviour of helpers that changed with it.
Each shim says what is missing, what it does about it, why it does it that way,
and what it cannot reproduce.  The installed builder gets none of them.

A shim acts either before the builder's module body runs (BEFORE: the modules
that the builder imports exist by then) or after the whole of torch._dynamo was
imported (AFTER).
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
from typing import Callable

BEFORE = "before"
AFTER = "after"


@dataclasses.dataclass(frozen=True)
class Shim:
    """One thing that torch lacks, and what stands in for it."""

    name: str
    missing: str
    does: str
    reason: str
    limits: str
    when: str
    apply: Callable[[], None]


SHIMS: list[Shim] = []


def shim(name: str, *, missing: str, does: str, reason: str, limits: str, when: str = BEFORE):
    """Enter the decorated function into SHIMS."""

    def enter(function: Callable[[], None]) -> Callable[[], None]:
        SHIMS.append(Shim(name, missing, does, reason, limits, when, function))
        return function

    return enter


def apply(when: str, without: frozenset[str] = frozenset()) -> None:
    """Put the shims of one moment in place, but for those named in without."""
    for one in SHIMS:
        if one.when == when and one.name not in without:
            one.apply()


def _settle(cls: type, module) -> None:
    """Make cls look as if it had been written in module."""
    cls.__module__ = module.__name__
    cls.__qualname__ = cls.__name__
    setattr(module, cls.__name__, cls)


@shim(
    "maybe_get_fake_mode",
    missing="torch._subclasses.fake_tensor.maybe_get_fake_mode",
    does="gives the mode of a fake tensor, the one that all parts of a traceable wrapper share, "
    "the one of the tensor inside a functional tensor; None for everything else",
    reason="wrap_fx_proxy_cls asks whether a value is fake already, and whose fake it is",
    limits="2.1.2's __tensor_flatten__ returns the parts themselves, October 2023's their names: both are "
    "understood, but is_fake and the conversion to fakes are 2.1.2's",
)
def _maybe_get_fake_mode() -> None:
    import torch
    from torch._subclasses import fake_tensor
    from torch.utils._python_dispatch import is_traceable_wrapper_subclass

    def parts(value):
        names_or_parts, _context = value.__tensor_flatten__()
        for part in names_or_parts:
            yield getattr(value, part) if isinstance(part, str) else part

    def maybe_get_fake_mode(value):
        if isinstance(value, fake_tensor.FakeTensor):
            return value.fake_mode
        if is_traceable_wrapper_subclass(value):
            modes = [maybe_get_fake_mode(part) for part in parts(value)]
            assert all(mode is modes[0] for mode in modes), "parts of different fake modes"
            return modes[0]
        if isinstance(value, torch.Tensor) and torch._is_functional_tensor(value):
            reapply = torch._C._functionalization_reapply_views_tls()
            return maybe_get_fake_mode(torch._C._functorch._unwrap_functional_tensor(value, reapply))
        return None

    fake_tensor.maybe_get_fake_mode = maybe_get_fake_mode


@shim(
    "ConvertIntSource",
    missing="torch._dynamo.source.ConvertIntSource",
    does="a chained source whose name wraps its base's in cast_symbool_to_symint_guardless(...)",
    reason="a SymBool input is traced as an int that stands for it, and the int needs a source",
    limits="guard code that evaluates the name: 2.1.2's guards do not know the function",
)
def _convert_int_source() -> None:
    from torch._dynamo import source

    @dataclasses.dataclass(frozen=True)
    class ConvertIntSource(source.ChainedSource):
        def __post_init__(self):
            assert self.base is not None

        def reconstruct(self, codegen):
            return self.base.reconstruct(codegen)

        def guard_source(self):
            return self.base.guard_source()

        def name(self):
            return f"cast_symbool_to_symint_guardless({self.base.name()})"

    _settle(ConvertIntSource, source)


@shim(
    "FunctoolsPartialVariable",
    missing="torch._dynamo.variables.functions.FunctoolsPartialVariable",
    does="a tracker with func, args, keywords and original that takes over the guards of all its parts as it is made",
    reason="_wrap gives it for a functools.partial; constructor and attribute names agree because clone() passes "
    "the attributes to the constructor; in October 2023 it owned the guards of its parts",
    limits="as_python_constant of one without an original",
)
def _functools_partial_variable() -> None:
    from torch._dynamo.variables import functions
    from torch._dynamo.variables.base import VariableTracker

    class FunctoolsPartialVariable(VariableTracker):
        def __init__(self, func, args, keywords, original=None, **kwargs):
            super().__init__(**kwargs)
            assert isinstance(args, list)
            assert isinstance(keywords, dict)
            self.func = func
            self.args = args
            self.keywords = keywords
            self.original = original
            owned = VariableTracker.propagate(func, args, list(keywords.values()))
            self.guards.update(owned["guards"])

        def call_function(self, tx, args, kwargs):
            result = self.func.call_function(tx, self.args + args, {**self.keywords, **kwargs})
            return result.add_options(VariableTracker.propagate(self))

        def as_python_constant(self):
            if self.original is None:
                raise NotImplementedError(f"{self} is not a constant")
            return self.original

    _settle(FunctoolsPartialVariable, functions)


def _constant_variable(name: str, attribute: str) -> None:
    """A tracker class of variables.misc that holds one object and is a Python constant."""
    from torch._dynamo.variables import misc
    from torch._dynamo.variables.base import VariableTracker

    def __init__(self, *args, **kwargs):
        value = args[0] if args else kwargs.pop(attribute)
        VariableTracker.__init__(self, **kwargs)
        setattr(self, attribute, value)

    methods = {
        "__init__": __init__,
        "is_python_constant": lambda self: True,
        "as_python_constant": lambda self: getattr(self, attribute),
    }
    _settle(type(VariableTracker)(name, (VariableTracker,), methods), misc)


@shim(
    "GetSetDescriptorVariable",
    missing="torch._dynamo.variables.misc.GetSetDescriptorVariable",
    does="a tracker with .desc that is a Python constant",
    reason="_wrap gives it for a getset descriptor",
    limits="var_getattr('__get__')",
)
def _get_set_descriptor_variable() -> None:
    _constant_variable("GetSetDescriptorVariable", "desc")


@shim(
    "MethodWrapperVariable",
    missing="torch._dynamo.variables.misc.MethodWrapperVariable",
    does="a tracker with .method_wrapper that is a Python constant",
    reason="_wrap and SourcelessBuilder give it for a method wrapper",
    limits="call_function on the getters of tensor attributes",
)
def _method_wrapper_variable() -> None:
    _constant_variable("MethodWrapperVariable", "method_wrapper")


@shim(
    "DICT_VERSION",
    missing="torch._dynamo.guards.GuardBuilder.DICT_VERSION",
    does="a function of that name, so that guards can name it",
    reason="the pytree registry is guarded by the version of its dict",
    limits="guard code: the C function dict_version is not in 2.1.2",
)
def _dict_version() -> None:
    from torch._dynamo.guards import GuardBuilder

    def DICT_VERSION(self, guard):
        raise NotImplementedError("guards on a dict's version need torch 2.2")

    GuardBuilder.DICT_VERSION = DICT_VERSION


@shim(
    "force_unspec_int_unbacked_size_like",
    missing="TracingContext.force_unspec_int_unbacked_size_like and TracingContext.patch",
    does="a class attribute that is False, and a context manager that sets attributes of the active context",
    reason="wrap_literal and wrap_unspecialized_primitive ask it for every int",
    limits="nothing in 2.1.2 turns it on; a program does, by its config value of that name",
)
def _force_unspec_int_unbacked_size_like() -> None:
    from torch._guards import TracingContext

    @contextlib.contextmanager
    def patch(**values):
        context = TracingContext.get()
        before = {name: getattr(context, name) for name in values}
        vars(context).update(values)
        try:
            yield
        finally:
            vars(context).update(before)

    TracingContext.force_unspec_int_unbacked_size_like = False
    TracingContext.patch = staticmethod(patch)


@shim(
    "source_name_to_debug_name",
    missing="ShapeEnv.source_name_to_debug_name",
    does="an empty dict for each ShapeEnv, set when its constructor is done",
    reason="_automatic_dynamic notes the debug names of export constraints in it",
    limits="nothing reads it; ShapeEnv.check_equal compares vars() and would see it",
)
def _source_name_to_debug_name() -> None:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    made = ShapeEnv.__init__

    @functools.wraps(made)
    def __init__(self, *args, **kwargs):
        made(self, *args, **kwargs)
        self.source_name_to_debug_name = {}

    ShapeEnv.__init__ = __init__


@shim(
    "unspecified_symbol_of_zero_one",
    missing="ShapeEnv.create_unspecified_symbol that does not specialise 0 and 1 (do_not_specialize_zero_one in 2.2)",
    does="switches specialize_zero_one off for the time of the call",
    reason="belongs to the same change as ConvertIntSource: without it the int that stands for a SymBool, "
    "whose hint is 0 or 1, is a plain int and not a symbol",
    limits="behaviour, not a name: an assumption about October 2023, taken from 2.2.0",
)
def _unspecified_symbol_of_zero_one() -> None:
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    create = ShapeEnv.create_unspecified_symbol

    @functools.wraps(create)
    def create_unspecified_symbol(self, *args, **kwargs):
        before = self.specialize_zero_one
        self.specialize_zero_one = False
        try:
            return create(self, *args, **kwargs)
        finally:
            self.specialize_zero_one = before

    ShapeEnv.create_unspecified_symbol = create_unspecified_symbol


@shim(
    "clone_input_of_fakes",
    missing="utils.clone_input that returns every fake value as it is (2.1.2: only a FakeTensor)",
    does="returns what is_fake() says is fake, and asks 2.1.2's function for the rest",
    reason="without it every traceable wrapper subclass ends in an internal error inside clone_input",
    limits="behaviour, not a name: an assumption about October 2023, taken from 2.2.0",
)
def _clone_input_of_fakes() -> None:
    from torch._dynamo import utils
    from torch._subclasses.fake_tensor import is_fake

    clone = utils.clone_input

    @functools.wraps(clone)
    def clone_input(x, *, dtype=None):
        return x if is_fake(x) else clone(x, dtype=dtype)

    utils.clone_input = clone_input


@shim(
    "Constraint.debug_name",
    missing="torch.export.Constraint.debug_name",
    does="a class attribute that is None and can be set on an instance; comparisons with numbers hand it on, "
    "== of two dims takes the one that is set (two must be equal)",
    reason="_automatic_dynamic reads it from every constraint that concerns a tensor",
    limits="not a dataclass field: repr, asdict and serializable_spec do not show it",
)
def _constraint_debug_name() -> None:
    from torch.export import Constraint

    with_range, equal = Constraint._clone_with_range, Constraint.__eq__

    @functools.wraps(with_range)
    def _clone_with_range(self, *args, **kwargs):
        result = with_range(self, *args, **kwargs)
        result.debug_name = self.debug_name
        return result

    @functools.wraps(equal)
    def __eq__(self, other):
        result = equal(self, other)
        names = {name for name in (self.debug_name, other.debug_name) if name is not None}
        assert len(names) < 2, f"two debug names for one dim: {sorted(names)}"
        result.debug_name = names.pop() if names else None
        return result

    Constraint.debug_name = None
    Constraint._clone_with_range = _clone_with_range
    Constraint.__eq__ = __eq__


@shim(
    "store_global_weakref",
    missing="InstructionTranslator.store_global_weakref",
    does="another name for store_dict_key, which has the same body",
    reason="_wrap keeps the tensors that are dict keys alive by weak references in the globals",
    limits="none",
    when=AFTER,
)
def _store_global_weakref() -> None:
    from torch._dynamo.symbolic_convert import InstructionTranslator

    InstructionTranslator.store_global_weakref = InstructionTranslator.store_dict_key
