"""Sentences of an owner as goals. Now is Monday 23 March 2026, 10:00 in London."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.brain import occasions
from tacit.agent.brain.requests import WHAT, WHICH_PROJECT, field_name, read_request
from tacit.agent.negotiation.goal import HELPFUL, NICE_TO_HAVE, REQUIRED, Goal
from tacit.base.moment import Moment, parse_rfc3339, rfc3339

LONDON = "Europe/London"
NOW = parse_rfc3339("2026-03-23T10:00:00Z") or Moment(0)


def goal(text: str) -> Goal:
    return read_request(text, NOW, LONDON)


def utc(found: Goal) -> list[str]:
    return [f"{rfc3339(span.start)[5:16]}/{rfc3339(span.end)[5:16]}" for span in found.spans]


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(
    ("text", "event", "minutes", "spans"),
    [
        ("dinner with Bob on Friday", "dinner", 90, ["03-27T17:30/03-27T22:00"]),
        ("Dinner with Bob on Friday at 8", "dinner", 90, ["03-27T20:00/03-27T21:30"]),
        ("supper with Bob tonight", "dinner", 90, ["03-23T17:30/03-23T22:00"]),
        ("arrange lunch with Bob next Wednesday", "lunch", 60, ["04-01T10:30/04-01T13:30"]),
        ("breakfast with Bob on Thursday", "breakfast", 60, ["03-26T07:00/03-26T11:00"]),
        ("coffee with Bob tomorrow morning", "coffee", 45, ["03-24T08:00/03-24T12:00"]),
        ("a pint with Bob after work on Friday", "drinks", 120, ["03-27T17:00/03-27T22:00"]),
        ("call Bob tomorrow at 9", "call", 30, ["03-24T09:00/03-24T09:30"]),
        ("set up a video call with Bob for 45 minutes on Thursday afternoon", "video_call", 45,
         ["03-26T12:00/03-26T17:00"]),
        ("meeting with Bob on Wednesday", "meeting", 60, ["03-25T09:00/03-25T18:00"]),
        ("game night with Bob on Saturday evening", "game_night", 180, ["03-28T18:00/03-28T22:00"]),
        ("walk with Bob on Saturday at 10", "walk", 60, ["03-28T10:00/03-28T11:00"]),
        ("cinema with Bob on Saturday", "cinema", 150, ["03-28T16:00/03-28T23:00"]),
        ("see Bob on Friday at 3", "meeting", 60, ["03-27T15:00/03-27T16:00"]),
        ("Friday with Bob", "meeting", 60, ["03-27T09:00/03-27T18:00"]),
        ("ask Bob for lunch on Friday", "lunch", 60, ["03-27T11:30/03-27T14:30"]),
        ("ask Bob if he's free for coffee on Thursday", "coffee", 45, ["03-26T08:00/03-26T18:00"]),
        ("is Bob free on Friday?", "meeting", 60, ["03-27T09:00/03-27T18:00"]),
        ("coffee 10:00-10:30 tomorrow", "coffee", 30, ["03-24T10:00/03-24T10:30"]),
        ("a stand-up with Bob tomorrow at 9", "standup", 15, ["03-24T09:00/03-24T09:15"]),
        ("1:1 with Bob tomorrow at 2", "meeting", 60, ["03-24T14:00/03-24T15:00"]),
    ],
)  # fmt: skip
def test_a_sentence_becomes_a_meeting(text: str, event: str, minutes: int, spans: list[str]) -> None:
    found = goal(text)
    assert (found.kind, found.category, found.event_type) == ("meeting", "scheduling", event)
    assert (found.minutes, utc(found), found.unclear) == (minutes, spans, ())


@pytest.mark.spec("A2ACP-090")
def test_a_meal_wants_times_then_diet_then_place_each_with_its_reason() -> None:
    found = goal("dinner with Bob on Friday")
    assert [(need.field, need.priority) for need in found.wants] == [
        ("time_windows", REQUIRED), ("dietary", HELPFUL), ("location_preference", NICE_TO_HAVE),
    ]  # fmt: skip
    assert all(len(need.reason.split()) > 4 for need in found.wants)
    assert found.offers == ("time_windows", "dietary", "location_preference", "budget_range")
    assert [need.field for need in goal("call Bob tomorrow").wants] == ["time_windows"]
    assert [need.field for need in goal("walk with Bob tomorrow").wants] == [
        "time_windows",
        "location_preference",
    ]


@pytest.mark.parametrize("event", occasions.OCCASIONS, ids=lambda event: event.name)
def test_every_event_of_the_table_is_found_by_each_of_its_words_and_fits_into_its_hours(
    event: occasions.Occasion,
) -> None:
    assert 0 <= event.hours.start < event.hours.end <= 24 * 60
    assert event.minutes <= event.hours.end - event.hours.start
    for words in event.words:
        found = goal(f"{words} with Bob on Friday")
        assert found.event_type == event.name
        assert found.spans


def test_without_a_day_a_week_is_looked_at_and_the_date_is_flexible() -> None:
    found = goal("dinner with Bob")
    assert len(found.spans) == 8
    assert found.flexibility == {"date": "flexible"}
    assert found.summary == "Dinner"


@pytest.mark.parametrize(
    ("text", "flexibility"),
    [
        ("meeting with Bob, must be Wednesday", {"date": "not_flexible"}),
        ("lunch with Bob, any day next week", {"date": "flexible"}),
        ("lunch with Bob on Friday, ideally at noon", {"time": "somewhat_flexible"}),
        ("cinema or drinks with Bob on Friday", {"format": "flexible"}),
        ("dinner with Bob on Friday", {}),
    ],
)
def test_room_is_told(text: str, flexibility: dict[str, str]) -> None:
    assert goal(text).flexibility == flexibility


@pytest.mark.parametrize(
    ("text", "urgency"),
    [
        ("dinner with Bob on Friday", "normal"), ("urgent: call Bob today at 5", "urgent"), ("call Bob asap", "urgent"),
        ("call Bob as soon as possible", "urgent"), ("coffee with Bob, no rush", "low"),
        ("call Bob this week, not urgent", "low"), ("hand over the website project to Bob urgently", "urgent"),
    ],
)  # fmt: skip
def test_urgency_words(text: str, urgency: str) -> None:
    assert goal(text).urgency == urgency


@pytest.mark.parametrize(
    ("text", "place", "details"),
    [
        ("dinner with Bob at Dopo on Friday at 8", "Dopo", {}),
        ("lunch with Bob in central Reading on Friday", "central Reading", {}),
        ("dinner near the station with Bob on Friday", "the station", {}),
        ("dinner for 4 on Friday", "", {"party_size": 4}),
        ("dinner for two people on Friday at 8", "", {"party_size": 2}),
        ("dinner on Friday for the six of us", "", {"party_size": 6}),
        ("coffee with Bob tomorrow to discuss the garden fence", "", {"topic": "the garden fence"}),
        ("meeting with Bob in person tomorrow", "", {}),
        ("call Bob at Acme tomorrow", "", {}),
    ],
)
def test_place_party_and_topic(text: str, place: str, details: dict[str, Any]) -> None:
    found = goal(text)
    assert (found.place, found.details) == (place, details)


@pytest.mark.spec("A2ACP-071")
@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("dinner with Bob at Dopo on Friday because of my divorce", "Dinner on Friday 27 March 2026"),
        ("lunch with Bob this weekend",
         "Lunch between Saturday 28 March 2026 and Sunday 29 March 2026"),
        ("hand over the secret merger project to Bob by Friday", "Hand-over of a project by Friday 27 March 2026"),
        ("ask Bob for the wifi password", "Question: wifi password"),
    ],
)  # fmt: skip
def test_a_summary_is_made_of_the_goal_and_never_of_the_sentence(text: str, summary: str) -> None:
    assert goal(text).summary == summary


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(
    ("text", "details"),
    [
        (
            "hand over the website project to Bob by Friday",
            {"project": "website project", "deadline": "2026-03-27"},
        ),
        ("Hand off my newsletter to Bob on 3 April", {"project": "newsletter", "deadline": "2026-04-03"}),
        ("ask Bob to take over the newsletter", {"project": "newsletter"}),
        ("hand the website over to Bob", {"project": "website"}),
        ("hand over to Bob the website project", {"project": "website project"}),
        ("transfer ownership of the shop to Bob", {"project": "ownership of the shop"}),
    ],
)
def test_a_sentence_becomes_a_hand_over(text: str, details: dict[str, str]) -> None:
    found = goal(text)
    assert (found.kind, found.category, found.minutes) == ("handover", "project_coordination", 0)
    assert found.details == details
    assert found.offers == ("project_details",)
    assert [(need.field, need.priority) for need in found.wants] == [
        ("acceptance", REQUIRED), ("handover_date", REQUIRED),
    ]  # fmt: skip
    assert bool(found.spans) is ("deadline" in details)


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("ask Bob for the wifi password", "wifi_password"), ("what is Bob's shirt size", "shirt_size"),
        ("What's Bob’s shirt size?", "shirt_size"), ("ask Bob for the lunch menu", "lunch_menu"),  # noqa: RUF001
        ("when is Bob's birthday", "birthday"), ("where does Bob live?", "where_live"),
        ("find out Ann's phone number", "phone_number"), ("I need Bob's address please", "address"),
        ("please ask Bob what time the train leaves", "time_train_leaves"),
        ("ask Bob whether the shed is unlocked", "shed_unlocked"), ("get the recipe from Bob", "recipe"),
        ("ask Bob to send me the slides", "slides"), ("could you ask Bob for his café's name", "name"),
    ],
)  # fmt: skip
def test_a_sentence_becomes_a_question_for_one_field(text: str, field: str) -> None:
    found = goal(text)
    assert (found.kind, found.category, found.unclear) == ("information", "information", ())
    assert [(need.field, need.priority) for need in found.wants] == [(field, REQUIRED)]
    assert found.wants[0].reason
    assert found.spans == found.offers == ()


@pytest.mark.spec("A2ACP-076")
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("", WHAT), ("Bob", WHAT), ("asdf qwer", WHAT), ("ask Bob to fix the sink", WHAT), ("🙂", WHAT),
        ("hand over to Bob", WHICH_PROJECT),
        ("dinner on Friday 28 March 2026", "28 March 2026 is a Saturday, not a Friday: which day is meant?"),
        ("see Bob on Friday at 7", "Is 7 o'clock in the morning or 7 in the evening meant?"),
    ],
)  # fmt: skip
def test_a_sentence_that_cannot_be_read_is_asked_about(text: str, question: str) -> None:
    found = goal(text)
    assert found.unclear == (question,)
    assert found.spans == ()


def test_a_field_name_is_short_ascii_without_names() -> None:
    assert field_name(("bob's", "naïve", "café", "menu")) == "naive_cafe_menu"
    assert len(field_name(("very",) * 40)) <= 48
    assert field_name(("the", "日本")) == ""


@settings(max_examples=80)
@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                "ask",
                "Bob",
                "for",
                "the",
                "hand",
                "over",
                "dinner",
                "at",
                "Dopo",
                "what",
                "is",
                "Bob's",
                "size",
                "to",
                "on",
                "Friday",
                "4",
            ]
        ),
        max_size=9,
    ).map(" ".join)
)
def test_any_text_becomes_a_goal_or_a_question(text: str) -> None:
    found = goal(text)
    assert found.kind in {"meeting", "handover", "information"}
    assert found.unclear or found.spans or found.kind != "meeting"
    assert all(need.reason and need.field.replace("_", "").isascii() for need in found.wants)
