"""Following: replay then live with no gap and no repeat, filters, cuts with a place to resume, typing."""

from __future__ import annotations

import asyncio
import json
import random
import socket as sockets
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest
import websockets

from tacit.hub.config import Limits
from tacit.hub.doors.follow import EventStream
from tacit.hub.operations import requests
from tacit.ledger.cursor import selection
from tests.hub.room import WAIT, Failed, Room, Socket, Sse, running

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.ledger.envelope import StoredEvent

SLOW = Limits(follower_bytes=64 * 1024)


async def flood(room: Room, group: str, count: int, width: int = 16, **data: Any) -> None:
    """Append `count` messages over one socket, `width` at a time."""
    async with room.socket() as socket:
        running: list[asyncio.Future[dict[str, Any]]] = []
        for n in range(count):
            said = {"text": f"m{n}", **data}
            running.append(await socket.send("append", group_id=group, kind="chat.message", data=said))
            if len(running) == width:
                assert "result" in await running.pop(0)
        for answer in await asyncio.gather(*running):
            assert "result" in answer


async def seqs_from(source: Socket | Sse, last: int) -> list[int]:
    """Every position that a follower is given, up to `last`."""
    seen: list[int] = []
    async with asyncio.timeout(WAIT):
        while not seen or seen[-1] < last:
            seen.append((await source.event())["seq"])
    return seen


@pytest.mark.spec("CCCS-103", "CCCS-026")
async def test_followers_that_begin_amid_heavy_writing_see_every_position_once_in_order(room: Room) -> None:
    group = await room.group()
    total = 1500
    last = total + 1
    chance = random.Random(7)

    async def follower(number: int, stack: AsyncExitStack) -> list[int]:
        await asyncio.sleep(chance.random() * 0.5)  # begin at a random moment of the writing
        if number % 2:
            socket = await stack.enter_async_context(room.socket())
            await socket.call("follow", group_id=group, since_seq=0)
            return await seqs_from(socket, last)
        stream = await stack.enter_async_context(room.stream(group, since_seq=0))
        return await seqs_from(stream, last)

    async with AsyncExitStack() as stack:
        writing = asyncio.create_task(flood(room, group, total))
        seen = await asyncio.gather(*(follower(number, stack) for number in range(16)))
        await writing
    for one in seen:
        assert one == list(range(1, last + 1))


@pytest.mark.spec("CCCS-103", "CCCS-107")
async def test_filtered_followers_that_begin_amid_writing_miss_nothing_of_their_kinds(room: Room) -> None:
    group = await room.group()
    total = 600

    async def write(kind: str, data: dict[str, Any]) -> None:
        async with room.socket() as socket:
            for _ in range(total // 3):
                await socket.call("append", group_id=group, kind=kind, data=data)

    async with AsyncExitStack() as stack:
        writers = [
            asyncio.create_task(write(kind, data))
            for kind, data in (("chat.message", {"text": "x"}), ("x.a.b", {}), ("x.a.c", {}))
        ]
        followers: list[Socket] = []
        for _ in range(8):
            socket = await stack.enter_async_context(room.socket())
            await socket.call("follow", group_id=group, kinds=["chat.message", "x.a.c"])
            followers.append(socket)
        await asyncio.gather(*writers)
        expected = [event["seq"] for event in await room.events(group, kinds="chat.message,x.a.c")]
        for socket in followers:
            assert await seqs_from(socket, expected[-1]) == expected


@pytest.mark.spec("CCCS-103", "CCCS-107")
async def test_a_page_never_reaches_past_the_end_that_it_was_asked_for(room: Room) -> None:
    group = await room.group()
    await room.say(group, "one")
    store = room.server.hub.store
    known = store.read(lambda reader: reader.group(group))
    await room.append(group, "x.a.b", {})
    await room.say(group, "two")
    wanted = selection(kinds=["chat.message", "x.a.b"])
    page = store.read(lambda reader: reader.page(known, "user", wanted))
    assert ([event.seq for event in page.events], page.next_seq, page.last_seq) == ([2], 2, 2)


@pytest.mark.spec("CCCS-103")
async def test_a_replay_of_many_pages_after_a_restart_is_whole(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        await flood(room, group, 350)
    async with running(tmp_path) as room, room.socket() as socket, room.stream(group) as stream:
        await socket.call("follow", group_id=group)
        for source in (socket, stream):
            assert await seqs_from(source, 351) == list(range(1, 352))


@pytest.mark.spec("CCCS-108")
async def test_a_limit_bounds_the_replay_and_following_goes_on_behind_it(room: Room) -> None:
    group = await room.group()
    for n in range(9):
        await room.say(group, f"m{n}")
    async with room.socket() as socket, room.stream(group, since_seq=1, limit=3) as stream:
        await socket.call("follow", group_id=group, since_seq=1, limit=3)
        for source in (socket, stream):
            assert [(await source.event())["seq"] for _ in range(3)] == [2, 3, 4]
        live = await room.say(group, "live")
        for source in (socket, stream):
            assert await source.event() == live


@pytest.mark.spec("CCCS-108")
async def test_following_with_a_limit_amid_writing_repeats_nothing(room: Room) -> None:
    group = await room.group()
    async with AsyncExitStack() as stack:
        writing = asyncio.create_task(flood(room, group, 800))
        followers: list[Socket] = []
        for _ in range(12):
            socket = await stack.enter_async_context(room.socket())
            await socket.call("follow", group_id=group, since_seq=0, limit=1000)
            followers.append(socket)
        await writing
        for socket in followers:
            assert await seqs_from(socket, 801) == list(range(1, 802))


@pytest.mark.spec("CCCS-105")
async def test_a_position_past_the_end_waits_and_disturbs_no_other_follower(room: Room) -> None:
    group = await room.group()
    room.server.hub.live._ends.clear()  # as after a restart: nothing was published yet
    async with room.socket() as far, room.socket() as near:
        await far.call("follow", group_id=group, since_seq=10_000)
        await near.call("follow", group_id=group, since_seq=0)
        assert (await near.event())["seq"] == 1
        await attached(room, group, 2)
        sent = await room.say(group, "hello")
        assert await near.event() == sent
        assert far.notes.empty()
        assert await room.call("GET", "/healthz")


@pytest.mark.spec("CCCS-103")
async def test_unfollow_ends_a_subscription_and_a_connection_can_hold_many(room: Room) -> None:
    one, two = await room.group(), await room.group()
    async with room.socket() as socket:
        first = (await socket.call("follow", group_id=one, since_seq=1))["subscription"]
        second = (await socket.call("follow", group_id=two, since_seq=1))["subscription"]
        assert first != second
        await room.say(one, "a")
        assert (await socket.note("event"))["params"]["subscription"] == first
        await socket.call("unfollow", subscription=first)
        with pytest.raises(Failed) as failed:
            await socket.call("unfollow", subscription=first)
        assert failed.value.code == "invalid_request"
        await room.say(one, "b")
        sent = await room.say(two, "c")
        note = (await socket.note("event"))["params"]
        assert (note["subscription"], note["event"]) == (second, sent)
    assert b"tacit_followers 0.0" in (await room.get("/metrics")).raw


@pytest.mark.spec("CCCS-103")
async def test_last_event_id_resumes_a_stream(room: Room) -> None:
    group = await room.group()
    sent = [await room.say(group, f"m{n}") for n in range(5)]
    async with room.stream(group) as stream:
        assert (await stream.block())["id"] == "1"
    async with room.stream(group, headers={"Last-Event-ID": str(sent[2]["seq"])}, since_seq=0) as stream:
        assert stream.response.headers["Content-Type"] == "text/event-stream"
        assert [await stream.event(), await stream.event()] == sent[3:]
    answer = await room.get(
        f"/v1/groups/{group}/events", headers={"Accept": "text/event-stream", "Last-Event-ID": "rubbish"}
    )
    assert (answer.status, answer.code) == (400, "invalid_request")


async def test_typing_reaches_the_other_followers_and_is_no_event(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    async with room.socket(bob) as agent, room.socket() as owner, room.stream(group) as stream:
        await agent.call("follow", group_id=group, since_seq=2)
        await owner.call("follow", group_id=group, since_seq=2)
        await agent.call("typing", group_id=group, conversation_id="c")
        expected = {"group_id": group, "by": "bob", "conversation_id": "c"}
        assert (await owner.note("typing"))["params"] == expected
        blocks = [await stream.block() for _ in range(3)]
        assert [block["id"] for block in blocks if "id" in block] == ["1", "2"]
        (block,) = [block for block in blocks if "id" not in block]
        assert (block["event"], json.loads(block["data"])) == ("typing", expected)
        await room.say(group, "x")
        assert (await agent.note())["method"] == "event"
    assert await room.last_seq(group) == 3


class Slow:
    """An outlet whose reader takes nothing of the replay until it is told to."""

    def __init__(self) -> None:
        self.is_away = False
        self.pending = 0
        self.owner = "somebody"
        self.replaying = asyncio.Lock()
        self.heard: list[object] = []
        self.reads = asyncio.Event()
        self.waits = asyncio.Event()

    def encode(self, subscription: int, events: Sequence[StoredEvent]) -> bytes:
        return b"".join(b"%d " % event.seq for event in events)

    def push(self, data: bytes) -> None:
        self.heard.append(data)

    def cut(self, subscription: int, resume: int, reason: str) -> None:
        self.heard.append(("cut", resume, reason))

    def signal(self, name: str, said: dict[str, Any]) -> None:
        self.heard.append((name, said["by"]))

    async def drained(self) -> None:
        self.waits.set()
        await self.reads.wait()


async def test_signals_are_heard_while_the_replay_still_runs(room: Room) -> None:
    group = await room.group()
    hub, outlet = room.server.hub, Slow()
    credential = hub.registry.find(room.owner)
    assert credential is not None
    following = EventStream(hub, credential, requests.EventsRequest(group_id=group))
    await following.begin()
    follower = following.enter(outlet, 1)
    hub.live.signal(group, "bob", "c", None)
    replay = asyncio.ensure_future(following.go_live(follower, outlet.drained))
    async with asyncio.timeout(WAIT):
        await outlet.waits.wait()
        hub.live.signal(group, "eve", "c", None)
        await room.say(group, "meanwhile")
        outlet.reads.set()
        await replay
        hub.live.signal(group, "bob", "c", None)
        await room.say(group, "live")
    assert outlet.heard == [("typing", "bob"), ("typing", "eve"), b"1 2 ", ("typing", "bob"), b"3 "]
    hub.live.detach(follower)
    hub.live.signal(group, "bob", "c", None)
    assert len(outlet.heard) == 5


async def follow(room: Room, group: str, outlet: Slow, since_seq: int = 0) -> None:
    """Have an outlet follow from a position on."""
    hub = room.server.hub
    credential = hub.registry.find(room.owner)
    assert credential is not None
    outlet.reads.set()
    following = EventStream(hub, credential, requests.EventsRequest(group_id=group, since_seq=since_seq))
    await following.begin()
    await following.go_live(following.enter(outlet, 1), outlet.drained)


async def test_where_something_was_written_of_which_nobody_was_told_followers_resume(room: Room) -> None:
    """A writer may die between its commit and its word; the next event shows that one is missing."""
    group, live, outlet = await room.group(), room.server.hub.live, Slow()
    await follow(room, group, outlet)
    await room.say(group, "told")
    publish, live.publish = live.publish, lambda *_: None  # type: ignore[method-assign]
    await room.say(group, "untold")
    live.publish = publish  # type: ignore[method-assign]
    await room.say(group, "told again")
    assert outlet.heard == [b"1 ", b"2 ", ("cut", 2, "resume")]
    await follow(room, group, outlet, since_seq=2)
    live.resume()
    assert outlet.heard[3:] == [b"3 4 ", ("cut", 4, "resume")]


async def test_what_nobody_was_told_of_is_missed_though_it_was_the_first_since_the_start(room: Room) -> None:
    """A hub that has just started has published nothing of the group: the follower's own place counts."""
    live, outlet = room.server.hub.live, Slow()
    publish, live.publish = live.publish, lambda *_: None  # type: ignore[method-assign]
    group = await room.group()
    await follow(room, group, outlet)
    await room.say(group, "untold")
    live.publish = publish  # type: ignore[method-assign]
    await room.say(group, "told")
    assert outlet.heard == [b"1 ", ("cut", 1, "resume")]


async def test_one_that_goes_during_its_replay_does_not_come_back_with_its_end(room: Room) -> None:
    group = await room.group()
    hub, outlet = room.server.hub, Slow()
    credential = hub.registry.find(room.owner)
    assert credential is not None
    following = EventStream(hub, credential, requests.EventsRequest(group_id=group))
    await following.begin()
    follower = following.enter(outlet, 1)
    hub.live.detach(follower)
    outlet.reads.set()
    await following.go_live(follower, outlet.drained)
    await room.say(group, "later")
    assert outlet.heard == []
    assert b"tacit_followers 0.0" in (await room.get("/metrics")).raw


async def attached(room: Room, group: str, count: int) -> None:
    """Return when so many followers are live."""
    async with asyncio.timeout(60):
        while len(room.server.hub.live._followers[group]) < count:
            await asyncio.sleep(0.001)


class Stalled:
    """A client on a plain socket with a tiny receive buffer, that reads only when told to."""

    def __init__(self, room: Room) -> None:
        self.socket = sockets.socket()
        self.socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", room.server.port))
        self.socket.setblocking(False)

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def rest(self) -> bytes:
        """Everything up to the end of the connection."""
        data = bytearray()
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(WAIT):
            while piece := await loop.sock_recv(self.socket, 16384):
                data += piece
                await asyncio.sleep(0)
        return bytes(data)


def frames(data: bytes) -> list[tuple[int, bytes]]:
    """The unmasked frames of a server, as (opcode, payload)."""
    found: list[tuple[int, bytes]] = []
    at = 0
    while at < len(data):
        opcode, size, at = data[at] & 15, data[at + 1], at + 2
        if size > 125:
            width = 2 if size == 126 else 8
            size, at = int.from_bytes(data[at : at + width], "big"), at + width
        found.append((opcode, data[at : at + size]))
        at += size
    return found


async def until_cut(room: Room, group: str) -> int:
    """Write until a follower was cut; returns how many were written meanwhile."""
    metrics = room.server.hub.metrics
    written = 0
    async with asyncio.timeout(WAIT):
        while metrics.cut._value.get() < 1:
            await flood(room, group, 50, fill="x" * 4000)
            written += 50
    return written


@pytest.mark.spec("CCCS-103")
async def test_a_websocket_follower_that_stops_reading_is_cut_with_its_place_and_resumes(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, limits=SLOW) as room:
        group = await room.group()
        client = Stalled(room)
        call = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "follow", "params": {"group_id": group}}
        ).encode()
        masked = b"\x81" + bytes([0x80 | len(call)]) + b"\0\0\0\0" + call
        await client.send(
            b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
            b"Authorization: Bearer " + room.owner.encode() + b"\r\n\r\n" + masked
        )
        await until_cut(room, group)
        last = await room.last_seq(group)
        got = frames((await client.rest()).split(b"\r\n\r\n", 1)[1])
        client.socket.close()
        calls = [json.loads(payload) for opcode, payload in got if opcode == 1]
        seen = [call["params"]["event"]["seq"] for call in calls if call.get("method") == "event"]
        cut = calls[-1]
        assert cut["method"] == "cut"
        assert cut["params"] == {"subscription": 1, "since_seq": seen[-1], "reason": "too_slow"}
        assert seen == list(range(1, seen[-1] + 1))
        opcode, payload = got[-1]
        assert (opcode, int.from_bytes(payload[:2], "big")) == (8, 4008)
        async with room.socket() as socket:
            await socket.call("follow", group_id=group, since_seq=cut["params"]["since_seq"])
            assert seen + await seqs_from(socket, last) == list(range(1, last + 1))


@pytest.mark.spec("CCCS-103")
async def test_a_stream_reader_that_stops_reading_is_cut_with_its_place_and_resumes(tmp_path: Path) -> None:
    async with running(tmp_path, limits=SLOW) as room:
        group = await room.group()
        client = Stalled(room)
        await client.send(
            f"GET /v1/groups/{group}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nConnection: close\r\n"
            f"Authorization: Bearer {room.owner}\r\n\r\n".encode()
        )
        await until_cut(room, group)
        last = await room.last_seq(group)
        text = await client.rest()
        client.socket.close()
        blocks = [block for block in plain(text).split("\n\n") if block.startswith(("id: ", "event: "))]
        seen = [int(block.split("\n")[0][4:]) for block in blocks[:-1]]
        assert blocks[-1].startswith("event: cut\ndata: ")
        cut = json.loads(blocks[-1].split("data: ", 1)[1])
        assert cut == {"reason": "too_slow", "since_seq": seen[-1]}
        assert seen == list(range(1, seen[-1] + 1))
        async with room.stream(group, headers={"Last-Event-ID": str(cut["since_seq"])}) as stream:
            assert seen + await seqs_from(stream, last) == list(range(1, last + 1))


def plain(response: bytes) -> str:
    """The body of a chunked response."""
    rest = response.split(b"\r\n\r\n", 1)[1]
    body = bytearray()
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        if not (count := int(size, 16)):
            break
        body += rest[:count]
        rest = rest[count + 2 :]
    return body.decode()


@pytest.mark.spec("CCCS-103")
async def test_a_dead_follower_does_not_hold_up_the_writer_or_the_hub(tmp_path: Path) -> None:
    async with running(tmp_path, limits=SLOW) as room:
        group = await room.group()
        clients = [Stalled(room) for _ in range(4)]
        for client in clients:
            await client.send(
                f"GET /v1/groups/{group}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nConnection: close\r\n"
                f"Authorization: Bearer {room.owner}\r\n\r\n".encode()
            )
        await until_cut(room, group)
        async with asyncio.timeout(WAIT):
            await flood(room, group, 200, fill="x" * 4000)
            while room.server.hub.metrics.cut._value.get() < 4:
                await room.say(group, "more")
        assert not room.server.hub.live._followers[group]
        for client in clients:
            client.socket.close()


async def test_typing_signals_do_not_pile_up_for_a_reader_that_stopped(tmp_path: Path) -> None:
    async with running(tmp_path, limits=SLOW) as room:
        group = await room.group()
        client = Stalled(room)
        await client.send(
            f"GET /v1/groups/{group}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nConnection: close\r\n"
            f"Authorization: Bearer {room.owner}\r\n\r\n".encode()
        )
        live = room.server.hub.live
        await attached(room, group, 1)
        (follower,) = live._followers[group]
        for _ in range(20_000):
            live.signal(group, "bob", "c" * 100, None)
        assert follower.outlet.pending < 2 * SLOW.follower_bytes
        client.socket.close()


async def test_the_websockets_package_interoperates(room: Room) -> None:
    group = await room.group()
    url = room.url.replace("http", "ws") + "/v1/ws"
    async with websockets.connect(
        url, additional_headers={"Authorization": f"Bearer {room.owner}"}
    ) as socket:
        await socket.send(
            json.dumps({"jsonrpc": "2.0", "id": "a", "method": "follow", "params": {"group_id": group}})
        )
        assert json.loads(await socket.recv()) == {"jsonrpc": "2.0", "id": "a", "result": {"subscription": 1}}
        assert json.loads(await socket.recv())["params"]["event"]["seq"] == 1
        text = "é" * 30_000
        said = {"group_id": group, "kind": "chat.message", "data": {"text": text}}
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "append", "params": said}))
        got = [json.loads(await socket.recv()) for _ in range(2)]
        assert {one.get("method", one.get("id")) for one in got} == {"event", 2}
        pong = await socket.ping()
        await pong
