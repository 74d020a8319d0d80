"""How an obligation ends: dispositions, deferrals, receipts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.attention.settings import DEFAULTS
from tacit.attention.state import records
from tacit.attention.state.obligations import (
    FINAL,
    PERMITTED,
    Obligation,
    Obligations,
    ReportedDisposition,
    change,
    eta_of,
    withdrawn,
)
from tacit.c2a.errors import Refusal
from tacit.c2a.signals import SIGNALS
from tacit.c2a.vocabulary import Disposition, Intent, Mode, Policy
from tests.attention.world import START

MINUTE = 60_000_000


def obligation(policy: Policy = Policy.MUST_RESPOND, **more: Any) -> Obligation:
    return Obligation("e1", "lead", policy, Mode.BUFFERED, START, deadline_ms=300_000, **more)


def react(signal: str, before: Obligation | None = None, **more: Any) -> records.DispositionRecord | Refusal:
    return change(
        before or obligation(), ReportedDisposition(SIGNALS[signal].disposition, signal=signal, **more), START
    )


@pytest.mark.spec("C2A-117", "C2A-118", "C2A-119", "C2A-120")
@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("disposition", list(Disposition))
def test_each_policy_ends_only_as_it_may(policy: Policy, disposition: Disposition) -> None:
    found = change(obligation(policy), ReportedDisposition(disposition, reason="later"), START)
    deferring = disposition is Disposition.DEFERRED and policy is Policy.MAY_RESPOND
    assert isinstance(found, Refusal) == (disposition not in PERMITTED[policy] or deferring)
    if isinstance(found, Refusal):
        assert found.number == -32602


@pytest.mark.spec("C2A-117")
def test_there_are_seven_dispositions_and_any_other_is_refused() -> None:
    assert {one.value for one in Disposition} == {
        "responded",
        "acknowledged",
        "deferred",
        "claimed",
        "ignored",
        "superseded",
        "failed",
    }
    with pytest.raises(ValueError, match="done"):
        Disposition("done")
    assert isinstance(change(obligation(), ReportedDisposition(None), START), Refusal)


@pytest.mark.spec("C2A-057", "C2A-145", "C2A-056")
def test_a_deferral_says_why() -> None:
    assert isinstance(change(obligation(), ReportedDisposition(Disposition.DEFERRED), START), Refusal)
    assert isinstance(
        change(obligation(), ReportedDisposition(Disposition.DEFERRED, reason="  "), START), Refusal
    )
    assert isinstance(
        change(obligation(), ReportedDisposition(Disposition.DEFERRED, reason="x" * 501), START), Refusal
    )
    assert isinstance(
        change(
            obligation(Policy.MAY_RESPOND), ReportedDisposition(Disposition.DEFERRED, reason="later"), START
        ),
        Refusal,
    )
    for signal in ("queued", "blocked"):
        assert not isinstance(react(signal), Refusal)


@pytest.mark.spec("C2A-122")
@pytest.mark.parametrize(("eta", "minutes"), [(None, 60), ("in 20 minutes", 20), ("1h 2m", 62), ("2h", 65), ("3 days", 65), ("after the deploy", 60), ("2026-06-02T19:40:00Z", 30), ("2020-01-01T00:00:00Z", 60)])  # fmt: skip
def test_a_deferred_event_comes_back_at_its_time(eta: str | None, minutes: int) -> None:
    found = change(obligation(), ReportedDisposition(Disposition.DEFERRED, reason="busy", eta=eta), START)
    assert isinstance(found, records.DispositionRecord)
    assert found.resurfaces_at == START + minutes * MINUTE
    assert not found.closes


@pytest.mark.spec("C2A-122")
def test_what_was_put_off_to_its_horizon_goes_no_further_without_a_person() -> None:
    owed = obligation()
    horizon = owed.horizon(DEFAULTS)
    assert horizon == START + 65 * MINUTE
    back = replace(owed, created_at=horizon, obliged_at=START)
    for eta in (None, "in 1 minute", "in 3 hours"):
        for signal, reason in ((None, "busy"), ("queued", ""), ("blocked", "")):
            again = ReportedDisposition(Disposition.DEFERRED, signal, reason, eta)
            refused = change(back, again, horizon)
            assert isinstance(refused, Refusal)
            assert (refused.code, refused.number, refused.row) == ("approval_required", -32024, "C2A-122")
            assert "`defer_ms`" in refused.remedy
            agreed = change(back, replace(again, agreed=True), horizon)
            assert isinstance(agreed, records.DispositionRecord)
            assert agreed.resurfaces_at == horizon + {None: 60, "in 1 minute": 1}.get(eta, 180) * MINUTE


@pytest.mark.spec("C2A-132")
def test_asking_back_gives_time_once() -> None:
    first = change(obligation(), ReportedDisposition(None, "unclear"), START)
    assert isinstance(first, records.DispositionRecord)
    assert first.shift_us == 60 * MINUTE
    again = change(
        replace(obligation(), shift_us=first.shift_us), ReportedDisposition(None, "unclear"), START
    )
    assert isinstance(again, records.DispositionRecord)
    assert again.shift_us == 0


def test_only_times_and_durations_are_understood() -> None:
    assert eta_of("3 parsecs", START) is None
    assert eta_of("0 min", START) is None
    assert eta_of("in 999999 weeks", START) is None, "nobody could write that day"
    assert eta_of("9999-12-31T23:59:59-14:00", START) is None
    assert eta_of("1 day", START) == START + 1440 * MINUTE


@pytest.mark.spec("C2A-121")
def test_a_receipt_closes_only_what_asked_for_one() -> None:
    closing = {
        (intent, signal): react(signal, obligation(intent=intent))
        for intent in (Intent.APPROVAL, Intent.QUESTION)
        for signal in ("agree", "seen")
    }
    closes = {
        key for key, found in closing.items() if isinstance(found, records.DispositionRecord) and found.closes
    }
    assert closes == {(Intent.APPROVAL, "agree")}


@pytest.mark.spec("C2A-123")
def test_declining_an_obligation_is_ignored_with_a_mark() -> None:
    found = react("declined")
    assert isinstance(found, records.DispositionRecord)
    assert (found.disposition, found.declined, found.closes) == ("ignored", True, True)


@pytest.mark.spec("C2A-063")
def test_reactions_are_allowed_where_chat_is_not_and_claim_nothing_there() -> None:
    silent = obligation(Policy.MUST_NOT_RESPOND)
    for signal in ("seen", "agree", "done", "queued", "declined"):
        found = react(signal, silent)
        assert isinstance(found, records.DispositionRecord)
        assert found.disposition == "ignored"
    for signal in ("claimed", "working"):
        refused = react(signal, silent)
        assert isinstance(refused, Refusal)
        assert refused.number == -32010


@pytest.mark.spec("C2A-132")
def test_unclear_pauses_the_deadline_and_leaves_the_event_open() -> None:
    found = react("unclear")
    assert isinstance(found, records.DispositionRecord)
    assert (found.disposition, found.closes, found.shift_us) == (None, False, 60 * MINUTE)


@pytest.mark.spec("C2A-116", "C2A-159")
def test_each_session_has_one_disposition_and_repeats_leave_it() -> None:
    obligations = Obligations()
    obligations.delivered(
        records.DeliveryRecord(
            event_id="e1",
            session="lead",
            policy="must_respond",
            mode="buffered",
            directedness="to_me",
            reason="direct_mention",
        ),
        START,
    )
    for _ in range(2):
        known = obligations.get("e1", "lead")
        assert known is not None
        found = change(known, ReportedDisposition(Disposition.RESPONDED), START)
        assert isinstance(found, records.DispositionRecord)
        obligations.disposed(found)
    final = obligations.get("e1", "lead")
    assert final is not None
    assert (final.disposition, final.closed, obligations.open_of("lead")) == (Disposition.RESPONDED, True, 0)
    assert isinstance(change(final, ReportedDisposition(Disposition.FAILED), START), Refusal)
    assert len(list(obligations)) == 1
    obligations.disposed(records.DispositionRecord(event_id="zz", session="lead", disposition="responded"))
    obligations.accepted("zz", "lead")
    obligations.alive("zz", "lead", START)
    assert obligations.get("zz", "lead") is None
    assert len(FINAL) == 5


def test_taking_a_reaction_back_opens_the_event_again() -> None:
    done = obligation(disposition=Disposition.RESPONDED, closed=True, signal="done")
    record = withdrawn(done, "done")
    assert record is not None
    assert record.disposition is None
    assert withdrawn(done, "agree") is None
