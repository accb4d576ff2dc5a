"""Every fault that is planted in the subject is told from it by the corpus alone."""
from __future__ import annotations

import os
import re

import pytest

import corpus_runs

pytestmark = pytest.mark.release

FAULTS = corpus_runs.faults()
#: Seen by the watching test, not by comparing: both sides say the same.
ASKS = next(number for number, name, *_ in FAULTS if name == "ASKS_DYNAMO")
UNKNOWN = ("99", "0", "1,", "one", "1;2", "1,99")


PAIR = (FAULTS[2], FAULTS[6])


@pytest.fixture(scope="module")
def run(python):
    """One process with the planted subject: all faults, one after the other."""
    asked = {"": [], ASKS: []} | {number: [field] for number, _, _, field, _ in FAULTS if number != ASKS}
    asked[",".join(fault[0] for fault in PAIR)] = [fault[3] for fault in PAIR]
    return corpus_runs.probe(
        python, "planted", "planted_watch", "unknown_fault",
        builder=corpus_runs.mission(), subject=str(corpus_runs.subjects() / "planted.so"),
        planted=asked, asks=ASKS, unknown=UNKNOWN,
    )  # fmt: skip


def test_table_has_what_was_asked_for(root):
    names = [name for _, name, *_ in FAULTS]
    assert len(names) >= 30 and len(set(names)) == len(names)
    assert len({number for number, *_ in FAULTS}) == len(FAULTS)
    table = (root / "tests" / "planted" / "planted.def").read_text()
    assert len(re.findall(r"^X\(", table, re.M)) == len(FAULTS), "a row that the test does not read"


def test_each_fault_has_its_one_site(root):
    sources = {path: path.read_text() for path in (root / "src" / "builder").glob("*.c")}
    sites = [name for text in sources.values() for name in re.findall(r"TD_PLANT\((\w+)\)", text)]
    by_call = {"STALE_CACHE"}  # td_plant_stale asks by itself
    for _, name, function, *_ in FAULTS:
        assert sites.count(name) == (0 if name in by_call else 1), name
        assert any(re.search(rf"^{function}\(", text, re.M) for text in sources.values()), function
    assert set(sites) <= {name for _, name, *_ in FAULTS}


def test_without_a_fault_the_planted_subject_agrees(run):
    assert run["loaded"]["subject"] and run["count"] == len(corpus_runs.programs())
    assert run["planted"][""] == {}


@pytest.mark.parametrize("number, name, function, field, effect", FAULTS, ids=[fault[1] for fault in FAULTS])
def test_is_caught(run, number, name, function, field, effect):
    caught = run["planted"][number]
    if number == ASKS:  # both sides agree, and only the watcher knows
        assert caught == {}
        seen = {one for names in run["planted_watch"]["foreign"].values() for one in names}
        assert any("torch/_dynamo/skipfiles.py:check" in one for one in seen)
        return
    assert caught, f"{effect}, and nothing in the corpus tells"
    # A compile step's context that the faulty subject cannot take over is refused, not judged.
    refused = {name for name, one in caught.items() if one["verdict"] == "subject-unsupported"}
    assert all(name.startswith("compile/") for name in refused)
    assert {one["verdict"] for name, one in caught.items() if name not in refused} == {"diverge"}
    assert field in {one for program in caught.values() for one in program["fields"]}
    assert not any("flaky" in one["flags"] for one in caught.values())


def test_faults_are_planted_together(run):
    caught = run["planted"][",".join(fault[0] for fault in PAIR)]
    named = {field for one in caught.values() for field in one["fields"]}
    assert named >= {fault[3] for fault in PAIR}


@pytest.mark.parametrize("numbers", UNKNOWN)
def test_an_unknown_fault_is_refused(run, numbers):
    assert f"TANDEM_PLANTED={numbers}: planted.def has no such fault" in run["unknown_fault"][numbers]


def test_a_leak_fails_replay(tandem, root):
    number = next(number for number, name, *_ in FAULTS if name == "LEAK_ON_REFUSAL")
    options = ["--subject", corpus_runs.subjects() / "planted.so"]
    if corpus_runs.mission():
        options += ["--builder", corpus_runs.mission()]
    program = root / "corpus" / "list" / "self_append.tdm"
    done = tandem("replay", *options, program, env=os.environ | {"TANDEM_PLANTED": number})
    assert done.returncode == 1, done.stderr
    assert "Object.references" in done.stdout
