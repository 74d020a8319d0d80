"""Content that was taken back and has not left the disk yet is shown to the operator, with the way out."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING, Any

from tacit.base.io.sqlite import connect
from tacit.base.moment import SECOND, Moment
from tacit.cli.operation.doctor import ERASURE_SLOW, DoctorFinding, status_findings
from tacit.cli.session import CliSession
from tacit.ledger.io.store import DATABASE, StoreOptions
from tests.hub.room import WAIT, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.room import Room


class Moved:
    """A clock that stands until it is moved."""

    at = Moment(1_800_000_000 * SECOND)

    def now(self) -> Moment:
        return self.at


async def found(room: Room, data: Path) -> DoctorFinding:
    session = CliSession(room.url, room.owner, data=data)
    return next(one for one in await asyncio.to_thread(status_findings, session) if one.what == "erasures")


def finding(data: Path) -> DoctorFinding:
    session = CliSession("http://127.0.0.1:9", None, data=data)
    return next(one for one in status_findings(session) if one.what == "erasures")


async def erasures(room: Room) -> dict[str, Any]:
    return (await room.ok("GET", "/v1/status"))["erasures"]


async def test_what_a_reader_keeps_on_the_disk_is_counted_with_its_age_until_it_is_gone(
    tmp_path: Path,
) -> None:
    data, clock = tmp_path / "data", Moved()
    async with running(data, options=StoreOptions(clock=clock)) as room:
        group = await room.group()
        said = await room.say(group, "this has to go")
        assert await erasures(room) == {"pending": 0, "oldest_s": 0.0}
        assert (await found(room, data)).ok
        with closing(connect(data / DATABASE, readonly=True)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM events").get
            await room.ok("POST", f"/v1/groups/{group}/events/{said['id']}/delete", json={})
            assert await erasures(room) == {"pending": 1, "oldest_s": 0.0}
            # For a moment that is how it goes; after a while somebody should look.
            assert (await found(room, data)).ok
            clock.at = Moment(clock.at + 2 * ERASURE_SLOW * SECOND)
            assert await erasures(room) == {"pending": 1, "oldest_s": 120.0}
            told = await found(room, data)
            assert not told.ok
            assert "1 taken back" in told.found
            assert "120 s" in told.found
            assert "make room on the disk" in told.advice
            exposed = (await room.get("/metrics")).raw.decode()
            assert "tacit_erasures_pending 1.0" in exposed
            assert "tacit_oldest_erasure_seconds 120.0" in exposed
            reader.execute("ROLLBACK")
        async with asyncio.timeout(WAIT):
            while (await erasures(room))["pending"]:
                await asyncio.sleep(0.01)
        exposed = (await room.get("/metrics")).raw.decode()
        assert "tacit_erasures_pending 0.0" in exposed
        assert "tacit_oldest_erasure_seconds 0.0" in exposed


async def test_doctor_finds_them_in_a_ledger_whose_hub_does_not_run(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with running(data, options=StoreOptions(clock=Moved())) as room:
        group = await room.group()
        said = await room.say(group, "this has to go")
        reader = connect(data / DATABASE, readonly=True)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM events").get
        await room.ok("POST", f"/v1/groups/{group}/events/{said['id']}/delete", json={})
    told = finding(data)
    assert "1 taken back" in told.found
    reader.close()
    async with running(data, options=StoreOptions(clock=Moved())):
        pass
    assert "nothing that was taken back" in finding(data).found
