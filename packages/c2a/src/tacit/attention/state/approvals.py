"""Approvals: a person decides before an agent does sensitive work or shows private talk.

Rows: C2A-102, C2A-121, C2A-207. A small machine: asked, then granted or denied by a person, or taken back by
whoever asked; a grant can be revoked. A question waits for as long as it takes: without an answer nothing is
done, and silence is neither yes nor no. One grant is for one thing, named by a fingerprint of it, and for
those who asked for it; nobody but the owner allows what they asked for themselves. Folded from
`x.c2a.approval`; `now` is an argument.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.state import records
from tacit.base.moment import Moment
from tacit.c2a.errors import Refusal, refusal
from tacit.ledger.principal import USER

if TYPE_CHECKING:
    from collections.abc import Collection, MutableMapping

_OVER: Final = "the request was answered already, or taken back"


OWN_AFFAIRS: Final = frozenset({"send", "defer"})
"""What was told to somebody in private, and when they get their answer: these they decide for themselves."""


class ApprovalState(StrEnum):
    """How a request for approval stands."""

    ASKED = "asked"
    GRANTED = "granted"
    DENIED = "denied"
    LAPSED = "lapsed"
    REVOKED = "revoked"


# A question that lapsed is asked anew; that it lapsed need not be written down.
TRANSITIONS: Final[dict[tuple[ApprovalState | None, ApprovalState], bool]] = {
    (None, ApprovalState.ASKED): True,
    (ApprovalState.ASKED, ApprovalState.GRANTED): True,
    (ApprovalState.ASKED, ApprovalState.DENIED): True,
    (ApprovalState.ASKED, ApprovalState.LAPSED): True,
    (ApprovalState.ASKED, ApprovalState.ASKED): True,
    (ApprovalState.DENIED, ApprovalState.ASKED): True,
    (ApprovalState.LAPSED, ApprovalState.ASKED): True,
    (ApprovalState.GRANTED, ApprovalState.REVOKED): True,
}


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One request for approval."""

    approval_id: str
    session: str
    what: str
    state: ApprovalState
    at: Moment
    """When it was asked."""
    expires_at: Moment = Moment(0)
    """When an earlier version gave up waiting for an answer; 0 is never."""
    people: tuple[str, ...] = ()
    """Who may know of it and answer, beside the owner."""
    kind: str = "send"
    title: str = ""
    details: str = ""
    directory: str = ""
    covers: str = ""
    event_id: str | None = None
    worktree: str = ""
    beside: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    turn: str = ""
    scope: str = ""
    answered_by: str = ""
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Is it open, or does its yes go on? What is over need not be at hand any more."""
        return self.kind == "send" or self.state is ApprovalState.ASKED or self.is_standing

    @property
    def events(self) -> tuple[str, ...]:
        """What the turn that asks works on."""
        return (self.event_id, *self.beside) if self.event_id else self.beside

    @property
    def holds_up(self) -> tuple[str, ...]:
        """The events with which the session cannot go on before a person has answered."""
        return () if self.kind in OWN_AFFAIRS else self.events

    @property
    def is_standing(self) -> bool:
        """Was it allowed for good?"""
        return self.state is ApprovalState.GRANTED and self.scope == "always"


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

    def __init__(self, by_what: MutableMapping[tuple[str, str], ApprovalRequest] | None = None) -> None:
        self._by_what: MutableMapping[tuple[str, str], ApprovalRequest] = {} if by_what is None else by_what

    def held_up_by(self, record: records.ApprovalRecord) -> tuple[str, ...]:
        """The questions whose time stands still while a person is asked for this."""
        asked = self.of(record.session, record.what)
        return asked.holds_up if asked is not None else ()

    def apply(self, record: records.ApprovalRecord, at: Moment) -> None:
        """Fold a record; one that does not follow from the state changes nothing."""
        key = (record.session, record.what)
        known = self._by_what.get(key)
        state = ApprovalState(record.state)
        if not TRANSITIONS.get((known.state if known else None, state)):
            return
        if known is not None and state is not ApprovalState.ASKED and known.approval_id != record.approval_id:
            return
        if state is ApprovalState.ASKED or known is None:
            self._by_what[key] = ApprovalRequest(
                record.approval_id,
                record.session,
                record.what,
                state,
                at,
                Moment(record.expires_at),
                tuple(record.for_),
                record.kind,
                record.title,
                record.details,
                record.directory,
                record.covers,
                record.event_id,
                record.worktree,
                tuple(record.beside),
                tuple(record.asked_by),
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

    def of(self, session: str, what: str) -> ApprovalRequest | None:
        """The request of a session for exactly this."""
        return self._by_what.get((session, what))

    def standing(self, session: str, what: str, now: Moment) -> ApprovalState | None:
        """How it stands. Only what an earlier version asked has an end, which it told at the time."""
        found = self._by_what.get((session, what))
        if found is None:
            return None
        return (
            ApprovalState.LAPSED
            if found.state is ApprovalState.ASKED and _is_over(found, now)
            else found.state
        )

    def waiting(self, now: Moment) -> list[ApprovalRequest]:
        """The requests that nobody has answered, the oldest first."""
        found = [
            one
            for one in self._by_what.values()
            if one.state is ApprovalState.ASKED and not _is_over(one, now)
        ]
        return sorted(found, key=lambda one: one.at)

    def held_up(self) -> frozenset[tuple[str, str]]:
        """The events, each with the session, that wait for a person's answer to what its program asks."""
        asked = (
            one for one in self._by_what.values() if one.state is ApprovalState.ASKED and not one.expires_at
        )
        return frozenset((event_id, one.session) for one in asked for event_id in one.holds_up)

    def asked_by(self, session: str) -> list[ApprovalRequest]:
        """What a session's own program asked and nobody has answered."""
        return [
            one
            for one in self._by_what.values()
            if one.session == session and one.kind != "send" and one.state is ApprovalState.ASKED
        ]

    def standing_grants(self) -> list[ApprovalRequest]:
        """What was allowed for good and not revoked."""
        return [one for one in self._by_what.values() if one.is_standing]

    def find(self, approval_id: str) -> ApprovalRequest | None:
        """The request with this id."""
        session, sign, what = approval_id.removeprefix(_ID).rpartition(":")
        if sign and approval_id.startswith(_ID):
            return self._by_what.get((session, what))
        return next((one for one in self._by_what.values() if one.approval_id == approval_id), None)


def _is_over(asked: ApprovalRequest, now: Moment) -> bool:
    return 0 < asked.expires_at <= now


def ask(approval_id: str, session: str, what: str) -> records.ApprovalRecord:
    """The record of asking."""
    return records.ApprovalRecord(
        approval_id=approval_id, session=session, what=what, state=ApprovalState.ASKED
    )


def may_answer(asked: ApprovalRequest, principal: str) -> bool:
    """What it is about may have been said in private: who may not know it is not asked about it."""
    return principal == USER or principal in asked.people


def may_allow(asked: ApprovalRequest, principal: str, askers: Collection[str]) -> bool:
    """May this person say yes? `askers` are all who are known to have wanted it, also through an agent."""
    return principal == USER or asked.kind in OWN_AFFAIRS or principal not in askers


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
    askers: Collection[str] = (),
) -> records.ApprovalRecord | Refusal:
    """A person's answer; an agent cannot grant itself or another anything."""
    found = approvals.find(approval_id)
    if found is None:
        return refusal("event_not_found", "there is no such request for approval", "C2A-207")
    if not by_human:
        return refusal("permission_denied", "only a person approves", "C2A-207")
    if granted and not may_allow(found, by, askers):
        return refusal(
            "permission_denied",
            "you asked for this yourself: the owner or somebody else has to allow it",
            "C2A-207",
        )
    if approvals.standing(found.session, found.what, now) is not ApprovalState.ASKED:
        why = found.reason if found.state is ApprovalState.LAPSED and found.reason else ""
        over = f"{why}: the answer changes nothing" if why else _OVER
        return refusal("stale_event", over, "C2A-207")
    if granted and scope != "once" and not found.covers:
        return refusal("invalid_request", "this can be allowed once, and no further", "C2A-207")
    return records.ApprovalRecord(
        approval_id=approval_id,
        session=found.session,
        what=found.what,
        state=ApprovalState.GRANTED if granted else ApprovalState.DENIED,
        answered_by=by,
        kind=found.kind,
        event_id=found.event_id,
        scope=scope if granted and found.kind != "send" else "",
        reason=reason if not granted else "",
        for_=list(found.people),
    )


def revoke(approvals: Approvals, approval_id: str, by: str) -> records.ApprovalRecord | Refusal:
    """Take back what was allowed for good."""
    found = approvals.find(approval_id)
    if found is None or not found.is_standing:
        return refusal("event_not_found", "nothing of this name is allowed for good", "C2A-207")
    return records.ApprovalRecord(
        approval_id=approval_id,
        session=found.session,
        what=found.what,
        state=ApprovalState.REVOKED,
        answered_by=by,
        kind=found.kind,
        event_id=found.event_id,
        for_=list(found.people),
    )


def required(approvals: Approvals, session: str, what: str, now: Moment) -> Refusal | None:
    """None when a person has granted exactly this; otherwise the refusal that says where it stands."""
    state = approvals.standing(session, what, now)
    if state is ApprovalState.GRANTED:
        return None
    return refusal(
        "approval_required",
        "a person has to approve this first",
        "C2A-207",
        remedy="wait for the answer"
        if state is ApprovalState.ASKED
        else "ask for approval and wait for the answer",
        state=state.value if state else "unasked",
        what=what,
    )
