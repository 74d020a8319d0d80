"""Arithmetic on spans, against the same question asked minute by minute."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.base.moment import MINUTE, Moment, Span, common, long_enough, merged, within, without

LENGTH = 40


def span(start: int, end: int) -> Span:
    return Span(Moment(start * MINUTE), Moment(end * MINUTE))


spans = st.lists(st.builds(span, st.integers(0, LENGTH), st.integers(0, LENGTH)), max_size=8).map(tuple)
some = settings(max_examples=100)


def minutes(*many: Span) -> set[int]:
    return {minute for one in many for minute in range(LENGTH) if one.start <= minute * MINUTE < one.end}


def is_tidy(found: tuple[Span, ...]) -> bool:
    """In order, each of some length, none touching the next."""
    return all(one.start < one.end for one in found) and all(
        one.end < after.start for one, after in itertools.pairwise(found)
    )


@some
@given(spans)
def test_merged_spans_are_the_same_minutes_without_overlap(given):
    found = merged(given)
    assert minutes(*found) == minutes(*given)
    assert is_tidy(found)


@some
@given(st.lists(spans, min_size=1, max_size=4))
def test_common_time_is_the_minutes_that_every_calendar_has(calendars):
    found = common(*calendars)
    assert minutes(*found) == set.intersection(*(minutes(*one) for one in calendars))
    assert is_tidy(found)


def test_nobody_has_no_time_in_common():
    assert common() == ()
    assert common((span(1, 5),), ()) == ()


def test_spans_that_only_touch_have_nothing_in_common():
    assert common((span(1, 5),), (span(5, 9),)) == ()


@some
@given(spans, spans)
def test_what_is_left_without_the_busy_time_is_the_other_minutes(free, busy):
    found = without(free, busy)
    assert minutes(*found) == minutes(*free) - minutes(*busy)
    assert is_tidy(found)


@some
@given(spans, st.builds(span, st.integers(0, LENGTH), st.integers(0, LENGTH)))
def test_what_lies_within_bounds_is_cut_at_them(given, bounds):
    found = within(given, bounds)
    assert minutes(*found) == minutes(*given) & minutes(bounds)
    assert is_tidy(found)


@some
@given(spans, st.integers(0, 20))
def test_long_enough_counts_a_merged_stretch_as_one(given, least):
    found = long_enough(given, least)
    assert found == tuple(one for one in merged(given) if (one.end - one.start) // MINUTE >= least)


def test_a_stretch_of_exactly_the_length_is_long_enough():
    assert long_enough((span(0, 30),), 30) == (span(0, 30),)
    assert long_enough((span(0, 30), span(30, 60)), 60) == (span(0, 60),)
    assert long_enough((span(0, 29),), 30) == ()
