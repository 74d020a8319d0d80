"""The hub's end of readers that stand in processes of their own.

Each process does one read at a time; turns are fair between credentials (`turns`). A read that nobody wants
any more is stopped, and where that does not help within a moment its process is killed: it holds nothing, and
the next read starts another.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import subprocess
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Unavailable
from tacit.base.io.own_program import own_program
from tacit.hub.reader.codec import LookAsked, ReadAsked, StopAsked, decode_told, encode_asked
from tacit.hub.writer.codec import WriterOpening, encode_opening, frames

if TYPE_CHECKING:
    from typing import Any

    import msgspec

    from tacit.c2a.errors import Refusal
    from tacit.hub.bounds.turns import ReadTurns
    from tacit.hub.host.tools import ReadCall
    from tacit.hub.people.credentials import Credential
    from tacit.hub.reader.codec import ReadTold
    from tacit.ledger.io.store import Store

log: Final = logging.getLogger("tacit.hub")
STOPS_WITHIN: Final = 1.0
"""Seconds that a stopped read has to end by itself."""
DIED: Final = "the reader has died; ask again"


class ReaderProcess(asyncio.Protocol):
    """One process and the socket to it; one that has died is started again when it is next asked."""

    def __init__(self, opening: bytes) -> None:
        self._opening = opening
        self._process: subprocess.Popen[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._in = bytearray()
        self._asked: asyncio.Future[ReadTold] | None = None

    @property
    def process_id(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None else None

    def _begin(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            command = own_program("tacit.hub.reader.process", str(theirs.fileno()))
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL
            )
        return ours

    async def open(self) -> asyncio.Transport:
        """Start it, unless it runs."""
        if self._transport is not None:
            return self._transport
        ours = self._begin()
        transport, _ = await asyncio.get_running_loop().create_connection(lambda: self, sock=ours)
        self._transport = transport
        transport.write(self._opening)
        return transport

    async def ask(self, asked: ReadAsked | LookAsked) -> ReadTold:
        """Have it read."""
        transport = await self.open()
        answer = self._asked = asyncio.get_running_loop().create_future()
        transport.write(encode_asked(asked))
        return await answer

    def stop(self, number: int) -> None:
        """Nobody wants this read any more."""
        if self._transport is not None:
            self._transport.write(encode_asked(StopAsked(number)))

    def kill(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()

    def data_received(self, data: bytes) -> None:
        """Hand an answer to who waits for it."""
        self._in += data
        for body in frames(self._in):
            if self._asked is not None and not self._asked.done():
                self._asked.set_result(decode_told(body))

    def connection_lost(self, exc: Exception | None) -> None:
        """The process is gone; the next read starts another."""
        del exc
        self._transport = None
        self._in.clear()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._asked is not None and not self._asked.done():
            log.warning("a reader died")
            self._asked.set_exception(Unavailable(DIED))

    def close(self) -> None:
        """End it for good."""
        self.kill()
        if self._transport is not None:
            self._transport.abort()


class _ProcessRead:
    """One read in a process."""

    def __init__(self, process: ReaderProcess, asked: ReadAsked | LookAsked) -> None:
        self._process = process
        self._number = asked.number
        self.ended: asyncio.Future[ReadTold] = asyncio.get_running_loop().create_task(process.ask(asked))

    def stop(self) -> None:
        """Ask it to end; kill it if it does not."""
        self._process.stop(self._number)
        timer = asyncio.get_running_loop().call_later(STOPS_WITHIN, self._process.kill)
        self.ended.add_done_callback(lambda _: timer.cancel())


class ReaderPool:
    """All reader processes of a hub."""

    def __init__(self, store: Store, count: int, turns: ReadTurns) -> None:
        options = store.options
        opening = encode_opening(
            WriterOpening.of(str(store.path), options.settings, options.wal_hard_pages, options.clock)
        )
        self.processes = [ReaderProcess(opening) for _ in range(count)]
        self.turns = turns
        self._free = list(self.processes)
        self._numbers = itertools.count(1)

    async def open(self) -> None:
        """Start every process, so that the first read finds one."""
        for process in self.processes:
            await process.open()

    async def read(self, name: str, credential: Credential, params: msgspec.Struct) -> msgspec.Raw:
        """Carry out an operation that reads; its result is JSON already."""
        asked = ReadAsked.of(next(self._numbers), name, credential, params)
        return (await self.turns.run(lambda: self._start(asked))).raw()

    async def look(self, call: ReadCall) -> dict[str, Any] | Refusal:
        """Carry out a reading tool."""
        asked = LookAsked.of(next(self._numbers), call)
        return (await self.turns.run(lambda: self._start(asked))).looked()

    def _start(self, asked: ReadAsked | LookAsked) -> _ProcessRead:
        process = self._free.pop()
        running = _ProcessRead(process, asked)
        running.ended.add_done_callback(lambda _: self._free.append(process))
        return running

    def close(self) -> None:
        """End every process."""
        for process in self.processes:
            process.close()
