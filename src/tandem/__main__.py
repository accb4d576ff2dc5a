"""python -m tandem, and the command `tandem`."""

from __future__ import annotations

import sys


def main() -> int:
    from . import cli

    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
