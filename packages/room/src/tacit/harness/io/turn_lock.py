"""A worktree is worked in by a turn, or changed by a person, never both at once.

One advisory lock beside the tree's record: turns share it, whoever merges or rebases has it alone. A turn
waits for the moment that a change takes; a change does not wait for a turn, which may take an hour, but says
so. The lock dies with its holder.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

LOCK: Final = "turn.lock"


def _opened(state: Path) -> int:
    try:
        return os.open(state / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(f"the agent's folder cannot be used: {error.strerror}") from error


@asynccontextmanager
async def at_work(state: Path) -> AsyncGenerator[None]:
    """For a turn in the tree of this state folder."""
    handle = _opened(state)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            await asyncio.to_thread(fcntl.flock, handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


@contextmanager
def changing(state: Path, agent: str) -> Generator[None]:
    """For a person's change of the tree; `Refused` while a turn runs in it."""
    handle = _opened(state)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Refused(
                "worktree_in_use",
                f"{agent} is in the middle of a turn in this worktree: wait until it has answered, call the "
                "work off, or stop the agent; nothing was changed",
            ) from error
        yield
    finally:
        os.close(handle)
