"""What travels between a host and a harness, as values: one encoder and one parser for both drafts.

Rows: C2A-019, C2A-027, C2A-029, C2A-030, C2A-031, C2A-032, C2A-033, C2A-034, C2A-035, C2A-036, C2A-037,
C2A-038, C2A-039, C2A-040, C2A-041, C2A-042, C2A-043, C2A-044, C2A-055, C2A-071, C2A-088, C2A-117, C2A-153,
C2A-160, C2A-179, C2A-181, C2A-184, C2A-217, C2A-223.

A value says what is meant; the agreed draft decides only how it is written: the newer one (2026-06-24) has
one string for the content, three kinds of conversation and no `ack_only`, the older one (2026-06-02) has
parts, five kinds and four policies. What is read back is what was written, but for what a draft cannot say.
Readers take both drafts at any time.

Where a receiver has nothing to refuse (`delivery_shape.faults`), `read_delivered` succeeds. Knows nothing of
why something is delivered (`tacit.attention`) and nothing of connections.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import PeerFault
from tacit.base.moment import Moment, parse_rfc3339, rfc3339
from tacit.c2a.attachments import Attached, read_attachments
from tacit.c2a.delivery_shape import (
    DELIVERY,
    KNOCK,
    LINE,
    PART,
    PLACE,
    object_in,
    shaped,
    shaped_rows,
    text_in,
    text_or_none,
    unreadable,
    words_in,
)
from tacit.c2a.vocabulary import (
    NEWER,
    OLDER,
    AuthorKind,
    ConversationKind,
    Directedness,
    Mode,
    Policy,
    Priority,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DELIVER: Final = "chat/deliver"
PLATFORM: Final = "cccs"
LINE_BYTES: Final = 1_200
"""How much of an earlier line is shown beside a question (C2A-223)."""
SHARED_KINDS: Final = frozenset({ConversationKind.DM, ConversationKind.CHANNEL, ConversationKind.THREAD})
"""The kinds of conversation that both drafts know (C2A-032)."""


# -- the parts of a delivery


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote it; the display name is somebody's own words."""

    id: str
    kind: AuthorKind
    display_name: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message's content: a text, or something else by its type and title (C2A-035)."""

    type: str = "text"
    text: str | None = None
    title: str = ""

    def shown(self) -> str:
        """As one text; a part of a type that nobody knows is shown like any other."""
        return self.text if self.type == "text" and self.text is not None else f"[{self.type}: {self.title}]"


@dataclass(frozen=True, slots=True)
class Knock:
    """That something is there, without what it says: seven members, and how many events it stands for.

    Rows: C2A-036, C2A-088, C2A-090.
    """

    sender: str
    where: str
    directedness: str
    policy: str
    priority: str
    topic: str
    pull_with: str
    count: int = 1

    def members(self) -> dict[str, object]:
        """As on the wire; a count only when it stands for several."""
        found: dict[str, object] = {
            "from": self.sender,
            "where": self.where,
            "directedness": self.directedness,
            "policy": self.policy,
            "priority": self.priority,
            "topic": self.topic,
            "pullWith": self.pull_with,
        }
        return {**found, "count": self.count} if self.count > 1 else found


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier message of the thread or conversation, sent along (C2A-223)."""

    event_id: str
    author: Author
    content: tuple[Part, ...]
    created_at: str
    sequence: int = 0

    @property
    def text(self) -> str:
        """What it says, as one text."""
        return text_of(self.content)

    def cut(self) -> Earlier:
        """With as much of its text as fits; a pasted log must not take the place of all others."""
        said = self.text.encode()
        if len(said) <= LINE_BYTES:
            return self
        short = said[:LINE_BYTES].decode(errors="ignore")
        return replace(self, content=(Part(text=f"{short} [... cut]"),))


@dataclass(frozen=True, slots=True)
class Delivered:
    """One event as one session gets it: what the host decided, and as much of the event as it shows."""

    event_id: str
    conversation: str
    kind: ConversationKind
    author: Author
    directedness: Directedness
    policy: Policy
    mode: Mode
    reason: str
    priority: Priority
    created_at: Moment
    """When it was written; 0 when the host did not say, as with a digest."""
    idempotency_key: str
    content: tuple[Part, ...] | None = None
    """None when it is not shown: a knock (C2A-036)."""
    thread: str | None = None
    stream: str | None = None
    deadline_ms: int | None = None
    sequence: int = 0
    attempt: int = 1
    supersedes: str | None = None
    signal: str | None = None
    knock: Knock | None = None
    mentions: tuple[str, ...] = ()
    recipient: str | None = None
    window: tuple[Earlier, ...] = ()
    before: tuple[Earlier, ...] | None = None
    """The open lines before it; None when the host does not say what there is."""
    in_thread: bool = False
    """Is the model to see it with its thread (`injection.context`)?"""
    needs_claim: bool = False
    """May it be answered only after a claim (C2A-071, C2A-153)?"""
    reply_target: str = ""
    parties: tuple[str, ...] = ()
    """Who alone may read it, in order, the receiver among them; empty when everyone in the room may."""
    attachments: tuple[Attached, ...] = ()
    """The files it carries, where its content is shown."""
    group: str = ""
    late: bool = False
    """It is not sent as it happened: more may have been said since, also by its author (C2A-086)."""
    audience: str = field(default="", init=False, compare=False, repr=False)
    """Who reads an answer, as a key: the same for the same people, empty for the room.

    A host that does not name the parties of a dm is taken at the conversation's name.
    """

    def __post_init__(self) -> None:
        if self.parties or self.kind is not ConversationKind.DM:
            audience = "+".join(self.parties)
        else:
            audience = self.conversation or self.author.id
        object.__setattr__(self, "audience", audience)

    @property
    def text(self) -> str:
        """What it says, as one text; nothing when it is not shown."""
        return text_of(self.content or ())

    @property
    def addressed_to_me(self) -> bool:
        """The flag of the newer draft (C2A-043)."""
        return self.directedness is Directedness.TO_ME

    @property
    def deadline_at(self) -> Moment | None:
        """When an answer is due; counts from when it was written (C2A-173)."""
        return None if self.deadline_ms is None else Moment(self.created_at + self.deadline_ms * 1000)

    def with_text(self, text: str) -> Delivered:
        """The same event saying this."""
        return replace(self, content=(Part(text=text),))


def text_of(parts: Sequence[Part]) -> str:
    """Parts as one text, one below the other."""
    return "\n".join(part.shown() for part in parts)


def idempotency_key(event_id: str, session: str) -> str:
    """The same for every attempt, different for every receiver (C2A-041)."""
    return f"{event_id}:{session}"


# -- what a draft can say


def wire_policy(policy: Policy, version: str) -> Policy:
    """The newer draft has no `ack_only` (C2A-055)."""
    return Policy.MUST_NOT_RESPOND if policy is Policy.ACK_ONLY and version == NEWER else policy


def wire_kind(kind: ConversationKind, directedness: Directedness, version: str) -> ConversationKind:
    """The newer draft has three kinds (C2A-032)."""
    if version != NEWER or kind in SHARED_KINDS:
        return kind
    return ConversationKind.DM if directedness is Directedness.TO_ME else ConversationKind.CHANNEL


def wire_content(parts: Sequence[Part], version: str) -> list[dict[str, str]] | str:
    """A list of parts in the older draft, one string in the newer (C2A-035)."""
    if version != OLDER:
        return text_of(parts)
    return [
        {"type": part.type, "text": part.text} if part.text is not None else
        {"type": part.type, "title": part.title}
        for part in parts
    ]  # fmt: skip


# -- writing


LINES_BEFORE: Final = "linesBefore"
WINDOW: Final = "threadWindow"
THREAD_WINDOW: Final = "thread_window"


def _lines_member(*, in_thread: bool, thread: str | None) -> str:
    """The member that holds the open lines before an event (C2A-037, C2A-223).

    An event that is to be seen with its thread and stands in none has them as its window; one that is shown
    without its thread has them beside.
    """
    return WINDOW if in_thread and not thread else LINES_BEFORE


def encode(value: Delivered, version: str = NEWER) -> dict[str, Any]:
    """The `params` of `chat/deliver`: the members of both drafts together (C2A-044)."""
    policy = wire_policy(value.policy, version).value
    target: dict[str, Any] = {"mentions": list(value.mentions), "directedness": value.directedness.value}
    if value.recipient is not None:
        target["recipient"] = value.recipient
    timing: dict[str, Any] = {"sequence": value.sequence, **({"late": True} if value.late else {})}
    if value.created_at:
        timing = {"createdAt": rfc3339(value.created_at), **timing}
    attention: dict[str, Any] = {"policy": policy, "reason": value.reason, "priority": value.priority.value}
    if value.deadline_ms is not None:
        attention["deadlineMs"] = value.deadline_ms
    if value.needs_claim:
        attention["needsClaim"] = True
    found: dict[str, Any] = {
        "eventId": value.event_id,
        "source": {"platform": PLATFORM, "workspaceId": value.group},
        "conversation": _place_members(value, version),
        "author": _author_members(value.author),
        "target": target,
        "addressedToMe": value.addressed_to_me,
        "policy": policy,
        "timing": timing,
        "attention": attention,
        "injection": {
            "mode": value.mode.value,
            "context": THREAD_WINDOW if value.in_thread else "none",
            "role": "user",
        },
        "reliability": {"attempt": value.attempt, "idempotencyKey": value.idempotency_key},
    }
    if value.supersedes is not None:
        found["supersedes"] = value.supersedes
    if value.signal is not None:
        found["signal"] = value.signal
    if value.content is not None:
        found["content"] = wire_content(value.content, version)
    if value.knock is not None:
        found["knock"] = {**value.knock.members(), "policy": policy}
    if value.reply_target:
        found["replyTarget"] = value.reply_target
    if value.attachments:
        found["attachments"] = [one.members() for one in value.attachments]
    if value.window:
        found[WINDOW] = [_earlier_members(one, version) for one in value.window]
    if value.before is not None:
        lines = _lines_member(in_thread=value.in_thread, thread=value.thread)
        found[lines] = [_earlier_members(one, version) for one in value.before]
    return found


def _place_members(value: Delivered, version: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": value.conversation,
        "kind": wire_kind(value.kind, value.directedness, version).value,
    }
    if value.stream:
        found["streamId"] = value.stream
    if value.thread:
        found["threadId"] = value.thread
    if value.parties:
        found["parties"] = list(value.parties)
    return found


def _author_members(author: Author) -> dict[str, str]:
    return {"id": author.id, "kind": author.kind.value, "displayName": author.display_name}


def _earlier_members(one: Earlier, version: str) -> dict[str, Any]:
    return {
        "eventId": one.event_id,
        "author": _author_members(one.author),
        "content": wire_content(one.content, version),
        "createdAt": one.created_at,
        **({"sequence": one.sequence} if one.sequence else {}),
    }


# -- reading


def read_delivered(params: Mapping[str, Any]) -> Delivered:
    """The value behind the params of a `chat/deliver`; `PeerFault` when nothing can be made of them."""
    wrong = unreadable(params)
    if wrong:
        raise PeerFault(f"a delivery without {', '.join(wrong)} cannot be read")
    return read_faultless(params)


def read_faultless(params: Mapping[str, Any]) -> Delivered:
    """The same of params that were looked through already (`delivery_shape.faults`)."""
    given = shaped(params, DELIVERY)
    conversation, attention, timing = given["conversation"], given["attention"], given["timing"]
    target, reliability, injection = given["target"], given["reliability"], given["injection"]
    thread, deadline = conversation["threadId"] or None, attention["deadlineMs"]
    in_thread = injection["context"] == THREAD_WINDOW
    before = _lines_member(in_thread=in_thread, thread=thread)
    flat, before = before == WINDOW, before if before in params else LINES_BEFORE
    return Delivered(
        event_id=str(params["eventId"]),
        conversation=conversation["id"],
        kind=ConversationKind(conversation["kind"]),
        author=_author(given["author"]),
        directedness=Directedness(target["directedness"]),
        policy=Policy(attention["policy"]),
        mode=Mode(injection["mode"]),
        reason=attention["reason"],
        priority=_priority(attention["priority"]),
        created_at=parse_rfc3339(timing["createdAt"]) or Moment(0),
        idempotency_key=str(reliability["idempotencyKey"]),
        content=_parts(params["content"]) if "content" in params else None,
        thread=thread,
        stream=conversation["streamId"] or None,
        deadline_ms=deadline if isinstance(deadline, int) else None,
        sequence=timing["sequence"] or 0,
        attempt=reliability["attempt"] or 1,
        supersedes=given["supersedes"] or None,
        signal=given["signal"] or None,
        knock=_knock(given["knock"]),
        mentions=tuple(str(one) for one in cast("list[object]", target["mentions"] or [])),
        recipient=target["recipient"] or None,
        window=() if flat else read_window(params.get(WINDOW)),
        before=read_window(params[before]) if before in params else None,
        in_thread=in_thread,
        needs_claim=attention["needsClaim"] is True,
        # Where an answer goes when the host did not say (C2A-096).
        reply_target=given["replyTarget"]
        or (f"thread:{thread}" if thread else f"conversation:{conversation['id']}"),
        parties=tuple(conversation["parties"]),
        attachments=read_attachments(params["attachments"]) if "attachments" in params else (),
        group=given["source"]["workspaceId"],
        late=timing["late"] is True,
    )


def without_lines(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params without the open lines before it, which are of use only while they are fresh."""
    place = shaped(params, PLACE)
    in_thread = place["injection"]["context"] == THREAD_WINDOW
    gone = {LINES_BEFORE, _lines_member(in_thread=in_thread, thread=place["conversation"]["threadId"])}
    return {name: value for name, value in params.items() if name not in gone}


def read_window(value: object) -> tuple[Earlier, ...]:
    """The messages of a thread as a delivery or a reading tool shows them; what is none is left out."""
    return tuple(
        Earlier(
            row["eventId"],
            _author(row["author"]),
            _parts(row["content"]),
            row["createdAt"],
            row["sequence"],
        )
        for row in shaped_rows(value, LINE)
    )


def read_content(value: object) -> str:
    """The text of a content in either draft; a part that is no text is shown by its type and title."""
    return text_of(_parts(value))


def _parts(value: object) -> tuple[Part, ...]:
    if isinstance(value, str):
        return (Part(text=value),) if value else ()
    return tuple(
        Part(part["type"], part["text"] if isinstance(part["text"], str) else None, part["title"])
        for part in shaped_rows(value, PART)
    )


def _knock(given: Any) -> Knock | None:
    if not isinstance(given, dict) or not given:
        return None
    words = shaped(cast("dict[str, Any]", given), KNOCK)
    count = words.pop("count")
    return Knock(*words.values(), count=count if isinstance(count, int) and count > 1 else 1)


_KINDS: Final = {kind.value: kind for kind in AuthorKind}


def _author(given: Mapping[str, str]) -> Author:
    """An author of a kind that nobody knows counts as the system: nobody to answer to (C2A-033)."""
    return Author(given["id"], _KINDS.get(given["kind"], AuthorKind.SYSTEM), given["displayName"])


def _priority(value: object) -> Priority:
    """An unknown priority counts as normal (C2A-039)."""
    return Priority(value) if isinstance(value, str) and value in set(Priority) else Priority.NORMAL


# -- answers


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer to a delivery: it is kept for good (C2A-160)."""

    event_id: str
    duplicate: bool = False

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        return {"accepted": True, "eventId": self.event_id, "duplicate": self.duplicate}


def accepts(result: object) -> bool:
    """Does a result of `chat/deliver` take the event in?"""
    return isinstance(result, dict) and cast("dict[str, Any]", result).get("accepted") is True


@dataclass(frozen=True, slots=True)
class Initialize:
    """The greeting of whoever opened the connection (C2A-019), and what it had last (C2A-027)."""

    protocol_version: str
    name: str
    version: str
    capabilities: Mapping[str, Any]
    last_acked: str | None = None

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        found: dict[str, Any] = {
            "protocolVersion": self.protocol_version,
            "clientInfo": {"name": self.name, "version": self.version},
            "capabilities": self.capabilities,
        }
        return {**found, "resume": {"lastAckedEventId": self.last_acked}} if self.last_acked else found


def read_initialize(params: Mapping[str, Any]) -> Initialize | list[str]:
    """The greeting, or the paths of what it lacks."""
    info = object_in(params, "clientInfo")
    missing = [name for name in ("protocolVersion", "capabilities") if name not in params]
    missing += [f"clientInfo.{name}" for name in ("name", "version") if text_or_none(info, name) is None]
    if missing:
        return missing
    last = object_in(params, "resume").get("lastAckedEventId")
    return Initialize(
        str(params["protocolVersion"]),
        text_in(info, "name"),
        text_in(info, "version"),
        object_in(params, "capabilities"),
        None if last is None else str(last),
    )


@dataclass(frozen=True, slots=True)
class Connected:
    """The answer to `initialize`: what both agreed on; calls go through from now on (C2A-024)."""

    version: str
    capabilities: dict[str, Any]
    session: dict[str, Any]
    server: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def settings(self) -> dict[str, Any]:
        """The group's numbers of attention, as far as the hub tells them."""
        return object_in(self.session, "settings")

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that the session holds here."""
        return tuple(words_in(self.session.get("roles")))

    @property
    def tells(self) -> frozenset[str]:
        """What the hub says by itself, beyond what the drafts ask for; none of it from another's hub."""
        return self._words("tells")

    @property
    def hears(self) -> frozenset[str]:
        """What the hub makes sense of when it is told, beyond what the drafts ask for."""
        return self._words("hears")

    def _words(self, name: str) -> frozenset[str]:
        said: object = self.session.get(name)
        return (
            frozenset(str(one) for one in cast("list[object]", said))
            if isinstance(said, list)
            else frozenset()
        )

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        return {
            "protocolVersion": self.version,
            "capabilities": self.capabilities,
            "serverInfo": self.server,
            "session": self.session,
        }


def read_connected(result: object) -> Connected:
    """The answer as it came; what a host leaves out is empty."""
    given = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    return Connected(
        str(given.get("protocolVersion", "")),
        object_in(given, "capabilities"),
        object_in(given, "session"),
        object_in(given, "serverInfo"),
    )


@dataclass(frozen=True, slots=True)
class DispositionReport:
    """How an event ended where no tool says it: `chat/disposition` (C2A-117)."""

    event_id: str
    disposition: str
    reason: str | None = None
    merged_into: str | None = None
    error: Mapping[str, Any] | None = None

    def members(self) -> dict[str, Any]:
        """As on the wire."""
        more = {"reason": self.reason, "mergedInto": self.merged_into, "error": self.error}
        said = {name: value for name, value in more.items() if value is not None}
        return {"eventId": self.event_id, "disposition": self.disposition, **said}
