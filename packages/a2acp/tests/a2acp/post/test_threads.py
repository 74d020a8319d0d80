"""Versions, gap recovery and keys over a thread's life, between two real posts on a real relay."""

import pytest

from tacit.a2acp.packets import packet
from tacit.a2acp.packets.packet import read
from tacit.a2acp.post.io import relay_connection
from tacit.a2acp.post.io.threads import STALLED
from tacit.base.errors import Refused
from tacit.base.moment import SECOND
from tacit.relay.settings import DAY
from tacit.wire import buckets, version
from tests.agent_support import arrived, body, cleared, people_on
from tests.relay_support import Relay, until

THREAD = "thr_dinner"


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


def sent_types(person, thread="%"):
    query = "SELECT type FROM history WHERE direction='out' AND thread_id LIKE ? ORDER BY position"
    return [row[0] for row in person.post.store.rows(query, thread)]


def state_of(person, thread=THREAD):
    return person.post.store.row("SELECT state FROM threads WHERE thread_id=?", thread)[0]


def spoken(person, packet_id):
    return read(person.post.store.row("SELECT payload FROM history WHERE packet_id=?", packet_id)[0]).protocol


def speak(person, monkeypatch, protocol):
    """The person's agent is another edition: whatever it writes names that version and offers it alone."""
    capabilities = packet.capabilities() | {"supported_versions": [protocol.removeprefix("a2acp/")]}
    compose = packet.compose

    def other_edition(fields):
        if fields["from"] == person.address:
            fields = fields | {"protocol": protocol}
            if "capabilities" in fields:
                fields["capabilities"] = capabilities
        return compose(fields)

    monkeypatch.setattr(packet, "compose", other_edition)


async def met(alice, bob):
    """Both have said something, so each knows what the other can do."""
    await bob.online()
    await alice.online()
    alice.say(bob, "one")
    await bob.has("one")
    bob.say(alice, "hi")
    await alice.has("hi")


def summarise_open(person):
    """A summary of every open thread, all at once."""
    with person.post.store.transaction():
        inbox = person.post.inbox
        return sum(inbox.summarise(peer, thread, answer=False) for thread, peer in inbox.open_threads())


@pytest.mark.spec("A2ACP-235")
async def test_each_side_s_first_packet_of_a_thread_says_what_it_can_do_and_later_ones_do_not(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        alice.say(bob, "two")
        alice.say(bob, "elsewhere", thread="thr_lunch")
        for person, offers in ((alice, [True, False, True]), (bob, [True])):
            rows = person.post.store.rows(
                "SELECT payload FROM history WHERE direction='out' AND type='context' ORDER BY position"
            )
            said = [read(row[0]).fields.get("capabilities") for row in rows]
            assert said == [packet.capabilities() if offer else None for offer in offers]


@pytest.mark.spec("A2ACP-239", "A2ACP-237")
async def test_a_thread_switches_down_on_the_answer_and_nothing_is_sent_again(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        first = alice.say(bob, "one")
        await bob.has("one")
        assert spoken(alice, first) == version.NEWEST
        speak(bob, monkeypatch, "a2acp/0.1")
        bob.say(alice, "slower please")
        await alice.has("slower please")
        monkeypatch.undo()
        second = alice.say(bob, "two")
        await bob.has("one", "two")
        assert spoken(alice, second) == "a2acp/0.1"
        assert [one.packet_id for one in arrived(bob.post)] == [first, second]
        assert [one for one in sent_types(alice) if one != "thread_sync"] == ["context", "context"]


@pytest.mark.spec("A2ACP-239")
async def test_a_new_thread_opens_in_the_version_last_used_when_the_peers_offers_are_unknown(
    tmp_path, monkeypatch
):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        speak(bob, monkeypatch, "a2acp/0.1")
        bob.say(alice, "old")
        await alice.has("old")
        monkeypatch.undo()
        alice.post.store.set_offers(bob.address, encryption=[version.RATCHET], versions=[])
        assert spoken(alice, alice.say(bob, "anew", thread="thr_another")) == "a2acp/0.1"
        stranger = f"agent:carol@{relay.domain}"
        fresh = alice.post.outbox.post(cleared(stranger, "context", body(), thread_id="thr_third"))
        assert spoken(alice, fresh) == version.NEWEST


@pytest.mark.spec("A2ACP-239")
async def test_without_a_common_version_the_peer_is_told_once_the_thread_stalls_and_nothing_is_tried_again(
    tmp_path, monkeypatch
):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await bob.offline()
        bob.post.store.set_offers(alice.address, encryption=[version.RATCHET], versions=["9.9"])
        # The directory still says what the edition before could do; a look-up in between would open the thread.
        monkeypatch.setattr(bob.post.store, "set_offers", lambda *_given, **_named: None)
        speak(alice, monkeypatch, "a2acp/9.9")
        foreign = alice.say(bob, "from the future", thread="thr_future")
        alice.say(bob, "and more", thread="thr_future")
        await alice.sent()
        # Alice's agent stays that edition: whatever else it sends, for one after a hang-up, opens nothing.
        await bob.online()
        await until(lambda: "processing_error" in [one.type for one in arrived(alice.post)])
        (told,) = [one for one in arrived(alice.post) if one.thread_id == "thr_future"]
        fields = read(told.payload).fields
        assert (fields["code"], fields["in_reply_to"], fields["retry_expected"]) == (
            "no_common_version", foreign, False,
        )  # fmt: skip
        assert set(fields) <= {*packet.HEADER, "seq", "capabilities", "code", "in_reply_to", "retry_expected"}
        for person in (alice, bob):
            assert state_of(person, "thr_future") == STALLED
            assert "no_common_version" in person.notes()
        assert bob.texts() == ["one"]
        # Once in this thread: after a hang-up Alice's agent sums up the other one too, which cannot be read either.
        assert sent_types(bob, "thr_future").count("processing_error") == 1
        await bob.offline()
        summarise_open(bob)
        assert not [one for one in bob.post.outbox.waiting() if "thr_future" in str(one)]
        with pytest.raises(Refused) as refused:
            bob.say(alice, "again", thread="thr_future")
        assert refused.value.code == "no_common_version"


@pytest.mark.spec("A2ACP-239")
async def test_what_waited_in_a_stalled_thread_fails_and_a_valid_packet_opens_it_again(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        await alice.offline()
        waiting = alice.say(bob, "two")
        with alice.post.store.transaction():
            assert alice.post.inbox.threads.stall(bob.address, THREAD, "no_common_version", relay.clock.now())
            assert not alice.post.inbox.threads.stall(
                bob.address, THREAD, "no_common_version", relay.clock.now()
            )
        assert alice.post.outbox.pending(waiting) == "failed: no_common_version"
        await alice.online()
        bob.say(alice, "still there?")
        await alice.has("hi", "still there?")
        assert state_of(alice) == "open"
        assert bob.texts() == ["one"]


@pytest.mark.spec("A2ACP-214")
async def test_a_summary_is_answered_once_and_an_answer_never(tmp_path, monkeypatch):
    async def nothing(_self, _after):
        """What is compared by itself after a connect is not what is counted here."""

    monkeypatch.setattr("tacit.a2acp.post.io.comparisons.Comparisons.compare_open", nothing)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        relay.clock.ahead += 120 * SECOND

        def ask():
            with alice.post.store.transaction():
                return alice.post.inbox.summarise(bob.address, THREAD, answer=False)

        before = [sent_types(one).count("thread_sync") for one in (alice, bob)]
        assert ask()
        assert not ask()
        await until(lambda: sent_types(bob).count("thread_sync") == before[1] + 1)
        for one in (alice, bob):
            await one.sent()  # one that still waits stands for the next
        relay.clock.ahead += 61 * SECOND
        assert ask()
        await until(lambda: sent_types(bob).count("thread_sync") == before[1] + 2)
        alice.say(bob, "two")
        await bob.has("one", "two")
        await bob.sent()
        bob.say(alice, "three")
        await alice.has("hi", "three")
        assert sent_types(alice).count("thread_sync") == before[0] + 2
        assert sent_types(bob).count("thread_sync") == before[1] + 2
        row = (
            "SELECT payload FROM history WHERE direction='out' AND type='thread_sync' ORDER BY position DESC"
        )
        fields = read(bob.post.store.row(row)[0]).fields
        assert fields["state"] == "open"
        assert fields["sent_ids"] == [arrived(alice.post)[0].packet_id]
        assert fields["received_ids"] == [arrived(bob.post)[0].packet_id]


@pytest.mark.spec("A2ACP-252")
async def test_the_published_agreement_key_changes_within_thirty_days_and_the_one_before_still_opens(
    tmp_path,
):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        bundle = await alice.post.directory.prekeys(bob.address)
        relay.clock.ahead += 29 * DAY
        await bob.post.publish()
        assert (await alice.post.directory.prekeys(bob.address)).signed_id != bundle.signed_id
        late = alice.say(bob, "sealed for the key before")
        position = alice.post.outbox.waiting()[0].position
        assert alice.post.outbox.seal(position, bundle).packet_id == late
        await alice.online()
        await bob.online()
        await bob.has("sealed for the key before")
        relay.clock.ahead += 61 * DAY
        bob.post.inbox.forget_old()
        assert bob.post.store.signed(bundle.signed_id) is None


@pytest.mark.spec("A2ACP-252")
async def test_the_key_changes_also_while_the_line_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(relay_connection.timing, "PING_SECONDS", 0.05)
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (_, bob):
        await bob.online()
        account = relay.mailboxes.agent("bob").account

        def published():
            from tacit.relay.io import registry

            return registry.signed_prekey_id(relay.mailboxes.store.reader, account)

        await until(published)
        first = published()
        relay.clock.ahead += 8 * DAY
        bob.post.store.run("INSERT INTO seen VALUES ('agent:x@y.example','pkt_old1',0)")
        await until(lambda: published() != first)
        await until(lambda: bob.post.store.row("SELECT 1 FROM seen WHERE packet_id='pkt_old1'") is None)


@pytest.mark.spec("A2ACP-252")
async def test_what_the_relay_holds_has_one_length_for_many_texts(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.post.publish()
        await alice.online()
        for length in range(0, 240, 20):
            alice.say(bob, "x" * length)
        await alice.sent()
        stored = relay.mailboxes.store.fetch(relay.mailboxes.agent("bob").account, 0, 100)
        sizes = {len(read_body(one.envelope)) for one in stored}
        assert len(stored) == 12
        assert len(sizes) <= 3
        assert sizes <= {-(-size * 4 // 3) for size in buckets.BUCKETS}


def read_body(raw):
    from tacit.wire import envelope

    return envelope.read(raw).body


@pytest.mark.spec("A2ACP-032", "A2ACP-259")
async def test_nothing_is_said_by_itself_to_whom_nobody_accepted_or_who_is_blocked(tmp_path):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", "carol", friends=False) as (alice, bob, carol),
    ):
        alice.post.inbox.welcome(carol.address)
        for person in (alice, bob, carol):
            await person.online()
        for number in range(3):
            bob.say(alice, f"let me in {number}")
        carol.say(alice, "hi", thread="thr_carol")
        await alice.has("hi")
        await until(
            lambda: alice.post.store.row("SELECT count(*) FROM history WHERE peer=?", bob.address) == (3,)
        )
        assert alice.notes().count("first time") == 1
        alice.post.inbox.block(carol.address)
        await alice.offline()
        relay.clock.ahead += 61 * SECOND
        # A line that broke meanwhile has asked carol, who was not blocked yet, what she has.
        before = sent_types(alice)
        assert summarise_open(alice) == 0
        lacks = {"state": "open", "sent_ids": [], "received_ids": [], "answer": False}
        for peer, thread in ((bob, THREAD), (carol, "thr_carol")):
            with alice.post.store.transaction():
                alice.post.inbox._compare(lacks, peer.address, thread, relay.clock.now())
        assert sent_types(alice) == before
        assert sent_types(alice, THREAD) == []
        # Once accepted, each hears what is due.
        alice.post.inbox.welcome(bob.address)
        alice.post.inbox.block(carol.address, blocked=False)
        assert summarise_open(alice) == 2


@pytest.mark.spec("A2ACP-032", "A2ACP-239")
async def test_a_stranger_whose_version_we_do_not_speak_hears_nothing(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay, friends=False) as (alice, bob):
        await alice.online()
        await bob.online()
        speak(bob, monkeypatch, "a2acp/9.9")
        bob.say(alice, "from the future")
        await until(lambda: alice.post.store.row("SELECT count(*) FROM seen") == (1,))
        assert sent_types(alice) == []
        alice.post.inbox.welcome(bob.address)
        bob.say(alice, "still there?", thread="thr_again")
        await until(lambda: "processing_error" in sent_types(alice))


@pytest.mark.spec("A2ACP-213", "A2ACP-239")
async def test_a_peer_that_left_our_versions_does_not_keep_us_from_our_line(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        alice.say(bob, "unanswered", thread="thr_unanswered")
        await alice.sent()
        await alice.offline()
        alice.post.store.set_offers(bob.address, encryption=[version.RATCHET], versions=["9.9"])
        relay.clock.ahead += 61 * SECOND
        await alice.online()
        assert alice.connection.connected.is_set()


@pytest.mark.spec("A2ACP-214")
async def test_a_peer_that_keeps_naming_nothing_gets_each_packet_again_once_a_minute(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await met(alice, bob)
        alice.say(bob, "two")
        await bob.has("one", "two")
        await alice.sent()
        await alice.offline()
        # Long after whatever the two compared by themselves, for one after a hang-up.
        relay.clock.ahead += 61 * SECOND

        def lacks(*, answer):
            fields = {"state": "open", "sent_ids": [], "received_ids": [], "answer": answer}
            with alice.post.store.transaction():
                alice.post.inbox._compare(fields, bob.address, THREAD, relay.clock.now())
            again = alice.post.store.rows(
                "SELECT packet_id FROM outbox WHERE packet_id IN (SELECT packet_id FROM history WHERE type='context')"
            )
            alice.post.outbox.accepted([row[0] for row in again])
            return len(again)

        assert [lacks(answer=True) for _ in range(3)] == [2, 0, 0]
        assert lacks(answer=False) == 0
        relay.clock.ahead += 61 * SECOND
        assert [lacks(answer=False) for _ in range(3)] == [2, 0, 0]
