"""What one agent, or nobody in particular, may say to a relay without anyone else paying for it."""

import asyncio
import contextlib
import json
import threading

import msgspec
import pytest

from tacit.base.errors import Bug
from tacit.base.moment import SECOND
from tacit.relay.io import registry, store
from tacit.relay.settings import RelayLimits
from tacit.wire import frames, records
from tacit.wire.encoding import b64, canonical
from tests.relay_support import Bare, relay_with, until

WIDE = {
    "packets_per_minute": 100_000,
    "burst": 100_000,
    "new_recipients_per_hour": 1000,
    "lookups_per_minute": 1000,
}


@contextlib.asynccontextmanager
async def held_writer(relay):
    """Nothing is written until the end of the block."""
    begun, release = threading.Event(), threading.Event()

    def hold(_file):
        begun.set()
        release.wait(20)

    await relay.mailboxes.settle()
    held = relay.mailboxes.store.write(hold)
    try:
        await asyncio.to_thread(begun.wait, 20)
        yield
    finally:
        release.set()
        await held


def prekey(person, number: int) -> dict:
    key = b64(number.to_bytes(32, "big"))
    signed = records.prekey_signed_bytes(person.address, "one_time", number, key)
    return {"id": number, "key": key, "sig": b64(person.me.sign(signed))}


@pytest.mark.spec("A2ACP-002", "A2ACP-006")
@pytest.mark.parametrize("number", [-(2**63), -(2**70), 2**63, 2**70, -1, 0])
async def test_a_received_number_that_was_never_given_out_changes_nothing(tmp_path, number):
    async with relay_with(tmp_path, "mal", "bob") as (relay, mal, bob), mal, bob:
        await mal.ws.send_str(json.dumps({"frame": "received", "deliveries": [number]}))
        assert await bob.sent(mal.address)
        assert await mal.take()
        await relay.mailboxes.settle()
        assert not relay.mailboxes.store.died


async def test_a_write_that_meets_any_mistake_costs_its_caller_alone(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, bob), bob:

        def mistaken(file):
            file.execute("DELETE FROM agents")
            file.execute("SELECT ?", (2**63,))

        with pytest.raises(Bug):
            await relay.mailboxes.store.write(mistaken)
        assert await bob.sent(bob.address)
        assert relay.mailboxes.store.reader.execute("SELECT count(*) FROM agents").get == 1


@pytest.mark.spec("A2ACP-002")
async def test_a_marker_is_forgotten_by_the_one_whom_it_was_told_and_by_nobody_else(tmp_path):
    async with relay_with(tmp_path, "mal", "bob") as (relay, mal, bob), mal:
        account = relay.mailboxes.agent("bob").account
        await relay.mailboxes.store.write(lambda file: store.mark(file, account, "q_" + "A" * 22, 200))
        async with bob:
            marker = await bob.hear_a(frames.QueueOverflowFrame)
            await mal.say(frames.ReceivedFrame([marker.delivery]))
            await mal.sent(mal.address)
            count = "SELECT count(*) FROM markers"
            assert relay.mailboxes.store.reader.execute(count).get == 1
            await bob.say(frames.ReceivedFrame([marker.delivery]))
            await bob.sent(bob.address)
            await relay.mailboxes.settle()
            assert relay.mailboxes.store.reader.execute(count).get == 0


@pytest.mark.spec("A2ACP-002", "A2ACP-006")
async def test_more_numbers_than_a_window_holds_are_refused_unread(tmp_path):
    async with relay_with(tmp_path, "mal", "bob") as (relay, mal, bob), mal, bob:
        await bob.sent(mal.address)
        packet = await mal.hear_a(frames.PacketFrame)
        await mal.say(frames.ReceivedFrame([packet.delivery] * 10_000))
        assert (await mal.hear_a(frames.ErrorFrame)).code == "bad_envelope"
        assert relay.mailboxes.quota.total()[0] == 1
        await mal.say(frames.ReceivedFrame([packet.delivery]))
        await until(lambda: relay.mailboxes.quota.total()[0] == 0)


@pytest.mark.spec("A2ACP-002")
async def test_however_many_answers_come_one_write_at_a_time_forgets_their_packets(tmp_path):
    async with relay_with(tmp_path, "alice", "bob") as (relay, alice, bob), alice, bob:
        for _ in range(20):
            await alice.sent(bob.address)
        packets = [await bob.hear_a(frames.PacketFrame) for _ in range(20)]
        async with held_writer(relay):
            for packet in packets:
                await bob.say(frames.ReceivedFrame([packet.delivery]))
            await until(lambda: relay.mailboxes.counts.received == 20)
            assert len(relay.mailboxes._tasks) == 1
        await relay.mailboxes.settle()
        assert relay.mailboxes.store.fetch(relay.mailboxes.agent("bob").account, 0, 100) == []


@pytest.mark.spec("A2ACP-257")
async def test_prekeys_have_a_rate_and_the_excess_is_not_stored(tmp_path):
    limits = RelayLimits(**WIDE, prekeys_per_minute=10)
    async with relay_with(tmp_path, "mal", limits=limits) as (relay, mal), mal:
        await mal.say(frames.PrekeysFrame(one_time=[prekey(mal, number) for number in range(12)]))
        assert (await mal.hear()).one_time == 12
        more = frames.PrekeysFrame(one_time=[prekey(mal, number) for number in range(12, 24)])
        await mal.say(more)
        error = await mal.hear()
        assert (error.code, error.packet_id) == ("rate_limited", None)
        relay.clock.ahead += error.retry_after * SECOND
        await mal.say(more)
        assert (await mal.hear()).one_time == 24


@pytest.mark.spec("A2ACP-257")
async def test_the_next_frame_is_read_when_the_prekeys_before_it_are_stored(tmp_path):
    async with relay_with(tmp_path, "mal") as (relay, mal), mal:
        async with held_writer(relay):
            for number in range(5):
                await mal.say(frames.PrekeysFrame(one_time=[prekey(mal, number)]))
            await until(lambda: relay.mailboxes._tasks)
            # An answer by another way shows that the loop has gone round meanwhile.
            assert await relay.get("/healthz") == (200, b'{"status":"ok"}')
            assert len(relay.mailboxes._tasks) == 1
        assert [(await mal.hear()).one_time for _ in range(5)] == [1, 2, 3, 4, 5]


MEMBERS = {f"{number:05d}": [] for number in range(22_000)}


@pytest.mark.spec("A2ACP-257")
async def test_what_cannot_be_read_counts_against_the_rate_as_well(tmp_path):
    async with (
        relay_with(tmp_path, "mal", "bob", limits=RelayLimits(packets_per_minute=1, burst=5)) as (
            _,
            mal,
            bob,
        ),
        mal,
    ):
        raw = msgspec.Raw(canonical(MEMBERS))
        codes = []
        while "rate_limited" not in codes:
            await mal.say(frames.PacketFrame(raw, "a"))
            codes.append((await mal.hear()).code)
        assert codes[:5] == ["bad_envelope"] * 5
        # The rate is asked before anything is read; the refused packet is still named.
        named = await mal.send(bob.address)
        refused = await mal.hear()
        assert (refused.code, refused.packet_id) == ("rate_limited", named)


@pytest.mark.spec("A2ACP-006", "A2ACP-257")
async def test_whoever_is_refused_is_read_more_slowly(tmp_path):
    async with relay_with(tmp_path, "mal") as (relay, mal), mal:
        (connection,) = relay.mailboxes.all
        texts = ("no frame", '{"frame":"received","deliveries":[1]}', '{"frame":"from a newer edition"}')
        # As many as were handed out, here none: nothing is held against that.
        for text in (*texts, '{"frame":"received","deliveries":[]}'):
            relay.mailboxes.hear(connection, text, relay.clock.now())
        relay.mailboxes.hear(
            connection, frames.encode(frames.PacketFrame(msgspec.Raw(b"{}"), "a")), relay.clock.now()
        )
        relay.mailboxes._batch._flush()
        assert connection.penalty == 4


@pytest.mark.spec("A2ACP-001")
async def test_a_pong_proves_each_notice_once_from_the_first_one_on(tmp_path):
    async with relay_with(tmp_path, "mal") as (relay, mal), mal:
        (connection,) = relay.mailboxes.all
        connection._asked = 3
        said = (b"x", b"0", b"1", b"1", b"3", b"2", b"4", b"9" * 20)
        assert [connection.pong(data) for data in said] == [0, 0, 1, 0, 3, 0, 0, 0]


@pytest.mark.spec("A2ACP-016")
async def test_before_login_no_envelope_is_looked_at_and_nothing_long_is_read(tmp_path):
    async with relay_with(tmp_path, "mal", "bob") as (_, mal, bob):
        await mal.open()
        await mal.send(bob.address)
        refused = await mal.hear()
        assert (refused.code, refused.packet_id) == ("not_authenticated", None)
        await mal.say(frames.PacketFrame(msgspec.Raw(canonical(MEMBERS)), "a"))
        assert (await mal.hear()).code == "not_authenticated"
        assert await mal.hear() == 4003
        await mal.close()


@pytest.mark.spec("A2ACP-006", "A2ACP-244")
async def test_an_envelope_that_nests_without_end_is_refused_by_name(tmp_path):
    async with relay_with(tmp_path, "mal", "bob") as (_, mal, bob), mal:
        for depth in (600, 100_000):
            raw = b'{"a":' + b"[" * depth + b"]" * depth + b"}"
            await mal.ws.send_str('{"frame":"packet","envelope":' + raw.decode() + ',"sig":"a"}')
            assert (await mal.hear()).code == "bad_envelope"
        assert await mal.sent(bob.address)


@pytest.mark.spec("A2ACP-009", "A2ACP-017")
@pytest.mark.parametrize("spelling", ["{0}@{1}", "agent:{0}@{1} ", "AGENT:{0}@{1}", "agent:agent:{0}@{1}"])
async def test_an_address_has_one_spelling_at_the_login_too(tmp_path, spelling):
    async with relay_with(tmp_path, "mal") as (relay, mal):
        challenge = await mal.open()
        spelt = spelling.format("mal", relay.domain)
        await mal.say(mal.signed(challenge.challenge, address=spelt))
        assert (await mal.hear()).code == "not_authenticated"
        assert await mal.hear() == 4003
        await mal.close()


@pytest.mark.spec("A2ACP-017")
async def test_a_failed_login_with_what_is_no_address_leaves_nothing_behind(tmp_path):
    async with relay_with(tmp_path, "mal") as (relay, mal):
        for claimed in ("x" * 5_000, "mal@" + relay.domain, "agent:mal@elsewhere.example"):
            challenge = await mal.open()
            await mal.say(mal.signed(challenge.challenge, address=claimed))
            assert (await mal.hear()).code == "not_authenticated"
            await mal.close()
        assert not relay.mailboxes.failures._failures


@pytest.mark.spec("A2ACP-261")
async def test_only_who_was_handed_a_packet_reports_its_sender(tmp_path):
    async with relay_with(tmp_path, "mal", "ann", "bob") as (relay, mal, ann, bob), mal, ann, bob:
        await ann.sent(bob.address)
        await bob.take()
        scores = relay.mailboxes.reputation
        for accused in (ann.address, "y" * 100_000):
            await mal.say(frames.ReportFrame(accused))
        await mal.sent(mal.address)
        assert (scores.score(ann.address), scores.dump()) == (50, {})
        await bob.say(frames.ReportFrame(ann.address))
        await until(lambda: scores.score(ann.address) == 45)


@pytest.mark.spec("A2ACP-015", "A2ACP-249")
async def test_a_replaced_key_loses_its_connection_also_after_an_operators_command(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, old):
        await old.connect()
        relay.mailboxes.reload()
        new, code = Bare(relay, "alice"), "a-code-for-a-renewal"
        await relay.mailboxes.store.write(
            lambda file: registry.add_code(file, code=code, purpose="enrol", username="alice", expires=2**60)
        )
        assert (await relay.post("/v1/agents", new.enrolment(code, serial=2)))[0] == 201
        assert await old.hear() == 4003
        await old.close()
        async with new:
            assert new.welcome.address == new.address


async def test_a_connection_that_never_finishes_asking_is_cut_and_one_that_just_came_is_not(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, _bob):
        server = relay.server
        await relay.http.close()
        await until(lambda: not server._runner.server.connections)
        reader, silent = await asyncio.open_connection("127.0.0.1", server.port)
        silent.write(b"GET /healthz HTTP/1.1\r\n")
        await until(lambda: len(server._runner.server.connections) == 1)
        runner = server._runner
        came = runner._seconds()
        fresh_reader, fresh = await asyncio.open_connection("127.0.0.1", server.port)
        await until(lambda: len(server._runner.server.connections) == 2)
        # The silent one came before this moment and the other after it.
        allowed = runner.connections.limits.guest_seconds
        runner.cut_overdue(came + allowed)
        with contextlib.suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), 60) == b""
        fresh.write(b"GET /healthz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        assert (await asyncio.wait_for(fresh_reader.read(), 60)).startswith(b"HTTP/1.1 200")
        for writer in (silent, fresh):
            writer.close()
