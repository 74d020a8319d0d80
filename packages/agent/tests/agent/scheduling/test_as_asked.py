"""What an owner asked for binds our side of every proposal: its length, and the times that were ruled out."""

from __future__ import annotations

import json

import pytest

from tacit.agent.scheduling.differing import OUTSIDE, RULED_OUT
from tacit.agent.scheduling.view import view_of
from tests.agent.scheduling.desk import begun, desks
from tests.agent.scheduling.test_checkpoint import FRIDAY, resolution

SHORTER = "You asked for 2 hours; this lasts 1 hour 30 minutes"
TWO_HOURS = "2 hour dinner with ben on Friday from 18:00 to 22:00"


def shown(text: str, **details: str) -> list[str]:
    """What Anna, who asked for this, is shown of a proposal of Ben's beside what it says itself."""
    both = desks()
    thread = begun(both, text)
    for question in both.ben.questions("consent"):
        both.ben.share_all(question)
    named = {"date": FRIDAY[0], "time": FRIDAY[1], "event_type": "dinner", **details}
    body = resolution(both.anna, proposal={"summary": "Dinner", "details": named})
    both.anna.receive(both.ben.me, thread, "pkt_theirs", "resolution", body)
    both.anna.settle()
    return both.anna.content(both.anna.question("checkpoint"))["proposal"].get("not_as_asked", [])


@pytest.mark.spec("A2ACP-241")
def test_the_length_that_was_asked_for_is_told_so_the_other_side_looks_for_as_long():
    both = desks()
    thread = begun(both, TWO_HOURS)
    (first, *_) = both.anna.sent
    assert first.fields["context"]["duration"] == "PT2H"
    goal = view_of(both.ben.workspace(), both.ben.thread(thread)).goal
    assert (goal.event_type, goal.minutes) == ("dinner", 120)


def test_a_length_that_nobody_named_is_not_told():
    both = desks()
    begun(both, "dinner with ben on Friday evening")
    assert "duration" not in both.anna.sent[0].fields["context"]


@pytest.mark.spec("A2ACP-143")
@pytest.mark.parametrize(
    ("text", "details", "said"),
    [
        (TWO_HOURS, {}, [SHORTER]),
        (TWO_HOURS, {"time": "19:00+00:00/21:00+00:00"}, []),
        (TWO_HOURS, {"time": "19:00+00:00", "duration": "PT90M"}, [SHORTER]),
        ("dinner with ben on Friday evening", {"time": "19:00+00:00/20:00+00:00"}, []),
        ("dinner with ben on Friday evening", {"date": "2026-03-28"}, [OUTSIDE]),
        ("dinner with ben this week in the evening, not Friday", {}, [RULED_OUT]),
        ("dinner with ben this week in the evening, not Friday", {"date": "2026-03-28"}, []),
        ("dinner with ben, not Friday", {}, [RULED_OUT]),
        ("dinner with ben", {"date": "2026-05-01"}, []),
    ],
)
def test_a_proposal_that_is_not_as_asked_is_shown_with_what_differs(text, details, said):
    assert shown(text, **details) == said


@pytest.mark.spec("A2ACP-143")
def test_an_alternative_that_is_not_as_asked_is_shown_with_what_differs():
    both = desks()
    thread = begun(both, TWO_HOURS)
    proposal = {
        "summary": "Dinner",
        "details": {"date": FRIDAY[0], "time": "19:00+00:00/21:00+00:00"},
        "alternatives": [{"summary": "Dinner", "details": {"time": FRIDAY[1]}}],
    }
    both.anna.receive(
        both.ben.me, thread, "pkt_theirs", "resolution", resolution(both.anna, proposal=proposal)
    )
    both.anna.settle()
    asked = both.anna.content(both.anna.question("checkpoint"))["proposal"]
    assert "not_as_asked" not in asked
    assert asked["alternatives"][0]["not_as_asked"] == [SHORTER]


@pytest.mark.spec("A2ACP-041")
def test_what_was_ruled_out_is_not_offered_when_other_times_are_looked_for():
    both = desks()
    thread = begun(both, "dinner with ben this week in the evening, not Friday")
    only_friday = [{"date": FRIDAY[0], "time": "18:00+00:00/22:00+00:00"}]
    body = {"context_provided": {"time_windows": only_friday, "dietary": "none", "location_preference": "x"}}
    both.anna.receive(both.ben.me, thread, "pkt_only_friday", "context_response", body)
    both.anna.settle()
    for question in both.anna.questions("consent"):
        both.anna.share_all(question)
    clash = both.anna.sent[-1].fields["context"]
    ours = [clash["time_windows"], clash["conflict"]["agent_a_values"]]
    assert all(FRIDAY[0] not in json.dumps(one) for one in ours)
    assert not [one for one in both.anna.sent if one.type == "resolution"]
    offered = [both.anna.content(one) for one in both.anna.questions("escalation")]
    assert FRIDAY[0] not in json.dumps([one.get("choices") for one in offered])
