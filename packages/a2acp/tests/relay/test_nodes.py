"""Several nodes of one relay on a real NATS server: any node serves any agent, and any node may die."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Refused
from tacit.base.io.jetstream.connection import Patience
from tacit.base.io.system import SystemEntropy
from tacit.relay.io.jetstream.opening import RelayStream, open_store
from tacit.relay.settings import RelayLimits
from tacit.wire import codes, frames
from tests.ledger.io.jetstream.proxy import Proxy
from tests.ledger.io.jetstream.servers import PATIENT, Server, new_name, one, opened, three
from tests.processes import RelayProcess, run
from tests.relay.test_prekeys import prekey
from tests.relay_support import Bare, MovableClock, Relay, free_port, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

DOMAIN = "nodes.test"
GENEROUS = RelayLimits(
    packets_per_minute=100_000, burst=100_000, new_recipients_per_hour=1000, lookups_per_minute=1000
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = one(tmp_path_factory.mktemp("nats"))
    yield made
    made.kill()


@pytest.fixture
def stream(server: Server) -> RelayStream:
    # A lease that no slow machine loses: it moves when it is given back.
    return RelayStream([server.url], new_name(), 1, patience=PATIENT, lease_seconds=60.0)


@contextlib.asynccontextmanager
async def nodes(
    folder: Path, stream: RelayStream, count: int = 2, limits: RelayLimits = GENEROUS
) -> AsyncIterator[list[Relay]]:
    async with contextlib.AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                Relay(folder / f"node{number}", domain=DOMAIN, stream=stream, limits=limits)
            )
            for number in range(count)
        ]


def at(node: Relay, person: Bare) -> Bare:
    """The same agent, on its way to another node."""
    there = Bare(node, person.username)
    there.me, there.count = person.me, person.count + 1000
    return there


def queued(node: Relay) -> int:
    return node.mailboxes.store.reader.execute("SELECT count(*) FROM queue").get


def refused(node: Relay) -> int:
    return node.mailboxes.store.reader.execute("SELECT ifnull(sum(refused), 0) FROM markers").get


async def test_a_packet_handed_in_at_one_node_reaches_its_reader_at_another(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice, bob = await first.person("alice"), await first.person("bob")
        async with alice, at(second, bob) as there:
            sent = [await alice.sent(bob.address) for _ in range(5)]
            assert await there.take(5) == sent
            await until(lambda: queued(first) == queued(second) == 0)
            # Its room is free at both, and nothing is counted twice.
            await until(lambda: first.mailboxes.quota.total() == second.mailboxes.quota.total() == (0, 0))


async def test_packets_of_two_doors_come_in_one_order_each_once(tmp_path, stream):
    async with nodes(tmp_path, stream, 3) as (first, second, third):
        alice, carol, bob = [await first.person(name) for name in ("alice", "carol", "bob")]
        async with alice, at(second, carol) as carol, at(third, bob) as bob:

            async def speak(who: Bare) -> list[str]:
                return [await who.sent(bob.address) for _ in range(30)]

            sent = await asyncio.gather(speak(alice), speak(carol))
            heard, positions = [], []
            while len(heard) < 60:
                packet = await bob.hear_a(frames.PacketFrame)
                heard.append(json.loads(bytes(packet.envelope))["packet_id"])
                positions.append(packet.delivery)
                await bob.say(frames.ReceivedFrame([packet.delivery]))
            assert positions == sorted(set(positions))
            for spoken in sent:
                assert [one for one in heard if one in spoken] == spoken


@pytest.mark.spec("A2ACP-245")
async def test_of_two_nodes_that_hand_out_one_time_keys_none_hands_out_one_twice(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        bob = await first.person("bob")
        others = [await first.person(f"p{number}") for number in range(8)]
        async with bob:
            whole = frames.PrekeysFrame(
                signed=prekey(bob, "signed", 1, 1),
                last_resort=prekey(bob, "last_resort", 1, 1),
                one_time=[prekey(bob, "one_time", number, 1) for number in range(1, 31)],
                epoch=1,
            )
            await bob.say(whole)
            await bob.hear_a(frames.PrekeysOkFrame)

            async def ask(who: Bare, node: Relay) -> int | None:
                asked = who.prekey_request(bob.address)
                status, bundle = await node.post("/v1/agents/bob/prekeys", asked)
                assert status == 200, bundle
                return bundle.get("one_time", {}).get("id")

            answers = await asyncio.gather(
                *(ask(who, node) for who in others for node in (first, second) for _ in range(2))
            )
        given = [one for one in answers if one is not None]
        # Each asks four times, less than its share of a day; strangers leave ten for the contacts.
        assert len(given) == len(set(given)) == 20
        await second.mailboxes.store.fresh()
        await until(lambda: _left(second, "bob") == _left(first, "bob") == 10)


def _left(node: Relay, username: str) -> int:
    account = node.mailboxes.agent(username).account
    sql = "SELECT count(*) FROM prekeys WHERE account=? AND kind=1"
    return node.mailboxes.store.reader.execute(sql, (account,)).get


@pytest.mark.spec("A2ACP-223")
async def test_the_last_connection_wins_over_one_at_another_node(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice, bob = await first.person("alice"), await first.person("bob")
        async with alice, at(first, bob) as early:
            async with at(second, bob) as late:
                assert isinstance(await early.hear_a(frames.SupersededFrame), frames.SupersededFrame)
                assert await early.hear() == codes.CLOSE_SUPERSEDED
                before = await alice.sent(bob.address)
                assert await late.take() == [before]
            async with at(first, bob) as again:
                sent = await alice.sent(bob.address)
                taken = await again.take()
                # What was received in the last moment of a connection may be handed out once more.
                while taken == [before]:
                    taken = await again.take()
                assert taken[-1:] == [sent]


async def test_of_connections_at_the_same_time_one_stays(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice, bob = await first.person("alice"), await first.person("bob")

        def here() -> list[Relay]:
            account = first.mailboxes.agent("bob").account
            return [node for node in (first, second) if account in node.mailboxes.connected]

        async with alice:
            for _ in range(5):
                both = [at(first, bob), at(second, bob)]
                await asyncio.gather(*(one.connect() for one in both))
                await until(lambda: len(here()) == 1)
                sent = await alice.sent(bob.address)
                (stays,) = [one for one, node in zip(both, (first, second), strict=True) if node in here()]
                assert await stays.take() == [sent]
                for one in both:
                    await one.close()
                await until(lambda: not here())


@pytest.mark.spec("A2ACP-218")
async def test_a_mailbox_has_its_limit_at_all_doors_together(tmp_path, stream):
    limits = RelayLimits(packets_per_minute=100_000, burst=100_000, per_tag=10)
    async with nodes(tmp_path, stream, limits=limits) as (first, second):
        alice, carol, bob = [await first.person(name) for name in ("alice", "carol", "bob")]
        async with alice, at(second, carol) as carol:

            async def fill(who: Bare) -> Counter[str]:
                for _ in range(15):
                    await who.send(bob.address)
                heard: Counter[str] = Counter()
                while heard.total() < 15:
                    frame = await who.hear()
                    if isinstance(frame, frames.AcceptedFrame):
                        heard["accepted"] += len(frame.packet_ids)
                    elif isinstance(frame, frames.QueueOverflowFrame):
                        assert frame.limit == 10
                        heard["refused"] += 1
                return heard

            told = sum(await asyncio.gather(fill(alice), fill(carol)), Counter())
            assert told == {"accepted": 10, "refused": 20}
            await until(lambda: queued(first) == queued(second) == 10)
            for one in (alice, carol):
                await one.send(bob.address)
                assert isinstance(await one.hear(), frames.QueueOverflowFrame)
        # The recipient's note of it is written after the sender was told.
        await until(lambda: refused(second) == 22)
        async with at(second, bob) as bob:
            assert bob.welcome.queued == 10
            overflow = await bob.hear_a(frames.QueueOverflowFrame)
            assert overflow.refused == 22
            await bob.say(frames.ReceivedFrame([overflow.delivery]))
            await bob.take(10)
            await until(lambda: queued(first) == queued(second) == 0)
        async with alice:
            await alice.sent(bob.address)


async def test_who_registers_at_one_node_is_known_at_the_other_at_once(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice = await first.person("alice")
        async with at(second, alice) as alice:
            for number in range(5):
                name = f"new{number}"
                fresh = await first.person(name)
                await alice.sent(fresh.address)
                status, _ = await second.get(f"/v1/agents/{name}x")
                assert status == 404
                async with at(second, fresh) as fresh:
                    await fresh.take()


async def test_a_code_is_worth_one_registration_at_all_doors_together(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        code = await first.invite("alice")
        rivals = [Bare(node, "alice") for node in (first, second)]
        told = await asyncio.gather(*(one.relay.post("/v1/agents", one.enrolment(code)) for one in rivals))
        assert sorted(status for status, _ in told) == [201, 400]
        assert {body.get("code") for _, body in told} == {None, "bad_code"}


async def test_new_keys_end_the_old_keys_connection_at_another_node(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice = await first.person("alice")
        async with at(second, alice) as connected:
            fresh = Bare(first, "alice")
            code = await _renewed(first, "alice")
            assert (await first.post("/v1/agents", fresh.enrolment(code, serial=2)))[0] == 201
            assert await connected.hear() == codes.CLOSE_AUTH_FAILED


async def _renewed(node: Relay, username: str) -> str:
    from tacit.relay.accounts import code_text
    from tacit.relay.io import registry

    code = code_text(SystemEntropy().draw(16))
    expires = node.clock.now() + 10**12
    await node.mailboxes.store.write(
        lambda file: registry.add_code(file, code=code, purpose="enrol", username=username, expires=expires)
    )
    return code


async def test_what_an_agent_is_told_reaches_it_at_the_node_where_it_is(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice = await first.person("alice")
        async with at(second, alice) as alice:
            await first.mailboxes.tell(alice.address, frames.ErrorFrame(codes.EXPIRED, "pkt_x"))
            assert (await alice.hear_a(frames.ErrorFrame)).packet_id == "pkt_x"


@pytest.mark.spec("A2ACP-258")
async def test_first_contacts_are_counted_over_nodes(tmp_path, stream):
    limits = RelayLimits(packets_per_minute=100_000, burst=100_000, new_recipients_per_hour=3)
    async with nodes(tmp_path, stream, limits=limits) as (first, second):
        alice = await first.person("alice")
        others = [await first.person(f"p{number}") for number in range(4)]
        async with alice:
            for other in others[:2]:
                await alice.sent(other.address)
        async with at(second, alice) as alice:
            await alice.sent(others[2].address)
            await alice.send(others[3].address)
            assert (await alice.hear_a(frames.ErrorFrame)).code == codes.RATE_LIMITED


async def test_a_contact_at_one_node_is_no_stranger_at_another(tmp_path, stream):
    limits = RelayLimits(packets_per_minute=100_000, burst=100_000, per_recipient=32, per_tag=1000)
    async with nodes(tmp_path, stream, limits=limits) as (first, second):
        alice, bob = await first.person("alice"), await first.person("bob")
        async with at(second, alice) as alice, bob:
            # As a stranger it has two places: a quarter of a quarter.
            await alice.sent(bob.address)
            await alice.sent(bob.address)
            await alice.send(bob.address)
            assert isinstance(await alice.hear_a(frames.QueueOverflowFrame), frames.QueueOverflowFrame)
            await bob.sent(alice.address)
            await alice.take()
            await alice.sent(bob.address)


async def test_a_score_is_moved_by_all_nodes(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        for node in (first, second):
            node.mailboxes.reputation.change("agent:eve@e.test", -10)
            await node.server._save_reputation()
        await first.mailboxes.store.fresh()
        scores = [node.mailboxes.reputation.score("agent:eve@e.test") for node in (first, second)]
        assert scores == [30, 30]


# A node dies.


@pytest.mark.spec("A2ACP-002")
def test_what_a_killed_node_acknowledged_is_handed_out_once_by_another(tmp_path, server):
    name, port = new_name(), free_port()
    more = ("--nats", server.url, "--nats-stream", name, "--nats-replicas", 1)
    process = RelayProcess(tmp_path / "node", port, *more)
    process.start()
    operator = ("--data", process.folder, *map(str, more))
    codes_of = {who: run("relay", *operator, "invite", who)["code"] for who in ("alice", "bob")}
    stream = RelayStream([server.url], name, 1)

    async def killed() -> None:
        async with Relay(tmp_path / "other", domain=process.domain, stream=stream) as other:
            people = [Bare(other, who) for who in ("alice", "bob")]
            for one in people:
                assert (await other.post("/v1/agents", one.enrolment(codes_of[one.username])))[0] == 201
            alice, bob = people
            alice.relay = process
            async with alice:
                sent = [await alice.sent(bob.address) for _ in range(20)]
                process.kill()
            async with bob:
                assert await bob.take(20) == sent
                await until(lambda: queued(other) == 0)
            async with at(other, alice) as alice:
                last = await alice.sent(bob.address)
            async with bob:
                assert bob.welcome.queued == 1
                assert await bob.take() == [last]

    asyncio.run(killed())


@pytest.mark.parametrize("deed", ["eat", "eat the answer", "hold"])
async def test_what_the_network_eats_or_holds_back_is_stored_once(tmp_path, server, deed):
    async with proxied(tmp_path, server, Patience(answer=1.0, tries=8, pause=0.05)) as (proxy, near, far):
        alice, bob = await far.person("alice"), await far.person("bob")
        async with at(near, alice) as alice, bob:
            proxy.plan.append(deed)
            sent = [await alice.sent(bob.address)]
            proxy.release()
            sent.append(await alice.sent(bob.address))
            assert await bob.take(2) == sent
            await until(lambda: queued(near) == queued(far) == 0)


async def test_a_packet_of_unknown_fate_is_refused_for_now_and_stored_once_when_it_is_sent_again(
    tmp_path, server
):
    async with proxied(tmp_path, server, Patience(answer=1.0, tries=2, pause=0.05)) as (proxy, near, far):
        alice, bob = await far.person("alice"), await far.person("bob")
        async with at(near, alice) as alice, bob:
            packet, told = alice.packet(bob.address), []
            proxy.always = "eat the answer"
            while "accepted" not in told:
                await alice.say(packet)
                frame = await alice.hear_a((frames.AcceptedFrame, frames.ErrorFrame))
                told.append("accepted" if isinstance(frame, frames.AcceptedFrame) else frame.code)
                proxy.always = "pass"
            assert set(told[:-1]) <= {codes.UNAVAILABLE}
            sent = json.loads(bytes(packet.envelope))["packet_id"]
            last = await alice.sent(bob.address)
            assert await bob.take(2) == [sent, last]


@pytest.mark.soak
async def test_what_was_accepted_survives_the_death_of_the_journals_leader(tmp_path):
    cluster = three(tmp_path / "cluster")
    try:
        opened([one.url for one in cluster], new_name(), 3).close()
        stream = RelayStream([one.url for one in cluster], new_name(), 3, PATIENT)
        async with nodes(tmp_path, stream) as (first, second):
            alice, bob = await first.person("alice"), await first.person("bob")
            async with alice, at(second, bob) as bob:
                sent = [await alice.sent(bob.address) for _ in range(20)]
                cluster[0].kill()
                while len(sent) < 40:
                    packet = alice.packet(bob.address)
                    told: frames.Frame | int = 0
                    while not isinstance(told, frames.AcceptedFrame):
                        await alice.say(packet)
                        told = await alice.hear_a((frames.AcceptedFrame, frames.ErrorFrame))
                    sent.append(json.loads(bytes(packet.envelope))["packet_id"])
                assert await bob.take(40) == sent
    finally:
        for one in cluster:
            one.kill()


@contextlib.asynccontextmanager
async def proxied(folder: Path, server: Server, patience: Patience):
    """A node behind a network that does as it is told, and one that is not."""
    name = new_name()
    proxy = Proxy(server.port, name)
    try:
        async with (
            Relay(folder / "near", domain=DOMAIN, stream=RelayStream([proxy.url], name, 1, patience)) as near,
            Relay(folder / "far", domain=DOMAIN, stream=RelayStream([server.url], name, 1, PATIENT)) as far,
        ):
            yield proxy, near, far
    finally:
        proxy.close()


async def test_a_folder_that_is_lost_damaged_or_old_is_made_whole(tmp_path, stream):
    async with nodes(tmp_path, stream, 1) as (node,):
        alice, bob = await node.person("alice"), await node.person("bob")
        async with alice:
            sent = [await alice.sent(bob.address)]
        key = node.mailboxes.signatures.relay_key
    file = tmp_path / "node0" / "relay.sqlite"
    file.write_bytes(file.read_bytes()[:5000])
    async with nodes(tmp_path, stream, 2) as (damaged, empty):
        assert [one.mailboxes.signatures.relay_key for one in (damaged, empty)] == [key, key]
        async with at(empty, alice) as alice:
            sent.append(await alice.sent(bob.address))
        async with at(damaged, bob) as bob:
            assert await bob.take(2) == sent


async def test_a_kept_state_replaces_the_journal_and_holds_no_more_than_the_mailboxes(tmp_path, stream):
    async with nodes(tmp_path, stream) as (first, second):
        alice, bob = await first.person("alice"), await first.person("bob")
        async with alice, bob:
            await alice.sent(bob.address)
            await bob.take()
            await until(lambda: queued(first) == 0)
        async with alice:
            waiting = await alice.sent(bob.address)
        store = first.mailboxes.store
        await asyncio.to_thread(store.kept_state.keep, store._path, store.journal)
        head, _ = store.kept_state.head()
        assert head.sequence == store.journal.ends()[1]
        # Others go on, and a second copy takes the place of the first.
        async with at(second, alice) as alice:
            another = await alice.sent(bob.address)
        await first.mailboxes.store.fresh()
        await asyncio.to_thread(store.kept_state.keep, store._path, store.journal)
        assert store.kept_state.head()[0].sequence > head.sequence
        # Whoever follows may be one copy late; what stands before that is gone.
        assert store.journal.ends()[0] == head.sequence
    async with Relay(tmp_path / "new", domain=DOMAIN, stream=stream) as new:
        assert queued(new) == 2
        async with at(new, bob) as bob:
            assert await bob.take(2) == [waiting, another]


async def test_a_node_that_is_behind_a_kept_state_begins_anew(tmp_path, stream):
    async with nodes(tmp_path, stream, 1) as (node,):
        await node.person("alice")
    async with nodes(tmp_path / "more", stream, 1) as (other,):
        await other.person("bob")
        store = other.mailboxes.store
        for name in ("carol", "dora"):
            await asyncio.to_thread(store.kept_state.keep, store._path, store.journal)
            await other.person(name)
        await asyncio.to_thread(store.kept_state.keep, store._path, store.journal)
    async with nodes(tmp_path, stream, 1) as (node,):
        assert node.mailboxes.agent("alice")
        assert node.mailboxes.agent("bob")


async def test_one_node_carries_to_other_relays_and_another_takes_over(tmp_path, stream):
    async with contextlib.AsyncExitStack() as stack:
        domain = f"localhost:{free_port()}"
        there = await stack.enter_async_context(Relay(tmp_path / "there", open_federation=True))
        port = int(domain.partition(":")[2])
        first = await stack.enter_async_context(
            Relay(tmp_path / "a", port=port, stream=stream, open_federation=True)
        )
        bob = await there.person("bob")
        alice = await first.person("alice")
        async with Relay(tmp_path / "b", domain=domain, stream=stream, open_federation=True) as second:
            await until(lambda: first.mailboxes.store.is_on_duty)
            assert not second.mailboxes.store.is_on_duty
            async with at(second, alice) as through, bob:
                sent = await through.sent(bob.address)
                assert await bob.take() == [sent]
                await asyncio.to_thread(first.mailboxes.store.lease.release)
                sent = await through.sent(bob.address)
                assert await bob.take() == [sent]
                assert second.mailboxes.store.is_on_duty


def test_a_folder_is_of_one_kind(tmp_path, stream):
    clock = MovableClock()
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "relay.sqlite").write_bytes(b"")
    with pytest.raises(Refused, match="a relay of its own"):
        open_store(tmp_path / "plain", stream, clock, SystemEntropy())
    store = open_store(tmp_path / "node", stream, clock, SystemEntropy())
    store.abandon()
    told = run("relay", "--data", tmp_path / "node", "stats", status=1)
    assert told["code"] == "on_stream"
