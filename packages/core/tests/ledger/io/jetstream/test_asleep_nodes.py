"""Hubs that only note what is new in groups that nobody reads there: nobody can tell, but by their figures."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.stream_plan import StreamPlan
from tacit.hub.store.wakefulness import AWAKE_SECONDS
from tacit.ledger.commands import LetRest
from tests.hub.room import Room, running
from tests.ledger.io.jetstream.servers import new_name
from tests.ledger.io.jetstream.test_node_agents import Nodes, nodes
from tests.ledger.io.jetstream.test_nodes import LONG, let_in, texts, until
from tests.ledger.io.jetstream.test_stream_process import link_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

__all__ = ("nodes",)


async def has_followed(node: Room, other: Room) -> None:
    """Wait until one node has come as far in the stream as the other has written."""

    async def has() -> bool:
        return reached(node) >= reached(other)

    await until(has)


def reached(room: Room) -> int:
    assert room.server.hub.nodes is not None
    return room.server.hub.nodes.reached


def asleep(room: Room) -> int:
    assert room.server.hub.nodes is not None
    return room.server.hub.nodes.asleep


async def rest(room: Room) -> None:
    """What nobody reads there is let rest, as after a long while."""
    ledger = room.server.hub.ledger
    assert ledger.awake is not None
    connected = {*room.server.hub.live.groups(), *room.server.hub.host.groups()}
    late = asyncio.get_running_loop().time() + 2 * AWAKE_SECONDS
    groups = ledger.awake.resting(late, connected)
    await ledger.record(LetRest(groups))


def last_seq(room: Room, group: str) -> int:
    """How much of a group its file has."""

    def query(reader: Any) -> int:
        rows = reader.connection.execute("SELECT last_seq FROM groups WHERE group_id=?", (group,)).fetchall()
        return int(rows[0][0])

    return room.server.hub.store.read(query)


@pytest.mark.parametrize(("readers", "writer"), [(0, "thread"), (1, "process")])
async def test_a_group_is_not_folded_where_nobody_reads_it_and_read_whole_by_whoever_asks(
    tmp_path: Path, server: Server, readers: int, writer: str
) -> None:
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with (
        running(tmp_path / "one", stream=plan) as one,
        running(tmp_path / "two", stream=plan, readers=readers, writer=writer) as other,
    ):
        group = await one.group()
        ann = await one.actor(group, "ann")
        await let_in(ann, one, other)
        applied = last_seq(one, group)
        for number in range(20):
            await one.say(group, f"{number}", ann)
        await has_followed(other, one)
        assert (last_seq(other, group), asleep(other), asleep(one)) == (applied, 1, 0)
        status = (await other.get("/v1/status")).body
        assert (status["stream"]["asleep"], status["nodes"][0]["asleep"]) == (1, 1)
        assert texts(await other.events(group)) == [f"{number}" for number in range(20)]
        assert (last_seq(other, group), asleep(other)) == (applied + 20, 0)
        # From now on it is awake there.
        await one.say(group, "more", ann)
        await has_followed(other, one)
        assert (last_seq(other, group), asleep(other)) == (applied + 21, 0)
        await rest(other)
        await one.say(group, "and more", ann)
        await has_followed(other, one)
        assert (last_seq(other, group), asleep(other)) == (applied + 21, 1)
        # A list shows where each group ends.
        shown = (await other.get("/v1/groups")).body["groups"]
        assert [row["last_seq"] for row in shown] == [applied + 22]


async def test_who_writes_where_a_group_sleeps_reads_what_was_written(tmp_path: Path, server: Server) -> None:
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with running(tmp_path / "one", stream=plan) as one, running(tmp_path / "two", stream=plan) as other:
        group = await one.group()
        ann = await one.actor(group, "ann")
        await let_in(ann, one, other)
        for number in range(5):
            await one.say(group, f"{number}", ann)
            said = await other.say(group, f"and {number}", ann)
            assert (await other.events(group, since_seq=said["seq"] - 1))[0]["id"] == said["id"]
            await rest(other)
        assert len(texts(await other.events(group))) == 10


async def test_whoever_follows_a_group_that_slept_hears_everything(tmp_path: Path, server: Server) -> None:
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with running(tmp_path / "one", stream=plan) as one, running(tmp_path / "two", stream=plan) as other:
        group = await one.group()
        ann = await one.actor(group, "ann")
        await let_in(ann, one, other)
        await one.say(group, "before", ann)
        await has_followed(other, one)
        assert asleep(other) == 1
        async with other.stream(group) as followed:
            heard = [await followed.event() for _ in range(3)]
            assert heard[-1]["data"]["text"] == "before"
            for number in range(5):
                await rest(other)  # somebody is there: it stays awake
                await one.say(group, f"{number}", ann)
                assert (await followed.event())["data"]["text"] == f"{number}"


async def test_a_writer_that_was_started_anew_is_told_again_who_reads_here(
    tmp_path: Path, server: Server
) -> None:
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with (
        running(tmp_path / "one", stream=plan) as one,
        running(tmp_path / "two", stream=plan, writer="process") as other,
    ):
        group = await one.group()
        ann = await one.actor(group, "ann")
        await let_in(ann, one, other)
        async with other.stream(group) as followed:
            assert [(await followed.event())["seq"] for _ in range(2)] == [1, 2]
            link = link_of(other)
            process, address = link.process_id, link.address
            assert process is not None
            os.kill(process, signal.SIGKILL)

            async def is_ready() -> bool:
                return link.address != address

            await until(is_ready)
            while await followed.block():
                pass  # nobody knows what the last writer did not tell: whoever follows begins again
        async with other.stream(group, since_seq=2) as followed:
            for number in range(3):
                await one.say(group, f"{number}", ann)
                assert (await followed.event())["data"]["text"] == f"{number}"


@pytest.mark.spec("C2A-006")
async def test_an_agent_that_comes_to_a_node_where_its_group_slept_hears_what_it_was_asked(
    nodes: Nodes,
) -> None:
    await nodes.member("ann")
    await rest(nodes.other)
    # Attention begins with the first who is there.
    async with nodes.one.wire("ann"):
        await nodes.are_seen("ann")
    asked = await nodes.one.tell("@ann are you there?")
    await nodes.one.tell("it is late")
    await has_followed(nodes.other, nodes.one)
    assert asleep(nodes.other) == 1
    ann = await nodes.other.agent("ann")
    assert await ann.delivery(asked)
    more = await nodes.one.tell("@ann and now?")
    assert await ann.delivery(more)
    assert asleep(nodes.other) == 0


@pytest.mark.spec("C2A-177")
async def test_what_time_brings_to_a_group_that_slept_is_seen_to_by_the_node_that_is_left(
    nodes: Nodes,
) -> None:
    agents = [await nodes.agent(nodes.one, name, roles=["ops"]) for name in ("ann", "ben")]
    await nodes.are_seen("ann", "ben")
    await rest(nodes.other)
    asked = await nodes.one.tell("@ops who restarts the relay?")
    await asyncio.gather(*(agent.delivery(asked) for agent in agents))
    await has_followed(nodes.other, nodes.one)
    assert asleep(nodes.other) == 1
    nodes.other.clock.move(31)
    await nodes.one.server.stop()
    hub, group = nodes.other.server.hub, nodes.other.group_id

    async def acts() -> bool:
        return hub.host.acts(group) and bool(hub.host._due)

    await until(acts)
    nodes.other.clock.move(61)  # silence counts from when it could be heard

    async def told() -> int:
        await hub.host.tick()
        events = await nodes.other.events(group)
        return sum(event["data"].get("kind") == "attention.unanswered" for event in events)

    await until(told)
    nodes.other.clock.move(61)
    assert await told() == 1
