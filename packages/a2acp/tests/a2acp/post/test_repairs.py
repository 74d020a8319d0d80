"""Packets that do not open are asked for again, sealed again, taken once, and both owners hear of it."""

import json

import pytest
from click.testing import CliRunner

from tacit.a2acp.post import receipt
from tacit.a2acp.post.io import inbox
from tacit.a2acp.post.reception import Drop
from tacit.agent.shell.commands.main import agent
from tacit.base.errors import Refused
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import SECOND
from tacit.seal import session
from tacit.wire import envelope
from tacit.wire.encoding import canonical_object, unb64
from tests.agent_support import Person, people_on, sealed_by
from tests.relay_support import Relay, until


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


def stored(relay, username):
    return relay.mailboxes.store.fetch(relay.mailboxes.agent(username).account, 0, 1000)


def lose_sessions(person, peer):
    """As after a loss of the ratchets alone: what was sealed in them opens no more."""
    with person.post.store.transaction():
        person.post.store.run("DELETE FROM sessions WHERE address=?", peer.address)


def repairs(person):
    return [(one.direction, one.packet_id, one.state) for one in person.post.inbox.repairs.known()]


def ephemerals(person, peer):
    return [one.ephemeral for one in person.post.store.sessions(peer.address)]


async def met(alice, bob):
    await bob.online()
    await alice.online()
    alice.say(bob, "one")
    await bob.has("one")
    bob.say(alice, "hi")
    await alice.has("hi")
    await alice.sent()


@pytest.mark.spec("A2ACP-213", "A2ACP-215", "A2ACP-243")
async def test_what_does_not_open_is_sealed_again_and_both_owners_see_it_repaired(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        lost = [alice.say(bob, text) for text in ("two", "three", "four")]
        await alice.sent()
        before = ephemerals(alice, bob)
        lose_sessions(bob, alice)
        await bob.online()
        await bob.has("one", "two", "three", "four")
        for person, way in ((alice, "out"), (bob, "in")):
            expected = sorted((way, packet, "repaired") for packet in lost)
            await until(lambda person=person, expected=expected: sorted(repairs(person)) == expected)
            await until(lambda person=person: person.notes().count("repaired") == 3)
            assert all(f"packet {packet}" in person.notes() for packet in lost)
        # One new session for the three of them.
        under = alice.post.store.rows("SELECT DISTINCT session FROM sealings WHERE state='repaired'")
        assert len(under) == 1
        assert under[0][0] not in before
        bob.say(alice, "all here")
        await alice.has("hi", "all here")


async def failing(alice, bob, relay, text="two"):
    """A packet of alice's that bob cannot open, as the relay holds it, neither of them connected."""
    await bob.offline()
    said = alice.say(bob, text)
    await alice.sent()
    await alice.offline()
    lose_sessions(bob, alice)
    (one,) = [found for found in stored(relay, "bob") if said in found.envelope.decode()]
    return said, one


@pytest.mark.spec("A2ACP-029", "A2ACP-251")
async def test_a_relay_that_repeats_an_unopenable_packet_moves_no_session(tmp_path):
    """It was enough for a handshake on the last-resort key with each of eight messages."""
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        _, one = await failing(alice, bob, relay)
        bob.say(alice, "begun anew")
        await bob.online()
        await alice.online()
        await alice.has("hi", "begun anew")
        await until(lambda: "repaired" in alice.notes())
        held = ephemerals(bob, alice)
        for number in range(8):
            assert bob.post.inbox.take(one.envelope, one.sig) is Drop.REPEAT
            assert not bob.post.outbox.needs_prekeys(alice.address)
            bob.say(alice, f"message {number}")
            await until(lambda number=number: f"message {number}" in alice.texts())
        assert set(ephemerals(bob, alice)) == set(held)
        bob.post.store.close()
        bob.post.store.__init__(bob.folder)
        assert bob.post.inbox.take(one.envelope, one.sig) is Drop.REPEAT


def receipts_waiting(person):
    rows = person.post.store.rows("SELECT payload FROM outbox WHERE kind='receipt' ORDER BY position")
    return [receipt.read(row[0]) for row in rows]


@pytest.mark.spec("A2ACP-029", "A2ACP-214")
async def test_a_receipt_is_used_once_and_for_the_last_sealing_alone(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        said, one = await failing(alice, bob, relay)
        assert bob.post.inbox.take(one.envelope, one.sig) is Drop.SEALED
        (told,) = receipts_waiting(bob)
        assert told == receipt.Receipt(receipt.CANNOT_OPEN, said, session.digest(one.envelope))
        (waiting,) = [found for found in bob.post.outbox.waiting() if found.receipt]
        sealed = bob.post.outbox.seal(waiting.position, None)
        assert alice.post.inbox.take(sealed.envelope, sealed.sig) is None
        assert alice.post.outbox.pending(said) == "waiting"
        assert alice.post.store.contact(bob.address).fresh_session
        # The same receipt again, and a new one with the old digest: neither does anything.
        assert alice.post.inbox.take(sealed.envelope, sealed.sig) is Drop.REPEAT
        bundle = await alice.post.directory.prekeys(bob.address)
        again = alice.post.outbox.seal(alice.post.outbox.position(said), bundle)
        alice.post.outbox.accepted([said])
        assert not alice.post.store.contact(bob.address).fresh_session
        for digest in (told.digest, bytes(32)):
            with alice.post.store.transaction():
                stale = receipt.Receipt(receipt.CANNOT_OPEN, said, digest)
                assert not alice.post.inbox.repairs.hear(bob.address, stale, relay.clock.now())
        assert alice.post.outbox.pending(said) is None
        assert not alice.post.store.contact(bob.address).fresh_session
        assert bob.post.inbox.take(again.envelope, again.sig) is None
        assert bob.post.inbox.take(again.envelope, again.sig) is Drop.REPEAT
        assert bob.texts() == ["one", "two"]


@pytest.mark.spec("A2ACP-215")
async def test_after_three_tries_both_owners_are_told_that_it_could_not_be_delivered(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        said = alice.say(bob, "never")
        await alice.sent()

        # Bob's device finds neither sessions nor prekeys, and does not know why.
        monkeypatch.setattr(inbox._StoredKnowledge, "sessions", lambda *_: ())
        monkeypatch.setattr(bob.post.store, "single", lambda *_: None)
        await bob.online()
        await until(lambda: "could not be delivered" in bob.notes())
        assert f"packet {said} from {alice.address}: could not be delivered" in bob.notes()
        assert f"packet {said} to {bob.address}: could not be delivered" in alice.notes()
        assert ("out", said, "could not be delivered") in repairs(alice)
        assert ("in", said, "could not be delivered") in repairs(bob)
        (tries,) = [one.tries for one in alice.post.inbox.repairs.known() if one.packet_id == said]
        assert tries == receipt.MOST_TRIES + 1
        await alice.sent()
        assert bob.texts() == ["one"]


@pytest.mark.spec("A2ACP-226", "A2ACP-244")
async def test_every_failure_gives_the_same_word_in_the_same_size_and_an_unsigned_one_gives_none(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        mallory = await relay.person("mallory")
        await bob.post.directory.refresh(mallory.address)
        bob.post.inbox.welcome(mallory.address)
        sizes, kinds = set(), set()
        for spoil in ("first byte", "key", "last byte", "short"):
            frame = sealed_by(mallory, bob)
            body = bytearray(unb64(canonical_object(bytes(frame.envelope))["body"]))
            if spoil == "short":
                body = bytearray(256)
            else:
                body[{"first byte": 0, "key": 5, "last byte": -1}[spoil]] ^= 1
            from tacit.wire.encoding import b64, canonical

            raw = canonical({**canonical_object(bytes(frame.envelope)), "body": b64(bytes(body))})
            assert bob.post.inbox.take(raw, frame.sig) is Drop.BAD_SIGNATURE
            assert not [one for one in bob.post.outbox.waiting() if one.receipt]
            sig = b64(mallory.me.sign(envelope.signed_bytes(raw)))
            assert bob.post.inbox.take(raw, sig) is Drop.SEALED
            (waiting,) = [one for one in bob.post.outbox.waiting() if one.receipt]
            kinds.add(receipts_waiting(bob)[0].kind)
            sizes.add(len(bob.post.outbox.seal(waiting.position, None).envelope))
            bob.post.outbox.accepted([waiting.packet_id])
        assert kinds == {receipt.CANNOT_OPEN}
        assert len(sizes) == 1


def unopenable(stranger, bob):
    from tacit.wire.encoding import b64, canonical

    frame = sealed_by(stranger, bob)
    raw = canonical({**canonical_object(bytes(frame.envelope)), "body": b64(SystemEntropy().draw(1024))})
    return raw, b64(stranger.me.sign(envelope.signed_bytes(raw)))


@pytest.mark.spec("A2ACP-032", "A2ACP-259")
async def test_strangers_get_few_receipts_and_cannot_make_room_for_more(tmp_path, monkeypatch):
    monkeypatch.setattr(receipt, "REMEMBERED_OF_A_STRANGER", 5)
    monkeypatch.setattr(receipt, "OF_ALL_STRANGERS", 7)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        with bob.post.store.transaction():
            bob.post.store.choose("unknown_senders", "accept")
        for name in ("mallory", "trudy", "oscar"):
            stranger = await relay.person(name)
            await bob.post.directory.refresh(stranger.address)
            for _ in range(20):
                assert bob.post.inbox.take(*unopenable(stranger, bob)) is Drop.SEALED
        assert len(receipts_waiting(bob)) == 7
        assert bob.post.store.row("SELECT count(*) FROM dropped")[0] <= 3 * (5 + receipt.OF_A_STRANGER)
        # Tomorrow a little more, and nothing at all for those whom the owner does not want.
        relay.clock.ahead += receipt.DAY + SECOND
        bob.post.inbox.forget_old()
        assert len(receipts_waiting(bob)) == 14
        with bob.post.store.transaction():
            bob.post.store.choose("unknown_senders", "reject")
        relay.clock.ahead += receipt.DAY + SECOND
        bob.post.inbox.forget_old()
        assert len(receipts_waiting(bob)) == 14


@pytest.mark.spec("A2ACP-032", "A2ACP-259")
async def test_a_stranger_hears_nothing_before_it_is_accepted_and_is_asked_then(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        stranger = await relay.person("mallory")
        await bob.post.directory.refresh(stranger.address)
        for _ in range(2):
            assert bob.post.inbox.take(*unopenable(stranger, bob)) is Drop.SEALED
        bob.post.inbox.forget_old()
        assert receipts_waiting(bob) == []
        assert [state for _, _, state in repairs(bob)] == ["could not be opened"] * 2
        bob.post.inbox.welcome(stranger.address)
        assert len(receipts_waiting(bob)) == 2


async def test_what_a_contact_sent_too_much_of_is_asked_for_later(tmp_path, monkeypatch):
    monkeypatch.setattr(receipt, "OF_A_CONTACT", 2)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        for text in ("two", "three", "four", "five"):
            alice.say(bob, text, thread="thr_of_which_bob_has_not_heard")
        await alice.sent()
        lose_sessions(bob, alice)
        await bob.online()
        await until(lambda: [state for _, _, state in repairs(bob)].count("repaired") == 2)
        relay.clock.ahead += receipt.HOUR + SECOND
        bob.post.inbox.forget_old()
        await until(lambda: [state for _, _, state in repairs(bob)].count("repaired") == 4)
        assert sorted(bob.texts()) == sorted(["one", "two", "three", "four", "five"])


@pytest.mark.spec("A2ACP-259")
async def test_whoever_is_blocked_is_asked_for_nothing_more(tmp_path, monkeypatch):
    monkeypatch.setattr(receipt, "OF_A_CONTACT", 1)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        stranger = await relay.person("carol")
        await bob.post.directory.refresh(stranger.address)
        bob.post.inbox.welcome(stranger.address)
        for _ in range(3):
            bob.post.inbox.admit(*unopenable(stranger, bob))
        assert len(receipts_waiting(bob)) == 1
        bob.post.inbox.block(stranger.address)
        assert len(receipts_waiting(bob)) == 0
        relay.clock.ahead += 2 * receipt.HOUR
        bob.post.inbox.forget_old()
        assert len(receipts_waiting(bob)) == 0
        bob.post.inbox.block(stranger.address, blocked=False)
        bob.post.inbox.forget_old()
        assert len(receipts_waiting(bob)) == 1


async def test_what_never_comes_is_told_after_a_week(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        said, one = await failing(alice, bob, relay)
        assert bob.post.inbox.take(one.envelope, one.sig) is Drop.SEALED
        assert repairs(bob) == [("in", said, "asked for again")]
        relay.clock.ahead += receipt.GIVEN_UP_AFTER
        bob.post.inbox.forget_old()
        assert repairs(bob) == [("in", said, "could not be delivered")]
        # It comes after all.
        await alice.online()
        await bob.online()
        await bob.has("one", "two")
        await until(lambda: repairs(bob) == [("in", said, "repaired")])


@pytest.mark.spec("A2ACP-229")
async def test_a_repeated_malformed_packet_counts_once_against_its_sender(tmp_path):
    """Else a relay could have a contact blocked by repeating one packet of it."""
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        mallory = await relay.person("mallory")
        await bob.post.directory.refresh(mallory.address)
        with bob.post.store.transaction():
            bob.post.store.choose("auto_block_malformed", "on")
        frame = sealed_by(mallory, bob, context=[])
        assert bob.post.inbox.take(bytes(frame.envelope), frame.sig) is Drop.MALFORMED
        for _ in range(25):
            assert bob.post.inbox.take(bytes(frame.envelope), frame.sig) is Drop.REPEAT
        assert not bob.post.store.contact(mallory.address).reputation.blocked
        assert receipts_waiting(bob) == []


async def test_receipts_about_what_nobody_sent_change_nothing(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await alice.offline()
        for kind in sorted(receipt.KINDS):
            with alice.post.store.transaction():
                said = receipt.Receipt(kind, "pkt_invented1", bytes(32))
                assert not alice.post.inbox.repairs.hear(bob.address, said, relay.clock.now())
        assert receipts_waiting(alice) == []
        assert repairs(alice) == []


@pytest.mark.spec("A2ACP-225")
async def test_a_backup_of_before_is_still_restored(tmp_path):
    import msgspec

    from tacit.seal import backup

    small = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        content = msgspec.msgpack.decode(
            backup.unlock(bob.post.backup("correct horse battery", **small), "correct horse battery")
        )
        for table in ("sealings", "dropped"):
            del content["tables"][table]
        old = backup.lock(msgspec.msgpack.encode(content), "correct horse battery", SystemEntropy(), **small)
        laptop = Person(tmp_path / "laptop", relay, "bob")
        laptop.post.restore(old, "correct horse battery")
        assert laptop.post.store.contact(alice.address).welcome
        with pytest.raises(Refused):
            laptop.post.restore(old, "correct horse battery")
        laptop.post.store.close()


async def test_the_command_shows_what_was_repaired(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        said, _ = await failing(alice, bob, relay)
        await bob.online()
        await alice.online()
        await until(lambda: "repaired" in alice.notes())
        for person, direction, peer in ((alice, "out", bob), (bob, "in", alice)):
            words = ["--data", str(person.folder), "repairs"]
            plain = CliRunner().invoke(agent, words, catch_exceptions=False).output
            assert said in plain
            assert "repaired" in plain
            rows = json.loads(CliRunner().invoke(agent, [*words, "--json"]).output)["repairs"]
            # A summary of the thread may have failed beside it.
            (row,) = [one for one in rows if one["packet_id"] == said]
            assert (row["direction"], row["peer"], row["packet_id"]) == (direction, peer.address, said)
            assert row["state"] == "repaired"
