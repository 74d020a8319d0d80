"""One WebSocket to the hub: calls out, answers and notifications in. Breaks as a whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import aiohttp
import msgspec

from tacit.base.errors import Refused, Unavailable
from tacit.client.errors import LineLost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def refusal(error: dict[str, Any]) -> Exception:
    """The error of an answer, as the kind that it is."""
    data: dict[str, Any] = error.get("data") or error
    code, message = str(data.get("code", "internal")), str(data.get("message", "the call failed"))
    if code == "daemon_unavailable":
        return Unavailable(message)
    return Refused(code, message, details=data.get("details"))


class Line:
    """An open connection; not reopened, replaced."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._calls = 0
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    async def open(cls, session: aiohttp.ClientSession, url: str, token: str | None) -> Line:
        """Connect; raises `Unavailable` when the hub cannot be reached (CCCS-113)."""
        return cls(await connect(session, url, token))

    @property
    def is_open(self) -> bool:
        """Can calls still be made?"""
        return not self._reader.done() and not self._socket.closed

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Send a call and wait for its answer."""
        self._calls += 1
        number = self._calls
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            await self._socket.send_str(encode_call(number, method, params))
        except (ConnectionError, RuntimeError, aiohttp.ClientError) as error:
            self._waiting.pop(number, None)
            raise LineLost("the connection broke") from error
        return await future

    async def _read(self) -> None:
        try:
            async for answer in answers(self._socket):
                future = self._waiting.pop(cast("int", answer.get("id") or 0), None)
                if future is None or future.done():
                    continue
                if "error" in answer:
                    future.set_exception(refusal(answer["error"]))
                else:
                    future.set_result(answer.get("result"))
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LineLost("the connection broke"))
            self._waiting.clear()

    async def close(self) -> None:
        """End the connection."""
        await self._socket.close()
        self._reader.cancel()
        await asyncio.wait({self._reader})


def encode_call(number: int, method: str, params: dict[str, Any]) -> str:
    """A JSON-RPC call."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).decode()


async def connect(
    session: aiohttp.ClientSession, url: str, token: str | None
) -> aiohttp.ClientWebSocketResponse:
    """A WebSocket to the hub."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        return await session.ws_connect(
            f"{url}/v1/ws", headers=headers, heartbeat=30.0, max_msg_size=0, compress=0
        )
    except aiohttp.WSServerHandshakeError as error:
        if error.status == 429:
            raise Unavailable("the hub asks to slow down") from error
        raise Refused("permission_denied", f"the hub refused the connection ({error.status})") from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Unavailable(f"the hub at {url} cannot be reached") from error


async def answers(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[dict[str, Any]]:
    """Every message of the hub until the connection ends."""
    async for message in socket:
        if message.type is aiohttp.WSMsgType.TEXT:
            yield msgspec.json.decode(cast("str", message.data))
