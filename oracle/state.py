"""What leaks from one program into the next, and how it is undone.

Objects and builds draw from state of the whole process: random generators, the
number of the next hook handle, the generation number that tells modules made in a
compiled function, ids registered by allow_in_graph, caches.  `reset` sets all of
it to one value, so that a program gives the same observation first, last, alone
and after a hundred thousand others; it is called before every materialisation.

What a run changes only for its own time (configuration, modes of torch) is put
back at its end by `Modes` and tandem.oracle.config.

Three rhythms hang on nothing but the number of resets: every YOUNG resets the
youngest garbage goes (contexts are cyclic garbage), every OLDER resets what
outlived that too, every FULL resets all garbage and every cache goes.  From the
making of a program's objects to its verdict no other garbage is collected.

A process that runs programs belongs to Tandem: the user's random generators are
at another place afterwards.  Hook handles never get a number twice.
"""
from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import itertools
import linecache
import logging
import os
import random
import weakref
from typing import Any, Callable, Iterator

import torch

from . import speed

YOUNG = 32
OLDER = 512
FULL = 4096

#: What the builder, or what it calls, imports while it runs.  Imported beforehand:
#: importing registers classes with torch.utils._pytree, whose registry is built like
#: any other object.
_IMPORTED_LATE = (
    "functorch.experimental.control_flow",
    "torch._dynamo.comptime",
    "torch._dynamo.debug_utils",
    "torch._dynamo.backends.debugging",
    "torch._export.constraints",
    "torch._functorch.apis",
    "torch._functorch.deprecated",
    "torch._functorch.eager_transforms",
    "torch._functorch.vmap",
    "torch._higher_order_ops.cond",
    "torch._higher_order_ops.map",
    "torch._higher_order_ops.out_dtype",
    "torch._higher_order_ops.wrap",
    "torch._refs",
    "torch.distributed._functional_collectives",
    "torch.distributed._tensor",
    "torch.distributed._tensor.device_mesh",
    "torch.distributed._tensor.placement_types",
    "torch.distributed.fsdp",
    "torch.export",
    "torch.func",
    "torch.utils.checkpoint",
    "torch.fx.experimental.validator",
)


def _caches() -> list[Callable[[], None]]:
    """cache_clear of the caches that hold a program's objects or symbols."""
    from torch._dynamo import utils
    from torch._logging import _internal as torch_logging
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    functions = list(vars(ShapeEnv).values()) + [torch_logging.warning_once, utils.namedtuple_fields, utils.print_once]
    return [function.cache_clear for function in functions if hasattr(function, "cache_clear")]


def _replayed(builder: type, trace: list[int]) -> list[Callable[[], None]]:
    """Have the functions of builder that keep what they gave remember the arms of
    giving it too: forgetting the table then costs no making of it, and who asks
    again enters the same arms.  What they give hangs on trace_numpy alone.  Gives
    what makes each forget."""
    result = []
    for name, member in list(vars(builder).items()):
        function = getattr(member, "__func__", member)
        if hasattr(function, "cache_clear"):
            kept = functools.lru_cache(None)(_remembering(function.__wrapped__, trace))
            setattr(builder, name, type(member)(kept) if member is not function else kept)
            result.append(kept.cache_clear)
    return result


def _remembering(make: Callable, trace: list[int]) -> Callable:
    from torch._dynamo import config

    made: dict[tuple, tuple[Any, list[int]]] = {}

    @functools.wraps(make)
    def remember(*args: Any) -> Any:
        key = (args, bool(config.trace_numpy))
        if key in made:
            result, arms = made[key]
            trace.extend(arms)
            return result
        begin = len(trace)
        result = make(*args)
        made[key] = result, trace[begin:]
        return result

    return remember


class _Ids:
    """One of Dynamo's sets of function ids, and what it held when it was loaded."""

    __slots__ = ("live", "at_load", "size")

    def __init__(self, ids) -> None:
        self.live: set[int] = ids()
        self.at_load = frozenset(self.live)
        self.size = len(self.live)

    def restore(self) -> None:
        self.live.clear()
        self.live.update(self.at_load)


class _Process:
    """Handles to the state, fetched once."""

    def __init__(self, reference) -> None:
        from torch._dynamo import allowed_functions, mutation_guard, utils

        self.reference = reference
        self.tables = _replayed(reference.module.VariableBuilder, reference.arms.trace)
        self.tracker = mutation_guard.GenerationTracker
        self.ids = [
            _Ids(allowed_functions._allowed_function_ids),
            _Ids(allowed_functions._disallowed_function_ids),
            _Ids(allowed_functions._allowed_user_defined_function_ids),
        ]
        self.nodes = torch.utils._pytree.SUPPORTED_NODES
        self.nodes_at_load = dict(self.nodes)
        self.counters = utils.counters
        self.caches = _caches()
        self.hooks = torch.utils.hooks.RemovableHandle
        self.generator = torch.default_generator
        self.generator_state = torch.Generator().manual_seed(0).get_state()
        self.numpy_seed = self._numpy_seed()
        self.resets = 0
        self.trace_numpy: Any = None
        self.generation = 0
        self.hooks_outside: int | None = None

    @staticmethod
    def _numpy_seed() -> Callable[[int], None]:
        try:
            import numpy
        except ModuleNotFoundError:
            return lambda seed: None
        return numpy.random.seed


_process: _Process | None = None


def prepare(reference) -> None:
    """Bring the process into the state that reset gives back, once, after loading."""
    global _process
    from torch._dynamo import mutation_guard

    for name in _IMPORTED_LATE:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # built without it: then nothing can import it later either
    _quieten()
    # Modules are tagged from now on, as after the first optimised call of a process.
    mutation_guard.install_generation_tagging_init()
    # Far from any int of a program, whose references are counted.
    mutation_guard.GenerationTracker.generation += 1_000_000
    speed.switch(True)
    _process = _Process(reference)
    _process.generation = mutation_guard.GenerationTracker.generation
    gc.collect()
    gc.freeze()


def _quieten() -> None:
    """Keep Dynamo's warnings off stderr, where a campaign shows its progress; whoever
    sets TORCH_LOGS wants them."""
    if "TORCH_LOGS" not in os.environ:
        logging.getLogger("torch._dynamo").setLevel(logging.ERROR)


def reset() -> None:
    """Set everything that objects and builds draw from to the same value."""
    process = _process
    random.seed(0)  # makes no object: setstate reads 625 ints from all over the memory
    process.numpy_seed(0)
    process.generator.set_state(process.generator_state)
    _enter_hooks(process)
    tracker = process.tracker
    tracker.generation = process.generation
    if len(tracker.dynamic_classes.values):
        tracker.dynamic_classes.clear()
    for ids in process.ids:
        if len(ids.live) != ids.size:
            _restore_ids(process)
            break
    if len(process.nodes) != len(process.nodes_at_load):
        _restore_nodes(process)
    process.counters.clear()
    for clear in process.caches:
        clear()
    process.resets += 1
    if process.resets % YOUNG == 0:
        _collect(process)


def enter_frame() -> None:
    """What entering a compiled function does, for either side's frame: modules made
    before it are not "dynamic"."""
    _process.tracker.generation += 1


def _enter_hooks(process: _Process) -> None:
    """Hook handles count from 0; what they had come to outside is remembered."""
    if process.hooks_outside is None:
        process.hooks_outside = process.hooks.next_id
    process.hooks.next_id = 0


def leave() -> None:
    """Give the process back to its user: hook handles go on where they were, so
    that none that is in use gets a second owner."""
    process = _process
    if process is not None and process.hooks_outside is not None:
        process.hooks.next_id = max(process.hooks.next_id, process.hooks_outside)
        process.hooks_outside = None


def _restore_ids(process: _Process) -> None:
    for ids in process.ids:
        ids.restore()


def _restore_nodes(process: _Process) -> None:
    process.nodes.clear()
    process.nodes.update(process.nodes_at_load)


def _collect(process: _Process) -> None:
    if process.resets % FULL:
        gc.collect(0 if process.resets % OLDER and not gc.isenabled() else 1)
        return
    forget_compiled()
    _restore_ids(process)
    _restore_nodes(process)
    import sympy.core.cache

    sympy.core.cache.clear_cache()
    gc.collect()


def forget_compiled() -> None:
    """Forget all that Dynamo compiled, and the numbers in the names it makes."""
    from torch._dynamo import bytecode_transformation, guards, utils

    torch._dynamo.reset()
    utils.graph_break_dup_warning_checker.reset()
    bytecode_transformation._unique_id_counter = itertools.count()
    # A guard on what lives as long as the process (a class, a builtin) waits for its end, and
    # keeps all that was compiled with it.
    for waiting in list(weakref.finalize._registry):
        alive = waiting.peek()
        if alive is not None and type(getattr(alive[1], "__self__", None)) is guards.CheckFunctionManager:
            waiting.detach()


@contextlib.contextmanager
def sources_forgotten() -> Iterator[None]:
    """Forgets the sources of graphs that are made inside: fx keeps each for good, and
    linecache a way to it."""
    loader = torch.fx.graph_module._loader
    known, number = len(loader.eval_cache), loader.next_id
    try:
        yield
    finally:
        for name in list(loader.eval_cache)[known:]:
            del loader.eval_cache[name]
            linecache.cache.pop(name, None)
        loader.next_id = number


def dispatch_tables_changed() -> None:
    """Have the builder forget its dispatch tables where that can be seen: when
    trace_numpy changed (it is read only then), and when arms are recorded (so that
    every program enters the arms of making them: see _replayed)."""
    from torch._dynamo import config

    process = _process
    numpy_is_traced = bool(config.trace_numpy)
    if process.reference.arms.is_on or numpy_is_traced != process.trace_numpy:
        for clear in process.tables:
            clear()
    process.trace_numpy = numpy_is_traced


class Modes:
    """The modes of torch that a context reads, as they are at construction."""

    __slots__ = ("grad", "dtype", "deterministic")

    def __init__(self) -> None:
        self.grad = torch.is_grad_enabled()
        self.dtype = torch.get_default_dtype()
        self.deterministic = torch._C._get_deterministic_algorithms()

    def restore(self) -> None:
        """Put back what a do step changed."""
        if torch.is_grad_enabled() is not self.grad:
            torch._C._set_grad_enabled(self.grad)
        if torch.get_default_dtype() is not self.dtype:
            torch.set_default_dtype(self.dtype)
        if torch._C._get_deterministic_algorithms() is not self.deterministic:
            torch.use_deterministic_algorithms(self.deterministic)
