"""The processes of the corpus's tests, each started once and asked for all that
its builder can tell."""
from __future__ import annotations

import functools
import json
import os
import re
from pathlib import Path
from typing import Any

from conftest import ROOT, shared_folder
from oracle_children import child

CORPUS = ROOT / "corpus"
FAMILIES = ("literal", "list", "slice", "dict", "tensor", "callable", "dynamic", "autograd", "operator", "module",
            "numpy", "partial", "special", "pytree", "optimizer", "subclass", "standin")
PLANTED = re.compile(r'^X\((\d+),\s*(\w+),\s*(\w+),\s*"([^"]+)",\s*"([^"]+)"\)', re.M)

#: Programs of other folders than the families' are there because they raise what no
#: builder raises on purpose.
FINDINGS = "findings"


def mission() -> str | None:
    """The builder of the mission's revision, or None where it is not at hand."""
    folder = shared_folder()
    return None if folder is None else str(folder / "reference" / "builder.py")


def programs() -> dict[str, str]:
    """Name (family/what) -> text of every program of the corpus."""
    return {str(path.relative_to(CORPUS).with_suffix("")): path.read_text() for path in sorted(CORPUS.rglob("*.tdm"))}


def alone() -> dict[str, str]:
    """Those of them whose subject needs no reference beside it."""
    return {name: text for name, text in programs().items() if "root compile" not in text}


def faults() -> list[tuple[str, str, str, str, str]]:
    """(number, name, function, field, what a user would see) of planted.def."""
    text = (ROOT / "tests" / "planted" / "planted.def").read_text()
    return PLANTED.findall(re.sub(r"\n\s+", " ", text))


def subjects() -> Path:
    """Where the build leaves the subjects of the tests."""
    given = os.environ.get("TANDEM_BUILD")
    if given:
        return Path(given) / "subjects"
    import tandem

    return Path(tandem.__file__).parents[2] / "subjects"


@functools.cache
def _probe(python: tuple[str, ...], spec: str) -> dict[str, Any]:
    return child(python, "corpus_probe.py", spec, timeout=3600)


def probe(python: list[str], *jobs: str, builder: str | None = None, **more: Any) -> dict[str, Any]:
    """What one process with this builder found; the same question is asked once."""
    spec = {"corpus": str(CORPUS), "builder": builder, "jobs": jobs} | more
    return _probe(tuple(python), json.dumps(spec, sort_keys=True))


def main_run(python: list[str]) -> dict[str, Any]:
    """The best builder at hand against our subject, with sanitizers: what programs do,
    run and leave behind."""
    return probe(python, "judge", "repeat", "quiet", "watch", builder=mission())


def plain_run(python: list[str]) -> dict[str, Any]:
    """The same pair, in the release: what is asked of every program many times."""
    return probe(python, "judge", "deaf", "kept", builder=mission())
