"""Sentences of an owner as goals. Now is Monday 23 March 2026, 10:00 in London."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.brain import matters, occasions
from tacit.agent.brain.inquiries import field_name
from tacit.agent.brain.requests import WHAT, WHICH_OF_THEM, WHICH_PROJECT, matter_in, read, read_request
from tacit.agent.brain.wish import Addressees
from tacit.agent.scheduling.goal import HELPFUL, NICE_TO_HAVE, REQUIRED, Goal
from tacit.base.moment import Moment, common, parse_rfc3339, rfc3339

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
        ("a dinner between me and Bob on Friday at 8", "dinner", 90, ["03-27T20:00/03-27T21:30"]),
        ("dinner with my sister Nell on Friday at 8", "dinner", 90, ["03-27T20:00/03-27T21:30"]),
        ("ask Bob's assistant for dinner on Friday at 8", "dinner", 90, ["03-27T20:00/03-27T21:30"]),
        ("meet Bob today at 6pm for a drink", "drinks", 120, ["03-23T18:00/03-23T20:00"]),
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
        ("is Bob free for a meeting on Friday?", "meeting", 60, ["03-27T09:00/03-27T18:00"]),
        ("coffee 10:00-10:30 tomorrow", "coffee", 30, ["03-24T10:00/03-24T10:30"]),
        ("a stand-up with Bob tomorrow at 9", "standup", 15, ["03-24T09:00/03-24T09:15"]),
        ("1:1 with Bob tomorrow at 2", "meeting", 60, ["03-24T14:00/03-24T15:00"]),
    ],
)  # fmt: skip
def test_a_sentence_becomes_a_meeting(text: str, event: str, minutes: int, spans: list[str]) -> None:
    found = goal(text)
    assert (found.kind, found.category, found.event_type) == ("meeting", "scheduling", event)
    assert (found.minutes, utc(found), found.unclear) == (minutes, spans, ())


@pytest.mark.parametrize("book", ["in the diary", "in my calendar", "in our agenda"])
def test_what_one_writes_appointments_into_is_no_place(book: str) -> None:
    found = goal(f"can you get lunch with Bob {book} for Friday?")
    assert (found.place, found.unclear, found.event_type) == ("", (), "lunch")


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
        ("ask Bob to send me the slides", "slides"), ("could you ask Bob for his café's name", "cafe_name"),
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


# What nobody understood is asked about.

BEN = Addressees(frozenset({"ben"}), frozenset({"carol", "dan", "will"}))


def dates(found: Goal) -> str:
    return " ".join(dict.fromkeys(rfc3339(span.start)[8:10] for span in found.spans))


@pytest.mark.spec("A2ACP-076")
@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("dinner with Ben and Carol on Friday", "and Carol"),
        ("dinner with Ben, Carol on Friday", "Carol"),
        ("dinner with ben and will on Friday", "and will"),
        ("dinner with Ben on Friday, and bring Dan's kids", "and bring Dan's kids"),
        ("dinner with Ben on Friday, nothing over £30", "nothing over £30"),
        ("dinner with Ben on Friday at Dopo unless it rains", "unless it rains"),
        ("dinner with Ben on Friday to discuss the fence but not the shed", "but not the shed"),
        ("dinner with Ben on Friday if Dan can come", "if Dan can come"),
        ("dinner with Ben on Friday because of my divorce", "because of my divorce"),
        ("dinner with Ben on Friday like last week", "last week"),
        ("dinner with Ben on Friday 🙂 somewhere with vegan food", "vegan food"),
        ("tell Ben I'll be late on Friday", "late"),
        ("call Ben at Acme tomorrow", "at Acme"),
        ("dinner and then drinks with Ben on Friday", "drinks"),
        ("had dinner with Ben on Friday", "had"),
        ("not urgently, dinner with Ben on Friday", "not"),
        ("dinner with Ben, not Thursday or Friday at 8", "not Thursday or Friday"),
        ("dinner with Ben, not Thursday, Friday", "not Thursday"),
        ("dinner with Ben in April but after the 10th", "but"),
        ("dinner with Ben by Friday at the latest", "latest"),
        ("dinner with Ben on Friday at my place", "at my place"),
        ("dinner with Ben on Thursday or not", "or not"),
        ("why not dinner with Ben on Thursday", "not"),
        ("ask Ben for Carol's number", "Carol's"),
        ("ask Ben for the wifi password, but don't tell Carol", "but don't tell Carol"),
        ("ask Ben for the menu on Friday", "on Friday"),
        ("hand over the website to Ben and Carol by Friday", "and Carol"),
        ("hand over the website to Ben after Friday", "after Friday"),
        ("hand over the website to Ben by Friday at 5pm", "at 5pm"),
    ],
)
def test_words_that_no_reader_used_are_quoted_in_a_question_and_nothing_is_offered(
    text: str, quoted: str
) -> None:
    found = read_request(text, NOW, LONDON, BEN)
    assert found.spans == ()
    (question,) = found.unclear
    assert quoted in question
    assert "say it in other words, or leave it out" in question


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("dinner with Ben, not Thursday", "23 24 25 27 28 29 30"),
        ("dinner with Ben any day except Friday", "23 24 25 26 28 29 30"),
        ("dinner with Ben anytime but Friday", "23 24 25 26 28 29 30"),
        ("dinner with Ben this week but not on Wednesday", "23 24 26 27 28 29"),
        ("dinner with Ben next week, I'm away Monday to Wednesday", "02 03 04 05"),
        ("dinner with Ben next week, any day but Wednesday", "30 31 02 03 04 05"),
        ("dinner with Ben next week. Weekends are out.", "30 31 01 02 03"),
        ("dinner with Ben in the next two weeks, Fridays don't work for me",
         "23 24 25 26 28 29 30 31 01 02 04 05 06"),
        ("dinner with Ben this week, not tonight", "24 25 26 27 28 29"),
        ("dinner with Ben this week, not before Friday", "27 28 29"),
        ("dinner with Ben the weekend after next", "11 12"),
        ("dinner with Ben before the end of the month", "23 24 25 26 27 28 29 30 31"),
    ],
)  # fmt: skip
def test_what_is_ruled_out_is_never_offered(text: str, days: str) -> None:
    found = read_request(text, NOW, LONDON, BEN)
    assert (found.unclear, dates(found)) == ((), days)
    assert not common(found.spans, found.excluded)


def test_a_part_of_the_day_that_is_ruled_out_is_all_of_it() -> None:
    found = read_request("call Ben this week, I can't do mornings", NOW, LONDON, BEN)
    assert {one[6:11] for one in utc(found)} == {"12:00", "11:00"}, "noon, before and after the clocks change"


@pytest.mark.spec("A2ACP-076")
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("cancel dinner with Ben", matters.CANCEL), ("please call off Friday's dinner", matters.CANCEL),
        ("don't book tennis with Ben after all", matters.CANCEL), ("push my dinner to Saturday", matters.MOVE),
        ("can you move Friday's lunch with Ben to Monday", matters.MOVE),
        ("reschedule dinner with Ben to Saturday", matters.MOVE), ("when is my dinner with Ben?", matters.STATUS),
        ("has Ben said yes to lunch yet?", matters.STATUS), ("is dinner on Friday still on?", matters.STATUS),
        ("make it Saturday with Ben", matters.MOVE), ("ask Ben when he is free next week", matters.FREE),
        ("can Ben do Friday?", matters.FREE), ("is ben free on Friday?", matters.FREE), ("is Ben free on Friday?", matters.FREE),
        ("so what kinds of things can you set up for me?", matters.ABOUT_ME),
    ],
)  # fmt: skip
def test_a_wish_about_what_is_arranged_already_is_no_new_one(text: str, answer: str) -> None:
    assert read_request(text, NOW, LONDON, BEN).unclear == (answer,)
    assert matter_in(text, NOW, LONDON) == answer


@pytest.mark.parametrize(
    "text",
    [
        "please arrange a walk with ben on Sunday afternoon",
        "hey, can you sort dinner with Ben on Saturday night, thanks!",
        "see if Ben wants to go for a walk this weekend",
        "Can you ask Ben if he'd like to have lunch tomorrow?",
        "hi, would you mind arranging coffee with Ben one day next week? thanks",
        "catch up with Ben over coffee on Wednesday morning",
        "I want to play tennis with Ben on Saturday afternoon",
        "I'd love a walk with Ben tomorrow afternoon if he's around",
        "dinner with Ben on Wednesday evening, the date is fixed",
        "dinner w ben tues 7.30pm",
        "meeting with Ben, must be Wednesday",
        "Get me a coffee with Ben next week, any morning",
        "have lunch with Ben at the Italian place on the corner tomorrow",
    ],
)
def test_a_request_of_understood_words_alone_is_not_asked_about(text: str) -> None:
    found = read_request(text, NOW, LONDON, BEN)
    assert found.unclear == ()
    assert found.spans


def test_everybody_whom_a_group_is_for_is_named_and_nobody_else() -> None:
    three = Addressees(frozenset({"ben", "carol", "dan"}), frozenset({"mia"}), several=True)
    assert not read_request("game night with Ben, Carol and Dan on Friday", NOW, LONDON, three).unclear
    assert not read_request("game night with everyone on Friday", NOW, LONDON, three).unclear
    for text, quoted in (
        ("game night with Ben, Carol and Mia on Friday", "and Mia"),
        ("game night with Ben and either Carol or Dan on Friday", "and either Carol or Dan"),
        ("game night with everyone but Dan on Friday", "but Dan"),
    ):
        (question,) = read_request(text, NOW, LONDON, three).unclear
        assert quoted in question


def test_two_days_joined_by_and_may_be_both_or_one_of_them() -> None:
    assert goal("dinner with Bob on Friday and Saturday").unclear == (WHICH_OF_THEM,)
    assert goal("dinner with Bob on Friday or Saturday").unclear == ()


def test_the_length_that_was_named_is_in_the_goal_and_two_of_them_are_asked_about() -> None:
    found = goal("2 hour dinner with Bob on 3 April from 18:00 to 22:00")
    assert (found.minutes, found.details) == (120, {"duration": "PT2H"})
    assert goal("2 hour dinner with Bob on Friday for 90 minutes").unclear
    assert goal("dinner with Bob on Friday").details == {}


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "dinner", "lunch", "with", "Ben", "Carol", "and", "or", "not", "except", "Friday", "Monday",
                "mornings", "on", "at", "8", "unless", "£30", "no", "the", "2", "hour", "Dopo", "in", "discuss",
                "to", "for", "ask", "is", "cancel", ",", ".", "only", "but", "evening", "next", "week", "any",
                "day", "if",
            ]
        ),
        max_size=12,
    ).map(" ".join)
)  # fmt: skip
def test_a_goal_without_a_question_has_no_unread_word_and_offers_nothing_that_was_ruled_out(
    text: str,
) -> None:
    found, wish = read(text, NOW, LONDON, BEN)
    asked = read_request(text, NOW, LONDON, BEN).unclear
    assert bool(asked) == bool(found.unclear or wish.coverage.unread())
    assert not common(found.spans, found.excluded)
    if found.kind == "meeting" and {"£30", "unless"} & set(text.split()):
        assert asked
