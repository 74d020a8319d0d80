import dataclasses

import pytest

from tacit.seal import identity, session, x3dh
from tacit.seal.primitives import CannotOpen
from tests.post_support import ALICE, BOB, Repeatable, Secrets, fit, people


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
