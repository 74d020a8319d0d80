"""A question to the room that nobody answers: offered to one after the other, then told to whoever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention import Roster, RosterAgent
from tacit.attention.commands import ChangeRules
from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import decisions_view
from tacit.attention.io.work_view import AgentsNow
from tacit.attention.settings import DEFAULTS, Settings
from tacit.attention.state.fold import Attention
from tacit.attention.state.records import moment_of
from tacit.attention.state.room_offers import (
    FITS_BY_NAME,
    FITS_BY_PLACE,
    FITS_BY_ROLE,
    FITS_BY_TALK,
    FITS_BY_TIME,
    OFFERED,
    Fitness,
)
from tacit.attention.state.room_questions import MOST_OPEN, TO_ANSWER_MS, TO_TAKE_MS
from tacit.attention.state.work import RECONNECT
from tacit.base.moment import SECOND
from tests.attention.io.house import GROUP
from tests.attention.world import ROSTER, event

if TYPE_CHECKING:
    from tests.attention.io.house import House

TO_TAKE = TO_TAKE_MS / 1000
TO_ANSWER = TO_ANSWER_MS / 1000
PEOPLES = DEFAULTS.room_silence_ms / 1000
"""How long a question is the people's alone."""
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


def among_people(house: House) -> None:
    house.do(GROUP, "user", "x.tacit.person.add", principal="usr:eve", title="Eve")


def open_offers(house: House, event_id: str) -> list[str]:
    return [one.session for one in house.attention.obligations.of_event(event_id) if not one.closed]


@pytest.mark.spec("C2A-077")
def test_alone_with_agents_a_person_is_offered_one_at_once_then_the_next_and_then_told(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    assert open_offers(house, asked.id) == offered(house, asked.id) == ["ann"]
    pass_time(house, TO_TAKE - 1)
    assert open_offers(house, asked.id) == offered(house, asked.id) == ["ann"]
    pass_time(house, 1)
    assert offered(house, asked.id) == ["ann", "ben"]
    assert open_offers(house, asked.id) == ["ben"]
    assert told(house) == []
    for _ in range(3):
        pass_time(house, TO_TAKE)
    assert offered(house, asked.id) == ["ann", "ben"]
    assert open_offers(house, asked.id) == []
    assert told(house) == [("user", asked.id)]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-077")
def test_among_people_a_question_is_theirs_for_a_moment(house: House) -> None:
    among_people(house)
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, PEOPLES - 1)
    assert offered(house, asked.id) == []
    pass_time(house, 1)
    assert offered(house, asked.id) == ["ann"]
    answered = house.say(GROUP, "usr:eve", "does anyone have time for a review?")
    house.say(GROUP, "user", "I do, in an hour")
    pass_time(house, PEOPLES)
    assert offered(house, answered.id) == []


def test_among_people_nobody_is_told_before_people_could_have_answered(house: House) -> None:
    among_people(house)
    house.present.clear()
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, PEOPLES)
    assert told(house) == []
    pass_time(house, TO_ANSWER - PEOPLES - 1)
    assert told(house) == []
    pass_time(house, 1)
    assert told(house) == [("user", asked.id)]
    house.assert_rebuilds()


def test_alone_with_agents_that_are_away_a_person_is_told_at_once(house: House) -> None:
    house.present.clear()
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    assert offered(house, asked.id) == []
    assert told(house) == [("user", asked.id)]


@pytest.mark.parametrize("how", ["declines", "gives it back", "declines what it took"])
def test_who_will_not_take_it_passes_it_on_at_once(house: House, how: str) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    if how != "declines":
        house.call("ann", "chat.claim", eventId=asked.id)
    if how == "gives it back":
        house.call("ann", "chat.claim", eventId=asked.id, release=True)
    else:
        house.call("ann", "chat.react", inReplyTo=asked.id, signal="declined")
    house.tick()
    assert offered(house, asked.id) == ["ann", "ben"]
    assert house.call("ben", "chat.claim", eventId=asked.id)["claimed"]
    house.assert_rebuilds()


def test_who_comes_late_may_still_take_what_nobody_took(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    for _ in range(4):
        pass_time(house, TO_TAKE)
    assert told(house) == [("user", asked.id)]
    assert house.call("ann", "chat.claim", eventId=asked.id)["claimed"]
    house.say(GROUP, "ann", "The index is missing.", reply_to=asked.id)
    assert house.call("ben", "chat.claim", eventId=asked.id).code == "claim_conflict"


def test_what_an_owner_has_set_is_the_time_before_every_offer(house: House) -> None:
    house.store.decide(ChangeRules(GROUP, "user", {"room_silence_ms": 120_000}))
    asked = house.say(GROUP, "user", ASKED)
    pass_time(house, 119)
    assert offered(house, asked.id) == []
    pass_time(house, 1)
    assert offered(house, asked.id) == ["ann"]
    pass_time(house, 119)
    assert offered(house, asked.id) == ["ann"]
    pass_time(house, 1)
    assert offered(house, asked.id) == ["ann", "ben"]
    house.assert_rebuilds()


def test_an_offer_is_a_knock_that_obliges_to_nothing_and_says_why(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    record = next(one for one in house.events(GROUP) if one.kind == "x.c2a.delivery").data
    assert (record["policy"], record["mode"], record["needs_claim"]) == ("may_respond", "notify", True)
    assert set(record["because"].values()) == {OFFERED.name, FITS_BY_TIME.name}
    shown = house.store.read(
        lambda reader: decisions_view(
            Archive.on(reader, reader.group(GROUP)), asked.id, AgentsNow(house.clock.now())
        )
    )
    [one] = [one for one in shown["decisions"] if one["mode"] == "notify"]
    assert (one["agent"], one["rule"]) == ("ann", OFFERED.name)
    assert OFFERED.says in one["sentence"]
    assert one["sentence"].endswith(f"It was ann because {FITS_BY_TIME.says}.")
    assert not house.attention.obligations.get(asked.id, "ann").owed


def test_whom_it_may_go_on_with_is_offered_it_and_not_only_knocked_at(house: House) -> None:
    house.say(GROUP, "ben", "Welcome, I keep the build green.")
    house.clock.move(30)
    asked = house.say(GROUP, "user", "what is this place?")
    house.tick()
    assert {one.session: one.needs_claim for one in house.attention.obligations.of_event(asked.id)} == {
        "ben": True
    }


def test_what_its_author_adds_is_for_whoever_was_offered_it(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    house.clock.move(2)
    added = house.say(GROUP, "user", "it began at noon, can you look?")
    house.tick()
    assert (offered(house, asked.id), offered(house, added.id)) == (["ann"], ["ann"])


def test_among_people_what_its_author_says_next_may_be_for_them(house: House) -> None:
    among_people(house)
    house.say(GROUP, "user", "does anyone want lunch?")
    pass_time(house, PEOPLES)
    added = house.say(GROUP, "user", "the new place is good")
    pass_time(house, PEOPLES)
    assert offered(house, added.id) == []


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
    pass_time(house, TO_ANSWER)
    assert offered(house, asked.id) == []
    assert told(house) == []
    assert house.attention.room_questions.open.get(asked.id) is None


def test_while_it_is_claimed_nobody_else_is_asked(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    house.call("ann", "chat.claim", eventId=asked.id)
    for _ in range(3):
        pass_time(house, TO_TAKE)
    assert offered(house, asked.id) == ["ann"]
    assert told(house) == []


def test_a_claim_that_runs_out_passes_it_on(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    house.call("ann", "chat.claim", eventId=asked.id, ttlMs=DEFAULTS.claim_ttl_min_ms)
    pass_time(house, DEFAULTS.claim_ttl_min_ms / 1000)
    assert offered(house, asked.id) == ["ann", "ben"]


def test_who_is_given_it_by_a_person_keeps_it(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    house.steer("reassign", event_id=asked.id, to="ben")
    pass_time(house, TO_TAKE)
    assert [one.session for one in house.attention.obligations.of_event(asked.id) if one.owed] == ["ben"]
    assert offered(house, asked.id).count("ann") == 1
    assert told(house) == []


def test_who_is_away_is_not_asked_and_who_is_at_work_only_where_nobody_is_idle(house: House) -> None:
    house.say(GROUP, "user", "@ann please check the disk")
    house.clock.move(120)  # in one go with the line before it, it would be more of that
    first = house.say(GROUP, "user", "who can explain the retry logic?")
    house.tick()
    assert offered(house, first.id) == ["ben"]
    house.present.discard("ben")
    pass_time(house, TO_TAKE)
    assert offered(house, first.id) == ["ben", "ann"]


def test_a_hub_that_was_stopped_goes_on_where_it_was(house: House) -> None:
    asked = house.say(GROUP, "user", ASKED)
    house.tick()
    house.clock.move(TO_TAKE)
    house.restart()
    house.tick()
    assert offered(house, asked.id) == ["ann"]
    pass_time(house, RECONNECT / SECOND)
    assert offered(house, asked.id) == ["ann", "ben"]


@pytest.mark.spec("C2A-077")
def test_the_fittest_is_nearly_named_idle_of_the_role_at_home_or_the_last_to_speak() -> None:
    roster = Roster.of(
        [
            RosterAgent("a"),
            RosterAgent("b", roles=frozenset({"databases"})),
            RosterAgent("c"),
            RosterAgent("d"),
            RosterAgent("e"),
            RosterAgent("felix"),
        ]
    )
    fitness = Fitness(roster, "felixx: why is the Database slow?", frozenset({"d"}), "e", {"a": 1})
    ranked = sorted(roster.agents, key=fitness.rank)
    assert ranked == ["felix", "b", "d", "e", "c", "a"]
    assert [fitness.why(one) for one in ranked] == [
        FITS_BY_NAME,
        FITS_BY_ROLE,
        FITS_BY_PLACE,
        FITS_BY_TALK,
        FITS_BY_TIME,
        FITS_BY_TIME,
    ]


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
        pass_time(house, TO_TAKE)
    assert offered(house, asked.id) == ["ann", "ben"]
    first = house.say(GROUP, "user", "@ann which port is it?")
    house.say(GROUP, "ann", "8080", reply_to=first.id)
    house.say(GROUP, "svc:bridge", "@ann which port is it?", **outside)
    notices = [one.data["target_actor_id"] for one in house.events(GROUP) if one.kind == "system.notify"]
    assert notices == []
    house.assert_rebuilds()
