import asyncio
import json
import os
import ssl
import stat

import pytest
from aiohttp import ClientConnectorCertificateError, web
from click.testing import CliRunner

from tacit.a2acp.packets.packet import read
from tacit.a2acp.post.io import relay_connection
from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.io.relay_connection import ConnectionSuperseded
from tacit.a2acp.post.reception import Drop, SenderReputation
from tacit.agent.shell.commands.main import agent
from tacit.base.errors import PeerFault, Refused
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, Moment
from tacit.relay.io import registry
from tacit.relay.settings import DAY, RelayLimits
from tacit.wire import frames, version
from tests.agent_support import Person, arrived, body, cleared, people_on
from tests.processes import AGENT, certificate, command
from tests.relay_support import Relay, until

SMALL = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}


def choose(person, name, value):
    """As the person would: by `tacit agent setting`."""
    words = ["--data", str(person.folder), "setting", name, value, "--json"]
    done = CliRunner().invoke(agent, words, catch_exceptions=False)
    assert json.loads(done.output) == {name: value}


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


@pytest.mark.spec("A2ACP-002", "A2ACP-209", "A2ACP-219", "A2ACP-243")
async def test_sealed_packets_reach_a_sleeping_agent_in_order(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        for number in range(5):
            alice.say(bob, f"text {number}")
        await alice.online()
        await alice.sent()
        await bob.online()
        await bob.has(*[f"text {number}" for number in range(5)])
        bob.say(alice, "answer")
        await alice.has("answer")
        alice.say(bob, "again")
        await bob.has(*[f"text {number}" for number in range(5)], "again")


@pytest.mark.spec("A2ACP-013", "A2ACP-246")
async def test_private_keys_never_leave_the_device_and_only_the_owner_reads_the_files(tmp_path):
    seen = bytearray()
    async with Relay(tmp_path / "relay") as relay:

        async def tap(reader, writer):
            onward, back = await asyncio.open_connection("127.0.0.1", relay.port)

            async def pump(source, sink):
                while data := await source.read(65_536):
                    seen.extend(data)
                    sink.write(data)
                sink.close()

            try:
                await asyncio.gather(pump(reader, back), pump(onward, writer))
            finally:
                back.close()
                writer.close()

        server = await asyncio.start_server(tap, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with pair(tmp_path, relay, friends=False) as (alice, _):
            other = Person(tmp_path / "carol", relay, "carol")
            async with other.post:
                code = await relay.invite("carol")
                await other.post.directory.register(other.address, f"http://127.0.0.1:{port}", code)
                me = other.post.store.me().identity
                assert b"possession" in seen
                for secret in (me.signing_seed, me.agreement_private):
                    for form in (
                        secret,
                        secret.hex().encode(),
                        __import__("base64").b64encode(secret)[:40],
                        __import__("base64").urlsafe_b64encode(secret)[:40],
                    ):
                        assert form not in seen
            for path in [tmp_path / "carol", *(tmp_path / "carol").iterdir()]:
                assert stat.S_IMODE(os.stat(path).st_mode) & 0o077 == 0, path
            other.post.store.close()
            assert alice.post.store.has_identity()
        server.close()


@pytest.mark.spec("A2ACP-029")
async def test_a_repeated_packet_is_acknowledged_and_otherwise_ignored(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        alice.say(bob)
        await alice.online()
        await alice.sent()
        (stored,) = relay.mailboxes.store.fetch(relay.mailboxes.agent("bob").account, 0, 9)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.NO_KEY
        await bob.post.directory.refresh(alice.address)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is None
        before = bob.post.store.sessions(alice.address)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.REPEAT
        assert bob.post.store.sessions(alice.address) == before
        await bob.online()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        assert bob.texts() == ["hello"]


@pytest.mark.spec("A2ACP-031")
async def test_an_outsider_cannot_speak_in_a_thread_it_has_no_part_in(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        for person in (bob, alice, carol):
            await person.online()
        alice.say(bob, "ours", thread="thr_private")
        await bob.has("ours")
        carol.say(bob, "me too", thread="thr_private")
        await carol.sent()
        await until(lambda: (who := bob.post.store.contact(carol.address)) and who.reputation.score == 45)
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        assert bob.texts() == ["ours"]


@pytest.mark.spec("A2ACP-032")
@pytest.mark.parametrize("choice", ["ask", "accept", "reject"])
async def test_a_strangers_first_packet_waits_for_the_persons_word(tmp_path, choice):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay, friends=False) as (alice, bob):
        choose(bob, "unknown_senders", choice)
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        alice.say(bob, "two")
        await alice.sent()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        remembered = 0 if choice == "reject" else 2
        await until(lambda: bob.post.store.row("SELECT count(*) FROM seen")[0] == remembered)
        assert bob.texts() == (["one", "two"] if choice == "accept" else [])
        if choice == "reject":
            assert bob.post.store.contact(alice.address) is None, "not even its key was looked for"
        if choice == "ask":
            assert "first time" in bob.notes()
            bob.post.inbox.welcome(alice.address)
            assert bob.texts() == ["one", "two"]
        assert not alice.texts()


@pytest.mark.spec("A2ACP-032", "A2ACP-259")
async def test_what_a_stranger_sent_before_being_blocked_is_gone_for_good(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay, friends=False) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "unwanted")
        await until(lambda: "first time" in bob.notes())
        bob.post.inbox.block(alice.address)
        bob.post.inbox.block(alice.address, blocked=False)
        bob.post.inbox.welcome(alice.address)
        assert bob.texts() == []
        assert not alice.texts()


@pytest.mark.spec("A2ACP-259", "A2ACP-227")
async def test_a_blocked_sender_is_dropped_before_decryption_and_hears_nothing(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        bob.post.inbox.block(alice.address)
        await alice.online()
        alice.say(bob, "let me in")
        await alice.sent()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        assert bob.texts() == []
        assert bob.post.store.sessions(alice.address) == ()
        assert bob.post.store.row("SELECT count(*) FROM prekeys WHERE kind=1")[0] == 100
        assert alice.texts() == []
        assert not bob.post.outbox.waiting()


@pytest.mark.spec("A2ACP-209", "A2ACP-215")
async def test_packets_made_while_disconnected_are_kept_on_disk_and_sent_in_order(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        ids = [alice.say(bob, f"offline {n}") for n in range(20)]
        alice.post.store.close()
        alice.post.store.__init__(alice.folder)
        assert [one.packet_id for one in alice.post.outbox.waiting()] == ids
        await alice.online()
        await bob.has(*[f"offline {n}" for n in range(20)])
        assert [one.packet_id for one in arrived(bob.post)] == ids


@pytest.mark.spec("A2ACP-215")
async def test_an_unanswered_packet_is_sent_again_as_the_same_bytes_under_the_same_id(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        alice.say(bob)
        bundle = await alice.post.directory.prekeys(bob.address)
        (waiting,) = alice.post.outbox.waiting()
        sealed = alice.post.outbox.seal(waiting.position, bundle)
        again = alice.post.outbox.seal(waiting.position, None)
        assert (again.envelope, again.sig) == (sealed.envelope, sealed.sig)


@pytest.mark.spec("A2ACP-207", "A2ACP-208", "A2ACP-209")
async def test_after_a_relay_restart_the_line_comes_back_and_carries_on(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "before")
        await bob.has("before")
        await relay.server.stop()
        alice.say(bob, "during")
        await until(lambda: not alice.connection.connected.is_set())
        relay.server.__init__(relay._settings, relay._parts)
        await relay.server.start()
        await bob.has("before", "during")


@pytest.mark.spec("A2ACP-208", "A2ACP-223")
async def test_after_superseded_the_agent_does_not_fight(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        await alice.online()
        second = alice.post.connection()
        running = asyncio.create_task(second.run())
        await asyncio.wait_for(second.connected.wait(), 60)
        with pytest.raises(ConnectionSuperseded):
            await asyncio.wait_for(alice.running, 60)
        assert "started elsewhere" in alice.notes()
        assert second.connected.is_set()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        alice.running = None


@pytest.mark.spec("A2ACP-212", "A2ACP-213", "A2ACP-214")
async def test_packets_the_relay_lost_are_found_by_comparing_and_sent_again_under_their_ids(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        bob.say(alice, "hi")
        await alice.has("hi")
        await bob.offline()
        lost = alice.say(bob, "two")
        await alice.sent()
        await relay.mailboxes.store.write(lambda file: file.execute("DELETE FROM queue") and None)
        relay.mailboxes.quota.forget(relay.mailboxes.agent("bob").account)
        relay.clock.ahead += 61 * SECOND
        await alice.offline()
        await alice.online()
        await bob.online()
        await bob.has("one", "two")
        assert arrived(bob.post)[1].packet_id == lost


@pytest.mark.spec("A2ACP-030", "A2ACP-219")
async def test_a_gap_is_waited_for_and_then_reported(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        await bob.offline()
        alice.say(bob, "two")
        await alice.sent()
        account = relay.mailboxes.agent("bob").account
        await relay.mailboxes.store.write(lambda file: file.execute("DELETE FROM queue") and None)
        relay.mailboxes.quota.forget(account)
        alice.say(bob, "three")
        await alice.sent()
        (stored,) = relay.mailboxes.store.fetch(account, 0, 9)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is None
        bob.post.inbox.release_overdue()
        assert bob.texts() == ["one"]
        relay.clock.ahead += 31 * SECOND
        bob.post.inbox.release_overdue()
        assert bob.texts() == ["one", "three"]
        (summary,) = bob.post.outbox.waiting()
        sent = bob.post.store.row("SELECT payload FROM outbox WHERE packet_id=?", summary.packet_id)[0]
        assert read(sent).type == "thread_sync"


@pytest.mark.spec("A2ACP-220", "A2ACP-221")
async def test_a_full_queue_is_told_to_the_sender_and_a_consolidated_packet_recovers(tmp_path, monkeypatch):
    # What is sent again comes after the mail, at the pace of a relay that takes sixty a minute; this one takes more.
    monkeypatch.setattr(relay_connection, "_A_SECOND", 1000.0)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        await alice.online()
        for number in range(101):
            alice.say(bob, f"{number}")
        full = "SELECT DISTINCT peer, thread_id FROM outbox WHERE state='overflow'"
        await until(lambda: alice.post.store.rows(full) == [(bob.address, "thr_dinner")])
        assert "queue_overflow" in alice.notes()
        alice.say(bob, "summary of 0 to 100", replace_queue=True)
        await alice.sent()
        await bob.online()
        await until(lambda: "summary of 0 to 100" in bob.texts())
        assert bob.texts()[0] == "summary of 0 to 100"
        # The marker made bob ask; what was replaced arrives after all, once, under its own ids.
        await until(lambda: len(bob.texts()) == 102)
        assert sorted(bob.texts()[1:], key=int) == [f"{number}" for number in range(101)]


@pytest.mark.spec("A2ACP-015", "A2ACP-247")
async def test_a_rotation_signed_by_the_old_key_is_followed_without_asking(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "old key")
        await bob.has("old key")
        await alice.offline()
        await renew(relay, alice, rotate=True)
        await alice.online()
        alice.say(bob, "new key")
        await bob.has("old key", "new key")
        assert bob.post.store.contact(alice.address).pin.usable


async def renew(relay, person, *, rotate):
    code = "code-" + person.username
    await relay.mailboxes.store.write(
        lambda file: registry.add_code(
            file, code=code, purpose="enrol", username=person.username, expires=2**60
        )
    )
    await person.post.directory.register(person.address, relay.url, code, rotate=rotate)


@pytest.mark.spec("A2ACP-247")
async def test_a_key_changed_without_proof_blocks_both_ways_until_the_person_accepts(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "first")
        await bob.has("first")
        await alice.offline()
        thief = Person(tmp_path / "thief", relay, "alice")
        async with thief.post:
            await renew(relay, thief, rotate=False)
            await thief.online()
            thief.post.inbox.welcome(bob.address)
            thief.say(bob, "trust me")
            await thief.sent()
            await until(lambda: not bob.post.store.contact(alice.address).pin.usable)
            assert bob.texts() == ["first"]
            assert "has changed" in bob.notes()
            with pytest.raises(Refused) as refused:
                bob.say(alice, "hello?")
            assert refused.value.code == "key_changed"
            before = bob.post.safety_number(alice.address)
            with pytest.raises(Refused, match="unknown_contact"):
                bob.post.safety_number("agent:nobody@elsewhere.example")
            assert before != bob.post.safety_number(alice.address, offered=True)
            assert before == alice.post.safety_number(bob.address)
            bob.post.decide(alice.address, "accept")
            await bob.offline()
            await bob.online()
            await bob.has("first", "trust me")
            await thief.offline()
        thief.post.store.close()


@pytest.mark.spec("A2ACP-224", "A2ACP-225", "A2ACP-213")
async def test_a_backup_restored_on_a_second_device_speaks_for_the_address_and_fills_its_gaps(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        bob.say(alice, "hi")
        await alice.has("hi")
        saved = bob.post.backup("correct horse battery", **SMALL)
        alice.say(bob, "after the backup")
        await bob.has("one", "after the backup")
        await bob.offline()
        alice.say(bob, "sealed for the old device")
        await alice.sent()
        relay.clock.ahead += 61 * SECOND
        laptop = Person(tmp_path / "laptop", relay, "bob")
        with pytest.raises(Refused):
            laptop.post.restore(saved, "wrong horse battery")
        laptop.post.restore(saved, "correct horse battery")
        assert laptop.post.store.sessions(alice.address) == ()
        with pytest.raises(Refused):
            laptop.post.restore(saved, "correct horse battery")
        async with laptop.post:
            await laptop.online()
            await laptop.has("one", "after the backup", "sealed for the old device")
            laptop.say(alice, "from the laptop")
            await alice.has("hi", "from the laptop")
            await laptop.offline()
        laptop.post.store.close()


@pytest.mark.spec("A2ACP-225")
async def test_a_backup_holds_no_ratchet_state_and_no_prekeys(tmp_path):
    from tacit.seal import backup

    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        (session,) = bob.post.store.sessions(alice.address)
        content = backup.unlock(bob.post.backup("correct horse battery", **SMALL), "correct horse battery")
        assert bob.post.store.me().identity.signing_seed in content
        for secret in (session.ratchet.root, session.ratchet.own_private, session.ratchet.receiving):
            assert secret not in content
        for (private,) in bob.post.store.rows("SELECT private FROM prekeys"):
            assert private not in content


@pytest.mark.spec("A2ACP-245", "A2ACP-236")
async def test_a_peer_without_the_ratchet_gets_the_stateless_form(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay:
        monkeypatch.setattr(version, "ENCRYPTIONS", (version.STATELESS,))
        async with people_on(relay, tmp_path, "bob") as (bob,):
            monkeypatch.setattr(version, "ENCRYPTIONS", (version.RATCHET, version.STATELESS))
            async with people_on(relay, tmp_path, "alice") as (alice,):
                bob.post.inbox.welcome(alice.address)
                await bob.online()
                await alice.online()
                alice.say(bob, "plain peer")
                await bob.has("plain peer")
                assert bob.post.store.sessions(alice.address) == ()


@pytest.mark.spec("A2ACP-253")
async def test_without_common_encryption_nothing_is_sent_and_the_person_is_told(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay:
        monkeypatch.setattr(version, "ENCRYPTIONS", ("rot13",))
        async with people_on(relay, tmp_path, "bob") as (bob,):
            monkeypatch.undo()
            async with people_on(relay, tmp_path, "alice") as (alice,):
                await alice.online()
                sent = alice.say(bob, "hello")
                await until(lambda: (alice.post.outbox.pending(sent) or "").startswith("failed"))
                assert "no encryption" in alice.notes()
                assert relay.mailboxes.quota.total() == (0, 0)


@pytest.mark.spec("A2ACP-258")
async def test_a_rate_limited_agent_waits_and_sends_again_from_its_queue(tmp_path):
    limits = RelayLimits(packets_per_minute=600, burst=5, lookups_per_minute=1000)
    async with Relay(tmp_path / "relay", limits=limits) as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        for number in range(12):
            alice.say(bob, f"{number}")
        await bob.has(*[f"{number}" for number in range(12)])
        assert relay.mailboxes.counts.errors["rate_limited"] > 0


@pytest.mark.spec("A2ACP-222")
async def test_ids_are_remembered_for_sixty_days_and_older_packets_are_refused(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        alice.say(bob)
        await alice.online()
        await alice.sent()
        (stored,) = relay.mailboxes.store.fetch(relay.mailboxes.agent("bob").account, 0, 9)
        await bob.post.directory.refresh(alice.address)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is None
        relay.clock.ahead += 59 * DAY
        bob.post.inbox.forget_old()
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.REPEAT
        relay.clock.ahead += 4 * DAY
        bob.post.inbox.forget_old()
        # Its id is forgotten; that it came is not.
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.REPEAT
        bob.post.store.run("DELETE FROM history WHERE direction='in'")
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.STALE


@pytest.mark.spec("A2ACP-222")
async def test_an_id_outlives_the_window_of_its_own_date(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        alice.say(bob)
        await alice.online()
        await alice.sent()
        (stored,) = relay.mailboxes.store.fetch(relay.mailboxes.agent("bob").account, 0, 9)
        await bob.post.directory.refresh(alice.address)
        # By a witness that is ahead for the moment, it may be that late.
        bob.post.clock.witness(Moment(relay.clock.now() + 30 * DAY))
        relay.clock.ahead -= DAY
        assert bob.post.inbox.take(stored.envelope, stored.sig) is None
        ((seen_at,),) = bob.post.store.rows("SELECT at FROM seen")
        assert seen_at > relay.clock.now() + DAY // 2


@pytest.mark.spec("A2ACP-226", "A2ACP-228", "A2ACP-227")
async def test_malformed_packets_are_dropped_silently_counted_and_flagged(tmp_path, monkeypatch):
    from tacit.a2acp.post.io import outbox

    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        monkeypatch.setattr(
            outbox.packet, "compose", lambda fields: json.dumps({**fields, "context": []}).encode()
        )
        monkeypatch.setattr(outbox.Outbox, "_header", staticmethod(_lenient_header(outbox)))
        for _ in range(5):
            alice.say(bob)
        await alice.sent()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        await until(lambda: "malformed" in bob.notes())
        contact = bob.post.store.contact(alice.address)
        assert (contact.reputation.flagged, contact.reputation.blocked) == (True, False)
        assert "malformed" in bob.notes()
        assert bob.texts() == []
        assert not bob.post.outbox.waiting()


def _lenient_header(outbox):
    def header(me, pin, payload, flags):
        inner = read(json.dumps({**json.loads(payload), "context": {}}).encode())
        tag = outbox.reception.queue_tag(
            me.identity, pin, sender=me.address, recipient=inner.recipient, thread_id=inner.thread_id
        )
        return outbox.envelope.visible_header(
            protocol=inner.protocol, packet_id=inner.packet_id, queue_tag=tag, sender=inner.sender,
            recipient=inner.recipient, timestamp=inner.timestamp,
        )  # fmt: skip

    return header


async def heard_by_listening(person, count):
    """What `tacit agent listen` prints, in its order."""
    listening = await asyncio.create_subprocess_exec(
        *command(AGENT, "--data", person.folder, "listen", "--count", count, "--json"),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await asyncio.wait_for(listening.communicate(), 60)
    assert listening.returncode == 0
    said = [json.loads(line) for line in told.decode().splitlines()]
    return [one["packet"]["context"]["text"] for one in said if "packet" in one]


@pytest.mark.spec("A2ACP-260", "A2ACP-261")
async def test_listening_prints_low_reputation_senders_after_the_others(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        for person in (bob, alice, carol):
            await person.online()
        alice.say(bob, "alice 1", thread="thr_aaaa")
        alice.say(bob, "alice 2", thread="thr_aaaa")
        await bob.has("alice 1", "alice 2")
        carol.say(bob, "carol 1", thread="thr_cccc")
        await bob.has("alice 1", "alice 2", "carol 1")
        await bob.offline()
        with bob.post.store.transaction():
            bob.post.store.set_reputation(alice.address, SenderReputation(score=19))
        assert await heard_by_listening(bob, 3) == ["carol 1", "alice 1", "alice 2"]
        assert bob.post.inbox.unhandled() == []


@pytest.mark.spec("A2ACP-260")
async def test_what_poor_senders_pile_up_delays_nobody_and_nothing_is_lost_or_comes_twice(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        for person in (bob, alice, carol):
            await person.online()
        for number in range(3):
            alice.say(bob, f"alice {number}", thread="thr_aaaa")
        await until(lambda: len(bob.texts()) == 3)
        for number in range(2):
            carol.say(bob, f"carol {number}", thread="thr_cccc")
        await until(lambda: len(bob.texts()) == 5)
        store, inbox = bob.post.store, bob.post.inbox

        def judged(address, score):
            with store.transaction():
                store.set_reputation(address, SenderReputation(score=score))

        def handle(limit):
            page = inbox.unhandled(limit)
            with store.transaction():
                inbox.handled(page)
            return [read(one.payload).fields["context"]["text"] for one in page]

        judged(alice.address, 19)
        assert handle(1) == ["carol 0"]
        # Reputations that change between two pages move what is left, and only that.
        judged(alice.address, 20)
        judged(carol.address, 0)
        assert handle(2) == ["alice 0", "alice 1"]
        judged(alice.address, 0)
        assert handle(9) == ["alice 2", "carol 1"]
        assert handle(9) == []
        assert store.setting("printed_beyond", "") == "[]"


@pytest.mark.spec("A2ACP-261")
async def test_a_stranger_of_low_reputation_is_kept_without_a_note(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol", friends=False) as (alice, bob, carol),
    ):
        for person in (bob, alice, carol):
            await person.online()
        with bob.post.store.transaction():
            bob.post.store.know(alice.address)
            bob.post.store.set_reputation(alice.address, SenderReputation(score=10))
        alice.say(bob, "muted", thread="thr_aaaa")
        carol.say(bob, "told", thread="thr_cccc")
        asked = "SELECT peer FROM history WHERE state='asked' ORDER BY peer"
        await until(lambda: bob.post.store.rows(asked) == [(alice.address,), (carol.address,)])
        assert f"{carol.address} wants to reach you" in bob.notes()
        assert alice.address not in bob.notes()


@pytest.mark.spec("A2ACP-009")
async def test_the_sender_itself_refuses_a_bad_address(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        with pytest.raises(Refused) as refused:
            alice.post.outbox.post(cleared("bob", "context", body(), thread_id="thr_dinner"))
        assert refused.value.code == "bad_address"


@pytest.mark.spec("A2ACP-057")
async def test_a_type_the_peer_does_not_know_is_not_sent(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        with pytest.raises(Refused) as refused:
            alice.post.outbox.post(cleared(bob.address, "space_update", {}, thread_id="thr_dinner"))
        assert refused.value.code == "not_supported"


@pytest.mark.spec("A2ACP-237", "A2ACP-239")
async def test_a_thread_speaks_the_highest_common_version_and_none_is_an_error_at_once(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        alice.post.store.set_offers(bob.address, encryption=[version.RATCHET], versions=["0.1"])
        sent = alice.say(bob)
        row = alice.post.store.row("SELECT payload FROM history WHERE packet_id=?", sent)
        assert read(row[0]).protocol == "a2acp/0.1"
        alice.post.store.set_offers(bob.address, encryption=[version.RATCHET], versions=["9.9"])
        with pytest.raises(Refused) as refused:
            alice.say(bob, thread="thr_other")
        assert refused.value.code == "no_common_version"


@pytest.mark.spec("A2ACP-017")
async def test_an_agent_signs_no_challenge_of_a_relay_that_names_another_domain(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        relay.mailboxes.domain = "bank.example"
        connection = alice.post.connection()
        running = asyncio.create_task(connection.run())
        await until(lambda: connection.attempts > 0)
        assert relay.mailboxes.counts.login_failures == 0
        assert relay.mailboxes.counts.logins == 0
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.mark.spec("A2ACP-210")
async def test_thread_state_is_local_and_the_relay_has_no_frame_to_ask_for_it(tmp_path):
    assert not {name for name in frames.KNOWN if "thread" in name}
    post = Post(tmp_path, clock=Relay(tmp_path / "r").clock, entropy=SystemEntropy())
    assert post.store.rows("SELECT * FROM threads") == []
    post.store.close()


async def test_a_relay_is_spoken_to_only_under_a_certificate_that_is_trusted(tmp_path):
    cert, key = certificate(tmp_path)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(cert, key)

    async def here(_: web.Request) -> web.Response:
        return web.Response(text="here")

    app = web.Application()
    app.router.add_get("/", here)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=served)
        await site.start()
        url = f"https://127.0.0.1:{runner.addresses[0][1]}/"
        entropy = SystemEntropy()
        async with Post(
            tmp_path / "a",
            clock=TimeService(),
            entropy=entropy,
            trust=ssl.create_default_context(cafile=cert),
        ) as post:
            async with post.http.get(url) as answer:
                assert await answer.text() == "here"
            post.store.close()
        async with Post(tmp_path / "b", clock=TimeService(), entropy=entropy) as post:
            with pytest.raises(ClientConnectorCertificateError):
                await post.http.get(url)
            post.store.close()
    finally:
        await runner.cleanup()


async def stored_for(relay, person):
    account = relay.mailboxes.agent(person.username).account
    return relay.mailboxes.store.fetch(account, 0, 100)


@pytest.mark.spec("A2ACP-244", "A2ACP-227")
async def test_a_tag_that_does_not_belong_to_the_thread_inside_is_dropped_and_counted(tmp_path, monkeypatch):
    from tacit.a2acp.post.io import outbox

    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        await bob.post.directory.refresh(alice.address)
        real = outbox.reception.queue_tag
        monkeypatch.setattr(outbox.reception, "queue_tag", lambda *_, **__: "q_" + "B" * 22)
        alice.say(bob, "in the wrong box")
        await alice.online()
        await alice.sent()
        (stored,) = await stored_for(relay, bob)
        monkeypatch.setattr(outbox.reception, "queue_tag", real)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.HEADER
        assert bob.post.store.contact(alice.address).reputation.score == 45
        assert bob.texts() == []


@pytest.mark.spec("A2ACP-247")
async def test_while_a_key_change_is_undecided_nothing_is_taken_even_under_the_old_key(tmp_path):
    from tacit.seal import identity

    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        pin = await bob.post.directory.refresh(alice.address)
        alice.say(bob, "signed with the old key")
        await alice.online()
        await alice.sent()
        (stored,) = await stored_for(relay, bob)
        swapped = identity.observe(pin, identity.generate(SystemEntropy()).public, pin.serial + 1)
        bob.post.store.set_pin(alice.address, swapped)
        assert bob.post.inbox.take(stored.envelope, stored.sig) is Drop.KEY_CHANGED
        bob.post.decide(alice.address, "reject")
        assert bob.post.inbox.take(stored.envelope, stored.sig) is None
        assert bob.texts() == ["signed with the old key"]


@pytest.mark.spec("A2ACP-245")
async def test_a_used_one_time_prekey_is_destroyed_with_the_packet_that_used_it(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        await bob.post.directory.refresh(alice.address)
        alice.say(bob)
        await alice.online()
        await alice.sent()
        (stored,) = await stored_for(relay, bob)
        before = {row[0] for row in bob.post.store.rows("SELECT id FROM prekeys WHERE kind=1")}
        assert bob.post.inbox.take(stored.envelope, stored.sig) is None
        after = {row[0] for row in bob.post.store.rows("SELECT id FROM prekeys WHERE kind=1")}
        assert len(before - after) == 1


@pytest.mark.spec("A2ACP-258")
async def test_a_limit_on_new_recipients_holds_up_the_new_ones_alone(tmp_path):
    limits = RelayLimits(new_recipients_per_hour=1, lookups_per_minute=1000)
    async with (
        Relay(tmp_path / "relay", limits=limits) as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol") as (alice, bob, carol),
    ):
        for person in (bob, carol, alice):
            await person.online()
        alice.say(bob, "one")
        await bob.has("one")
        late = alice.say(carol, "nice to meet you", thread="thr_carol")
        await until(lambda: relay.mailboxes.counts.errors["rate_limited"] > 0)
        alice.say(bob, "two")
        await bob.has("one", "two")
        assert alice.post.outbox.pending(late) == "waiting"
        assert relay.mailboxes.counts.errors["rate_limited"] == 1
        # The hour is over.
        relay.clock.ahead += 3601 * SECOND
        alice.connection._held.clear()
        await carol.has("nice to meet you")


@pytest.mark.parametrize("fault", [ConnectionResetError, PeerFault])
async def test_an_agent_goes_offline_though_something_fails_while_it_does(tmp_path, fault) -> None:
    """The group of its tasks tells of what failed, and not that it was being ended."""
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice") as (alice,):
        alice.connection = connection = alice.post.connection()
        began = asyncio.Event()

        async def fails_at_the_end(_socket: object) -> None:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                raise fault("while it ends")

        connection._stay_alive = fails_at_the_end
        alice.running = asyncio.create_task(connection.run())
        async with asyncio.timeout(60):
            await began.wait()
            await alice.offline()
        assert alice.running is None


@pytest.mark.spec("A2ACP-222")
async def test_what_expires_at_the_relay_is_told_of_only_where_a_person_wrote_it(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        bob.say(alice, "hi")
        await alice.has("hi")
        for person in (alice, bob):
            await person.sent()
            await person.offline()
        message = alice.say(bob, "two")
        with alice.post.store.transaction():
            relay.clock.ahead += 61 * SECOND
            assert alice.post.inbox.summarise(bob.address, "thr_dinner", answer=False)
        summaries = [
            unsent.packet_id for unsent in alice.post.outbox.waiting() if unsent.packet_id != message
        ]
        for packet_id in (message, *summaries, "pkt_a_receipt"):
            alice.post.outbox.accepted([packet_id])
            alice.post.outbox.refused(packet_id, "expired")
        assert len(summaries) == 1
        assert alice.notes().count("not delivered") == 1
        assert f"{message} was not delivered: expired" in alice.notes()
        assert not alice.post.outbox.waiting()
