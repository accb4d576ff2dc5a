"""Recorded observations: what the reference did with a program, kept beside it.

`NAME.tdm` has `NAME.expected`, a JSON object with one entry a revision:

    {"schema": 1,
     "mission": {"builder": hash, "torch": "2.1.2", "observation_schema": 1,
                 "frames": [canonical bytes, zlib, base64],
                 "records": [[null, JSON text of operator records]]}}

("records", a list a frame with an entry a step, is there where an operator was run),

so that a subject can be held against it where no builder is loaded.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from dataclasses import dataclass
from typing import Any

from . import writing
from .errors import BadInput

SCHEMA = 1


@dataclass(frozen=True)
class Stamp:
    """Where a recorded observation comes from."""

    revision: str
    builder: str  # hash of the builder's syntax tree
    torch: str
    observation_schema: int


def path_of(program: str) -> str:
    """The fixture that belongs to a program."""
    return os.path.splitext(program)[0] + ".expected"


def _pack(frame: bytes) -> str:
    return base64.b64encode(zlib.compress(frame, 9)).decode()


def _unpack(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text, validate=True))


def _read_all(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as stream:
            everything = json.load(stream)
    except FileNotFoundError:
        return {"schema": SCHEMA}
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}:1:1: cannot be read: {error}") from None
    if not isinstance(everything, dict) or everything.get("schema") != SCHEMA:
        raise BadInput(f"{path}:1:1: is no recorded observation of schema {SCHEMA}")
    return everything


Records = list[list[str | None]]


def read(program: str, revision: str) -> tuple[Stamp, list[bytes], Records]:
    """The recorded frames of a program and its operator records; BadInput when there
    are no frames."""
    path = path_of(program)
    everything = _read_all(path)
    entry = everything.get(revision)
    if entry is None:
        raise BadInput(f"{path}: no observation of revision {revision} is recorded (tandem replay --record)")
    try:
        stamp = Stamp(revision, entry["builder"], entry["torch"], entry["observation_schema"])
        return stamp, [_unpack(frame) for frame in entry["frames"]], entry.get("records", [])
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise BadInput(f"{path}:1:1: is damaged: {error}") from None


def write(program: str, stamp: Stamp, frames: list[bytes], records: Records) -> bool:
    """Records frames, keeping other revisions' entries; says whether anything moved."""
    path = path_of(program)
    everything = _read_all(path)
    entry = {
        "builder": stamp.builder,
        "torch": stamp.torch,
        "observation_schema": stamp.observation_schema,
        "frames": [_pack(frame) for frame in frames],
    }
    if any(any(steps) for steps in records):
        entry["records"] = records
    if everything.get(stamp.revision) == entry:
        return False
    everything[stamp.revision] = entry
    writing.write(path, json.dumps(everything, indent=1, sort_keys=True).encode() + b"\n")
    return True
