"""The load's own lean clients: raw WebSocket frames and raw HTTP/1.1 on asyncio, so that the hub is measured
and not the client library. For benchmarks on loopback only: frames are masked with a key of zeros."""

from __future__ import annotations

import asyncio
import base64
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

ZERO_KEY: Final = b"\0\0\0\0"
PING: Final = 0x89
_EMPTY_PING: Final = b"\x89\x00"  # JSON in UTF-8 never holds these two bytes


def masked(payload: bytes, opcode: int = 0x81) -> bytes:
    """A client's frame; a mask of zeros leaves the payload as it is, and the server unmasks all the same."""
    size = len(payload)
    if size < 126:
        return bytes((opcode, 0x80 | size)) + ZERO_KEY + payload
    if size < 65536:
        return bytes((opcode, 0xFE)) + size.to_bytes(2, "big") + ZERO_KEY + payload
    return bytes((opcode, 0xFF)) + size.to_bytes(8, "big") + ZERO_KEY + payload


class WebSocket(asyncio.Protocol):
    """One connection; `on_text` gets each text payload."""

    def __init__(self, path: str, token: str | None, on_text: Callable[[bytes], None]) -> None:
        self.on_text = on_text
        self._hello = _upgrade(path, token)
        self._buffer = b""
        self._open = asyncio.get_running_loop().create_future()
        self.is_up = False
        self.lost = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.transport.write(self._hello)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(exc)
        if not self._open.done():
            self._open.set_exception(ConnectionResetError("closed during the handshake"))

    async def opened(self) -> WebSocket:
        await self._open
        return self

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        if not self.is_up:
            head, found, buffer = buffer.partition(b"\r\n\r\n")
            if not found:
                self._buffer = head
                return
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                if not self._open.done():
                    self._open.set_exception(ConnectionError(head.split(b"\r\n", 1)[0].decode()))
                return
            self.is_up = True
            if not self._open.done():  # whoever waited may have given up
                self._open.set_result(None)
        self.take(buffer)

    def take(self, buffer: bytes) -> None:
        """Split frames and hand on the texts."""
        at, end = 0, len(buffer)
        while end - at >= 2:
            size, head = buffer[at + 1], at + 2
            if size == 126:
                size, head = int.from_bytes(buffer[at + 2 : at + 4], "big"), at + 4
            elif size == 127:
                size, head = int.from_bytes(buffer[at + 2 : at + 10], "big"), at + 10
            if head + size > end:
                break
            if buffer[at] == 0x81:
                self.on_text(buffer[head : head + size])
            elif buffer[at] == PING:
                self.transport.write(masked(buffer[head : head + size], 0x8A))
            at = head + size
        self._buffer = buffer[at:]

    def send(self, payload: bytes) -> None:
        self.transport.write(masked(payload))

    def close(self) -> None:
        self.transport.close()


class Counter(WebSocket):
    """A follower that only counts how many events arrive: one C-speed search in each piece that comes in."""

    mark = b'"method":"event"'

    def __init__(self, path: str, token: str | None, on_count: Callable[[int], None]) -> None:
        super().__init__(path, token, lambda _text: None)
        self._on_count = on_count
        self.is_counting = False

    def take(self, buffer: bytes) -> None:
        if not self.is_counting:
            super().take(buffer)
            return
        self._on_count(buffer.count(self.mark))
        if _EMPTY_PING in buffer:
            self.transport.write(masked(b"", 0x8A))
        # Shorter than the mark, so that nothing is counted twice and none is lost between two pieces.
        self._buffer = buffer[1 - len(self.mark) :]


def _upgrade(path: str, token: str | None) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        *([f"Authorization: Bearer {token}"] if token else []),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def websocket(port: int, path: str, token: str | None, on_text: Callable[[bytes], None]) -> WebSocket:
    """A connection that is ready for use."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(lambda: WebSocket(path, token, on_text), "127.0.0.1", port)
    return await protocol.opened()


async def counter(port: int, path: str, token: str | None, on_count: Callable[[int], None]) -> Counter:
    """A counting follower's connection, not counting yet."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(lambda: Counter(path, token, on_count), "127.0.0.1", port)
    await protocol.opened()
    return protocol


class Http(asyncio.Protocol):
    """One keep-alive connection with one request under way; `on_answer` gets status and body."""

    def __init__(self, on_answer: Callable[[Http, int, bytes], None]) -> None:
        self._on_answer = on_answer
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]

    def post(self, path: str, token: str, body: bytes) -> None:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        end = buffer.find(b"\r\n\r\n")
        if end < 0:
            self._buffer = buffer
            return
        at = buffer.index(b"Content-Length:") + 15
        size = int(buffer[at : buffer.index(b"\r\n", at)])
        if len(buffer) < end + 4 + size:
            self._buffer = buffer
            return
        self._buffer = b""
        self._on_answer(self, int(buffer[9:12]), buffer[end + 4 : end + 4 + size])


class Lines(asyncio.Protocol):
    """A server-sent events stream; `on_data` gets each `data:` line's content."""

    def __init__(self, path: str, token: str, on_data: Callable[[bytes], None]) -> None:
        self._hello = (
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            "Accept: text/event-stream\r\n\r\n"
        ).encode()
        self._on_data = on_data
        self._buffer = b""
        self.begun = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]
        self.transport.write(self._hello)

    def data_received(self, data: bytes) -> None:
        # Chunk sizes of the transfer coding stand on lines of their own and are passed over like comments.
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                self._on_data(line[6:])
            elif line.startswith(b": tacit") and not self.begun.done():
                self.begun.set_result(None)
