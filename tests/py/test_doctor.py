"""tandem doctor: what is there, what is missing, what is wrong."""
from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

doctor = importlib.import_module("tandem.commands.doctor")


def bare_python() -> str:
    """The interpreter that the environment was made from: it sees no torch of ours."""
    return str(Path(sys.base_prefix) / "bin" / "python3.11")


def ask(packages: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """doctor in a process that sees the tool and what lies in packages, no environment."""
    staged = Path(doctor.__file__).parents[2] if "TANDEM_BUILD" not in os.environ else \
        Path(os.environ["TANDEM_BUILD"]) / "python"
    return subprocess.run(
        [bare_python(), "-S", "-P", "-m", "tandem", "doctor", *more], capture_output=True, text=True, timeout=1800,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{packages}:{staged}"})


def rows(done: subprocess.CompletedProcess[str]) -> dict[str, dict]:
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


def test_this_environment_is_fit(tandem) -> None:
    done = tandem("doctor", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == 1 and document["fit"] is True
    found = rows(done)
    assert found["torch"]["found"].startswith("2.1.2")
    assert found["torch's builder"]["state"] == "there"
    assert set(found["clang"]) == {"name", "state", "found", "purpose", "how", "needed"}


def test_people_get_lines(tandem) -> None:
    done = tandem("doctor")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("fit")


def test_no_torch_is_told(tmp_path: Path) -> None:
    done = ask(tmp_path, "--json")
    assert done.returncode == 1, done.stderr
    assert rows(done)["torch"]["state"] == "missing"
    assert json.loads(done.stdout)["fit"] is False
    assert "scripts/tandem" in rows(done)["torch"]["how"]


def test_another_torch_is_told(tmp_path: Path) -> None:
    (tmp_path / "torch-2.10.2.dist-info").mkdir()
    (tmp_path / "torch-2.10.2.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.10.2\n")
    done = ask(tmp_path, "--json")
    assert done.returncode == 1
    assert rows(done)["torch"]["state"] == "wrong"
    assert "2.10.2" in rows(done)["torch"]["found"] and "torch==2.1.2" in rows(done)["torch"]["how"]


def test_a_broken_module_gives_its_reason(tmp_path: Path) -> None:
    (tmp_path / "_tandem.py").write_text("raise ImportError('no such symbol: td_x')\n")
    done = ask(tmp_path, "--json")
    assert rows(done)["extension module"]["state"] == "wrong"
    assert "td_x" in rows(done)["extension module"]["found"]


def test_each_package_is_looked_for(root: Path) -> None:
    listed = [line.split("|")[0].strip() for line in (root / "src/tandem/packages.txt").read_text().splitlines()
              if line and not line.startswith("#")]
    assert listed and [row.name for row in doctor.package_rows()] == listed


def test_a_missing_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {row.name: row for row in doctor.package_rows()}
    for name in ("clang", "libclang-rt-14-dev", "cmake"):
        assert found[name].state == "missing" and found[name].how == f"apt-get install {name}"


def test_an_old_cmake_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "cmake"
    program.write_text("#!/bin/sh\necho cmake version 3.18.4\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert doctor.check_version("cmake", "3.25") == ""
    assert doctor.check_version("cmake", "3.9") == "3.18.4"


def test_static_libpython_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 0 if name == "Py_ENABLE_SHARED" else "x.a")
    (row,) = (row for row in doctor.python_rows() if row.name == "libpython")
    assert row.state == "missing" and "--enable-shared" in row.how
