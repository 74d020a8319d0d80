"""Resolvers for `ctx.ref`: files below allowed roots, http(s) to allowed hosts (CLOWL-033).

Registered per scheme. A reference that points outside is blocked before anything is opened: no `..`, no
link that leads out, no host that was not allowed, no address that is not public, also after a redirect or
when the name resolves anew. Ten seconds, ten MiB.
"""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urljoin, urlsplit

import aiohttp

from tacit.base.io.public_sockets import PrivateAddressError, public_sockets
from tacit.language.context import Blocked, Content, Fetched, Resolver, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.base.public_addresses import Network

MAX_BYTES: Final = 10 * 1024 * 1024
MAX_SECONDS: Final = 10.0
_MAX_REDIRECTS: Final = 3
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OK: Final = 200


class Resolvers:
    """One resolver for each scheme; a plain path has the scheme `file`."""

    def __init__(self, by_scheme: Mapping[str, Resolver]) -> None:
        self._by_scheme = dict(by_scheme)

    async def fetch(self, ref: str) -> Fetched:
        """The content behind `ref`, or why there is none."""
        scheme = _scheme(ref)
        resolver = self._by_scheme.get(scheme)
        if resolver is None:
            return Unreachable("no resolver for this scheme")
        return await resolver.fetch(ref)


def _scheme(ref: str) -> str:
    head, found, _ = ref.partition("://")
    return head.lower() if found and head.isalnum() else "file"


class FileResolver:
    """Files below one root."""

    def __init__(self, root: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._root = root.resolve()
        self._max_bytes = max_bytes

    async def fetch(self, ref: str) -> Fetched:
        """The file's bytes; a path is taken relative to the root."""
        return await asyncio.to_thread(self._read, ref)

    def _read(self, ref: str) -> Fetched:
        text = unquote(urlsplit(ref).path) if ref.startswith("file://") else ref
        if "\0" in text or ".." in PurePosixPath(text).parts:
            return Blocked("the path leads upwards")
        path = Path(text)
        wanted = path if path.is_absolute() else self._root / path
        try:
            found = wanted.resolve()
            if not found.is_relative_to(self._root):
                return Blocked("the path leads out of the allowed root")
            return self._contents(found)
        except (OSError, RuntimeError):
            return Unreachable("the file cannot be read")

    def _contents(self, path: Path) -> Fetched:
        # Opened without following links: what was resolved a moment ago may have been exchanged since.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return Unreachable("not a regular file")
            data = file.read(self._max_bytes + 1)
        return Unreachable("larger than the limit") if len(data) > self._max_bytes else Content(data)


class HttpResolver:
    """http and https to hosts that were allowed by name."""

    def __init__(
        self,
        hosts: Iterable[str],
        *,
        networks: Iterable[Network] = (),
        max_bytes: int = MAX_BYTES,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        self._hosts = frozenset(host.lower() for host in hosts)
        self._networks = tuple(networks)
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds

    async def fetch(self, ref: str) -> Fetched:
        """The body of a successful answer; every hop of a redirect is checked like the first."""
        timeout = aiohttp.ClientTimeout(total=self._max_seconds)
        connector = aiohttp.TCPConnector(socket_factory=public_sockets(self._networks))
        try:
            async with (
                asyncio.timeout(self._max_seconds),
                aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False) as session,
            ):
                return await self._follow(session, ref)
        except TimeoutError:
            return Unreachable("no answer in time")
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, PrivateAddressError):
                return Blocked("the address is not public")
            return Unreachable("the host cannot be reached")
        except (aiohttp.ClientError, OSError, ValueError):
            return Unreachable("the transfer failed")

    async def _follow(self, session: aiohttp.ClientSession, ref: str) -> Fetched:
        for _ in range(_MAX_REDIRECTS + 1):
            if (blocked := self._blocked(ref)) is not None:
                return blocked
            async with session.get(ref, allow_redirects=False) as response:
                if response.status in _REDIRECTS and "Location" in response.headers:
                    ref = urljoin(ref, response.headers["Location"])
                    continue
                if response.status != _OK:
                    return Unreachable(f"status {response.status}")
                return await self._body(response)
        return Unreachable("too many redirects")

    async def _body(self, response: aiohttp.ClientResponse) -> Fetched:
        data = bytearray()
        async for piece in response.content.iter_chunked(64 * 1024):
            data += piece
            if len(data) > self._max_bytes:
                return Unreachable("larger than the limit")
        return Content(bytes(data))

    def _blocked(self, ref: str) -> Blocked | None:
        parts = urlsplit(ref)
        host = (parts.hostname or "").lower()
        if parts.scheme not in {"http", "https"}:
            return Blocked("a redirect leads to another scheme")
        if parts.username is not None or host not in self._hosts:
            return Blocked("the host is not allowed")
        return None
