"""An HTTP server that gives strangers little, and answers in the house's own form what it cannot read.

A request line that is malformed or too long never reaches an application: the server library answers it by
itself, in plain text, and logs where it came from and how it began. Here it is answered as every other fault
and logged by the name of the fault alone. Bodies are handed on as they came: nothing is decompressed for
somebody who is not known yet. Who waits for how long is `tacit.base.callers`'s to say.

A request as its caller made it, where a proxy stands in between: `tacit.base.callers` for aiohttp.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Final, cast

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from tacit.base.callers import Connections, ConnectionView, SocketLimits, called
from tacit.base.io.ending import end_listening

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    Answer = Callable[[int], web.Response]
    from aiohttp.typedefs import Handler, Middleware


log: Final = logging.getLogger("tacit.http")
LINGER_SECONDS: Final = 2.0
"""How long the rest of a body that nobody wants is read, so that its sender gets to see the answer."""


class _Protocol(RequestHandler):
    __slots__ = ("_answer", "_connections", "_drained", "_said", "_seconds", "is_guest", "leaving")

    def __init__(self, manager: _Server, **settings: Any) -> None:
        super().__init__(manager, **settings)
        self._answer = manager.answer
        self._connections = manager.guarded
        self._seconds = manager.seconds
        self._said = 0
        self._drained = asyncio.Event()
        self._drained.set()
        self.is_guest = True
        self.leaving: dict[Callable[[], None], None] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        address = str(cast("tuple[object, ...]", peer)[0]) if isinstance(peer, tuple) else ""
        cut = self._connections.enter(self, address, self._seconds())
        if cut is not None:
            cut.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._connections.leave(self)
        self._drained.set()
        for told in list(self.leaving):
            told()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._drained.clear()
        super().pause_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._drained.set()

    def data_received(self, data: bytes) -> None:
        if self.is_guest:
            self._listen_to_guest(data)
        else:
            super().data_received(data)

    def _listen_to_guest(self, data: bytes) -> None:
        """A guest that goes on and on, in the head of a request or on a WebSocket, is not listened to."""
        requests = self._request_count
        super().data_received(data)
        if self._request_count != requests:
            self._said = 0
        elif self._payload_parser is not None or (self._waiter is not None and not self._waiter.done()):
            # No request is under way, so this is part of a head: bodies have bounds of their own.
            self._said += len(data)
            if self._said > self._connections.limits.guest_bytes:
                self.abort()

    def proved(self, owner: str) -> bool:
        """This connection is known by now; False when its owner has too many."""
        taken = self._connections.proved(self, owner)
        self.is_guest = self.is_guest and not taken
        return taken

    async def drained(self) -> None:
        """Return when most of what was sent is on the wire, or nobody is there to read it."""
        await self._drained.wait()

    def seen(self) -> ConnectionView:
        """How this connection looks now."""
        unsent = self.transport.get_write_buffer_size() if self.transport is not None else 0
        return ConnectionView(self._request_count, self._current_request is not None, unsent)

    def abort(self) -> None:
        """End it at once, whatever still waits to be sent."""
        transport = self.transport
        self._connections.leave(self)
        self.force_close()
        if transport is not None:
            transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """The answer to what could not be read; the connection ends with it."""
        del message
        log.info("a request could not be read", extra={"fault": type(exc).__name__})
        if request.writer.output_size > 0:
            raise ConnectionError("part of an answer is sent already")
        answer = self._answer(status)
        answer.force_close()
        return answer


class _Server(web.Server):
    answer: Answer
    guarded: Connections[_Protocol]
    seconds: Callable[[], float]

    def __call__(self) -> RequestHandler:
        return _Protocol(self, loop=self._loop, **self._kwargs)


def proved(request: web.BaseRequest, owner: str) -> bool:
    """Who asks is known: its connection is no guest's any more. False when that owner has too many."""
    protocol = request.protocol
    return not isinstance(protocol, _Protocol) or protocol.proved(owner)


def leaving(request: web.BaseRequest) -> dict[Callable[[], None], None]:
    """Who is told when the connection of a request ends."""
    protocol = request.protocol
    return protocol.leaving if isinstance(protocol, _Protocol) else {}


async def drained(request: web.BaseRequest) -> None:
    """Return when most of what was sent to this caller is on the wire, or it has gone."""
    protocol = request.protocol
    if isinstance(protocol, _Protocol):
        await protocol.drained()


class Runner(web.AppRunner):
    """Runs an application; `answer` makes the response to a request that could not be read, by its status."""

    __slots__ = ("_answer", "_looking", "_seconds", "connections")

    def __init__(
        self,
        app: web.Application,
        answer: Answer,
        limits: SocketLimits | None = None,
        seconds: Callable[[], float] = time.monotonic,
        **settings: Any,
    ) -> None:
        """`seconds` says what time it is for those who wait."""
        self.connections: Connections[_Protocol] = Connections(limits or SocketLimits())
        super().__init__(
            app,
            auto_decompress=False,
            lingering_time=LINGER_SECONDS,
            keepalive_timeout=self.connections.limits.idle_seconds,
            **settings,
        )
        self._answer = answer
        self._seconds = seconds
        self._looking: asyncio.Task[None] | None = None

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        # The library has no place to say which class serves; the instance is the application's own and fresh.
        made.__class__ = _Server
        assert isinstance(made, _Server)  # noqa: S101 - for the type alone
        made.answer = self._answer
        made.guarded = self.connections
        made.seconds = self._seconds
        self._looking = asyncio.get_running_loop().create_task(self._look())
        return made

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self.connections.limits.look_seconds)
            self.cut_overdue(self._seconds())

    def cut_overdue(self, now: float) -> None:
        """End the connections that have waited too long, as of this second."""
        for one in self.connections.overdue(now, _Protocol.seen):
            one.abort()

    async def cleanup(self) -> None:
        """Stop looking, take in nobody more, then close what is open."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        for site in self.sites:
            if (server := getattr(site, "_server", None)) is not None:
                await end_listening(cast("asyncio.Server", server))
        await super().cleanup()


class ListeningSite(web.TCPSite):
    """An address that a runner listens on; a TLS handshake gets no more time than a guest does."""

    __slots__ = ("_context", "_limits")

    def __init__(
        self,
        runner: Runner,
        host: str,
        port: int,
        *,
        context: ssl.SSLContext | None = None,
        backlog: int = 128,
    ) -> None:
        super().__init__(runner, host, port, ssl_context=context, backlog=backlog)
        self._context = context
        self._limits = runner.connections.limits

    async def start(self) -> None:
        """Listen."""
        if self._context is None:
            await super().start()
            return
        await web.BaseSite.start(self)
        self._server = await asyncio.get_running_loop().create_server(
            cast("Callable[[], asyncio.Protocol]", self._runner.server),
            self._host,
            self._port,
            ssl=self._context,
            backlog=self._backlog,
            ssl_handshake_timeout=self._limits.guest_seconds,
        )


def as_called(request: web.Request, trusted: tuple[str, ...]) -> web.Request:
    """The request with the address, scheme and host that its caller has."""
    call = called(request.remote, request.headers, trusted)
    changed: dict[str, Any] = {name: value for name, value in call._asdict().items() if value}
    return request.clone(**changed) if changed else request


def through_proxies(trusted: tuple[str, ...]) -> Middleware:
    """A step behind which every request is as its caller made it."""

    @web.middleware
    async def step(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await handler(as_called(request, trusted))

    return step
