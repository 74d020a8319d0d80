"""A hub on a stream whose writer stands in a process of its own, and what happens when one of the two is gone."""

from __future__ import annotations

import asyncio
import os
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.stream_plan import StreamPlan
from tacit.client import AgentSession
from tacit.hub.config import HubConfig
from tacit.hub.hub import RunningHub
from tacit.hub.stream.codec import GiveUp
from tacit.hub.stream.link import StreamLink
from tacit.hub.stream.process import StreamWriter
from tacit.ledger.commands import HUB
from tests.hub.room import WAIT, Room, running
from tests.ledger.io.jetstream.servers import new_name
from tests.ledger.io.jetstream.test_nodes import LONG, let_in, said_to, same, taken, texts, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

SHORT = 2.0
"""Seconds of a lease that a test waits for."""


def plan_for(server: Server, seconds: float = LONG) -> StreamPlan:
    return StreamPlan((server.url,), new_name(), 1, lease_seconds=seconds)


def link_of(room: Room) -> StreamLink:
    link: Any = room.server.hub.nodes._local  # type: ignore[union-attr]
    assert isinstance(link, StreamLink)
    return link


async def replaced(room: Room, process: int | None) -> None:
    """Wait until another process writes."""

    async def other() -> bool:
        link = link_of(room)
        return link.process_id not in {None, process} and link.holds(HUB)

    await until(other)


@pytest.mark.spec("CCCS-103")
async def test_a_writer_that_dies_is_started_again_and_nothing_acknowledged_is_lost(
    tmp_path: Path, server: Server
) -> None:
    async with running(tmp_path / "data", stream=plan_for(server), writer="process") as room:
        group = await room.group()
        said = [await room.say(group, f"{number}") for number in range(3)]
        first = link_of(room).process_id
        assert first is not None
        os.kill(first, signal.SIGKILL)
        data = {"text": "3", "client_id": "3"}
        said.append(await taken(lambda: room.append(group, "chat.message", data)))
        await replaced(room, first)
        assert [event["id"] for event in await room.events(group, kinds="chat.message")] == [
            event["id"] for event in said
        ]
        assert (await room.get("/readyz")).status == 200
        assert (await room.get("/v1/status")).body["stream"]["lives"]


async def test_who_waits_for_a_writer_that_dies_hears_that_the_outcome_is_not_known(
    tmp_path: Path, server: Server
) -> None:
    async with running(tmp_path / "data", stream=plan_for(server), writer="process") as room:
        group = await room.group()
        link = link_of(room)
        process = link.process_id
        assert process is not None
        os.kill(process, signal.SIGSTOP)
        waits = asyncio.create_task(room.append(group, "chat.message", {"text": "whose fate nobody knows"}))
        asked = asyncio.create_task(room.get("/v1/status"))

        async def sent() -> bool:
            return bool(link.depth and link._asked)

        await until(sent)
        os.kill(process, signal.SIGKILL)
        answer = await waits
        assert answer.status == 503
        assert answer.body["details"] == {"reason": "outcome_unknown"}
        assert (await asked).status == 503
        await replaced(room, process)
        assert len(texts(await room.events(group))) <= 1


async def test_nobody_waits_for_a_writer_that_has_not_begun(tmp_path: Path, server: Server) -> None:
    """The next one opens the ledger, and nobody knows how long that takes: here it stands still before."""
    async with running(tmp_path / "data", stream=plan_for(server), writer="process") as room:
        link = link_of(room)
        first = link.process_id
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await until(lambda: settled(link.process_id not in {None, first}))
        assert link.process_id is not None
        os.kill(link.process_id, signal.SIGSTOP)
        async with asyncio.timeout(WAIT):
            assert (await room.get("/v1/status")).status == 503
            assert b"tacit_followers" in (await room.get("/metrics")).raw
        os.kill(link.process_id, signal.SIGCONT)
        await replaced(room, first)
        assert (await room.get("/v1/status")).body["stream"]["lives"]


async def settled(found: bool) -> bool:
    return found


@pytest.mark.parametrize("is_asked", [True, False])
def test_only_a_process_that_is_asked_to_end_takes_its_time_for_a_last_snapshot(is_asked: bool) -> None:
    """A hub that was killed may be started again at once, and wait for its folder."""
    given_up = list[bool]()
    node: Any = SimpleNamespace(keeps_last=True, give_up=lambda: given_up.append(True))
    kept = list[bool]()
    store: Any = SimpleNamespace(close=lambda: kept.append(node.keeps_last))
    hub: Any = SimpleNamespace(tell=lambda _word: None)
    writer = StreamWriter(hub, store, node)
    if is_asked:
        writer.take(GiveUp(1))
    writer.close()
    assert (given_up, kept) == ([True] * is_asked, [is_asked])


async def test_a_writer_that_stands_still_is_killed_and_another_takes_its_place(
    tmp_path: Path, server: Server
) -> None:
    async with running(tmp_path / "data", stream=plan_for(server, SHORT), writer="process") as room:
        group = (await taken(lambda: room.post("/v1/groups", {"title": "Room"})))["group_id"]
        process = link_of(room).process_id
        assert process is not None
        os.kill(process, signal.SIGSTOP)
        await said_to(room, group, "after all")
        assert link_of(room).process_id != process
        assert texts(await room.events(group)) == ["after all"]


async def test_the_groups_of_a_hub_that_is_gone_are_free_at_once(tmp_path: Path, server: Server) -> None:
    """The lease lasts an hour: who would have to wait for its end would not be answered in this test's time."""
    plan = plan_for(server)
    async with (
        running(tmp_path / "one", stream=plan, writer="process") as dies,
        running(tmp_path / "two", stream=plan) as lives,
    ):
        group = await dies.group()
        await dies.say(group, "before")
        await same(dies, lives, group)
        link = link_of(dies)
        # What its process sees of a hub that was killed: the end of the socket.
        assert link._socket is not None
        link._is_closing = True
        link._socket.shutdown(2)
        await said_to(lives, group, "after")
        assert texts(await lives.events(group)) == ["before", "after"]


@pytest.mark.spec("C2A-006")
async def test_what_was_asked_while_the_writer_was_gone_reaches_who_is_connected(
    tmp_path: Path, server: Server
) -> None:
    """An agent here, and its writer dead: another node writes to the group meanwhile."""
    plan = plan_for(server)
    async with (
        running(tmp_path / "one", stream=plan, writer="process") as here,
        running(tmp_path / "two", stream=plan) as there,
    ):
        group = await there.group()
        token = await there.actor(group, "ada")
        await same(there, here, group)
        await let_in(token, here)
        async with AgentSession(here.url, token) as ada, asyncio.timeout(WAIT):
            await ada.is_up()
            process = link_of(here).process_id
            assert process is not None
            os.kill(process, signal.SIGKILL)
            asked = await there.say(group, "@ada which port is it?")
            async for delivery in ada.deliveries():
                if delivery.event_id == asked["id"]:
                    break


async def test_files_are_brought_and_read_where_the_writer_stands_beside(
    tmp_path: Path, server: Server
) -> None:
    plan = plan_for(server)
    async with (
        running(tmp_path / "one", stream=plan, writer="process", readers=1) as one,
        running(tmp_path / "two", stream=plan, writer="process") as other,
    ):
        group = await one.group()
        await same(one, other, group)
        blob = await one.ok("POST", f"/v1/groups/{group}/blobs", data=b"bytes" * 1000)

        async def there() -> bool:
            path = f"/v1/groups/{group}/blobs/{blob['sha256']}"
            return (await other.get(path)).raw == b"bytes" * 1000

        await until(there)


def test_what_the_process_cannot_open_is_said_by_the_hub_and_nothing_is_left_behind(
    tmp_path: Path, server: Server
) -> None:
    first, second = plan_for(server), plan_for(server)
    for plan in (first, first):
        hub = RunningHub(HubConfig(tmp_path / "data", stream=plan, writer="process"))
        hub.store.close()  # never started: its process ends all the same
    with pytest.raises(Refused, match="another stream") as refused:
        RunningHub(HubConfig(tmp_path / "data", stream=second, writer="process"))
    assert refused.value.code == "other_stream"
    lock = FolderLock(tmp_path / "data", purpose="a test")
    try:
        with pytest.raises(Unavailable, match="in use"):
            RunningHub(HubConfig(tmp_path / "data", stream=first, writer="process"))
    finally:
        lock.release()
