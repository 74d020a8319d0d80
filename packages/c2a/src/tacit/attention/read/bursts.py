"""Bursts: which lines of one person belong to one question (C2A-083, C2A-086, C2A-188).

People call somebody once and go on without the name: "@ada hey", "the importer is slow", "since noon". And
they begin before they call: "the importer is slow", "@ada can you look?". For each person and place the fold
keeps a `Burst` while one runs: whom it called, and when its newest line was said. A line without a name that
follows it within `SPAN` adds to it, whoever else speaks in between, until there are many or much time has
passed: then somebody is talking, and asks no more. It ends when somebody whom it called has
answered, when another speaks to its author, who then may be answering them, when its author turns to somebody
else or calls it off. What its author said just before the call, to nobody, belongs to it as well (`before`).

A call that asks for nothing ("@ada hi", "@ada ok great") begins one too: people greet or thank, and then say
what they want, which is asked of whoever was called. In the same chats, within the minute after a greeting
or a receipt by name, 25 of 28 questions were for the same person, and 42 of 59 other lines; after thanks
every other.

The span is from other people's chats: of 1,778 lines without a name that followed a call by the same author
within the minute 81 % were for whoever was called; of those a minute later 58 %; after that a fifth.

Decided from who spoke to whom and when alone. Nothing of what was said is kept, so that words which are taken
back leave no trace here and a rebuild folds the same.

Calls that nobody hears: an `@name` that is neither a name nor a role here (C2A-071, C2A-208).

"@reviewers who has time?" in a room without a reviewer reaches nobody, and so does a name with a slip in it.
Such a word counts as a call where people call: at the start, perhaps after a greeting, or as the last word.
Anywhere else a sign before a word is more often a piece of code ("why does @Override fail"). Whom a text does
name is for `mentions`. Knows nothing of who is told.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.attention.read.calls import worded
from tacit.attention.read.form import prose
from tacit.attention.read.lexicon import MARKS
from tacit.attention.read.mentions import is_known
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import OBLIGES_NOBODY, SOCIAL, AuthorKind, Intent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping, Sequence

    from tacit.attention.read.conversation import Conversation
    from tacit.attention.read.cues import Floor
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.read.roster import Roster
    from tacit.ledger.envelope import Event


SPAN: Final = 60 * SECOND
"""How long after a person's line the next one still belongs to the same burst."""
LASTS: Final = 3 * SPAN
"""How long after the call it is over, however much its author goes on."""
MOST: Final = 6
"""How many lines before a call go along with it, and how many without a name after it."""
APART: Final = SOCIAL | {Intent.STATUS}
"""What is no piece of a question, wherever it stands."""
_ENDS: Final = frozenset({Intent.THANKS, Intent.CANCELLATION, Intent.WITHDRAWAL, Intent.LEAVE_REQUEST})


class Burst(msgspec.Struct, frozen=True, array_like=True):
    """What one person is just saying in one place, to whom."""

    to: tuple[str, ...]
    since: Moment
    """When it called them."""
    at: Moment
    """When its newest line was said."""
    added: int = 0
    """How many lines without a name it has had."""
    small_talk: Intent | None = None
    """What it has been so far, when that asked for nothing: "@ada hi", "@ada ok great"."""

    def takes(self, at: Moment) -> bool:
        """Does a line of this moment still belong to it?"""
        return 0 <= at - self.at < SPAN and at - self.since < LASTS and self.added < MOST


def place_key(conversation: Conversation, author: str) -> tuple[str, str]:
    """Where a burst is kept: its place, and whose it is."""
    return f"{conversation.id}\n{conversation.thread or ''}", author


def running(
    bursts: Mapping[tuple[str, str], Burst], event: Event, author: str, conversation: Conversation, at: Moment
) -> Burst | None:
    """What its author is just saying in the same place, if an event may be more of that."""
    burst = bursts.get(place_key(conversation, author)) if event.kind == "chat.message" else None
    return burst if burst is not None and burst.takes(at) else None


def went_on(
    bursts: MutableMapping[tuple[str, str], Burst], parsed: ParsedMessage, to: Sequence[str], at: Moment
) -> None:
    """Fold a person's line that went on in the open with a dialogue of theirs: what follows adds to it."""
    is_open = parsed.private is None and parsed.author.kind is AuthorKind.HUMAN
    if to and is_open and not parsed.conversation.thread and not parsed.target.is_aimed:
        bursts[place_key(parsed.conversation, parsed.author.id)] = Burst(tuple(sorted(to)), at, at)


def offered(
    bursts: MutableMapping[tuple[str, str], Burst], floor: Floor, asked: ParsedMessage, to: str, at: Moment
) -> None:
    """Fold an offer of a question to the room: what its author adds goes there, if it was their last line."""
    own = (line.at for line in reversed(floor) if line.by == asked.author.id)
    if next(own, at) <= at:
        went_on(bursts, asked, [to], at)


def said(
    bursts: MutableMapping[tuple[str, str], Burst],
    parsed: ParsedMessage,
    answered: str | None,
    at: Moment,
) -> None:
    """Fold a line that all may read; `answered` is who wrote what it replies to."""
    author, target = parsed.author.id, parsed.target
    spoken_to = target.agents | target.people | parsed.nearly
    if answered is not None:
        spoken_to |= {answered}
    for other in spoken_to - {author}:
        _spoken_to(bursts, parsed, other)
    if parsed.author.kind is not AuthorKind.HUMAN:
        return
    key = place_key(parsed.conversation, author)
    known = bursts.get(key)
    if target.agents and (parsed.intent in OBLIGES_NOBODY or parsed.intent not in APART | _ENDS):
        idle = parsed.intent if parsed.intent in OBLIGES_NOBODY else None
        bursts[key] = Burst(tuple(sorted(target.agents)), at, at, small_talk=idle)
    elif known is not None:
        turns = target.is_aimed or parsed.nearly or parsed.asks_room
        if turns or parsed.intent in _ENDS or not known.takes(at):
            del bursts[key]
        elif parsed.intent not in APART:
            idle = known.small_talk if parsed.intent is Intent.GREETING else None
            bursts[key] = msgspec.structs.replace(known, at=at, added=known.added + 1, small_talk=idle)


def _spoken_to(bursts: MutableMapping[tuple[str, str], Burst], parsed: ParsedMessage, whom: str) -> None:
    """Somebody spoke to a person: whatever that one says next may be for them."""
    here = place_key(parsed.conversation, whom)
    bursts.pop(here, None)
    if parsed.conversation.thread is None:
        return
    flat = place_key(replace(parsed.conversation, thread=None), whom)
    known = bursts.get(flat)
    if known is not None and parsed.by in known.to:
        del bursts[flat]


def before(call: ParsedMessage, at: Moment, lines: Iterable[tuple[str, Moment, ParsedMessage]]) -> list[str]:
    """The lines that belong to a call although they came before it, oldest first.

    `lines` are what was said before it, the newest first: its author's own in its place, to nobody, one soon
    after the other, until somebody spoke to its author or it had turned to somebody.
    """
    found: list[str] = []
    author, later = call.author.id, at
    for event_id, when, line in lines:
        if later - when >= SPAN or len(found) == MOST:
            break
        same = (line.conversation.id, line.conversation.thread) == (
            call.conversation.id,
            call.conversation.thread,
        )
        if not same or line.private is not None:
            continue
        if line.author.id != author:
            if author in line.target.people or author in line.target.agents:
                break
            continue
        if line.target.is_aimed or line.intent in _ENDS:
            break
        if line.intent not in APART and line.intent is not Intent.GREETING:
            found.append(event_id)
        later = when
    return found[::-1]


def may_have_begun(floor: Floor, call: ParsedMessage, at: Moment) -> bool:
    """Is it a call, before which its author may have said what belongs to it?

    `floor` is its channel's, with it as the last line; that tells of the open flow alone, in a thread there
    may be such lines.
    """
    if not called(call):
        return False
    by_author = (line for line in floor[:-1] if line.by == call.author.id)
    return call.conversation.thread is not None or any(at - line.at < SPAN for line in by_author)


def called(parsed: ParsedMessage) -> bool:
    """Is it a person's line, for all, that calls agents by name?"""
    is_open = parsed.private is None and parsed.kind == "chat.message"
    return is_open and parsed.author.kind is AuthorKind.HUMAN and bool(parsed.target.agents)


def is_piece(parsed: ParsedMessage) -> bool:
    """Can a line be more of what its author has just asked of somebody?"""
    turns = parsed.target.is_aimed or parsed.nearly or parsed.asks_room
    free = not (parsed.by_agent or turns) and parsed.supersedes is None
    return free and parsed.kind == "chat.message" and parsed.intent not in APART


_WORD: Final = r"@([^\W_](?:[\w-]{0,60}[^\W_])?)(?![\w@./('\u2019]|-\w)"
_FIRST: Final = re.compile(rf"[\W_]{{0,8}}?{_WORD}")
_LAST: Final = re.compile(rf"(?:^|[\s,(]){_WORD}[\s?!.)]{{0,8}}\Z")


def is_unheard(parsed: ParsedMessage, text: str, roster: Roster) -> bool:
    """Does a message call somebody, and is nobody there who bears that name or role?"""
    target = parsed.target
    if target.agents or target.people or target.members or target.everyone:
        return False
    return bool(target.roles or unknown_names(text, roster))


def unknown_names(text: str, roster: Roster) -> list[str]:
    """The names that a text calls and that nobody here has, in their order."""
    if "@" not in text and "\uff20" not in text:
        return []
    said = prose(text.translate(MARKS)).strip()
    greeting = worded().greeting.match(said)
    calls = (_FIRST.match(said, greeting.end() if greeting is not None else 0), _LAST.search(said[-200:]))
    names = dict.fromkeys(call[1] for call in calls if call is not None)
    return [name for name in names if not is_known(name, roster)]
