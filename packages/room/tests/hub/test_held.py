"""What is held for whoever follows and does not read is bounded in bytes: for one, and for a credential."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tacit.hub.config import Limits
from tacit.hub.live import Live, LiveSubscription
from tacit.hub.telemetry.metrics import Metrics
from tacit.ledger.cursor import Selection
from tests.hub.room import Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tacit.ledger.envelope import StoredEvent

BOUND = 60
PAGE = 64 * 1024
LARGE = 60_000
COUNT = 160
LIMITS = Limits(page_bytes=PAGE)


@asynccontextmanager
async def filled(folder: Path) -> AsyncIterator[tuple[Room, str]]:
    """A ledger that is longer than any socket's buffers."""
    async with running(folder, limits=LIMITS) as room:
        group = await room.group()
        async with room.socket() as line:
            for number in range(COUNT):
                await line.call(
                    "append",
                    group_id=group,
                    kind="chat.message",
                    data={"text": f"{number} " + "x" * LARGE},
                )
        yield room, group


async def unread_line(room: Room, request: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection whose reader has read no more than its first bytes."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", room.server.port))
    reader, writer = await asyncio.open_connection(sock=line, limit=4096)
    writer.write(request)
    await reader.readexactly(12)
    return reader, writer


def unsent(room: Room) -> list[int]:
    runner = room.server._runner
    assert runner is not None
    assert runner.server is not None
    return [size for one in runner.server.connections if (size := one.seen().unsent)]  # type: ignore[attr-defined]


async def until_stalled(room: Room, count: int) -> list[int]:
    async with asyncio.timeout(BOUND):
        while len(found := unsent(room)) < count:
            await asyncio.sleep(0.005)
    return found


def stream_request(room: Room, group: str) -> bytes:
    return (
        f"GET /v1/groups/{group}/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {room.owner}\r\n"
        "Accept: text/event-stream\r\n\r\n"
    ).encode()


async def test_a_stalled_replay_holds_a_page_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    async with filled(tmp_path) as (room, group):
        lines = [await unread_line(room, stream_request(room, group)) for _ in range(8)]
        held = await until_stalled(room, 8)
        assert max(held) < 4 * (PAGE + LARGE)
        reader, writer = lines[0]
        seen: list[int] = []
        async with asyncio.timeout(BOUND):
            while len(seen) < COUNT + 1:
                line = (await _line(reader)).strip()
                if line.startswith(b"id: "):
                    seen.append(int(line[4:]))
        assert seen == list(range(1, COUNT + 2))
        for _, writer in lines:
            writer.transport.abort()


async def _line(reader: asyncio.StreamReader) -> bytes:
    """A line of any length; only its beginning is kept."""
    kept = b""
    while True:
        piece = await reader.read(2048)
        assert piece, "the stream ended"
        kept = (kept + piece)[:64] if b"\n" not in kept + piece else kept + piece
        if b"\n" in kept:
            line, _, rest = kept.partition(b"\n")
            reader._buffer[:0] = rest  # type: ignore[attr-defined] # put back what belongs to the next line
            return line


async def test_replays_on_one_connection_share_what_it_may_hold(tmp_path: Path) -> None:
    async with filled(tmp_path) as (room, group), room.socket() as ready:
        await ready.call("whoami")
        head = (
            f"GET /v1/ws HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {room.owner}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        ).encode()
        _reader, writer = await unread_line(room, head)
        for number in range(20):
            call = {"jsonrpc": "2.0", "id": number, "method": "follow", "params": {"group_id": group}}
            writer.write(_frame(json.dumps(call).encode()))
        held = await until_stalled(room, 1)
        assert max(held) < 4 * (PAGE + LARGE)
        writer.transport.abort()


def _frame(text: bytes) -> bytes:
    return (
        bytes([0x81, 0x80 | len(text)]) + bytes(4) + text
        if len(text) < 126
        else (bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big") + bytes(4) + text)
    )


@pytest.mark.parametrize("door", ["stream", "socket"])
async def test_a_limited_replay_of_large_events_is_whole(tmp_path: Path, door: str) -> None:
    async with filled(tmp_path) as (room, group):
        if door == "stream":
            async with room.stream(group, limit=20) as stream:
                seen = [(await stream.event())["seq"] for _ in range(20)]
                await room.say(group, "new")
                seen.append((await stream.event())["seq"])
        else:
            async with room.socket() as line:
                await line.call("follow", group_id=group, limit=20)
                seen = [(await line.event())["seq"] for _ in range(20)]
                await room.say(group, "new")
                seen.append((await line.event())["seq"])
        assert seen == [*range(1, 21), COUNT + 2]


async def test_a_page_of_large_events_ends_early_and_says_where_to_go_on(tmp_path: Path) -> None:
    async with filled(tmp_path) as (room, group):
        at, seen = 0, 0
        while True:
            page = await room.ok("GET", f"/v1/groups/{group}/events", params={"since_seq": at, "limit": 1000})
            assert len(json.dumps(page)) < 5 * 1024 * 1024
            seen += len(page["events"])
            at = page["next_cursor"]
            if at >= page["last_seq"]:
                break
        assert seen == COUNT + 1


class Still:
    """An outlet with so much unread."""

    is_away = False

    def __init__(self, owner: str, pending: int) -> None:
        self.owner = owner
        self.pending = pending
        self.replaying = asyncio.Lock()
        self.cuts: list[tuple[int, str]] = []

    def encode(self, subscription: int, events: Sequence[StoredEvent]) -> bytes:
        return b"%d" % subscription * len(events)

    def push(self, data: bytes) -> None:
        self.pending += len(data)

    def cut(self, subscription: int, resume: int, reason: str) -> None:
        del subscription
        self.cuts.append((resume, reason))

    def signal(self, name: str, said: dict[str, Any]) -> None:
        """Nothing."""


async def test_what_is_held_for_all_followers_of_a_credential_is_bounded(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits()) as room:
        group = await room.group()
        page = room.server.hub.store.read(
            lambda reader: reader.page(reader.group(group), "user", Selection())
        )
    live = Live(Metrics(), 1000, 3000)
    greedy = [Still("guest", 900) for _ in range(5)]
    other = Still("person", 900)
    for one in [*greedy, other]:
        follower = LiveSubscription(one, 1, group, "svc:one", Selection())
        live.enter(follower)
        assert live.attach(follower, 0)
    live.publish(group, page.events)
    assert [one.cuts for one in greedy] == [[], [], [], [(0, "too_slow")], [(0, "too_slow")]]
    assert other.cuts == []
