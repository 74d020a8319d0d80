"""The door for a sign-in link: the page gives its code and gets a token of its own, once.

Asked to `look` only, it says whom the link would sign in, and to which room, and spends nothing, so that the
page can ask whoever sits there already. Nobody is signed in here: failures count as failed sign-ins, and a
code that was used, has run out or never was is answered in the same way.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tacit.base.errors import TacitError
from tacit.hub.doors.http import error_answer, json_answer, whole
from tacit.hub.doors.redeem import MOST_BYTES
from tacit.hub.operations import room as operations
from tacit.ledger.codes import denied

if TYPE_CHECKING:
    from aiohttp import web

    from tacit.hub.hub import RunningHub


async def sign_in(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """`{"code": ..., "look": true}` for `{"principal", "group_id", "title"}`; without it for a `token`."""
    try:
        given = operations.body_of(await whole(request, hub.config.limits, MOST_BYTES))
        code, looks = given.get("code"), given.get("look") is True
        links, found = hub.all_links, None
        if isinstance(code, str):
            found = links.find_here(code, spends=not looks)
        if found is None:
            # Counted before anybody else is asked: who guesses shall not keep all nodes busy.
            hub.sign_in_rate.take_from(request.remote, asyncio.get_running_loop().time())
            if isinstance(code, str):
                found = await links.find_elsewhere(code, spends=not looks)
        if found is None:
            raise denied("this link was used already, has run out, or never was", "CCCS-042")
        who = {"principal": found.principal, "group_id": found.group_id}
        if looks:
            return json_answer({**who, **await _title(hub, found.group_id)})
        token = await operations.token_for(hub, found.principal, found.group_id, is_browser=True)
        return json_answer({**who, "token": token}, 201)
    except TacitError as error:
        return error_answer(error)


async def _title(hub: RunningHub, group_id: str | None) -> dict[str, str]:
    """How the one room is called that a link opens; the owner's opens all."""
    if group_id is None:
        return {}
    return {"title": (await hub.ledger.read(lambda reader: reader.group(group_id))).title}
