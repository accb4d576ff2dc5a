"""The judge of this process: a reference, a subject, and verdicts as data."""

from __future__ import annotations

import resource
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable


from . import cases, core
from .errors import (
    EXIT_BAD_INPUT,
    EXIT_DIFFERS,
    EXIT_HARNESS,
    EXIT_OK,
    BadInput,
    HarnessFailed,
    describe,
    one_line,
)
from .output import parse_json

#: From harmless to worst, as in the core.
VERDICTS = ("agree", "poisoned", "subject-unsupported", "reference-failed", "diverge", "bad-input")
TORCH = "2.1.2"
STACK_WANTED = 8 << 20
STACK_MIN = 2 << 20


@dataclass(frozen=True)
class Options:
    """What the process is set up with; None is the default of each."""

    builder: str | None = None
    revision: str | None = None
    subject: str | None = None
    other_side: str | None = None
    coverage: bool = False


def require_stack() -> None:
    """HarnessFailed where the stack ends before the recursion limit does: that would be
    a crash.  A soft limit is raised; the kernel asks it whenever the stack grows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_WANTED if hard == resource.RLIM_INFINITY else min(STACK_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
    if wanted < STACK_MIN:
        raise HarnessFailed(
            f"the stack of a process is limited to {hard >> 10} kB, a builder needs {STACK_MIN >> 10}; "
            "type ulimit -s 8192 in a shell whose limit is not lower"
        )


def require_torch() -> None:
    """HarnessFailed, in one line, when torch is missing or another version."""
    try:
        import torch
    except ImportError as error:
        raise HarnessFailed(
            f"torch {TORCH} is needed and cannot be imported ({one_line(error)}); "
            f"type: pip install torch=={TORCH}"
        ) from None
    except Exception as error:  # another module of that name, or torch that dislikes its environment
        raise HarnessFailed(f"torch {TORCH} is needed, and importing it failed: {describe(error)}") from None
    version = torch.__version__.split("+")[0]
    if version != TORCH:
        raise HarnessFailed(f"torch {TORCH} is needed, this is {version}; type: pip install torch=={TORCH}")


class Judge:
    """Both sides, loaded.  `loaded` says what: builder, revision, revision_distance,
    torch, subject."""

    def __init__(self, options: Options) -> None:
        require_stack()
        require_torch()
        self.options = options
        try:
            self.loaded: dict[str, Any] = core.setup(
                options.builder, options.revision, options.subject, options.other_side, options.coverage
            )
        except core.BadInput as error:
            raise BadInput(one_line(error)) from None
        except core.HarnessError as error:
            raise HarnessFailed(one_line(error)) from None

    def run(self, path: str, program: bytes | str, observations: bool = True) -> dict[str, Any]:
        """A program as one case of the JSON output."""
        try:
            return _case(path, core.run(program, observations))
        except core.HarnessError as error:
            raise HarnessFailed(f"{path}: {one_line(error)}") from None

    def left_behind(self, path: str, program: bytes) -> str | None:
        """What the subject, run alone, still holds of a program's objects; None: nothing."""
        try:
            return core.testing["quiet"](program)
        except core.HarnessError as error:
            raise HarnessFailed(f"{path}: {one_line(error)}") from None

    def compare(
        self,
        path: str,
        frames: list | Callable[[], list],
        config: dict[str, Any] | None = None,
        constraints: Callable[[int, list], list | None] | None = None,
        export: bool = False,
        shared: bool = False,
        observations: bool = True,
    ) -> dict[str, Any]:
        """Objects made in Python as one case of the JSON output."""
        try:
            return _case(path, core.compare(frames, config, constraints, export, shared, observations))
        except core.HarnessError as error:
            raise HarnessFailed(f"{path}: {one_line(error)}") from None
        except core.BadInput as error:
            raise BadInput(f"{path}: {one_line(error)}") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: a case does not end the tool
            raise cases.blame(path, error) from None

    def compare_case(self, case: cases.Case, observations: bool = True) -> dict[str, Any]:
        return self.compare(
            case.path, case.frames, case.config, case.constraints, case.export, case.shared, observations
        )

    def show(self, path: str, program: bytes, side: str) -> dict[str, Any]:
        """One side on a program: built, why, observation."""
        try:
            return _shown(core.show(program, side))
        except core.HarnessError as error:
            raise HarnessFailed(f"{path}: {one_line(error)}") from None

    def frames(self, path: str, program: bytes) -> tuple[list[bytes], list[list[str | None]]]:
        """Canonical bytes of the reference's frames, and for each frame the operator
        records of its steps; HarnessFailed when it broke."""
        try:
            shown = core.show(program, "reference")
        except core.HarnessError as error:
            raise HarnessFailed(f"{path}: {one_line(error)}") from None
        if not shown["built"]:
            raise HarnessFailed(f"{path}: {shown['why']}")
        return shown["frames"], shown["records"]

    def run_recorded(
        self,
        path: str,
        program: bytes,
        frames: list[bytes],
        records: list[list[str | None]],
        observations: bool = True,
    ) -> dict[str, Any]:
        """The subject on a program, against frames that were recorded."""
        try:
            return _case(path, core.run_recorded(program, frames, observations, records))
        except core.HarnessError as error:
            raise HarnessFailed(f"{path}: {one_line(error)}") from None

    def show_case(self, case: cases.Case, side: str) -> dict[str, Any]:
        """One side on a case: built, why, observation."""
        try:
            return _shown(
                core.show_case(
                    case.frames, case.config, case.constraints, case.export, case.shared, side=side
                )
            )
        except core.HarnessError as error:
            raise HarnessFailed(f"{case.path}: {one_line(error)}") from None
        except core.BadInput as error:
            raise BadInput(f"{case.path}: {one_line(error)}") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise cases.blame(case.path, error) from None


_judges: list[Judge] = []


def get(options: Options) -> Judge:
    """The process's judge, made at the first call.  A process has one reference, so
    other options later are HarnessFailed."""
    if not _judges:
        _judges.append(Judge(options))
    if _judges[0].options != options:
        raise HarnessFailed("this process is set up with another builder, revision or subject already")
    return _judges[0]


def builder_hash() -> str:
    """The fingerprint of the loaded builder's syntax tree."""
    from .oracle import loader, revisions

    return revisions.fingerprint(loader.loaded().tree)


def loaded(options: Options) -> dict[str, Any]:
    """What is loaded, or, as long as nothing is, what was asked for."""
    if _judges:
        return _judges[0].loaded
    asked = {"builder": options.builder or "installed", "revision": options.revision}
    return {**asked, "revision_distance": None, "torch": None, "subject": options.subject}


# ---- data ------------------------------------------------------------------------


def _value(text: str) -> Any:
    """A value of a divergence; None where a side has nothing there."""
    return parse_json(text) if text else None


def _divergence(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "path": raw["path"],
        "field": raw["field"],
        "reference": _value(raw["reference"]),
        "subject": _value(raw["subject"]),
        "missing": [side for side in ("reference", "subject") if not raw[side]],
        "arm": raw["arm"],
    }


def _case(path: str, raw: dict[str, Any]) -> dict[str, Any]:
    case = {
        "case": path,
        "verdict": raw["verdict"],
        "flags": raw["flags"],
        "why": raw["why"],
        "compared": raw["compared"],
        "roots": raw["roots"],
        "unsupported": raw["unsupported"],
        "signature": raw["signature"],
        "signature_hash": raw["signature_hash"],
        "divergences": [_divergence(one) for one in raw["divergences"]],
        "arms": raw["arms"],
    }
    for side in ("reference", "subject"):
        if raw[side] is not None:
            case[side] = parse_json(raw[side])
    return case


def _shown(raw: dict[str, Any]) -> dict[str, Any]:
    same = {name: raw[name] for name in ("built", "why", "tree")}
    return {**same, "observation": parse_json(raw["observation"])}


def leak(case: dict[str, Any], why: str) -> None:
    """Makes a case that agreed a divergence: the subject kept something."""
    where, _, counts = why.partition(": ")
    was, _, now = counts.partition(", ")
    case["verdict"] = "diverge"
    case["signature"] = "build | Object.references | objects[] | int/int | "
    case["signature_hash"] = core.signature_hash(case["signature"])
    case["divergences"] = [
        {
            "path": "objects[" + where.split()[1] + "]",
            "field": "Object.references",
            "reference": f"{where}: {was}",
            "subject": now,
            "missing": [],
            "arm": {"id": "", "function": "", "subject": ""},
        }
    ]


def bad_case(path: str, error: BadInput) -> dict[str, Any]:
    """A case that could not be read, in the shape of the others."""
    return {
        "case": path,
        "verdict": "bad-input",
        "flags": [],
        "why": str(error),
        "compared": False,
        "roots": [],
        "unsupported": [],
        "signature": None,
        "signature_hash": "",
        "divergences": [],
        "arms": [],
    }


def summary(results: list[dict[str, Any]]) -> dict[str, int]:
    """How many cases have each verdict; verdicts that did not occur are left out."""
    counts = Counter(case["verdict"] for case in results)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def exit_code(results: list[dict[str, Any]], allow_unsupported: bool) -> int:
    """The exit code of run, compare and replay (design page, Verdicts and exit codes)."""
    verdicts = {case["verdict"] for case in results}
    lifted = {"subject-unsupported", "poisoned"} if allow_unsupported else set()
    if not results or any("flaky" in case["flags"] for case in results):
        return EXIT_HARNESS
    if "bad-input" in verdicts:
        return EXIT_BAD_INPUT
    if verdicts - lifted - {"agree"}:
        return EXIT_DIFFERS
    return EXIT_OK if any(case["compared"] for case in results) else EXIT_HARNESS
