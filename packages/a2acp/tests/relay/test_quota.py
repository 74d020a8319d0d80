import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tacit.relay.quota import MailboxQuota, Overflow, stranger_bounds
from tacit.relay.settings import RelayLimits

HOME = "here.example:7434"
X, Y, Z, U = (f"agent:{name}@{HOME}" for name in "xyzu")
V, W, T = "agent:v@there.example", "agent:w@there.example:8443", "agent:t@third.example"


def shares(sender):
    """Who shares which part of the strangers' four packets and thousand bytes with a stranger."""
    if sender in {Z, U}:
        return [({Z, U}, 3, 750), ({Z, U, V, W, T}, 4, 1000)]
    host = {V, W} if sender in {V, W} else {T}
    return [(host, 2, 500), ({V, W, T}, 3, 750), ({Z, U, V, W, T}, 4, 1000)]


class QuotaAgainstAList(RuleBasedStateMachine):
    """MailboxQuota against a plain list of what is stored: x and y are contacts from the start, z becomes one.

    z and u are here, v and w at one other relay, t at a third.
    """

    limits = RelayLimits(per_tag=3, per_recipient=16, per_recipient_bytes=4000, per_sender=5)

    def __init__(self):
        super().__init__()
        self.quota = MailboxQuota(self.limits, HOME)
        self.stored = []
        self.contacts = {(number, sender) for number in (1, 2) for sender in (X, Y)}

    def known(self, recipient, sender):
        return (recipient, sender) in self.contacts

    @rule(
        recipient=st.integers(1, 2),
        tag=st.sampled_from("abcdef"),
        sender=st.sampled_from([X, Y, Z, U, V, W, T]),
        size=st.integers(1, 1000),
        replaces=st.booleans(),
    )
    def reserve(self, recipient, tag, sender, size, replaces):
        known = self.known(recipient, sender)
        mine = [one for one in self.stored if one[0] == recipient]
        part = [one for one in mine if self.known(recipient, one[2]) == known]
        own = [one for one in part if one[2] == sender]
        one_packets, one_bytes = (5, 1000) if known else (1, 250)
        parts = [({X, Y, Z}, 12, 3000)] if known else shares(sender)
        lent = 1 if replaces else 0

        def full(held, packets, most):
            return held and (len(held) >= packets + lent or sum(one[3] for one in held) + size > most)

        refused = (
            (not replaces and sum(one[1] == tag for one in mine) >= 3)
            or full(own, one_packets, one_bytes)
            or any(
                full([one for one in part if one[2] in members], packets, most)
                for members, packets, most in parts
            )
        )
        outcome = self.quota.reserve(recipient, tag, sender, size, replaces=replaces, contact=known)
        assert isinstance(outcome, Overflow) == bool(refused)
        if outcome is None:
            self.stored.append((recipient, tag, sender, size))

    @rule(data=st.data())
    def release(self, data):
        if self.stored:
            one = self.stored.pop(data.draw(st.integers(0, len(self.stored) - 1)))
            self.quota.release(*one)

    @rule(recipient=st.integers(1, 2))
    def befriend(self, recipient):
        self.contacts.add((recipient, Z))
        self.quota.befriend(recipient, Z)

    @invariant()
    def totals_agree_and_a_reload_gives_the_same(self):
        assert self.quota.total() == (len(self.stored), sum(one[3] for one in self.stored))
        again = MailboxQuota(self.limits, HOME)
        again.load(
            ((recipient, tag, sender, 1, size) for recipient, tag, sender, size in self.stored), self.known
        )
        assert again._boxes == self.quota._boxes


QuotaAgainstAList.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def stranger(number):
    return f"agent:s{number}@" + ("x.example", HOME, f"x{number}.example")[number % 3]


def test_no_number_of_strangers_takes_a_contacts_room():
    limits = RelayLimits()
    quota = MailboxQuota(limits, HOME)
    strangers = 0
    while (
        quota.reserve(1, f"t{strangers}", stranger(strangers), 256 * 1024, replaces=False, contact=False)
        is None
    ):
        strangers += 1
    assert strangers == 64 == limits.strangers.bytes // (256 * 1024)
    of_contacts = 0
    while (
        quota.reserve(
            1,
            f"c{of_contacts}",
            f"agent:c{of_contacts // 64}@{HOME}",
            256 * 1024,
            replaces=False,
            contact=True,
        )
        is None
    ):
        of_contacts += 1
    assert of_contacts == 192


def test_one_stranger_gets_a_quarter_of_the_strangers_quarter_in_packets_and_in_bytes():
    for size, fit in ((256 * 1024, 16), (1024, 125)):
        quota, taken = MailboxQuota(RelayLimits(), HOME), 0
        while quota.reserve(1, f"t{taken}", V, size, replaces=False, contact=False) is None:
            taken += 1
        assert taken == fit


TestMailboxQuota = pytest.mark.spec("A2ACP-218", "A2ACP-221", "A2ACP-222")(QuotaAgainstAList.TestCase)


def test_what_is_spare_counts_for_anybody_and_never_below_nothing():
    limits = RelayLimits(per_tag=10, per_recipient=100, per_recipient_bytes=4000, per_sender=6)
    quota = MailboxQuota(limits, HOME)
    assert quota.spare(1, "a", X) == (0, 0)
    for _ in range(4):
        assert quota.reserve(1, "a", X, 100, replaces=False, contact=True) is None
    # Two of the sender's six are left, though the tag has six; of its thousand bytes six hundred.
    assert quota.spare(1, "a", X) == (2, 600)
    for number in range(5):
        assert quota.reserve(1, "a", f"agent:s{number}@{HOME}", 500, replaces=False, contact=True) is None
    assert quota.spare(1, "a", X) == (1, 100)
    assert quota.spare(1, "b", X) == (2, 100)
    assert quota.reserve(1, "b", U, 200, replaces=False, contact=False) is None
    assert quota.spare(1, "b", U) == (5, 50)


@pytest.mark.spec("A2ACP-222")
@pytest.mark.parametrize(
    ("flood", "fit"),
    [("agent:s{}@x.example", 250), ("agent:s{0}@x.example:{0}", 250), ("agent:s{0}@x{0}.example", 375),
     ("agent:s{}@" + HOME, 375)],
)  # fmt: skip
def test_strangers_of_one_relay_of_all_others_or_of_this_one_leave_room_for_other_strangers(flood, fit):
    quota = MailboxQuota(RelayLimits(), HOME)
    taken = [
        quota.reserve(1, f"t{number}", flood.format(number), 1024, replaces=False, contact=False)
        for number in range(1, 600)
    ]
    assert taken.count(None) == fit
    other = U if "example" in flood.rpartition("@")[2] and HOME not in flood else V
    assert quota.reserve(1, "t", other, 1024, replaces=False, contact=False) is None


def test_a_stranger_counts_by_its_host_and_not_by_its_port():
    assert stranger_bounds(V, HOME) == stranger_bounds(W, HOME)
    assert stranger_bounds(V, HOME) != stranger_bounds(T, HOME)
    assert stranger_bounds("agent:v@here.example:1", HOME) != stranger_bounds(Z, HOME)
