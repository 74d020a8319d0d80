"""A small file for its owner's eyes only, there as a whole or not at all.

Written beside its place, synced, then moved there: whoever reads it finds the former content or the new one,
also after a crash, and the former one when the disk is full.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import BinaryIO


def new_private(path: Path) -> BinaryIO:
    """A new file for its owner's eyes only, opened for writing; what exists already is not touched."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")


def make_private(path: Path) -> None:
    """Have a file there that is its owner's alone, whatever its folder or its maker allowed before.

    One of another user's is left as it is: that user decides about it. A file that exists is not opened for
    it: to close it would let go of every lock that this process holds on it.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        found = path.stat()
        if found.st_uid == os.geteuid() and found.st_mode & 0o077:
            path.chmod(0o600)


def write_private(path: Path, data: bytes) -> None:
    """Put `data` at `path`; raises `OSError` and leaves what was there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:  # whatever it was, no half file stays; it goes on to the caller
        fresh.unlink(missing_ok=True)
        raise
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
