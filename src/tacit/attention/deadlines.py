"""Deadlines: what is due when an obligation is not met (C2A-056, 059, 122, 161, 173 to 178).

Redeliver to the session that is already responsible, then escalate to one and lower the first copy; a
deferred event comes back at its time. A permitted answer that never came is `ignored` when its window
closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tacit.attention import records
from tacit.attention.dispositions import Disposition
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.values import Policy
from tacit.base.moment import Moment

if TYPE_CHECKING:
    from tacit.attention.dispositions import Duty

MS: Final = 1000
RETRY_FIRST_MS: Final = 1_000
RETRY_MOST_MS: Final = 60_000


class Step(StrEnum):
    """What a timer may bring."""

    REDELIVER = "redeliver"
    ESCALATE = "escalate"
    RESURFACE = "resurface"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Due:
    """One step and its time."""

    at: Moment
    step: Step


def retry_after_ms(attempt: int) -> int:
    """How long to wait for an acknowledgement before the next attempt: 1, 2, 4 ... 60 s (C2A-161)."""
    return min(RETRY_FIRST_MS << min(max(attempt - 1, 0), 10), RETRY_MOST_MS)


def next_step(duty: Duty, settings: Settings = DEFAULTS) -> Due | None:
    """The next thing that time brings to a duty; None when nothing does.

    `redelivered` counts what was done already, so that a restarted hub carries on where it stopped.
    """
    if duty.closed:
        return None
    if duty.disposition is Disposition.DEFERRED and duty.resurfaces_at is not None:
        return Due(duty.resurfaces_at, Step.RESURFACE)
    if duty.policy is Policy.MUST_RESPOND and duty.deadline_ms is not None:
        if duty.redelivered < len(settings.redeliver_at):
            share = settings.redeliver_at[duty.redelivered]
            return Due(_after(duty, int(duty.deadline_ms * share)), Step.REDELIVER)
        return Due(_after(duty, duty.deadline_ms), Step.ESCALATE)
    if duty.disposition is Disposition.CLAIMED:
        return None
    return Due(_after(duty, settings.freshness_ms), Step.CLOSE)


def _after(duty: Duty, milliseconds: int) -> Moment:
    return Moment(duty.created_at + milliseconds * MS + duty.shift_us)


def is_due(duty: Duty, now: Moment, settings: Settings = DEFAULTS) -> Step | None:
    """The step that is due now, if any."""
    due = next_step(duty, settings)
    return due.step if due is not None and due.at <= now else None


def has_expired(duty: Duty, now: Moment) -> bool:
    """Did the obligation run out unanswered?"""
    deadline = duty.deadline_at
    return deadline is not None and not duty.closed and now >= deadline


def redelivery(duty: Duty) -> records.Delivery:
    """The same event to the same session once more (C2A-175)."""
    return _delivery(duty, duty.policy, duty.deadline_ms)


def lowering(duty: Duty) -> records.Delivery:
    """The session's copy after its time ran out: it may answer, it no longer must (C2A-174)."""
    return _delivery(duty, Policy.MAY_RESPOND, None)


def closing(duty: Duty) -> records.Disposition:
    """Nobody asked for more: the window closes without a word (C2A-059)."""
    return records.Disposition(
        event_id=duty.event_id, session=duty.session, disposition=Disposition.IGNORED.value, closes=True
    )


def _delivery(duty: Duty, policy: Policy, deadline_ms: int | None) -> records.Delivery:
    return records.Delivery(
        event_id=duty.event_id,
        session=duty.session,
        policy=policy.value,
        mode=duty.mode.value,
        directedness=duty.directedness.value,
        reason=duty.reason.value,
        intent=duty.intent.value,
        priority=duty.priority.value,
        deadline_ms=deadline_ms,
        attempt=duty.attempt + 1,
        needs_claim=duty.needs_claim,
        thread_window=duty.thread_window,
    )
