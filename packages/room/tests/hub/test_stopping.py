"""Stopping on purpose and being killed: nothing acknowledged is lost, nothing is appended twice."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.hub import server
from tacit.hub.doors.follow import EventStream
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.io import upkeep, verification
from tests.hub.room import WAIT, Room, Socket, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.mark.spec("CCCS-113")
async def test_a_stop_answers_every_append_and_tells_followers_where_to_resume(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        async with room.socket() as writer, room.socket() as follower, room.stream(group) as stream:
            await follower.call("follow", group_id=group)
            said = {"group_id": group, "kind": "chat.message", "data": {"text": "x"}}
            sent = [await writer.send("append", **said) for _ in range(300)]
            async with asyncio.timeout(WAIT):
                await sent[0]
                stopping = asyncio.create_task(room.server.stop())
                answers = await asyncio.gather(*sent, return_exceptions=True)
            committed = [
                answer["result"]["seq"]
                for answer in answers
                if isinstance(answer, dict) and "result" in answer
            ]
            refused = [answer for answer in answers if isinstance(answer, dict) and "error" in answer]
            unknown = [answer for answer in answers if not isinstance(answer, dict)]
            assert {answer["error"]["data"]["code"] for answer in refused} <= {"daemon_unavailable"}
            last = max(committed)
            cut = (await follower.note("cut"))["params"]
            assert cut == {"subscription": 1, "since_seq": last, "reason": "stopping"}
            assert await asyncio.wait_for(follower.closed, WAIT) == 1001
            assert await asyncio.wait_for(writer.closed, WAIT) == 1001
            blocks = []
            while block := await stream.block():
                blocks.append(block)
            assert blocks[-1]["event"] == "cut"
            assert json.loads(blocks[-1]["data"]) == {"reason": "stopping", "since_seq": last}
            assert [int(block["id"]) for block in blocks[:-1]] == list(range(1, last + 1))
            await asyncio.wait_for(stopping, WAIT)
    assert committed == list(range(2, last + 1))
    async with running(tmp_path) as room:
        # Frames that the hub never read have no answer; all that were answered are there, and nothing else.
        assert await room.last_seq(group) == last
        assert len(committed) + len(refused) + len(unknown) == 300
        async with room.socket() as socket:
            await socket.call("follow", group_id=group, since_seq=last)
            more = await room.say(group, "after")
            assert await socket.event() == more
            assert more["seq"] == last + 1


@pytest.mark.spec("CCCS-113")
async def test_followers_in_their_replay_and_in_several_groups_are_told_where_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They know that they follow, and are sent what was before; the stop comes in between."""
    held = asyncio.Event()
    read_on = EventStream._next

    async def held_up(self: EventStream, *given: Any) -> tuple[int, int]:
        await held.wait()
        return await read_on(self, *given)

    async with running(tmp_path) as room:
        groups = [await room.group() for _ in range(3)]
        for group in groups:
            await room.say(group, "before")
        async with room.socket() as follower:
            await follower.call("follow", group_id=groups[0], since_seq=2)
            assert await room.say(groups[0], "live") == await follower.event()
            monkeypatch.setattr(EventStream, "_next", held_up)
            await follower.call("follow", group_id=groups[1], since_seq=2)
            await follower.call("follow", group_id=groups[2], since_seq=1)
            async with room.stream(groups[1], since_seq=1) as stream:
                stopping = asyncio.create_task(room.server.stop())
                cuts = [(await follower.note())["params"] for _ in groups]
                held.set()
                assert {one["subscription"]: one["since_seq"] for one in cuts} == {1: 3, 2: 2, 3: 1}
                assert {one["reason"] for one in cuts} == {"stopping"}
                assert await asyncio.wait_for(follower.closed, WAIT) == 1001
                cut = await stream.block()
                assert json.loads(cut["data"]) == {"reason": "stopping", "since_seq": 1}
                assert not await stream.block()
            await asyncio.wait_for(stopping, WAIT)
            assert follower.notes.empty()


async def test_a_socket_that_writes_and_follows_gets_its_answers_before_it_is_closed(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        async with room.socket() as socket:
            await socket.call("follow", group_id=group, since_seq=1)
            said = {"group_id": group, "kind": "chat.message", "data": {"text": "x" * 1000}}
            sent = [await socket.send("append", **said) for _ in range(100)]
            while not room.server.hub.ledger._open:
                await asyncio.sleep(0)
            taken = room.server.hub.ledger._open
            await asyncio.wait_for(room.server.stop(), WAIT)
            await asyncio.wait_for(socket.closed, WAIT)
            answers = await asyncio.gather(*sent, return_exceptions=True)
            committed = [one["result"]["seq"] for one in answers if isinstance(one, dict) and "result" in one]
            assert taken
            assert len(committed) >= taken
            events = []
            while not socket.notes.empty():
                events.append(socket.notes.get_nowait())
            assert [one["params"]["event"]["seq"] for one in events[:-1]] == committed
            assert events[-1]["params"]["since_seq"] == committed[-1]


@pytest.mark.spec("CCCS-113")
async def test_while_stopping_an_append_is_refused_as_unavailable_on_every_door(room: Room) -> None:
    group = await room.group()
    async with room.socket() as socket:
        room.server.hub.ledger.close()
        answer = await room.append(group, "chat.message", {"text": "x"})
        assert (answer.status, answer.code) == (503, "daemon_unavailable")
        answer = await room.post("/v1/groups", {"title": "x"})
        assert (answer.status, answer.code) == (503, "daemon_unavailable")
        body = await (await socket.send("append", group_id=group, kind="chat.message", data={"text": "x"}))
        assert body["error"]["data"]["code"] == "daemon_unavailable"
        assert body["error"]["code"] == -32025
        room.server.hub.live.close()
        await socket.call("follow", group_id=group, since_seq=0)
        cut = (await socket.note("cut"))["params"]
        assert (cut["since_seq"], cut["reason"]) == (1, "stopping")


async def test_idle_connections_do_not_hold_up_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SHUTDOWN_SECONDS", 600.0)
    async with running(tmp_path) as room, room.socket() as one, room.socket(None) as two:
        await one.call("groups")
        async with asyncio.timeout(WAIT):
            await room.server.stop()
        assert await one.closed == await two.closed == 1001


@asynccontextmanager
async def child(
    folder: Path, writer: str = "thread"
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Room]]:
    """A hub in a process of its own; ended by id whatever happens."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(Path(__file__).with_name("child.py")),
        str(folder),
        "0",
        writer,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        port = int(await asyncio.wait_for(process.stdout.readline(), WAIT))
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            yield process, Outside(session, port, (folder / "owner.token").read_text().strip())
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


class Outside(Room):
    """A room whose hub runs elsewhere."""

    def __init__(self, session: aiohttp.ClientSession, port: int, owner: str) -> None:
        self.session = session
        self.owner = owner
        self._url = f"http://127.0.0.1:{port}"

    @property
    def url(self) -> str:
        return self._url


class Writer:
    """One writer with client_ids: what it sent, and what it was told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.told: dict[str, int] = {}
        self.unsure: list[dict[str, Any]] = []

    def next(self) -> dict[str, Any]:
        self.count += 1
        key = f"{self.name}-{self.count}"
        return {"text": f"word {key}", "client_id": key, "priority": random.choice(["normal", "attention"])}

    async def write(self, socket: Socket, group: str) -> None:
        """Write until the hub is gone: first what is unsure again, then new."""
        again, self.unsure = self.unsure, []
        try:
            while True:
                batch = again or [self.next() for _ in range(8)]
                again = []
                self.unsure = list(batch)
                sent = [
                    await socket.send("append", group_id=group, kind="chat.message", data=data)
                    for data in batch
                ]
                for data, future in zip(batch, sent, strict=True):
                    result = (await future)["result"]
                    known = self.told.setdefault(data["client_id"], result["seq"])
                    assert known == result["seq"]
                    self.unsure.remove(data)
        except (ConnectionError, aiohttp.ClientError):
            return


def acknowledged(writers: list[Writer]) -> int:
    return sum(len(writer.told) for writer in writers)


async def kill_round(folder: Path, group: str, writers: list[Writer], after: int, where: str) -> None:
    """Kill the hub once so many more writes are acknowledged: a moment that no machine's speed decides."""
    wanted = acknowledged(writers) + after
    async with child(folder, where) as (process, room):
        if not group:
            return
        async with asyncio.TaskGroup() as tasks, aiohttp.ClientSession() as session:
            room.session = session
            sockets = [room.socket() for _ in writers]
            opened = [await socket.__aenter__() for socket in sockets]
            for writer, socket in zip(writers, opened, strict=True):
                tasks.create_task(writer.write(socket, group))
            async with asyncio.timeout(WAIT):
                while acknowledged(writers) < wanted:
                    await asyncio.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            for socket in opened:
                await asyncio.wait_for(socket.closed, WAIT)
            for manager in sockets:
                await manager.__aexit__(None, None, None)


def check(folder: Path, group: str, writers: list[Writer]) -> None:
    """Everything that was acknowledged is there once, in order; projections equal a rebuild."""
    report = verification.verify(folder, SystemEntropy())
    assert report.sound, report.problems
    events = [json.loads(line) for line in upkeep.export(folder, group)]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    places: dict[str, int] = {}
    for event in events:
        if key := event["data"].get("client_id"):
            assert key not in places
            places[key] = event["seq"]
    for writer in writers:
        for key, seq in writer.told.items():
            assert places[key] == seq
        mine = [key for key in places if key.startswith(writer.name + "-")]
        assert sorted(mine, key=lambda key: int(key.split("-")[1])) == mine
    before = upkeep.fingerprint(folder)
    assert upkeep.rebuild(folder, TimeService(), SystemEntropy(), AdmissionSettings()) >= len(events)
    assert upkeep.fingerprint(folder) == before


async def killed(folder: Path, rounds: int, where: str) -> None:
    chance = random.Random(rounds)
    async with running(folder) as room:
        group = await room.group()
        for name in ("ann", "bob"):
            await room.actor(group, name)
    writers = [Writer(f"w{n}") for n in range(8)]
    for _ in range(rounds):
        await kill_round(folder, group, writers, chance.randint(9, 150), where)
        await asyncio.to_thread(check, folder, group, writers)
    assert acknowledged(writers) > rounds * 8
    async with running(folder) as room, room.socket() as socket:
        for writer in writers:
            for data in writer.unsure:
                first = await socket.call("append", group_id=group, kind="chat.message", data=data)
                again = await socket.call("append", group_id=group, kind="chat.message", data=data)
                assert again["id"] == first["id"]
    await asyncio.to_thread(check, folder, group, writers)


@pytest.mark.parametrize("where", ["thread", "process"])
@pytest.mark.spec("CCCS-055", "CCCS-114", "CCCS-115")
async def test_three_kills_under_eight_writers_lose_and_repeat_nothing(tmp_path: Path, where: str) -> None:
    await killed(tmp_path, 3, where)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("where", ["thread", "process"])
@pytest.mark.spec("CCCS-055", "CCCS-114", "CCCS-115")
async def test_fifty_kills_under_eight_writers_lose_and_repeat_nothing(tmp_path: Path, where: str) -> None:
    await killed(tmp_path, 50, where)


async def test_sigterm_stops_a_hub_cleanly(tmp_path: Path) -> None:
    async with child(tmp_path) as (process, room):
        group = await room.group()
        async with room.socket() as socket:
            await socket.call("follow", group_id=group)
            process.send_signal(signal.SIGTERM)
            assert (await socket.note("cut"))["params"]["reason"] == "stopping"
            assert await asyncio.wait_for(socket.closed, WAIT) == 1001
        assert await asyncio.wait_for(process.wait(), WAIT) == 0
    async with running(tmp_path) as room:
        assert await room.last_seq(group) == 1


async def test_a_fault_of_our_own_while_reading_is_not_taken_for_the_end(room: Room) -> None:
    def broken(_reader: object) -> None:
        raise RecursionError

    with pytest.raises(RecursionError):
        await room.server.hub.ledger.read(broken)
