"""What is told of free time: inside what was asked for, long enough, at most five windows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.scheduling.calendars.availability import MOST_WINDOWS, all_free, free
from tacit.agent.scheduling.calendars.busy import Busy, together, unknown
from tacit.base.moment import MINUTE, Moment, Span, common, merged, without
from tests.agent.scheduling.calendars.texts import span

EVENING = span("2026-03-27 18:00", "2026-03-27 22:00")


def minutes(start: int, end: int) -> Span:
    return Span(Moment(start * MINUTE), Moment(end * MINUTE))


spans = st.lists(st.builds(minutes, st.integers(0, 300), st.integers(0, 300)), max_size=12).map(tuple)


@pytest.mark.spec("A2ACP-077")
def test_only_what_was_asked_for_and_is_free_is_told():
    busy = Busy((span("2026-03-27 17:00", "2026-03-27 18:30"),))
    assert free(busy, (EVENING,), 60) == (span("2026-03-27 18:30", "2026-03-27 22:00"),)
    assert free(busy, (), 60) == ()


def test_a_window_too_short_for_the_purpose_is_not_told():
    busy = Busy((span("2026-03-27 18:59", "2026-03-27 21:00"),))
    assert free(busy, (EVENING,), 60) == (span("2026-03-27 21:00", "2026-03-27 22:00"),)


def test_where_a_calendar_could_not_be_read_nothing_is_free():
    assert free(unknown(EVENING, "gone"), (EVENING,), 30) == ()
    beyond = span("2026-03-28 18:00", "2026-03-28 22:00")
    assert free(unknown(EVENING, "gone"), (beyond,), 30) == ()
    assert all_free(unknown(EVENING, "gone"), (beyond,), 30) == ()


@settings(max_examples=100)
@given(spans, spans, st.integers(1, 30))
def test_never_more_than_five_windows_all_free_and_asked_for(blocked, wanted, least):
    told = free(Busy(merged(blocked)), wanted, least)
    every = all_free(Busy(merged(blocked)), wanted, least)
    assert set(told) <= set(every)
    assert len(told) == min(MOST_WINDOWS, len(every))
    assert common(told, blocked) == ()
    assert without(told, wanted) == ()
    assert told == tuple(sorted(told))


def test_each_stretch_gives_its_longest_window_before_any_gives_a_second():
    days = tuple(minutes(day * 1000, day * 1000 + 600) for day in range(4))
    busy = Busy(tuple(minutes(at, at + 10) for at in (100, 200, 300)))
    told = free(busy, days, 30)
    assert told == (minutes(0, 100), minutes(310, 600), *days[1:])


def test_answers_of_several_calendars_are_one():
    one = Busy((minutes(0, 10),), ("a",))
    two = Busy((minutes(5, 20),), ("a", "b"))
    assert together((one, two)) == Busy((minutes(0, 20),), ("a", "b"))
    # Where a calendar cannot be read, the notices are of that one: the rest decides nothing then.
    unread = Busy((minutes(30, 40),), ("c",), complete=False)
    assert together((one, unread)) == Busy((minutes(0, 10), minutes(30, 40)), ("c",), complete=False)
    assert together(()) == Busy()
