"""What run, compare and replay share: judge many, print, add up."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any

from . import session
from .errors import BadInput
from .output import Output, case_lines, summary_line


def judge_all(
    names: Iterable[str], judge_one: Callable[[str], dict[str, Any]], output: Output, args: argparse.Namespace
) -> list[dict[str, Any]]:
    """Judges each name; a bad one is a case of its own, and the others go on."""
    results: list[dict[str, Any]] = []
    for name in names:
        output.progress(f"{len(results)} judged; {name}")
        try:
            case = judge_one(name)
        except BadInput as error:
            case = session.bad_case(name, error)
            output.note(str(error))
        results.append(case)
        if case["verdict"] != "bad-input" and (case["verdict"] != "agree" or not getattr(args, "quiet", False)):
            for line in case_lines(case, args.all):
                output.line(line)
    return results


def finish(
    results: list[dict[str, Any]], judge: session.Judge, output: Output, args: argparse.Namespace, started: float
) -> int:
    """Prints the end of a command and gives its exit code."""
    counts = session.summary(results)
    if output.json:
        output.document({"schema": 1, **judge.loaded, "cases": results, "summary": counts})
    else:
        output.line(summary_line(counts, time.monotonic() - started))
    code = session.exit_code(results, args.allow_unsupported)
    if not results:
        output.note("there was no program to run")
    elif code == 3 and not any("flaky" in case["flags"] for case in results):
        output.note("nothing was compared")
    for case in results:
        if "flaky" in case["flags"]:
            output.note(f"{case['case']}: flaky: {case['why']}")
    return code
