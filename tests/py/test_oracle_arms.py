"""Arms: their ids, and that recording them changes nothing."""
from __future__ import annotations

import ast
import random
import re
import traceback
import types
from pathlib import Path

import pytest

from oracle_children import child
from tandem.oracle import arms as oracle_arms

# ---- ids ---------------------------------------------------------------------------


def test_ids_are_the_atlas_s(shared: Path):
    rows = [line.split("\t") for line in (shared / "reference" / "arms.tsv").read_text().rstrip("\n").split("\n")[1:]]
    found = oracle_arms.enumerate_arms((shared / "reference" / "builder.py").read_text())
    theirs = [[row[0], row[1], row[2], row[3], row[5]] for row in rows]
    assert [[arm.id, arm.kind, arm.qualname, str(arm.line), arm.arm] for arm in found] == theirs
    for arm, row in zip(found, rows):  # long conditions were cut there, at different places
        assert arm.text.startswith(row[4].split("…")[0]), arm.id


def test_ids_are_unique_and_numbered():
    text = "def f(x):\n    return (1 if x else 2) + (3 if x else 4) + (5 if x else 6)\n"
    found = oracle_arms.enumerate_arms(text)
    assert len({arm.id for arm in found}) == len(found)
    assert [arm.index for arm in found] == list(range(len(found)))
    names = [arm.id for arm in found if arm.kind == "ifexp" and arm.arm == "T"]
    assert names == ["L2/ifexp/T", "L2.30/ifexp/T", "L2.48/ifexp/T"]
    again = oracle_arms.enumerate_arms("x = y or y or y\n" * 2)  # a line each: no column
    assert [arm.id for arm in again if arm.arm == "op0=T"] == ["L1/bool/op0=T", "L2/bool/op0=T"]


# ---- what is recorded ----------------------------------------------------------------

SAMPLE = '''
import collections

class Odd:
    """Answers questions about itself, and notes that it was asked."""
    asked = []
    def __init__(self, answer): self.answer = answer
    def __bool__(self): Odd.asked.append("bool"); return self.answer
    def __eq__(self, other): Odd.asked.append("eq"); return self.answer
    def __iter__(self): Odd.asked.append("iter"); return iter([1] if self.answer else [])
    def __hash__(self): Odd.asked.append("hash"); return 1

def istype(value, classes):
    return type(value) in classes if isinstance(classes, tuple) else type(value) is classes

def unimplemented(text):
    raise NotImplementedError(text)

def choose(x):
    """A docstring."""
    if x == 1:
        return "one"
    elif x == 2 or x in range(3, 6) and not x == 4:
        return "few"
    elif isinstance(x, (str, bytes)):
        return "text"
    else:
        pass
    return "other"

def value_of(x, y):
    return x and y

def value_or(x, y):
    found = x or y or "none"
    return found

def nested_value(x, y, z):
    return (x or y) and z

def loop(xs):
    total = 0
    for x in xs:
        if x is None:
            break
        total += 1
    else:
        total += 100
    return total

def loops(xs, *more):
    some = all(x or x is None for x in xs)
    return [x for x in xs if x or x == 0], {x for x in more}, some, {k: v for k, v in enumerate(xs)}

def member(x):
    return x in (1, "two", None), type(x) in [int, str]

def table(x):
    return {int: "i", str: "s"}[type(x)]

def classes(x):
    return istype(x, (int, str)), issubclass(type(x), (int, dict)), isinstance(type(x), (str, type))

def refuse(x):
    assert x is not None, "is none"
    if x:
        unimplemented(f"no {x}")
    try:
        return 1 // x
    except ZeroDivisionError:
        raise ValueError("zero") from None

def inner(x):
    twice = lambda y: y * 2 if y else y
    def deeper(y):
        return twice(y)
    return deeper(x)

class Holder:
    default = [x for x in (1, 2) if x]
    chosen = default and "yes"
    @property
    def what(self): return self.default and 5
    @staticmethod
    def where(x): return "here" if x else "there"
'''

INPUTS = [None, 0, 1, 2, 3, 4, "", "a", "two", b"b", [], [1], [0, None], (), (1, None, 2), {}, {"k": 1}, 2.5, True]


def load_sample() -> tuple[types.ModuleType, types.ModuleType, oracle_arms.Arms]:
    """The sample plain and instrumented."""
    plain, instrumented = types.ModuleType("sample"), types.ModuleType("sample")
    exec(compile(SAMPLE, "sample.py", "exec"), plain.__dict__)
    arms = oracle_arms.Arms(ast.parse(SAMPLE), "sample.py")
    arms.run(instrumented)
    return plain, instrumented, arms


def in_sample(frame) -> bool:
    """Not in a helper of the instrumentation."""
    return frame.f_code.co_filename == "sample.py"


def outcome(function, args) -> tuple:
    """Result or exception, the line it came from, and what the arguments were asked."""
    asked = function.__globals__["Odd"].asked
    asked.clear()
    try:
        result: tuple = ("returned", repr(function(*args)))
    except Exception as error:
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if in_sample(frame)]
        result = (type(error).__name__, str(error), lines[-1])
    return result, list(asked)


def functions(module) -> dict:
    found = {name: one for name, one in vars(module).items() if isinstance(one, types.FunctionType)}
    return {name: one for name, one in found.items() if one.__module__ == "sample" and not name.startswith("__")}


@pytest.mark.parametrize("switched", [True, False])
def test_instrumented_code_does_what_plain_code_does(switched):
    plain, instrumented, arms = load_sample()
    arms.switch(switched)
    chance = random.Random(5)
    names = sorted(set(functions(plain)) - {"istype", "unimplemented"})
    assert len(names) == 11
    for _ in range(3000):
        name = chance.choice(names)
        function = functions(plain)[name]
        picks = [chance.choice([*INPUTS, ("odd", True), ("odd", False)]) for _ in range(function.__code__.co_argcount)]
        results = []
        for module in (plain, instrumented):
            args = [module.Odd(x[1]) if type(x) is tuple and x[:1] == ("odd",) else x for x in picks]
            results.append(outcome(getattr(module, name), args))
        ours, theirs = results[1], results[0]
        assert clean(ours[0]) == clean(theirs[0]), (name, picks)
        if asks_alike(name):
            assert ours[1] == theirs[1], (name, picks)
    assert (plain.Holder.chosen, plain.Holder().what) == (instrumented.Holder.chosen, instrumented.Holder().what)
    assert bool(arms.trace) == switched


def clean(result: tuple) -> tuple:
    return tuple(re.sub(r"0x[0-9a-f]+", "0x", str(part)) for part in result)


def asks_alike(name: str) -> bool:
    """Whether user code is called as often: only not where an `and` or `or` gives a
    value whose truth the file itself never asks, and the arm is which it was."""
    return name not in ("value_of", "value_or", "nested_value", "inner", "loops")


def entered(arms, function, *args) -> list[str]:
    arms.trace.clear()
    try:
        function(*args)
    except Exception:
        pass
    return [f"{arms.arms[index].kind}/{arms.arms[index].arm}" for index in arms.trace]


def test_what_is_entered():
    _, module, arms = load_sample()
    assert entered(arms, module.choose, 1) == ["fn/entered", "if/T", "ret/reached"]
    assert entered(arms, module.choose, 2) == ["fn/entered", "bool/op0=T", "if/T", "ret/reached"]
    assert entered(arms, module.choose, 3) == ["fn/entered", "bool/op1=T", "if/T", "ret/reached"]
    assert entered(arms, module.choose, "a") == ["fn/entered", "bool/op0=F", "alt/str", "if/T", "ret/reached"]
    assert entered(arms, module.choose, 9) == ["fn/entered", "bool/op0=F", "if/F", "ret/reached"]
    assert entered(arms, module.value_of, 0, 1) == ["fn/entered", "ret/reached", "bool/op0=F"]
    assert entered(arms, module.value_of, 1, 1) == ["fn/entered", "ret/reached", "bool/all=T"]
    assert entered(arms, module.loop, []) == ["fn/entered", "for/zero", "ret/reached"]
    assert entered(arms, module.loop, [None, 1]) == ["fn/entered", "for/some", "if/T", "ret/reached"]
    assert entered(arms, module.table, "s")[-1] == "alt/str"
    assert entered(arms, module.table, 2.5)[-1] == "alt/miss"
    assert entered(arms, module.refuse, None) == ["fn/entered", "assert/fail"]
    assert entered(arms, module.refuse, 5)[:4] == ["fn/entered", "assert/pass", "if/T", "unimpl/raised"]
    assert entered(arms, module.refuse, 0)[-2:] == ["try/except", "raise/reached"]
    assert entered(arms, module.member, None)[2:4] == ["alt/None", "alt/none"]


#: What no input can enter: the arm, and why.
NEVER = {
    "L35/bool/all=F": "the last operand is a true constant",
    "L68/try/ok": "the body of the try returns or raises",
    "L62.68/alt/str": "a class is no str",
}


def test_every_arm_of_the_sample_can_be_entered():
    _, module, arms = load_sample()
    seen = set(arms.at_import)
    for function in functions(module).values():
        for first in [*INPUTS, True, False]:
            for second in INPUTS:
                arms.trace.clear()
                odd = module.Odd(first) if type(first) is bool else first
                outcome(function, [odd, second, first][: function.__code__.co_argcount])
                seen |= set(arms.trace)
    arms.trace.clear()
    for x in (0, 1):
        module.Holder.where(x)
        module.loops([x][:x], *[x][:x])
        module.Holder.default = [x][:x]
        assert module.Holder().what in ([], 5)
    seen |= set(arms.trace)
    missing = {arm.id for arm in arms.arms if arm.index not in seen and arm.qualname[:6] not in ("Odd.__", "Holder")}
    assert missing == set(NEVER)


# ---- the builder ------------------------------------------------------------------------


@pytest.mark.release
def test_recording_changes_no_observation(python):
    answer = child(python, "oracle_probe.py", "installed", "arms_off")
    assert answer["differ"] == []
    assert answer["arms_back"]


@pytest.mark.release
def test_the_deciding_arm(python, shared: Path):
    answer = child(python, "oracle_probe.py", shared / "reference" / "builder.py", "deciding")
    assert answer["list"][0] == answer["cycle"][0] == "VariableBuilder.wrap_listlike"
    assert answer["cycle"][1] == "'list elements are pointing to the list itself'"
    assert answer["dict"][0] == "VariableBuilder._wrap"
    assert answer["dict"][1] == "return self.tx.output.side_effects.track_dict(self.source, value, result)"
    assert answer["tensor"] == ["VariableBuilder.wrap_tensor", "return tensor_variable"]
    assert answer["int"][0] == "VariableBuilder.wrap_unspecialized_primitive"
