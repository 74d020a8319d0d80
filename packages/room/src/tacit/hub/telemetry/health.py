"""Alive, and ready: two different questions.

A hub that answers is alive. It is ready while it takes what it is sent: not while commits fail, its disk is
nearly full or it stops. Commits that failed are tried again by whoever asks, so that it is ready as soon as
the disk is.
"""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Final

from tacit.base.errors import TacitError
from tacit.ledger.commands import Ping

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.hub.store.async_ledger import AsyncLedger

PATIENCE: Final = 2.0
"""Seconds for a commit, when earlier ones have failed."""


def free_bytes(folder: Path) -> int:
    """The room on a folder's disk."""
    return shutil.disk_usage(folder).free


async def reasons(ledger: AsyncLedger, folder: Path, least_free: int) -> list[str]:
    """Why the hub is not ready; empty when it is."""
    if ledger.is_closing:
        return ["the hub is stopping"]
    why: list[str] = []
    if ledger.failing is not None:
        try:
            # A writer that waits for servers answers nobody for a while; who asks how it is does not wait.
            async with asyncio.timeout(PATIENCE):
                await ledger.record(Ping(writes=True))
        except (TacitError, TimeoutError):
            why.append(f"commits fail: {ledger.failing or 'the ledger cannot be written'}")
    try:
        free = free_bytes(folder)
    except OSError as error:
        why.append(f"the data folder cannot be looked at: {error.strerror}")
    else:
        if free < least_free:
            why.append(f"the disk is nearly full: {free // 2**20} MiB free, {least_free // 2**20} are needed")
    return why
