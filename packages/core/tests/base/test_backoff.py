import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.backoff import Backoff

CHANCE = st.floats(0.0, 1.0, exclude_max=True)


def test_a_pause_doubles_until_the_longest():
    assert [Backoff(first=1, longest=60).pause(n) for n in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_factor_is_free():
    assert [Backoff(first=2, longest=100, factor=4).pause(n) for n in range(4)] == [2, 8, 32, 100]
    assert [Backoff(first=5, longest=100, factor=1).pause(n) for n in range(3)] == [5, 5, 5]


@pytest.mark.parametrize(
    ("jitter", "range_"), [((0.5, 1.0), (2, 4)), ((1.0, 1.5), (4, 6)), ((0.8, 1.2), (3.2, 4.8))]
)
def test_chance_picks_within_the_jitter(jitter, range_):
    backoff = Backoff(first=1, longest=60, jitter=jitter)
    assert (backoff.pause(2, 0.0), backoff.pause(2, 1.0)) == pytest.approx(range_)
    assert backoff.pause(2, 0.5) == pytest.approx(sum(range_) / 2)


@given(st.integers(-3, 10**6), CHANCE)
def test_no_pause_exceeds_the_longest_however_often_it_failed(failures, chance):
    for jitter in ((0.5, 1.0), (1.0, 1.5)):
        pause = Backoff(first=0.05, longest=5, jitter=jitter).pause(failures, chance)
        assert 0.05 * jitter[0] <= pause <= 5


def test_those_who_wait_longest_are_spread_as_well():
    backoff = Backoff(first=1, longest=60, jitter=(0.5, 1.0))
    assert backoff.pause(50, 0.0) == 30
    assert backoff.pause(50, 0.5) == 45


def test_below_nought_is_the_first_pause():
    assert Backoff(first=3, longest=60).pause(-1) == 3
