"""A question: the fragments of one author in one place that make one turn.

Rows: C2A-083, C2A-084, C2A-085, C2A-086, C2A-087, C2A-185, C2A-187, C2A-188. The compose window is
`tacit.harness.compose`; here it holds deliveries, forgets those that were taken back, puts an edit in its
original's place, and can be opened again with more when a turn is restarted. Values only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Mode, Policy
from tacit.harness import compose

if TYPE_CHECKING:
    from tacit.attention.settings import Settings
    from tacit.client.delivered import Delivered

MS: Final = 1000
TYPING_LASTS: Final = 6 * SECOND
"""How long a typing signal holds a window when nothing follows it: surfaces repeat it while somebody writes,
and do not always say that they have stopped."""
Key = tuple[str, str, str]


def key_of(event: Delivered) -> Key:
    """Author and place: only what has the same key is joined, never across authors or conversations."""
    return event.author.id, event.conversation, event.thread or ""


@dataclass(frozen=True, slots=True)
class Question:
    """What becomes one turn."""

    key: Key
    events: tuple[Delivered, ...]
    window: compose.Window | None = None
    """Open while the author may still be writing; None when it waits only for the model."""
    withdrawn: frozenset[str] = frozenset()
    """Fragments that were taken back; their place is kept for an edit."""
    attempt: int = 1
    restarts: int = 0
    not_before: Moment = Moment(0)
    note: str = ""
    held_until: Moment = Moment(0)
    """Its author was seen writing: the window stays open until then, up to the cap."""

    @property
    def live(self) -> tuple[Delivered, ...]:
        """The fragments that stand."""
        return tuple(one for one in self.events if one.event_id not in self.withdrawn)

    @property
    def carrier(self) -> Delivered:
        """The newest fragment: it carries the turn and its answer (C2A-087)."""
        return (self.live or self.events)[-1]

    @property
    def is_obliged(self) -> bool:
        """Is an answer owed?"""
        return any(one.policy is Policy.MUST_RESPOND for one in self.live)

    @property
    def is_pressing(self) -> bool:
        """Does it go before others?"""
        return any(one.mode is Mode.IMMEDIATE for one in self.live)

    @property
    def may_be_answered(self) -> bool:
        """Is a message allowed at all?"""
        return any(one.policy is not Policy.MUST_NOT_RESPOND for one in self.live)

    @property
    def window_opened_at(self) -> Moment:
        """When, by the hub's time, the first fragment of the present window was written."""
        first = self.window.first.event_id if self.window is not None else ""
        return next((one.created_at for one in self.events if one.event_id == first), Moment(0))

    def holds(self, event_id: str) -> bool:
        """Is this one of its fragments, standing or taken back?"""
        return any(one.event_id == event_id for one in self.events)


def asked(event: Delivered, now: Moment) -> Question:
    """A question that is whole as it is."""
    return Question(key_of(event), (event,), not_before=now)


def begun(event: Delivered, now: Moment) -> Question:
    """A question whose author may go on."""
    return Question(key_of(event), (event,), compose.opened(_fragment(event, now)))


def takes(question: Question, event: Delivered, now: Moment, settings: Settings) -> bool:
    """Does a fragment belong to a question that is still being written?

    Our own clock says whether the window is open; the hub's times keep apart what was written far apart and
    only arrives together, after an absence.
    """
    if question.window is None or question.key != key_of(event):
        return False
    apart = abs(event.created_at - question.window_opened_at) if event.created_at else 0
    return now < closes_at(question, settings) and apart < settings.compose_cap_ms * MS


def added(question: Question, event: Delivered, now: Moment) -> Question:
    """One more fragment; one that supersedes another takes its place (C2A-185)."""
    fragment = _fragment(event, now)
    window = question.window or compose.opened(fragment)
    if event.supersedes is not None and question.holds(event.supersedes):
        old = event.supersedes
        events = tuple(event if one.event_id == old else one for one in question.events)
        kept = compose.edited(window, old, fragment)
        window = (
            kept
            if any(one.event_id == event.event_id for one in kept.fragments)
            else compose.added(kept, fragment)
        )
        return replace(
            question, events=events, window=window, withdrawn=question.withdrawn - {old}, held_until=Moment(0)
        )
    if question.holds(event.event_id):
        return question
    return replace(
        question,
        events=(*question.events, event),
        window=compose.added(window, fragment),
        held_until=Moment(0),
    )


def withdrew(question: Question, event_id: str) -> Question:
    """A fragment was taken back (C2A-187)."""
    return replace(question, withdrawn=question.withdrawn | {event_id})


def typed(question: Question, now: Moment, *, typing: bool) -> Question:
    """Its author writes, or has stopped (C2A-084)."""
    if question.window is None:
        return question
    held = Moment(now + TYPING_LASTS) if typing else Moment(0)
    return replace(question, window=compose.typed(question.window, now, typing=False), held_until=held)


def reopened(question: Question, event: Delivered | None, now: Moment) -> Question:
    """The same question again, with more or with less, while nothing of an answer has been said (C2A-188).

    The window runs anew from what came last: the model was thinking, perhaps for long.
    """
    last = event or question.carrier
    anew = replace(
        question,
        window=compose.opened(_fragment(last, now)),
        restarts=question.restarts + 1,
        not_before=Moment(0),
    )
    return anew if event is None else added(anew, event, now)


def closes_at(question: Question, settings: Settings) -> Moment:
    """When it is whole."""
    if question.window is None:
        return question.not_before
    quiet = compose.closes_at(question.window, settings)
    cap = Moment(question.window.first.at + settings.compose_cap_ms * MS)
    return max(quiet, min(cap, question.held_until))


def closed(question: Question) -> Question:
    """Whole now, in the form in which it goes to the model."""
    return replace(question, window=None, events=question.live or question.events)


def _fragment(event: Delivered, now: Moment) -> compose.Fragment:
    author, conversation, thread = key_of(event)
    return compose.Fragment(
        event.event_id,
        author,
        f"{conversation}/{thread}",
        event.text,
        now,
        event.policy,
        event.mode,
        event.deadline_at,
    )
