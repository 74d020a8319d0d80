"""Acts of a session: reactions, deferrals, resolving."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.attention.state import records
from tacit.attention.state.acts import Act, defer, react, resolve
from tacit.attention.state.claims import Claims, event_target, take, thread_target
from tacit.attention.state.obligations import Obligation
from tacit.c2a.errors import Refusal
from tacit.c2a.vocabulary import Disposition, Mode, Policy
from tests.attention.world import START

OWED = Obligation("e1", "lead", Policy.MUST_RESPOND, Mode.BUFFERED, START, deadline_ms=300_000)


def held_by(session: str, target: str = event_target("e1")) -> Claims:
    claims = Claims()
    record = take(claims, target, session, START)
    assert isinstance(record, records.ClaimRecord)
    claims.apply(record, START)
    return claims


@pytest.mark.spec("C2A-136", "C2A-126", "C2A-128")
@pytest.mark.parametrize("signal", ["claimed", "working"])
def test_a_signal_that_claims_goes_through_the_claims(signal: str) -> None:
    free = react(OWED, signal, Claims(), START)
    assert isinstance(free, Act)
    assert [records.kind_of(one) for one in free.records] == ["x.c2a.claim", "x.c2a.disposition"]
    taken = react(OWED, signal, held_by("worker"), START)
    assert isinstance(taken, Refusal)
    assert taken.number == -32011


@pytest.mark.spec("C2A-143", "C2A-123")
def test_a_reaction_records_its_disposition_or_says_what_is_wrong() -> None:
    done = react(OWED, "done", Claims(), START)
    assert isinstance(done, Act)
    assert done.reaction == {"event_id": "e1", "actor_id": "lead", "emoji": "✅", "signal": "done"}
    assert not done.reroute
    no = react(OWED, "declined", Claims(), START)
    assert isinstance(no, Act)
    assert no.reroute
    unknown, nowhere = react(OWED, "shrug", Claims(), START), react(None, "seen", Claims(), START)
    assert isinstance(unknown, Refusal)
    assert isinstance(nowhere, Refusal)
    assert (unknown.number, nowhere.number) == (-32602, -32005)
    own = react(OWED, "x.party", Claims(), START, own={"x.party": None})
    assert own == Act((), {"event_id": "e1", "actor_id": "lead", "emoji": "[x.party]", "signal": "x.party"})
    again = replace(OWED, disposition=Disposition.RESPONDED, closed=True)
    repeated = react(again, "done", Claims(), START)
    assert isinstance(repeated, Act)
    forbidden = react(replace(OWED, policy=Policy.MUST_NOT_RESPOND), "claimed", Claims(), START)
    assert isinstance(forbidden, Refusal)
    assert forbidden.number == -32010


@pytest.mark.spec("C2A-145")
def test_deferring_needs_an_obligation_and_a_reason() -> None:
    assert isinstance(defer(OWED, "busy until noon", "2h", START), Act)
    for obligation, reason in (
        (OWED, ""),
        (replace(OWED, policy=Policy.MAY_RESPOND), "busy"),
        (None, "busy"),
    ):
        assert isinstance(defer(obligation, reason, None, START), Refusal)


@pytest.mark.spec("C2A-146")
def test_resolving_ends_what_is_open_and_gives_claims_back() -> None:
    targets = [event_target("e1"), thread_target("r")]
    obligations = [OWED, replace(OWED, event_id="e2", closed=True), replace(OWED, session="worker")]
    found = resolve(obligations, held_by("lead"), "lead", targets, START, ["e1"])
    assert isinstance(found, Act)
    assert [records.kind_of(one) for one in found.records] == ["x.c2a.disposition", "x.c2a.claim"]
    assert found.records[0].disposition == "responded"
    stranger = resolve(obligations, held_by("lead"), "tester", targets, START)
    assert isinstance(stranger, Refusal)
    assert stranger.number == -32004


@pytest.mark.spec("C2A-146")
@pytest.mark.parametrize(
    ("policy", "claimed", "ends"),
    [
        (Policy.MUST_RESPOND, False, None),
        (Policy.MUST_RESPOND, True, None),
        (Policy.MAY_RESPOND, True, None),
        (Policy.MAY_RESPOND, False, "ignored"),
    ],
)
def test_resolving_is_no_answer_to_what_is_owed_or_was_taken_on(
    policy: Policy, claimed: bool, ends: str | None
) -> None:
    obligation = replace(OWED, policy=policy)
    claims = held_by("lead") if claimed else Claims()
    found = resolve([obligation], claims, "lead", [event_target("e1")], START)
    if ends is None:
        assert isinstance(found, Refusal)
        assert (found.code, found.row, found.details["reason"]) == (
            "invalid_request",
            "C2A-146",
            "not_answered",
        )
        assert found.details["unanswered"] == ["e1"]
        assert "`done`" in found.remedy
    else:
        assert isinstance(found, Act)
        assert [(one.disposition, one.closes, one.reason) for one in found.records] == [
            (ends, True, "resolved")
        ]
