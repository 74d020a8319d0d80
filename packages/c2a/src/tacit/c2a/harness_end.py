"""The harness's end of a session: greetings, each event once, repeats and cancellations.

Rows: C2A-018, C2A-027, C2A-030, C2A-036, C2A-160, C2A-162, C2A-179, C2A-222.

What state there is: the deliveries that were handed over and not yet accepted; of those that were, which and
how much each asked for; and, while a connection is being greeted, what came in the same breath as the answer.
It outlives connections: they are numbered, and an answer belongs to the connection that brought the request.

Each event is handed over once. A repeat of one that still waits wants the same answer and gets it when the
event is accepted; a repeat of one that was accepted is answered at once as a duplicate, unless it asks for
more than before: a knock that became an obligation, because nobody took it, is new (C2A-222). A delivery with
faults is refused and never handed over. What was accepted last is named in the next greeting; a host that
does not know it is greeted again without.

Values in, values out; no time, no task, no socket. What is kept on disk is the caller's: `known` may remember
further than this process.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tacit.c2a.activity import ActivityWanted
from tacit.c2a.delivery_shape import faults
from tacit.c2a.errors import refusal
from tacit.c2a.messages import (
    DELIVER,
    Accepted,
    Connected,
    Delivered,
    Initialize,
    read_connected,
    read_faultless,
)
from tacit.c2a.notifications import Cancelled, Continued, PermissionDecided, Typing, read_notification
from tacit.c2a.vocabulary import STRENGTH, Policy

if TYPE_CHECKING:
    from collections.abc import Callable

REMEMBERED: Final = 10_000
"""Accepted events of which a repeat is recognised."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request that wants its answer, on the connection that brought it."""

    connection: int
    request_id: object


@dataclass(slots=True, eq=False)
class PendingEvent:
    """An event that was handed over, open until it is accepted."""

    request_id: str
    params: dict[str, Any]
    event: Delivered
    tickets: list[Ticket] = field(default_factory=list[Ticket])
    is_accepted: bool = False
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    """Answer a request of the host: a result, or an error."""

    ticket: Ticket
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


Heard = Connected | PendingEvent | Cancelled | Typing | Continued | PermissionDecided | ActivityWanted
"""What is handed over, in the order in which it came."""
Output = (
    RequestAnswered
    | Connected
    | PendingEvent
    | Cancelled
    | Typing
    | Continued
    | PermissionDecided
    | ActivityWanted
)


@dataclass(frozen=True, slots=True)
class _Had:
    """What is remembered of an accepted event."""

    request_id: str
    strength: int


def _strength(params: dict[str, Any]) -> int:
    """How much a delivery asks of the session."""
    policy = str(params.get("policy", ""))
    return STRENGTH.index(Policy(policy)) if policy in set(Policy) else 0


class HarnessEnd:
    """One agent's session with a host, over as many connections as it takes."""

    def __init__(
        self,
        greeting: Initialize,
        known: Callable[[dict[str, Any]], bool] | None = None,
        *,
        remembered: int = REMEMBERED,
    ) -> None:
        self._greeting = greeting
        self._known = known
        self._remembered = remembered
        self._connection = 0
        self._early: list[Heard] | None = []
        self._open: dict[str, PendingEvent] = {}
        self._accepted: dict[str, _Had] = {}

    # -- a connection, from its greeting to its end

    def opened(self) -> tuple[int, Initialize]:
        """A connection is there: its number, and what to say first."""
        self._connection += 1
        return self._connection, replace(self._greeting, last_acked=next(reversed(self._accepted), None))

    def greeting_refused(self, code: str) -> Initialize | None:
        """The greeting to try instead; None when the refusal stands (C2A-027)."""
        return self._greeting if code == "event_not_found" and self._accepted else None

    def greeted(self, answer: object) -> list[Heard]:
        """The host agreed: that comes first, then what came in the same breath as its answer."""
        early, self._early = self._early or [], None
        return [read_connected(answer), *early]

    def lost(self) -> None:
        """The connection ended; what was never handed over comes again by itself."""
        for item in self._early or ():
            if isinstance(item, PendingEvent):
                del self._open[item.event.event_id]
        self._early = []

    # -- what the host says

    def asked(self, request_id: object, method: str, params: dict[str, Any]) -> list[Output]:
        """A request of the host."""
        ticket = Ticket(self._connection, request_id)
        if method != DELIVER:
            unknown = refusal("unknown_op", "the harness does not know this method", "C2A-017")
            return [RequestAnswered(ticket, error=unknown.error())]
        return self._delivered(params, ticket)

    def told(self, method: str, params: dict[str, Any]) -> list[Output]:
        """A notification of the host; what makes no sense is dropped.

        A host that wants no acknowledgement sends its deliveries so (C2A-020).
        """
        if method == DELIVER:
            return self._delivered(params, None)
        match read_notification(method, params):
            case Cancelled() as cancelled:
                return self._hear(self._cancelled(cancelled))
            case Typing() | Continued() | PermissionDecided() | ActivityWanted() as said:
                return self._hear(said)
            case _:
                return []

    def accept(self, pending: PendingEvent, *, duplicate: bool = False) -> list[RequestAnswered]:
        """The event is kept for good: answer every attempt of it that came (C2A-160)."""
        event_id = pending.event.event_id
        if not pending.is_accepted:
            pending.is_accepted = True
            if self._open.get(event_id) is pending:
                del self._open[event_id]
            self._accepted.pop(event_id, None)
            self._accepted[event_id] = _Had(pending.request_id, _strength(pending.params))
            while len(self._accepted) > self._remembered:
                del self._accepted[next(iter(self._accepted))]
        result = Accepted(event_id, duplicate).members()
        tickets, pending.tickets = pending.tickets, []
        return [RequestAnswered(ticket, result) for ticket in tickets]

    # -- inside

    def _delivered(self, params: dict[str, Any], ticket: Ticket | None) -> list[Output]:
        tickets = [ticket] if ticket is not None else []
        wrong = faults(params)
        if wrong:
            refused = refusal(
                "invalid_request", "the delivery lacks or contradicts a member", "C2A-030", missing=wrong
            )
            return [RequestAnswered(one, error=refused.error()) for one in tickets]
        event = read_faultless(params)
        waiting = self._open.get(event.event_id)
        if waiting is not None:
            waiting.tickets += tickets
            return []
        if self._is_repeat(event.event_id, params):
            return [
                RequestAnswered(one, Accepted(event.event_id, duplicate=True).members()) for one in tickets
            ]
        name = str(ticket.request_id) if ticket is not None else ""
        pending = self._open[event.event_id] = PendingEvent(name, params, event, tickets)
        return self._hear(pending)

    def _is_repeat(self, event_id: str, params: dict[str, Any]) -> bool:
        if self._known is not None:
            return self._known(params)
        before = self._accepted.get(event_id)
        return before is not None and _strength(params) <= before.strength

    def _cancelled(self, cancelled: Cancelled) -> Cancelled:
        """The cancellation with its event, which a host may name by its request alone (C2A-179)."""
        request_id, event_id = cancelled.request_id, cancelled.event_id
        for pending in self._open.values():
            if request_id == pending.request_id or pending.event.event_id == event_id:
                pending.is_cancelled = True
                event_id = pending.event.event_id
        if event_id is None and request_id:
            names = (one for one, had in self._accepted.items() if had.request_id == request_id)
            event_id = next(names, None)
        return replace(cancelled, event_id=event_id)

    def _hear(self, item: Heard) -> list[Output]:
        if self._early is None:
            return [item]
        self._early.append(item)
        return []
