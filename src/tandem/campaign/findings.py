"""Findings as folders: those that a target wrote, and crashes of its process."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from typing import Any

from .. import core, writing
from .work import Work

#: First part of an artifact's name, as the engine gives it, and our class of finding.
CLASSES = {"crash": "crash", "oom": "oom", "timeout": "hang", "slow": "hang", "leak": "crash"}
LOG_SIZE = 1 << 16


_SUMMARY = re.compile(r"SUMMARY: \w+: (?P<kind>[\w-]+)(?: \S+)*? in (?P<function>\S+)")
_UNDEFINED = re.compile(r"runtime error: (?P<what>.+)")
_ASSERTION = re.compile(r"^tandem: \S+: (?P<function>\w+): assertion failed: (?P<what>.+)", re.MULTILINE)
_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (?P<function>(?:td|walk|live|wrap)_\w+)", re.MULTILINE)


def crash_signature(kind: str, log: str) -> str:
    """A crash's identity: what happened, in which function, without addresses."""
    assertion = _ASSERTION.search(log)
    if assertion:
        return f"{kind}: assertion failed: {assertion['what']} in {assertion['function']}"
    frame = _FRAME.search(log)
    where = frame["function"] if frame else ""
    undefined = _UNDEFINED.search(log)
    if undefined:
        return f"{kind}: {re.sub(r'0x[0-9a-f]+|[0-9]+', '#', undefined['what'])} in {where or 'unknown'}"
    summary = _SUMMARY.search(log)
    if summary:
        return f"{kind}: {summary['kind']} in {where or summary['function']}"
    return f"{kind}: in {where or 'unknown'}"


def read_finding(folder: str) -> dict[str, Any]:
    """finding.json of a finding; an unreadable one says so instead of failing."""
    try:
        with open(os.path.join(folder, "finding.json"), encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError) as error:
        return {"schema": 1, "class": "unknown", "signature": f"finding.json cannot be read: {error}"}


def log_tail(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.path.getsize(path) - LOG_SIZE))
            return stream.read().decode(errors="replace")
    except OSError:
        return ""


def _write_folder(work: Work, hash_: str, files: dict[str, bytes]) -> None:
    """Makes findings/<hash> whole or not at all; one that is there stays."""
    place = work.at("findings", hash_)
    if os.path.exists(place):
        return
    temporary = tempfile.mkdtemp(prefix=f".{hash_}-", dir=work.at("findings"))
    os.chmod(temporary, 0o755)
    for name, data in files.items():
        writing.write(os.path.join(temporary, name), data)
    try:
        os.rename(temporary, place)
    except OSError:  # another process was first
        shutil.rmtree(temporary, ignore_errors=True)


def file_crash(work: Work, name: str, log: str) -> str:
    """Turns an input on which the engine's process died into a finding; gives its
    hash.  `name` is a file of crashes/, [prefix]kind-digits."""
    kind = next((CLASSES[word] for word in CLASSES if re.search(rf"(^|-){word}-", name)), "crash")
    with open(work.at("crashes", name), "rb") as stream:
        data = stream.read()
    signature = crash_signature(kind, log)
    hash_ = core.signature_hash(signature)
    binary = core.repair(data)[0]
    finding = {
        "schema": 1,
        "class": kind,
        "signature": signature,
        "signature_hash": hash_,
        "why": signature,
        "reference_arm": "",
        "subject_arm": "",
        "divergences": [],
    }
    _write_folder(
        work,
        hash_,
        {
            "program.tdm": binary,
            "program.txt": core.disasm(binary).encode(),
            "input.bin": data,
            "finding.json": json.dumps(finding, indent=1).encode() + b"\n",
            "log.txt": log.encode(),
        },
    )
    os.unlink(work.at("crashes", name))
    return hash_
