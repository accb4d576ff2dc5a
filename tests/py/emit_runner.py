"""Child of test_emit: runs scripts one after the other and gives what each printed.
argv: a JSON file with their paths, then the argument that each gets, if any."""
from __future__ import annotations

import contextlib
import io
import json
import random
import runpy
import sys

import torch
import torch.utils.hooks


def run(path: str) -> str:
    """What a script prints; its end, if it comes by an exception."""
    said = io.StringIO()
    random.seed(0)
    torch.manual_seed(0)
    with contextlib.redirect_stdout(said):
        try:
            runpy.run_path(path, run_name="__main__")
        except Exception as error:
            print(f"ENDED {type(error).__name__}: {error}")
    return said.getvalue()


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as stream:
        paths = json.load(stream)
    result, given = {}, sys.argv[2:3]
    for path in paths:
        sys.argv = [path, *given]
        result[path] = run(path)
        torch._dynamo.reset()
        torch._dynamo.config._config.update(torch._dynamo.config._default)
        # Made once a process, by the config of the first script.
        torch._dynamo.variables.builder.VariableBuilder._type_dispatch.cache_clear()
    foreign = sorted(name for name in sys.modules if name.split(".")[0] in ("tandem", "_tandem"))
    json.dump({"said": result, "foreign": foreign}, sys.stdout)


if __name__ == "__main__":
    main()
