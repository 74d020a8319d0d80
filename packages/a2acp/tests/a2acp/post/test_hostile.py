"""What strangers and relays may send, and what it must not do to the others' mail."""

import asyncio
import contextlib
import json
from dataclasses import replace

import msgspec
import pytest
from aiohttp import web

from tacit.a2acp.post.io import directory, inbox, relay_connection, unverified
from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.reception import Drop
from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import rfc3339
from tacit.relay.settings import RelayLimits
from tacit.seal import identity, session
from tacit.wire import buckets, envelope, frames, records, version
from tacit.wire.encoding import b64, canonical
from tests.agent_support import body, cleared, people_on, sealed_by
from tests.relay_support import Bare, Relay, until

SMALL_ORDER = [bytes(32), b"\x01" + bytes(31)]


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


async def left_for(alice, relay, **inner):
    """A stranger's well-sealed packet lies in alice's mailbox; returns the stranger."""
    mallory = await relay.person("mallory")
    async with mallory:
        await mallory.say(sealed_by(mallory, alice, **inner))
        await mallory.hear_a(frames.AcceptedFrame)
    return mallory


@pytest.mark.spec("A2ACP-226", "A2ACP-002")
@pytest.mark.parametrize("inner", [{"type": "processing_error", "code": {}}, {"seq": 2**63}, {"seq": 2**53}])
async def test_a_strangers_well_sealed_oddity_costs_the_others_nothing(tmp_path, inner):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await alice.post.publish()
        mallory = await left_for(alice, relay, **inner)
        bob.say(alice, "good")
        await bob.online()
        await bob.sent()
        await alice.online()
        await alice.has("good")
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        assert alice.post.store.contact(mallory.address).reputation.score == 45


@pytest.mark.spec("A2ACP-226", "A2ACP-228")
async def test_a_packet_we_cannot_judge_is_counted_and_let_go(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await alice.post.publish()
        mallory = await left_for(alice, relay)
        learn = inbox.PacketInbox._learn

        def stumble(self, packet, sender, now):
            if sender == mallory.address:
                raise KeyError("what nobody thought of")
            return learn(self, packet, sender, now)

        monkeypatch.setattr(inbox.PacketInbox, "_learn", stumble)
        bob.say(alice, "good")
        await bob.online()
        await bob.sent()
        await alice.online()
        await alice.has("good")
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        assert alice.post.store.contact(mallory.address).reputation.score == 45


@pytest.mark.spec("A2ACP-215")
@pytest.mark.parametrize(
    "fault", [Unavailable("the agent cannot write"), OSError(28, "disk full"), MemoryError()]
)
async def test_a_packet_is_not_let_go_for_a_fault_of_our_own_disk(tmp_path, monkeypatch, fault):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await alice.post.publish()
        await alice.post.directory.refresh(bob.address)
        bob.say(alice, "good")
        await bob.online()
        await bob.sent()
        (stored,) = relay.mailboxes.store.fetch(relay.mailboxes.agent("alice").account, 0, 9)

        def fail(*_):
            raise fault

        with monkeypatch.context() as broken:
            broken.setattr(inbox.PacketInbox, "_write_down", fail)
            with pytest.raises(type(fault)):
                alice.post.inbox.take(stored.envelope, stored.sig)
        assert alice.post.inbox.take(stored.envelope, stored.sig) is None
        assert alice.post.inbox.take(stored.envelope, stored.sig) is Drop.REPEAT


@pytest.mark.spec("A2ACP-250")
@pytest.mark.parametrize("serial", [2**63, 2**53, -1])
async def test_a_key_record_whose_serial_nobody_can_hold_is_not_pinned(tmp_path, serial):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        mallory = await relay.person("mallory")
        record = mallory.enrolment("", serial)["record"]

        async def answer(*_):
            return 200, canonical(record), {}

        alice.post.directory._ask = answer
        with pytest.raises((PeerFault, Refused)):
            await alice.post.directory.refresh(mallory.address)
        assert alice.post.store.contact(mallory.address) is None


@pytest.mark.parametrize(
    ("fault", "told"),
    [(KeyError("x"), "KeyError"), (Unavailable("the agent cannot write"), "the agent cannot write")],
)
async def test_listening_says_why_the_line_ended(tmp_path, monkeypatch, fault, told):
    from tacit.agent.shell.commands import post as agent_post

    async def end(_):
        raise ExceptionGroup("tasks", [fault])

    monkeypatch.setattr(relay_connection.RelayConnection, "run", end)
    post = Post(tmp_path, clock=TimeService(), entropy=SystemEntropy())
    with pytest.raises(Unavailable, match=told):
        await asyncio.wait_for(agent_post._listen(post, once=False, count=None, as_json=True), 60)
    post.store.close()


@pytest.mark.spec("A2ACP-226", "A2ACP-243")
async def test_a_sender_whose_key_agrees_on_nothing_is_dropped_and_not_pinned(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        await alice.post.publish()
        mallory = await left_for(alice, relay)
        (stored,) = relay.mailboxes.store.fetch(relay.mailboxes.agent("alice").account, 0, 9)
        keys = identity.PublicIdentity(mallory.me.signing_public, SMALL_ORDER[0])
        alice.post.store.know(mallory.address)
        alice.post.store.set_pin(mallory.address, identity.Pin(keys, 1))
        assert alice.post.inbox.take(stored.envelope, stored.sig) is Drop.HEADER
        for key in SMALL_ORDER:
            raw = records.statement_bytes(
                records.Statement(
                    mallory.address, b64(mallory.me.signing_public), b64(key), 2, list(version.SUPPORTED)
                )
            )
            signed = b64(mallory.me.sign(records.statement_signed_bytes(raw)))
            with pytest.raises(PeerFault, match="small order"):
                alice.post.directory._observe(mallory.address, records.KeyRecord(msgspec.Raw(raw), signed))


@pytest.mark.spec("A2ACP-209", "A2ACP-243")
async def test_a_packet_for_a_key_that_agrees_on_nothing_fails_and_the_others_go_on(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        mallory = await relay.person("mallory")
        keys = identity.PublicIdentity(mallory.me.signing_public, SMALL_ORDER[0])
        alice.post.store.know(mallory.address)
        alice.post.store.set_pin(mallory.address, identity.Pin(keys, 1))
        alice.post.store.set_offers(mallory.address, encryption=[version.STATELESS], versions=["0.2"])
        sent = alice.say(mallory, "to nobody", thread="thr_strange")
        alice.say(bob, "to bob")
        await alice.online()
        await bob.has("to bob")
        assert alice.post.outbox.pending(sent) == "failed: cannot_be_sealed"
        assert sent in alice.notes()
        # A marker from the relay that makes us compute every thread's tag leaves that contact aside as well.
        comparisons = alice.connection._comparisons
        comparisons._match({"q_" + "A" * 22}, alice.post.inbox.open_threads())


@pytest.mark.spec("A2ACP-209", "A2ACP-044")
async def test_what_no_body_can_hold_is_refused_when_written_and_holds_up_nothing(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()

        def say(size):
            content = {**body("long"), "attachment": "x" * size}
            return alice.post.outbox.post(cleared(bob.address, "context", content, thread_id="thr_dinner"))

        with pytest.raises(Refused) as refused:
            say(170_000)
        assert refused.value.code == "too_large"
        assert not alice.post.outbox.waiting()
        assert not alice.post.store.rows("SELECT 1 FROM history")
        # An outbox of an earlier release may hold one still.
        monkeypatch.setattr(session, "MOST_OVERHEAD", -10_000)
        sent = say(170_000)
        monkeypatch.undo()
        await alice.online()
        alice.say(bob, "after", thread="thr_other")
        await bob.has("after")
        assert alice.post.outbox.pending(sent) == "failed: too_large"
        assert sent in alice.notes()


@pytest.mark.spec("A2ACP-209")
async def test_the_largest_packet_that_is_taken_can_be_sealed(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        content = {**body("long"), "attachment": ""}
        identifier = alice.post.outbox.post(cleared(bob.address, "context", content, thread_id="thr_first"))
        (raw,) = alice.post.store.row("SELECT payload FROM history WHERE packet_id=?", identifier)
        content["attachment"] = "x" * (buckets.LARGEST - session.MOST_OVERHEAD - len(raw) - 8)
        alice.post.outbox.post(cleared(bob.address, "context", content, thread_id="thr_large"))
        content["attachment"] += "x" * 17
        with pytest.raises(Refused):
            alice.post.outbox.post(cleared(bob.address, "context", content, thread_id="thr_third"))
        await alice.online()
        await alice.sent()
        await bob.has("long", "long")


@pytest.mark.spec("A2ACP-209", "A2ACP-245")
async def test_a_prekey_whose_id_nobody_can_hold_stops_no_other_packet(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        mallory = await relay.person("mallory")
        ask = alice.post.directory._ask

        def prekey(kind, identifier):
            key = b64(mallory.me.agreement_public)
            signed = records.prekey_signed_bytes(mallory.address, kind, identifier, key)
            return {"id": identifier, "key": key, "sig": b64(mallory.me.sign(signed))}

        async def answer(method, url, content=None):
            if "mallory" not in url:
                return await ask(method, url, content)
            bundle = {"signed": prekey("signed", 2**70), "last_resort": prekey("last_resort", 1)}
            return 200, canonical({"record": mallory.enrolment("")["record"], **bundle}), {}

        alice.post.directory._ask = answer
        alice.say(mallory, "first", thread="thr_strange")
        alice.say(bob, "good")
        await alice.online()
        await bob.has("good")


async def from_abroad(relay, alice, *senders):
    """Packets that another relay has handed in for alice, one from each sender."""
    for sender in senders:
        frame = sender.packet(alice.address, timestamp=rfc3339(relay.clock.now()))
        found = envelope.read(bytes(frame.envelope))
        await relay.mailboxes.take_from_relay(found, frame.sig, relay.clock.now())


def stranger_at(relay, domain, name="mallory"):
    mallory = Bare(relay, name)
    mallory.address = f"agent:{name}@{domain}"
    return mallory


@pytest.mark.spec("A2ACP-207", "A2ACP-219")
async def test_a_senders_relay_that_never_answers_holds_up_that_sender_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(relay_connection.timing, "PING_SECONDS", 0.02)
    monkeypatch.setattr(relay_connection.timing, "PONG_SECONDS", 5)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        asked, over = [], asyncio.Event()

        async def tarpit(_, writer):
            asked.append(1)
            await over.wait()
            writer.close()

        server = await asyncio.start_server(tarpit, "127.0.0.1", 0)
        mallory = stranger_at(relay, f"localhost:{server.sockets[0].getsockname()[1]}")
        alice.post.inbox.welcome(mallory.address)
        await alice.post.publish()
        await from_abroad(relay, alice, mallory)
        await bob.online()
        await alice.online()
        await until(lambda: asked)
        pings, ping = [], alice.connection._pong.set
        alice.connection._pong.set = lambda: (pings.append(1), ping())
        bob.say(alice, "good")
        await alice.has("good")
        await until(lambda: len(pings) > 2)
        await from_abroad(relay, alice, mallory)
        await until(lambda: alice.post.store.row("SELECT count(*) FROM unjudged") == (2,))
        await alice.offline()
        # The question was cut off with the line; the sender rests all the same.
        assert alice.connection._lookups.rests(mallory.address)
        assert len(asked) == 1
        over.set()
        server.close()


@pytest.mark.spec("A2ACP-002", "A2ACP-215", "A2ACP-219")
async def test_packets_without_a_key_are_kept_aside_and_judged_in_order_once_it_is_known(
    tmp_path, monkeypatch
):
    limits = RelayLimits(window_packets=4, lookups_per_minute=1000)
    async with (
        Relay(tmp_path / "relay", limits=limits) as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        await alice.post.publish()
        ask, silent = alice.post.directory._ask, True

        async def answer(method, url, content=None):
            if silent and "carol" in url:
                raise Unavailable("the relay does not answer")
            return await ask(method, url, content)

        alice.post.directory._ask = answer
        for person in (carol, bob):
            await person.online()
        for number in range(6):
            carol.say(alice, f"{number}", thread=f"thr_carol{number}")
        await carol.sent()
        bob.say(alice, "good")
        await bob.sent()
        await alice.online()
        await alice.has("good")
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        assert alice.post.store.row("SELECT count(*) FROM unjudged") == (6,)
        # Neither a restart of the agent nor the relay's loss of them matters now.
        await alice.offline()
        silent = False
        await alice.online()
        await alice.has("good", *[f"{number}" for number in range(6)])
        assert not alice.post.inbox.unverified.holds(carol.address)


@pytest.mark.spec("A2ACP-215", "A2ACP-219")
async def test_a_contacts_packet_for_which_there_is_no_place_stays_with_the_relay(tmp_path, monkeypatch):
    monkeypatch.setattr(unverified, "MOST_OF_ONE", 0)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await alice.post.publish()
        mallory = await left_for(alice, relay)
        alice.post.inbox.welcome(mallory.address)
        # Bob's key is known, so that his packet needs no place.
        await alice.post.directory.refresh(bob.address)
        bob.say(alice, "good")
        await bob.online()
        await bob.sent()
        await alice.online()
        await alice.has("good")
        account, store = relay.mailboxes.agent("alice").account, relay.mailboxes.store
        await until(lambda: [one.sender for one in store.fetch(account, 0, 9)] == [mallory.address])


@pytest.mark.spec("A2ACP-002", "A2ACP-259")
async def test_what_is_kept_aside_is_bounded_and_strangers_make_room_first(tmp_path, monkeypatch):
    monkeypatch.setattr(unverified, "OF_ONE", (3, 10_000))
    monkeypatch.setattr(unverified, "MOST_OF_ONE", 3)
    monkeypatch.setattr(unverified, "MOST_PACKETS", 5)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        kept = alice.post.inbox.unverified

        def keep(sender, number, size=300):
            with alice.post.store.transaction():
                return kept.keep(sender, bytes(size), f"{number}", relay.clock.now())

        def waiting(sender):
            rows = alice.post.store.rows("SELECT sig FROM unjudged WHERE sender=? ORDER BY position", sender)
            return "".join(row[0] for row in rows)

        assert all(keep("agent:eve@a.example", number) for number in (1, 2, 3, 3, 4))
        assert waiting("agent:eve@a.example") == "123"
        assert alice.notes().count("let go") == 1
        assert all(keep(bob.address, number) for number in (1, 2, 3))
        assert not keep(bob.address, 4)
        assert keep("agent:eli@a.example", 1)
        assert (waiting("agent:eve@a.example"), waiting(bob.address)) == ("3", "123")
        monkeypatch.setattr(unverified, "MOST_BYTES", 1_300)
        assert keep("agent:eli@a.example", 2)
        assert (waiting("agent:eve@a.example"), waiting("agent:eli@a.example")) == ("", "2")
        alice.post.inbox.welcome("agent:eli@a.example")
        assert not keep("agent:eve@a.example", 9)
        alice.post.inbox.block(bob.address)
        assert not waiting(bob.address)
        relay.clock.ahead += unverified.KEPT + 1
        alice.post.inbox.forget_old()
        assert not kept.senders()


async def test_whatever_a_strangers_relay_answers_is_that_relays_fault(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):

        def stumble(*_):
            raise OverflowError

        monkeypatch.setattr(records, "read_statement", stumble)
        with pytest.raises(PeerFault):
            await alice.post.directory.refresh(bob.address)
        with pytest.raises(PeerFault):
            await alice.post.directory.prekeys(bob.address)


@contextlib.asynccontextmanager
async def odd_relay(alice, before=(), after=()):
    """A relay that says more than it should; gives what it heard after the login."""
    heard = []

    async def talk(request):
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        domain = alice.relay.domain
        for text in (*before, json.dumps({"frame": "challenge", "challenge": "a", "relay": domain})):
            await ws.send_str(text)
        await ws.receive()
        for text in (
            json.dumps({"frame": "auth_ok", "address": alice.address, "one_time_prekeys": 100}),
            *after,
        ):
            await ws.send_str(text)
        async for message in ws:
            heard.append(json.loads(message.data))
        return ws

    app = web.Application()
    app.router.add_get("/a2acp", talk)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    store = alice.post.store
    store.set_identity(replace(store.me(), relay_url=f"http://127.0.0.1:{runner.addresses[0][1]}"))
    await alice.online()
    try:
        yield heard
    finally:
        await alice.offline()
        await runner.cleanup()


@pytest.mark.spec("A2ACP-006")
async def test_a_newer_relays_unknown_frames_are_ignored_during_the_login_too(tmp_path):
    odd = {"before": ['{"frame":"motd","text":"hello"}'] * 2, "after": ['{"frame":"motd"}']}
    async with (
        Relay(tmp_path / "relay") as relay,
        pair(tmp_path, relay) as (alice, _),
        odd_relay(alice, **odd),
    ):
        assert alice.connection.connected.is_set()


@pytest.mark.spec("A2ACP-245", "A2ACP-258")
async def test_a_relays_impossible_numbers_change_little(tmp_path):
    numbers = ['{"frame":"prekeys_ok","one_time":-20000}', '{"frame":"error","code":"rate_limited","retry_after":1' + "0" * 400 + "}"]  # fmt: skip
    async with (
        Relay(tmp_path / "relay") as relay,
        pair(tmp_path, relay) as (alice, _),
        odd_relay(alice, after=numbers) as heard,
    ):
        await until(lambda: [frame for frame in heard if frame["frame"] == "prekeys"])
        await until(lambda: 0 < alice.connection._upload_at < float("inf"))
        made = [len(frame.get("one_time", [])) for frame in heard if frame["frame"] == "prekeys"]
        assert sum(made) == 100
        assert alice.connection._upload_at - asyncio.get_running_loop().time() <= 3600
        assert alice.connection._hold_until == 0
        assert alice.connection.connected.is_set()


async def test_no_relay_sends_an_agent_on_to_another_address(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        asked = []

        async def answer(request):
            asked.append(request.path)
            raise web.HTTPTemporaryRedirect("/internal/admin")

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        mallory = stranger_at(relay, f"localhost:{runner.addresses[0][1]}")
        for question in (alice.post.directory.refresh, alice.post.directory.prekeys):
            with pytest.raises(Unavailable):
                await question(mallory.address)
        assert "/internal/admin" not in asked
        await runner.cleanup()


def test_a_relays_words_do_not_steer_the_terminal(tmp_path, capsys):
    from tacit.agent.shell.commands import post as agent_post

    post = Post(tmp_path, clock=TimeService(), entropy=SystemEntropy())
    for text in ("[/x] [bold]no[/]", "\x1b]0;owned\x07"):
        post.store.note(f"the relay says: {text}", TimeService().now())
    agent_post._print_new(post, as_json=False)
    agent_post._print_new(post, as_json=False)
    post.store.close()
    out = capsys.readouterr().out
    assert out == "note the relay says: [/x] [bold]no[/]\nnote the relay says: ⟨U+001B⟩]0;owned⟨U+0007⟩\n"


def test_a_relays_refusal_does_not_steer_the_terminal():
    said = canonical({"code": "no\x1b[2J", "message": "\x07" + "x" * 1000})
    refused = directory._refusal(403, said)
    assert refused.code == "no⟨U+001B⟩[2J"
    assert refused.message.isprintable()
    assert refused.message == "⟨U+0007⟩" + "x" * 299
