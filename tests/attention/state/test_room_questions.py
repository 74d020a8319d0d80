"""A question to the room that nobody answers: offered to one after the other, then told to whoever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention import Agent, Roster
from tacit.attention.io.archive import Archive
from tacit.attention.io.views import decisions_view
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state.fold import Attention
from tacit.attention.state.records import moment_of
from tacit.attention.state.room_questions import (
    FITS_BY_PLACE,
    FITS_BY_ROLE,
    FITS_BY_TIME,
    MOST_OPEN,
    OFFERED,
    fits,
    why_it_fits,
)
from tests.attention.io.house import GROUP
from tests.attention.world import ROSTER, event

if TYPE_CHECKING:
    from tests.attention.io.house import House

SILENCE = DEFAULTS.room_silence_ms / 1000
ASKED = "does anyone know why staging is slow"


def pass_time(house: House, seconds: float) -> None:
    house.clock.move(seconds)
    house.tick()


def offered(house: House, event_id: str) -> list[str]:
    return [
        one.data["session"]
        for one in house.events(GROUP)
        if one.kind == "x.c2a.delivery" and one.data["event_id"] == event_id
    ]


def told(house: House) -> list[tuple[str, str]]:
    return [
        (str(one.data["target_actor_id"]), str(one.data["related_event_id"]))
        for one in house.events(GROUP)
        if one.kind == "system.notify" and one.data["kind"] == "attention.room_unanswered"
    ]


@pytest.mark.spec("C2A-077")
def test_it_is_offered_to_one_after_the_other_and_then_its_author_is_told(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, SILENCE - 1)
    assert offered(house, asked.id) == []
    pass_time(house, 1)
    assert offered(house, asked.id) == ["ann"]
    pass_time(house, SILENCE - 1)
    assert offered(house, asked.id) == ["ann"]
    pass_time(house, 1)
    assert offered(house, asked.id) == ["ann", "ben"]
    assert told(house) == []
    for _ in range(3):
        pass_time(house, SILENCE)
    assert offered(house, asked.id) == ["ann", "ben"]
    assert told(house) == [("user", asked.id)]
    house.assert_rebuilds()


def test_an_offer_is_a_knock_that_obliges_to_nothing_and_says_why(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, SILENCE)
    record = next(one for one in house.events(GROUP) if one.kind == "x.c2a.delivery").data
    assert (record["policy"], record["mode"], record["needs_claim"]) == ("may_respond", "notify", True)
    assert set(record["because"].values()) == {OFFERED.name, FITS_BY_TIME.name}
    shown = house.store.read(
        lambda reader: decisions_view(Archive.on(reader, reader.group(GROUP)), asked.id, house.clock.now())
    )
    [one] = [one for one in shown["decisions"] if one["mode"] == "notify"]
    assert (one["agent"], one["rule"]) == ("ann", OFFERED.name)
    assert OFFERED.says in one["sentence"]
    assert one["sentence"].endswith(f"It was ann because {FITS_BY_TIME.says}.")
    assert not house.attention.obligations.get(asked.id, "ann").owed


@pytest.mark.parametrize(
    ("by", "text", "said", "stays"),
    [
        ("user", "the index is missing", {"reply_to": "m1"}, False),
        ("user", "@Ann the index is missing", {}, False),
        ("user", "the index is missing", {}, False),
        ("user", "what do you mean by slow?", {"reply_to": "m1"}, False),
        ("usr:ann", "thanks all", {}, False),
        ("usr:ann", "never mind, found it", {}, False),
        ("usr:ann", "nvm", {"reply_to": "m1"}, False),
        ("usr:ann", "it takes ten seconds", {}, True),
        ("user", "who is at lunch?", {}, True),
        ("user", "@worker the build is red", {}, True),
        ("user", "lol", {}, True),
    ],
)
def test_an_answer_thanks_or_taking_it_back_ends_it(
    by: str, text: str, said: dict[str, str], stays: bool
) -> None:
    attention = Attention()
    asked = event(ASKED, by="usr:ann", event_id="m1")
    attention.take(asked, moment_of(asked), ROSTER)
    assert attention.room_questions.open.get("m1") is not None
    later = event(text, by=by, event_id="m2", at_s=20, seq=2, **said)
    attention.take(later, moment_of(later), ROSTER)
    assert (attention.room_questions.open.get("m1") is not None) is stays


@pytest.mark.parametrize(
    ("by", "text", "said"),
    [("usr:ann", "@worker why is staging slow?", {}), ("worker", ASKED, {}), ("usr:ann", "staging is slow", {}),
     ("usr:ann", ASKED, {"to": ["lead"]})],
)  # fmt: skip
def test_what_names_somebody_is_by_an_agent_or_asks_nothing_is_no_question_to_the_room(
    by: str, text: str, said: dict[str, list[str]]
) -> None:
    attention = Attention()
    asked = event(text, by=by, event_id="m1", **said)
    attention.take(asked, moment_of(asked), ROSTER)
    assert attention.room_questions.open.get("m1") is None


def test_a_group_can_do_without() -> None:
    attention = Attention(Settings(room_silence_ms=0))
    asked = event(ASKED, by="usr:ann", event_id="m1")
    attention.take(asked, moment_of(asked), ROSTER)
    assert list(attention.room_questions) == []


def test_so_many_are_watched_at_once_and_the_oldest_goes() -> None:
    attention = Attention()
    for number in range(MOST_OPEN + 3):
        asked = event(ASKED, by="usr:ann", event_id=f"m{number}", at_s=number, seq=number + 1)
        attention.take(asked, moment_of(asked), ROSTER)
    found = [one.event_id for one in attention.room_questions]
    assert found == [f"m{number}" for number in range(3, MOST_OPEN + 3)]


def test_in_a_room_of_people_alone_nobody_is_told(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.attention.sessions.clear()
    pass_time(house, SILENCE)
    assert offered(house, asked.id) == []
    assert told(house) == []
    assert house.attention.room_questions.open.get(asked.id) is None


def test_a_claim_ends_it(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, SILENCE)
    house.call("ann", "chat.claim", eventId=asked.id)
    for _ in range(3):
        pass_time(house, SILENCE)
    assert offered(house, asked.id) == ["ann"]
    assert told(house) == []


def test_whoever_is_away_or_at_work_is_not_asked(house: House) -> None:
    house.say(GROUP, "user", "@ann please check the disk")
    house.present.discard("ben")
    pass_time(house, SILENCE)  # in one go with the line before it, it would be more of that
    asked = house.say(GROUP, "user", "who can explain the retry logic?")
    pass_time(house, SILENCE)
    assert offered(house, asked.id) == []
    assert told(house) == [("user", asked.id)]


def test_a_hub_that_was_stopped_goes_on_where_it_was(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, SILENCE)
    house.restart()
    pass_time(house, SILENCE)
    assert offered(house, asked.id) == ["ann", "ben"]


@pytest.mark.spec("C2A-077")
def test_the_one_whose_role_it_speaks_of_comes_first_then_the_owner_then_the_freest() -> None:
    roster = Roster.of([Agent("a"), Agent("b", roles=frozenset({"database"})), Agent("c"), Agent("d")])
    found = fits(["a", "b", "c", "d"], roster, frozenset({"d"}), {"a": 1}, "why is the Database slow?")
    assert found == ["b", "d", "c", "a"]
    text, owners = "why is the Database slow?", frozenset({"b", "d"})
    rules = [why_it_fits(one, roster, owners, text) for one in ("b", "d", "c")]
    assert rules == [FITS_BY_ROLE, FITS_BY_PLACE, FITS_BY_TIME]


def called(house: House) -> list[tuple[str, str]]:
    return [
        (str(one.data["target_actor_id"]), str(one.data["related_event_id"]))
        for one in house.events(GROUP)
        if one.kind == "system.notify" and one.data["kind"] == "attention.nobody_there"
    ]


@pytest.mark.spec("C2A-071")
@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("@reviewers who has time for a look?", {}),
        ("hey @reviewers, can one of you look?", {}),
        ("can one of you look, @reviewers?", {}),
        ("hallo @reviewers, kann jemand schauen?", {}),
        ("\uff20reviewers \u8c01\u6709\u65f6\u95f4\uff1f", {}),
        ("who has time for a look?", {"to": ["@foreman"]}),
    ],
)
def test_whoever_asks_a_role_that_nobody_has_is_told_at_once(
    house: House, text: str, data: dict[str, list[str]]
) -> None:
    asked = house.say(GROUP, "user", text, **data)
    assert called(house) == [("user", asked.id)]
    house.assert_rebuilds()


UNCALLED = [
    ("user", "@ann @reviewers who has time?"),
    ("user", "@peers who has time?"),
    ("user", "@all who has time?"),
    ("user", "@reviewers good morning"),
    ("user", "@reviewers thanks"),
    ("user", "why does @Override fail in the parser?"),
    ("user", "what does `@reviewers` do?"),
    ("user", "@Test(timeout=3) fails, why?"),
    ("user", "is it me@example.org or you@example.org?"),
    ("ann", "@reviewers who has time?"),
]


def test_nobody_is_told_of_what_is_heard_asks_nothing_or_calls_nobody(house: House) -> None:
    for by, text in UNCALLED:
        house.say(GROUP, by, text)
        assert called(house) == [], text


def test_a_service_cannot_be_told_and_what_it_brings_is_taken_all_the_same(house: House) -> None:
    outside = {"author": {"id": "x:eve", "kind": "human", "displayName": "Eve"}}
    house.say(GROUP, "svc:bridge", "@reviewers who has time for a look?", **outside)
    asked = house.say(GROUP, "svc:bridge", ASKED, **outside)
    for _ in range(4):
        pass_time(house, SILENCE)
    assert offered(house, asked.id) == ["ann", "ben"]
    first = house.say(GROUP, "user", "@ann which port is it?")
    house.say(GROUP, "ann", "8080", reply_to=first.id)
    house.say(GROUP, "svc:bridge", "@ann which port is it?", **outside)
    notices = [one.data["target_actor_id"] for one in house.events(GROUP) if one.kind == "system.notify"]
    assert notices == []
    house.assert_rebuilds()
