import pytest

from tacit.base.moment import SECOND, Moment
from tacit.seal import session


@pytest.mark.spec("A2ACP-222")
def test_a_packet_outside_the_window_of_memory_is_not_fresh():
    now = Moment(10**16)
    day = 24 * 3600 * SECOND
    assert session.within_window(Moment(now - 60 * day + 1), now, now)
    assert not session.within_window(Moment(now - 60 * day), now, now)
    assert session.within_window(Moment(now + 2 * day - 1), now, now)
    assert not session.within_window(Moment(now + 2 * day), now, now)


@pytest.mark.spec("A2ACP-029")
def test_an_id_is_remembered_until_no_packet_that_carries_it_could_be_fresh():
    now, day = Moment(10**16), 24 * 3600 * SECOND
    assert session.forget_before(now) == now - 62 * day
