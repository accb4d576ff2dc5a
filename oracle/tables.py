"""Module data of Dynamo, handed to a subject as data.

A subject runs no code of Dynamo while it builds; what it has to know of Dynamo's
tables is read here, by attribute, before it starts.  The keys are those of
src/builder/td_tables.h.

`tables()` gives a dict.  Rows that a program can change (ids that
`allow_in_graph` registers, the pytree registry) are the live objects themselves,
so that they are read as they are at each build; all others are made once, and
`fingerprint()` hashes their content: a table that moved in between fails the run.
"""
from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import hashlib
import inspect
import keyword
import types
import typing
from typing import Any

import torch

_CACHE: dict[str, Any] = {}


def _classes() -> dict[str, type]:
    """Classes by the name under which the subject asks for them."""
    import torch._ops
    from torch._dynamo import eval_frame, mutation_guard, replay_record
    from torch._dynamo.variables import base
    from torch._dynamo.variables import torch as torch_variables

    result = {
        "enum_class": enum.Enum,
        "flag_class": enum.Flag,
        "abc_meta": abc.ABCMeta,
        "ordered_dict": collections.OrderedDict,
        "default_dict": collections.defaultdict,
        "deque": collections.deque,
        "odict_values": type(collections.OrderedDict().values()),
        "tuple_iterator": type(iter(())),
        "nullcontext": contextlib.nullcontext,
        "partial": functools.partial,
        "special_generic_alias": typing._SpecialGenericAlias,
        "union_generic_alias": typing._UnionGenericAlias,
        "tensor": torch.Tensor,
        "parameter": torch.nn.Parameter,
        "fake_tensor": torch._subclasses.FakeTensor,
        "tensor_meta": torch._C._TensorMeta,
        "size": torch.Size,
        "device": torch.device,
        "dtype": torch.dtype,
        "module": torch.nn.Module,
        "op_overload": torch._ops.OpOverload,
        "op_overload_packet": torch._ops.OpOverloadPacket,
        "op_namespace": torch._ops._OpNamespace,
        "higher_order_operator": torch._ops.HigherOrderOperator,
        "script_function": torch.jit.ScriptFunction,
        "dummy_module": replay_record.DummyModule,
        "function_meta": torch.autograd.function.FunctionMeta,
        "function_ctx": torch.autograd.function.FunctionCtx,
        "generator": torch_variables.torch_special_class_types[0],
        "capsule": type(torch._C._get_tracing_state.__self__),
        "stream": torch.cuda.streams.Stream,
        "optimizer": torch.optim.Optimizer,
        "sym_int": torch.SymInt,
        "sym_bool": torch.SymBool,
        "default_factory_class": dataclasses._HAS_DEFAULT_FACTORY_CLASS,
        "variable_tracker": base.VariableTracker,
        "optimized_module": eval_frame.OptimizedModule,
        "rnn": torch.nn.RNN,
        "gru": torch.nn.GRU,
        "lstm": torch.nn.LSTM,
        "lazy_module": torch.nn.modules.lazy.LazyModuleMixin,
        "script_module": torch.jit._script.RecursiveScriptModule,
        "generation_tracker": mutation_guard.GenerationTracker,
        "immutable_list": torch.fx.immutable_collections.immutable_list,
        "no_torch_function": torch._C.DisableTorchFunctionSubclass,
    }
    assert len(torch_variables.torch_special_class_types) == 1, "the subject knows one special class"
    return result


def _numpy() -> dict[str, Any]:
    try:
        import numpy
    except ModuleNotFoundError:
        return {"ndarray": None, "np_number": None, "number_dtypes": ()}
    return {"ndarray": numpy.ndarray, "np_number": numpy.number, "number_dtypes": _number_dtypes(numpy)}


def _number_dtypes(numpy: Any) -> tuple:
    """(class, dtype) of numpy's numbers that torch.tensor() takes, the common ones first."""
    found = []
    for code in "dfqlihbBeFD":
        cls = numpy.dtype(code).type
        if all(cls is not other for other, _ in found):
            found.append((cls, torch.tensor(cls(1)).dtype))
    return tuple(found)


def _distributed() -> dict[str, Any]:
    """Classes whose exact type variables/distributed.py asks for; None without them."""
    from torch._dynamo.variables import functions

    names = ("process_group", "device_mesh", "placement", "data_parallel")
    result: dict[str, Any] = {**dict.fromkeys(names), "collectives": ()}
    if torch.distributed.is_available():
        from torch._C._distributed_c10d import ProcessGroup

        result["process_group"] = ProcessGroup
        try:
            from torch.distributed._tensor import DeviceMesh
            from torch.distributed._tensor.placement_types import Placement
        except ImportError:
            pass
        else:
            result["device_mesh"] = DeviceMesh
            result["placement"] = Placement
        result["data_parallel"] = torch.nn.parallel.distributed.DistributedDataParallel
        result["collectives"] = tuple(functions._traceable_collective_remaps().items())
    return result


def _int_results() -> tuple:
    """Functions whose ints wrap_fx_proxy takes for constants."""
    import operator

    import torch._export.constraints

    found = [torch.sym_int, getattr, operator.getitem, torch._utils._element_size, torch.seed, operator.mod]
    ranks = (getattr(torch.distributed, name, None) for name in ("get_rank", "get_world_size"))
    found += [one for one in ranks if one is not None]
    return (*found, torch._export.constraints.constrain_as_value)


def _singletons() -> dict[str, Any]:
    """Objects that the reference knows by identity."""
    from torch._dynamo.comptime import comptime
    from torch._dynamo.variables import torch as torch_variables
    from torch._higher_order_ops import wrap
    from torch.utils import _pytree, checkpoint

    return {
        "signature": inspect.signature,
        "comptime": comptime,
        "tag_checkpoint": wrap.tag_activation_checkpoint,
        "wrap_checkpoint": wrap.wrap_activation_checkpoint,
        "isinstance": isinstance,
        "as_tensor": torch.as_tensor,
        "new_tensor": torch.tensor,
        "from_numpy": torch.from_numpy,
        "mode_counts": (torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack),
        "cpu": torch.device("cpu"),
        "clone": torch.clone,
        "dataclass_fields": dataclasses.fields,
        "dataclass_field": dataclasses._FIELD,
        "tensor_dunder_fns": tuple(torch_variables.tensor_dunder_fns),
        "tensor_dunder_remap": tuple(torch_variables.tensor_dunder_fns_remap.items()),
        "checkpoint": checkpoint.checkpoint,
        "int_results": _int_results(),
        "fx_special": (
            torch.random.set_rng_state, torch._C._DisableFuncTorch, torch.cuda._is_in_bad_fork,
            torch.manual_seed, torch.cuda.streams.Stream, torch.cuda.current_stream,
        ),
        "supported_nodes": _pytree.SUPPORTED_NODES,
        "object_setattr": object.__setattr__,
        "module_setattr": torch.nn.Module.__setattr__,
        "module_getattr": torch.nn.Module.__getattr__,
        "module_named_parameters": torch.nn.Module.named_parameters,
        "module_named_buffers": torch.nn.Module.named_buffers,
        "module_named_modules": torch.nn.Module.named_modules,
        "module_named_members": torch.nn.Module._named_members,
    }


def _skipfiles() -> dict[str, Any]:
    """What skipfiles.check knows of files."""
    from torch._dynamo import skipfiles

    assert not skipfiles.is_fbcode, "the subject does not know fbcode's rules"
    return {
        "skip_allowlist": frozenset(skipfiles.FILENAME_ALLOWLIST),
        "skip_dirs": tuple(skipfiles.SKIP_DIRS),
        "torch_dir": skipfiles._module_dir(torch),
        "dynamo_dir": skipfiles.dynamo_dir(),
    }


def _fx_reserved() -> frozenset[str]:
    """Names that fx never gives to a node: keywords, builtins, its own globals."""
    import builtins

    from torch.fx import graph

    return frozenset(keyword.kwlist) | frozenset(vars(builtins)) | frozenset(graph._custom_builtins)


def _fixed() -> dict[str, Any]:
    """What no program changes."""
    if not _CACHE:
        _CACHE.update(_classes(), **_numpy(), **_distributed(), **_singletons(), **_skipfiles())
        _CACHE["fx_reserved"] = _fx_reserved()
        _CACHE["memory_formats"] = tuple(torch._prims_common._memory_formats)
        _CACHE["strided"] = torch.strided
        _CACHE["lazy_modules"] = _lazy_modules()
    return _CACHE


def _lazy_modules() -> dict:
    """Root modules whose first use fills the table of allowed functions (live)."""
    from torch._dynamo import allowed_functions

    return allowed_functions._lazy_module_init


@functools.cache
def _holders() -> tuple[Any, Any]:
    """Where Dynamo keeps what a program can change."""
    from torch._dynamo import allowed_functions
    from torch._dynamo.mutation_guard import GenerationTracker

    return allowed_functions, GenerationTracker


def _live() -> dict[str, Any]:
    """What a program can change, as the objects that hold it."""
    allowed, tracker = _holders()
    return {
        "allowed_ids": allowed._allowed_function_ids(),
        "disallowed_ids": allowed._disallowed_function_ids(),
        "user_allowed_ids": _ids(allowed._allowed_user_defined_function_ids),
        "builtin_ids": allowed._builtin_function_ids(),
        "numpy_ids": allowed._numpy_function_ids(),
        "dynamic_classes": tracker.dynamic_classes.values,
        "generation_values": tracker.generation_values.values,
    }


def _ids(table: Any) -> Any:
    return table()


def tables() -> dict[str, Any]:
    """A new dict of everything; its values are borrowed from Dynamo."""
    return {**_fixed(), **_live()}


def fingerprint() -> str:
    """A hash of the rows that no program changes, by what they say."""
    digest = hashlib.sha256()
    for key, value in sorted(_fixed().items()):
        if key != "supported_nodes" and key != "lazy_modules":
            digest.update(f"{key}={_spelling(value)}\n".encode())
    return digest.hexdigest()


def _spelling(value: Any) -> str:
    """A text of value that is the same in every process."""
    if isinstance(value, (frozenset, set)):
        return "{" + ", ".join(sorted(map(_spelling, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_spelling, value)) + ")"
    if isinstance(value, (str, int, type(None))):
        return repr(value)
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return f"{value.__module__}.{value.__qualname__}"
    return f"{type(value).__module__}.{type(value).__qualname__}:{getattr(value, '__name__', '')}"
