"""Operator records: what a run of an operator on fake tensors did, as data.

A subject never runs an operator.  Where the reference does (`get_fake_value`), what
came out is written down here, and the subject is given it when its own build asks.
A record is plain data (dicts, lists, texts, numbers), so that it can be kept beside
a program:

    {"op": "call_function", "node": "add",           what was run
     "result": VALUE                                 what it returned, or
     "exception": [class, text],                     what it raised, addresses in words
     "fakes": [FAKE...],                             tensors that it made
     "moved": ["shape environment", ...]}            what else it changed (by name)

VALUE is one of
    ["none"]  ["bool", true]  ["int", "5"]  ["float", "0x1.8p+0"]  ["str", "a"]
    ["sym", "SymInt", "s0 + 1", VALUE]               class, expression, hint
    ["known", "x", [0, "base"]]                      the example of a node, or a part of it
    ["fake", 0]                                      one of "fakes"
    ["seq", "tuple", [VALUE...]]                     list, tuple, set, Size, of torch.return_types
    ["sub", "tuple", module, name, [VALUE...]]       of a subclass of tuple or list
    ["dict", [[VALUE, VALUE]...]]                    a dict
    ["torch", "float32"]  ["device", "cpu"]
    ["other", "Generator", module, name]             anything else, by its class
    ["strange", "FakeTensor"]                        what a record cannot say

Two more things run on fake tensors: "op" is "unflatten" where a traceable wrapper is put together
again of fakes of what it wraps, and "clone" where a copy of such a wrapper fails.  In the first
    ["part", 0]                                      is one of those fakes, and
    "asked": [["s0", "2"]...]                        which symbols turned out to be a number.
The result is a FAKE of sort "wrapper", of the class of what was wrapped, with "attributes", a
list of name and VALUE.

FAKE: size, stride, offset (VALUEs), dtype, device, layout (texts), requires_grad,
is_leaf, base, grad (VALUEs), sort: "own" (a fake of this frame), "param" (the same as a
parameter), "foreign" (a fake of another mode), "real", or "functional-" and one of these:
a functional tensor of such a one.
"""
from __future__ import annotations

import re
import sys
import types
from typing import Any, Callable

import sympy
import torch
from torch._dynamo.variables import builder as reference
from torch._subclasses import meta_utils
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_map_only

_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)
_SEQUENCES = {tuple: "tuple", list: "list", torch.Size: "Size"}
#: What a fake tensor's instance dict has beside attributes of a program.
_OWN = {"fake_mode", "fake_device", "constant", "_nonzero_memo", "_nonzero_memo_vc", "_is_param"}


def _class_name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _is_findable(cls: type) -> bool:
    """Whether module and name lead to cls again."""
    return "." not in cls.__qualname__ and vars(sys.modules.get(cls.__module__)).get(cls.__qualname__) is cls


def _without_ids(text: str, target: Any) -> str:
    """text with words for the addresses of what was called and of what that is bound to:
    they are others in the next process."""
    if type(target) is not str:
        text = text.replace(hex(id(target)), "<address of callee>")
    if isinstance(target, types.BuiltinFunctionType):
        # A static method of C has an owner that only its repr tells.
        found = re.search(r" at (0x[0-9a-f]+)>$", repr(target))
        text = text.replace(found[1], "<address of owner>") if found else text
    return text


class _World:
    """What an operator may change, as it was before the operator ran."""

    def __init__(self, tx: Any) -> None:
        self.mode = tx.fake_mode
        self.env = tx.output.shape_env
        self.known: dict[int, list] = {}
        self._kept: list[torch.Tensor] = []
        for node in tx.output.graph.nodes:
            if "example_value" in node.meta:
                self._meet(node.meta["example_value"], node.name, [])
        self._before = self._env(), self._tensors()
        self.fakes: list[dict] = []
        self._made: dict[int, int] = {}

    def _meet(self, value: Any, name: str, path: list) -> None:
        if isinstance(value, torch.Tensor):
            if id(value) not in self.known:
                self.known[id(value)] = ["known", name, path]
                self._kept.append(value)
                self._meet(value._base, name, [*path, "base"])
                self._meet(value.grad if value.is_leaf else None, name, [*path, "grad"])
        elif isinstance(value, (tuple, list)):
            for index, item in enumerate(value):
                self._meet(item, name, [*path, index])

    def _env(self) -> list:
        env = self.env
        tables = (env.var_to_val, env.replacements, env.var_to_range, env.runtime_var_to_range, env.var_to_guards)
        counts = (env.guards, env.divisible, env.deferred_runtime_asserts, env.val_to_var, env.var_to_sources)
        counters = (env.unbacked_symint_counter, env.unbacked_symfloat_counter)
        return [dict(table) for table in tables] + [len(table) for table in counts] + list(map(repr, counters))

    def _tensors(self) -> list:
        return [
            (one.requires_grad, one.is_leaf, id(one._base), one.dtype, str(one.shape), one.layout == torch.strided
             and (str(one.stride()), str(one.storage_offset())), id(one.grad) if one.is_leaf else 0, sorted(vars(one)))
            for one in self._kept
        ]  # fmt: skip

    def moved(self) -> list[str]:
        """What is not as it was."""
        env, tensors = self._before
        return [name for name, same in (("shape environment", env == self._env()),
                                        ("tensors", tensors == self._tensors())) if not same]  # fmt: skip

    # ---- values ----

    def value(self, value: Any) -> list:
        cls = type(value)
        if value is None:
            return ["none"]
        if cls in (bool, str):
            return [cls.__name__, value]
        if cls is int:
            return ["int", str(value)] if value.bit_length() < 4096 else ["strange", "int"]
        if cls is float:
            return ["float", value.hex()]
        if cls in _SYMBOLIC:
            return ["sym", cls.__name__, str(value.node._expr), self.value(value.node._hint)]
        if isinstance(value, torch.Tensor):
            return self.known.get(id(value)) or self._fake(value)
        if cls in _SEQUENCES:
            return ["seq", _SEQUENCES[cls], [self.value(item) for item in value]]
        if cls is set and (len(value) < 2 or all(type(item) is int for item in value)):
            return ["seq", "set", [self.value(item) for item in value]]
        if cls is dict and all(type(key) in (int, str) for key in value):
            pairs = [[self.value(key), self.value(item)] for key, item in value.items()]
            return ["strange", "dict"] if "'other'" in repr(pairs) else ["dict", pairs]
        if cls in (torch.dtype, torch.layout, torch.memory_format):
            return ["torch", str(value).removeprefix("torch.")]
        if cls is torch.device:
            return ["device", str(value)]
        if isinstance(value, tuple) and cls.__module__ == "torch.return_types":
            return ["seq", cls.__name__, [self.value(item) for item in value]]
        # What the builder would take apart is no "other": nothing less than all of it will do.
        if not _is_findable(cls):
            return ["strange", cls.__name__]
        if isinstance(value, (tuple, list)):
            base = "tuple" if isinstance(value, tuple) else "list"
            return ["sub", base, cls.__module__, cls.__qualname__, [self.value(item) for item in value]]
        known = isinstance(value, (set, int))
        return ["strange" if known else "other", cls.__name__, cls.__module__, cls.__qualname__]

    def _fake(self, tensor: torch.Tensor) -> list:
        if id(tensor) in self._made:
            return ["fake", self._made[id(tensor)]]
        sort = self._sort(tensor)
        if sort is None:
            return ["strange", type(tensor).__name__]
        self._kept.append(tensor)
        self._made[id(tensor)] = len(self.fakes)
        made = ["fake", len(self.fakes)]
        self.fakes.append({})
        self.fakes[made[1]].update(
            size=[self.value(one) for one in tensor.size()],
            stride=[self.value(one) for one in tensor.stride()],
            offset=self.value(tensor.storage_offset()),
            dtype=str(tensor.dtype).removeprefix("torch."),
            device=str(tensor.device),
            sort=sort,
            layout=str(tensor.layout).removeprefix("torch."),
            requires_grad=tensor.requires_grad,
            is_leaf=tensor.is_leaf,
            base=self.value(tensor._base),
            grad=self.value(tensor.grad if tensor.is_leaf else None),
        )
        return made

    def _sort(self, tensor: torch.Tensor) -> str | None:
        """What sort of tensor it is, if a record says everything about it."""
        strange = tensor.layout != torch.strided or tensor.is_quantized
        if type(tensor) is torch.Tensor:
            plain = tensor._base is None and tensor.is_leaf and tensor.grad is None and not vars(tensor)
            if torch._is_functional_tensor(tensor):
                return self._functional_sort(tensor) if plain and not strange else None
            return "real" if plain and not strange else None
        if type(tensor) is not FakeTensor or strange or tensor.constant is not None or not set(vars(tensor)) <= _OWN:
            return None
        if tensor.fake_mode is not self.mode:
            return None if isinstance(tensor, torch.nn.Parameter) else "foreign"
        return "param" if isinstance(tensor, torch.nn.Parameter) else "own"

    def _functional_sort(self, tensor: torch.Tensor) -> str | None:
        reapply = torch._C._functionalization_reapply_views_tls()
        inner = torch._C._functorch._unwrap_functional_tensor(tensor, reapply)
        if isinstance(inner, FakeTensor):
            return "functional-own" if inner.fake_mode is self.mode else "functional-foreign"
        return "functional-real" if type(inner) is torch.Tensor and tensor.is_contiguous() else None


# ---- wrappers ------------------------------------------------------------------


class _WrapperWorld(_World):
    """The same where a wrapper is put together of parts."""

    def __init__(self, tx: Any, parts: list) -> None:
        super().__init__(tx)
        self._guard_count = len(self.env.guards)
        for index, part in enumerate(parts):
            self.known[id(part)] = ["part", index]

    def asked(self) -> list | None:
        """The new guards, if each says that a symbol is a number."""
        new = [guard.expr for guard in self.env.guards[self._guard_count :]]
        plain = all(isinstance(one, sympy.Eq) and one.lhs.is_Symbol and one.rhs.is_Integer for one in new)
        return [[str(one.lhs), str(one.rhs)] for one in new] if plain else None

    def wrapper(self, tensor: Any, cls: type) -> list:
        """The wrapper as a VALUE."""
        plain = type(tensor) is cls and tensor._base is None and tensor.is_leaf and tensor.grad is None
        attributes = [[name, self.value(one)] for name, one in vars(tensor).items()] if plain else []
        if not plain or tensor.layout != torch.strided or not all(one[0] == "part" for _, one in attributes):
            return ["strange", type(tensor).__name__]
        self._sort = lambda _: "wrapper"
        result = self._fake(tensor)
        self.fakes[result[1]]["attributes"] = attributes
        return result


#: The frame that runs a step, and the functions that stand where torch's stand.
running: Any = None


def _transform(tensor: Any, callback: Callable) -> Any:
    """torch's transform_subclass, which says what it puts together."""
    assert is_traceable_wrapper_subclass(tensor), f"Expects traceable wrapper subclass but got {type(tensor)}"
    flattened, context = type(tensor).__tensor_flatten__(tensor)
    parts = tree_map_only(torch.Tensor, callback, flattened)
    if running is None:
        return type(tensor).__tensor_unflatten__(parts, context)
    world = _WrapperWorld(running.tx, list(parts))
    record: dict[str, Any] = {"op": "unflatten", "node": "", "moved": []}
    running.note(record)
    try:
        result = type(tensor).__tensor_unflatten__(parts, context)
    except Exception as error:
        record["exception"] = [_class_name(type(error)), str(error)]
        raise
    record["asked"] = world.asked()
    record["moved"] = ["guards"] if record["asked"] is None else []
    record["result"] = world.wrapper(result, type(tensor))
    record["fakes"] = world.fakes
    return result


_clone = reference.clone_input


def _cloned(value: Any, **options: Any) -> Any:
    if running is None or not is_traceable_wrapper_subclass(value):
        return _clone(value, **options)
    try:
        return _clone(value, **options)
    except Exception as error:
        running.note({"op": "clone", "node": "", "moved": [], "exception": [_class_name(type(error)), str(error)]})
        raise


meta_utils.transform_subclass = _transform
reference.clone_input = _cloned


class Recording:
    """While it is entered, every operator that the reference runs is written to records."""

    def __init__(self, records: list[dict]) -> None:
        self._records = records
        self._original: Callable | None = None

    def __enter__(self) -> None:
        self._original = reference.get_fake_value
        reference.get_fake_value = self._run

    def __exit__(self, *error: Any) -> None:
        reference.get_fake_value = self._original

    def _run(self, node: torch.fx.Node, tx: Any) -> Any:
        world = _World(tx)
        record: dict[str, Any] = {"op": node.op, "node": node.name}
        self._records.append(record)
        try:
            result = self._original(node, tx)
        except Exception as error:
            record["exception"] = [_class_name(type(error)), _without_ids(str(error), node.target)]
            record["moved"] = world.moved()
            raise
        record["moved"] = world.moved()
        record["result"] = world.value(result)
        record["fakes"] = world.fakes
        return result
