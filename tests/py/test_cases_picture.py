"""The recorded cases: what is observed of the reference is what was recorded of it,
and the subject agrees or says which arm it lacks."""
from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from oracle_children import child

#: Which recording each builder has.
RECORDINGS = {"mission": "expected.json", "installed": "expected_installed.json"}
ARM = re.compile(r"L\d+(\.\d+)?/\w+/\S+")


class Recorded:
    """The cases, their recording, and what one process with that builder found."""

    def __init__(self, python, shared, builder: str) -> None:
        self.builder = builder
        folder = shared / "cases"
        paths = sorted(folder.glob("[0-9]*.py"))
        assert paths, f"no case in {folder}"
        self.names = [path.stem for path in paths]
        self.expected = json.loads((folder / RECORDINGS[builder]).read_text())
        named = shared / "reference" / "builder.py" if builder == "mission" else builder
        self.found = child(python, "picture_probe.py", named, *paths, timeout=1800)
        self.cases: dict[str, dict[str, Any]] = self.found["cases"]


@pytest.fixture(scope="module", params=RECORDINGS)
def recorded(request, python, shared) -> Recorded:
    return Recorded(python, shared, request.param)


def differences(got: Any, want: Any, path: str = "") -> Iterator[str]:
    """Where two pictures differ, one line each."""
    if isinstance(got, dict) and isinstance(want, dict):
        for key in sorted(got.keys() | want.keys()):
            if key in got and key in want:
                yield from differences(got[key], want[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}: {'not recorded' if key in got else 'not observed'}"
    elif isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        for idx, (one, other) in enumerate(zip(got, want)):
            yield from differences(one, other, f"{path}[{idx}]")
    elif type(got) is not type(want) or got != want:
        yield f"{path}: {got!r} is observed, {want!r} is recorded"


@pytest.mark.parametrize("other", [{"a": [1, 2]}, {"a": [1, True]}, {"a": [1, "x"], "b": None}, {}, {"a": []}])
def test_differences_are_seen(other):
    assert list(differences({"a": [1, "x"]}, other)) and list(differences(other, {"a": [1, "x"]}))


def test_every_recorded_case_is_there(recorded):
    assert sorted(recorded.cases) == sorted(recorded.names) == sorted(recorded.expected)


def test_the_observation_renders_as_what_was_recorded(recorded):
    wrong = []
    for name, case in recorded.cases.items():
        assert "broken" not in case["picture"], f"{name}: {case['picture']['broken']}"
        wrong += [f"{name}{one}" for one in differences(case["picture"], recorded.expected[name])]
        assert wrong or case["picture"] == recorded.expected[name]
    assert not wrong, "\n".join(wrong)


def test_every_case_agrees_or_names_the_arm_that_is_missing(recorded):
    assert recorded.found["exit"] == 0
    for name, case in recorded.cases.items():
        said = f"{name}: {case['verdict']}: {case['why']} {case['signature']}"
        assert case["verdict"] in ("agree", "subject-unsupported"), said
        assert "flaky" not in case["flags"], said
        assert bool(case["unsupported"]) == (case["verdict"] == "subject-unsupported"), said
        for one in case["unsupported"]:
            assert ARM.fullmatch(one["arm"]) and one["why"], f"{name}: {one}"
            # Arms have the lines of the mission's file, so only there the reference's say.
            assert recorded.builder != "mission" or one["arm"] in case["arms"], f"{name}: not taken: {one}"
    assert any(case["verdict"] == "agree" for case in recorded.cases.values())
