"""The parameters of every operation, as types: parsed once at the edge, described in OpenAPI from here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tacit.ledger.kinds import ClientId, Short

GroupId = Annotated[str, Meta(min_length=1, max_length=64)]
EventId = Annotated[str, Meta(min_length=1, max_length=64)]
Name = Annotated[str, Meta(min_length=1, max_length=130)]
Limit = Annotated[int, Meta(ge=1, le=1000)]
Position = Annotated[int, Meta(ge=0, lt=2**40)]


class Nothing(msgspec.Struct, frozen=True, kw_only=True):
    """No parameters."""


class NewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Open a group."""

    title: Short
    scopes: list[Annotated[str, Meta(min_length=1, max_length=2000)]] = []


class OneGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Name a group."""

    group_id: GroupId


class NewActor(msgspec.Struct, frozen=True, kw_only=True):
    """Add an actor; its token is shown once."""

    group_id: GroupId
    actor_id: Annotated[Name, Meta(extra_json_schema={"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"})]
    role: Literal["foreman", "peer"] | None = None
    title: Short | None = None
    roles: list[Annotated[str, Meta(max_length=40)]] = []


class NewPerson(msgspec.Struct, frozen=True, kw_only=True):
    """Add a further human, `usr:<id>`."""

    group_id: GroupId
    principal: Annotated[Name, Meta(extra_json_schema={"pattern": "^usr:[A-Za-z0-9][A-Za-z0-9._-]*$"})]
    title: Short | None = None
    by_link: bool = False
    """Answer with the code of a sign-in link, which works once, in place of a token."""


class NewLink(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in link: for a person of a group, or without a group for the owner."""

    group_id: GroupId | None = None
    principal: Name | None = None
    minutes: Annotated[int, Meta(ge=1, le=1440)] = 15


class NewService(msgspec.Struct, frozen=True, kw_only=True):
    """Register a service, `svc:<name>`, for all groups or for some."""

    name: Annotated[Name, Meta(extra_json_schema={"pattern": "^svc:[A-Za-z0-9][A-Za-z0-9._-]*$"})]
    groups: list[GroupId] | None = None


class NewToken(msgspec.Struct, frozen=True, kw_only=True):
    """A further token for an actor or a person of a group."""

    group_id: GroupId
    actor_id: Name


class OldToken(msgspec.Struct, frozen=True, kw_only=True):
    """Name a token by its public id."""

    token_id: Name


class AppendRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Append an event. Other envelope members are ignored; a `by` must be the caller's own."""

    group_id: GroupId
    kind: Annotated[str, Meta(min_length=1, max_length=128)]
    data: dict[str, Any]
    scope_key: str = ""
    by: str | None = None


class EventsRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Read or follow a ledger. At most one cursor."""

    group_id: GroupId
    since_seq: Position | None = None
    since_event_id: EventId | None = None
    since_ts: str | None = None
    kinds: Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)] | None = None
    limit: Limit | None = None


class OneEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Name an event."""

    group_id: GroupId
    event_id: EventId


class ThreadRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message and its newest replies."""

    group_id: GroupId
    event_id: EventId
    limit: Limit = 50


class SpeakRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A CLowl message."""

    group_id: GroupId
    message: dict[str, Any]


class TraceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A CLowl trace by its id."""

    group_id: GroupId
    tid: Annotated[str, Meta(min_length=1, max_length=128)]
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 10_000


class WindowRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The messages just before a position."""

    group_id: GroupId
    before_seq: Position | None = None
    limit: Limit = 50


class InboxRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What waits for one principal; the caller itself when nobody is named."""

    group_id: GroupId
    actor_id: Name | None = None
    limit: Limit = 100


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Words to look for; the last one may be incomplete."""

    group_id: GroupId
    q: Annotated[str, Meta(min_length=1, max_length=500)]
    limit: Limit = 20


class RelayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Bring a message from another group into this one."""

    group_id: GroupId
    src_group_id: GroupId
    src_event_id: EventId
    to: list[str] | None = None
    text: str | None = None
    priority: Literal["normal", "attention"] | None = None
    record: bool = True
    client_id: ClientId | None = None


class OneBlob(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a blob, base64 in the answer."""

    group_id: GroupId
    path: Annotated[str, Meta(min_length=1, max_length=512)]
    offset: Position = 0
    length: Annotated[int, Meta(ge=0, le=512 * 1024)] = 256 * 1024


class TypingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The caller is writing something."""

    group_id: GroupId
    conversation_id: Annotated[str, Meta(max_length=128)] | None = None


class AwayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever sits at this connection looks elsewhere, or is back."""

    away: bool


class PreviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A message that is not sent yet."""

    group_id: GroupId
    data: dict[str, Any]
    kind: Annotated[str, Meta(min_length=1, max_length=128)] = "chat.message"


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A new text for one's own message."""

    group_id: GroupId
    event_id: EventId
    text: Annotated[str, Meta(max_length=200_000)]
    mentions: list[Annotated[str, Meta(max_length=130)]] | None = None
    client_id: ClientId | None = None


class SteerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a person in charge wants: cancel or reassign an event, answer an approval, send an agent out."""

    group_id: GroupId
    op: Literal["cancel", "reassign", "approve", "refuse", "revoke", "leave", "return"]
    event_id: EventId | None = None
    agent: Name | None = None
    to: Name | None = None
    approval_id: Annotated[str, Meta(max_length=300)] | None = None
    conversation_id: Annotated[str, Meta(max_length=128)] | None = None
    scope: Literal["once", "turn", "always"] = "once"
    reason: Annotated[str, Meta(max_length=500)] = ""


class ActivityRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What agents did about an event; or have their harnesses forget it."""

    group_id: GroupId
    event_id: EventId
    forget: bool = False


class WorkRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The work of a group: what is open, and with `ended` also what ended lately."""

    group_id: GroupId
    agent: Name | None = None
    state: (
        Literal[
            "queued", "working", "out_of_touch", "waiting", "answered", "failed", "handed_over", "called_off"
        ]
        | None
    ) = None
    ended: bool = False
    limit: Limit = 100


class RulesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a group's attention, by name."""

    group_id: GroupId
    settings: dict[str, Any]


class WebhookRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent's events are posted."""

    group_id: GroupId
    actor_id: Name
    url: Annotated[str, Meta(min_length=1, max_length=2000)]
    version: str | None = None


class TimelineRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Messages with all that hangs on them; at most one position, and one of parties and root."""

    group_id: GroupId
    before_seq: Position | None = None
    after_seq: Position | None = None
    around_seq: Position | None = None
    parties: Annotated[list[Name], Meta(max_length=8)] | None = None
    root: EventId | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 50


class CrewBudget(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent may use in a day; what is left out has no limit."""

    cost_usd: Annotated[float, Meta(gt=0, le=1_000_000)] | None = None
    tokens: Annotated[int, Meta(gt=0, le=10**15)] | None = None
    turns: Annotated[int, Meta(gt=0, le=10**9)] | None = None


class NewCrewAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent for the hub to run, as an entry of a team's file says it; `options` are the driver's words."""

    group_id: GroupId
    actor_id: Annotated[Name, Meta(extra_json_schema={"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"})]
    driver: Annotated[str, Meta(min_length=1, max_length=40)]
    options: Annotated[list[Annotated[str, Meta(max_length=4000)]], Meta(max_length=64)] = []
    roles: Annotated[list[Annotated[str, Meta(max_length=40)]], Meta(max_length=32)] = []
    title: Short | None = None
    instructions: Annotated[str, Meta(max_length=20_000)] = ""
    budget: CrewBudget = CrewBudget()
    time_limit: Annotated[float, Meta(gt=0, le=604_800)] = 1800.0
    claims: bool = True
    worktree: bool = False
    sessions: Annotated[int, Meta(ge=1, le=8)] = 1
    start: bool = True


class CrewLogRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The end of an agent's log."""

    group_id: GroupId
    actor_id: Name
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class CrewWorktreeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What shall become of an agent's worktree; `force` discards work that was not merged."""

    group_id: GroupId
    actor_id: Name
    op: Literal["merge", "rebase", "discard"]
    force: bool = False


class CrewInviteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of another machine: added when it is not there, let in once by the code in the answer."""

    group_id: GroupId
    actor_id: Annotated[Name, Meta(extra_json_schema={"pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"})]
    roles: Annotated[list[Annotated[str, Meta(max_length=40)]], Meta(max_length=32)] = []
    title: Short | None = None
    hours: Annotated[float, Meta(gt=0, le=720)] = 24.0


class TracesRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The newest CLowl traces of a group."""

    group_id: GroupId
    limit: Annotated[int, Meta(ge=1, le=200)] = 50
