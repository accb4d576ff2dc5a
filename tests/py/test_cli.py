"""The command line: exit codes, one line for each kind of bad input, JSON shapes.

Every process here starts a builder or fails before it would, so the tests give a
process as much to do as they can.  With sanitizers run those that take C where
others do not.
"""
from __future__ import annotations

import json
import os
import subprocess

import pytest
from cli_files import BAD_CASES, CASE, DAMAGED, PROGRAM
from subjects import subject  # noqa: F401: a fixture


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "a.tdm"
    path.write_text(PROGRAM)
    return path


def one_line(result, code):
    """The only line on stderr of a command that failed with code."""
    assert result.returncode == code, result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("tandem")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def document(result):
    """The JSON on stdout: all of it."""
    return json.loads(result.stdout)


# ---- text and binary: no builder is loaded -----------------------------------------


def test_version(tandem):
    result = tandem("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("tandem ")


def test_help_lists_every_command(tandem, root):
    result = tandem("--help")
    assert result.returncode == 0
    for module in (root / "src/tandem/commands").glob("[a-z]*.py"):
        assert module.stem in result.stdout


def test_asm_and_disasm_round_trip(tandem, program, tmp_path):
    binary = tmp_path / "b.tdm"
    assert tandem("asm", program, "-o", binary).returncode == 0
    assert binary.read_bytes()[0] & 0xF0 == 0xA0
    assert tandem("disasm", binary).stdout == PROGRAM
    assert document(tandem("disasm", binary, "--json"))["text"] == PROGRAM
    assert document(tandem("asm", program, "--json"))["hex"] == binary.read_bytes().hex()


def test_a_program_is_told_by_content_not_by_name(tandem, program, tmp_path):
    odd = tmp_path / "program.json"
    odd.write_bytes(program.read_bytes())
    assert tandem("disasm", odd).stdout == PROGRAM


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_text(tandem, tmp_path, what):
    text, place = DAMAGED[what]
    path = tmp_path / "damaged.tdm"
    path.write_text(text)
    assert f"{path}:{place}" in one_line(tandem("asm", path), 2)


def test_truncated_binary(tandem, program, tmp_path):
    binary, short = tmp_path / "b.tdm", tmp_path / "short.tdm"
    tandem("asm", program, "-o", binary)
    for size in range(1, len(binary.read_bytes())):
        short.write_bytes(binary.read_bytes()[:size])
        if size % 6 == 1:  # each is a process; the decoder's own test tries every size
            assert f"{short}:1:" in one_line(tandem("disasm", short), 2)


@pytest.mark.parametrize("command", ["run", "compare", "show", "asm", "disasm"])
def test_no_such_file(tandem, command, tmp_path):
    path = tmp_path / "nowhere.py"
    assert "No such file" in one_line(tandem(command, path), 2)


def test_an_empty_file(tandem, tmp_path):
    path = tmp_path / "empty.tdm"
    path.touch()
    assert f"{path}:1:1:" in one_line(tandem("run", path), 2)


def test_nothing_to_run(tandem, tmp_path):
    assert "no program" in one_line(tandem("run", tmp_path), 3)


def test_usage(tandem):
    assert "usage" not in one_line(tandem("run"), 2)
    assert "nonsense" in one_line(tandem("nonsense"), 2)


@pytest.mark.parametrize("command", ["asm", "disasm"])
def test_a_full_disk(tandem, program, command):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    assert "No space left" in one_line(tandem(command, program, "-o", "/dev/full"), 3)
    with open("/dev/full", "w") as full:
        result = tandem(command, program, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert "No space left" in one_line(result, 3)


def test_gen_gives_programs(tandem, tmp_path):
    result = tandem("gen", "--seed", 3, "--count", 4, "-o", tmp_path / "out")
    assert result.returncode == 0
    assert len(list((tmp_path / "out").glob("*.tdm"))) == 4
    assert tandem("disasm", tmp_path / "out" / "3.tdm").stdout == tandem("gen", "--seed", 3).stdout


def test_gen_stats(tandem):
    found = document(tandem("gen", "--stats", "--count", 300, "--only", "literal,list", "--json"))
    assert found["programs"] == 300
    assert set(found["kinds"]) >= {"int", "list"}
    assert "tensor" not in found["kinds"]


def test_gen_only_an_unknown_word(tandem):
    assert "nonsense" in one_line(tandem("gen", "--only", "nonsense"), 2)


# ---- subjects and builders that are none --------------------------------------------


def test_a_subject_without_the_abi(tandem, program, subject, tmp_path):
    assert "td_subject_v1" in one_line(tandem("run", program, "--subject", subject("nothing")), 2)
    assert "ABI version" in one_line(tandem("run", program, "--subject", subject("version")), 2)
    assert "shared object" in one_line(tandem("run", program, "--subject", program), 2)
    assert "cannot be opened" in one_line(tandem("run", program, "--subject", tmp_path / "no.so"), 2)


def test_a_subject_that_lies(tandem, program, subject):
    result = tandem("run", program, "--subject", subject("liar"), "--json")
    assert result.returncode == 1, result.stderr
    found = document(result)
    assert found["schema"] == 1 and found["summary"] == {"diverge": 1} and found["subject"] == "liar"
    case = found["cases"][0]
    assert case["verdict"] == "diverge" and case["signature"]
    first = case["divergences"][0]
    assert set(first) >= {"path", "field", "reference", "subject", "arm"}
    assert first["arm"]["subject"] == "root"
    assert case["reference"]["frames"][0]["roots"][0]["tracker"]["kind"] == "ListVariable"


def test_a_subject_that_refuses_what_it_calls_done(tandem, tmp_path, subject):
    done, undone = tmp_path / "done.tdm", tmp_path / "undone.tdm"
    done.write_text(PROGRAM)
    undone.write_text('tandem 1\n%0 = float 1.5\nframe\n  root build local("x") %0\n')
    result = tandem("run", done, undone, "--subject", subject("refuses"), "--json")
    first, second = document(result)["cases"]
    assert result.returncode == 1
    assert first["verdict"] == "diverge" and first["divergences"][0]["field"] == "Root.outcome"
    assert second["verdict"] == "subject-unsupported" and not second["divergences"]
    assert second["unsupported"] == [{"frame": 0, "root": 0, "arm": "L2/undone", "why": "refused"}]
    # Lifted, nothing is left that was compared.
    assert tandem("run", undone, "--subject", subject("refuses"), "--allow-unsupported").returncode == 3


@pytest.mark.release
@pytest.mark.parametrize(
    "text, place",
    [("def f(:\n", ":1:"), ("x = 1\n", ":1:1"), (None, "No such file")],
    ids=["does not parse", "is no builder", "is not there"],
)
def test_a_builder_that_is_none(tandem, program, tmp_path, text, place):
    builder = tmp_path / "builder.py"
    if text is not None:
        builder.write_text(text)
    line = one_line(tandem("run", program, "--builder", builder), 2)
    assert str(builder) in line and place in line


@pytest.mark.release
def test_a_torch_that_is_missing_or_another(tandem, program, tmp_path):
    package = tmp_path / "torch"
    package.mkdir()
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    environment["TANDEM_PYTHONPATH"] = f"{tmp_path}:{os.environ.get('TANDEM_PYTHONPATH', '')}"
    for text, said in (("__version__ = '9.9.9'\n", "9.9.9"), ("raise ImportError('gone')\n", "gone")):
        (package / "__init__.py").write_text(text)
        probe = tandem("run", program, env=environment)
        if probe.returncode == 0:
            pytest.skip("this interpreter takes no other torch")
        line = one_line(probe, 3)
        assert said in line and "pip install torch==2.1.2" in line


# ---- cases ----------------------------------------------------------------------------


def test_bad_cases(tandem, tmp_path):
    paths = []
    for index, (text, _) in enumerate(BAD_CASES.values()):
        paths.append(tmp_path / f"bad_{index}.py")
        paths[-1].write_text(text)
    result = tandem("compare", *paths, "--other-side", "reference", "--json")
    assert result.returncode == 2
    for case, path, (text, place) in zip(document(result)["cases"], paths, BAD_CASES.values()):
        assert case["verdict"] == "bad-input", text
        assert case["why"].startswith(str(path)) and place in case["why"]
        assert case["why"] in result.stderr


@pytest.mark.release
def test_compare_and_show_a_case(tandem, tmp_path):
    path = tmp_path / "case.py"
    path.write_text("print('noise')\n" + CASE)
    found = document(tandem("compare", path, "--other-side", "reference", "--json"))
    assert found["summary"] == {"agree": 1}
    case = found["cases"][0]
    assert case["roots"] == ["agree"] * 3 and case["compared"]
    assert case["reference"] == case["subject"]
    root = case["reference"]["frames"][0]["roots"][0]
    assert root["source"] == "L['x']" and root["outcome"] == "tracker"
    shown = tandem("show", path, "--side", "reference")
    assert shown.returncode == 0 and "ListVariable" in shown.stdout and "noise" not in shown.stdout


# ---- both sides -------------------------------------------------------------------------


@pytest.mark.release
def test_reference_against_itself(tandem, program):
    """Nothing on stdout but the document; the same in either order."""
    for order in ("reference", "reference-swapped"):
        result = tandem("run", program, "--other-side", order, "--json")
        found = document(result)
        assert result.returncode == 0
        assert found["summary"] == {"agree": 1}
        assert set(found) >= {"builder", "revision", "revision_distance", "torch", "cases", "summary"}
        assert found["cases"][0]["signature"] is None and found["cases"][0]["divergences"] == []


@pytest.mark.release
def test_good_and_bad_together(tandem, program, tmp_path):
    """The good one is judged; the bad one decides the exit code."""
    bad = tmp_path / "bad.tdm"
    bad.write_text("nonsense\n")
    result = tandem("run", bad, program, "--other-side", "reference")
    assert result.returncode == 2
    assert f"{program}: agree" in result.stdout
    assert f"{bad}:1:1" in result.stderr


@pytest.mark.release
def test_print_of_a_divergence(tandem, program, subject):
    """Where, which field, both values, the reference's arm, the subject's function."""
    result = tandem("run", program, "--subject", subject("refuses"))
    assert result.returncode == 1
    for word in ("frames[0].roots[0]", "Root.outcome", "reference", "subject", "root()", "signature"):
        assert word in result.stdout
