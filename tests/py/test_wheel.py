"""The wheel: built by both compilers, installed into a clean environment, used.

Nothing is downloaded: the builder is in the locked environment, and the clean
environment sees that one's packages.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.release

COMPILERS = {"gcc": "g++", "clang": "clang++"}


def clean_variables(**more: str) -> dict[str, str]:
    """The environment variables of a user who knows nothing of a checkout."""
    dropped = ("PYTHONPATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LIB_FUZZING_ENGINE")
    kept = {name: value for name, value in os.environ.items()
            if name not in dropped and not name.startswith("TANDEM_")}
    return kept | more


def check_output(*command: object, **options: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=1200,
                          stdin=subprocess.DEVNULL, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module", params=COMPILERS)
def wheel(request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made by one compiler; its build folder stays, so that the next run is quick."""
    out = tmp_path_factory.mktemp("wheel")
    check_output(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation",
        "--config-settings", f"build-dir={root}/build/wheel-{request.param}", "-w", out, root,
        env=clean_variables(CC=request.param, CXX=COMPILERS[request.param]))
    (made,) = out.glob("dynamo_tandem-*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment in which only the wheel was installed."""
    home = tmp_path_factory.mktemp("clean") / "env"
    check_output(sys.executable, "-m", "venv", home, env=clean_variables())
    packages = home / "lib" / "python3.11" / "site-packages"
    (packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    check_output(home / "bin" / "python", "-m", "pip", "install", "--no-deps", "--no-index", wheel,
                 env=clean_variables())
    return home / "bin"


def test_it_holds_the_package_and_nothing_else(wheel: Path, root: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    wanted = {path.relative_to(root / folder).as_posix()
              for folder in ("src/tandem", "oracle") for path in (root / folder).rglob("*.py")}
    assert {name.removeprefix("tandem/").removeprefix("oracle/") for name in names} >= wanted
    assert "tandem/oracle/__init__.py" in names
    assert sum(name.startswith("_tandem.") for name in names) == 1
    tops = {name.split("/")[0] for name in names}
    assert all(top == "tandem" or top.startswith(("_tandem.", "dynamo_tandem-")) for top in tops), tops
    assert not [name for name in names if name.endswith((".c", ".h", ".a", ".o", ".pyc"))]


def test_its_module_needs_no_libpython_and_no_sanitizer(wheel: Path, tmp_path: Path, root: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.startswith("_tandem."))
    module = Path(archive.extract(name, tmp_path))
    dynamic = check_output("readelf", "-d", module)
    needed = [line for line in dynamic.splitlines() if "NEEDED" in line or "RPATH" in line or "RUNPATH" in line]
    assert needed
    assert not [line for line in needed if "python" in line or "san" in line or "PATH" in line], needed
    symbols = check_output("readelf", "--dyn-syms", "--wide", module)
    assert "PyInit__tandem" in symbols
    assert "__asan_" not in symbols and "__ubsan_" not in symbols and "__sanitizer_" not in symbols
    assert os.fsencode(root) not in module.read_bytes(), "the module holds a path of the machine that made it"


def test_it_is_used(installed: Path, root: Path, tmp_path: Path) -> None:
    tool, options = installed / "tandem", {"cwd": tmp_path, "env": clean_variables()}
    assert "0.1.0" in check_output(tool, "--version", **options)
    doctor = json.loads(check_output(tool, "doctor", "--json", **options))
    assert doctor["schema"] == 1 and doctor["fit"]
    (module,) = (row for row in doctor["rows"] if row["name"] == "extension module")
    assert module["found"].startswith(str(installed.parent)), "another module than the wheel's was loaded"
    program = sorted((root / "corpus").rglob("*.tdm"))[0]
    ran = json.loads(check_output(tool, "run", "--json", "--allow-unsupported", program, **options))
    assert ran["cases"][0]["verdict"] == "agree"
