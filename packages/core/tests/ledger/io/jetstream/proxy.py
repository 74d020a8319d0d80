"""A network that eats or holds what it is told to, between a NATS client and its server."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections import deque
from typing import Literal

Deed = Literal["pass", "eat", "hold", "eat the answer"]


class Proxy:
    """Reads the protocol's frames; `plan` says what becomes of the next publishes to the stream, in turn."""

    def __init__(self, port: int, stream: str) -> None:
        self._server_port = port
        self._subject = f"{stream}.".encode()
        self._eaten: set[bytes] = set()
        self.plan: deque[Deed] = deque()
        self.always: Deed = "pass"
        self.held: list[bytes] = []
        self.published = 0
        self.connects = 0
        """How many clients have said who they are."""
        self._clients: set[asyncio.StreamWriter] = set()
        self._is_cut = False
        self.version = b""
        """What the server is said to be, instead of what it says."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result()
        self.port = int(self._server.sockets[0].getsockname()[1])

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def _serve(self) -> asyncio.Server:
        return await asyncio.start_server(self._connected, "127.0.0.1", 0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        there, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._clients.add(writer)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, to_server, self._may_go))
                group.create_task(self._pump(there, writer, self._may_come))
        except* (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._clients.discard(writer)
            for end in (writer, to_server):
                end.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, may: object) -> None:
        while True:
            line = await reader.readuntil(b"\r\n")
            words = line.split()
            frame = line
            if self.version and words[:1] == [b"INFO"]:
                frame = re.sub(rb'"version":"[^"]*"', b'"version":"%s"' % self.version, line)
            if words and words[0].upper() in {b"PUB", b"HPUB", b"MSG", b"HMSG"}:
                frame += await reader.readexactly(int(words[-1]) + 2)
            if may(words, frame):  # type: ignore[operator]
                writer.write(frame)
                await writer.drain()

    def _may_go(self, words: list[bytes], frame: bytes) -> bool:
        self.connects += words[:1] == [b"CONNECT"]
        if not words or words[0].upper() not in {b"PUB", b"HPUB"} or not words[1].startswith(self._subject):
            return True
        self.published += 1
        deed = self.plan.popleft() if self.plan else self.always
        if deed == "hold":
            self.held.append(frame)
        if deed == "eat the answer":
            self._eaten.add(words[2])
        return deed in {"pass", "eat the answer"}

    def _may_come(self, words: list[bytes], frame: bytes) -> bool:
        del frame
        return not words or words[0].upper() not in {b"MSG", b"HMSG"} or words[1] not in self._eaten

    def release(self) -> None:
        """What was held back reaches the server now, and the server has handled it when this returns."""
        with socket.create_connection(("127.0.0.1", self._server_port)) as raw, raw.makefile("rwb") as to:
            to.readline()
            held, self.held = self.held, []
            to.write(b'CONNECT {"headers":true,"verbose":false}\r\n' + b"".join(held) + b"PING\r\n")
            to.flush()
            while to.readline().strip() != b"PONG":
                pass

    def tell_clients(self, said: bytes) -> None:
        """As if the server had said it."""
        self._loop.call_soon_threadsafe(lambda: [writer.write(said) for writer in self._clients])

    def cut(self) -> None:
        """End all connections and take no new ones, until it is mended."""
        self._is_cut = True
        self._loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in self._clients])

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join()
        self._loop.close()

    def _stop(self) -> None:
        self._server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        asyncio.gather(*tasks, return_exceptions=True).add_done_callback(lambda _: self._loop.stop())
