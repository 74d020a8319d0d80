"""What anyone may ask: the relay's card, an agent's keys by exact address, health, numbers.

A2ACP-020, A2ACP-021, A2ACP-255.

No endpoint lists, searches or completes names. Lookups are counted per caller; all misses look alike.
"""

from __future__ import annotations

import asyncio
from importlib import resources
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from tacit.base.callers import bounds_of
from tacit.base.errors import Refused
from tacit.relay.federation import RelayCard
from tacit.relay.io import registry
from tacit.relay.io.metrics import CONTENT_TYPE, exposition
from tacit.relay.io.metrics_token import shows
from tacit.relay.io.prekey_requests import PrekeyIssuer
from tacit.relay.io.replies import bounded, json_reply
from tacit.relay.io.upkeep import gauges
from tacit.relay.rate import ConcurrencyLimit, PerMinute
from tacit.wire import records
from tacit.wire.encoding import UNREADABLE, b64

if TYPE_CHECKING:
    from tacit.relay.io.federation_http import Federation
    from tacit.relay.io.mailboxes import Mailboxes

_PAGES: Final = {
    "": ("join.html", "text/html"),
    "join.js": ("join.js", "text/javascript"),
    "join.css": ("join.css", "text/css"),
}
_MOST_DELIVERY: Final = 32 * 1024 * 1024
_MOST_QUESTION: Final = 4 * 1024
_READ_WITHIN: Final = 30.0
_DELIVERIES: Final = 8
_DELIVERIES_EACH: Final = 2


class PublicHttp:
    """The open endpoints of one relay."""

    def __init__(
        self, mailboxes: Mailboxes, federation: Federation, *, base_url: str, metrics_token: str
    ) -> None:
        self._mailboxes = mailboxes
        self._metrics_token = metrics_token
        self._federation = federation
        self._base = base_url
        limit = mailboxes.limits.lookups_per_minute
        self._lookups = PerMinute(limit, limit)
        self._prekeys = PrekeyIssuer(mailboxes, federation)
        self._deliveries = ConcurrencyLimit(most=_DELIVERIES, most_each=_DELIVERIES_EACH)

    def routes(self) -> list[web.RouteDef]:
        """Where each answer is."""
        return [
            web.get("/healthz", self.health),
            web.get("/metrics", self.metrics),
            web.get("/.well-known/a2acp", self.card),
            web.get("/v1/agents/{username}", self.lookup),
            web.post("/v1/agents/{username}/prekeys", self.prekeys),
            web.post("/v1/federation/packets", self.deliver),
            web.post("/v1/federation/agents", self.lookup_for_relay),
            web.get("/join", self.page),
            web.get("/join/{name}", self.page),
        ]

    async def health(self, _request: web.Request) -> web.Response:
        """Alive."""
        return json_reply({"status": "ok"})

    async def metrics(self, request: web.Request) -> web.Response:
        """Numbers for Prometheus, to whom the operator gave the token."""
        if not shows(request.headers.get("Authorization", ""), self._metrics_token):
            raise Refused("not_found", "nothing here")
        return web.Response(
            body=exposition(self._mailboxes.counts, lambda: gauges(self._mailboxes)),
            headers={"Content-Type": CONTENT_TYPE},
        )

    async def card(self, _request: web.Request) -> web.Response:
        """Who this relay is (A2ACP-255)."""
        websocket = self._base.replace("http", "ws", 1)
        return json_reply(
            RelayCard(
                domain=self._mailboxes.domain,
                relay_key=b64(self._mailboxes.signatures.relay_key),
                websocket=f"{websocket}/a2acp",
                agents=f"{self._base}/v1/agents/",
                deliver=f"{self._base}/v1/federation/packets",
                supported_versions=["0.1", "0.2"],
            )
        )

    def _count_lookup(self, request: web.Request) -> None:
        mailboxes = self._mailboxes
        mailboxes.counts.lookups += 1
        wait = self._lookups.take_each(mailboxes.sources_of(request.remote), mailboxes.clock.now())
        if wait:
            raise Refused("rate_limited", "too many lookups", row="A2ACP-021", details={"retry_after": wait})

    async def _agent(self, request: web.Request) -> registry.RegisteredAgent:
        agent = await self._mailboxes.find_agent(request.match_info["username"])
        if agent is None:
            raise Refused("not_found", "no such agent", row="A2ACP-021")
        return agent

    async def lookup(self, request: web.Request) -> web.Response:
        """An agent's key record, nothing else."""
        self._count_lookup(request)
        return web.Response(body=(await self._agent(request)).record, content_type="application/json")

    async def prekeys(self, request: web.Request) -> web.Response:
        """Record and prekeys, to whoever says who they are; a one-time prekey is handed out once."""
        self._count_lookup(request)
        agent = await self._agent(request)
        asked = records.read_prekey_request(await bounded(request.content, _MOST_QUESTION))
        signed, one_time, last = await self._prekeys.hand_out(agent, asked, bounds_of(request.remote))
        if one_time is None or registry.prekeys_left(self._mailboxes.store.reader, agent.account) < 20:
            self._mailboxes.prekeys_low(agent.account)
        bundle: dict[str, msgspec.Raw] = {"record": msgspec.Raw(agent.record)}
        for name, body in (("signed", signed), ("one_time", one_time), ("last_resort", last)):
            if body is not None:
                bundle[name] = msgspec.Raw(body)
        return json_reply(bundle)

    async def lookup_for_relay(self, request: web.Request) -> web.Response:
        """An agent's key record for another relay, which has a rate of its own (A2ACP-255)."""
        self._federation.admit(request.headers)
        body = await bounded(request.content, _MOST_QUESTION)
        await self._federation.speaker(
            url=f"{self._base}/v1/federation/agents",
            headers=request.headers,
            body=body,
            bounds=bounds_of(request.remote),
        )
        try:
            username = msgspec.json.decode(body, type=dict[str, str]).get("username", "")
        except UNREADABLE:
            raise Refused("bad_request", "name one agent", row="A2ACP-255") from None
        self._mailboxes.counts.lookups += 1
        agent = await self._mailboxes.find_agent(username)
        return web.Response(body=agent.record if agent else b"{}", content_type="application/json")

    async def deliver(self, request: web.Request) -> web.Response:
        """Packets from another relay.

        Who sends them is known when the body is there to be verified; until then only a few are let in.
        """
        self._federation.admit(request.headers)
        with self._deliveries.slot(self._mailboxes.sources_of(request.remote)):
            async with asyncio.timeout(_READ_WITHIN):
                body = await bounded(request.content, _MOST_DELIVERY)
            outcomes = await self._federation.receive(
                url=f"{self._base}/v1/federation/packets",
                headers=request.headers,
                body=body,
                bounds=bounds_of(request.remote),
            )
        return json_reply(outcomes)

    async def page(self, request: web.Request) -> web.Response:
        """The page on which a person makes an account."""
        name, kind = _PAGES.get(request.match_info.get("name", ""), ("", ""))
        if not name:
            raise Refused("not_found", "nothing here")
        text = (resources.files("tacit.relay.io") / "pages" / name).read_text("utf-8")
        return web.Response(text=text, content_type=kind)
