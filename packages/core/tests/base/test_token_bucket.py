import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.fair_turns import TokenBucket, TokenBuckets


def test_a_burst_then_as_much_as_the_rate_gives():
    buckets = TokenBuckets(rate=2.0, burst=3, most=10)
    assert [buckets.take("a", 100.0) for _ in range(3)] == [0.0] * 3
    assert buckets.take("a", 100.0) == pytest.approx(0.5)
    assert buckets.take("a", 100.25) == pytest.approx(0.25)
    assert buckets.take("a", 100.5) == 0.0
    assert buckets.take("a", 100.5) > 0


def test_no_more_than_the_burst_is_saved_up():
    buckets = TokenBuckets(rate=2.0, burst=3, most=10)
    buckets.take("a", 0.0)
    assert sum(buckets.take("a", 10_000.0) == 0.0 for _ in range(10)) == 3


def test_keys_do_not_share():
    buckets = TokenBuckets(rate=1.0, burst=1, most=10)
    assert buckets.take("a", 0.0) == 0.0
    assert buckets.take("a", 0.0) > 0
    assert buckets.take("b", 0.0) == 0.0


def test_many_at_once_are_taken_together_or_not_at_all():
    bucket = TokenBucket(level=3.0, at=0.0)
    assert bucket.take(0.0, rate=1.0, burst=5.0, count=4.0) == 1.0
    assert bucket.level == 3.0
    assert bucket.take(1.0, rate=1.0, burst=5.0, count=4.0) == 0.0
    assert bucket.level == 0.0


def test_a_share_is_a_share_of_rate_and_burst():
    buckets = TokenBuckets(rate=2.0, burst=4, most=10)
    assert sum(buckets.take("a", 0.0, share=0.5) == 0.0 for _ in range(10)) == 2
    assert buckets.take("a", 0.0, share=0.5) == 1.0
    # Whoever falls into disgrace with a full bucket loses what is above its share.
    buckets.take("b", 0.0)
    assert sum(buckets.take("b", 0.0, share=0.5) == 0.0 for _ in range(10)) == 2


def test_a_clock_that_steps_back_gives_nothing():
    bucket = TokenBucket(level=0.0, at=100.0)
    assert bucket.take(50.0, rate=1.0, burst=5.0) == 1.0
    assert bucket.take(51.0, rate=1.0, burst=5.0) == 0.0


def test_the_key_used_longest_ago_is_forgotten_first():
    buckets = TokenBuckets(rate=0.001, burst=1, most=2)
    buckets.take("a", 0.0)
    buckets.take("b", 0.0)
    assert buckets.take("a", 1.0) > 0
    buckets.take("c", 1.0)
    assert buckets.take("a", 1.0) > 0
    assert buckets.take("b", 1.0) == 0.0


@given(st.lists(st.tuples(st.floats(0, 10), st.integers(1, 5)), max_size=40))
def test_nobody_gets_more_than_burst_and_rate_together(steps):
    rate, burst = 3.0, 7.0
    buckets = TokenBuckets(rate=rate, burst=burst, most=5)
    now, taken = 0.0, 0
    for pause, count in steps:
        now += pause
        wait = buckets.take("a", now, count=count)
        if wait == 0.0:
            taken += count
        else:
            assert buckets.take("a", now, count=count) == pytest.approx(wait)
        assert taken <= burst + rate * now + 1e-6
