"""The browsers that sign-in links let in (CCCS-041, CCCS-042): the owner sees all, one signs itself out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.base.moment import rfc3339

if TYPE_CHECKING:
    from tacit.hub.hub import RunningHub
    from tacit.hub.operations.requests import Nothing
    from tacit.hub.people.credentials import Credential


async def sign_out(hub: RunningHub, credential: Credential, _request: Nothing) -> object:
    """End the token that asks, if a sign-in link made it; any other is kept, as it was given to be kept."""
    if not credential.is_browser:
        return {"revoked": False}
    await hub.browsers.end(credential.token_id)
    return {"revoked": True}


async def list_browsers(hub: RunningHub, credential: Credential, _request: Nothing) -> object:
    """Every browser that a sign-in link let in: whose it is, since when, and when it was used last."""
    credential.require_owner()
    await hub.browsers.end_idle()
    newest = sorted(hub.registry.browsers(), key=lambda browser: -browser.used)
    return {
        "browsers": [
            {
                "token_id": browser.credential.token_id,
                "principal": browser.credential.principal,
                "group_id": browser.credential.group_id,
                "created": rfc3339(browser.created),
                "used": rfc3339(browser.used),
                "here": browser.credential.token_id == credential.token_id,
            }
            for browser in newest
        ]
    }
