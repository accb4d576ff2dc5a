"""What a program brings of its own: classes, functions, enums, modules.

`src/graph/choices.def` names these by path.  A factory (`make_...`) is called
once a node and gives a fresh object; everything else is looked up, so that two
nodes of the same choice are the same object, as in real programs.

Objects whose class is *watched* run code of their own while somebody builds
them.  Each call of it is noted as "node.what" in the list that the live program
gives the instance (`attach`), so that it can be compared how often, and in
which order, both builders ran it.

This module must not import anything of `torch._dynamo`: it is imported before
the reference builder is loaded.
"""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import sys
import types
import warnings
from typing import Any, ClassVar, NamedTuple, Optional

import numpy
import torch
import torch._guards

# ---- plain data ---------------------------------------------------------------

Point = collections.namedtuple("Point", "x y")
"""A namedtuple made by collections.namedtuple: two fields, no annotations."""


class Pair(NamedTuple):
    """A namedtuple made by class syntax, with a default."""

    first: Any
    second: Any = None


class Unit(NamedTuple):
    """A namedtuple without fields: its instances equal ()."""


class Color(enum.Enum):
    """An enum with int values."""

    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    """An enum whose members are ints as well: isinstance(Level.LOW, int)."""

    LOW = 0
    HIGH = 1


OptionalInt = Optional[int]
"""A typing object that is no class: typing.Union[int, None]."""

# ---- functions ------------------------------------------------------------------


def scale(x, factor=2):
    """A function with a default."""
    return x * factor


def add_bias(x, *, bias=1):
    """A function with a keyword-only default."""
    return x + bias


def double(x):
    """A function of one argument and no defaults."""
    return x + x


def _closing_over(bias):
    def closure(x):
        return x + bias

    return closure


closure = _closing_over(3)
"""A function with a free variable; its qualname finds nothing in the module."""


def inlined(x):
    """A function that asks to be replaced by another while it is traced."""
    return x


inlined._torchdynamo_inline = double


def marked(x):
    """A function whose result is taken for a constant."""
    return 4


marked._dynamo_marked_constant = True


@torch.jit.script_if_tracing
def scripted(x):
    """A function inside a wrapper that stands aside unless torch.jit traces."""
    return x * 2

# ---- classes and their instances ------------------------------------------------


class Plain:
    """A class with nothing special; the edges of a node become a, b, c, d."""

    x = 1

    def method(self):
        """What `bound_method plain` is bound to."""
        return self.x


class Meta(type):
    """A metaclass that changes nothing but type(cls)."""


class WithMeta(metaclass=Meta):
    """A class whose type is not `type`."""


@dataclasses.dataclass
class Data:
    """A dataclass; eq without frozen makes its instances unhashable."""

    a: Any = 0
    b: Any = None
    c: Any = None
    d: Any = None


@dataclasses.dataclass
class NoFields:
    """A dataclass without fields: a class variable is none."""

    kind: ClassVar[str] = "none"


class TaggedTensor(torch.Tensor):
    """A tensor subclass with a __torch_function__ of its own, for the config value
    traceable_tensor_subclasses."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


# ---- autograd, and operators that take functions ---------------------------------


class Scaler(torch.autograd.Function):
    """A function of autograd."""

    @staticmethod
    def forward(ctx, x):
        """Twice the input."""
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        """Twice the gradient."""
        return grad * 2

    @classmethod
    def other(cls):
        """A bound method that is not called apply."""
        return cls


class OddMeta(torch.autograd.function.FunctionMeta):
    """A metaclass below autograd's: its classes are not of exactly that type."""


class OddlyMade(torch.autograd.Function, metaclass=OddMeta):
    """A function of autograd that is taken for any class."""


class Stale(torch.autograd.Function):
    """A function whose apply is another one than the one that was bound first."""

    @classmethod
    def apply(cls, x):
        """Not autograd's."""
        return x


delegate_operator = torch._ops.HigherOrderOperator("executorch_call_delegate")
"""Known by its name alone, as the next two."""
tracepoint_operator = torch._ops.HigherOrderOperator("_export_tracepoint")
trampoline_operator = torch._ops.HigherOrderOperator("trampoline_autograd_fwd")
unknown_operator = torch._ops.HigherOrderOperator("tandem_unknown")
"""An operator that no tracker stands for."""

# ---- classes that are watched ------------------------------------------------------


class Watched:
    """Base of classes whose code runs while they are built.

    The list and the node number live in slots, not in the instance dict, so that
    the dict shows the program's attributes alone.
    """

    __slots__ = ("_tandem_calls", "_tandem_node", "__dict__", "__weakref__")


class _Notes:
    """Where an instance that can have no slots keeps the list and the number."""

    __slots__ = ("calls", "node")


_CALLS = Watched.__dict__["_tandem_calls"]
_NODE = Watched.__dict__["_tandem_node"]


def attach(instance: Any, calls: list, node: int) -> None:
    """Make instance note its calls in calls (borrowed by it until it dies)."""
    if issubclass(type(instance), Watched):
        _CALLS.__set__(instance, calls)
        _NODE.__set__(instance, node)
        return
    notes = _Notes()
    notes.calls, notes.node = calls, node
    object.__getattribute__(instance, "__dict__")["_tandem_notes"] = notes


def note(instance: Any, what: str) -> None:
    """Note one call of user code; an instance that nobody attached stays silent.

    Reads past the class's own look-up: an ordinary attribute access could end in
    the very code that is being noted.
    """
    if issubclass(type(instance), Watched):
        try:
            calls, node = _CALLS.__get__(instance), _NODE.__get__(instance)
        except AttributeError:
            return
    else:
        notes = object.__getattribute__(instance, "__dict__").get("_tandem_notes")
        if notes is None:
            return
        calls, node = notes.calls, notes.node
    calls.append(f"{node}.{what}")


class CustomSetattr(Watched):
    """Stores attributes by code of its own."""

    __slots__ = ()

    def __setattr__(self, name, value):
        note(self, "__setattr__")
        object.__setattr__(self, name, value)


class CustomGetattr(Watched):
    """Answers for attributes that it does not have."""

    __slots__ = ()

    def __getattr__(self, name):
        note(self, "__getattr__")
        raise AttributeError(name)


class Counting(Watched):
    """Compares, hashes, measures and iterates by code of its own, harmlessly."""

    __slots__ = ()

    def __eq__(self, other):
        note(self, "__eq__")
        return self is other

    def __hash__(self):
        note(self, "__hash__")
        return 7

    def __len__(self):
        note(self, "__len__")
        return 2

    def __iter__(self):
        note(self, "__iter__")
        return iter((1, 2))

    def __bool__(self):
        note(self, "__bool__")
        return True

    def __repr__(self):
        note(self, "__repr__")
        return "Counting()"


class Raising(Watched):
    """Raises from whatever it is asked; cannot be a key."""

    __slots__ = ()

    def __eq__(self, other):
        note(self, "__eq__")
        raise RuntimeError("no __eq__ today")

    def __hash__(self):
        note(self, "__hash__")
        raise RuntimeError("no __hash__ today")

    def __len__(self):
        note(self, "__len__")
        raise RuntimeError("no __len__ today")

    def __bool__(self):
        note(self, "__bool__")
        raise RuntimeError("no __bool__ today")

    def __getattr__(self, name):
        note(self, "__getattr__")
        raise RuntimeError("no __getattr__ today")


class Lying(Watched):
    """Says that its class is list."""

    __slots__ = ()

    @property
    def __class__(self):
        note(self, "__class__")
        return list


class LyingMember(Watched):
    """Says that it is a member of an enum."""

    __slots__ = ()

    @property
    def __class__(self):
        note(self, "__class__")
        return Color


class LyingClass(Watched):
    """Says that it is a class."""

    __slots__ = ()

    @property
    def __class__(self):
        note(self, "__class__")
        return type


def _logging_pair() -> type:
    """A namedtuple class whose instances say when they are measured or iterated.

    Made anew rather than derived: only a class right below tuple counts as a
    namedtuple.  Without __slots__ its instances have a dict for the notes.
    """

    def __iter__(self):
        note(self, "__iter__")
        return tuple.__iter__(self)

    def __len__(self):
        note(self, "__len__")
        return tuple.__len__(self)

    fields = collections.namedtuple("LoggingPair", "first second")
    own = {name: value for name, value in vars(fields).items() if name != "__slots__"}
    own |= {"__module__": __name__, "__qualname__": "LoggingPair", "__iter__": __iter__, "__len__": __len__}
    return type("LoggingPair", (tuple,), own)


def _answering_module(name: str, error: type[Exception]) -> types.ModuleType:
    """A module that raises when it is asked for what it has not."""

    def __getattr__(attribute):
        raise error(f"{name} has no {attribute}")

    module = types.ModuleType(name)
    module.__getattr__ = __getattr__
    return module


silent_module = _answering_module("silent_module", AttributeError)
"""A module that looks up what it has not by code of its own."""

raising_module = _answering_module("raising_module", ValueError)
"""The same, but what it raises says something else than that it has no such attribute."""

LoggingPair = _logging_pair()
"""A namedtuple whose __iter__ and __len__ are Python code that notes its calls."""


class NotingTensor(torch.Tensor):
    """Notes what of it is asked through __torch_function__."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if args and isinstance(args[0], NotingTensor):
            note(args[0], getattr(func, "__self__", func).__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class RefusingTensor(NotingTensor):
    """Does not say how many dims it has."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        if func is torch.Tensor.dim:
            raise RuntimeError("no dim today")
        return result


class QuietTensor(torch.Tensor):
    """A subclass without a __torch_function__ of its own."""


class QuietParameter(torch.nn.Parameter):
    """A subclass of Parameter, whose __torch_function__ is no function of Python."""


every_subclass = {TaggedTensor, NotingTensor, RefusingTensor, QuietTensor, QuietParameter}
"""What traceable_tensor_subclasses may list."""

# ---- factories ------------------------------------------------------------------


def _filled(module: torch.nn.Module) -> torch.nn.Module:
    """The module with fixed parameters instead of drawn ones."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(0.5)
    return module


def make_linear() -> torch.nn.Module:
    """A module with two parameters."""
    return _filled(torch.nn.Linear(2, 3))


def make_relu() -> torch.nn.Module:
    """A module without parameters."""
    return torch.nn.ReLU()


def make_sequential() -> torch.nn.Module:
    """A container of modules."""
    return torch.nn.Sequential(make_linear(), make_relu())


def make_lstm() -> torch.nn.Module:
    """A module of the RNN family."""
    return _filled(torch.nn.LSTM(2, 2))


def make_rnn() -> torch.nn.Module:
    """A plain recurrent module."""
    return _filled(torch.nn.RNN(2, 2))


def make_gru() -> torch.nn.Module:
    """Another module of the RNN family."""
    return _filled(torch.nn.GRU(2, 2))


def make_batch_norm() -> torch.nn.Module:
    """A module with buffers, one of them an int."""
    return torch.nn.BatchNorm1d(2)


def _seen_hook(*arguments):
    """What the hooks of a hooked module are."""


def make_hooked() -> torch.nn.Module:
    """A module with hooks of every sort."""
    module = make_linear()
    module.register_forward_pre_hook(_seen_hook)
    module.register_forward_hook(_seen_hook)
    module.register_forward_hook(double)
    module.register_full_backward_hook(_seen_hook)
    module._register_state_dict_hook(_seen_hook)
    module._register_load_state_dict_pre_hook(_seen_hook)
    return module


def make_lazy() -> torch.nn.Module:
    """A module whose parameters are not there yet."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nn.LazyLinear(2)


class Scaled(torch.nn.Module):
    """What is compiled by TorchScript."""

    def forward(self, x):
        """x, twice."""
        return x + x


_COMPILED = []


def make_script_module() -> torch.nn.Module:
    """A ScriptModule; what was compiled once is wrapped anew."""
    if not _COMPILED:
        _COMPILED.append(torch.jit.script(Scaled()))
    return _COMPILED[0].__copy__()


def make_script_function():
    """A ScriptFunction that no Python function stands behind."""
    return torch.jit.CompilationUnit("def scripted(x):\n    return x + x\n").scripted


def make_patched() -> torch.nn.Module:
    """A module whose forward was set on the instance."""
    module = make_linear()
    module.forward = double
    return module


def make_frozen() -> torch.nn.Module:
    """A module in evaluation mode whose parameters need no gradients."""
    return make_linear().eval().requires_grad_(False)


# ---- modules that hold what they are given ------------------------------------------


def _hold(module: torch.nn.Module, parts: tuple) -> torch.nn.Module:
    """The parts as attributes a, b, c, d; plain tensors as buffers."""
    for name, part in zip("abcd", parts):
        if isinstance(part, torch.Tensor) and not isinstance(part, torch.nn.Parameter):
            module.register_buffer(name, part)
        else:
            torch.nn.Module.__setattr__(module, name, part)
    return module


def _of(parts: tuple, cls: type) -> list:
    return [part for part in parts if isinstance(part, cls)]


class Block(torch.nn.Module):
    """A module as people write them."""

    def forward(self, x):
        """x as it is."""
        return x


def make_block(*parts) -> torch.nn.Module:
    """A module of a user's class."""
    return _hold(Block(), parts)


def make_sequence(*parts) -> torch.nn.Module:
    """A Sequential of those parts that are modules."""
    return torch.nn.Sequential(*_of(parts, torch.nn.Module))


def make_module_list(*parts) -> torch.nn.Module:
    """A ModuleList of those parts that are modules."""
    return torch.nn.ModuleList(_of(parts, torch.nn.Module))


def make_module_dict(*parts) -> torch.nn.Module:
    """A ModuleDict of those parts that are modules."""
    return torch.nn.ModuleDict(dict(zip("abcd", _of(parts, torch.nn.Module))))


def make_parameter_list(*parts) -> torch.nn.Module:
    """A ParameterList of those parts that are tensors."""
    return torch.nn.ParameterList(_of(parts, torch.nn.Parameter))


def make_parameter_dict(*parts) -> torch.nn.Module:
    """A ParameterDict of those parts that are tensors."""
    return torch.nn.ParameterDict(dict(zip("abcd", _of(parts, torch.nn.Parameter))))


class Forced(Block):
    """A class that wants its modules to be taken for dynamic ones."""

    torchdynamo_force_dynamic = True


def make_forced(*parts) -> torch.nn.Module:
    """A module that is dynamic because its class says so."""
    return _hold(Forced(), parts)


class Unforced(Block):
    """A class that wants its modules never to be taken for dynamic ones."""

    torchdynamo_force_dynamic = False


def make_unforced(*parts) -> torch.nn.Module:
    """A module that is specialised whatever happened to it, its forward aside."""
    return _hold(Unforced(), parts)


class Storing(Forced):
    """A dynamic module that stores attributes by code of its own."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


def make_storing(*parts) -> torch.nn.Module:
    """A dynamic module that nothing tracks."""
    return _hold(Storing(), parts)


class Answering(Watched, torch.nn.Module):
    """A module that says what it is asked for."""

    def __init__(self):
        torch.nn.Module.__init__(self)

    def __getattr__(self, name):
        note(self, f"__getattr__({name})")
        return torch.nn.Module.__getattr__(self, name)

    def forward(self, x):
        """x as it is."""
        return x


def make_answering(*parts) -> torch.nn.Module:
    """A module with a __getattr__ of its own."""
    return _hold(Answering(), parts)


class Refusing(Answering):
    """A module that refuses to say what it has not."""

    def __getattr__(self, name):
        note(self, f"__getattr__({name})")
        if name == "_is_fsdp_managed_module":
            raise RuntimeError("no answer today")
        return torch.nn.Module.__getattr__(self, name)


def make_refusing(*parts) -> torch.nn.Module:
    """A module whose __getattr__ raises other than AttributeError."""
    return _hold(Refusing(), parts)


class Naming(Answering):
    """A module that names its parameters, and those below it, by code of its own."""

    def named_parameters(self, *arguments, **keywords):
        note(self, "named_parameters")
        yield from torch.nn.Module.named_parameters(self, *arguments, **keywords)
        yield "extra.name", None

    def named_modules(self, *arguments, **keywords):
        note(self, "named_modules")
        return torch.nn.Module.named_modules(self, *arguments, **keywords)


def make_naming(*parts) -> torch.nn.Module:
    """A module with named_parameters of its own."""
    return _hold(Naming(), parts)


class Comparing(Answering):
    """A module that is hashed and compared by code of its own."""

    def __eq__(self, other):
        note(self, "__eq__")
        return self is other

    def __hash__(self):
        note(self, "__hash__")
        return 11


def make_comparing(*parts) -> torch.nn.Module:
    """A module that walks over modules hash."""
    return _hold(Comparing(), parts)


class Abstract(Block, abc.ABC):
    """A module whose class has another metaclass."""


def make_abstract(*parts) -> torch.nn.Module:
    """A module of a class made by ABCMeta."""
    return _hold(Abstract(), parts)


def make_fsdp(*parts) -> torch.nn.Module:
    """What FSDP leaves of a module that it manages."""
    module = _hold(Block(), parts)
    module._is_fsdp_managed_module = True
    module._fsdp_use_orig_params = True
    return module


def make_fsdp_flat(*parts) -> torch.nn.Module:
    """A module that FSDP manages with flattened parameters."""
    module = _hold(Block(), parts)
    module._is_fsdp_managed_module = True
    return module


def make_parallel(*parts) -> torch.nn.Module:
    """An instance of DistributedDataParallel that was never connected to anybody."""
    cls = torch.nn.parallel.distributed.DistributedDataParallel
    module = cls.__new__(cls)
    torch.nn.Module.__init__(module)
    return _hold(module, parts)


def make_optimized(*parts) -> torch.nn.Module:
    """What torch.compile gives for the first part that is a module."""
    import torch._dynamo.eval_frame

    cls = torch._dynamo.eval_frame.OptimizedModule
    module = cls.__new__(cls)
    torch.nn.Module.__init__(module)
    module._orig_mod = (*_of(parts, torch.nn.Module), Block())[0]
    return module


def member_of(module: Any, name: str) -> Any:
    """What a module has under a name, without asking code of its own; the module
    itself where it has nothing, or where module is none."""
    if not isinstance(module, torch.nn.Module):
        return module
    own = object.__getattribute__(module, "__dict__")
    if name in own:
        return own[name]
    for table in map(own.get, ("_parameters", "_buffers", "_modules")):
        if isinstance(table, dict) and table.get(name) is not None:
            return table[name]
    found = getattr(type(module), name, None)
    return types.MethodType(found, module) if isinstance(found, types.FunctionType) else module


def make_np_float32() -> numpy.generic:
    """A numpy float scalar."""
    return numpy.float32(1.5)


def make_np_int64() -> numpy.generic:
    """A numpy int scalar."""
    return numpy.int64(3)


def make_np_bool() -> numpy.generic:
    """A numpy bool scalar."""
    return numpy.bool_(True)


def make_np_float64() -> numpy.generic:
    """A numpy scalar that is a Python float too."""
    return numpy.float64(2.5)


def make_np_float16() -> numpy.generic:
    """A numpy scalar of half precision."""
    return numpy.float16(0.5)


def make_np_complex64() -> numpy.generic:
    """A numpy complex scalar."""
    return numpy.complex64(1 + 2j)


def make_np_uint8() -> numpy.generic:
    """A numpy scalar of the one unsigned type that torch has."""
    return numpy.uint8(7)


def make_np_uint16() -> numpy.generic:
    """A numpy scalar of a type that torch has not."""
    return numpy.uint16(5)


def make_np_longdouble() -> numpy.generic:
    """A numpy scalar wider than any of torch's."""
    return numpy.longdouble(0.25)


def make_np_timedelta64() -> numpy.generic:
    """A numpy scalar that counts as a number and is a time."""
    return numpy.timedelta64(3, "s")


class SubArray(numpy.ndarray):
    """An array type that is not numpy's own."""


def make_array_of_uint16() -> numpy.ndarray:
    """An array of a type that torch has not."""
    return numpy.ones((2, 3), dtype=numpy.uint16)


def make_array_of_object() -> numpy.ndarray:
    """An array of Python objects."""
    return numpy.array([1, None], dtype=object)


def make_array_of_text() -> numpy.ndarray:
    """An array of strings."""
    return numpy.array(["a", "bc"])


def make_array_of_records() -> numpy.ndarray:
    """A structured array."""
    return numpy.ones(2, dtype=[("x", "f4"), ("y", "i8")])


def make_big_endian_array() -> numpy.ndarray:
    """An array whose bytes are in the other order."""
    return numpy.ones((2, 2), dtype=">f4")


def make_reversed_array() -> numpy.ndarray:
    """An array that walks its memory backwards."""
    return numpy.arange(6.0)[::-1]


def make_readonly_array() -> numpy.ndarray:
    """An array that nobody may write to."""
    array = numpy.ones((4, 2), dtype=numpy.float32)
    array.flags.writeable = False
    return array


def make_broadcast_array() -> numpy.ndarray:
    """An array whose rows are one row."""
    return numpy.broadcast_to(numpy.ones(3, dtype=numpy.float32), (4, 3))


def make_array_with_gaps() -> numpy.ndarray:
    """Rows that are the beginnings of longer ones."""
    return numpy.ones((5, 7), dtype=numpy.float32)[:, :3]


def make_part_of_image() -> numpy.ndarray:
    """A part of some rows of images whose channels lie closest."""
    return numpy.ones((2, 7, 5, 3), dtype=numpy.float32).transpose(0, 3, 1, 2)[:, :, :4]


def make_overlapping_array() -> numpy.ndarray:
    """Windows over one row, each a step further than the one before."""
    row = numpy.ones(7, dtype=numpy.float32)
    return numpy.lib.stride_tricks.sliding_window_view(row, 3, writeable=True)


def make_array_of_subclass() -> numpy.ndarray:
    """An instance of a subclass of ndarray."""
    return numpy.ones((2, 2)).view(SubArray)


def make_bound_method():
    """A method bound to an instance of a user class."""
    return Plain().method


def make_module_method():
    """A method bound to a module."""
    return make_linear().forward


def make_generator_method():
    """A builtin method bound to a torch.Generator."""
    return torch.Generator().get_state


def make_apply():
    """The apply of an autograd function, bound anew."""
    return Scaler.apply


def make_oddly_made_apply():
    """The same of a class that is not of exactly autograd's metaclass."""
    return OddlyMade.apply


def make_stale_apply():
    """An apply that its class has replaced by another since."""
    return types.MethodType(torch.autograd.Function.apply.__func__, Stale)


def make_other_method():
    """Another class method of an autograd function."""
    return Scaler.other


def make_context():
    """A context of autograd functions."""
    return torch.autograd.function.FunctionCtx()


def make_function_instance():
    """An instance of an autograd function: a context too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody should make one, says torch
        return Scaler()


pytree_entry = torch.utils._pytree.SUPPORTED_NODES[list]
"""What the registry of pytree nodes says of lists."""


def make_grad_fn():
    """What autograd itself makes of a function: a context too."""
    return Scaler.apply(torch.ones(2, requires_grad=True)).grad_fn


class NullSubcontext(contextlib.nullcontext):
    """A null context that is not contextlib's own."""


def make_null_context():
    """A context that does nothing and gives None."""
    return contextlib.nullcontext()


def make_null_context_of():
    """A context that does nothing and gives an object."""
    return contextlib.nullcontext(5)


def make_own_null_context():
    """An instance of a subclass of nullcontext."""
    return NullSubcontext()


def make_seed_method():
    """A method of a fresh random generator."""
    return torch.Generator().manual_seed


def make_default_generator_method():
    """A method of the generator that torch draws from."""
    return torch.default_generator.get_state


class StandInStream:
    """Says that it is a stream: real ones need a device that is not there."""

    __class__ = torch.cuda.streams.Stream


def make_stream():
    """What isinstance() takes for a CUDA stream."""
    return StandInStream()


def make_process_group():
    """A process group of one process that nobody has started."""
    return torch.distributed.ProcessGroup(0, 1)


def make_device_mesh():
    """A device mesh without the process group that a real one sets up."""
    from torch.distributed._tensor import DeviceMesh

    return object.__new__(DeviceMesh)


def make_placement():
    """An instance of the base class of placements."""
    from torch.distributed._tensor.placement_types import Placement

    return Placement()


def make_shard():
    """A placement of a class of its own."""
    from torch.distributed._tensor.placement_types import Shard

    return Shard(0)


class KeyedJaggedTensor:
    """Stands for the class of that name in torchrec, which is not installed."""


def _stand_in_torchrec() -> types.ModuleType:
    """The module where torchrec's class would be, found under its name from now on."""
    names = ("torchrec", "torchrec.sparse", "torchrec.sparse.jagged_tensor")
    for name in names:
        sys.modules.setdefault(name, types.ModuleType(name))
    module = sys.modules[names[-1]]
    if not hasattr(module, "KeyedJaggedTensor"):
        module.KeyedJaggedTensor = KeyedJaggedTensor
    return module


jagged_tensor = _stand_in_torchrec()


def make_keyed_jagged():
    """A jagged tensor of torchrec's, or of what stands in for it."""
    return jagged_tensor.KeyedJaggedTensor()


class _Somewhere(torch._guards.Source):
    """Where the symbols below come from."""

    def name(self):
        return "n"


def _sym_int(value: int) -> Any:
    """A symbolic int of a shape environment of its own; making one loads torch._dynamo."""
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

    env = ShapeEnv()
    return env.create_symintnode(env.create_symbol(value, _Somewhere(), DimDynamic.DYNAMIC), hint=value)


@functools.cache
def make_sym_true():
    """A comparison of symbols that holds: one a process, since torch never lets go of them."""
    return _sym_int(5) == 5


@functools.cache
def make_sym_false():
    """A comparison of symbols that does not hold: one a process too."""
    return _sym_int(5) > 7


# ---- optimizers -------------------------------------------------------------------


def _leaves(edges: tuple) -> list:
    """The tensors among the edges that an optimizer takes, each once; or one of its own."""
    takes = (one for one in edges if isinstance(one, torch.nn.Parameter) and not torch.nn.parameter.is_lazy(one))
    found = {id(one): one for one in takes if one.layout == torch.strided}
    return list(found.values()) or [torch.nn.Parameter(torch.ones(2))]


def _stepped(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """The optimizer with a state of each parameter that can have one."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.requires_grad and parameter.is_floating_point() and parameter.device.type == "cpu":
                parameter.grad = torch.ones_like(parameter)
    with contextlib.suppress(RuntimeError):  # there is no step for some types, nor for memory that is shared
        optimizer.step()
    return optimizer


def sgd_of(*edges):
    """An optimizer without a state, whose groups say nothing of graphs of CUDA."""
    return torch.optim.SGD(_leaves(edges), lr=0.5, momentum=0.9)


def adam_of(*edges):
    """One whose groups do."""
    return torch.optim.Adam(_leaves(edges), lr=0.01)


def stepped_adam_of(*edges):
    """The same after a step: its state has parameters as keys."""
    return _stepped(torch.optim.Adam(_leaves(edges), lr=0.01, foreach=False))


def stepped_rmsprop_of(*edges):
    """Another state, of other names."""
    return _stepped(torch.optim.RMSprop(_leaves(edges), lr=0.25, momentum=0.5, foreach=False))


def two_groups_of(*edges):
    """An optimizer of one group for each parameter."""
    return torch.optim.AdamW([{"params": [one]} for one in _leaves(edges)], lr=0.125)


def bare_optimizer_of(*edges):
    """An optimizer that nobody initialised: it has no groups."""
    return torch.optim.SGD.__new__(torch.optim.SGD)


def param_groups_of(edge=None):
    """The list of an optimizer's groups."""
    return getattr(edge, "param_groups", []) if isinstance(edge, torch.optim.Optimizer) else []


def first_group_of(edge=None):
    """The first of them, a dict."""
    return next(iter(param_groups_of(edge)), {})


def state_of(edge=None):
    """The state of an optimizer, a dict of dicts by parameter."""
    return getattr(edge, "state", {}) if isinstance(edge, torch.optim.Optimizer) else {}


# ---- tensors of subclasses ---------------------------------------------------------


def _tensor_of(edges: tuple) -> torch.Tensor:
    """The plain tensor that is pointed at, or one of its own."""
    edge = edges[0] if edges else None
    return edge if type(edge) is torch.Tensor and edge.layout == torch.strided else torch.ones(2)


def tagged_of(*edges):
    """A view of the tensor as one of a class with a __torch_function__."""
    return _tensor_of(edges).as_subclass(TaggedTensor)


def noting_of(*edges):
    """The same of a class that notes what it is asked."""
    return _tensor_of(edges).as_subclass(NotingTensor)


def refusing_of(*edges):
    """The same of a class that raises."""
    return _tensor_of(edges).as_subclass(RefusingTensor)


def quiet_of(*edges):
    """The same of a class without a __torch_function__."""
    return _tensor_of(edges).as_subclass(QuietTensor)


def quiet_parameter_of(*edges):
    """A parameter of a class of its own."""
    return QuietParameter(torch.ones(2))


# ---- what stands in for libraries -----------------------------------------------------


def _stand_in(name: str, cls: type) -> None:
    """A module of a library with one class; the real one where it is loaded."""
    if getattr(sys.modules.get(name), "__spec__", None) is None:  # not there, or a stand-in itself
        module = types.ModuleType(name)
        setattr(module, cls.__name__, cls)
        sys.modules[name] = module


class ModelOutput(collections.OrderedDict):
    """What transformers' models give: an OrderedDict that is a dataclass too."""


@dataclasses.dataclass
class Output(ModelOutput):
    """A model output of two fields and one that is none."""

    loss: Any = None
    logits: Any = None
    kind: ClassVar[str] = "output"


@dataclasses.dataclass
class NeedyOutput(ModelOutput):
    """A model output whose first field has no default."""

    loss: Any
    logits: Any = None


class PretrainedConfig:
    """What transformers' models are configured with."""

    def __init__(self, *edges):
        self.values = edges


LIBRARIES = (
    _stand_in("transformers.file_utils", ModelOutput),
    _stand_in("transformers.configuration_utils", PretrainedConfig),
)
"""There from the start, so that no program brings a module."""


def model_output_of(*edges):
    """A model output of the edges."""
    _stand_in("transformers.file_utils", ModelOutput)
    return Output(*edges)


def begun_output_of(*edges):
    """One whose constructor has not come to its first field yet."""
    _stand_in("transformers.file_utils", ModelOutput)
    output = NeedyOutput.__new__(NeedyOutput)
    vars(output).update(zip(("logits", "loss"), edges[:1]))
    return output


def undecorated_output_of(*edges):
    """A model output that is no dataclass."""
    _stand_in("transformers.file_utils", ModelOutput)
    return ModelOutput(pairs=edges)


def pretrained_config_of(*edges):
    """A configuration that holds the edges."""
    _stand_in("transformers.configuration_utils", PretrainedConfig)
    return PretrainedConfig(*edges)


# ---- what is called in the graph --------------------------------------------------


def give_list(x, *more):
    """Its arguments as a list."""
    return [x, *more]


def give_empty(*_):
    """Nothing in a list."""
    return []


def give_ints(*_):
    """A set without tensors, whose order is the same everywhere."""
    return {3, 5}


def give_set(x, *_):
    """A set of a tensor."""
    return {x + 1}


def give_frozen_list(x, *_):
    """A list as graphs hold them."""
    return torch.fx.immutable_collections.immutable_list([x, 4])


def give_nones(x, *_):
    """A tuple with a None in it."""
    return x, None, 2


def give_nested(x, *_):
    """Containers in containers."""
    return (x + 1, [x, (None, 1)]), x


def give_point(x, *_):
    """A namedtuple."""
    return Point(x + 1, 7)


class TupleSub(tuple):
    """A subclass of tuple that is no namedtuple."""


class ListSub(list):
    """A subclass of list."""


def give_tuple_sub(x, *_):
    """A tuple of no known class."""
    return TupleSub((x + 1, 2))


def give_list_sub(x, *_):
    """A list of no known class."""
    return ListSub([x + 1])


def give_text(*_):
    """A str."""
    return "text"


def give_number(*_):
    """A float."""
    return 2.5


def give_dict(x, *_):
    """A dict."""
    return {"x": x, "n": 1}


def give_sizes(x, *_):
    """The size inside a list."""
    return [x.size(), 2]


def give_sym_int(x, *_):
    """The first size, reckoned with."""
    return x.size(0) * 2 + 1


def give_sym_float(x, *_):
    """The first size as a float."""
    return torch.sym_float(x.size(0))


def give_sym_bool(x, *_):
    """What is not known of the first size."""
    return x.size(0) > 3


def give_parameter(x, *_):
    """A parameter."""
    return torch.nn.Parameter(x.detach() + 1)


_real = torch.empty_strided((2, 3), (1, 2)).fill_(1)


def give_real(*_):
    """A tensor that is not fake."""
    return _real


@functools.cache
def _foreign() -> torch.Tensor:
    mode = torch._subclasses.FakeTensorMode()
    with torch.utils._python_dispatch._disable_current_modes():
        return mode.from_tensor(torch.ones(3))


def give_foreign(*_):
    """A fake tensor of another mode."""
    return _foreign()


def give_error(x, *_):
    """Nothing at all."""
    raise ValueError("nothing to give")


def make_set_state():
    """What sets the state of a generator."""
    return torch.Generator().set_state


class _Holder:
    def set_state(self, state):
        """A method that shares its name alone with a generator's."""
        return state


def make_other_set_state():
    """A method called set_state of something else."""
    return _Holder().set_state


def set_state(state):
    """A function called so."""
    return state


# ---- what wrap_fx_proxy is given besides ---------------------------------------------


def _option(word):
    def give(*edges):
        return ("option", word, *edges)

    return give


option_example = _option("example")
option_source = _option("source")
option_no_source = _option("no_source")
option_guards = _option("guards")
option_no_guards = _option("no_guards")
option_specialize = _option("specialize")
option_not_translator = _option("not_translator")
option_twice = _option("twice")


# ---- callables and others of a branch of their own -----------------------------------


def make_allowed_function():
    """A function that its user lets into the graph as it is."""

    def allowed(x):
        return x + 1

    return torch._dynamo.allow_in_graph(allowed)


def _of_library(name):
    namespace = {}
    exec(compile(f"def {name}(): pass", collections.__file__, "exec"), namespace)
    return namespace[name]


def make_inline_chain():
    """A function of a library that is to be replaced by another one of it, which asks the same."""
    first, second = _of_library("first"), _of_library("second")
    first._torchdynamo_inline, second._torchdynamo_inline = second, True
    return first


def make_inline_chain_of_three():
    """The same with one more between."""
    first = _of_library("before")
    first._torchdynamo_inline = make_inline_chain()
    return first


def make_method_wrapper():
    """A slot of a number, bound."""
    return (5).__add__


def make_dummy_module():
    """What stands for a Python module where a recorded frame is played again."""
    from torch._dynamo.replay_record import DummyModule

    return DummyModule("played")


def make_append():
    """A method of a list, which is no object of a program."""
    return [].append


# ---- tensors that are fake, and tensors that wrap tensors ---------------------------------


def _fake_of(edges: tuple, *dims: str) -> torch.Tensor:
    """A fake of the tensor, of a mode that nobody else has; its first dims are as said."""
    from torch._subclasses import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv

    tensor = _tensor_of(edges)
    if not dims:
        return FakeTensorMode().from_tensor(tensor)
    said = [DimDynamic[word] for word in dims][: tensor.dim()]
    said += [DimDynamic.STATIC] * (tensor.dim() - len(said))
    mode = FakeTensorMode(shape_env=ShapeEnv())
    source = torch._dynamo.source.LocalSource("fake")
    return mode.from_tensor(tensor, source=source, dynamic_dims=said, constraint_dims=[None] * len(said))


def fake_of(*edges):
    """A fake tensor of plain sizes."""
    return _fake_of(edges)


def symbolic_of(*edges):
    """One whose first size is a symbol, if it can be one."""
    return _fake_of(edges, "DYNAMIC")


# ---- functional tensors --------------------------------------------------------------------


def give_functional(x, *_):
    """The argument as a functional tensor, as AOTAutograd makes them."""
    return torch._to_functional_tensor(x)


def give_functional_real(*_):
    """A functional tensor of a real one."""
    with torch.utils._python_dispatch._disable_current_modes():
        return torch._to_functional_tensor(torch.ones(2, 3))


def give_functional_foreign(*_):
    """A functional tensor of a fake one of another mode."""
    with torch.utils._python_dispatch._disable_current_modes():
        return torch._to_functional_tensor(_foreign())


# ---- tensors that wrap tensors ---------------------------------------------------------------


class Wrapping(torch.Tensor):
    """A traceable wrapper: two tensors that are computed with side by side."""

    @staticmethod
    def __new__(cls, first, second):
        made = torch.Tensor._make_wrapper_subclass(
            cls, first.size(), strides=first.stride(), dtype=first.dtype, device=first.device,
            layout=first.layout, requires_grad=first.requires_grad,
        )  # fmt: skip
        made.first, made.second = first, second
        return made

    def __tensor_flatten__(self):
        return [self.first, self.second], None

    @staticmethod
    def __tensor_unflatten__(parts, meta):
        return Wrapping(*parts)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        results = []
        for name in ("first", "second"):
            def part(one, name=name):
                return getattr(one, name)

            given = torch.utils._pytree.tree_map_only(cls, part, (args, kwargs or {}))
            results.append(func(*given[0], **given[1]))
        return cls(*results) if isinstance(results[0], torch.Tensor) else results[0]


def wrapping_of(*edges):
    """The tensor and one like it, wrapped."""
    tensor = _tensor_of(edges)
    return Wrapping(tensor, torch.ones_like(tensor))


def wrapping_fakes_of(*edges):
    """The same of tensors that are fake."""
    fake = _fake_of(edges)
    return Wrapping(fake, fake)


def wrapping_mixed_of(*edges):
    """One of the tensors is fake, the other is not."""
    return Wrapping(_fake_of(edges), _tensor_of(edges))
