"""What becomes of a packet that its sender sealed and signed as it should be, and that says two things."""

import contextlib
import json

import pytest

from tacit.a2acp.post.reception import Drop
from tacit.base.moment import SECOND, Moment, rfc3339
from tests.agent_support import people_on, sealed_by
from tests.relay_support import Relay


@contextlib.asynccontextmanager
async def alice_and_a_stranger(tmp_path):
    """Alice, who has the stranger's key, so that every packet of his reaches the last checks."""
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        mallory = await relay.person("mallory")
        await alice.post.directory.refresh(mallory.address)
        yield relay, alice, mallory


def take(alice, packet):
    return alice.post.inbox.take(bytes(packet.envelope), packet.sig)


def header_of(packet):
    return {name: value for name, value in json.loads(bytes(packet.envelope)).items() if name != "body"}


def in_alices_file(alice):
    return alice.post.store.row("SELECT count(*) FROM history")[0]


@pytest.mark.spec("A2ACP-227", "A2ACP-226")
@pytest.mark.parametrize("name", ["protocol", "packet_id", "thread_id", "from", "to", "timestamp"])
async def test_an_inner_header_that_differs_from_the_outer_one_is_dropped_and_counted(tmp_path, name):
    async with alice_and_a_stranger(tmp_path) as (relay, alice, mallory):
        a_second_ago = rfc3339(Moment(relay.clock.now() - SECOND))
        other = {
            "protocol": "a2acp/0.1",
            "packet_id": "pkt_another0001",
            "thread_id": "thr_another",
            "from": "agent:carol@" + relay.domain,
            "to": "agent:carol@" + relay.domain,
            "timestamp": a_second_ago,
        }[name]
        outer = header_of(sealed_by(mallory, alice))
        inner = {"packet_id": outer["packet_id"], "timestamp": outer["timestamp"]}
        before = alice.post.store.contact(mallory.address).reputation.score
        assert take(alice, sealed_by(mallory, alice, outer=outer, **{**inner, name: other})) is Drop.HEADER
        assert in_alices_file(alice) == 0
        assert alice.post.store.contact(mallory.address).reputation.score == before - 5
        # The same without that one member's twist is taken.
        assert take(alice, sealed_by(mallory, alice, outer=outer, **inner)) is None
        assert in_alices_file(alice) == 1


@pytest.mark.spec("A2ACP-229")
async def test_twenty_malformed_packets_block_their_sender_only_if_the_person_has_chosen_so(tmp_path):
    async with alice_and_a_stranger(tmp_path) as (_, alice, mallory):
        with alice.post.store.transaction():
            alice.post.store.choose("auto_block_malformed", "on")
        for _ in range(19):
            assert take(alice, sealed_by(mallory, alice, context=[])) is Drop.MALFORMED
        assert not alice.post.store.contact(mallory.address).reputation.blocked
        assert take(alice, sealed_by(mallory, alice, context=[])) is Drop.MALFORMED
        assert take(alice, sealed_by(mallory, alice)) is Drop.BLOCKED
