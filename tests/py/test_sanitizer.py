"""Our own interpreter and executables under the address sanitizer.

Skipped in a build without sanitizers, where there is nothing to survive.
"""
from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

THROW = """
import torch
for _ in range(3):
    try:
        torch.ones(2) @ torch.ones(3)
    except RuntimeError as error:
        print("caught", type(error).__name__)
"""


def sanitized() -> bool:
    """Whether this very process has the address sanitizer in it."""
    return hasattr(ctypes.CDLL(None), "__asan_default_options")


needs_sanitizer = pytest.mark.skipif(
    not sanitized(), reason="this interpreter is not sanitized (build/asan/tandem-python is)")


@needs_sanitizer
def test_a_torch_exception_is_survived(python: list[str]) -> None:
    done = subprocess.run([*python, "-c", THROW], capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split("\n")[:3] == ["caught RuntimeError"] * 3


@needs_sanitizer
def test_the_sanitizer_is_awake(python: list[str]) -> None:
    """A read past the end of a block ends the process, with a report."""
    code = "import ctypes; libc = ctypes.CDLL(None); libc.memcpy(ctypes.create_string_buffer(9), ctypes.c_void_p(1), 8)"
    done = subprocess.run([*python, "-c", code], capture_output=True, text=True, timeout=1800)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr


@needs_sanitizer
def test_children_are_sanitized_too() -> None:
    assert Path(sys.executable).name == "tandem-python"
    assert Path(sys.prefix, "pyvenv.cfg").is_file(), "the environment's packages are not seen"


def executables(build: Path) -> list[Path]:
    found = [path for path in [build / "tandem-python", *build.glob("*_fuzzer")] if path.is_file()]
    return sorted(found)


@needs_sanitizer
def test_each_executable_keeps_the_cxx_library(root: Path) -> None:
    """Without it at the start the sanitizer finds no __cxa_throw, and dies at torch's first exception."""
    build = Path(os.environ.get("TANDEM_BUILD") or root / "build" / "asan")
    found = executables(build)
    assert found
    for path in found:
        dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
        needed = [line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line]
        assert any(name.startswith("libstdc++") for name in needed), path
        assert any(name.startswith("libpython3.11") for name in needed), path
        symbols = subprocess.run(["readelf", "--syms", "--wide", path], capture_output=True, text=True,
                                 check=True).stdout
        assert "__asan_default_options" in symbols, path
