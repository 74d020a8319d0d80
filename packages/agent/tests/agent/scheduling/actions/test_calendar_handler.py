"""Deeds as entries of a calendar that is asked by name."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.agent.scheduling.actions.io.calendar import CalendarHandler
from tacit.agent.scheduling.actions.port import DONE, FAILED, REFUSED, UNKNOWN, Deed
from tacit.agent.scheduling.calendars.io.caldav import _fault
from tacit.agent.scheduling.io.outside import Outside
from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from collections.abc import Mapping

DEED = Deed("act_abc", "add_calendar_event", {"date": "2026-03-27", "summary": "Dinner"})


class Shelf:
    """A calendar in memory that can lose an answer, or refuse."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}
        self.loses_next = False
        self.refuses: Refused | None = None

    async def put(self, name: str, data: bytes) -> str:
        self._may()
        existed = name in self.entries
        self.entries.setdefault(name, data)
        return self._told("existed" if existed else "created")

    async def remove(self, name: str) -> str:
        self._may()
        return self._told("removed" if self.entries.pop(name, None) is not None else "absent")

    def _may(self) -> None:
        if self.refuses is not None:
            raise self.refuses

    def _told(self, word: str) -> str:
        if self.loses_next:
            self.loses_next = False
            raise Unavailable("the line was cut")
        return word


class Still:
    def now(self) -> Moment:
        return Moment(7)


def write(action_id: str, details: Mapping[str, Any], now: Moment) -> bytes:
    if "date" not in details:
        raise Refused("bad_details", "no date")
    return f"{action_id} {details['date']} {now}".encode()


@pytest.mark.spec("A2ACP-166", "A2ACP-167")
async def test_an_entry_is_put_once_under_the_actions_id_and_removed_again() -> None:
    shelf = Shelf()
    handler = CalendarHandler("Home", shelf, write, Still())
    for _ in range(2):
        result = await handler.do(DEED)
        assert (result.status, result.reference) == (DONE, "act_abc")
    assert shelf.entries == {"act_abc": b"act_abc 2026-03-27 7"}
    for _ in range(2):
        assert (await handler.undo(DEED)).status == DONE
    assert shelf.entries == {}
    assert handler.reversible


@pytest.mark.spec("A2ACP-166")
async def test_a_lost_answer_is_unknown_and_recognised_when_asked_again() -> None:
    shelf = Shelf()
    shelf.loses_next = True
    handler = CalendarHandler("Home", shelf, write, Still())
    assert (await handler.do(DEED)).status == UNKNOWN
    assert (await handler.do(DEED)).status == DONE
    assert len(shelf.entries) == 1
    shelf.loses_next = True
    assert (await handler.undo(DEED)).status == UNKNOWN
    assert (await handler.undo(DEED)).status == DONE


async def test_what_is_refused_or_cannot_be_written_has_failed() -> None:
    shelf = Shelf()
    handler = CalendarHandler("Home", shelf, write, Still())
    assert (await handler.do(Deed("act_abc", "add_calendar_event", {}))).status == FAILED
    shelf.refuses = Refused("read_only", "this calendar is only read")
    assert (await handler.do(DEED)).status == FAILED
    assert shelf.entries == {}


@pytest.mark.spec("A2ACP-166", "A2ACP-168")
@pytest.mark.parametrize(
    ("refusal", "why"),
    [
        (_fault(403), "403"),
        (_fault(404), "404"),
        (_fault(409), "409"),
        (Refused("calendar_read_only", "it was added without --write"), "it was added without --write"),
    ],
)
async def test_its_owner_reads_which_calendar_refused_and_why_and_the_others_one_word(refusal, why) -> None:
    shelf = Shelf()
    shelf.refuses = refusal
    handler = CalendarHandler("Home", shelf, write, Still())
    done, undone = await handler.do(DEED), await handler.undo(DEED)
    assert (done.status, done.code) == (undone.status, undone.code) == (FAILED, REFUSED)
    assert done.reason == f'Your calendar "Home" did not accept the entry ({why}).'
    assert undone.reason == f'Your calendar "Home" did not remove the entry ({why}).'


@pytest.mark.spec("A2ACP-166")
@pytest.mark.parametrize("own", [True, False])
async def test_actions_of_several_threads_at_the_same_time_lose_none_of_their_entries(tmp_path, own):
    path = tmp_path / "calendar.ics"
    if not own:
        path.write_bytes(b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nEND:VCALENDAR\r\n")
    settings = {} if own else {"calendars": {"mine": {"kind": "ics", "path": str(path), "write": True}}}
    outside = Outside(tmp_path, settings.get, Still())
    details = {"date": "2026-03-27", "time": "19:00+00:00/20:30+00:00", "timezone": "UTC"}
    deeds = [Deed(f"act_{number:026}", "calendar", details) for number in range(12)]
    # As the agent does: whoever carries one out asks for the handler anew.
    found = await asyncio.gather(*(outside.handler("calendar").do(one) for one in deeds))
    assert {one.status for one in found} == {DONE}
    assert path.read_text().count("BEGIN:VEVENT") == len(deeds)
    await asyncio.gather(*(outside.handler("calendar").undo(one) for one in deeds))
    assert "VEVENT" not in path.read_text()
