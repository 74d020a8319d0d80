"""A node's clock is ten minutes off: it hands on what it is sent, and no group's time leaps."""

from __future__ import annotations

import asyncio
import random
import time
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from tests.nodes.history import breaches
from tests.nodes.hubs import WAIT, House

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server
    from tests.nodes.hubs import HubProcess


async def stands(hubs: House, hub: HubProcess, *, lives: bool) -> tuple[float, float]:
    """Wait until a node has a lease, or has none; how far its clock is off, and the time that it goes by."""
    async with asyncio.timeout(WAIT):
        while (told := await hubs.insist("GET", "/v1/status", hub=hub))["stream"]["lives"] is not lives:
            await asyncio.sleep(0.02)
    return told["stream"]["clock_off_s"], told["clock"]["ahead_s"]


async def furthest_ahead(hubs: House) -> float:
    """By how many seconds the newest event is ahead of now."""
    newest = 0.0
    for group in hubs.groups:
        told = await hubs.insist("GET", f"/v1/groups/{group}/events?limit=1000")
        newest = max(newest, *(datetime.fromisoformat(one["ts"]).timestamp() for one in told["events"]))
    return newest - time.time()


@pytest.mark.parametrize("ahead", [600.0, pytest.param(-600.0, marks=pytest.mark.soak)])
async def test_a_node_whose_clock_is_ten_minutes_off_hands_on_and_no_time_leaps(
    tmp_path: Path, server: Server, ahead: float
) -> None:
    async with House(tmp_path, [server], random.Random(14)) as hubs:
        await hubs.open_groups(2)

        async def skew() -> None:
            wrong = await hubs.writer()
            (right,) = hubs.others(wrong)
            # While it runs: it lets go, and another one writes.
            wrong.set_clock(ahead)
            off, _by = await stands(hubs, wrong, lives=False)
            assert abs(off - ahead) < WAIT
            await hubs.writer(right)
            await hubs.follows(wrong)
            # From its start on: it never had another time, and must not take this one along when it is set.
            await asyncio.to_thread(wrong.kill)
            await asyncio.to_thread(wrong.start)
            await stands(hubs, wrong, lives=False)
            await hubs.follows(wrong)
            wrong.set_clock(0.0)
            off, by = await stands(hubs, wrong, lives=True)
            assert (abs(off) <= 1, abs(by) < WAIT) == (True, True)
            await asyncio.to_thread(right.stop)
            await hubs.writer(wrong)
            await hubs.follows(wrong)
            await asyncio.to_thread(right.start)

        await hubs.live(skew)
        assert await furthest_ahead(hubs) < WAIT
        assert breaches(await hubs.history()) == []
