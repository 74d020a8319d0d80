"""What guests add to the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.agent.guests.fold import PART
from tacit.agent.guests.io import operations
from tacit.agent.kernel.feature import Feature, handler
from tacit.base import agent_requests as asked
from tacit.wire.guests import LONGEST_DAYS

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tacit.agent.kernel.io.changes import Change
    from tacit.agent.kernel.io.core import AgentCore
    from tacit.agent.kernel.records import Record


def _change(record: Record) -> Change | None:
    guest_id = getattr(record, "guest_id", "")
    return {"change": "guest", "guest_id": guest_id} if guest_id else None


NOTICES: Final = {
    "guest_answered": "has an answer of somebody who was asked by a link",
    "guest_unreadable": "has an answer by a link that could not be read; it counts for nothing",
}


def _guest_ask(agent: AgentCore, request: asked.AgentGuestAsk) -> Awaitable[Any]:
    return operations.ask(
        agent,
        request.name,
        request.text,
        questions=request.questions,
        share=request.share,
        signed=request.signed,
        days=request.days or LONGEST_DAYS,
        group=request.group,
    )


OPERATIONS: Final = {
    "guest_ask": handler(asked.AgentGuestAsk, _guest_ask),
    "guests": handler(asked.AgentNothing, lambda agent, _request: operations.listed(agent)),
    "guest": handler(asked.AgentGuest, lambda agent, request: operations.show(agent, request.guest_id)),
    "guest_revoke": handler(
        asked.AgentGuest, lambda agent, request: operations.revoke(agent, request.guest_id)
    ),
    "guest_forget": handler(
        asked.AgentGuest, lambda agent, request: operations.forget(agent, request.guest_id)
    ),
    "guest_paste": handler(asked.AgentGuestPaste, operations.paste),
    "guest_result": handler(
        asked.AgentGuest, lambda agent, request: operations.result(agent, request.guest_id)
    ),
    "guest_mail": handler(
        asked.AgentGuestMail,
        lambda agent, request: operations.mail(agent, request.guest_id, request.to, request.fingerprint),
    ),
    "guest_mail_server": handler(
        asked.AgentMailServer, lambda agent, request: operations.mail_server(agent, request.url)
    ),
}

FEATURE: Final = Feature(
    part=PART, change=_change, notices=NOTICES, turn=operations.turn, operations=OPERATIONS
)
