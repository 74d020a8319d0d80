"""The chat tools as they are listed: names, JSON Schemas, and whether a call may be repeated.

Rows: C2A-139 to C2A-146, C2A-170. One table for every door that offers the tools. The rules behind them are
elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tacit.c2a.signals import SIGNALS
from tacit.c2a.vocabulary import AIM, STRENGTH

if TYPE_CHECKING:
    from tacit.c2a.negotiation import Tool


VISIBILITIES: Final = ("dm", "thread", "channel", "ephemeral")
JUSTIFICATIONS: Final = ("owner", "claimed", "helps", "unblocks")
_TEXT: Final = {"type": "string"}
_LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
_TIME: Final = {"type": "string", "description": "an RFC 3339 time"}
_EVENT: Final = {"type": "string", "description": "the id of an event"}


def _object(required: list[str], **members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": required, "additionalProperties": False}


INPUTS: Final[dict[str, dict[str, Any]]] = {
    "chat.list_events": _object(
        [],
        streamId=_TEXT,
        conversationId=_TEXT,
        policy={"enum": [policy.value for policy in STRENGTH]},
        since=_TIME,
        until=_TIME,
        openOnly={"type": "boolean", "description": "only what still waits for this agent"},
        limit=_LIMIT,
        cursor={"type": "string", "description": "the cursor of the last answer; without it the newest"},
    ),
    "chat.read_thread": _object(
        [],
        threadId={"type": "string", "description": "the id of the thread's first message"},
        conversationId=_TEXT,
        eventId=_EVENT,
        before=_EVENT,
        after=_EVENT,
        limit=_LIMIT,
    ),
    "chat.send_message": _object(
        ["target", "content", "idempotencyKey", "visibility", "directedness"],
        target={
            "type": "string",
            "description": "thread:<event id>, conversation:<id>, channel:main or dm:<who>",
        },
        content={"description": "the text", "type": ["string", "array"]},
        inReplyTo={"type": "string", "description": "the event that this answers"},
        idempotencyKey={"type": "string", "minLength": 1, "maxLength": 128},
        visibility={"enum": list(VISIBILITIES)},
        directedness={
            "enum": [one.value for one in AIM],
            "description": "whom it obliges, as a recipient sees it: to_me obliges, ambient obliges nobody",
        },
        mentions={"type": "array", "items": _TEXT, "description": "agent:<id>, role:<name> or a person"},
        justification={"enum": list(JUSTIFICATIONS)},
        attachments={"type": "array", "items": {"type": "object"}},
        format={"enum": ["plain", "markdown"]},
        turn=_TEXT,
        attempt={"type": "integer", "minimum": 1},
        startedBy=_EVENT,
    ),
    "chat.react": _object(
        ["inReplyTo", "signal"],
        inReplyTo=_EVENT,
        signal={
            "enum": list(SIGNALS),
            "description": "; ".join(f"{one.name}: {one.meaning}" for one in SIGNALS.values()),
        },
        eta={"type": "string", "description": "when, if it takes time: 'in 20 minutes' or a time"},
    ),
    "chat.claim": _object(
        [],
        eventId=_EVENT,
        threadId=_EVENT,
        ttlMs={"type": "integer", "minimum": 30_000, "maximum": 3_600_000},
        release={"type": "boolean", "description": "give it back"},
    ),
    "chat.defer": _object(
        ["eventId", "reason"],
        eventId=_EVENT,
        reason={"type": "string", "minLength": 1, "maxLength": 500},
        eta=_TEXT,
    ),
    "chat.resolve": _object([], eventId=_EVENT, threadId=_EVENT, assignmentId=_EVENT, summary=_TEXT),
    "chat.search": _object(
        ["query"], query={"type": "string", "minLength": 1, "maxLength": 500}, limit=_LIMIT
    ),
    "chat.leave": _object([], conversationId=_TEXT, threadId=_EVENT),
    "chat.progress": _object(
        ["progress"],
        eventId=_EVENT,
        progressToken=_TEXT,
        progress={"type": "number"},
        total={"type": "number"},
        message={"type": "string", "maxLength": 500},
    ),
}


def listed(tool: Tool) -> dict[str, Any]:
    """One entry of `tools/list`."""
    return {
        "name": tool.name,
        "description": tool.says,
        "inputSchema": INPUTS[tool.name],
        "annotations": {"readOnly": tool.read_only, "idempotent": tool.idempotent},
    }


@dataclass(frozen=True, slots=True)
class Send:
    """What a session wants to say."""

    session: str
    target: str
    body: str
    idempotency_key: str
    visibility: str
    directedness: str
    in_reply_to: str | None = None
    mentions: tuple[str, ...] = ()
    channel_wide: bool = False
    attachments: bool = False
    turn: str = ""
    attempt: int = 1
    started_by: str | None = None
    """The event that started the running turn, if one did."""
    justification: str | None = None
