"""A command that runs code of others does so in a process of its own: whatever ends that
one, the command says it and fails, as no exit code of theirs is a verdict of ours."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import time
from collections.abc import Callable

from .errors import EXIT_HARNESS, EXIT_INTERRUPTED
from .output import say

PATIENCE = 5.0  # seconds for a process that is done to be gone: a case may have left threads
GRACE = 1.0  # seconds for an interrupt to end a process: whom it interrupted may have swallowed it
TOGETHER = 0.3  # seconds in which two interrupts are the same
_PR_SET_PDEATHSIG = 1

_pipe: list[int] = []  # where the watched process says what it does; empty in any other


def at(name: str) -> None:
    """Says what is judged now."""
    _tell("@" + name)


def _tell(text: str) -> None:
    with contextlib.suppress(OSError):  # a case may have closed it
        for descriptor in _pipe:
            os.write(descriptor, text.encode(errors="surrogateescape") + b"\0")


def _interrupts_once() -> Callable[..., None]:
    """A terminal interrupts both processes, and the other one hands it on: one of the two counts."""
    last = -TOGETHER

    def interrupted(*_: object) -> None:
        nonlocal last
        before, last = last, time.monotonic()
        if last - before > TOGETHER:
            raise KeyboardInterrupt

    return interrupted


def watched(command: str, act: Callable[[], int]) -> int:
    """act() in a child; gives its exit code, in the child and here, for both to exit with."""
    here, there = os.pipe()
    try:
        child = os.fork()
    except OSError:  # no process to be had: then without
        return act()
    if child:
        os.close(there)
        return _watch(command, child, here)
    os.close(here)
    _pipe.append(there)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored
        signal.signal(signal.SIGINT, _interrupts_once())
    code = act()
    _tell(f"={code}")
    return code


def _watch(command: str, child: int, here: int) -> int:
    handed: dict[int, float] = {}

    def hand_on(number: int, _: object) -> None:
        handed[number] = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, hand_on)
    name, code, status = _follow(child, here, handed)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in handed:
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    how = os.waitstatus_to_exitcode(status)
    if signal.SIGINT in handed and code in (None, EXIT_HARNESS):
        say(f"tandem {command}: interrupted\n")
        return EXIT_INTERRUPTED
    if code is not None and how in (0, code, -signal.SIGKILL):
        return code
    why = f"exit code {how}" if how >= 0 else f"signal {-how}, {signal.strsignal(-how)}"
    place = f"{name}: " if name else ""
    when = "before it was done" if code is None else "when it was done"
    say(f"tandem {command}: {place}the process was ended ({why}) {when}: what it ran there did that\n")
    return EXIT_HARNESS


def _follow(child: int, here: int, handed: dict[int, float]) -> tuple[str, int | None, int]:
    """What was judged last, the code that the child came to, and how it ended; handed says
    which signals it was sent, and when."""
    said, done_at, closed = b"", 0.0, False
    while True:
        if not closed and select.select([here], [], [], 0.2)[0]:
            more = os.read(here, 65536)
            said, closed = said + more, not more
        gone, status = os.waitpid(child, os.WNOHANG)
        if gone:
            while select.select([here], [], [], 0)[0] and (more := os.read(here, 65536)):
                said += more
            break
        words = said.split(b"\0")
        said = b"\0".join(words[-3:])
        if not done_at and any(word.startswith(b"=") for word in words[:-1]):
            done_at = time.monotonic()
        now, interrupted_at = time.monotonic(), handed.get(signal.SIGINT)
        if (done_at and now - done_at > PATIENCE) or (interrupted_at and now - interrupted_at > GRACE):
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            break
        if closed:
            time.sleep(0.02)
    words = said.split(b"\0")[:-1]
    names = [word[1:] for word in words if word.startswith(b"@")]
    codes = [int(word[1:]) for word in words if word.startswith(b"=")]
    return names[-1].decode(errors="replace") if names else "", codes[-1] if codes else None, status
