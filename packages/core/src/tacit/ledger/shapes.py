"""The shapes of `data` for each standard kind.

Rows: CCCS-046, CCCS-047, CCCS-048, CCCS-049, CCCS-050, CCCS-051, CCCS-052, CCCS-053, CCCS-054, CCCS-055,
CCCS-056, CCCS-057, CCCS-058, CCCS-059, CCCS-060, CCCS-061, CCCS-062, CCCS-063, CCCS-064, CCCS-065, CCCS-066,
CCCS-067, CCCS-068, CCCS-069, CCCS-070, CCCS-071, CCCS-072, CCCS-073, CCCS-074, CCCS-075, CCCS-076, CCCS-077,
CCCS-078, CCCS-079, CCCS-080, CCCS-081, CCCS-082, CCCS-083, CCCS-084, CCCS-085, CCCS-086, CCCS-087, CCCS-088,
CCCS-089, CCCS-090, CCCS-091, CCCS-092, CCCS-093, CCCS-094, CCCS-117, CCCS-118. Types and closed value sets
only; sense (does the event exist, may this principal) is for the rules. Unknown members are allowed
everywhere and are kept (CCCS-022, CCCS-085).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import Meta

from tacit.ledger.codes import invalid

Short = Annotated[str, Meta(min_length=1, max_length=200)]
ClientId = Annotated[str, Meta(min_length=1, max_length=128)]
BlobPath = Annotated[str, Meta(min_length=1, max_length=512)]
ConversationKind = Literal["dm", "channel", "thread", "system", "tool"]


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file carried by a message (CCCS-084)."""

    path: BlobPath
    kind: Literal["text", "image", "file"] = "file"
    title: str | None = None
    mime_type: str | None = None
    bytes: Annotated[int, Meta(ge=0)] | None = None
    sha256: str | None = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What a presentation looked like (CCCS-092)."""

    path: BlobPath
    mime_type: str | None = None
    bytes: Annotated[int, Meta(ge=0)] | None = None
    sha256: str | None = None
    width: float | None = None
    height: float | None = None
    captured_at: str | None = None
    source: str | None = None


class PresentationRef(msgspec.Struct, frozen=True, kw_only=True):
    """An anchor into a slot of the group's presentation surface (CCCS-090)."""

    slot_id: Short
    v: Literal[1] | None = None
    label: str | None = None
    locator_label: str | None = None
    title: str | None = None
    card_type: str | None = None
    status: Literal["open", "needs_user", "resolved"] | None = None
    href: str | None = None
    excerpt: str | None = None
    locator: dict[str, Any] | None = None
    snapshot: Snapshot | None = None


class TaskRef(msgspec.Struct, frozen=True, kw_only=True):
    """A link to a task of the same group (CCCS-094)."""

    task_id: Short
    title: str | None = None
    status: str | None = None


class PlainRef(msgspec.Struct, frozen=True, kw_only=True):
    """A file, url, commit or text, or a kind that we do not know and keep (CCCS-089)."""

    kind: str = "url"
    url: str | None = None
    path: str | None = None
    title: str | None = None
    sha: str | None = None
    bytes: Annotated[int, Meta(ge=0)] | None = None


class ConversationRef(msgspec.Struct, frozen=True, kw_only=True):
    """Where a message is said (C2A-209); an extra member that CCCS readers may ignore."""

    kind: ConversationKind
    id: str | None = None


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """What the ledger knows of a CLowl message: how it is linked. The language itself is read above."""

    mid: ClientId
    tid: ClientId | None = None
    pid: ClientId | None = None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """`chat.message`. `thread` is reserved and not even named here (CCCS-054).

    Rows: CCCS-046, CCCS-047, CCCS-048, CCCS-049, CCCS-050, CCCS-051, CCCS-052, CCCS-053, CCCS-054, CCCS-055,
    CCCS-056.
    """

    text: str
    format: Literal["plain", "markdown"] = "plain"
    priority: Literal["normal", "attention"] = "normal"
    to: list[str] = []
    reply_to: str | None = None
    quote_text: str | None = None
    src_group_id: str | None = None
    src_event_id: str | None = None
    dst_group_id: str | None = None
    dst_to: list[str] | None = None
    attachments: list[Attachment] = []
    refs: list[dict[str, Any]] = []
    client_id: ClientId | None = None
    conversation: ConversationRef | None = None
    clowl: Spoken | None = None


class ChatAck(msgspec.Struct, frozen=True, kw_only=True):
    """`chat.ack` (CCCS-059)."""

    actor_id: str
    event_id: str
    client_id: ClientId | None = None


class ChatRead(msgspec.Struct, frozen=True, kw_only=True):
    """`chat.read` (CCCS-067)."""

    actor_id: str
    event_id: str
    client_id: ClientId | None = None


class ChatReaction(msgspec.Struct, frozen=True, kw_only=True):
    """`chat.reaction` (CCCS-073, CCCS-074)."""

    event_id: str
    actor_id: str
    emoji: Annotated[str, Meta(min_length=1, max_length=32)]
    removed: bool = False
    client_id: ClientId | None = None


class SystemNotify(msgspec.Struct, frozen=True, kw_only=True):
    """`system.notify` (CCCS-076, CCCS-077, CCCS-078, CCCS-079, CCCS-080)."""

    kind: Short
    priority: Literal["low", "normal", "high", "urgent"] = "normal"
    title: str | None = None
    message: str | None = None
    target_actor_id: str | None = None
    context: dict[str, Any] | None = None
    requires_ack: bool = False
    related_event_id: str | None = None
    client_id: ClientId | None = None


class SystemNotifyAck(msgspec.Struct, frozen=True, kw_only=True):
    """`system.notify_ack` (CCCS-081)."""

    notify_event_id: str
    actor_id: str
    client_id: ClientId | None = None


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """A project root; the hub fills in `scope_key` (CCCS-008)."""

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    scope_key: str | None = None


class GroupCreate(msgspec.Struct, frozen=True, kw_only=True):
    """`group.create`: always the first event of its ledger."""

    title: Short
    scopes: list[Scope] = []
    client_id: ClientId | None = None


class GroupUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """`group.update`: a new title; further members are kept for layers above."""

    title: Short | None = None
    client_id: ClientId | None = None


class GroupAttachScope(msgspec.Struct, frozen=True, kw_only=True):
    """`group.attach_scope` (CCCS-008)."""

    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    scope_key: str | None = None
    client_id: ClientId | None = None


RoleName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class ActorAdd(msgspec.Struct, frozen=True, kw_only=True):
    """`actor.add` (CCCS-011, CCCS-012). `roles` are the skills that a role mention can name."""

    actor_id: str
    role: Literal["foreman", "peer"] | None = None
    title: Short | None = None
    roles: list[RoleName] = []
    client_id: ClientId | None = None


class ActorUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """`actor.update`: only the members that are present change; `null` takes a role or title away."""

    actor_id: str
    role: Literal["foreman", "peer"] | msgspec.UnsetType | None = msgspec.UNSET
    title: Short | msgspec.UnsetType | None = msgspec.UNSET
    roles: list[RoleName] | msgspec.UnsetType = msgspec.UNSET
    client_id: ClientId | None = None


class ActorRemove(msgspec.Struct, frozen=True, kw_only=True):
    """`actor.remove`: the id stays taken for ever (CCCS-011)."""

    actor_id: str
    client_id: ClientId | None = None


class ContextOp(msgspec.Struct, frozen=True, kw_only=True):
    """One change of the shared context or of the task store (CCCS-118)."""

    op: Literal["set", "delete"]
    key: Short
    store: Literal["context", "tasks"] = "context"
    value: Any = None


class ContextSync(msgspec.Struct, frozen=True, kw_only=True):
    """`context.sync` (CCCS-118)."""

    ops: Annotated[list[ContextOp], Meta(min_length=1, max_length=100)]
    client_id: ClientId | None = None


class PersonAdd(msgspec.Struct, frozen=True, kw_only=True):
    """`x.tacit.person.add`: a further human, outside CCCS v1 (CCCS-039)."""

    principal: str
    title: Short | None = None


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """What we read of a kind that we do not know: only its idempotency key."""

    client_id: Any = None


S = TypeVar("S", bound=msgspec.Struct)

MALFORMED_ROWS: Final[dict[tuple[str, str], str]] = {
    ("CCCS-046", "$.format"): "CCCS-048",
    ("CCCS-046", "$.priority"): "CCCS-049",
    ("CCCS-046", "$.to"): "CCCS-031",
    ("CCCS-046", "$.attachments"): "CCCS-084",
    ("CCCS-011", "$.role"): "CCCS-012",
}
"""The row of a member, where it is not the row of its whole kind."""


def reason_and_place(fault: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong and where. The library quotes a value outside a closed set; an answer never does."""
    reason, _, place = str(fault).rpartition(" - at `")
    if not reason:
        reason, place = place, "$"
    if reason.startswith("Invalid enum value"):
        reason = "Not one of the values allowed"
    return reason, place.rstrip("`")


def shape(data: object, model: type[S], row: str) -> S:
    """`data` as `model`, or a refusal that names the place of the first fault."""
    try:
        return msgspec.convert(data, model, strict=True)
    except msgspec.ValidationError as fault:
        reason, place = reason_and_place(fault)
        raise invalid(f"{reason} (at data{place[1:]})", _row(place, row), at=place) from None


def _row(place: str, default: str) -> str:
    return MALFORMED_ROWS.get((default, place.split("[", 1)[0]), default)
