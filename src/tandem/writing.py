"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile

from .errors import of_os_error


def write(path: str, data: bytes) -> None:
    """Writes a file beside its place and moves it there, so that whoever is killed,
    or finds the disk full, leaves no half file behind.  HarnessFailed otherwise."""
    folder = os.path.dirname(path) or "."
    temporary = None
    try:
        if _is_special(path):
            with open(path, "wb") as stream:
                stream.write(data)
            return
        descriptor, temporary = tempfile.mkstemp(prefix=".tandem-", dir=folder)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        error.filename = path
        raise of_os_error(error, writing=True) from None


def _is_special(path: str) -> bool:
    """A device, pipe or socket: written to, never replaced by a file."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        error.filename = path
        raise of_os_error(error, writing=True) from None
