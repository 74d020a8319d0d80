"""A task that is told to end ends, also one that did not hear it the first time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from tacit.base.io.ending import end

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
