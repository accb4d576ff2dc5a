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


def hold_descriptors() -> None:
    """Whoever starts us may have closed 0, 1 or 2: a file that is opened later must not
    become one of them.  1 is one that refuses to be written to, so that it is said."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR if descriptor == 2 else os.O_RDONLY)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            os.set_inheritable(descriptor, True)


def main() -> int:
    hold_descriptors()
    fix_hash_seed()
    from . import cli

    return cli.main(sys.argv[1:], watch=True)


if __name__ == "__main__":
    sys.exit(main())
