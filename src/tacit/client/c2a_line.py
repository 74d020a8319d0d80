"""One WebSocket of C2A: requests in both directions, notifications, JSON-RPC 2.0 (C2A-012 to C2A-014).

Breaks as a whole and is replaced, never reopened. Requests of the hub go to one callback, in order; the
answer to each is given later by whoever accepted it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

import aiohttp
import msgspec

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.client.errors import LineLost
from tacit.client.line import refusal

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER_WITHIN: Final = 30.0
"""Seconds; a request without an answer by then counts as not delivered (C2A-013)."""
Heard = dict[str, Any]


class C2aLine:
    """An open connection. `heard` gets each request and notification of the hub as it came."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse, heard: Callable[[C2aLine, Heard], None]
    ) -> None:
        self._socket = socket
        self._heard = heard
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._calls = 0
        self._reader = asyncio.create_task(self._read(), name="c2a-line")

    @classmethod
    async def open(
        cls,
        session: aiohttp.ClientSession,
        url: str,
        token: str,
        heard: Callable[[C2aLine, Heard], None],
    ) -> C2aLine:
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
        self._calls += 1
        number = str(self._calls)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        raw = params if isinstance(params, bytes) else msgspec.json.encode(params)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": msgspec.Raw(raw)}
        try:
            await self._write(message)
            async with asyncio.timeout(ANSWER_WITHIN):
                return await future
        except TimeoutError as error:
            raise LineLost("no answer in time") from error
        finally:
            self._waiting.pop(number, None)

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        """Say something that nobody answers."""
        await self._write({"jsonrpc": "2.0", "method": method, "params": params})

    async def answer(
        self, request_id: object, *, result: dict[str, Any] | None = None, error: object = None
    ) -> None:
        """Answer a request of the hub."""
        body = {"result": result} if error is None else {"error": error}
        await self._write({"jsonrpc": "2.0", "id": request_id, **body})

    async def _write(self, message: dict[str, Any]) -> None:
        try:
            await self._socket.send_str(msgspec.json.encode(message).decode())
        except (ConnectionError, RuntimeError, aiohttp.ClientError) as error:
            raise LineLost("the connection broke") from error

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._take(_decoded(cast("str", message.data)))
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LineLost("the connection broke"))

    def _take(self, message: Heard) -> None:
        if "method" in message:
            self._heard(self, message)
            return
        future = self._waiting.get(str(message.get("id")))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(refusal(message["error"]))
        else:
            future.set_result(message.get("result"))

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


def _decoded(text: str) -> Heard:
    try:
        value: object = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise PeerFault("a frame is not JSON") from error
    if not isinstance(value, dict):
        raise PeerFault("a frame is not one JSON-RPC message")
    return cast("Heard", value)
