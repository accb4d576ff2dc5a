"""Questions to a loaded oracle, each a function, answered as JSON.

    python oracle_probe.py BUILDER QUESTION [ARG ...]
    python oracle_probe.py BUILDER QUESTION+QUESTION...     several, as {question: answer}
"""
from __future__ import annotations

import collections
import functools
import gc
import hashlib
import json
import sys
import warnings

from tandem.oracle import loader

X = ("local", "x")


# ---- programs that the questions use ---------------------------------------------


class Plain:
    def __init__(self):
        self.value = 1


Pair = collections.namedtuple("Pair", "one other")


def plain_function(x):
    return x


def programs() -> dict:
    """name -> (function that makes the frames, configuration)."""
    import numpy
    import torch

    def two_sizes():
        return [[(X, torch.ones(4, 3))], [(X, torch.ones(5, 3))]]

    def randoms():
        import random

        return [[(X, [random.random(), float(numpy.random.rand()), float(torch.rand(1)), random.randint(0, 9)])]]

    def hooked():
        module = torch.nn.Linear(2, 2)
        module.register_forward_hook(lambda *args: None)
        return [[(X, module)]]

    def allowed():
        def fresh(x):
            return x

        torch._dynamo.allow_in_graph(fresh)
        return [[(X, fresh)]]

    def unlisted():
        return [[(X, lambda x: x)]]

    def nested(depth=400):
        made: list = []
        for _ in range(depth):
            made = [made]
        return [[(X, made)]]

    return {
        "int": (lambda: [[(X, 5)]], {}),
        "tree": (lambda: [[(X, {"a": [1, (2.5, "s")], "b": {"c": None}})]], {}),
        "tensor": (lambda: [[(X, torch.ones(2, 3))]], {}),
        "two_sizes": (two_sizes, {}),
        "dynamic": (two_sizes, {"assume_static_by_default": False}),
        "array": (lambda: [[(X, numpy.ones(3))]], {}),
        "array_off": (lambda: [[(X, numpy.ones(3))]], {"trace_numpy": False}),
        "object": (lambda: [[(X, Plain()), (("local", "y"), Pair(1, Plain))]], {}),
        "module": (lambda: [[(X, torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))]], {}),
        "hooked": (hooked, {}),
        "randoms": (randoms, {}),
        "allowed": (allowed, {}),
        "unlisted": (unlisted, {}),
        "partial": (lambda: [[(X, functools.partial(plain_function, 1))]], {}),
        "nested": (nested, {}),
        "parameter_key": (lambda: [[(X, {torch.nn.Parameter(torch.ones(2)): 1})]], {}),
        "export": (lambda: [[(X, torch.ones(2))]], {"specialize_int": True}),
        "operator": (lambda: [[(X, torch.ones(2)), (("fxcall", (("ref", 0),)), torch.sin)]], {}),
        "sourceless": (lambda: [[(("sourceless",), {"a": [1, Plain]})]], {}),
    }


# ---- describing a frame ------------------------------------------------------------


def spell(value, ids: dict, depth: int = 0) -> str:
    """A tracker with everything in its dict; ids of objects by first sight."""
    from torch._dynamo.source import Source
    from torch._dynamo.variables.base import VariableTracker

    if isinstance(value, VariableTracker) and depth < 200:
        fields = ", ".join(f"{k}={spell(v, ids, depth + 1)}" for k, v in sorted(vars(value).items()) if k != "guards")
        guards = sorted(f"{g.name}:{getattr(g.create_fn, 'func', g.create_fn).__name__}" for g in value.guards)
        return f"{type(value).__name__}({fields}, {guards})"
    if isinstance(value, Source):
        return repr(value)
    if type(value) in (list, tuple) and depth < 200:
        return "[" + ", ".join(spell(one, ids, depth + 1) for one in value) + "]"
    if type(value) is dict and depth < 200:
        return "{" + ", ".join(f"{spell(k, ids)}: {spell(v, ids, depth + 1)}" for k, v in value.items()) + "}"
    if type(value) in (int, float, str, bool, type(None)):
        return repr(value)
    return f"{type(value).__name__}#{ids.setdefault(id(value), len(ids))}"


def observe(frame) -> str:
    output = frame.output
    ids: dict = {}
    rows = [
        f"{kind} {type(value).__name__ + str(value).split(' at 0x')[0] if kind == 2 else spell(value, ids)}"
        for kind, value in zip(frame.kinds, frame.values)
    ]
    rows += [f"{node.op} {node.name} {node.type} {node.meta.get('example_value')}" for node in output.graph.nodes]
    rows += [f"{symbol} {value}" for symbol, value in output.shape_env.var_to_val.items()]
    rows += [f"{name} {entry}" for name, entry in frame.frame_state.items()]
    rows += [*map(str, output.nn_modules), str(len(output.side_effects.keepalive)), str(sorted(frame.f_globals))]
    for number, name in ids.items():
        rows = [row.replace(str(number), f"id{name}") for row in rows]
    return "\n".join(rows)


def run(name: str, reference, made: dict) -> dict:
    """One program, from reset to close: what was observed, and the arms entered."""
    from tandem.oracle import state
    from tandem.oracle.context import Program

    make, config = made[name]
    state.reset()
    reference.arms.trace.clear()
    program = Program(make(), config)
    seen = []
    for index in range(len(program.frames)):
        frame = program.open(index)
        for step in range(len(frame.steps)):
            frame.step(step)
        seen.append(observe(frame))
        program.close_frame()
    program.close()
    arms = sorted(set(reference.arms.trace))
    return {"seen": hashlib.sha256("\n--\n".join(seen).encode()).hexdigest(), "arms": arms, "text": seen}


# ---- questions -----------------------------------------------------------------------


def shim_names(reference) -> dict:
    from torch._dynamo import source, symbolic_convert
    from torch.export import Constraint

    return {
        "ConvertIntSource": hasattr(source, "ConvertIntSource"),
        "debug_name": hasattr(Constraint, "debug_name"),
        "store_global_weakref": hasattr(symbolic_convert.InstructionTranslator, "store_global_weakref"),
    }


def loaded(reference) -> dict:
    """How the module stands in the process."""
    import linecache

    module = reference.module
    code = module.VariableBuilder._wrap.__code__
    return {
        "revision": reference.revision,
        "distance": reference.distance,
        "builder": reference.builder,
        "file": module.__file__,
        "code_file": code.co_filename,
        "first_line": linecache.getline(code.co_filename, code.co_firstlineno).strip(),
        "arms": len(reference.arms.arms),
        "used_by_all": sys.modules["torch._dynamo.output_graph"].VariableBuilder is module.VariableBuilder,
    }


def same_alone(reference, *names: str) -> dict:
    """Programs in the order given, each once."""
    made = programs()
    seen: dict = {}
    for name in names or made:
        seen[name] = run(name, reference, made)["seen"]
    return seen


def same_anywhere(reference, count: str) -> dict:
    """All programs first, among many others in changing order, and last: names of
    those that were not the same throughout."""
    made = programs()
    first: dict = {}
    for name in made:  # no comprehension: it would be one level of the stack
        first[name] = run(name, reference, made)
    order, differ = list(made), set()
    for turn in range(int(count)):
        order = order[turn % 7 :] + order[: turn % 7]
        for name in order:
            again = run(name, reference, made)
            if again["seen"] != first[name]["seen"] or again["arms"] != first[name]["arms"]:
                differ.add(name)
    return {"differ": sorted(differ), "programs": len(made), "seen": {n: r["seen"] for n, r in first.items()}}


def arms_off(reference) -> dict:
    """Whether a builder without instrumentation gives the same observations."""
    made = programs()
    on, off, again = ({}, {}, {})
    for rows, switched in ((on, True), (off, False), (again, True)):
        reference.arms.switch(switched)
        for name in made:
            rows[name] = run(name, reference, made)
    return {
        "differ": [name for name in made if on[name]["seen"] != off[name]["seen"]],
        "arms_off": sum(len(row["arms"]) for row in off.values()),
        "arms_back": all(on[name]["arms"] == again[name]["arms"] and on[name]["arms"] for name in made),
    }


def speed_off(reference) -> dict:
    """Whether observations are the same without the patches of tandem.oracle.speed."""
    from tandem.oracle import speed

    made = programs()
    rows: dict = {True: {}, False: {}}
    for on in (True, False):
        speed.switch(on)
        for name in made:
            rows[on][name] = run(name, reference, made)["seen"]
    untouched = [patch.before is None for patch in speed.PATCHES]
    speed.switch(True)
    patched = [patch.before is not None for patch in speed.PATCHES]
    differ = [name for name in made if rows[True][name] != rows[False][name]]
    return {"differ": differ, "untouched": untouched, "patched": patched}


def leaks(reference, count: str) -> dict:
    """Objects of each type that are more after many programs than before them."""
    made = programs()

    def rounds(times: int) -> collections.Counter:
        for _ in range(times):
            for name in made:
                run(name, reference, made)
        gc.collect()
        return collections.Counter(type(one).__name__ for one in gc.get_objects())

    before = rounds(3)
    after = rounds(int(count))
    return {name: after[name] - before[name] for name in after if after[name] - before[name] > 20}


def references(reference) -> dict:
    """Reference counts of a program's objects before, during and after a run."""
    import torch

    from tandem.oracle import state
    from tandem.oracle.context import Program

    tensor, objects = torch.ones(2), [Plain(), [1, 2], {"a": 1}, plain_function, torch.nn.Linear(2, 2)]
    objects.append(tensor)
    before = [sys.getrefcount(one) for one in objects]
    state.reset()
    program = Program([[(("local", f"x{i}"), one) for i, one in enumerate(objects)] + [(X, nested_list())]])
    frame = program.open(0)
    for step in range(len(frame.steps)):
        frame.step(step)
    kinds = list(frame.kinds)
    program.close()
    del program, frame
    gc.collect()
    return {"before": before, "after": [sys.getrefcount(one) for one in objects], "kinds": kinds}


def nested_list() -> list:
    made: list = []
    for _ in range(400):
        made = [made]
    return made


def order_of_closing(reference) -> dict:
    """Contexts close last in, first out; another order is refused."""
    from torch._guards import TracingContext

    from tandem.oracle.context import Program

    program = Program([[(X, 5)], [(X, 6)]])
    outer, inner = program.open(0), program.open(1)
    try:
        outer.close()
        refused = ""
    except RuntimeError as error:
        refused = str(error)
    inner.close()
    outer.close()
    program.close()
    return {"refused": refused, "left": TracingContext.get() is None}


def bad_specs(reference) -> dict:
    """What each wrong spec is answered with."""
    from tandem.oracle.config import UnknownConfig
    from tandem.oracle.context import BadProgram, Program

    specs = [
        ("nowhere", "x"), ("local",), ("local", 5), ("attr", "x", "y"), ("item", X), ("random", "x"), (), "x",
        ("fxcall",), ("fxcall", 5), ("fxmethod", "size"), ("method", "no_such", ()), ("compile", "no_such"),
        ("do", 1), ("sourceless", 1), ("type", X, 1),
    ]  # fmt: skip
    answers = {}
    for spec in specs:
        program = Program([[(spec, 5)]])
        try:
            program.open(0)
            answers[str(spec)] = "accepted"
        except BadProgram as error:
            answers[str(spec)] = str(error)
        except Exception as error:
            answers[str(spec)] = f"!{type(error).__name__}: {error}"
        program.close()
    try:
        Program([], {"no_such_value": 1})
    except UnknownConfig as error:
        answers["config"] = str(error)
    return answers


def all_sources(reference) -> dict:
    """The name and class of a source of each kind."""
    from tandem.oracle.context import make_source

    specs = [
        X, ("cell", "c"), ("global", "g"), ("attr", X, "a"), ("item", X, 3), ("item", X, "k"), ("param", X, "w"),
        ("nnmodule", X), ("notnn", X), ("fsdp", X), ("const", "c"), ("random", 2), ("weak", "g"),
        ("tupleiter", X, 1), ("odict", X, "k"), ("default", X, 0), ("default", X, "k"), ("type", X), ("numpy", X),
    ]  # fmt: skip
    return {str(spec): [type(make_source(spec)).__name__, make_source(spec).name()] for spec in specs}


def outcomes(reference) -> dict:
    """Kinds, classes and internal flags of roots that go wrong in different ways."""
    import numpy

    from tandem.oracle.context import Program

    class Raising:
        @property
        def __class__(self):
            raise SystemExit("hostile")

    class Interrupting:
        @property
        def __class__(self):
            raise KeyboardInterrupt

    cycle: list = []
    cycle.append(cycle)
    steps = [
        (X, cycle), (("const", "c"), numpy.float32(1)), (("local", "r"), Raising()), (("fxcall", (("ref", 0),)), len),
        (("local", "deep"), nested_list()),
    ]  # fmt: skip
    program = Program([steps, [(X, Interrupting())]])
    frame = program.open(0)
    rows = []
    for step in range(len(steps)):
        kind = frame.step(step)
        value = frame.values[step]
        rows.append([kind, type(value).__name__, frame.internal[step], getattr(value, "__traceback__", None) is None])
    program.close_frame()
    frame = program.open(1)
    try:
        frame.step(0)
        passed = False
    except KeyboardInterrupt:
        passed = True
    program.close()
    return {"rows": rows, "interrupted": passed}


def deciding(reference) -> dict:
    """The deciding arm of some roots."""
    import torch

    from tandem.oracle.context import EXCEPTION, Program

    cycle: list = []
    cycle.append(cycle)
    values = {"int": 5, "list": [1], "dict": {"a": 1}, "tensor": torch.ones(2), "cycle": cycle}
    result = {}
    for name, value in values.items():
        program = Program([[(X, value)]])
        frame = program.open(0)
        reference.arms.trace.clear()
        raised = frame.step(0) == EXCEPTION
        arm = reference.arms.arms[reference.arms.deciding(raised)]
        result[name] = [arm.qualname, arm.text]
        program.close()
    return result


def methods(reference) -> dict:
    """Each listed method and function once: how it ended."""
    import dataclasses

    import torch

    from tandem.oracle import methods as rows
    from tandem.oracle.context import EXCEPTION, Program

    record = dataclasses.make_dataclass("Record", ["a"])
    ref = (("ref", 0),)
    args = {
        "wrap_unspecialized_primitive": [(7,), (7, 0), (7, ("const", "c"))],
        "wrap_to_fake_tensor_and_record": [(torch.ones(2),), (5, "x", True, True), (torch.ones(2), None)],
        "_dataclasses_fields_lambda": [(record(1),), ref],
        "wrap_constant_literal": [(5,), (record,)],
        "GraphArg.example": [ref, ()],
        "GraphArg.__eq__": [ref],
        "GraphArg.load": [ref],
        "GraphArg.erase": [ref],
        "TrackedFake.__eq__": [(1,), (1, "a", "b"), (1, "a", 5), (1, "a", "a", 2)],
        "TrackedFake.__hash__": [(1,)],
        "VariableBuilder.__init__": [(), (None,)],
        "SourcelessBuilder.__call__": [ref, (5,)],
    }
    compiles = {
        "frame": (torch.ones(2), 5),
        "setattr": (torch.nn.Linear(2, 2), torch.ones(2)),
        "item": (torch.ones(2, 2), 1),
        "fields": (torch.ones(2), record(1)),
        "random": (torch.ones(2),),
    }
    assert set(args) == set(rows.METHODS) and set(compiles) == set(rows.COMPILES)
    steps = [(("method", name, one), None) for name, choices in args.items() for one in choices]
    steps += [(("compile", name), one) for name, one in compiles.items()]
    program = Program([[(X, torch.ones(2))] + steps])
    frame = program.open(0)
    result = {}
    for index in range(len(frame.steps)):
        kind, value = frame.step(index), frame.values[index]
        said = f"{type(value).__name__}: {value}".split("\n")[0] if kind == EXCEPTION else type(value).__name__
        spec = frame.steps[index][0]
        result.setdefault(spec[1], []).append(said)
    program.close()
    arms = {arm.id for arm in (reference.arms.arms[i] for i in set(reference.arms.trace))}
    return {"ended": result, "arms": sorted(arms)}


def config_reads(reference) -> dict:
    """Configuration values read while all programs ran, beyond those that are listed."""
    from tandem.oracle import config

    read: set[str] = set()

    class Noting(dict):
        def __getitem__(self, key):
            read.add(key)
            return dict.__getitem__(self, key)

    import torch._dynamo.config as dynamo

    plain = dynamo._config
    dynamo.__dict__["_config"] = Noting(plain)
    try:
        made = programs()
        for name in made:
            run(name, reference, made)
    finally:
        dynamo.__dict__["_config"] = plain
    return {"read": sorted(read), "unlisted": sorted(read - set(config.NAMES)), "listed": list(config.NAMES)}


def restored(reference) -> dict:
    """What a program changes in the process, and whether it is undone."""
    import torch
    import torch._dynamo.config as dynamo
    import torch._functorch.config as functorch

    from tandem.oracle import state
    from tandem.oracle.context import Program

    before = (dict(dynamo._config), dict(functorch._config), torch.is_grad_enabled(), torch.get_default_dtype())

    def meddle():
        dynamo.specialize_int = True
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch._dynamo.allow_in_graph(plain_function)
        torch._dynamo.disallow_in_graph(torch.sin)
        torch.utils._pytree._register_pytree_node(Plain, lambda p: ([], None), lambda c, x: Plain())

    handles = torch.utils.hooks.RemovableHandle
    handles.next_id = 1000
    state.reset()
    started = handles.next_id
    program = Program([[(("do",), meddle), (X, 5)]], {"trace_numpy": False, "functorch.functionalize_rng_ops": True})
    during = (dynamo.trace_numpy, functorch.functionalize_rng_ops)
    frame = program.open(0)
    frame.step(0)
    program.close()
    after = (dict(dynamo._config), dict(functorch._config), torch.is_grad_enabled(), torch.get_default_dtype())
    hooks = [started, handles.next_id]
    state.reset()
    from torch._dynamo import allowed_functions

    return {
        "during": during,
        "after": before == after,
        "hooks": hooks,
        "ids": [
            id(plain_function) in allowed_functions._allowed_user_defined_function_ids(),
            id(torch.sin) in allowed_functions._allowed_function_ids(),
        ],
        "nodes": Plain in torch.utils._pytree.SUPPORTED_NODES,
    }


def main(builder: str, question: str, args: list[str]) -> None:
    warnings.simplefilter("ignore")
    reference = loader.load(builder)
    if "+" in question:
        answer = {one: globals()[one](reference) for one in question.split("+")}
    else:
        answer = globals()[question](reference, *args)
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
