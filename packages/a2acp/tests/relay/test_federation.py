import msgspec
import pytest

from tacit.base.errors import PeerFault
from tacit.base.moment import SECOND, Moment
from tacit.relay.federation import (
    LONGEST_WAIT,
    FederationPolicy,
    PairBackoff,
    RelayCard,
    deliver_url,
    given_up,
    wait_after,
)
from tacit.relay.settings import HOUR, RelayLimits

NOW = Moment(10**15)
A, B = ("alice", "bob"), ("alice", "carol")


@pytest.mark.spec("A2ACP-256")
def test_a_packet_is_given_up_after_two_days():
    assert not given_up(NOW, Moment(NOW + 47 * HOUR), RelayLimits().federation_keep)
    assert given_up(NOW, Moment(NOW + 48 * HOUR), RelayLimits().federation_keep)


@pytest.mark.spec("A2ACP-256")
def test_the_policy_is_an_allowlist_unless_opened_and_denial_wins():
    assert not FederationPolicy().permits("x.example")
    assert FederationPolicy(allowed=frozenset({"x.example"})).permits("x.example")
    assert FederationPolicy(open=True).permits("x.example")
    assert not FederationPolicy(
        open=True, allowed=frozenset({"x.example"}), denied=frozenset({"x.example"})
    ).permits("x.example")


@pytest.mark.spec("A2ACP-256")
def test_waiting_doubles_to_ten_minutes():
    assert wait_after(0) == SECOND
    assert wait_after(3) == 8 * SECOND
    assert wait_after(99) == LONGEST_WAIT


@pytest.mark.spec("A2ACP-256")
def test_a_resting_pair_is_tried_again_later_and_later():
    resting, now = PairBackoff(), Moment(10**15)
    for wait in (SECOND, 2 * SECOND, 4 * SECOND):
        resting.note(A, now, 0)
        assert (resting.pairs(now), resting.ends_in(now)) == ([A], wait)
    resting.note(B, now, 10**9)
    assert resting.pairs(Moment(now + 5 * SECOND)) == [B]
    assert resting.ends_in(Moment(now + 5 * SECOND)) == LONGEST_WAIT - 5 * SECOND
    resting.note(A, now, None)
    resting.note(B, now, None)
    assert (resting.pairs(now), resting.ends_in(now)) == ([], None)


@pytest.mark.spec("A2ACP-255")
def test_a_card_names_no_other_door_than_its_own():
    card = RelayCard("b.example", "", "", "", "https://b.example/v1/x")
    assert deliver_url(card, "https") == "https://b.example/v1/x"
    assert deliver_url(msgspec.structs.replace(card, deliver="https://b.example:443/x"), "https")
    for elsewhere in (
        "https://c.example/v1/x", "http://b.example/v1/x", "https://b.example:444/x", "https://[::1",
        "https://b.example@c.example/x", "https://b.example:x/", "/v1/x", "",
    ):  # fmt: skip
        with pytest.raises(PeerFault):
            deliver_url(msgspec.structs.replace(card, deliver=elsewhere), "https")


@pytest.mark.spec("A2ACP-256")
def test_a_pair_rests_until_the_moment_and_not_beyond():
    backoff = PairBackoff()
    assert (backoff.pairs(NOW), backoff.ends_in(NOW)) == ([], None)
    backoff.note(A, NOW, 60)
    rest = backoff.ends_in(NOW)
    assert rest == max(60 * SECOND, wait_after(0))
    assert backoff.pairs(Moment(NOW + rest - 1)) == [A]
    assert backoff.ends_in(Moment(NOW + rest - 1)) == 1
    assert (backoff.pairs(Moment(NOW + rest)), backoff.ends_in(Moment(NOW + rest))) == ([], None)
    backoff.note(A, NOW, 10**9)
    assert backoff.ends_in(NOW) == LONGEST_WAIT
    backoff.note(A, NOW, None)
    assert (backoff.pairs(NOW), backoff.ends_in(NOW)) == ([], None)
