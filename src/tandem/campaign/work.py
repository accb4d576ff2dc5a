"""The folder of a campaign.

    WORK/corpus/             the engine's inputs, binary
    WORK/findings/<hash>/    program.tdm, program.txt, finding.json, log.txt
    WORK/crashes/            inputs on which the engine's process died, until they are filed
    WORK/stats/              counts of each engine process, as JSON
    WORK/log/                what each engine process printed

Whoever is killed leaves nothing half done: findings are moved into place whole,
crashes are filed and the programs of half findings are run again at the next start.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil

from .. import core, programs, writing
from ..errors import BadInput, HarnessFailed

FOLDERS = ("corpus", "findings", "crashes", "stats", "log")


class Work:
    """A campaign's folder, held by one process at a time."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        if os.path.exists(self.path) and not os.path.isdir(self.path):
            raise BadInput(f"{path}: is no folder")
        for name in FOLDERS:
            writing.make_folder(self.at(name))
        self._lock = open(self.at("lock"), "a")  # held as long as this object lives
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise HarnessFailed(f"{path}: another campaign runs there") from None

    def at(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def findings(self) -> set[str]:
        """The hashes of what was found so far."""
        return {name for name in os.listdir(self.at("findings")) if not name.startswith(".")}

    def crashes(self) -> list[str]:
        return sorted(name for name in os.listdir(self.at("crashes")) if not name.startswith("."))

    def pick_up(self) -> int:
        """Takes the programs of findings that were being written when somebody was
        killed into the corpus, where they are found again; gives how many."""
        torn = [name for name in os.listdir(self.at("findings")) if name.startswith(".")]
        for name in torn:
            try:
                binary = programs.read(self.at("findings", name, "program.tdm"))
            except BadInput:
                binary = b""  # killed before anything was in it
            if binary:
                self.add_input(core.repair(binary)[0])
            shutil.rmtree(self.at("findings", name), ignore_errors=True)
        return len(torn)

    def add_input(self, binary: bytes) -> None:
        """An input for the engine, named as the engine names its own."""
        path = self.at("corpus", hashlib.sha1(binary).hexdigest())
        if not os.path.exists(path):
            writing.write(path, binary)

    def import_from(self, folder: str) -> tuple[int, list[str]]:
        """Takes every program below folder into the corpus; gives how many, and a
        line for each file that is none."""
        if not os.path.isdir(folder):
            raise BadInput(f"{folder}: No such folder")
        taken, refused = 0, []
        for path in programs.find([folder], ""):
            try:
                self.add_input(programs.load(path).binary)
                taken += 1
            except BadInput as error:
                refused.append(str(error))
        return taken, refused

    def seed(self, count: int, seed: int, only: str | None) -> None:
        """Gives an empty corpus something to begin with."""
        if os.listdir(self.at("corpus")):
            return
        for index in range(count):
            self.add_input(programs.generate(seed + index, only))
