"""Readers in processes of their own: the same answers, and nobody waits for another's read."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from tacit.hub.doors.routes import OPERATIONS
from tacit.hub.reader.reads import READS
from tests.hub.room import Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tacit.hub.reader.link import ReaderPool

BOUND = 60


@asynccontextmanager
async def with_processes(folder: Path) -> AsyncIterator[tuple[Room, ReaderPool]]:
    async with running(folder, readers=2) as room:
        pool = room.server.hub.readers
        assert pool is not None
        yield room, pool


async def until(fits: Any) -> None:
    async with asyncio.timeout(BOUND):
        while not fits():
            await asyncio.sleep(0.005)


def test_what_a_process_reads_is_what_the_doors_offer() -> None:
    offered = {one.name: (one.params, one.run) for one in OPERATIONS}
    assert {name: offered[name] for name in READS} == READS


async def test_a_process_answers_as_the_hub_itself_does(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        tokens = [room.owner, await room.actor(group, "ada"), await room.actor(group, "ben")]
        first = await room.say(group, "a word for all")
        await room.say(group, "a word for ada", to=["ada"])
        await room.say(group, "an answer", reply_to=first["id"])
        paths = [
            one.path.format(group_id=group, event_id=first["id"], tid="none")
            for one in OPERATIONS
            if one.name in READS
        ]
        paths = [path + "?q=word" if path.endswith("/search") else path for path in paths]
        paths += [f"/v1/groups/{group}/events/evt_none", f"/v1/groups/{group}/timeline?root=nothing"]
        here = {(path, token): await room.get(path, token=token) for path in paths for token in tokens}
    async with with_processes(tmp_path) as (room, _pool):
        for (path, token), before in here.items():
            now = await room.get(path, token=token)
            assert (now.status, now.body) == (before.status, before.body), path
        async with room.socket(tokens[1]) as line:
            assert (await line.call("timeline", group_id=group))["rows"] == here[
                f"/v1/groups/{group}/timeline", tokens[1]
            ].body["rows"]


async def test_reading_tools_are_answered_by_a_process_too(tmp_path: Path) -> None:
    async with with_processes(tmp_path) as (room, _pool):
        group = await room.group()
        token = await room.actor(group, "ada")
        await room.say(group, "a word for all")

        async def tool(name: str, **arguments: Any) -> Any:
            params = {"name": name, "arguments": arguments}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            return (await room.post("/c2a", call, token=token)).body

        found = await tool("chat.search", query="word")
        assert "a word for all" in str(found["result"])
        assert "ada" in str((await tool("chat.members"))["result"])
        assert (await tool("chat.read_thread", threadId="evt_nothing"))["error"]["data"]


async def test_whoever_holds_a_process_holds_no_other_ones(tmp_path: Path) -> None:
    async with with_processes(tmp_path) as (room, pool):
        group = await room.group()
        greedy = await room.actor(group, "greedy")
        path = f"/v1/groups/{group}/timeline"
        assert (await room.get(path)).status == 200
        stuck = pool._free[-1].process_id
        assert stuck is not None
        os.kill(stuck, signal.SIGSTOP)
        held = [asyncio.ensure_future(room.get(path, token=greedy)) for _ in range(8)]
        await until(lambda: pool.turns.waiting == 7)
        for _ in range(10):
            assert (await room.get(path)).status == 200
        for one in held:
            one.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        # Nobody is there any more: what is stuck is killed, and its place is good again.
        await until(lambda: len(pool._free) == 2 and not pool.turns.waiting)
        assert (await room.get(path, token=greedy)).status == 200
        assert stuck not in {one.process_id for one in pool.processes}


async def test_a_reader_that_dies_is_started_again(tmp_path: Path) -> None:
    async with with_processes(tmp_path) as (room, pool):
        group = await room.group()
        path = f"/v1/groups/{group}/timeline"
        for process in pool.processes:
            assert process.process_id is not None
            os.kill(process.process_id, signal.SIGKILL)
        answers = [(await room.get(path)).status for _ in range(6)]
        assert set(answers) <= {200, 503}
        await until(lambda: all(one._transport is None or one.process_id for one in pool.processes))
        assert (await room.get(path)).status == 200


async def test_no_process_outlives_its_hub(tmp_path: Path) -> None:
    async with with_processes(tmp_path) as (room, pool):
        group = await room.group()
        assert (await room.get(f"/v1/groups/{group}/timeline")).status == 200
        ids = [one.process_id for one in pool.processes]
        stuck = ids[0]
        assert stuck is not None
        os.kill(stuck, signal.SIGSTOP)

    def gone() -> bool:
        for one in ids:
            with suppress(ProcessLookupError):
                os.kill(one or 0, 0)
                return False
        return True

    await until(gone)


@pytest.mark.parametrize("params", [{"q": ""}, {"q": "x", "limit": "0"}])
async def test_what_is_refused_is_refused_as_in_the_hub(tmp_path: Path, params: dict[str, str]) -> None:
    async with with_processes(tmp_path) as (room, _pool):
        group = await room.group()
        refused = await room.get(f"/v1/groups/{group}/search", params=params)
        assert (refused.status, refused.code) == (400, "invalid_request")
