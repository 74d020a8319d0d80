"""Deadlines: what is due when an obligation is not met.

Rows: C2A-056, C2A-059, C2A-122, C2A-161, C2A-173, C2A-174, C2A-175, C2A-176, C2A-177, C2A-178. Redeliver to
the session that is already responsible, then escalate to one and lower the first copy; a deferred event comes
back at its time. A permitted answer that never came is `ignored` when its window closes. All of it counts
silence: time runs from the last sign that the session is at it (`tacit.attention.state.work`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state import records
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Disposition, Policy

if TYPE_CHECKING:
    from tacit.attention.state.obligations import Obligation

MS: Final = 1000


class DeadlineStep(StrEnum):
    """What a timer may bring."""

    REDELIVER = "redeliver"
    ESCALATE = "escalate"
    RESURFACE = "resurface"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Due:
    """One step and its time."""

    at: Moment
    step: DeadlineStep


def next_step(obligation: Obligation, settings: Settings = DEFAULTS) -> Due | None:
    """The next thing that time brings to an obligation; None when nothing does.

    `redelivered` counts what was done already, so that a restarted hub carries on where it stopped.
    """
    if obligation.closed:
        return None
    if obligation.disposition is Disposition.DEFERRED and obligation.resurfaces_at is not None:
        return Due(obligation.resurfaces_at, DeadlineStep.RESURFACE)
    if obligation.policy is Policy.MUST_RESPOND and obligation.deadline_ms is not None:
        if obligation.redelivered < len(settings.redeliver_at):
            share = settings.redeliver_at[obligation.redelivered]
            return Due(_after(obligation, int(obligation.deadline_ms * share)), DeadlineStep.REDELIVER)
        return Due(_after(obligation, obligation.deadline_ms), DeadlineStep.ESCALATE)
    if obligation.disposition is Disposition.CLAIMED:
        return None
    return Due(_after(obligation, settings.freshness_ms), DeadlineStep.CLOSE)


def _after(obligation: Obligation, milliseconds: int) -> Moment:
    return Moment(obligation.quiet_since + milliseconds * MS)


def is_due(obligation: Obligation, now: Moment, settings: Settings = DEFAULTS) -> DeadlineStep | None:
    """The step that is due now, if any."""
    due = next_step(obligation, settings)
    return due.step if due is not None and due.at <= now else None


def redelivery(obligation: Obligation) -> records.DeliveryRecord:
    """The same event to the same session once more (C2A-175)."""
    return _delivery(obligation, obligation.policy, obligation.deadline_ms)


def lowering(obligation: Obligation) -> records.DeliveryRecord:
    """The session's copy after its time ran out: it may answer, it no longer must (C2A-174)."""
    return _delivery(obligation, Policy.MAY_RESPOND, None)


def closing(obligation: Obligation) -> records.DispositionRecord:
    """Nobody asked for more: the window closes without a word (C2A-059)."""
    return records.DispositionRecord(
        event_id=obligation.event_id,
        session=obligation.session,
        disposition=Disposition.IGNORED.value,
        closes=True,
    )


def _delivery(obligation: Obligation, policy: Policy, deadline_ms: int | None) -> records.DeliveryRecord:
    return records.DeliveryRecord(
        event_id=obligation.event_id,
        session=obligation.session,
        policy=policy.value,
        mode=obligation.mode.value,
        directedness=obligation.directedness.value,
        reason=obligation.reason.value,
        intent=obligation.intent.value,
        priority=obligation.priority.value,
        deadline_ms=deadline_ms,
        attempt=obligation.attempt + 1,
        needs_claim=obligation.needs_claim,
        thread_window=obligation.thread_window,
    )
