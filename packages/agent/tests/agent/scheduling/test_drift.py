"""A thread that becomes about something else: consents lapse, owners see old and new, nothing leaves before."""

from __future__ import annotations

import pytest

from tacit.agent.consent.answering import Answer
from tacit.agent.kernel import records
from tacit.agent.scheduling import asking
from tacit.base.errors import Refused
from tests.agent.scheduling.desk import Desks, begun, desks

DINNER = "dinner with ben on Friday evening"
GAMES = "game night with ben on Saturday evening"


def changed(both: Desks, thread: str, text: str = GAMES, scope: str = "changed", by: str = "anna") -> None:
    """One of them makes something else of it."""
    person = getattr(both, by)
    goal = person.goal(text)
    person.decide(lambda ws: asking.change_intent(ws, thread, goal, "They would rather play", scope))
    both.settle()


def drifted(*, answered: bool = True, scope: str = "changed") -> tuple[Desks, str]:
    """Ben has said what he was asked for a dinner, or is still asked, when Anna makes it a game night."""
    both = desks(ben={"profile": {"timezone": "Europe/London", "dietary": "vegan"}})
    thread = begun(both, DINNER)
    if answered:
        # He says nothing of his times yet, so that nothing is proposed.
        both.ben.answer(
            both.ben.question("consent"), share={"dietary": None}, decline=frozenset({"time_windows"})
        )
        both.carry()
    changed(both, thread, scope=scope)
    return both, thread


@pytest.mark.spec("A2ACP-111")
@pytest.mark.spec("A2ACP-112")
@pytest.mark.spec("A2ACP-113")
@pytest.mark.parametrize("scope", ["changed", "expanded"])
def test_the_owner_sees_old_and_new_and_nothing_leaves_before_the_owner_agrees(scope: str):
    both, thread = drifted(answered=False, scope=scope)
    sent = len(both.ben.sent)
    asked = both.ben.question("scope")
    shown = both.ben.content(asked)
    assert "Dinner on Friday" in shown["before"]
    assert "Game night" in shown["after"]
    assert shown["reason"] == "They would rather play"
    assert shown["scope_change"] == scope
    assert not both.ben.questions("consent"), "the question for another purpose is withdrawn"
    assert both.ben.thread(thread).approved == {}
    assert len(both.ben.sent) == sent
    both.ben.answer(asked, confirm=True)
    both.settle()
    wanted = both.ben.question("consent")
    windows = both.ben.content(wanted)["fields"][0]
    assert windows["field"] == "time_windows"
    assert [one["date"] for one in windows["values"][0]] == ["2026-03-28"], "of the new day"
    both.ben.share_all(wanted)
    both.settle()
    for question in both.anna.questions("consent"):
        both.anna.share_all(question)
    both.settle()
    assert both.anna.state(thread) == both.ben.state(thread) == "PROPOSED"
    (proposed,) = [one for one in (*both.anna.sent, *both.ben.sent) if one.type == "resolution"]
    assert proposed.fields["proposal"]["details"]["date"] == "2026-03-28"
    assert proposed.fields["proposal"]["details"]["event_type"] == "game_night"
    both.confirmed()
    assert both.anna.state(thread) == both.ben.state(thread) == "COMPLETED"


@pytest.mark.spec("A2ACP-113")
def test_consents_for_the_old_purpose_lapse_on_both_sides():
    both, thread = drifted()
    assert both.anna.thread(thread).approved == {}
    assert both.ben.thread(thread).approved == {}
    both.ben.answer(both.ben.question("scope"), confirm=True)
    both.settle()
    wanted = both.ben.question("consent")
    assert "time_windows" in both.ben.asked(wanted)


@pytest.mark.spec("A2ACP-113")
def test_an_owner_who_does_not_agree_ends_it():
    both, thread = drifted(answered=False)
    both.ben.answer(both.ben.question("scope"), refuse=True)
    both.settle()
    assert both.ben.state(thread) == both.anna.state(thread) == "DECLINED"
    assert not any("dietary" in str(one.fields.get("context_provided", "")) for one in both.ben.sent)


@pytest.mark.spec("A2ACP-113")
@pytest.mark.spec("A2ACP-111")
def test_a_narrowed_intent_asks_nobody_and_keeps_what_was_allowed():
    both = desks()
    thread = begun(both, "dinner with ben on Friday or Saturday evening")
    before = both.anna.thread(thread).approved
    assert before
    changed(both, thread, DINNER, "narrowed")
    assert both.anna.thread(thread).approved == before
    assert not both.ben.questions("scope")
    assert both.ben.questions("consent")
    assert "Friday" in both.ben.value(both.ben.thread(thread).intent)["summary"]


@pytest.mark.spec("A2ACP-113")
def test_a_previous_intent_unlike_ours_is_noted_and_the_update_applies():
    both = desks()
    thread = begun(both, DINNER)
    update = {
        "previous_intent": {"category": "scheduling", "summary": "Something else"},
        "updated_intent": {"category": "scheduling", "summary": "Lunch", "scope_change": "expanded"},
        "reason": "because",
    }
    both.ben.receive(both.anna.me, thread, "pkt_update00001", "intent_update", update)
    assert "another_previous_intent" in both.ben.notices()
    assert both.ben.value(both.ben.thread(thread).intent)["summary"] == "Lunch"
    assert both.ben.questions("scope")


@pytest.mark.spec("A2ACP-110")
def test_a_declined_field_that_the_update_names_is_opened_once_and_one_that_it_does_not_name_is_not():
    both = desks(ben={"profile": {"timezone": "Europe/London", "dietary": "vegan", "budget_range": "GBP 30"}})
    thread = begun(both, DINNER)
    both.ben.answer(both.ben.question("consent"), decline_all=True)
    both.carry()

    def update(number: int, *names: str) -> None:
        body = {
            "previous_intent": {"category": "scheduling", "summary": "Dinner"},
            "updated_intent": {"category": "scheduling", "summary": "Games", "scope_change": "changed"},
            "reason": "because",
            "additional_context_needed": [
                {"field": one, "reason": "for games", "priority": "required"} for one in names
            ],
        }
        both.ben.receive(both.anna.me, thread, f"pkt_update0000{number}", "intent_update", body)
        with pytest.raises(Refused, match="bad_answer"):
            both.ben.answer(both.ben.question("scope"), Answer())
        both.ben.answer(both.ben.question("scope"), confirm=True)

    update(1, "dietary_requirements")
    asked = both.ben.question("consent")
    assert both.ben.asked(asked) == ["dietary_requirements"]
    both.ben.answer(asked, decline_all=True)
    update(2, "Dietary")
    assert not both.ben.questions("consent"), "once in a thread"
    refusals = [
        one.fields["context_unavailable"] for one in both.ben.sent if "context_unavailable" in one.fields
    ]
    assert refusals[-1] == [{"field": "Dietary", "status": "declined", "hint": None}]
    assert "repeated_need" in both.ben.violations()


@pytest.mark.spec("A2ACP-110")
def test_the_asker_names_a_declined_field_again_once_and_only_with_another_purpose():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.answer(
        both.ben.question("consent"), share={"time_windows": None}, decline=frozenset({"dietary"})
    )
    both.ben.out.clear()
    both.anna.receive(
        both.ben.me,
        thread,
        "pkt_refusal0001",
        "context_response",
        {"context_unavailable": [{"field": "dietary", "status": "declined", "hint": None}]},
    )
    both.anna.settle()
    for number, text, expected in (
        (1, "supper with ben on Saturday", 1),
        (2, "dinner with ben on Sunday", 0),
    ):
        goal = both.anna.goal(text)
        both.anna.decide(lambda ws, goal=goal: asking.change_intent(ws, thread, goal, "why not", "changed"))
        named = [one["field"] for one in both.anna.sent[-1].fields.get("additional_context_needed", [])]
        assert both.anna.sent[-1].type == "intent_update"
        assert not both.anna.thread(thread).awaiting_user
        assert named.count("dietary") == expected, (number, named)


@pytest.mark.spec("A2ACP-111")
def test_an_intent_changes_only_while_it_is_negotiated():
    both = desks()
    thread = begun(both, DINNER)
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    assert both.anna.state(thread) == "PROPOSED"
    with pytest.raises(Refused, match="bad_answer"):
        both.anna.answer(both.anna.question("checkpoint"), Answer())
    with pytest.raises(Refused, match="too_late"):
        changed(both, thread)
    assert not [one for one in both.anna.sent if one.type == "intent_update"]


@pytest.mark.spec("A2ACP-112")
def test_an_answer_to_the_old_question_after_the_change_has_no_effect():
    both = desks()
    thread = begun(both, DINNER)
    old = both.ben.question("consent")
    changed(both, thread)
    with pytest.raises(Refused, match="stale_question"):
        both.ben.answer(old, Answer(share={"dietary": None}))
    assert not [one for one in both.ben.log if isinstance(one, records.Answered)]
