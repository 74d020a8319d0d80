import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.relay import accounts
from tacit.relay.federation import SeenNonces, given_up
from tacit.relay.login import LoginFailures, challenge_holds
from tacit.relay.quota import MailboxQuota, Overflow
from tacit.relay.rate import ConcurrencyLimit, NewRecipients, PerMinute, Reputation
from tacit.relay.settings import HOUR, MINUTE, Limits

NOW = Moment(10**15)


class QuotaAgainstAList(RuleBasedStateMachine):
    """MailboxQuota against a plain list of what is stored."""

    limits = Limits(per_tag=3, per_recipient=8, per_recipient_bytes=1000, per_sender=5)

    def __init__(self):
        super().__init__()
        self.quota = MailboxQuota(self.limits)
        self.stored = []

    @rule(
        recipient=st.integers(1, 2),
        tag=st.sampled_from("abc"),
        sender=st.sampled_from("xy"),
        size=st.integers(1, 300),
        replaces=st.booleans(),
    )
    def reserve(self, recipient, tag, sender, size, replaces):
        mine = [one for one in self.stored if one[0] == recipient]
        lent = 1 if replaces else 0
        full = (
            (not replaces and sum(one[1] == tag for one in mine) >= 3)
            or sum(one[2] == sender for one in mine) >= 5 + lent
            or len(mine) >= 8 + lent
            or sum(one[3] for one in mine) + size > 1000
        )
        outcome = self.quota.reserve(recipient, tag, sender, size, replaces=replaces)
        assert isinstance(outcome, Overflow) == (full and bool(mine))
        if outcome is None:
            self.stored.append((recipient, tag, sender, size))

    @rule(data=st.data())
    def release(self, data):
        if self.stored:
            one = self.stored.pop(data.draw(st.integers(0, len(self.stored) - 1)))
            self.quota.release(*one)

    @invariant()
    def totals_agree_and_a_reload_gives_the_same(self):
        assert self.quota.total() == (len(self.stored), sum(one[3] for one in self.stored))
        again = MailboxQuota(self.limits)
        again.load((recipient, tag, sender, 1, size) for recipient, tag, sender, size in self.stored)
        assert again.total() == self.quota.total()
        assert {again.packets(n) == self.quota.packets(n) for n in (1, 2)} == {True}


QuotaAgainstAList.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestMailboxQuota = QuotaAgainstAList.TestCase


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


@pytest.mark.spec("A2ACP-017")
def test_a_lock_holds_for_one_source_and_one_address():
    failures = LoginFailures(Limits())
    for _ in range(5):
        failures.failed("here", "alice", NOW)
    assert failures.locked("here", "alice", NOW)
    assert not failures.locked("elsewhere", "alice", NOW)
    assert not failures.locked("here", "bob", NOW)
    assert not failures.locked("here", "alice", Moment(NOW + 10 * MINUTE))


@pytest.mark.spec("A2ACP-017")
def test_failures_past_the_window_are_forgotten():
    failures = LoginFailures(Limits())
    for number in range(50):
        failures.failed("here", f"a{number}", NOW)
    failures.failed("here", "a7", Moment(NOW + 5 * MINUTE))
    failures.failed("here", "b", Moment(NOW + 11 * MINUTE))
    assert list(failures._failures) == [("here", "a7"), ("here", "b")]


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


@pytest.mark.spec("A2ACP-017")
def test_a_challenge_holds_once_and_for_thirty_seconds():
    limits = Limits()
    assert challenge_holds("c", "c", NOW, Moment(NOW + 30 * SECOND), limits)
    assert not challenge_holds("c", "c", NOW, Moment(NOW + 31 * SECOND), limits)
    assert not challenge_holds("", "", NOW, NOW, limits)
    assert not challenge_holds("c", "d", NOW, NOW, limits)


@pytest.mark.spec("A2ACP-256")
def test_a_packet_is_given_up_after_two_days():
    assert not given_up(NOW, Moment(NOW + 47 * HOUR), Limits().federation_keep)
    assert given_up(NOW, Moment(NOW + 48 * HOUR), Limits().federation_keep)


def test_a_nonce_is_fresh_once():
    seen = SeenNonces()
    assert seen.fresh("a", "n", NOW)
    assert not seen.fresh("a", "n", NOW)
    assert seen.fresh("b", "n", NOW)


@pytest.mark.spec("A2ACP-012")
def test_a_code_has_128_bits_and_is_forgiven_its_dashes_and_capitals():
    code = accounts.code_text(bytes(range(16)))
    assert len(code.replace("-", "")) == 26
    assert accounts.code_hash(code) == accounts.code_hash(code.upper().replace("-", " "))
    assert len(accounts.email_code(bytes(range(16)))) == 8


@pytest.mark.spec("A2ACP-011")
@pytest.mark.parametrize("email", ["", "x", "@x.y", "a@b", "a b@c.d", "a@" + "b" * 260 + ".c"])
def test_what_cannot_be_an_email_address_is_refused(email):
    with pytest.raises(Refused):
        accounts.check_email(email)
