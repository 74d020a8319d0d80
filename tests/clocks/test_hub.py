"""Whatever a hub's clock does: no deadline fires at once, none never, and nobody is signed out by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tests.clocks.disturbed import OFFSETS, WAYS, World
from tests.hub.c2a.stage import staged
from tests.two_clocks import DAY

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.c2a.stage import Stage

MINUTE = 60 * SECOND


def clock_of(world: World) -> TimeService:
    return TimeService(world.clocks["hub"].both, is_even=True, boot=lambda: "")


async def escalated(stage: Stage, event: object) -> list[str]:
    await stage.server.hub.host.tick()
    return await stage.delivered(event, reason="escalation")


@pytest.mark.spec("C2A-173", "C2A-177", "C2A-178", "CCCS-042")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", OFFSETS.values(), ids=OFFSETS)
async def test_deadlines_last_as_long_as_they_say(tmp_path: Path, by: int, way: str) -> None:
    world = World("hub")
    async with staged(tmp_path, clock=clock_of(world)) as stage:
        await stage.open()
        ann, _ben = await stage.cast("ann", "ben")
        asked = await stage.tell("@ann which port is it?")
        await ann.delivery(asked)
        group, tokens = stage.group_id, stage.tokens
        hub = stage.server.hub
        world.on_hour = lambda: hub.clock.look() and None
        sign_ins = len(hub.registry.browsers())
        if way == "restart":
            for _ in world.disturb("hub", by, way):
                pass
        else:
            for _ in world.disturb("hub", by, way):
                assert way == "drift" or await escalated(stage, asked) == []
            if way == "drift":
                # The forty hours that it took have passed; another question is asked with the clock as it is.
                asked = await stage.tell("@ann which port was it?")
                await ann.delivery(asked)
            world.pass_time(4 * MINUTE)
            assert await escalated(stage, asked) == []
            world.pass_time(2 * MINUTE)
            assert await escalated(stage, asked) == ["ben"]
            assert len(hub.registry.browsers()) == sign_ins
    if way != "restart":
        return
    async with staged(tmp_path, clock=clock_of(world)) as stage:
        stage.group_id, stage.tokens = group, tokens
        for name in ("ann", "ben"):
            await stage.agent(name)
        world.pass_time(4 * MINUTE)
        if abs(by) > DAY:
            assert await escalated(stage, asked) == [], "for all anybody knows it was asked a moment ago"
        world.pass_time(2 * MINUTE)
        assert await escalated(stage, asked) == ["ben"]
