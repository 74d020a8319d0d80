import pytest

from tacit.a2acp.post import reception
from tacit.base.moment import SECOND, Moment

NOW = Moment(10**15)


DAY = 24 * 3600 * SECOND


@pytest.mark.spec("A2ACP-228", "A2ACP-229", "A2ACP-261")
def test_five_faults_in_a_day_raise_a_flag_and_blocking_stays_a_choice():
    one = reception.SenderReputation()
    for number in range(4):
        one = reception.after_fault(one, Moment(NOW + number))
    assert not one.flagged
    spread = reception.after_fault(one, Moment(NOW + DAY + 10))
    assert not spread.flagged
    flagged = reception.after_fault(one, Moment(NOW + 5))
    assert (flagged.flagged, flagged.blocked, flagged.score) == (True, False, 25)
    many = reception.SenderReputation()
    for number in range(20):
        many = reception.after_fault(many, Moment(NOW + number), auto_block=True)
    assert many.blocked
    assert many.score == 0
    assert many.low


@pytest.mark.spec("A2ACP-260", "A2ACP-261")
def test_a_score_starts_at_fifty_and_rises_with_valid_threads():
    assert reception.SenderReputation().score == 50
    best = reception.SenderReputation()
    for _ in range(80):
        best = reception.after_thread(best)
    assert best.score == 100
    assert not best.low
