"""What the tests share: where things are, and how the tool is started.

A test runs in whatever interpreter pytest runs in: tandem-python with
sanitizers by default, the environment's own for those marked `release`.
"""
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def shared_folder() -> Path | None:
    """The read-only material beside the project, or None where it is absent."""
    folder = Path(os.environ.get("TANDEM_SHARED") or ROOT.parent / "shared")
    return folder if (folder / "reference" / "builder.py").is_file() else None


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The material beside the project; a test that needs it is skipped without."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("no shared material beside the project (set TANDEM_SHARED)")
    return folder


@pytest.fixture(scope="session")
def python() -> list[str]:
    """The start of a command line whose interpreter can import tandem."""
    return [sys.executable, "-P"]


@pytest.fixture(scope="session")
def tandem(python: list[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the tool in a process of its own: tandem("run", path, cwd=...)."""
    def run(*args: object, **options: object) -> subprocess.CompletedProcess[str]:
        options = {"capture_output": True, "text": True, "timeout": 600, "stdin": subprocess.DEVNULL} | options
        return subprocess.run([*python, "-m", "tandem", *map(str, args)], **options)
    return run
