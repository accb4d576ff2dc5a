"""What differs between the revisions: every row of switches.def has a program that
the two references build differently, and the subject follows both."""
from __future__ import annotations

import json
import re
import subprocess
import textwrap

import pytest

from conftest import ROOT

ROW = re.compile(r'X\((\w+),\s*([01]),\s*([01]),\s*"[^"]+",\s*"([^"]+)"\)')
ROWS = ROW.findall((ROOT / "src" / "builder" / "switches.def").read_text())
NAMES = [name for name, *_ in ROWS]

#: Revisions in which the subject has no builder for what a switch's program holds:
#: the families are not there.  All others must be compared in full.
UNDONE: dict[str, set[str]] = {}

#: Builds every program in one process; prints {path: [verdict, reference's observation]}.
SCRIPT = """
    import json, sys
    from tandem import cases, programs, session
    judge = session.get(session.Options(builder=sys.argv[1]))
    found = {"revision": judge.loaded["revision"]}
    for path in sys.argv[2:]:
        if path.endswith(".py"):
            case = cases.load(path)
            verdict, shown = judge.compare_case(case)["verdict"], judge.show_case(case, "reference")
        else:
            program = programs.load(path).binary
            verdict, shown = judge.run(path, program)["verdict"], judge.show(path, program, "reference")
        assert shown["built"], (path, shown["why"])
        found[path] = [verdict, shown["observation"]]
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def built(python, shared, tmp_path_factory):
    """For each revision what SCRIPT prints."""
    script = tmp_path_factory.mktemp("switches") / "build.py"
    script.write_text(textwrap.dedent(SCRIPT))
    paths = sorted({str(ROOT / path) for *_, path in ROWS})

    def build(builder):
        result = subprocess.run([*python, script, builder, *paths], capture_output=True, text=True, timeout=1800)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return {"mission": build(str(shared / "reference" / "builder.py")), "installed": build("installed")}


def test_rows_are_well_formed():
    text = re.sub(r"/\*.*?\*/", "", (ROOT / "src" / "builder" / "switches.def").read_text(), flags=re.DOTALL)
    assert len(ROWS) == text.count("X(") > 0
    assert len(set(NAMES)) == len(NAMES)
    assert all(mission != installed for _, mission, installed, _ in ROWS), "a row that does not differ"
    assert UNDONE.keys() <= set(NAMES)


@pytest.mark.parametrize("name, path", [(name, path) for name, *_, path in ROWS], ids=NAMES)
def test_a_program_shows_the_switch(name, path):
    assert f"Switch {name}:" in (ROOT / path).read_text()


def test_every_switch_is_asked_for():
    """By name in the code, or by a rule that stands in some revisions only."""
    texts = "".join(
        path.read_text() for path in (ROOT / "src" / "builder").iterdir() if path.name != "switches.def"
    )
    unasked = [name for name in NAMES if not re.search(rf"TD_SWITCH_{name}\b|_IF\({name},", texts)]
    assert unasked == []


def test_each_builder_is_its_revision(built):
    assert {revision: found["revision"] for revision, found in built.items()} == {
        "mission": "mission",
        "installed": "installed",
    }


@pytest.mark.parametrize("name, path", [(name, path) for name, *_, path in ROWS], ids=NAMES)
def test_the_references_differ(built, name, path):
    """Whether a shape environment has debug names shows in every frame: it counts
    for its own switch alone."""
    seen = []
    for revision in ("mission", "installed"):
        observation = built[revision][str(ROOT / path)][1]
        for frame in observation["frames"] if name != "DEBUG_NAMES" else ():
            frame["symbols"].pop("source_name_to_debug_name", None)
        seen.append(observation)
    assert seen[0] != seen[1]


@pytest.mark.parametrize("revision", ["mission", "installed"])
@pytest.mark.parametrize("name, path", [(name, path) for name, *_, path in ROWS], ids=NAMES)
def test_the_subject_follows(built, revision, name, path):
    expected = "subject-unsupported" if revision in UNDONE.get(name, ()) else "agree"
    assert built[revision][str(ROOT / path)][0] == expected
