import asyncio
import json

import pytest

from tacit.base.moment import SECOND
from tacit.relay.io import correspondence, server
from tacit.relay.settings import HOUR, RelayLimits
from tacit.wire import frames, records
from tests.relay_support import Relay, relay_with, until

FEW = RelayLimits(lookups_per_minute=1000, new_recipients_per_hour=2)
ROOM = RelayLimits(
    packets_per_minute=100_000,
    burst=100_000,
    new_recipients_per_hour=1000,
    lookups_per_minute=1000,
    per_recipient=16,
    per_recipient_bytes=64 * 1024,
    per_sender=4,
)


async def refusal(person, to, **more):
    await person.send(to, **more)
    return await person.hear_a((frames.AcceptedFrame, frames.ErrorFrame, frames.QueueOverflowFrame))


async def fill_as_strangers(strangers, to, **more):
    """Each stranger sends until it is refused; how many packets they got in."""
    taken = 0
    for stranger in strangers:
        while isinstance(await refusal(stranger, to, **more), frames.AcceptedFrame):
            taken += 1
    return taken


@pytest.mark.spec("A2ACP-222")
async def test_strangers_together_fill_a_quarter_of_a_mailbox_in_bytes_and_no_contact_is_refused(tmp_path):
    names = ("alice", "bob", "mallory", "trudy", "oscar", "peggy", "victor")
    async with relay_with(tmp_path, *names, limits=ROOM) as (relay, alice, bob, *strangers):
        async with bob:
            await bob.sent(alice.address)
        for stranger in strangers:
            await stranger.connect()
        # One packet of eight KiB is more than one stranger's share after the first; two are the strangers' quarter.
        assert await fill_as_strangers(strangers, bob.address, body=bytes(4096)) == 2
        assert relay.mailboxes.quota.total()[1] <= ROOM.per_recipient_bytes // 4
        async with alice:
            for number in range(2):
                assert await alice.sent(bob.address, tag="AB"[number], body=bytes(4096))
        for stranger in strangers:
            await stranger.close()


@pytest.mark.spec("A2ACP-222")
async def test_who_is_a_contact_is_known_after_a_restart_as_well(tmp_path):
    names = ("alice", "bob", "mallory", "trudy", "oscar", "peggy", "victor")
    async with relay_with(tmp_path, *names, limits=ROOM) as (relay, alice, bob, *strangers):
        async with bob:
            await bob.sent(alice.address)
        for stranger in strangers:
            async with stranger:
                await refusal(stranger, bob.address)
    async with Relay(tmp_path, port=relay.port, limits=ROOM) as again:
        for person in (alice, *strangers):
            person.relay = again
        for stranger in strangers:
            async with stranger:
                assert isinstance(await refusal(stranger, bob.address, tag="B"), frames.QueueOverflowFrame)
        async with alice:
            for number in range(4):
                assert await alice.sent(bob.address, tag="ABCD"[number])


@pytest.mark.spec("A2ACP-222")
async def test_a_contact_that_was_accepted_and_never_written_to_is_no_stranger(tmp_path):
    names = ("alice", "bob", "mallory", "trudy", "oscar", "peggy", "victor")
    async with relay_with(tmp_path, *names, limits=ROOM) as (relay, alice, bob, *strangers):
        for stranger in strangers:
            async with stranger:
                await refusal(stranger, bob.address)
        async with alice, bob:
            assert isinstance(await refusal(alice, bob.address), frames.QueueOverflowFrame)
            await bob.say(frames.ContactsFrame([records.contact_tag(relay.domain, alice.address)]))
            account = relay.mailboxes.agent("bob").account
            await until(lambda: relay.mailboxes.correspondence.knows(account, alice.address))
            assert await alice.sent(bob.address)


@pytest.mark.spec("A2ACP-222")
async def test_what_a_stranger_sent_counts_as_a_contacts_from_the_answer_on(tmp_path):
    async with (
        relay_with(tmp_path, "alice", "bob", "carol", limits=ROOM) as (_, alice, bob, carol),
        alice,
        carol,
    ):
        assert await fill_as_strangers([alice], bob.address) == 1
        async with bob:
            await bob.sent(alice.address)
        assert await alice.sent(bob.address, tag="B")
        assert await carol.sent(bob.address)


@pytest.mark.spec("A2ACP-258")
async def test_first_contacts_are_counted_over_a_restart_and_known_recipients_pass_at_once(tmp_path):
    names = ("alice", "bob", "carol", "dave")
    async with relay_with(tmp_path, *names, limits=FEW) as (relay, alice, bob, carol, dave), alice:
        await alice.sent(bob.address)
        await alice.sent(carol.address)
    async with Relay(tmp_path, port=relay.port, limits=FEW) as again:
        alice.relay = again
        async with alice:
            error = await refusal(alice, dave.address)
            assert (error.code, error.retry_after > 3000) == ("rate_limited", True)
            assert await alice.sent(bob.address)
            assert await alice.sent(carol.address)


@pytest.mark.spec("A2ACP-258")
async def test_after_a_restart_a_message_to_the_26th_contact_passes_at_once(tmp_path):
    limits = RelayLimits(lookups_per_minute=1000)
    names = [f"{one}{two}friend" for one in "abc" for two in "dfghjkmnp"][:26]
    async with relay_with(tmp_path, "alice", *names, limits=limits) as (relay, alice, *friends), alice:
        for friend in friends[:20]:
            await alice.sent(friend.address)
        relay.clock.ahead += HOUR + SECOND
        await alice.close()
        await alice.connect()
        for friend in friends[20:]:
            await alice.sent(friend.address)
    async with Relay(tmp_path, port=relay.port, limits=limits) as again:
        alice.relay = again
        async with alice:
            for friend in friends:
                assert await alice.sent(friend.address, tag="B")


@pytest.mark.spec("A2ACP-258")
async def test_calling_everybody_accepted_is_no_way_around_the_limit_on_new_recipients(tmp_path):
    names = ("alice", "bob", "carol", "dave")
    async with relay_with(tmp_path, *names, limits=FEW) as (relay, alice, *friends), alice:
        await alice.say(
            frames.ContactsFrame([records.contact_tag(relay.domain, one.address) for one in friends])
        )
        for friend in friends[:2]:
            await alice.sent(friend.address)
        assert (await refusal(alice, friends[2].address)).code == "rate_limited"


@pytest.mark.spec("A2ACP-005")
async def test_the_file_names_nobody_whom_an_agent_has_written_to(tmp_path):
    async with relay_with(tmp_path, "alice", "bob") as (relay, alice, bob), alice, bob:
        await alice.sent(bob.address)
        await bob.take()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
        rows = relay.mailboxes.store.reader.execute("SELECT * FROM written").fetchall()
        assert [len(row[1]) for row in rows] == [12]
        assert bob.address not in json.dumps([repr(row) for row in rows])


@pytest.mark.spec("A2ACP-258")
async def test_of_very_many_pairs_the_oldest_go_and_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr(correspondence, "MOST_OF_ONE", 3)
    async with relay_with(tmp_path, "alice", "bob") as (relay, alice, _), alice:
        for number in range(5):
            relay.clock.ahead += SECOND
            await alice.send(f"agent:nobody{number}@{relay.domain}")
            await alice.hear_a(frames.ErrorFrame)
        await relay.mailboxes.store.write(lambda _: None)
        assert relay.mailboxes.store.reader.execute("SELECT count(*) FROM written").get == 3
        relay.mailboxes.correspondence._known.clear()
        account = relay.mailboxes.agent("alice").account
        known = [
            number
            for number in range(5)
            if relay.mailboxes.correspondence.knows(account, f"agent:nobody{number}@{relay.domain}")
        ]
        assert known == [2, 3, 4]


@pytest.mark.spec("A2ACP-019")
async def test_whom_a_deleted_account_wrote_to_goes_with_it(tmp_path):
    from tacit.relay.io import registry

    async with relay_with(tmp_path, "alice", "bob") as (relay, alice, bob), alice:
        await alice.sent(bob.address)
        account = relay.mailboxes.agent("alice").account
        await relay.mailboxes.store.write(lambda file: registry.delete_account(file, account, alice.address))
        relay.mailboxes.correspondence.forget(account)
        assert not relay.mailboxes.correspondence.knows(account, bob.address)


@pytest.mark.spec("A2ACP-258")
async def test_a_first_contact_that_could_not_be_written_down_is_not_believed(tmp_path):
    async with relay_with(tmp_path, "alice", "bob") as (relay, _, bob):
        known = relay.mailboxes.correspondence
        assert known.admit(1, bob.address, relay.clock.now()) == 0
        await relay.mailboxes.store.write(lambda _file: None)
        assert (1, bob.address) in known._known
        full = "CREATE TRIGGER full BEFORE INSERT ON written BEGIN SELECT RAISE(ABORT, 'full'); END"
        await relay.mailboxes.store.write(lambda file: file.execute(full))
        assert known.admit(1, "agent:carol@a.example", relay.clock.now()) == 0
        await until(lambda: not known.knows(1, "agent:carol@a.example"))
        assert known.knows(1, bob.address)


@pytest.mark.spec("A2ACP-261")
async def test_scores_are_written_down_every_hour_and_not_only_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(server, "_SWEEP_SECONDS", 0.01)
    async with Relay(tmp_path / "relay") as relay:
        relay.mailboxes.reputation.change("agent:mal@a.example", -20)
        relay.clock.ahead += 2 * HOUR
        standing = "SELECT sender, score FROM standing"
        await until(
            lambda: relay.mailboxes.store.reader.execute(standing).fetchall() == [("agent:mal@a.example", 30)]
        )


@pytest.mark.spec("A2ACP-222")
async def test_a_packet_that_comes_while_its_sender_is_accepted_is_a_contacts(tmp_path):
    """It was counted as a stranger's for as long as it lay in the mailbox."""
    async with relay_with(tmp_path, "alice", "bob", limits=ROOM) as (relay, alice, bob):
        mailboxes = relay.mailboxes
        account = mailboxes.agent(bob.username).account
        book, tag = mailboxes.correspondence, records.contact_tag(relay.domain, alice.address)
        quota, sender = mailboxes.quota, alice.address
        assert not book.knows(account, sender)
        accepting = asyncio.ensure_future(book.accept(account, [tag], quota.senders))
        await asyncio.sleep(0)  # it is being written down
        assert not book.knows(account, sender)
        assert quota.reserve(account, "A", sender, 100, replaces=False, contact=False) is None
        await accepting
        assert book.knows(account, sender)
        more = [quota.reserve(account, f"t{n}", sender, 100, replaces=False, contact=True) for n in range(3)]
        assert more == [None] * 3, "as many as a contact may leave"
