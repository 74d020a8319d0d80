"""Links for people without an agent: their page, and the doors for the agent that made one and for its guest.

A2ACP-276, A2ACP-277.

Before anybody is known only a bounded body is read, by few at once, and each source has a rate. The agent
signs each command with the key of its account; the guest shows the proof that goes with the whole link. The
page is the same for every link, known or not, and what it needs of the link stays behind the `#`, which no
browser sends.
"""

from __future__ import annotations

import asyncio
from importlib import resources
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from tacit.base.errors import Refused
from tacit.base.moment import rfc3339
from tacit.relay.io import guest_store
from tacit.relay.io.replies import bounded, json_reply
from tacit.relay.rate import ConcurrencyLimit, PerMinute
from tacit.relay.settings import DAY
from tacit.wire import address, codes, frames, guests
from tacit.wire.encoding import UNREADABLE, b64, unb64

if TYPE_CHECKING:
    from tacit.base.moment import Moment
    from tacit.relay.io.mailboxes import Mailboxes
    from tacit.relay.io.registry import RegisteredAgent

_FILES: Final = {"guest.js": "text/javascript", "guest.css": "text/css"}
_READ_WITHIN: Final = 20.0
_AT_ONCE: Final = 64
_AT_ONCE_EACH: Final = 4
_LONGEST_NONCE: Final = 64


class GuestHttp:
    """The doors of one relay for guests' links."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        self._mailboxes = mailboxes
        limit = mailboxes.limits.guest_requests_per_minute
        self._rate = PerMinute(limit, 2 * limit)
        self._reading = ConcurrencyLimit(most=_AT_ONCE, most_each=_AT_ONCE_EACH)

    def routes(self) -> list[web.RouteDef]:
        """Where each is."""
        return [
            web.get("/g/{guest}", self.page),
            web.get("/guest/{name}", self.file),
            web.post("/v1/guests", self.command),
            web.post("/v1/guests/{guest}/question", self.question),
            web.post("/v1/guests/{guest}/answers", self.answer),
        ]

    async def page(self, _request: web.Request) -> web.Response:
        """The page of every link: whether there is such a link is asked with its proof alone."""
        return web.Response(text=_text("guest.html"), content_type="text/html", headers=_UNLISTED)

    async def file(self, request: web.Request) -> web.Response:
        """The page's script and style."""
        name = request.match_info["name"]
        if name not in _FILES:
            raise Refused("not_found", "nothing here")
        return web.Response(text=_text(name), content_type=_FILES[name])

    # The agent's door.

    async def command(self, request: web.Request) -> web.Response:
        """Open, fetch or revoke: whatever the account's own agent has signed."""
        raw = await self._body(request, guests.LARGEST_COMMAND)
        command, now = guests.read_command(raw), self._mailboxes.clock.now()
        agent = await self._signer(command, now)
        store, limits = self._mailboxes.store, self._mailboxes.limits
        # An agent ends its link for good when it is told that it is over: not by a clock that leapt.
        confirmed = self._mailboxes.clock.confirmed()
        if command.do == guests.FETCH:
            standing = await store.write(
                lambda file: guest_store.fetch(file, agent.account, command, confirmed)
            )
        elif command.do == guests.REVOKE:
            standing = await store.write(
                lambda file: guest_store.revoke(file, agent.account, command, confirmed)
            )
        else:
            question, digest = _question(command, now)
            standing = await store.write(
                lambda file: guest_store.open_link(
                    file, agent.account, command, question, digest, now=now, limits=limits
                )
            )
        return json_reply(standing)

    async def _signer(self, command: guests.GuestCommand, now: Moment) -> RegisteredAgent:
        mailboxes = self._mailboxes
        timely = abs(now - command.at) <= mailboxes.limits.guest_command_valid
        try:
            who = address.parse(command.owner)
        except Refused:
            raise _not_known() from None
        agent = await mailboxes.find_agent(who.username) if who.domain == mailboxes.domain else None
        if agent is None or not timely or len(command.nonce) > _LONGEST_NONCE:
            raise _not_known()
        signed = guests.signed_bytes(mailboxes.domain, command)
        blocked = command.owner in mailboxes.blocked
        if blocked or not mailboxes.signatures.verify(agent.signing_key, signed, unb64(command.sig) or b""):
            raise _not_known()
        return agent

    # The guest's door.

    async def question(self, request: web.Request) -> web.Response:
        """The sealed question, to whoever has the whole link."""
        body = await self._submission(request)
        guest, proof = request.match_info["guest"], _proof(body)
        await self._mailboxes.store.fresh()
        found = guest_store.question(self._mailboxes.store.reader, guest, proof, self._mailboxes.clock.now())
        return json_reply({"question": b64(found)})

    async def answer(self, request: web.Request) -> web.Response:
        """Take a sealed answer, and tell the agent, if it is there, to fetch it."""
        body = await self._submission(request)
        guest, proof = request.match_info["guest"], _proof(body)
        sealed, now = unb64(body.get("answer", "")) or b"", self._mailboxes.clock.now()
        if not guests.fits(sealed, guests.LARGEST_ANSWER):
            raise Refused(codes.TOO_LARGE, "an answer is sealed and of bounded size", row="A2ACP-277")
        account, left, new = await self._mailboxes.store.write(
            lambda file: guest_store.answer(file, guest, proof, sealed, now)
        )
        connection = self._mailboxes.connected.get(account)
        if new and connection is not None:
            connection.say(frames.NoticeFrame(frames.GUEST_ANSWERED, rfc3339(now)))
        return json_reply({"left": left})

    async def _submission(self, request: web.Request) -> dict[str, str]:
        # Only JSON, so that no other site's form can send it.
        if request.content_type != "application/json":
            raise Refused("bad_request", "send application/json")
        if not guests.is_guest_id(request.match_info["guest"]):
            raise guest_store.gone()
        raw = await self._body(request, guests.LARGEST_SUBMISSION)
        try:
            return msgspec.json.decode(raw, type=dict[str, str])
        except UNREADABLE:
            raise Refused("bad_request", "send a JSON object of texts") from None

    async def _body(self, request: web.Request, most: int) -> bytes:
        mailboxes = self._mailboxes
        sources = mailboxes.sources_of(request.remote)
        wait = self._rate.take_each(sources, mailboxes.clock.now())
        if wait:
            raise Refused("rate_limited", "too many requests", row="A2ACP-277", details={"retry_after": wait})
        with self._reading.slot(sources):
            async with asyncio.timeout(_READ_WITHIN):
                return await bounded(request.content, most)


_UNLISTED: Final = {"X-Robots-Tag": "noindex, nofollow"}


def _text(name: str) -> str:
    return (resources.files("tacit.relay.io") / "pages" / name).read_text("utf-8")


def _question(command: guests.GuestCommand, now: Moment) -> tuple[bytes, bytes]:
    question, digest = unb64(command.question) or b"", unb64(command.proof_digest) or b""
    if not guests.fits(question, guests.LARGEST_QUESTION) or len(digest) != guests.PROOF_BYTES:
        raise Refused(codes.TOO_LARGE, "a question is sealed and of bounded size", row="A2ACP-276")
    if not now < command.until <= now + guests.LONGEST_DAYS * DAY:
        raise Refused("bad_request", "a link lasts at most seven days", row="A2ACP-277")
    return question, digest


def _proof(body: dict[str, str]) -> bytes:
    found = unb64(body.get("proof", "")) or b""
    if len(found) != guests.PROOF_BYTES:
        raise guest_store.gone()
    return found


def _not_known() -> Refused:
    return Refused(codes.BAD_SIGNATURE, "links are made by agents of this relay, signed", row="A2ACP-276")
