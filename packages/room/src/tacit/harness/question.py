"""A question: the fragments of one author in one place that make one turn.

Rows: C2A-083, C2A-084, C2A-085, C2A-086, C2A-087, C2A-185, C2A-187, C2A-188, C2A-221. People type in
pieces, an agent waits and reads once: fragments gather in a window until their author is quiet, typing or
not, up to a cap. How long quiet lasts is told by how the newest of them ends (`tacit.attention.read.form`): a
sentence with its mark is not waited for at all, a clause that asks not for a second, and an end that hangs in
the air longest. Whoever went on although the question had looked whole writes in pieces, and is waited for
from then on. The newest carries the turn. A question forgets what was taken back, puts an edit in its
original's place, and can be opened again with more when a turn is restarted. Values only; the queue in which
questions wait (`QuestionQueue`) asks `closes_at`, and the time and which slots are busy are arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tacit.attention.read.form import Ending, ending_of
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Collection

    from tacit.attention.settings import Settings
    from tacit.c2a.messages import Delivered

MS: Final = 1000
TYPING_LASTS: Final = 6 * SECOND
"""How long a typing signal holds a window when nothing follows it: surfaces repeat it while somebody writes,
and do not always say that they have stopped."""
CLAUSE_MS: Final = 700
"""How long a clause without a mark is waited for, that asks or orders something."""
HANGING_MS: Final = 5_000
"""How long at least an end is waited for after which more must come: the most that a window may be quiet."""
Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class ComposeWindow:
    """An open compose window: the fragment that opened it, and the last sign of life of its author."""

    first: str
    since: Moment
    last_sign: Moment


def _seen(window: ComposeWindow, now: Moment) -> ComposeWindow:
    return replace(window, last_sign=Moment(max(window.last_sign, now)))


def key_of(event: Delivered) -> Key:
    """Author, place and audience: only what has the same key is joined.

    Never across authors, conversations, or those who may read it.
    """
    return event.author.id, event.conversation, event.thread or "", event.audience


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """What becomes one turn."""

    key: Key
    events: tuple[Delivered, ...]
    window: ComposeWindow | None = None
    """Open while the author may still be writing; None when it waits only for the model."""
    withdrawn: frozenset[str] = frozenset()
    """Fragments that were taken back; their place is kept for an edit."""
    attempt: int = 1
    restarts: int = 0
    not_before: Moment = Moment(0)
    note: str = ""
    slot: int | None = None
    """The slot that it waits for: there lies what was begun on it. None is any that is free."""
    held_until: Moment = Moment(0)
    """Its author was seen writing: the window stays open until then, up to the cap."""
    waits_for: str = ""
    """What a person has to answer before it can go on, in words; it begins at no time before that."""
    is_held: bool = False
    """Its author asked to wait: it goes on with their next word, or at `not_before`."""

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
        first = self.window.first if self.window is not None else ""
        return next((one.created_at for one in self.events if one.event_id == first), Moment(0))

    @property
    def thread(self) -> str:
        """The thread that it is in, or that a piece of it has opened: it goes on there and nowhere else."""
        return self.key[2] or next((one.thread for one in self.events if one.thread), "")

    def holds(self, event_id: str) -> bool:
        """Is this one of its fragments, standing or taken back?"""
        return any(one.event_id == event_id for one in self.events)


def is_added(event: Delivered) -> bool:
    """Does the hub say that it is more of what its author has just asked, without the agent's name?"""
    return event.reason == Reason.ADDED.value


def asked(event: Delivered, now: Moment) -> TurnQuestion:
    """A question that is whole as it is."""
    return TurnQuestion(key_of(event), (event,), not_before=now)


def begun(event: Delivered, now: Moment) -> TurnQuestion:
    """A question whose author may go on."""
    return TurnQuestion(key_of(event), (event,), ComposeWindow(event.event_id, now, now))


def takes(question: TurnQuestion, event: Delivered, now: Moment, settings: Settings) -> bool:
    """Does a fragment belong to a question that is still being written?

    Our own clock says whether the window is open; the hub's times keep apart what was written far apart and
    only arrives together, after an absence.
    """
    if question.window is None or question.key != key_of(event) or now >= closes_at(question, settings):
        return False
    if question.thread != (event.thread or ""):
        return False
    if is_added(event) or all(is_added(one) for one in question.live):
        # The hub has looked at the times, and says that it is one question.
        return True
    apart = abs(event.created_at - question.window_opened_at) if event.created_at else 0
    return apart < settings.compose_cap_ms * MS


def added(question: TurnQuestion, event: Delivered, now: Moment) -> TurnQuestion:
    """One more fragment; one that supersedes another takes its place (C2A-185)."""
    window = _seen(question.window, now) if question.window else ComposeWindow(event.event_id, now, now)
    if event.supersedes is not None and question.holds(event.supersedes):
        old = event.supersedes
        events = tuple(event if one.event_id == old else one for one in question.events)
        if window.first == old:
            window = replace(window, first=event.event_id, since=now)
        return replace(
            question,
            events=events,
            window=window,
            withdrawn=question.withdrawn - {old},
            held_until=Moment(0),
            waits_for="",
        )
    if question.holds(event.event_id):
        return question
    return replace(
        question,
        events=(*question.events, event),
        window=window,
        held_until=Moment(0),
        waits_for="",
    )


def withdrew(question: TurnQuestion, event_id: str) -> TurnQuestion:
    """A fragment was taken back (C2A-187)."""
    return replace(question, withdrawn=question.withdrawn | {event_id}, waits_for="")


def typed(question: TurnQuestion, now: Moment, *, typing: bool) -> TurnQuestion:
    """Its author writes, or has stopped (C2A-084)."""
    if question.window is None:
        return question
    held = Moment(now + TYPING_LASTS) if typing else Moment(0)
    return replace(question, window=_seen(question.window, now), held_until=held)


def reopened(question: TurnQuestion, event: Delivered | None, now: Moment) -> TurnQuestion:
    """The same question again, with more or with less, while nothing of an answer has been said (C2A-188).

    The window runs anew from what came last: the model was thinking, perhaps for long.
    """
    last = event or question.carrier
    anew = replace(
        question,
        window=ComposeWindow(last.event_id, now, now),
        restarts=question.restarts + 1,
        not_before=Moment(0),
    )
    return anew if event is None else added(anew, event, now)


def closes_at(question: TurnQuestion, settings: Settings) -> Moment:
    """When it is whole: its author was quiet for long enough, or has written for as long as is waited."""
    window = question.window
    if window is None:
        return question.not_before
    cap = Moment(window.since + settings.compose_cap_ms * MS)
    return min(cap, max(Moment(window.last_sign + pause_ms(question, settings) * MS), question.held_until))


def pause_ms(question: TurnQuestion, settings: Settings) -> int:
    """How long its author must be quiet until it is whole.

    By how its newest line ends; as long as is usual when its author had gone on after it looked whole, or has
    taken part of it back, as more then comes.
    """
    usual = settings.compose_quiet_ms
    if not settings.compose_adapts or question.restarts or question.withdrawn:
        return usual
    if all(is_added(one) for one in question.live):
        # What it is added to is on its way, or under way.
        return usual
    newest = question.carrier
    called = tuple(one.rpartition(":")[2] for one in newest.mentions)
    match ending_of(newest.text, called):
        case Ending.WHOLE:
            return 0
        case Ending.CLAUSE:
            return min(usual, CLAUSE_MS)
        case Ending.PLAIN:
            return usual
        case Ending.HANGING:
            return max(usual, HANGING_MS)


def closed(question: TurnQuestion) -> TurnQuestion | None:
    """Whole now, in the form in which it goes to the model; None when all of it was taken back."""
    live = question.live
    return replace(question, window=None, events=live) if live else None


def may_restart(*, sent: bool, side_effects: bool, restarts: int, settings: Settings) -> bool:
    """May a turn begin again with more? While nothing has left the house; else it waits for its own turn."""
    return not sent and not side_effects and restarts < settings.compose_restarts


class QuestionQueue:
    """What waits for one agent's model, whole or still being written, each for one of its slots or for any.

    The order is theirs who press first, then of those who were whole first. A question that belongs to a turn
    that ran is kept for its slot: there lies the work, and there the model remembers it.
    """

    def __init__(self) -> None:
        self.all: list[TurnQuestion] = []
        """In the order in which they came."""

    @property
    def owed(self) -> list[Delivered]:
        """Every event that waits here and has to be answered."""
        events = (one for question in self.all for one in question.live)
        return [one for one in events if one.policy is Policy.MUST_RESPOND]

    def add(self, question: TurnQuestion) -> None:
        """One more."""
        self.all.append(question)

    def remove(self, question: TurnQuestion) -> None:
        """It waits no longer."""
        self.all.remove(question)

    def replace(self, question: TurnQuestion, changed: TurnQuestion) -> None:
        """The same one, in its place."""
        self.all[self.all.index(question)] = changed

    def put(self, changed: list[TurnQuestion]) -> None:
        """All of them, as they stand now."""
        self.all = changed

    def take_out(self, event_id: str) -> TurnQuestion | None:
        """The question that holds an event, out of the queue."""
        for place, question in enumerate(self.all):
            if question.holds(event_id):
                return self.all.pop(place)
        return None

    def in_order(self, settings: Settings) -> list[TurnQuestion]:
        """As they will be begun."""
        return [self.all[place] for _, _, place in self._ordered(self.all, settings)]

    @staticmethod
    def _ordered(waiting: list[TurnQuestion], settings: Settings) -> list[tuple[bool, Moment, int]]:
        """Of each whether others go before it, when it is whole, and its place; as they will be begun."""
        return sorted(
            (not one.is_pressing, closes_at(one, settings), place) for place, one in enumerate(waiting)
        )

    def next_due(self, settings: Settings, busy: Collection[int], free: int) -> Moment | None:
        """When the next one is whole for which there is a slot; None when there is none."""
        waiting = [one for one in self._may_begin(free) if one.slot is None or one.slot not in busy]
        return min((closes_at(one, settings) for one in waiting), default=None)

    def _may_begin(self, free: int) -> list[TurnQuestion]:
        """Without those that wait for a person, or would take the slot from one that is begun anew there."""
        kept = any(one.slot == free and one.restarts and one.window is not None for one in self.all)
        may = [one for one in self.all if not one.waits_for]
        return [one for one in may if not kept or one.slot is not None or one.is_pressing]

    def take_next(
        self, now: Moment, settings: Settings, busy: Collection[int], free: int
    ) -> TurnQuestion | None:
        """The first that is whole and has a slot, out of the queue; what was taken back whole goes too."""
        may = [one for one in self._may_begin(free) if one.slot not in busy]
        for _, whole_at, place in self._ordered(may, settings):
            if whole_at > now:
                continue
            question = may[place]
            self.all.remove(question)
            whole = closed(question)
            if whole is not None:
                return whole
        return None
