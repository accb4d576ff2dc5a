"""tandem cover: what a corpus reaches, the excuses, and the page corpus/ARMS.md."""
from __future__ import annotations

import ast
import csv
import importlib.util
import json
import os
from pathlib import Path

import corpus_runs
import pytest
from conftest import ROOT
from tandem import covering, excused, lines
from tandem.oracle import arms, excuses

LANE = "test_corpus"  # the same processes

PAGE = ROOT / "corpus" / "ARMS.md"


def arms_of(path: Path) -> list[arms.Arm]:
    return arms.Arms(ast.parse(path.read_text()), str(path)).arms


@pytest.fixture(scope="module")
def installed() -> list[arms.Arm]:
    torch = importlib.util.find_spec("torch").submodule_search_locations[0]
    return arms_of(Path(torch) / "_dynamo" / "variables" / "builder.py")


@pytest.fixture(scope="module")
def mission(shared) -> list[arms.Arm]:
    return arms_of(shared / "reference" / "builder.py")


def case(verdict: str, *reached: str) -> dict:
    return {"verdict": verdict, "arms": list(reached)}


# ---- excuses -------------------------------------------------------------------------------


def test_excuses_are_the_atlas_own(mission, shared):
    with open(shared / "reference" / "arms.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    without = {row["id"] for row in rows if row["status"] != "reached" or row["how"] in ("planted", "process")}
    found = excuses.excused(mission)
    assert set(found) == without and len(without) == 42
    sorts = [row.sort for row in found.values()]
    assert [sorts.count(sort) for sort in ("dead", "planted", "process")] == [19, 15, 8]


def test_excuse_goes_with_its_condition_and_not_with_its_line(installed):
    found = excuses.excused(installed)
    assert 0 < len(found) <= 43
    assert not any(arm.text == "for k in value.keys()" and arm.id in found for arm in installed)


def test_rows_that_say_nothing_are_refused(tmp_path):
    row = '[[excuse]]\nfunction = "f"\nkind = "if"\ncondition = "x"\noutcome = "T"\nsort = "{}"\nreason = "{}"\n'
    path = tmp_path / "excuses.toml"
    path.write_text(row.format("tired", "y"))
    with pytest.raises(ValueError, match="tired"):
        excuses.rows(str(path))
    path.write_text(row.format("dead", "y") + row.format("planted", "z"))
    with pytest.raises(ValueError, match="two rows"):
        excuses.rows(str(path))


# ---- counting ------------------------------------------------------------------------------


def test_only_a_program_that_agrees_reaches_an_arm(installed):
    first, second, third = (arm.id for arm in installed[:3])
    cases = [case("agree", first), case("diverge", second), case("subject-unsupported", third)]
    cover = covering.of_cases(installed, {}, cases)
    assert cover.reached == {first}
    assert len(cover.reached) + len(cover.missing) + len(cover.excused) == len(installed)
    assert {second, third} <= {arm.id for arm in cover.missing}


def test_an_excuse_that_is_reached_is_told(installed):
    table = excuses.excused(installed)
    one = next(iter(table))
    cover = covering.of_cases(installed, table, [case("agree", one)])
    assert cover.stale() == [one] and one not in {arm.id for arm in cover.excused}
    with pytest.raises(ValueError, match="L0/if/T"):
        covering.of_cases(installed, table, [case("agree", "L0/if/T")])


def test_page_keeps_the_other_column(installed):
    cover = covering.of_cases(installed, {}, [case("agree", installed[-1].id)])
    columns = {"mission": {"`f`": "1 / 2", "all": "1 / 2"}, "installed": covering.column(cover)}
    assert covering.columns_of(covering.page(columns)) == columns
    assert columns["installed"]["all"] == f"1 / {len(installed)}"
    assert covering.columns_of("# something else\n") == {}


# ---- the command ---------------------------------------------------------------------------


@pytest.mark.release
def test_command_counts_lists_and_writes_its_column(tandem, tmp_path):
    program = tmp_path / "a.tdm"
    program.write_text('tandem 1\n%0 = int 5\nframe\n  root build local("x") %0\n')
    page = tmp_path / "ARMS.md"
    done = tandem("cover", "--json", "--table", page, program)
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert said["arms"] == said["reached"] + len(said["missing"]) + len(said["excused"]) == 721
    assert said["reached"] > 5 and said["schema"] == 1 and said["summary"] == {"agree": 1}
    assert all(set(row) == {"arm", "sort", "reason"} for row in said["excused"])
    assert covering.columns_of(page.read_text())["installed"]["all"].startswith(f"{said['reached']} / ")
    text = tandem("cover", "--excused", program).stdout
    assert "missing\n" in text and "excused\n" in text and f"{said['reached']} reached" in text


def test_nothing_to_cover_is_no_success(tandem, tmp_path):
    assert tandem("cover", tmp_path).returncode == 3
    (tmp_path / "bad.tdm").write_text("tandem 1\nnonsense\n")
    done = tandem("cover", tmp_path)
    assert done.returncode == 2 and "bad.tdm:2:1" in done.stderr


# ---- the page in the corpus ----------------------------------------------------------------


def judged(run: dict) -> list[dict]:
    return list(run["judge"]["programs"].values())


def test_page_says_what_the_missions_builder_reaches(python, mission):
    cover = covering.of_cases(mission, excuses.excused(mission), judged(corpus_runs.main_run(python)))
    assert cover.stale() == []
    assert covering.columns_of(PAGE.read_text())["mission"] == covering.column(cover)


def test_page_says_what_the_installed_builder_reaches(python, installed):
    run = corpus_runs.probe(python, "judge", "quiet")
    cover = covering.of_cases(installed, excuses.excused(installed), judged(run))
    assert cover.stale() == []
    assert covering.columns_of(PAGE.read_text())["installed"] == covering.column(cover)


# ---- lines of the subject ------------------------------------------------------------------


def test_lines_are_read_as_lcov_writes_them():
    text = "SF:/x/src/builder/a.c\nDA:1,5\nDA:2,0\nBRDA:2,0,0,-\nSF:/x/src/builder/b.h\nDA:1,0\nDA:1,2\nend_of_record\n"
    read = lines.parse(text)
    assert read.counts == {("a.c", 1): 5, ("a.c", 2): 0, ("b.h", 1): 2} and read.decisions == {("a.c", 2)}
    assert lines.unreached(read, read.counts) == {"a.c": [2]}
    assert lines.document(read, read) == {"decision_total": 1, "decision_reached": 0, "total": 3, "reached": 2}


SOURCE = "int\nf(void)\n{\n    if (a) {\n        return 1;\n    }\n    if (b) {\n        stop_here(1);\n    }\n}\n"
LCOV = "FN:2,a.c:f\nDA:2,1\nDA:3,1\nDA:4,1\nDA:5,{}\nDA:6,{}\nDA:7,1\nDA:8,0\nDA:9,0\n"
AT = "a.c f: if (a) { > return 1;"


def counted(folder: Path, count: int) -> lines.Lines:
    (folder / "a.c").write_text(SOURCE)
    return lines.parse(f"SF:{folder / 'a.c'}\n" + LCOV.format(count, count))


def said(folder: Path, rows: str) -> excused.Table:
    path = folder / "excused.toml"
    path.write_text("[[rule]]\nfirst = 'stop_here'\nreason = 'stopped'\n" + rows)
    return excused.table(str(path))


def test_a_line_that_nothing_reaches_has_a_reason_or_is_named(tmp_path):
    one = counted(tmp_path, 0)
    without = excused.judge(one, said(tmp_path, ""), "mission")
    assert [str(gap) for gap in without.without] == ["a.c:5-6"] and without.without[0].at == AT
    assert [(str(gap), reason) for gap, reason in without.with_reason] == [("a.c:8-9", "stopped")]
    row = f"[[excuse]]\nreason = 'never a'\nrevision = 'installed'\nat = [{AT!r}]\n"
    assert excused.judge(one, said(tmp_path, row), "mission").without
    judged = excused.judge(one, said(tmp_path, row), "installed")
    assert not judged.without and not judged.stale
    assert judged.document()["excused"][0] == {"lines": "a.c:5-6", "at": AT, "reason": "never a"}


def test_a_reason_for_what_is_reached_or_gone_is_told(tmp_path):
    row = f"[[excuse]]\nreason = 'never a'\nat = [{AT!r}, 'a.c g: gone > gone']\n"
    assert [one.at for one in excused.judge(counted(tmp_path, 0), said(tmp_path, row), "mission").stale] == [
        "a.c g: gone > gone"
    ]
    assert len(excused.judge(counted(tmp_path, 3), said(tmp_path, row), "mission").stale) == 2


def test_reasons_that_say_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="without a reason"):
        said(tmp_path, "[[excuse]]\nreason = ''\nat = ['a']\n")
    with pytest.raises(ValueError, match="two rows"):
        said(tmp_path, "[[excuse]]\nreason = 'b'\nat = ['a', 'a']\n")
    assert excused.table().rules


@pytest.mark.release
def test_failing_allocations_reach_lines_that_no_program_does(tandem, tmp_path):
    if "TANDEM_COVERED" not in os.environ:
        pytest.skip("no subject that counts its lines was built (scripts/test builds one)")
    program = tmp_path / "a.tdm"
    program.write_text(
        'tandem 1\n%0 = int 5\n%1 = tensor float32[2]\n%2 = list %0 %1\nframe\n  root build local("x") %2\n'
        'frame\n  do append %2 %0\n  root build local("x") %2\n'
    )
    done = tandem("cover", "--json", program)
    assert done.returncode == 1 and "allocation" not in done.stderr, done.stderr
    counts = json.loads(done.stdout)["subject_lines"]
    assert 0 < counts["decision_reached"] < counts["decision_total"] < counts["total"]
    assert counts["decision_reached"] < counts["reached"] < counts["total"]
    assert counts["without_reason"] and counts["excused"]


@pytest.mark.release
def test_another_subject_counts_no_lines(tandem, tmp_path):
    program = tmp_path / "a.tdm"
    program.write_text('tandem 1\n%0 = int 5\nframe\n  root build local("x") %0\n')
    done = tandem("cover", "--json", "--subject", corpus_runs.subjects() / "planted.so", program)
    assert json.loads(done.stdout)["subject_lines"] is None
