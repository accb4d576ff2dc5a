"""What a command says: text for people, or one JSON document and nothing else.

A builder, torch or a user's case may print whatever they like: from the moment
an Output exists file descriptor 1 leads to stderr, and only Output itself
writes to the real stdout.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

from .errors import HarnessFailed

VALUE_WIDTH = 160
#: How deeply JSON may nest: a list costs three levels and lists nest some 160 deep.
DEPTH_MAX = 5000

_SURROGATE = re.compile("[\ud800-\udfff]")


@contextlib.contextmanager
def deep_json() -> Iterator[None]:
    """Where observations are read and written: they nest more deeply than the
    interpreter's recursion limit allows."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEPTH_MAX))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def parse_json(text: str) -> Any:
    """The value of a JSON text; while it is made nothing of it is garbage, and looking
    for some again and again takes most of the time of a large one."""
    collects = gc.isenabled()
    gc.disable()
    try:
        with deep_json():
            return json.loads(text)
    finally:
        if collects:
            gc.enable()


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that is UTF-8 whatever the strings hold: lone surrogates (a str may have
    them, a file name too) are escaped."""
    with deep_json():
        text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Output:
    """Where a command writes.

    json     whether stdout carries one JSON document (and people read stderr)
    """

    def __init__(self, as_json: bool = False) -> None:
        self.json = as_json
        _flush_stdout()
        self._real: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        self._saved = os.dup(1)
        os.dup2(2, 1)
        self._progress_due = 0.0
        self._progress_shown = False

    def line(self, text: str = "") -> None:
        """A line of the result, for people; nothing under --json."""
        if not self.json:
            self._clear_progress()
            self._write(text + "\n")

    def raw(self, data: bytes) -> None:
        """Bytes of the result, as they are."""
        self._clear_progress()
        self._flush()
        self._guard(lambda: _write_all(self._real.fileno(), data))

    def document(self, value: dict[str, Any], indent: int | None = 1) -> None:
        """The JSON document of a command."""
        self._clear_progress()
        self._write(json_text(value, indent) + "\n")

    def is_terminal(self) -> bool:
        """Whether a person sees the progress line."""
        return os.isatty(2)

    def note(self, text: str) -> None:
        """A remark beside the result: stderr, in either form."""
        self._clear_progress()
        say(f"tandem: {text}\n")

    def progress(self, text: str) -> None:
        """How far a long job is: one line on stderr that is written over, at most ten
        times a second, and only for a person."""
        now = time.monotonic()
        if now < self._progress_due or not os.isatty(2):
            return
        self._progress_due = now + 0.1
        self._progress_shown = True
        say(f"\r\x1b[K{text[:120]}")

    def close(self) -> None:
        """Writes what is left and gives stdout back; HarnessFailed when it does not fit."""
        self._clear_progress()
        try:
            self._flush()
        finally:
            with contextlib.suppress(OSError):
                self._real.close()
            _flush_stdout()
            os.dup2(self._saved, 1)
            os.close(self._saved)

    def _write(self, text: str) -> None:
        self._guard(lambda: self._real.write(text))

    def _flush(self) -> None:
        self._guard(self._real.flush)

    def _guard(self, act) -> None:
        try:
            act()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise HarnessFailed(f"stdout: {error.strerror or error}") from None

    def _clear_progress(self) -> None:
        if self._progress_shown:
            self._progress_shown = False
            say("\r\x1b[K")


def say(text: str) -> None:
    """Writes to stderr past sys.stderr, which a case may have closed.  A stderr that
    takes nothing changes no result."""
    try:
        _write_all(2, text.encode(errors="backslashreplace"))
    except OSError:
        pass


def _flush_stdout() -> None:
    """What others printed; a case may have closed sys.stdout or taken it away."""
    try:
        sys.stdout.flush()
    except (AttributeError, ValueError, OSError):
        pass


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


# ---- divergences -----------------------------------------------------------------


def short(value: Any, width: int = VALUE_WIDTH) -> str:
    """A value on one line, cut in the middle of what is too long."""
    text = json_text(value)
    if len(text) <= width:
        return text
    half = (width - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def divergence_lines(one: dict[str, Any]) -> list[str]:
    """A divergence for people: where, which field, both values, both arms."""
    arm = one["arm"]
    values = {
        side: "(nothing there)" if side in one["missing"] else short(one[side])
        for side in ("reference", "subject")
    }
    reference_arm = f"{arm['id']}  {arm['function']}".strip() or "unknown"
    return [
        f"    at        {one['path']}",
        f"    field     {one['field']}",
        f"    reference {values['reference']}",
        f"              decided by {reference_arm}",
        f"    subject   {values['subject']}",
        f"              decided by {arm['subject'] or 'unknown'}()",
    ]


def case_lines(case: dict[str, Any], more: bool = False) -> list[str]:
    """A case for people: one line when it agrees, else why not."""
    flags = "".join(f" [{flag}]" for flag in case["flags"])
    lines = [f"{case['case']}: {case['verdict']}{flags}"]
    if case["why"]:
        lines.append(f"    {case['why']}")
    for one in case["unsupported"]:
        lines.append(f"    frame {one['frame']}, root {one['root']}: {one['arm']}: {one['why']}")
    shown = case["divergences"] if more else case["divergences"][:1]
    for one in shown:
        lines += divergence_lines(one)
    hidden = len(case["divergences"]) - len(shown)
    if hidden:
        lines.append(f"    and {hidden} more after it in build order (--all shows them)")
    if case["signature"]:
        lines.append(f"    signature {case['signature_hash']}: {case['signature']}")
    return lines


def table(rows: list[tuple[str, ...]], indent: str = "  ") -> list[str]:
    """Rows with their columns in line; numbers to the right."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]

    def cell(text: str, width: int) -> str:
        return text.rjust(width) if text[:1].isdigit() else text.ljust(width)

    return [(indent + "  ".join(cell(text, width) for text, width in zip(row, widths))).rstrip() for row in rows]


def summary_line(counts: dict[str, int], seconds: float) -> str:
    total = sum(counts.values())
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{total} program{'s' if total != 1 else ''} in {seconds:.1f} s: {parts or 'nothing'}"
