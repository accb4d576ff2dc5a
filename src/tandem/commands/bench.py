"""tandem bench: speed and growth against the reference and peers, in one run."""

from __future__ import annotations

import argparse
import gc
import math
import os
import time
from typing import Any

from .. import core, options, programs, session
from ..bench import families, instructions, measure
from ..errors import EXIT_OK, BadInput
from ..output import Output, table
from .replay import default_corpus

HELP = "speed and growth against the reference and its peers, in one run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="files or folders (default: the checkout's corpus)")
    parser.add_argument("--quick", action="store_true", help="few rounds, small sizes: whether it works")
    parser.add_argument("--instructions", action="store_true", help="count the subject's instructions too (valgrind)")
    options.add_sides(parser)


def _corpus(args: argparse.Namespace, effort: measure.Effort) -> list[measure.Timed]:
    paths = list(programs.find(args.corpus or [default_corpus()]))
    if not paths:
        raise BadInput("there is no program in the corpus that was given")
    if args.quick:
        paths = paths[:: max(1, len(paths) // effort.generated)]
    return [measure.Timed(path, programs.load(path).binary) for path in paths]


def _generated(effort: measure.Effort) -> list[measure.Timed]:
    """What a campaign over the subject's own list draws."""
    return [measure.Timed(f"seed {seed}", programs.generate(seed, "done")) for seed in range(effort.generated)]


# ---- numbers -----------------------------------------------------------------------


def _rounded(value: Any) -> Any:
    """Four digits are more than a run repeats."""
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, float) and value:
        return round(value, 3 - math.floor(math.log10(abs(value))))
    return value


def ratios(rows: list[dict], grown: list[dict], corpus: dict, generated: dict, share: float | None) -> dict[str, Any]:
    """The final numbers; what was not measured is null and not counted.  In the corpus every
    program counts alike: in the time of all, two programs whose user code has torch raise
    for either side (some 5 ms for its stack trace) outweigh the other hundreds."""
    found = {row["family"]: row.get("subject_vs_reference") for row in rows}
    found["corpus"] = corpus.get("geomean_of_programs")
    known = {name: value for name, value in found.items() if value is not None}
    judged = {"corpus", *(one.name for one in families.FAMILIES if one.judged)}
    pickled = [row["subject_vs_pickle"] for row in rows if row.get("nested") and "subject_vs_pickle" in row]
    exponents = [one["exponent"] for one in grown if "exponent" in one]
    grew = [one["last_vs_first"] for one in grown if "last_vs_first" in one]
    return {
        "subject_vs_reference": {
            "geomean": measure.geomean([value for name, value in known.items() if name in judged]),
            "min": min(known.values(), default=None),
            "min_of": min(known, key=known.__getitem__, default=None),
            "not_measured": sorted(set(found) - set(known)),
        },
        "subject_vs_pickle": measure.geomean(pickled),
        "harness_vs_bare_reference": generated.get("harness_vs_bare_reference"),
        "growth_exponent": max(exponents, default=None),
        "growth_last_vs_first": max(grew, default=None),
        "share_compared": share,
    }


# ---- for people --------------------------------------------------------------------


def _number(row: dict[str, Any], name: str) -> str:
    return f"{row[name]:,.4g}" if row.get(name) is not None else "-"


def _family_lines(document: dict[str, Any]) -> list[str]:
    names = (
        "subject_ns_per_node", "reference_ns_per_node", "subject_vs_reference",
        "pickle_ns_per_node", "subject_vs_pickle",
    )  # fmt: skip
    rows = [("family", "nodes", "subject ns", "reference ns", "reference/subject", "pickle ns", "subject/pickle")]
    for row in document["families"]:
        cells = [_number(row, name) for name in names]
        rows.append((row["family"], str(row["nodes"]), *(["unsupported"] + cells[1:] if "why" in row else cells)))
    corpus = document["corpus"]
    count = f"{corpus['agree']} of {corpus['programs']}"
    for name, key in (("corpus", "geomean_of_programs"), ("  in the time of all", "subject_vs_reference")):
        rows.append((name, count, "-", "-", _number(corpus, key), "-", "-"))
    return table(rows)


def _growth_lines(document: dict[str, Any]) -> list[str]:
    rows = [("growth", "nodes", "ns/node", "first pass", "pickle ns/node", "bytes/node", "exponent")]
    for one in document["growth"]:
        for row in one.get("sizes", []):
            names = ("ns_per_node", "first_ns_per_node", "pickle_ns_per_node", "bytes_per_node")
            cells = [_number(row, name) for name in names]
            rows.append((one["family"], str(row["nodes"]), *cells, _number(one, "exponent")))
    return table(rows)


def _speed_lines(document: dict[str, Any]) -> list[str]:
    speeds = [(name.replace("_", " "), f"{value:,.0f}") for name, value in document["programs_per_s"].items()]
    return table([("programs per second", ""), *speeds])


def _instruction_lines(document: dict[str, Any]) -> list[str]:
    counted = document["instructions"]
    if counted is None:
        return []
    if "why" in counted:
        return [f"  instructions were not counted: {counted['why']}"]
    rows = [(row["family"], f"{row['per_node']:,.1f}") for row in counted["families"]]
    return table([("instructions", "per node"), *rows])


def _ratio_lines(document: dict[str, Any]) -> list[str]:
    found = document["ratios"]
    against = found["subject_vs_reference"]
    rows = [
        ("subject against reference, geometric mean", _number(against, "geomean")),
        (f"  least ({against['min_of']})", _number(against, "min")),
        ("subject against pickle, nested (time)", _number(found, "subject_vs_pickle")),
        ("harness against bare reference (programs per second)", _number(found, "harness_vs_bare_reference")),
        ("growth exponent, worst", _number(found, "growth_exponent")),
        ("time per node, most nodes against fewest, worst", _number(found, "growth_last_vs_first")),
        ("share of repaired random strings compared", _number(found, "share_compared")),
    ]
    lines = table(rows)
    if against["not_measured"]:
        lines.append(f"  not measured, so not counted: {', '.join(against['not_measured'])}")
    return lines


def _tell(output: Output, document: dict[str, Any]) -> None:
    for part in (_family_lines, _growth_lines, _speed_lines, _instruction_lines, _ratio_lines):
        for line in part(document):
            output.line(line)
        output.line()
    output.line(f"measured in {document['seconds']:.0f} s{', quickly' if document['quick'] else ''}")


# ---- the command -------------------------------------------------------------------


def run(args: argparse.Namespace, output: Output) -> int:
    started = time.monotonic()
    judge = session.get(options.sides(args))
    if instructions.CHILD in os.environ:
        instructions.count_here()
        return EXIT_OK
    effort = measure.QUICK if args.quick else measure.Effort()
    core.bench_keep_memory()
    gc.disable()  # as in a campaign, which collects by the rhythm of resets
    clock = measure.Clock()
    corpus = measure.programs(_corpus(args, effort), clock, effort)
    generated = measure.programs(_generated(effort), clock, effort)
    share = measure.share_compared(effort)
    rows, grown = measure.all_families(clock, effort, output.progress)
    counted = instructions.count(_again(args)) if args.instructions else None
    document = {
        "schema": 1,
        **judge.loaded,
        "quick": args.quick,
        "clock_ns": clock.cost,
        "ratios": ratios(rows, grown, corpus, generated, share),
        "programs_per_s": generated.get("programs_per_s", {}),
        "families": rows,
        "corpus": corpus,
        "generated": generated,
        "growth": grown,
        "instructions": counted,
        "seconds": time.monotonic() - started,
    }
    document = _rounded(document)
    if output.json:
        output.document(document)
    else:
        _tell(output, document)
    return EXIT_OK


def _again(args: argparse.Namespace) -> list[str]:
    """The options that the child under callgrind needs."""
    given = (("--builder", args.builder), ("--revision", args.revision), ("--subject", args.subject))
    return [word for name, value in given if value is not None for word in (name, value)]
