"""Approvals: a person decides before an agent does sensitive work or shows private talk.

Rows: C2A-102, C2A-121, C2A-207. A small machine: asked, then granted or denied by a person, or lapsed; no
answer counts as no, and a grant can be revoked. One grant is for one thing, named by a fingerprint of it.
Folded from `x.c2a.approval`; `now` is an argument.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.state import records
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal, refusal

if TYPE_CHECKING:
    from collections.abc import MutableMapping

ANSWER_WITHIN_MS: Final = 3_600_000
MS: Final = 1000
_OVER: Final = "the request was answered, or nobody answered in time"


class State(StrEnum):
    """How a request for approval stands."""

    ASKED = "asked"
    GRANTED = "granted"
    DENIED = "denied"
    LAPSED = "lapsed"
    REVOKED = "revoked"


# A question that lapsed is asked anew; that it lapsed need not be written down.
TRANSITIONS: Final[dict[tuple[State | None, State], bool]] = {
    (None, State.ASKED): True,
    (State.ASKED, State.GRANTED): True,
    (State.ASKED, State.DENIED): True,
    (State.ASKED, State.LAPSED): True,
    (State.ASKED, State.ASKED): True,
    (State.DENIED, State.ASKED): True,
    (State.LAPSED, State.ASKED): True,
    (State.GRANTED, State.REVOKED): True,
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
    kind: str = "send"
    title: str = ""
    details: str = ""
    directory: str = ""
    covers: str = ""
    event_id: str | None = None
    turn: str = ""
    scope: str = ""
    answered_by: str = ""
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Is it open, or does its yes go on? What is over need not be at hand any more."""
        return self.kind == "send" or self.state is State.ASKED or self.is_standing

    @property
    def is_standing(self) -> bool:
        """Was it allowed for good?"""
        return self.state is State.GRANTED and self.scope == "always"


_ID: Final = "permission:"


def id_of(session: str, what: str) -> str:
    """The id of a request that can be found again by its id alone."""
    return f"{_ID}{session}:{what}"


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
        if state is State.ASKED or known is None:
            self._by_what[key] = Asked(
                record.approval_id,
                record.session,
                record.what,
                state,
                Moment(record.expires_at),
                tuple(record.for_),
                record.kind,
                record.title,
                record.details,
                record.directory,
                record.covers,
                record.event_id,
                record.turn,
                reason=record.reason,
            )
            return
        self._by_what[key] = replace(
            known,
            state=state,
            details="",  # the ledger has it; nobody has to decide about it again
            scope=record.scope or known.scope,
            answered_by=record.answered_by or known.answered_by,
            reason=record.reason,
        )

    def of(self, session: str, what: str) -> Asked | None:
        """The request of a session for exactly this."""
        return self._by_what.get((session, what))

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

    def asked_by(self, session: str) -> list[Asked]:
        """What a session's own program asked and nobody answered, in time or not."""
        return [
            one
            for one in self._by_what.values()
            if one.session == session and one.kind != "send" and one.state is State.ASKED
        ]

    def standing_grants(self) -> list[Asked]:
        """What was allowed for good and not revoked."""
        return [one for one in self._by_what.values() if one.is_standing]

    def find(self, approval_id: str) -> Asked | None:
        """The request with this id."""
        session, sign, what = approval_id.removeprefix(_ID).rpartition(":")
        if sign and approval_id.startswith(_ID):
            return self._by_what.get((session, what))
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
    approvals: Approvals,
    approval_id: str,
    *,
    granted: bool,
    by: str,
    by_human: bool,
    now: Moment,
    scope: str = "once",
    reason: str = "",
) -> records.Approval | Refusal:
    """A person's answer; an agent cannot grant itself or another anything."""
    found = approvals.find(approval_id)
    if found is None:
        return refusal("event_not_found", "there is no such request for approval", "C2A-207")
    if not by_human:
        return refusal("permission_denied", "only a person approves", "C2A-207")
    if approvals.standing(found.session, found.what, now) is not State.ASKED:
        why = found.reason if found.state is State.LAPSED and found.reason else ""
        over = f"{why}: the answer changes nothing" if why else _OVER
        return refusal("stale_event", over, "C2A-207")
    if granted and scope != "once" and not found.covers:
        return refusal("invalid_request", "this can be allowed once, and no further", "C2A-207")
    return records.Approval(
        approval_id=approval_id,
        session=found.session,
        what=found.what,
        state=State.GRANTED if granted else State.DENIED,
        answered_by=by,
        kind=found.kind,
        event_id=found.event_id,
        scope=scope if granted and found.kind != "send" else "",
        reason=reason if not granted else "",
        for_=list(found.people),
    )


def revoke(approvals: Approvals, approval_id: str, by: str) -> records.Approval | Refusal:
    """Take back what was allowed for good."""
    found = approvals.find(approval_id)
    if found is None or not found.is_standing:
        return refusal("event_not_found", "nothing of this name is allowed for good", "C2A-207")
    return records.Approval(
        approval_id=approval_id,
        session=found.session,
        what=found.what,
        state=State.REVOKED,
        answered_by=by,
        kind=found.kind,
        event_id=found.event_id,
        for_=list(found.people),
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
