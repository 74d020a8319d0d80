"""A task that is told to end ends, also one that did not hear it the first time."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

import pytest

from tacit.base.io.ending import end, end_listening

WAIT = 60.0


@pytest.mark.parametrize("times", [0, 1, 3])
async def test_a_task_that_loses_cancellations_is_told_until_it_ends(times: int) -> None:
    begun = asyncio.Event()

    async def goes_on() -> None:
        begun.set()
        for _ in range(times):
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        await asyncio.Event().wait()

    task = asyncio.create_task(goes_on())
    await begun.wait()
    async with asyncio.timeout(WAIT):
        await end(task)
    assert task.cancelled()


async def test_what_has_ended_is_left_alone() -> None:
    async def nothing() -> None:
        pass

    task = asyncio.create_task(nothing())
    await task
    await end(task)
    assert not task.cancelled()


@pytest.mark.parametrize("turns", range(6))
async def test_whoever_calls_while_a_server_ends_is_served_or_turned_away(turns: int, tmp_path) -> None:
    """A server that is closed while it takes a connection in forgets it: the caller waited for ever."""
    path = str(tmp_path / "server.sock")

    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_unix_server(hang_up, path)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)
        caller.connect(path)
        for _ in range(turns):
            await asyncio.sleep(0)
        await end_listening(server)
        async with asyncio.timeout(WAIT):
            with suppress(ConnectionResetError):
                assert await asyncio.get_running_loop().sock_recv(caller, 1) == b""
