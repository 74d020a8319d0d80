"""Browsers: the tokens that sign-in links made, one for each browser (CCCS-041, CCCS-042).

Nobody wrote such a token down, so it ends where its person would expect: by signing out in that browser, by
the owner who sees all of them, and by itself when nobody has used it for `IDLE`. A use is noted once a day at
most. Tokens that were shown to somebody (an agent's, a service's, the owner's own file) are none of these.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.moment import SECOND, rfc3339
from tacit.ledger.commands import RevokeCredential, UseCredential

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tacit.base.moment import ConfirmedTime, Moment
    from tacit.hub.hub import Hub
    from tacit.hub.operations.requests import Nothing
    from tacit.hub.people.credentials import Credential

DAY: Final = 24 * 3_600 * SECOND
IDLE: Final = 30 * DAY
"""After so long without use a browser's token is worth nothing."""


def is_idle(used: Moment, confirmed: ConfirmedTime) -> bool:
    """Has nobody used it for too long?"""
    return confirmed - used > IDLE


def wants_noting(used: Moment, now: Moment) -> bool:
    """Is what is known of its last use so old that this one should be written down?"""
    return now - used >= DAY


def known(hub: Hub, token: str) -> Credential | None:
    """Who a token speaks for; nobody when it is a browser's that was left alone for too long."""
    credential = hub.registry.find(token)
    return credential if credential is None or in_use(hub, credential) else None


def in_use(hub: Hub, credential: Credential) -> bool:
    """Note that a browser's token is used; False, and it ends, when it was left alone for too long."""
    if not credential.is_browser:
        return True
    now = hub.store.options.clock.now()
    used = hub.registry.used(credential.token_id)
    if used is None:
        return False
    if is_idle(used, hub.clock.confirmed()):
        hub.host.spawn(_beside(_end(hub, credential.token_id)))
        hub.drop_tokens(token_id=credential.token_id)
        return False
    if wants_noting(used, now):
        hub.registry.note(credential.token_id, now)
        hub.host.spawn(_beside(hub.ledger.record(UseCredential(credential.token_id))))
    return True


async def end_idle(hub: Hub) -> None:
    """End what nobody used for too long."""
    confirmed = hub.clock.confirmed()
    for credential, _created, used in hub.registry.browsers():
        if is_idle(used, confirmed):
            await _end(hub, credential.token_id)
            hub.drop_tokens(token_id=credential.token_id)


async def _end(hub: Hub, token_id: str) -> None:
    try:
        await hub.ledger.record(RevokeCredential(token_id))
    except Refused as refused:
        if refused.details.get("reason") != "no_token":  # else somebody ended it meanwhile
            raise


async def _beside(work: Awaitable[object]) -> None:
    """What is not written now, for want of a ledger, the next use or start finds again."""
    with suppress(Unavailable, Corrupt):
        await work


async def sign_out(hub: Hub, credential: Credential, _request: Nothing) -> object:
    """End the token that asks, if a sign-in link made it; any other is kept, as it was given to be kept."""
    if not credential.is_browser:
        return {"revoked": False}
    await _end(hub, credential.token_id)
    hub.drop_tokens(token_id=credential.token_id)
    return {"revoked": True}


async def list_browsers(hub: Hub, credential: Credential, _request: Nothing) -> object:
    """Every browser that a sign-in link let in: whose it is, since when, and when it was used last."""
    credential.require_owner()
    await end_idle(hub)
    newest = sorted(hub.registry.browsers(), key=lambda one: -one.used)
    return {
        "browsers": [
            {
                "token_id": one.credential.token_id,
                "principal": one.credential.principal,
                "group_id": one.credential.group_id,
                "created": rfc3339(one.created),
                "used": rfc3339(one.used),
                "here": one.credential.token_id == credential.token_id,
            }
            for one in newest
        ]
    }
