"""The overlay does what the revision does: held against what was recorded elsewhere."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from oracle_children import child

pytestmark = pytest.mark.release

# ---- the atlas's triggers ----------------------------------------------------------

#: Column of trigger_runner -> column of results.tsv.
COLUMNS = {
    "tracker": "tracker",
    "source": "source",
    "mutable_local": "mutable_local",
    "guards": "guards",
    "out_guards": "out_guards(only tensors etc.)",
    "nodes": "placeholders/nodes",
    "tracked": "tracked",
    "symbols": "symbols",
    "nn_modules": "nn_modules",
    "exception": "exception",
    "at": "at",
    "message": "message",
}
#: Triggers that hunt until an id is used again: how long that takes is chance.
HUNTS = {"param_key_id_reuse", "frame_state_id_reuse"}
#: Trigger -> columns that are not compared, and why.
ASIDE = {
    "trackedfake_eq": {"tracker"},  # a hash
    "wp_int_seed_fake": {"tracker", "nodes"},  # a random seed
    "ctor_source_none": {"at"},  # recorded under instrumentation that moved the line of an assertion
}


def plain(text: str) -> str:
    """Without line breaks, and without the module in a class's name."""
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\b(?:__main__|triggers(?:_extra)?)(?=\.| ==)", "M", text).replace(", ", ",")


def ends_recursion(row: dict, recorded: dict) -> bool:
    """Where and with which words recursion ends hangs on the depth it started at."""
    return row.get("exception") == recorded["exception"] == "RecursionError"


def differences(rows: list[dict], recorded: dict[str, dict]) -> list[str]:
    found = []
    for row in rows:
        name = row["trigger"]
        other = recorded[name]
        aside = ASIDE.get(name, set()) | ({"at", "message"} if ends_recursion(row, other) else set())
        for ours, theirs in COLUMNS.items():
            if ours not in aside and plain(row.get(ours, "")) != plain(other[theirs]):
                found.append(f"{name}.{ours}: {row.get(ours, '')!r}, recorded {other[theirs]!r}")
        if not ends_recursion(row, other) and len(row["arms"]) != int(other["arms"]):
            found.append(f"{name}: {len(row['arms'])} arms, recorded {other['arms']}")
    return found


@pytest.fixture(scope="module")
def recorded(shared: Path) -> dict[str, dict]:
    lines = (shared / "reference" / "results.tsv").read_text().rstrip("\n").split("\n")
    head = lines[0].split("\t")
    return {line.split("\t")[0]: dict(zip(head, line.split("\t"))) for line in lines[1:]}


@pytest.fixture(scope="module")
def triggered(python: list[str], shared: Path) -> list[dict]:
    tools = shared / "reference" / "tools"
    return child(python, "trigger_runner.py", tools, shared / "reference" / "builder.py")


def test_all_triggers_ran(triggered, recorded):
    wanted = {name for name, row in recorded.items() if row["how"] in ("entry", "standin", "method")}
    assert {row["trigger"] for row in triggered} == wanted
    assert len(wanted) > 600


def test_triggers_give_the_recorded_results(triggered, recorded):
    found = differences([row for row in triggered if row["trigger"] not in HUNTS], recorded)
    assert not found, "\n".join(found[:20])


def test_the_comparison_can_fail(triggered, recorded):
    """A changed guard, a changed class and a missing arm are each seen."""
    row = next(row for row in triggered if row["trigger"] == "nested_list_dict")
    for change in ({"guards": row["guards"].replace("LIST_LENGTH", "DICT_KEYS", 1)}, {"tracker": "TupleVariable"},
                   {"arms": row["arms"][1:]}):  # fmt: skip
        assert len(differences([row | change], recorded)) == 1


def test_the_triggers_reach_the_arms(triggered, shared: Path):
    """Entry, stand-in and method triggers together enter the arms that are marked so."""
    rows = [line.split("\t") for line in (shared / "reference" / "arms.tsv").read_text().rstrip("\n").split("\n")[1:]]
    wanted = {row[0] for row in rows if row[7] in ("entry", "standin", "method")}
    reached = {arm for row in triggered for arm in row["arms"]}
    assert wanted - reached == set()
    assert len(wanted) == 675 + 12 + 24


# ---- the recorded cases --------------------------------------------------------------


def places(ours, theirs, path: str = "") -> list[str]:
    """Where two pictures differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and set(ours) == set(theirs):
        return [place for key in ours for place in places(ours[key], theirs[key], f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs))
        return [place for index, pair in pairs for place in places(*pair, f"{path}[{index}]")]
    return [] if ours == theirs and type(ours) is type(theirs) else [f"{path}: {ours!r}, recorded {theirs!r}"]


@pytest.mark.parametrize("builder, expected", [("", "expected.json"), ("installed", "expected_installed.json")])
def test_cases_give_the_recorded_pictures(python, shared: Path, builder, expected):
    ours = child(python, "case_recorder.py", shared / "cases", builder or shared / "reference" / "builder.py")
    theirs = json.loads((shared / "cases" / expected).read_text())
    assert len(theirs) >= 43
    found = places(ours, theirs)
    assert not found, "\n".join(found[:20])


# ---- whole compilations ----------------------------------------------------------------


@pytest.fixture(scope="module")
def stock(python) -> list[dict]:
    return child(python, "small_functions.py", "stock")


def check_compilations(stock: list[dict], overlay: list[dict]) -> None:
    assert len(stock) >= 30
    assert sum(len(row["graphs"]) for row in stock) >= 40
    found = places(overlay, stock)
    assert not found, "\n".join(found[:20])


def test_stock_and_mission_compile_alike(python, shared: Path, stock):
    check_compilations(stock, child(python, "small_functions.py", shared / "reference" / "builder.py"))


def test_stock_and_installed_compile_alike(python, stock):
    check_compilations(stock, child(python, "small_functions.py", "installed"))
