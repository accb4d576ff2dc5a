"""What can be loaded, what is refused and how, and which revision a file is."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from oracle_children import child

pytestmark = pytest.mark.release

TRY = """
import sys
from tandem.oracle import loader
try:
    made = loader.load(sys.argv[1])
    print(made.revision, made.distance)
except loader.LoadError as error:
    print(f"{type(error).__name__} {error.exit_code} {error}")
"""


@pytest.fixture
def load(python: list[str]):
    def run(builder: object, **options: object) -> str:
        command = [*python, "-c", TRY, str(builder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    return run


BROKEN = {
    "unclosed.py": (b"def f(:\n    pass\n", "BuilderSyntaxError 2 {path}:1:7: "),
    "later.py": (b"x = 1\n\nclass C\n    pass\n", "BuilderSyntaxError 2 {path}:3:8: "),
    "indent.py": (b"def f():\nreturn 1\n", "BuilderSyntaxError 2 {path}:2:1: "),
    "outside.py": (b"return 1\n", "BuilderSyntaxError 2 {path}:1:1: "),
    "null.py": (b"x = 1\ny =\x00 2\n", "BuilderSyntaxError 2 {path}:2:4: a file of Python has no null bytes"),
    "latin.py": (b"x = 1\n# \xe9\n", "BuilderSyntaxError 2 {path}:"),
    "empty.py": (b"", "NotABuilder 2 {path}:1:1: not a builder: it has no class VariableBuilder, "),
    "other.py": (b"import os\n", "NotABuilder 2 {path}:1:1: not a builder: it has no class VariableBuilder, "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_one_line(load, tmp_path: Path, name):
    content, expected = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    said = load(path)
    assert said.startswith(expected.format(path=path)), said
    assert "\n" not in said


def test_a_missing_file_is_refused(load, tmp_path: Path):
    said = load(tmp_path / "none.py")
    assert said == f"BuilderUnreadable 2 {tmp_path / 'none.py'}:1:1: cannot be read: No such file or directory"


def test_missing_and_wrong_torch_are_told_apart(load, tmp_path: Path):
    (tmp_path / "torch").mkdir()
    stand_in = tmp_path / "torch" / "__init__.py"
    import os

    def said() -> str:
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return load("installed", env=os.environ | {"PYTHONPATH": path})

    stand_in.write_text('__version__ = "2.2.0+cpu"\n')
    assert said() == "TorchWrong 3 torch is 2.2.0+cpu, but Tandem needs exactly 2.1.2"
    stand_in.write_text("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n")
    assert said().startswith("TorchMissing 3 torch is missing (No module named 'torch')")


def skeleton() -> str:
    """A file that has all the names of a builder, and cannot be imported."""
    classes = "".join(
        f"class {name}:\n    def __call__(self): pass\n"
        for name in ("VariableBuilder", "SourcelessBuilder", "GraphArg", "TrackedFake")
    )
    functions = ("wrap_fx_proxy", "wrap_fx_proxy_cls", "wrap_to_fake_tensor_and_record")
    return classes + "".join(f"def {name}(): pass\n" for name in functions)


def test_a_file_that_cannot_be_imported_is_refused(load, tmp_path: Path):
    path = tmp_path / "needs.py"
    path.write_text(skeleton() + "\n\nfrom torch import no_such_name\n")
    line = path.read_text().count("\n")
    assert load(path).startswith(f"NotABuilder 2 {path}:{line}:1: ImportError: cannot import name 'no_such_name'")


def test_a_class_without_call_is_no_builder(load, tmp_path: Path):
    path = tmp_path / "call.py"
    path.write_text(skeleton().replace("__call__", "call", 1))
    assert load(path) == f"NotABuilder 2 {path}:1:1: not a builder: VariableBuilder has no __call__"


def test_the_installed_builder(python):
    answer = child(python, "oracle_probe.py", "installed", "loaded")
    assert answer["revision"] == "installed" and answer["distance"] == 0
    assert answer["used_by_all"] and answer["first_line"].startswith("def _wrap(")
    assert answer["file"] == answer["code_file"] and answer["file"].endswith("/_dynamo/variables/builder.py")


def test_the_mission_builder(python, shared: Path):
    answer = child(python, "oracle_probe.py", shared / "reference" / "builder.py", "loaded")
    assert answer["revision"] == "mission" and answer["distance"] == 0 and answer["arms"] == 763
    assert answer["used_by_all"] and answer["first_line"].startswith("def _wrap(")
    assert answer["file"] == answer["code_file"] and answer["file"].endswith("/_dynamo/variables/builder.py")


# ---- revisions -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nearest(python: list[str]):
    """nearest(text) without loading anything: "revision distance"."""
    script = (
        "import ast, os, sys, importlib.util\n"
        "from tandem.oracle import revisions\n"
        "torch = os.path.dirname(importlib.util.find_spec('torch').origin)\n"
        "installed = os.path.join(torch, '_dynamo', 'variables', 'builder.py')\n"
        "text = sys.stdin.read() or open(installed).read()\n"
        "print(*revisions.nearest(ast.parse(text), installed))\n"
    )

    def run(text: str) -> str:
        done = subprocess.run([*python, "-c", script], input=text, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


def test_installed_is_known(nearest):
    assert nearest("") == "installed 0"


def test_form_does_not_matter(nearest, shared: Path):
    text = (shared / "reference" / "builder.py").read_text()
    assert nearest(text) == "mission 0"
    assert nearest("# a comment\n\n\n" + text) == "mission 0"
    doc = '"""Wrap a python value in a VariableTracker() instance"""'
    assert nearest(text.replace(doc, '"""Other words"""')) == "mission 0"
    assert nearest(text.replace("return value if", "return  (value) if")) == "mission 0"


EDITS = {
    "a constant": ("for k in (\"start\", \"stop\", \"step\")", "for k in (\"start\", \"stop\", \"stop\")", 1),
    "an operator": ("if frame_state_entry.scalar != value:", "if frame_state_entry.scalar == value:", 1),
    "a guard's name": ("GuardBuilder.PYMODULE_MATCH", "GuardBuilder.ID_MATCH", 1),
    "a statement more": (
        "        return tensor_variable\n",
        "        len(source)\n        return tensor_variable\n",
        4,
    ),
    "two in another order": (
        "        self.tx = tx\n        self.source = source\n",
        "        self.source = source\n        self.tx = tx\n",
        1,
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_counted(nearest, shared: Path, name):
    before, after, nodes = EDITS[name]
    text = (shared / "reference" / "builder.py").read_text()
    assert before in text
    assert nearest(text.replace(before, after, 1)) == f"mission {nodes}"


def test_an_edit_of_the_installed_file_stays_installed(nearest, python):
    import importlib.util
    import os

    folder = os.path.dirname(importlib.util.find_spec("torch").origin)
    text = Path(folder, "_dynamo", "variables", "builder.py").read_text()
    assert nearest(text.replace("GuardBuilder.PYMODULE_MATCH", "GuardBuilder.ID_MATCH", 1)) == "installed 1"


def test_marks_can_be_packed():
    import ast

    from tandem.oracle import revisions

    bag = revisions.marks(ast.parse("def f(x):\n    return x + x + 1\n"))
    assert revisions.unpack(revisions.pack(bag)) == bag
    assert revisions.distance(bag, bag) == 1  # asked only of trees that differ
