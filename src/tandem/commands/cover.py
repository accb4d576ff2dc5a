"""tandem cover [CORPUS]: what a corpus reaches in the reference."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .. import covering, excused, judging, lines, options, programs, session
from ..errors import EXIT_BAD_INPUT, EXIT_DIFFERS, EXIT_HARNESS, EXIT_OK, BadInput, of_os_error
from ..oracle.arms import Arm
from ..output import Output, summary_line
from .replay import default_corpus

HELP = "arms of the reference that a corpus reaches, misses, and need not reach"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="files or folders (default: the checkout's corpus)")
    parser.add_argument("--excused", action="store_true", help="name excused arms and lines too, with their reasons")
    parser.add_argument("--table", metavar="FILE.md", help="write the revision's column of this page (corpus/ARMS.md)")
    options.add_sides(parser)
    parser.set_defaults(all=False, quiet=True)


def judge_one(judge: session.Judge, program: programs.Program) -> dict[str, Any]:
    return judge.run(program.path, program.binary, observations=False)


def cover_of(cases: list[dict[str, Any]]) -> covering.Cover:
    """What these cases of the loaded builder reach."""
    from ..oracle import excuses, loader

    arms = loader.loaded().arms.arms
    return covering.of_cases(arms, excuses.excused(arms), cases)


def _arm_line(arm: Arm, cover: covering.Cover) -> str:
    from ..oracle.arms import shorten

    excuse = cover.excuses.get(arm.id)
    why = f": {excuse.sort}, {excuse.reason}" if excuse else ""
    return f"  {arm.id:<28} {arm.qualname}: {shorten(arm.text, 90)}{why}"


def show(cover: covering.Cover, output: Output, with_excused: bool) -> None:
    """Function by function, then what is missing."""
    rows = covering.by_family(cover)
    width = max(len(row[0]) for row in rows)
    for name, agreed, of, excused in rows:
        rest = f"  ({excused} excused)" if excused else ""
        output.line(f"{name:<{width}}  {agreed:>4} of {of:>3}{rest}")
    for title, arms in (("missing", cover.missing), ("excused", cover.excused if with_excused else [])):
        output.line(f"\n{title}" if arms else "")
        for arm in arms:
            output.line(_arm_line(arm, cover))
    output.line(
        f"\n{len(cover.arms)} arms: {len(cover.reached)} reached, {len(cover.missing)} missing, "
        f"{len(cover.excused)} excused"
    )


def write_table(path: str, revision: str, cover: covering.Cover) -> None:
    """Puts the revision's column into the page at path, which is made if it is not there."""
    try:
        try:
            with open(path, encoding="utf-8") as file:
                columns = covering.columns_of(file.read())
        except FileNotFoundError:
            columns = {}
        columns[revision] = covering.column(cover)
        with open(path, "w", encoding="utf-8") as file:
            file.write(covering.page(dict(sorted(columns.items(), reverse=True))))
    except OSError as error:
        raise of_os_error(error, writing=True) from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: it is no UTF-8 text") from None


def _exit_code(cases: list[dict[str, Any]], cover: covering.Cover | None) -> int:
    if any(case["verdict"] == "bad-input" for case in cases):
        return EXIT_BAD_INPUT
    if cover is None or not any(case["compared"] for case in cases):
        return EXIT_HARNESS
    agree = all(case["verdict"] == "agree" for case in cases)
    return EXIT_OK if agree and not cover.missing else EXIT_DIFFERS


def _covered(args: argparse.Namespace) -> str | None:
    """The subject that counts its lines, where the scripts built one and no other is asked for."""
    return os.environ.get("TANDEM_COVERED") if args.subject is None else None


def _starved(covered: lines.Covered, cases: list[dict[str, Any]], output: Output) -> Iterator[str]:
    """What goes wrong where an allocation of the subject fails, for each program that agrees."""
    for done, case in enumerate(one for one in cases if one["verdict"] == "agree"):
        output.progress(f"{done} without memory; {case['case']}")
        for why in covered.starve(programs.load(case["case"]).binary):
            yield f"{case['case']}: {why}"


def _show_lines(replayed: lines.Lines, why: excused.Excused, output: Output, by_name: bool) -> None:
    """What is not reached, and the reasons: how many lines each has, or each by name."""
    decisions = lines.unreached(replayed, replayed.decisions)
    output.line("\ndecision lines that no program reaches" if decisions else "")
    for name, numbers in decisions.items():
        output.line(f"  {name}: {' '.join(map(str, numbers))}")
    title = "lines without a reason that neither a program nor a failing allocation reaches"
    output.line(f"\n{title}" if why.without else "")
    for gap in why.without:
        output.line(f"  {gap}  {gap.at.partition(' ')[2]}")
    sorts = Counter()
    for gap, reason in why.with_reason:
        sorts[reason] += len(gap.lines)
    output.line("\nexcused lines" if sorts else "")
    for reason, count in sorts.most_common():
        output.line(f"  {count:>4}  {reason}")
    for gap, reason in why.with_reason if by_name else []:
        output.line(f"  {gap}  {reason}")
    for row in why.stale:
        output.note(f"excused.toml: {row.at!r} is reached, or stands there no longer: its row is to go")


def measure(
    path: str, cases: list[dict[str, Any]], revision: str, output: Output, by_name: bool
) -> tuple[dict[str, Any], bool]:
    """Lines that these cases, just run in this process, reached; whether nothing went wrong
    without memory, and every line is reached or has a reason."""
    covered = lines.Covered(path, os.path.join(os.environ["TANDEM_ROOT"], "src", "builder"))
    replayed = covered.lines()
    faults = list(_starved(covered, cases, output))
    for fault in faults:
        output.note(fault)
    starved = covered.lines()
    why = excused.judge(starved, excused.table(), revision)
    counts = lines.document(replayed, starved)
    _show_lines(replayed, why, output, by_name)
    output.line(
        f"\n{counts['decision_reached']} of {counts['decision_total']} decision lines of the subject by replay, "
        f"{counts['reached']} of {counts['total']} lines by replay and failing allocations, "
        f"{sum(len(gap.lines) for gap in why.without)} lines without a reason"
    )
    return counts | why.document(), not (faults or why.without or why.stale)


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    covered = _covered(args)
    args.subject = covered or args.subject
    sides = options.sides(args, coverage=True)
    names = list(programs.find(args.corpus or [default_corpus()]))
    cases = judging.judge_all(names, programs.load, judge_one, output, args, sides)
    if not cases:
        output.note("there was no program to run")
    loaded = session.loaded(sides)
    cover = None if loaded["torch"] is None else cover_of(cases)
    counts, subject_lines, sound = session.summary(cases), None, True
    if cover is not None:
        show(cover, output, args.excused)
        if covered is not None:
            subject_lines, sound = measure(covered, cases, loaded["revision"], output, args.excused)
        output.line(summary_line(counts, time.monotonic() - started))
        for arm in cover.stale():
            output.note(f"{arm} is excused, and reached all the same: its row of excuses.toml is to go")
        if args.table:
            write_table(args.table, loaded["revision"], cover)
    if output.json:
        arms = cover.document() if cover else {}
        output.document({"schema": 1, **loaded, **arms, "subject_lines": subject_lines, "summary": counts})
    return _exit_code(cases, cover) if sound else EXIT_DIFFERS
