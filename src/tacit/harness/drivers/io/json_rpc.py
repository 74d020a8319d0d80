"""JSON-RPC over a child's stdio, one message a line, as `codex app-server` speaks it.

Requests get their answers, notifications queue up in order, and every question from the other side is
answered by one function. When the process ends, whoever waits learns it as `Unavailable`.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from tacit.base.errors import PeerFault, Unavailable
from tacit.harness.drivers.reading import Message, part

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.harness.drivers.io.child import Child


class RpcPeer:
    """One side of the line. `answer` gives the result for a question, or None when it knows no answer."""

    def __init__(self, child: Child, answer: Callable[[str, Message], Message | None]) -> None:
        self.child = child
        self._answer = answer
        self._waiting: dict[int, asyncio.Future[Message]] = {}
        self._numbers = itertools.count(1)
        self._notices: asyncio.Queue[Message | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Message) -> Message:
        """Ask and wait for the result. `PeerFault` carries the error's code, not its text."""
        number = next(self._numbers)
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            if self._reading.done():
                raise Unavailable("the agent's process ended")
            await self._send({"id": number, "method": method, "params": params})
            return await future
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str) -> None:
        """Tell without waiting."""
        await self._send({"method": method})

    async def notice(self) -> Message:
        """The next notification, in order."""
        message = await self._notices.get()
        if message is None:
            self._notices.put_nowait(None)
            raise Unavailable("the agent's process ended")
        return message

    async def close(self, *, politely: bool = True) -> None:
        """End the process and the reading."""
        await self.child.end(politely=politely)
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    async def _send(self, message: Message) -> None:
        await self.child.send(msgspec.json.encode(message) + b"\n")

    async def _read(self) -> None:
        try:
            while line := await self.child.line():
                with suppress(msgspec.DecodeError, RecursionError):
                    await self._take(msgspec.json.decode(line, type=Message))
        except Unavailable:
            pass
        finally:
            self._notices.put_nowait(None)
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(Unavailable("the agent's process ended"))

    async def _take(self, message: Message) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is not None:
            result = self._answer(method, part(message, "params"))
            refusal = {"code": -32601, "message": "not offered here"}
            await self._send({"id": number, **({"error": refusal} if result is None else {"result": result})})
        elif isinstance(method, str):
            self._notices.put_nowait(message)
        elif isinstance(number, int) and (future := self._waiting.get(number)) and not future.done():
            if "error" in message:
                future.set_exception(PeerFault(f"refused with code {part(message, 'error').get('code')}"))
            else:
                future.set_result(part(message, "result"))
