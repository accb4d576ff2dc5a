"""tandem doctor: what the environment has, what it lacks, and how to get it.

Exit 0 when the tool can do its work here, 1 when something that it needs is
missing or of the wrong version.  Works without torch and without the extension
module, since their absence is what it is there to tell.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.resources
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ..output import Output

HELP = "what the environment has, lacks, and how to get it"

#: The one release that the reference is; see pyproject.toml.
TORCH = "2.1.2"

SETUP = "run scripts/tandem once, or: pip install dynamo-tandem"


@dataclass(frozen=True)
class Row:
    """One thing that was looked for."""

    name: str
    #: "there", "missing" or "wrong" (present, but not the one that is needed).
    state: str
    #: What was found: a version, a path, a reason.
    found: str
    #: What it is for.
    purpose: str
    #: How to get it; empty when it is there.
    how: str
    #: Whether the tool is unfit without it.
    needed: bool


def row(name: str, found: str, purpose: str, how: str, needed: bool = True, fault: str = "") -> Row:
    """found empty: it is missing; fault: what is wrong with what was found."""
    state = "wrong" if fault else "there" if found else "missing"
    return Row(name, state, fault or found, purpose, "" if state == "there" else how, needed)


# ---- Python and its packages -------------------------------------------------------


def python_rows() -> Iterator[Row]:
    version = platform.python_version()
    fits = sys.version_info[:2] == (3, 11) and sys.implementation.name == "cpython"
    yield row("Python", version, "runs both builders", "install CPython 3.11",
              fault="" if fits else f"{sys.implementation.name} {version}, CPython 3.11 is needed")
    shared = bool(sysconfig.get_config_var("Py_ENABLE_SHARED"))
    yield row("libpython", sysconfig.get_config_var("LDLIBRARY") if shared else "",
              "the fuzz targets and tandem-python are linked with it",
              "take a Python 3.11 built with --enable-shared (Debian: apt-get install libpython3.11-dev)",
              needed=False)
    yield from distribution_rows()


def distribution_rows() -> Iterator[Row]:
    for name, fits, purpose in (
            ("torch", rf"{re.escape(TORCH)}(\+|$)", "the reference is in it"),
            ("numpy", r"1\.", "torch 2.1.2 was built for numpy 1")):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield row(name, "", purpose, SETUP)
            continue
        wrong = "" if re.match(fits, version) else f"{version} is another version than this tool follows"
        yield row(name, version, purpose, f"pip install {name}=={TORCH}" if name == "torch"
                  else "pip install 'numpy>=1.26,<2'", fault=wrong)


def module_rows() -> Iterator[Row]:
    for name, module, purpose in (
            ("torch's builder", "torch._dynamo.variables.builder", "the reference itself"),
            ("extension module", "_tandem", "the work is done in it"),
            ("oracle", "tandem.oracle", "loads and resets the reference")):
        try:
            loaded = importlib.import_module(module)
        except Exception as error:  # whatever a broken package raises is the answer
            missing = isinstance(error, ModuleNotFoundError) and error.name == module
            text = str(error).strip().split("\n")[0]
            yield row(name, "", purpose, SETUP,
                      fault="" if missing else f"{type(error).__name__}: {text}")
        else:
            yield row(name, getattr(loaded, "__file__", None) or "built in", purpose, SETUP)


# ---- what a checkout needs beyond that ---------------------------------------------


def check_commands(*names: str) -> str:
    paths = [shutil.which(name) for name in names]
    return paths[0] or "" if all(paths) else ""


def check_header(name: str) -> str:
    return next((path for path in (f"/usr/include/{name}", f"/usr/local/include/{name}")
                 if os.path.isfile(path)), "")


def check_runtime(name: str) -> str:
    if not shutil.which("clang"):
        return ""
    library = f"libclang_rt.{name}-{platform.machine()}.a"
    path = first_line("clang", f"-print-file-name={library}")
    return path if os.path.isfile(path) else ""


def check_version(name: str, least: str) -> str:
    if not shutil.which(name):
        return ""
    match = re.search(r"\d+(\.\d+)*", first_line(name, "--version"))
    if not match:
        return ""
    have, want = ([int(part) for part in text.split(".")] for text in (match[0], least))
    return match[0] if have >= want else ""


CHECKS = {"commands": check_commands, "header": check_header,
          "runtime": check_runtime, "version": check_version}


def first_line(*command: str) -> str:
    """What a command prints first; empty when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.split("\n")[0].strip()


def package_rows() -> Iterator[Row]:
    """The lines of packages.txt, which the set-up installs from."""
    text = importlib.resources.files("tandem").joinpath("packages.txt").read_text("utf-8")
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        package, check, purpose = (part.strip() for part in line.split("|"))
        kind, *arguments = check.split()
        yield row(package, CHECKS[kind](*arguments), purpose, f"apt-get install {package}", needed=False)


def target_rows() -> Iterator[Row]:
    """The fuzz targets of the build that the scripts name, if they name one."""
    build = os.environ.get("TANDEM_BUILD")
    if not build:
        return
    for preset, purpose in (("fuzz", "campaigns with libFuzzer"), ("afl", "campaigns with AFL++")):
        found = sorted(path.name for path in (Path(build).parent / preset).glob("*_fuzzer"))
        yield row(f"fuzz targets ({preset})", ", ".join(found), purpose,
                  "scripts/fuzz builds them" if preset == "fuzz" else f"cmake --preset {preset}", needed=False)


# ---- the command -------------------------------------------------------------------


def look() -> list[Row]:
    """Everything, in the order in which a person would mend it."""
    return [*python_rows(), *module_rows(), *package_rows(), *target_rows()]


def fit(rows: list[Row]) -> bool:
    return all(one.state == "there" for one in rows if one.needed)


def lines(rows: list[Row]) -> Iterator[str]:
    for one in rows:
        yield f"{one.state:<8} {one.name:<22} {one.found or one.purpose}"
        if one.how:
            yield f"{'':<8} {'':<22} -> {'needed: ' if one.needed else ''}{one.how}"
    lacking = sum(one.state != "there" and not one.needed for one in rows)
    if not fit(rows):
        yield "not fit: what is marked needed has to be mended first"
    elif lacking:
        yield f"fit to run programs; {lacking} of the things that building and fuzzing take are not there"
    else:
        yield "fit"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Takes nothing beyond the common options."""


def run(args: argparse.Namespace, output: Output) -> int:
    """Prints the rows; 0 fit, 1 not."""
    rows = look()
    for line in lines(rows):
        output.line(line)
    if args.json:
        output.document({"schema": 1, "fit": fit(rows), "rows": [asdict(one) for one in rows]})
    return 0 if fit(rows) else 1
