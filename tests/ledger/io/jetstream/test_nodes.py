"""Several hubs on one stream: any of them takes anything, every one of them has it, and one acts for all."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tacit.hub.config import StreamPlan
from tests.hub.room import WAIT, Room, running
from tests.ledger.io.jetstream.servers import new_name
from tests.ledger.io.jetstream.test_cache import proof
from tests.ledger.io.jetstream.test_erasing import on_disk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

LONG = 3_600.0
"""A lease that never expires while a test runs: what moves it is what the test does."""


@asynccontextmanager
async def two(tmp_path: Path, server: Server) -> AsyncIterator[tuple[Room, Room]]:
    """Two hubs; the first one writes."""
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with running(tmp_path / "one", stream=plan) as one, running(tmp_path / "two", stream=plan) as other:
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


def texts(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["text"] for event in events if event["kind"] == "chat.message"]


@pytest.mark.spec("CCCS-018", "CCCS-103")
async def test_what_is_written_through_any_node_is_read_and_followed_at_every_one(
    tmp_path: Path, server: Server
) -> None:
    async with two(tmp_path, server) as (one, other):
        group = await other.group()
        ann = await other.actor(group, "ann")
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
