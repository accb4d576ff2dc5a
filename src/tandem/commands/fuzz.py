"""tandem fuzz: a campaign."""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

from ..campaign import counts, engine, findings
from ..campaign.work import Work
from ..errors import EXIT_DIFFERS, EXIT_HARNESS, EXIT_OK, BadInput, HarnessFailed
from ..output import Output
from ..session import require_stack, require_torch

HELP = "a campaign: generated programs until something differs, and on"

SEED_COUNT = 64  # programs that an empty corpus begins with
POLL = 0.25  # seconds between two looks at the processes
REPORT = 10.0  # seconds between two lines where no terminal is
FRUITLESS_MAX = 3  # starts in a row that run no program, before giving up
FULL = 0.9  # share of --max-rss at which a process gives way to a fresh one
PATIENCE = 60.0  # seconds beyond its time that a process is waited for


def positive(text: str) -> int:
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--time", type=positive, metavar="S", help="end after S seconds (default: when interrupted)")
    parser.add_argument("--runs", type=positive, metavar="N", help="end after N programs")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="where all chance comes from")
    parser.add_argument("--jobs", type=positive, default=1, metavar="N", help="processes at a time (default 1)")
    parser.add_argument("--engine", choices=("libfuzzer",), default="libfuzzer")
    parser.add_argument("--work", default="work", metavar="DIR", help="folder of the campaign (default: work)")
    parser.add_argument("--import", dest="imports", action="append", default=[], metavar="DIR", help="take programs")
    parser.add_argument("--max-rss", type=positive, default=3072, metavar="MB", help="memory of one process")
    parser.add_argument("--only", metavar="KIND,...|done", help="kinds, sources and config values to keep to")
    parser.add_argument("--builder", metavar="installed|FILE", help="the reference")
    parser.add_argument("--revision", choices=("mission", "installed", "auto"))
    parser.add_argument("--subject", metavar="FILE.so")


def environment(args: argparse.Namespace) -> dict[str, str]:
    """What a target reads (src/target/td_target.h), as far as it was asked for."""
    wanted = {
        "TANDEM_BUILDER": args.builder and os.path.abspath(args.builder) if args.builder != "installed" else None,
        "TANDEM_REVISION": args.revision,
        "TANDEM_SUBJECT": args.subject and os.path.abspath(args.subject),
        "TANDEM_ONLY": args.only,
    }
    return {name: value or "" for name, value in wanted.items()}


class Slot:
    """One of the processes that run at a time, and its successors."""

    def __init__(self, index: int, runs: int | None) -> None:
        self.index = index
        self.runs = runs
        self.starts = 0
        self.fruitless = 0
        self.process: engine.Process | None = None


class Campaign:
    """A campaign from start to end."""

    def __init__(self, args: argparse.Namespace, output: Output) -> None:
        self.args, self.output = args, output
        self.work = Work(args.work)
        self.known = self.work.findings()
        self.run_name = f"{int(time.time()):x}-{os.getpid()}"
        self.plan = engine.Plan(
            engine.find_target(),
            self.work.at("corpus"),
            self.work.at("crashes"),
            self.work.at("findings"),
            args.max_rss,
            environment(args),
            args.jobs > 1,
        )
        share = None if args.runs is None else -(-args.runs // args.jobs)
        self.slots = [Slot(index, share) for index in range(args.jobs)]
        self.started = 0.0  # when the first program ran
        self.report_due = 0.0

    # ---- counts --------------------------------------------------------------------

    def counts(self) -> counts.Counts:
        return counts.gather(self.work.at("stats"), self.run_name)

    def seconds(self) -> float:
        return time.monotonic() - self.started if self.started else 0.0

    def left(self) -> float | None:
        return None if self.args.time is None else self.args.time - self.seconds()

    def new_findings(self) -> list[str]:
        return sorted(self.work.findings() - self.known)

    def report(self) -> None:
        """Says how it stands: at once for a terminal, now and then for a log."""
        line = counts.live_line(self.counts(), self.seconds(), len(self.new_findings()))
        self.output.progress(line)
        if self.seconds() >= self.report_due and not self.output.is_terminal():
            self.report_due = self.seconds() + REPORT
            self.output.note(line)

    # ---- processes -----------------------------------------------------------------

    def start(self, slot: Slot) -> None:
        name = f"{self.run_name}-{slot.index}-{slot.starts}"
        seed = self.args.seed + slot.index + 1009 * slot.starts
        stats, log = self.work.at("stats", f"{name}.json"), self.work.at("log", f"{name}.txt")
        slot.process = engine.Process(self.plan, name, seed, self.left(), slot.runs, stats, log)
        slot.starts += 1

    def file_crashes(self, prefix: str, log: str) -> bool:
        """Files what the engine left; says whether there was anything."""
        names = [name for name in self.work.crashes() if name.startswith(prefix)]
        for name in names:
            hash_ = findings.file_crash(self.work, name, findings.log_tail(log))
            self.output.note(f"finding {hash_}: {findings.read_finding(self.work.at('findings', hash_))['signature']}")
        return bool(names)

    def give_up(self, process: engine.Process, code: int) -> None:
        """Ends the campaign with the line that the process printed last."""
        lines = [line for line in findings.log_tail(process.log).splitlines() if line.startswith("tandem: ")]
        why = lines[-1].removeprefix("tandem: ") if lines else f"the engine ended with code {code}, see {process.log}"
        raise BadInput(why) if code == 2 else HarnessFailed(why)

    def ended_process(self, slot: Slot, code: int) -> bool:
        """Looks at what a process left; says whether the slot goes on."""
        process = slot.process
        assert process is not None
        process.stop()
        one = counts.read(process.stats)
        ran = one["programs"] if one else 0
        crashed = self.file_crashes(process.name, process.log)
        if code in (2, 3) and not crashed:
            self.give_up(process, code)
        slot.fruitless = 0 if ran or crashed else slot.fruitless + 1
        if slot.fruitless >= FRUITLESS_MAX:
            self.give_up(process, code)
        if slot.runs is not None:
            slot.runs -= ran
        left = self.left()
        return (left is None or left > 1) and (slot.runs is None or slot.runs > 0) and code != 0

    def watch(self) -> None:
        """Runs until every slot is done."""
        running = list(self.slots)
        while running:
            time.sleep(POLL)
            for slot in list(running):
                code = slot.process.poll() if slot.process else None
                if code is not None and not self.ended_process(slot, code):
                    running.remove(slot)
                elif code is not None:
                    self.start(slot)
                elif slot.process and slot.process.memory() > FULL * self.args.max_rss:
                    slot.process.stop()  # what it holds by now is no input's fault
                elif not self.started and slot.process and counts.read(slot.process.stats):
                    self.started = time.monotonic()
            left = self.left()
            if left is not None and self.started and left < -PATIENCE:
                break
            self.report()

    def run(self) -> None:
        self.file_crashes("", "")
        self.work.pick_up()
        for folder in self.args.imports:
            taken, refused = self.work.import_from(folder)
            self.output.note(f"{folder}: {taken} programs taken, {len(refused)} files refused")
        self.work.seed(SEED_COUNT, self.args.seed, self.args.only)
        self.output.note(f"campaign in {self.work.path}, seed {self.args.seed}, {self.args.jobs} process(es)")
        try:
            for slot in self.slots:
                self.start(slot)
            self.watch()
        except KeyboardInterrupt:
            self.output.note("interrupted; what was found is kept")
        finally:
            for slot in self.slots:
                if slot.process is not None:
                    slot.process.stop()

    # ---- the end -------------------------------------------------------------------

    def result(self, total: counts.Counts) -> dict[str, Any]:
        listed = []
        for hash_ in sorted(set(self.new_findings()) | set(total.findings)):
            folder = self.work.at("findings", hash_)
            one = findings.read_finding(folder)
            listed.append(
                {
                    "signature": one.get("signature") or one.get("why", ""),
                    "path": folder,
                    "class": one["class"],
                    "new": hash_ not in self.known,
                }
            )
        return {
            "schema": 1,
            "seconds": round(self.seconds(), 1),
            "programs": total.numbers["programs"],
            "compared": total.numbers["compared"],
            "verdicts": dict(total.verdicts),
            "broken": total.numbers["broken"],
            "findings": listed,
            "arms_reached": len(total.arms),
            "median_objects": total.median_size(),
            "kinds": total.tables["kinds"],
            "sources": total.tables["sources"],
            "config": total.tables["config"],
            "unsupported": dict(total.unsupported),
            "seed": self.args.seed,
            "work": self.work.path,
        }


def run(args: argparse.Namespace, output: Output) -> int:
    require_stack()
    require_torch()
    if args.seed is None:
        args.seed = int.from_bytes(os.urandom(3), "little")
    if args.builder not in (None, "installed") and not os.path.isfile(args.builder):
        raise BadInput(f"{args.builder}: No such file or directory")
    campaign = Campaign(args, output)
    campaign.run()
    total = campaign.counts()
    result = campaign.result(total)
    for line in counts.summary_lines(total, campaign.seconds()):
        output.line(line)
    for one in result["findings"]:
        output.line(f"finding    {one['class']}{'' if one['new'] else ' (known)'}: {one['signature']}")
        output.line(f"           {one['path']}")
    output.document(result, indent=None)
    broken = [one for one in result["findings"] if one["class"] == "harness" and one["new"]]
    for one in broken:
        output.note(f"the harness failed: {findings.log_tail(os.path.join(one['path'], 'log.txt'))}: {one['path']}")
    if not result["programs"]:
        output.note("no program was run")
    if broken or not result["programs"]:
        return EXIT_HARNESS
    return EXIT_DIFFERS if any(one["new"] for one in result["findings"]) else EXIT_OK
