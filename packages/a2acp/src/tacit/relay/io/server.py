"""One process for HTTP and WebSocket: puts the parts together, opens the port, keeps the house.

A2ACP-001, A2ACP-208, A2ACP-222.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import aiohttp
from aiohttp import web

from tacit.base.callers import SocketLimits
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.http_runner import ListeningSite, Runner, through_proxies
from tacit.base.io.public_sockets import public_sockets
from tacit.base.moment import SECOND
from tacit.relay.io import registry
from tacit.relay.io.accounts_http import Accounts
from tacit.relay.io.federation_http import Federation
from tacit.relay.io.following import Following
from tacit.relay.io.guest_http import GuestHttp
from tacit.relay.io.mailboxes import Mailboxes
from tacit.relay.io.metrics_token import kept_token
from tacit.relay.io.public_http import PublicHttp
from tacit.relay.io.replies import errors_as_json, unreadable
from tacit.relay.io.store import RelayStore, follows_stream
from tacit.relay.io.upkeep import close_silent
from tacit.relay.io.websocket import WebSocketEndpoint
from tacit.relay.settings import HOUR, RelayLimits
from tacit.wire import http_date

if TYPE_CHECKING:
    import ssl
    from pathlib import Path

    from tacit.base.ports import Clock, Entropy
    from tacit.base.public_addresses import Network
    from tacit.relay.ports import Mailer, PasskeyCeremonies, Signatures

_log: Final = logging.getLogger("tacit.relay")
_SWEEP_SECONDS: Final = 1.0
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1"})
_LOOPBACK: Final = ("127.0.0.0/8", "::1")
_SOCKETS: Final = SocketLimits(
    guest_seconds=40.0, guest_request_seconds=90.0, idle_seconds=40.0, connections_per_credential=1_000_000
)
"""A guest's request has a patience of its own here (`replies`), which ends first and says so; agents'
connections are counted by their source, in the mailboxes."""


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """How one relay is run."""

    data: Path
    domain: str
    host: str = "127.0.0.1"
    port: int = 7434
    base_url: str = ""
    limits: RelayLimits = field(default_factory=RelayLimits)
    open_federation: bool = False
    federation_networks: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    tls: ssl.SSLContext | None = None
    trust: ssl.SSLContext | None = None
    scheme: str = "https"
    vfs: str | None = None

    @property
    def public_url(self) -> str:
        """Where others reach this relay."""
        return self.base_url or f"{self.scheme}://{self.domain}"

    @property
    def reachable_networks(self) -> tuple[Network, ...]:
        """Where other relays may be besides public addresses.

        A relay whose own name is this machine's meets others of this machine, and nobody from elsewhere meets
        it. Where it listens says nothing: behind a proxy that is loopback as well.
        """
        local = self.domain.partition(":")[0] in _THIS_MACHINE
        listed = (*self.federation_networks, *(_LOOPBACK if local else ()))
        return tuple(ipaddress.ip_network(network) for network in listed)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a relay is handed from outside."""

    clock: Clock
    entropy: Entropy
    signatures: Signatures
    passkeys: PasskeyCeremonies
    mailer: Mailer


class RelayServer:
    """A running relay."""

    def __init__(self, settings: RelaySettings, parts: Parts, store: RelayStore | None = None) -> None:
        """With the folder as the whole of it, or with a store that others share."""
        self._given = store
        self._settings = settings
        self._parts = parts
        self.port: int
        self.failed = asyncio.Event()
        self.mailboxes: Mailboxes

    async def start(self) -> None:
        """Open the file, then the port."""
        settings, parts = self._settings, self._parts
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A store that is given holds its folder itself.
        self._lock = FolderLock(settings.data, purpose="tacit relay") if self._given is None else None
        self._store = self._given or self._own_store()
        self._store.start()
        fresh = parts.entropy.draw(32)
        key = await self._store.write(lambda file: registry.secret(file, "correspondence", fresh))
        self.mailboxes = Mailboxes(
            domain=settings.domain,
            relay_store=self._store,
            signatures=parts.signatures,
            clock=parts.clock,
            entropy=parts.entropy,
            limits=settings.limits,
            correspondence_key=key,
            open_federation=settings.open_federation,
        )
        self._store.ask_time(self.mailboxes.clock.witness)
        connector = aiohttp.TCPConnector(
            ssl=settings.trust if settings.trust is not None else True,
            socket_factory=public_sockets(settings.reachable_networks),
        )
        self._http = aiohttp.ClientSession(connector=connector)
        self._federation = Federation(self.mailboxes, self._http, scheme=settings.scheme)
        self.mailboxes.forwarder = self._federation
        self._store.follow(Following(self.mailboxes, self._federation.wake).follow)
        pepper_seed = parts.entropy.draw(32)
        pepper = await self._store.write(lambda file: registry.secret(file, "pepper", pepper_seed))
        self._runner = Runner(
            self._app(pepper),
            unreadable,
            _SOCKETS,
            lambda: parts.clock.now() / SECOND,
            access_log=None,
            handle_signals=False,
            shutdown_timeout=1.0,
        )
        await self._runner.setup()
        await self._listen()
        self._on_duty = False
        await self._mind_duty()
        self._keeping = self.mailboxes.spawn(self._keep_house())
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())
        _log.info("relay for %s listens on port %s", settings.domain, self.port)

    def _own_store(self) -> RelayStore:
        data = self._settings.data
        if follows_stream(data):
            raise Refused("on_stream", "what this folder holds is a node's copy of streams: give --nats")
        return RelayStore(data, now=self._parts.clock.now(), vfs=self._settings.vfs)

    def _app(self, pepper: bytes) -> web.Application:
        settings, parts = self._settings, self._parts
        steps = [through_proxies(settings.trusted_proxies), errors_as_json]
        app = web.Application(middlewares=steps, client_max_size=256 * 1024)
        app.on_response_prepare.append(self._say_time)
        app.router.add_get("/a2acp", WebSocketEndpoint(self.mailboxes).serve)
        app.add_routes(
            PublicHttp(
                self.mailboxes,
                self._federation,
                base_url=settings.public_url,
                metrics_token=kept_token(settings.data, parts.entropy),
            ).routes()
        )
        app.add_routes(GuestHttp(self.mailboxes).routes())
        app.add_routes(
            Accounts(
                self.mailboxes,
                parts.passkeys,
                parts.mailer,
                pepper=pepper,
                secure_cookie=settings.scheme == "https",
            ).routes()
        )
        return app

    async def _say_time(self, _request: web.Request, response: web.StreamResponse) -> None:
        """A request may be refused for its time: who asked can make it anew by ours."""
        if response.status >= 400:
            response.headers[http_date.HEADER] = http_date.http_date(self.mailboxes.clock.now())

    async def _listen(self) -> None:
        settings = self._settings
        site = ListeningSite(self._runner, settings.host, settings.port, context=settings.tls, backlog=1024)
        try:
            await site.start()
        except OSError as error:
            raise Unavailable(f"cannot listen on {settings.host}:{settings.port}: {error.strerror}") from None
        self.port = int(self._runner.addresses[0][1])

    async def _sweep(self) -> None:
        mailboxes, next_hour = self.mailboxes, 0
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = self._parts.clock.now()
            if self._store.died:
                _log.critical("the store's writer has died; stopping, nothing more is accepted")
                self.failed.set()
                return
            close_silent(mailboxes, now)
            await self._save_steps()
            mailboxes.reload_if_changed()
            await self._mind_duty()
            if self._keeping.done():
                self._keeping = mailboxes.spawn(self._keep_house())
            # A clock that was set back is no reason to wait until it has caught up.
            if not next_hour - HOUR <= now < next_hour and self._store.is_on_duty:
                next_hour = now + HOUR
                if news := mailboxes.clock.news():
                    _log.warning("%s", news)
                try:
                    await mailboxes.expire()
                    await self._save_reputation()
                except Unavailable:
                    _log.warning("housekeeping must wait: the file cannot be written")

    async def _mind_duty(self) -> None:
        """Carry packets to other relays while this node is the one that does."""
        was, self._on_duty = self._on_duty, self._store.is_on_duty
        if self._on_duty and not was:
            self._federation.start()
        elif was and not self._on_duty:
            await self._federation.rest()

    async def _keep_house(self) -> None:
        try:
            await self._store.keep_house()
        except Unavailable:
            _log.warning("the store's upkeep must wait: the servers do not answer")

    async def _save_reputation(self) -> None:
        if self._store.is_shared:
            await self._share_reputation()
            return
        scores = list(self.mailboxes.reputation.dump().items())

        def keep(file: Any) -> None:
            file.execute("DELETE FROM standing")
            file.executemany("INSERT INTO standing VALUES (?,?)", scores)

        await self._store.write(keep)

    async def _share_reputation(self) -> None:
        """Keep by how much scores have moved here: other nodes keep theirs in the same place."""
        reputation = self.mailboxes.reputation
        moved = reputation.moved()
        for sender, score in (
            await self._store.write(lambda file: registry.move_reputations(file, moved))
        ).items():
            reputation.kept(sender, score, by=moved[sender])

    async def _save_steps(self) -> None:
        try:
            await self.mailboxes.steps.write()
        except Unavailable:
            _log.warning("how far agents have come must wait: the file cannot be written")

    async def stop(self) -> None:
        """Close the port, finish what was begun, close the file."""
        self._sweeper.cancel()
        await asyncio.gather(self._sweeper, return_exceptions=True)
        # Before anyone hurries to another node.
        await self._save_steps()
        for connection in list(self.mailboxes.all):
            connection.close(1001)
        await self._runner.cleanup()
        await self._federation.close()
        await self._http.close()
        await self.mailboxes.settle()
        await self._save_steps()
        try:
            await self._save_reputation()
        except Unavailable:
            _log.warning("scores could not be kept: the file cannot be written")
        await self._store.close()
        if self._lock is not None:
            self._lock.release()
