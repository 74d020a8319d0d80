"""A hand-over and a question for information, both ways and to the end; peers that can do less."""

from __future__ import annotations

import pytest

from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling import asking
from tests.agent.scheduling.desk import Desk, Desks, begun, desks

ZONE = {"timezone": "Europe/London"}


def swapped(both: Desks) -> Desks:
    """The same two with the roles changed: Ben begins."""
    return Desks(both.ben, both.anna)


def pair_of(beginner: dict, other: dict, *, turned: bool) -> Desks:
    both = desks(anna={"profile": beginner}, ben={"profile": other})
    return swapped(desks(anna={"profile": other}, ben={"profile": beginner})) if turned else both


@pytest.mark.parametrize("turned", [False, True])
def test_a_question_for_information_is_answered_and_ends(turned: bool):
    both = pair_of(ZONE, {**ZONE, "shirt_size": "M"}, turned=turned)
    thread = begun(both, "ask ben for his shirt size")
    asked = both.ben.question("consent")
    (field,) = both.ben.content(asked)["fields"]
    assert (field["field"], field["values"]) == ("shirt_size", ["M"])
    assert field["reason"]
    both.ben.share_all(asked)
    both.settle()
    assert not both.ben.questions(), "whoever answers confirms nothing"
    both.anna.answer(both.anna.question("checkpoint"), confirm=True)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-092")
def test_a_refused_question_ends_too_and_is_not_asked_again():
    both = desks(anna={"profile": ZONE}, ben={"profile": {**ZONE, "shirt_size": "M"}})
    thread = begun(both, "ask ben for his shirt size")
    both.ben.answer(both.ben.question("consent"), decline_all=True)
    both.settle()
    asked = both.anna.question("checkpoint")
    assert both.anna.content(asked)["proposal"]["summary"] == "There is no answer to be had"
    both.anna.answer(asked, confirm=True)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"
    assert sum("needs" in one.fields for one in both.anna.sent) == 1


@pytest.mark.spec("A2ACP-128")
@pytest.mark.parametrize("turned", [False, True])
def test_a_project_is_handed_over(turned: bool):
    both = pair_of({**ZONE, "project_details": "the plan"}, ZONE, turned=turned)
    thread = begun(both, "hand over the garden project to ben by Friday")
    asked = both.ben.question("consent")
    shown = {one["field"]: one["values"] for one in both.ben.content(asked)["fields"]}
    assert shown == {"acceptance": ["yes", "no"], "handover_date": ["2026-03-27"]}
    both.ben.answer(asked, share={"acceptance": "yes", "handover_date": "2026-03-26"})
    both.settle()
    (proposed,) = [one for one in both.anna.sent if one.type == "resolution"]
    assert proposed.fields["proposal"]["details"]["deadline"] == "2026-03-26"
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


def test_a_project_that_nobody_takes_is_not_handed_over():
    both = desks(anna={"profile": {**ZONE, "project_details": "the plan"}}, ben={"profile": ZONE})
    thread = begun(both, "hand over the garden project to ben by Friday")
    asked = both.ben.question("consent")
    both.ben.answer(asked, share={"acceptance": "no"}, decline=frozenset({"handover_date"}))
    both.settle()
    standing = both.anna.question("checkpoint")
    assert both.anna.content(standing)["proposal"]["summary"] == "The hand-over was not accepted"
    assert not both.ben.questions()
    both.anna.answer(standing, confirm=True)
    both.settle()
    assert both.ben.state(thread) == "COMPLETED"


# A peer without features.

PLAIN = frozenset({"context", "context_request", "context_response", "resolution", "resolution_response"})


def with_plain_ben(**more) -> Desks:
    """Ben's agent has named no features in its packets."""
    both = desks(**more)
    both.anna.peers[both.ben.me] = Peer(both.ben.me, frozenset(), heard=True, version="a2acp/0.1")
    return both


@pytest.mark.spec("A2ACP-278")
@pytest.mark.parametrize("begins", ["anna", "ben"])
def test_with_a_peer_without_features_a_dinner_comes_to_its_end_in_plain_packets(begins: str):
    both = with_plain_ben()
    first, second = (both.anna, both.ben) if begins == "anna" else (both.ben, both.anna)
    thread = begun(Desks(first, second), "dinner on Friday or Saturday evening")
    second.share_all(second.question("consent"))
    both.settle()
    both.confirmed()
    assert both.anna.state(thread) == "COMPLETED"
    assert {one.type for one in both.anna.sent} <= PLAIN
    for one in both.anna.sent:
        assert "alternatives" not in one.fields.get("proposal", {})
    assert ("do", "calendar") in both.anna.done


@pytest.mark.spec("A2ACP-278")
def test_to_a_peer_without_features_another_intent_goes_as_plain_text_and_an_end_not_at_all():
    both = with_plain_ben()
    thread = begun(both, "dinner with ben on Friday evening")
    goal = both.anna.goal("game night with ben on Saturday evening")
    both.anna.decide(lambda ws: asking.change_intent(ws, thread, goal, "They would rather play", "changed"))
    assert both.anna.sent[-1].type == "context"
    assert both.anna.sent[-1].fields["intent"]["summary"].startswith("Game night")
    assert next(one["field"] for one in both.anna.sent[-1].fields["needs"]) == "time_windows"
    both.anna.decide(lambda ws: asking.stop(ws, thread))
    assert both.anna.state(thread) == "DECLINED"
    assert {one.type for one in both.anna.sent} <= PLAIN


@pytest.mark.spec("A2ACP-058")
def test_a_packet_of_an_unknown_type_is_taken_as_context_with_what_is_missing_empty():
    desk = Desk("ben")
    peer, thread = "agent:carl@relay.example", "thr_unknown0001"
    desk.receive(
        peer,
        thread,
        "pkt_unknown0001",
        "hologram",
        {"needs": [{"field": "timezone", "reason": "to know", "priority": "required"}]},
    )
    desk.settle()
    # No word of a counterpart's stands in the journal, not even the name of its type.
    assert desk.thread(thread).packets[0].type == "context"
    assert desk.sent[-1].fields["context_provided"] == {"timezone": "Europe/London"}
    assert desk.state(thread) == "NEGOTIATING"
    desk.receive(peer, thread, "pkt_unknown0002", "hologram", {})
    desk.settle()
    assert desk.thread(thread).turns == 3
    assert desk.thread(thread).is_open
