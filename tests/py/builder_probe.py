"""Builds every object below with both builders in one process; prints JSON
{name: [verdict, [arms of unsupported roots], first divergence]}.

    python builder_probe.py BUILDER
"""
from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import inspect
import itertools
import json
import logging
import math
import operator
import os
import sys
import types
import typing
import warnings
import weakref

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from tandem import session

judge = session.get(session.Options(sys.argv[1]))

import numpy
import torch
import torch._dynamo
from tandem import objects


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Bit(enum.IntFlag):
    R = 1
    W = 2


Point = collections.namedtuple("Point", "x y")


class SubPoint(Point):
    pass


class Plain:
    def method(self):
        pass


class Meta(type):
    pass


class WithMeta(metaclass=Meta):
    pass


class OwnSetattr:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Slots:
    __slots__ = ("a",)


KEPT = Plain()
KEPT_TOO = {1, 2}


class Answering:
    """Looks up its attributes by code of its own."""

    def __init__(self, module="m"):
        self.answer = module

    def __getattribute__(self, name):
        if name == "__module__":
            return object.__getattribute__(self, "answer")
        return object.__getattribute__(self, name)


class Saying:
    """Says that it is of the class that it was given."""

    def __init__(self, said):
        object.__setattr__(self, "said", said)

    @property
    def __class__(self):
        return object.__getattribute__(self, "said")


class SayingDict(dict):
    """A dict that says that it is a set, and is found out by its type."""

    __class__ = property(lambda self: set)


class RaisingClass:
    @property
    def __class__(self):
        raise ValueError("no class today")


class RaisingModule:
    """Has a class as any, and no module."""

    @property
    def __module__(self):
        raise ValueError("no module today")


class Mentioned:
    """Has a module of its own that is none."""

    def __init__(self):
        self.__module__ = 5


def asked_module(answer):
    """A module that answers for what it has not: raises, or says that it is of some module."""

    def __getattr__(name):
        if isinstance(answer, type):
            raise answer(name)
        return answer

    module = types.ModuleType("asked")
    module.__getattr__ = __getattr__
    return module


class SubPartial(functools.partial):
    pass


class ComputingPartial(functools.partial):
    @property
    def func(self):
        return len


def function(a, b=3):
    return a


def made(value, change):
    """value, after change(value)."""
    change(value)
    return value


def marked(tensor, **attributes):
    for name, value in attributes.items():
        setattr(tensor, name, value)
    return tensor


def with_grad(*sizes):
    tensor = torch.ones(sizes or 2, requires_grad=True)
    (tensor * 2).sum().backward()
    return tensor


def parameter_and_view():
    parameter = torch.nn.Parameter(torch.ones(3))
    return [parameter[0], parameter]


def nested(depth, container, leaf):
    for _ in range(depth):
        leaf = container(leaf)
    return leaf


def cycle(first, second):
    """A list whose second item leads back to it: [first, second([list])]"""
    return made([first], lambda loop: loop.append(second(loop)))


#: Everything that a value can be at a source; each is built under `local x`.
VALUES = {
    "int": lambda: 5, "zero": lambda: 0, "one": lambda: 1, "bigint": lambda: 2**70, "float": lambda: 1.5,
    "nan": lambda: math.nan, "bool": lambda: True, "none": lambda: None, "str": lambda: "a\n\u00e9",
    "surrogate": lambda: "\udc80x", "device": lambda: torch.device("cpu"), "dtype": lambda: torch.float32,
    "size": lambda: torch.Size([2, 1, 7]), "size_empty": lambda: torch.Size([]),
    "list": lambda: [1, 2, 3], "list_empty": lambda: [], "list_nested": lambda: [[1], [2, [3]], ()],
    "tuple": lambda: (4, "x", None), "namedtuple": lambda: Point(3, 4), "namedtuple_subclass": lambda: SubPoint(1, 2),
    "return_type": lambda: torch.ones(2, 3).max(0), "stat": lambda: os.stat("/"),
    "logging_pair": lambda: [objects.LoggingPair(3, (4,)), objects.LoggingPair(1, 2)],
    "deque": lambda: collections.deque([9, 8]), "odict_values": lambda: collections.OrderedDict(a=5, b=[6]).values(),
    "iterator": lambda: iter((5, 6, 7)), "iterator_begun": lambda: made(iter((5, 6)), next),
    "iterator_ended": lambda: made(iter((5, 6)), list), "range": lambda: range(5), "range_step": lambda: range(2, 9, 3),
    "slice": lambda: slice(1, 2), "slice_of_tensor": lambda: slice(torch.ones(1), 2),
    "slice_step_tensor": lambda: slice(1, 2, torch.ones(1)),
    "dict": lambda: {"a": 5, "b": [6]}, "dict_empty": lambda: {},
    "dict_keys": lambda: {1: 2, True: 3, 2.5: 4, None: 5, (1, "x"): 6, frozenset({1}): 7},
    "dict_nan": lambda: {float("nan"): 5, float("nan"): 6}, "dict_enum": lambda: {Color.RED: 5, Color.BLUE: {"z": 7}},
    "dict_int_enum": lambda: {Level.LOW: 5, Level.HIGH: 6}, "dict_flag": lambda: {Bit.R | Bit.W: 5, Bit.R: 6},
    "dict_parameter": lambda: {torch.nn.Parameter(torch.ones(2)): 5}, "dict_class": lambda: {Plain: 5},
    "ordered": lambda: made(collections.OrderedDict(a=1, b=2, c=3), lambda d: d.move_to_end("a")),
    "default": lambda: collections.defaultdict(list, a=5), "default_none": lambda: collections.defaultdict(None, a=5),
    "default_function": lambda: collections.defaultdict(function), "default_class": lambda: collections.defaultdict(Plain, x=[1]),
    "default_torch": lambda: collections.defaultdict(torch.ones), "counter": lambda: collections.Counter("aab"),
    "shared": lambda: (lambda a: {"p": a, "q": a, "r": (a, [a])})([1, 2]),
    "set": lambda: {1, 2}, "frozenset": lambda: frozenset({1, "a"}), "frozenset_torch": lambda: frozenset({torch.add}),
    "frozenset_class": lambda: frozenset({Plain}), "enum": lambda: Color.RED, "int_enum": lambda: Level.LOW,
    "function": lambda: function, "len": lambda: len, "type": lambda: type, "add": lambda: operator.add,
    "islice": lambda: itertools.islice, "reduce": lambda: functools.reduce, "cast": lambda: typing.cast,
    "intern": lambda: sys.intern, "class_meta": lambda: WithMeta, "class_namedtuple": lambda: objects.Point,
    "class_counter": lambda: collections.Counter, "class_ordered": lambda: collections.OrderedDict,
    "namespace": lambda: types.SimpleNamespace, "os": lambda: os, "numpy": lambda: numpy, "torch": lambda: torch,
    "functional": lambda: torch.nn.functional, "math": lambda: math, "torch_add": lambda: torch.add,
    "relu": lambda: torch.nn.functional.relu, "Tensor": lambda: torch.Tensor, "Linear": lambda: torch.nn.Linear,
    "overload": lambda: torch.ops.aten.add.Tensor, "packet": lambda: torch.ops.aten.add, "aten": lambda: torch.ops.aten,
    "sqrt": lambda: math.sqrt, "make_namedtuple": lambda: collections.namedtuple, "optimize": lambda: torch._dynamo.optimize,
    "inlined": lambda: objects.inlined, "List": lambda: typing.List, "Optional": lambda: typing.Optional[int],
    "Any": lambda: typing.Any, "np_float32": lambda: numpy.float32, "np_zeros": lambda: numpy.zeros,
    "radd": lambda: torch.Tensor.__radd__, "rpow": lambda: torch.Tensor.__rpow__, "sum": lambda: torch.Tensor.sum,
    "comptime": lambda: torch._dynamo.comptime.comptime, "method_wrapper": lambda: "a".__str__,
    "getset": lambda: torch._C._TensorBase.__dict__["shape"], "object": lambda: Plain(), "setattr": lambda: OwnSetattr(),
    "slots": lambda: Slots(), "bytes": lambda: b"xx", "complex": lambda: 1 + 2j, "method": lambda: Plain().method,
    "generator": lambda: (x for x in [1]), "np_bool": lambda: numpy.bool_(1),
    "tensor": lambda: torch.ones(2, 3), "tensor_0d": lambda: torch.tensor(3.0), "tensor_empty": lambda: torch.ones(0, 2),
    "tensor_int": lambda: torch.arange(4), "tensor_grad": lambda: torch.ones(2, requires_grad=True),
    "tensor_nonleaf": lambda: torch.ones(2, requires_grad=True) * 2, "transposed": lambda: torch.ones(2, 3).t(),
    "expanded": lambda: torch.ones(1, 3).expand(2, 3), "offset": lambda: torch.ones(4, 3)[1:],
    "strided": lambda: torch.ones(4, 6)[:, ::2],
    "channels_last": lambda: torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "channels_last_3d": lambda: torch.ones(2, 3, 4, 5, 2).to(memory_format=torch.channels_last_3d),
    "meta": lambda: torch.ones(2, device="meta"), "conj": lambda: torch.ones(2, dtype=torch.complex64).conj(),
    "real": lambda: torch.ones(2, dtype=torch.complex64).real, "viewed": lambda: torch.ones(4).view(torch.int32),
    "sparse": lambda: torch.eye(3).to_sparse(), "compressed": lambda: torch.eye(3).to_sparse_csr(),
    "ragged": lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2, 3)), "parameter_and_view": parameter_and_view,
    "with_grad": with_grad, "tensor_dict": lambda: marked(torch.ones(2), foo=5, bar=[1]),
    "set_": lambda: torch.ones(6).set_(torch.ones(9).untyped_storage(), 2, (2, 2), (3, 1)),
    "mkldnn": lambda: torch.ones(2, 3).to_mkldnn(), "mkldnn_grad": lambda: torch.ones(2, 3).to_mkldnn().requires_grad_(),
    "mark_list": lambda: marked(torch.ones(2, 3), _dynamo_dynamic_indices=[0], _dynamo_weak_dynamic_indices=(1, 2.0)),
    "mark_text": lambda: marked(torch.ones(2, 3), _dynamo_weak_dynamic_indices="01"),
    "mark_number": lambda: marked(torch.ones(2, 3), _dynamo_static_indices=5), "huge": lambda: 10**5000,
    "marked_static": lambda: marked(torch.ones(2), _dynamo_static_indices={0}),
    "guarded_address": lambda: marked(torch.ones(2), _dynamo_static_input_type="guarded"),
    "static_address": lambda: marked(torch.ones(2), _dynamo_static_input_type="unguarded"),
    "tensors": lambda: (lambda t: [t, t, (t,), torch.ones(2)])(torch.ones(2)),
    "array": lambda: numpy.ones((2, 3), dtype=numpy.float32), "array_0d": lambda: numpy.array(3),
    "array_empty": lambda: numpy.ones((0, 2)),
    "array_bool": lambda: numpy.array([True, False]), "array_half": lambda: numpy.ones(3, dtype=numpy.float16),
    "array_complex": lambda: numpy.ones(3, dtype=numpy.complex128), "array_t": lambda: numpy.ones((2, 3)).T,
    "array_fortran": lambda: numpy.asfortranarray(numpy.ones((2, 3, 4))), "array_gaps": lambda: numpy.ones((4, 6))[::2, 1::3],
    "array_bytes": lambda: numpy.frombuffer(b"abcd", dtype=numpy.uint8), "array_offset": lambda: numpy.arange(9)[4:],
    "array_unaligned": lambda: numpy.frombuffer(b"abcdefghi", dtype=numpy.int32, count=2, offset=1),
    "array_void": lambda: numpy.zeros(2, dtype="V3"), "array_date": lambda: numpy.zeros(2, dtype="M8[s]"),
    "array_uint32": lambda: numpy.zeros(2, dtype=numpy.uint32), "array_str": lambda: numpy.array(["a"]),
    "array_reversed": lambda: numpy.arange(4)[::-1], "array_swapped": lambda: numpy.zeros(2, dtype=">i4"),
    "arrays": lambda: (lambda a: [a, (a, a[1:]), {"k": a}])(numpy.arange(4)), "array_of_tensor": lambda: torch.ones(2, 2).numpy(),
    "array_and_tensor": lambda: (lambda a: [a, torch.from_numpy(a)])(numpy.ones(2)), "matrix": lambda: numpy.matrix([[1]]),
    "recarray": lambda: numpy.recarray((2,), dtype=[("x", int)]).view(numpy.ndarray), "masked": lambda: numpy.ma.array([1]),
    **{f"np_{t.__name__}": (lambda t=t: t(3)) for t in (numpy.int8, numpy.int16, numpy.int32, numpy.int64, numpy.uint8, numpy.uint16,
       numpy.uint64, numpy.float16, numpy.float64, numpy.longdouble, numpy.complex64, numpy.complex128, numpy.clongdouble)},
    "np_32": lambda: numpy.float32(0.5), "np_nan": lambda: numpy.float64("nan"), "np_time": lambda: numpy.timedelta64(1, "s"),
    "np_date": lambda: numpy.datetime64(1, "s"), "np_str": lambda: numpy.str_("a"), "np_bytes": lambda: numpy.bytes_(b"a"),
    "partial": lambda: functools.partial(function, 1, b=torch.ones(2)), "partial_sub": lambda: SubPartial(operator.add, 5),
    "partial_computes": lambda: ComputingPartial(operator.add, [1]), "partial_of_method": lambda: functools.partial(Plain().method, 5),
    "partial_state": lambda: made(functools.partial(len), lambda p: p.__setstate__((print, (1, [2]), {"k": 3}, {"z": 5}))),
    "partials": lambda: (lambda p: [p, p, functools.partial(function, p, b=p), {"k": p}])(functools.partial(function, [2])),
    "cycle_partial": lambda: cycle(1, lambda loop: functools.partial(function, b=loop)),
    "nullcontext": objects.make_null_context, "nullcontext_of": objects.make_null_context_of, "null_sub": objects.make_own_null_context,
    "seed": objects.make_seed_method, "stream": objects.make_stream, "process_group": objects.make_process_group,
    "device_mesh": objects.make_device_mesh, "placement": objects.make_placement, "shard": objects.make_shard,
    "jagged": objects.make_keyed_jagged, "sym_bool": objects.make_sym_true, "sym_false": objects.make_sym_false,
    "signature": lambda: inspect.signature, "fields": lambda: dataclasses.fields, "liar": objects.Lying,
    "proxy": lambda: weakref.proxy(KEPT), "proxy_dead": lambda: weakref.proxy(Plain()),
    "liars": lambda: (lambda o: [o, (o,), {"k": o}])(objects.Lying()), "liar_key": lambda: {objects.Lying(): 5},
    "liar_member": lambda: frozenset({objects.Lying()}), "answers": lambda: Answering(), "answers_wrong": lambda: Answering(5),
    "says_enum": lambda: [Saying(Color), 5], "says_typing": lambda: (Saying(typing._SpecialGenericAlias),),
    "says_getset": lambda: Saying(types.GetSetDescriptorType), "says_wrapper": lambda: Saying(types.MethodWrapperType),
    "says_set": lambda: Saying(set), "says_tuple": lambda: [Saying(tuple)], "dict_says_set": lambda: SayingDict(a=[5]),
    "says_context": lambda: Saying(torch.autograd.function.FunctionCtx), "proxies": lambda: [weakref.proxy(KEPT_TOO)],
    "raising_class": lambda: [RaisingClass()], "raising_module": lambda: RaisingModule(), "mentioned": lambda: Mentioned(),
    "module_asked": lambda: asked_module(AttributeError), "module_raising": lambda: asked_module(ValueError),
    "module_says": lambda: asked_module(None), "module_number": lambda: asked_module(5),
    "np_void": lambda: numpy.void(b"ab"), "np_list": lambda: [numpy.float32(1), numpy.float32(1), {"k": numpy.int64(2)}],
    "itself": lambda: made([1, 2], lambda loop: loop.append(loop)),
}  # fmt: skip

#: Cycles, and nesting on both sides of where the recursion limit ends it.
DEEP = {
    "cycle_list": lambda: cycle(1, lambda loop: [2, loop]), "cycle_tuple": lambda: cycle(7, lambda loop: (5, loop)),
    "cycle_dict": lambda: cycle(None, lambda loop: {"k": loop}), "cycle_tensor": lambda: cycle(torch.ones(1), lambda loop: [loop]),
    "cycle_slice": lambda: cycle("a", lambda loop: slice(loop, None)), "cycle_point": lambda: cycle(0, lambda loop: Point(1, loop)),
    "cycle_default": lambda: cycle(5, lambda loop: collections.defaultdict(list, k=(loop,))),
    "deep_size": lambda: nested(163, lambda x: [x], torch.Size([2, 3])),
    "deep_list": lambda: nested(165, lambda x: [x], 5), "deep_dict": lambda: nested(198, lambda x: {"k": x}, None),
    "deep_tensor": lambda: nested(142, lambda x: (x,), torch.ones(1)),
}  # fmt: skip

X = ("local", "x")
SOURCES = {
    "global": ("global", "x"), "cell": ("cell", "c"), "attr": ("attr", X, "w"), "dotted": ("attr", X, "a.b.c"),
    "unnamed": ("attr", X, "0"), "item": ("item", X, 0), "key": ("item", X, "k"), "sliced": ("item", X, slice(1, None)),
    "nn": ("nnmodule", X), "nn_global": ("nnmodule", ("global", "x")), "not_nn": ("notnn", ("nnmodule", X)),
    "fsdp": ("fsdp", X), "const": ("const", "cc"), "const_attr": ("attr", ("const", "cc"), "w"), "random": ("random", 3),
    "weak": ("weak", "w"), "iterator": ("tupleiter", X, 2), "odict": ("odict", X, "k"), "default": ("default", X, 1),
    "keyword": ("default", X, "kw"), "type": ("type", X), "param": ("param", ("nnmodule", X), "w"),
    "nn_const": ("nnmodule", ("const", "c")), "nn_fsdp": ("nnmodule", ("fsdp", X)), "as_tensor": ("numpy", X),
    "nn_attr": ("attr", ("nnmodule", X), "w"), "state": ("attr", ("local", "o"), "state"), "quoted": ("local", 'it"em\'s'),
}  # fmt: skip
AT_SOURCES = ("int", "float", "list", "dict", "dict_empty", "tensor", "parameter", "function", "range", "size",
              "default", "guarded_address", "dict_enum", "with_grad", "object", "iterator", "slice",
              "array", "np_32", "array_str", "partial", "nullcontext", "sym_bool", "jagged", "liar")  # fmt: skip


def _together(*roots):
    """frames() of one frame in which one object is built under several sources."""
    return lambda make: [[(spec, value) for spec, value in roots_of(make(), roots)]]


def roots_of(value, specs):
    return [(spec, value) for spec in specs]


def _views(base):
    return [[(("local", "v"), base[1:]), (("local", "b"), base), (("local", "w"), base.t())]]


def _spread(size, stride, offset=0):
    """A tensor that is no view, of any strides."""
    storage = torch.ones(1 + offset + sum((n - 1) * step for n, step in zip(size, stride))).untyped_storage()
    return torch.ones(2).set_(storage, offset, size, stride)


def _marked_dynamic(tensor, *dims):
    for dim in dims:
        torch._dynamo.mark_dynamic(tensor, dim)
    return tensor


def _pairs():
    """Tensors seen as complex numbers and as pairs, with symbols of their own."""
    pairs = _marked_dynamic(torch.ones(3, 2), 0, 1)
    numbers = _marked_dynamic(torch.ones(3, 4, dtype=torch.complex64), 0, 1)
    return [[(X, pairs), (("local", "y"), torch.view_as_complex(pairs)), (("local", "n"), numbers),
             (("local", "v"), torch.view_as_real(numbers)), (("local", "r"), numbers.real)]]


def _static_gradients():
    """Gradients that are static under their own names, of tensors that are not."""
    x, y = (_marked_dynamic(with_grad(4, 4), *dims) for dims in ((0,), (0, 1)))
    return [[(("local", "g"), x.grad), (("local", "h"), y.grad), (X, x), (("local", "y"), y), (("local", "z"), x)],
            [(("local", "y"), y), (("local", "g"), y.grad), (("local", "h"), torch.ones(4, 5))]]


#: Sizes and strides of tensors that are no views.
SPREAD = (((2, 3), (7, 2)), ((5, 3), (5, 1)), ((5, 3), (2, 3)), ((5, 3), (2, 2)), ((5, 3, 4), (20, 4, 1)), ((5, 3, 4), (30, 7, 1)),
          ((5, 3, 4), (24, 8, 2)), ((2, 3, 4, 5), (80, 1, 20, 4)), ((2, 3, 4, 5), (200, 7, 30, 1)), ((2, 3, 2, 2), (13, 1, 6, 3)),
          ((2, 3, 2, 2, 2), (500, 1, 100, 25, 4)), ((4, 1, 1, 1), (5, 5, 5, 5)), ((1, 3), (7, 1)), ((5,), (3,)), ((3, 4), (1, 1)))


def _spreads(offset):
    return lambda: [[(("local", f"t{i}"), _spread(size, stride, offset)) for i, (size, stride) in enumerate(SPREAD)]]


def _complex(base):
    return [[(X, base), (("local", "r"), base.real), (("local", "v"), torch.view_as_real(base))]]


def _gradient(*dims):
    """A gradient under its own name before and behind its tensor's, over two frames of other sizes."""
    first, second = with_grad(2, 3), with_grad(4, 5)
    for dim in dims:
        torch._dynamo.mark_dynamic(first, dim)
    grad = (("local", "g"), first.grad)
    return [[grad, (X, first), (("local", "y"), with_grad(2, 2))], [(X, second), (("local", "g"), second.grad)]]


def _mutated():
    value = [1]
    return [[(("local", "a"), value), (("do",), lambda: value.append(5)), (("local", "b"), value), (("local", "c"), [value])]]


def _parameters_as_keys():
    p, q = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    return [[(("local", "d"), {p: 5, q: [p]}), (("local", "e"), {p: q}), (("global", "f"), {p: 1})]]




def _cycle(value, put):
    put(value)
    return value


#: What SourcelessBuilder alone knows, or knows in another way.
SOURCELESS = {
    "says_type": lambda: [Saying(type)], "says_abc": lambda: (Saying(abc.ABCMeta),), "says_own": lambda: Saying(Saying),
    "default_factory": lambda: dataclasses._HAS_DEFAULT_FACTORY, "wrapper": lambda: (1).__add__,
    "list_cycle": lambda: _cycle([], lambda l: l.append(l)), "dict_cycle": lambda: _cycle({}, lambda d: d.update(a=d)),
    "list_in_dict_cycle": lambda: _cycle({}, lambda d: d.update(a=[d])), "list_subclass": lambda: type("L", (list,), {})([1]),
    "deep": lambda: functools.reduce(lambda inner, _: [inner], range(300), torch.add),
    "too_deep": lambda: functools.reduce(lambda inner, _: [inner], range(340), 5),
    "classes_as_keys": lambda: {int: [str], str: {bool: len}}, "float_keys": lambda: {0.0: [len], float("nan"): 1, float("nan"): len},
}  # fmt: skip

#: Several roots or frames.
FRAMES = {
    "aliases": lambda: [roots_of([1, [2]], [("local", "x"), ("local", "y"), ("global", "z"), ("local", "x"), ("const", "q")])],
    "tensor_aliases": lambda: [roots_of(torch.ones(2), [("local", "x"), ("local", "y"), ("global", "z")])],
    "one_source": lambda: [[(X, torch.ones(2)), (X, torch.ones(3)), (("item", X, 0), torch.ones(2)), (("item", X, False), torch.ones(2))]],
    "names": lambda: [[(("local", name), torch.ones(2)) for name in ("x_0", "x", "X", "x__1", "x_1", "xA", "x.")]],
    "module_names": lambda: [[(("nnmodule", ("local", name)), torch.ones(2)) for name in ("m", "list", "class", "9", "a.b")]],
    "one_module": lambda: (lambda t: [[(("nnmodule", ("local", "m")), [t, [t]]), (("local", "q"), t)]])(torch.ones(2)),
    "constants": lambda: [[(("const", name), torch.ones(2)) for name in ("a.b", "a_b", "a-b")]],
    "frames": lambda: [[(("local", "y"), (5, 6)), (X, torch.ones(2))], [(("local", "y"), (5, 6)), (X, torch.ones(2)), (("attr", X, "q"), 3)]],
    "after_an_exception": lambda: [[(("local", "c"), [torch.ones(2), torch.eye(2).to_sparse_csr()]), (("local", "d"), torch.ones(2)), (X, 5)]],
    "views": lambda: _views(torch.ones(3, 3)), "views_grad": lambda: _views(torch.ones(3, 3, requires_grad=True)),
    "views_complex": lambda: _complex(torch.ones(3, 4, dtype=torch.complex64)),
    "spread": _spreads(0), "spread_offset": _spreads(3), "pairs": _pairs, "static_gradients": _static_gradients,
    "spread_marked": lambda: [[(("local", f"t{i}"), _marked_dynamic(_spread((3, 4, 5), strides), i % 3))]
                              for i, strides in enumerate(((41, 7, 1), (1, 5, 31), (20, 1, 6), (2, 6, 24)))],
    "compressed_values": lambda: [[(X, torch.eye(3).to_sparse_csr().values()), (("local", "y"), torch.ones(2))]],
    "gradient": _gradient, "gradient_of_marked": lambda: _gradient(0, 1),
    "gradients": lambda: [[(("local", f"m{i}"), with_grad(7, 8)) for i in range(7)]] * 2,
    "views_parameter": lambda: _views(torch.nn.Parameter(torch.ones(3, 3))), "mutated": _mutated,
    "parameters_as_keys": _parameters_as_keys,
    "state_keys": lambda: [[(("attr", ("local", "o"), "state"), {"a": 5})], [(("attr", ("local", "o"), "state"), {torch.ones(2): 5})]],
    "arrays_at_one_source": lambda: [[(X, numpy.ones(2)), (X, numpy.ones(3)), (("numpy", X), torch.ones(2)), (("local", "y"), [numpy.ones(3)])]],
    "arrays_that_grow": lambda: [
        [(X, numpy.ones((n, 3))), (("local", "l"), [numpy.ones(n)] * 2), (("local", "n"), numpy.int64(n))] for n in (2, 4, 4, 5)],
    "array_of_numbers": lambda: [[(X, numpy.float32(1)), (X, numpy.ones(2)), (("item", X, 0), numpy.float32(2)), (X, 5)]],
    "memory_twice": lambda: (lambda a: [
        [(X, a), (("local", "t"), torch.from_numpy(a)), (("local", "v"), a[1:]), (("local", "w"), a)]])(numpy.ones(4)),
    "optimizer_source": lambda: [[(("item", ("item", ("item", ("attr", ("local", "o"), "param_groups"), 0), "params"), 0), torch.ones(2))]],
    "module_dicts": lambda: [[(("nnmodule", ("local", "m")), {"a": {}, "b": [{}], "c": 5}), (("attr", ("nnmodule", ("local", "m")), "z"), [])]],
}  # fmt: skip

CONFIGS = ({"specialize_int": True}, {"automatic_dynamic_shapes": False}, {"trace_numpy": False},
           {"force_nn_module_property_static_shapes": False}, {"force_parameter_static_shapes": False},
           {"assume_static_by_default": False}, {"force_unspec_int_unbacked_size_like": True})  # fmt: skip
#: Under these ints and sizes become symbols: what comes of them depends on the source.
DYNAMIC = ({"assume_static_by_default": False}, {"force_unspec_int_unbacked_size_like": True})


def exported():
    """(name, frames(), config) of what is built in export mode."""
    for name, make in VALUES.items():
        yield f"export:{name}", (lambda make=make: [[(X, make()), (("global", "g"), make())]]), {}
    for config in DYNAMIC:
        for at, spec in SOURCES.items():
            for name in ("int", "np_32", "array", "tensor", "array_gaps"):
                yield f"export:{at}:{name}:{next(iter(config))}", (lambda spec=spec, make=VALUES[name]: [[(spec, make())]]), config


def cases():
    """(name, frames(), config) of everything else."""
    for name, make in {**VALUES, **DEEP}.items():
        yield name, (lambda make=make: [[(X, make())]]), {}
    for name, make in {**VALUES, **SOURCELESS}.items():
        yield f"sourceless:{name}", (lambda make=make: [[(("sourceless",), make())]]), {}
    for at, spec in SOURCES.items():
        for name in AT_SOURCES:
            yield f"{at}:{name}", (lambda spec=spec, make=VALUES[name]: [[(spec, make())]]), {}
    for config in DYNAMIC:
        for at, spec in SOURCES.items():
            for name in ("int", "tensor", "parameter", "size", "with_grad", "range"):
                yield f"{at}:{name}:{next(iter(config))}", (lambda spec=spec, make=VALUES[name]: [[(spec, make())]]), config
        for name, frames in FRAMES.items():
            yield f"frames:{name}:{next(iter(config))}", frames, config
    for name, frames in FRAMES.items():
        yield f"frames:{name}", frames, {}
    for config in CONFIGS:
        for name, make in VALUES.items():
            yield f"{name}:{next(iter(config))}", (lambda make=make: [[(X, make())]]), config


def main():
    found = {}
    everything = [(case, False) for case in cases()] + [(case, True) for case in exported()]
    for (name, frames, config), export in everything:
        case = judge.compare(name, frames, config, None, export, False)
        first = next(iter(case["divergences"]), None)
        found[name] = [case["verdict"], [u["arm"] for u in case["unsupported"]], first and [first["path"], str(first)[:400]]]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
