"""Dispatch: what has become durable goes out to the sessions that are there, in the order of the ledger.

Rows: C2A-006, C2A-008, C2A-027, C2A-161, C2A-179. The writer hands over a draft of what it has just
decided, so that nothing has to be read back; whatever has no draft (an older event, a thread that goes along,
a session that returns), or has to wait its turn, is read from the ledger, whole. Effects follow from durable
events and may be repeated safely. Makes no decision.

Links: one connected harness each, on the loop's thread (C2A-008, C2A-013, C2A-028, C2A-161, C2A-205).

The shell of `tacit.c2a.host_end.HostEnd`, which says what is sent and when: here are its wire and its timer,
and what people see of the harness.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from tacit.attention.io.deliveries import LOOKED_AT, delivered, with_lines
from tacit.attention.io.recent_lines import LineSource, RecentLines
from tacit.attention.io.state_store import Archive
from tacit.attention.settings import DEFAULTS
from tacit.attention.state.work import OUT_OF_TOUCH, AgentStatus
from tacit.base.errors import TacitError
from tacit.c2a.host_end import HostEnd, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from tacit.attention.commands import DeliveryDraft
    from tacit.attention.state.fold import Attention
    from tacit.attention.state.obligations import Obligation
    from tacit.attention.state.work import SessionLife
    from tacit.base.moment import Moment
    from tacit.c2a.host_end import Outgoing
    from tacit.c2a.messages import Delivered
    from tacit.c2a.negotiation import Agreement
    from tacit.c2a.notifications import Notification, Work
    from tacit.hub.store.async_ledger import AsyncLedger
    from tacit.ledger.commands import Committed
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.state import Group


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


log: Final = logging.getLogger("tacit.hub")
RECORDS_THAT_GO_OUT: Final = frozenset({"x.c2a.delivery", "x.c2a.disposition"})


class Present(Protocol):
    """Who is connected, and a place for work that runs beside."""

    def link(self, group_id: str, session: str) -> Link | None:
        """The session's connection."""
        ...

    def spawn(self, work: Any) -> None:
        """Run something beside."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a session is to hear: an event, that it was called back, or (of no event) all it has not had."""

    session: str
    event_id: str | None = None
    recalled: bool = False
    fresh: bool = False
    """It was written just now, by another node, which has the draft."""


@dataclass(slots=True)
class _Lane:
    """One group's way out: one thing after another."""

    waiting: list[Wanted] = field(default_factory=list[Wanted])
    busy: bool = False


class Dispatch:
    """The way out for every group of one hub."""

    def __init__(self, ledger: AsyncLedger, present: Present) -> None:
        self._ledger = ledger
        self._present = present
        self._lanes: defaultdict[str, _Lane] = defaultdict(_Lane)

    def committed(self, committed: Committed) -> None:
        """A record without a draft became durable: whom must it reach?"""
        data = committed.event.data
        session, event_id = str(data["session"]), str(data["event_id"])
        if committed.event.kind == "x.c2a.delivery":
            self.want(committed.group_id, Wanted(session, event_id, fresh=self._ledger.tells_of_others))
        elif data.get("disposition") == "superseded" and not data.get("reported"):
            self.want(committed.group_id, Wanted(session, event_id, recalled=True))

    def want(self, group_id: str, wanted: Wanted, draft: DeliveryDraft | None = None) -> None:
        """Send it: the draft at once if nothing is before it, else what the ledger says, in its turn."""
        link = self._present.link(group_id, wanted.session)
        if link is None:
            return
        lane = self._lanes[group_id]
        if draft is not None and not lane.busy:
            with _defended():
                link.deliver(draft.request_id, draft.delivered)
            return
        lane.waiting.append(wanted)
        if not lane.busy:
            lane.busy = True
            self._present.spawn(self._run(group_id, lane))

    async def _run(self, group_id: str, lane: _Lane) -> None:
        try:
            while lane.waiting:
                wanted, lane.waiting = lane.waiting, []
                with _defended():
                    await self._send(group_id, wanted)
        finally:
            lane.busy = False

    async def _send(self, group_id: str, wanted: Sequence[Wanted]) -> None:
        links = {one.session: self._present.link(group_id, one.session) for one in wanted}
        there = {session for session, link in links.items() if link is not None}

        def query(reader: Reader) -> list[tuple[Obligation, Delivered | None]]:
            group = reader.group(group_id)
            source, lines = LineSource(Archive.on(reader, group), reader.glance(group)), RecentLines()

            def made(obligation: Obligation, wanted: Wanted) -> Delivered | None:
                found = _made(reader, group, source.archive, obligation, late=not wanted.fresh)
                return with_lines(found, source, lines) if found is not None else None

            return [
                (obligation, made(obligation, one) if sends else None)
                for one in wanted
                if one.session in there
                for obligation, sends in _obligations(source.archive.attention, one)
            ]

        for obligation, made in await self._ledger.read(query):
            link = self._present.link(group_id, obligation.session)
            if link is None:
                continue
            if made is not None:
                link.deliver(obligation.request_id, made)
            elif obligation.closed and obligation.disposition == "superseded":
                link.cancel(obligation.request_id, obligation.event_id, obligation.note or "superseded")


@contextmanager
def _defended() -> Generator[None]:
    try:
        yield
    except TacitError as error:
        # The ledger has them all: they go out when the session connects again, or with the deadline.
        log.warning("deliveries could not be read", extra={"fault": type(error).__name__})
    except Exception:
        # The last line of defence: one event that cannot be shown must not silence its group.
        log.exception("deliveries failed unexpectedly")


def _obligations(attention: Attention, wanted: Wanted) -> list[tuple[Obligation, bool]]:
    """The obligations behind a reported disposition, each with whether it is sent or only called back."""
    obligations, session = attention.obligations, wanted.session
    if wanted.event_id is not None:
        found = obligations.get(wanted.event_id, session)
        return [(found, not wanted.recalled)] if found is not None else []
    # First what was called back while the session was away, then what it has not had.
    recalled = [obligations.get(one, session) for one in attention.recalled[session]]
    back = [(obligation, True) for obligation in recalled if obligation is not None]
    return back + [(obligation, True) for obligation in obligations.waiting_of(session)]


def _made(
    reader: Reader, group: Group, archive: Archive, obligation: Obligation, *, late: bool
) -> Delivered | None:
    if obligation.closed or obligation.accepted:
        return None
    made = delivered(
        archive, obligation, lambda first: reader.thread(group, obligation.session, first, LOOKED_AT)
    )
    return replace(made, late=late) if made is not None else None
