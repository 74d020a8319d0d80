"""The relay's file: one copy of a packet, also in a file of the edition before; a broken batch answers nobody."""

import asyncio
import contextlib

import aiohttp
import pytest

from tacit.base.io import sqlite
from tacit.base.io.sqlite import Schema
from tacit.relay.io import registry, schema, store
from tacit.relay.io.store import FILE
from tacit.relay.settings import RelayLimits
from tacit.wire import envelope, frames
from tests.relay_support import Relay, until


@contextlib.asynccontextmanager
async def two_on(tmp_path):
    async with Relay(tmp_path) as relay:
        alice, bob = await relay.person("alice"), await relay.person("bob")
        yield relay, alice, bob


def stored(relay, person):
    return relay.mailboxes.store.fetch(relay.mailboxes.agent(person.username).account, 0, 1000)


@pytest.mark.spec("A2ACP-219", "A2ACP-215")
async def test_a_repeated_packet_is_accepted_again_and_stored_once(tmp_path):
    async with two_on(tmp_path) as (relay, alice, bob), alice:
        packet = alice.packet(bob.address)
        for _ in range(3):
            await alice.say(packet)
            assert (await alice.hear()).packet_ids
        assert len(stored(relay, bob)) == 1
        assert relay.mailboxes.quota.packets(relay.mailboxes.agent("bob").account) == 1


@pytest.mark.spec("A2ACP-219")
async def test_the_same_id_from_two_senders_or_for_two_recipients_is_two_packets(tmp_path):
    async with two_on(tmp_path) as (relay, alice, bob):
        carol = await relay.person("carol")
        async with alice, carol:
            for sender, to in ((alice, bob), (carol, bob), (alice, carol)):
                await sender.say(sender.packet(to.address, packet_id="pkt_same1"))
                await sender.hear_a(frames.AcceptedFrame)
        assert [len(stored(relay, one)) for one in (bob, carol)] == [2, 1]


@pytest.mark.spec("A2ACP-215", "A2ACP-219")
async def test_a_file_of_the_edition_before_keeps_its_packets_and_still_knows_repeats(tmp_path, monkeypatch):
    async with two_on(tmp_path) as (relay, alice, bob), alice:
        packet = alice.packet(bob.address)
        await alice.say(packet)
        await alice.hear_a(frames.AcceptedFrame)
        port = relay.port
    file = sqlite.connect(tmp_path / FILE)
    file.execute(
        "DROP INDEX queue_once; ALTER TABLE queue DROP COLUMN once; DROP TABLE written; DROP TABLE agent_steps;"
        "DROP TABLE ended_sessions; ALTER TABLE codes DROP COLUMN may_reset;"
        "ALTER TABLE passkeys DROP COLUMN made_at; ALTER TABLE passkeys DROP COLUMN used_at;"
        "ALTER TABLE prekeys DROP COLUMN epoch; DROP TABLE handed; DROP TABLE nonces;"
        "DROP TABLE guests; DROP TABLE guest_answers; DROP TABLE spent;"
        "ALTER TABLE peers DROP COLUMN used_at"
    )
    file.execute(
        "CREATE UNIQUE INDEX queue_once ON queue (recipient, packet_id, sender); PRAGMA user_version=1"
    )
    file.close()
    again = Relay(tmp_path, port=port)
    alice.relay = again
    async with again, alice:
        assert len(stored(again, bob)) == 1
        await alice.say(packet)
        await alice.hear_a(frames.AcceptedFrame)
        await alice.say(alice.packet(bob.address))
        await alice.hear_a(frames.AcceptedFrame)
        assert len(stored(again, bob)) == 2
    assert isinstance(schema.SCHEMA, Schema)


@pytest.mark.spec("A2ACP-215")
async def test_a_packet_that_was_sealed_anew_is_kept_beside_the_copy_before_it(tmp_path):
    """Its recipient could not open that copy, and may not have let it go here yet."""
    async with two_on(tmp_path) as (relay, alice, bob), alice:
        for body in (bytes(1024), b"\1" * 1024, b"\1" * 1024):
            await alice.say(alice.packet(bob.address, body=body, packet_id="pkt_the_same"))
            await alice.hear_a(frames.AcceptedFrame)
        assert len(stored(relay, bob)) == 2


@pytest.mark.spec("A2ACP-002", "A2ACP-215")
async def test_a_mistake_of_our_own_costs_only_the_packet_that_met_it(tmp_path, monkeypatch):
    async with two_on(tmp_path) as (relay, alice, bob), alice, bob:
        broken = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: broken.append(context["exception"]))
        first_contact, batch = relay.mailboxes.checks.first_contact, relay.mailboxes._batch

        sent_by = relay.mailboxes.agent("alice").account

        def mistaken(account, to, now):
            if account == sent_by:
                raise KeyError
            return first_contact(account, to, now)

        monkeypatch.setattr(relay.mailboxes.checks, "first_contact", mistaken)
        connections = {one.address: one for one in relay.mailboxes.all}
        packets = [bob.packet(bob.address), alice.packet(bob.address), bob.packet(bob.address)]
        for sender, packet in zip((bob, alice, bob), packets, strict=True):
            batch.add(connections[sender.address], packet, relay.clock.now())
        assert await alice.hear() == 1011
        await until(lambda: len(stored(relay, bob)) == 2)
        await bob.hear_a(frames.AcceptedFrame)
        assert [type(error) for error in broken] == [KeyError, KeyError]
        assert [one.envelope for one in stored(relay, bob)] == [bytes(packets[n].envelope) for n in (0, 2)]
        assert relay.mailboxes.quota.packets(relay.mailboxes.agent("bob").account) == 2
        await alice.close()
        monkeypatch.undo()
        await alice.connect()
        await alice.say(alice.packet(bob.address))
        await alice.hear_a(frames.AcceptedFrame)
        loop.set_exception_handler(None)


@pytest.mark.spec("A2ACP-006", "A2ACP-025")
@pytest.mark.parametrize(
    "where", [b'{"frame":"packet","envelope":{"body":"%b"},"sig":"x"}', b'{"frame":"%b"}', b"%b"]
)
async def test_text_that_is_not_utf_8_is_refused_and_the_connection_lives_on(tmp_path, where):
    async with two_on(tmp_path) as (relay, alice, bob), alice:
        await alice.ws.send_frame(where.replace(b"%b", b"\x80\xff"), aiohttp.WSMsgType.TEXT)
        assert (await alice.hear()).code == "bad_envelope"
        await alice.say(alice.packet(bob.address))
        await alice.hear_a(frames.AcceptedFrame)
        assert len(stored(relay, bob)) == 1


@pytest.mark.spec("A2ACP-219", "A2ACP-004")
async def test_a_burst_longer_than_a_turn_keeps_its_order_and_each_bad_packet_is_named(tmp_path):
    async with two_on(tmp_path) as (relay, alice, bob), alice:
        async with bob:
            await bob.sent(alice.address)
        await alice.take()
        packets = [alice.packet(bob.address, tag="ABCD"[n % 4]) for n in range(150)]
        bad = {7, 63, 64, 130}
        for number, packet in enumerate(packets):
            sent = frames.PacketFrame(packet.envelope, "A" * 86) if number in bad else packet
            await alice.say(sent)
        named, refused = [], []
        while len(named) + len(refused) < 150:
            frame = await alice.hear()
            if isinstance(frame, frames.ErrorFrame):
                assert frame.code == "bad_signature"
                refused.append(frame.packet_id)
            else:
                named += frame.packet_ids
        wanted = [f"pkt_alice{n + 1:06d}" for n in range(150)]
        assert sorted(refused) == [wanted[n] for n in sorted(bad)]
        assert named == [one for n, one in enumerate(wanted) if n not in bad]
        assert [bytes(one.envelope) for one in stored(relay, bob)] == [
            bytes(packet.envelope) for n, packet in enumerate(packets) if n not in bad
        ]


def kept_notices(relay):
    return relay.mailboxes.store.reader.execute("SELECT count(*) FROM notices").get


@pytest.mark.spec("A2ACP-256", "A2ACP-222")
async def test_what_was_told_to_a_socket_that_had_died_is_told_again(tmp_path):
    async with two_on(tmp_path) as (relay, alice, _):
        await alice.connect()
        # A device that lost its network: its socket stands, and reads nothing more.
        transport = alice.ws._response.connection.transport
        transport.pause_reading()
        lost = frames.ErrorFrame("federation_failed", "pkt_lost1")
        await relay.mailboxes.tell(alice.address, lost)
        transport.abort()
        await until(lambda: not relay.mailboxes.all)
        assert kept_notices(relay) == 1
        await alice.http.close()
        async with alice:
            assert await alice.hear() == lost
            await alice.send(alice.address)
            await alice.hear_a(frames.AcceptedFrame)
            await until(lambda: kept_notices(relay) == 0)
        async with alice:
            assert isinstance(await alice.hear(), frames.PacketFrame)


@pytest.mark.spec("A2ACP-222")
async def test_a_pong_proves_only_what_was_asked_by_a_ping(tmp_path):
    async with two_on(tmp_path) as (relay, alice, bob), alice:
        await relay.mailboxes.tell(bob.address, frames.ErrorFrame("expired", "pkt_of_bob"))
        for data in (b"1", b"9" * 30, b"x", b""):
            await alice.ws.pong(data)
        await alice.send(alice.address)
        await alice.hear_a(frames.AcceptedFrame)
        await relay.mailboxes.settle()
        assert kept_notices(relay) == 1
        async with bob:
            assert (await bob.hear()).packet_id == "pkt_of_bob"


async def test_the_newest_thousand_notices_of_an_agent_are_kept_however_many_others_have(tmp_path):
    async with two_on(tmp_path) as (relay, _, _):

        def many(file):
            registry.add_notice(file, 1, b"first")
            for number in range(1100):
                registry.add_notice(file, 2, str(number).encode())
            registry.add_notice(file, 1, b"second")

        await relay.mailboxes.store.write(many)
        reader = relay.mailboxes.store.reader
        assert [frame for _, frame in registry.notices(reader, 1)] == [b"first", b"second"]
        assert [frame for _, frame in registry.notices(reader, 2)][::999] == [b"100", b"1099"]


@pytest.mark.spec("A2ACP-002", "A2ACP-005")
async def test_the_file_is_for_the_relay_alone(tmp_path):
    async with two_on(tmp_path):
        [path] = tmp_path.rglob(FILE)
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.spec("A2ACP-215")
async def test_the_relays_for_which_packets_wait_are_known_after_a_restart(tmp_path):
    async with two_on(tmp_path) as (relay, alice, _):
        [path] = tmp_path.rglob(FILE)
        now = relay.clock.now()
        packets = [
            alice.packet(f"agent:carol@{domain}") for domain in ("b.example", "c.example", "b.example")
        ]
    file = sqlite.connect(path)
    assert store.outgoing_domains(file) == []
    for position, packet in enumerate(packets, 1):
        found = envelope.read(bytes(packet.envelope))
        domain = found.recipient.partition("@")[2]
        assert store.put_outgoing(file, position, found, packet.sig, domain, now, RelayLimits()) is None
    assert sorted(store.outgoing_domains(file)) == ["b.example", "c.example"]
    assert [one.position for one in store.outgoing(file, "b.example", 10)] == [1, 3]
    store.remove_outgoing(file, [1, 3])
    assert store.outgoing_domains(file) == ["c.example"]
    file.close()


@pytest.mark.spec("A2ACP-215", "A2ACP-222")
async def test_a_packet_for_another_relay_that_is_refused_takes_the_place_of_none(tmp_path):
    """What was accepted stays, also where its successor finds no room."""
    async with two_on(tmp_path) as (relay, alice, _):
        [path] = tmp_path.rglob(FILE)
        now = relay.clock.now()
        to = "agent:carol@b.example"
        predecessors = [alice.packet(to), alice.packet(to)]
        successor = alice.packet(to, body=bytes(4096), flags=[envelope.REPLACE_QUEUE])
    file = sqlite.connect(path)
    limits = RelayLimits(per_recipient_bytes=32 * 1024)

    def put(position, packet):
        return store.put_outgoing(
            file, position, envelope.read(bytes(packet.envelope)), packet.sig, "b.example", now, limits
        )

    other = alice.packet(to, tag="B", body=bytes(2048))
    assert [put(position, packet) for position, packet in enumerate([*predecessors, other], 1)] == [None] * 3
    assert put(4, successor) is not None
    assert [packet.position for packet in store.outgoing(file, "b.example", 10)] == [1, 2, 3]
    limits = RelayLimits()
    assert put(4, successor) is None
    assert [packet.position for packet in store.outgoing(file, "b.example", 10)] == [3, 4]
    file.close()
