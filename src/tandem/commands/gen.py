"""tandem gen: random programs, and the mix of what a draw gives."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from statistics import median

from .. import core, programs, writing
from ..errors import EXIT_OK, BadInput
from ..output import Output, table

HELP = "random programs, from a seed"

STATS_COUNT = 1000
COUNT_MAX = 10_000_000
NODES_MAX = 1 << 20
SEED_MAX = 1 << 64


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first program's seed (default 0)")
    parser.add_argument("--count", type=int, metavar="N", help=f"how many (default 1; with --stats {STATS_COUNT})")
    parser.add_argument("--nodes", type=int, default=0, metavar="N", help="objects to aim at (default: drawn)")
    parser.add_argument("--only", metavar="KIND,...|done", help="kinds, sources and config values to keep to")
    parser.add_argument("--no-swarm", dest="swarm", action="store_false", help="the same mix for every seed")
    parser.add_argument("-o", "--output", metavar="DIR", help="write SEED.tdm files there, binary")
    parser.add_argument("--stats", action="store_true", help="the mix instead of the programs")


def generate(args: argparse.Namespace, seed: int) -> bytes:
    return programs.generate(seed, args.only, args.nodes, args.swarm)


def mix(binaries: list[bytes]) -> dict:
    """How often each thing occurs, in programs."""
    tables: dict[str, Counter[str]] = {"kinds": Counter(), "sources": Counter(), "config": Counter()}
    sizes, shared, frames = [], 0, 0
    for binary in binaries:
        one = core.stats(binary)
        tables["kinds"].update(one["kinds"].keys())
        tables["sources"].update(one["source_kinds"].keys())
        tables["config"].update(f"{name}={value}" for name, value in one["config"].items())
        sizes.append(one["nodes"])
        shared += one["sharing"]
        frames += one["frames"] >= 2
    return {
        "programs": len(binaries),
        "distinct": len(set(binaries)),
        "median_objects": median(sizes) if sizes else 0,
        "with_sharing": shared,
        "with_two_frames": frames,
        **{name: dict(sorted(counts.items())) for name, counts in tables.items()},
    }


def print_mix(found: dict, output: Output) -> None:
    for name in ("kinds", "sources", "config"):
        output.line(f"{name}, in how many of {found['programs']} programs")
        for line in table([(key, str(count)) for key, count in found[name].items()]):
            output.line(line)
    output.line(
        f"{found['distinct']} different; median {found['median_objects']} objects; "
        f"{found['with_sharing']} with sharing, {found['with_two_frames']} with two frames or more"
    )


def run(args: argparse.Namespace, output: Output) -> int:
    count = args.count if args.count is not None else STATS_COUNT if args.stats else 1
    if not 1 <= count <= COUNT_MAX:
        raise BadInput(f"--count {count}: from 1 to {COUNT_MAX}")
    if not 0 <= args.nodes <= NODES_MAX:
        raise BadInput(f"--nodes {args.nodes}: from 0 to {NODES_MAX}")
    if not 0 <= args.seed <= SEED_MAX - count:
        raise BadInput(f"--seed {args.seed}: from 0 to {SEED_MAX - count}")
    seeds = range(args.seed, args.seed + count)
    if args.stats:
        found = mix([generate(args, seed) for seed in seeds])
        weights = json.loads(core.weights(only=None if args.only == "done" else args.only, seed=args.seed, swarm=False))
        if output.json:
            output.document({"schema": 1, "seed": args.seed, "only": args.only, "weights": weights, **found})
        else:
            print_mix(found, output)
        return EXIT_OK
    if args.output is not None:
        writing.make_folder(args.output)
        paths = [os.path.join(args.output, f"{seed}.tdm") for seed in seeds]
        for seed, path in zip(seeds, paths):
            writing.write(path, generate(args, seed))
        if output.json:
            output.document({"schema": 1, "seed": args.seed, "programs": paths})
        else:
            output.line(f"{count} program{'s' if count != 1 else ''} in {args.output}")
        return EXIT_OK
    if output.json:
        texts = [core.disasm(generate(args, seed)) for seed in seeds]
        output.document({"schema": 1, "seed": args.seed, "texts": texts})
        return EXIT_OK
    for seed in seeds:
        text = core.disasm(generate(args, seed))
        output.raw((text if seed == args.seed else "\n" + text).encode())
    return EXIT_OK
