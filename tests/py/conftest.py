"""What the tests share: where things are, and how the tool is started.

A test runs in whatever interpreter pytest runs in: tandem-python with
sanitizers by default, the environment's own for those marked `release`.

scripts/test starts several pytests side by side, lanes.  Each collects all tests
and runs a file when it is the first to claim it.  A file's tests stay together, as
they share the processes that they start; so do files with the same LANE.
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


# ---- lanes ---------------------------------------------------------------------------

#: Files that take longest, in that order: they are claimed first, so that no lane is
#: left with a long one at the end.
LONG = (
    "test_planted", "test_wheel", "test_liar", "test_corpus", "test_independence", "test_campaign", "test_cli",
    "test_builder", "test_walk", "test_emit", "test_oracle_context", "test_switches", "test_hostile",
)  # fmt: skip


class Lane:
    """Which files this pytest runs: those that it claimed in the folder of all lanes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.claims: dict[str, bool] = {}

    def has(self, name: str) -> bool:
        if name not in self.claims:
            try:
                os.close(os.open(self.folder / name, os.O_CREAT | os.O_EXCL))
                self.claims[name] = True
            except FileExistsError:
                self.claims[name] = False
        return self.claims[name]


LANE = Lane(Path(os.environ["TANDEM_LANES"])) if os.environ.get("TANDEM_LANES") else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; the tests of a file in the order in which they stand there."""
    places = {name: index for index, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """True: done with, as another lane has this file."""
    name = getattr(item.module, "LANE", item.path.stem)
    return None if LANE is None or LANE.has(name) else True


# ---- where things are ------------------------------------------------------------------


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
        options = {"capture_output": True, "text": True, "timeout": 1800, "stdin": subprocess.DEVNULL} | options
        return subprocess.run([*python, "-m", "tandem", *map(str, args)], **options)
    return run
