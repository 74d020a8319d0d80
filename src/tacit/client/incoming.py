"""What an agent session hears, in the order in which it came: values, and the one that wants an answer.

Rows: C2A-160, C2A-162, C2A-179. A `Delivery` is open until `accept`; whoever accepts has stored it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.c2a.errors import INVALID_PARAMS
from tacit.c2a.messages import Accepted, Connected, Delivered, read_delivered
from tacit.c2a.notifications import Cancelled, Typing
from tacit.client.errors import LineLost

if TYPE_CHECKING:
    from tacit.client.c2a_line import C2aLine


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The line broke; the session is already trying to be back."""

    reason: str


@dataclass(slots=True, eq=False)
class Delivery:
    """An event for this session, waiting for its acknowledgement."""

    request_id: str
    params: dict[str, Any]
    event: Delivered
    _tickets: list[tuple[C2aLine, object]] = field(default_factory=list[Any], repr=False)
    _answer: dict[str, Any] | None = field(default=None, repr=False)
    is_cancelled: bool = False

    @property
    def event_id(self) -> str:
        """The event's id, the same in every attempt."""
        return self.event.event_id

    @property
    def is_accepted(self) -> bool:
        """Was it answered?"""
        return self._answer is not None

    async def accept(self, *, duplicate: bool = False) -> bool:
        """Say that it is kept for good. False when the line is gone: the hub delivers it again then."""
        if self._answer is None:
            self._answer = Accepted(self.event_id, duplicate).members()
        told = False
        for line, request_id in self._tickets:
            try:
                await line.answer(request_id, result=self._answer)
            except LineLost:
                continue
            told = True
        self._tickets.clear()
        return told

    def came_by(self, line: C2aLine, request_id: object) -> None:
        """One more attempt of the same event wants the same answer."""
        self._tickets.append((line, request_id))


def delivery_of(message: dict[str, Any]) -> Delivery:
    """The delivery in a `chat/deliver` request without faults."""
    params: dict[str, Any] = message["params"]
    return Delivery(str(message.get("id", "")), params, read_delivered(params))


def refusal_of(faults: list[str]) -> dict[str, Any]:
    """The answer to a delivery that cannot be taken (C2A-030)."""
    return {
        "code": INVALID_PARAMS,
        "message": "the delivery lacks or contradicts a member",
        "data": {
            "code": "invalid_request",
            "message": "the delivery lacks or contradicts a member",
            "details": {"row": "C2A-030", "missing": faults},
        },
    }


Incoming = Connected | Disconnected | Delivery | Cancelled | Typing
