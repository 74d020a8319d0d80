import pytest

from tacit.base.moment import SECOND, Moment
from tacit.relay.login import LoginFailures, challenge_holds
from tacit.relay.settings import MINUTE, RelayLimits

NOW = Moment(10**15)


@pytest.mark.spec("A2ACP-017")
def test_a_lock_holds_for_one_source_and_one_address():
    failures = LoginFailures(RelayLimits())
    for _ in range(5):
        failures.failed("here", "alice", NOW)
    assert failures.locked("here", "alice", NOW)
    assert not failures.locked("elsewhere", "alice", NOW)
    assert not failures.locked("here", "bob", NOW)
    assert not failures.locked("here", "alice", Moment(NOW + 10 * MINUTE))


@pytest.mark.spec("A2ACP-017")
def test_failures_past_the_window_are_forgotten():
    failures = LoginFailures(RelayLimits())
    for number in range(50):
        failures.failed("here", f"a{number}", NOW)
    failures.failed("here", "a7", Moment(NOW + 5 * MINUTE))
    failures.failed("here", "b", Moment(NOW + 11 * MINUTE))
    assert list(failures._failures) == [("here", "a7"), ("here", "b")]


@pytest.mark.spec("A2ACP-017")
def test_a_challenge_holds_once_and_for_thirty_seconds():
    limits = RelayLimits()
    assert challenge_holds("c", "c", NOW, Moment(NOW + 30 * SECOND), limits)
    assert not challenge_holds("c", "c", NOW, Moment(NOW + 31 * SECOND), limits)
    assert not challenge_holds("", "", NOW, NOW, limits)
    assert not challenge_holds("c", "d", NOW, NOW, limits)
