"""What comes after the mail: comparisons and repeats, whoever asks for them and however many."""

import asyncio
import json

import pytest

from tacit.a2acp.packets import packet
from tacit.a2acp.packets.packet import read
from tacit.a2acp.post.io import comparisons, relay_connection
from tacit.base.moment import SECOND
from tacit.relay.rate import PerMinute
from tacit.relay.settings import RelayLimits
from tacit.wire import frames
from tests.agent_support import cleared, people_on
from tests.relay_support import Relay, until


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


def many_threads(person, peer, count):
    """Open threads with one peer, as of a person who has many contacts."""
    with person.post.store.transaction():
        for number in range(count):
            person.post.store.run(
                "INSERT INTO threads (thread_id, peer) VALUES (?,?)", f"thr_{number:06d}", peer.address
            )


async def met(alice, bob):
    await bob.online()
    await alice.online()
    alice.say(bob, "one")
    await bob.has("one")
    bob.say(alice, "hi", thread="thr_answer")
    await alice.has("hi")
    await alice.sent()
    await bob.sent()


def watch(monkeypatch):
    """Whether each packet that goes out is mail or comes after it, in their order."""
    went, may_go = [], relay_connection.RelayConnection._may_go

    def watched(self, now, *, later):
        if passed := may_go(self, now, later=later):
            went.append("later" if later else "mail")
        return passed

    monkeypatch.setattr(relay_connection.RelayConnection, "_may_go", watched)
    return went


@pytest.mark.spec("A2ACP-213")
async def test_with_five_thousand_threads_a_message_goes_before_the_comparisons(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await alice.offline()
        many_threads(alice, bob, 5_000)
        relay.clock.ahead += 61 * SECOND
        bob.say(alice, "waits for alice", thread="thr_answer")
        await bob.sent()
        alice.say(bob, "before all of them")
        await bob.offline()
        went = watch(monkeypatch)
        await alice.online()
        await alice.has("hi", "waits for alice")
        await until(lambda: "later" in went)
        assert went[0] == "mail"
        # What is written down is little more than what may go at once, whatever there is to compare.
        assert alice.post.store.row("SELECT count(*) FROM history WHERE type='thread_sync'")[0] <= 60


@pytest.mark.spec("A2ACP-213")
async def test_threads_are_compared_a_burst_at_once_and_then_one_by_one(tmp_path, monkeypatch):
    paused = []

    class Breathless:
        """The loop as comparisons alone see it: everybody else sleeps as long as they mean to."""

        def __getattr__(self, name):
            return getattr(asyncio, name)

        async def sleep(self, seconds):
            paused.append(seconds)
            await asyncio.sleep(0)

    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await alice.offline()
        many_threads(alice, bob, 50)
        relay.clock.ahead += 61 * SECOND
        monkeypatch.setattr(comparisons, "asyncio", Breathless())
        await alice.connection._comparisons.compare_open()
    assert paused.count(comparisons.PAUSE_SECONDS) == 52 - comparisons.AT_ONCE
    assert paused[: comparisons.AT_ONCE] == [0] * comparisons.AT_ONCE


@pytest.mark.spec("A2ACP-213", "A2ACP-214")
async def test_what_a_hostile_contact_claims_to_lack_goes_after_the_others_mail(tmp_path):
    limits = RelayLimits(lookups_per_minute=1000, new_recipients_per_hour=1000)
    async with (
        Relay(tmp_path / "relay", limits=limits) as relay,
        people_on(relay, tmp_path, "alice", "bob", "mallory") as (alice, bob, mallory),
    ):
        await met(alice, bob)
        await alice.offline()
        store = alice.post.store
        for number in range(300):
            alice.say(mallory, f"{number}", thread=f"thr_mallory{number % 2}")
        with store.transaction():
            store.run("DELETE FROM outbox")
        lacks = {"state": "open", "sent_ids": [], "received_ids": [], "answer": True}
        with store.transaction():
            for thread in ("thr_mallory0", "thr_mallory1"):
                alice.post.inbox._compare(lacks, mallory.address, thread, relay.clock.now())
        assert len(alice.post.outbox.waiting(limit=1000)) == 200
        for number in range(20):
            alice.say(bob, f"mail {number}")
        first = alice.post.outbox.waiting(limit=20)
        assert {one.peer for one in first} == {bob.address}
        await mallory.post.publish()
        await alice.online()
        await until(lambda: len(bob.texts()) == 21)
        assert relay.mailboxes.counts.errors["rate_limited"] == 0


@pytest.mark.spec("A2ACP-213")
async def test_a_peer_out_of_reach_gets_one_summary_and_not_one_for_each_connect(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await alice.offline()
        for _ in range(3):
            relay.clock.ahead += 61 * SECOND
            with alice.post.store.transaction():
                for thread, peer in alice.post.inbox.open_threads():
                    alice.post.inbox.summarise(peer, thread, answer=False)
        waiting = alice.post.outbox.waiting()
        assert len(waiting) == len({read_thread(alice, one) for one in waiting}) == 2


def read_thread(person, unsent):
    payload = person.post.store.row("SELECT payload FROM outbox WHERE packet_id=?", unsent.packet_id)[0]
    assert read(payload).type == packet.THREAD_SYNC
    return read(payload).thread_id


@pytest.mark.spec("A2ACP-209")
async def test_a_relay_that_never_gives_its_prekeys_holds_up_no_other_packet(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        asked, over = [], asyncio.Event()

        async def tarpit(_, writer):
            asked.append(1)
            await over.wait()
            writer.close()

        server = await asyncio.start_server(tarpit, "127.0.0.1", 0)
        silent = f"agent:carol@localhost:{server.sockets[0].getsockname()[1]}"
        late = alice.post.outbox.post(cleared(silent, "context", body_of("hello"), thread_id="thr_carol"))
        await until(lambda: asked)
        alice.say(bob, "two")
        await bob.has("one", "two")
        assert alice.post.outbox.pending(late) == "waiting"
        over.set()
        server.close()


def body_of(text):
    from tests.agent_support import body

    return body(text)


@pytest.mark.spec("A2ACP-245")
async def test_a_refused_upload_of_prekeys_is_made_again_and_holds_up_no_mail(tmp_path, monkeypatch):
    limits = RelayLimits(prekeys_per_minute=30, lookups_per_minute=1000)
    async with Relay(tmp_path / "relay", limits=limits) as relay, pair(tmp_path, relay) as (alice, _):
        # Sixty at once is all that this relay takes: an upload of a hundred waits for its rate, in vain.
        await alice.online()
        # Refused by the relay, and heard by the agent, which says when it tries again.
        await until(lambda: 0 < alice.connection._upload_at < float("inf"))
        assert relay.mailboxes.counts.errors["rate_limited"] == 1
        assert alice.connection._upload is not None
        assert alice.connection._hold_until == 0
        monkeypatch.setattr(relay.mailboxes.checks, "_prekeys", PerMinute(250, 500))
        alice.connection._upload_at = 0.0
        await asyncio.wait_for(alice.connection.stocked.wait(), 60)
        assert alice.connection._upload is None
        assert alice.post.store.row("SELECT count(*) FROM prekeys WHERE kind=1") == (100,)


@pytest.mark.spec("A2ACP-245")
async def test_while_an_upload_is_on_its_way_no_more_keys_are_made(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        await alice.online()
        await alice.connection.stocked.wait()
        connection = alice.connection
        connection._upload = frames.PrekeysFrame(one_time=[{"id": 1}])
        for _ in range(50):
            await connection._prekeys_ok(None, 0)
        assert alice.post.store.row("SELECT count(*) FROM prekeys WHERE kind=1") == (100,)


@pytest.mark.spec("A2ACP-222")
async def test_an_agent_tells_its_relay_by_tags_whom_its_owner_has_accepted(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        account = relay.mailboxes.agent("alice").account
        heard = []
        hear = relay.mailboxes.hear
        relay.mailboxes.hear = lambda connection, text, now: (heard.append(text), hear(connection, text, now))
        await alice.online()
        await until(lambda: relay.mailboxes.correspondence.knows(account, bob.address))
        told = [json.loads(text) for text in heard if "contacts" in str(text)]
        assert len(told[0]["tags"]) == 1
        assert bob.address not in json.dumps(told)


def test_mail_finds_room_whatever_came_before(monkeypatch):
    connection = relay_connection.RelayConnection.__new__(relay_connection.RelayConnection)
    connection._rate = relay_connection.TokenBucket(relay_connection._BURST, 0.0)
    connection._in_flight = {}
    later = sum(connection._may_go(0.0, later=True) for _ in range(500))
    assert later == 100
    assert all(connection._may_go(0.0, later=False) for _ in range(20))
    assert connection._rate.level == 0
    assert not connection._may_go(1.0, later=True)
