"""All calendars of an owner as one answer: one that cannot be read blocks everything, and is named."""

from __future__ import annotations

import asyncio

import pytest

from tacit.agent.scheduling.calendars import ics
from tacit.agent.scheduling.calendars.availability import free
from tacit.agent.scheduling.calendars.busy import Busy
from tacit.agent.scheduling.calendars.io.calendars import Calendars
from tacit.agent.scheduling.calendars.io.files import IcsFile
from tacit.base.errors import Bug, Refused, Unavailable
from tests.agent.scheduling.calendars.texts import calendar, event, shown, span

MARCH = span("2026-03-01", "2026-04-01")


class Failing:
    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    async def busy(self, asked):
        raise self.fault


class Meeting:
    """Answers only when the others have been asked as well."""

    def __init__(self, barrier: asyncio.Barrier) -> None:
        self.barrier = barrier

    async def busy(self, asked):
        await self.barrier.wait()
        return Busy()


def file(tmp_path, name: str, *events: str) -> IcsFile:
    (tmp_path / name).write_bytes(calendar(*events))
    return IcsFile(tmp_path / name, zone="UTC")


@pytest.mark.spec("A2ACP-077")
async def test_what_any_calendar_holds_is_busy(tmp_path):
    both = Calendars(
        {
            "work": file(tmp_path, "work", event("DTSTART:20260310T100000Z", "DURATION:PT1H")),
            "home": file(tmp_path, "home", event("DTSTART:20260310T103000Z", "DURATION:PT1H")),
        }
    )
    found = await both.busy(MARCH)
    assert shown(found.spans) == ["2026-03-10T10:00/2026-03-10T11:30"]
    assert found.complete


@pytest.mark.parametrize("fault", [Unavailable("down"), Refused("calendar_denied", "no")])
async def test_a_calendar_that_cannot_be_read_blocks_everything_and_is_named(tmp_path, fault):
    found = await Calendars({"work": Failing(fault), "home": file(tmp_path, "home")}).busy(MARCH)
    assert not found.complete
    assert found.spans == (MARCH,)
    assert free(found, (MARCH,), 30) == ()
    reason = {Unavailable: "down", Refused: "no"}[type(fault)]
    assert found.notices == (f'calendar "work" cannot be read: {reason}',)


async def test_a_notice_says_which_calendar_it_is_of(tmp_path):
    long = file(tmp_path, "long", event("DTSTART:20200101T000000Z", "DTEND:20300101T000000Z"))
    assert (await Calendars({"trips": long}).busy(MARCH)).notices == (f'calendar "trips": {ics.LONG}',)


async def test_all_calendars_are_asked_at_once():
    barrier = asyncio.Barrier(3)
    many = Calendars({str(number): Meeting(barrier) for number in range(3)})
    assert await asyncio.wait_for(many.busy(MARCH), 60) == Busy()


async def test_nobody_without_calendars_is_busy():
    assert await Calendars({}).busy(MARCH) == Busy()


async def test_a_fault_of_our_own_is_not_hidden():
    with pytest.raises(ExceptionGroup):
        await Calendars({"work": Failing(Bug("x"))}).busy(MARCH)
