"""What people are asked before an agent goes on: its own program's wishes, and more time (C2A-122, C2A-207).

From the question and the state as it stands to the record of asking, or to how it stands. The owner may
always answer; the room's other people where the group's setting `people_permit` says so, and then those alone
who may read what the agent works on. Whether an answer may be put off beyond its horizon, whoever asked for
it may say as well. What was asked is kept in the ledger for them and for nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.attention.send import askers
from tacit.attention.state import approvals, records
from tacit.attention.state.approvals import ApprovalRequest, ApprovalState
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.permission import read_permission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.attention.send.draft import CallingSession
    from tacit.attention.state.obligations import Obligation
    from tacit.c2a.permission import PermissionAsked

ABOUT: Final = "of:"
"""A key that asks how an earlier approval stands, by its id."""
ASKERS: Final = "by:"
"""A key that asks for the name of those who asked for what a turn does; grants are kept under it."""
MOST_OPEN: Final = 50
"""Questions of one agent that may wait for a person at the same time."""


def permission(
    arguments: Mapping[str, Any], caller: CallingSession
) -> tuple[dict[str, Any], list[records.ApprovalRecord]] | Refusal:
    """Ask, take back, or say how it stands: the result, and what is written."""
    asked = read_permission(arguments)
    if isinstance(asked, Refusal):
        return asked
    if asked.key.startswith(ASKERS):
        return {"asker": _asker(asked, caller)}, []
    found = _known(asked, caller)
    if found is not None and asked.withdrawn:
        return _withdrawn(found, asked.withdrawn, caller)
    if found is not None:
        return _standing(found, caller), []
    if asked.withdrawn or asked.key.startswith(ABOUT):
        return refusal("event_not_found", "there is no such request for approval", "C2A-207")
    event = caller.archive.readable(asked.event_id, caller.session)
    if event is None or not asked.title:
        return refusal("event_not_found", "a permission is asked for work on an event", "C2A-207")
    if len(caller.attention.approvals.asked_by(caller.session)) >= MOST_OPEN:
        return refusal(
            "rate_limited", "too many questions of this agent wait for a person already", "C2A-207"
        )
    record = _record(asked, event.id, caller)
    told = {
        "approvalId": record.approval_id,
        "state": ApprovalState.ASKED.value,
        "asker": _asker(asked, caller),
    }
    return told, [record]


def _asker(asked: PermissionAsked, caller: CallingSession) -> str:
    """The name under which a grant for the turn is kept. What the session may not read names nobody."""
    about = [one for one in (asked.event_id, *asked.beside) if caller.archive.readable(one, caller.session)]
    return askers.name_of(askers.everybody_behind(about, caller.session, caller.archive))


def _known(asked: PermissionAsked, caller: CallingSession) -> ApprovalRequest | None:
    known = caller.attention.approvals
    if asked.key.startswith(ABOUT):
        found = known.find(asked.key.removeprefix(ABOUT))
        return found if found is not None and found.session == caller.session else None
    return known.of(caller.session, _what(asked.key, caller))


def _what(key: str, caller: CallingSession) -> str:
    return approvals.fingerprint("permission", caller.session, key)


def _standing(found: ApprovalRequest, caller: CallingSession) -> dict[str, Any]:
    state = caller.attention.approvals.standing(found.session, found.what, caller.now) or ApprovalState.LAPSED
    behind = askers.everybody_behind(found.events, found.session, caller.archive)
    told: dict[str, Any] = {
        "approvalId": found.approval_id,
        "state": state.value,
        "asker": askers.name_of(behind),
    }
    words = {"scope": found.scope, "by": found.answered_by, "reason": found.reason}
    return told | {name: word for name, word in words.items() if word}


def _withdrawn(
    found: ApprovalRequest, why: str, caller: CallingSession
) -> tuple[dict[str, Any], list[records.ApprovalRecord]]:
    if found.state is not ApprovalState.ASKED:
        return _standing(found, caller), []
    return {"approvalId": found.approval_id, "state": ApprovalState.LAPSED.value}, [_lapsed(found, why)]


def _lapsed(found: ApprovalRequest, why: str) -> records.ApprovalRecord:
    return records.ApprovalRecord(
        approval_id=found.approval_id,
        session=found.session,
        what=found.what,
        state=ApprovalState.LAPSED,
        kind=found.kind,
        event_id=found.event_id,
        reason=why,
        for_=list(found.people),
    )


def _record(asked: PermissionAsked, event_id: str, caller: CallingSession) -> records.ApprovalRecord:
    what = _what(asked.key, caller)
    people: list[str] = []
    if caller.attention.settings.people_permit:
        readable = caller.archive.readable
        people = [one for one in sorted(caller.roster.people) if readable(event_id, one) is not None]
    beside = [one for one in asked.beside if caller.archive.readable(one, caller.session) is not None]
    verb = {"command": "run", "edit": "change"}.get(asked.kind, "do")
    return records.ApprovalRecord(
        approval_id=approvals.id_of(caller.session, what),
        session=caller.session,
        what=what,
        state=ApprovalState.ASKED,
        says=f"{caller.session} wants to {verb}: {asked.title}",
        kind=asked.kind,
        title=asked.title,
        details=asked.details,
        directory=asked.directory,
        worktree=asked.worktree,
        covers=asked.covers,
        event_id=event_id,
        beside=beside,
        asked_by=list(askers.authors([event_id, *beside], caller.archive)),
        turn=asked.turn,
        for_=[caller.session, *people],
    )


# -- more time


@dataclass(frozen=True, slots=True)
class Delay:
    """An answer that is put off: which, until when in the agent's words, and why."""

    obligation: Obligation
    eta: str | None
    why: str

    @property
    def what(self) -> str:
        """A yes is for this event, this time, once: what came back is asked about anew."""
        owed = self.obligation
        return approvals.fingerprint("defer", owed.event_id, str(owed.created_at), self.eta or "")


def is_agreed(delay: Delay, caller: CallingSession) -> bool:
    """Has a person agreed to it?"""
    return approvals.required(caller.attention.approvals, caller.session, delay.what, caller.now) is None


def for_more_time(refused: Refusal, delay: Delay, caller: CallingSession) -> Refusal:
    """A refusal that a person can lift says how that stands; others stay as they are."""
    standing = approvals.required(caller.attention.approvals, caller.session, delay.what, caller.now)
    if refused.code != "approval_required" or standing is None:
        return refused
    details = {**refused.details, **standing.details}
    return replace(refused, details=details)


def asking_for_time(refused: Refusal, delay: Delay, caller: CallingSession) -> list[records.ApprovalRecord]:
    """The question to whoever waits for the answer, and to the owner."""
    waiting = caller.attention.approvals.asked_by(caller.session)
    if len(waiting) >= MOST_OPEN:
        return []
    event = caller.archive.readable(delay.obligation.event_id, caller.session)
    asker = [event.by] if event is not None and event.by in caller.roster.people else []
    what = str(refused.details["what"])
    title = f"put off its answer until {delay.eta}" if delay.eta else "put off its answer"
    asked = approvals.ask(approvals.id_of(caller.session, what), caller.session, what)
    return [
        msgspec.structs.replace(
            asked,
            says=f"{caller.session} wants to {title}",
            kind="defer",
            title=title[:500],
            details=delay.why[:500],
            event_id=delay.obligation.event_id,
            asked_by=list(askers.authors([delay.obligation.event_id], caller.archive)),
            for_=[caller.session, *asker],
        )
    ]
