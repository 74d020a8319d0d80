"""Kinds: which exist, their profile, and who may write them.

Rows: CCCS-019, CCCS-029, CCCS-030, CCCS-045, CCCS-116, CCCS-117, CCCS-118, CCCS-119. One table. Kinds in the
standard namespaces that are not in it are refused; own kinds (`x.<vendor>.*`, `vendor.<name>.*`) are stored
without being understood, except those under the house's own prefixes.

The shapes of `data` for each standard kind.

Rows: CCCS-046, CCCS-047, CCCS-048, CCCS-049, CCCS-050, CCCS-051, CCCS-052, CCCS-053, CCCS-054, CCCS-055,
CCCS-056, CCCS-057, CCCS-058, CCCS-059, CCCS-060, CCCS-061, CCCS-062, CCCS-063, CCCS-064, CCCS-065, CCCS-066,
CCCS-067, CCCS-068, CCCS-069, CCCS-070, CCCS-071, CCCS-072, CCCS-073, CCCS-074, CCCS-075, CCCS-076, CCCS-077,
CCCS-078, CCCS-079, CCCS-080, CCCS-081, CCCS-082, CCCS-083, CCCS-084, CCCS-085, CCCS-086, CCCS-087, CCCS-088,
CCCS-089, CCCS-090, CCCS-091, CCCS-092, CCCS-093, CCCS-094, CCCS-117, CCCS-118. Types and closed value sets
only; sense (does the event exist, may this principal) is for the rules. Unknown members are allowed
everywhere and are kept (CCCS-022, CCCS-085).

Titles and display names: one line of text that nobody can take for a mention.

A title is shown in lists, in prompts and in sentences. One with a line break would begin a line of its own
there, and one that is a mention would be taken for one; a name may have none in it. Asked when an event
is admitted, and so of every door; events from before stay as they are, and names that another platform gave
its authors and places are that platform's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, cast

import msgspec
from msgspec import Meta

from tacit.base.enums import quick_members
from tacit.ledger.codes import denied, invalid
from tacit.ledger.principal import PrincipalKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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


BROADCAST: Final = frozenset({"all", "everyone", "here", "channel"})
"""Names that call everybody."""
RESERVED: Final = BROADCAST | {"foreman", "peers", "user", "system"}
"""Names that are somebody's already: whoever had one would be called in their place."""
_CONTROL: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MENTION: Final = re.compile(r"(?<!\w)[@＠]\w")  # noqa: RUF001 - the wide sign is read as a mention too
_ONLY_A_MENTION: Final = re.compile(r"\s*[@＠][\w.-]+\s*")  # noqa: RUF001


def require_titles(kind: str, data: Mapping[str, Any]) -> None:
    """Refuse a submission that gives a group, a conversation, a task or somebody such a title."""
    for what, row, title in _titles(kind, data):
        if not isinstance(title, str):
            continue
        if _CONTROL.search(title):
            raise invalid(f"{what} is one line of text, without control characters", row, reason="bad_title")
        if _is_name_of_another(title) if what == _NAME else _ONLY_A_MENTION.fullmatch(title):
            raise invalid(
                f"{what} cannot be one that reads as a mention, such as @all", row, reason="bad_title"
            )


_NAME: Final = "a display name"


def _is_name_of_another(name: str) -> bool:
    return _MENTION.search(name) is not None or name.strip().casefold() in RESERVED


def _titles(kind: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    match kind:
        case "group.create" | "group.update":
            yield "the title of a group", "CCCS-117", data.get("title")
        case "actor.add" | "actor.update":
            yield _NAME, "CCCS-011", data.get("title")
        case "x.tacit.person.add":
            yield _NAME, "CCCS-039", data.get("title")
        case "context.sync":
            for change in data["ops"]:
                yield "the title of a task or a stream", "CCCS-118", _member(change.get("value"), "title")
        case _:
            return


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


_U, _S, _A, _V, _P = (
    PrincipalKind.USER,
    PrincipalKind.SYSTEM,
    PrincipalKind.ACTOR,
    PrincipalKind.SERVICE,
    PrincipalKind.PERSON,
)
TALKERS: Final = frozenset({_U, _P, _A, _V})
READERS: Final = frozenset({_U, _P, _A})
NOTIFIERS: Final = frozenset({_S, _U, _V})
KEEPERS: Final = frozenset({_U, _S})

STANDARD: Final = ("chat.", "system.", "group.", "actor.", "context.", "assistant.")
HOUSE: Final = ("x.tacit.", "x.c2a.", "x.a2acp.")
PROFILES: Final = ("core", "management", "context")

_KIND: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+\Z")
_OWN: Final = re.compile(r"(x|vendor)\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+\Z")


@dataclass(frozen=True, slots=True)
class KindRule:
    """One row of the table."""

    profile: str
    writers: frozenset[PrincipalKind]
    model: type[msgspec.Struct]
    row: str
    foreman_may: bool = False


KINDS: Final[dict[str, KindRule]] = {
    "chat.message": KindRule("core", TALKERS, ChatMessage, "CCCS-046"),
    "chat.ack": KindRule("core", TALKERS, ChatAck, "CCCS-059"),
    "chat.read": KindRule("core", TALKERS, ChatRead, "CCCS-067"),
    "chat.reaction": KindRule("core", TALKERS, ChatReaction, "CCCS-073"),
    "system.notify": KindRule("core", NOTIFIERS, SystemNotify, "CCCS-078"),
    "system.notify_ack": KindRule("core", READERS, SystemNotifyAck, "CCCS-081"),
    "group.create": KindRule("management", KEEPERS, GroupCreate, "CCCS-117"),
    "group.update": KindRule("management", KEEPERS, GroupUpdate, "CCCS-117"),
    "group.attach_scope": KindRule("management", KEEPERS, GroupAttachScope, "CCCS-008"),
    "actor.add": KindRule("management", KEEPERS, ActorAdd, "CCCS-011", foreman_may=True),
    "actor.update": KindRule("management", KEEPERS, ActorUpdate, "CCCS-012", foreman_may=True),
    "actor.remove": KindRule("management", KEEPERS, ActorRemove, "CCCS-011", foreman_may=True),
    "context.sync": KindRule("context", TALKERS, ContextSync, "CCCS-118"),
    "x.tacit.person.add": KindRule("management", KEEPERS, PersonAdd, "CCCS-039"),
}


@quick_members
class About(Enum):
    """How a record of the house says whom it concerns."""

    EVENT = "event"
    """Its member holds an event's id: whoever may read the event."""
    TARGET = "target"
    """Its member holds `event:<id>` or `thread:<id>`: whoever may read that event."""
    PEOPLE = "people"
    """Its member lists the principals: they alone."""
    EVERYONE = "everyone"
    """The whole group; no member is asked."""


@dataclass(frozen=True, slots=True)
class Concern:
    """One way to learn whom a record concerns: what it is about, and the member of its data that says it."""

    about: About
    member: str = ""


_EVENT: Final = Concern(About.EVENT, "event_id")
_PEOPLE: Final = Concern(About.PEOPLE, "for")
_EVERYONE: Final = Concern(About.EVERYONE)
CONCERNS: Final[dict[str, tuple[Concern, ...]]] = {
    "x.tacit.person.add": (_EVERYONE,),
    "x.c2a.delivery": (_EVENT,),
    "x.c2a.accepted": (_PEOPLE,),
    "x.c2a.claim": (Concern(About.TARGET, "target"),),
    "x.c2a.disposition": (_EVENT,),
    # Leaving is seen where it happens: with the message that asked for it, in its thread, else in a channel.
    "x.c2a.membership": (_EVENT, Concern(About.EVENT, "thread"), _EVERYONE),
    "x.c2a.progress": (_EVENT, _PEOPLE),
    "x.c2a.digest": (_PEOPLE,),
    "x.c2a.approval": (_PEOPLE,),
    "x.c2a.audit": (_EVENT, _PEOPLE),
    # Whoever was there has heard it; for the others nothing was said. In a channel it lists nobody.
    "x.c2a.ephemeral": (_PEOPLE,),
    "x.c2a.session": (_EVERYONE,),
    "x.c2a.rules": (_EVERYONE,),
    "x.c2a.usage": (_PEOPLE,),
    "x.c2a.work": (_EVENT,),
    "x.c2a.turn": (_EVENT,),
}
"""Whom each record of the house concerns: tried in order, the first way that its data answers counts.

A kind that is not here concerns nobody but the owner, so that a new record is private until somebody decides
otherwise. Edits, deletes and withdrawals have rules of their own, as they hang on another event's form.
"""

EXTENSION: Final = KindRule("core", TALKERS | {_S}, Extension, "CCCS-030")


def rule_for(kind: str, profiles: frozenset[str]) -> KindRule:
    """The rule of a kind; refuses what is malformed, undefined, or of a profile not offered."""
    rule = KINDS.get(kind)
    if rule is not None:
        if rule.profile not in profiles:
            raise invalid(f"this hub does not offer the {rule.profile} profile", "CCCS-119")
        return rule
    if len(kind) > 128 or not _KIND.match(kind):
        raise invalid("a kind is a non-empty dotted name such as chat.message", "CCCS-019")
    if kind.startswith(STANDARD):
        raise invalid("this kind is not defined in its standard namespace", "CCCS-029")
    if not _OWN.match(kind):
        raise invalid("own kinds are named x.<vendor>.<name> or vendor.<name>.<what>", "CCCS-030")
    return EXTENSION


def require_writer(kind: str, rule: KindRule, writer: PrincipalKind | None, role: str | None) -> None:
    """Refuse a principal that may not write this kind (CCCS-045)."""
    if rule is EXTENSION and writer is not PrincipalKind.SYSTEM and kind.startswith(HOUSE):
        raise denied("kinds under this prefix are written by the hub alone", "CCCS-045")
    if writer in rule.writers or (rule.foreman_may and role == "foreman"):
        return
    raise denied("this principal may not write this kind", "CCCS-045")
