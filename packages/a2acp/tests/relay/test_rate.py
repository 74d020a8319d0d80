import pytest

from tacit.base.callers import bounds_of
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.relay.rate import ConcurrencyLimit, PerMinute, Reputation, first_contact_wait
from tacit.relay.settings import HOUR, MINUTE

NOW = Moment(10**15)


@pytest.mark.spec("A2ACP-258")
def test_sixty_a_minute_with_bursts_of_a_hundred_and_twenty():
    rates = PerMinute(60, 120)
    assert [rates.take("a", NOW) for _ in range(120)] == [0] * 120
    wait = rates.take("a", NOW)
    assert wait in {1, 2}
    assert rates.take("b", NOW) == 0
    assert rates.take("a", Moment(NOW + wait * SECOND)) == 0
    assert sum(rates.take("a", Moment(NOW + 10 * MINUTE)) == 0 for _ in range(200)) == 120


@pytest.mark.spec("A2ACP-261")
def test_a_poor_sender_gets_half_and_a_report_counts_once_an_hour():
    reputation, rates = Reputation(), PerMinute(60, 120)
    assert reputation.score("a") == 50
    for reporter in range(7):
        reputation.report(f"r{reporter}", "a", NOW)
    assert not reputation.report("r0", "a", NOW)
    assert reputation.score("a") == 15
    assert sum(rates.take("a", NOW, share=reputation.share("a")) == 0 for _ in range(200)) == 60
    again = Reputation()
    again.load(reputation.dump())
    assert again.score("a") == 15


@pytest.mark.spec("A2ACP-258")
def test_a_new_recipient_waits_until_the_oldest_of_the_last_is_an_hour_past():
    assert first_contact_wait([], 2, NOW) == first_contact_wait([NOW], 2, NOW) == 0
    assert first_contact_wait([NOW, Moment(NOW + MINUTE)], 2, Moment(NOW + MINUTE)) == 3541
    assert first_contact_wait([NOW, Moment(NOW + MINUTE)], 2, Moment(NOW + HOUR)) == 0


def test_places_are_few_few_for_each_and_given_back():
    limit = ConcurrencyLimit(most=3, most_each=2)
    a, b, c = (bounds_of(f"192.0.2.{number}") for number in range(3))
    with limit.slot(a), limit.slot(a):
        with pytest.raises(Refused), limit.slot(a):
            pass
        with limit.slot(b), pytest.raises(Refused), limit.slot(c):
            pass
        with limit.slot(c):
            pass
    assert not limit._taken


def test_scores_that_several_keep_are_moved_and_not_replaced():
    mine = Reputation()
    mine.load({"eve": 40})
    mine.change("eve", -10)
    mine.change("bob", 5)
    assert mine.moved() == {"eve": -10, "bob": 5}
    # Another node has moved the same score meanwhile: both count.
    mine.kept("eve", 35)
    assert (mine.score("eve"), mine.moved()) == (25, {"eve": -10, "bob": 5})
    mine.kept("eve", 25, by=-10)
    assert (mine.score("eve"), mine.moved()) == (25, {"bob": 5})
    mine.kept("eve", None)
    assert (mine.score("eve"), mine.moved()) == (50, {"bob": 5})
