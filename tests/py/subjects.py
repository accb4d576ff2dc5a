"""Small subjects in C (tests/check/subject_*.c), compiled when a test asks."""
from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "check"


@pytest.fixture(scope="session")
def subject(tmp_path_factory):
    """subject("liar") compiles tests/check/subject_liar.c; gives the shared object."""
    compiler = next((found for found in map(shutil.which, ("cc", "clang", "gcc")) if found), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("subjects")

    def build(name: str) -> Path:
        path = folder / f"{name}.so"
        if not path.exists():
            include = [f"-I{FOLDER.parents[1] / 'src'}", f"-I{sysconfig.get_path('include')}"]
            source = FOLDER / f"subject_{name}.c"
            subprocess.run([compiler, "-shared", "-fPIC", *include, "-o", path, source], check=True)
        return path

    return build
