"""A clock is accused of no more than what the way of the question cannot explain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.clock_offset import offset
from tacit.base.moment import Moment


@pytest.mark.parametrize(
    ("before", "told", "after", "found"),
    [
        (10, 10, 10, 0), (10, 11, 12, 0), (10, 12, 12, 0), (10, 10, 12, 0),
        (10, 7, 12, 3), (10, 9, 12, 1), (10, 13, 12, -1), (10, 20, 12, -8),
    ],
)  # fmt: skip
def test_what_lies_between_the_readings_may_agree(before: int, told: int, after: int, found: int) -> None:
    assert offset(Moment(before), Moment(told), Moment(after)) == found


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**7), st.integers(0, 10**7))
def test_never_more_than_it_is_and_short_of_it_by_the_way_at_most(ahead: int, there: int, back: int) -> None:
    found = offset(Moment(ahead), Moment(there), Moment(ahead + there + back))
    assert abs(found) <= abs(ahead)
    assert abs(ahead) - abs(found) <= there + back
    assert found * ahead >= 0
