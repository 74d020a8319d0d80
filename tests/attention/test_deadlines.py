"""Deadlines, redelivery, escalation, deferral."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention import Agent, Roster, decide
from tacit.attention.decide.modes import step_down
from tacit.attention.state import records
from tacit.attention.state.deadlines import (
    Due,
    Step,
    closing,
    has_expired,
    is_due,
    lowering,
    next_step,
    redelivery,
)
from tacit.attention.state.escalation import Route, escalated, human_notice, route
from tacit.attention.state.obligations import Obligation, Obligations, ReportedDisposition, change
from tacit.base.moment import Moment
from tacit.c2a.vocabulary import Disposition, Mode, Policy
from tests.attention.world import ROSTER, START, event, lead_gets

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
    assert next_step(obligation()) == Due(at(150), Step.REDELIVER)
    assert next_step(obligation(redelivered=1)) == Due(at(240), Step.REDELIVER)
    assert next_step(obligation(redelivered=2)) == Due(at(300), Step.ESCALATE)
    assert is_due(obligation(), at(149)) is None
    assert is_due(obligation(), at(150)) is Step.REDELIVER
    assert redelivery(obligation()).session == "worker"
    assert redelivery(obligation()).attempt == 2


@pytest.mark.spec("C2A-174", "C2A-173")
def test_what_expires_is_lowered() -> None:
    assert not has_expired(obligation(), at(299))
    assert has_expired(obligation(), at(300))
    assert not has_expired(obligation(closed=True), at(999))
    lowered = lowering(obligation())
    assert (lowered.policy, lowered.deadline_ms) == ("may_respond", None)


@pytest.mark.spec("C2A-122", "C2A-057")
def test_a_deferral_stops_the_deadline_and_the_event_comes_back() -> None:
    obligations = Obligations()
    obligations.delivered(
        records.Delivery(
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
    assert isinstance(record, records.Disposition)
    obligations.disposed(record)
    deferred = obligations.get("e1", "worker")
    assert deferred is not None
    assert next_step(deferred) == Due(at(10 + 1200), Step.RESURFACE)
    obligations.delivered(redelivery(deferred), at(1210))
    back = obligations.get("e1", "worker")
    assert back is not None
    assert (back.disposition, back.owed) == (None, True)
    assert next_step(back) == Due(at(1210 + 150), Step.REDELIVER)


@pytest.mark.spec("C2A-132")
def test_asking_back_moves_the_deadline() -> None:
    assert obligation(shift_us=3600 * SECOND).deadline_at == at(3900)


@pytest.mark.spec("C2A-059")
def test_silence_on_what_one_may_answer_is_a_complete_outcome() -> None:
    may = obligation(policy=Policy.MAY_RESPOND, deadline_ms=None)
    due = next_step(may)
    assert due == Due(at(3600), Step.CLOSE)
    assert closing(may).disposition == "ignored"
    assert next_step(replace(may, closed=True)) is None
    assert next_step(replace(may, disposition=Disposition.CLAIMED)) is None


@pytest.mark.spec("C2A-176")
def test_escalation_goes_to_the_lead_then_an_owner_then_one_responder_then_the_human() -> None:
    assert route(ROSTER, frozenset({"worker"})) == Route("lead")
    assert route(ROSTER, frozenset({"lead"}), owners=frozenset({"tester"})) == Route("tester")
    assert route(ROSTER, frozenset({"lead"}), load={"tester": 2}) == Route("worker")
    assert route(ROSTER, frozenset({"lead", "worker"})) == Route("user", human=True)
    assert route(ROSTER, frozenset({"worker"}), eligible=frozenset({"worker"})) == Route("user", human=True)
    away = Roster.of([Agent("lead", role="foreman", online=False), Agent("worker")])
    assert route(away, frozenset({"worker"})) == Route("user", human=True)
    assert human_notice("e1", why="unanswered")["related_event_id"] == "e1"


@pytest.mark.spec("C2A-177", "C2A-123")
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(2, 12))
def test_escalation_and_declining_never_widen_the_obligation(declines: list[bool], agents: int) -> None:
    roster = Roster.of([Agent(f"a{n}", role="foreman" if n == 1 else "peer") for n in range(agents)])
    held = {"a0"}
    holders = {"a0"}
    for _ in declines:
        target = route(roster, frozenset(held))
        holders = set() if target.human else {target.to}
        assert target.to not in held
        assert len(holders) <= 1
        if target.human:
            break
        held.add(target.to)
    assert len(held) <= 3


@pytest.mark.spec("C2A-176")
def test_whoever_takes_over_is_obliged_with_the_reason() -> None:
    original = lead_gets(event("@lead look"))
    taken = escalated(original, declined=True)
    assert (taken.policy, taken.reason, taken.rule("policy").row) == ("must_respond", "escalation", "C2A-123")
    assert taken.deadline_ms == original.deadline_ms


@pytest.mark.spec("C2A-026", "C2A-021")
def test_modes_step_down_and_an_unseen_obligation_is_escalated_instead() -> None:
    named, approval = lead_gets(event("@lead look")), lead_gets(event("@lead ok to merge?"))
    knock, rollup = lead_gets(event("look", to=["@all"])), step_down(lead_gets(event("lunch")), frozenset())
    assert step_down(approval, frozenset({Mode.BUFFERED})).mode is Mode.BUFFERED
    assert step_down(named, frozenset({Mode.NOTIFY})).mode is Mode.NOTIFY
    below = step_down(named, frozenset({Mode.TOOL_MAILBOX}))
    assert (below.escalate, below.mode, below.rule("mode").row) == (True, Mode.TOOL_MAILBOX, "C2A-026")
    assert not step_down(knock, frozenset({Mode.TOOL_MAILBOX})).escalate
    assert rollup.mode is Mode.TOOL_MAILBOX
    limited = Roster.of([Agent("lead", modes=frozenset({Mode.TOOL_MAILBOX, Mode.SILENT}))])
    assert lead_gets(event("@lead look"), roster=limited).escalate


@pytest.mark.spec("C2A-026")
def test_a_limited_harness_is_spared_what_it_cannot_take_in_a_broadcast_too() -> None:
    mixed = Roster.of(
        [Agent("lead"), Agent("plain", modes=frozenset({Mode.TOOL_MAILBOX, Mode.SILENT})), Agent("other")]
    )
    decisions = decide(event("could one of you look", to=["@all"]), mixed)
    assert (decisions["lead"].mode, decisions["plain"].mode) == (Mode.NOTIFY, Mode.TOOL_MAILBOX)
    assert set(decisions.exceptions) == {"plain"}
