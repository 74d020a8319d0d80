import pytest

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.relay.rate import ConcurrencyLimit, NewRecipients, PerMinute, Reputation
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
def test_known_recipients_are_not_new_again():
    newcomers = NewRecipients(2)
    assert (
        newcomers.admit("a", "x", NOW)
        == newcomers.admit("a", "y", NOW)
        == newcomers.admit("a", "x", NOW)
        == 0
    )
    assert newcomers.admit("a", "z", NOW) == 3601
    assert newcomers.admit("b", "z", NOW) == 0
    assert newcomers.admit("a", "z", Moment(NOW + HOUR)) == 0


def test_places_are_few_few_for_each_and_given_back():
    limit = ConcurrencyLimit(most=3, most_each=2)
    with limit.slot("a"), limit.slot("a"):
        with pytest.raises(Refused), limit.slot("a"):
            pass
        with limit.slot("b"), pytest.raises(Refused), limit.slot("c"):
            pass
        with limit.slot("c"):
            pass
    assert not limit._taken
