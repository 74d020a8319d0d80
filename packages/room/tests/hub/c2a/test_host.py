"""What the host of a hub knows of time after it was away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.hub.c2a.stage import Stage, staged
from tests.hub.room import WAIT

if TYPE_CHECKING:
    from pathlib import Path


async def told_of(stage: Stage, event_id: str) -> bool:
    """Were people told that something goes unanswered?"""
    told = await stage.events(stage.group_id, kinds="system.notify")
    return event_id in [one["data"].get("related_event_id") for one in told]


@pytest.mark.spec("C2A-173")
async def test_what_was_due_before_a_restart_is_due_after_it_though_nobody_comes_back(tmp_path: Path) -> None:
    async with staged(tmp_path / "data") as stage:
        await stage.open()
        ann = await stage.agent("ann")
        asked = await stage.tell("@ann which port is it?")
        await ann.delivery(asked)
        group, clock = stage.group_id, stage.clock
    async with staged(tmp_path / "data", clock=clock) as stage:
        stage.group_id = group
        async with asyncio.timeout(WAIT):
            while not await told_of(stage, asked["id"]):
                # On a stream silence counts from the moment at which the group was taken up.
                await stage.pass_time(400)
                await asyncio.sleep(0.01)


@pytest.mark.spec("C2A-173")
async def test_time_that_another_node_sees_to_brings_nothing_here_until_it_is_taken_up_again(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path / "data") as stage:
        await stage.open()
        ann = await stage.agent("ann")
        asked = await stage.tell("@ann which port is it?")
        await ann.delivery(asked)
        host = stage.server.hub.host
        host.acts = lambda _group_id: False
        host.leave_time(frozenset({stage.group_id}))
        stage.clock.move(400)
        assert await host.tick() == 0
        host.acts = lambda _group_id: True
        await host.take_up_time(None)
        async with asyncio.timeout(WAIT):
            while not await told_of(stage, asked["id"]):
                await host.tick()
