"""Ending a task for certain, and a server without losing whoever is just coming in.

`asyncio.wait_for` of this Python loses a cancellation that comes together with what is waited for, and
libraries use it: a task that was cancelled once may go on for ever. So it is told until it has ended.

A server of this Python that is closed while a connection is being taken in leaves that connection open, with
nobody at its end: whoever called waits until the memory is swept.
"""

from __future__ import annotations

import asyncio
from typing import Final

AGAIN: Final = 0.1
"""Seconds before a task that goes on is told again."""
TURNS_TO_COME_IN: Final = 4
"""Turns of the loop from a call that the listener has noticed to a task that serves it."""


async def end_listening(server: asyncio.Server) -> None:
    """Take in nobody more, and close the server when those who are coming in are in."""
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    for _ in range(TURNS_TO_COME_IN):
        await asyncio.sleep(0)
    server.close()


async def end(task: asyncio.Task[None]) -> None:
    """Cancel a task of the running loop; returns when it has ended."""
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=AGAIN)
