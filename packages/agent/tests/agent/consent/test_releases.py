"""What a yes or no of the owner's holds for: the name that was asked about, and the value that was said."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.agent.brain.port import Thought
from tacit.agent.brain.scenes import scene_of
from tacit.agent.consent import sending
from tacit.agent.consent.consenting import facts_name
from tacit.agent.kernel import records
from tacit.agent.scheduling.view import view_of
from tacit.agent.scheduling.wording import words_of
from tests.agent.scheduling.desk import Desk, desks

BEN = "agent:ben@relay.example"
CARL = "agent:carl@relay.example"
THREAD = "thr_of_carl"
INTENT = {"category": "message", "summary": "about the trip", "urgency": "normal"}
EMAIL, PHONE = "anna@example.org", "0171 2345678"


def need(field: str) -> dict[str, str]:
    return {"field": field, "reason": "to reach you", "priority": "required"}


def asked_for(*names: str, **profile: Any) -> Desk:
    """Anna, whom Carl has asked for fields."""
    desk = Desk("anna", profile={"timezone": "Europe/London", **profile})
    body = {"intent": INTENT, "context": {}, "needs": [need(one) for one in names]}
    desk.receive(CARL, THREAD, "pkt_first000001", "context", body)
    desk.settle()
    return desk


def again(desk: Desk, number: int, *names: str) -> None:
    body = {"needs": [need(one) for one in names]}
    desk.receive(CARL, THREAD, f"pkt_again00000{number}", "context_request", body)
    desk.settle()


def provided(desk: Desk) -> dict[str, Any]:
    return {
        name: value
        for one in desk.sent
        for part in ("context", "context_provided")
        for name, value in (one.fields.get(part) or {}).items()
    }


def found(desk: Desk, text: str) -> frozenset[str]:
    return scene_of(desk.workspace(), CARL, desk.thread(THREAD)).gives_away([text])


def words(desk: Desk, text: str) -> str:
    view = view_of(desk.workspace(), desk.thread(THREAD))
    return words_of(desk.workspace(), view, Thought(summaries=(text,), confidence=1.0))[0][0]


@pytest.mark.spec("A2ACP-071", "A2ACP-072")
def test_a_yes_to_one_field_clears_no_other_field_of_its_group() -> None:
    desk = asked_for("email", email=EMAIL, phone=PHONE)
    desk.share_all(desk.question("consent"))
    assert provided(desk) == {"email": EMAIL}
    scene = scene_of(desk.workspace(), CARL, desk.thread(THREAD))
    assert (scene.profile.get("email"), "phone" in scene.profile) == (EMAIL, False)
    assert scene.withheld == {"phone": PHONE}
    assert (words(desk, "⟨email⟩"), words(desk, "⟨phone⟩")) == (EMAIL, "")
    assert (found(desk, EMAIL), found(desk, f"ring {PHONE}")) == (frozenset(), {"phone"})
    # A packet that names it does not leave, neither under its key nor in another text.
    for context in ({"phone": PHONE}, {"topic": f"ring {PHONE}"}):
        ws = desk.workspace()
        sending.send(ws, view_of(ws, desk.thread(THREAD)), "context", {"intent": INTENT, "context": context})
        assert PHONE not in str([value for _, value in ws.kept.values()])


@pytest.mark.spec("A2ACP-071", "A2ACP-132")
def test_another_field_of_the_group_is_asked_about_when_it_is_asked_for() -> None:
    desk = asked_for("email", email=EMAIL, phone=PHONE)
    desk.share_all(desk.question("consent"))
    again(desk, 1, "phone")
    question = desk.question("consent")
    assert desk.asked(question) == ["phone"]
    desk.answer(question, decline_all=True)
    assert provided(desk) == {"email": EMAIL}
    assert desk.sent[-1].fields["context_unavailable"] == [
        {"field": "phone", "status": "declined", "hint": None}
    ]


@pytest.mark.spec("A2ACP-071", "A2ACP-132")
def test_a_yes_to_another_value_leaves_the_profiles_own_withheld() -> None:
    desk = asked_for("dietary", dietary="anna eats no meat")
    desk.answer(desk.question("consent"), share={"dietary": "no restrictions"})
    assert provided(desk) == {"dietary": "no restrictions"}
    scene = scene_of(desk.workspace(), CARL, desk.thread(THREAD))
    assert scene.profile["dietary"] == "no restrictions"
    assert scene.withheld == {"dietary": "anna eats no meat"}
    assert words(desk, "⟨dietary⟩") == "no restrictions"
    assert found(desk, "anna eats no meat") == {"dietary"}
    ws = desk.workspace()
    body = {"intent": INTENT, "context": {"dietary": "anna eats no meat"}}
    assert not sending.send(ws, view_of(ws, desk.thread(THREAD)), "context", body)


@pytest.mark.spec("A2ACP-071")
def test_what_was_released_of_a_longer_value_may_be_said() -> None:
    desk = asked_for("dietary", dietary="vegetarian, walnut allergy")
    desk.answer(desk.question("consent"), share={"dietary": "vegetarian"})
    assert provided(desk) == {"dietary": "vegetarian"}
    assert not desk.thread(THREAD).paused
    assert (found(desk, "a vegetarian place"), found(desk, "walnut allergy")) == (frozenset(), {"dietary"})


@pytest.mark.spec("A2ACP-132")
def test_a_yes_to_a_wide_name_covers_what_was_shown_and_no_more() -> None:
    desk = asked_for("contact_details", email=EMAIL, phone=PHONE)
    desk.share_all(desk.question("consent"))
    assert provided(desk) == {"contact_details": EMAIL}
    scene = scene_of(desk.workspace(), CARL, desk.thread(THREAD))
    assert (scene.profile.get("email"), scene.withheld) == (EMAIL, {"phone": PHONE})
    again(desk, 1, "email")
    assert provided(desk)["email"] == EMAIL
    again(desk, 2, "phone")
    assert desk.asked(desk.question("consent")) == ["phone"]
    desk.share_all(desk.question("consent"))
    assert provided(desk)["phone"] == PHONE


@pytest.mark.spec("A2ACP-132")
def test_a_yes_under_another_name_of_a_field_sends_its_value() -> None:
    desk = asked_for("dietary_restrictions", dietary="anna eats no meat")
    desk.share_all(desk.question("consent"))
    assert provided(desk) == {"dietary_restrictions": "anna eats no meat"}
    assert scene_of(desk.workspace(), CARL, desk.thread(THREAD)).withheld == {}


@pytest.mark.spec("A2ACP-125")
def test_answers_are_still_counted_by_the_tier_field() -> None:
    desk = asked_for("email", email=EMAIL, phone=PHONE)
    desk.share_all(desk.question("consent"))
    counted = [(one.field, one.count) for one in desk.log if isinstance(one, records.Counted)]
    assert counted == [("contact_details", 1)]


@pytest.mark.spec("A2ACP-071")
def test_what_goes_unasked_is_cleared_with_its_value_too() -> None:
    both = desks()
    both.anna.implicit = True
    thread = both.anna.ask("dinner with ben on Friday evening", BEN)
    (first,) = [one for one in both.anna.sent if one.type == "context"]
    told = set(both.anna.thread(thread).approved)
    scene = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert "specific_availability" in told
    assert ("dietary" in first.fields["context"]) == ("dietary" in told) == ("dietary" in scene.profile)
    both.anna.own["dietary"] = "another value by now"
    after = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert after.withheld == {"dietary": "another value by now"}


@pytest.mark.spec("A2ACP-071")
def test_a_yes_to_times_clears_their_hours_and_no_word_that_the_profile_has_about_them() -> None:
    both = desks()
    both.anna.own["calendar"] = "Fridays 17:30-22:00 after therapy"
    thread = both.anna.ask("dinner with ben on Friday evening", BEN)
    both.anna.answer(both.anna.question("consent"), share={"time_windows": None})
    (first,) = [one for one in both.anna.sent if one.type == "context"]
    assert first.fields["context"]["time_windows"]
    scanner = sending.scanner(both.anna.workspace(), both.anna.thread(thread))
    assert not scanner.hits(["17:30-22:00"])
    assert scanner.hits(["Fridays 17:30-22:00 after therapy"]) == {"calendar"}


@pytest.mark.spec("A2ACP-064", "A2ACP-071", "A2ACP-268")
def test_a_fact_hides_the_profiles_value_of_its_name_from_nobody() -> None:
    both = desks()
    thread = both.anna.ask("dinner with ben on Friday evening", BEN)
    both.anna.decide(
        lambda ws: ws.keep(BEN, {"fields": {"dietary": "no pork please"}}, name=facts_name(thread))
    )
    scene = scene_of(both.anna.workspace(), BEN, both.anna.thread(thread))
    assert scene.withheld == {"dietary": ["anna eats no meat", "no pork please"]}
