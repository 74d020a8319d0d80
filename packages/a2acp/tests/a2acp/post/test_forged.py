"""A packet in a contact's name that its key did not sign: never taken, and the owner hears of it once."""

from __future__ import annotations

import json

import pytest

from tacit.a2acp.post.io.inbox import FORGED
from tacit.wire import envelope
from tacit.wire.encoding import b64, canonical
from tests.agent_support import people_on
from tests.relay_support import Relay


@pytest.mark.spec("A2ACP-017", "A2ACP-219", "A2ACP-222")
@pytest.mark.parametrize("known", ["contact", "stranger"])
async def test_what_is_not_signed_by_the_known_key_is_told_once_and_of_contacts_alone(tmp_path, known):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "mal", friends=known == "contact") as (alice, bob, mal),
    ):
        await alice.post.publish()
        bob.say(alice, "dinner on Friday?")
        await bob.online()
        await bob.sent()
        await bob.offline()
        await alice.post.directory.refresh(bob.address)
        [row] = bob.post.store.rows("SELECT packet_id FROM history WHERE direction='out'")
        for number in range(3):
            forged = json.loads(_taken(relay, row[0]))
            forged["packet_id"] = f"pkt_forged{number:020d}"
            raw = canonical(forged)
            sig = b64(mal.post.store.me().identity.sign(envelope.signed_bytes(raw)))
            assert alice.post.inbox.admit(raw, sig)
            alice.post.inbox.judge(bob.address, asked=True)
        assert alice.texts() == []
        assert alice.notes().count(FORGED.format(bob.address)) == (known == "contact")
        assert not alice.post.inbox.unverified.holds(bob.address)


def _taken(relay: Relay, packet_id: str) -> bytes:
    """The envelope as it lies in the mailbox."""
    query = "SELECT envelope FROM queue WHERE packet_id=?"
    return bytes(relay.mailboxes.store.reader.execute(query, (packet_id,)).fetchone()[0])
