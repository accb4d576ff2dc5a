"""Starts the processes of the oracle's tests: one builder a process."""
from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def child(python: Sequence[str], script: str, *args: object, timeout: int = 1800) -> Any:
    """Runs a script of this folder; what its last line of stdout says, as JSON."""
    command = [*python, str(HERE / script), *map(str, args)]
    options = {"capture_output": True, "text": True, "timeout": timeout, "stdin": subprocess.DEVNULL}
    done = subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "0"}, **options)
    assert done.returncode == 0, f"{script} {args}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout.rstrip("\n").split("\n")[-1])
