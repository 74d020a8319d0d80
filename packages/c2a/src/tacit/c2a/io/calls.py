"""Waiting for answers: the calls of one connection as awaitables (C2A-013).

The shell of `tacit.c2a.rpc.Correlator`: a future for each open call. A caller who is cancelled or whose time
is up lets go of its call; the connection's end wakes all who wait. Where as many calls are open as may be,
the next one waits for room instead of failing. Does not read the connection: its owner does, and hands each
message to `take`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from tacit.c2a.rpc import (
    CallError,
    CallFailed,
    CallResult,
    ConnectionLost,
    Correlator,
    Notification,
    Request,
    Unmatched,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

log: Final = logging.getLogger("tacit.c2a")


class PendingCalls:
    """Calls on one connection. `write` puts one message on it."""

    def __init__(self, correlator: Correlator, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._correlator = correlator
        self._write = write
        self._futures: dict[int, asyncio.Future[Any]] = {}
        self._room = asyncio.Semaphore(correlator.most)

    async def call(
        self, method: str, params: bytes | Mapping[str, Any] | None = None, *, within: float | None = None
    ) -> Any:
        """Ask and wait for the result.

        `CallFailed` is the other side's no. `ConnectionLost` means that nobody knows: the connection went,
        or `within` seconds passed without an answer.
        """
        async with self._room:
            call, data = self._correlator.request(method, params)
            future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._futures[call] = future
            try:
                await self._write(data)
                async with asyncio.timeout(within):
                    return await future
            except TimeoutError as error:
                raise ConnectionLost("no answer in time") from error
            finally:
                self._correlator.forget(call)
                del self._futures[call]

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Tell without waiting."""
        await self._write(self._correlator.notification(method, params))

    async def answer(self, request_id: object, *, result: object = None, error: object = None) -> None:
        """Answer a request of the other side."""
        await self._write(
            self._correlator.result(request_id, result)
            if error is None
            else self._correlator.error(request_id, error)
        )

    def take(self, data: bytes | str) -> Request | Notification | None:
        """Take a message: an answer goes to its caller, what the other side asks or tells is returned."""
        received = self._correlator.receive(data)
        match received:
            case Request() | Notification():
                return received
            case CallResult(call, result):
                if not self._futures[call].done():
                    self._futures[call].set_result(result)
            case CallError(call, error):
                if not self._futures[call].done():
                    self._futures[call].set_exception(CallFailed(error))
            case Unmatched():
                log.debug("an answer to no open call was dropped")
        return None

    def end(self) -> None:
        """The connection is gone: wake everybody who waits; nobody may call any more."""
        for call in self._correlator.end():
            if not self._futures[call].done():
                self._futures[call].set_exception(ConnectionLost("the connection ended"))
