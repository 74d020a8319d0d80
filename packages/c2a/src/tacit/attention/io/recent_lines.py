"""The last open lines of each conversation, for the questions that are asked there (C2A-223).

Only their places and ids are held, in the writer, which sees every line pass; what a line says is taken from
its newest form when a question goes out, so that an edit or a deletion counts at once. Nothing is held before
the first question: then the last messages of the group are looked through. May be lost at any time. Says when
it does not know enough: lines may lie further back than it looked.

What was delivered to each session in the last minute: what the inbound limit counts (C2A-205).

The engine remembers it while it runs. After a start, and at a node that takes a group over, the ledger has
it: a limit that began anew would not hold for whoever can have a hub started again.

A question that somebody else has asked before, and where its answer is (C2A-168).

The row forbids an agent to say the same twice to one question; a second person's question is another, and
its agent answers it. So that nobody waits for what stands there already, whoever asks what was just asked and
answered in the same channel is pointed to that answer at once. The texts are read where they are kept, and
compared as those of sends are; nothing of them is written down.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from tacit.attention.decide.decision import MINUTE
from tacit.attention.decide.delivery import content
from tacit.attention.read.conversation import author_of, conversation_of
from tacit.attention.send.similarity import nearest
from tacit.attention.state.records import Notice
from tacit.base.moment import SECOND, Moment, parse_rfc3339
from tacit.c2a.messages import Earlier
from tacit.c2a.vocabulary import OPEN, AuthorKind
from tacit.ledger.envelope import decode

if TYPE_CHECKING:
    from tacit.attention.io.state_store import Archive, PastMessages
    from tacit.attention.read.parsed_message import ParsedMessage
    from tacit.attention.state.asking import PersonQuestion
    from tacit.attention.state.fold import Attention
    from tacit.ledger.envelope import Event, StoredEvent
    from tacit.ledger.ports import EventLookup


LOOKED_THROUGH: Final = 256
"""How many messages of a group are looked through when its first question is asked."""
SPARE: Final = 8
"""Lines that are held beyond those that go along: some are taken back later."""
MOST_PLACES: Final = 500
MOST_MADE: Final = 2_000


@dataclass(frozen=True, slots=True)
class LineSource:
    """Where lines are looked up."""

    archive: Archive
    lookup: EventLookup


class RecentLines:
    """One group's last lines."""

    def __init__(self) -> None:
        self._since: int | None = None
        """The position from which on every line is known; None before the first question."""
        self._most = 0
        """How many lines of a conversation are held: another measure, another look."""
        self._lines: dict[str, deque[tuple[int, str]]] = {}
        self._made: dict[str, Earlier] = {}

    def said(self, found: StoredEvent, event: Event) -> None:
        """A message was said."""
        if self._since is not None:
            self._hold(found, event)

    def before(self, place: str, seq: int, source: LineSource) -> tuple[Earlier, ...] | None:
        """The lines before a position, oldest first; None when there may be more than are known."""
        settings = source.archive.attention.settings
        if not settings.lines_before:
            return None
        if self._since is None or self._most != settings.lines_before + SPARE:
            self._look_through(source)
        held = self._lines.get(place, ())
        is_whole = self._since == 1 and len(held) < self._most
        chosen: list[Earlier] = []
        room = settings.lines_before_chars
        for at, event_id in reversed(held):
            line = self._line(at, event_id, source.archive) if at < seq else None
            room -= len(line.text) if line is not None else 0
            if room < 0 or len(chosen) == settings.lines_before:
                is_whole = bool(chosen)
                break
            if line is not None:
                chosen.append(line)
        return tuple(reversed(chosen)) if is_whole or len(chosen) == settings.lines_before else None

    def _look_through(self, source: LineSource) -> None:
        self._lines, self._most = {}, source.archive.attention.settings.lines_before + SPARE
        messages = source.lookup.messages(LOOKED_THROUGH)
        self._since = messages[0].seq if len(messages) == LOOKED_THROUGH else 1
        for found in messages:
            self._hold(found, decode(found.raw))

    def _hold(self, found: StoredEvent, event: Event) -> None:
        """Only what everybody may read and what stands in no thread."""
        if found.kind != "chat.message" or found.private or found.root:
            return
        place = conversation_of(event.data, event.by)
        if place.id not in self._lines and len(self._lines) >= MOST_PLACES:
            # Begin anew: from here on every line is known.
            self._lines, self._since = {}, found.seq
        lines = self._lines.setdefault(place.id, deque(maxlen=self._most))
        if not lines or lines[-1][0] < found.seq:
            lines.append((found.seq, found.event_id))

    def _line(self, seq: int, event_id: str, archive: Archive) -> Earlier | None:
        latest = archive.attention.versions.shown(event_id)
        if latest is None:
            self._made.pop(event_id, None)
            return None
        made = self._made.get(event_id)
        if made is not None and made.event_id == latest:
            return made
        form = archive.past.form(latest)
        if form is None:
            return None
        if len(self._made) >= MOST_MADE:
            self._made.clear()
        made = Earlier(latest, author_of(form), content(form.data), form.ts, seq).cut()
        self._made[event_id] = made
        return made


LOOKED_AT: Final = 1_000
"""How many events are looked at: in a minute with more of them the count begins with the last of these."""
Pushes: TypeAlias = defaultdict[str, deque[Moment]]
"""By session, oldest first."""


class EventsByPlace(Protocol):
    """The events of one group."""

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position."""
        ...


def push(pushes: Pushes, session: str, at: Moment) -> None:
    """Something was delivered; what is older than a minute counts no more."""
    recent = pushes[session]
    recent.append(at)
    while recent[0] <= at - MINUTE:
        recent.popleft()


def pushes_of(events: EventsByPlace, last: int, now: Moment) -> Pushes:
    """What the ledger says, from its last event back."""
    found: list[tuple[str, Moment]] = []
    for seq in range(last, max(0, last - LOOKED_AT), -1):
        stored = events.at(seq)
        if stored is None:
            continue
        event = decode(stored.raw)
        at = parse_rfc3339(event.ts)
        if at is None or at <= now - MINUTE:
            break
        if event.kind == "x.c2a.delivery":
            found.append((str(event.data["session"]), at))
    pushes: Pushes = defaultdict(deque)
    for session, at in reversed(found):
        push(pushes, session, at)
    return pushes


RECENT: Final = 3_600 * SECOND
"""How long a question counts as just asked."""
ANSWERED_BEFORE: Final = "attention.answered_before"


def pointer(
    event: Event, parsed: ParsedMessage, attention: Attention, past: PastMessages, at: Moment
) -> Notice | None:
    """What tells a second asker where the answer is; None when it was not asked or not answered before."""
    text = event.data.get("text")
    if (
        event.kind != "chat.message"
        or parsed.private is not None
        or parsed.author.kind is not AuthorKind.HUMAN
        or parsed.intent not in OPEN
        or not isinstance(text, str)
    ):
        return None
    for earlier in reversed(attention.asking.questions.by_channel[parsed.conversation.id]):
        if earlier.by == parsed.author.id or earlier.event_id == event.id or at - earlier.at > RECENT:
            continue
        answer = _answer_to(earlier, attention)
        said = past.form(earlier.event_id) if answer else None
        words = said.data.get("text") if said is not None else None
        if isinstance(words, str) and nearest(text, [words]) >= attention.settings.similarity:
            return _told(answer, parsed.by)
    return None


def _answer_to(question: PersonQuestion, attention: Attention) -> str:
    """The newest answer of an agent, else the line of the person who answered first; empty without one."""
    latest = attention.versions.latest(question.event_id)
    if attention.versions.is_deleted(latest):
        return ""
    given = [
        answer.event_id
        for one in attention.obligations.of_event(latest)
        for answer in attention.answers[latest, one.session]
    ]
    found = given[-1] if given else question.answer
    return "" if found and attention.versions.is_deleted(found) else found


def _told(answer: str, to: str) -> Notice:
    return Notice(
        {
            "kind": ANSWERED_BEFORE,
            "priority": "normal",
            "title": "Somebody asked the same here, and it was answered.",
            "message": "The answer is where this points; whom you asked will answer you as well.",
            "related_event_id": answer,
        },
        to=to,
    )
