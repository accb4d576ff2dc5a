"""Build programs and print which attributes of the context moved, as JSON.

    python walk_snapshots.py BUILDER PROGRAM...

BUILDER is "installed" or the path of a builder's file, PROGRAM a .tdm in either
form.  Every attribute of the objects that the schema lists is looked at before the
first and after the last step of each frame: {"Class.attribute": [programs where it
moved]}.  Nothing here knows the schema.
"""
from __future__ import annotations

import collections
import itertools
import json
import sys
from typing import Any

from tandem import programs
from tandem.oracle import loader

DEPTH = 6

#: Ids of the program's objects: what happens in them is not the context's.
OBJECTS: set[int] = set()


def print_of(value: Any, depth: int = 0, open_ones: tuple = ()) -> Any:
    """What a value is, comparable later: containers by content, the rest by identity."""
    kind = type(value)
    if kind in (int, float, str, bool, bytes, type(None)):
        return (kind.__name__, repr(value))
    if kind is itertools.count:
        return repr(value)
    if depth == DEPTH or id(value) in open_ones or id(value) in OBJECTS:
        return id(value)
    inside = (*open_ones, id(value))
    if isinstance(value, dict):
        pairs = dict.items(value)
        return [(print_of(k, depth + 1, inside), print_of(v, depth + 1, inside)) for k, v in pairs]
    if kind in (list, tuple, collections.deque):
        return [print_of(one, depth + 1, inside) for one in value]
    if kind in (set, frozenset):
        return sorted(id(one) for one in value)
    if kind.__name__ in ("GuardsSet", "_Namespace", "FrameStateSizeEntry", "TrackedFake"):
        return print_of(vars(value), depth + 1, inside)
    return id(value)


def context_objects(tx: Any) -> dict[str, Any]:
    """The objects of a context that a build may change, by class of the schema."""
    output = tx.output
    tracing = output.tracing_context
    return {
        "InstructionTranslator": tx,
        "OutputGraph": output,
        "SubgraphTracer": output.root_tracer,
        "Graph": output.root_tracer.graph,
        "ShapeEnv": output.shape_env,
        "SideEffects": output.side_effects,
        "TracingContext": tracing,
        "GuardsContext": tracing.guards_context,
        "ModuleContext": tracing.module_context,
    }


def look(tx: Any) -> dict[str, Any]:
    return {
        f"{name}.{attribute}": print_of(value)
        for name, one in context_objects(tx).items()
        for attribute, value in vars(one).items()
    }


def main(builder: str, paths: list[str]) -> None:
    loader.load(None if builder == "installed" else builder)
    import _tandem
    from tandem.oracle import context, state

    moved: dict[str, list[str]] = collections.defaultdict(list)
    for path in paths:
        state.reset()
        live = _tandem.testing["live"](programs.load(path).binary)
        OBJECTS.clear()
        OBJECTS.update(map(id, live["objects"]))
        program = context.Program(live["frames"], live["config"], live["constraints"], live["export"])
        try:
            for index, steps in enumerate(live["frames"]):
                frame = program.open(index)
                before = look(frame.tx)
                for step in range(len(steps)):
                    frame.step(step)
                after = look(frame.tx)
                for name in {**before, **after}:
                    if before.get(name) != after.get(name) and path not in moved[name]:
                        moved[name].append(path)
        finally:
            program.close()
    json.dump({name: where for name, where in sorted(moved.items()) if where}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
