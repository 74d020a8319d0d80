"""Nobody pays for a guest: what somebody without a token can cost, at every door of the hub."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
import zlib
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import compression_utils

from tacit.base.callers import SocketLimits
from tacit.hub.config import Limits
from tacit.hub.doors import http
from tests.hub.room import Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tacit.base.io.http_runner import Runner

BOUND = 60
BOMB = gzip.compress(bytes(32 * 1024 * 1024))
PACKED = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
BODIES = ("/v1/groups", "/v1/groups/g_1/blobs", "/c2a", "/mcp", "/v1/groups/g_1/events")


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every beginning of an unpacking, by whom."""
    begun: list[str] = []
    for owner, name in ((compression_utils.ZLibDecompressor, "library"), (http._Unpacking, "hub")):
        made = owner.__init__

        def counted(self: Any, *given: Any, made: Any = made, name: str = name, **named: Any) -> None:
            begun.append(name)
            made(self, *given, **named)

        monkeypatch.setattr(owner, "__init__", counted)
    return begun


def runner_of(room: Room) -> Runner:
    runner = room.server._runner
    assert runner is not None
    return runner


@asynccontextmanager
async def line_to(room: Room, said: bytes = b"") -> AsyncIterator[tuple[Any, Any]]:
    """A bare connection that the hub has taken and heard."""
    count = len(runner_of(room).connections)
    reader, writer = await asyncio.open_connection("127.0.0.1", room.server.port)
    writer.write(said)
    try:
        async with asyncio.timeout(BOUND):
            while len(runner_of(room).connections) <= count:
                await asyncio.sleep(0.001)
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def is_cut(reader: asyncio.StreamReader) -> bool:
    """Wait for the end of a connection."""
    async with asyncio.timeout(BOUND):
        try:
            while await reader.read(65536):
                pass
        except ConnectionError:
            return True
    return True


def look(room: Room, later: float) -> None:
    """The hub looks at its connections as if it were later."""
    runner_of(room).cut_overdue(time.monotonic() + later)


@pytest.mark.parametrize("path", BODIES)
async def test_nothing_is_unpacked_for_somebody_unknown(room: Room, path: str, unpacked: list[str]) -> None:
    answer = await room.call("POST", path, token="tct_nobody", data=BOMB, headers=PACKED)
    assert answer.status == 401
    assert unpacked == []


async def test_a_code_is_never_unpacked_past_what_a_code_takes(room: Room) -> None:
    answer = await room.call("POST", "/v1/redeem", token=None, data=BOMB, headers=PACKED)
    assert answer.status == 413
    small = gzip.compress(bytes(1024 * 1024))
    assert len(small) < 4096
    assert (await room.call("POST", "/v1/redeem", token=None, data=small, headers=PACKED)).status == 413


@pytest.mark.parametrize("path", ["/v1/groups", "/c2a", "/mcp"])
async def test_what_comes_out_of_a_body_counts(room: Room, path: str) -> None:
    group = await room.group()
    token = room.owner if path == "/v1/groups" else await room.actor(group, "ada")
    answer = await room.call("POST", path, token=token, data=BOMB, headers=PACKED)
    assert (answer.status, answer.body["details"]["reason"]) == (413, "too_large")


async def test_a_blob_is_bounded_by_what_comes_out_of_it(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(blob_bytes=2 * 1024 * 1024)) as room:
        path = f"/v1/groups/{await room.group()}/blobs"
        assert (await room.call("POST", path, data=BOMB, headers=PACKED)).status == 413
        kept = await room.call("POST", path, data=gzip.compress(b"two words" * 9000), headers=PACKED)
        assert (kept.status, kept.body["bytes"]) == (201, 81_000)


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_a_known_callers_packed_body_is_read(room: Room, coding: str, pack: Any) -> None:
    told = pack(json.dumps({"title": "Packed"}).encode())
    headers = {"Content-Encoding": coding, "Content-Type": "application/json"}
    answer = await room.call("POST", "/v1/groups", data=told, headers=headers)
    assert (answer.status, answer.body["title"]) == (201, "Packed")


@pytest.mark.parametrize(
    ("told", "coding"),
    [(gzip.compress(b"{}")[:-4], "gzip"), (gzip.compress(b"{}") + b"more", "gzip"), (b"{}", "br")],
    ids=["torn", "with something behind", "of an unknown coding"],
)
async def test_a_body_that_does_not_unpack_is_refused(room: Room, told: bytes, coding: str) -> None:
    answer = await room.call("POST", "/v1/groups", data=told, headers={"Content-Encoding": coding})
    assert (answer.status, answer.body["details"]["reason"]) == (400, "bad_body")


GUEST_LINES = {
    "silent": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
    "after the page": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "after a refusal": b"GET /v1/groups HTTP/1.1\r\nHost: a\r\n\r\n",
    "half a code": b'POST /v1/redeem HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"code',
    "a body without a token": b"POST /v1/groups HTTP/1.1\r\nHost: a\r\nContent-Length: 999999\r\n\r\n{",
    "a socket nobody signs in at": b"GET /v1/ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
}


@pytest.mark.parametrize("said", GUEST_LINES.values(), ids=GUEST_LINES)
async def test_a_guest_that_waits_is_cut(room: Room, said: bytes) -> None:
    async with line_to(room, said) as (reader, _writer):
        look(room, 1)
        look(room, 100)
        assert await is_cut(reader)


async def test_a_known_callers_connection_may_idle_longer_but_not_for_ever(room: Room) -> None:
    ask = f"GET /v1/whoami HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {room.owner}\r\n\r\n".encode()
    async with line_to(room, ask) as (reader, writer):
        await reader.readuntil(b'"group_id":null}')
        look(room, 0)
        look(room, 100)
        writer.write(ask)
        await reader.readuntil(b'"group_id":null}')
        look(room, 200)
        look(room, 400)
        assert await is_cut(reader)


async def test_whoever_follows_is_not_cut_for_being_quiet(room: Room) -> None:
    group = await room.group()
    actor = await room.actor(group, "ada")
    bearer = {"Authorization": f"Bearer {actor}"}
    async with (
        room.stream(group) as stream,
        room.socket() as known,
        room.socket(token=None) as told,
        room.session.ws_connect(room.url + "/c2a", headers=bearer) as c2a,
    ):
        await stream.event()
        await told.call("authenticate", token=room.owner)
        look(room, 0)
        look(room, 100_000)
        await room.say(group, "still here?")
        heard = [await stream.event(), await stream.event()]
        assert heard[-1]["data"]["text"] == "still here?"
        assert await known.call("whoami") == await told.call("whoami")
        await c2a.send_str("{}")
        async with asyncio.timeout(BOUND):
            assert (await c2a.receive()).type is aiohttp.WSMsgType.TEXT


async def test_for_one_guest_too_many_the_oldest_goes_and_a_person_comes_in(tmp_path: Path) -> None:
    limits = Limits(sockets=SocketLimits(guests=3))
    async with (
        running(tmp_path, limits=limits) as room,
        line_to(room) as (first, _),
        line_to(room),
        line_to(room),
    ):
        assert (await room.get("/v1/whoami")).status == 200
        assert await is_cut(first)
        text = (await room.get("/metrics")).raw.decode()
        assert "tacit_guests 2.0" in text
        assert "tacit_connections_cut 1.0" in text


async def test_a_credential_has_so_many_connections(tmp_path: Path) -> None:
    limits = Limits(sockets=SocketLimits(connections_per_credential=2))
    async with running(tmp_path, limits=limits) as room, room.socket(), room.socket():
        refused = await room.get("/v1/whoami")
        assert (refused.status, refused.code) == (429, "rate_limited")
        assert refused.body["details"]["reason"] == "too_many_connections"


async def test_a_guest_on_a_socket_is_not_listened_to_for_long(room: Room) -> None:
    async with room.socket(token=None) as guest:
        refused = await guest.answer_to(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x" * 5000}))
        assert refused["error"]["data"]["code"] == "permission_denied"
        with suppress(ConnectionError):
            for _ in range(20):
                await guest.ws.send_str("x" * 4000)
        async with asyncio.timeout(BOUND):
            await guest.closed


async def test_a_head_without_an_end_is_not_listened_to_for_long(room: Room) -> None:
    line = b"X-Long: " + b"y" * 4000 + b"\r\n"
    async with line_to(room, b"GET / HTTP/1.1\r\nHost: a\r\n") as (reader, writer):
        writer.write(line * 30)
        assert await is_cut(reader)


async def test_a_known_callers_body_that_stops_coming_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(body_seconds=0.01)) as room:
        head = (
            f"POST /v1/groups HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {room.owner}\r\n"
            "Content-Length: 100\r\nConnection: close\r\n\r\n{"
        )
        async with line_to(room, head.encode()) as (reader, _writer), asyncio.timeout(BOUND):
            answer = await reader.readuntil(b"}}")
        assert b" 400 " in answer
        assert b"too_slow" in answer


async def test_a_large_body_right_behind_its_head_is_no_long_head(room: Room) -> None:
    group = await room.group()
    size = 3 * 1024 * 1024
    head = (
        f"POST /v1/groups/{group}/blobs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {room.owner}\r\n"
        f"Content-Length: {size}\r\nConnection: close\r\n\r\n"
    )
    async with line_to(room, head.encode() + bytes(size)) as (reader, _writer), asyncio.timeout(BOUND):
        assert b" 201 " in await reader.read()
