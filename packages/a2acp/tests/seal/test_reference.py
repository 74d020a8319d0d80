"""Our sealing against an independent implementation: `x3dh`, `doubleratchet` and OpenSSL (`reference.py`)."""

import pytest
import x3dh as package
from doubleratchet import DuplicateMessageException

from tacit.seal import ratchet, session, x3dh
from tacit.seal.primitives import CannotOpen
from tests.post_support import ALICE, BOB, Person, Repeatable
from tests.seal.dialogue import BOTH, OURS, REFERENCE, Dialogue, keys_of
from tests.seal.reference import agreed, context, dh_public

KINDS = {x3dh.ONE_TIME: 7, x3dh.LAST_RESORT: 9}


def pair(seed):
    return Person(f"{seed} alice", ALICE), Person(f"{seed} bob", BOB)


def info(alice, bob):
    a, b = alice.me.public, bob.me.public
    return context((a.signing, a.agreement), (b.signing, b.agreement))


def said(opening, prekeys, single):
    return package.Header(
        identity_key=opening.agreement,
        ephemeral_key=opening.ephemeral,
        signed_pre_key=prekeys.signed,
        pre_key=single,
    )


@pytest.mark.spec("A2ACP-245")
@pytest.mark.parametrize("kind", KINDS)
def test_the_package_as_initiator_and_we_as_responder_agree_on_the_secret(kind):
    for seed in range(10):
        alice, bob = pair(seed)
        ours = keys_of(bob)
        single = ours.singles[kind, KINDS[kind]]
        bundle = package.Bundle(
            identity_key=bob.me.agreement_public,
            signed_pre_key=dh_public(ours.signed),
            signed_pre_key_sig=ours.state(b"").bundle.signed_pre_key_sig,
            pre_keys=frozenset({dh_public(single)}),
        )
        state = keys_of(alice).state(info(alice, bob))
        (root, _, header), key, next_key = agreed(
            lambda state=state, bundle=bundle: state.get_shared_secret_active(bundle), Repeatable(str(seed))
        )
        opening = x3dh.Opening(header.identity_key, header.ephemeral_key, 1, kind, KINDS[kind])
        found = x3dh.respond(
            bob.me, alice.me.public, opening, signed_private=ours.signed, single_private=single
        )
        assert (found.root, found.header, found.next_header) == (root, key, next_key)


@pytest.mark.spec("A2ACP-245")
@pytest.mark.parametrize("kind", KINDS)
def test_we_as_initiator_and_the_package_as_responder_agree_on_the_secret(kind):
    for seed in range(10):
        alice, bob = pair(seed)
        prekeys = bob.prekeys(kind)
        opening, found = x3dh.initiate(
            alice.me, bob.me.public, prekeys, Repeatable(f"{seed} ephemeral").draw(32)
        )
        header = said(opening, prekeys, prekeys.single)
        state = keys_of(bob).state(info(alice, bob))
        (root, _, used), key, next_key = agreed(
            lambda state=state, header=header: state.get_shared_secret_passive(header)
        )
        assert used.pub == prekeys.signed
        assert (found.root, found.header, found.next_header) == (root, key, next_key)


@pytest.mark.spec("A2ACP-245")
def test_a_handshake_without_the_single_key_leads_to_another_secret():
    alice, bob = pair("three shares")
    prekeys = bob.prekeys()
    opening, found = x3dh.initiate(alice.me, bob.me.public, prekeys, Repeatable("ephemeral").draw(32))
    header = said(opening, prekeys, None)
    state = keys_of(bob).state(info(alice, bob))
    (root, _, _), _, _ = agreed(lambda: state.get_shared_secret_passive(header, require_pre_key=False))
    assert root != found.root


@pytest.mark.spec("A2ACP-243", "A2ACP-245")
@pytest.mark.parametrize("kind", KINDS, ids=["one-time", "last-resort"])
@pytest.mark.parametrize("first", [OURS, REFERENCE, BOTH])
def test_reordered_conversations_open_both_ways_whoever_begins(first, kind):
    opened = 0
    for seed in range(3):
        dialogue = Dialogue(f"{first} {kind} {seed}", kind)
        dialogue.begin(first)
        opened += dialogue.run(turns=100)
    assert opened > 140


@pytest.mark.spec("A2ACP-243")
def test_a_chain_that_was_skipped_over_a_turn_still_opens():
    dialogue = Dialogue("skipped")
    dialogue.begin(OURS)
    late = [dialogue.say(OURS) for _ in range(60)]
    dialogue.hear(late[-1])
    later = [dialogue.say(REFERENCE) for _ in range(60)]
    dialogue.hear(later[-1])
    dialogue.hear(dialogue.say(OURS))
    dialogue.hear(dialogue.say(REFERENCE))
    for said in (*reversed(late[:-1]), *reversed(later[:-1])):
        dialogue.hear(said)
    assert dialogue.opened == 122


@pytest.mark.spec("A2ACP-244")
def test_both_sides_read_the_same_sealed_header_and_no_stranger_reads_it():
    dialogue, stranger = Dialogue("header"), Dialogue("stranger")
    for one in (dialogue, stranger):
        one.begin(OURS)
        one.hear(one.say(OURS))
        one.hear(one.say(REFERENCE))
        one.hear(one.say(OURS))
    ours, theirs = dialogue.say(OURS), dialogue.say(REFERENCE)
    assert dialogue.peer.sessions[0].ratchet.reads(ours.body[1:])
    assert ratchet.opens(dialogue.sessions[0].ratchet, theirs.body[1:])
    assert not stranger.peer.sessions[0].ratchet.reads(ours.body[1:])
    assert not ratchet.opens(stranger.sessions[0].ratchet, theirs.body[1:])
    shown = dh_public(dialogue.sessions[0].ratchet.own_private)
    assert shown not in ours.body


@pytest.mark.spec("A2ACP-029", "A2ACP-243")
def test_what_was_opened_once_opens_for_neither_side_again():
    dialogue = Dialogue("again")
    dialogue.begin(OURS)
    ours = dialogue.say(OURS)
    dialogue.hear(ours)
    theirs = dialogue.say(REFERENCE)
    dialogue.hear(theirs)
    with pytest.raises(DuplicateMessageException):
        dialogue.peer.open(ours.body, ours.bound)
    binding = session.Binding(
        theirs.bound.sender, theirs.bound.recipient, theirs.bound.packet_id, theirs.bound.header
    )
    with pytest.raises(CannotOpen):
        session.open_body(
            dialogue.us.me, dialogue.them.me.public, dialogue.sessions, dialogue.us.secrets, theirs.body,
            binding, dialogue.us.entropy,
        )  # fmt: skip
