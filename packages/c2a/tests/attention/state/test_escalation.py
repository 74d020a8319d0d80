"""Escalation: to exactly one other, or to a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.attention import Roster, RosterAgent
from tacit.attention.state.escalation import Route, escalated, human_notice, route
from tests.attention.world import ROSTER, event, lead_gets


@pytest.mark.spec("C2A-176")
def test_escalation_goes_to_the_lead_then_an_owner_then_one_responder_then_the_human() -> None:
    assert route(ROSTER, frozenset({"worker"})) == Route("lead")
    assert route(ROSTER, frozenset({"lead"}), owners=frozenset({"tester"})) == Route("tester")
    assert route(ROSTER, frozenset({"lead"}), load={"tester": 2}) == Route("worker")
    assert route(ROSTER, frozenset({"lead", "worker"})) == Route("user", human=True)
    assert route(ROSTER, frozenset({"worker"}), eligible=frozenset({"worker"})) == Route("user", human=True)
    away = Roster.of([RosterAgent("lead", role="foreman", online=False), RosterAgent("worker")])
    assert route(away, frozenset({"worker"})) == Route("user", human=True)
    assert human_notice("e1", why="unanswered")["related_event_id"] == "e1"


@pytest.mark.spec("C2A-177", "C2A-123")
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(2, 12))
def test_escalation_and_declining_never_widen_the_obligation(declines: list[bool], agents: int) -> None:
    roster = Roster.of([RosterAgent(f"a{n}", role="foreman" if n == 1 else "peer") for n in range(agents)])
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
