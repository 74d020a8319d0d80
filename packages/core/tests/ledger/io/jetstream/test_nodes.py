"""Several hubs on one stream: any takes anything, every one has it, each writes to groups of its own."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.stream_plan import StreamPlan
from tests.hub.room import WAIT, Room, running
from tests.ledger.io.jetstream.servers import new_name
from tests.ledger.io.jetstream.test_cache import proof
from tests.ledger.io.jetstream.test_erasing import on_disk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.hub.room import Answer
    from tests.ledger.io.jetstream.servers import Server

LONG = 3_600.0
"""A lease that never expires while a test runs: what moves it is what the test does."""


@asynccontextmanager
async def two(tmp_path: Path, server: Server) -> AsyncIterator[tuple[Room, Room]]:
    """Two hubs, the second with its writer in a process of its own."""
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with (
        running(tmp_path / "one", stream=plan) as one,
        running(tmp_path / "two", stream=plan, writer="process") as other,
    ):
        yield one, other


async def until(holds: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(WAIT):
        while not await holds():
            await asyncio.sleep(0.01)


async def same(one: Room, other: Room, group: str) -> list[dict[str, Any]]:
    """Wait until both have the same; what they have."""

    async def equal() -> bool:
        read = [await room.get(f"/v1/groups/{group}/events?limit=1000") for room in (one, other)]
        return {answer.status for answer in read} == {200} and read[0].body == read[1].body

    await until(equal)
    return await one.events(group)


async def let_in(token: str, *rooms: Room) -> None:
    """Wait until every node knows a token: one that another node made comes with the stream."""

    async def known() -> bool:
        return all(room.server.hub.registry.find(token) is not None for room in rooms)

    await until(known)


def texts(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["text"] for event in events if event["kind"] == "chat.message"]


@pytest.mark.spec("CCCS-018", "CCCS-103")
async def test_what_is_written_through_any_node_is_read_and_followed_at_every_one(
    tmp_path: Path, server: Server
) -> None:
    async with two(tmp_path, server) as (one, other):
        group = await other.group()
        ann = await other.actor(group, "ann")
        await let_in(ann, one, other)
        async with other.stream(group) as followed:
            for number in range(10):
                said = await (one, other)[number % 2].say(group, f"{number}", ann)
                # Read your writes: at the node that was asked it is there with the answer.
                read = await (one, other)[number % 2].events(group, since_seq=said["seq"] - 1)
                assert read[0]["id"] == said["id"]
            assert texts(await same(one, other, group)) == [f"{number}" for number in range(10)]
            heard = [await followed.event() for _ in range(12)]
            assert [event["seq"] for event in heard] == list(range(1, 13))


async def test_what_is_sent_without_waiting_lands_in_its_order(tmp_path: Path, server: Server) -> None:
    """More than one message between nodes can carry, too."""
    async with two(tmp_path, server) as (one, other):
        group = await one.group()
        await same(one, other, group)
        async with other.socket() as socket:
            sent = [
                await socket.send(
                    "append",
                    group_id=group,
                    kind="chat.message",
                    data={"text": f"{number} {'.' * 100_000}"},
                )
                for number in range(30)
            ]
            answers = await asyncio.wait_for(asyncio.gather(*sent), WAIT)
        assert all("result" in answer for answer in answers)
        order = [int(text.split()[0]) for text in texts(await same(one, other, group))]
        assert order == list(range(30))


async def test_one_idempotent_send_to_two_nodes_lands_once(tmp_path: Path, server: Server) -> None:
    async with two(tmp_path, server) as (one, other):
        group = await one.group()
        await same(one, other, group)
        said = await asyncio.gather(
            *(room.say(group, f"{key}", client_id=f"{key}") for key in range(20) for room in (one, other))
        )
        assert len({event["id"] for event in said}) == 20
        assert sorted(texts(await same(one, other, group)), key=int) == [f"{key}" for key in range(20)]


async def test_who_is_let_in_or_shut_out_by_one_node_is_so_at_every_one(
    tmp_path: Path, server: Server
) -> None:
    async with two(tmp_path, server) as (one, other):
        group = await one.group()
        for maker, user in ((one, other), (other, one)):
            name = f"ann{maker.server.port}"
            token = await maker.actor(group, name)
            token_id = maker.server.hub.registry.of(group, name)[0]

            async def is_in(user: Room = user, token: str = token) -> bool:
                return (await user.get(f"/v1/groups/{group}", token=token)).status == 200

            await until(is_in)
            async with user.socket(token) as socket:
                assert await socket.call("groups")
                await maker.ok("DELETE", f"/v1/tokens/{token_id}")
                await asyncio.wait_for(socket.closed, WAIT)
            assert not await is_in()


async def test_a_node_that_comes_later_leaves_the_owners_tokens_as_they_are(
    tmp_path: Path, server: Server
) -> None:
    async with two(tmp_path, server) as (one, other):
        assert one.owner != other.owner
        for room in (one, other):
            for token in (one.owner, other.owner):

                async def is_owner(room: Room = room, token: str = token) -> bool:
                    return (await room.get("/v1/groups", token=token)).status == 200

                await until(is_owner)


@pytest.mark.spec("CCCS-086", "C2A-187")
async def test_files_and_erasures_are_those_of_every_node(tmp_path: Path, server: Server) -> None:
    async with two(tmp_path, server) as (one, other):
        group = await one.group()
        await same(one, other, group)
        for here, there in ((one, other), (other, one)):
            word = f"secret{here.server.port}"
            blob = await here.ok("POST", f"/v1/groups/{group}/blobs", data=word.encode())
            path = f"/v1/groups/{group}/blobs/{blob['path']}"
            said = await here.say(group, word, attachments=[{"path": blob["path"], "name": "a"}])
            await same(one, other, group)
            assert (await there.get(path)).raw == word.encode()
            await there.ok("POST", f"/v1/groups/{group}/events/{said['id']}/delete", json={})
            await same(one, other, group)

            async def is_gone(word: str = word) -> bool:
                places = (tmp_path / "one", tmp_path / "two", server.folder)
                return not any(on_disk(word, place) for place in places)

            await until(is_gone)


async def test_a_node_that_stops_hands_over_and_nothing_fails(tmp_path: Path, server: Server) -> None:
    """The lease lasts an hour: the next node writes since the first has let go of it."""
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with running(tmp_path / "two", stream=plan) as first:
        group = await first.group()
        async with running(tmp_path / "one", stream=plan) as other:
            before = [asyncio.create_task(other.say(group, f"{number}")) for number in range(20)]
            await asyncio.wait_for(before[0], WAIT)
            stopping = asyncio.create_task(first.server.stop())
            after = [asyncio.create_task(other.say(group, f"{number}")) for number in range(20, 40)]
            await asyncio.wait_for(asyncio.gather(stopping, *before, *after), WAIT)
            assert sorted(texts(await other.events(group)), key=int) == [f"{number}" for number in range(40)]
            async with running(tmp_path / "two", stream=plan) as back:
                await back.say(group, "back")
                await same(back, other, group)
    assert proof(tmp_path / "one") == proof(tmp_path / "two")


def writes(room: Room, group: str) -> bool:
    """Is this the hub that writes to a group?"""
    return room.server.hub.nodes.holds(group)  # type: ignore[union-attr]


async def test_each_hub_writes_to_the_groups_that_began_there_and_the_status_counts_them(
    tmp_path: Path, server: Server
) -> None:
    async with two(tmp_path, server) as (one, other):
        groups = [await room.group() for room in (one, other, other)]
        assert [writes(one, group) for group in groups] == [True, False, False]
        assert [writes(other, group) for group in groups] == [False, True, True]
        for group in groups:
            await same(one, other, group)
            await asyncio.gather(*(room.say(group, "hello") for room in (one, other) for _ in range(10)))
            assert len(texts(await same(one, other, group))) == 20
        for room, counts in ((one, [2, 2]), (other, [2, 2])):

            async def listed(room: Room = room, counts: list[int] = counts) -> bool:
                nodes = (await room.ok("GET", "/v1/status"))["nodes"]
                # The records of the hub's own are with whoever came first.
                return [node["groups"] for node in nodes] == counts and nodes[0]["here"]

            await until(listed)


async def test_a_relay_between_groups_of_two_hubs_is_whole(tmp_path: Path, server: Server) -> None:
    async with two(tmp_path, server) as (one, other):
        first, second = await one.group(), await other.group()
        said = await one.say(first, "to be passed on")
        for group in (first, second):
            await same(one, other, group)
        for room in (one, other):
            sent = {"src_group_id": first, "src_event_id": said["id"]}
            await room.ok("POST", f"/v1/groups/{second}/relay", json=sent)
        assert texts(await same(one, other, second)) == ["to be passed on"] * 2


async def cut_off(room: Room) -> None:
    """Have a hub live on without any word from the servers, as if it had died."""
    node: Any = room.server.hub.nodes._among  # type: ignore[union-attr]
    connection = node._connection
    await asyncio.to_thread(connection.stop, node._lease._renewing)
    await asyncio.to_thread(connection.wait, connection._client.close())


async def test_when_a_hub_dies_its_groups_go_on_at_another_and_nothing_acknowledged_is_lost(
    tmp_path: Path, server: Server
) -> None:
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=3.0)
    async with (
        running(tmp_path / "one", stream=plan) as dies,
        running(tmp_path / "two", stream=plan) as lives,
    ):
        # So short a lease may be lost for a moment on a slow machine: what is answered 503 is sent again.
        group = (await taken(lambda: dies.post("/v1/groups", {"title": "Room"})))["group_id"]
        said = [await said_to(dies, group, f"{number}") for number in range(5)]
        await same(dies, lives, group)
        await cut_off(dies)
        said += [await said_to(lives, group, f"{number}") for number in range(5, 10)]
        kept = [event["id"] for event in await lives.events(group, kinds="chat.message")]
        assert kept == [event["id"] for event in said]


async def test_when_a_hub_dies_the_groups_of_another_go_on_as_if_nothing_were(
    tmp_path: Path, server: Server
) -> None:
    """The lease lasts an hour: what had to wait for it would not be answered in this test's time."""
    async with two(tmp_path, server) as (dies, lives):
        mine, theirs = await lives.group(), await dies.group()
        await same(dies, lives, theirs)
        await cut_off(dies)
        for number in range(10):
            await lives.say(mine, f"{number}")
        waits = asyncio.create_task(lives.append(theirs, "chat.message", {"text": "to the dead"}))
        assert texts(await lives.events(mine)) == [f"{number}" for number in range(10)]
        waits.cancel()


async def taken(send: Callable[[], Awaitable[Answer]]) -> Any:
    async with asyncio.timeout(WAIT):
        while (answer := await send()).status == 503:
            pass
    assert answer.status in {200, 201}, answer.body
    return answer.body


async def said_to(room: Room, group: str, text: str) -> Any:
    data = {"text": text, "client_id": text}
    return await taken(lambda: room.append(group, "chat.message", data))
