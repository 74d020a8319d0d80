"""What the host of a hub knows of time after it was away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.hub.c2a.stage import staged

if TYPE_CHECKING:
    from pathlib import Path


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
        await stage.pass_time(400)
        told = await stage.events(group, kinds="system.notify")
        assert asked["id"] in [one["data"].get("related_event_id") for one in told]
