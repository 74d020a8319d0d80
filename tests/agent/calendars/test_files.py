"""A calendar in a file: entries come and go, every other byte stays."""

from __future__ import annotations

import os

import pytest
from tests.agent.calendars.texts import at, calendar, event, shown, span

from tacit.agent.calendars.entry import entry
from tacit.agent.calendars.io.files import IcsFile
from tacit.agent.calendars.port import ABSENT, CREATED, EXISTED, REMOVED
from tacit.base.errors import Refused, Unavailable

MARCH = span("2026-03-01", "2026-04-01")


def dinner(name: str, day: int) -> bytes:
    details = {"summary": "Dinner", "date": f"2026-03-{day}", "time": "19:00+00:00/21:00+00:00"}
    return entry(name, details, at("2026-03-21"))


OLD = calendar(event("DTSTART:20260310T100000Z", "DURATION:PT1H", "X-STRANGE;A=b:as  it\\nis "))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "own.ics"
    path.write_bytes(OLD)
    path.chmod(0o640)
    return path


async def test_an_entry_is_added_once_and_removed_to_the_byte(path):
    file = IcsFile(path, zone="UTC", write=True)
    assert await file.put("act_1", dinner("act_1", 27)) == CREATED
    assert await file.put("act_1", dinner("act_1", 27)) == EXISTED
    assert await file.put("act_2", dinner("act_2", 28)) == CREATED
    assert shown((await file.busy(MARCH)).spans) == [
        "2026-03-10T10:00/2026-03-10T11:00",
        "2026-03-27T19:00/2026-03-27T21:00",
        "2026-03-28T19:00/2026-03-28T21:00",
    ]
    assert await file.remove("act_1") == REMOVED
    assert await file.remove("act_1") == ABSENT
    assert await file.remove("act") == ABSENT
    assert await file.remove("ACT_2") == ABSENT
    assert await file.remove("act_2") == REMOVED
    assert path.read_bytes() == OLD
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == [path.name]


async def test_two_entries_at_once_are_both_there(path):
    import asyncio

    file = IcsFile(path, zone="UTC", write=True)
    names = [f"act_{number}" for number in range(8)]
    await asyncio.gather(*(file.put(name, dinner(name, 27)) for name in names))
    assert [await file.remove(name) for name in names] == [REMOVED] * 8


async def test_a_calendar_of_our_own_is_empty_until_its_first_entry(tmp_path):
    file = IcsFile(tmp_path / "ours.ics", zone="UTC", ours=True)
    assert (await file.busy(MARCH)).spans == ()
    assert await file.remove("act_1") == ABSENT
    assert await file.put("act_1", dinner("act_1", 27)) == CREATED
    assert shown((await file.busy(MARCH)).spans) == ["2026-03-27T19:00/2026-03-27T21:00"]
    assert (tmp_path / "ours.ics").stat().st_mode & 0o777 == 0o600


async def test_a_file_of_somebody_that_is_not_there_is_no_empty_calendar(tmp_path):
    with pytest.raises(Unavailable):
        await IcsFile(tmp_path / "gone.ics", zone="UTC").busy(MARCH)
    with pytest.raises(Unavailable):
        await IcsFile(tmp_path, zone="UTC").busy(MARCH)


async def test_a_calendar_added_for_reading_is_not_written(path):
    file = IcsFile(path, zone="UTC")
    for call in (file.put("act_1", dinner("act_1", 27)), file.remove("act_1")):
        with pytest.raises(Refused, match="calendar_read_only"):
            await call
    assert path.read_bytes() == OLD


async def test_nothing_is_written_into_what_is_no_calendar(path):
    path.write_bytes(OLD[:-10])
    file = IcsFile(path, zone="UTC", write=True)
    with pytest.raises(Refused, match="calendar_unreadable"):
        await file.put("act_1", dinner("act_1", 27))
    assert path.read_bytes() == OLD[:-10]
    assert not (await file.busy(MARCH)).complete


async def test_what_is_no_event_is_not_put(path):
    with pytest.raises(Refused, match="bad_entry"):
        await IcsFile(path, zone="UTC", write=True).put("act_1", b"hello")


async def test_a_write_that_fails_leaves_the_old_file(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    file = IcsFile(path, zone="UTC", write=True)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable):
        await file.put("act_1", dinner("act_1", 27))
    monkeypatch.undo()
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == [path.name]


async def test_a_name_that_leads_elsewhere_is_refused(path):
    file = IcsFile(path, zone="UTC", write=True)
    for call in (file.put("a\r\nb", OLD), file.remove("")):
        with pytest.raises(Refused, match="bad_action_id"):
            await call
