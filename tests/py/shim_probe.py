"""What each shim is needed for: try all probes with some shims left out.

    python shim_probe.py BUILDER [SHIM ...]

Prints {shim: "kind of result or exception"} as JSON, or {"load": message} when the
builder does not even load without them.
"""
from __future__ import annotations

import json
import sys
import warnings

from tandem.oracle import loader


def build(frames: list, config: dict | None = None, constraints: list | None = None) -> str:
    """The last root's tracker class, or "Class: message" of its exception."""
    from tandem.oracle.context import EXCEPTION, Program

    program = Program([frames], config, constraints, export=constraints is not None)
    frame = program.open(0)
    kinds = [frame.step(index) for index in range(len(frames))]
    value = frame.values[-1]
    answer = f"{type(value).__name__}: {value}" if kinds[-1] == EXCEPTION else describe(value)
    program.close()
    return answer.split("\n")[0]


def describe(tracker) -> str:
    number = getattr(tracker, "sym_num", None)
    return type(tracker).__name__ + (f" of {type(number).__name__}" if number is not None else "")


X = ("local", "x")


def two_tensor():
    """A traceable wrapper subclass in the protocol of torch 2.1.2."""
    import torch

    class TwoTensor(torch.Tensor):
        @staticmethod
        def __new__(cls, a, b):
            made = torch.Tensor._make_wrapper_subclass(cls, a.size(), strides=a.stride(), dtype=a.dtype)
            made.a, made.b = a, b
            return made

        def __tensor_flatten__(self):
            return [self.a, self.b], None

        @staticmethod
        def __tensor_unflatten__(parts, _meta):
            return TwoTensor(*parts)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            import torch.utils._pytree as pytree

            def part(name):
                pick = lambda value: getattr(value, name) if isinstance(value, cls) else value  # noqa: E731
                return func(*pytree.tree_map(pick, args), **pytree.tree_map(pick, kwargs or {}))

            one, other = part("a"), part("b")
            return cls(one, other) if isinstance(one, torch.Tensor) else one

    return TwoTensor(torch.ones(2, 3), torch.ones(2, 3))


def sym_bool(outcome: bool):
    """A SymBool with a hint, from a shape environment of its own."""
    from torch._dynamo.source import ConstantSource
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

    env = ShapeEnv()
    symbol = env.create_symbol(4, source=ConstantSource("n"), dynamic_dim=DimDynamic.DYNAMIC)
    number = env.create_symintnode(symbol, hint=4)
    return number == (4 if outcome else 5)


def probe_partial() -> str:
    import functools

    return build([(X, functools.partial(print, 1, end=""))])


def probe_getset() -> str:
    import types

    return build([(X, types.FunctionType.__dict__["__code__"])])


def probe_wrapper() -> str:
    return build([(X, (1).__add__)])


def probe_fake() -> str:
    import torch

    return build([(X, torch.ones(2)), (("fxcall", (("ref", 0),)), torch.sin)])


def probe_symbool() -> str:
    """Whether the int behind a SymBool has the source that the shim brings."""
    from tandem.oracle.context import Program

    program = Program([[(X, sym_bool(True))]])
    frame = program.open(0)
    frame.step(0)
    name = frame.output.tracked_fakes[0].source.name()
    program.close()
    return name


def probe_registry() -> str:
    import torch.utils._pytree as pytree

    return build([(X, pytree.SUPPORTED_NODES)])


def probe_int() -> str:
    return build([(X, 5)])


def constraint(tensor, dim: int = 0):
    from torch._export import dynamic_dim

    return dynamic_dim(tensor, dim)


def probe_debug_dict() -> str:
    import torch

    tensor = torch.ones(4, 3)
    named = constraint(tensor)
    named.debug_name = "batch"  # as an instance attribute: needs no other shim
    return build([(X, tensor)], constraints=[[named]])


def probe_debug_name() -> str:
    import torch

    tensor = torch.ones(4, 3)
    return build([(X, tensor)], constraints=[[constraint(tensor)]])


def probe_zero_one() -> str:
    return build([(X, sym_bool(False))])


def probe_wrapper_tensor() -> str:
    return build([(X, two_tensor())])


def probe_parameter_key() -> str:
    import torch

    return build([(X, {torch.nn.Parameter(torch.ones(2)): 1})])


PROBES = {
    "maybe_get_fake_mode": probe_fake,
    "ConvertIntSource": probe_symbool,
    "FunctoolsPartialVariable": probe_partial,
    "GetSetDescriptorVariable": probe_getset,
    "MethodWrapperVariable": probe_wrapper,
    "DICT_VERSION": probe_registry,
    "force_unspec_int_unbacked_size_like": probe_int,
    "source_name_to_debug_name": probe_debug_dict,
    "unspecified_symbol_of_zero_one": probe_zero_one,
    "clone_input_of_fakes": probe_wrapper_tensor,
    "Constraint.debug_name": probe_debug_name,
    "store_global_weakref": probe_parameter_key,
}


def answers() -> dict[str, str]:
    result = {}
    for name, probe in PROBES.items():
        try:
            result[name] = probe()
        except Exception as error:
            result[name] = f"{type(error).__name__}: {error}".split("\n")[0]
    return result


def main(builder: str, without: list[str]) -> None:
    warnings.simplefilter("ignore")
    try:
        loader.load(builder, without)
    except loader.NotABuilder as error:
        print("\n" + json.dumps({"load": str(error)}))
        return
    print("\n" + json.dumps(answers()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
