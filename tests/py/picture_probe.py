"""One process of the recorded cases: `tandem compare --json` on all of them with one
builder, and each reference's observation as a picture.

    picture_probe.py BUILDER CASE.py...

The last line of stdout is {"exit": code, "builder": ..., "cases": {name: {verdict,
flags, why, unsupported, signature, arms, picture}}}; picture is {"broken": traceback}
where an observation does not tell what a picture needs.
"""
from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from typing import Any

import _tandem as core
from tandem import cases, cli


def compare(builder: str, paths: list[str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the document of the command."""
    real = os.dup(1)
    with tempfile.TemporaryFile() as said:
        os.dup2(said.fileno(), 1)  # the command writes to the descriptor itself
        try:
            code = cli.main(["compare", "--json", "--allow-unsupported", "--builder", builder, *paths])
        finally:
            os.dup2(real, 1)
            os.close(real)
        said.seek(0)
        return code, json.load(said)


def play(frame: list[tuple]) -> list[dict[str, Any]]:
    """What is to be known of a frame's steps, with its do steps done."""
    rows = []
    for spec, one in frame:
        row: dict[str, Any] = {"spec": spec, "type": type(one).__name__}
        if spec[0] == "do":
            one()
            row["done"] = True
        rows.append(row)
    return rows


def settings(config: dict[str, Any]) -> dict[str, Any]:
    """CONFIG with sets of classes as names."""
    return {
        name: sorted(one.__name__ for one in value) if isinstance(value, set) else value
        for name, value in config.items()
    }


def draw(case: cases.Case, observation: dict[str, Any]) -> dict[str, Any]:
    """The recorder's picture of a case, from one side's observation of it."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:  # imported late: torch, which it needs, must find the builder in its place
        from picture import Keys, Picture, share_sizes
    finally:
        del sys.path[0]
    frames = case.frames()
    objects = core.testing["case_objects"](frames)
    keys = Keys()
    drawn = []
    for frame, observed in zip(frames, observation["frames"], strict=True):
        for _, one in frame:
            keys.register(one)
        picture = Picture(observed, objects, keys)
        drawn.append(picture.draw(play(frame)))
    share_sizes(drawn)
    return {"report": case.report, "config": settings(case.config), "export": case.export, "frames": drawn}


def probe(path: str, report: dict[str, Any]) -> dict[str, Any]:
    """What is asked of one case."""
    try:
        picture = draw(cases.load(path), report["reference"])
    except Exception:
        picture = {"broken": traceback.format_exc()}
    kept = ("verdict", "flags", "why", "unsupported", "signature", "arms")
    return {key: report[key] for key in kept} | {"picture": picture}


def main() -> None:
    builder, *paths = sys.argv[1:]
    code, document = compare(builder, paths)
    reports = zip(paths, document["cases"], strict=True)
    found = {os.path.basename(path).removesuffix(".py"): probe(path, report) for path, report in reports}
    print(json.dumps({"exit": code, "builder": document["builder"], "cases": found}))


if __name__ == "__main__":
    main()
