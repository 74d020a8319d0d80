"""The host's end of one connection: what was sent to a harness, and not yet taken in.

Rows: C2A-008, C2A-020, C2A-028, C2A-030, C2A-041, C2A-161, C2A-179, C2A-205.

What state there is: a queue of deliveries that wait for their turn; those that were sent and neither answered
nor called back; when the last ones left. What moves it: a delivery to make, an answer, a cancellation, a new
pace, and time. Each input gives what has to be sent, in order; `next_due` says when time is an input again.

Deliveries leave in the order in which they came, at most `per_minute` in any minute. What is not accepted is
sent again with growing pauses under the same id, one `attempt` higher; an attempt never counts backwards,
also when the ledger asks for the same event once more. What this connection has had in an attempt is not sent
in that attempt again. A peer that does not acknowledge gets each once; one that wants no redelivery likewise.
A connection that ends leaves everything pending: the ledger knows what was accepted.

Values in, values out: time is an argument, in seconds of any clock that does not step back. Knows no socket,
no timer and nothing of why something is delivered.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tacit.c2a.messages import DELIVER, encode
from tacit.c2a.notifications import Cancelled, members, method_of
from tacit.c2a.retry import REDELIVERY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.c2a.messages import Delivered
    from tacit.c2a.negotiation import Agreement
    from tacit.c2a.notifications import Notification

MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send `chat/deliver`; with a request id it wants an answer."""

    delivered: Delivered
    request_id: str | None


Outgoing = Deliver | Cancelled


@dataclass(slots=True)
class _Pending:
    """One delivery on its way."""

    request_id: str
    delivered: Delivered
    tries: int = 0
    due: float = 0.0

    @property
    def attempt(self) -> int:
        """The number of the last try: what the ledger counts, and the tries on this connection."""
        return self.delivered.attempt + self.tries - 1


class HostEnd:
    """One session's deliveries on one connection, from `initialize` to its end."""

    def __init__(self, agreement: Agreement, *, per_minute: int) -> None:
        self._acknowledges = agreement.has("delivery", "ack")
        self._redelivers = agreement.has("delivery", "redelivery")
        self._cancels = agreement.has("utilities", "cancellation")
        self._per_minute = per_minute
        self._queue: deque[_Pending] = deque()
        self._sent: dict[str, _Pending] = {}
        self._had: dict[str, int] = {}
        self._recent: deque[float] = deque()

    # -- inputs

    def deliver(self, request_id: str, delivered: Delivered, now: float) -> Sequence[Outgoing]:
        """Send an event as soon as its turn comes; what this connection has had already is not sent again."""
        attempt = delivered.attempt
        if self._had.get(request_id, 0) >= attempt:
            return ()
        self._had[request_id] = attempt
        known = self._sent.get(request_id)
        if known is not None:
            # Its number goes on from the last try: an attempt never counts backwards (C2A-041).
            known.delivered, known.tries = delivered, max(0, known.attempt + 1 - attempt)
            return (self._send(known, now),)
        self._queue = deque(one for one in self._queue if one.request_id != request_id)
        self._queue.append(_Pending(request_id, delivered))
        return self._pump(now)

    def pace(self, per_minute: int, now: float) -> Sequence[Outgoing]:
        """From now on so many in a minute (C2A-205)."""
        self._per_minute = per_minute
        return self._pump(now)

    def wake(self, now: float) -> Sequence[Outgoing]:
        """Time has passed: what was not accepted in time, then what may leave now."""
        late = [one for one in self._sent.values() if self._redelivers and one.due <= now]
        return [*(self._send(one, now) for one in late), *self._pump(now)]

    def answered(self, request_id: str) -> str | None:
        """The harness answered a delivery, which is over with that; which event was it? None if none is open.

        Yes or no is the same here: a refusal is not sent again as it is (C2A-030).
        """
        pending = self._sent.pop(request_id, None)
        return pending.delivered.event_id if pending is not None else None

    def cancel(self, request_id: str, event_id: str, reason: str) -> Sequence[Outgoing]:
        """Call a delivery back (C2A-179); one that never left is simply dropped."""
        waiting = deque(one for one in self._queue if one.request_id != request_id)
        never_left = len(waiting) != len(self._queue)
        self._queue = waiting
        self._sent.pop(request_id, None)
        if never_left or not self._cancels:
            return ()
        return (Cancelled(request_id, event_id, reason),)

    # -- what can be asked

    def expects(self, request_id: str) -> bool:
        """Is a delivery on its way that was neither answered nor called back?"""
        return request_id in self._sent

    @property
    def waiting(self) -> int:
        """How many deliveries are not accepted."""
        return len(self._queue) + len(self._sent)

    @property
    def next_due(self) -> float | None:
        """When `wake` has something to do; None while only an input can change anything."""
        times = [one.due for one in self._sent.values()] if self._redelivers else []
        if self._queue and self._recent:
            times.append(self._recent[0] + MINUTE)
        return min(times, default=None)

    # -- inside

    def _pump(self, now: float) -> list[Outgoing]:
        while self._recent and self._recent[0] + MINUTE <= now:  # as `next_due` adds: rounding must agree
            self._recent.popleft()
        found: list[Outgoing] = []
        while self._queue and len(self._recent) < self._per_minute:
            self._recent.append(now)
            found.append(self._send(self._queue.popleft(), now))
        for waits in self._queue:
            # What is said or taken back while it waits is told of nobody: whoever gets it has to look.
            if not waits.delivered.late or waits.delivered.before is not None:
                waits.delivered = replace(waits.delivered, late=True, before=None)
        return found

    def _send(self, pending: _Pending, now: float) -> Deliver:
        pending.tries += 1
        delivered = replace(pending.delivered, attempt=pending.attempt)
        if pending.tries > 1:
            # What was said before it may have been taken back since it was made.
            delivered = replace(delivered, before=None)
        if not self._acknowledges:
            return Deliver(delivered, None)
        pending.due = now + REDELIVERY.pause(pending.tries - 1)
        self._sent[pending.request_id] = pending
        return Deliver(delivered, pending.request_id)


def message_of(outgoing: Deliver | Notification, version: str) -> dict[str, Any]:
    """The JSON-RPC message of something that leaves, in the agreed draft."""
    if not isinstance(outgoing, Deliver):
        return {"jsonrpc": "2.0", "method": method_of(outgoing), "params": members(outgoing)}
    message = {"jsonrpc": "2.0", "method": DELIVER, "params": encode(outgoing.delivered, version)}
    return message if outgoing.request_id is None else {**message, "id": outgoing.request_id}
