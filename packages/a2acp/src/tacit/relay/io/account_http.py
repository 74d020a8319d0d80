"""What a signed-in person sees and may end: passkeys, sessions, a recovery (A2ACP-011, A2ACP-014, A2ACP-019).

Whatever changes here is told to the account's agent, so that its owner hears of it though somebody else did
it. The last passkey stays: without one, only a recovery would lead back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from tacit.base.errors import Refused
from tacit.base.moment import Moment, rfc3339
from tacit.relay.io import registry
from tacit.relay.io.replies import json_reply
from tacit.wire import frames
from tacit.wire.address import Address
from tacit.wire.encoding import b64, unb64

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from tacit.relay.accounts import AccountSession
    from tacit.relay.io.account_sessions import AccountSessions
    from tacit.relay.io.mailboxes import Mailboxes


class AccountHttp:
    """The account of whoever is signed in."""

    def __init__(
        self,
        mailboxes: Mailboxes,
        sessions: AccountSessions,
        slow_down: Callable[[web.Request], Moment],
    ) -> None:
        self._mailboxes = mailboxes
        self._sessions = sessions
        self._slow_down = slow_down

    def routes(self) -> list[web.RouteDef]:
        """Where each is."""
        return [
            web.get("/v1/account", self.show),
            web.delete("/v1/account/passkeys/{id}", self.revoke_passkey),
            web.delete("/v1/account/recovery", self.cancel_recovery),
            web.delete("/v1/account/sessions", self.end_other_sessions),
            web.delete("/v1/account/session", self.sign_out),
        ]

    def _asked(self, request: web.Request) -> tuple[AccountSession, Moment]:
        now = self._slow_down(request)
        return self._sessions.of(request, now), now

    async def _tell(self, session: AccountSession, kind: str, now: Moment) -> None:
        spoken = str(Address(session.username, self._mailboxes.domain))
        await self._mailboxes.tell(spoken, frames.NoticeFrame(kind, rfc3339(now)))

    async def show(self, request: web.Request) -> web.Response:
        """Passkeys, sessions and a recovery that runs, of this account alone."""
        session, now = self._asked(request)
        reader = self._mailboxes.store.reader
        opens = registry.pending_code(reader, purpose="recovery", username=session.username, now=now)
        return json_reply(
            {
                "address": str(Address(session.username, self._mailboxes.domain)),
                "agent": self._mailboxes.agent(session.username) is not None,
                "passkeys": [
                    {**one.shown(), "present": one.credential_id == session.passkey}
                    for one in registry.passkeys(reader, session.account)
                ],
                "sessions": [
                    {
                        "began_at": rfc3339(one.begun),
                        "expires_at": rfc3339(one.expires),
                        "passkey": b64(one.passkey) or None,
                        "present": one is session,
                    }
                    for one in self._sessions.open(session.account, now)
                ],
                "recovery": {"opens_at": rfc3339(Moment(opens))} if opens is not None else None,
            }
        )

    async def revoke_passkey(self, request: web.Request) -> web.Response:
        """A passkey opens nothing any more, and the sessions that it opened are over."""
        session, now = self._asked(request)
        identifier = unb64(request.match_info["id"]) or b""

        def revoke(file: apsw.Connection) -> None:
            known = [one.credential_id for one in registry.passkeys(file, session.account)]
            if identifier not in known:
                raise Refused("not_found", "no such passkey", row="A2ACP-011")
            if len(known) == 1:
                raise Refused("last_passkey", "the last passkey stays; make another one first")
            registry.drop_passkey(file, session.account, identifier)

        await self._mailboxes.store.write(revoke)
        await self._tell(session, "passkey_revoked", now)
        return json_reply({"revoked": b64(identifier)})

    async def cancel_recovery(self, request: web.Request) -> web.Response:
        """The mailed code is worth nothing."""
        session, now = self._asked(request)
        if not await self._mailboxes.store.write(
            lambda file: registry.drop_codes(file, "recovery", session.username)
        ):
            raise Refused("not_found", "no recovery runs", row="A2ACP-019")
        await self._tell(session, "recovery_cancelled", now)
        return json_reply({"cancelled": True})

    async def end_other_sessions(self, request: web.Request) -> web.Response:
        """Whoever else is signed in to this account is not any more."""
        session, now = self._asked(request)
        before = len(self._sessions.open(session.account, now))
        self._sessions.end_others(session)
        return json_reply({"ended": before - 1})

    async def sign_out(self, request: web.Request) -> web.Response:
        """This session is over."""
        session, _ = self._asked(request)
        self._sessions.end(session)
        return json_reply({"signed_out": True})
