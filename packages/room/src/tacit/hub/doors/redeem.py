"""The door for a one-time code: an agent of another machine gives it, and gets its own token, once.

Nobody is signed in here, so failures count as failed sign-ins. A code that was used, has run out or never
was is answered in the same way.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tacit.base.errors import TacitError
from tacit.hub.agents.crew import code_digest
from tacit.hub.doors.http import error_answer, json_answer, whole
from tacit.hub.nodes.codec import AgentInvited, RedeemCode
from tacit.hub.operations import room as operations
from tacit.ledger.codes import denied, missing

if TYPE_CHECKING:
    from aiohttp import web

    from tacit.hub.hub import RunningHub
    from tacit.hub.nodes.codec import Finding

MOST_BYTES = 4096
"""Nobody unknown is listened to for longer than a code takes."""


async def redeem(hub: RunningHub, request: web.Request) -> web.StreamResponse:
    """`{"code": ...}` for `{"group_id", "actor_id", "token"}`."""
    try:
        given = operations.body_of(await whole(request, hub.config.limits, MOST_BYTES))
        code = given.get("code")
        found = await hub.crew.redeem(code_digest(code)) if isinstance(code, str) else None
        if found is None:
            # Counted before anybody else is asked: who guesses shall not keep all nodes busy.
            hub.sign_in_rate.take_from(request.remote, asyncio.get_running_loop().time())
            found = await _elsewhere(hub, code) if isinstance(code, str) else None
        if found is None:
            raise denied("this code was used, has run out, or never was", "CCCS-042")
        group = await hub.ledger.read(lambda reader: reader.group(found.group_id))
        if group.actor(found.name) is None:
            raise missing("actor", "no such actor in this group", "CCCS-011")
        token = await operations.token_for(hub, found.name, found.group_id)
    except TacitError as error:
        return error_answer(error)
    return json_answer(
        {"group_id": found.group_id, "actor_id": found.name, "title": group.title, "token": token}, 201
    )


def _is_invited(finding: Finding) -> bool:
    return isinstance(finding, AgentInvited)


async def _elsewhere(hub: RunningHub, code: str) -> AgentInvited | None:
    """Whom a code lets in that another node's crew has given."""
    if hub.neighbours is None:
        return None
    found = await hub.neighbours.inquiries.ask(RedeemCode(code_digest(code)), is_enough=_is_invited)
    return next((one for one in found if isinstance(one, AgentInvited)), None)
