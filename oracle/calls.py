"""Builder calls that somebody else makes: seen where they happen.

    with Watch(notify):
        torch._dynamo.optimize("eager")(function)(*args)

While a watch is on, every outermost call of the builder (VariableBuilder,
SourcelessBuilder, wrap_fx_proxy, wrap_unspecialized_primitive) is a root of the
context in which it is made: `notify(BEFORE, context)` right before it,
`notify(AFTER, context)` right after it, and `notify(END, context)` when the next
context begins or the watch ends.  A *context* is one OutputGraph with the root
translator that fills it; it looks like a frame of tandem.oracle.context, so that
whoever reads a frame reads a context too.

What a call is given is put into the words of the cases page (a source spec), so
that another builder can be given the same.  What has no such words is refused: the
context says why, and nothing is guessed.
"""
from __future__ import annotations

import functools
from typing import Any, Callable

import torch
from torch._dynamo import source as sources
from torch._dynamo.variables import builder as reference
from torch._dynamo.variables.base import VariableTracker

from . import records

BEFORE, AFTER, END = range(3)
_TRACKER, _EXCEPTION, _VALUE = 1, 2, 4  # as tandem.oracle.context has them


class Untold(Exception):
    """There are no words for what a call was given."""


# ---- sources and guards ---------------------------------------------------------


def _index(key: Any, is_slice: bool) -> Any:
    return key[0](*key[1]) if is_slice else key


#: class -> what its spec is made of
_WORDS: dict[type, Callable[[Any], tuple]] = {
    sources.LocalSource: lambda one: ("cell" if one.cell_or_freevar else "local", one.local_name),
    sources.GlobalSource: lambda one: ("global", one.global_name),
    sources.AttrSource: lambda one: ("attr", spec_of(one.base), one.member),
    sources.GetItemSource: lambda one: ("item", spec_of(one.base), _index(one.index, one.index_is_slice)),
    sources.ParamBufferSource: lambda one: ("param", spec_of(one.base), one.member),
    sources.NNModuleSource: lambda one: ("nnmodule", spec_of(one.base)),
    sources.NotNNModuleSource: lambda one: ("notnn", spec_of(one.base)),
    sources.FSDPNNModuleSource: lambda one: ("fsdp", spec_of(one.base)),
    sources.RandomValueSource: lambda one: ("random", one.random_call_index),
    sources.TupleIteratorGetItemSource: lambda one: ("tupleiter", spec_of(one.base), one.index),
    sources.ODictGetItemSource: lambda one: ("odict", spec_of(one.base), one.index),
    sources.DefaultsSource: lambda one: ("default", spec_of(one.base), one.idx_key),
    sources.TypeSource: lambda one: ("type", spec_of(one.base)),
    sources.NumpyTensorSource: lambda one: ("numpy", spec_of(one.base)),
}


def spec_of(source: Any) -> tuple:
    """The source spec that makes source; Untold if there is none."""
    words = _WORDS.get(type(source))
    if words is None:
        raise Untold(f"a source of class {type(source).__name__}")
    return words(source)


def _guard_of(guard: Any) -> tuple:
    """A guard that a call was given: its source, its kind, whether it is volatile.  Its
    payload is known to who made the guard of this kind at this source."""
    create = guard.create_fn.func if isinstance(guard.create_fn, functools.partial) else guard.create_fn
    return spec_of(guard.originating_source), create.__name__, bool(guard.is_volatile)


# ---- nodes -------------------------------------------------------------------------

_PLAIN = (int, float, str, bool, type(None), torch.dtype, torch.device)


def _operand(arg: Any) -> Any:
    if isinstance(arg, torch.fx.Node):
        return ("node", arg.name)
    if type(arg) in _PLAIN:
        return arg
    if isinstance(arg, list):
        return list(map(_operand, arg))
    if type(arg) is tuple and not (arg and arg[0] in ("node", "option")):
        return tuple(map(_operand, arg))
    if isinstance(arg, dict) and all(type(key) in _PLAIN for key in arg):
        return {key: _operand(value) for key, value in arg.items()}
    raise Untold(f"an operand of class {type(arg).__name__}")


def _node_spec(node: torch.fx.Node, options: dict) -> tuple[tuple, Any]:
    """The spec of a call that wraps node, and the callee."""
    if node.kwargs:
        raise Untold("a node with keywords")
    extra = set(options) - {"guards", "raw_value", "need_unwrap"}
    if extra:
        raise Untold(f"wrap_fx_proxy with {', '.join(sorted(extra))}")
    args = tuple(map(_operand, node.args))
    if options.get("guards"):
        args += (("option", "given", tuple(map(_guard_of, options["guards"]))),)
    elif options.get("guards", ()) is None:
        args += (("option", "no_guards"),)
    if "raw_value" in options:
        if type(options["raw_value"]) not in (int, float, bool):
            raise Untold("a number that is none")
        args += (("option", "unspecialized", options["raw_value"], bool(options.get("need_unwrap", True))),)
    if node.op == "call_function":
        return ("fxcall", args), node.target
    if node.op == "call_method":
        return ("fxmethod", node.target, args), None
    raise Untold(f"a node of sort {node.op}")


# ---- contexts ---------------------------------------------------------------------------


class Context:
    """One output graph under construction, and the roots that were built in it.

    steps, kinds, values, sources, internal, records   as a frame has them
    untold         for each step why nobody else can be given it, else None
    tx, f_locals, f_globals, frame_state, config
    """

    def __init__(self, output: Any) -> None:
        self.output = output
        self.tx = output.root_tx
        self.f_locals, self.f_globals = self.tx.f_locals, self.tx.f_globals
        self.frame_state = output.frame_state
        word = "force_unspec_int_unbacked_size_like"
        self.config = {word: bool(getattr(output.tracing_context, word, False))}
        self.steps: list[tuple] = []
        self.kinds: list[int] = []
        self.values: list[Any] = []
        self.sources: list[Any] = []
        self.internal: list[bool] = []
        self.records: list[list[dict] | None] = []
        self.untold: list[str | None] = []

    def begin(self, tell: Callable[[], tuple[tuple, Any]], source: Any) -> None:
        """A root is about to be built: the last step of the lists, not run yet."""
        why = None
        try:
            step = tell()
        except Untold as error:
            step, why = (("untold",), None), str(error)
        self.steps.append(step)
        self.untold.append(why)
        self.sources.append(source)
        self.kinds.append(0)
        self.values.append(None)
        self.internal.append(False)
        self.records.append([])

    def note(self, record: dict) -> None:
        """Keeps a record of the running step."""
        self.records[-1].append(record)

    def finish(self, kind: int, value: Any, internal: bool = False) -> None:
        self.kinds[-1], self.values[-1], self.internal[-1] = kind, value, internal
        self.records[-1] = self.records[-1] or None


def _inlined() -> tuple[tuple, Any]:
    raise Untold("a call in a function that is inlined")


class Watch:
    """Sees the builder calls of this process while it is entered."""

    def __init__(self, notify: Callable[[int, Context], None], is_internal: Callable[[BaseException], bool]) -> None:
        self._notify = notify
        self._is_internal = is_internal
        self._context: Context | None = None
        self._inside = False
        self._originals: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Watch:
        from torch._dynamo import output_graph, symbolic_convert

        build = reference.VariableBuilder
        self._replace(build, "__call__", self._built)
        self._replace(build, "wrap_unspecialized_primitive", self._unspecialized)
        self._replace(reference.SourcelessBuilder, "__call__", self._sourceless)
        for module in (reference, symbolic_convert, output_graph):
            for name in ("wrap_fx_proxy", "wrap_fx_proxy_cls"):
                if hasattr(module, name):
                    self._replace(module, name, getattr(self, "_" + name))
        return self

    def __exit__(self, *error: Any) -> None:
        for owner, name, original in reversed(self._originals):
            setattr(owner, name, original)
        self._leave()

    def _replace(self, owner: Any, name: str, watcher: Callable) -> None:
        original = vars(owner)[name]
        self._originals.append((owner, name, original))

        @functools.wraps(original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return original(*args, **kwargs)
            return watcher(original, *args, **kwargs)

        setattr(owner, name, watched)

    # ---- the calls, each as its own entry point ----

    def _built(self, call: Callable, builder: Any, value: Any) -> Any:
        return self._run(builder.tx, lambda: (spec_of(builder.source), value), builder.source, call, builder, value)

    def _unspecialized(self, call: Callable, builder: Any, value: Any) -> Any:
        def tell() -> tuple[tuple, Any]:
            if type(builder.source) is not sources.RandomValueSource:
                raise Untold("wrap_unspecialized_primitive of a source that is not random")
            return ("method", "wrap_unspecialized_primitive", (value, builder.source.random_call_index)), None

        return self._run(builder.tx, tell, None, call, builder, value)

    def _sourceless(self, call: Callable, builder: Any, tx: Any, value: Any) -> Any:
        return self._run(tx, lambda: (("sourceless",), value), None, call, builder, tx, value)

    def _wrap_fx_proxy(self, call: Callable, tx: Any, proxy: Any, example_value: Any = None, **options: Any) -> Any:
        given = options if example_value is None else {**options, "example_value": example_value}
        return self._run(
            tx, lambda: _node_spec(proxy.node, given), None, call, tx, proxy, example_value, **options
        )  # fmt: skip

    def _wrap_fx_proxy_cls(
        self, call: Callable, target_cls: type, tx: Any, proxy: Any, example_value: Any = None, **options: Any
    ) -> Any:  # fmt: skip
        def tell() -> tuple[tuple, Any]:
            is_number = target_cls is reference.UnspecializedPythonVariable and "raw_value" in options
            if not is_number and target_cls is not reference.TensorVariable or example_value is not None:
                raise Untold(f"wrap_fx_proxy_cls of a {target_cls.__name__}")
            return _node_spec(proxy.node, options)

        return self._run(tx, tell, None, call, target_cls, tx, proxy, example_value, **options)

    # ---- around a call ----

    def _enter(self, output: Any) -> Context:
        if self._context is None or self._context.output is not output:
            self._leave()
            self._context = Context(output)
        return self._context

    def _leave(self) -> None:
        context, self._context = self._context, None
        records.running = None
        if context is not None:
            self._notify(END, context)

    def _run(self, tx: Any, tell: Callable, source: Any, call: Callable, *args: Any, **kwargs: Any) -> Any:
        context = self._enter(tx.output)
        if tx is not context.tx:
            tell = _inlined
        self._inside = True
        try:
            context.begin(tell, source)
            self._notify(BEFORE, context)
            records.running = context
            try:
                with records.Recording(context.records[-1]):
                    result = call(*args, **kwargs)
            except Exception as error:
                context.finish(_EXCEPTION, error, self._is_internal(error))
                raise
            else:
                context.finish(_TRACKER if isinstance(result, VariableTracker) else _VALUE, result)
            finally:
                records.running = None
                self._notify(AFTER, context)
            return result
        finally:
            self._inside = False
