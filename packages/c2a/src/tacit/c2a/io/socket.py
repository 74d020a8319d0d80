"""One WebSocket of C2A: requests in both directions, notifications, JSON-RPC 2.0 (C2A-012, C2A-013, C2A-014).

Breaks as a whole and is replaced, never reopened. Requests and notifications of the hub go to one callback,
in order; the answer to each request is given later by whoever accepted it. What a client of any door of the
hub needs of a WebSocket is here as well: frames, and failures as the kinds that a caller tells apart.

Waiting for answers: the calls of one connection as awaitables (C2A-013).

The shell of `tacit.c2a.rpc.Correlator`: a future for each open call. A caller who is cancelled or whose time
is up lets go of its call; the connection's end wakes all who wait. Where as many calls are open as may be,
the next one waits for room instead of failing. Does not read the connection: its owner does, and hands each
message to `take`.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import aiohttp

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.c2a.rpc import (
    CallError,
    CallFailed,
    CallResult,
    ConnectionLost,
    Correlator,
    Notification,
    Request,
    Unmatched,
    error_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping


ANSWER_WITHIN: Final = 30.0
"""Seconds; a request without an answer by then counts as not delivered (C2A-013)."""


class C2aConnection:
    """An open connection. `heard` gets each request and notification of the hub as it came."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, heard: Callable[[Request | Notification], None]
    ) -> None:
        self._socket = socket
        self._heard = heard
        self._calls = PendingCalls(Correlator(), partial(write, socket))
        self._reader = asyncio.create_task(self._read(), name="c2a-connection")

    @classmethod
    async def open(
        cls,
        session: aiohttp.ClientSession,
        url: str,
        token: str,
        heard: Callable[[Request | Notification], None],
    ) -> C2aConnection:
        """Connect; `Unavailable` when the hub cannot be reached, `Refused` when it does not want us."""
        headers = {"Authorization": f"Bearer {token}"}
        try:
            socket = await session.ws_connect(
                f"{url}/c2a", headers=headers, heartbeat=30.0, max_msg_size=0, compress=0
            )
        except aiohttp.WSServerHandshakeError as error:
            if error.status in {401, 403}:
                raise Refused("permission_denied", "the hub does not know this token") from error
            if error.status == 404:
                raise Refused("unknown_op", "this hub has no C2A door") from error
            raise Unavailable(f"the hub refused the connection ({error.status})") from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unavailable(f"the hub at {url} cannot be reached") from error
        return cls(socket, heard)

    @property
    def is_open(self) -> bool:
        """Can anything still be said?"""
        return not self._reader.done() and not self._socket.closed

    @property
    def close_code(self) -> int | None:
        """Why the other side ended it, when it did."""
        return self._socket.close_code

    async def call(self, method: str, params: bytes | dict[str, Any]) -> Any:
        """A request and its result. Bytes are sent as they are: a repeat is the same byte for byte."""
        return await result_of(self._calls.call(method, params, within=ANSWER_WITHIN))

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Say something that nobody answers."""
        await self._calls.notify(method, params)

    async def answer(
        self, request_id: object, *, result: dict[str, Any] | None = None, error: object = None
    ) -> None:
        """Answer a request of the hub."""
        await self._calls.answer(request_id, result=result, error=error)

    async def _read(self) -> None:
        try:
            async for text in texts(self._socket):
                asked = self._calls.take(text)
                if asked is not None:
                    self._heard(asked)
        finally:
            self._calls.end()

    async def ended(self) -> None:
        """Wait until the connection is over; raises `PeerFault` when the hub spoke no JSON-RPC."""
        await asyncio.wait({self._reader})
        if not self._reader.cancelled() and (error := self._reader.exception()) is not None:
            if isinstance(error, (PeerFault, ConnectionError, aiohttp.ClientError)):
                raise PeerFault("the connection broke in the middle of a message") from error
            raise error

    async def close(self) -> None:
        """End the connection."""
        await self._socket.close()
        self._reader.cancel()
        await asyncio.wait({self._reader})


async def result_of(call: Awaitable[Any]) -> Any:
    """The result of a call, its refusal as the kind that a client tells apart."""
    try:
        return await call
    except CallFailed as failed:
        raise error_of(failed.error) from None


async def write(socket: aiohttp.ClientWebSocketResponse, data: bytes) -> None:
    """Send one message; `ConnectionLost` when the connection cannot carry it any more."""
    try:
        await socket.send_str(data.decode())
    except (ConnectionError, RuntimeError, aiohttp.ClientError) as error:
        raise ConnectionLost("the connection broke") from error


async def texts(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[str]:
    """Every text frame of the hub until the connection ends."""
    async for message in socket:
        if message.type is aiohttp.WSMsgType.TEXT:
            yield cast("str", message.data)


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
