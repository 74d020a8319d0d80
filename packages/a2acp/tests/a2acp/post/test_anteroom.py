"""Strangers before acceptance: little room, no standing, and no sign of life for their relays."""

import pytest

from tacit.a2acp.post.io import unverified
from tacit.relay.settings import RelayLimits
from tacit.wire import frames
from tests.agent_support import people_on, sealed_by
from tests.relay.test_federation_http import allow
from tests.relay_support import Relay, until

KIB = 1024


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", friends=False, **more)


def left_behind(person, stranger):
    """What an agent's file holds of a stranger: packets, bytes, threads, ids, standing."""
    store = person.post.store
    count, size = store.row(
        "SELECT count(*), ifnull(sum(length(payload)),0) FROM history WHERE peer=?", stranger.address
    )
    (threads,) = store.row("SELECT count(*) FROM threads WHERE peer=?", stranger.address)
    (ids,) = store.row("SELECT count(*) FROM seen WHERE sender=?", stranger.address)
    contact = store.contact(stranger.address)
    return count, size, threads, ids, contact.reputation.score if contact else None


@pytest.mark.spec("A2ACP-032", "A2ACP-261")
async def test_an_unaccepted_stranger_leaves_little_on_the_disk_and_earns_no_standing(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        mallory = await relay.person("mallory")
        await bob.online()
        async with mallory:
            for number in range(60):
                await mallory.say(sealed_by(mallory, bob, thread_id=f"thr_{number:04d}"))
                await mallory.hear_a(frames.AcceptedFrame)
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        count, _, threads, ids, score = left_behind(bob, mallory)
        assert (count, threads, ids, score) == (25, 25, 25, 50)
        assert bob.notes().count("wants to reach you") == 1
        assert bob.notes().count("more than is kept of a stranger") == 1


@pytest.mark.spec("A2ACP-032")
async def test_a_stranger_leaves_half_a_mebibyte_and_strangers_together_four(tmp_path, monkeypatch):
    monkeypatch.setattr(unverified, "IN_ALL", (400, 600 * KIB))
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        await bob.online()
        sizes = []
        for name in ("mallory", "trudy"):
            stranger = await relay.person(name)
            async with stranger:
                for _ in range(24):
                    await stranger.say(
                        sealed_by(stranger, bob, thread_id=f"thr_{name}", context={"text": "x" * 30 * KIB})
                    )
                    await stranger.hear_a(frames.AcceptedFrame)
            await until(lambda: relay.mailboxes.quota.total() == (0, 0))
            sizes.append(left_behind(bob, stranger)[1])
        assert 480 * KIB < sizes[0] <= unverified.OF_ONE[1]
        assert sum(sizes) <= unverified.IN_ALL[1]
        assert bob.notes().count("strangers have sent more") == 1


@pytest.mark.spec("A2ACP-032", "A2ACP-213")
async def test_what_was_let_go_before_acceptance_is_had_again_after_it(tmp_path, monkeypatch):
    monkeypatch.setattr(unverified, "OF_ONE", (2, 512 * KIB))
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        for number in range(4):
            alice.say(bob, f"{number}")
        await alice.sent()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        await until(lambda: "the rest was let go" in bob.notes())
        bob.post.inbox.welcome(alice.address)
        await bob.has("0", "1")
        with bob.post.store.transaction():
            assert bob.post.inbox.summarise(alice.address, "thr_dinner", answer=False)
        await bob.has("0", "1", "2", "3")


@pytest.mark.spec("A2ACP-261")
async def test_standing_is_earned_by_acceptance_only(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one", thread="thr_first")
        await until(lambda: "first time" in bob.notes())
        assert bob.post.store.contact(alice.address).reputation.score == 50
        bob.post.inbox.welcome(alice.address)
        alice.say(bob, "two", thread="thr_second")
        await bob.has("one", "two")
        assert bob.post.store.contact(alice.address).reputation.score == 51


@pytest.mark.spec("A2ACP-032", "A2ACP-020")
async def test_a_strangers_packet_makes_no_device_ask_the_strangers_relay_before_acceptance(tmp_path):
    limits = RelayLimits(lookups_per_minute=1000)
    async with (
        Relay(tmp_path / "here", limits=limits) as here,
        Relay(tmp_path / "there", host="127.0.0.1", limits=limits) as there,
        people_on(here, tmp_path / "1", "bob") as (bob,),
        people_on(there, tmp_path / "2", "alice", "carol") as (alice, carol),
    ):
        await allow(here, there.domain)
        await allow(there, here.domain)
        asked = []
        refresh = bob.post.directory.refresh

        async def watched(peer):
            asked.append(peer)
            return await refresh(peer)

        bob.post.directory.refresh = watched
        bob.post.inbox.welcome(carol.address)
        for person in (bob, alice, carol):
            await person.online()
        alice.say(bob, "are you there?")
        await until(lambda: f"{alice.address} wants to reach you for the first time" in bob.notes())
        carol.say(bob, "it is me", thread="thr_carol")
        await bob.has("it is me")
        assert asked == [carol.address]
        assert bob.post.store.contact(alice.address) is None
        bob.post.inbox.welcome(alice.address)
        await bob.has("it is me", "are you there?")
        assert asked == [carol.address, alice.address]


@pytest.mark.spec("A2ACP-032")
async def test_strangers_of_whom_nothing_is_kept_are_forgotten_and_others_are_not(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        store, room = bob.post.store, bob.post.inbox.anteroom
        with store.transaction():
            for name in ("gone", "blocked", "friend"):
                store.know(f"agent:{name}@a.example", welcome=name == "friend")
                store.run(
                    "INSERT INTO threads (thread_id, peer) VALUES (?,?)", name, f"agent:{name}@a.example"
                )
        bob.post.inbox.block("agent:blocked@a.example")
        with store.transaction():
            room.tidy()
        left = [row[0] for row in store.rows("SELECT address FROM contacts ORDER BY address")]
        assert left == ["agent:blocked@a.example", "agent:friend@a.example"]
        assert store.rows("SELECT thread_id FROM threads") == [("friend",)]
