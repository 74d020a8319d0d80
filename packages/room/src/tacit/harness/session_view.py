"""What one session has seen and said, and what follows for a send of its own (C2A-002, C2A-004).

Rows: C2A-002, C2A-060, C2A-061, C2A-103, C2A-104, C2A-113, C2A-191, C2A-195, C2A-196, C2A-197, C2A-198,
C2A-205. A send is judged here before the hub judges it again, by the same rules
(`tacit.attention.send.rules`); this module keeps the surroundings that they ask for: what was delivered to
the session, what it said, what it claimed, where it has left. What it does not know is left to the hub. A
fold; the time is an argument.

The numbers of turns: each run of a question has a name of its own (C2A-164, C2A-166).

A turn is named by the event that carries it, which run of it this is, and the slot that runs it. Runs are
counted on over restarts of the process, by the store; the series says since when, so that the hub can tell a
rerun from a new answer. What is settled is forgotten.

Knocks and digests: shown beside the next turn whose audience may know of them, whatever that is about.

Of a turn that does not count they come back here, and wait for the next one.

Scrolling back: the lines before a question that somebody who comes in would read first (C2A-223).

Of the lines before it those of the same talk: from the newest back until a long pause, a measure of lines or
of bytes, or what the session has been shown already. Deleted lines and those inside threads are left out.
Pure: the lines come with the question, or from a look at the conversation.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.decide.decision import Decision
from tacit.attention.send.rules import may_send
from tacit.attention.send.surroundings import AnsweredEvent, EarlierSend, Surroundings
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state.claims import HeldClaim, event_target
from tacit.base.moment import SECOND, parse_rfc3339
from tacit.c2a.delivery_shape import object_in, objects
from tacit.c2a.errors import Refusal
from tacit.c2a.messages import read_window
from tacit.c2a.vocabulary import ConversationKind, Directedness, Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tacit.base.moment import Moment
    from tacit.c2a.messages import Delivered, Earlier
    from tacit.c2a.tools import Send
    from tacit.harness.effects import ModelTurn
    from tacit.harness.question import TurnQuestion


REMEMBERED: Final = 2_000
_MODE: Final = Mode.TOOL_MAILBOX
_UNTOLD: Final[dict[str, Any]] = {
    "similarity": 2.0,
    "sends_per_minute": 10_000,
    "sends_per_conversation": 10_000,
}


def settings_of(given: Mapping[str, object]) -> Settings:
    """The group's numbers, as far as the hub told them.

    For the rest the rows' values, except for the limits on speaking: an owner may have raised those, and the
    hub keeps them in any case.
    """
    known: dict[str, Any] = {
        one.name: given[one.name]
        for one in fields(Settings)
        if type(given.get(one.name)) is type(getattr(DEFAULTS, one.name))
    }
    return replace(DEFAULTS, **(_UNTOLD | known))


class SessionView:
    """What one session knows when it wants to speak."""

    def __init__(self, session: str) -> None:
        self.session = session
        self._events: OrderedDict[str, Delivered] = OrderedDict()
        self._policies: OrderedDict[str, Policy] = OrderedDict()
        self._said: deque[tuple[Moment, str, str]] = deque(maxlen=200)
        self._answers: OrderedDict[str, tuple[EarlierSend, ...]] = OrderedDict()
        self._own: OrderedDict[str, None] = OrderedDict()
        self._claims: dict[str, HeldClaim] = {}
        self._left: set[str] = set()
        self._gone: OrderedDict[str, None] = OrderedDict()

    def heard(self, event: Delivered) -> None:
        """An event came; one that names the agent brings it back to where it had left (C2A-193)."""
        _keep(self._events, event.event_id, event)
        self._policies.pop(event.event_id, None)
        if event.supersedes is not None:
            _keep(self._gone, event.supersedes, None)
        if event.directedness is Directedness.TO_ME:
            self._left.discard(event.conversation)

    def brought_again(self, event: Delivered) -> None:
        """What is known came once more: it is owed within the deadline that was named last."""
        known = self._events.get(event.event_id)
        if known is not None and event.deadline_ms is not None:
            self._events[event.event_id] = replace(known, deadline_ms=event.deadline_ms)

    def withdrawn(self, event_id: str) -> None:
        """An event was taken back."""
        _keep(self._gone, event_id, None)

    def read(self, result: object) -> None:
        """Policies of events that a tool showed: what must not be answered is known then (C2A-004)."""
        if isinstance(result, dict):
            row = cast("dict[str, Any]", result)
            event_id, policy = row.get("eventId"), row.get("policy")
            if isinstance(event_id, str) and policy in set(Policy) and event_id not in self._events:
                _keep(self._policies, event_id, Policy(policy))
            for value in row.values():
                self.read(value)
        elif isinstance(result, list):
            for value in cast("list[object]", result):
                self.read(value)

    def said(self, send: Send, event_id: str, now: Moment) -> None:
        """The session spoke."""
        self._said.append((now, send.target, send.body))
        if event_id:
            _keep(self._own, event_id, None)
        if send.in_reply_to is not None:
            sent = EarlierSend(event_id, send.body, send.target, send.turn, send.attempt)
            _keep(self._answers, send.in_reply_to, (*self._answers.get(send.in_reply_to, ()), sent))

    def claimed(self, event_id: str, owner: str, expires_at: Moment) -> None:
        """Somebody owns an event."""
        self._claims[event_id] = HeldClaim(event_target(event_id), owner, expires_at)

    def left(self, conversation: str) -> None:
        """The session has left a conversation."""
        self._left.add(conversation)

    def event(self, event_id: str | None) -> Delivered | None:
        """A delivered event, if it is remembered."""
        return self._events.get(event_id or "")

    def judge(self, send: Send, now: Moment, settings: Settings = DEFAULTS) -> Refusal | None:
        """Why this must not be sent; None when nothing here speaks against it."""
        answered = self._answered(send)
        holder = self._claims.get(send.in_reply_to or "")
        if holder is not None and holder.expires_at <= now:
            holder = None
        event = self.event(send.in_reply_to)
        around = Surroundings(
            kind=_kind(send),
            known_target=send.destination is not None,
            ephemeral=True,
            answered=answered,
            holder=holder,
            left=event is not None and event.conversation in self._left,
            recent=tuple(body for _, _, body in self._said)[-settings.similar_window :],
            sends=tuple(at for at, _, _ in self._said),
            sends_here=tuple(at for at, target, _ in self._said if target == send.target),
        )
        verdict = may_send(send, around, now, settings)
        return verdict if isinstance(verdict, Refusal) else None

    def _answered(self, send: Send) -> AnsweredEvent | None:
        event_id = send.in_reply_to
        if event_id is None:
            return None
        event = self._events.get(event_id)
        if event_id in self._own:
            forbidden = Decision(Directedness.AMBIENT, Policy.MUST_NOT_RESPOND, _MODE, Reason.AMBIENT)
            return AnsweredEvent(event_id, self.session, by_agent=True, text="", decision=forbidden)
        if event is not None:
            return AnsweredEvent(
                event_id,
                event.author.id,
                event.author.kind == "agent",
                event.text,
                _decision(event),
                superseded=event_id in self._gone,
                answers=self._answers.get(event_id, ()),
            )
        policy = self._policies.get(event_id)
        if policy is None:
            return None
        seen = Decision(Directedness.TO_ME, policy, _MODE, Reason.AMBIENT)
        return AnsweredEvent(
            event_id, "", by_agent=False, text="", decision=seen, superseded=event_id in self._gone
        )


def _kind(send: Send) -> ConversationKind:
    """Of the place that a send goes to. Whether a thread is private is known to the hub: as the send says."""
    there = send.destination
    kind = there.kind if there is not None else ConversationKind.CHANNEL
    private = kind is ConversationKind.THREAD and send.visibility == "dm"
    return ConversationKind.DM if private else kind


def _decision(event: Delivered) -> Decision:
    """What the host decided, as it was delivered. Whether a claim is needed is the hub's to say."""
    reason = Reason(event.reason) if event.reason in set(Reason) else Reason.AMBIENT
    return Decision(event.directedness, event.policy, event.mode, reason, event.priority)


def _keep(known: OrderedDict[str, Any], key: str, value: Any) -> None:
    known[key] = value
    known.move_to_end(key)
    while len(known) > REMEMBERED:
        known.popitem(last=False)


_SIGN: Final = "~"


def turn_name(carrier: str, run: int, slot: int) -> str:
    """A turn's id."""
    return f"{carrier}.{run}{_SIGN}{slot}" if slot else f"{carrier}.{run}"


def slot_of(turn_id: str) -> int:
    """In which slot a turn ran."""
    _, sign, slot = turn_id.rpartition(".")[2].partition(_SIGN)
    return int(slot) if sign and slot.isascii() and slot.isdigit() else 0


def session_name(audience: str, slot: int) -> str:
    """The name of the model's session for an audience in a slot; no two of either share it."""
    return f"{audience}\n{slot}" if slot else audience


@dataclass(slots=True)
class Runs:
    """How often the events that are not settled were begun."""

    _runs: dict[str, int] = field(default_factory=dict[str, int])
    _since: dict[str, int] = field(default_factory=dict[str, int])
    _fresh: set[str] = field(default_factory=set[str])

    def __len__(self) -> int:
        return len(self._runs.keys() | self._since.keys() | self._fresh)

    def behind(self, event_id: str, runs: int, *, asked_anew: bool) -> None:
        """So many runs lie behind an event; where it is asked anew, they belong to an answer before."""
        self._runs[event_id] = runs
        if asked_anew:
            self._since[event_id] = runs

    def in_a_new_session(self, event_id: str) -> None:
        """The next run begins a new session of the model's."""
        self._fresh.add(event_id)

    def next_of(self, question: TurnQuestion, slot: int) -> tuple[str, str, int, bool]:
        """The next run's name, its series, its number in that, and whether its session is new."""
        carrier = question.events[-1].event_id
        run = self._runs[carrier] = self._runs.get(carrier, 0) + 1
        since = self._since.get(carrier, 0)
        is_fresh = carrier in self._fresh
        self._fresh.discard(carrier)
        return turn_name(carrier, run, slot), f"{carrier}.{since}", run - since, is_fresh

    def over(self, event_id: str) -> None:
        """It is settled, or the hub brings it again and says how often it ran."""
        self._runs.pop(event_id, None)
        self._since.pop(event_id, None)
        self._fresh.discard(event_id)


@dataclass(slots=True)
class ShownBeside:
    """What waits to be shown."""

    knocks: list[Delivered] = field(default_factory=list["Delivered"])
    digests: list[Delivered] = field(default_factory=list["Delivered"])

    def drop(self, event_id: str) -> bool:
        """It was taken back; false when it is not here."""
        before = len(self.knocks) + len(self.digests)
        self.knocks = [one for one in self.knocks if one.event_id != event_id]
        self.digests = [one for one in self.digests if one.event_id != event_id]
        return len(self.knocks) + len(self.digests) < before

    def take(self, audience: str) -> tuple[tuple[Delivered, ...], tuple[Delivered, ...]]:
        """Knocks and digests for a turn that begins."""
        knocks, self.knocks = _apart(self.knocks, audience)
        digests, self.digests = _apart(self.digests, audience)
        return knocks, digests

    def give_back(self, turn: ModelTurn) -> None:
        """The run does not count."""
        self.knocks = [*turn.knocks, *self.knocks]
        self.digests = [*turn.digests, *self.digests]


def _apart(waiting: Iterable[Delivered], audience: str) -> tuple[tuple[Delivered, ...], list[Delivered]]:
    """What may be shown beside a turn for an audience, and what goes on waiting for its own.

    What the room may know, anybody may.
    """
    events = tuple(waiting)
    shown = tuple(one for one in events if one.audience in {"", audience})
    return shown, [one for one in events if one not in shown]


LINES: Final = 24
LOOKED_AT: Final = LINES + 8
"""How many lines are asked for: some lie in threads, or were taken back."""
BYTES: Final = 6_000
PAUSE: Final = 30 * 60 * SECOND
"""A silence after which another talk begins."""
ANYWAY: Final = 4
"""Lines that are shown whatever the pause: without any of them a question hangs in the air."""
OLDEST: Final = 24 * 3600 * SECOND


def wants_context(event: Delivered) -> bool:
    """Is it said in the open flow of a channel?

    What is in a thread comes with its thread; and a private conversation has a session of its own, which has
    read all of it.
    """
    flat = event.thread is None and not event.window and not event.audience
    return flat and event.content is not None and event.signal is None


def scrolled_back(
    event: Delivered, lines: Sequence[Earlier], session: str, *, shown_up_to: int | None = None
) -> tuple[Earlier, ...]:
    """The lines to show before an event, oldest first.

    `shown_up_to` is how far the session's model has read this conversation; its own words since it knows.
    """
    chosen: list[Earlier] = []
    room, later, paused = BYTES, event.created_at, False
    for given in reversed(lines):
        at = parse_rfc3339(given.created_at)
        if at is None or given.sequence >= event.sequence > 0:
            continue
        if shown_up_to is not None and (given.sequence <= shown_up_to or given.author.id == session):
            continue
        line = given.cut()
        room -= len(line.text.encode())
        paused = paused or later - at > PAUSE
        most = ANYWAY if paused else LINES
        if room < 0 or len(chosen) >= most or event.created_at - at > OLDEST:
            break
        chosen.append(line)
        later = at
    return tuple(reversed(chosen))


def open_lines(rows: object) -> tuple[Earlier, ...]:
    """The lines of a look at the conversation that stand in no thread and were not taken back."""
    return read_window(
        [
            row
            for row in objects(rows)
            if row and "threadId" not in object_in(row, "conversation") and not row.get("deleted")
        ]
    )
