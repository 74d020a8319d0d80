"""No hub ends a sign-in or removes a backup because its machine's clock was set to another time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import Moment
from tacit.hub import backups
from tacit.hub.config import BackupPlan
from tacit.ledger.io.store import StoreOptions
from tests.hub.room import running
from tests.hub.test_browsers import invited, lets_in
from tests.two_clocks import DAY, LEAPS, TwoClocks

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.room import Room


async def told(room: Room, group: str) -> list[str]:
    """What the group was told of the clock."""
    events = (await room.ok("GET", f"/v1/groups/{group}/events"))["events"]
    return [event["data"]["title"] for event in events if "clock" in event["data"].get("title", "")]


@pytest.mark.spec("CCCS-042")
async def test_a_sign_in_lasts_whatever_the_clock_is_set_to_and_ends_a_watched_day_after(
    tmp_path: Path,
) -> None:
    clock = TwoClocks()
    options = StoreOptions(clock=clock)
    async with running(tmp_path / "data", options=options) as room:
        group, unused = await invited(room)
        for by in LEAPS.values():
            clock.leap(by)
            await room.server.hub._mind_clock()
            assert len(room.server.hub.registry.browsers()) == 1
            clock.leap(-by)
            await room.server.hub._mind_clock()
        before = await told(room, group)
        assert len(before) == len([by for by in LEAPS.values() if abs(by) > DAY])
        clock.leap(91 * DAY)
    for _ in range(2):
        async with running(tmp_path / "data", options=options) as room:
            assert len(room.server.hub.registry.browsers()) == 1
            assert len(await told(room, group)) == len(before) + 1
            status = await room.ok("GET", "/v1/status")
            assert "91 days ahead" in status["clock"]["doubt"]
    async with running(tmp_path / "data", options=options) as room:
        clock.watch(DAY)
        await room.server.hub.browsers.end_idle()
        assert not await lets_in(room, unused)


@pytest.mark.parametrize("by", LEAPS.values(), ids=LEAPS)
@pytest.mark.parametrize("restarts", [False, True], ids=["at once", "with a restart"])
def test_no_backup_is_removed_by_the_name_that_a_clock_in_doubt_gave_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: int, *, restarts: bool
) -> None:
    clock, kept = TwoClocks(), tmp_path / "kept"
    kept.mkdir()

    def take(_data: Path, folder: Path, *_: object) -> tuple[Path, None]:
        path = folder / backups.name_at(clock.now())
        path.write_bytes(b"")
        return path, None

    monkeypatch.setattr(backups, "take", take)
    plan = BackupPlan(kept, every_seconds=3600, keep=2)

    def opened() -> backups.Backups:
        service = TimeService(clock.both)
        service.remember_in(tmp_path, lambda: None)
        return backups.Backups(tmp_path, plan, clock, SystemEntropy(), service)

    hub = opened()
    for _ in range(3):
        hub.once(plan)
        clock.watch(DAY // 24)
    before = {path.name for path in kept.iterdir()}
    assert len(before) == 2
    clock.leap(by)
    hub = opened() if restarts else hub
    hub.once(plan)
    fresh = backups.name_at(clock.now())
    left = {path.name for path in kept.iterdir()}
    assert fresh in left
    if abs(by) > DAY:
        assert left == before | {fresh}
        for _ in range(24):
            clock.watch(DAY // 24)
            hub.once(plan)
        assert len(list(kept.iterdir())) == 2


def test_the_backup_that_was_just_taken_stays_though_its_name_is_the_oldest(tmp_path: Path) -> None:
    clock = TwoClocks()
    names = [backups.name_at(Moment(clock.now() + day * DAY)) for day in (0, 1, 2)]
    assert backups.too_old(names[1:], 1) == [names[1]]
