"""What `chat/deliver` brought, parsed once at the edge (C2A-029 to C2A-044).

Reads both drafts: `content` as a string or as a list of parts. Whether a delivery is acceptable at all is
`tacit.attention.decide.delivery.faults`; this module is only called for those that are. The `params` are kept
as they came, so that a harness can store them and read them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from tacit.base.moment import Moment, parse_rfc3339
from tacit.c2a.vocabulary import ConversationKind, Directedness, Mode, Policy, Priority


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote it; the display name is somebody's own words."""

    id: str
    kind: str
    display_name: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier message of the thread, sent along (C2A-223)."""

    event_id: str
    author: Author
    text: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """One event as one session gets it."""

    event_id: str
    conversation: str
    kind: ConversationKind
    author: Author
    directedness: Directedness
    policy: Policy
    mode: Mode
    reason: str
    priority: Priority
    text: str
    created_at: Moment
    idempotency_key: str
    thread: str | None = None
    stream: str | None = None
    deadline_ms: int | None = None
    sequence: int = 0
    attempt: int = 1
    supersedes: str | None = None
    signal: str | None = None
    knock: dict[str, Any] | None = None
    mentions: tuple[str, ...] = ()
    window: tuple[Earlier, ...] = ()
    needs_claim: bool = False
    reply_target: str = ""

    @property
    def deadline_at(self) -> Moment | None:
        """When an answer is due; counts from when it was written (C2A-173)."""
        return None if self.deadline_ms is None else Moment(self.created_at + self.deadline_ms * 1000)


def delivered(params: dict[str, Any]) -> Delivered:
    """The value behind the params of a `chat/deliver` without faults."""
    conversation, attention = _object(params, "conversation"), _object(params, "attention")
    timing, target = _object(params, "timing"), _object(params, "target")
    deadline = attention.get("deadlineMs")
    thread = _text(conversation, "threadId") or None
    return Delivered(
        event_id=str(params["eventId"]),
        conversation=_text(conversation, "id"),
        kind=ConversationKind(_text(conversation, "kind")),
        author=_author(_object(params, "author")),
        directedness=Directedness(str(target["directedness"])),
        policy=Policy(str(attention["policy"])),
        mode=Mode(str(_object(params, "injection")["mode"])),
        reason=_text(attention, "reason"),
        priority=_priority(attention.get("priority")),
        text=_content(params.get("content")),
        created_at=parse_rfc3339(_text(timing, "createdAt")) or Moment(0),
        idempotency_key=str(_object(params, "reliability")["idempotencyKey"]),
        thread=thread,
        stream=_text(conversation, "streamId") or None,
        deadline_ms=deadline if isinstance(deadline, int) else None,
        sequence=int(timing.get("sequence") or 0),
        attempt=int(_object(params, "reliability").get("attempt") or 1),
        supersedes=_text(params, "supersedes") or None,
        signal=_text(params, "signal") or None,
        knock=_object(params, "knock") or None,
        mentions=tuple(str(one) for one in cast("list[object]", target.get("mentions") or [])),
        window=_window(params.get("threadWindow")),
        needs_claim=params.get("needsClaim") is True or attention.get("needsClaim") is True,
        reply_target=_text(params, "replyTarget") or _target(conversation, thread),
    )


def _target(conversation: dict[str, Any], thread: str | None) -> str:
    """Where an answer goes when the host did not say (C2A-096)."""
    return f"thread:{thread}" if thread else f"conversation:{_text(conversation, 'id')}"


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def _priority(value: object) -> Priority:
    """An unknown priority counts as normal (C2A-039)."""
    return Priority(value) if isinstance(value, str) and value in set(Priority) else Priority.NORMAL


def _author(value: dict[str, Any]) -> Author:
    return Author(_text(value, "id"), _text(value, "kind") or "system", _text(value, "displayName"))


def _content(value: object) -> str:
    """One text out of either form; a part that is no text is shown by its type and title (C2A-035)."""
    if isinstance(value, str):
        return value
    rows = cast("list[object]", value) if isinstance(value, list) else []
    parts = [cast("dict[str, Any]", row) for row in rows if isinstance(row, dict)]
    return "\n".join(
        _text(part, "text") if part.get("type") == "text" else f"[{part.get('type')}: {_text(part, 'title')}]"
        for part in parts
    )


def _window(value: object) -> tuple[Earlier, ...]:
    rows = cast("list[object]", value) if isinstance(value, list) else []
    found = [cast("dict[str, Any]", row) for row in rows if isinstance(row, dict)]
    return tuple(
        Earlier(
            _text(row, "eventId"),
            _author(_object(row, "author")),
            _content(row.get("content")),
            _text(row, "createdAt"),
        )
        for row in found
    )
