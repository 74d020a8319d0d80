"""Work: one question that an agent has taken up, from its queue to its end.

Rows: C2A-122, C2A-163, C2A-173, C2A-174, C2A-175, C2A-181, C2A-206. A piece of work belongs to an event and a
session. It begins when the event obliges the session, or when the session claims it or says that it works on
it; it ends answered, failed, handed over or called off. `Works` folds it from the records; what the harness
says of it (`x.c2a.work`) is news only when the state changes.

A running turn holds its duty. Whoever reported a piece of work and has been heard of since is at it:
`alive_at` says when that was, from the fold and from what the host knows of its connections (`Lives`). So a
deadline counts silence and not effort. Nothing here asks the time, and nothing is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from tacit.attention.state import records
from tacit.attention.state.versions import REASSIGNED
from tacit.base.moment import SECOND, Moment
from tacit.c2a.vocabulary import Disposition, Policy
from tacit.ledger.ports import Lists, no_lists

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping

    from tacit.attention.state.obligations import Obligation

KEPT_ENDED: Final = 50
"""How many ended pieces of work of one session its list can show; each is still known by its event."""
LONGEST_RETRY: Final = 3_600 * SECOND
"""A failure that names the time of its next try is waited for, for so long at most."""
RECONNECT: Final = 60 * SECOND
"""How long after its own start a hub waits for a session before time counts against it."""
MS: Final = 1_000
LONGEST_MESSAGE: Final = 500
LONGEST_CODE: Final = 100
"""How much of a harness's own words a list repeats; the record has them all."""
PERSON: Final = "user"
"""Whom an obligation goes to when no agent is left."""


class WorkState(StrEnum):
    """How a piece of work stands."""

    QUEUED = "queued"
    WORKING = "working"
    WAITING = "waiting"
    ANSWERED = "answered"
    FAILED = "failed"
    HANDED_OVER = "handed_over"
    CALLED_OFF = "called_off"


class AgentStatus(NamedTuple):
    """What an agent's harness says to be at."""

    status: str
    detail: str = ""
    about: tuple[str, ...] = ()
    """The events that the detail is about: it is for those who may read all of them."""


OFFLINE: Final = AgentStatus("offline")


AT_WORK: Final = frozenset({WorkState.QUEUED, WorkState.WORKING, WorkState.WAITING})
OUT_OF_TOUCH: Final = "out_of_touch"
"""Shown instead of what a harness said last: it is gone, or its next sign of life is overdue."""
IN_HAND: Final = frozenset({WorkState.QUEUED, WorkState.WORKING})
"""In these a session has to go on by itself: only while it is there is that so."""
ATTEMPTS: Final = frozenset({WorkState.QUEUED, WorkState.FAILED})
"""From these a piece of work that is taken up begins a new attempt; waiting for a person is none."""


@dataclass(frozen=True, slots=True)
class PieceOfWork:
    """One session's work on one event."""

    event_id: str
    session: str
    state: WorkState
    since: Moment
    updated: Moment
    started: Moment | None = None
    ended: Moment | None = None
    attempt: int = 0
    position: int = 0
    """How many pieces of work were before it when the harness queued it."""
    code: str = ""
    message: str = ""
    retry_at: Moment | None = None
    to: str = ""
    """Who has it now, when it was handed over; or who was told that it failed."""
    turn: str = ""
    reported: bool = False
    """Did the harness itself say how it stands? Then hearing from it holds the duty."""
    tokens: int = 0
    cost: float = 0.0
    currency: str = ""

    @property
    def is_open(self) -> bool:
        """Does it go on?"""
        return self.ended is None

    @property
    def holds(self) -> bool:
        """Does a sign of life of its session keep the obligation where it is?"""
        return self.reported and self.is_open and (self.state in AT_WORK or self.retry_at is not None)


class SessionLife(msgspec.Struct, frozen=True, array_like=True):
    """What the host knows of a session: since when it is connected, when it was last heard, what it reported.

    `reported` are the events that it spoke of on this connection. One that is gone keeps its last word.
    """

    session: str
    connected_at: Moment
    heard_at: Moment
    reported: frozenset[str] = frozenset()
    connected: bool = True


@dataclass(frozen=True, slots=True)
class Lives:
    """Every session's signs of life, and the moment from which the hub could have heard any."""

    since: Moment = Moment(0)
    sessions: Mapping[str, SessionLife] = field(default_factory=dict[str, SessionLife])
    is_unsure: bool = False
    """Whether nobody knows how much time had passed when the hub began, since its clock is in doubt."""

    def excused_until(self, session: str, before: Moment, span: int = 0) -> Moment:
        """Until when a session is waited for; `before` is when its time, `span` of it, began to run.

        Only what is older than the hub's own start is excused: nobody could speak to a hub that was down. Who
        is not back yet is waited for a moment; where it is unsure how long the hub was down, the whole span
        begins anew, so that a clock that leapt does not end everything at once.
        """
        if before >= self.since:
            return Moment(0)
        life = self.sessions.get(session)
        is_back = life is not None and life.connected
        return Moment(max(self.begun_anew(span), 0 if is_back else self.since + RECONNECT))

    def begun_anew(self, span: int) -> Moment:
        """When a span that began before the hub did is over."""
        return Moment(self.since + span) if self.is_unsure else Moment(0)


NO_LIVES: Final = Lives()


def alive_at(piece: PieceOfWork | None, lives: Lives) -> Moment:
    """When a session was last known to be at a piece of work; 0 when nothing says so.

    What it has not spoken of again on this connection counts from the moment it came back: a harness that
    lost its memory holds nothing for ever.
    """
    if piece is None or not piece.holds:
        return Moment(0)
    life = lives.sessions.get(piece.session)
    if life is None:
        return lives.since if piece.updated < lives.since else Moment(0)
    # A report that was written down counts like one that the host has kept: that one is forgotten when the
    # question is brought again, and that of another node comes a moment later.
    is_spoken_of = piece.event_id in life.reported or piece.updated > life.connected_at
    at = life.heard_at if is_spoken_of else life.connected_at
    if life.connected and piece.retry_at is not None:
        at = max(at, min(piece.retry_at, piece.updated + LONGEST_RETRY))
    return Moment(at)


def silent_since(piece: PieceOfWork, lives: Lives, deadline_ms: int, now: Moment) -> Moment | None:
    """Since when nothing has been heard of whoever should be at a piece of work; None while it is in touch.

    A connection that ended says so at once; on one that stands a session reports twice in a deadline. Of what
    no harness reported (a signal, progress), and of what is put off, no sign of life is due.
    """
    if not piece.holds or piece.state not in IN_HAND or piece.retry_at is not None:
        return None
    life = lives.sessions.get(piece.session)
    is_gone = piece.updated < lives.since if life is None else not life.connected
    heard = Moment(max(alive_at(piece, lives), piece.updated))
    return heard if is_gone or now - heard > deadline_ms * MS // 2 else None


def extension(piece: PieceOfWork, alive: Moment) -> records.WorkRecord:
    """The record that a session is still at it: its time counts from there (C2A-173)."""
    return records.WorkRecord(
        event_id=piece.event_id,
        session=piece.session,
        state=piece.state.value,
        turn=piece.turn,
        position=piece.position,
        code=piece.code,
        message=piece.message,
        retry_at=piece.retry_at or 0,
        alive_at=alive,
    )


def is_news(piece: PieceOfWork | None, record: records.WorkRecord) -> bool:
    """Does a report say more than that the session is alive? A place in the queue alone does not."""
    if piece is None or not piece.reported:
        return True
    known = (piece.state.value, piece.code, piece.message, piece.retry_at or 0)
    told = (record.state, record.code, record.message, record.retry_at)
    return known != told or bool(record.turn and record.turn != piece.turn)


class Works:
    """Every piece of work of a group, folded from the records of attention.

    Where they are kept is the caller's choice; those that are open are always at hand.
    """

    __slots__ = ("_by_event", "_ended", "_pieces")

    def __init__(
        self,
        pieces: MutableMapping[tuple[str, str], PieceOfWork] | None = None,
        by_event: Lists[str, str] | None = None,
        ended: Lists[str, str] | None = None,
    ) -> None:
        self._pieces: MutableMapping[tuple[str, str], PieceOfWork] = {} if pieces is None else pieces
        self._by_event: Lists[str, str] = no_lists() if by_event is None else by_event
        self._ended: Lists[str, str] = no_lists() if ended is None else ended

    # -- what can be asked

    def get(self, event_id: str, session: str) -> PieceOfWork | None:
        """A session's work on an event."""
        return self._pieces.get((event_id, session))

    def of_event(self, event_id: str) -> list[PieceOfWork]:
        """Everybody's work on an event."""
        return [self._pieces[event_id, session] for session in self._by_event[event_id]]

    def __iter__(self) -> Iterator[PieceOfWork]:
        """What is open."""
        return (piece for piece in self._pieces.values() if piece.is_open)

    def ended_of(self, session: str) -> list[PieceOfWork]:
        """What a session ended last, the newest first."""
        found = (self._pieces.get((one, session)) for one in reversed(self._ended[session]))
        return [piece for piece in found if piece is not None and not piece.is_open]

    # -- the fold

    def delivered(self, record: records.DeliveryRecord, at: Moment, owing: str) -> None:
        """An event that obliges begins work; a copy that was lowered is with somebody else: `owing`."""
        known = self.get(record.event_id, record.session)
        if record.policy == Policy.MUST_RESPOND:
            for other in self.of_event(record.event_id):
                if other.state is WorkState.HANDED_OVER and not other.to and other.session != record.session:
                    self._put(replace(other, to=record.session))
            if known is None or not known.is_open:
                self._begin(record.event_id, record.session, at, known)
            elif known.retry_at is not None and known.retry_at <= at:
                self._put(replace(known, message="", retry_at=None, updated=at))
        elif known is not None and known.is_open and record.policy == Policy.MAY_RESPOND and owing:
            self._end(known, WorkState.HANDED_OVER, at, to=owing)

    def claimed(self, record: records.ClaimRecord, at: Moment, *, owed: bool) -> None:
        """Whoever takes an event on has it in its queue; whoever lets it go has handed it over.

        Whoever owes the answer anyway (`owed`) keeps the work without the claim.
        """
        kind, _, event_id = record.target.partition(":")
        known = self.get(event_id, record.session) if kind == "event" else None
        if kind == "event" and record.action in {"take", "assign"}:
            if known is None or not known.is_open:
                self._begin(event_id, record.session, at, known)
        elif known is not None and known.is_open and record.action in {"release", "expire"} and not owed:
            self._end(known, WorkState.HANDED_OVER, at)

    def disposed(self, record: records.DispositionRecord, at: Moment) -> None:
        """What became of the event for the session ends the work, or says that it must wait."""
        known = self.get(record.event_id, record.session)
        if known is None or (not known.is_open and not record.closes):
            return
        ended = _END.get(record.disposition or "")
        if record.closes and ended is not None:
            self._closed(known, ended, record, at)
        elif record.disposition == Disposition.DEFERRED:
            state = WorkState.WAITING if record.signal == "blocked" else WorkState.QUEUED
            back = Moment(record.resurfaces_at) if record.resurfaces_at else None
            if back is not None and known.retry_at is not None:
                # The hub shows it again within its horizon; when its agent said it can, if later, stands.
                back = max(back, known.retry_at)
            self._put(replace(known, state=state, message=record.reason or "", retry_at=back, updated=at))
        elif record.signal == "working":
            self._put(_taken_up(known, at))

    def _closed(
        self, known: PieceOfWork, ended: WorkState, record: records.DispositionRecord, at: Moment
    ) -> None:
        moved = record.declined or record.reason in MOVED
        if not known.is_open and known.state is ended:
            return
        if ended is WorkState.FAILED:
            error = record.error or {}
            code, message = (str(error.get(name) or "") for name in ("code", "message"))
            self._end(
                replace(known, code=code or known.code, message=message or record.reason or known.message),
                ended,
                at,
            )
        elif moved and ended is WorkState.CALLED_OFF:
            self._end(replace(known, message=record.reason or ""), WorkState.HANDED_OVER, at)
        elif ended is WorkState.CALLED_OFF:
            merged = record.reported and record.disposition == Disposition.SUPERSEDED
            said = MERGED if merged else record.reason or ""
            self._end(replace(known, code="", message=said), ended, at)
        else:
            self._end(replace(known, code="", message=""), ended, at)

    def reported(self, record: records.WorkRecord, at: Moment) -> None:
        """The harness says how it stands. Whoever was relieved may still be at it; then that is the truth."""
        known = self.get(record.event_id, record.session)
        if record.alive_at:
            # Only a sign of life: nothing else has changed.
            return
        state = WorkState(record.state)
        piece = known or PieceOfWork(record.event_id, record.session, WorkState.QUEUED, at, at)
        told = replace(
            piece,
            ended=None,
            position=record.position if state is WorkState.QUEUED else 0,
            code=record.code,
            message=record.message,
            retry_at=Moment(record.retry_at) if record.retry_at else None,
            turn=record.turn or piece.turn,
            to="",
            reported=True,
            updated=at,
        )
        if state is WorkState.WORKING:
            anew = piece.state is state and told.turn != piece.turn
            self._put(_taken_up(replace(told, state=WorkState.QUEUED) if anew else told, at))
        elif state is WorkState.CALLED_OFF or (state is WorkState.FAILED and told.retry_at is None):
            self._end(told, state, at)
        else:
            self._put(replace(told, state=state))

    def progressed(self, event_id: str, session: str, at: Moment) -> None:
        """Whoever reports progress is at work."""
        known = self.get(event_id, session)
        if known is not None and known.is_open:
            self._put(_taken_up(known, at) if known.state is not WorkState.WORKING else known)

    def answered(self, event_id: str, session: str, at: Moment) -> None:
        """An answer to what the session took up by itself; of what it was given the disposition tells."""
        known = self.get(event_id, session)
        if known is not None and known.is_open:
            self._end(replace(known, code="", message=""), WorkState.ANSWERED, at)

    def used(self, record: records.UsageRecord) -> None:
        """What a turn cost counts for the last of its events that is a piece of work, and for no other."""
        for event_id in reversed(record.event_ids):
            known = self.get(event_id, record.session)
            if known is not None:
                self._put(
                    replace(
                        known,
                        tokens=known.tokens + record.tokens_in + record.tokens_out,
                        cost=known.cost + record.cost,
                        currency=record.currency or known.currency,
                    )
                )
                return

    def told(self, event_id: str) -> None:
        """A person was told that nobody answers: what had no new holder is with that person."""
        for piece in self.of_event(event_id):
            if piece.state in {WorkState.HANDED_OVER, WorkState.FAILED} and not piece.to:
                self._put(replace(piece, to=PERSON))

    # -- inside

    def _begin(self, event_id: str, session: str, at: Moment, known: PieceOfWork | None) -> None:
        fresh = PieceOfWork(event_id, session, WorkState.QUEUED, at, at)
        if known is not None:
            fresh = replace(
                fresh,
                since=known.since,
                attempt=known.attempt,
                tokens=known.tokens,
                cost=known.cost,
                currency=known.currency,
            )
        self._put(fresh)

    def _end(self, piece: PieceOfWork, state: WorkState, at: Moment, *, to: str = "") -> None:
        self._put(replace(piece, state=state, ended=at, updated=at, to=to, position=0, retry_at=None))
        others = [one for one in self._ended[piece.session] if one != piece.event_id]
        self._ended[piece.session] = (*others, piece.event_id)[-KEPT_ENDED:]

    def _put(self, piece: PieceOfWork) -> None:
        if len(piece.message) > LONGEST_MESSAGE or len(piece.code) > LONGEST_CODE:
            piece = replace(piece, message=piece.message[:LONGEST_MESSAGE], code=piece.code[:LONGEST_CODE])
        sessions = self._by_event[piece.event_id]
        if piece.session not in sessions:
            self._by_event[piece.event_id] = tuple(sorted({*sessions, piece.session}))
        elif self._pieces[piece.event_id, piece.session] == piece:
            return
        self._pieces[piece.event_id, piece.session] = piece


def _taken_up(piece: PieceOfWork, at: Moment) -> PieceOfWork:
    again = piece.state in ATTEMPTS or piece.attempt == 0 or not piece.is_open
    return replace(
        piece,
        state=WorkState.WORKING,
        attempt=piece.attempt + (1 if again else 0),
        started=piece.started or at,
        position=0,
        retry_at=None,
        updated=at,
    )


MERGED: Final = "taken together with a later message"
TRANSFERRED: Final = "transferred"
MOVED: Final = frozenset({REASSIGNED, TRANSFERRED})
"""Reasons of a supersession after which somebody else has it."""
_END: Final[dict[str, WorkState]] = {
    Disposition.RESPONDED.value: WorkState.ANSWERED,
    Disposition.ACKNOWLEDGED.value: WorkState.ANSWERED,
    Disposition.FAILED.value: WorkState.FAILED,
    Disposition.SUPERSEDED.value: WorkState.CALLED_OFF,
    Disposition.IGNORED.value: WorkState.CALLED_OFF,
}


# -- copies of one duty


def copies(obligations: list[Obligation], session: str) -> list[Obligation]:
    """The other sessions' copies of the same duty: those that it moved from or to, however often.

    Two agents that were both asked owe an answer each; neither is a copy of the other.
    """
    linked = {session}
    while True:
        more = {
            name
            for one in obligations
            for name, other in ((one.session, one.instead_of), (one.instead_of, one.session))
            if name and other in linked
        }
        if more <= linked:
            return [one for one in obligations if one.session in linked and one.session != session]
        linked |= more
