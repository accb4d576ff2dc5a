"""Run recorded cases on our own contexts and print the recorder's picture as JSON.

    python case_recorder.py CASES BUILDER [NAME ...]

The picture itself (which attributes of a tracker, which columns of a node) is that
of the recorder beside the cases, whose describing functions are used as they are;
loading, contexts, roots and resets are tandem.oracle's.
"""
from __future__ import annotations

import glob
import importlib.util
import json
import os
import sys
import warnings

from tandem.oracle import loader

AMBIENT = ("SHAPE_ENV", "DETERMINISTIC_ALGORITHMS", "GRAD_MODE", "DEFAULT_DEVICE", "TORCH_FUNCTION_STATE")


def load_module(path: str, name: str):
    """The module in a file, without running its main()."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def recorder(cases: str):
    """The recorder's module; it takes the builder that is loaded already."""
    sys.argv[:] = ["record", "--installed"]  # else it would load a builder of its own
    return load_module(os.path.join(cases, "record.py"), "record")


def picture_step(frame, index: int, record, built: list) -> dict:
    """One step's row."""
    from tandem.oracle import context

    spec, value = frame.steps[index]
    row: dict = {"spec": record.clean(spec), "type": type(value).__name__}
    kind, result = frame.kinds[index], frame.values[index]
    built.append(result if kind == context.TRACKER else None)
    if kind == context.DO:
        row["done"] = True
    elif kind == context.EXCEPTION:
        message = record.clean(result).strip().split("\n")[0][:200]
        row["raises"] = [type(result).__name__, message]
    else:
        same = [at for at, other in enumerate(built[:-1]) if other is result]
        if same:
            row["same_tracker_as"] = same[0]
        row["tracker"] = record.show(result)
    return row


def picture_output(frame, record) -> dict:
    """What the context holds after the last step."""
    output = frame.output

    def fake(tracked):
        value = tracked.fake
        dims = tracked.constraint_dims
        return [
            record.clean(tracked.source.name()),
            type(value).__name__,
            record.clean(tuple(value.shape) if hasattr(value, "shape") else value),
            dims if dims is None else [d and type(d).__name__ + ("(warn)" if d.warn_only else "") for d in dims],
        ]

    symbols = sorted(output.shape_env.var_to_val.items(), key=lambda pair: str(pair[0]))
    return {
        "graph": record.graph_rows(frame.tx),
        "tracked_fakes": [fake(tracked) for tracked in output.tracked_fakes],
        "frame_state_after": record.frame_state_rows(frame.frame_state),
        "output_guards": [row for row in record.guards_of(output.guards) if row[2] not in AMBIENT],
        "nn_modules": sorted(record.clean(name) for name in output.nn_modules),
        "side_effects": {
            "tracked": len(output.side_effects.id_to_variable),
            "keepalive": len(output.side_effects.keepalive),
        },
        "symbols": {str(symbol): str(value) for symbol, value in symbols},
        "unspec": sorted(record.clean(name) for name in output.unspec_variable_map),
    }


def picture_frame(program, index: int, record) -> dict:
    frame = program.open(index)
    for _spec, value in frame.steps:
        record.register_keys(value)
    rows: list[dict] = []
    built: list = []
    for step in range(len(frame.steps)):
        frame.step(step)
        rows.append(picture_step(frame, step, record, built))
    result = {"objects": rows, **picture_output(frame, record)}
    built.clear()
    frame.close()
    return result


def picture_case(path: str, record) -> dict:
    """The recorder's picture of one case."""
    from tandem.oracle import state
    from tandem.oracle.context import Program

    state.reset()
    record.KEYIDS.clear()
    case = load_module(path, "case_" + os.path.basename(path)[:-3])
    config = getattr(case, "CONFIG", {})
    export = getattr(case, "EXPORT", False)
    state.reset()
    frames = case.frames()
    constraints = [case.constraints(k, f) if hasattr(case, "constraints") else None for k, f in enumerate(frames)]
    program = Program(frames, config, constraints, export)
    shown = {k: sorted(x.__name__ for x in v) if isinstance(v, set) else v for k, v in config.items()}
    result = {"report": getattr(case, "REPORT", ""), "config": shown, "export": export}
    result["frames"] = [picture_frame(program, index, record) for index in range(len(frames))]
    program.close()
    return result


def main(cases: str, builder: str, names: list[str]) -> None:
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    warnings.simplefilter("ignore")
    loader.load(builder)
    record = recorder(cases)
    wanted = names or sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(cases, "[0-9]*.py")))
    result = {name: picture_case(os.path.join(cases, name + ".py"), record) for name in wanted}
    print("\n" + json.dumps(result, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
