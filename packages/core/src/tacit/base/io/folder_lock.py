"""One process per data folder (CCCS-114): an advisory lock that dies with its holder.

The lock file names the holder, so that the second process can say who has it. A holder that was killed may
leave a child that shares the lock until it has finished what it was doing (a writer): for that one is waited.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path


LOCK: Final = "lock"
PATIENCE_SECONDS: Final = 10.0
"""How long one waits for what a killed holder left behind."""


class FolderLock:
    """Held from construction to `release` or to the end of the process."""

    def __init__(
        self, folder: Path, *, purpose: str, otherwise: str = "choose another folder with --data"
    ) -> None:
        """`otherwise` is what a second process can do instead of waiting for the first to end."""
        self._path = folder / LOCK
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._take()
        except OSError as error:
            holder = self._holder()
            os.close(self._handle)
            raise Unavailable(
                f"the data folder {folder} is in use by {holder}; stop that one first, or {otherwise}"
            ) from error
        note = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "purpose": purpose})
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, note.encode(), 0)

    def _take(self) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if not self._holder_is_dead() or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return

    def _note(self) -> dict[str, Any]:
        try:
            note: object = json.loads(os.pread(self._handle, 4096, 0))
        except (ValueError, OSError):
            return {}
        return cast("dict[str, Any]", note) if isinstance(note, dict) else {}

    def _holder_is_dead(self) -> bool:
        note = self._note()
        pid = note.get("pid")
        if not isinstance(pid, int) or note.get("host") != socket.gethostname():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False

    def _holder(self) -> str:
        note = self._note()
        if not {"purpose", "pid", "host"} <= note.keys():
            return "another process"
        return f"{note['purpose']} (process {note['pid']} on {note['host']})"

    @property
    def handle(self) -> int:
        """The open file that holds the lock; a child process that inherits it holds it too."""
        return self._handle

    def release(self) -> None:
        """Let the next process in."""
        os.close(self._handle)


class InheritedLock(FolderLock):
    """The lock of the process that has started this one, by the open file that holds it for both."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def release(self) -> None:
        """It is let go of with this process."""


def is_held(folder: Path) -> bool:
    """Does a live process hold the folder's lock? Asked without taking it from anybody who is about to."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        note: object = json.loads(os.pread(handle, 4096, 0) or b"{}")
        pid = cast("dict[str, Any]", note).get("pid") if isinstance(note, dict) else None
        if not isinstance(pid, int):
            return False
        os.kill(pid, 0)
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)
