"""What people see of work: who is at which question, how it stands, and what to do about it.

Rows: C2A-203, C2A-206, C2A-207. Read from the fold for whoever may read the event; what one may not read is
left out before anything is counted or cut. Everything is a sentence first and data beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tacit.attention.state.escalation import WHAT_NOW, failure
from tacit.attention.state.work import (
    NO_LIVES,
    OUT_OF_TOUCH,
    PERSON,
    Lives,
    PieceOfWork,
    WorkState,
    silent_since,
)
from tacit.base.moment import Moment, rfc3339
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.attention.io.state_store import Archive
    from tacit.attention.state.work import Works

    Place = Callable[[str, str], int | None]
    """How many pieces of work of a session are before one, if its harness said so lately."""

ABOUT: Final = 120
"""How much of a question its line in a list shows."""


@dataclass(frozen=True, slots=True)
class AgentsNow:
    """What the host knows of the agents at this moment, and the ledger does not."""

    now: Moment
    lives: Lives = NO_LIVES
    place: Place = lambda _session, _event_id: None


def work_view(
    archive: Archive,
    viewer: str,
    present: AgentsNow,
    *,
    agent: str | None = None,
    state: str | None = None,
    ended: bool = False,
    limit: int = 100,
) -> dict[str, Any]:
    """The work that the viewer may know of: what is open, oldest first; then what ended, newest first."""
    works = archive.attention.work

    def shown(pieces: Iterable[PieceOfWork]) -> list[PieceOfWork]:
        return [
            piece
            for piece in pieces
            if (agent is None or piece.session == agent)
            and (state is None or _state(piece, silent_in(archive, piece, present)) == state)
            and may_know(archive, piece.event_id, piece.session, viewer)
        ]

    found = shown(works)
    found.sort(key=lambda piece: (piece.since, piece.event_id, piece.session))
    if ended:
        agents: Iterable[str] = [agent] if agent is not None else sorted(archive.attention.sessions)
        over = shown(piece for one in agents for piece in works.ended_of(one))
        found += sorted(over, key=lambda piece: (-(piece.ended or 0), piece.event_id, piece.session))
    return {
        "work": [_listed(archive, piece, viewer, present) for piece in found[:limit]],
        "more": max(0, len(found) - limit),
    }


def silent_in(archive: Archive, piece: PieceOfWork, present: AgentsNow) -> Moment | None:
    """Since when nothing has been heard of whoever should be at it; None while it is in touch."""
    obligation = archive.attention.obligations.get(piece.event_id, piece.session)
    deadline_ms = obligation.deadline_ms if obligation is not None else None
    usual = archive.attention.settings.deadline_ms
    return silent_since(piece, present.lives, deadline_ms or usual, present.now)


def may_know(archive: Archive, event_id: str | None, session: str, viewer: str) -> bool:
    """May the viewer hear what a session has to do with an event (CCCS-110, C2A-203)?"""
    if viewer in {session, USER}:
        return True
    about = archive.found(event_id) if event_id is not None else None
    return about is not None and about.visible_to(viewer)


def _listed(archive: Archive, piece: PieceOfWork, viewer: str, present: AgentsNow) -> dict[str, Any]:
    first = archive.original(piece.event_id)
    found, event = archive.found(first), archive.readable(piece.event_id, viewer)
    text = event.data.get("text") if event is not None else None
    about = " ".join(text.split()) if isinstance(text, str) else ""
    return {
        "event_id": piece.event_id,
        "message_id": first,
        "seq": found.seq if found is not None else 0,
        "asked_by": found.by if found is not None else "",
        "about": about if len(about) <= ABOUT else about[: ABOUT - 1] + "…",
        **work_shown(piece, archive.attention.work, present.place, silent_in(archive, piece, present)),
    }


def work_shown(
    piece: PieceOfWork, works: Works, place: Place, silent: Moment | None = None
) -> dict[str, Any]:
    """One piece of work, as a sentence and as data; what is not known is left out."""
    before = _before(piece, works, place) if piece.state is WorkState.QUEUED else 0
    shown: dict[str, Any] = {
        "agent": piece.session,
        "state": _state(piece, silent),
        "open": piece.is_open,
        "sentence": sentence(piece, before) if silent is None else last_word(piece, silent),
        "now": what_now(piece),
        "attempt": piece.attempt,
        "since": rfc3339(piece.since),
        "updated": rfc3339(piece.updated),
    }
    if piece.state is WorkState.QUEUED and silent is None:
        shown["position"] = before
    for name in ("code", "message", "to", "currency"):
        if value := getattr(piece, name):
            shown[name] = value
    for name in ("started", "ended", "retry_at"):
        moment: Moment | None = getattr(piece, name)
        if moment is not None:
            shown[name] = rfc3339(moment)
    if piece.tokens or piece.cost:
        shown |= {"tokens": piece.tokens, "cost": piece.cost}
    return shown


def _state(piece: PieceOfWork, silent: Moment | None) -> str:
    return piece.state.value if silent is None else OUT_OF_TOUCH


def _before(piece: PieceOfWork, works: Works, place: Place) -> int:
    """How many are before it: as the harness says, or else as they came."""
    told = place(piece.session, piece.event_id)
    if told is not None:
        return told
    if piece.reported:
        return piece.position
    earlier = (one for one in works if one.session == piece.session and one.event_id != piece.event_id)
    return sum(1 for one in earlier if (one.since, one.event_id) < (piece.since, piece.event_id))


def sentence(piece: PieceOfWork, before: int = 0) -> str:
    """How it stands, in a sentence that names the agent."""
    agent, said = piece.session, piece.message.strip().rstrip(".")
    match piece.state:
        case WorkState.QUEUED:
            if piece.retry_at is not None:
                return f"{agent} comes back to it at {_clock(piece.retry_at)}" + (f": {said}" if said else "")
            return f"{agent} has it in its queue" + (f", {before} before it" if before else ", next in line")
        case WorkState.WORKING:
            return f"{agent} is working on it" + (f", attempt {piece.attempt}" if piece.attempt > 1 else "")
        case WorkState.WAITING:
            # What names its own time waits for that (a day's budget), and no person can hurry it.
            what = f"until {_clock(piece.retry_at)}" if piece.retry_at is not None else "for a person"
            return f"{agent} waits {what}" + (f": {said}" if said else "")
        case WorkState.ANSWERED:
            return f"{agent} answered"
        case WorkState.FAILED:
            return f"{agent} failed: {failure(piece.code, piece.message)}"
        case WorkState.HANDED_OVER:
            to = "a person" if piece.to == PERSON else piece.to
            return f"{agent} no longer has it" + (f"; {to} does" if to else "")
        case WorkState.CALLED_OFF:
            return f"{agent} was called off" + (f": {said}" if said else "")


def last_word(piece: PieceOfWork, silent: Moment) -> str:
    """How it stood when its agent was last heard of."""
    stood = "had it in its queue" if piece.state is WorkState.QUEUED else "was working on it"
    return f"{piece.session} {stood} and has not been heard of since {_clock(silent)}"


def what_now(piece: PieceOfWork) -> str:
    """What happens next by itself, or what a person can do; empty when nothing has to happen."""
    if piece.state is WorkState.FAILED and piece.retry_at is not None:
        return f"It is tried again by itself at {_clock(piece.retry_at)}."
    if piece.state is WorkState.FAILED:
        return ("The owner was told. " if piece.to == PERSON else "") + WHAT_NOW
    if piece.state is WorkState.HANDED_OVER and piece.to == PERSON:
        return "The owner was told: answer it, or give it to another agent."
    return ""


def _clock(moment: Moment) -> str:
    return f"{rfc3339(moment)[11:19]} UTC"
