"""The engine: where its executable is, how it is told what to do, one process of it."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import subprocess
import sys
from dataclasses import dataclass

from ..errors import HarnessFailed

TARGET = "differential_fuzzer"
INPUT_SIZE_MAX = 4096  # bytes; programs of some hundred objects: larger ones only cost time
INPUT_TIMEOUT = 25  # seconds for one input, as fuzzing services have it
_PR_SET_PDEATHSIG = 1
_MARK = b"-max_total_time"  # stands in an executable that has libFuzzer's main()


def build_folders() -> list[str]:
    """Where a build may be: as the environment says, beside the staged package, or
    in the checkout that the package comes from."""
    package = os.path.dirname(os.path.abspath(os.path.dirname(__file__)))
    checkout = os.path.dirname(os.path.dirname(os.path.realpath(package)))
    folders = [os.environ.get("TANDEM_BUILD", ""), os.path.dirname(os.path.dirname(package))]
    return [folder for folder in folders if folder] + [os.path.join(checkout, "build", "fuzz")]


def _has_engine(path: str) -> bool:
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(_MARK) >= 0


def find_target() -> str:
    """The differential target, linked with an engine; HarnessFailed when not built."""
    for folder in build_folders():
        path = os.path.join(folder, TARGET)
        if os.path.isfile(path) and os.access(path, os.X_OK) and _has_engine(path):
            return path
    raise HarnessFailed(
        f"{TARGET} with a fuzzing engine is not built; type: cmake --preset fuzz && cmake --build --preset fuzz "
        "(scripts/fuzz does it all)"
    )


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass(frozen=True)
class Plan:
    """What every process of a campaign is told."""

    target: str
    corpus: str
    crashes: str
    findings: str
    max_rss: int  # MB
    environment: dict[str, str]
    shared: bool  # whether several processes work on the corpus


class Process:
    """One process of the engine.

    seconds, runs   what is left to do; None: no end
    """

    def __init__(
        self, plan: Plan, name: str, seed: int, seconds: float | None, runs: int | None, stats: str, log: str
    ) -> None:
        self.name, self.stats, self.log = name, stats, log
        arguments = [
            plan.target,
            plan.corpus,
            f"-artifact_prefix={plan.crashes}/{name}-",
            f"-max_len={INPUT_SIZE_MAX}",
            f"-timeout={INPUT_TIMEOUT}",
            f"-rss_limit_mb={plan.max_rss}",
            f"-seed={seed & 0x7FFFFFFF or 1}",
            # Looking for what others found hangs on the clock: alone, a campaign is repeatable.
            f"-reload={5 if plan.shared else 0}",
            "-len_control=0",  # programs are as long as they are; small ones alone find little
            "-reduce_inputs=0",
            "-detect_leaks=0",  # else it runs every input twice, as CPython keeps memory between them
            "-print_final_stats=1",
        ]
        if seconds is not None:
            arguments.append(f"-max_total_time={max(1, round(seconds))}")
        if runs is not None:
            arguments.append(f"-runs={max(1, runs)}")
        environment = {**os.environ, **plan.environment, "TANDEM_STATS": stats, "TANDEM_FINDINGS": plan.findings}
        if "_tandem" not in sys.builtin_module_names:  # tandem-python knows its own environment
            environment["TANDEM_PYTHON"] = sys.executable
        environment["TANDEM_SEED"] = str(seed)
        self._log_stream = open(log, "wb")
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=self._log_stream,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )

    def memory(self) -> int:
        """Resident memory in MB; 0 when it is gone."""
        try:
            with open(f"/proc/{self._process.pid}/statm") as stream:
                return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
        except (OSError, IndexError):
            return 0

    def poll(self) -> int | None:
        return self._process.poll()

    def stop(self) -> None:
        """Asks it to end, insists after ten seconds."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._log_stream.close()
