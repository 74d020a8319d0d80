"""The library's client, where it would say too much at the beginning or wait for ever at the end.

For `connection` alone, which speaks NATS with it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import Error as NatsError

from tacit.base.io.ending import end
from tacit.base.io.jetstream.login import NO_TLS

if TYPE_CHECKING:
    from urllib.parse import ParseResult

    from nats.aio.client import Srv

CLOSING: Final = 0.2
"""Seconds for the end of a connection."""


class _Transport(TcpTransport):
    """One whose end is not waited for without end: after a TLS handshake that failed nobody tells of it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_ending = False
        self._opened: asyncio.StreamWriter | None = None

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: int) -> None:
        """Whatever was opened before is closed: nobody would know of it any more."""
        await super().connect(uri, buffer_size, connect_timeout)
        if self._opened is not None:
            self._opened.close()
        self._opened = self._bare_io_writer

    def __bool__(self) -> bool:
        """Also before it is connected: the client would take another one instead."""
        return True

    async def drain(self) -> None:
        if not self.is_ending:
            await super().drain()
            return
        with suppress(OSError, TimeoutError):  # what is left is for a server that does not listen
            async with asyncio.timeout(CLOSING):
                await super().drain()

    async def wait_closed(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING):
                await super().wait_closed()


class NatsClient(Client):
    """Says nothing to a server, not even who it is, before the connection is encrypted where it must be.

    The library encrypts when the server asks for it: whoever stands in between would ask for nothing.
    """

    def __init__(self, *, is_encrypted: bool) -> None:
        super().__init__()
        self._is_encrypted = is_encrypted
        self._attempts: set[asyncio.Task[None]] = set()

    async def _attempt_reconnect(self) -> None:
        """One at a time: that before was cancelled once, which it may not have noticed."""
        this = cast("asyncio.Task[None]", asyncio.current_task())
        await self._end_attempts(this)
        self._attempts.add(this)
        try:
            await super()._attempt_reconnect()
        finally:
            self._attempts.discard(this)

    async def _end_attempts(self, this: asyncio.Task[Any] | None) -> None:
        for attempt in self._attempts - {this}:
            await end(attempt)

    async def _connect_to_server(self, s: Srv) -> None:
        self._transport = self._transport or _Transport()
        self._transport.close()  # that of an attempt to which nobody answered would stay open
        await super()._connect_to_server(s)

    @property
    def server_name(self) -> str:
        """The name of the server at the other end."""
        return str(self._server_info.get("server_name", ""))

    def _connect_command(self) -> bytes:
        if self._is_encrypted and not self._server_info.get("tls_required"):
            raise NatsError(NO_TLS)
        return super()._connect_command()

    async def close(self) -> None:
        """Let go of the server, whether it is there or not."""
        if isinstance(self._transport, _Transport):
            self._transport.is_ending = True
        await super().close()
        await self._end_attempts(asyncio.current_task())
        if self._transport is not None:  # an attempt may have come through meanwhile
            self._transport.close()
            await asyncio.sleep(0)
