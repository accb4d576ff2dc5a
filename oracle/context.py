"""A fresh context per frame, and the builder calls made in it.

    with_program = Program(frames, config, constraints, export)
    frame = with_program.open(0)
    for index in range(len(frame.steps)):
        frame.step(index)
    ...                         # look at frame.values, frame.tx, frame.output
    frame.close()
    with_program.close()

A *frame* is one InstructionTranslator with its OutputGraph, made as Dynamo makes
them when it compiles a code object (symbolic_convert.InstructionTranslator), with
no instructions to translate.  All frames of a program share one frame state, as
the recompilations of one code object do.

A *step* is a root (a builder call) or a do step.  A root's *outcome* is what it
returned or what it raised; an exception is an outcome like any other.  Between a
step and the builder there are always two Python frames of ours: `Frame.step` and
the entry's function.

Nothing here survives `close`: contexts are closed in the reverse order of their
opening, and tracebacks, which would keep frames alive, are dropped at once.
"""
from __future__ import annotations

import builtins
import dis
import os
import sysconfig
from typing import Any, Callable

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo import source as sources
from torch._dynamo.bytecode_transformation import create_instruction
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import builder as reference
from torch._dynamo.variables.base import VariableTracker
from torch._guards import TracingContext, tracing

from . import config as config_names
from . import calls, methods, records, state

# ---- kinds of outcome (td_outcome_kind_t says the same in C) ----------------

NOT_RUN, TRACKER, EXCEPTION, DO, VALUE = 0, 1, 2, 3, 4


class BadProgram(Exception):
    """A program that asks for what does not exist: bad input, no outcome."""


class MissingOperand(Exception):
    """("ref", i) names a step that gave no tracker: the root cannot be made."""


# ---- sources -----------------------------------------------------------------

_NAME, _INDEX, _KEY = "a name", "an index", "a key"


def _defaults(base, key):
    return sources.DefaultsSource(base, key, is_kw=isinstance(key, str))


#: source spec kind -> (class or function, takes a base, what follows)
_SOURCES: dict[str, tuple[Callable, bool, str | None]] = {
    "local": (sources.LocalSource, False, _NAME),
    "cell": (lambda name: sources.LocalSource(name, cell_or_freevar=True), False, _NAME),
    "global": (sources.GlobalSource, False, _NAME),
    "attr": (sources.AttrSource, True, _NAME),
    "item": (sources.GetItemSource, True, _KEY),
    "param": (sources.ParamBufferSource, True, _NAME),
    "nnmodule": (sources.NNModuleSource, True, None),
    "notnn": (sources.NotNNModuleSource, True, None),
    "fsdp": (sources.FSDPNNModuleSource, True, None),
    "const": (sources.ConstantSource, False, _NAME),
    "random": (sources.RandomValueSource, False, _INDEX),
    "weak": (sources.GlobalWeakRefSource, False, _NAME),
    "tupleiter": (sources.TupleIteratorGetItemSource, True, _INDEX),
    "odict": (sources.ODictGetItemSource, True, _KEY),
    "default": (_defaults, True, _KEY),
    "type": (sources.TypeSource, True, None),
    "numpy": (sources.NumpyTensorSource, True, None),
}


def make_source(spec: Any) -> sources.Source:
    """The Source that a source spec (design page, Cases) names; BadProgram if none."""
    if type(spec) is not tuple or not spec or spec[0] not in _SOURCES:
        raise BadProgram(f"unknown source spec {spec!r}")
    make, has_base, rest = _SOURCES[spec[0]]
    if len(spec) != 1 + has_base + (rest is not None):
        raise BadProgram(f"source spec {spec!r} has {len(spec) - 1} operands")
    if rest is _NAME and type(spec[-1]) is not str or rest is _INDEX and type(spec[-1]) is not int:
        raise BadProgram(f"source spec {spec!r} needs {rest} at its end")
    operands = [make_source(spec[1])] if has_base else []
    if rest is not None:
        operands.append(spec[-1])
    return make(*operands)


# ---- entry points ------------------------------------------------------------
# Each is called as entry(frame, prepared, value); `prepared` was made from the
# spec when the frame was opened, so that a bad spec is refused before any build.


def _build(frame: Frame, source: sources.Source, value: Any) -> Any:
    return reference.VariableBuilder(frame.tx, source)(value)


def _sourceless(frame: Frame, _: None, value: Any) -> Any:
    return reference.SourcelessBuilder()(frame.tx, value)


#: What ("option", word) among the arguments of fxcall and fxmethod gives wrap_fx_proxy.
_FX_OPTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "source": lambda: {"source": sources.LocalSource("z")},
    "no_source": lambda: {"source": None},
    "guards": lambda: {"guards": {sources.LocalSource("q").make_guard(reference.GuardBuilder.TYPE_MATCH)}},
    "no_guards": lambda: {"guards": None},
    "specialize": lambda: {"should_specialize": True},
}


def _is_option(arg: Any) -> bool:
    return type(arg) is tuple and len(arg) > 1 and type(arg[0]) is str and arg[0] == "option" and type(arg[1]) is str


def _wrap(frame: Frame, kind: str, target: Any, args: tuple) -> Any:
    """wrap_fx_proxy on a node: args are arguments of it and options of the call."""
    plain = tuple(arg for arg in args if not _is_option(arg))
    proxy = frame.output.create_proxy(kind, target, frame.operands(plain, True), {})
    options: dict[str, Any] = {}
    words = set()
    for _, word, *more in filter(_is_option, args):
        words.add(word)
        if word == "example":
            options["example_value"] = more[0] if more else None
        elif word in _FX_OPTIONS:
            options.update(_FX_OPTIONS[word]())
    tx = frame.output if "not_translator" in words else frame.tx
    with frame.recording():
        if "twice" in words:
            reference.wrap_fx_proxy(tx, proxy, **options)
        return reference.wrap_fx_proxy(tx, proxy, **options)


def _fxcall(frame: Frame, args: tuple, value: Any) -> Any:
    return _wrap(frame, "call_function", value, args)


def _fxmethod(frame: Frame, name_args: tuple, value: Any) -> Any:
    return _wrap(frame, "call_method", *name_args)


def _method(frame: Frame, row_args: tuple, value: Any) -> Any:
    row, operands = row_args[0], frame.operands(row_args[1], False)
    row.check(operands)
    return row.function(frame, *operands)


def _compile(frame: Frame, row: Callable, value: Any) -> None:
    row(frame, value if type(value) is tuple else (value,))


def _do(frame: Frame, _: None, value: Any) -> Any:
    value()
    return None


def _prepare(spec: tuple, value: Any) -> tuple[Callable, Any]:
    """The entry function of a spec and its prepared operands."""
    if type(spec) is not tuple or not spec or type(spec[0]) is not str:
        raise BadProgram(f"not a source spec: {spec!r}")
    kind, size = spec[0], len(spec)
    if kind in _SOURCES:
        return _build, make_source(spec)
    if kind == "do" and size == 1:
        return _do, None
    if kind == "sourceless" and size == 1:
        return _sourceless, None
    if kind == "fxcall" and size == 2 and isinstance(spec[1], (tuple, list)):
        return _fxcall, tuple(spec[1])
    if kind == "fxmethod" and size == 3 and type(spec[1]) is str and isinstance(spec[2], (tuple, list)):
        return _fxmethod, (spec[1], tuple(spec[2]))
    if kind == "method" and size == 3 and isinstance(spec[2], (tuple, list)):
        if spec[1] not in methods.METHODS:
            raise BadProgram(f"no such method: {spec[1]!r} (there are: {', '.join(methods.METHODS)})")
        return _method, (methods.METHODS[spec[1]], tuple(spec[2]))
    if kind == "compile" and size == 2:
        if spec[1] not in methods.COMPILES:
            raise BadProgram(f"no such function to compile: {spec[1]!r} (there are: {', '.join(methods.COMPILES)})")
        return _compile, methods.COMPILES[spec[1]]
    raise BadProgram(f"unknown source spec {spec!r}")


# ---- exceptions ----------------------------------------------------------------


def _expected() -> tuple[type, ...]:
    """The one table of exceptions that a builder raises on purpose."""
    from torch._dynamo import exc
    from torch._subclasses import fake_tensor
    from torch.fx.experimental import symbolic_shapes

    return (
        exc.Unsupported,  # also UserError, ArgsMismatchError, AttributeMutationError
        exc.TorchRuntimeError,
        exc.SkipFrame,
        exc.RestartAnalysis,
        exc.ResetRequired,
        exc.RecompileError,
        exc.InvalidBackend,
        exc.BackendCompilerFailed,
        exc.IncorrectUsage,
        symbolic_shapes.ConstraintViolationError,
        symbolic_shapes.GuardOnDataDependentSymNode,
        fake_tensor.UnsupportedFakeTensorException,
        fake_tensor.DataDependentOutputException,
        fake_tensor.DynamicOutputShapeException,
        MissingOperand,
        methods.BadOperand,
    )


EXPECTED = _expected()

_LIBRARY = tuple(
    spelled(path) + os.sep
    for spelled in (os.path.abspath, os.path.realpath)
    for path in (
        *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
        os.path.dirname(os.path.dirname(torch.__file__)),
        os.path.dirname(__file__),
    )
) + ("<",)
_OBJECTS = os.path.join("tandem", "objects.py")


def is_user_code(filename: str) -> bool:
    """Whether a code object's file belongs to a program, not to a library or to us."""
    return filename.endswith(_OBJECTS) or not filename.startswith(_LIBRARY)


def is_internal(error: BaseException) -> bool:
    """Whether error is a fault of the builder: nothing that it raises on purpose,
    and not raised by code that the program brought (or by what that called)."""
    if isinstance(error, EXPECTED):
        return False
    step = error.__traceback__
    step = step.tb_next if step is not None else None  # the first frame is ours
    while step is not None:
        if is_user_code(step.tb_frame.f_code.co_filename):
            return False
        step = step.tb_next
    return True


def forget_tracebacks(error: BaseException) -> None:
    """Drop the tracebacks of error and of all that it was raised from or under."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = None
        todo += (one.__cause__, one.__context__)


# ---- the context ---------------------------------------------------------------


def _code(a):
    return a


_CODE = _code.__code__
#: What InstructionTranslator reads of the code object that it would translate.
_CODE_OPTIONS = {
    "co_varnames": (),
    "co_cellvars": (),
    "co_freevars": (),
    "co_names": (),
    "co_name": "f",
    "co_filename": "program",
    "co_firstlineno": 1,
}


def _instruction():
    """An instruction with a position: call nodes need one for their header line."""
    result = create_instruction("NOP")
    result.positions = dis.Positions(1, 1, 0, 0)
    return result


_INSTRUCTION = _instruction()
_BUILTINS = vars(builtins)


def no_compiler(graph, inputs):
    """The back end of a context: never called, since nothing is generated."""
    return graph


def scopes(steps: list) -> tuple[dict, dict]:
    """f_locals and f_globals of a frame: a root's local or cell is a local, its
    global is a global; the first root of a name wins."""
    f_locals: dict[str, Any] = {}
    f_globals: dict[str, Any] = {"torch": torch, "__name__": "tandem_program"}
    for spec, value in steps:
        if spec[0] in ("local", "cell"):
            f_locals.setdefault(spec[1], value)
        elif spec[0] == "global":
            f_globals.setdefault(spec[1], value)
    return f_locals, f_globals


class Frame:
    """One context, and what its roots did.

    steps        [(spec, value)], as a case's frames() gives them
    tx, output   the InstructionTranslator and its OutputGraph
    f_locals, f_globals, frame_state
    sources      for each step the Source that a build root was given, else None
    kinds        for each step NOT_RUN, TRACKER, EXCEPTION, DO or VALUE
    values       for each step what was returned, or the exception (without traceback)
    internal     for each step whether it is an exception of no expected class
    records      for each step the operator records of it (tandem.oracle.records), else None
    notify       what is told of the builder calls inside a compile step (tandem.oracle.calls)
    """

    __slots__ = (
        "steps", "tx", "output", "f_locals", "f_globals", "frame_state", "sources",
        "kinds", "values", "internal", "records", "notify", "_entries", "_tracing", "_program", "_running",
        "__weakref__",
    )  # fmt: skip

    def __init__(self, program: Program, steps: list, constraints: list | None) -> None:
        self._tracing = None
        self.steps = steps
        self._program = program
        self._entries = [_prepare(spec, value) for spec, value in steps]
        self.sources = [prepared if entry is _build else None for entry, prepared in self._entries]
        self.kinds = [NOT_RUN] * len(steps)
        self.values: list[Any] = [None] * len(steps)
        self.internal = [False] * len(steps)
        self.records: list[list[dict] | None] = [None] * len(steps)
        self.notify: Callable = lambda event, context: None
        self._running = 0
        self.frame_state = program.frame_state
        self.f_locals, self.f_globals = scopes(steps)
        state.enter_frame()
        self.tx = InstructionTranslator(
            [], _CODE, self.f_locals, self.f_globals, _BUILTINS, dict(_CODE_OPTIONS), no_compiler,
            program.export, program.export, constraints, set(), self.frame_state,
        )  # fmt: skip
        self.tx.current_instruction = _INSTRUCTION
        self.output = self.tx.output
        for name, value in program.context_values:
            setattr(self.output.tracing_context, name, value)
        self._tracing = tracing(self.output.tracing_context)
        self._tracing.__enter__()

    def operands(self, args: tuple, as_proxy: bool) -> tuple:
        """Arguments with each ("ref", i) replaced by the i-th step's tracker, or by
        its proxy; MissingOperand where that step gave none."""
        return tuple(self._operand(arg, as_proxy) for arg in args)

    def _operand(self, arg: Any, as_proxy: bool) -> Any:
        if type(arg) is not tuple or len(arg) != 2 or type(arg[0]) is not str or arg[0] != "ref":
            return arg
        index = arg[1]
        found = self.values[index] if type(index) is int and 0 <= index < len(self.values) else None
        if not isinstance(found, VariableTracker):
            raise MissingOperand(f"step {index!r} of the frame gave no tracker")
        return found.as_proxy() if as_proxy else found

    def recording(self) -> records.Recording:
        """Operators that run inside are written to the running step's records."""
        self.records[self._running] = []
        return records.Recording(self.records[self._running])

    def watch(self) -> calls.Watch:
        """Sees the builder calls that the compiler makes, and tells `notify`."""
        return calls.Watch(lambda event, context: self.notify(event, context), is_internal)

    def note(self, record: dict) -> None:
        """Keeps a record of the running step."""
        if self.records[self._running] is None:
            self.records[self._running] = []
        self.records[self._running].append(record)

    def step(self, index: int) -> int:
        """Run step index; gives its kind.  KeyboardInterrupt passes; whatever a do
        step raises passes too: the program is broken, not the builder."""
        entry, prepared = self._entries[index]
        value = self.steps[index][1]
        self._running = index
        records.running = self
        if entry is _do or entry is _compile:
            entry(self, prepared, value)
            self.kinds[index] = DO
            return DO
        try:
            self.values[index] = entry(self, prepared, value)
            # A function that is called directly gives what other parts of Dynamo ask it for.
            gave_value = entry is _method and not issubclass(type(self.values[index]), VariableTracker)
            self.kinds[index] = VALUE if gave_value else TRACKER
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.internal[index] = is_internal(error)
            forget_tracebacks(error)
            self.values[index] = error
            self.kinds[index] = EXCEPTION
        return self.kinds[index]

    def close(self) -> None:
        """Leave the context.  Contexts close in the reverse order of opening."""
        if self._tracing is None:
            return
        records.running = None
        if TracingContext.get() is not self.output.tracing_context:
            raise RuntimeError("a context was closed while a later one is open")
        self._tracing.__exit__(None, None, None)
        self._tracing = None
        self.tx = self.output = None
        self._entries.clear()
        self.values.clear()
        self.sources.clear()
        self.f_locals = self.f_globals = None


class Program:
    """All frames of one program, under its configuration values.

    frames       lists of (spec, value), as a case's frames() gives them
    config       {name: value}: see tandem.oracle.config for the names
    constraints  for each frame a list of export constraints or None; or None
    export       whether the frames are traced for export
    """

    def __init__(
        self, frames: list, config: dict | None = None, constraints: list | None = None, export: bool = False
    ) -> None:
        self.frames = frames
        self.export = bool(export)
        self.constraints = constraints
        self.frame_state: dict[str, Any] = {}
        self._open: list[Frame] = []
        self._modes = state.Modes()
        self._config = config_names.Override(config or {})
        self.context_values = self._config.context_values
        state.dispatch_tables_changed()

    def open(self, index: int) -> Frame:
        """A fresh context for frame index."""
        constraints = self.constraints[index] if self.constraints is not None else None
        frame = Frame(self, self.frames[index], constraints)
        self._open.append(frame)
        return frame

    def close_frame(self) -> None:
        """Close the frame that was opened last."""
        self._open.pop().close()

    def close(self) -> None:
        """Close what is open and put the configuration back."""
        while self._open:
            self._open.pop().close()
        self._config.restore()
        self._modes.restore()
        state.leave()
