"""One process per data folder (CCCS-114): an advisory lock that dies with its holder.

The lock file names the holder, so that the second process can say who has it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from typing import TYPE_CHECKING

from tacit.base.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path


class FolderLock:
    """Held from construction to `release` or to the end of the process."""

    def __init__(
        self, folder: Path, *, purpose: str, otherwise: str = "choose another folder with --data"
    ) -> None:
        """`otherwise` is what a second process can do instead of waiting for the first to end."""
        self._path = folder / "lock"
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = self._holder()
            os.close(self._handle)
            raise Unavailable(
                f"the data folder {folder} is in use by {holder}; stop that one first, or {otherwise}"
            ) from error
        note = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "purpose": purpose})
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, note.encode(), 0)

    def _holder(self) -> str:
        try:
            note = json.loads(os.pread(self._handle, 4096, 0))
            return f"{note['purpose']} (process {note['pid']} on {note['host']})"
        except (ValueError, KeyError, TypeError, OSError):
            return "another process"

    @property
    def handle(self) -> int:
        """The open file that holds the lock; a child process that inherits it holds it too."""
        return self._handle

    def release(self) -> None:
        """Let the next process in."""
        os.close(self._handle)
