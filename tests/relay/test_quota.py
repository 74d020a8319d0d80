import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.relay.quota import MailboxQuota, Overflow
from tacit.relay.settings import Limits


class QuotaAgainstAList(RuleBasedStateMachine):
    """MailboxQuota against a plain list of what is stored: x and y are contacts from the start, z becomes one."""

    limits = Limits(per_tag=3, per_recipient=16, per_recipient_bytes=4000, per_sender=5)

    def __init__(self):
        super().__init__()
        self.quota = MailboxQuota(self.limits)
        self.stored = []
        self.contacts = {(1, "x"), (2, "x"), (1, "y"), (2, "y")}

    def known(self, recipient, sender):
        return (recipient, sender) in self.contacts

    @rule(
        recipient=st.integers(1, 2),
        tag=st.sampled_from("abcdef"),
        sender=st.sampled_from("xyzuv"),
        size=st.integers(1, 1000),
        replaces=st.booleans(),
    )
    def reserve(self, recipient, tag, sender, size, replaces):
        known = self.known(recipient, sender)
        mine = [one for one in self.stored if one[0] == recipient]
        part = [one for one in mine if self.known(recipient, one[2]) == known]
        own = [one for one in part if one[2] == sender]
        packets, most, one_packets, one_bytes = (12, 3000, 5, 1000) if known else (4, 1000, 1, 250)
        lent = 1 if replaces else 0
        full = (
            (not replaces and sum(one[1] == tag for one in mine) >= 3)
            or (own and len(own) >= one_packets + lent)
            or (own and sum(one[3] for one in own) + size > one_bytes)
            or len(part) >= packets + lent
            or (part and sum(one[3] for one in part) + size > most)
        )
        outcome = self.quota.reserve(recipient, tag, sender, size, replaces=replaces, contact=known)
        assert isinstance(outcome, Overflow) == bool(full)
        if outcome is None:
            self.stored.append((recipient, tag, sender, size))

    @rule(data=st.data())
    def release(self, data):
        if self.stored:
            one = self.stored.pop(data.draw(st.integers(0, len(self.stored) - 1)))
            self.quota.release(*one)

    @rule(recipient=st.integers(1, 2))
    def befriend(self, recipient):
        self.contacts.add((recipient, "z"))
        self.quota.befriend(recipient, "z")

    @invariant()
    def totals_agree_and_a_reload_gives_the_same(self):
        assert self.quota.total() == (len(self.stored), sum(one[3] for one in self.stored))
        again = MailboxQuota(self.limits)
        again.load(
            ((recipient, tag, sender, 1, size) for recipient, tag, sender, size in self.stored), self.known
        )
        assert again._boxes == self.quota._boxes


QuotaAgainstAList.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_no_number_of_strangers_takes_a_contacts_room():
    limits = Limits()
    quota = MailboxQuota(limits)
    strangers = 0
    while (
        quota.reserve(1, f"t{strangers}", f"s{strangers}", 256 * 1024, replaces=False, contact=False) is None
    ):
        strangers += 1
    assert strangers == 64 == limits.strangers.bytes // (256 * 1024)
    of_contacts = 0
    while (
        quota.reserve(1, f"c{of_contacts}", f"c{of_contacts // 64}", 256 * 1024, replaces=False, contact=True)
        is None
    ):
        of_contacts += 1
    assert of_contacts == 192


def test_one_stranger_gets_a_quarter_of_the_strangers_quarter_in_packets_and_in_bytes():
    for size, fit in ((256 * 1024, 16), (1024, 125)):
        quota, taken = MailboxQuota(Limits()), 0
        while quota.reserve(1, f"t{taken}", "mallory", size, replaces=False, contact=False) is None:
            taken += 1
        assert taken == fit


TestMailboxQuota = pytest.mark.spec("A2ACP-218", "A2ACP-221", "A2ACP-222")(QuotaAgainstAList.TestCase)


def test_what_is_spare_counts_for_anybody_and_never_below_nothing():
    limits = Limits(per_tag=10, per_recipient=100, per_recipient_bytes=4000, per_sender=6)
    quota = MailboxQuota(limits)
    assert quota.spare(1, "a", "alice") == (0, 0)
    for _ in range(4):
        assert quota.reserve(1, "a", "alice", 100, replaces=False, contact=True) is None
    # Two of the sender's six are left, though the tag has six; of its thousand bytes six hundred.
    assert quota.spare(1, "a", "alice") == (2, 600)
    for number in range(5):
        assert quota.reserve(1, "a", f"s{number}", 500, replaces=False, contact=True) is None
    assert quota.spare(1, "a", "alice") == (1, 100)
    assert quota.spare(1, "b", "alice") == (2, 100)
    assert quota.reserve(1, "b", "eve", 200, replaces=False, contact=False) is None
    assert quota.spare(1, "b", "eve") == (5, 50)
