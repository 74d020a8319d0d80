"""Approvals: a person decides before an agent does sensitive work or shows private talk.

Rows: C2A-102, C2A-121, C2A-207. A small machine: asked, then granted or denied by a person, or lapsed; no
answer counts as no. One grant is for one thing, named by a fingerprint of it. Folded from `x.c2a.approval`;
`now` is an argument.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.state import records
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import MutableMapping

ANSWER_WITHIN_MS: Final = 3_600_000
MS: Final = 1000


class State(StrEnum):
    """How a request for approval stands."""

    ASKED = "asked"
    GRANTED = "granted"
    DENIED = "denied"
    LAPSED = "lapsed"


# A question that lapsed is asked anew; that it lapsed need not be written down.
TRANSITIONS: Final[dict[tuple[State | None, State], bool]] = {
    (None, State.ASKED): True,
    (State.ASKED, State.GRANTED): True,
    (State.ASKED, State.DENIED): True,
    (State.ASKED, State.LAPSED): True,
    (State.ASKED, State.ASKED): True,
    (State.DENIED, State.ASKED): True,
    (State.LAPSED, State.ASKED): True,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for approval."""

    approval_id: str
    session: str
    what: str
    state: State
    expires_at: Moment
    people: tuple[str, ...] = ()
    """Who may know of it and answer, beside the owner."""


def fingerprint(*parts: str) -> str:
    """What an approval is for: any change of it needs a new one."""
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(framed.encode(), digest_size=16).hexdigest()


class Approvals:
    """The requests of a group."""

    __slots__ = ("_by_what",)

    def __init__(self, by_what: MutableMapping[tuple[str, str], Asked] | None = None) -> None:
        self._by_what: MutableMapping[tuple[str, str], Asked] = {} if by_what is None else by_what

    def apply(self, record: records.Approval) -> None:
        """Fold a record; one that does not follow from the state changes nothing."""
        key = (record.session, record.what)
        known = self._by_what.get(key)
        state = State(record.state)
        if not TRANSITIONS.get((known.state if known else None, state)):
            return
        if known is not None and state is not State.ASKED and known.approval_id != record.approval_id:
            return
        expires = Moment(record.expires_at) if state is State.ASKED or known is None else known.expires_at
        people = tuple(record.for_) if state is State.ASKED or known is None else known.people
        self._by_what[key] = Asked(record.approval_id, record.session, record.what, state, expires, people)

    def standing(self, session: str, what: str, now: Moment) -> State | None:
        """How it stands; a question that has waited too long is a no."""
        found = self._by_what.get((session, what))
        if found is None:
            return None
        if found.state is State.ASKED and found.expires_at <= now:
            return State.LAPSED
        return found.state

    def waiting(self, now: Moment) -> list[Asked]:
        """The requests that nobody has answered and that have not lapsed."""
        found = [one for one in self._by_what.values() if one.state is State.ASKED and one.expires_at > now]
        return sorted(found, key=lambda one: one.expires_at)

    def find(self, approval_id: str) -> Asked | None:
        """The request with this id."""
        return next((one for one in self._by_what.values() if one.approval_id == approval_id), None)


def ask(
    approval_id: str, session: str, what: str, now: Moment, within_ms: int = ANSWER_WITHIN_MS
) -> records.Approval:
    """The record of asking."""
    return records.Approval(
        approval_id=approval_id,
        session=session,
        what=what,
        state=State.ASKED,
        expires_at=now + within_ms * MS,
    )


def answer(
    approvals: Approvals, approval_id: str, *, granted: bool, by: str, by_human: bool, now: Moment
) -> records.Approval | Refusal:
    """A person's answer; an agent cannot grant itself or another anything."""
    found = approvals.find(approval_id)
    if found is None:
        return refusal("event_not_found", "there is no such request for approval", "C2A-207")
    if not by_human:
        return refusal("permission_denied", "only a person approves", "C2A-207")
    if approvals.standing(found.session, found.what, now) is not State.ASKED:
        return refusal("stale_event", "the request was answered, or nobody answered in time", "C2A-207")
    state = State.GRANTED if granted else State.DENIED
    return records.Approval(
        approval_id=approval_id, session=found.session, what=found.what, state=state, answered_by=by
    )


def required(approvals: Approvals, session: str, what: str, now: Moment) -> Refusal | None:
    """None when a person has granted exactly this; otherwise the refusal that says where it stands."""
    state = approvals.standing(session, what, now)
    if state is State.GRANTED:
        return None
    return refusal(
        "approval_required",
        "a person has to approve this first",
        "C2A-207",
        remedy="wait for the answer" if state is State.ASKED else "ask for approval; no answer counts as no",
        state=state.value if state else "unasked",
        what=what,
    )
