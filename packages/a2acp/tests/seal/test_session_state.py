"""What is kept of sessions: never more than 64 KiB with one peer, and nothing past its time."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tacit.base.moment import Moment
from tacit.seal import limits, primitives, session, x3dh
from tacit.seal.limits import DAY
from tacit.seal.primitives import CannotOpen
from tests.post_support import ALICE, BOB, fit, people

START = Moment(1_800_000_000_000_000)


def running_ahead(one, by):
    """A session whose peer has lost `by` messages of it: what sealing them would leave, at a hash each."""
    chain = one.ratchet.sending
    for _ in range(by):
        chain = primitives.mac(chain, b"\x02")
    return replace(one, ratchet=replace(one.ratchet, sending=chain, sent=one.ratchet.sent + by))


class Pair:
    """Alice writes, Bob reads and answers; what is kept of Bob's sessions is what is looked at."""

    def __init__(self):
        self.alice, self.bob = people()
        self.alices = self.bobs = ()
        self.now = START
        self.count = 0

    def begin(self):
        begun = session.begin(
            self.alice.me, self.bob.me.public, self.bob.prekeys(x3dh.LAST_RESORT), self.alice.entropy
        )
        self.alices = session.tended(session.with_new(self.alices, begun), self.now, self.now)

    def _binding(self, sender, recipient):
        self.count += 1
        return session.Binding(sender, recipient, f"pkt_{self.count:06d}", b"header")

    def write(self, ahead=0):
        """A packet of Alice's, after `ahead` that nobody will see."""
        present = running_ahead(session.sealing(self.alices), ahead)
        binding = self._binding(ALICE, BOB)
        after, body = session.seal(
            self.alice.me, self.bob.me.public, present, b"hello", binding, fit, self.alice.entropy
        )
        self.alices = session.tended(session.with_new(self.alices, after), self.now, self.now)
        return body, binding

    def read(self, sealed):
        body, binding = sealed
        opened = session.open_body(
            self.bob.me, self.alice.me.public, self.bobs, self.bob.secrets, body, binding, self.bob.entropy
        )
        self.bobs = session.tended(opened.sessions, self.now, self.now)
        return opened.payload

    def answer(self):
        binding = self._binding(BOB, ALICE)
        after, body = session.seal(
            self.bob.me,
            self.alice.me.public,
            session.sealing(self.bobs),
            b"so",
            binding,
            fit,
            self.bob.entropy,
        )
        self.bobs = session.tended(session.with_new(self.bobs, after), self.now, self.now)
        opened = session.open_body(
            self.alice.me, self.bob.me.public, self.alices, self.alice.secrets, body, binding, self.alice.entropy
        )  # fmt: skip
        self.alices = session.tended(opened.sessions, self.now, self.now)


@pytest.mark.spec("A2ACP-243")
def test_fifteen_packets_that_run_ahead_as_far_as_they_may_leave_less_than_64_kib():
    pair = Pair()
    for _ in range(limits.MAX_SESSIONS):
        pair.begin()
        for _ in range(3):
            pair.read(pair.write())
            pair.read(pair.write(ahead=limits.MAX_SKIP))
            pair.answer()
    assert len(pair.bobs) == limits.MAX_SESSIONS
    assert sum(len(one.ratchet.skipped) for one in pair.bobs) == limits.MAX_STORED
    assert len(session.encode(pair.bobs)) <= limits.MAX_SESSION_BYTES


@pytest.mark.spec("A2ACP-243")
def test_a_chain_for_every_skipped_key_leaves_less_than_64_kib_and_few_headers_to_try():
    pair = Pair()
    pair.begin()
    late = []
    for _ in range(limits.MAX_CHAINS + 20):
        late.append(pair.write())
        pair.read(pair.write())
        pair.answer()
    kept = {one.header_key for bobs in pair.bobs for one in bobs.ratchet.skipped}
    assert len(kept) == limits.MAX_CHAINS
    assert pair.read(late[-1]) == b"hello"
    with pytest.raises(CannotOpen):
        pair.read(late[1])


class AnyTalk(RuleBasedStateMachine):
    """Whatever the peer does, at whatever time."""

    def __init__(self):
        super().__init__()
        self.pair = Pair()
        self.pair.begin()
        self.late = []

    @rule()
    def begins_anew(self):
        self.pair.begin()

    @rule(ahead=st.sampled_from([0, 1, 20, 400, limits.MAX_SKIP]), comes=st.booleans())
    def writes(self, ahead, comes):
        if session.sealing(self.pair.alices) is None:
            self.pair.begin()
        sealed = self.pair.write(ahead)
        if comes:
            self.hears(sealed)
        else:
            self.late.append(sealed)

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def comes_late(self, data):
        self.hears(self.late.pop(data.draw(st.integers(0, len(self.late) - 1))))

    def hears(self, sealed):
        try:
            self.pair.read(sealed)
        except CannotOpen:
            # Too far ahead, forgotten, or of a session that is gone: nothing has changed.
            return

    @precondition(lambda self: session.sealing(self.pair.bobs) is not None)
    @rule()
    def is_answered(self):
        try:
            self.pair.answer()
        except CannotOpen:
            return

    @rule(days=st.sampled_from([1, 20, 40, 70]))
    def waits(self, days):
        self.pair.now = Moment(self.pair.now + days * DAY)

    @invariant()
    def what_is_kept_is_small_and_not_old(self):
        for sessions in (self.pair.alices, self.pair.bobs):
            kept = session.tended(sessions, self.pair.now, self.pair.now)
            assert len(session.encode(kept)) <= limits.MAX_SESSION_BYTES
            assert session.decode(session.encode(kept)) == kept
            skipped = [one for each in kept for one in each.ratchet.skipped]
            assert len(skipped) <= limits.MAX_STORED
            assert len({one.header_key for one in skipped}) <= limits.MAX_CHAINS
            assert all(self.pair.now - one.at < limits.SKIPPED_KEPT for one in skipped)
            assert all(self.pair.now - one.begun < limits.FIRST_FLIGHT_KEPT for one in kept if one.opening)


AnyTalk.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestAnyTalk = AnyTalk.TestCase


@pytest.mark.spec("A2ACP-243")
def test_a_late_message_opens_for_as_long_as_a_relay_may_keep_it_and_its_key_is_gone_after():
    pair = Pair()
    pair.begin()
    pair.read(pair.write())
    soon, never = pair.write(), pair.write()
    pair.read(pair.write())
    pair.now = Moment(START + limits.SKIPPED_KEPT - 1)
    pair.bobs = session.tended(pair.bobs, pair.now, pair.now)
    assert pair.read(soon) == b"hello"
    pair.now = Moment(START + limits.SKIPPED_KEPT)
    pair.bobs = session.tended(pair.bobs, pair.now, pair.now)
    assert pair.bobs[0].ratchet.skipped == ()
    with pytest.raises(CannotOpen):
        pair.read(never)


@pytest.mark.spec("A2ACP-245")
def test_an_opening_that_nobody_answers_is_let_go_however_often_it_was_repeated():
    pair = Pair()
    pair.begin()
    pair.now = Moment(START + limits.FIRST_FLIGHT_KEPT - 1)
    pair.write()
    assert session.sealing(pair.alices) is not None
    pair.now = Moment(pair.now + 1)
    assert session.tended(pair.alices, pair.now, pair.now) == ()


@pytest.mark.spec("A2ACP-245")
def test_an_older_session_goes_when_it_is_not_used_and_the_newest_answered_one_stays():
    pair = Pair()
    for _ in range(2):
        pair.begin()
        pair.read(pair.write())
        pair.answer()
    assert len(pair.alices) == len(pair.bobs) == 2
    later = Moment(START + limits.SESSION_KEPT)
    assert session.tended(pair.alices, later, later) == pair.alices[:1]
    assert session.tended(pair.bobs, later, later) == pair.bobs[:1]
    pair.begin()
    assert (
        len(
            session.tended(
                pair.alices, Moment(later + limits.SESSION_KEPT), Moment(later + limits.SESSION_KEPT)
            )
        )
        == 1
    )


def test_a_state_from_before_is_read_with_the_keys_it_had():
    pair = Pair()
    pair.begin()
    pair.read(pair.write())
    pair.write()
    pair.read(pair.write())
    before = msgspec.to_builtins(pair.bobs, builtin_types=(bytes,))
    for one in before:
        del one["begun"], one["used"]
        for skipped in one["ratchet"]["skipped"]:
            del skipped["at"]
    found = session.decode(msgspec.msgpack.encode(before))
    assert session.tended(found, START, START) == pair.bobs
