"""The picture of a case that the shared recordings hold, drawn from an observation.

An observation (the JSON of one side's frames) is all that is known of a build.
Only what a case brings is taken from the case itself: the objects that the
ordinals stand for, and the specs of its steps.  `Picture` leaves out whatever
the recorder leaves out (its page: record.py of the recorded cases), so a
picture that is right is necessary, not sufficient.

A `KeyError` or `NotShown` means that the observation does not tell what the
picture needs.
"""
from __future__ import annotations

import functools
import importlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from tandem import fields

#: Guards of every frame, whatever is built in it.
AMBIENT = ("SHAPE_ENV", "DETERMINISTIC_ALGORITHMS", "GRAD_MODE", "DEFAULT_DEVICE", "TORCH_FUNCTION_STATE")
#: Attributes of trackers that are drawn as their text.
TEXTS = (
    "dtype", "device", "ndim", "size", "stride", "requires_grad", "is_sparse", "class_type", "is_contiguous",
    "module_key", "specialized_value", "user_cls", "tuple_cls", "raw_value", "need_unwrap",
)
SPELLED = (int, float, str, bool, type(None), torch.dtype, torch.device, torch.Size)
SYMBOLIC = ("SymInt", "SymFloat", "SymBool")
#: Forms that end with the ordinal of an object.
SAY_ORDINAL = ("object", "other", "function", "local-class")
OBJECT = re.compile(r"<object (\d+)>")


class NotShown(Exception):
    """What the picture needs is not in the observation."""


class Stand:
    """A live object that is known by its description alone: the name of its type, and
    its own, if it has one."""

    def __init__(self, type_name: str, name: str | None = None) -> None:
        self.type_name = type_name
        self.name = name


@functools.cache
def is_a(class_name: str, ancestor: str) -> bool:
    """By the schema's inheritance."""
    named: str | None = class_name
    while named is not None and named != ancestor:
        named = fields.CLASSES.get(named)
    return named is not None


@functools.cache
def form_of(class_name: str, attribute: str) -> str | None:
    """The schema's form of an attribute, own or inherited."""
    rows = [row for row in fields.FIELDS if row.attribute == attribute and is_a(class_name, row.class_name)]
    return rows[0].form if rows else None


def last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a frame with its key in the record that holds it ("" in lists),
    outermost first, in the order of writing: a tracker's guards are written last, and
    graph_args repeats what nodes hold."""
    yield key, value
    if isinstance(value, dict):
        names = [name for name in value if name != "graph_args"]
        if "fields" in value:
            names.sort(key="guards".__eq__)
        for name in names:
            yield from walk(value[name], name)
    elif isinstance(value, list):
        for member in value:
            yield from walk(member)


class Keys:
    """Tensors that are keys of dicts, by number.  Their ids are in names, so the recorder
    numbers them in the order in which a frame's objects hold them."""

    def __init__(self) -> None:
        self.numbers: dict[int, str] = {}

    def register(self, one: Any, depth: int = 0) -> None:
        if depth > 6:
            return
        if isinstance(one, torch.optim.Optimizer):
            self.register(dict(one.state), depth + 1)
        elif isinstance(one, dict):
            for key, member in one.items():
                if isinstance(key, torch.Tensor):
                    self.numbers.setdefault(id(key), f"K{len(self.numbers)}")
                self.register(member, depth + 1)
        elif isinstance(one, (list, tuple)):
            for member in one[:20]:
                self.register(member, depth + 1)


class Identities:
    """What the ordinals of one frame stand for: each is met, in the order of writing,
    where its record stands."""

    def __init__(self, frame: dict[str, Any], object_cnt: int) -> None:
        self.trackers: list[dict[str, Any]] = []
        self.locals: dict[int, dict[str, Any]] = {}
        self.tensors: dict[int, dict[str, Any]] = {}
        self.names: dict[str, str] = {}
        self._locals_met = 0
        self._objects_met = object_cnt
        for key, value in walk(frame):
            self._meet(key, value)

    def _meet(self, key: str, value: Any) -> None:
        if key == "recursively_contains":
            # Mutable locals of no tracker so far are met where they are contained.
            self._locals_met = max([self._locals_met, *(one + 1 for one in value or ())])
        elif isinstance(value, dict):
            self._meet_record(value)
            self._name(value)
        elif isinstance(value, list) and value and value[0] in SAY_ORDINAL and type(value[-1]) is int:
            self._objects_met = max(self._objects_met, value[-1] + 1)
        elif isinstance(value, str):
            self._objects_met = max([self._objects_met, *(int(one) + 1 for one in OBJECT.findall(value))])

    def _meet_record(self, record: dict[str, Any]) -> None:
        kind = record.get("kind", "")
        if is_a(kind, "VariableTracker"):
            self.trackers.append(record)
        elif is_a(kind, "MutableLocalBase"):
            self.locals[self._locals_met] = record
            self._locals_met += 1
        elif kind == "Tensor":
            self.tensors[self._objects_met] = record
            self._objects_met += 1

    def _name(self, record: dict[str, Any]) -> None:
        """Remembers how sources are spelled."""
        for key, name in record.items():
            if f"{key}_tree" in record and name is not None:
                self.names[json.dumps(record[f"{key}_tree"])] = name
        if record.get("kind") == "Frame" or "fields" in record:
            for name, _, more in record["guards"]:
                self.names[json.dumps(more["source_tree"])] = name


def share_sizes(frames: list[dict[str, Any]]) -> None:
    """Of a size in the frame state the recorder keeps the very list, and the frames
    after write into it as long as the entry has one: so in the end each drawn frame
    shows the list as the last of them left it."""
    for before, after in reversed(list(zip(frames, frames[1:]))):
        for name, row in before["frame_state_after"].items():
            later = after["frame_state_after"].get(name)
            if later is not None and row[1] is not None and later[1] is not None:
                row[1] = later[1]


class Picture:
    """Draws one frame of a case.  `objects` are the case's by ordinal, `keys` those
    registered so far."""

    def __init__(self, frame: dict[str, Any], objects: tuple, keys: Keys) -> None:
        self.frame = frame
        self.objects = objects
        self.keys = keys
        self.known = Identities(frame, len(objects))

    # ---- texts ---------------------------------------------------------------------

    def clean(self, text: Any) -> str:
        """A text without addresses and ids, whether they are ordinals already or not."""
        text = re.sub(r"0x[0-9a-f]+", "0xADDR", str(text))
        text = re.sub(r"dict_key_<object (\d+)>", lambda found: f"dict_key_{self._key(int(found[1]))}", text)
        text = re.sub(r"\bat <object \d+>", "at 0xADDR", text)
        text = OBJECT.sub("ID", text)
        return re.sub(r"\b\d{12,}\b", "ID", text)

    def _key(self, ordinal: int) -> str:
        one = self.objects[ordinal] if ordinal < len(self.objects) else None
        return self.keys.numbers.get(id(one), "ID")

    # ---- values --------------------------------------------------------------------

    def live(self, value: Any) -> Any:
        """The object that a canonical value stands for, or a Stand."""
        if isinstance(value, dict):
            return Stand(last(value["type"][2]) if value["kind"] == "Tensor" else value["kind"])
        if not isinstance(value, list):
            return value
        word, *rest = value
        reader = getattr(self, "_live_" + re.sub(r"\W", "_", str(word)), None)
        if reader is not None:
            return reader(*rest)
        if word in SYMBOLIC:
            return Stand(word, rest[0])
        if word.startswith("numpy."):
            return numpy.frombuffer(bytes.fromhex(rest[0]), last(word))[0]
        raise NotShown(f"a value of a form that the picture does not know: {value}")

    def number(self, record: dict[str, Any], name: str) -> Any:
        """A member's value; JSON lacks some numbers, which are strings of the kind that
        stands beside them."""
        kind = {"int": int, "float": float}.get(record.get(f"{name}_kind", ""), self.live)
        return kind(record[name])

    def _live_object(self, ordinal: int) -> Any:
        return self.objects[ordinal]

    def _live_again(self, ordinal: int) -> Any:
        return self.live(self.known.tensors[ordinal])

    def _live_weakref(self, target: Any) -> Any:
        return self.live(target)

    def _live_global(self, module: str, qualname: str) -> Any:
        found = sys.modules.get(module) or importlib.import_module(module)
        return functools.reduce(getattr, qualname.split("."), found)

    def _live_class(self, module: str, qualname: str) -> Any:
        try:
            return self._live_global(module, qualname)
        except (AttributeError, ImportError):
            return Stand("type", last(qualname))  # a static type of C

    def _live_local_class(self, module: str, qualname: str, ordinal: int) -> Any:
        if ordinal < len(self.objects):
            return self.objects[ordinal]
        return Stand("type", last(qualname))

    def _live_function(self, module: str, qualname: str, line: int, ordinal: int) -> Any:
        return Stand("function", last(qualname))

    def _live_lambda(self, module: str, qualname: str, line: int, closure: list) -> Any:
        return Stand("function", last(qualname))

    def _live_enum(self, cls: list, member: str) -> Any:
        return self.live(cls)[member]

    def _live_module(self, name: str) -> Any:
        return sys.modules[name]

    def _live_bound(self, type_name: str, owner: Any, name: str) -> Any:
        return Stand(last(type_name), name)

    def _live_descriptor(self, type_name: str, cls: list, name: str) -> Any:
        return Stand(last(type_name), name)

    def _live_operator(self, cls: Any, module: str, name: str) -> Any:
        return Stand(self._class_name(cls), name)

    def _live_other(self, cls: Any, ordinal: int) -> Any:
        return Stand(self._class_name(cls))

    def _class_name(self, cls: Any) -> str:
        return last(cls) if isinstance(cls, str) else self.called(self.live(cls))

    def _live_torch_device(self, text: str) -> Any:
        return torch.device(text)

    def _live_torch_dtype(self, text: str) -> Any:
        return getattr(torch, text)

    _live_torch_layout = _live_torch_memory_format = _live_torch_dtype

    def _live_torch_Size(self, items: list) -> Any:
        return torch.Size(map(self.live, items))

    def _live_tuple(self, items: list, cls: list | None = None) -> Any:
        return tuple(map(self.live, items)) if cls is None else Stand(self._class_name(cls))

    def _live_list(self, items: list) -> Any:
        return list(map(self.live, items))

    def _live_set(self, items: list) -> Any:
        return set(map(self.live, items))

    def _live_frozenset(self, items: list) -> Any:
        return frozenset(map(self.live, items))

    def _live_dict(self, items: list) -> Any:
        return {self.live(key): self.live(member) for key, member in items}

    def _live_slice(self, items: list) -> Any:
        return slice(*map(self.live, items))

    def _live_range(self, items: list) -> Any:
        return range(*map(self.live, items))

    def _live_bytes(self, text: str) -> Any:
        return text.encode("latin-1")

    def _live_complex(self, parts: list) -> Any:
        return complex(*map(float, parts))

    def _live_int(self, text: str) -> Any:
        return int(text, 16)

    def _live_singleton(self, name: str) -> Any:
        return {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented}[name]

    def _live_collections_OrderedDict(self, items: list) -> Any:
        return Stand("OrderedDict")

    def _live_collections_defaultdict(self, items: list) -> Any:
        return Stand("defaultdict")

    def type_name(self, one: Any) -> str:
        return one.type_name if isinstance(one, Stand) else type(one).__name__

    def called(self, one: Any) -> str:
        """Its own name, or its type's."""
        if isinstance(one, Stand):
            return one.name or one.type_name
        return getattr(one, "__name__", type(one).__name__)

    def text(self, one: Any) -> str:
        """As str() has it."""
        if isinstance(one, Stand):
            if one.name is None:
                raise NotShown(f"the text of a {one.type_name}")
            return one.name
        return str(one)

    # ---- trackers ------------------------------------------------------------------

    def tracker(self, value: Any) -> dict[str, Any] | None:
        """The record of a tracker, met here or before; None: no tracker."""
        if isinstance(value, list) and len(value) == 2 and value[0] == "again":
            return self.known.trackers[value[1]]
        return value if isinstance(value, dict) and is_a(value.get("kind", ""), "VariableTracker") else None

    def show(self, record: dict[str, Any], depth: int = 0, seen: tuple[int, ...] = ()) -> dict[str, Any]:
        drawn: dict[str, Any] = {"kind": record["kind"]}
        if id(record) in seen or depth > 6:
            return drawn | {"again": True}
        has = record["fields"]

        def inner(value: Any) -> Any:
            child = self.tracker(value)
            if child is None:
                return repr(type(self.live(value)))
            return self.show(child, depth + 1, (*seen, id(record)))

        if record["source"] is not None:
            drawn["source"] = self.clean(record["source"])
        if has["mutable_local"] is not None:
            drawn["mut"] = self.mutable_local(has["mutable_local"])
        if has.get("proxy") is not None:
            drawn["node"] = self.clean(has["proxy"][1])
        drawn |= {name: self.clean(self.attribute(name, has)) for name in TEXTS if name in has}
        if "value" in has:
            one = self.number(has, "value")
            drawn["value"] = self.clean(repr(one))[:80] if isinstance(one, SPELLED) else self.type_name(one)
        if "fn" in has:
            drawn["fn"] = self.called(self.live(has["fn"]))
        drawn |= self.parts(record["kind"], has, inner)
        drawn["guards"] = self.guards(record["guards"])
        return drawn

    def parts(self, kind: str, has: dict[str, Any], inner: Any) -> dict[str, Any]:
        """The trackers that a tracker holds."""
        drawn: dict[str, Any] = {}
        if form_of(kind, "items") == "TRACKER_DICT":
            drawn["items"] = {self.key(key): inner(one) for key, one in has["items"][:40]}
        elif has.get("items") is not None:
            drawn["items"] = [inner(one) for one in has["items"][:40]]
        for name in ("func", "obj", "default_factory"):
            if form_of(kind, name) == "TRACKER" and has.get(name) is not None:
                drawn[name] = inner(has[name])
        if has.get("args") is not None:
            drawn["args"] = [inner(one) for one in has["args"]]
        if has.get("keywords") is not None:
            drawn["keywords"] = {name: inner(one) for name, one in has["keywords"]}
        return drawn

    def key(self, value: Any) -> str:
        one = self.live(value)
        return "Param" if isinstance(one, torch.Tensor) else self.clean(repr(one))

    def mutable_local(self, value: Any) -> str:
        record = self.known.locals[value[1]] if isinstance(value, list) else value
        return record["kind"]

    def attribute(self, name: str, has: dict[str, Any]) -> Any:
        value = has[name]
        if name in ("size", "stride"):
            return self.shape(value)
        if name == "is_contiguous":
            return value if value is None else sorted(f"torch.{one}" for one in value)
        one = self.number(has, name)
        if isinstance(one, torch.Tensor):
            return "Tensor" + str(tuple(one.shape))
        return self.called(one) if isinstance(one, type) else self.text(one)

    def shape(self, value: list | None) -> str:
        """A shape, symbols and all, as a tuple's text."""
        if value is None:
            return "None"
        numbers = [str(one) if isinstance(one, int) else one[1] for one in value]
        return "(" + ", ".join(numbers) + (",)" if len(numbers) == 1 else ")")

    # ---- guards --------------------------------------------------------------------

    def guards(self, rows: list[list]) -> list[list[str]]:
        return sorted(self.guard(*row) for row in rows)

    def guard(self, name: str, kind: str, more: dict[str, Any]) -> list[str]:
        return [more["guard_source"], self.clean(name), self.clean(kind + self.payload(more.get("payload") or {}))]

    def payload(self, payload: dict[str, Any]) -> str:
        told: dict[str, Any] = {key: self.told(one) for key, one in payload.items() if not key.isdigit()}
        args = [self.told(one) for key, one in payload.items() if key.isdigit()]
        return str(told | {"args": args} if args else told) if payload else ""

    def told(self, value: Any) -> str:
        if isinstance(value, list) and is_a(str(value[0]), "Source"):
            return self.known.names[json.dumps(value)]
        if isinstance(value, list) and value[0] == "weakref":
            return "TensorWeakRef"
        return self.type_name(self.live(value))

    # ---- the context -----------------------------------------------------------------

    def graph(self) -> list[dict[str, Any]]:
        return [self.node(one) for one in self.frame["graph"]]

    def node(self, node: dict[str, Any]) -> dict[str, Any]:
        target = node["target"]
        called = target if isinstance(target, str) else self.called(self.live(target))
        drawn = {"op": node["op"], "name": self.clean(node["name"]), "target": self.clean(called)}
        if node["op"] == "placeholder":
            drawn["type"] = "None" if node["type"] is None else self.called(self.live(node["type"]))
            grapharg = node["meta"].get("grapharg")
            if grapharg is not None:
                drawn["grapharg"] = self.grapharg(grapharg)
        return drawn

    def grapharg(self, arg: dict[str, Any]) -> dict[str, Any]:
        fake = self.tensor(arg["fake_tensor"])
        return {
            "source": self.clean(arg["source"]),
            "unspec": arg["is_unspecialized"],
            "is_tensor": arg["is_tensor"],
            "example": self.type_name(self.live(arg["_example"])),
            "fake": None if fake is None else [self.shape(fake["size"]), self.text(self.live(fake["dtype"]))],
        }

    def tensor(self, value: Any) -> dict[str, Any] | None:
        """The record of a tensor that the build made; None: none of these."""
        if isinstance(value, list) and value[0] == "again":
            return self.known.tensors[value[1]]
        return value if isinstance(value, dict) else None

    def tracked_fake(self, one: dict[str, Any]) -> list[Any]:
        fake = self.tensor(one["fake"])
        text = self.text(self.live(one["fake"])) if fake is None else self.shape(fake["size"])
        dims = one["constraint_dims"]
        return [
            self.clean(one["source"]),
            self.type_name(self.live(one["fake"])),
            self.clean(text),
            None if dims is None else [None if dim is None else dim[0] + ("(warn)" if dim[1] else "") for dim in dims],
        ]

    def frame_state(self) -> dict[str, Any]:
        rows = self.frame["frame_state"]
        return {self.clean(name): [self.number(row, "scalar"), self.live(row["size"])] for name, row in rows}

    def context(self) -> dict[str, Any]:
        """All of a frame but its objects."""
        frame = self.frame
        return {
            "graph": self.graph(),
            "tracked_fakes": [self.tracked_fake(one) for one in frame["tracked_fakes"]],
            "frame_state_after": self.frame_state(),
            "output_guards": [row for row in self.guards(frame["guards"]) if row[2] not in AMBIENT],
            "nn_modules": sorted(self.clean(name) for name, _ in frame["nn_modules"]),
            "side_effects": {
                "tracked": len(frame["side_effects"]["id_to_variable"]),
                "keepalive": len(frame["side_effects"]["keepalive"]),
            },
            "symbols": dict(frame["symbols"]["var_to_val"]),
            "unspec": sorted(self.clean(name) for name, _ in frame["output"]["unspec_variable_map"]),
        }

    # ---- the steps -------------------------------------------------------------------

    def root(self, root: dict[str, Any]) -> dict[str, Any]:
        if root["outcome"] == "exception":
            error = root["exception"]
            message = error["message"]
            if not isinstance(message, str):
                message = str(Exception(*self.live(message)))
            return {"raises": [error["kind"], self.clean(message).strip().split("\n")[0][:200]]}
        record = self.tracker(root["tracker"])
        if record is None:
            raise NotShown(f"a root that is no tracker: {root['tracker']}")
        return {"tracker": self.show(record)}

    def steps(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """`rows` say of each step its spec, its object's type, and whether it is `done`
        (a do step, of which an observation tells nothing)."""
        roots = iter(self.frame["roots"])
        drawn: list[dict[str, Any]] = []
        built: list[int | None] = []
        for row in rows:
            row = {**row, "spec": self.clean(row["spec"])}
            record = None
            if "done" not in row:
                root = next(roots)
                record = self.tracker(root.get("tracker"))
                row |= self.root(root)
            if record is not None and id(record) in built:
                row["same_tracker_as"] = built.index(id(record))
            built.append(None if record is None else id(record))
            drawn.append(row)
        if next(roots, None) is not None:
            raise NotShown("a root of no step")
        return drawn

    def draw(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        """The picture of the whole frame."""
        return {"objects": self.steps(rows), **self.context()}
