"""The process around a hub: sockets, signals, the order of starting and stopping."""

from __future__ import annotations

import asyncio
import signal
import ssl
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, cast

import msgspec
from aiohttp import hdrs, web

from tacit.base import hub_proof
from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.base.io.built_page import asset
from tacit.base.io.http_runner import ListeningSite, Runner
from tacit.base.io.private_file import write_private
from tacit.hub.backups import Backups
from tacit.hub.doors import blobs, c2a, proof, sse, websocket
from tacit.hub.doors.http import (
    HttpDoor,
    Unauthenticated,
    allow_origin,
    credential_of,
    guard,
    json_answer,
    unauthenticated_answer,
    unreadable,
)
from tacit.hub.doors.mcp import McpDoor
from tacit.hub.doors.openapi import describe
from tacit.hub.doors.page import front_page
from tacit.hub.doors.redeem import redeem
from tacit.hub.doors.routes import OPERATIONS
from tacit.hub.doors.sign_in import sign_in
from tacit.hub.hub import RunningHub
from tacit.hub.people.sign_in_links import MARK, OWNERS_MINUTES
from tacit.hub.telemetry import health
from tacit.ledger.io import erasure
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.hub.config import HubConfig
    from tacit.ledger.io.store import StoreOptions

Handler = "Callable[[web.Request], Awaitable[web.StreamResponse]]"

SHUTDOWN_SECONDS: Final = 5.0
"""What requests under way have left when the hub stops; idle connections are closed at once."""


async def _healthz(_request: web.Request) -> web.StreamResponse:
    return json_answer({"status": "ok"})


def application(hub: RunningHub) -> web.Application:
    """All doors of one hub."""
    app = web.Application(middlewares=[guard(hub)], client_max_size=hub.config.limits.body_bytes)
    app.on_response_prepare.append(allow_origin(hub))
    door = HttpDoor(hub)
    description = msgspec.json.encode(describe(hub.config))
    for operation in OPERATIONS:
        handle = door.handler(operation)
        if operation.name == "events":
            handle = _events(hub, handle)
        app.router.add_route(operation.method, operation.path, handle)

    async def metrics(request: web.Request) -> web.StreamResponse:
        try:
            credential_of(hub, request).require_owner()
        except Unauthenticated:
            return unauthenticated_answer()
        with suppress(TacitError):  # a ledger that cannot be read has the other numbers still
            waiting = await hub.ledger.read(lambda reader: erasure.pending(reader.connection))
            hub.metrics.erasures(waiting, hub.store)
        with suppress(TacitError):
            if (standing := await hub.stream_standing()) is not None:
                hub.metrics.stream(standing)
        return web.Response(body=hub.metrics.text(hub.store), content_type="text/plain", charset="utf-8")

    async def openapi(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=description, content_type="application/json")

    async def readyz(request: web.Request) -> web.StreamResponse:
        why = await health.reasons(hub.ledger, hub.config.data, hub.config.least_free_bytes)
        if not why:
            return json_answer({"status": "ok"})
        reasons = {"why": why} if _asks_as_owner(hub, request) else {}
        return json_answer({"status": "not_ready", **reasons}, 503)

    base = "/v1/groups/{group_id}/blobs"
    app.router.add_get("/healthz", _healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get(hub_proof.PATH, partial(proof.prove, hub))
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/v1/openapi.json", openapi)
    app.router.add_post(base, partial(blobs.upload, hub))
    app.router.add_get(base + "/{path:.+}", partial(blobs.fetch, hub))
    app.router.add_get("/v1/ws", partial(websocket.serve, hub))
    app.router.add_get("/c2a", partial(c2a.serve, hub))
    app.router.add_post("/c2a", partial(c2a.one_request, hub))
    app.router.add_post("/mcp", McpDoor(hub).serve)
    app.router.add_post("/v1/redeem", partial(redeem, hub))
    app.router.add_post("/v1/sign-in", partial(sign_in, hub))
    app.router.add_get("/", front_page)
    app.router.add_get("/assets/{name}", asset)
    return app


def _asks_as_owner(hub: RunningHub, request: web.Request) -> bool:
    """Whether the owner asks; a probe that shows no token is no failed sign-in of its address."""
    if hdrs.AUTHORIZATION not in request.headers and not hub.config.local_trust:
        return False
    try:
        return credential_of(hub, request).is_owner
    except TacitError:
        return False


def _events(
    hub: RunningHub, page: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        if "text/event-stream" in request.headers.get(hdrs.ACCEPT, ""):
            return await sse.stream(hub, request)
        return await page(request)

    return handle


def _tls(config: HubConfig) -> ssl.SSLContext | None:
    if config.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(config.tls_cert, config.tls_key)
    except OSError:  # an SSLError is one
        raise Refused("bad_tls", "--tls-cert and --tls-key are no certificate with its key (PEM)") from None
    return context


class Server:
    """A hub that listens."""

    def __init__(self, config: HubConfig, options: StoreOptions | None = None) -> None:
        self.config = config
        self.hub = RunningHub(config, options)
        opened = self.hub.store.options
        self._backups = Backups(config.data, config.backups, opened.clock, opened.entropy, self.hub.clock)
        self._runner: Runner | None = None
        self._stopped = False
        self.port = config.port

    async def start(self) -> None:
        """Open the store, then the doors: nobody is let in before the ledger is ready."""
        context = _tls(self.config)
        await self.hub.open()
        try:
            await self._open_doors(context)
        except BaseException:
            await self.stop()
            raise

    async def _open_doors(self, context: ssl.SSLContext | None) -> None:
        self._runner = Runner(
            application(self.hub),
            unreadable,
            self.config.limits.sockets,
            access_log=None,
            shutdown_timeout=SHUTDOWN_SECONDS,
        )
        self.hub.metrics.watch(self._runner.connections)
        await self._runner.setup()
        await self._listen(self._runner, context)
        if self.config.crew:
            await self.hub.crew.open(await self._way_for_crew(self._runner))
        self.hub.agent.open()
        self._backups.open()

    async def _listen(self, runner: Runner, context: ssl.SSLContext | None) -> None:
        config = self.config
        site = ListeningSite(runner, config.host, config.port, context=context)
        try:
            await site.start()
        except OSError as error:
            raise Unavailable(f"cannot listen on {config.host}:{config.port}: {error.strerror}") from None
        server = cast("asyncio.Server", site._server)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        self.port = server.sockets[0].getsockname()[1]
        self._note_address()
        if config.socket is not None:
            try:
                await web.UnixSite(runner, str(config.socket)).start()
            except OSError as error:
                raise Unavailable(f"cannot listen on {config.socket}: {error.strerror}") from None

    def _note_address(self) -> None:
        """Say in the data folder where this hub is: programs of this account look there, and nowhere else."""
        address = {"url": self._url_here, "public_url": self.config.public_url.rstrip("/")}
        write_private(self.config.data / hub_proof.ADDRESS_FILE, msgspec.json.encode(address))

    @property
    def _url_here(self) -> str:
        """Where programs of this machine reach the hub, also one that listens at all addresses."""
        return self.url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

    async def _way_for_crew(self, runner: Runner) -> str:
        """Where the crew reaches the hub: plainly and on this machine, whatever the hub shows to others."""
        if self.config.is_loopback and self.config.tls_cert is None:
            return self.url
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server = cast("asyncio.Server", site._server)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    @property
    def url(self) -> str:
        """Where the hub can be reached, on this machine or by the certificate that it has."""
        scheme = "https" if self.config.tls_cert is not None else "http"
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        return f"{scheme}://{host}:{self.port}"

    def new_link(self) -> str:
        """A sign-in link for the owner, good once and for a short while."""
        maker = self.hub.registry.find(self.hub.owner_token)
        until = asyncio.get_running_loop().time() + 60 * OWNERS_MINUTES
        code = self.hub.links.make(USER, None, maker=maker.token_id if maker else "", until=until)
        return f"{self.config.public_url.rstrip('/') or self.url}{MARK}{code}"

    async def stop(self) -> None:
        """Take nothing more, tell followers where to resume, finish every commit, close the doors."""
        if self._stopped:
            return
        self._stopped = True
        await asyncio.gather(self.hub.crew.close(), self.hub.agent.close(), self._backups.close())
        self.hub.ledger.close()
        await self.hub.ledger.settled()
        await self.hub.give_way()
        self.hub.live.close()
        for leave in list(self.hub.on_stop):
            leave()
        self.hub.stop_reading()
        if self._runner is not None:
            await self._runner.cleanup()
        await self.hub.close()

    async def run(
        self,
        ready: Callable[[Server], None],
        beside: Callable[[Server], Awaitable[Callable[[], Awaitable[None]]]] | None = None,
    ) -> None:
        """Serve until SIGINT or SIGTERM; `beside` starts guests and gives what ends them first."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(name, stop.set)
        await self.start()
        end: Callable[[], Awaitable[None]] | None = None
        try:
            end = await beside(self) if beside is not None else None
            ready(self)
            await stop.wait()
        finally:
            if end is not None:
                await end()
            await self.stop()
