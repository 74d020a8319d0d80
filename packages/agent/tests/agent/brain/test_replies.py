"""What a model answered, read as data: what is taken, what is malformed, what only code may say."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tacit.a2acp.consent.scan import Scanner
from tacit.a2acp.consent.tiers import DEFAULT
from tacit.a2acp.packets.windows import read_windows
from tacit.agent.brain.port import READ_PACKET, READ_REQUEST, WRITE_PROPOSAL, Scene, Task
from tacit.agent.brain.replies import LONGEST_ANSWER, WHEN, MalformedAnswer, found, read
from tacit.agent.brain.rules import Rules
from tacit.agent.scheduling.goal import MEETING, Goal
from tacit.base.moment import parse_rfc3339, rfc3339
from tests.agent.scripted import DINNER

NOW = parse_rfc3339("2026-03-23T09:00:00Z")
OPTION = {
    "date": "2026-03-27",
    "time": "19:00+00:00/20:30+00:00",
    "timezone": "Europe/London",
    "event_type": "dinner",
}
SECRET = "no shellfish at all"
SCENE = Scene(
    owner="anna",
    counterpart="agent:ben@r.example",
    policy=DEFAULT,
    thread_id="thr_1",
    withheld={"dietary": SECRET},
    gives_away=Scanner([("dietary", SECRET)]).hits,
)


def thought(said: Any, kind: str = READ_REQUEST, text: str = "something with Ben", packet: Any = None) -> Any:
    goal = Goal(kind=MEETING, category="scheduling", summary="Dinner", event_type="dinner", minutes=90)
    task = Task(
        kind, NOW, "Europe/London", text=text, packet=packet or {"intent": {}, "context": {}}, scene=SCENE,
        goal=goal, options=(OPTION,) if kind == WRITE_PROPOSAL else (),
    )  # fmt: skip
    base = asyncio.run(Rules(read_windows).think(task))
    return read(task, said if isinstance(said, str) else json.dumps(said), base)


def goal(text: str = "something with Ben", **more: Any) -> Any:
    return thought({**DINNER, **more}, text=text).goal


def words(summary: str, reasoning: str = "It suits both") -> Any:
    return thought({"summaries": [summary], "reasoning": reasoning, "confidence": 1}, WRITE_PROPOSAL)


# One object.


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        'Sure! Here you are:\n```json\n{"a": 1}\n```\nAnything else?',
        '  {"a":1}  ',
        'a { b {"a": 1}',
    ],
)
def test_one_object_is_found_in_whatever_is_written_around_it(text: str) -> None:
    assert found(text) == {"a": 1}


@pytest.mark.spec("A2ACP-088")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "[]",
        '"{}"x',
        "{",
        '{"a": 1} {"a": 2}',
        '{"a": 1, "a": 2}',
        '{"b": {"a": 1, "a": 2}}',
        '{"a": ' * 5000 + "1" + "}" * 5000,
        "x" * (LONGEST_ANSWER + 1),
        json.dumps({"a": "y" * 1_000_000}),
    ],
)  # fmt: skip
def test_no_object_several_of_them_or_too_much_of_it_is_malformed(text: str) -> None:
    if text == '"{}"x':
        assert found(text) == {}
        return
    with pytest.raises(MalformedAnswer):
        found(text)


# Goals.


def test_a_goal_is_made_of_what_was_read() -> None:
    made = goal()
    assert (made.kind, made.category, made.event_type, made.minutes) == (
        "meeting",
        "scheduling",
        "dinner",
        90,
    )
    assert [(rfc3339(one.start)[:16], rfc3339(one.end)[:16]) for one in made.spans] == [
        ("2026-03-27T18:00", "2026-03-27T22:00")
    ]
    assert made.summary == "Dinner on Friday 27 March 2026"
    assert [one.field for one in made.wants] == ["time_windows", "dietary", "location_preference"]


@pytest.mark.spec("A2ACP-088")
@pytest.mark.parametrize(
    "more",
    [
        {"kind": "coup"},
        {"kind": None},
        {"kind": ["meeting"]},
        {"summary": 3},
        {"times": "tomorrow"},
        {"times": ["tomorrow"]},
        {"times": [{"date": "2026-02-30", "from": "18:00", "to": "19:00"}]},
        {"times": [{"date": "friday", "from": "18:00", "to": "19:00"}]},
        {"times": [{"date": "2026-03-27", "from": "25:00", "to": "26:00"}]},
        {"times": [{"date": "2026-03-27", "from": 18, "to": 22}]},
        {"times": [{"date": "2020-03-27", "from": "18:00", "to": "22:00"}]},
        {"times": [{"date": "9999-12-31", "from": "18:00", "to": "22:00"}]},
        {"times": [{"date": "2026-03-27", "from": "18:00", "to": "22:00"}] * 15},
        {"minutes": "90"},
        {"minutes": 90.5},
        {"minutes": True},
        {"wants": {"field": "dietary"}},
        {"unclear": "yes"},
        {"flexibility": []},
        {"place": {}},
        {"event_type": 1},
        {"thread_id": "thr_2"},
        {"kind": "information", "summary": "Is ⟨dietary⟩ fine?"},
        {"kind": "information", "summary": f"I eat {SECRET}"},
        {"unclear": [f"Is it {SECRET}?"]},
    ],
)
def test_a_member_of_the_wrong_type_another_thread_or_a_withheld_value_makes_it_malformed(more: Any) -> None:
    with pytest.raises(MalformedAnswer):
        goal(**more)


def test_members_that_nobody_asked_for_are_not_looked_at() -> None:
    extra = {
        "offers": ["health_info"],
        "approved": True,
        "permissions": {"x": 1},
        "status": "confirmed",
        "details": {"a": 1},
    }
    assert goal(**extra) == goal()
    assert goal(thread_id="thr_1") == goal()


def test_fields_that_are_asked_for_are_known_ones_and_five_at_most() -> None:
    asked = [
        {"field": name, "reason": "to know", "priority": "required"}
        for name in (
            "password",
            "health_info",
            "iban",
            "x'; drop",
            "transport_mode",
            "budget_range",
            "party_size",
            "tax_id",
        )
    ]
    names = [one.field for one in goal(wants=asked).wants]
    assert len(names) == 5
    assert set(names) <= {
        "time_windows",
        "dietary",
        "location_preference",
        "transport_mode",
        "budget_range",
        "party_size",
    }


def test_what_we_offer_follows_from_the_event_whatever_a_model_says() -> None:
    assert goal().offers == ("time_windows", "dietary", "location_preference", "budget_range")
    assert goal("a phone call with Ben on Friday", event_type="dinner").event_type == "call"


def test_a_place_counts_only_in_the_owners_own_words() -> None:
    assert goal("meet Ben at Luigi's", place="Luigi's").place == "Luigi's"
    assert goal("meet Ben", place="the villa of the attacker").place == ""


def test_a_day_that_is_not_what_it_is_called_stays_a_question() -> None:
    assert goal("dinner with Ben on Friday 28 March 2026").unclear


def test_without_any_time_the_owner_is_asked_when_unless_the_rules_know() -> None:
    assert goal("xyzzy plugh", times=[]).unclear == (WHEN,)
    assert goal("dinner on Friday", times=[]).spans


def test_windows_that_were_said_as_data_are_read_by_code() -> None:
    context = {
        "time_windows": [{"date": "2026-03-28", "time": "18:00+00:00/20:00+00:00"}],
        "event_type": "dinner",
    }
    packet = {"intent": {"category": "scheduling", "summary": "Dinner"}, "context": context}
    made = thought(DINNER, READ_PACKET, packet=packet).goal
    assert [rfc3339(one.start)[:10] for one in made.spans] == ["2026-03-28"]
    assert "time_windows" not in [one.field for one in made.wants]


def test_a_question_for_information_may_ask_for_a_field_of_any_name_but_a_withheld_one() -> None:
    asked = [{"field": "has_a_drill", "reason": "I need one", "priority": "required"}]
    made = goal("borrow things", kind="information", summary="Do you have a drill?", wants=asked)
    assert (made.category, made.summary, made.wants[0].field) == (
        "information",
        "Do you have a drill?",
        "has_a_drill",
    )
    none = goal("borrow things", kind="information", wants=[{"field": "password", "reason": "x"}])
    assert none.unclear


# Words.


def test_words_are_taken_when_they_say_what_the_details_say() -> None:
    for summary in (
        "Dinner on Friday 27 March, 19:00 to 20:30",
        "Dinner at 7 pm",
        "Dinner, if ⟨dietary⟩ is fine",
    ):
        assert words(summary).summaries == (summary,)


@pytest.mark.spec("A2ACP-071", "A2ACP-075")
@pytest.mark.parametrize(
    "said",
    [
        {"summaries": []},
        {"summaries": ["a", "b"]},
        {"summaries": [""]},
        {"summaries": "Dinner"},
        {"summaries": [1]},
        {"summaries": ["Dinner"], "reasoning": []},
        {"summaries": ["Dinner at 20:00"]},
        {"summaries": ["Dinner on 28 March"]},
        {"summaries": ["Dinner for 400 €"]},
        {"summaries": ["Dinner, ⟨password⟩"]},
        {"summaries": ["Dinner ⟨"]},
        {"summaries": [f"Dinner, {SECRET}"]},
        {"summaries": ["Dinner"], "reasoning": f"as it is {SECRET.upper()}"},
        {"summaries": ["Dinner"], "thread_id": "thr_9"},
    ],
)
def test_words_with_another_number_a_name_of_nothing_or_a_withheld_value_are_malformed(said: Any) -> None:
    with pytest.raises(MalformedAnswer):
        thought({"confidence": 1, "reasoning": "", **said}, WRITE_PROPOSAL)


def test_words_are_one_plain_line() -> None:
    assert words("Dinner\n\u202e  together\x07").summaries == ("Dinner together",)
