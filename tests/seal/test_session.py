import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.post_support import ALICE, BOB, Repeatable, Secrets, fit, people

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.seal import backup, identity, padding, pinning, primitives, ratchet, replay, session, x3dh
from tacit.seal.primitives import CannotOpen


def bound(packet_id="pkt_one1", sender=ALICE, recipient=BOB, header=b"header"):
    return session.Binding(sender, recipient, packet_id, header)


def started(kind=x3dh.ONE_TIME):
    alice, bob = people()
    return alice, bob, session.begin(alice.me, bob.me.public, bob.prekeys(kind), alice.entropy)


@pytest.mark.spec("A2ACP-243", "A2ACP-245")
@pytest.mark.parametrize("kind", [x3dh.ONE_TIME, x3dh.LAST_RESORT])
def test_the_first_packet_reaches_a_sleeping_stranger_and_the_answer_comes_back(kind):
    alice, bob, towards_bob = started(kind)
    towards_bob, body = session.seal(
        alice.me, bob.me.public, towards_bob, b"hello", bound(), fit, alice.entropy
    )
    opened = session.open_body(bob.me, alice.me.public, (), bob.secrets, body, bound(), bob.entropy)
    assert opened.payload == b"hello"
    assert opened.used_one_time == (7 if kind == x3dh.ONE_TIME else None)
    back = bound("pkt_two2", BOB, ALICE)
    towards_alice, body = session.seal(
        bob.me, alice.me.public, opened.sessions[0], b"yes", back, fit, bob.entropy
    )
    answer = session.open_body(alice.me, bob.me.public, (towards_bob,), Secrets(), body, back, alice.entropy)
    assert answer.payload == b"yes"
    assert answer.sessions[0].opening is None
    assert towards_alice.opening is None


@pytest.mark.spec("A2ACP-252", "A2ACP-244")
def test_every_form_has_the_same_look_a_version_byte_and_a_buckets_length():
    alice, bob, towards_bob = started()
    _, first = session.seal(alice.me, bob.me.public, towards_bob, b"x" * 300, bound(), fit, alice.entropy)
    plain = session.seal_stateless(alice.me, bob.me.public, b"x" * 300, bound(), fit, alice.entropy)
    _, ratcheted = session.seal(
        alice.me,
        bob.me.public,
        dataclasses.replace(towards_bob, opening=None),
        b"x" * 300,
        bound(),
        fit,
        alice.entropy,
    )
    assert [len(body) for body in (first, plain, ratcheted)] == [768, 512, 512]
    assert {body[:1] for body in (first, plain, ratcheted)} == {b"\x01"}


@pytest.mark.spec("A2ACP-245")
def test_the_stateless_form_opens_without_any_session():
    alice, bob = people()
    body = session.seal_stateless(alice.me, bob.me.public, b"plain peer", bound(), fit, alice.entropy)
    opened = session.open_body(bob.me, alice.me.public, (), Secrets(), body, bound(), bob.entropy)
    assert (opened.payload, opened.stateless) == (b"plain peer", True)


@pytest.mark.spec("A2ACP-243", "A2ACP-244", "A2ACP-250", "A2ACP-251")
@pytest.mark.parametrize("form", ["first", "stateless", "ratchet"])
@pytest.mark.parametrize(
    "twist",
    [
        "packet_id",
        "sender",
        "recipient",
        "header",
        "body",
        "last byte",
        "cut",
        "sender key",
        "other recipient",
    ],
)
def test_a_body_opens_only_as_it_was_sealed(form, twist):
    alice, bob, towards_bob = started()
    mallory = people()[0].me if twist != "sender key" else identity.generate(Repeatable("mallory"))
    sessions = ()
    if form == "stateless":
        body = session.seal_stateless(alice.me, bob.me.public, b"m", bound(), fit, alice.entropy)
    else:
        towards_bob, body = session.seal(
            alice.me, bob.me.public, towards_bob, b"m", bound(), fit, alice.entropy
        )
        if form == "ratchet":
            sessions = session.open_body(
                bob.me, alice.me.public, (), bob.secrets, body, bound(), bob.entropy
            ).sessions
            unboxed = dataclasses.replace(towards_bob, opening=None)
            _, body = session.seal(alice.me, bob.me.public, unboxed, b"m", bound(), fit, alice.entropy)
    reader, peer, binding = bob.me, alice.me.public, bound()
    match twist:
        case "packet_id":
            binding = bound("pkt_other")
        case "sender":
            binding = bound(sender="agent:mallory@a.example")
        case "recipient":
            binding = bound(recipient="agent:carol@b.example")
        case "header":
            binding = bound(header=b"header ")
        case "body":
            body = body[:60] + bytes([body[60] ^ 1]) + body[61:]
        case "last byte":
            body = body[:-1] + bytes([body[-1] ^ 0x80])
        case "cut":
            body = body[:-256]
        case "sender key":
            peer = mallory.public
        case _:
            reader, sessions = identity.generate(Repeatable("carol")), ()
    with pytest.raises(CannotOpen):
        session.open_body(reader, peer, sessions, bob.secrets, body, binding, bob.entropy)


@pytest.mark.spec("A2ACP-251")
def test_a_ciphertext_signed_again_by_another_sender_does_not_open_as_theirs():
    alice, bob = people()
    mallory = identity.generate(Repeatable("mallory"))
    body = session.seal_stateless(alice.me, bob.me.public, b"m", bound(), fit, alice.entropy)
    stolen = bound(sender="agent:mallory@a.example")
    with pytest.raises(CannotOpen):
        session.open_body(bob.me, mallory.public, (), Secrets(), body, stolen, bob.entropy)


@pytest.mark.spec("A2ACP-243")
def test_a_stolen_state_opens_no_earlier_packet():
    alice, bob, towards_bob = started()
    recorded, sessions = [], ()
    for number in range(6):
        binding = bound(f"pkt_num{number}")
        towards_bob, body = session.seal(
            alice.me, bob.me.public, towards_bob, b"old", binding, fit, alice.entropy
        )
        opened = session.open_body(bob.me, alice.me.public, sessions, bob.secrets, body, binding, bob.entropy)
        sessions = opened.sessions
        if opened.used_one_time is not None:
            bob.secrets.singles.pop((x3dh.ONE_TIME, opened.used_one_time))
        recorded.append((binding, body))
    # The thief has all that either device still holds: identities, prekeys, sessions.
    for binding, body in recorded:
        with pytest.raises(CannotOpen):
            session.open_body(
                bob.me, alice.me.public, sessions, bob.secrets, body, binding, Repeatable("thief")
            )
        with pytest.raises(CannotOpen):
            session.open_body(
                alice.me, bob.me.public, (towards_bob,), Secrets(), body, binding, Repeatable("thief")
            )


@pytest.mark.spec("A2ACP-243")
def test_a_thief_who_turns_the_counters_back_opens_no_earlier_packet_either():
    alice, bob, towards_bob = started()
    recorded, sessions = [], ()
    for number in range(4):
        binding = bound(f"pkt_num{number}")
        towards_bob, body = session.seal(
            alice.me, bob.me.public, towards_bob, b"old", binding, fit, alice.entropy
        )
        opened = session.open_body(bob.me, alice.me.public, sessions, bob.secrets, body, binding, bob.entropy)
        sessions = opened.sessions
        recorded.append((binding, body))
    bob.secrets.singles.clear()
    for number, (binding, body) in enumerate(recorded):
        for held in (sessions[0], towards_bob):
            chain = held.ratchet.receiving or held.ratchet.sending
            header_key = held.ratchet.receiving_header or held.ratchet.sending_header
            forced = dataclasses.replace(
                held.ratchet, got=number, receiving=chain, receiving_header=header_key, skipped=()
            )
            turned_back = dataclasses.replace(held, ratchet=forced)
            with pytest.raises(CannotOpen):
                session.open_body(
                    bob.me, alice.me.public, (turned_back,), bob.secrets, body, binding, Repeatable("thief")
                )


@pytest.mark.spec("A2ACP-245")
def test_a_used_one_time_prekey_opens_no_second_session():
    alice, bob, towards_bob = started()
    _, body = session.seal(alice.me, bob.me.public, towards_bob, b"m", bound(), fit, alice.entropy)
    bob.secrets.singles.clear()
    with pytest.raises(CannotOpen):
        session.open_body(bob.me, alice.me.public, (), bob.secrets, body, bound(), bob.entropy)


@pytest.mark.spec("A2ACP-245")
def test_both_sides_may_begin_at_once_and_still_understand_each_other():
    alice, bob, towards_bob = started()
    towards_alice = session.begin(bob.me, alice.me.public, alice.prekeys(), bob.entropy)
    towards_bob, one = session.seal(
        alice.me, bob.me.public, towards_bob, b"from alice", bound("pkt_aaaa"), fit, alice.entropy
    )
    back = bound("pkt_bbbb", BOB, ALICE)
    towards_alice, two = session.seal(
        bob.me, alice.me.public, towards_alice, b"from bob", back, fit, bob.entropy
    )
    at_bob = session.open_body(
        bob.me, alice.me.public, (towards_alice,), bob.secrets, one, bound("pkt_aaaa"), bob.entropy
    )
    at_alice = session.open_body(
        alice.me, bob.me.public, (towards_bob,), alice.secrets, two, back, alice.entropy
    )
    alices, bobs = at_alice.sessions, at_bob.sessions
    for number in range(6):
        out = bound(f"pkt_out{number}")
        sent, body = session.seal(alice.me, bob.me.public, alices[0], b"x", out, fit, alice.entropy)
        alices = session.with_new(alices, sent)
        bobs = session.open_body(bob.me, alice.me.public, bobs, bob.secrets, body, out, bob.entropy).sessions
        home = bound(f"pkt_hom{number}", BOB, ALICE)
        sent, body = session.seal(bob.me, alice.me.public, bobs[0], b"y", home, fit, bob.entropy)
        bobs = session.with_new(bobs, sent)
        alices = session.open_body(
            alice.me, bob.me.public, alices, alice.secrets, body, home, alice.entropy
        ).sessions
    assert len(alices) <= session.MAX_SESSIONS


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


@given(st.binary(max_size=500), st.integers(1, 300))
def test_padding_comes_off_as_it_went_on(payload, more):
    padded = padding.pad(payload, len(payload) + more)
    assert len(padded) == len(payload) + more
    assert padding.unpad(padded) == payload


def test_what_is_no_padding_is_refused():
    for bad in (b"", b"\x00\x00", b"abc", b"abc\x00"):
        with pytest.raises(CannotOpen):
            padding.unpad(bad)


@pytest.mark.spec("A2ACP-244")
def test_a_queue_tag_is_the_same_for_both_sides_and_for_nobody_else():
    alice, bob = people()
    carol = identity.generate(Repeatable("carol"))
    args = {"sender": ALICE, "recipient": BOB, "thread_id": "thr_gamenight"}
    tag = session.queue_tag(alice.me, bob.me.public, **args)
    assert tag == session.queue_tag(bob.me, alice.me.public, **args)
    assert tag != session.queue_tag(alice.me, carol.public, **args)
    assert tag != session.queue_tag(alice.me, bob.me.public, **{**args, "thread_id": "thr_other"})
    assert tag != session.queue_tag(
        bob.me, alice.me.public, sender=BOB, recipient=ALICE, thread_id="thr_gamenight"
    )


@pytest.mark.spec("A2ACP-247")
def test_safety_numbers_agree_on_both_sides_and_change_with_the_key():
    alice, bob = people()
    mine = identity.safety_number(
        our_address=ALICE,
        our_signing=alice.me.signing_public,
        their_address=BOB,
        their_signing=bob.me.signing_public,
    )
    theirs = identity.safety_number(
        our_address=BOB,
        our_signing=bob.me.signing_public,
        their_address=ALICE,
        their_signing=alice.me.signing_public,
    )
    swapped = identity.safety_number(
        our_address=ALICE,
        our_signing=alice.me.signing_public,
        their_address=BOB,
        their_signing=alice.me.signing_public,
    )
    assert mine == theirs != swapped
    assert len(mine.split()) == 12
    assert "signing_seed" not in repr(alice.me)


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
def test_a_changed_key_blocks_until_a_person_decides():
    alice, bob = people()
    pin = pinning.observe(None, bob.me.public, 5)
    assert pin.usable
    assert pinning.observe(pin, bob.me.public, 6).serial == 6
    swapped = pinning.observe(pin, alice.me.public, 7)
    assert not swapped.usable
    assert swapped.keys == bob.me.public
    assert not pinning.observe(swapped, bob.me.public, 8).usable
    assert pinning.accept(swapped).keys == alice.me.public
    assert pinning.reject(swapped).keys == bob.me.public
    assert pinning.verified(swapped) is swapped


@pytest.mark.spec("A2ACP-015")
def test_a_rotation_signed_by_the_old_key_moves_the_pin_by_itself():
    alice, bob = people()
    pin = pinning.verified(pinning.observe(None, bob.me.public, 5))
    moved = pinning.observe(pin, alice.me.public, 6, rotation_proven=True)
    assert (moved.keys, moved.trust) == (alice.me.public, pinning.Trust.PINNED)


@pytest.mark.spec("A2ACP-251")
def test_an_older_statement_never_replaces_a_newer():
    alice, bob = people()
    pin = pinning.observe(None, bob.me.public, 5)
    assert pinning.observe(pin, alice.me.public, 4, rotation_proven=True) == pin


def test_every_state_and_sighting_has_a_row():
    assert set(pinning.TRANSITIONS) == {(trust, seen) for trust in pinning.Trust for seen in pinning.Sighting}


SMALL = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}


@pytest.mark.spec("A2ACP-224", "A2ACP-225")
def test_a_backup_opens_with_its_passphrase_only():
    locked = backup.lock(b"identity", "correct horse battery", Repeatable(), **SMALL)
    assert b"identity" not in locked
    assert backup.unlock(locked, "correct horse battery") == b"identity"
    for data, phrase in [
        (locked, "correct horse batterz"),
        (locked.replace(b'"passes":1', b'"passes":2'), "correct horse battery"),
        (locked.replace(b'"memory_bytes":8388608', b'"memory_bytes":99999999999'), "correct horse battery"),
        (b"{}", "correct horse battery"),
        (locked[:-4] + b'A"}', "correct horse battery"),
    ]:
        with pytest.raises(Refused):
            backup.unlock(data, phrase)
    with pytest.raises(Refused):
        backup.lock(b"identity", "short", Repeatable(), **SMALL)


@pytest.mark.spec("A2ACP-222")
def test_a_packet_outside_the_window_of_memory_is_not_fresh():
    now = Moment(10**16)
    day = 24 * 3600 * SECOND
    assert replay.within_window(Moment(now - 59 * day), now)
    assert not replay.within_window(Moment(now - 61 * day), now)
    assert not replay.within_window(Moment(now + 3 * day), now)
    assert replay.forget_before(now) < now - 60 * day
