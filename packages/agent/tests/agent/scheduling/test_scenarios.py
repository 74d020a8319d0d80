"""Two people, their calendars and the rules between them, without packets."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tacit.a2acp.packets.dates import moment_of
from tacit.agent.scheduling.calendars.availability import all_free, free
from tacit.agent.scheduling.calendars.entry import span_of
from tacit.agent.scheduling.calendars.ics import read_busy
from tacit.agent.scheduling.conflict import conflict_context, details_of, escalation
from tacit.agent.scheduling.goal import Goal
from tacit.agent.scheduling.options import options
from tacit.agent.scheduling.tries import tries
from tacit.base.moment import Span, common, without
from tests.agent.scheduling.calendars.texts import at, calendar, event, shown, span

NOW = at("2026-03-21 14:30")


class Person:
    """A calendar on a wall."""

    def __init__(self, zone: str, *events: str) -> None:
        self.zone = zone
        self._data = calendar(*(one.replace("UID:one", f"UID:{number}") for number, one in enumerate(events)))

    def busy(self, asked: Span):
        found = read_busy(self._data, asked, self.zone)
        assert found.complete
        return found

    def windows(self, *wanted: Span, minutes: int) -> tuple[Span, ...]:
        return free(self.busy(Span(wanted[0].start, wanted[-1].end)), wanted, minutes)

    def between(self, day: str, first: str, last: str) -> Span:
        """Hours of a day on this person's wall."""
        zone = ZoneInfo(self.zone)
        return Span(
            *(
                moment_of(datetime.fromisoformat(f"{day} {time}").replace(tzinfo=zone))
                for time in (first, last)
            )
        )


def evening(day: int) -> str:
    return event(f"DTSTART;TZID=Europe/London:202603{day:02}T170000", "DURATION:PT6H", "SUMMARY:private")


FIXED_DATE = {"date": "not_flexible"}


@pytest.mark.spec("A2ACP-042", "A2ACP-097", "A2ACP-099", "A2ACP-100")
def test_wednesday_against_thursday_and_neither_flexible_gives_three_alternatives_for_people():
    alice = Person("Europe/London", *(evening(day) for day in (23, 24, 26, 27)))
    bob = Person("Europe/London", *(evening(day) for day in (23, 24, 25, 27)))
    week = tuple(alice.between(f"2026-03-{day}", "18:00", "21:00") for day in range(23, 28))
    goal = Goal(
        kind="meeting", category="scheduling", summary="dinner", event_type="dinner", spans=week, minutes=120,
        flexibility=FIXED_DATE,
    )  # fmt: skip
    ours, theirs = alice.windows(*week, minutes=120), bob.windows(*week, minutes=120)
    assert shown(ours) == ["2026-03-25T18:00/2026-03-25T21:00"]
    assert shown(theirs) == ["2026-03-26T18:00/2026-03-26T21:00"]
    assert options(goal, ours, theirs, zone="Europe/London", now=NOW).best == ()

    busy = alice.busy(span("2026-03-21", "2026-04-06"))
    made = tries(
        goal, lambda wanted: all_free(busy, wanted, 120), theirs, FIXED_DATE, zone="Europe/London", now=NOW
    )
    assert not any(one.may_resolve for one in made)
    told = conflict_context(
        field="time_windows", ours=["ours"], theirs=["theirs"], we_began=True, made=made, zone="Europe/London"
    )
    assert [one["option"] for one in told["proposed_alternatives"]] == [
        "Following week: Wednesday 1 April 2026, 19:00+01:00/21:00+01:00",
        "Following week: Thursday 2 April 2026, 19:00+01:00/21:00+01:00",
        "Lunch instead: Monday 23 March 2026, 12:30+00:00/14:30+00:00",
    ]
    for one in told["proposed_alternatives"]:
        assert common((span_of(one["details"]),), busy.spans) == ()
    assert escalation(made)["recommend"] == "surface_to_users"
    assert "private" not in str(told)


CLOCKS = [
    ("2026-03-04", "both on winter time", "15:00"),
    ("2026-03-18", "only New York on summer time", "14:00"),
    ("2026-04-08", "both on summer time", "15:00"),
    ("2026-10-28", "only London on winter time", "14:00"),
    ("2026-11-04", "both on winter time", "15:00"),
]


@pytest.mark.parametrize(
    ("day", "hour"), [(row[0], row[2]) for row in CLOCKS], ids=[row[1] for row in CLOCKS]
)
def test_london_and_new_york_meet_in_the_hours_that_both_have_that_week(day, hour):
    """Ten in New York, till five in London: which hours these share depends on whose clock has changed."""
    london = Person(
        "Europe/London", event(f"DTSTART;TZID=Europe/London:{day.replace('-', '')}T090000", "DURATION:PT4H")
    )
    new_york = Person(
        "America/New_York",
        event("DTSTART;TZID=America/New_York:20260101T090000", "DURATION:PT1H", "RRULE:FREQ=DAILY"),
    )
    asked = (london.between(day, "09:00", "17:00"),)
    goal = Goal(
        kind="meeting", category="scheduling", summary="call", event_type="call", spans=asked, minutes=60
    )
    ours = london.windows(*asked, minutes=60)
    theirs = new_york.windows(new_york.between(day, "09:00", "17:00"), minutes=60)
    found = options(goal, ours, theirs, zone=london.zone, now=at("2026-02-01"))
    assert details_of("call", found.best[0].span, london.zone)["time"][:5] == hour
    there = details_of("call", found.best[0].span, new_york.zone)
    assert there["time"][:5] == "10:00"
    assert span_of(there) == found.best[0].span
    assert without((found.best[0].span,), common(ours, theirs)) == ()


def test_two_threads_and_one_free_evening_offer_it_once():
    alice = Person("Europe/London", evening(26))
    week = tuple(alice.between(f"2026-03-{day}", "18:00", "21:00") for day in (25, 26))
    goal = Goal(
        kind="meeting", category="scheduling", summary="x", event_type="dinner", spans=week, minutes=120
    )
    ours = alice.windows(*week, minutes=120)
    first = options(goal, ours, week, zone=alice.zone, now=NOW).best
    assert len(first) == 1
    second = options(goal, ours, week, zone=alice.zone, now=NOW, holds=(first[0].span,))
    assert second.best == ()
    assert "held" in {one.why for one in second.excluded}


@pytest.mark.parametrize("zone", ["Europe/London", "America/New_York", "Asia/Kathmandu"])
def test_details_of_an_option_are_its_span_again(zone):
    for one in (span("2026-03-29 00:30", "2026-03-29 02:30"), span("2026-03-27 22:00", "2026-03-28 01:00")):
        assert span_of(details_of("dinner", one, zone)) == one
