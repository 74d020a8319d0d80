"""Records: what attention writes into the ledger, as `x.c2a.*` events (C2A-116, C2A-206, C2A-214).

One struct a kind. A record says what became so, whole, so that folding it needs no rule and no clock. The
hub is their only writer, and `submitted` the way in. Edits and deletes never alter the original event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from tacit.base.moment import Moment, parse_rfc3339
from tacit.ledger.principal import SYSTEM
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.ledger.envelope import Event
    from tacit.ledger.state import Group


class DeliveryRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event was put before a session, for the first time or again; or its copy was lowered."""

    event_id: str
    session: str
    policy: str
    mode: str
    directedness: str
    reason: str
    intent: str = "plain"
    priority: str = "normal"
    deadline_ms: int | None = None
    attempt: int = 1
    needs_claim: bool = False
    thread_window: bool = False
    created_at: int = 0
    """When the deadline starts to run, in microseconds; 0 means with this record."""
    because: dict[str, str] = {}
    instead_of: str = ""
    """The session that had it before, when the obligation moved here."""


class AcceptedRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session has taken deliveries in, for good (C2A-160): they are not sent again."""

    session: str
    event_ids: list[str]
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class ClaimRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A claim changed hands or time. `action`: take, renew, assign, release, expire.

    `during`: the event that the session was at work on when it took a file; the lease ends with that turn.
    """

    target: str
    session: str
    action: str
    thread: str | None = None
    expires_at: int = 0
    during: str | None = None


class DispositionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of an event for a session; no disposition means that it is open again."""

    event_id: str
    session: str
    disposition: str | None = None
    closes: bool = False
    declined: bool = False
    signal: str | None = None
    reason: str | None = None
    eta: str | None = None
    resurfaces_at: int | None = None
    shift_us: int = 0
    error: dict[str, Any] | None = None
    reported: bool = False
    """The session itself said so: there is nothing to call back from it."""


class EditRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message in its new form, under a new id (C2A-189). From the second on it names the `original`."""

    supersedes: str
    text: str
    original: str | None = None
    by: str = ""
    client_id: str | None = None
    format: str | None = None
    mentions: list[Any] = []


class DeleteRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message was taken back, and its content with it."""

    event_id: str
    by: str = ""
    reason: str = ""


class MembershipRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session left a conversation or thread, or came back. `action`: leave, return."""

    session: str
    conversation: str
    action: str
    thread: str | None = None
    event_id: str | None = None


class ProgressRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a session is with something; never chat, never an obligation (C2A-182)."""

    session: str
    token: str
    progress: float
    total: float | None = None
    message: str | None = None
    event_id: str | None = None
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class DigestRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A digest was issued to a session."""

    session: str
    scope: str
    policy: str
    text: str
    event_ids: list[str] = []
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class ApprovalRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person was asked, or answered, whether a session may do something. `state` is the new state."""

    approval_id: str
    session: str
    state: str
    what: str
    expires_at: int = 0
    """When an earlier version gave up waiting; 0 is never."""
    answered_by: str | None = None
    says: str = ""
    """What the person is asked about, for the people's eyes."""
    kind: str = "send"
    """A message that would tell something private, or what the agent's own program asks."""
    title: str = ""
    details: str = ""
    directory: str = ""
    worktree: str = ""
    covers: str = ""
    """What "always" would allow, in words; empty where only this once can be allowed."""
    event_id: str | None = None
    beside: list[str] = []
    """Further events that the turn works on."""
    asked_by: list[str] = []
    """Who wrote these events: they asked the agent for what needs this approval."""
    turn: str = ""
    scope: str = ""
    """How far a yes goes: once, turn, always."""
    reason: str = ""
    """Why it was refused, or taken back."""
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something worth proving later: a decision with its inputs, a tool call, a refusal."""

    what: str
    session: str | None = None
    event_id: str | None = None
    code: str | None = None
    row: str | None = None
    details: dict[str, Any] = {}
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class EphemeralRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message that only those who were there got; its text is kept nowhere (C2A-217)."""

    session: str
    key: str
    where: str
    sha256: str
    length: int
    in_reply_to: str | None = None
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A harness speaks for a session from here on, and this was agreed with it."""

    session: str
    version: str
    modes: list[str]
    client: str = ""
    interrupt: bool = False
    transport: str = "websocket"


class RulesRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An owner changed settings of the group's attention."""

    values: dict[str, Any]
    by: str = ""


class UsageRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a turn of a session's model cost, as its harness counts it."""

    session: str
    turn: str = ""
    event_ids: list[str] = []
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost: float = 0.0
    currency: str = ""
    model: str = ""
    driver: str = ""
    prompt_bytes: int = 0
    duration_ms: int = 0
    estimated: bool = False
    for_: list[str] = msgspec.field(name="for", default_factory=list[str])


class WorkRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the work on an event stands at a session has changed; with `alive_at`: it is still at it."""

    event_id: str
    session: str
    state: str
    turn: str = ""
    position: int = 0
    code: str = ""
    message: str = ""
    retry_at: int = 0
    alive_at: int = 0
    """When the session was last heard of, in microseconds; 0 means with this record, which is news."""


class WithdrawalRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A notice to a person is taken back: what it was about was answered after all."""

    notice_id: str
    actor_id: str
    event_id: str
    by: str = ""
    """Who answered."""


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent did in a turn, in a few lines: no output, and nothing of what anybody said."""

    session: str
    event_id: str
    turn: str = ""
    files: list[str] = []
    file_count: int = 0
    added: int = 0
    removed: int = 0
    commands: list[dict[str, Any]] = []
    command_count: int = 0
    tests: list[dict[str, Any]] = []
    tools: int = 0
    duration_ms: int = 0
    cost_usd: float | None = None
    ended: str = ""


Record: TypeAlias = (
    DeliveryRecord
    | AcceptedRecord
    | ClaimRecord
    | DispositionRecord
    | EditRecord
    | DeleteRecord
    | MembershipRecord
    | ProgressRecord
    | DigestRecord
    | ApprovalRecord
    | AuditRecord
    | EphemeralRecord
    | SessionRecord
    | RulesRecord
    | UsageRecord
    | WorkRecord
    | WithdrawalRecord
    | TurnRecord
)
KINDS: Final[dict[str, type[Record]]] = {
    "x.c2a.delivery": DeliveryRecord,
    "x.c2a.accepted": AcceptedRecord,
    "x.c2a.claim": ClaimRecord,
    "x.c2a.disposition": DispositionRecord,
    "x.c2a.edit": EditRecord,
    "x.c2a.delete": DeleteRecord,
    "x.c2a.membership": MembershipRecord,
    "x.c2a.progress": ProgressRecord,
    "x.c2a.digest": DigestRecord,
    "x.c2a.approval": ApprovalRecord,
    "x.c2a.audit": AuditRecord,
    "x.c2a.ephemeral": EphemeralRecord,
    "x.c2a.session": SessionRecord,
    "x.c2a.rules": RulesRecord,
    "x.c2a.usage": UsageRecord,
    "x.c2a.work": WorkRecord,
    "x.c2a.withdrawal": WithdrawalRecord,
    "x.c2a.turn": TurnRecord,
}
_NAMES: Final[dict[type[Record], str]] = {model: kind for kind, model in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Notice:
    """A `system.notify` for the person who is in charge, or for the one it names."""

    data: Mapping[str, object]
    to: str = ""


Written: TypeAlias = Record | Notice


def for_those_here(written: Iterable[Written], group: Group) -> list[Written]:
    """Without notices to somebody who cannot be told: a service reads none, nor does who has left."""
    return [
        one for one in written if not isinstance(one, Notice) or not one.to or group.is_addressable(one.to)
    ]


def submitted_to(group: Group, written: Iterable[Written]) -> list[Submission]:
    """The same as events of the hub's own, but for notices to those who are not here."""
    return submitted(group.group_id, for_those_here(written, group))


def submitted(group_id: str, written: Iterable[Written], user: str = "user") -> list[Submission]:
    """Records and notices as events of the hub's own."""
    found: list[Submission] = []
    for one in written:
        if isinstance(one, Notice):
            kind, data = "system.notify", {**one.data, "target_actor_id": one.to or user}
        else:
            kind, data = kind_of(one), data_of(one)
        found.append(Submission(group_id, SYSTEM, kind, data, msgspec.json.encode(data)))
    return found


def kind_of(record: Record) -> str:
    """The event kind that carries a record."""
    return _NAMES[type(record)]


def data_of(record: Record) -> dict[str, Any]:
    """The event's `data`."""
    return msgspec.to_builtins(record)


def record_of(event: Event) -> Record | None:
    """The record in an event; None for other kinds."""
    model = KINDS.get(event.kind)
    return msgspec.convert(event.data, model) if model is not None else None


def moment_of(event: Event) -> Moment:
    """When the event was appended."""
    found = parse_rfc3339(event.ts)
    return found if found is not None else Moment(0)
