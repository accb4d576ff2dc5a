"""Contexts, roots and state: the same program gives the same, and nothing stays."""
from __future__ import annotations

from pathlib import Path

import pytest

from oracle_children import child

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def ask(python):
    def run(question: str, *args: object, builder: object = "installed"):
        return child(python, "oracle_probe.py", builder, question, *args)

    return run


QUESTIONS = (
    "references", "order_of_closing", "bad_specs", "all_sources", "outcomes", "restored", "config_reads", "speed_off",
)  # fmt: skip


@pytest.fixture(scope="module")
def answers(ask):
    """Questions that leave the process as it was, all to one."""
    return ask("+".join(QUESTIONS))


def test_the_same_first_last_alone_and_among_others(ask):
    """19 kinds of programs, 55 rounds in changing order; three of them alone too."""
    answer = ask("same_anywhere", 55)
    assert answer["programs"] == 19
    assert answer["differ"] == []
    for name in ("dynamic", "randoms", "hooked"):
        assert ask("same_alone", name) == {name: answer["seen"][name]}


def test_programs_differ_from_one_another(ask):
    """(The observations above would be equal too if they were empty.)"""
    seen = ask("same_alone")
    assert len(set(seen.values())) >= len(seen) - 1  # a hook shows in no tracker


def test_nothing_leaks(ask):
    assert ask("leaks", 25) == {}


def test_references_are_given_back(answers):
    answer = answers["references"]
    assert answer["after"] == answer["before"]
    assert answer["kinds"] == [1, 1, 1, 1, 1, 1, 2]


def test_contexts_close_in_order(answers):
    assert answers["order_of_closing"] == {"refused": "a context was closed while a later one is open", "left": True}


def test_bad_specs_are_refused_clearly(answers):
    answer = dict(answers["bad_specs"])
    assert answer.pop("config") == "no such configuration value: 'no_such_value'"
    assert len(answer) == 16
    for spec, said in answer.items():
        assert said.startswith(("unknown source spec", "source spec", "not a source spec", "no such")), (spec, said)


def test_sources_of_every_kind(answers):
    answer = answers["all_sources"]
    assert len({name for name, _ in answer.values()}) == 16  # a cell is a LocalSource too
    assert answer["('default', ('local', 'x'), 'k')"] == ["DefaultsSource", "L['x'].__kwdefaults__['k']"]
    assert answer["('item', ('local', 'x'), 'k')"] == ["GetItemSource", "L['x']['k']"]


def test_outcomes(answers):
    """Expected exceptions, faults, user code that raises, and an interruption."""
    answer = answers["outcomes"]
    assert answer["rows"] == [
        [2, "Unsupported", False, True],
        [2, "NotImplementedError", True, True],
        [2, "SystemExit", False, True],
        [2, "MissingOperand", False, True],
        [2, "RecursionError", True, True],
    ]
    assert answer["interrupted"]


def test_what_a_program_changes_is_undone(answers):
    answer = answers["restored"]
    assert answer["during"] == [False, True]
    assert answer["after"]
    assert answer["hooks"] == [0, 1000]
    assert answer["ids"] == [False, True]
    assert answer["nodes"] is False


def test_every_value_that_is_read_is_listed(answers):
    answer = answers["config_reads"]
    assert answer["unlisted"] == []
    assert {"specialize_int", "assume_static_by_default", "capture_scalar_outputs"} <= set(answer["read"])


def test_methods_and_functions(ask, shared: Path):
    answer = ask("methods", builder=shared / "reference" / "builder.py")
    ended = answer["ended"]
    assert ended["frame"] == ended["fields"] == ended["item"] == ended["random"] == ended["setattr"] == ["NoneType"]
    assert ended["GraphArg.example"] == ["Tensor", "AssertionError: "]
    assert ended["wrap_unspecialized_primitive"][:2] == ["SymNodeVariable", "UnspecializedPythonVariable"]
    rows = [line.split("\t") for line in (shared / "reference" / "arms.tsv").read_text().rstrip("\n").split("\n")[1:]]
    wanted = {row[0] for row in rows if row[7] in ("method", "compile")}
    assert wanted - set(answer["arms"]) <= {
        "L1174/if/T", "L1178/ret/reached",  # need specialize_int
        "L1285/if/T",  # needs a class of a library that is missing
        "L1290/for/zero",  # needs a dataclass without fields
    }  # fmt: skip


def test_patches_for_speed_cannot_be_seen(answers):
    answer = answers["speed_off"]
    assert answer["differ"] == []
    assert answer["untouched"] == answer["patched"] == [True, True, True]
