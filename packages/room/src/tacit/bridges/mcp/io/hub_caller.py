"""The chat tools of a running hub, called over `POST /c2a` with an actor's token (C2A-011, C2A-171).

Every chat tool is idempotent and every send carries its key, so a call that broke on the way is repeated as
it was, for a few seconds; what stays out of reach comes back as a refusal that says so.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Self

import aiohttp
import msgspec

from tacit.base.io.proving import checks
from tacit.bridges.mcp.talk import GREETING, outcome_of, strange, tool_request, unreachable
from tacit.c2a.errors import Refusal
from tacit.client.retrying import pause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.hub_proof import HubAccess

PATIENCE: Final = 10.0
_TIMEOUT: Final = aiohttp.ClientTimeout(total=60, connect=10)


class HubCaller:
    """One actor's tools on a hub somewhere."""

    def __init__(self, access: HubAccess, *, patience: float = PATIENCE) -> None:
        url, token, proven_by = access
        self._checks = checks(url, proven_by)
        self._url = url.rstrip("/") + "/c2a"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._patience = patience
        self._session: aiohttp.ClientSession | None = None
        self._greeting = asyncio.Lock()
        self._greeted = False

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(timeout=_TIMEOUT, trace_configs=self._checks)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | Refusal:
        """Run one tool; waits out a hub that restarts."""
        return await self.greet() or await self._patiently(tool_request(name, arguments))

    async def greet(self) -> Refusal | None:
        """Tell the host, once, that the agent is here: from then on what is said to it waits for it."""
        async with self._greeting:
            answer = {} if self._greeted else await self._patiently(GREETING)
            self._greeted = not isinstance(answer, Refusal)
            return answer if isinstance(answer, Refusal) else None

    async def _patiently(self, body: bytes) -> dict[str, Any] | Refusal:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        attempt = 0
        while True:
            answer = await self._once(body)
            wait = pause(attempt)
            attempt += 1
            passing = isinstance(answer, Refusal) and answer.code == "daemon_unavailable"
            if not passing or loop.time() + wait > deadline:
                return answer
            await asyncio.sleep(wait)

    async def _once(self, body: bytes) -> dict[str, Any] | Refusal:
        if self._session is None:
            return unreachable()
        try:
            async with self._session.post(self._url, data=body, headers=self._headers) as response:
                raw = await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError):
            return unreachable()
        try:
            return outcome_of(msgspec.json.decode(raw))
        except msgspec.DecodeError:
            return unreachable() if response.status >= 500 else strange()
