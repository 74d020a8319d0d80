"""No common time: more is offered where dates may change, else both owners choose from three alternatives."""

from __future__ import annotations

import pytest

from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling.escalating import KEEP_TRYING, STOP
from tests.agent.scheduling.desk import FEATURES, begun, desks, span

WEDNESDAY = span("2026-03-25T00:00:00Z", "2026-03-25T23:59:00Z")
FIXED = "dinner with ben on Wednesday evening, the date is fixed"
OPEN = "dinner with ben on Wednesday evening"


def clashing(text: str):
    """Anna wants Wednesday; Ben has no time on Wednesday and says so."""
    both = desks(ben={"busy": [WEDNESDAY]})
    thread = begun(both, text)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    return both, thread


@pytest.mark.spec("A2ACP-041")
@pytest.mark.spec("A2ACP-097")
def test_where_the_date_may_change_more_of_our_times_are_offered_and_it_ends_in_a_proposal():
    both, thread = clashing(OPEN)
    (offer,) = [one for one in both.ben.sent if one.fields.get("context", {}).get("conflict")]
    assert offer.type == "context"
    assert "escalation" not in offer.fields
    assert offer.fields["context"]["time_windows"]
    conflict = offer.fields["context"]["conflict"]
    assert set(conflict) == {"type", "field", "agent_a_values", "agent_b_values", "attempted_resolution"}
    assert both.anna.state(thread) == both.ben.state(thread) == "PROPOSED"
    assert not both.anna.questions("escalation")
    (proposed,) = [one for one in both.anna.sent if one.type == "resolution"]
    assert proposed.fields["proposal"]["details"]["date"] == "2026-04-01"
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-041")
def test_a_time_that_they_offer_beside_what_was_asked_is_taken_where_our_date_may_change():
    both = desks(ben={"busy": [WEDNESDAY]})
    thread = begun(both, OPEN)
    asked = both.ben.question("consent")
    both.ben.answer(asked, share={"time_windows": "Thursday 26 March 2026 18:00-21:00", "dietary": None})
    both.settle()
    assert both.anna.state(thread) == "PROPOSED"
    (proposed,) = [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    assert proposed.fields["proposal"]["details"]["date"] == "2026-03-26"


@pytest.mark.spec("A2ACP-042")
@pytest.mark.spec("A2ACP-097")
@pytest.mark.spec("A2ACP-098")
@pytest.mark.spec("A2ACP-099")
@pytest.mark.spec("A2ACP-100")
@pytest.mark.spec("A2ACP-101")
def test_wednesday_against_thursday_with_fixed_dates_gives_three_alternatives_and_both_owners_choose():
    both = desks(ben={"busy": [WEDNESDAY]})
    thread = begun(both, FIXED)
    asked = both.ben.question("consent")
    both.ben.answer(asked, share={"time_windows": "Thursday 26 March 2026 18:00-21:00", "dietary": None})
    both.settle()
    assert not [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    (surfaced,) = [one for one in (*both.anna.sent, *both.ben.sent) if "escalation" in one.fields]
    assert surfaced.type == "context"
    conflict = surfaced.fields["context"]["conflict"]
    assert conflict["type"] == "no_overlap"
    assert [one["date"] for one in conflict["agent_a_values"]] == ["2026-03-25"]
    assert [one["date"] for one in conflict["agent_b_values"]] == ["2026-03-26"]
    for tried in ("following week", "other times of day", "another format"):
        assert tried in conflict["attempted_resolution"]
    offered = surfaced.fields["context"]["proposed_alternatives"]
    assert len(offered) == 3
    assert all(one["option"] and one["rationale"] for one in offered)
    assert surfaced.fields["escalation"]["recommend"] == "surface_to_users"
    assert set(surfaced.fields["escalation"]) == {"recommend", "reason", "suggested_prompt"}
    for person in (both.anna, both.ben):
        choices = person.content(person.question("escalation"))["choices"]
        assert choices == [*(one["option"] for one in offered), KEEP_TRYING, STOP]

    both.anna.answer(both.anna.question("escalation"), choose=1)
    both.settle()
    assert both.anna.state(thread) == "NEGOTIATING"
    assert not both.anna.questions("escalation")
    assert both.anna.sent[-1].type == "context"
    both.ben.answer(both.ben.question("escalation"), choose=1)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "PROPOSED"
    (proposed,) = [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    details = proposed.fields["proposal"]["details"]
    assert (details["date"], details["time"]) == (
        offered[1]["details"]["date"],
        offered[1]["details"]["time"],
    )
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


def test_an_owner_without_a_common_time_hears_what_of_the_calendars_may_have_taken_it_and_nobody_else():
    both = desks(ben={"busy": [WEDNESDAY]})
    for person in (both.anna, both.ben):
        person.unclear = ('calendar "work": an event is not understood',)
    begun(both, FIXED)
    asked = both.ben.question("consent")
    both.ben.answer(asked, share={"time_windows": "Thursday 26 March 2026 18:00-21:00", "dietary": None})
    both.settle()
    people = (both.anna, both.ben)
    (surfaced,) = [one for one in (*both.anna.sent, *both.ben.sent) if "escalation" in one.fields]
    assert "not understood" not in str(surfaced.fields)
    tried = [one for each in people for one in each.content(each.question("escalation")).get("tried", ())]
    assert {"try": "calendars", "why": 'calendar "work": an event is not understood'} in tried


@pytest.mark.spec("A2ACP-041")
def test_with_a_fixed_date_another_time_of_the_same_day_is_offered_for_what_is_no_meal():
    morning = span("2026-03-25T09:00:00Z", "2026-03-25T12:00:00Z")
    both = desks(ben={"busy": [morning]})
    thread = begun(both, "meeting with ben on Wednesday between 9:00 and 12:00, the date is fixed")
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "PROPOSED"
    offered = [
        one["date"]
        for packet in both.ben.sent
        for one in packet.fields.get("context", {}).get("time_windows", [])
    ]
    assert set(offered) == {"2026-03-25"}


@pytest.mark.spec("A2ACP-099")
def test_the_log_shows_each_try_and_why_it_failed():
    both, _ = clashing(FIXED)
    who = both.ben if "tried" in both.ben.content(both.ben.question("escalation")) else both.anna
    tried = who.content(who.question("escalation"))["tried"]
    assert {one["try"] for one in tried} == {"following_week", "other_times", "other_format"}
    assert all(one["why"] for one in tried)


@pytest.mark.spec("A2ACP-101")
def test_two_people_who_choose_differently_are_asked_again_and_nothing_is_proposed():
    both, thread = clashing(FIXED)
    both.anna.answer(both.anna.question("escalation"), choose=0)
    both.ben.answer(both.ben.question("escalation"), choose=2)
    both.settle()
    assert not [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    assert both.anna.questions("escalation")
    assert both.ben.questions("escalation")
    assert both.anna.state(thread) == "NEGOTIATING"


@pytest.mark.spec("A2ACP-104")
@pytest.mark.parametrize("who", ["anna", "ben"])
def test_a_person_who_stops_ends_it_on_both_sides(who: str):
    both, thread = clashing(FIXED)
    person = getattr(both, who)
    asked = person.question("escalation")
    person.answer(asked, choose=len(person.content(asked)["choices"]) - 1)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "DECLINED"
    assert person.thread(thread).closed_reason == "user_closed"
    assert not both.anna.questions()
    assert not both.ben.questions()


@pytest.mark.spec("A2ACP-101")
def test_an_escalation_of_a_peer_with_words_alone_can_be_answered_too():
    both = desks()
    thread = begun(both, OPEN)
    both.anna.peers[both.ben.me] = Peer(both.ben.me, FEATURES, heard=True, version="a2acp/0.2")
    fields = {
        "intent": {"category": "scheduling", "summary": "No overlap", "urgency": "low"},
        "context": {
            "conflict": {
                "type": "no_overlap",
                "field": "time_windows",
                "agent_a_values": ["Wednesday 18:00-21:00"],
                "agent_b_values": ["Thursday 18:00-21:00"],
                "attempted_resolution": "checked",
            },
            "proposed_alternatives": [{"option": "Following week\x1b[2J", "rationale": "later"}],
        },
        "escalation": {"recommend": "surface_to_users", "reason": "needs a person", "suggested_prompt": "?"},
    }
    both.anna.receive(both.ben.me, thread, "pkt_escalating", "context", fields)
    both.anna.settle()
    shown = both.anna.content(both.anna.question("escalation"))
    assert shown["choices"] == ["Following week⟨U+001B⟩[2J", KEEP_TRYING, STOP]
    both.anna.answer(both.anna.question("escalation"), choose=0)
    assert both.anna.sent[-1].type == "context"
    assert "Following week" in both.anna.sent[-1].fields["intent"]["summary"]
