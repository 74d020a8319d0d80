"""Acting: what `chat.react`, `chat.claim`, `chat.defer` and `chat.resolve` become.

Rows: C2A-136, C2A-143, C2A-144, C2A-145, C2A-146, C2A-158, C2A-159. Each act is a function from the state to
the records it writes, all or none. Reactions that claim go through the claims; resolving gives the session's
claims there back and ends what is open, but answers nothing: what is owed, or was taken on, needs an answer
first. Appending is for the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state import records
from tacit.attention.state.claims import event_target, release, take
from tacit.attention.state.obligations import Obligation, ReportedDisposition, change
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.signals import SIGNALS, known_signal, reaction_data
from tacit.c2a.vocabulary import Disposition

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from tacit.attention.state.claims import Claims
    from tacit.base.moment import Moment


@dataclass(frozen=True, slots=True)
class Act:
    """What an act writes: records of the house, and for a reaction the `chat.reaction` beside them."""

    records: tuple[records.Record, ...]
    reaction: Mapping[str, object] | None = None
    reroute: bool = False
    """The session declined an obligation: somebody else must get it (C2A-123)."""


def react(
    obligation: Obligation | None,
    signal: str,
    claims: Claims,
    now: Moment,
    *,
    eta: str | None = None,
    thread: str | None = None,
    own: Mapping[str, Disposition | None] | None = None,
    agreed: bool = False,
    settings: Settings = DEFAULTS,
) -> Act | Refusal:
    """A signal on an event; without a delivery there is nothing to react to."""
    unknown = known_signal(signal, own)
    if unknown is not None:
        return unknown
    if obligation is None:
        return refusal("event_not_found", "there is no such event for this session", "C2A-143")
    reaction = reaction_data(obligation.event_id, obligation.session, signal, eta)
    disposition = SIGNALS[signal].disposition if signal in SIGNALS else (own or {}).get(signal)
    if disposition is None and signal != "unclear":
        return Act((), reaction)
    reported = ReportedDisposition(disposition, signal=signal, eta=eta, agreed=agreed)
    changed = change(obligation, reported, now, settings)
    if isinstance(changed, Refusal):
        return changed
    written: list[records.Record] = []
    if disposition is Disposition.CLAIMED:
        claim = take(
            claims,
            event_target(obligation.event_id),
            obligation.session,
            now,
            thread=thread,
            settings=settings,
        )
        if isinstance(claim, Refusal):
            return claim
        written.append(claim)
    written.append(changed)
    return Act(tuple(written), reaction, reroute=changed.declined and obligation.owed)


def defer(
    obligation: Obligation | None,
    reason: str,
    eta: str | None,
    now: Moment,
    settings: Settings = DEFAULTS,
    *,
    agreed: bool = False,
) -> Act | Refusal:
    """Say that an obligation must wait, and why."""
    if obligation is None:
        return refusal("event_not_found", "there is no such event for this session", "C2A-145")
    reported = ReportedDisposition(Disposition.DEFERRED, reason=reason, eta=eta, agreed=agreed)
    changed = change(obligation, reported, now, settings)
    return changed if isinstance(changed, Refusal) else Act((changed,))


RESOLVED: Final = "resolved"
"""The reason of what ended because its session resolved it."""


def resolve(
    obligations: Iterable[Obligation],
    claims: Claims,
    session: str,
    targets: Iterable[str],
    now: Moment,
    answered: Collection[str] = (),
) -> Act | Refusal:
    """Everything of the session there is over, and its claims are given back.

    `obligations` are those towards the events of the place, `targets` what could be claimed there, `answered`
    the events to which the session has said something.
    """
    mine = [obligation for obligation in obligations if obligation.session == session]
    held = [
        record
        for target in targets
        if isinstance(record := release(claims, target, session, now), records.ClaimRecord)
    ]
    addressed = [obligation for obligation in mine if obligation.policy in {"must_respond", "may_respond"}]
    if not addressed and not held:
        return refusal("permission_denied", "only an owner or addressee resolves this", "C2A-146")
    still_open = [obligation for obligation in addressed if not obligation.closed]
    taken = {record.target for record in held}
    silent = [
        one.event_id
        for one in still_open
        if one.event_id not in answered and (one.owed or event_target(one.event_id) in taken)
    ]
    if silent:
        return refusal(
            "invalid_request",
            "nothing was answered: resolving is no answer",
            "C2A-146",
            remedy="send the answer, which closes it by itself, or react with `done` where no words are "
            "needed; what you will not do you decline, or give back with chat.claim and `release`",
            reason="not_answered",
            unanswered=silent,
        )
    ended = [
        records.DispositionRecord(
            event_id=one.event_id,
            session=session,
            disposition=(Disposition.RESPONDED if one.event_id in answered else Disposition.IGNORED).value,
            closes=True,
            reason=RESOLVED,
        )
        for one in still_open
    ]
    return Act((*ended, *held))
