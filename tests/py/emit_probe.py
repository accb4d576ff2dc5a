"""Child of test_emit: what the reference shows of every program of a corpus, and the
script that each becomes.  argv: corpus, builder or "", folder of the scripts."""
from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tandem import programs, session
from tandem.emit import script
from tandem.emit.expressions import CannotEmit


def trackers(value: Any, found: list) -> list:
    """[kind, guard rows] of each tracker below value, outermost first."""
    if isinstance(value, dict) and str(value.get("kind", "")).endswith("Variable") and "guards" in value:
        found.append([value["kind"], sorted(f"{kind} {name}" for name, kind, *_ in value["guards"])])
        value = value["fields"]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        trackers(inner, found)
    return found


def shown(observation: dict[str, Any]) -> list:
    """For each frame its roots' trackers (or the exception's class) and its guards."""
    frames = []
    for frame in observation["frames"]:
        roots: list = []
        for root in frame["roots"]:
            if root["outcome"] == "tracker":
                roots.append(trackers(root["tracker"], []))
            elif root["outcome"] == "exception":
                roots.append(root["exception"]["kind"].rpartition(".")[2])
        guards = sorted(f"{kind} {name}" for name, kind, *_ in frame["guards"])
        frames.append({"roots": roots, "guards": guards})
    return frames


def main() -> None:
    corpus, builder, folder = sys.argv[1], sys.argv[2] or None, Path(sys.argv[3])
    judge = session.get(session.Options(builder=builder))
    shims = judge.loaded["revision"] == "mission"
    result: dict[str, Any] = {}
    for number, path in enumerate(programs.find([corpus])):
        program = programs.load(path)
        row: dict[str, Any] = {"shown": shown(judge.show(path, program.binary, "reference")["observation"]), "why": {}}
        for name, compiled in (("script", False), ("compiled", True)):
            try:
                text = script.emit(path, program.binary, builder, shims, compiled)
                (folder / f"{name}{number}.py").write_text(text)
                row[name] = str(folder / f"{name}{number}.py")
            except CannotEmit as error:
                row["why"][name] = str(error)
        result[path] = row
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
