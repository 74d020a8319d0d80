"""The asyncio client: one connection for calls, one for each follow, both renewed by themselves.

A call that the hub would recognise as a repeat is retried until `retry_for` seconds have passed. A follow
goes on from the last position it saw: no gap, no repeat. Order is the stream's alone; times and ids are never
compared (CCCS-026, CCCS-027, CCCS-106).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

import aiohttp

from tacit.base.errors import TacitError
from tacit.base.io.proving import checks
from tacit.client.files import Files
from tacit.client.following import FollowState
from tacit.client.looking import Looking
from tacit.client.operations import HubOperations, passing
from tacit.client.retrying import pause
from tacit.client.rpc_connection import RpcConnection

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tacit.ledger.envelope import Event


class Hub(HubOperations):
    """A hub as one credential sees it."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        retry_for: float = 30.0,
        proven_by: bytes | None = None,
    ) -> None:
        """With `proven_by`, what listens at `url` has to prove that it holds this key, at each connection."""
        super().__init__()
        self._proven_by = proven_by
        self.url = url.rstrip("/")
        self._token = token
        self._retry_for = retry_for
        self._session: aiohttp.ClientSession | None = None
        self._connection: RpcConnection | None = None
        self._opening = asyncio.Lock()
        self.looking = Looking()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of all connections."""
        if self._connection is not None:
            await self._connection.close()
        if self._session is not None:
            await self._session.close()

    def session(self) -> aiohttp.ClientSession:
        """The HTTP session behind everything."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None, connect=10),
                trace_configs=checks(self.url, self._proven_by),
            )
        return self._session

    @property
    def token(self) -> str | None:
        """The credential."""
        return self._token

    async def _connected(self) -> RpcConnection:
        async with self._opening:
            if self._connection is None or not self._connection.is_open:
                if self._connection is not None:
                    await self._connection.close()
                self._connection = await RpcConnection.open(self.session(), self.url, self._token)
            return self._connection

    async def call(self, method: str, params: dict[str, Any], *, repeatable: bool = True) -> Any:
        """Any operation of the hub. `repeatable`: the hub would recognise, or not mind, a repeat."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._retry_for
        attempt = 0
        while True:
            try:
                connection = await self._connected()
                return await connection.call(method, params)
            except TacitError as error:
                problem = passing(error, method, repeatable=repeatable)
            wait = pause(attempt)
            attempt += 1
            if loop.time() + wait > deadline:
                raise problem
            await asyncio.sleep(wait)

    async def away(self, *, away: bool = True) -> None:
        """Say that nobody looks at what this client follows, or that somebody does again; kept nowhere."""
        await self.looking.turn(away=away)

    def follow(
        self, group_id: str, *, since_seq: int = 0, kinds: Sequence[str] | None = None
    ) -> AsyncIterator[Event]:
        """Every event after a position, then live, for ever; survives restarts of the hub."""
        return FollowState(self, group_id, since_seq, tuple(kinds or ())).events()

    @property
    def files(self) -> Files:
        """Upload and download of attachments."""
        return Files(self)
