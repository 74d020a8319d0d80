"""Links: one connected harness each, on the loop's thread (C2A-008, C2A-013, C2A-028, C2A-161, C2A-205).

The shell of `tacit.c2a.host_end.HostEnd`, which says what is sent and when: here are its wire and its timer,
and what people see of the harness.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Protocol

from tacit.attention.settings import DEFAULTS
from tacit.attention.state.work import OUT_OF_TOUCH, AgentStatus
from tacit.c2a.host_end import HostEnd, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.attention.state.work import SessionLife
    from tacit.base.moment import Moment
    from tacit.c2a.host_end import Outgoing
    from tacit.c2a.messages import Delivered
    from tacit.c2a.negotiation import Agreement
    from tacit.c2a.notifications import Notification, Work


WORD_LASTS: Final = DEFAULTS.deadline_ms * 1_000 // 2
"""Microseconds: a session at work is heard of twice in a deadline."""


class Wire(Protocol):
    """A transport to one harness."""

    def send(self, message: dict[str, Any]) -> None:
        """Send one JSON-RPC message, without waiting."""
        ...

    def end(self, code: int, reason: str) -> None:
        """Close."""
        ...


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
        self.about: tuple[str, ...] = ()
        """The events that the detail is about."""
        self.was_greeted = False
        """Did the session hear in a greeting what the hub tells by itself? A webhook did not."""
        self.life: SessionLife | None = None
        """Its signs of life, once the host has it."""
        self.work: dict[str, Work] = {}
        """What the harness said last of each event on this connection."""
        self._accepted = accepted
        self._end = HostEnd(agreement, per_minute=per_minute)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._ended = False

    def status_at(self, now: Moment) -> AgentStatus:
        """What the harness says to be at, and more about it.

        The end of a service that is called cannot be seen: its "busy" counts for as long as its next sign of
        life may take.
        """
        is_called = self.life is not None and not self.was_greeted
        heard_at = self.life.heard_at if self.life is not None else now
        if is_called and self.status == "busy" and now - heard_at > WORD_LASTS:
            return AgentStatus(OUT_OF_TOUCH)
        return AgentStatus(self.status, self.detail, self.about)

    def deliver(self, request_id: str, delivered: Delivered) -> None:
        """Send an event as soon as its turn comes."""
        self._do(self._end.deliver(request_id, delivered, self._loop.time()))

    def pace(self, per_minute: int) -> None:
        """From now on so many in a minute."""
        self._do(self._end.pace(per_minute, self._loop.time()))

    def expects(self, request_id: str) -> bool:
        """Is a delivery on its way that was neither answered nor called back?"""
        return self._end.expects(request_id)

    def answered(self, request_id: str, *, error: bool) -> str | None:
        """The harness answered a delivery; a refusal is not sent again as it is (C2A-030). Which event?"""
        event_id = self._end.answered(request_id)
        if event_id is not None and not error:
            self._accepted(self, event_id)
        self._do(())
        return event_id

    def cancel(self, request_id: str, event_id: str, reason: str) -> None:
        """Call a delivery back (C2A-179)."""
        self._do(self._end.cancel(request_id, event_id, reason))

    def notify(self, told: Notification) -> None:
        """Send a notification."""
        self.wire.send(message_of(told, self.agreement.version))

    @property
    def waiting(self) -> int:
        """How many deliveries are not accepted."""
        return self._end.waiting

    def close(self) -> None:
        """Forget the timer; what was not accepted stays pending in the ledger."""
        self._ended = True
        self._do(())

    def _do(self, outgoing: Sequence[Outgoing]) -> None:
        for one in outgoing:
            self.wire.send(message_of(one, self.agreement.version))
        due = None if self._ended else self._end.next_due
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._wake) if due is not None else None

    def _wake(self) -> None:
        self._timer = None
        self._do(self._end.wake(self._loop.time()))
