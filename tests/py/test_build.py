"""The build: what it needs, what it says without it, and who links what."""
from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest


def cmake(root: Path, build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "LIB_FUZZING_ENGINE"}
    return subprocess.run(["cmake", "-S", root, "-B", build, "-G", "Ninja", *options], env=variables,
                          capture_output=True, text=True, timeout=1800, stdin=subprocess.DEVNULL)


def test_the_presets_are_the_promised_ones(root: Path) -> None:
    presets = json.loads((root / "CMakePresets.json").read_text())
    names = {preset["name"] for preset in presets["configurePresets"] if not preset.get("hidden")}
    assert names == {"release", "debug", "asan", "fuzz", "afl", "coverage"}
    assert {preset["name"] for preset in presets["buildPresets"]} == names
    base = next(preset for preset in presets["configurePresets"] if preset["name"] == "base")
    assert base["cacheVariables"]["TD_WERROR"] == "ON"


@pytest.mark.release
def test_without_python_one_line_says_so(root: Path, tmp_path: Path) -> None:
    done = cmake(root, tmp_path, "-DPython3_EXECUTABLE=/nowhere/python3.11")
    assert done.returncode != 0
    assert "Python 3.11 with its headers was not found" in " ".join(done.stderr.split())


@pytest.mark.release
def test_the_pure_rooms_need_no_python(root: Path, tmp_path: Path) -> None:
    done = cmake(root, tmp_path, "-DTD_WITH_PYTHON=OFF", "-DTD_WITH_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Debug")
    assert done.returncode == 0, done.stderr
    built = subprocess.run(["cmake", "--build", tmp_path], capture_output=True, text=True, timeout=1800)
    assert built.returncode == 0, built.stdout
    commands = (tmp_path / "compile_commands.json").read_text()
    rooms = set(re.findall(r"/src/(\w+)/\w+\.c\"", commands))
    assert rooms == {"base", "graph", "gen", "observe"}
    assert "python" not in commands.replace(str(root), "").lower()
    assert all("-Wpedantic" in entry["command"] for entry in json.loads(commands))


@pytest.mark.release
def test_an_engine_that_is_given_is_linked(root: Path, tmp_path: Path) -> None:
    """A fuzzing service hands its engine over in a variable; our own flags stay out then."""
    build = Path(os.environ["TANDEM_BUILD"])
    python = re.search(r"^Python3_EXECUTABLE:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)[1]
    done = subprocess.run(
        ["cmake", "-S", root, "-B", tmp_path, "-G", "Ninja", f"-DPython3_EXECUTABLE={python}", "-DTD_ENGINE=libfuzzer"],
        env=os.environ | {"LIB_FUZZING_ENGINE": "/lib/engine.a -lm"}, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    ninja = (tmp_path / "build.ninja").read_text()
    linked = re.search(r"^build differential_fuzzer:.*?^\n", ninja, re.MULTILINE | re.DOTALL)[0]
    assert "/lib/engine.a" in linked and "driver_libfuzzer" in linked
    assert "-fsanitize=fuzzer" not in ninja


def test_the_core_names_no_function_of_the_engines(root: Path) -> None:
    """Targets know no engine: what an engine calls is defined by the drivers alone."""
    for path in (root / "src").rglob("*.c"):
        assert "LLVMFuzzerTestOneInput" not in path.read_text(), path
