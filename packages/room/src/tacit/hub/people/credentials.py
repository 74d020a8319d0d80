"""Credentials: who a token speaks for (CCCS-005, CCCS-041, CCCS-042). Stored hashed, shown once, revocable.

A token is 256 random bits, so a plain sha256 is as good as it gets. An actor's or person's token is bound to
its group; the owner's and a service's are not. What a sign-in link made is a browser's (`browsers`).

Browsers: the tokens that sign-in links made, one for each browser (CCCS-041, CCCS-042).

Nobody wrote such a token down, so it ends where its person would expect: by signing out in that browser, by
the owner who sees all of them, and by itself when nobody has used it for `IDLE`. A use is noted once a day at
most. Tokens that were shown to somebody (an agent's, a service's, the owner's own file) are none of these.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.moment import SECOND, Moment
from tacit.ledger.codes import denied
from tacit.ledger.commands import IssueCredential, RevokeCredential, UseCredential
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    import apsw

    from tacit.base.io.time_service import TimeService
    from tacit.base.moment import ConfirmedTime
    from tacit.base.ports import Entropy
    from tacit.hub.store.async_ledger import AsyncLedger


T = TypeVar("T")
PREFIX: Final = "tct_"
LOCAL: Final = "local"
"""The token id of a caller who is taken at its word (local trust)."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What a token proves."""

    token_id: str
    principal: str
    group_id: str | None = None
    groups: frozenset[str] | None = None
    is_browser: bool = False
    """Made by a sign-in link."""

    @property
    def is_owner(self) -> bool:
        """The owner's own token."""
        return self.principal == USER

    def require_group(self, group_id: str) -> None:
        """Refuse a group that this credential has no part in, whether it exists or not."""
        if self.group_id is not None and self.group_id != group_id:
            raise denied("this credential belongs to another group", "CCCS-042")
        if self.groups is not None and group_id not in self.groups:
            raise denied("this service has no part in this group", "CCCS-042")

    def require_owner(self) -> None:
        """Refuse everyone but the owner."""
        if not self.is_owner:
            raise denied("only the owner may do this", "CCCS-045")

    @property
    def is_owners_token(self) -> bool:
        """The owner's own token, and not merely a caller's word for it."""
        return self.is_owner and self.token_id != LOCAL

    def require_owners_token(self) -> None:
        """Refuse everyone but the owner, and under local trust everyone who only says so."""
        self.require_owner()
        if self.token_id == LOCAL:
            raise denied("under local trust nobody is known to be the owner", "CCCS-045")


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token, in clear for the only time."""

    token: str = field(repr=False)
    credential: Credential

    @property
    def record(self) -> IssueCredential:
        """What is kept of it: its hash, and whom it speaks for."""
        who = self.credential
        groups = tuple(sorted(who.groups)) if who.groups is not None else None
        return IssueCredential(
            digest(self.token), who.token_id, who.principal, who.group_id, groups, who.is_browser
        )


def digest(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_token(entropy: Entropy) -> str:
    """A fresh token."""
    return PREFIX + base64.urlsafe_b64encode(entropy.draw(32)).decode().rstrip("=")


class Browser(NamedTuple):
    """A browser's token: when a link made it, and when it was used last, to a day."""

    credential: Credential
    created: Moment
    used: Moment


class StoredCredentials(NamedTuple):
    """What the ledger has of credentials: the live ones by their hash; of these the browsers' by their id."""

    live: dict[bytes, Credential]
    browsers: dict[str, Browser]


def stored(connection: apsw.Connection) -> StoredCredentials:
    """Read it, on a reader's connection; tokens of removed actors are dead."""
    rows = connection.execute(
        "SELECT c.token_hash, c.token_id, c.principal, c.group_id, s.groups, c.browser, c.created, "
        "coalesce(c.used, c.created) FROM credentials c "
        "LEFT JOIN services s ON s.name=c.principal LEFT JOIN groups g ON g.group_id=c.group_id "
        "LEFT JOIN actors a ON a.group_no=g.number AND a.actor_id=c.principal "
        "WHERE c.revoked IS NULL AND a.removed IS NULL"
    )
    found = StoredCredentials({}, {})
    for token_hash, token_id, principal, group_id, groups, browser, created, used in rows:
        allowed = frozenset(json.loads(groups)) if groups else None
        credential = Credential(token_id, principal, group_id, allowed, bool(browser))
        found.live[bytes(token_hash)] = credential
        if browser:
            found.browsers[token_id] = Browser(credential, Moment(created), Moment(used))
    return found


class Registry:
    """All live credentials, held in memory and kept in the store. Lives on the loop's thread.

    They are read again when another node has changed them. What is let in or dropped here while that goes on
    is done once more to what was read: the reader may have looked before. Nobody is turned away meanwhile.
    """

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._live: dict[bytes, Credential] = {}
        self._browsers: dict[str, Browser] = {}
        self._loading = asyncio.Lock()
        self._meanwhile: list[Callable[[], object]] = []

    async def load(self, read: Callable[[], Awaitable[StoredCredentials]]) -> frozenset[str]:
        """Take what is stored; returns the ids that died. One at a time: the last that looks is right."""
        async with self._loading:
            before = self.ids()
            self._meanwhile.clear()
            found = await read()
            self._live, self._browsers = found
            meanwhile, self._meanwhile = self._meanwhile, []
            for again in meanwhile:
                again()
            return before - self.ids()

    def find(self, token: str) -> Credential | None:
        """The credential behind a token; None when it proves nothing."""
        return self._live.get(digest(token))

    def prepare(
        self,
        principal: str,
        group_id: str | None = None,
        groups: Iterable[str] | None = None,
        *,
        is_browser: bool = False,
    ) -> Issued:
        """A new token that is not stored yet."""
        token = new_token(self._entropy)
        token_id = "tok_" + self._entropy.draw(6).hex()
        allowed = frozenset(groups) if groups is not None else None
        return Issued(token, Credential(token_id, principal, group_id, allowed, is_browser))

    def admit(self, issued: Issued, now: Moment) -> None:
        """Let a stored token in."""

        def let_in() -> None:
            self._live[digest(issued.token)] = issued.credential
            if issued.credential.is_browser:
                self._browsers[issued.credential.token_id] = Browser(issued.credential, now, now)

        self._do(let_in)

    def _do(self, change: Callable[[], T]) -> T:
        if self._loading.locked():
            self._meanwhile.append(change)
        return change()

    def browsers(self) -> list[Browser]:
        """The live tokens that sign-in links made."""
        return list(self._browsers.values())

    def used(self, token_id: str) -> Moment | None:
        """When a browser's token was used last, as far as it was noted; None when it is no live one."""
        found = self._browsers.get(token_id)
        return found.used if found is not None else None

    def note(self, token_id: str, now: Moment) -> None:
        """A browser's token is used."""
        self._browsers[token_id] = self._browsers[token_id]._replace(used=now)

    def drop(self, *, token_id: str | None = None, actor: tuple[str, str] | None = None) -> list[str]:
        """Forget revoked tokens, or all of one (group, actor); returns the ids that died."""

        def let_go() -> list[str]:
            dead = [
                key
                for key, credential in self._live.items()
                if credential.token_id == token_id
                or (actor is not None and (credential.group_id, credential.principal) == actor)
            ]
            ended = [self._live.pop(key).token_id for key in dead]
            for one in ended:
                self._browsers.pop(one, None)
            return ended

        return self._do(let_go)

    def ids(self) -> frozenset[str]:
        """The public ids of every live token."""
        return frozenset(one.token_id for one in self._live.values())

    def of_owner(self) -> list[str]:
        """The token ids of the owner that no sign-in link made."""
        return [one.token_id for one in self._live.values() if one.is_owner and not one.is_browser]

    def of(self, group_id: str, principal: str) -> list[str]:
        """The token ids of one principal in a group."""
        return [
            credential.token_id
            for credential in self._live.values()
            if credential.principal == principal and credential.group_id in {group_id, None}
        ]


DAY: Final = 24 * 3_600 * SECOND
IDLE: Final = 30 * DAY
"""After so long without use a browser's token is worth nothing."""


def is_idle(used: Moment, confirmed: ConfirmedTime) -> bool:
    """Has nobody used it for too long?"""
    return confirmed - used > IDLE


def wants_noting(used: Moment, now: Moment) -> bool:
    """Is what is known of its last use so old that this one should be written down?"""
    return now - used >= DAY


class Browsers:
    """The browsers of one hub: a use of their tokens is noted, and an idle one ends."""

    def __init__(
        self,
        registry: Registry,
        ledger: AsyncLedger,
        clock: TimeService,
        spawn: Callable[[Coroutine[Any, Any, None]], None],
        drop_tokens: Callable[..., None],
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._clock = clock
        self._spawn = spawn
        self._drop_tokens = drop_tokens

    def known(self, token: str) -> Credential | None:
        """Who a token speaks for; nobody when it is a browser's that was left alone for too long."""
        credential = self._registry.find(token)
        return credential if credential is None or self.in_use(credential) else None

    def in_use(self, credential: Credential) -> bool:
        """Note that a browser's token is used; False, and it ends, when it was left alone for too long."""
        if not credential.is_browser:
            return True
        now = self._clock.now()
        used = self._registry.used(credential.token_id)
        if used is None:
            return False
        if is_idle(used, self._clock.confirmed()):
            self._spawn(_beside(self._revoke(credential.token_id)))
            self._drop_tokens(token_id=credential.token_id)
            return False
        if wants_noting(used, now):
            self._registry.note(credential.token_id, now)
            self._spawn(_beside(self._ledger.record(UseCredential(credential.token_id))))
        return True

    async def end_idle(self) -> None:
        """End what nobody used for too long."""
        confirmed = self._clock.confirmed()
        for credential, _created, used in self._registry.browsers():
            if is_idle(used, confirmed):
                await self.end(credential.token_id)

    async def end(self, token_id: str) -> None:
        """Nobody comes in by this token any more."""
        await self._revoke(token_id)
        self._drop_tokens(token_id=token_id)

    async def _revoke(self, token_id: str) -> None:
        try:
            await self._ledger.record(RevokeCredential(token_id))
        except Refused as refused:
            if refused.details.get("reason") != "no_token":  # else somebody ended it meanwhile
                raise


async def _beside(work: Awaitable[object]) -> None:
    """What is not written now, for want of a ledger, the next use or start finds again."""
    with suppress(Unavailable, Corrupt):
        await work
