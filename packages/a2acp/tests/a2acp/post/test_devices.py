"""One address, several devices, and a relay that was set back: whose keys are handed out, and who gets the mail."""

import asyncio
import shutil

import msgspec
import pytest
from click.testing import CliRunner

from tacit.a2acp.post.io import epochs
from tacit.a2acp.post.io.directory import Directory
from tacit.a2acp.post.io.relay_connection import ConnectionSuperseded, OtherDevice
from tacit.agent.shell.commands.main import agent
from tacit.base.errors import PeerFault, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import time_of
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.relay.io.store import FILE as RELAY_FILE
from tacit.seal import identity, x3dh
from tacit.wire import frames
from tests.agent_support import Person, people_on
from tests.relay_support import MovableClock, Relay, until

PASSPHRASE = "correct horse battery"
SMALL = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


async def met(alice, bob):
    await bob.online()
    await alice.online()
    alice.say(bob, "one")
    await bob.has("one")
    bob.say(alice, "hi")
    await alice.has("hi")
    await alice.sent()
    await bob.sent()


def held(relay, username="bob"):
    """Epoch and one-time keys that the relay hands out."""
    file, account = relay.mailboxes.store.reader, relay.mailboxes.agent(username).account
    return registry.prekey_epoch(file, account), set(registry.one_time_ids(file, account))


def moved_to(tmp_path, relay, bob):
    laptop = Person(tmp_path / "laptop", relay, "bob")
    laptop.post.restore(bob.post.backup(PASSPHRASE, **SMALL), PASSPHRASE)
    return laptop


async def refused(person):
    """The device tries to connect, and stops by itself."""
    running = asyncio.create_task(person.post.connection().run())
    with pytest.raises(OtherDevice):
        await asyncio.wait_for(running, 60)


@pytest.mark.spec("A2ACP-223", "A2ACP-224", "A2ACP-245")
async def test_a_restored_device_replaces_every_prekey_of_the_one_before(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        epoch, keys = held(relay)
        assert epoch == epochs.epoch_of(bob.post.store)
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.online()
            await until(lambda: held(relay)[0] > epoch)
            later, replaced = held(relay)
            assert later == epochs.epoch_of(laptop.post.store)
            assert len(replaced) == 100
            assert not replaced & keys
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-215", "A2ACP-224")
async def test_what_waited_in_the_old_device_moves_with_the_agent_and_is_sent_from_the_new_one(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        bob.say(alice, "a first word that never left")
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.online()
            await alice.online()
            await alice.has("a first word that never left")
            # The old one has it too; it is taken once.
            bob.post.take_over()
            await bob.online()
            await bob.sent()
            await alice.has("a first word that never left")
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-215", "A2ACP-224")
async def test_what_nobody_could_judge_yet_moves_with_the_agent_and_is_asked_for_by_the_new_device(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        alice.say(bob, "kept unopened")
        bundle = await alice.post.directory.prekeys(bob.address)
        sealed = alice.post.outbox.seal(alice.post.outbox.waiting()[0].position, bundle)
        alice.post.outbox.accepted([sealed.packet_id])
        # Bob has no key of hers yet; the relay has let the packet go.
        assert bob.post.inbox.admit(sealed.envelope, sealed.sig)
        assert bob.post.inbox.unverified.holds(alice.address)
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.online()
            await alice.online()
            await laptop.has("kept unopened")
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.parametrize("kept", [True, False], ids=["notes kept", "a backup of before"])
@pytest.mark.spec("A2ACP-224")
async def test_a_moved_agent_tells_its_owner_every_note_that_was_not_read_yet(tmp_path, kept):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        store = bob.post.store
        with store.transaction():
            for text in ("read", "read too", "unread"):
                store.note(text, relay.clock.now())
            store.choose("noted", "2")
        laptop = Person(tmp_path / "laptop", relay, "bob")
        content = laptop.post.open_backup(bob.post.backup(PASSPHRASE, **SMALL), PASSPHRASE)
        if not kept:
            del content["tables"]["notes"]
        laptop.post.become(content)
        with laptop.post.store.transaction():
            laptop.post.store.note("said on the new device", relay.clock.now())
        unread = laptop.post.store.notes(int(laptop.post.store.setting("noted", "0")))
        assert [text for _, text in unread] == (["unread"] if kept else []) + ["said on the new device"]
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-208", "A2ACP-223")
async def test_an_old_device_that_wakes_while_the_new_one_is_connected_is_refused_and_nothing_is_lost(
    tmp_path,
):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.online()
            await asyncio.wait_for(laptop.connection.stocked.wait(), 60)
            now_held = held(relay)
            alice.say(bob, "before it wakes")
            await laptop.has("one", "before it wakes")
            await refused(bob)
            assert "moved to another device" in bob.notes()
            alice.say(bob, "after it woke")
            await laptop.has("one", "before it wakes", "after it woke")
            assert laptop.connection.connected.is_set()
            assert held(relay)[0] == now_held[0]
            assert held(relay)[1] <= now_held[1]
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-208", "A2ACP-223")
async def test_an_old_device_that_wakes_while_the_new_one_sleeps_is_refused_and_nothing_is_lost(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.online()
            await asyncio.wait_for(laptop.connection.stocked.wait(), 60)
            await laptop.offline()
            alice.say(bob, "for the laptop")
            await alice.sent()
            await refused(bob)
            await laptop.online()
            await laptop.has("one", "for the laptop")
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-223")
async def test_the_owner_brings_the_address_back_by_a_command_and_the_other_device_is_refused(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.online()
            await asyncio.wait_for(laptop.connection.stocked.wait(), 60)
            await refused(bob)
            words = ["--data", str(bob.folder), "take-over"]
            done = CliRunner().invoke(agent, words, catch_exceptions=False)
            assert (done.exit_code, bob.address in done.output) == (0, True)
            alice.say(bob, "sealed for the laptop, perhaps")
            await bob.online()
            with pytest.raises(ConnectionSuperseded):
                await asyncio.wait_for(laptop.running, 60)
            laptop.running = None
            await asyncio.wait_for(bob.connection.stocked.wait(), 60)
            # Nothing was set back: the owner has said so.
            assert epochs.NOTE not in bob.notes()
            await refused(laptop)
            alice.say(bob, "for the old one again")
            await until(lambda: "for the old one again" in bob.texts() + laptop.texts())
            everywhere = bob.texts() + laptop.texts()
            assert {"sealed for the laptop, perhaps", "for the old one again"} <= set(everywhere)
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-223")
async def test_a_refused_device_says_so_when_it_sends_and_keeps_the_packet(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            assert await laptop.post.publish()
        laptop.post.store.close()
        words = ["--data", str(bob.folder), "send", alice.address, "from the old one", "--wait", "60"]
        said = await asyncio.to_thread(CliRunner().invoke, agent, words)
        assert said.exit_code == 3
        assert "moved to another device" in said.output
        assert "take-over" in said.output
        assert [one.peer for one in bob.post.outbox.waiting()] == [alice.address]


@pytest.mark.spec("A2ACP-245")
async def test_a_relay_that_claims_an_epoch_far_ahead_is_not_followed(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        before = epochs.epoch_of(bob.post.store)
        now = relay.clock.now()
        for claimed in (2**53 - 1, int(now) + 4 * 24 * 3600 * SECOND + 1):
            lie = frames.AuthOkFrame(bob.address, 0, 60, prekey_epoch=claimed)
            with pytest.raises(PeerFault):
                epochs.agree(bob.post.store, lie, now)
        assert epochs.epoch_of(bob.post.store) == before
        assert bob.notes().count("far ahead") == 1
        # The honest one it comes back to still takes its keys.
        await met(alice, bob)


@pytest.mark.spec("A2ACP-245", "A2ACP-247")
async def test_epochs_of_a_key_that_was_given_up_are_not_held_against_the_accepted_one(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        assert await alice.post.directory.prekeys(bob.address) is not None
        seen = "SELECT epoch FROM handshakes WHERE address=?"
        assert alice.post.store.row(seen, bob.address) == (epochs.epoch_of(bob.post.store),)
        pin = alice.post.store.contact(bob.address).pin
        other = identity.generate(SystemEntropy()).public
        with alice.post.store.transaction():
            alice.post.store.set_pin(bob.address, identity.observe(pin, other, 1, reset=True))
        alice.post.decide(bob.address, "accept")
        assert alice.post.store.row(seen, bob.address) == (0,)


@pytest.mark.spec("A2ACP-245")
@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
async def test_a_device_whose_clock_is_off_writes_to_somebody_for_the_first_time(tmp_path, hours):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        wrong = MovableClock()
        wrong.ahead = hours * 3600 * SECOND
        asking = Directory(alice.post.store, alice.post.http, time_of(wrong), SystemEntropy())
        assert await asking.prekeys(bob.address) is not None
        assert "clock" not in alice.notes()


@pytest.mark.spec("A2ACP-245")
async def test_an_owner_hears_once_that_packets_wait_as_a_relay_believes_no_request(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        relay.mailboxes.blocked |= {alice.address}
        for _ in range(2):
            with pytest.raises(Unavailable):
                await alice.post.directory.prekeys(bob.address)
        assert alice.notes().count("clock") == 1


@pytest.mark.spec("A2ACP-223")
async def test_a_device_whose_clock_is_behind_begins_its_epoch_all_the_same(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        epoch, _ = held(relay)
        laptop = moved_to(tmp_path, relay, bob)
        with laptop.post.store.transaction():
            laptop.post.store.choose("prekey_epoch", "5")
        async with laptop.post:
            await laptop.online()
            await asyncio.wait_for(laptop.connection.stocked.wait(), 60)
            assert held(relay)[0] == epochs.epoch_of(laptop.post.store) == epoch + 1
            await laptop.offline()
            await laptop.online()
            await laptop.offline()
        laptop.post.store.close()


async def set_back(relay, copy):
    """The relay's operator restores its file from a copy."""
    await relay.server.stop()
    for path in relay.folder.glob(RELAY_FILE + "*"):
        path.unlink()
    shutil.copy(copy / RELAY_FILE, relay.folder / RELAY_FILE)
    await restart(relay)


async def copied(relay, to):
    await relay.server.stop()
    shutil.copytree(relay.folder, to)
    await restart(relay)


async def restart(relay):
    relay.server.__init__(relay._settings, relay._parts)
    await relay.server.start()


@pytest.mark.spec("A2ACP-215", "A2ACP-243", "A2ACP-245")
async def test_six_first_packets_after_a_relay_was_restored_from_an_old_copy_are_all_repaired(tmp_path):
    """The relay hands out six of the seven one-time keys that were used since its copy was made."""
    async with Relay(tmp_path / "relay") as relay:
        early = [f"early{number}" for number in range(7)]
        late = [f"late{number}" for number in range(6)]
        async with people_on(relay, tmp_path, "bob", *early, *late) as (bob, *friends):
            await bob.post.publish()
            await copied(relay, tmp_path / "yesterday")
            await bob.online()
            for friend in friends[:7]:
                friend.say(bob, f"from {friend.username}", thread=f"thr_{friend.username}")
                await friend.online()
                await friend.sent()
                await friend.offline()
            await until(lambda: len(bob.texts()) == 7)
            await bob.offline()
            await set_back(relay, tmp_path / "yesterday")
            used = {}
            for friend in friends[7:]:
                used[friend] = friend.say(bob, f"from {friend.username}", thread=f"thr_{friend.username}")
                await friend.online()
                await friend.sent()
            await bob.online()
            await until(lambda: len(bob.texts()) == 13)
            assert sorted(bob.texts()) == sorted(f"from {friend.username}" for friend in friends)
            for friend, said in used.items():
                await until(lambda friend=friend: "repaired" in friend.notes())
                (repair,) = friend.post.inbox.repairs.known()
                assert (repair.packet_id, repair.state, repair.tries) == (said, "repaired", 1)
            assert bob.notes().count("repaired") == 6
            assert "they were replaced" in bob.notes()


@pytest.mark.spec("A2ACP-245")
async def test_keys_of_a_device_that_is_no_more_are_taken_from_no_relay(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        await copied(relay, tmp_path / "yesterday")
        laptop = moved_to(tmp_path, relay, bob)
        async with laptop.post:
            await laptop.post.publish()
            assert await alice.post.directory.prekeys(bob.address) is not None
            await set_back(relay, tmp_path / "yesterday")
            with pytest.raises(PeerFault):
                await alice.post.directory.prekeys(bob.address)
            sent = alice.say(bob, "waits for the laptop")
            await alice.online()
            await until(alice.connection._bundles.resting)
            assert alice.post.outbox.pending(sent) == "waiting"
            await laptop.online()
            await asyncio.wait_for(laptop.connection.stocked.wait(), 60)
            alice.connection._bundles._resting.clear()
            alice.connection._wake.set()
            await laptop.has("waits for the laptop")
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-245")
async def test_prekeys_of_two_epochs_are_not_taken_together(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        account = relay.mailboxes.agent("bob").account
        file = relay.mailboxes.store.reader
        old = file.execute("SELECT id, body FROM prekeys WHERE account=? AND kind=1", (account,)).fetchall()
        bob.post.take_over()
        await bob.post.publish()

        def mix(file):
            file.execute("DELETE FROM prekeys WHERE account=? AND kind=1", (account,))
            registry.store_prekeys(file, account, registry.ONE_TIME, old, 200)

        await relay.mailboxes.store.write(mix)
        with pytest.raises(PeerFault):
            await alice.post.directory.prekeys(bob.address)


@pytest.mark.spec("A2ACP-245")
async def test_an_epoch_that_nobody_signed_is_not_held_against_the_keys_that_follow(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        account = relay.mailboxes.agent("bob").account
        file = relay.mailboxes.store.reader
        true = file.execute("SELECT kind, id, body FROM prekeys WHERE account=?", (account,)).fetchall()

        later = epochs.epoch_of(bob.post.store) + 3600 * SECOND

        def lie(file):
            for kind, identifier, raw in true:
                claimed = {**msgspec.json.decode(raw), "epoch": later}
                file.execute(
                    "UPDATE prekeys SET body=? WHERE account=? AND kind=? AND id=?",
                    (msgspec.json.encode(claimed), account, kind, identifier),
                )

        def mend(file):
            file.executemany(
                "UPDATE prekeys SET body=? WHERE account=? AND kind=? AND id=?",
                [(raw, account, kind, identifier) for kind, identifier, raw in true],
            )

        await relay.mailboxes.store.write(lie)
        with pytest.raises(PeerFault):
            await alice.post.directory.prekeys(bob.address)
        await relay.mailboxes.store.write(mend)
        assert await alice.post.directory.prekeys(bob.address) is not None


async def without_one_time_keys(relay, username):
    account = relay.mailboxes.agent(username).account
    await relay.mailboxes.store.write(
        lambda file: (
            file.execute("DELETE FROM prekeys WHERE account=? AND kind=?", (account, registry.ONE_TIME))
            and None
        )
    )


@pytest.mark.spec("A2ACP-245", "A2ACP-251")
async def test_falling_to_the_last_resort_key_is_limited_told_and_ended_by_the_next_answer(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        await without_one_time_keys(relay, "bob")
        for number in range(epochs.MOST_WEAK):
            alice.say(bob, f"weak {number}")
            bundle = await alice.post.directory.prekeys(bob.address)
            assert bundle.single_kind == x3dh.LAST_RESORT
            assert alice.post.outbox.seal(alice.post.outbox.waiting()[number].position, bundle) is not None
            assert alice.notes().count("less protected") == number + 1
            with alice.post.store.transaction():
                alice.post.store.run("UPDATE contacts SET fresh_session=1")
        kept = alice.say(bob, "not on that key again")
        position = alice.post.outbox.position(kept)
        assert alice.post.outbox.seal(position, bundle) is None
        assert alice.post.outbox.seal(position, bundle) is None
        assert alice.post.outbox.pending(kept) == "waiting"
        assert alice.notes().count("hands out no one-time key") == 1
        relay.clock.ahead += 24 * 3600 * SECOND
        assert alice.post.outbox.seal(position, bundle) is not None
        await alice.online()
        await bob.online()
        await bob.has("weak 0", "weak 1", "not on that key again")
        assert "fully protected" not in alice.notes()
        bob.say(alice, "answer")
        await alice.has("answer")
        assert "fully protected again" in alice.notes()
