import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.relay.quota import MailboxQuota, Overflow
from tacit.relay.settings import Limits


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


TestMailboxQuota = pytest.mark.spec("A2ACP-218", "A2ACP-221", "A2ACP-222")(QuotaAgainstAList.TestCase)
