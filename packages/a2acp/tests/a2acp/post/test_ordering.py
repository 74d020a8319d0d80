import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.a2acp.post import reception
from tacit.base.moment import SECOND, Moment

NOW = Moment(10**15)


@pytest.mark.spec("A2ACP-030")
def test_a_gap_is_held_for_thirty_seconds_then_passed():
    held = {3: NOW, 4: Moment(NOW + SECOND)}
    assert reception.releasable(1, held, Moment(NOW + 29 * SECOND)) == ([], 1, False)
    assert reception.releasable(1, held, Moment(NOW + 30 * SECOND)) == ([3, 4], 5, True)
    assert reception.releasable(3, held, NOW) == ([3, 4], 5, False)
    assert reception.releasable(9, {2: NOW}, NOW) == ([2], 9, False)


@given(st.permutations(range(1, 9)))
def test_whatever_the_arrival_order_is_the_numbers_come_out_rising(arrival):
    expected, held, out = 1, {}, []
    for number in arrival:
        held[number] = NOW
        ready, expected, _ = reception.releasable(expected, held, NOW)
        for one in ready:
            del held[one]
        out += ready
    assert out == list(range(1, 9))
