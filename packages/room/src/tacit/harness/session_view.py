"""What one session has seen and said, and what follows for a send of its own (C2A-002, C2A-004).

Rows: C2A-002, C2A-060, C2A-061, C2A-103, C2A-104, C2A-113, C2A-191, C2A-195, C2A-196, C2A-197, C2A-198,
C2A-205. A send is judged here before the hub judges it again, by the same rules
(`tacit.attention.send.rules`); this module keeps the surroundings that they ask for: what was delivered to
the session, what it said, what it claimed, where it has left. What it does not know is left to the hub. A
fold; the time is an argument.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.decide.decision import Decision
from tacit.attention.send.rules import may_send
from tacit.attention.send.surroundings import AnsweredEvent, EarlierSend, Surroundings
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state.claims import HeldClaim, event_target
from tacit.c2a.errors import Refusal
from tacit.c2a.vocabulary import ConversationKind, Directedness, Mode, Policy, Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment
    from tacit.c2a.messages import Delivered
    from tacit.c2a.tools import Send

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
