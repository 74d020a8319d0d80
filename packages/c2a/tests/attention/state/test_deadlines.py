"""Deadlines, redelivery, deferral."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.attention.state import records
from tacit.attention.state.obligations import (
    DeadlineStep,
    Due,
    Obligation,
    Obligations,
    ReportedDisposition,
    change,
    closing,
    is_due,
    lowering,
    next_step,
    redelivery,
)
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Disposition, Mode, Policy
from tests.attention.world import START

SECOND = 1_000_000


def at(seconds: float) -> Moment:
    return Moment(START + int(seconds * SECOND))


def obligation(**more: Any) -> Obligation:
    return Obligation(
        "e1",
        "worker",
        more.pop("policy", Policy.MUST_RESPOND),
        Mode.BUFFERED,
        START,
        deadline_ms=more.pop("deadline_ms", 300_000),
        **more,
    )


@pytest.mark.spec("C2A-175", "C2A-178", "C2A-056")
def test_an_obligation_is_delivered_again_twice_and_then_escalated() -> None:
    assert next_step(obligation()) == Due(at(150), DeadlineStep.REDELIVER)
    assert next_step(obligation(redelivered=1)) == Due(at(240), DeadlineStep.REDELIVER)
    assert next_step(obligation(redelivered=2)) == Due(at(300), DeadlineStep.ESCALATE)
    assert is_due(obligation(), at(149)) is None
    assert is_due(obligation(), at(150)) is DeadlineStep.REDELIVER
    assert redelivery(obligation()).session == "worker"
    assert redelivery(obligation()).attempt == 2


@pytest.mark.spec("C2A-174", "C2A-173")
def test_what_expires_is_lowered() -> None:
    late = obligation(redelivered=2)
    assert is_due(late, at(299)) is None
    assert is_due(late, at(300)) is DeadlineStep.ESCALATE
    assert is_due(replace(late, closed=True), at(999)) is None
    lowered = lowering(obligation())
    assert (lowered.policy, lowered.deadline_ms) == ("may_respond", None)


@pytest.mark.spec("C2A-122", "C2A-057")
def test_a_deferral_stops_the_deadline_and_the_event_comes_back() -> None:
    obligations = Obligations()
    obligations.delivered(
        records.DeliveryRecord(
            event_id="e1",
            session="worker",
            policy="must_respond",
            mode="buffered",
            directedness="to_me",
            reason="assignment",
            deadline_ms=300_000,
        ),
        START,
    )
    first = obligations.get("e1", "worker")
    assert first is not None
    record = change(first, ReportedDisposition(Disposition.DEFERRED, reason="busy", eta="20 minutes"), at(10))
    assert isinstance(record, records.DispositionRecord)
    obligations.disposed(record)
    deferred = obligations.get("e1", "worker")
    assert deferred is not None
    assert next_step(deferred) == Due(at(10 + 1200), DeadlineStep.RESURFACE)
    obligations.delivered(redelivery(deferred), at(1210))
    back = obligations.get("e1", "worker")
    assert back is not None
    assert (back.disposition, back.owed) == (None, True)
    assert next_step(back) == Due(at(1210 + 150), DeadlineStep.REDELIVER)


@pytest.mark.spec("C2A-132")
def test_asking_back_moves_the_deadline() -> None:
    assert obligation(shift_us=3600 * SECOND).deadline_at == at(3900)


@pytest.mark.spec("C2A-059")
def test_silence_on_what_one_may_answer_is_a_complete_outcome() -> None:
    may = obligation(policy=Policy.MAY_RESPOND, deadline_ms=None)
    due = next_step(may)
    assert due == Due(at(3600), DeadlineStep.CLOSE)
    assert closing(may).disposition == "ignored"
    assert next_step(replace(may, closed=True)) is None
    assert next_step(replace(may, disposition=Disposition.CLAIMED)) is None
