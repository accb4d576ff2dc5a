"""Run the atlas's triggers on our own overlay, and print what came out as JSON.

    python trigger_runner.py TOOLS BUILDER [NAME ...]

TOOLS is the folder of the prototype's triggers, BUILDER the builder's file.  The
prototype's overlay and instrumentation are replaced by modules made here, whose
names come from tandem.oracle; its triggers and its way of describing a context are
used as they are, so that what is printed can be held against its recorded results.
"""
from __future__ import annotations

import json
import os
import sys
import traceback
import types
import warnings

from tandem.oracle import loader


def stand_in(reference) -> None:
    """Modules `seedref` and `branches` as the triggers expect them."""
    overlay = types.ModuleType("seedref")
    overlay.SB = reference.module
    overlay.COV = False
    sys.modules["seedref"] = overlay

    class Runtime:
        """The arms entered, as the triggers read and replace them."""

        @property
        def cur(self) -> set[int]:
            return set(reference.arms.trace)

        @cur.setter
        def cur(self, value: set[int]) -> None:
            reference.arms.trace[:] = sorted(value)

    branches = types.ModuleType("branches")
    branches.RT = Runtime()
    branches.ARMS = reference.arms.arms
    sys.modules["branches"] = branches


def is_builder(filename: str) -> bool:
    return filename.endswith(os.path.join("_dynamo", "variables", "builder.py"))


def describe_error(error: BaseException, norm) -> dict:
    """Class, message and the builder's last line of an exception."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if is_builder(frame.filename)]
    return {
        "exception": type(error).__name__,
        "message": norm(str(error).split("\n")[0][:160]),
        "at": f"L{ours[-1].lineno}" if ours else "",
    }


def run(name: str, triggers, reference) -> dict:
    """One trigger's outcome in the columns of the recorded results."""
    import torch._dynamo

    function, how, _note = triggers.TRIGGERS[name]
    triggers.KEEP.clear()
    torch._dynamo.reset()
    reference.arms.trace.clear()
    row: dict = {"trigger": name, "how": how}
    seen: dict = {}
    try:
        result = function()
        if isinstance(result, triggers.R) and result.ctx is not None:
            seen = triggers.observe(result.ctx, result.vt)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        row.update(describe_error(error, triggers.norm))
        context = getattr(error, "ctx", None)
        if context is not None:
            seen = triggers.observe(context, None)
            seen.pop("vt")
    row["arms"] = sorted(set(reference.arms.trace))
    row.update(
        tracker=str(seen.get("vt", "")),
        source=seen.get("src") or "",
        mutable_local=seen.get("mut") or "",
        guards="; ".join(seen.get("guards", ())),
        out_guards="; ".join(seen.get("out_guards", ())),
        nodes="; ".join(seen.get("nodes", ())),
        tracked="; ".join(seen.get("tracked", ())),
        symbols=str(seen["symbols"]) if "symbols" in seen else "",
        nn_modules=", ".join(seen.get("nn_modules", ())),
    )
    return row


def main(tools: str, builder: str, names: list[str]) -> None:
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    warnings.simplefilter("ignore")
    reference = loader.load(builder)
    stand_in(reference)
    sys.path.insert(0, tools)
    sys.argv[:] = ["triggers"]
    import triggers

    wanted = names or [n for n in triggers.TRIGGERS if triggers.TRIGGERS[n][1] in ("entry", "standin", "method")]
    rows = [run(name, triggers, reference) for name in wanted]
    ids = [arm.id for arm in reference.arms.arms]
    for row in rows:
        row["arms"] = [ids[index] for index in row["arms"]]
    print("\n" + json.dumps(rows, default=str))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
