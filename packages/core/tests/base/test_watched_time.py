"""What erases goes by a time that has come for certain, which no clock that was set can hurry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.moment import Moment
from tacit.base.watched_time import (
    BELIEVED,
    ENOUGH,
    Watched,
    best,
    confirmed_by,
    doubt,
    first_look,
    heard,
    looked,
    overruled,
    shared,
    witnessed,
)
from tests.two_clocks import DAY, LEAPS, START

HOUR = DAY // 24
FAR = {name: by for name, by in LEAPS.items() if abs(by) > DAY}
KNOWN = Watched(START, START)


def settled(seen: Watched, wall: int) -> bool:
    return seen.believed == seen.wall == wall and not doubt(seen)


@pytest.mark.parametrize("by", LEAPS.values(), ids=LEAPS)
@pytest.mark.parametrize("passed", [0, None], ids=["in sight", "while nobody watched"])
def test_a_leap_moves_what_is_erased_by_no_further_than_a_day(by: int, passed: int | None) -> None:
    after = looked(KNOWN, Moment(START + by), passed)
    assert confirmed_by(after, None) <= START + BELIEVED
    assert bool(after.leapt) is (abs(by) > DAY)


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_day_that_is_watched_with_the_new_time_makes_it_believed(by: int) -> None:
    seen = looked(KNOWN, Moment(START + by), 0)
    for hour in range(1, 24):
        seen = looked(seen, Moment(START + by + hour * HOUR), HOUR)
        assert seen.leapt == by
        assert confirmed_by(seen, None) <= START + hour * HOUR
    right = Moment(START + by + ENOUGH)
    assert settled(looked(seen, right, HOUR), right)


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_leap_within_the_watched_day_begins_it_anew(by: int) -> None:
    seen = looked(KNOWN, Moment(START + by), 0)
    seen = looked(seen, Moment(START + by + 23 * HOUR), 23 * HOUR)
    seen = looked(seen, Moment(START + 3 * by), HOUR)
    assert seen.watched == 0
    assert looked(seen, Moment(START + 3 * by + 2 * HOUR), 2 * HOUR).leapt


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_clock_that_comes_back_is_believed_at_once(by: int) -> None:
    seen = looked(KNOWN, Moment(START + by), 0)
    assert settled(looked(seen, Moment(START + HOUR), HOUR), START + HOUR)


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_no_watching_settles_what_a_witness_contradicts(by: int) -> None:
    seen = witnessed(looked(KNOWN, Moment(START + by), 0), START)
    for hour in range(1, 40):
        seen = looked(seen, Moment(START + by + hour * HOUR), HOUR)
    assert doubt(seen)
    assert confirmed_by(seen, Moment(START + 39 * HOUR)) == START + 39 * HOUR


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_witness_ends_the_doubt_when_it_says_the_same_and_prolongs_it_when_it_does_not(by: int) -> None:
    wall = Moment(START + by)
    seen = Watched(START, wall, ENOUGH - 1)
    assert settled(witnessed(seen, Moment(wall - HOUR)), wall)
    denied = witnessed(seen, START)
    assert denied.leapt
    assert not denied.watched


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_an_owner_is_believed_also_against_a_witness_as_long_as_it_says_the_same(by: int) -> None:
    wall = Moment(START + by)
    seen = overruled(witnessed(looked(KNOWN, wall, 0), START))
    assert settled(seen, wall)
    assert settled(witnessed(seen, START), wall)
    assert heard(seen, START) is None
    assert best(seen, heard(seen, START)) == shared(seen, heard(seen, START)) == wall
    assert doubt(witnessed(seen, Moment(wall + 3 * DAY))), "another contradiction is news"


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_the_first_word_of_a_clock_stands_against_no_witness(by: int) -> None:
    seen = witnessed(first_look(Moment(START + by)), START)
    assert seen.leapt == by
    assert best(seen, START) == shared(seen, START) == START
    assert confirmed_by(seen, START) <= START


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_one_wrong_witness_stops_nothing_that_was_watched_and_hurries_nothing(by: int) -> None:
    lies = Moment(START + by)
    seen = witnessed(KNOWN, lies)
    assert confirmed_by(seen, lies) == START
    assert best(seen, lies) == START
    assert "its relay or its servers" in doubt(seen)


@pytest.mark.parametrize("by", FAR.values(), ids=FAR)
def test_a_clock_that_was_always_wrong_dates_what_is_sent_by_the_witness(by: int) -> None:
    """It was off before anybody watched, so nothing but the witness speaks against it."""
    always = Watched(Moment(START + by), Moment(START + by))
    seen = witnessed(always, START)
    assert shared(seen, START) == START


def test_time_does_not_go_back_so_what_lies_before_it_is_not_possible() -> None:
    behind = looked(KNOWN, Moment(START - 365 * DAY), None)
    assert best(behind, None) == START
    assert best(witnessed(behind, START), START) == START
    ahead = looked(KNOWN, Moment(START + 5 * DAY), None)
    assert best(ahead, None) == START + 5 * DAY, "nobody watched: it may be right"
    assert best(ahead, Moment(START - 365 * DAY)) == START + 5 * DAY
    in_sight = looked(KNOWN, Moment(START + 5 * DAY), HOUR)
    assert best(in_sight, None) == START + HOUR, "five days did not pass in an hour"


def test_a_long_time_that_was_watched_is_no_leap() -> None:
    assert settled(looked(KNOWN, Moment(START + 91 * DAY), 91 * DAY), START + 91 * DAY)


@pytest.mark.parametrize("pace", [2.0, 1.1, 0.5])
def test_a_clock_that_drifts_is_found_out_before_it_is_two_days_off(pace: float) -> None:
    seen, wall = KNOWN, START
    for hour in range(1, 91 * 24):
        wall = Moment(wall + int(HOUR * pace))
        seen = looked(seen, wall, HOUR)
        passed = START + hour * HOUR
        assert confirmed_by(seen, None) <= passed + 2 * DAY + hour * HOUR // 100
    assert doubt(seen)


def test_a_clock_that_is_merely_a_bad_one_is_believed() -> None:
    seen, wall = KNOWN, START
    for _ in range(91 * 24):
        wall = Moment(wall + HOUR + HOUR // 200)
        seen = looked(seen, wall, HOUR)
        assert not doubt(seen)


def test_a_device_that_is_switched_off_every_night_is_believed() -> None:
    seen, wall = KNOWN, START
    for _ in range(100):
        for _ in range(8):
            wall = Moment(wall + HOUR)
            seen = looked(seen, wall, HOUR)
        wall = Moment(wall + 16 * HOUR)
        seen = looked(seen, wall, None)
        assert not doubt(seen)


def test_a_doubt_is_said_in_a_sentence_with_what_is_off_and_by_how_much() -> None:
    assert "91 days ahead of" in doubt(looked(KNOWN, Moment(START + 91 * DAY), 0))
    assert "365 days behind" in doubt(looked(KNOWN, Moment(START - 365 * DAY), 0))
    assert doubt(KNOWN) == ""


STEPS = st.lists(
    st.tuples(st.integers(-800 * DAY, 800 * DAY), st.integers(0, HOUR), st.booleans()), max_size=20
)


@given(STEPS)
def test_without_a_day_of_watching_nothing_is_erased_by_more_than_a_day_for_each_look(
    steps: list[tuple[int, int, bool]],
) -> None:
    seen, wall, passed = KNOWN, START, 0
    for number, (leap, watched, restarts) in enumerate(steps, 1):
        wall = Moment(wall + leap + watched)
        passed += 0 if restarts else watched
        seen = looked(seen, wall, None if restarts else watched)
        assert confirmed_by(seen, None) <= wall
        assert confirmed_by(seen, None) <= START + passed + number * BELIEVED


@given(STEPS, st.integers(-800 * DAY, 800 * DAY))
def test_with_a_witness_no_clock_of_ours_hurries_anything_beyond_what_either_of_them_allows(
    steps: list[tuple[int, int, bool]], off: int
) -> None:
    seen, wall, passed = KNOWN, START, 0
    for number, (leap, watched, _restarts) in enumerate(steps, 1):
        wall, passed = Moment(wall + leap + watched), passed + watched
        witness = Moment(START + passed + off)
        seen = witnessed(looked(seen, wall, watched), witness)
        latest = max(witness + BELIEVED, START + passed + number * BELIEVED)
        assert confirmed_by(seen, witness) <= latest
