"""The chat tools as they are listed, and the one `Send`: its grammar, its parser, its filler.

Rows: C2A-064, C2A-111, C2A-139, C2A-140, C2A-141, C2A-142, C2A-143, C2A-144, C2A-145, C2A-146, C2A-147,
C2A-148, C2A-149, C2A-150, C2A-151, C2A-159, C2A-168, C2A-170. One table of tools for every door that offers
them. A send is read by `read_send` wherever it is judged: at the hub, and in a harness before the hub sees
it. What the protocol requires and a model or an MCP client need not say is filled in by `fill_send`, by one
rule. So the same arguments are the same `Send` at every door. Whether it may be sent is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.strict_json import canonical
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.signals import SIGNALS
from tacit.c2a.vocabulary import AIM, STRENGTH, ConversationKind, Directedness
from tacit.ledger.kinds import BROADCAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.base.moment import Moment
    from tacit.c2a.negotiation import ChatTool

SEND: Final = "chat.send_message"
HOUR: Final = 3_600_000_000
_KEY_DIGITS: Final = 40


VISIBILITIES: Final = ("dm", "thread", "channel", "ephemeral")
JUSTIFICATIONS: Final = ("owner", "claimed", "helps", "unblocks")
_TEXT: Final = {"type": "string"}
_LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
_TIME: Final = {"type": "string", "description": "an RFC 3339 time"}
_EVENT: Final = {"type": "string", "description": "the id of an event"}
DURING: Final = "during"
"""The member by which a harness says which event it is at work on: whoever reads the answer to that bounds
what a reading tool shows, and tells what a send elsewhere would reveal."""
_DURING: Final = {"type": "string", "description": "the event that the caller is at work on"}
BRIEF: Final = "brief"
"""The member by which a caller wants of each message only who said what, where and when."""


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
        during=_DURING,
    ),
    "chat.read_thread": _object(
        [],
        threadId={"type": "string", "description": "the id of the thread's first message"},
        conversationId=_TEXT,
        eventId=_EVENT,
        before=_EVENT,
        after=_EVENT,
        limit=_LIMIT,
        during=_DURING,
    ),
    "chat.read_channel": _object(
        [],
        conversationId=_TEXT,
        before=_EVENT,
        after=_EVENT,
        limit=_LIMIT,
        brief={"type": "boolean", "description": "only who said what and when"},
        during=_DURING,
    ),
    "chat.members": _object([], during=_DURING),
    SEND: _object(
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
        during=_DURING,
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
        path={
            "type": "string",
            "minLength": 1,
            "maxLength": 500,
            "description": "instead: a file or folder you are about to change, from the project's root",
        },
        ttlMs={"type": "integer", "minimum": 30_000, "maximum": 3_600_000},
        release={"type": "boolean", "description": "give it back"},
        during=_DURING,
    ),
    "chat.defer": _object(
        ["eventId", "reason"],
        eventId=_EVENT,
        reason={"type": "string", "minLength": 1, "maxLength": 500},
        eta=_TEXT,
    ),
    "chat.resolve": _object([], eventId=_EVENT, threadId=_EVENT, assignmentId=_EVENT, summary=_TEXT),
    "chat.search": _object(
        ["query"],
        query={"type": "string", "minLength": 1, "maxLength": 500},
        limit=_LIMIT,
        during=_DURING,
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


def listed(tool: ChatTool, own_signals: Iterable[str] = ()) -> dict[str, Any]:
    """One entry of `tools/list`; `chat.react` takes the signals that the session declared as well."""
    schema, own = INPUTS[tool.name], list(own_signals)
    if tool.name == "chat.react" and own:
        signal = {**schema["properties"]["signal"], "enum": [*SIGNALS, *own]}
        schema = {**schema, "properties": {**schema["properties"], "signal": signal}}
    return {
        "name": tool.name,
        "description": tool.says,
        "inputSchema": schema,
        "annotations": {"readOnly": tool.read_only, "idempotent": tool.idempotent},
    }


# -- where a send goes, and whom it names


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a send goes, by its `target`: a thread by its first message, a channel, or a dm (C2A-147)."""

    kind: ConversationKind
    name: str
    """The event, the channel, or the parties as they were written."""

    @property
    def is_private(self) -> bool:
        """Does it go to named parties alone?"""
        return self.kind is ConversationKind.DM

    @property
    def parties(self) -> frozenset[str]:
        """Whom a dm is with; the sender may be among them."""
        return frozenset(self.name.split("+")) if self.is_private else frozenset()


def read_destination(target: str) -> Destination | None:
    """The destination behind a target; None when it is not one.

    `thread:<event id>`, `dm:<who>` or `dm:<who>+<who>`, `channel:<id>` and `conversation:<id>`. The id of a
    dm is `dm:<who>+<who>`; so `conversation:dm:<who>+<who>`, as a delivery from a dm names it, is that dm.
    """
    word, _, name = target.partition(":")
    if word in {"channel", "conversation"} and name.startswith("dm:"):
        word, name = "dm", name.removeprefix("dm:")
    kind = _DESTINATIONS.get(word)
    if kind is None or not name or (kind is ConversationKind.DM and "" in name.split("+")):
        return None
    return Destination(kind, name)


_DESTINATIONS: Final = {
    "thread": ConversationKind.THREAD,
    "dm": ConversationKind.DM,
    "channel": ConversationKind.CHANNEL,
    "conversation": ConversationKind.CHANNEL,
}


@dataclass(frozen=True, slots=True)
class Mentions:
    """Whom a send names: agents, people and roles by their bare names, and whether a whole place is meant."""

    names: tuple[str, ...] = ()
    channel_wide: bool = False


def read_mentions(written: Iterable[str]) -> Mentions:
    """`agent:<id>`, `human:<id>`, `role:<name>` or a bare name, with or without `@`; `@all` and its kin."""
    plain = [_bare(one) for one in written]
    names = tuple(one for one in plain if one.casefold() not in BROADCAST)
    return Mentions(names, channel_wide=len(names) < len(plain))


def _bare(written: str) -> str:
    name = written.removeprefix("@")
    for kind in ("agent:", "human:", "role:"):
        name = name.removeprefix(kind)
    return name.removeprefix("@")


# -- a send, and how it is read


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
    during: str | None = None
    """The event that the session is at work on, wherever the send goes."""
    justification: str | None = None

    @property
    def destination(self) -> Destination | None:
        """Where it goes; None when the target is not one."""
        return read_destination(self.target)


def body_of(content: object) -> str:
    """The text of a send: a string, or parts of which the text ones count (C2A-035)."""
    if isinstance(content, str):
        return content
    parts = cast("list[object]", content) if isinstance(content, list) else []
    texts = [cast("dict[str, object]", part).get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def read_send(arguments: Mapping[str, Any], session: str) -> Send | Refusal:
    """The send that a call's arguments describe; strict about types.

    What is missing or says something impossible is for the rules to refuse, which know the row of each.
    """
    unknown = sorted(set(arguments) - MEMBERS)
    if unknown:
        return refusal("invalid_request", "unknown argument", "C2A-142", unknown=unknown)
    wrong = [name for name in _WORDS if not isinstance(arguments.get(name), (str, type(None)))]
    written: object = arguments.get("mentions") or []
    mentioned = cast("list[object]", written) if isinstance(written, list) else [None]
    if not all(isinstance(one, str) for one in mentioned):
        wrong.append("mentions")
    if wrong:
        return refusal(
            "invalid_request", "an argument has another type", "C2A-142", reason="type", wrong=wrong
        )
    body = body_of(arguments.get("content"))
    if not body.strip() and not arguments.get("attachments"):
        return refusal("invalid_request", "a message says something", "C2A-142", missing=["content"])
    mentions, attempt = read_mentions(cast("list[str]", mentioned)), arguments.get("attempt", 1)
    return Send(
        session,
        target=arguments.get("target") or "",
        body=body,
        idempotency_key=arguments.get("idempotencyKey") or "",
        visibility=arguments.get("visibility") or "",
        directedness=arguments.get("directedness") or "",
        in_reply_to=arguments.get("inReplyTo"),
        mentions=mentions.names,
        channel_wide=mentions.channel_wide,
        attachments=bool(arguments.get("attachments")),
        turn=arguments.get("turn") or "",
        attempt=attempt if isinstance(attempt, int) else 1,
        started_by=arguments.get("startedBy"),
        during=arguments.get("during"),
        justification=arguments.get("justification"),
    )


MEMBERS: Final = frozenset(cast("dict[str, object]", INPUTS[SEND]["properties"]))
_WORDS: Final = (
    "target",
    "idempotencyKey",
    "visibility",
    "directedness",
    "inReplyTo",
    "turn",
    "justification",
    "startedBy",
    "during",
    "format",
)


# -- what need not be said


@dataclass(frozen=True, slots=True)
class TurnOccasion:
    """The event that a turn is about, for a send that does not name what it answers."""

    event_id: str
    reply_target: str
    private: bool = False


def fill_send(
    given: Mapping[str, Any], *, occasion: TurnOccasion | None = None, now: Moment | None = None
) -> dict[str, Any] | Refusal:
    """The whole arguments of a send; whatever the caller said itself stays as it is, and `null` was not said.

    Without a target an answer goes to the thread of the event that it answers. On an occasion a send answers
    the occasion's event where that wants its answer, unless it goes elsewhere. With `now` a key is made of
    the message; without, the caller adds its own.
    """
    arguments = {name: value for name, value in given.items() if value is not None}
    here = occasion is not None and arguments.get("target", occasion.reply_target) == occasion.reply_target
    if occasion is not None and here:
        arguments.setdefault("inReplyTo", occasion.event_id)
        arguments.setdefault("target", occasion.reply_target)
    answered = arguments.get("inReplyTo")
    if "target" not in arguments:
        if answered is None:
            return refusal(
                "invalid_request",
                "a message answers an event or goes to a target",
                "C2A-147",
                remedy="give inReplyTo (an eventId), or a target such as channel:main",
                missing=["inReplyTo", "target"],
            )
        arguments["target"] = f"thread:{answered}"
    private = here and occasion is not None and occasion.private
    arguments.setdefault("visibility", _visibility(arguments, private=private))
    arguments.setdefault("directedness", _directedness(arguments).value)
    if now is not None:
        arguments.setdefault("idempotencyKey", _key(arguments, now))
    return arguments


def _destination(arguments: Mapping[str, Any]) -> Destination | None:
    target = arguments["target"]
    return read_destination(target) if isinstance(target, str) else None


def _visibility(arguments: Mapping[str, Any], *, private: bool) -> str:
    """As widely as the place where it goes, or as the question that it answers (C2A-150)."""
    there = _destination(arguments)
    if private or (there is not None and there.is_private):
        return "dm"
    return "thread" if there is not None and there.kind is ConversationKind.THREAD else "channel"


def _directedness(arguments: Mapping[str, Any]) -> Directedness:
    """Whom it obliges (C2A-151); the host lowers it to what the address really says (C2A-115)."""
    there = _destination(arguments)
    if arguments.get("mentions") or arguments.get("inReplyTo") or (there is not None and there.is_private):
        return Directedness.TO_ME
    threaded = there is not None and there.kind is ConversationKind.THREAD
    return Directedness.TO_MY_ROLE if threaded else Directedness.AMBIENT


def _key(arguments: Mapping[str, Any], now: Moment) -> str:
    """The same for the same message: its words, what it answers, where it goes and whom it names.

    So a call that a client repeats does not post twice: for an answer for good, for a fresh post within the
    hour (the same words may be news again tomorrow; across the hour's edge the host's own look at repeated
    words holds).
    """
    answered = arguments.get("inReplyTo")
    parts = [
        answered,
        None if answered is not None else now // HOUR,
        arguments["target"],
        arguments.get("content"),
        arguments.get("mentions"),
    ]
    return "made:" + sha256(canonical(parts)).hexdigest()[:_KEY_DIGITS]
