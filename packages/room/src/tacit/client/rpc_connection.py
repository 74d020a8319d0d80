"""One WebSocket to the hub: calls out, answers in (CCCS-113). Breaks as a whole and is replaced."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import aiohttp
import msgspec

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.c2a.io.socket import PendingCalls, result_of, texts, write
from tacit.c2a.rpc import Correlator

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

log: Final = logging.getLogger("tacit.client")


class RpcConnection:
    """An open connection; not reopened, replaced."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._calls = PendingCalls(Correlator(), partial(write, socket))
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    async def open(cls, session: aiohttp.ClientSession, url: str, token: str | None) -> RpcConnection:
        """Connect; raises `Unavailable` when the hub cannot be reached (CCCS-113)."""
        return cls(await connect(session, url, token))

    @property
    def is_open(self) -> bool:
        """Can calls still be made?"""
        return not self._reader.done() and not self._socket.closed

    async def call(self, method: str, params: dict[str, Any]) -> Any:
        """Send a call and wait for its answer."""
        return await result_of(self._calls.call(method, params))

    async def _read(self) -> None:
        try:
            async for text in texts(self._socket):
                self._calls.take(text)
        except PeerFault as fault:
            log.warning("the hub spoke no JSON-RPC; the connection is given up", extra={"fault": str(fault)})
        finally:
            self._calls.end()

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
    async for text in texts(socket):
        yield msgspec.json.decode(text)
