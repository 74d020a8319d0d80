"""One hostile member: a program that asks one thing of a server without end, as hard as one process can.

    python -m bench.loud_hostile ATTACK PORT TOKEN GROUP NUMBER

Works against the hub and against the dummy alike: both have the same paths. It ends when its input does, so that it
never outlives whoever started it.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import sys
import threading
from typing import TYPE_CHECKING, Final

import uvloop

from bench.spine.wire import masked

if TYPE_CHECKING:
    from collections.abc import Iterator

UPLOAD_BYTES: Final = 8 * 1024 * 1024
MENTIONS: Final = 250_000 // len("@ann ")
BODY_BYTES: Final = 1_000_000
PAUSE_SECONDS: Final = 0.02
READ_BYTES: Final = 1 << 18
LEDGER_EVENTS: Final = 3000
"""How long a ledger is that is exported."""


class Line:
    """One connection, opened anew whenever it ends."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self.token = token
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._port, limit=READ_BYTES
            )
        return self._reader, self._writer

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def request(
        self, method: str, path: str, body: bytes = b"", kind: str = "application/json"
    ) -> bytes:
        """The body of the answer; the line is closed when the server closes it."""
        reader, writer = await self.open()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.token}\r\n"
            f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode())
        if body:
            writer.write(body)
            await writer.drain()
        said = await reader.readuntil(b"\r\n\r\n")
        fields = said.lower()
        at = fields.find(b"content-length:")
        size = int(fields[at + 15 : fields.index(b"\r\n", at)]) if at >= 0 else 0
        answer = await reader.readexactly(size)
        if b"connection: close" in fields:
            self.close()
        return answer

    async def upgrade(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The line as a WebSocket."""
        reader, writer = await self.open()
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            f"GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()
        )
        await reader.readuntil(b"\r\n\r\n")
        return reader, writer


def call(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def heavy_bodies() -> Iterator[bytes]:
    """Large JSON of several makes: deep, wide, and spelt so that it has to be read with care."""
    head = b'{"kind":"chat.message","data":{"text":"x","more":'
    deep = BODY_BYTES // 2
    makes = [
        b"[" * deep + b"]" * deep,
        b"{" + b",".join(b'"k%06d":%d' % (n, n) for n in range(BODY_BYTES // 16)) + b"}",
        b"{" + b",".join(b'"k\\u003a%05d":[%d.5]' % (n, n) for n in range(BODY_BYTES // 24)) + b"}",
        b"[" + b",".join([b'{"a":[{"b":[1]}]}'] * (BODY_BYTES // 18)) + b"]",
    ]
    return itertools.cycle([head + make + b"}}" for make in makes])


async def uploads(line: Line, base: str, number: int) -> None:
    for turn in itertools.count():
        start = f"{number} {turn} {os.getpid()} ".encode() + os.urandom(16)
        await line.request("POST", f"{base}/blobs", start.ljust(UPLOAD_BYTES, b"."), "text/plain")


async def mentions(line: Line, base: str, _number: int) -> None:
    body = json.dumps({"kind": "chat.message", "data": {"text": "@ann " * MENTIONS}}).encode()
    while True:
        await line.request("POST", f"{base}/events", body)


async def bodies(line: Line, base: str, number: int) -> None:
    for body in itertools.islice(heavy_bodies(), number, None):
        await line.request("POST", f"{base}/events", body)


async def flood(line: Line, base: str, number: int) -> None:
    """Small requests, as many as the connection takes: appends on every second line, questions on the others."""
    reader, writer = await line.upgrade()
    group = base.rpartition("/")[2]
    append = call("append", {"group_id": group, "kind": "chat.message", "data": {"text": "flood"}})
    pieces = masked(append if number % 2 else call("whoami", {})) * 64

    async def drop() -> None:
        while await reader.read(READ_BYTES):
            pass
        raise ConnectionResetError

    dropping = asyncio.ensure_future(drop())
    try:
        while not dropping.done():
            writer.write(pieces)
            await writer.drain()
        await dropping
    finally:
        dropping.cancel()


async def unread(line: Line, base: str, number: int) -> None:
    """Follow from the beginning and read nothing, until the server hangs up."""
    group = base.rpartition("/")[2]
    if number % 2:
        reader, writer = await line.upgrade()
        for _ in range(64):
            writer.write(masked(call("follow", {"group_id": group, "since_seq": 0})))
    else:
        reader, writer = await line.open()
        writer.write(
            f"GET {base}/events?since_seq=0 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            f"Authorization: Bearer {line.token}\r\n\r\n".encode()
        )
    # A stream of asyncio stops reading from its socket when its small buffer is full.
    while not reader.at_eof():
        await asyncio.sleep(1.0)


async def searches(line: Line, base: str, _number: int) -> None:
    while True:
        await line.request("GET", f"{base}/search?q=w&limit=1000")


async def exports(line: Line, base: str, _number: int) -> None:
    """The whole ledger, page by page, again and again."""
    for since in itertools.cycle(range(0, LEDGER_EVENTS, 1000)):
        await line.request("GET", f"{base}/events?since_seq={since}&limit=1000")


ATTACKS: Final = {
    "uploads": (uploads, 4),
    "mentions": (mentions, 4),
    "bodies": (bodies, 4),
    "flood": (flood, 4),
    "unread": (unread, 16),
    "searches": (searches, 16),
    "exports": (exports, 16),
}
"""What a hostile member does, and on how many lines at once."""


async def main(attack: str, port: int, token: str, group: str, first: int) -> None:
    work, lines = ATTACKS[attack]

    async def without_end(number: int) -> None:
        line = Line(port, token)
        while True:
            try:
                await work(line, f"/v1/groups/{group}", number)
            except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
                await asyncio.sleep(PAUSE_SECONDS)
            line.close()

    await asyncio.gather(*(without_end(first + number) for number in range(lines)))


def end_with_input() -> None:
    """Whoever started this closes our input, or dies: either ends it."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_input, daemon=True).start()
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])))
