import pytest

from tacit.base.moment import SECOND, Moment
from tacit.seal import replay


@pytest.mark.spec("A2ACP-222")
def test_a_packet_outside_the_window_of_memory_is_not_fresh():
    now = Moment(10**16)
    day = 24 * 3600 * SECOND
    assert replay.within_window(Moment(now - 59 * day), now)
    assert not replay.within_window(Moment(now - 61 * day), now)
    assert not replay.within_window(Moment(now + 3 * day), now)
    assert replay.forget_before(now) < now - 60 * day
