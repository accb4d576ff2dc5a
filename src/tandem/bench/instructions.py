"""Instructions a node, counted under callgrind: the number that no neighbour moves."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from .. import core
from ..errors import one_line
from . import families

#: Set in the child that callgrind runs: the folder that it leaves its counts in.
CHILD = "TANDEM_BENCH_COUNTS"
TIMEOUT_S = 1800


def missing() -> str | None:
    """What counting lacks, and how to get it; None: nothing."""
    if shutil.which("valgrind") is None:
        return "valgrind is not there (apt-get install valgrind)"
    if not core.bench_counts():
        return "built without valgrind/callgrind.h (apt-get install valgrind, then build again)"
    return None


def count_here() -> None:
    """In the child: one counted pass of each family that the subject builds."""
    for one in families.FAMILIES:
        made, nodes = one.make(one.size)
        frames = one.program(made)
        if core.bench_pass("subject", frames)["stopped_cnt"] == 0:
            core.bench_pass("subject", frames, count=f"{one.name}:{nodes}")


def _read(folder: str) -> list[dict[str, Any]]:
    """A family of several frames has a file for each."""
    nodes: dict[str, int] = {}
    totals: dict[str, int] = {}
    for path in sorted(glob.glob(os.path.join(folder, "counts.*"))):
        with open(path, encoding="utf-8", errors="replace") as stream:
            text = stream.read()
        name = re.search(r"^desc: Trigger: Client Request: (.+):(\d+)$", text, re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
        if name and total:
            nodes[name[1]] = int(name[2])
            totals[name[1]] = totals.get(name[1], 0) + int(total[1])
    order = [one.name for one in families.FAMILIES if one.name in nodes]
    return [{"family": name, "nodes": nodes[name], "per_node": totals[name] / nodes[name]} for name in order]


def count(arguments: list[str]) -> dict[str, Any]:
    """Runs this command again under callgrind; {"families": [...]} or {"why": ...}."""
    why = missing()
    if why is not None:
        return {"why": why}
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/counts",
            sys.executable, "-P", "-m", "tandem", "bench", *arguments,
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONHASHSEED": "0", CHILD: folder, "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return {"why": f"callgrind took more than {TIMEOUT_S} s"}
        rows = _read(folder)
    if done.returncode != 0 or not rows:
        last = [line for line in done.stderr.splitlines() if not line.startswith("==")]
        return {"why": f"the run under callgrind failed: {one_line(last[-1] if last else done.stderr)}"}
    return {"families": rows}
