"""A hub whose machine's clock is set a day ahead and back: nothing fires, nothing hangs, order stays."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, Moment
from tests.hub.c2a.stage import staged
from tests.hub.room import WAIT
from tests.ledger.world import START

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.c2a.stage import Stage

DAY = 86_400


class Machine:
    """Two clocks: the steady one goes on, the wall can be set."""

    def __init__(self) -> None:
        self.both = (START, 0)

    def clock(self) -> TimeService:
        return TimeService(lambda: self.both, is_even=True)

    def go_on(self, seconds: int) -> None:
        wall, steady = self.both
        self.both = (Moment(wall + seconds * SECOND), steady + seconds * SECOND)

    def set(self, seconds: int) -> None:
        wall, steady = self.both
        self.both = (Moment(wall + seconds * SECOND), steady)


async def jumps_told(stage: Stage, count: int) -> list[int]:
    """What the groups were told of the clock, waited for."""
    async with asyncio.timeout(WAIT):
        while True:
            found = await stage.events(stage.group_id, kinds="system.notify")
            told = [one["data"]["context"]["by_seconds"] for one in found if "clock" in one["data"]["title"]]
            if len(told) >= count:
                return told
            await asyncio.sleep(0.01)


async def escalated(stage: Stage, event: Any) -> list[str]:
    await stage.server.hub.host.tick()
    return await stage.delivered(event, reason="escalation")


@pytest.mark.spec("C2A-173", "C2A-178")
async def test_a_clock_that_is_set_a_day_ahead_and_back_moves_no_deadline(tmp_path: Path) -> None:
    machine = Machine()
    async with staged(tmp_path, clock=machine.clock()) as stage:  # type: ignore[arg-type]
        await stage.open()
        ann, _ben = await stage.cast("ann", "ben")
        first = await stage.tell("@ann which port is it?")
        await ann.delivery(first)
        machine.set(DAY)
        second = await stage.tell("@ann and which host?")
        assert second["ts"] == first["ts"], "the wall moved, and nothing has passed"
        assert await escalated(stage, first) == []
        assert await stage.delivered(first) == ["ann"], "nothing fires"
        assert await jumps_told(stage, 1) == [DAY]
        machine.go_on(120)
        assert await escalated(stage, first) == []
        machine.set(-DAY)
        third = await stage.tell("@ann and which path?")
        assert await escalated(stage, first) == []
        assert (await stage.get("/v1/status")).body["clock"] == {
            "ahead_s": 12.0,
            "jumps": 2,
            "doubt": "",
        }
        machine.go_on(200)
        assert await escalated(stage, first) == ["ben"]
        assert await escalated(stage, third) == []
        machine.go_on(150)
        assert await escalated(stage, third) == ["ben"], "its deadline is no day long"
        stamps = [one["ts"] for one in await stage.events(stage.group_id)]
        assert stamps == sorted(stamps)
        assert await jumps_told(stage, 1) == [DAY], "one word in an hour"
        assert "tacit_clock_jumps 2.0" in (await stage.get("/metrics")).raw.decode()


@pytest.mark.spec("C2A-173")
async def test_a_hub_that_starts_behind_its_ledger_goes_on_from_there(tmp_path: Path) -> None:
    machine = Machine()
    machine.set(DAY)
    async with staged(tmp_path, clock=machine.clock()) as stage:  # type: ignore[arg-type]
        await stage.open()
        await stage.cast("ann", "ben")
        before = await stage.tell("good morning")
        group, tokens = stage.group_id, stage.tokens
    machine.set(-DAY)
    async with staged(tmp_path, clock=machine.clock()) as stage:  # type: ignore[arg-type]
        stage.group_id = group
        stage.tokens = tokens
        ann = await stage.agent("ann")
        asked = await stage.tell("@ann which port is it?")
        assert asked["ts"] >= before["ts"]
        await ann.delivery(asked)
        assert await jumps_told(stage, 1) == [-DAY]
        machine.go_on(400)
        await stage.server.hub.host.tick()
        moved = await stage.events(stage.group_id, kinds="system.notify")
        assert any(one["data"].get("related_event_id") == asked["id"] for one in moved), "300 s, and no day"
