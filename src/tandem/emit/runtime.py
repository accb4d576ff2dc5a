"""What scripts that build carry: a context of Dynamo, and printing.  Text; never imported here."""

import builtins
import dis

from torch._dynamo.bytecode_transformation import create_instruction
from torch._dynamo.mutation_guard import GenerationTracker, install_generation_tagging_init
from torch._dynamo.source import (
    AttrSource,
    ConstantSource,
    DefaultsSource,
    FSDPNNModuleSource,
    GetItemSource,
    GlobalSource,
    GlobalWeakRefSource,
    LocalSource,
    NNModuleSource,
    NotNNModuleSource,
    NumpyTensorSource,
    ODictGetItemSource,
    ParamBufferSource,
    RandomValueSource,
    TupleIteratorGetItemSource,
    TypeSource,
)
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builder import SourcelessBuilder, VariableBuilder, wrap_fx_proxy
from torch._guards import tracing

install_generation_tagging_init()


def traced(a):
    return a


CODE_OPTIONS = {
    "co_varnames": (), "co_cellvars": (), "co_freevars": (), "co_names": (),
    "co_name": "f", "co_filename": "program", "co_firstlineno": 1,
}  # fmt: skip


class MissingOperand(Exception):
    """An argument is the tracker of a root that gave none."""


class Frame:
    """One output graph, and the builder calls made in it."""

    def __init__(self, number, f_locals, f_globals, frame_state, export=False, context_values=()):
        GenerationTracker.generation += 1
        self.tx = InstructionTranslator(
            [], traced.__code__, f_locals, {"torch": torch, "__name__": "tandem_program"} | f_globals,
            vars(builtins), dict(CODE_OPTIONS), lambda graph, inputs: graph, export, export, None, set(), frame_state,
        )  # fmt: skip
        self.tx.current_instruction = create_instruction("NOP")
        self.tx.current_instruction.positions = dis.Positions(1, 1, 0, 0)
        for name, value in context_values:
            setattr(self.tx.output.tracing_context, name, value)
        self.tracing = tracing(self.tx.output.tracing_context)
        self.tracing.__enter__()
        self.trackers = []
        self.seen = set()
        print(f"frame {number}")

    def build(self, source, value):
        self.root(lambda: VariableBuilder(self.tx, source)(value))

    def sourceless(self, value):
        self.root(lambda: SourcelessBuilder()(self.tx, value))

    def fxcall(self, target, args):
        self.root(lambda: self.wrap("call_function", target, args()))

    def fxmethod(self, name, args):
        self.root(lambda: self.wrap("call_method", name, args()))

    def wrap(self, op, target, args):
        return wrap_fx_proxy(self.tx, self.tx.output.create_proxy(op, target, args, {}))

    def proxy(self, index):
        """The proxy of the index-th root's tracker."""
        if not isinstance(self.trackers[index], VariableTracker):
            raise MissingOperand(f"root {index} gave no tracker")
        return self.trackers[index].as_proxy()

    def root(self, call):
        print(f"  root {len(self.trackers)}")
        self.trackers.append(None)
        try:
            self.trackers[-1] = call()
            self.tell(self.trackers[-1], "    ")
        except Exception as error:
            print(f"    raises {type(error).__name__}: {error}")

    def tell(self, value, indent):
        """A tracker, its guards, and the trackers in it."""
        if isinstance(value, VariableTracker):
            name = value.source.name() if value.source is not None else ""
            if id(value) in self.seen:
                print(f"{indent}{type(value).__name__} {name} (again)")
                return
            self.seen.add(id(value))
            print(f"{indent}{type(value).__name__} {name}")
            for row in guard_rows(value.guards):
                print(f"{indent}  guard {row}")
            for attribute, inner in vars(value).items():
                if attribute not in ("source", "guards", "mutable_local", "recursively_contains"):
                    self.tell(inner, indent + "  ")
        elif type(value) in (list, tuple):
            for inner in value:
                self.tell(inner, indent)
        elif isinstance(value, dict):
            for key, inner in value.items():
                self.tell(key, indent)
                self.tell(inner, indent)

    def close(self):
        """What the frame holds after its last root."""
        for node in self.tx.output.graph.nodes:
            print(f"  node {node.op} {node.name}")
        for row in guard_rows(self.tx.output.guards):
            print(f"  guard {row}")
        self.tracing.__exit__(None, None, None)
