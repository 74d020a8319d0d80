"""Who is signed in: sessions of people, by a strict cookie and in memory only (A2ACP-011, A2ACP-014).

A session ends with its time, with its owner's word, with the passkey that opened it, and with the operator's
word, which is written down: sessions that began before it are worth nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from tacit.base.callers import Bound
from tacit.base.errors import Refused
from tacit.relay.accounts import AccountSession
from tacit.relay.io import registry
from tacit.relay.io.replies import json_reply
from tacit.relay.short_lived import ShortLived
from tacit.wire.address import Address
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from aiohttp import web

    from tacit.base.moment import Moment
    from tacit.relay.io.mailboxes import Mailboxes

COOKIE: Final = "tacit_relay_session"


class AccountSessions:
    """The signed-in people of one relay."""

    def __init__(self, mailboxes: Mailboxes, *, secure_cookie: bool) -> None:
        self._mailboxes = mailboxes
        self._secure = secure_cookie
        self._sessions: ShortLived[AccountSession] = ShortLived()

    def begin(
        self,
        account: int,
        username: str,
        now: Moment,
        status: int = 200,
        *,
        passkey: bytes = b"",
        recovered: bool = False,
    ) -> web.Response:
        """Sign somebody in; the answer carries the cookie."""
        token = b64(self._mailboxes.entropy.draw(24))
        valid = self._mailboxes.limits.session_valid
        self._sessions.put(
            token,
            AccountSession(
                account=account,
                username=username,
                expires=cast("Moment", now + valid),
                begun=now,
                passkey=passkey,
                recovered=recovered,
            ),
            (Bound(str(account), 1.0),),
            now,
        )
        reply = json_reply({"address": str(Address(username, self._mailboxes.domain))}, status)
        reply.set_cookie(
            COOKIE,
            token,
            httponly=True,
            samesite="Strict",
            secure=self._secure,
            path="/v1",
            max_age=valid // 10**6,
        )
        return reply

    def of(self, request: web.Request, now: Moment) -> AccountSession:
        """The session of whoever asks; `Refused` without one that holds."""
        session = self._sessions.get(request.cookies.get(COOKIE, ""), now)
        if session is None or not self._holds(session):
            raise Refused("not_signed_in", "sign in with your passkey first", row="A2ACP-014")
        return session

    def _holds(self, session: AccountSession) -> bool:
        reader = self._mailboxes.store.reader
        if session.begun <= registry.sessions_ended(reader, session.account):
            return False
        if registry.account_of(reader, session.username) is None:
            return False
        return not session.passkey or registry.passkey(reader, session.passkey) is not None

    def open(self, account: int, now: Moment) -> list[AccountSession]:
        """An account's sessions that hold."""
        return [session for session in self._sessions.of_account(account, now) if self._holds(session)]

    def end(self, session: AccountSession) -> None:
        """Sign out."""
        self._sessions.drop_items(lambda other: other is session)

    def end_others(self, session: AccountSession) -> None:
        """End all of an account's sessions but one."""
        self._sessions.drop_items(lambda other: other.account == session.account and other is not session)

    def end_all(self, account: int) -> None:
        """End all of an account's sessions."""
        self._sessions.drop_account(account)
