"""Links: one connected harness each, and what was sent to it and not yet taken in.

Rows: C2A-008, 013, 020, 028, 161, 205. In the order of delivery, at most as many in a minute as the group
allows; what is not accepted is sent again with growing pauses, under the same name. Lives on the loop's
thread. A link that goes leaves everything pending: the ledger knows what was accepted.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from tacit.attention.state.deadlines import retry_after_ms
from tacit.c2a.messages import DELIVER, encode
from tacit.c2a.notifications import Cancelled, members, method_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.c2a.messages import Delivered
    from tacit.c2a.negotiation import Agreement
    from tacit.c2a.notifications import Notification

MINUTE: Final = 60.0


class Wire(Protocol):
    """A transport to one harness."""

    def send(self, message: dict[str, Any]) -> None:
        """Send one JSON-RPC message, without waiting."""
        ...

    def end(self, code: int, reason: str) -> None:
        """Close."""
        ...


@dataclass(slots=True)
class Parcel:
    """One delivery on its way."""

    request_id: str
    event_id: str
    delivered: Delivered
    tries: int = 0
    due: float = 0.0

    @property
    def attempt(self) -> int:
        """The number of the last try: what the ledger counts, and the tries on this connection."""
        return self.delivered.attempt + self.tries - 1


class Link:
    """One session's connection after `initialize`."""

    def __init__(
        self,
        session: str,
        group_id: str,
        agreement: Agreement,
        wire: Wire,
        *,
        per_minute: int,
        accepted: Callable[[Link, str], None],
    ) -> None:
        self.session = session
        self.group_id = group_id
        self.agreement = agreement
        self.wire = wire
        self.status = "idle"
        self.detail = ""
        self._per_minute = per_minute
        self._accepted = accepted
        self._queue: deque[Parcel] = deque()
        self._sent: dict[str, Parcel] = {}
        self._had: dict[str, int] = {}
        self._recent: deque[float] = deque()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    @property
    def wants_answers(self) -> bool:
        """Does the harness acknowledge?"""
        return self.agreement.has("delivery", "ack")

    def deliver(self, request_id: str, delivered: Delivered) -> None:
        """Send an event as soon as its turn comes; what this connection has had already is not sent again."""
        attempt = delivered.attempt
        if self._had.get(request_id, 0) >= attempt:
            return
        self._had[request_id] = attempt
        known = self._sent.get(request_id)
        if known is not None:
            # Its number goes on from the last try: an attempt never counts backwards (C2A-041).
            known.delivered, known.tries = delivered, max(0, known.attempt + 1 - attempt)
            self._send(known)
            self._schedule()
            return
        self._queue = deque(one for one in self._queue if one.request_id != request_id)
        self._queue.append(Parcel(request_id, delivered.event_id, delivered))
        self._pump()

    def pace(self, per_minute: int) -> None:
        """From now on so many in a minute."""
        self._per_minute = per_minute
        self._pump()

    def _pump(self) -> None:
        now = self._loop.time()
        while self._recent and self._recent[0] <= now - MINUTE:
            self._recent.popleft()
        while self._queue and len(self._recent) < self._per_minute:
            self._recent.append(now)
            self._send(self._queue.popleft())
        self._schedule()

    def _send(self, parcel: Parcel) -> None:
        parcel.tries += 1
        sent = replace(parcel.delivered, attempt=parcel.attempt)
        params = encode(sent, self.agreement.version)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": DELIVER, "params": params}
        if self.wants_answers:
            message["id"] = parcel.request_id
            parcel.due = self._loop.time() + retry_after_ms(parcel.tries) / 1000
            self._sent[parcel.request_id] = parcel
        self.wire.send(message)

    def _schedule(self) -> None:
        times = [parcel.due for parcel in self._sent.values() if self.agreement.has("delivery", "redelivery")]
        if self._queue and self._recent:
            times.append(self._recent[0] + MINUTE)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if times and not self._ended:
            self._timer = self._loop.call_at(min(times), self._wake)

    def _wake(self) -> None:
        self._timer = None
        now = self._loop.time()
        for parcel in list(self._sent.values()):
            if parcel.due <= now and self.agreement.has("delivery", "redelivery"):
                self._send(parcel)
        self._pump()

    def expects(self, request_id: str) -> bool:
        """Is a delivery on its way that was neither answered nor called back?"""
        return request_id in self._sent

    def answered(self, request_id: str, *, error: bool) -> str | None:
        """The harness answered a delivery; a refusal is not sent again as it is (C2A-030). Which event?"""
        parcel = self._sent.pop(request_id, None)
        if parcel is None:
            return None
        if not error:
            self._accepted(self, parcel.event_id)
        self._schedule()
        return parcel.event_id

    def cancel(self, request_id: str, event_id: str, reason: str) -> None:
        """Call a delivery back (C2A-179); one that never left is simply dropped."""
        waiting = [one for one in self._queue if one.request_id != request_id]
        never_left = len(waiting) != len(self._queue)
        self._queue = deque(waiting)
        self._sent.pop(request_id, None)
        self._schedule()
        if not never_left and self.agreement.has("utilities", "cancellation"):
            self.notify(Cancelled(request_id, event_id, reason))

    def notify(self, told: Notification) -> None:
        """Send a notification."""
        self.wire.send({"jsonrpc": "2.0", "method": method_of(told), "params": members(told)})

    @property
    def waiting(self) -> int:
        """How many deliveries are not accepted."""
        return len(self._queue) + len(self._sent)

    def close(self) -> None:
        """Forget timers; what was not accepted stays pending in the ledger."""
        self._ended = True
        self._schedule()
