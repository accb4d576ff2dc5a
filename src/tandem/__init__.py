"""Tandem: a Python builder and its reimplementation in C, held against each other.

    import tandem
    result = tandem.compare([[(("local", "x"), [1, 2, 3])]])
    result["verdict"]        # "agree"

The work is done by the extension module `_tandem`; this package is what a person
calls.  Importing it loads neither torch nor a builder.
"""

from __future__ import annotations

from typing import Any, Callable

__version__ = "0.1.0"
__all__ = ["compare", "__version__"]


def compare(
    frames: list | Callable[[], list],
    config: dict[str, Any] | None = None,
    *,
    constraints: Callable[[int, list], list | None] | None = None,
    export: bool = False,
    builder: str | None = None,
    revision: str | None = None,
    subject: str | None = None,
) -> dict[str, Any]:
    """Both builders on objects of yours; gives one case as `tandem compare --json`
    has it: "verdict", "divergences", "reference", "subject", ...

    frames       a list of frames, each a list of (source_spec, object): both
                 sides then build the same objects, root by root.  Or a callable
                 that makes such a list: then it is called once for each side
    config       values of torch._dynamo.config that hold meanwhile
    constraints  called with (k, frame): the export constraints of frame k
    builder, revision, subject
                 as the command's options; a process has one reference, so they
                 must be the same at every call

    Raises tandem.errors.BadInput for what is no case, HarnessFailed when the
    harness or the environment broke.
    """
    from . import session

    judge = session.get(session.Options(builder, revision, subject))
    shared = not callable(frames)
    return judge.compare("<frames>", frames, config, constraints, export, shared)
