"""The extension module, loaded when it is first needed.

`core.run`, `core.BadInput`, ...: whatever `_tandem` has.  So `tandem doctor`,
`--help` and `--version` work where it is missing or broken.
"""

from __future__ import annotations

import importlib
from typing import Any

from .errors import HarnessFailed, one_line


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        module = importlib.import_module("_tandem")
    except ImportError as error:
        raise HarnessFailed(
            f"the extension module _tandem cannot be imported ({one_line(error)}); tandem doctor says more"
        ) from None
    return getattr(module, name)
