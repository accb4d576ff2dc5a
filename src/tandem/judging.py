"""What run, compare and replay share: judge many, print, add up."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import session, watching
from .errors import EXIT_HARNESS, BadInput
from .output import Output, case_lines, summary_line

Thing = TypeVar("Thing")


def judge_all(
    names: Iterable[str],
    load: Callable[[str], Thing],
    judge_one: Callable[[session.Judge, Thing], dict[str, Any]],
    output: Output,
    args: argparse.Namespace,
    options: session.Options,
) -> list[dict[str, Any]]:
    """Judges each name; a bad one is a case of its own, and the others go on.  The
    builders are loaded when the first good one is there, so that bad input is told
    at once."""
    results: list[dict[str, Any]] = []
    for name in names:
        output.progress(f"{len(results)} judged; {name}")
        watching.at(name)
        try:
            thing = load(name)
        except BadInput as error:
            results.append(session.bad_case(name, error))
            output.note(str(error))
            continue
        judge = session.get(options)
        try:
            case = judge_one(judge, thing)
        except BadInput as error:
            case = session.bad_case(name, error)
            output.note(str(error))
        if case["verdict"] == "bad-input" and case["why"] and not case["why"].startswith(name):
            case["why"] = f"{name}:1:1: {case['why']}"
            output.note(case["why"])
        results.append(case)
        _show(case, output, args)
    return results


def _show(case: dict[str, Any], output: Output, args: argparse.Namespace) -> None:
    quiet = getattr(args, "quiet", False) and case["verdict"] == "agree"
    if case["verdict"] != "bad-input" and not quiet:
        for line in case_lines(case, args.all):
            output.line(line)


def _notes(results: list[dict[str, Any]], code: int, output: Output) -> None:
    flaky = [case for case in results if "flaky" in case["flags"]]
    for case in flaky:
        output.note(f"{case['case']}: flaky: {case['why']}")
    if not results:
        output.note("there was no program to run")
    elif code == EXIT_HARNESS and not flaky:
        output.note("nothing was compared")


def finish(
    results: list[dict[str, Any]],
    output: Output,
    args: argparse.Namespace,
    options: session.Options,
    started: float,
) -> int:
    """Prints the end of a command and gives its exit code."""
    counts = session.summary(results)
    if output.json:
        output.document({"schema": 1, **session.loaded(options), "cases": results, "summary": counts})
    elif results:
        output.line(summary_line(counts, time.monotonic() - started))
    code = session.exit_code(results, args.allow_unsupported)
    _notes(results, code, output)
    return code
