"""Reads are shared fairly between credentials, end in time, and end when whoever asked has left."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.hub.bounds.quotas import Caller, caller, for_the_house, reading_for
from tacit.hub.config import Limits
from tests.hub.room import Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tacit.ledger.io.reader import Reader

BOUND = 60
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n"


def endless(begun: threading.Event | None = None) -> Any:
    """A query that ends when it is stopped."""

    def query(reader: Reader) -> None:
        if begun is not None:
            begun.set()
        reader.connection.execute(ENDLESS).fetchall()

    return query


def many_small(reader: Reader) -> None:
    """Endless too, but no statement of it takes long."""
    while True:
        reader.connection.execute("SELECT 1").fetchall()


async def read_as(room: Room, who: Caller, query: Any) -> Any:
    reading_for(who)
    return await room.server.hub.ledger.read(query)


async def until(fits: Any) -> None:
    async with asyncio.timeout(BOUND):
        while not fits():
            await asyncio.sleep(0.002)


@asynccontextmanager
async def busy(room: Room, who: Caller, count: int) -> AsyncIterator[list[asyncio.Task[Any]]]:
    """Somebody reads without end."""
    begun = threading.Event()
    tasks = [asyncio.create_task(read_as(room, who, endless(begun))) for _ in range(count)]
    await until(begun.is_set)
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_credentials_endless_reads_leave_the_others_a_place(room: Room) -> None:
    group = await room.group()
    async with busy(room, Caller("greedy"), 20):
        for _ in range(5):
            assert (await room.get(f"/v1/groups/{group}/timeline")).status == 200
        assert room.server.hub.ledger.turns.waiting == 19


async def test_a_cancelled_read_ends_and_gives_its_place_on(room: Room) -> None:
    async with busy(room, Caller("greedy"), 1) as (first,):
        second = asyncio.create_task(read_as(room, Caller("greedy"), lambda _reader: "mine"))
        await until(lambda: room.server.hub.ledger.turns.waiting == 1)
        first.cancel()
        async with asyncio.timeout(BOUND):
            assert await second == "mine"


@pytest.mark.parametrize("query", [endless(), many_small], ids=["one statement", "many small ones"])
async def test_a_read_has_a_deadline(tmp_path: Path, query: Any) -> None:
    async with running(tmp_path) as room:
        room.server.hub.ledger.turns._seconds = 0.05
        with pytest.raises(Unavailable, match="too long"):
            await read_as(room, Caller("greedy"), query)
        room.server.hub.ledger.turns._seconds = BOUND
        assert await read_as(room, Caller("greedy"), lambda _reader: 1) == 1
        assert room.server.hub.ledger.turns.stopped == 1


async def test_a_read_ends_when_whoever_asked_has_left(room: Room) -> None:
    who = Caller("greedy")
    async with busy(room, who, 2) as tasks:
        for told in list(who.leaving):
            told()
        async with asyncio.timeout(BOUND):
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(one) for one in ended] == ["whoever asked has left"] * 2
        assert not who.leaving
        assert await read_as(room, who, lambda _reader: 1) == 1


async def test_a_line_of_reads_has_an_end(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(reads_waiting=3)) as room, busy(room, Caller("greedy"), 4):
        with pytest.raises(Refused) as refused:
            await read_as(room, Caller("greedy"), lambda _reader: 1)
        assert refused.value.details["reason"] == "too_many_reads"
        assert await read_as(room, Caller("ann"), lambda _reader: 1) == 1


async def test_stopping_waits_for_no_read(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        tasks = [asyncio.create_task(read_as(room, Caller(str(one)), endless())) for one in range(4)]
        await until(lambda: room.server.hub.ledger.turns.waiting == 2)
    async with asyncio.timeout(BOUND):
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, Unavailable) for one in ended)


def test_what_the_hub_does_of_its_own_accord_is_nobodys() -> None:
    context = for_the_house()
    context.run(reading_for, Caller("ann"))
    assert context.run(caller).owner == "ann"
    assert context.run(for_the_house).run(caller).owner == ""


class Asked:
    """Counts the reads that a hub makes, by whom they are for, and lets none of them end."""

    def __init__(self, room: Room) -> None:
        self.owners: list[str] = []
        self._read = room.server.hub.ledger.read
        self._armed = False
        room.server.hub.ledger.read = self  # type: ignore[method-assign,assignment]

    async def __call__(self, query: Any) -> Any:
        if caller().owner.startswith("tok_") and self._armed:
            self.owners.append(caller().owner)
            return await self._read(endless())
        return await self._read(query)

    def arm(self) -> None:
        self._armed = True


def tool_call(name: str) -> dict[str, Any]:
    params = {"name": name, "arguments": {"query": "word"}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
DOORS = {
    "GET": lambda room, group, token: room.get(f"/v1/groups/{group}/timeline", token=token),
    "SSE": lambda room, group, token: room.get(
        f"/v1/groups/{group}/events", token=token, headers={"Accept": "text/event-stream"}
    ),
    "POST /c2a": lambda room, _group, token: room.post("/c2a", tool_call("chat.search"), token=token),
    "/mcp": lambda room, _group, token: room.post(
        "/mcp", tool_call("chat_search"), token=token, headers=ACCEPT
    ),
}


@pytest.mark.parametrize("ask", DOORS.values(), ids=DOORS)
async def test_by_every_door_a_read_is_its_credentials_and_ends_when_it_leaves(room: Room, ask: Any) -> None:
    group = await room.group()
    token = await room.actor(group, "ada")
    await ask(room, group, token) if ask is DOORS["/mcp"] else None
    asked = Asked(room)
    asked.arm()
    task = asyncio.ensure_future(ask(room, group, token))
    await until(lambda: asked.owners)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await until(lambda: room.server.hub.ledger.turns.stopped)


@pytest.mark.parametrize(("path", "signs_in"), [("/v1/ws", False), ("/v1/ws", True), ("/c2a", False)])
async def test_a_read_ends_with_the_socket_it_was_asked_on(room: Room, path: str, signs_in: bool) -> None:
    group = await room.group()
    token = await room.actor(group, "ada")
    asked = Asked(room)
    asked.arm()
    headers = {} if signs_in else {"Authorization": f"Bearer {token}"}
    async with room.session.ws_connect(room.url + path, headers=headers) as line:
        if signs_in:
            sign_in = {"jsonrpc": "2.0", "id": 0, "method": "authenticate", "params": {"token": token}}
            await line.send_str(json.dumps(sign_in))
            assert "result" in json.loads((await line.receive()).data)
        call = {"jsonrpc": "2.0", "id": 1, "method": "window", "params": {"group_id": group}}
        hello = {
            "protocolVersion": "2026-06-24",
            "clientInfo": {"name": "test", "version": "1"},
            "capabilities": {},
        }
        if path == "/c2a":
            call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        await line.send_str(json.dumps(call))
        await until(lambda: asked.owners)
        transport = line._response.connection.transport  # type: ignore[union-attr]
        transport.abort()  # type: ignore[union-attr]
        await until(lambda: room.server.hub.ledger.turns.stopped)
