"""When a nudge leaves and what it says: from values alone."""

from __future__ import annotations

import pytest

from tacit.agent.owner import nudges
from tacit.base.errors import Refused
from tacit.base.moment import parse_rfc3339


def at(text: str):
    return parse_rfc3339(text)


def test_a_nudge_says_how_many_decisions_wait_and_nothing_else():
    assert nudges.nudge(["a"], ()).text() == "1 decision waits"
    assert nudges.nudge(["a", "b", "c"], {"a"}).text() == "3 decisions wait"
    assert nudges.nudge(["a", "b", "c"], {"a"}).questions == ("b", "c")


def test_what_was_told_of_is_not_told_of_again():
    assert nudges.nudge(["a", "b"], {"a", "b"}) is None
    assert nudges.nudge([], {"a"}) is None


@pytest.mark.parametrize(
    ("hours", "zone", "now", "until"),
    [
        ("22:00-07:00", "UTC", "2026-03-23T21:59:59Z", None),
        ("22:00-07:00", "UTC", "2026-03-23T22:00:00Z", "2026-03-24T07:00:00Z"),
        ("22:00-07:00", "UTC", "2026-03-24T06:59:59Z", "2026-03-24T07:00:00Z"),
        ("22:00-07:00", "UTC", "2026-03-24T07:00:00Z", None),
        ("12:30-13:15", "UTC", "2026-03-24T13:00:00Z", "2026-03-24T13:15:00Z"),
        # By the owner's own clock, also in the night in which London's is put forward.
        ("22:00-07:00", "America/New_York", "2026-03-24T02:30:00Z", "2026-03-24T11:00:00Z"),
        ("22:00-07:00", "Europe/London", "2026-03-28T23:00:00Z", "2026-03-29T06:00:00Z"),
        ("22:00-07:00", "Europe/London", "2026-03-29T05:59:59Z", "2026-03-29T06:00:00Z"),
        ("22:00-07:00", "no zone at all", "2026-03-23T23:00:00Z", "2026-03-24T07:00:00Z"),
    ],
)
def test_quiet_hours_are_by_the_owners_own_clock(hours, zone, now, until):
    found = nudges.quiet_until(at(now), nudges.quiet_hours(hours), zone)
    assert found == (at(until) if until else None)


@pytest.mark.parametrize(
    "text", ["", "22-7", "24:00-07:00", "22:60-07:00", "22:00-22:00", "22:00-07:00 ", "٢٢:00-07:00"]
)
def test_what_are_no_hours_is_refused(text):
    with pytest.raises(Refused, match="22:00-07:00"):
        nudges.quiet_hours(text)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("json://user:SECRET@host/SECRET?x=SECRET", "json://…"),
        ("tgram://SECRET/1", "tgram://…"),
        ("SECRET", "…"),
        ("SECRET SECRET://x", "…"),
        ("://SECRET", "…"),
    ],
)
def test_of_a_way_only_its_kind_is_shown(url, shown):
    assert nudges.redacted(url) == shown
