"""JSON-RPC over a child's stdio, one message a line, as `codex app-server` speaks it.

Requests get their answers, notifications queue up in order, and every question from the other side is
answered by one function, which may take its time: nothing else waits for it. A line that is no JSON-RPC is
skipped: programs print other things too. When the process ends, whoever waits learns it as `Unavailable`.
Which answer belongs to whom is `tacit.c2a.rpc`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tacit.base.errors import PeerFault, Unavailable
from tacit.c2a.errors import UNKNOWN_METHOD
from tacit.c2a.io.socket import PendingCalls
from tacit.c2a.rpc import CallFailed, ConnectionLost, Correlator, Notification, Request
from tacit.harness.drivers.reading import Message, part

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.harness.drivers.io.child import Child


class RpcPeer:
    """One side of the line. `answer` gives the result for a question, or None when it knows no answer.

    `heard` is called with every notification as it is read, before anything that came behind it.
    """

    def __init__(
        self,
        child: Child,
        answer: Callable[[str, Message], Awaitable[Message | None]],
        heard: Callable[[str, Message], None] = lambda _method, _params: None,
    ) -> None:
        self.child = child
        self._answer = answer
        self._heard = heard
        self._answering: set[asyncio.Task[None]] = set()
        # `codex app-server` speaks JSON-RPC 2.0 without saying so.
        self._calls = PendingCalls(Correlator(version=None), self._send)
        self._notices: asyncio.Queue[Notification | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    async def request(self, method: str, params: Message) -> Message:
        """Ask and wait for the result. `PeerFault` carries the error's code, not its text."""
        try:
            result: Any = await self._calls.call(method, params)
        except CallFailed as failed:
            raise PeerFault(str(failed)) from None
        except ConnectionLost as ended:
            raise Unavailable("the agent's process ended") from ended
        return part(result)

    async def notify(self, method: str) -> None:
        """Tell without waiting."""
        await self._calls.notify(method)

    async def notice(self) -> Notification:
        """The next notification, in order."""
        message = await self._notices.get()
        if message is None:
            self._notices.put_nowait(None)
            raise Unavailable("the agent's process ended")
        return message

    async def close(self, *, politely: bool = True) -> None:
        """End the process and the reading."""
        await self.child.end(politely=politely)
        for task in [self._reading, *self._answering]:
            task.cancel()
        await asyncio.wait({self._reading, *self._answering})

    async def _send(self, data: bytes) -> None:
        await self.child.send(data + b"\n")

    async def _read(self) -> None:
        try:
            while line := await self.child.line():
                with suppress(PeerFault):
                    await self._take(line)
        except Unavailable:
            pass
        finally:
            self._notices.put_nowait(None)
            self._calls.end()

    async def _take(self, line: bytes) -> None:
        asked = self._calls.take(line)
        if isinstance(asked, Request):
            task = asyncio.create_task(self._reply(asked))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif asked is not None:
            self._heard(asked.method, part(asked.params))
            self._notices.put_nowait(asked)

    async def _reply(self, asked: Request) -> None:
        result = await self._answer(asked.method, part(asked.params))
        with suppress(Unavailable, ConnectionLost):  # whoever asked is gone
            if result is None:
                refusal = {"code": UNKNOWN_METHOD, "message": "not offered here"}
                await self._calls.answer(asked.id, error=refusal)
            else:
                await self._calls.answer(asked.id, result=result)
