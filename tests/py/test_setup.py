"""The set-up: what is locked, what is trusted, what is said when something is missing.

scripts/lib.sh is run with a made-up interpreter, which takes the place of
Python, venv and pip and writes down how it was called.
"""
from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

#: Stands for Python 3.11, and as NAME.partial/bin/python for the environment's:
#: passes the fitness test, makes environments, "installs" as FAKE_PIP says.
FAKE_PYTHON = r"""#!/bin/bash
echo "$*" >>"$FAKE_LOG"
case "$*" in
"-I -") cat >/dev/null; printf '%s' "$FAKE_FAULT" ;;
"-I -c import os, sys"*) echo fake 3.11 ;;
"-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo "#!$3/bin/python" >"$3/bin/pytest" ;;
"-m pip install "*)
    case "$FAKE_PIP" in
    fail) echo "pip: no network" >&2; exit 1 ;;
    hang) touch "$FAKE_LOG.hangs"; exec sleep 60 ;;
    slow) sleep 1 ;;
    esac ;;
esac
"""


class Machine:
    """A made-up machine: a cache folder, an interpreter, and the calls it got."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.python = self.program("python3.11", FAKE_PYTHON)
        self.log = folder / "calls"
        self.log.touch()
        self.lock = folder / "requirements.lock"
        self.lock.write_text("torch==2.1.2\n")
        self.variables = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"),
            "TANDEM_BASE_PYTHON": str(self.python), "TANDEM_LOCK_FILE": str(self.lock),
            "FAKE_LOG": str(self.log), "FAKE_PIP": "good", "FAKE_FAULT": ""}

    def program(self, name: str, text: str) -> Path:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def command(self, script: str) -> list[str]:
        return ["bash", "-c", f"set -euo pipefail; . '{self.root}/scripts/lib.sh'; {script}"]

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(script), env=self.variables | variables, timeout=300,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def start(self, script: str, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(self.command(script), env=self.variables | variables, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                start_new_session=True)

    def calls(self, start: str) -> int:
        return sum(line.startswith(start) for line in self.log.read_text().splitlines())


@pytest.fixture
def machine(root: Path, tmp_path: Path) -> Machine:
    return Machine(root, tmp_path)


SHOW = 'td_environment; printf "%s" "$TD_ENV"'


# ---- what is locked ----------------------------------------------------------------


def pins(text: str) -> dict[str, str]:
    """name -> the rest of its line, of a requirements file."""
    found = re.findall(r"^([A-Za-z0-9_.-]+)([^\n\\#]*)", text, re.MULTILINE)
    return {name.lower().replace("_", "-"): rest.strip() for name, rest in found}


def test_the_lock_file_pins_what_is_asked_for(root: Path) -> None:
    asked = pins((root / "requirements.in").read_text())
    lock = (root / "requirements.lock").read_text()
    locked = pins(lock)
    assert asked and "torch" in asked
    for name, rest in asked.items():
        assert name in locked, f"{name} is not locked: make requirements.lock again"
        wanted, _, marker = rest.partition(";")
        assert wanted.strip() in locked[name] and marker.strip() in locked[name], name
    for name, rest in locked.items():
        assert re.match(r"==\d", rest), f"{name} is not pinned"


def test_each_locked_package_has_hashes(root: Path) -> None:
    lock = (root / "requirements.lock").read_text()
    entries = re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)[1:]
    assert len(entries) > 10
    assert all("--hash=sha256:" in entry for entry in entries)


def test_each_asked_for_package_says_why(root: Path) -> None:
    before = ""
    for line in (root / "requirements.in").read_text().splitlines():
        if re.match(r"[A-Za-z]", line):
            assert before.startswith("#") or re.match(r"[A-Za-z]", before), f"{line}: no reason above it"
        before = line


def test_the_project_pins_the_same_torch(root: Path) -> None:
    torch = pins((root / "requirements.in").read_text())["torch"]
    assert f'"torch{torch}"' in (root / "pyproject.toml").read_text()
    assert f'TORCH = "{torch[2:]}"' in (root / "src/tandem/commands/doctor.py").read_text()


# ---- what is trusted ---------------------------------------------------------------


def test_an_environment_is_made_once(machine: Machine) -> None:
    first, second = machine.run(SHOW), machine.run(SHOW)
    assert first.returncode == second.returncode == 0, first.stderr
    assert first.stdout == second.stdout and Path(first.stdout, "bin/python").exists()
    assert machine.calls("-m venv") == 1
    assert "MB are downloaded" in first.stderr and second.stderr == ""
    assert ".partial" not in Path(first.stdout, "bin/pytest").read_text()


def test_another_lock_file_is_another_environment(machine: Machine) -> None:
    first = machine.run(SHOW)
    machine.lock.write_text("torch==2.1.2\nnumpy==1.26.4\n")
    assert machine.run(SHOW).stdout != first.stdout


@pytest.mark.parametrize("harm", [
    'rm "$TD_ENV/$TD_STAMP"',
    'echo elsewhere >"$TD_ENV/$TD_STAMP"',
    'rm "$TD_ENV/bin/python"',
    'ln -sf /nowhere/python "$TD_ENV/bin/python"',
    'rm -r "$TD_ENV"; mkdir -p "$TD_ENV/bin"',
])
def test_a_damaged_environment_is_made_again(machine: Machine, harm: str) -> None:
    assert machine.run(f"td_environment; {harm}").returncode == 0
    again = machine.run(SHOW)
    assert again.returncode == 0, again.stderr
    assert machine.calls("-m venv") == 2
    assert Path(again.stdout, "bin/python").exists()


def test_a_failed_installation_leaves_nothing_to_trust(machine: Machine) -> None:
    failed = machine.run(SHOW, FAKE_PIP="fail")
    assert failed.returncode == 3 and "pip could not install" in failed.stderr
    assert machine.run("td_find_python; td_environment_name; td_environment_fits").returncode != 0
    assert machine.run(SHOW).returncode == 0
    assert machine.calls("-m venv") == 2


def test_a_set_up_that_was_killed_is_begun_anew(machine: Machine) -> None:
    process = machine.start(SHOW, FAKE_PIP="hang")
    hangs = machine.log.with_name("calls.hangs")
    for _ in range(200):
        if hangs.exists():
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert list((machine.folder / "cache" / "tandem").glob("*.partial"))
    again = machine.run(SHOW)
    assert again.returncode == 0, again.stderr
    assert not list((machine.folder / "cache" / "tandem").glob("*.partial"))


def test_of_two_set_ups_at_once_one_waits(machine: Machine) -> None:
    both = [machine.start(SHOW, FAKE_PIP="slow") for _ in range(2)]
    ends = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert machine.calls("-m venv") == 1
    assert sum("waiting for it" in stderr for _, stderr in ends) == 1


# ---- what is said ------------------------------------------------------------------


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a set-up that could not go on."""
    assert done.returncode == 3, done.stderr
    (line,) = done.stderr.splitlines()
    return line


def test_an_unfit_python_is_told(machine: Machine) -> None:
    line = one_line(machine.run(SHOW, FAKE_FAULT="has only a static libpython"))
    assert "has only a static libpython" in line and "shared libpython is needed" in line
    assert "does not run" in one_line(machine.run(SHOW, TANDEM_BASE_PYTHON="/nowhere/python"))


def test_no_python_at_all_is_told(machine: Machine) -> None:
    line = one_line(machine.run("td_python_candidates() { :; }; td_may_install() { false; }; td_find_python",
                                TANDEM_BASE_PYTHON=""))
    assert "apt-get install python3.11 python3.11-venv libpython3.11-dev" in line
    assert "--enable-shared" in line


def test_missing_packages_are_a_line_to_type(machine: Machine) -> None:
    missing = "td_check_commands() { false; }; td_may_install() { false; }; td_system"
    line = one_line(machine.run(missing))
    assert "sudo apt-get install clang " in line and "afl++" in line and "ninja-build" in line


def test_missing_packages_are_installed_where_they_may_be(machine: Machine) -> None:
    have = machine.folder / "have"
    machine.program("apt-get", f'#!/bin/bash\necho "apt-get $*" >>"$FAKE_LOG"\n[ "$1" = update ] || touch {have}\n')
    done = machine.run(f"td_check_commands() {{ [ -e {have} ]; }}; td_may_install() {{ true; }}; td_system",
                       PATH=f"{machine.folder}/bin:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert "installing system packages with apt-get: clang " in done.stderr
    assert machine.calls("apt-get install") == 1


def test_a_full_disk_is_told_before_the_download(machine: Machine) -> None:
    machine.program("df", "#!/bin/bash\necho 'F 1M Used Avail'; echo 'd 1 1 12 99% /'\n")
    done = machine.run(SHOW, PATH=f"{machine.folder}/bin:{os.environ['PATH']}")
    assert done.returncode == 3
    assert "only 12 MB are free" in done.stderr.splitlines()[-1]
    assert machine.calls("-m pip") == 0


def test_the_check_needs_no_set_up(root: Path) -> None:
    script = str(root / "scripts" / "test")
    shown = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=300, check=True)
    assert "--check" in shown.stdout
    wrong = subprocess.run([script, "--no-such"], capture_output=True, text=True, timeout=300)
    assert wrong.returncode == 2 and "--no-such" in wrong.stderr


@pytest.mark.parametrize("name", ["tandem", "fuzz", "test", "tidy.py"])
def test_the_scripts_can_be_run(root: Path, name: str) -> None:
    assert os.access(root / "scripts" / name, os.X_OK)
