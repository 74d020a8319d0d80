"""The entry of a confirmed proposal: when it is, its name, and text that stays text."""

from __future__ import annotations

import icalendar
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.scheduling.calendars.components import parse
from tacit.agent.scheduling.calendars.entry import entry, span_of
from tacit.agent.scheduling.calendars.ics import read_busy
from tacit.base.errors import Refused
from tests.agent.scheduling.calendars.texts import at, calendar, shown, span

NOW = at("2026-03-21 14:30")
DINNER = {
    "event_type": "dinner",
    "date": "2026-03-27",
    "time": "19:00+00:00/21:00+00:00",
    "place": "Mya Lacarte, Reading",
}
WEEK = span("2026-03-23", "2026-03-30")

WHEN = [
    ({}, "2026-03-27T19:00/2026-03-27T21:00"),
    ({"time": "19:00+01:00/21:00+01:00"}, "2026-03-27T18:00/2026-03-27T20:00"),
    ({"time": "22:00+00:00/01:00+00:00"}, "2026-03-27T22:00/2026-03-28T01:00"),
    ({"time": "22:00+00:00/22:00+00:00"}, "2026-03-27T22:00/2026-03-28T22:00"),
    ({"time": "19:00+00:00", "duration": "PT1H30M"}, "2026-03-27T19:00/2026-03-27T20:30"),
]


@pytest.mark.parametrize(("changed", "expected"), WHEN)
def test_an_entry_stands_when_the_proposal_says(changed, expected):
    data = entry("act_1", DINNER | changed, NOW)
    assert shown(read_busy(data, WEEK, "America/New_York").spans) == [expected]
    (event,) = icalendar.Calendar.from_ical(data).walk("VEVENT")
    assert event["UID"] == "act_1"
    assert event["SUMMARY"] == "dinner"
    assert event["LOCATION"] == "Mya Lacarte, Reading"
    assert event["DTSTART"].to_ical().endswith(b"Z")


@pytest.mark.parametrize(
    "changed",
    [
        {"date": None}, {"time": None}, {"time": 5}, {"time": "19:00"}, {"time": "19:00/21:00"}, {"date": "27 March"},
        {"date": "2026-02-30"}, {"time": "19:00+00:00"}, {"time": "19:00+00:00", "duration": "long"},
        {"time": "19:00+00:00", "duration": "-PT1H"}, {"time": "25:00+00:00/26:00+00:00"}, {"date": "20260327"},
        {"time": "19:00+00:00/"},
    ],
)  # fmt: skip
def test_what_is_not_certainly_a_time_is_refused_not_guessed(changed):
    with pytest.raises(Refused, match="bad_details"):
        span_of(DINNER | changed)


@pytest.mark.parametrize("name", ["", "a/b", "../x", "a b", "a\r\nb", "x" * 65, "é"])
def test_a_name_that_could_lead_elsewhere_is_refused(name):
    with pytest.raises(Refused, match="bad_action_id"):
        entry(name, DINNER, NOW)


def test_the_same_action_gives_the_same_entry():
    assert entry("act_1", DINNER, NOW) == entry("act_1", dict(DINNER), NOW)


@settings(max_examples=100)
@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_becomes_anything_but_text(summary, place):
    data = entry("act_1", DINNER | {"summary": summary, "place": place}, NOW)
    (found,) = parse(data) or []
    (event,) = found.parts
    names = [one.name for one in event.properties]
    assert [name for name in names if name != "LOCATION"] == [
        "UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY", "STATUS", "TRANSP"
    ]  # fmt: skip
    assert all(len(line) <= 75 for line in data.split(b"\r\n"))
    (other,) = icalendar.Calendar.from_ical(data).walk("VEVENT")
    printable = " ".join("".join(one if one.isprintable() else " " for one in summary).split())
    assert str(other["SUMMARY"]) == (printable or "dinner")


def test_orders_in_a_text_add_no_line():
    orders = "Dinner\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART:20260328T100000Z\r\nDURATION:PT9H"
    data = entry("act_1", DINNER | {"summary": orders}, NOW)
    assert data.count(b"\r\nBEGIN:VEVENT") == 1
    assert shown(read_busy(data, WEEK, "UTC").spans) == ["2026-03-27T19:00/2026-03-27T21:00"]
    assert read_busy(calendar(), WEEK, "UTC").spans == ()
