import contextlib
import json

import pytest

from tacit.base.moment import SECOND
from tacit.relay.io import store
from tacit.relay.settings import HOUR, MINUTE, RelayLimits
from tacit.wire import frames
from tests.relay.test_correspondence import refusal
from tests.relay.test_federation_http import allow, carry, seed_of, two_relays
from tests.relay_support import Relay, free_port, relay_with, until

OFTEN = {
    "packets_per_minute": 100_000,
    "burst": 100_000,
    "new_recipients_per_hour": 1000,
    "lookups_per_minute": 1000,
}
# Strangers have 4 packets of 64 KiB in all: one of them 1, those of another relay 2, those of this one 3.
FEW = RelayLimits(**OFTEN, per_recipient=16, per_recipient_bytes=256 * 1024, per_sender=8)
BYTES = RelayLimits(**OFTEN, per_recipient=4000, per_recipient_bytes=256 * 1024)


async def left_and_fetched(sender, reader, **more):
    """What becomes of a packet whose reader fetches it at once."""
    answer = await refusal(sender, reader.address, **more)
    if isinstance(answer, frames.AcceptedFrame):
        await reader.take()
    return answer


@pytest.mark.spec("A2ACP-222")
async def test_a_stranger_is_told_to_wait_when_its_day_is_over_though_the_mailbox_is_empty(tmp_path):
    people = relay_with(tmp_path, "alice", "bob", "mal", limits=FEW)
    async with people as (relay, alice, bob, mal), alice, bob, mal:
        assert isinstance(await left_and_fetched(mal, bob), frames.AcceptedFrame)
        refused = await left_and_fetched(mal, bob, tag="B")
        assert (refused.code, refused.retry_after > 23 * 3600) == ("rate_limited", True)
        assert relay.mailboxes.quota.total() == (0, 0)
        assert isinstance(await left_and_fetched(alice, bob), frames.AcceptedFrame)
        relay.clock.ahead += refused.retry_after * SECOND
        assert isinstance(await left_and_fetched(mal, bob, tag="C"), frames.AcceptedFrame)


@pytest.mark.spec("A2ACP-222")
async def test_a_strangers_day_goes_on_after_a_restart_and_a_contact_has_none(tmp_path):
    async with relay_with(tmp_path, "alice", "bob", "mal", limits=FEW) as (relay, alice, bob, mal):
        async with bob, mal:
            await bob.sent(alice.address)
            assert isinstance(await left_and_fetched(mal, bob), frames.AcceptedFrame)
        port = relay.port
    async with Relay(tmp_path, port=port, limits=FEW) as again:
        alice.relay = bob.relay = mal.relay = again
        async with alice, bob, mal:
            assert (await left_and_fetched(mal, bob, tag="B")).code == "rate_limited"
            for number in range(20):
                answer = await left_and_fetched(alice, bob, tag="ABCDE"[number % 5])
                assert isinstance(answer, frames.AcceptedFrame)
            # Whom bob writes to is no stranger any more, and need not wait.
            await bob.sent(mal.address)
            assert isinstance(await left_and_fetched(mal, bob, tag="C"), frames.AcceptedFrame)


@pytest.mark.spec("A2ACP-222")
async def test_strangers_of_this_relay_leave_part_of_the_day_to_those_of_others(tmp_path):
    async with two_relays(tmp_path, limits=FEW) as (one, two, alice, bob), bob:
        names = ("mal", "trudy", "oscar", "peggy")
        strangers = [await two.person(name) for name in names]
        async with contextlib.AsyncExitStack() as stack:
            answers = [
                await left_and_fetched(await stack.enter_async_context(stranger), bob)
                for stranger in strangers
            ]
        assert [getattr(answer, "code", "accepted") for answer in answers] == [
            "accepted", "accepted", "accepted", "rate_limited",
        ]  # fmt: skip
        _, outcomes = await carry(two, one.domain, seed_of(one), [alice.packet(bob.address)])
        assert outcomes[0]["code"] == "accepted"


@pytest.mark.spec("A2ACP-222")
async def test_a_strangers_day_has_an_end_in_bytes(tmp_path):
    async with relay_with(tmp_path, "bob", "mal", limits=BYTES) as (_, bob, mal), bob, mal:
        taken = 0
        while isinstance(answer := await left_and_fetched(mal, bob, body=bytes(4096)), frames.AcceptedFrame):
            taken += 1
        # One stranger has 16 KiB a day; a packet of four has nearly six on the wire.
        assert (taken, answer.code) == (2, "rate_limited")


@pytest.mark.spec("A2ACP-221", "A2ACP-222")
async def test_a_repeat_costs_a_stranger_nothing_and_a_consolidated_packet_a_packet(tmp_path):
    limits = RelayLimits(**OFTEN, per_recipient=32, per_recipient_bytes=2**20)
    async with relay_with(tmp_path, "bob", "mal", limits=limits) as (relay, bob, mal), mal:
        packet = mal.packet(bob.address)
        for _ in range(5):
            await mal.say(packet)
            assert isinstance(
                await mal.hear_a((frames.AcceptedFrame, frames.ErrorFrame)), frames.AcceptedFrame
            )
        again = await refusal(mal, bob.address, flags=["replace_queue"])
        assert isinstance(again, frames.AcceptedFrame)
        refused = await refusal(mal, bob.address, flags=["replace_queue"])
        assert refused.code == "rate_limited"
        # The one that was refused has replaced nothing.
        assert relay.mailboxes.quota.total()[0] == 1
        async with bob:
            assert await bob.take() == again.packet_ids


@pytest.mark.spec("A2ACP-222", "A2ACP-256")
async def test_a_stranger_from_elsewhere_waits_with_the_packets_for_one_recipient_alone(tmp_path):
    async with two_relays(tmp_path, limits=FEW) as (one, two, alice, bob), alice, bob:
        carol = await two.person("carol")
        await alice.sent(bob.address)
        await bob.take()
        late = [await alice.sent(bob.address, tag="B") for _ in range(2)]
        async with carol:
            prompt = await alice.sent(carol.address)
            assert await carol.take() == [prompt]
        kept = "SELECT packet_id FROM outgoing ORDER BY position"
        await until(lambda: [row[0] for row in one.mailboxes.store.reader.execute(kept).fetchall()] == late)
        await bob.sent(alice.address)
        for relay in (one, two):
            relay.clock.ahead += 11 * MINUTE
        one.server._federation.wake(two.domain)
        assert await bob.take(2) == late


@pytest.mark.spec("A2ACP-220", "A2ACP-222")
async def test_refused_strangers_leave_room_for_the_note_that_a_contacts_packet_is_missing(tmp_path):
    limits = RelayLimits(**OFTEN, per_recipient=2000, per_tag=1)
    async with relay_with(tmp_path, "alice", "bob", "mal", limits=limits) as (relay, alice, bob, mal):
        async with bob:
            await bob.sent(alice.address)
        async with mal, alice:
            account = relay.mailboxes.agent("bob").account
            for number in range(60):
                for _ in range(2):
                    await refusal(mal, bob.address, tag=f"q_{number:022d}")
            await relay.mailboxes.settle()
            assert len(store.markers(relay.mailboxes.store.reader, account)) == 50
            for _ in range(2):
                await refusal(alice, bob.address, tag="Z")
            await relay.mailboxes.settle()
            tags = {tag for _, tag, _ in store.markers(relay.mailboxes.store.reader, account)}
            assert "q_" + "Z" * 22 in tags


@pytest.mark.spec("A2ACP-222", "A2ACP-254")
async def test_what_one_sender_has_waiting_for_other_relays_has_an_end_over_all_recipients(tmp_path):
    limits = RelayLimits(**OFTEN, per_recipient=8, per_sender=5)
    async with relay_with(tmp_path, "alice", "carol", limits=limits) as (one, alice, carol), alice, carol:
        gone = f"127.0.0.1:{free_port()}"
        await allow(one, gone)
        for number in range(8):
            assert await alice.sent(f"agent:bob{number}@{gone}")
        await alice.send(f"agent:bob9@{gone}")
        assert (await alice.hear_a(frames.QueueOverflowFrame)).limit == 8
        assert await carol.sent(f"agent:bob9@{gone}")


async def test_what_strangers_left_is_forgotten_after_a_day_and_named_nobody(tmp_path):
    async with relay_with(tmp_path, "bob", "mal", limits=FEW) as (relay, bob, mal), bob, mal:
        await left_and_fetched(mal, bob)
        rows = relay.mailboxes.store.reader.execute("SELECT * FROM spent").fetchall()
        assert len(rows) == 3
        assert "mal" not in json.dumps([[str(value) for value in row] for row in rows])
        relay.clock.ahead += 26 * HOUR
        await relay.mailboxes.expire()
        assert relay.mailboxes.store.reader.execute("SELECT count(*) FROM spent").get == 0
