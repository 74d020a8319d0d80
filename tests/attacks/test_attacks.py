"""Attacks that must fail. docs/attacks.md lists each of these tests; `test_the_page_names_every_attack` keeps it so."""

import ast
import asyncio
import json
import pathlib
import re

import aiohttp
import msgspec
import pytest

from tacit.a2acp.packets.packet import read
from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.reception import Drop
from tacit.base.errors import PeerFault, Refused
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.relay.io import registry, websocket
from tacit.relay.settings import RelayLimits
from tacit.seal import identity
from tacit.wire import envelope, frames, records, version
from tacit.wire.encoding import b64, canonical, canonical_object, unb64
from tests.agent_support import INTENT, arrived, cleared, people_on
from tests.processes import RelayProcess
from tests.relay_support import Bare, Relay, free_port, relay_with, until
from tests.seal import edwards
from tools.places import ROOT, folders_of_tests

PAGE = ROOT / "docs" / "attacks.md"


def test_the_page_names_every_attack():
    here = ast.parse(pathlib.Path(__file__).read_text())
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", PAGE.read_text()))
    attacks = {
        node.name
        for node in here.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }
    assert attacks - {"test_the_page_names_every_attack"} <= named
    everywhere = "\n".join(
        path.read_text() for folder in folders_of_tests() for path in folder.rglob("test_*.py")
    )
    assert all(f"def {name}(" in everywhere for name in named)


# At the door.


@pytest.mark.spec("A2ACP-017", "A2ACP-016")
async def test_a_recorded_login_does_not_log_in_again(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        challenge = await alice.open()
        recorded = alice.signed(challenge.challenge)
        await alice.say(recorded)
        assert isinstance(await alice.hear(), frames.AuthOkFrame)
        thief = Bare(relay, "alice")
        await thief.open()
        await thief.say(recorded)
        assert isinstance(await thief.hear(), frames.ErrorFrame)
        assert await thief.hear() == 4003
        await alice.close()
        await thief.close()


@pytest.mark.spec("A2ACP-017")
async def test_a_login_signed_for_one_relay_is_worth_nothing_at_another(tmp_path):
    async with relay_with(tmp_path, "alice") as (_, alice):
        challenge = await alice.open()
        await alice.say(alice.signed(challenge.challenge, relay="evil.example"))
        assert isinstance(await alice.hear(), frames.ErrorFrame)
        assert await alice.hear() == 4003
        await alice.close()


@pytest.mark.spec("A2ACP-249")
async def test_nobody_sends_in_anothers_name(tmp_path):
    async with relay_with(tmp_path, "alice", "bob", "mallory") as (relay, alice, bob, mallory):
        async with mallory:
            forged = mallory.packet(bob.address, **{"from": alice.address})
            await mallory.say(forged)
            assert (await mallory.hear_a(frames.ErrorFrame)).code == "from_mismatch"
        assert relay.mailboxes.quota.total() == (0, 0)


@pytest.mark.spec("A2ACP-014", "A2ACP-249")
@pytest.mark.parametrize(
    "point",
    [
        "01" + "00" * 31,
        "ec" + "ff" * 30 + "7f",
        "00" * 32,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    ],
)
async def test_small_order_and_identity_point_keys_cannot_register(tmp_path, point):
    async with Relay(tmp_path) as relay:
        bob = Bare(relay, "bob")
        body = bob.enrolment(await relay.invite("bob"), signing=bytes.fromhex(point))
        # The signature that an all-accepting verifier would take for any message under such a key.
        universal = b64(bytes.fromhex("01" + "00" * 31) + bytes(32))
        body["record"]["sig"] = body["possession"] = universal
        assert (await relay.post("/v1/agents", body))[1]["code"] == "bad_record"
        assert relay.mailboxes.agent("bob") is None


@pytest.mark.spec("A2ACP-014", "A2ACP-249")
async def test_a_key_outside_the_prime_group_cannot_register_though_its_signatures_hold(tmp_path):
    async with Relay(tmp_path) as relay:
        bob = Bare(relay, "bob")
        public = edwards.encode(edwards.add(edwards.times(5, edwards.BASE), edwards.TORSION))

        def sign(message):
            """For one nonce in eight the part of small order drops out of the equation."""
            for nonce in range(1, 200):
                r = edwards.encode(edwards.times(nonce, edwards.BASE))
                if edwards.hashed(r, public, message) % 8 == 0:
                    return edwards.signed(r, public, message, 5, nonce)
            raise AssertionError

        code = await relay.invite("bob")
        body = bob.enrolment(code, signing=public)
        raw = bob.statement(signing=public)
        proof = records.enrolment_signed_bytes(
            relay=relay.domain, owner=bob.address, code=code, statement=raw
        )
        signed = records.statement_signed_bytes(raw)
        assert relay.mailboxes.signatures.verify(public, signed, sign(signed))
        body["record"]["sig"], body["possession"] = b64(sign(signed)), b64(sign(proof))
        assert (await relay.post("/v1/agents", body))[1]["code"] == "bad_record"
        assert relay.mailboxes.agent("bob") is None


@pytest.mark.spec("A2ACP-257")
async def test_whoever_floods_is_read_slowly(tmp_path, monkeypatch):
    monkeypatch.setattr(websocket, "_PENALTY_SECONDS", 0.01)
    limits = RelayLimits(packets_per_minute=1, burst=1)
    async with relay_with(tmp_path, "mallory", "bob", limits=limits) as (_, mallory, bob), mallory:
        await mallory.sent(bob.address)
        begun = asyncio.get_running_loop().time()
        for _ in range(60):
            await mallory.send(bob.address)
        for _ in range(60):
            assert (await mallory.hear_a(frames.ErrorFrame)).code == "rate_limited"
        # The last go of frames is answered before its own pause.
        assert asyncio.get_running_loop().time() - begun > 0.01 * 40


@pytest.mark.spec("A2ACP-006", "A2ACP-249")
async def test_one_senders_malformed_packet_costs_nobody_else_anything(tmp_path):
    async with (
        relay_with(tmp_path, "mallory", "alice", "bob") as (relay, mallory, alice, bob),
        mallory,
        alice,
    ):
        poison = b'{"frame":"packet","envelope":{"body":"\xff"},"sig":"x"}'
        for _ in range(20):
            await mallory.ws.send_frame(poison, aiohttp.WSMsgType.TEXT)
            await alice.send(bob.address)
        accepted = 0
        while accepted < 20:
            accepted += len((await alice.hear_a(frames.AcceptedFrame)).packet_ids)
        for _ in range(20):
            assert (await mallory.hear_a(frames.ErrorFrame)).code == "bad_envelope"
        assert len(stored(relay, "bob")) == 20


@pytest.mark.spec("A2ACP-010")
@pytest.mark.parametrize(
    "name", ["a1ice", "al.ice", "ALICE", "a\u217cice", "\u0430lice", "alice\u200b", "\uff41lice"]
)
async def test_look_alike_names_cannot_register(tmp_path, name):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        twin = Bare(relay, name)
        status, _ = await relay.post("/v1/agents", twin.enrolment(await relay.invite(name)))
        assert status >= 400
        assert relay.mailboxes.agent("alice").signing_key == alice.me.signing_public
        assert relay.mailboxes.store.reader.execute("SELECT count(*) FROM accounts").get == 1


@pytest.mark.spec("A2ACP-021", "A2ACP-017")
async def test_login_tells_nobody_whether_an_address_exists(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        checks = []
        verify = relay.mailboxes.signatures.verify
        relay.mailboxes.signatures.verify = lambda *given: checks.append(given) or verify(*given)
        answers = []
        for name in ("alice", "nobody"):
            stranger = Bare(relay, name)
            challenge = await stranger.open()
            await stranger.say(stranger.signed(challenge.challenge))
            answers.append((await stranger.hear(), await stranger.hear(), len(checks)))
            checks.clear()
            await stranger.close()
        assert answers[0] == answers[1]
        assert answers[0][2] == 1
        assert alice.address


@pytest.mark.spec("A2ACP-021", "A2ACP-019")
async def test_registration_and_recovery_answer_alike_for_taken_and_free_names(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, _):
        first = [
            await relay.post("/v1/accounts", {"username": name, "email": "m@mail.example"})
            for name in ("alice", "free")
        ]
        assert [(status, set(body)) for status, body in first] == [(202, {"registration"})] * 2
        second = [
            await relay.post("/v1/accounts/recovery", {"username": name, "email": "m@mail.example"})
            for name in ("alice", "free")
        ]
        assert second[0] == second[1]
        misses = [await relay.get(f"/v1/agents/{name}") for name in ("nobody", "No%20One", "admin")]
        assert len({status for status, _ in misses}) == len({body for _, body in misses}) == 1


@pytest.mark.spec("A2ACP-021", "A2ACP-258")
async def test_guessing_names_by_lookup_or_by_packet_is_slowed_down(tmp_path):
    async with relay_with(tmp_path, "alice", limits=RelayLimits()) as (relay, alice):
        statuses = [(await relay.get(f"/v1/agents/guess{n}"))[0] for n in range(40)]
        assert statuses.count(404) <= 31
        async with alice:
            codes = []
            for n in range(25):
                await alice.send(f"agent:guess{n}@{relay.domain}")
                codes.append((await alice.hear_a(frames.ErrorFrame)).code)
            assert codes.count("unknown_recipient") == 20
            assert codes[-1] == "rate_limited"


@pytest.mark.spec("A2ACP-044")
async def test_an_oversize_frame_ends_that_connection_and_no_other(tmp_path):
    async with relay_with(tmp_path, "alice", "bob") as (_, alice, bob), alice, bob:
        await alice.ws.send_str('{"frame":"packet","x":"' + "a" * 600_000 + '"}')
        assert isinstance(await alice.hear(), int)
        assert await bob.sent(bob.address)


async def test_a_client_that_never_finishes_its_request_or_its_frame_is_cut_off(tmp_path):
    async with relay_with(tmp_path, "alice") as (relay, alice):
        reader, writer = await asyncio.open_connection("127.0.0.1", relay.port)
        writer.write(b"GET /a2acp HTTP/1.1\r\nHost: x\r\n")
        await alice.open()
        transport = alice.ws._response.connection.transport
        transport.write(b"\x81\xfe\x10\x00\x00\x00\x00\x00{")
        relay.clock.ahead += 41 * 10**6
        await until(lambda: not relay.mailboxes.all)
        relay.clock.ahead += 41 * 10**6
        await asyncio.wait_for(reader.read(), 60)
        await until(lambda: not relay.server._runner.server.connections)
        writer.close()
        await alice.close()


@pytest.mark.spec("A2ACP-257")
async def test_a_flooding_sender_does_not_hold_up_the_others(tmp_path):
    async with relay_with(tmp_path, "mallory", "alice", "bob", limits=RelayLimits()) as (
        relay,
        mallory,
        alice,
        bob,
    ):
        async with mallory, alice:
            frame = frames.encode(mallory.packet(bob.address)).decode()
            flood = asyncio.create_task(_flood(mallory, frame))
            await until(lambda: relay.mailboxes.counts.errors["rate_limited"] > 5)
            begun = asyncio.get_running_loop().time()
            for _ in range(20):
                await alice.sent(bob.address, tag="B")
            assert asyncio.get_running_loop().time() - begun < 5
            flood.cancel()
            await asyncio.gather(flood, return_exceptions=True)
        assert relay.mailboxes.quota.total()[0] <= 141


async def _flood(mallory: Bare, frame: str) -> None:
    async def drain() -> None:
        while (await mallory.ws.receive()).type is aiohttp.WSMsgType.TEXT:
            pass

    draining = asyncio.create_task(drain())
    try:
        for _ in range(20_000):
            await mallory.ws.send_str(frame)
    finally:
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)


# A relay that lies.


def stored(relay, username):
    return relay.mailboxes.store.fetch(relay.mailboxes.agent(username).account, 0, 100)


@pytest.mark.spec("A2ACP-247", "A2ACP-251")
async def test_a_relay_that_swaps_a_public_key_is_noticed_and_blocked(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "first")
        await bob.has("first")
        mallory = identity.generate(SystemEntropy())
        record = alice.post.directory.own_record(bob.address, mallory, 2**52)
        await relay.mailboxes.store.write(
            lambda file: (
                file.execute(
                    "UPDATE agents SET record=?, signing_key=? WHERE account=2",
                    (canonical(record), mallory.signing_public),
                )
                and None
            )
        )
        relay.mailboxes.reload()
        pin = await alice.post.directory.refresh(bob.address)
        assert not pin.usable
        with pytest.raises(Refused) as refused:
            alice.say(bob, "secret")
        assert refused.value.code == "key_changed"
        assert alice.post.safety_number(bob.address) == bob.post.safety_number(alice.address)
        assert alice.post.safety_number(bob.address, offered=True) != bob.post.safety_number(alice.address)


@pytest.mark.spec("A2ACP-250", "A2ACP-251", "A2ACP-244")
@pytest.mark.parametrize(
    "field",
    ["timestamp", "queue_tag", "packet_id", "flags", "protocol", "body start", "body end", "extra", "sig"],
)
async def test_a_relay_that_alters_any_byte_delivers_nothing(tmp_path, field):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        alice.say(bob, "hello")
        await alice.online()
        await alice.sent()
        (one,) = stored(relay, "bob")
        await bob.post.directory.refresh(alice.address)
        altered, sig = canonical_object(one.envelope), one.sig
        body = bytearray(unb64(altered["body"]))
        if field == "sig":
            sig = b64(bytes(64))
        elif field.startswith("body"):
            body[70 if field == "body start" else -1] ^= 1
            altered["body"] = b64(bytes(body))
        else:
            altered[field] = {
                "timestamp": "2026-11-15T00:00:00Z",
                "queue_tag": "q_" + "A" * 22,
                "packet_id": "pkt_other1",
                "flags": ["replace_queue"],
                "protocol": "a2acp/0.1",
                "extra": 1,
            }[field]
        assert bob.post.inbox.take(canonical(altered), sig) is Drop.BAD_SIGNATURE
        assert bob.post.store.sessions(alice.address) == ()
        assert bob.post.inbox.take(one.envelope, one.sig) is None


@pytest.mark.spec("A2ACP-251")
async def test_a_relay_that_holds_the_senders_signing_key_still_cannot_alter_the_header(tmp_path):
    """Even a valid outer signature over an altered header does not open: the header is bound inside."""
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        alice.say(bob, "hello")
        await alice.online()
        await alice.sent()
        (one,) = stored(relay, "bob")
        await bob.post.directory.refresh(alice.address)
        altered = canonical({**canonical_object(one.envelope), "timestamp": "2026-11-14T00:00:00Z"})
        sig = b64(alice.post.store.me().identity.sign(envelope.signed_bytes(altered)))
        assert bob.post.inbox.take(altered, sig) in {Drop.SEALED, Drop.STALE}
        assert bob.texts() == []


@pytest.mark.spec("A2ACP-251", "A2ACP-029")
async def test_a_replayed_reordered_or_withheld_packet_changes_nothing(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        for text in ("one", "two", "three"):
            alice.say(bob, text)
        await alice.online()
        await alice.sent()
        one, two, three = stored(relay, "bob")
        await bob.post.directory.refresh(alice.address)
        for packet in (three, one, three, one):
            bob.post.inbox.take(packet.envelope, packet.sig)
        assert bob.texts() == ["one"]
        for packet in (two, two, three):
            bob.post.inbox.take(packet.envelope, packet.sig)
        assert bob.texts() == ["one", "two", "three"]


@pytest.mark.spec("A2ACP-251")
async def test_a_packet_redirected_to_another_recipient_does_not_open(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        await bob.post.publish()
        alice.say(bob, "for bob only")
        await alice.online()
        await alice.sent()
        (one,) = stored(relay, "bob")
        await carol.post.directory.refresh(alice.address)
        assert carol.post.inbox.take(one.envelope, one.sig) is Drop.NOT_OURS
        moved = canonical({**canonical_object(one.envelope), "to": carol.address})
        assert carol.post.inbox.take(moved, one.sig) is Drop.BAD_SIGNATURE
        resigned = b64(alice.post.store.me().identity.sign(envelope.signed_bytes(moved)))
        assert carol.post.inbox.take(moved, resigned) is Drop.SEALED


@pytest.mark.spec("A2ACP-251", "A2ACP-236", "A2ACP-253")
async def test_a_relay_cannot_lower_versions_or_encryption(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        honest = msgspec.json.decode(relay.mailboxes.agent("bob").record)
        lowered = {
            **honest,
            "statement": {**honest["statement"], "supported_encryption": [version.STATELESS]},
        }

        async def hand_out(record):
            await relay.mailboxes.store.write(
                lambda file: (
                    file.execute("UPDATE agents SET record=? WHERE account=2", (canonical(record),)) and None
                )
            )
            relay.mailboxes.reload()

        await hand_out(lowered)
        with pytest.raises(PeerFault):
            await alice.post.directory.refresh(bob.address)
        await hand_out(honest)
        await alice.post.directory.refresh(bob.address)
        # An old statement that bob really signed, from before he had the ratchet.
        me = bob.post.store.me()
        raw = records.statement_bytes(
            records.Statement(
                bob.address,
                b64(me.identity.signing_public),
                b64(me.identity.agreement_public),
                me.serial - 1,
                ["0.1"],
                [version.STATELESS],
            )
        )
        await hand_out(
            {"statement": json.loads(raw), "sig": b64(me.identity.sign(records.statement_signed_bytes(raw)))}
        )
        await alice.post.directory.refresh(bob.address)
        contact = alice.post.store.contact(bob.address)
        assert version.common_encryption(contact.encryption) == version.RATCHET
        assert "0.2" in contact.versions


@pytest.mark.spec("A2ACP-253", "A2ACP-245")
async def test_a_relay_that_withholds_or_forges_prekeys_gets_no_weaker_packet(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        await relay.mailboxes.store.write(
            lambda file: (
                file.execute(
                    "UPDATE prekeys SET body=?",
                    (canonical({"id": 1, "key": b64(bytes(range(32))), "sig": b64(bytes(64))}),),
                )
                and None
            )
        )
        with pytest.raises(PeerFault):
            await alice.post.directory.prekeys(bob.address)
        await relay.mailboxes.store.write(lambda file: registry.drop_prekeys(file, 2))
        sent = alice.say(bob, "waits")
        await alice.online()
        await until(alice.connection._bundles.resting)
        assert alice.post.outbox.pending(sent) == "waiting"
        assert relay.mailboxes.quota.total() == (0, 0)


# Blindness.

MARKER = "mArKeR-7f3a9c"


def _everything_marked() -> dict:
    return {
        "intent": {**INTENT, "category": MARKER, "summary": MARKER},
        "context": {MARKER: MARKER, "nested": {"list": [MARKER]}},
        "needs": [{"field": MARKER, "reason": MARKER, "priority": "helpful"}],
        "permissions": {"shared_fields": [MARKER], "withheld_fields": [MARKER], "consent_level": MARKER},
        "note": MARKER,
    }


def _memory_of(pid: int) -> bytes:
    found = bytearray()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if "r" not in rights or "[v" in line:
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            try:
                memory.seek(start)
                found += memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
    return bytes(found)


@pytest.mark.spec("A2ACP-003", "A2ACP-244", "A2ACP-005")
async def test_a_marker_in_every_body_field_is_nowhere_in_the_relay(tmp_path):
    relay = RelayProcess(tmp_path / "relay", free_port())
    relay.start()
    thread = "thr_" + MARKER
    onward = bytearray()
    posts = {}
    running = []
    try:
        for name in ("alice", "bob"):
            post = posts[name] = Post(tmp_path / name, clock=TimeService(), entropy=SystemEntropy())
            await post.__aenter__()
            code = await asyncio.to_thread(relay.invite, name)
            await post.directory.register(f"agent:{name}@{relay.domain}", relay.url, code)
            assert await post.publish()
        alice, bob = posts["alice"], posts["bob"]
        bob.inbox.welcome(f"agent:alice@{relay.domain}")
        connection = alice.connection()
        running.append(asyncio.create_task(connection.run()))
        for _ in range(5):
            alice.outbox.post(
                cleared(f"agent:bob@{relay.domain}", "context", _everything_marked(), thread_id=thread)
            )
        await until(lambda: not alice.outbox.waiting())
        stored_now = b"".join(path.read_bytes() for path in relay.folder.iterdir())
        memory = _memory_of(relay.pid)
        assert f"agent:bob@{relay.domain}".encode() in memory
        port, server = await _tap(relay.port, onward)
        with bob.store.transaction():
            bob.store.run("UPDATE identity SET relay_url=?", f"http://127.0.0.1:{port}")
        running.append(asyncio.create_task(bob.connection().run()))
        await until(lambda: len(arrived(bob)) == 5)
        assert MARKER in read(arrived(bob)[0].payload).fields["context"]
        memory += _memory_of(relay.pid)
        stored_now += b"".join(path.read_bytes() for path in relay.folder.iterdir())
        server.close()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for post in posts.values():
            await post.__aexit__()
            post.store.close()
        relay.stop()
    assert b'"frame":"packet"' in onward
    for place in (stored_now, memory, bytes(onward)):
        assert len(place) > 1000
        assert MARKER.encode() not in place
        assert MARKER.encode().hex().encode() not in place
        assert b"127.0.0.1 " not in (relay.folder / "log").read_bytes()


async def _tap(port: int, seen: bytearray):
    async def carry(reader, writer):
        onward, back = await asyncio.open_connection("127.0.0.1", port)

        async def pump(source, sink):
            try:
                while data := await source.read(65_536):
                    seen.extend(data)
                    sink.write(data)
            finally:
                sink.close()

        await asyncio.gather(pump(reader, back), pump(onward, writer), return_exceptions=True)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    return server.sockets[0].getsockname()[1], server


@pytest.mark.spec("A2ACP-244")
async def test_two_threads_and_two_recipients_cannot_be_linked_by_their_tags(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        for person in (bob, carol):
            await person.post.publish()
        await alice.online()
        for person in (bob, carol):
            for thread in ("thr_same", "thr_same", "thr_other"):
                alice.say(person, thread=thread)
        await alice.sent()
        tags = [one.tag for name in ("bob", "carol") for one in stored(relay, name)]
        assert len(set(tags)) == 4
        assert tags[0] == tags[1]
        assert not any("same" in tag for tag in tags)
