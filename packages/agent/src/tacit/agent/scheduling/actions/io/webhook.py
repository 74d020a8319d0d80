"""A deed as a request to a web address, which happens once however often it is sent (A2ACP-166, A2ACP-167).

The request is `POST` of `{"action_id", "action", "operation", "details"}` with the action's id as its
idempotency key (an undo has a key of its own, as it is another request). A status of 2xx is done, 4xx failed,
409 for the same `action_id` done before. When the line is cut, the server hangs or answers 5xx, nobody can
say whether it happened: it is sent again under the same key a few times, and then the end is unknown, to be
asked again later. What the server says is for the owner alone.
"""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import aiohttp

from tacit.agent.scheduling.actions.answer import LARGEST, read_answer
from tacit.agent.scheduling.actions.port import DONE, FAILED, REFUSED, UNKNOWN, Deed, Result
from tacit.base.backoff import Backoff
from tacit.base.errors import Refused
from tacit.base.strict_json import canonical

DO: Final = "do"
UNDO: Final = "undo"
AGAIN: Final = Backoff(first=1.0, longest=15.0)
TRIES: Final = 4
_NOT_NOW: Final = frozenset({408, 425, 429})
_GONE: Final = frozenset({404, 410})
_PRINTABLE: Final = range(0x21, 0x7F)

if TYPE_CHECKING:
    from collections.abc import Mapping


class WebhookHandler:
    """Carries deeds out at one web address."""

    def __init__(
        self,
        url: str,
        session: aiohttp.ClientSession,
        secret: str | None = None,
        *,
        backoff: Backoff = AGAIN,
        tries: int = TRIES,
        timeout: float = 20.0,
        reversible: bool = True,
    ) -> None:
        self.reversible = reversible
        self._url = checked_url(url)
        self._session = session
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if secret is not None:
            if not secret or any(ord(one) not in _PRINTABLE for one in secret):
                raise Refused(
                    "invalid_request", "a secret is printable ASCII without spaces", row="A2ACP-166"
                )
            self._headers["Authorization"] = f"Bearer {secret}"
        self._backoff = backoff
        self._tries = max(tries, 1)
        self._timeout = aiohttp.ClientTimeout(total=timeout)

    async def do(self, deed: Deed) -> Result:
        """Have it done."""
        return await self._carry_out(deed, DO)

    async def undo(self, deed: Deed) -> Result:
        """Have it undone; what the server does not know is undone."""
        return await self._carry_out(deed, UNDO)

    async def _carry_out(self, deed: Deed, operation: str) -> Result:
        body = canonical(
            {
                "action_id": deed.action_id,
                "action": deed.action,
                "operation": operation,
                "details": deed.details,
            }
        )
        if len(body) > LARGEST:
            return Result(FAILED, reason="the action's details are too long to send")
        key = deed.action_id if operation == DO else f"{deed.action_id}-undo"
        headers = {**self._headers, "Idempotency-Key": key}
        for failures in range(self._tries):
            if failures:
                await asyncio.sleep(self._backoff.pause(failures - 1))
            result = await self._send(deed, operation, body, headers)
            if result.status != UNKNOWN:
                return result
        return Result(UNKNOWN, reason="the service gave no answer that says what happened")

    async def _send(self, deed: Deed, operation: str, body: bytes, headers: Mapping[str, str]) -> Result:
        try:
            # A service that sends us on could have us ask whatever only this device can reach.
            async with self._session.post(
                self._url, data=body, headers=headers, timeout=self._timeout, allow_redirects=False
            ) as response:
                if 200 <= response.status < 300:
                    return Result(DONE, reference=(await _told(response)).get("reference", ""))
                if response.status >= 500 or response.status in _NOT_NOW:
                    return Result(UNKNOWN)
                said = read_answer(await _read(response))
                return _refused(response.status, said, deed, operation)
        except (aiohttp.ClientError, TimeoutError, OSError):
            return Result(UNKNOWN)


def _refused(status: int, said: Mapping[str, str], deed: Deed, operation: str) -> Result:
    reference = said.get("reference", "")
    if status == 409 and said.get("action_id") == deed.action_id:
        return Result(DONE, reference=reference)
    if operation == UNDO and status in _GONE:
        return Result(DONE)
    reason = said.get("reason") or f"the service refused it ({status})"
    return Result(FAILED, reason=reason, code=REFUSED)


async def _told(response: aiohttp.ClientResponse) -> dict[str, str]:
    """What a server says with its yes; a line that is cut after the yes leaves the yes."""
    try:
        return read_answer(await _read(response))
    except (aiohttp.ClientError, TimeoutError, OSError):
        return {}


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The answer, or nothing where it is too long."""
    found = bytearray()
    async for part in response.content.iter_any():
        found += part
        if len(found) > LARGEST:
            response.close()
            return b""
    return bytes(found)


def checked_url(url: str) -> str:
    """An address by HTTPS, or on this device; `Refused` otherwise."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        plain = parts.scheme == "http" and _is_loopback(host)
        named = bool(parts.username or parts.password or parts.fragment)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        raise Refused("invalid_request", "this is no web address", row="A2ACP-166") from None
    if (
        not host
        or named
        or not port_is_one
        or not (parts.scheme == "https" or plain)
        or not url.isprintable()
    ):
        raise Refused(
            "invalid_request", "a webhook is reached by https, or by http on this device", row="A2ACP-166"
        )
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
