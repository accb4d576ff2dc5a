"""One process of the corpus's tests: one builder, one subject, several jobs.

    corpus_probe.py '{"corpus": FOLDER, "builder": ..., "subject": ..., "other_side": ..., "jobs": [...]}'

The last line of stdout is a JSON object with one entry a job.  A process can load
one builder only, and starting one is what costs: so jobs share it.
"""
from __future__ import annotations

import collections
import enum
import functools
import gc
import hashlib
import importlib
import inspect
import json
import os
import sys
import time
from pathlib import Path
from types import CodeType
from typing import Any, Callable

import _tandem as core

SPEC = json.loads(sys.argv[1])
CORPUS = Path(SPEC["corpus"])
TESTING = core.testing

#: name -> program, by name.
PROGRAMS = {
    str(path.relative_to(CORPUS).with_suffix("")): path.read_text() for path in sorted(CORPUS.rglob("*.tdm"))
}
#: Those whose subject needs no reference beside it.
ALONE = {name: program for name, program in PROGRAMS.items() if "root compile" not in program}


# ---- hearing what a side says --------------------------------------------------------


class Tap:
    """Hears the canonical bytes of one side, frame by frame, and changes nothing."""

    def __init__(self, side: str) -> None:
        self.frames: list[bytes] = []
        TESTING["lie"](side, self)

    def __call__(self, frame: int, data: bytes) -> None:
        self.frames.append(data)

    def take(self) -> list[bytes]:
        taken, self.frames = self.frames, []
        return taken


def digest(frames: list[bytes]) -> str:
    return hashlib.sha256(b"|".join(frames)).hexdigest()


def short(report: dict[str, Any]) -> dict[str, Any]:
    """What tests ask of a report."""
    return {
        "verdict": report["verdict"],
        "flags": report["flags"],
        "fields": [one["field"] for one in report["divergences"]],
        "paths": [one["path"] for one in report["divergences"]],
        "unsupported": [one["arm"] for one in report["unsupported"]],
        "roots": len(report["roots"]),
        "why": report["why"],
    }


# ---- jobs ----------------------------------------------------------------------------


def judge() -> dict[str, Any]:
    """Each program's verdict, arms, and what both sides wrote."""
    result = {}
    taps = {side: Tap(side) for side in ("reference", "subject")}
    for name, program in PROGRAMS.items():
        report = core.run(program)
        result[name] = short(report) | {"arms": report["arms"]}
        result[name] |= {side: digest(tap.take()) for side, tap in taps.items()}
    silence()
    return {"programs": result, "arms": core.arms()}


def silence() -> None:
    TESTING["lie"]("reference", None)
    TESTING["lie"]("subject", None)


def repeat() -> dict[str, Any]:
    """What both sides write in other company: backwards, and after many others."""
    taps = {side: Tap(side) for side in ("reference", "subject")}

    def round_of(names: list[str]) -> dict[str, dict[str, str]]:
        written = {}
        for name in names:
            core.run(PROGRAMS[name])
            written[name] = {side: digest(tap.take()) for side, tap in taps.items()}
        return written

    backwards = round_of(list(PROGRAMS)[::-1])
    silence()
    for seed in range(SPEC.get("others", 1000)):
        core.run(core.gen(seed, only="done"))
    taps = {side: Tap(side) for side in ("reference", "subject")}
    late = round_of(list(PROGRAMS))
    silence()
    return {"backwards": backwards, "late": late}


def quiet() -> dict[str, str | None]:
    """What the subject, run alone, leaves behind of each program's objects."""
    return {name: TESTING["quiet"](program) for name, program in PROGRAMS.items()}


def shared_objects() -> list[Any]:
    """Everything that programs look up rather than make: choices.def says what."""
    import torch
    from tandem import objects

    found = [value for name, value in vars(objects).items() if callable(value) and not name.startswith("_")]
    return found + [torch.Tensor, torch.add, torch.nn.functional.relu, torch.float32, os, json, print, len, list]


def settle() -> None:
    """Garbage goes, and with it what a closed context held."""
    for _ in range(3):
        gc.collect()


def kept() -> dict[str, Any]:
    """What differential runs leave behind: references to shared objects, and objects
    that the collector knows."""
    shared = shared_objects()
    result = {}
    for program in PROGRAMS.values():
        core.run(program)
    for name, program in PROGRAMS.items():
        core.run(program)
        # What leaks moves a count every time; a table of torch's that grows does so once.
        left = left_by(program, shared) and left_by(program, shared) and left_by(program, shared)
        if left:
            result[name] = left
    return result


def left_by(program: str, shared: list) -> dict[str, Any]:
    """What three runs of program leave behind; the collector's own count moves by one or two."""
    settle()
    counts, known = [sys.getrefcount(one) for one in shared], len(gc.get_objects())
    for _ in range(3):
        core.run(program)
    settle()
    after, grown = [sys.getrefcount(one) for one in shared], len(gc.get_objects()) - known
    moved = [repr(one) for one, was, now in zip(shared, counts, after) if was != now]
    return {"moved": moved, "grown": grown} if moved or grown > 2 else {}


def deaf() -> dict[str, Any]:
    """The reference's outcomes are wrong; the subject says what it said."""
    result = {}
    tap = Tap("subject")
    for name, program in ALONE.items():
        core.run(program)
        honest = digest(tap.take())
        TESTING["deaf"](True)
        report = core.run(program)
        TESTING["deaf"](False)
        heard = tap.take()
        # What diverges is built once more, to see that no side disagrees with itself.
        half = len(heard) // 2
        same = digest(heard[:half]) == digest(heard[half:]) == honest
        result[name] = {"verdict": report["verdict"], "same": same}
    silence()
    return result


# ---- liars ---------------------------------------------------------------------------


class Schema:
    """Classes and their compared attributes, own and inherited."""

    def __init__(self) -> None:
        fields = importlib.import_module("tandem.fields")
        self.parents: dict[str, str | None] = fields.CLASSES
        self.own: dict[str, list[str]] = collections.defaultdict(list)
        for row in TESTING["fields"]():
            if row[2] == "compared":
                self.own[row[0]].append(row[1])

    def rows(self, name: str) -> list[tuple[str, str]]:
        """(class that has the row, attribute) of every attribute that name has."""
        found, at = [], name
        while at is not None:
            found += [(at, attribute) for attribute in self.own[at]]
            at = self.parents[at]
        return found

    def occurring(self, frames: list[tuple[str, int, bytes]]) -> list[str]:
        """The classes of which some frame has a record, a tree or a row."""
        found = []
        for name in self.parents:
            rows = self.rows(name)
            if rows and any(TESTING["tell"](data, *rows[0], name) is not None for _, _, data in frames):
                found.append(name)
        return found


def recorded() -> list[tuple[str, int, bytes]]:
    """(program, frame, canonical bytes) of the subject over the corpus."""
    found = []
    for name, program in PROGRAMS.items():
        shown = core.show(program, "subject")
        found += [(name, index, frame) for index, frame in enumerate(shown["frames"]) if frame is not None]
    return found


def told(name: str, lied_frame: int, lie: bytes, side: str = "subject") -> dict[str, Any]:
    """The verdict when side says lie in the place of one frame."""
    TESTING["lie"](side, lambda frame, data: lie if frame == lied_frame else None)
    report = core.run(PROGRAMS[name])
    silence()
    return report


def liar() -> dict[str, Any]:
    """For each class that occurs and each of its compared attributes: which lie was
    told where, and what the comparison named."""
    schema = Schema()
    frames = recorded()
    result: dict[str, Any] = {}
    for class_name in schema.occurring(frames):
        for owner, attribute in schema.rows(class_name):
            result[f"{class_name}.{attribute}"] = one_lie(frames, owner, attribute, class_name)
    return result


def one_lie(frames: list[tuple[str, int, bytes]], owner: str, attribute: str, class_name: str) -> dict[str, Any]:
    for name, index, data in frames:
        lie = TESTING["tell"](data, owner, attribute, class_name)
        if lie is not None:
            report = told(name, index, lie[0])
            named = [one["field"] for one in report["divergences"]]
            return {"program": name, "field": lie[1], "verdict": report["verdict"], "named": named}
    return {"program": None}


# ---- liars on the reference's side -----------------------------------------------------


class Patch:
    """Has the reference's side change one attribute of a real object of a class, after
    the last step of a frame and before anybody looks."""

    def __init__(self, class_name: str, attribute: str, form: str) -> None:
        self.wanted, self.attribute, self.form = class_name, attribute, form
        self.done = False

    def __enter__(self) -> Patch:
        from tandem.oracle import context

        self.step = context.Frame.step
        context.Frame.step = lambda frame, index: self.after(frame, index)
        return self

    def __exit__(self, *error: object) -> None:
        from tandem.oracle import context

        context.Frame.step = self.step

    def after(self, frame: Any, index: int) -> int:
        kind = self.step(frame, index)
        if index == len(frame.steps) - 1:
            self.change(frame)
        return kind

    def change(self, frame: Any) -> None:
        found = self.find(frame)
        if found is None:
            return
        if self.wanted == "NodeMeta":
            found.meta[self.attribute] = another(found.meta.get(self.attribute), self.form, frame)
        elif self.wanted == "Guard" and self.attribute in ("create_fn", "payload"):
            found.create_fn = another_guard(found.create_fn, self.attribute == "payload")
        else:
            was = getattr(found, self.attribute, None)
            object.__setattr__(found, self.attribute, another(was, self.form, frame))
        self.done = True

    def find(self, frame: Any) -> Any:
        """The first object of the wanted class; a payload needs a guard that has one."""
        if self.wanted == "NodeMeta":
            return next(iter(frame.output.graph.nodes), None)
        for one in reachable(frame):
            if type(one).__name__ != self.wanted:
                continue
            if self.attribute != "payload" or isinstance(one.create_fn, functools.partial):
                return one
        return None


def another_guard(create_fn: Any, payload: bool) -> Any:
    """Another kind of guard, or the same kind about something else."""
    from torch._dynamo import source
    from torch._dynamo.guards import GuardBuilder

    if not payload:
        return GuardBuilder.HASATTR if create_fn is not GuardBuilder.HASATTR else GuardBuilder.ID_MATCH
    return functools.partial(create_fn.func, **{name: source.LocalSource("liar") for name in create_fn.keywords})


#: Records of our own: no object of the reference's has their attributes.
OURS = ("Frame", "Root", "Exception", "Tensor", "Object")
#: Attributes that lead from one object of a frame to the next.
FOLLOWED = frozenset(
    "source base items default_factory mutable_local recursively_contains guards originating_source "
    "id_to_variable input_source_to_var tensor_variable fake dynamo_guards".split()
)


def reachable(frame: Any) -> list[Any]:
    """Every real object of a frame that the schema has a class for, trackers first."""
    output = frame.output
    roots = [*frame.values, output.side_effects, output, frame.tx, output.tracing_context, output.shape_env]
    roots += [output.root_tracer, *output.graph.nodes, *output.tracked_fakes]
    roots += [*frame.frame_state.values(), *output.guards]
    names = Schema().parents
    seen: dict[int, Any] = {}
    todo = collections.deque(roots)
    met: set[int] = set()
    while todo:
        one = todo.popleft()
        if id(one) in met or len(met) > 20000:
            continue
        met.add(id(one))
        if isinstance(one, (list, tuple, set, frozenset)):
            todo.extend(one)
        elif isinstance(one, dict):
            todo.extend(list(one.values()))
        elif type(one).__name__ in names and hasattr(one, "__dict__"):
            seen[id(one)] = one
            todo.extend(vars(one)[name] for name in sorted(vars(one)) if name in FOLLOWED)
            if type(one).__name__ == "Node":
                todo.append(one.meta.get("grapharg"))
    return list(seen.values())


def another(value: Any, form: str, frame: Any) -> Any:
    """Another value of the kind that a form of the schema asks for."""
    import torch
    from torch._dynamo import source
    from torch._dynamo.guards import GuardBuilder
    from torch._dynamo.variables import ConstantVariable
    from torch._dynamo.variables.base import MutableLocal

    liar = source.LocalSource("liar")
    by_form: dict[str, Callable[[], Any]] = {
        "SOURCE": lambda: liar,
        "BOOL": lambda: not value,
        "INT": lambda: (value or 0) + 1,
        "STR": lambda: (value or "") + "x",
        "CLASS_VALUE": lambda: str if value is int else int,
        "TRACKER": lambda: ConstantVariable("liar"),
        "TRACKERS": lambda: [*value, ConstantVariable("liar")],
        "TRACKER_DICT": lambda: {**value, "liar": ConstantVariable("liar")},
        "SHAPE": lambda: (*(value or ()), 7),
        "FORMATS": lambda: (torch.channels_last_3d,) if value != (torch.channels_last_3d,) else (),
        "GUARDS": lambda: {*value, liar.make_guard(GuardBuilder.ID_MATCH)},
        "MUTABLE_LOCAL": lambda: None if value is not None else MutableLocal(),
        "CONTAINS": lambda: {*value, MutableLocal()},
        "PROXY": lambda: frame.output.create_proxy("call_function", len, (), {}),
        "NODE_ARGS": lambda: {"liar": 1} if isinstance(value, dict) else (*value, 1),
        "EXAMPLE": lambda: None if value is not None else torch.ones(3),
    }
    by_type: dict[type, Callable[[], Any]] = {
        bool: lambda: not value,
        int: lambda: value + 1,
        str: lambda: value + "x",
        torch.dtype: lambda: torch.int8 if value is not torch.int8 else torch.int16,
        torch.device: lambda: torch.device("meta"),
        torch.layout: lambda: torch.sparse_coo,
    }
    if form in by_form:
        return by_form[form]()
    if isinstance(value, enum.Enum):
        return next(member for member in type(value) if member is not value)
    return by_type.get(type(value), lambda: "liar" if callable(value) or value is None else None)()


def reference_liar() -> dict[str, Any]:
    """As liar, on the reference's side: with one attribute set on a real object of it
    ("how": "object"), or, where that cannot be, in what the walk wrote ("bytes")."""
    schema = Schema()
    forms = {(row.class_name, row.attribute): row.form for row in importlib.import_module("tandem.fields").FIELDS}
    frames = recorded()
    result: dict[str, Any] = {}
    for class_name in schema.occurring(frames):
        for owner, attribute in schema.rows(class_name):
            form = forms[owner, attribute]
            row = (owner, attribute, class_name)
            found = one_patch(frames, row, form) or bytes_lie(frames, row)
            if found is not None:
                result[f"{class_name}.{attribute}"] = found
    return result


def one_patch(frames: list[tuple[str, int, bytes]], row: tuple[str, str, str], form: str) -> dict[str, Any] | None:
    """A lie told by a real object in the first program that has one; None where no
    program has, or the walk or the context refuses what was set."""
    _, attribute, class_name = row
    if class_name in OURS:
        return None
    for name, _, data in frames:
        lie = TESTING["tell"](data, *row)
        if lie is None:
            continue
        with Patch(class_name, attribute, form) as patch:
            try:
                report = core.run(PROGRAMS[name])
            except core.HarnessError:
                return None
        named = [one["field"] for one in report["divergences"]]
        if patch.done:
            seen = report["verdict"] == "diverge" and names_it(named, lie[1], form)
            return {"how": "object", "program": name, "field": lie[1], "named": named} if seen else None
    return None


def names_it(named: list[str], field: str, form: str) -> bool:
    """Sources and guards are parts of what holds them: some holder is named.  A tracker
    in another one's place is named by its kind."""
    if form == "TRACKER" and any(one.endswith(".kind") for one in named):
        return True
    holders = ("source", "guards")
    is_part = field.rpartition(".")[2] in holders
    return field in named or is_part and any(one.rpartition(".")[2] in holders for one in named)


def bytes_lie(frames: list[tuple[str, int, bytes]], row: tuple[str, str, str]) -> dict[str, Any] | None:
    """A lie told in what the reference's walk wrote, in the first program that has the row."""
    for name, index, data in frames:
        lie = TESTING["tell"](data, *row)
        if lie is not None:
            named = [one["field"] for one in told(name, index, lie[0], "reference")["divergences"]]
            return {"how": "bytes", "program": name, "field": lie[1], "named": named}
    return None


# ---- watching ------------------------------------------------------------------------


def brought_code() -> set[tuple[str, bytes]]:
    """(name, content) of every code object of what programs bring of their own."""
    from tandem import objects

    path = inspect.getsourcefile(objects)
    todo, found = [compile(Path(path).read_text(), path, "exec")], set()
    while todo:
        code = todo.pop()
        found.add((code.co_name, code.co_code))
        todo += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


#: Files of packages whose code a subject runs none of, whoever calls it.
REFERENCE_PARTS = ("/torch/_dynamo/", "/torch/_guards.py", "/torch/fx/", "/torch/_subclasses/")


class Watcher:
    """Notes all that runs in Python while a subject is at work."""

    def __init__(self, brought: set[tuple[str, bytes]]) -> None:
        self.brought = brought
        self.frames: list[tuple[str, str, bytes]] = []
        self.calls: list[tuple[str, str]] = []
        self.rows: list[tuple[str, str]] = []
        self.windows = 0

    def __call__(self, inside: bool, rows: list | None) -> None:
        if inside:
            self.windows += 1
            sys.setprofile(self._profile)
        else:
            sys.setprofile(None)
            self.rows += rows

    def is_brought(self, filename: str, name: str, content: bytes) -> bool:
        """Whether code is the program's own, by its file and by what it is made of."""
        return filename.endswith("objects.py") and (name, content) in self.brought

    def is_called_by_brought(self, frame: Any) -> bool:
        """Whether the program's own code called this, which is no code of the reference's:
        the reference, which runs the program's code as often, enters it too."""
        if any(part in frame.f_code.co_filename for part in REFERENCE_PARTS):
            return False
        while (frame := frame.f_back) is not None:
            code = frame.f_code
            if self.is_brought(code.co_filename, code.co_name, code.co_code):
                return True
        return False

    def _profile(self, frame: Any, event: str, arg: Any) -> None:
        code = frame.f_code
        if code.co_filename == __file__ or self.is_called_by_brought(frame):
            return
        if event == "call":
            self.frames.append((code.co_filename, code.co_name, code.co_code))
        elif event == "c_call" and not self.is_brought(code.co_filename, code.co_name, code.co_code):
            self.calls.append((str(getattr(arg, "__module__", None)), getattr(arg, "__qualname__", repr(arg))))


def watch_over(programs: dict[str, str]) -> dict[str, Any]:
    """What ran, by program: frames that no program brought or had called, C calls made by frames,
    rows of td_call's recorder, and how often each frame of a program's was entered."""
    brought = brought_code()
    result: dict[str, Any] = {"foreign": {}, "calls": {}, "rows": {}, "own": {}, "windows": 0}
    for name, program in programs.items():
        watcher = Watcher(brought)
        TESTING["watch"](watcher)
        core.show(program, "subject")
        TESTING["watch"](None)
        own = [one[1] for one in watcher.frames if watcher.is_brought(*one)]
        foreign = [one for one in watcher.frames if not watcher.is_brought(*one)]
        result["windows"] += watcher.windows
        for key, value in (
            ("foreign", sorted({f"{one[0]}:{one[1]}" for one in foreign})),
            ("calls", sorted({f"{one[0]}.{one[1]}" for one in watcher.calls})),
            ("rows", sorted(set(watcher.rows))),
            ("own", own),
        ):
            if value:
                result[key][name] = value
    return result


def watch() -> dict[str, Any]:
    return watch_over(PROGRAMS)


# ---- planted faults --------------------------------------------------------------------


def likely_first(texts: dict[str, str], wanted: list[str]) -> list[str]:
    """All programs; first those whose observation, in texts, names a class of the fields
    that are wanted."""
    classes = {f'"{field.partition(".")[0]}"' for field in wanted}
    return sorted(texts, key=lambda name: not any(one in texts[name] for one in classes))


def planted() -> dict[str, Any]:
    """For each list of faults: what the corpus says, up to the program that names the
    last of the fields that were asked for."""
    result = {}
    os.environ["TANDEM_PLANTED"] = ""
    texts = {name: core.run(program, True)["reference"] for name, program in PROGRAMS.items()}
    for numbers, wanted in SPEC["planted"].items():
        os.environ["TANDEM_PLANTED"] = numbers
        found, missing = {}, set(wanted)
        for name in likely_first(texts, wanted):
            if wanted and not missing:
                break
            program = PROGRAMS[name]
            report = core.run(program)
            one = short(report)
            left = TESTING["quiet"](program) if report["verdict"] == "agree" else None
            if left is not None:
                one |= {"verdict": "diverge", "fields": ["Object.references"], "why": left}
            if one["verdict"] != "agree":
                found[name] = one
                missing -= set(one["fields"])
        result[numbers] = found
    os.environ["TANDEM_PLANTED"] = ""
    return result


def planted_watch() -> dict[str, Any]:
    """What is seen of a subject that asks Dynamo."""
    os.environ["TANDEM_PLANTED"] = SPEC["asks"]
    result = watch_over(PROGRAMS)
    os.environ["TANDEM_PLANTED"] = ""
    return result


def unknown_fault() -> dict[str, str]:
    """How each damaged list of numbers is refused."""
    result = {}
    for numbers in SPEC["unknown"]:
        os.environ["TANDEM_PLANTED"] = numbers
        try:
            core.run(next(iter(PROGRAMS.values())))
            result[numbers] = ""
        except core.HarnessError as error:
            result[numbers] = str(error)
    os.environ["TANDEM_PLANTED"] = ""
    return result


# ---- blind -----------------------------------------------------------------------------


def blind() -> dict[str, Any]:
    """What the subject writes where the builder is a stand-in, and how that one answers."""
    builder = importlib.import_module("torch._dynamo.variables.builder")
    answers = {}
    uses: dict[str, Callable[[], Any]] = {
        "call": lambda: builder.VariableBuilder(None, None),
        "isinstance": lambda: isinstance(1, builder.GraphArg),
        "attribute": lambda: builder.VariableBuilder.wrap_tensor,
        "function": lambda: builder.wrap_fx_proxy(None, None),
    }
    for name, use in uses.items():
        try:
            answers[name] = repr(use())
        except Exception as error:
            answers[name] = type(error).__name__
    names = list(PROGRAMS)[::-1]
    written = {name: digest([one for one in core.show(PROGRAMS[name], "subject")["frames"]]) for name in names}
    return {"written": written, "answers": answers}


_JOBS = (
    judge, repeat, quiet, kept, deaf, liar, reference_liar, watch, planted, planted_watch, unknown_fault, blind,
)  # fmt: skip
JOBS: dict[str, Callable[[], Any]] = {job.__name__: job for job in _JOBS}


def main() -> None:
    """Loads, does the jobs in order, prints what they found."""
    loaded = core.setup(SPEC.get("builder"), None, SPEC.get("subject"), SPEC.get("other_side"), True)
    result = {"loaded": loaded, "count": len(PROGRAMS)}
    for job in SPEC["jobs"]:
        started = time.monotonic()
        result[job] = JOBS[job]()
        print(f"{job}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    print(json.dumps(result))


main()
