"""The subject builds on its own: it runs no code of the reference's, needs none, and
hears nothing from it."""
from __future__ import annotations

import os
import tomllib

import pytest

import corpus_runs

#: Asks the same process.
LANE = "test_corpus"

#: Packages whose code a subject runs none of while it builds.
LISTED = ("torch._dynamo", "torch._guards", "torch.fx", "torch._subclasses", "torch.fx.experimental")


@pytest.fixture(scope="module")
def run(python):
    return corpus_runs.main_run(python)


@pytest.fixture(scope="module")
def rows(root):
    """(class, function) -> reason of tests/independence.toml."""
    table = tomllib.loads((root / "tests" / "independence.toml").read_text())
    assert set(table) == {"row"}
    for row in table["row"]:
        assert set(row) == {"class", "function", "reason"} and all(row.values())
    return {(row["class"], row["function"]): row["reason"] for row in table["row"]}


#: Torch's own Python, in no listed module, that a module's own methods end in and that
#: the reference enters for the same root: the walk over its parts, and its look-up; and how numpy
#: looks for names that it has not, and tells torch what a record is made of.
UNLISTED = (
    "torch/nn/modules/module.py:", "torch/_tensor.py:__hash__", "torch/jit/_script.py:", "numpy/__init__.py:__getattr__",
    "numpy/core/_internal.py:",
)  # fmt: skip


#: What torch runs itself where a symbolic size of a fake tensor is read (rows `size`, `stride` and
#: `storage_offset` of the table): it makes a SymInt of it.
READING = ("torch/__init__.py:__init__", "torch/fx/experimental/symbolic_shapes.py:is_int")


def is_unlisted(name: str) -> bool:
    return any(part in name for part in UNLISTED)


def is_listed(name: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in LISTED)


# ---- watched -------------------------------------------------------------------------


def test_no_python_runs_that_the_program_did_not_bring(run):
    seen = run["watch"]
    assert seen["windows"] > 5 * len(corpus_runs.programs()), "nobody was watched"
    symbolic = {name for name, text in corpus_runs.programs().items() if "subclass_tensor Symbolic" in text}
    foreign = {name: [one for one in ran if not is_unlisted(one)] for name, ran in seen["foreign"].items()}
    for name in symbolic & set(foreign):
        foreign[name] = [one for one in foreign[name] if not one.endswith(READING)]
        if not foreign[name]:
            del foreign[name]
    assert not any(foreign.values()), foreign
    # Only where a module brings methods of its own does anything of torch's run.
    bring = {
        "callable/numpy_functions_not_traced", "findings/array_of_no_torch_type",
        "module/own_getattr", "module/own_names", "module/script",
    }  # fmt: skip
    assert set(foreign) == bring
    assert set(seen["calls"]) <= bring


def test_code_of_the_program_runs_as_often_as_under_the_reference(run):
    """Which it says itself, by what it notes (Program.user_calls, compared): here, that
    there was some, and that it was seen."""
    assert run["watch"]["own"]["list/logging_pair"].count("__iter__") > 0
    assert run["judge"]["programs"]["list/logging_pair"]["verdict"] == "agree"


def test_what_is_called_belongs_to_no_listed_module(run, rows):
    seen = {tuple(row) for program in run["watch"]["rows"].values() for row in program}
    assert ("torch.Tensor", "size") in seen, "the recorder was not heard"
    listed = {row for row in seen if is_listed(row[0]) or is_listed(row[1])}
    assert listed <= set(rows)


def test_rows_of_the_table_are_few_used_and_no_functions(run, rows):
    seen = {tuple(row) for program in run["watch"]["rows"].values() for row in program}
    assert len(rows) <= 12
    assert set(rows) <= seen, "a row that no program uses"
    for class_name, function in rows:
        assert is_listed(class_name), "rows are for objects of listed modules"
        assert function.startswith(".") or "." not in function, "a module-level function"


# ---- blind ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blind(python, run):
    name = "blind" if run["loaded"]["revision"] == "mission" else "blind:installed"
    return corpus_runs.probe(python, "blind", builder=name)


def test_the_stand_in_raises_whatever_is_done_with_it(blind):
    assert set(blind["blind"]["answers"]) == {"call", "isinstance", "attribute", "function"}
    assert set(blind["blind"]["answers"].values()) == {"BuilderUsed"}


def test_observes_the_same_where_there_is_no_builder(run, blind):
    written = {name: one["subject"] for name, one in run["judge"]["programs"].items()}
    assert len(written) == len(blind["blind"]["written"]) == len(corpus_runs.programs())
    # Nobody keeps operator records for a subject on its own: it stops where it would ask for one.
    # Nor are there builder calls of a compiler that is not there.
    words = ("root fx", " Wrapping", "root compile")
    asking = {name for name, text in corpus_runs.programs().items() if any(word in text for word in words)}
    differ = {name for name, digest in blind["blind"]["written"].items() if digest != written[name]}
    assert differ <= asking < written.keys()


# ---- deaf ----------------------------------------------------------------------------


@pytest.mark.release
def test_observes_the_same_whatever_the_reference_says(python):
    run = corpus_runs.plain_run(python)
    assert run["deaf"].keys() == corpus_runs.alone().keys()
    assert {one["verdict"] for one in run["deaf"].values()} == {"diverge"}, "the reference was not heard to lie"
    assert all(one["same"] for one in run["deaf"].values())


# ---- the reference against itself --------------------------------------------------------


@pytest.mark.release
@pytest.mark.parametrize("side", ["reference", "reference-swapped"])
def test_reference_agrees_with_itself(python, side):
    found = corpus_runs.probe(python, "judge", builder=corpus_runs.mission(), other_side=side)
    judged = found["judge"]["programs"]
    assert len(judged) == len(corpus_runs.programs())
    assert not {name: one for name, one in judged.items() if one["verdict"] != "agree"}
    assert found["loaded"]["subject"] == "reference"


@pytest.mark.parametrize("options", [(), ("--fixtures",), ("--other-side", "reference"),
                                     ("--other-side", "reference-swapped")])  # fmt: skip
def test_nothing_to_run_is_no_success(tandem, tmp_path, options):
    done = tandem("replay", *options, tmp_path, env=dict(os.environ))
    assert done.returncode == 3
    assert "there was no program to run" in done.stderr


# ---- what was recorded ------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["mission", "installed"])
def test_subject_agrees_with_what_was_recorded(tandem, revision):
    done = tandem("replay", "--fixtures", "--revision", revision, "-q", corpus_runs.CORPUS)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"{len(corpus_runs.alone())} agree" in done.stdout
    left_out = len(corpus_runs.programs()) - len(corpus_runs.alone())
    assert f"{left_out} programs run the compiler: left out" in done.stdout
