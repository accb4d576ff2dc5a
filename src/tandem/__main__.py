"""python -m tandem, and the command `tandem`."""

from __future__ import annotations

import os
import sys


def fix_hash_seed() -> None:
    """Starts the interpreter anew with hash seed 0: the order of a set of strings,
    and so the order in which a builder meets its members, hangs on the seed."""
    if not sys.flags.hash_randomization or "PYTHONHASHSEED" in os.environ:
        return
    os.environ["PYTHONHASHSEED"] = "0"
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    except OSError:
        pass  # the run goes on; only recorded observations need the same seed


def main() -> int:
    fix_hash_seed()
    from . import cli

    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
