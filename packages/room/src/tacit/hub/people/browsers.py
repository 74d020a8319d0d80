"""Browsers: the tokens that sign-in links made, one for each browser (CCCS-041, CCCS-042).

Nobody wrote such a token down, so it ends where its person would expect: by signing out in that browser, by
the owner who sees all of them, and by itself when nobody has used it for `IDLE`. A use is noted once a day at
most. Tokens that were shown to somebody (an agent's, a service's, the owner's own file) are none of these.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.moment import SECOND
from tacit.ledger.commands import RevokeCredential, UseCredential

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from tacit.base.io.time_service import TimeService
    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.hub.people.credentials import Credential, Registry
    from tacit.hub.store.async_ledger import AsyncLedger

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
