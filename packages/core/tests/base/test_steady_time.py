"""Time that neither leaps nor goes back, whatever is done to the machine's clock."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tacit.base.io.system import both_clocks
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, Moment
from tacit.base.watched_time import begun, jump, not_before, reckoned

DAY = 86_400 * SECOND
START = Moment(20_000 * DAY)
PASSED = st.integers(0, 3 * DAY)
WALLS = st.integers(-400 * DAY, 400 * DAY)


@given(st.lists(st.tuples(PASSED, WALLS), min_size=1, max_size=40), st.integers(0, 10 * DAY))
def test_a_span_lasts_nine_to_eleven_tenths_of_its_length_whatever_the_wall_says(
    readings: list[tuple[int, int]], later: int
) -> None:
    """The wall is set to anything between any two readings."""
    state = not_before(begun(START, 7), Moment(START + later))
    first, steady = state.at, 7
    for more, off in readings:
        steady += more
        after = reckoned(state, Moment(START + off), steady)
        assert after.at >= state.at, "never back"
        assert abs(after.at - state.at - more) <= more // 10
        state = after
    whole = steady - 7
    assert whole - whole // 10 - len(readings) <= state.at - first <= whole + whole // 10 + len(readings)


@given(st.integers(-DAY, DAY), st.integers(1, 60))
def test_it_draws_nearer_to_a_wall_that_stays_and_stays_with_it(off: int, minutes: int) -> None:
    state, wall, steady = begun(START, 0), START + off, 0
    for _ in range(10 * 24 * 60 // minutes + 11):
        steady += minutes * 60 * SECOND
        wall += minutes * 60 * SECOND
        before, state = abs(state.ahead), reckoned(state, Moment(wall), steady)
        assert abs(state.ahead) <= max(before, abs(off))
    assert state.ahead == 0


def test_a_jump_is_told_from_a_clock_that_is_merely_kept_right() -> None:
    state = begun(START, 0)
    hour = 3_600 * SECOND
    assert jump(state, Moment(START + hour), hour) == 0
    assert jump(state, Moment(START + hour + 3 * SECOND), hour) == 0
    assert jump(state, Moment(START + 2 * hour), hour) == hour
    assert jump(state, Moment(START - DAY), hour) == -DAY - hour
    assert jump(state, Moment(START + 100 * DAY + 60 * SECOND), 100 * DAY) == 0, "a minute in a hundred days"


def test_a_clock_that_is_set_says_so_once_and_one_that_lags_behind_the_ledger_too() -> None:
    wall, steady, told = [START], [0], []
    clock = TimeService(lambda: (wall[0], steady[0]), is_even=True)
    clock.on_jump = told.append
    assert clock.now() == START
    wall[0] = Moment(START + DAY)
    assert (clock.now(), clock.now(), clock.jumps, told) == (START, START, 1, [DAY])
    wall[0] = START
    steady[0] = 60 * SECOND
    assert (clock.now(), told[1:]) == (START + 54 * SECOND, [-DAY - 60 * SECOND])
    clock.not_before(Moment(START + DAY))
    assert (clock.now(), clock.jumps) == (START + DAY, 3)
    other = TimeService(lambda: (wall[0], steady[0]), known=clock.reckoning())
    assert (other.now(), other.jumps) == (START + DAY, 0), "another process goes on with the same time"


def test_a_clock_that_went_by_a_wrong_wall_goes_by_the_right_one_at_once_but_not_before_what_was_stamped() -> (
    None
):
    wall, steady = [Moment(START + DAY)], [0]
    clock = TimeService(lambda: (wall[0], steady[0]), is_even=True)
    wall[0] = START
    assert clock.now() == START + DAY, "it would draw near over days"
    clock.begin_anew()
    assert clock.now() == START
    wall[0] = Moment(START - DAY)
    clock.not_before(Moment(START + SECOND))
    clock.begin_anew()
    assert clock.now() == START + SECOND


def test_the_machine_s_own_clocks_will_do() -> None:
    clock = TimeService(is_even=True)
    first, before = clock.now(), both_clocks()[1]
    assert clock.now() >= first
    assert both_clocks()[1] >= before
    assert abs(first - TimeService().now()) < 3_600 * SECOND
