"""What is told and never answered, as values (C2A-014, C2A-084, C2A-179, C2A-181, C2A-184, C2A-217).

`method_of` and `members` write one, `read_notification` reads one; what makes no sense, or has a method that
nobody knows, is None: a receiver drops it. The same in both drafts. Whether a notification was agreed to is
for the receiver to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.c2a import activity
from tacit.c2a.activity import Activity, ActivityWanted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LEVELS: Final = frozenset({"debug", "info", "notice", "warning", "error"})
WORK_STATES: Final = frozenset({"queued", "working", "waiting", "failed", "called_off"})
STATUSES: Final = frozenset({"idle", "busy", "away", "stopped"})


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Stop work on a delivery or a call (C2A-179); to the harness."""

    request_id: str
    event_id: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Typing:
    """Somebody writes, or has stopped (C2A-084); both ways. To the hub the author is the session."""

    conversation: str
    author: str
    typing: bool


@dataclass(frozen=True, slots=True)
class Continued:
    """The author of something that the session has not answered said more there, without naming it (C2A-083).

    To the harness. Says that there is something to look up, nothing of what it is.
    """

    event_id: str


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """A message for those who are there, kept nowhere (C2A-217); to the harness."""

    conversation: str
    author: str
    content: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work on something is; never chat (C2A-181, C2A-182); to the hub."""

    token: str
    progress: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """A line for the hub's audit (C2A-184); to the hub."""

    level: str
    message: str
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """What the harness does now; to the hub."""

    status: str
    detail: str = ""
    event_ids: tuple[str, ...] = ()
    """What the detail is about, and so who may read it; unsaid, it is about all that is in hand."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn cost; to the hub."""

    turn: str = ""
    event_ids: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    prompt_bytes: int = 0
    duration_ms: int = 0
    cost: float = 0.0
    currency: str = ""
    model: str = ""
    driver: str = ""
    estimated: bool = False
    """Nobody counted the tokens: they are reckoned by bytes."""


@dataclass(frozen=True, slots=True)
class Work:
    """How the work on a delivered event stands at the agent; to the hub.

    Sent at every change, and again as a sign of life while it lasts. Answers and handing over are not told:
    the hub sees those itself.
    """

    event_id: str
    state: str
    """One of `WORK_STATES`."""
    turn: str = ""
    position: int = 0
    """How many pieces of work are before it, while it is queued."""
    code: str = ""
    """Why it failed, or what it waits for: a code of the driver."""
    message: str = ""
    """The same as a sentence for a person."""
    retry_at: str = ""
    """When it is tried again by itself (RFC 3339); empty when it is not."""


@dataclass(frozen=True, slots=True)
class PermissionDecided:
    """A person answered what the agent's own program asked, or took an answer back (C2A-207); to the harness.

    Says that it was; whoever lost it, or was away, asks again with `chat/permission`.
    """

    approval_id: str
    state: str
    """`granted`, `denied` or `revoked`."""
    scope: str = ""
    """How far a yes goes: `once`, `turn` or `always`."""
    by: str = ""
    reason: str = ""


Notification = (
    Cancelled
    | Typing
    | Continued
    | Ephemeral
    | Progress
    | Log
    | Status
    | Usage
    | Work
    | PermissionDecided
    | Activity
    | ActivityWanted
)
METHODS: Final[dict[type, str]] = {
    Cancelled: "notifications/cancelled",
    Typing: "notifications/typing",
    Continued: "notifications/continued",
    Ephemeral: "notifications/ephemeral",
    Progress: "notifications/progress",
    Log: "notifications/log",
    Status: "notifications/status",
    Usage: "notifications/usage",
    Work: "notifications/work",
    PermissionDecided: "notifications/permission",
    Activity: activity.TELL,
    ActivityWanted: activity.WANT,
}
UTILITIES: Final[dict[type, str]] = {Progress: "progress", Cancelled: "cancellation", Log: "logging"}
"""The capability under `utilities` without which a notification is dropped (C2A-023)."""
_COUNTS: Final = {
    "tokens_in": "tokensIn",
    "tokens_out": "tokensOut",
    "tokens_cached": "tokensCached",
    "prompt_bytes": "promptBytes",
    "duration_ms": "durationMs",
}


def method_of(value: Notification) -> str:
    """The method under which it travels."""
    return METHODS[type(value)]


def members(value: Notification) -> dict[str, Any]:
    """The params; what was not said is left out."""
    match value:
        case Cancelled(request_id, event_id, reason):
            return _said(requestId=request_id, reason=reason, eventId=event_id)
        case Typing(conversation, author, typing):
            return _said(conversationId=conversation or None, author=author or None, typing=typing)
        case Continued(event_id):
            return _said(eventId=event_id)
        case Ephemeral(conversation, author, content):
            return _said(conversationId=conversation, author=author, content=content, untrusted=True)
        case Progress(token, progress, total, message):
            return _said(progressToken=token, progress=progress, total=total, message=message)
        case Log(level, message, data):
            return _said(level=level, message=message, data=data)
        case Status(status, detail, event_ids):
            return _said(status=status, detail=detail or None, eventIds=list(event_ids) or None)
        case Usage():
            counts = {wire: getattr(value, name) for name, wire in _COUNTS.items()}
            words = {name: getattr(value, name) or None for name in ("turn", "currency", "model", "driver")}
            words["estimated"] = value.estimated or None
            return _said(eventIds=list(value.event_ids), cost=value.cost, **counts, **words)
        case Work(event_id, state, turn, position, code, message, retry_at):
            words = {"turn": turn, "code": code, "message": message, "retryAt": retry_at}
            said = {name: word for name, word in words.items() if word}
            return _said(eventId=event_id, state=state, position=position or None, **said)
        case PermissionDecided(approval_id, state, scope, by, reason):
            words = {"scope": scope, "by": by, "reason": reason}
            said = {name: word for name, word in words.items() if word}
            return _said(approvalId=approval_id, state=state, **said)
        case Activity() | ActivityWanted():
            return value.members()


def _said(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def read_notification(method: str, params: Mapping[str, Any]) -> Notification | None:
    """The value behind a notification; None for what is dropped."""
    read = _READERS.get(method)
    return read(params) if read is not None else None


def _cancelled(params: Mapping[str, Any]) -> Cancelled:
    return Cancelled(
        _word(params.get("requestId")), _text(params, "eventId") or None, _text(params, "reason")
    )


def _typing(params: Mapping[str, Any]) -> Typing:
    author: object = params.get("author")
    named = cast("dict[str, Any]", author).get("id") if isinstance(author, dict) else author
    return Typing(_text(params, "conversationId"), _word(named), params.get("typing") is not False)


def _continued(params: Mapping[str, Any]) -> Continued | None:
    event_id = _text(params, "eventId")
    return Continued(event_id) if event_id else None


def _ephemeral(params: Mapping[str, Any]) -> Ephemeral:
    return Ephemeral(_text(params, "conversationId"), _text(params, "author"), _text(params, "content"))


def _progress(params: Mapping[str, Any]) -> Progress | None:
    token, progress, total = params.get("progressToken"), params.get("progress"), params.get("total")
    message = params.get("message")
    if not isinstance(token, str) or not is_number(progress) or not (total is None or is_number(total)):
        return None
    return Progress(token, cast("float", progress), total, message if isinstance(message, str) else None)


def _log(params: Mapping[str, Any]) -> Log:
    level, data = _text(params, "level"), params.get("data")
    known = level if level in LEVELS else "info"
    return Log(
        known, _text(params, "message"), cast("dict[str, Any]", data) if isinstance(data, dict) else None
    )


def _status(params: Mapping[str, Any]) -> Status | None:
    status = _text(params, "status")
    return Status(status, _text(params, "detail"), _event_ids(params)) if status in STATUSES else None


def _event_ids(params: Mapping[str, Any]) -> tuple[str, ...]:
    ids = params.get("eventIds")
    return tuple(map(str, cast("list[object]", ids))) if isinstance(ids, list) else ()


def _usage(params: Mapping[str, Any]) -> Usage:
    cost = params.get("cost")
    return Usage(
        turn=_text(params, "turn"),
        event_ids=_event_ids(params),
        cost=float(cast("float", cost)) if is_number(cost) and cast("float", cost) >= 0 else 0.0,
        currency=_text(params, "currency"),
        model=_text(params, "model"),
        driver=_text(params, "driver"),
        estimated=params.get("estimated") is True,
        **{name: _count(params.get(wire)) for name, wire in _COUNTS.items()},
    )


def _work(params: Mapping[str, Any]) -> Work | None:
    event_id, state = _text(params, "eventId"), _text(params, "state")
    if not event_id or state not in WORK_STATES:
        return None
    return Work(
        event_id,
        state,
        turn=_text(params, "turn"),
        position=_count(params.get("position")),
        code=_text(params, "code"),
        message=_text(params, "message"),
        retry_at=_text(params, "retryAt"),
    )


def _permission(params: Mapping[str, Any]) -> PermissionDecided | None:
    approval_id, state = _text(params, "approvalId"), _text(params, "state")
    if not approval_id or not state:
        return None
    return PermissionDecided(
        approval_id, state, _text(params, "scope"), _text(params, "by"), _text(params, "reason")
    )


_READERS: Final[dict[str, Callable[[Mapping[str, Any]], Notification | None]]] = {
    "notifications/cancelled": _cancelled,
    "notifications/typing": _typing,
    "notifications/continued": _continued,
    "notifications/ephemeral": _ephemeral,
    "notifications/progress": _progress,
    "notifications/log": _log,
    "notifications/status": _status,
    "notifications/usage": _usage,
    "notifications/work": _work,
    "notifications/permission": _permission,
    activity.TELL: activity.read_activity,
    activity.WANT: activity.read_wanted,
}


def is_number(value: object) -> bool:
    """A finite number, and no truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) != _ENDLESS and (
        value == value  # noqa: PLR0124 - what is no number differs from itself
    )  # fmt: skip


_ENDLESS: Final = float("inf")


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def _word(value: object) -> str:
    """An id, which JSON-RPC lets be a number."""
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def _text(params: Mapping[str, Any], name: str) -> str:
    found = params.get(name)
    return found if isinstance(found, str) else ""
