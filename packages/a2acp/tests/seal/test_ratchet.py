import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tacit.seal import primitives, ratchet, session, x3dh
from tacit.seal.primitives import CannotOpen
from tests.post_support import ALICE, BOB, Repeatable, fit, people


def bound(packet_id="pkt_one1", sender=ALICE, recipient=BOB, header=b"header"):
    return session.Binding(sender, recipient, packet_id, header)


def started(kind=x3dh.ONE_TIME):
    alice, bob = people()
    return alice, bob, session.begin(alice.me, bob.me.public, bob.prekeys(kind), alice.entropy)


@pytest.mark.spec("A2ACP-243")
def test_a_message_too_far_ahead_is_refused_and_the_state_stays_usable():
    alice, bob, towards_bob = started()
    towards_bob, first = session.seal(alice.me, bob.me.public, towards_bob, b"0", bound(), fit, alice.entropy)
    sessions = session.open_body(
        bob.me, alice.me.public, (), bob.secrets, first, bound(), bob.entropy
    ).sessions
    towards_bob, near = session.seal(alice.me, bob.me.public, towards_bob, b"1", bound(), fit, alice.entropy)
    for _ in range(ratchet.MAX_SKIP + 1):
        towards_bob, far = session.seal(
            alice.me, bob.me.public, towards_bob, b"n", bound(), fit, alice.entropy
        )
    with pytest.raises(CannotOpen):
        session.open_body(bob.me, alice.me.public, sessions, bob.secrets, far, bound(), bob.entropy)
    assert (
        session.open_body(bob.me, alice.me.public, sessions, bob.secrets, near, bound(), bob.entropy).payload
        == b"1"
    )


@pytest.mark.spec("A2ACP-243")
def test_a_state_that_was_set_back_seals_under_another_key_and_gives_neither_text_away():
    """A folder or a machine restored from a copy repeats its message keys."""
    _, _, towards_bob = started()
    entropy = Repeatable("set back")
    first, second = b"meet me at seven, by the bridge...", b"the number is 4711, tell nobody..."
    sealed = [
        ratchet.seal(towards_bob.ratchet, text, b"", entropy.draw(primitives.NONCE_BYTES))[1][
            ratchet.SEALED_HEADER_BYTES : ratchet.SEALED_HEADER_BYTES + len(text)
        ]
        for text in (first, second)
    ]

    def difference(one, other):
        return bytes(a ^ b for a, b in zip(one, other, strict=True))

    assert difference(*sealed) != difference(first, second)


class TwoRatchets(RuleBasedStateMachine):
    """Random talk in both directions with loss, delay, reordering and replay, against a plain list."""

    def __init__(self):
        super().__init__()
        alice, bob = people()
        self.entropy = Repeatable("machine")
        opening, secret = x3dh.initiate(alice.me, bob.me.public, bob.prekeys(), self.entropy.draw(32))
        answer = x3dh.respond(
            bob.me, alice.me.public, opening,
            signed_private=bob.secrets.signed_keys[1], single_private=bob.secrets.singles[x3dh.ONE_TIME, 7],
        )  # fmt: skip
        signed = primitives.agreement_public(bob.secrets.signed_keys[1])
        self.states = [
            ratchet.start_initiator(secret, signed, self.entropy.draw(32)),
            ratchet.start_responder(answer, bob.secrets.signed_keys[1]),
        ]
        self.flying = [[], []]
        self.opened = []
        self.count = 0

    @rule(side=st.integers(0, 1))
    def send(self, side):
        if self.states[side].sending is None:
            return
        text = f"{self.count}".encode()
        self.count += 1
        self.states[side], message = ratchet.seal(self.states[side], text, b"ad", self.entropy.draw(24))
        self.flying[1 - side].append((text, message))

    @precondition(lambda self: any(self.flying))
    @rule(
        data=st.data(), side=st.integers(0, 1), fate=st.sampled_from(["deliver", "deliver", "lose", "alter"])
    )
    def arrive(self, data, side, fate):
        if not self.flying[side]:
            return
        text, message = self.flying[side].pop(data.draw(st.integers(0, len(self.flying[side]) - 1)))
        if fate == "lose":
            return
        if fate == "alter":
            with pytest.raises(CannotOpen):
                ratchet.open_message(
                    self.states[side], message[:-1] + bytes([message[-1] ^ 1]), b"ad", self.entropy
                )
        self.states[side], plain = ratchet.open_message(self.states[side], message, b"ad", self.entropy)
        assert plain == text
        self.opened.append((side, message))

    @precondition(lambda self: self.opened)
    @rule(data=st.data())
    def replayed(self, data):
        side, message = data.draw(st.sampled_from(self.opened))
        with pytest.raises(CannotOpen):
            ratchet.open_message(self.states[side], message, b"ad", self.entropy)

    @invariant()
    def skipped_keys_stay_within_limits(self):
        assert all(len(state.skipped) <= ratchet.MAX_STORED for state in self.states)


TwoRatchets.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)


TestTwoRatchets = TwoRatchets.TestCase
