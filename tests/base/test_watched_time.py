"""What erases goes by a believed time, which no clock that was set can hurry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.moment import Moment
from tacit.base.watched_time import BELIEVED, ENOUGH, Watched, doubt, looked, trusted, witnessed
from tests.two_clocks import DAY, LEAPS, START

HOUR = DAY // 24
FAR = {name: by for name, by in LEAPS.items() if abs(by) > DAY}


@pytest.mark.parametrize("by", LEAPS.values(), ids=LEAPS)
def test_a_leap_moves_what_is_erased_by_no_further_than_a_day(by: int) -> None:
    after = looked(trusted(START), Moment(START + by), 0)
    assert after.safe <= START + BELIEVED
    assert bool(after.leapt) is (abs(by) > DAY)


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_day_that_is_watched_with_the_new_time_makes_it_believed(by: int) -> None:
    seen = looked(trusted(START), Moment(START + by), 0)
    for hour in range(1, 24):
        seen = looked(seen, Moment(START + by + hour * HOUR), HOUR)
        assert seen.leapt == by
        assert seen.safe <= START + hour * HOUR
    right = Moment(START + by + ENOUGH)
    assert looked(seen, right, HOUR) == trusted(right)


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_leap_within_the_watched_day_begins_it_anew(by: int) -> None:
    seen = looked(trusted(START), Moment(START + by), 0)
    seen = looked(seen, Moment(START + by + 23 * HOUR), 23 * HOUR)
    seen = looked(seen, Moment(START + 3 * by), HOUR)
    assert seen.watched == 0
    assert looked(seen, Moment(START + 3 * by + 2 * HOUR), 2 * HOUR).leapt


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_clock_that_comes_back_is_believed_at_once(by: int) -> None:
    seen = looked(trusted(START), Moment(START + by), 0)
    assert looked(seen, Moment(START + HOUR), HOUR) == trusted(Moment(START + HOUR))


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_witness_ends_the_doubt_when_it_says_the_same_and_prolongs_it_when_it_does_not(by: int) -> None:
    wall = Moment(START + by)
    seen = Watched(START, wall, ENOUGH - 1)
    assert witnessed(seen, Moment(wall - HOUR)) == trusted(wall)
    denied = witnessed(seen, START)
    assert denied.leapt
    assert not denied.watched


def test_a_witness_against_a_clock_that_is_believed_begins_a_doubt() -> None:
    seen = witnessed(trusted(Moment(START + 91 * DAY)), START)
    assert seen.safe == START
    assert looked(seen, Moment(START + 91 * DAY + HOUR), HOUR).safe == START + HOUR


def test_a_long_time_that_was_watched_is_no_leap() -> None:
    assert looked(trusted(START), Moment(START + 91 * DAY), 91 * DAY) == trusted(Moment(START + 91 * DAY))


def test_a_doubt_is_said_in_a_sentence_with_what_is_off_and_by_how_much() -> None:
    assert "91 days ahead of" in doubt(91 * DAY)
    assert "365 days behind" in doubt(-365 * DAY)


STEPS = st.lists(st.tuples(st.integers(-800 * DAY, 800 * DAY), st.integers(0, HOUR)), max_size=20)


@given(STEPS)
def test_without_a_day_of_watching_nothing_is_erased_by_more_than_a_day_for_each_look(
    steps: list[tuple[int, int]],
) -> None:
    seen, wall, passed = trusted(START), START, 0
    for number, (leap, watched) in enumerate(steps, 1):
        wall, passed = Moment(wall + leap + watched), passed + watched
        seen = looked(seen, wall, watched)
        assert seen.safe <= wall
        assert seen.safe <= START + passed + number * BELIEVED
