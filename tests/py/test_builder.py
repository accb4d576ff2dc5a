"""The subject beside the reference on objects of every family that it has: builder_probe.py."""
from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

#: What the subject says it does not have, by the reference's arm: nothing else of the
#: probe may be unsupported.
UNSUPPORTED: set[str] = {"L1206/if/T"}


@pytest.fixture(scope="module")
def found(python, shared):
    probe = Path(__file__).with_name("builder_probe.py")
    command = [*python, str(probe), str(shared / "reference" / "builder.py")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout)


def test_nothing_diverges(found):
    assert {name: row[2] for name, row in found.items() if row[0] == "diverge"} == {}


def test_everything_is_compared_but_what_the_subject_lacks(found):
    rest = {name: row for name, row in found.items() if row[0] != "agree"}
    assert {name: row for name, row in rest.items() if row[0] != "subject-unsupported" or not set(row[1]) <= UNSUPPORTED} == {}


def test_most_of_it_agrees(found):
    agree = sum(row[0] == "agree" for row in found.values())
    assert agree >= 0.97 * len(found) and agree > 900
