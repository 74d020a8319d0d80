"""Ending a task for certain.

`asyncio.wait_for` of this Python loses a cancellation that comes together with what is waited for, and
libraries use it: a task that was cancelled once may go on for ever. So it is told until it has ended.
"""

from __future__ import annotations

import asyncio
from typing import Final

AGAIN: Final = 0.1
"""Seconds before a task that goes on is told again."""


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task of the running loop; returns when it has ended."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN)
