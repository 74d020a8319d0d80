"""A folder or a relay that was set back to an earlier copy, with real relays and real files."""

import contextlib
import shutil

import pytest

from tacit.a2acp.post import sync
from tacit.a2acp.post.io import epochs
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.wire import frames
from tests.agent_support import Person, people_on
from tests.relay_support import Relay, until

LEAST = 1_000_000


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


async def talk(alice, bob, *lines):
    """Alice says some lines, Bob answers each."""
    for line in lines:
        alice.say(bob, line)
        await until(lambda line=line: line in bob.texts())
        bob.say(alice, f"{line}, heard")
        await until(lambda line=line: f"{line}, heard" in alice.texts())
    await alice.sent()
    await bob.sent()


@contextlib.asynccontextmanager
async def awake(folder, relay, username):
    """Somebody on a folder that exists already."""
    person = Person(folder, relay, username)
    async with person.post:
        try:
            yield person
        finally:
            await person.offline()
            person.post.store.close()


def copied(person, to):
    shutil.copytree(person.folder, to)
    return to


def steps_kept(relay):
    return relay.mailboxes.store.reader.execute(
        "SELECT steps, sig FROM agent_steps ORDER BY account"
    ).fetchall()


def ephemerals(person, peer):
    return [one.ephemeral for one in person.post.store.sessions(peer.address)]


@pytest.mark.spec("A2ACP-243", "A2ACP-245")
async def test_a_folder_set_back_to_a_copy_begins_anew_with_everybody_and_says_so(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        await talk(alice, bob, "one", "two")
        # A copy of a running folder: the relay hears of what follows on this same connection alone.
        copy = copied(alice, tmp_path / "copy")
        await talk(alice, bob, "three", "four")
        before = ephemerals(alice, bob)
        await alice.offline()
        # What was sent again a moment ago for a slow line is not sent again within the minute.
        relay.clock.ahead += sync.EVERY + SECOND
        async with awake(copy, relay, "alice") as restored:
            restored.say(bob, "five, from the copy", thread="thr_other")
            await restored.online()
            await until(lambda: "five, from the copy" in bob.texts())
            assert epochs.NOTE in restored.notes()
            # Another session, begun by other keys, and nothing sealed under what the copy held.
            assert ephemerals(restored, bob)[0] not in before
            bob.say(restored, "six", thread="thr_other")
            await until(lambda: "six" in restored.texts())
            # What the copy lacks comes again, once.
            await until(lambda: {"three, heard", "four, heard"} <= set(restored.texts()))
            assert len(restored.texts()) == len(set(restored.texts()))
            assert sorted(bob.texts()) == ["five, from the copy", "four", "one", "three", "two"]


@pytest.mark.spec("A2ACP-245")
async def test_the_relay_hands_out_no_prekey_that_the_copy_does_not_have(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        await alice.post.publish()
        copy = copied(alice, tmp_path / "copy")
        account = registry.agent(relay.mailboxes.store.reader, "alice").account
        await relay.mailboxes.store.write(
            lambda file: file.execute("DELETE FROM prekeys WHERE account=? AND kind=1", (account,))
        )
        await alice.post.publish()
        async with awake(copy, relay, "alice") as restored:
            assert await restored.post.publish()
            held = relay.mailboxes.store.reader.execute(
                "SELECT kind, id FROM prekeys WHERE account=?", (account,)
            ).fetchall()
            ours = restored.post.store.rows("SELECT kind, id FROM prekeys WHERE replaced_at IS NULL")
            assert len(held) > 100
            assert set(held) == set(ours)


@pytest.mark.spec("A2ACP-243")
async def test_a_relay_set_back_to_a_copy_makes_no_agent_begin_anew(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        await talk(alice, bob, "one")
        await until(lambda: len(steps_kept(relay)) == 2)
        yesterday = steps_kept(relay)
        await talk(alice, bob, "two", "three")
        sessions = ephemerals(alice, bob)
        await alice.offline()
        await until(lambda: steps_kept(relay)[0][0] == alice.post.store.steps())
        await relay.mailboxes.store.write(
            lambda file: file.execute("UPDATE agent_steps SET steps=?, sig=? WHERE account=1", yesterday[0])
        )
        await alice.online()
        await talk(alice, bob, "four")
        assert epochs.NOTE not in alice.notes()
        assert ephemerals(alice, bob) == sessions
        await until(lambda: steps_kept(relay)[0][0] == alice.post.store.steps())


@pytest.mark.spec("A2ACP-243")
async def test_a_relay_that_lies_about_the_steps_forces_no_second_beginning(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        await talk(alice, bob, "one")
        copy = copied(alice, tmp_path / "copy")
        store = alice.post.store
        signed = []
        for _ in range(5):
            with store.transaction():
                store.step()
            signed.append(epochs.statement(store))
        await alice.offline()
        now = relay.clock.now()
        async with awake(copy, relay, "alice") as restored:
            there = restored.post.store
            # Our own word, but beyond what any agent comes to: what is added to it must still be a number.
            far = frames.steps_bytes(relay=relay.domain, address=restored.address, steps=2**52)
            forged = [
                frames.AuthOkFrame(
                    restored.address, steps=2**52, steps_sig=epochs.b64(there.me().identity.sign(far))
                ),
                frames.AuthOkFrame(restored.address, steps=signed[-1].steps, steps_sig=signed[0].sig),
                frames.AuthOkFrame(restored.address, steps=signed[-1].steps, steps_sig="!"),
                frames.AuthOkFrame(restored.address, steps=2**53, steps_sig=signed[-1].sig),
                frames.AuthOkFrame(restored.address, steps=-1, steps_sig=signed[-1].sig),
                frames.AuthOkFrame(restored.address),
            ]
            assert not any(epochs.compare(there, one, now) for one in forged)
            # Dealt out one by one, the least first: the first is true, and the others are old by then.
            begun = [
                epochs.compare(
                    there, frames.AuthOkFrame(restored.address, steps=one.steps, steps_sig=one.sig), now
                )
                for one in signed
            ]
            assert begun == [True, False, False, False, False]
            assert there.steps() > signed[-1].steps
            # Another agent's words are not ours.
            theirs = epochs.statement(bob.post.store)
            assert not epochs.compare(
                there, frames.AuthOkFrame(restored.address, steps=2**30, steps_sig=theirs.sig), now
            )


@pytest.mark.spec("A2ACP-243")
async def test_a_statement_for_another_relay_or_address_is_not_believed(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        me = alice.post.store.me()
        for elsewhere in (
            {"relay": "other.example", "address": me.address},
            {"relay": relay.domain, "address": "agent:bob@" + relay.domain},
        ):
            sig = frames.steps_bytes(steps=900, **elsewhere)
            told = frames.AuthOkFrame(me.address, steps=900, steps_sig=epochs.b64(me.identity.sign(sig)))
            assert not epochs.compare(alice.post.store, told, relay.clock.now())


@pytest.mark.spec("A2ACP-224")
async def test_a_backup_brought_to_a_new_device_raises_no_alarm(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        await talk(alice, bob, "one")
        saved = alice.post.backup("a long enough phrase", passes=1, memory_bytes=8 * 1024 * 1024)
        await talk(alice, bob, "two")
        await alice.offline()
        async with awake(tmp_path / "new", relay, "alice") as moved:
            moved.post.restore(saved, "a long enough phrase")
            await moved.online()
            await talk(moved, bob, "three")
            assert epochs.NOTE not in moved.notes()
            assert moved.post.store.steps() > LEAST


async def test_the_relay_keeps_the_furthest_steps_under_the_present_key_over_a_restart(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        alice = await relay.person("alice")
        async with alice:
            assert (alice.welcome.steps, alice.welcome.steps_sig) == (0, "")
            for steps, sig in ((5, "five"), (3, "three"), (2**53, "far"), (0, "nothing"), (9, "x" * 200)):
                await alice.say(frames.StepsFrame(steps, sig))
            await until(lambda: relay.mailboxes.steps.furthest(1, alice.me.signing_public) == (5, "five"))
        async with alice:
            assert (alice.welcome.steps, alice.welcome.steps_sig) == (5, "five")
        port = relay.port
    async with Relay(tmp_path / "relay", port=port) as relay:
        alice.relay = relay
        async with alice:
            assert (alice.welcome.steps, alice.welcome.steps_sig) == (5, "five")
        assert relay.mailboxes.steps.furthest(1, b"another key") == (0, "")
