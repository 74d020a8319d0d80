"""A calendar in a file: entries come and go, every other byte stays."""

from __future__ import annotations

import asyncio
import os

import pytest

from tacit.agent.scheduling.calendars.components import LARGEST
from tacit.agent.scheduling.calendars.entry import entry
from tacit.agent.scheduling.calendars.io import opening
from tacit.agent.scheduling.calendars.io.calendars import Calendars
from tacit.agent.scheduling.calendars.io.files import IcsFile
from tacit.agent.scheduling.calendars.port import ABSENT, CREATED, EXISTED, REMOVED
from tacit.base.errors import Refused, Unavailable
from tests.agent.scheduling.calendars.texts import at, calendar, event, shown, span

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


BAD_FILES = [
    (b"", "is empty"), (b" \r\n\r\n", "is empty"), (b"\xef\xbb\xbf", "is empty"),
    (b"hello", "is not a calendar"), (b"BEGIN:VCARD\r\nEND:VCARD\r\n", "is not a calendar"),
    (b"<!DOCTYPE html><html>BEGIN:VCALENDAR</html>", "is a web page"), (b"PK\x03\x04rest", "is a ZIP archive"),
    (OLD[:-20], "damaged or cut off"), (OLD.replace(b"END:VEVENT", b""), "damaged or cut off"),
    (OLD + b" " * LARGEST, "larger than 8 MiB"),
    (calendar(event("DTSTART:soon", uid="bad"), event("DTSTART:20260310T100000Z", "DURATION:PT1H")), "no readable start"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), BAD_FILES)
async def test_a_file_that_cannot_be_read_is_refused_when_it_is_added_and_says_why(path, content, says):
    path.write_bytes(content)
    definition = {"kind": "ics", "path": str(path)}
    source = opening.opened(definition, zone="UTC", turn=lambda _: asyncio.Lock())
    with pytest.raises(Refused, match=says) as refused:
        await opening.first_reading(source, MARCH)
    assert refused.value.code == "calendar_unreadable"
    assert not (await Calendars({"mine": source}).busy(MARCH)).complete


async def test_a_file_that_is_not_there_or_is_no_file_is_refused_when_it_is_added(tmp_path):
    os.mkfifo(tmp_path / "pipe.ics")
    places = {"none.ics": "no file", "": "a folder or a device", "pipe.ics": "a folder or a device"}
    places["x" * 300] = "cannot be read"
    for place, says in places.items():
        source = IcsFile(tmp_path / place, zone="UTC")
        with pytest.raises(Refused, match=says):
            await opening.first_reading(source, MARCH)


async def test_a_file_that_can_be_read_says_what_is_in_it_when_it_is_added(path):
    answer = await opening.first_reading(IcsFile(path, zone="UTC"), MARCH)
    assert shown(answer.spans) == ["2026-03-10T10:00/2026-03-10T11:00"]


NO_DEFINITIONS = [
    {}, {"kind": "ics"}, {"kind": "ics", "path": 1}, {"kind": "exchange", "url": "https://cal.example/"},
    {"kind": "caldav", "url": "https://cal.example/"}, {"kind": "caldav", "url": "https://cal.example/", "user": "ann"},
    {"kind": "caldav", "url": "https://cal.example/", "user": "ann", "password_file": None}, [], "ics",
]  # fmt: skip


@pytest.mark.parametrize("definition", NO_DEFINITIONS)
def test_a_calendar_that_lacks_something_is_refused(definition):
    with pytest.raises(Refused, match="bad_calendar"):
        opening.opened(definition, zone="UTC", turn=lambda _: asyncio.Lock())


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
