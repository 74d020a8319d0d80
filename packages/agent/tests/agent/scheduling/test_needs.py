"""What is asked, answered and refused: once, without a reason, and never by silence."""

from __future__ import annotations

import pytest

from tacit.a2acp.consent.tiers import DEFAULT, Override, Policy
from tacit.agent.kernel import records
from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling import asking
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import DAY, FEATURES, HOUR, Desk, begun, desks

PEER = "agent:carl@relay.example"
THREAD = "thr_needs000001"
PROFILE = {"timezone": "Europe/London", "dietary": "vegan", "budget_range": "GBP 30", "health_info": "asthma"}
DINNER = "dinner with ben on Friday evening"


def need(field: str, priority: str = "required") -> dict[str, str]:
    return {"field": field, "reason": f"to know the {field}", "priority": priority}


def asked_by_carl(*needs: dict[str, str], policy: Policy = DEFAULT, **context) -> Desk:
    """Ben's desk, just asked by somebody about a dinner."""
    desk = Desk("ben", profile=PROFILE, policy=policy)
    desk.peers[PEER] = Peer(PEER, FEATURES, heard=True, version="a2acp/0.2")
    body = {
        "intent": {
            "category": "scheduling",
            "summary": "Dinner on Friday 27 March 2026",
            "urgency": "normal",
        },
        "context": {"event_type": "dinner", **context},
        "needs": list(needs),
    }
    desk.receive(PEER, THREAD, "pkt_first000001", "context", body)
    desk.settle()
    return desk


def again(desk: Desk, number: int, *needs: dict[str, str]) -> None:
    desk.receive(PEER, THREAD, f"pkt_again00000{number}", "context_request", {"needs": list(needs)})
    desk.settle()


def refusals(desk: Desk) -> list[dict[str, object]]:
    return [one for packet in desk.sent for one in packet.fields.get("context_unavailable", [])]


@pytest.mark.spec("A2ACP-067")
def test_each_packet_goes_through_the_five_steps_in_order_and_each_outcome_is_on_record():
    both = desks()
    begun(both, DINNER)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    order = ["PARSE", "COMPLETENESS", "ACTION", "PERMISSIONS", "CONSTRUCT"]
    cycles = [one for one in both.ben.log if isinstance(one, records.Cycled)]
    assert len(cycles) >= 2
    for one in cycles:
        assert [name for name, _ in one.steps] == order, one.steps
        assert all(outcome for _, outcome in one.steps)


@pytest.mark.spec("A2ACP-037")
@pytest.mark.spec("A2ACP-093")
@pytest.mark.spec("A2ACP-129")
@pytest.mark.spec("A2ACP-130")
@pytest.mark.spec("A2ACP-132")
def test_all_needs_of_a_packet_are_one_question_and_one_reply():
    desk = asked_by_carl(need("dietary"), need("budget_range", "helpful"), need("timezone"))
    question = desk.question("consent")
    fields = desk.content(question)["fields"]
    assert [(one["field"], one["reason"], one["values"]) for one in fields] == [
        ("dietary", "to know the dietary", ["vegan"]),
        ("budget_range", "to know the budget_range", ["GBP 30"]),
    ]
    assert question.peer == PEER
    assert not desk.sent, "nothing of the packet leaves before the answer"
    desk.answer(question, share={"dietary": None})
    (reply,) = [one for one in desk.sent if one.type == "context_response"]
    assert reply.fields["context_provided"] == {"dietary": "vegan", "timezone": "Europe/London"}
    assert reply.fields["context_unavailable"] == [
        {"field": "budget_range", "status": "declined", "hint": None}
    ]


@pytest.mark.spec("A2ACP-095")
@pytest.mark.spec("A2ACP-139")
@pytest.mark.spec("A2ACP-140")
def test_every_refusal_looks_alike_whatever_its_cause():
    desk = asked_by_carl(
        need("dietary"),
        need("health_info"),
        need("budget_range", "nice_to_have"),
        need("general_location_area"),
    )
    desk.answer(desk.question("consent"), decline=frozenset({"dietary"}))
    assert refusals(desk) == [
        {"field": "budget_range", "status": "declined", "hint": None},
        {"field": "dietary", "status": "declined", "hint": None},
        {"field": "general_location_area", "status": "not_available", "hint": None},
        {"field": "health_info", "status": "declined", "hint": None},
    ]
    reply = next(one for one in desk.sent if one.type == "context_response")
    assert set(reply.fields) <= {"context_unavailable", "permissions", "_format_hints"}
    assert set(reply.fields["permissions"]["withheld_fields"]) == {"budget_range", "dietary", "health_info"}
    for word in ("never", "asthma", "vegan", "GBP", "user", "policy"):
        assert word not in str(refusals(desk))


@pytest.mark.spec("A2ACP-094")
def test_what_would_be_nice_to_have_asks_nobody():
    desk = asked_by_carl(need("dietary", "nice_to_have"), need("timezone", "nice_to_have"))
    assert not desk.questions()
    (reply,) = [one for one in desk.sent if one.type == "context_response"]
    assert reply.fields["context_provided"] == {"timezone": "Europe/London"}
    assert [one["field"] for one in reply.fields["context_unavailable"]] == ["dietary"]


@pytest.mark.spec("A2ACP-110")
@pytest.mark.parametrize("spelling", ["dietary", "Dietary", "dietary_requirements", "DIETARY_PREFERENCES"])
@pytest.mark.parametrize("shared", [True, False])
def test_a_repeated_need_is_answered_from_the_record_without_a_prompt_or_a_thought(
    spelling: str, shared: bool
):
    desk = asked_by_carl(need("dietary"))
    desk.answer(
        desk.question("consent"), **({"share": {"dietary": None}} if shared else {"decline_all": True})
    )
    desk.restarted()
    questions, thoughts = len(desk.book.questions), len(desk.thoughts)
    again(desk, 1, need(spelling))
    assert len(desk.book.questions) == questions
    assert len(desk.thoughts) == thoughts
    assert desk.violations() == ["repeated_need"]
    reply = [one for one in desk.sent if one.type == "context_response"][-1]
    if shared:
        assert reply.fields["context_provided"] == {spelling: "vegan"}
    else:
        assert reply.fields["context_unavailable"] == [
            {"field": spelling, "status": "declined", "hint": None}
        ]


@pytest.mark.spec("A2ACP-092")
@pytest.mark.spec("A2ACP-109")
def test_after_a_no_the_asker_goes_on_without_the_field_and_never_asks_again_even_after_a_restart():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.answer(
        both.ben.question("consent"), share={"time_windows": None}, decline=frozenset({"dietary"})
    )
    both.settle()
    assert both.anna.thread(thread).wants["dietary"] == "declined"
    assert both.anna.state(thread) == "PROPOSED"
    for person in (both.anna, both.ben):
        person.restarted()
        person.settle()
    both.ben.answer(both.ben.question("checkpoint"), counter=("time", "20:00"))
    both.settle()
    asked = [one["field"] for packet in both.anna.sent for one in packet.fields.get("needs", [])]
    assert asked.count("dietary") == 1
    assert asked.count("time_windows") == 1
    prompts = [one for one in both.ben.book.questions.values() if one.kind == "consent"]
    assert len(prompts) == 1


@pytest.mark.spec("A2ACP-092")
def test_after_a_no_to_our_question_for_times_our_own_are_proposed():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.answer(both.ben.question("consent"), decline_all=True)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "PROPOSED"
    assert both.anna.sent[-1].type == "resolution"
    assert not both.ben.questions("consent"), "a no is not asked about again"


@pytest.mark.spec("A2ACP-091")
def test_no_proposal_while_something_required_is_neither_told_nor_refused():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.out.clear()
    both.anna.receive(
        both.ben.me, thread, "pkt_partial0001", "context_response", {"context_provided": {"dietary": "vegan"}}
    )
    both.anna.settle()
    assert both.anna.state(thread) == "NEGOTIATING"
    assert "resolution" not in {one.type for one in both.anna.sent}
    windows = [{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}]
    both.anna.receive(
        both.ben.me,
        thread,
        "pkt_partial0002",
        "context_response",
        {"context_provided": {"time_windows": windows}},
    )
    both.anna.settle()
    assert both.anna.state(thread) == "PROPOSED"


@pytest.mark.spec("A2ACP-096")
@pytest.mark.spec("A2ACP-068")
def test_a_request_carries_what_they_asked_for_and_asks_only_for_what_is_not_known():
    desk = asked_by_carl(need("timezone"), dietary="no nuts")
    (request,) = [one for one in desk.sent if one.type == "context_request"]
    assert request.fields["context_provided"] == {"timezone": "Europe/London"}
    asked = [one["field"] for one in request.fields["needs"]]
    assert "time_windows" in asked
    assert "dietary" not in asked, "they have told it"
    assert "timezone" not in asked


@pytest.mark.spec("A2ACP-077")
@pytest.mark.spec("A2ACP-078")
@pytest.mark.spec("A2ACP-073")
def test_the_first_packet_of_each_side_has_its_hints_and_what_matters_to_the_goal():
    both = desks(anna={"profile": {**PROFILE, "shoe_size": "42"}})
    thread = begun(both, DINNER)
    opening = both.anna.sent[0].fields
    assert opening["context"]["time_windows"] == [{"date": "2026-03-27", "time": "17:30+00:00/22:00+00:00"}]
    assert opening["context"]["dietary"] == "vegan"
    assert "shoe_size" not in str(opening)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    both.confirmed()
    assert both.anna.state(thread) == "COMPLETED"
    for person in (both.anna, both.ben):
        hinted = ["_format_hints" in one.fields for one in person.sent]
        assert hinted == [True] + [False] * (len(hinted) - 1)
        assert set(person.sent[0].fields["_format_hints"]) == {
            "dates", "times", "currency", "coordinates", "durations",
        }  # fmt: skip


@pytest.mark.spec("A2ACP-080")
@pytest.mark.spec("A2ACP-134")
def test_what_has_to_be_asked_first_is_asked_at_once_and_only_what_was_ticked_leaves():
    policy = Policy(ask_first=("specific_availability", "dietary", "timezone", "budget_range"))
    both = desks(anna={"policy": policy, "profile": PROFILE})
    thread = both.anna.ask(DINNER, both.ben.me)
    assert not both.anna.sent
    question = both.anna.question("consent")
    assert {"time_windows", "dietary", "timezone"} <= set(both.anna.asked(question))
    both.anna.answer(question, decline_all=True)
    context = both.anna.sent[0].fields["context"]
    assert set(context) <= {"event_type"}
    assert "vegan" not in str(both.anna.sent[0].fields)
    assert both.anna.state(thread) == "INITIATED"


@pytest.mark.spec("A2ACP-134")
def test_with_implicit_consent_the_goals_own_fields_go_unasked_and_others_never():
    both = desks(anna={"profile": PROFILE})
    both.anna.implicit = True
    thread = both.anna.ask(DINNER, both.ben.me)
    assert not both.anna.questions()
    opening = both.anna.sent[0].fields
    assert opening["permissions"]["consent_level"] == "implicit"
    assert opening["context"]["dietary"] == "vegan"
    both.anna.receive(
        both.ben.me, thread, "pkt_curious0001", "context_request", {"needs": [need("transport_mode")]}
    )
    both.anna.settle()
    assert both.anna.asked(both.anna.question("consent")) == ["transport_mode"]


@pytest.mark.spec("A2ACP-128")
def test_a_prompt_offers_known_values_another_value_and_a_no_for_each_field():
    desk = asked_by_carl(need("dietary"), need("transport_mode"), need("budget_range"))
    question = desk.question("consent")
    assert desk.content(question)["choices"] == ["share_selected", "decline_all"]
    with pytest.raises(Refused, match="which_value"):
        desk.answer(question, share={"transport_mode": None})
    with pytest.raises(Refused, match="unknown_field"):
        desk.answer(question, share={"health_info": None})
    with pytest.raises(Refused, match="bad_answer"):
        desk.answer(question, confirm=True)
    desk.answer(question, share={"transport_mode": "by train", "dietary": None})
    provided = [one.fields["context_provided"] for one in desk.sent if "context_provided" in one.fields]
    assert provided[0] == {"dietary": "vegan", "transport_mode": "by train"}


@pytest.mark.spec("A2ACP-138")
def test_when_urgent_the_prompts_of_a_thread_become_one():
    desk = Desk("ben", profile=PROFILE)
    body = {
        "intent": {"category": "scheduling", "summary": "Dinner tonight", "urgency": "urgent"},
        "context": {"event_type": "dinner"},
        "needs": [need("dietary")],
    }
    desk.receive(PEER, THREAD, "pkt_urgent00001", "context", body)
    desk.settle()
    again(desk, 1, need("budget_range"))
    assert desk.asked(desk.question("consent")) == ["dietary", "budget_range"]
    desk.share_all(desk.question("consent"))
    (reply,) = [one for one in desk.sent if "context_provided" in one.fields]
    assert reply.fields["context_provided"] == {"dietary": "vegan", "budget_range": "GBP 30"}


@pytest.mark.spec("A2ACP-107")
@pytest.mark.spec("A2ACP-108")
@pytest.mark.spec("A2ACP-131")
@pytest.mark.spec("A2ACP-133")
@pytest.mark.spec("A2ACP-157")
def test_silence_is_no_answer_it_reminds_once_stands_still_and_goes_on_with_the_answer():
    both = desks()
    thread = begun(both, DINNER)
    question = both.ben.question("consent")
    both.later(24 * HOUR)
    both.later(HOUR)
    assert both.ben.notices().count("reminder") == 1
    other = begun(both, "lunch with ben on Thursday")
    assert both.ben.state(other) == "INITIATED", "other threads go on"
    both.later(22 * HOUR)
    assert both.ben.state(thread) == "INITIATED"
    both.later(2 * HOUR)
    for person in (both.anna, both.ben):
        assert person.state(thread) == "STALLED"
        assert "stalled" in person.notices()
    both.ben.restarted()
    assert both.ben.book.questions[question.question_id].is_open
    assert not refusals(both.ben)
    assert not both.ben.sent
    both.later(5 * DAY)
    assert both.ben.notices().count("reminder") == 2, "once for each question"
    both.ben.share_all(both.ben.book.questions[question.question_id])
    both.settle()
    assert both.ben.state(thread) != "STALLED"
    assert both.anna.state(thread) != "STALLED"
    assert any("context_provided" in one.fields for one in both.ben.sent if one.thread_id == thread)


@pytest.mark.spec("A2ACP-108")
@pytest.mark.spec("A2ACP-133")
@pytest.mark.spec("A2ACP-157")
@pytest.mark.spec("A2ACP-163")
def test_after_seven_days_more_it_is_over_which_is_not_a_no():
    both = desks()
    thread = begun(both, DINNER)
    question = both.ben.question("consent")
    both.later(2 * DAY)
    both.later(7 * DAY - HOUR)
    assert both.ben.state(thread) == "STALLED"
    both.later(HOUR)
    assert both.anna.state(thread) == both.ben.state(thread) == "EXPIRED"
    assert both.ben.sent[-1].type == "thread_status"
    assert both.ben.sent[-1].fields == {"state": "EXPIRED", "closed_reason": "stalled"}
    assert both.anna.sent[-1].type == "context", "of Ben's agent nothing is known yet"
    with pytest.raises(Refused, match="stale_question"):
        both.ben.share_all(question)
    assert not refusals(both.ben)
    assert not any("context_provided" in one.fields for one in both.ben.sent)


@pytest.mark.spec("A2ACP-107")
def test_an_urgent_thread_waits_two_hours():
    both = desks()
    thread = begun(both, DINNER, urgent=True)
    both.later(2 * HOUR - 1)
    assert both.anna.state(thread) == "INITIATED"
    both.later(1)
    assert both.anna.state(thread) == both.ben.state(thread) == "STALLED"


@pytest.mark.spec("A2ACP-125")
@pytest.mark.spec("A2ACP-126")
def test_the_third_approval_of_a_field_offers_to_share_it_always_with_that_contact_alone():
    desk = Desk("ben", profile=PROFILE)

    def approve(number: int, peer: str = PEER, **how) -> None:
        thread = f"thr_{peer[6:10]}000{number:02}"
        body = {
            "intent": {"category": "information", "summary": "Question", "urgency": "normal"},
            "context": {},
            "needs": [need("dietary")],
        }
        desk.receive(peer, thread, f"pkt_{peer[6:10]}000{number:02}", "context", body)
        desk.settle()
        if desk.questions("consent"):
            desk.answer(desk.question("consent"), **(how or {"share": {"dietary": None}}))

    approve(1)
    approve(2)
    approve(3, decline_all=True)
    approve(4)
    approve(5)
    approve(1, "agent:dora@relay.example")
    assert not desk.questions("promotion"), "counted since the last no, and for each contact"
    approve(6)
    offer = desk.question("promotion")
    desk.decide(lambda ws: asking.stop(ws, offer.thread_id))
    offer = desk.question("promotion")
    assert (desk.content(offer)["field"], offer.peer) == ("dietary", PEER)
    desk.answer(offer, dismiss=True)
    approve(7)
    approve(8)
    assert not desk.questions("promotion")
    approve(9)
    desk.answer(desk.question("promotion"), confirm=True)
    assert desk.policy.overrides == {PEER: Override(promote_to_always_share=("dietary",))}
    prompts = len([one for one in desk.book.questions.values() if one.kind == "consent"])
    approve(10)
    assert len([one for one in desk.book.questions.values() if one.kind == "consent"]) == prompts
    assert desk.sent[-1].fields["context_provided"] == {"dietary": "vegan"}
    assert desk.sent[-1].fields["permissions"]["consent_level"] == "user_preauthorised"
    approve(2, "agent:dora@relay.example")
    assert len([one for one in desk.book.questions.values() if one.kind == "consent"]) == prompts + 1


@pytest.mark.spec("A2ACP-126")
def test_an_offer_that_was_dismissed_twice_does_not_return():
    desk = Desk("ben", profile=PROFILE)
    for number in range(12):
        body = {
            "intent": {"category": "information", "summary": "Question", "urgency": "normal"},
            "context": {},
            "needs": [need("dietary")],
        }
        desk.receive(PEER, f"thr_silent0{number:03}", f"pkt_silent0{number:03}", "context", body)
        desk.settle()
        desk.share_all(desk.question("consent"))
        for offer in desk.questions("promotion"):
            desk.answer(offer, dismiss=True)
    offers = [one for one in desk.book.questions.values() if one.kind == "promotion"]
    assert len(offers) == 2


@pytest.mark.spec("A2ACP-139")
def test_a_hint_that_comes_in_is_discarded():
    both = desks()
    thread = begun(both, DINNER)
    refusal = {"field": "dietary", "status": "declined", "hint": "he is ill"}
    both.anna.receive(
        both.ben.me, thread, "pkt_hint0000001", "context_response", {"context_unavailable": [refusal]}
    )
    both.anna.settle()
    ws = both.anna.workspace()
    assert both.anna.thread(thread).wants["dietary"] == "declined"
    from tacit.agent.scheduling.view import view_of

    assert "he is ill" not in str(view_of(ws, ws.thread(thread)))


@pytest.mark.spec("A2ACP-156")
@pytest.mark.spec("A2ACP-163")
@pytest.mark.spec("A2ACP-164")
@pytest.mark.spec("A2ACP-165")
def test_a_thread_that_has_ended_is_kept_and_moves_no_more():
    both = desks()
    both.anna.peers[both.ben.me] = Peer(both.ben.me, FEATURES, heard=True, version="a2acp/0.2")
    thread = begun(both, DINNER)
    both.anna.decide(lambda ws: asking.stop(ws, thread))
    both.settle()
    assert both.anna.sent[-1].fields == {"state": "DECLINED", "closed_reason": "withdrawn"}
    for person in (both.anna, both.ben):
        assert person.state(thread) == "DECLINED"
        assert thread not in person.book.due
        assert thread not in person.book.considering
        assert not person.questions()
    sent, thoughts = len(both.ben.sent), len(both.ben.thoughts)
    body = {
        "intent": {"category": "x", "summary": "x", "urgency": "normal"},
        "context": {},
        "needs": [need("dietary")],
    }
    both.ben.receive(both.anna.me, thread, "pkt_after000001", "context", body)
    both.ben.receive(both.anna.me, thread, "pkt_after000002", "context_request", {"needs": [need("dietary")]})
    both.ben.settle()
    assert (len(both.ben.sent), len(both.ben.thoughts)) == (sent, thoughts)
    assert not both.ben.questions()
    assert both.ben.notices().count("after_the_end") == 1
    assert [one.packet_id for one in both.ben.thread(thread).packets][-2:] == [
        "pkt_after000001",
        "pkt_after000002",
    ]
    assert both.ben.state(thread) == "DECLINED"


@pytest.mark.spec("A2ACP-158")
@pytest.mark.spec("A2ACP-159")
def test_states_follow_the_packets_on_both_sides():
    both = desks()
    thread = begun(both, DINNER)
    assert both.anna.state(thread) == both.ben.state(thread) == "INITIATED"
    both.ben.share_all(both.ben.question("consent"))
    assert both.ben.state(thread) == "NEGOTIATING"
    both.settle()
    moves = [
        [(one.before, one.after) for one in person.log if isinstance(one, records.Moved)]
        for person in (both.anna, both.ben)
    ]
    assert moves[0] == moves[1] == [("INITIATED", "NEGOTIATING"), ("NEGOTIATING", "PROPOSED")]
    fresh = Desk("cleo")
    proposal = {
        "proposal": {"summary": "Dinner", "details": {"event_type": "dinner"}},
        "requires_confirmation_from": [fresh.me, PEER],
        "confirmation_timeout": "PT24H",
        "on_timeout": "expire",
    }
    body = {"intent": {"category": "scheduling", "summary": "Dinner", "urgency": "normal"}, "context": {}}
    fresh.receive(PEER, THREAD, "pkt_direct00001", "context", body)
    fresh.receive(PEER, THREAD, "pkt_direct00002", "resolution", proposal)
    assert fresh.state(THREAD) == "PROPOSED", "from INITIATED at once"


@pytest.mark.spec("A2ACP-069")
@pytest.mark.parametrize(
    ("text", "several"), [(DINNER, False), ("dinner with ben on Friday or Saturday", True)]
)
def test_one_clear_option_is_proposed_alone_and_several_with_alternatives(text: str, several: bool):
    both = desks()
    thread = begun(both, text)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    assert both.anna.state(thread) == "PROPOSED"
    (proposed,) = [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    assert ("alternatives" in proposed.fields["proposal"]) == several
    assert len(proposed.fields["proposal"].get("alternatives", [0])) >= 1


@pytest.mark.spec("A2ACP-114")
def test_nobody_joins_a_thread_of_two():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.receive(PEER, thread, "pkt_outsider001", "context_request", {"needs": [need("timezone")]})
    both.ben.settle()
    assert both.ben.violations() == ["outsider"]
    assert not both.ben.sent
    assert "pkt_outsider001" not in {one.packet_id for one in both.ben.thread(thread).packets}
