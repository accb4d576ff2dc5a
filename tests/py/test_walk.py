"""The walk over the reference's context, seen from outside.

What single fields hold is tested in tests/reference; here it is that no attribute
escapes the schema, and that an observation depends on nothing but the program.
"""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tandem.fields import CLASSES, FIELDS

HERE = Path(__file__).resolve().parent

#: Attributes that the corpus moves for sure: without them the snapshot sees nothing.
SURE = {
    "GuardsContext.dynamo_guards",
    "OutputGraph.frame_state",
    "OutputGraph.input_source_to_var",
    "OutputGraph.tracked_fakes",
    "SideEffects.id_to_variable",
    "SideEffects.keepalive",
    "SubgraphTracer.input_name_to_proxy",
}

REASONS = {"bookkeeping-of-python", "cache", "backlink", "later-stage", "address"}


def corpus(root: Path) -> list[str]:
    return sorted(map(str, (root / "corpus").rglob("*.tdm")))


def row(class_name: str | None, attribute: str):
    """The schema's row of an attribute, looked up as the core does."""
    while class_name is not None:
        for field in FIELDS:
            if (field.class_name, field.attribute) == (class_name, attribute):
                return field
        class_name = CLASSES[class_name]
    return None


def moved(python: list[str], builder: str, paths: list[str]) -> dict[str, list[str]]:
    done = subprocess.run(
        [*python, str(HERE / "walk_snapshots.py"), builder, *paths],
        capture_output=True, text=True, timeout=1800, env={**os.environ, "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.release
@pytest.mark.parametrize("builder", ["installed", "mission"])
def test_what_a_build_moves_is_compared(root, python, request, builder):
    if builder == "mission":
        builder = str(request.getfixturevalue("shared") / "reference" / "builder.py")
    seen = moved(python, builder, corpus(root))
    assert SURE <= set(seen)
    wrong = []
    for name, where in seen.items():
        field = row(*name.split("."))
        if field is None or field.disposition == "IGNORED":
            wrong.append((name, field and field.why, where[0]))
    assert wrong == []


def test_ignored_rows_have_a_reason():
    assert {field.why for field in FIELDS if field.disposition == "IGNORED"} == REASONS
    for field in FIELDS:
        assert (field.why == "") == (field.disposition == "COMPARED"), field
        if field.why == "later-stage":
            assert field.form == "NULL_ASSERTED", field


def test_implied_rows_name_what_is_compared():
    for field in FIELDS:
        if field.disposition == "IMPLIED":
            for name in field.why.split(", "):
                other = row(*name.split("."))
                assert other is not None and other.disposition == "COMPARED", (field, name)


PRINTS = """
import hashlib, json, sys
from tandem import programs, session
judge = session.get(session.Options())
prints = {}
for path in sys.argv[1:]:
    frames, _ = judge.frames(path, programs.load(path).binary)
    prints[path] = [hashlib.sha256(frame).hexdigest() for frame in frames]
json.dump(prints, sys.stdout)
"""


def prints(python: list[str], seed: str, paths: list[str]) -> dict[str, list[str]]:
    done = subprocess.run(
        [*python, "-c", PRINTS, *paths],
        capture_output=True, text=True, timeout=1800, env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.release
def test_an_observation_depends_on_the_program_alone(root, python):
    """Neither on where objects lie, nor on the order of sets, nor on what came before."""
    paths = corpus(root)
    first = prints(python, "1", paths)
    assert first and all(first.values())
    assert prints(python, "2", paths[::-1]) == first
