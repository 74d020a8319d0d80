"""An agent for turns that are to be forgotten: its folder is made for the turn and gone with it.

An agent writes its session where it likes in its home: rather than knowing each one's files, all of the home
goes. What a process that was killed in the middle of such a turn left behind goes before the next one, and
whoever it had started is ended first. A folder that cannot be emptied is no place for a turn.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Unavailable
from tacit.harness.drivers.io.child import end_left_behind

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.harness.drivers.io.turns import Backend

log: Final = logging.getLogger("tacit.harness")


class Passing:
    """One backend, in a folder that is there only while a turn is."""

    def __init__(self, folder: str, make: Callable[[], Backend]) -> None:
        self._folder = Path(folder)
        self._make = make
        self._backend: Backend | None = None

    async def backend(self) -> Backend:
        """The backend in an empty folder. `Unavailable` when what lies there cannot be removed."""
        try:
            await empty(self._folder)
            self._folder.mkdir(parents=True, mode=0o700)
        except OSError as error:
            what = "the folder of the driver cannot be emptied"
            raise Unavailable(f"{what}: {error.strerror or 'it is in use'}") from error
        if self._backend is None:
            self._backend = self._make()
        return self._backend

    async def forget(self) -> None:
        """End the agent, and remove all that it wrote."""
        if self._backend is not None:
            await self._backend.kill()
        try:
            await empty(self._folder)
        except OSError as error:  # the answer stands; the next turn looks here first
            log.warning("what a turn left behind was not removed", extra={"fault": error.strerror})


async def empty(folder: Path) -> None:
    """Remove a passing folder, and end whoever a killed process of ours left in it."""
    await end_left_behind(folder)
    await asyncio.to_thread(_remove, folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
