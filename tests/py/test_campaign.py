"""Campaigns: the folder they work in, crashes made findings, counts, the command."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from cli_files import PROGRAM
from subjects import subject  # noqa: F401: a fixture

from tandem.campaign import counts, engine, findings
from tandem.campaign.work import Work
from tandem.errors import BadInput, HarnessFailed


@pytest.fixture
def work(tmp_path):
    return Work(str(tmp_path / "work"))


# ---- the folder -------------------------------------------------------------------


def test_one_campaign_at_a_time(work):
    with pytest.raises(HarnessFailed, match="another campaign"):
        Work(work.path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInput):
        Work(str(tmp_path / "file"))


def test_import_takes_both_forms_and_says_what_it_refused(work, tmp_path):
    import _tandem

    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "text.tdm").write_text(PROGRAM)
    (folder / "same").write_bytes(_tandem.asm(PROGRAM))
    (folder / "bad.tdm").write_text("tandem 1\nnonsense\n")
    taken, refused = work.import_from(str(folder))
    assert taken == 2 and len(refused) == 1 and "bad.tdm:2:1" in refused[0]
    assert len(os.listdir(work.at("corpus"))) == 1  # both are one program


def test_a_finding_half_written_is_found_again(work):
    """Its writer was killed: nothing of it is lost, nothing torn is left."""
    import _tandem

    binary = _tandem.asm(PROGRAM)
    for name, data in ((".0a-1", binary), (".0b-1", binary[:9]), (".0c-1", None)):
        os.mkdir(work.at("findings", name))
        if data is not None:
            with open(work.at("findings", name, "program.tdm"), "wb") as stream:
                stream.write(data)
    assert work.pick_up() == 3
    assert os.listdir(work.at("findings")) == []
    inputs = set()
    for name in os.listdir(work.at("corpus")):
        with open(work.at("corpus", name), "rb") as stream:
            inputs.add(stream.read())
    assert inputs == {binary, _tandem.repair(binary[:9])[0]}


def test_an_empty_corpus_is_seeded_once(work):
    work.seed(5, 1, "literal,list")
    first = set(os.listdir(work.at("corpus")))
    work.seed(5, 2, None)
    assert set(os.listdir(work.at("corpus"))) == first and 0 < len(first) <= 5


# ---- crashes ------------------------------------------------------------------------

ASAN = """\
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x1
    #0 0x4f1 in memcpy (/x+0x1)
    #1 0x4f2 in td_wrap_list /src/builder/wrap_list.c:33:5
SUMMARY: AddressSanitizer: heap-use-after-free (/x+0x1) in memcpy
"""
UBSAN = """\
/src/py/td_canon_text.c:30:28: runtime error: load of value 190, which is not valid
    #0 0x56 in td_canon_text /src/py/td_canon_text.c:30
SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior /src/py/td_canon_text.c:30:28 in
"""
ASSERTION = "tandem: /src/check/td_verdict.c:21: outcome_of: assertion failed: frame < run->frame_cnt\n"


@pytest.mark.parametrize(
    "log, signature",
    [
        (ASAN, "crash: heap-use-after-free in td_wrap_list"),
        (UBSAN, "crash: load of value #, which is not valid in td_canon_text"),
        (ASSERTION, "crash: assertion failed: frame < run->frame_cnt in outcome_of"),
        ("Killed", "crash: in unknown"),
    ],
)
def test_a_crash_is_named_by_what_and_where(log, signature):
    assert findings.crash_signature("crash", log) == signature


@pytest.mark.parametrize("name, kind", [("x-0-crash-0a", "crash"), ("x-oom-0a", "oom"), ("timeout-0a", "hang")])
def test_a_crash_becomes_a_finding(work, name, kind):
    import _tandem

    with open(work.at("crashes", name), "wb") as stream:
        stream.write(b"any bytes at all")
    hash_ = findings.file_crash(work, name, ASAN)
    folder = work.at("findings", hash_)
    assert work.findings() == {hash_} and work.crashes() == []
    assert sorted(os.listdir(folder)) == ["finding.json", "input.bin", "log.txt", "program.tdm", "program.txt"]
    with open(os.path.join(folder, "finding.json")) as stream:
        found = json.load(stream)
    assert found["class"] == kind and found["signature_hash"] == hash_
    with open(os.path.join(folder, "program.tdm"), "rb") as stream:
        assert _tandem.asm(stream.read())  # strictly decoded: a program, not the raw bytes


# ---- counts ---------------------------------------------------------------------------


def one_process(programs, compared, top):
    mix = {name: {"list": 2, "int": 0} for name in ("kinds", "sources", "entries", "changes", "layouts", "dtypes")}
    mix |= {"config": {"specialize_int": {"True": 1}}, "programs_shared": 1, "programs_frames": 2, "programs_drift": 1}
    return {
        "programs": programs, "compared": compared, "broken": 0, "flaky": 0, "internal_errors": 0, "distinct": programs,
        "top": top, "verdicts": {"agree": compared}, "unsupported": {"L1/x: why": 1}, "findings": {"0a": 1},
        "arms": ["L1/x", f"L{programs}/y"], "sizes": [0, 1, 3], "mix_seen": mix, "mix_compared": mix,
    }  # fmt: skip


def test_counts_add_up(tmp_path):
    for index, one in enumerate((one_process(4, 3, 2), one_process(6, 5, 1))):
        (tmp_path / f"run-{index}.json").write_text(json.dumps(one))
    (tmp_path / "run-2.json").write_text('{"half')  # written by no rename: left out
    (tmp_path / "other-0.json").write_text(json.dumps(one_process(99, 99, 99)))
    total = counts.gather(str(tmp_path), "run")
    assert total.numbers["programs"] == 10 and total.numbers["compared"] == 8
    assert total.tables["kinds"]["list"] == [4, 4] and total.tables["config"]["specialize_int=True"] == [2, 2]
    assert total.sizes == [0, 2, 6] and total.median_size() == 2
    assert total.arms == {"L1/x", "L4/y", "L6/y"} and total.top == 2
    text = "\n".join(counts.summary_lines(total, 2.0))
    assert "80.0 %" in text and "L1/x: why" in text


# ---- the command -------------------------------------------------------------------------


@pytest.fixture(scope="session")
def campaign(tandem):
    """Runs tandem fuzz; skipped where no target with an engine is built."""
    try:
        engine.find_target()
    except HarnessFailed as error:
        pytest.skip(str(error))
    return lambda *args, **options: tandem("fuzz", *args, **options)


def last_line(result):
    return json.loads(result.stdout.splitlines()[-1])


def test_an_unbuilt_target_is_said(tandem, tmp_path):
    environment = {**os.environ, "TANDEM_BUILD": str(tmp_path)}
    result = tandem("fuzz", "--runs", 1, "--work", tmp_path / "w", env=environment)
    if result.returncode != 3:
        pytest.skip("a target is built where the package looks without being told")
    assert "differential_fuzzer" in result.stderr and "scripts/fuzz" in result.stderr


def test_a_campaign_is_resumed_and_survives_being_killed(campaign, shared, tmp_path):
    builder = shared / "reference" / "builder.py"
    options = ("--work", tmp_path / "w", "--builder", builder, "--only", "literal,build,static", "--seed", 1)
    result = campaign("--runs", 300, *options)
    first = last_line(result)
    assert result.returncode in (0, 1), result.stderr
    assert first["programs"] >= 300 and first["compared"] > 0 and first["arms_reached"] > 0
    assert set(first) >= {"seconds", "programs", "compared", "verdicts", "findings", "arms_reached"}
    corpus = set(os.listdir(tmp_path / "w" / "corpus"))

    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tandem", "fuzz", *map(str, options)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 120
    while len(os.listdir(tmp_path / "w" / "stats")) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert corpus <= set(os.listdir(tmp_path / "w" / "corpus"))
    again = last_line(campaign("--runs", 50, *options))
    assert again["programs"] >= 50
    assert not any(one["new"] for one in again["findings"] if one in first["findings"])


def test_a_finding_is_a_folder(campaign, shared, subject, tmp_path):
    """A lying subject is found at once, once, and the campaign goes on."""
    builder = shared / "reference" / "builder.py"
    result = campaign("--runs", 40, "--work", tmp_path / "w", "--builder", builder, "--subject", subject("liar"))
    found = last_line(result)
    assert result.returncode == 1 and found["verdicts"]["diverge"] >= 20
    folder = found["findings"][0]["path"]
    assert sorted(os.listdir(folder)) == ["finding.json", "log.txt", "program.tdm", "program.txt"]
    again = campaign("--runs", 5, "--work", tmp_path / "w", "--builder", builder, "--subject", subject("liar"))
    assert not any(one["new"] for one in last_line(again)["findings"] if one["path"] == folder)


def test_an_unknown_word_ends_a_campaign(campaign, tmp_path):
    result = campaign("--runs", 5, "--work", tmp_path / "w", "--only", "nonsense")
    assert result.returncode == 2 and "nonsense" in result.stderr


@pytest.mark.parametrize("name", ["differential", "subject", "decode"])
def test_targets_run_any_bytes(name, shared, tmp_path):
    """With an engine or without: files given are run, and nothing is left behind."""
    found = [os.path.join(folder, f"{name}_fuzzer") for folder in engine.build_folders()]
    target = next((path for path in found if os.access(path, os.X_OK)), None)
    if target is None:
        pytest.skip(f"{name}_fuzzer is not built")
    inputs = {"text": PROGRAM.encode(), "zeroes": bytes(40), "bytes": bytes(range(256)), "empty": b""}
    for file, data in inputs.items():
        (tmp_path / file).write_bytes(data)
    environment = {**os.environ, "TANDEM_BUILDER": str(shared / "reference" / "builder.py")}
    environment |= {"TANDEM_STATS": str(tmp_path / "stats.json"), "TANDEM_ONLY": "done"}
    if "_tandem" not in sys.builtin_module_names:  # tandem-python has no packages beside it
        environment["TANDEM_PYTHON"] = sys.executable
    paths = [tmp_path / file for file in inputs]
    result = subprocess.run([target, *paths], env=environment, capture_output=True, text=True, timeout=1800)
    assert result.returncode == 0, result.stderr[-2000:]


def test_the_dictionary_is_what_the_tables_say(root):
    result = subprocess.run([sys.executable, root / "scripts/gen_dict.py", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
