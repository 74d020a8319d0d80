"""Agents at several nodes: each hears at its own what was written through any, and one node acts for all."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.moment import SECOND
from tacit.base.stream_plan import StreamPlan
from tests.hub.c2a.stage import Agent, Stage, staged
from tests.hub.c2a.test_people import Receiver
from tests.hub.room import WAIT, Socket
from tests.ledger.io.jetstream.servers import new_name
from tests.ledger.io.jetstream.test_nodes import LONG, let_in, same, until
from tests.ledger.world import HandClock, SeededEntropy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tacit.attention.state.work import SessionLife
    from tacit.hub.host.dispatch import Link
    from tests.ledger.io.jetstream.servers import Server


class Nodes:
    """Two nodes with one clock and one group; the first writes."""

    def __init__(self, one: Stage, other: Stage) -> None:
        self.one = one
        self.other = other

    async def agent(self, at: Stage, name: str, **given: Any) -> Agent:
        """An agent that is connected to one of them."""
        await self.member(name, **given)
        return await at.agent(name)

    async def member(self, name: str, **given: Any) -> None:
        """An actor that both of them let in."""
        token = self.other.tokens[name] = await self.one.member(name, **given)
        await same(self.one, self.other, self.one.group_id)
        await let_in(token, self.one, self.other)

    async def are_seen(self, *names: str) -> None:
        """Wait until both nodes know that these are connected, wherever they are."""

        async def seen() -> bool:
            known = (stage.server.hub.host.online(stage.group_id) for stage in (self.one, self.other))
            return all(set(names) == set(online) for online in known)

        await until(seen)


@pytest.fixture
async def nodes(tmp_path: Path, server: Server) -> AsyncIterator[Nodes]:
    plan, clock = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG), HandClock()
    async with AsyncExitStack() as stack:
        one, other = [
            await stack.enter_async_context(
                staged(tmp_path / name, stream=plan, clock=clock, entropy=SeededEntropy(seed))
            )
            for seed, name in enumerate(("one", "two"))
        ]
        await one.open()
        other.group_id = one.group_id
        await same(one, other, one.group_id)
        yield Nodes(one, other)


@pytest.mark.spec("C2A-006", "C2A-027")
async def test_an_agent_hears_at_its_node_what_was_asked_at_another_and_answers_there(nodes: Nodes) -> None:
    ann, ben = await nodes.agent(nodes.other, "ann"), await nodes.agent(nodes.one, "ben")
    await nodes.are_seen("ann", "ben")
    for at, agent in ((nodes.one, ann), (nodes.other, ben)):
        asked = await at.tell(f"@{agent.name} what is the time?")
        heard = await agent.delivery(asked)
        assert "late" not in heard["timing"]
        answer = await agent.answer(asked, f"Noon, says {agent.name}.")
        events = await same(nodes.one, nodes.other, nodes.one.group_id)
        assert answer in [event["id"] for event in events]
        assert len(agent.got(asked)) == 1


@pytest.mark.spec("C2A-153")
async def test_of_claims_at_two_doors_one_wins_each(nodes: Nodes) -> None:
    agents = [
        await nodes.agent((nodes.one, nodes.other)[number % 2], name, roles=["ops"])
        for number, name in enumerate(("ann", "ben", "cyd", "dan"))
    ]
    await nodes.are_seen(*(agent.name for agent in agents))
    for number in range(5):
        asked = await (nodes.one, nodes.other)[number % 2].tell(f"@ops who takes {number}?")
        await asyncio.gather(*(agent.delivery(asked) for agent in agents))
        claims = await asyncio.gather(
            *(agent.call("chat.claim", eventId=asked["id"]) for agent in agents), return_exceptions=True
        )
        won = [claim for claim in claims if isinstance(claim, dict)]
        lost = [claim for claim in claims if isinstance(claim, Refused)]
        assert (len(won), {no.code for no in lost}) == (1, {"claim_conflict"})
        assert len(lost) == 3


@pytest.mark.spec("C2A-173")
async def test_the_node_that_writes_counts_no_silence_of_who_is_heard_at_another(nodes: Nodes) -> None:
    """What it cannot hear itself it is told: an agent that works at the other node keeps its duty."""
    ann = await nodes.agent(nodes.other, "ann")
    await nodes.agent(nodes.one, "ben")
    await nodes.are_seen("ann", "ben")

    def life() -> SessionLife:
        return nodes.one.server.hub.host.known_lives(nodes.one.group_id).sessions["ann"]

    assert life().connected
    before = life().heard_at
    nodes.one.clock.move(60)
    await ann.call("chat.members")
    nodes.other.server.hub.neighbours.beat()  # type: ignore[union-attr]

    async def heard() -> bool:
        return life().heard_at >= before + 60 * SECOND

    await until(heard)


@pytest.mark.spec("C2A-027")
async def test_the_last_connection_wins_at_whatever_node(nodes: Nodes) -> None:
    await nodes.member("ann")
    async with nodes.one.wire("ann") as first:
        await nodes.are_seen("ann")
        nodes.one.clock.move(1)
        async with nodes.other.wire("ann") as second:
            assert await asyncio.wait_for(first.closed, WAIT) == 4009
            asked = await nodes.one.tell("@ann are you there?")
            assert (await second.delivery())["params"]["eventId"] == asked["id"]


async def test_people_see_who_types_and_who_is_there_at_other_nodes(nodes: Nodes) -> None:
    group = nodes.one.group_id
    person = await nodes.one.person("eve")
    await same(nodes.one, nodes.other, group)
    await let_in(person, nodes.other)
    async with nodes.one.socket() as owner:
        await owner.call("follow", group_id=group)
        async with nodes.other.socket(person) as eve:
            await eve.call("follow", group_id=group)

            await told_of(owner, "usr:eve", "online")
            there = await nodes.one.ok("GET", f"/v1/groups/{group}/presence")
            assert there == {"online": ["user", "usr:eve"], "away": []}
            await eve.call("typing", group_id=group)
            assert (await owner.note("typing"))["params"]["by"] == "usr:eve"
        await told_of(owner, "usr:eve", "offline")


async def told_of(follower: Socket, name: str, status: str) -> None:
    while (told := (await follower.note("presence"))["params"]).get("actor_id") != name:
        pass
    assert told["status"] == status


async def test_webhooks_are_called_by_one_node_and_by_the_next_when_it_stops(nodes: Nodes) -> None:
    """Whichever node was asked to set it, and whoever writes."""
    await nodes.member("ann")
    async with Receiver() as receiver, Receiver() as another:
        await receiver.hook(nodes.other, "ann")
        first = await nodes.other.tell("@ann by the first?")
        await receiver.until(1)
        # What was accepted and not written down would be posted again, as after any restart.
        await until(lambda: nodes.other.recorded("accepted"))
        await nodes.member("bob")
        await another.hook(nodes.other, "bob")
        hooks, group_id = nodes.other.server.hub.hooks, nodes.other.group_id
        # Told truly by a node that calls nobody itself.
        assert [await hooks.remove(group_id, "bob"), await hooks.remove(group_id, "bob")] == [True, False]
        await nodes.one.server.stop()
        second = await nodes.other.tell("@ann by the second?")
        posts = await receiver.until(2)
        assert [post["params"]["eventId"] for post in posts] == [first["id"], second["id"]]
        assert all(post["sound"] for post in posts)


@pytest.mark.spec("C2A-011")
async def test_a_webhook_that_cannot_be_taken_up_is_taken_up_later(nodes: Nodes) -> None:
    await nodes.member("ann")
    host, failed = nodes.other.server.hub.host, list[object]()
    attach = host.attach

    async def attached(link: Link) -> None:
        if not failed:
            failed.append(link)
            raise Unavailable("the stream does not answer")
        await attach(link)

    host.attach = attached  # type: ignore[method-assign]
    async with Receiver() as receiver:
        await receiver.hook(nodes.one, "ann")
        await nodes.one.server.stop()
        asked = await nodes.other.tell("@ann which port?")
        (post,) = await receiver.until(1)
        assert post["params"]["eventId"] == asked["id"]
        assert len(failed) == 1


@pytest.mark.spec("C2A-177", "C2A-222")
async def test_the_next_node_takes_up_time_where_the_first_has_left_it(nodes: Nodes) -> None:
    agents = [await nodes.agent(nodes.other, name, roles=["ops"]) for name in ("ann", "ben")]
    await nodes.are_seen("ann", "ben")
    asked = await nodes.one.tell("@ops who restarts the relay?")
    await asyncio.gather(*(agent.delivery(asked) for agent in agents))
    nodes.other.clock.move(31)
    assert await nodes.other.server.hub.host.tick() == 0
    await nodes.one.server.stop()

    async def is_obliged() -> bool:
        await nodes.other.server.hub.host.tick()
        return bool(await nodes.other.delivered(asked, policy="must_respond"))

    await until(is_obliged)
    assert len(await nodes.other.delivered(asked, policy="must_respond")) == 1
