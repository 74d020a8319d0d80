"""A parsed message: an event of the ledger, read once for all agents (C2A-047, C2A-202, C2A-212, C2A-218).

Author, conversation, target, intent and priority. Members of `data` that imitate a decision are never
looked at, save the sender's declared directedness. Knows nothing of any single agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.read import mentions
from tacit.attention.read.calls import calls, in_passing, without_any_name
from tacit.attention.read.conversation import Conversation, author_of, conversation_of, recipients
from tacit.attention.read.dialogue import follows, talking
from tacit.attention.read.form import prose
from tacit.attention.read.intent import AFTER_CALL, asks_anybody, intent_of, thanks_and_answers
from tacit.attention.read.lexicon import MARKS
from tacit.attention.read.mentions import NO_TARGET, Target, target_of
from tacit.attention.read.near_names import nearly_called, nearly_inside
from tacit.attention.read.parsed_message import ParsedMessage
from tacit.base.moment import SECOND
from tacit.c2a.signals import signal_of
from tacit.c2a.vocabulary import OPEN, AuthorKind, ConversationKind, Directedness, Intent, Priority
from tacit.ledger.envelope import Remains

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.attention.read.context import ConversationState
    from tacit.attention.read.roster import Roster
    from tacit.attention.settings import Settings
    from tacit.c2a.messages import Author
    from tacit.ledger.envelope import Event

_PRIORITIES: Final = {priority.value: priority for priority in Priority}
_ANSWERING: Final = frozenset({"in_reply_to", "turn", "attempt"})
_SELECTED: Final = {"@peers": "peer", "@foreman": "foreman"}
_NOBODY: Final[frozenset[str]] = frozenset()
LATELY: Final = 3_600 * SECOND
"""How long after a line its author, who may write through a bridge, is taken for somebody who reads along."""
_DIRECTED: Final = {directedness.value: directedness for directedness in Directedness}


def parse_message(
    event: Event, roster: Roster, state: ConversationState, settings: Settings
) -> ParsedMessage | None:
    """The event as attention reads it; None for kinds that nobody says to anybody."""
    kind = event.kind
    if kind in {"chat.message", "x.c2a.edit"}:
        return _message(event, roster, state, settings)
    if kind == "system.notify":
        return _notice(event, roster)
    if kind == "chat.reaction":
        return _reaction(event, state)
    return None


def _message(event: Event, roster: Roster, state: ConversationState, settings: Settings) -> ParsedMessage:
    data = event.data
    author = state.author or author_of(event)
    by_agent = author.kind is AuthorKind.AGENT
    reply_to = data.get("reply_to")
    conversation = state.conversation or conversation_of(
        data, event.by, reply_to if isinstance(reply_to, str) else None
    )
    words, intent, source, said = _heard(event, author, roster, settings)
    to = recipients(data) if "to" in data else ()
    target = target_of(to, words, roster, event.by) if to or words else NO_TARGET
    attention = data.get("priority") == "attention"
    supersedes = data.get("supersedes")
    waits = state.answers is not None or bool(state.awaiting)
    if intent is Intent.THANKS and source == "text" and waits and _answers(event, said, roster):
        # Beside a question that waits, "ok, thanks" is its answer as much as "ok" is.
        intent = Intent.ACKNOWLEDGEMENT
    asks_room = not by_agent and not target.is_aimed and intent in OPEN and _asks_room(event, said)
    is_open = bool(state.floor) and not (target.is_aimed or asks_room) and author.kind is AuthorKind.HUMAN
    nearly = talking(state.floor, _nearly(event, author, said, roster), state.at) if is_open else _NOBODY
    return ParsedMessage(
        event.kind,
        author,
        event.by,
        conversation,
        by_agent,
        target,
        intent,
        source,
        _priority(data, author.kind, attention=attention)
        if attention or "urgency" in data
        else Priority.NORMAL,
        attention,
        data.get("receipt_wanted") is True,
        private=_private(event.by, to, conversation, roster, state),
        declared=_DIRECTED.get(str(data["directedness"])) if "directedness" in data else None,
        supersedes=supersedes if isinstance(supersedes, str) else None,
        has_task="refs" in data and _has_task(data),
        asks_room=asks_room,
        nearly=nearly,
        follows=follows(
            state.floor, author.id, _inside(event, author, said, roster), state.at, roster.agents, nearly
        )
        if is_open
        else (),
        only_agent=_only_agent(event, target, roster, state) if settings.dialogue else None,
    )


def _only_agent(event: Event, target: Target, roster: Roster, state: ConversationState) -> str | None:
    """Whom the one person of a group talks to there, unless somebody from outside has joined in lately."""
    if roster.pair is None or event.by != roster.pair[0] or target.is_aimed:
        return None
    others = (line for line in state.floor if line.by not in roster.pair)
    joined = any(state.at - line.at < LATELY for line in others)
    return None if joined else roster.pair[1]


def _inside(event: Event, author: Author, said: str, roster: Roster) -> frozenset[str]:
    """Whose names stand in it without being called; of a message without words whose once did."""
    if event.redacted is not None:
        return frozenset(event.redacted.heard.get("inside", ()))
    return (in_passing(said, roster) or nearly_inside(said, roster)) - {author.id}


def _nearly(event: Event, author: Author, said: str, roster: Roster) -> frozenset[str]:
    """Whose names are nearly called; of a message without words whose once were."""
    if event.redacted is not None:
        return frozenset(event.redacted.heard.get("nearly", ()))
    return nearly_called(said, roster) - {author.id}


def _asks_room(event: Event, said: str) -> bool:
    """Does a question ask whoever knows? Of a message without words, whether it once did."""
    if event.redacted is not None:
        return event.redacted.heard.get("room") is True
    return asks_anybody(said)


def _answers(event: Event, said: str, roster: Roster) -> bool:
    """Do thanks also answer what somebody had asked? Of a message without words, whether they once did."""
    if event.redacted is not None:
        return event.redacted.heard.get("answers") is True
    return thanks_and_answers(without_any_name(said, roster))


def _heard(
    event: Event, author: Author, roster: Roster, settings: Settings
) -> tuple[list[str], Intent, str, str]:
    """Whom a message names, its intent and where that is from, its prose; else what was once heard."""
    data = event.data
    words = mentions.declared(data["mentions"]) if "mentions" in data else []
    if event.redacted is not None and "intent" in event.redacted.heard:
        heard = event.redacted.heard
        return words, Intent(heard["intent"]), str(heard["from"]), ""
    given = data.get("text")
    said = prose(given if given.isascii() else given.translate(MARKS)) if isinstance(given, str) else ""
    called = calls(said, roster)
    if author.kind is AuthorKind.HUMAN:
        words += mentions.named(called, roster, vocatives=settings.vocatives)
    beside = mentions.without_names(said, called)
    by_agent = author.kind is AuthorKind.AGENT
    alone = without_any_name(said, roster)
    prose_read = beside if beside.strip(AFTER_CALL) else said
    return words, *intent_of(data, prose_read, by_agent=by_agent, nameless=alone), said


def remains_of(event: Event, roster: Roster, settings: Settings) -> Remains:
    """What must stay of a message whose words go, so that it is read as it was (C2A-214).

    Whom it named and what it wanted, as its deliveries say too; nothing that its author wrote freely.
    """
    data, author = event.data, author_of(event)
    words, intent, source, said = _heard(event, author, roster, settings)
    left: dict[str, Any] = {}
    named = [word for word in dict.fromkeys(words) if mentions.is_known(word, roster)]
    if named or event.kind == "x.c2a.edit":
        left["mentions"] = named
    if data.get("receipt_wanted") is True:
        left["receipt_wanted"] = True
    for member, known in (("urgency", _PRIORITIES), ("directedness", _DIRECTED)):
        if isinstance(value := data.get(member), str) and value in known:
            left[member] = value
    if "author" in data:
        left["author"] = {"id": author.id, "kind": author.kind.value, "displayName": author.display_name}
    if tasks := task_ids(data):
        left["refs"] = [{"kind": "task_ref", "task_id": task} for task in tasks]
    given = data.get("c2a")
    if isinstance(given, dict):
        left["c2a"] = {
            member: value for member, value in cast("dict[str, Any]", given).items() if member in _ANSWERING
        }
    heard: dict[str, Any] = {"intent": intent.value, "from": source}
    if not words and (inside := _inside(event, author, said, roster)):
        heard["inside"] = sorted(inside)
    if not words and (nearly := _nearly(event, author, said, roster)):
        heard["nearly"] = sorted(nearly)
    if not words and intent in OPEN and _asks_room(event, said):
        heard["room"] = True
    if intent is Intent.THANKS and source == "text" and _answers(event, said, roster):
        heard["answers"] = True
    if had_files(event):
        heard["files"] = True
    return Remains(left, heard)


def had_files(event: Event) -> bool:
    """Did files come with the message, also when they are gone?"""
    gone = event.redacted is not None and event.redacted.heard.get("files") is True
    return gone or bool(event.data.get("attachments"))


def task_ids(data: Mapping[str, Any]) -> list[str]:
    """The tasks that a message refers to."""
    found: list[str] = []
    refs = data.get("refs")
    for ref in cast("list[object]", refs) if isinstance(refs, list) else []:
        task = cast("dict[str, object]", ref).get("task_id") if isinstance(ref, dict) else None
        if isinstance(task, str):
            found.append(task)
    return found


def _priority(data: dict[str, Any], author: AuthorKind, *, attention: bool) -> Priority:
    """`attention` makes it high (C2A-212); people may say `urgent`, an agent cannot raise its own voice."""
    said = data.get("urgency")
    found = _PRIORITIES.get(said, Priority.NORMAL) if isinstance(said, str) else Priority.NORMAL
    if author is AuthorKind.AGENT and found in {Priority.HIGH, Priority.URGENT}:
        found = Priority.NORMAL
    if attention and found in {Priority.LOW, Priority.NORMAL}:
        return Priority.HIGH
    return found


def _private(
    by: str, to: Sequence[str], conversation: Conversation, roster: Roster, state: ConversationState
) -> frozenset[str] | None:
    """Who alone may read it; None when the group may. A name in the text lets nobody in, only `to` does.

    As the ledger has it: whom a reply names gets it instead of the other parties of what it replies to.
    """
    if state.readers is None and conversation.kind is not ConversationKind.DM:
        return None
    if not to:
        return frozenset({by}) | (state.readers or frozenset())
    parties = {one for token in to for one in _named(token, roster)}
    return frozenset({by, *parties})


def _named(token: str, roster: Roster) -> Iterable[str]:
    if (role := _SELECTED.get(token)) is not None:  # as the ledger selects: by rank, not by a role's name
        return [agent for agent, known in roster.agents.items() if known.role == role]
    found = roster.principal(token.removeprefix("@"))
    return [found] if found else []


def _has_task(data: dict[str, Any]) -> bool:
    refs = data.get("refs")
    if not isinstance(refs, list):
        return False
    return any(
        isinstance(ref, dict) and cast("dict[str, object]", ref).get("kind") == "task_ref"
        for ref in cast("list[object]", refs)
    )


def _notice(event: Event, roster: Roster) -> ParsedMessage:
    data = event.data
    named = data.get("target_actor_id")
    target = target_of([named], (), roster, event.by) if isinstance(named, str) else NO_TARGET
    safety = str(data.get("kind", "")).startswith("safety")
    author = author_of(event)
    return ParsedMessage(
        event.kind,
        author,
        event.by,
        Conversation("system", ConversationKind.SYSTEM),
        author.kind is AuthorKind.AGENT,
        target,
        Intent.SAFETY if safety else Intent.STATUS,
        "declared",
        _PRIORITIES.get(str(data.get("priority", "normal")), Priority.NORMAL),
        requires_ack=data.get("requires_ack") is True,
    )


def _reaction(event: Event, state: ConversationState) -> ParsedMessage:
    owner = state.reacted[0] if state.reacted else None
    target = Target(agents=frozenset({owner})) if owner is not None and owner != event.by else NO_TARGET
    author = author_of(event)
    return ParsedMessage(
        event.kind,
        author,
        event.by,
        state.conversation or Conversation(),
        author.kind is AuthorKind.AGENT,
        target,
        signal=signal_of(event.data),
        private=state.readers,
    )
