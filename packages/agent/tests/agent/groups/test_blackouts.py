"""What cannot be comes first: fewer fields leave, and what no longer matters is never asked for."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.agent.groups import blackouts, grouping, transferring
from tacit.agent.groups.aggregation import Window
from tacit.agent.groups.fold import GroupTables
from tacit.agent.kernel.workspace import Peer
from tacit.base.moment import MINUTE, Moment, Span, common, merged, parse_rfc3339, without
from tacit.wire import version
from tests.agent.groups.circle import FRIDAY, SATURDAY, Circle, busy_but, circle, own_thread
from tests.agent.scheduling.desk import DAY, FEATURES, HOUR, MONDAY, desks, span

SUNDAY = ("2026-03-29T18:00:00Z", "2026-03-29T22:00:00Z")
THREE = "game night between Friday and Sunday evening"
FRIDAYS = [FRIDAY]
ALL = [FRIDAY, SATURDAY, SUNDAY]
LONDON = ZoneInfo("Europe/London")
NOW = parse_rfc3339(MONDAY)
ASKED = (span(*FRIDAY), span(*SATURDAY))


@pytest.fixture
def met():
    """Agents that have met before."""
    Circle.acquainted = True
    yield
    Circle.acquainted = False


def profiles(*names: str) -> dict[str, dict[str, object]]:
    return {
        name: {
            "profile": {
                "timezone": "Europe/London",
                "dietary": f"{name}diet",
                "location_preference": f"{name}area",
            }
        }
        for name in names
    }


def evening(free, text="dinner on Friday or Saturday evening", **how):
    people = circle(free, **profiles(*free))
    return people, people.ask(text, **how)


def told_by(people, name: str) -> list[str]:
    """The fields that somebody has told the coordinator, in their order."""
    return [
        field
        for one in people.sent(people[name], "context_response")
        for field in one.fields.get("context_provided", {})
    ]


def asked_of(people, name: str) -> list[list[str]]:
    """What somebody was asked for, a list for each question."""
    return [
        [need["field"] for need in one.fields["needs"]]
        for who, one in people.carried
        if who == people.first.me and one.to == people[name].me and one.fields.get("needs")
    ]


# The field.


def test_blackouts_say_what_they_speak_of_and_what_of_it_cannot_be():
    free = (span("2026-03-27T19:00:00Z", "2026-03-27T23:00:00Z"),)
    said = blackouts.written(ASKED, free, LONDON)
    assert said == {
        "within": [
            {"date": "2026-03-27", "time": "18:00+00:00/23:00+00:00"},
            {"date": "2026-03-28", "time": "18:00+00:00/23:00+00:00"},
        ],
        "blocked": [
            {"date": "2026-03-27", "time": "18:00+00:00/19:00+00:00"},
            {"date": "2026-03-28", "time": "18:00+00:00/23:00+00:00"},
        ],
    }
    assert blackouts.read(said, (), timezone=None, proposed_date=None, now=NOW).spans == free


@given(st.lists(st.tuples(st.integers(0, 600), st.integers(1, 120)), max_size=12))
def test_what_blackouts_leave_is_the_free_time_that_they_were_made_of(parts):
    start = ASKED[0].start
    busy = merged(
        Span(Moment(start + at * MINUTE), Moment(start + (at + long) * MINUTE)) for at, long in parts
    )
    free = without(ASKED, busy)
    said = blackouts.written(ASKED, free, LONDON)
    assert blackouts.read(said, (), timezone=None, proposed_date=None, now=NOW).spans == free


def test_nothing_is_free_that_an_answer_does_not_speak_of():
    said = blackouts.written(ASKED[:1], ASKED[:1], LONDON)
    left = blackouts.read(said, ASKED, timezone=None, proposed_date=None, now=NOW).spans
    assert common(left, ASKED) == ASKED[:1]


@pytest.mark.parametrize("said", [{"blocked": ["some day"]}, {"blocked": "when I am away"}, "never", [7]])
def test_blackouts_that_cannot_be_read_leave_nothing_free(said):
    found = blackouts.read(said, ASKED, timezone=None, proposed_date=None, now=NOW)
    assert (found.spans, bool(found.unclear)) == ((), True)


def test_a_bare_list_of_blackouts_is_blocked_time_in_what_was_asked_about():
    said = [{"date": "2026-03-27", "time": "18:00+00:00/23:00+00:00"}]
    found = blackouts.read(said, ASKED, timezone=None, proposed_date=None, now=NOW)
    assert found.spans == ASKED[1:]


def test_what_is_left_is_what_suits_all_or_a_quorum_and_concerns_who_could_be_there():
    all_of_them = Window(ASKED[0], ("a", "b", "c"), ())
    two = Window(ASKED[1], ("a", "b"), ("c",))
    assert blackouts.left([all_of_them, two], 0) == (all_of_them,)
    assert blackouts.left([two], 2) == (two,)
    assert blackouts.left([two], 3) == ()
    assert not blackouts.concerns("c", [two])
    assert blackouts.concerns("c", [two, all_of_them])
    assert blackouts.concerns("who told no times", [two])


# In a group.


@pytest.mark.spec("A2ACP-176", "A2ACP-181")
def test_the_first_question_asks_for_blackouts_alone_and_the_second_for_the_rest(met):
    people, group_id = evening({"anna": [FRIDAY, SATURDAY], "bob": [FRIDAY], "charlie": [FRIDAY, SATURDAY]})
    for name in ("bob", "charlie"):
        assert asked_of(people, name) == [["blackouts"], ["dietary", "location_preference"]]
        assert told_by(people, name) == ["blackouts", "dietary", "location_preference"]
    opening = people.sent(people["anna"], "context")[0].fields
    assert set(opening["context"]) == {"event_type", "party_size", "timezone"}
    second = [one.fields for one in people.sent(people["anna"], "context_request")]
    assert {json.dumps(one["needs"]) for one in second} == {json.dumps(second[0]["needs"])}
    assert all("time" not in json.dumps(one.get("context_provided", {})) for one in second)
    assert len({one["fanout_id"] for one in second}) == 1
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}


def test_fewer_fields_leave_where_two_of_three_evenings_are_impossible():
    counted = {}
    # Bob has Friday alone, Charlie Friday and Saturday, Diana none of the three.
    free = {"anna": ALL, "bob": [FRIDAY], "charlie": [FRIDAY, SATURDAY], "diana": ()}
    for acquainted in (False, True):
        Circle.acquainted = acquainted
        try:
            people, group_id = evening(free, THREE)
        finally:
            Circle.acquainted = False
        diana, anna = people["diana"], people["anna"]
        question = diana.question("escalation")
        diana.answer(question, choose=len(diana.content(question)["choices"]) - 2)
        people.settle()
        counted[acquainted, "before"] = {one: told_by(people, one) for one in ("bob", "charlie", "diana")}
        # Nothing suits all four: the owner goes on with the three who have Friday.
        anna.answer(anna.question("escalation"), choose=0)
        people.settle()
        counted[acquainted, "in the end"] = {one: told_by(people, one) for one in ("bob", "charlie", "diana")}
        people.confirm("anna", "bob", "charlie")
        assert own_thread(anna, group_id).state == "COMPLETED"
    first = ["blackouts"]
    at_once = ["location_preference", "time_windows"]
    assert counted[False, "before"] == dict.fromkeys(("bob", "charlie", "diana"), at_once)
    assert counted[True, "before"] == dict.fromkeys(("bob", "charlie", "diana"), first)
    assert sum(map(len, counted[False, "before"].values())) == 6
    assert sum(map(len, counted[True, "before"].values())) == 3
    assert counted[True, "in the end"]["diana"] == ["blackouts"]
    assert sum(map(len, counted[False, "in the end"].values())) == 6
    assert sum(map(len, counted[True, "in the end"].values())) == 5


def test_where_no_evening_is_left_nothing_but_blackouts_has_left(met):
    people, group_id = evening(
        {"anna": [FRIDAY], "bob": [SATURDAY], "charlie": [SATURDAY]}, "dinner on Friday evening"
    )
    for _ in range(3):
        for desk in people.desks.values():
            for question in desk.questions("escalation"):
                desk.answer(question, refuse=True)
        people.settle()
    assert not own_thread(people["anna"], group_id).is_open
    for name in ("bob", "charlie"):
        assert set(told_by(people, name)) <= {"blackouts"}
        said = json.dumps([one.fields for one in people[name].sent])
        assert f"{name}diet" not in said
        assert f"{name}area" not in said


def test_where_nothing_else_is_needed_there_is_no_second_question(met):
    people, group_id = evening(dict.fromkeys(("anna", "bob", "charlie"), FRIDAYS), "call on Friday evening")
    assert asked_of(people, "bob") == asked_of(people, "charlie") == [["blackouts"]]
    assert set(people.states(group_id).values()) == {"PROPOSED"}


def test_in_a_quorum_whoever_cannot_be_there_is_not_asked_for_more(met):
    people, group_id = evening(
        {"anna": [FRIDAY], "bob": [FRIDAY], "charlie": [FRIDAY], "diana": [SUNDAY]}, THREE, quorum=3
    )
    assert asked_of(people, "diana") == [["blackouts"]]
    assert told_by(people, "diana") == ["blackouts"]
    people.confirm("anna", "bob", "charlie")
    assert own_thread(people["anna"], group_id).state == "COMPLETED"


@pytest.mark.spec("A2ACP-057", "A2ACP-238")
def test_an_agent_that_does_not_know_blackouts_is_asked_for_everything_at_once(met):
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), FRIDAYS), **profiles("anna", "bob", "charlie"))
    anna, bob = people["anna"], people["bob"]
    anna.peers[bob.me] = Peer(bob.me, FEATURES - {version.BLACKOUTS}, heard=True, version=version.NEWEST)
    group_id = people.ask("dinner on Friday evening")
    assert asked_of(people, "bob") == [["time_windows", "dietary", "location_preference"]]
    assert asked_of(people, "charlie") == [["blackouts"], ["dietary", "location_preference"]]
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}


@pytest.mark.spec("A2ACP-182")
def test_whoever_is_silent_on_the_first_question_is_decided_on_before_the_second(met):
    people = circle(
        dict.fromkeys(("anna", "bob", "charlie", "diana"), FRIDAYS),
        **profiles("anna", "bob", "charlie", "diana"),
    )
    people.cut.add(people["diana"].me)
    group_id = people.ask("dinner on Friday evening")
    assert asked_of(people, "bob") == [["blackouts"]]
    people.later(2 * DAY + HOUR)
    anna = people["anna"]
    anna.answer(anna.question("escalation"), choose=0)
    people.settle()
    assert asked_of(people, "bob") == asked_of(people, "charlie") == [
        ["blackouts"], ["dietary", "location_preference"],
    ]  # fmt: skip
    assert asked_of(people, "diana") == [["blackouts"]]
    people.confirm("anna", "bob", "charlie")
    assert own_thread(anna, group_id).state == "COMPLETED"


@pytest.mark.spec("A2ACP-182")
def test_whoever_is_silent_on_the_second_question_is_decided_on_too(met):
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), FRIDAYS), **profiles("anna", "bob", "charlie"))
    anna, bob, charlie = (people[one] for one in ("anna", "bob", "charlie"))
    others = [bob.me, charlie.me]
    goal = anna.goal("dinner on Friday evening")
    group_id = anna.decide(lambda ws: grouping.begin(ws, goal, others))
    people.settle(share=False)
    for desk in (bob, charlie):
        desk.share_all(desk.question("consent"))
    people.settle(share=False)
    assert asked_of(people, "charlie") == [["blackouts"], ["dietary", "location_preference"]]
    people.cut.add(charlie.me)
    people.settle()
    assert anna.book.part(GroupTables).groups[group_id].members[charlie.me] == "awaiting_response"
    anna.restarted()
    people.later(2 * DAY + HOUR)
    assert anna.content(anna.question("escalation"))["silent"] == [charlie.me]


@pytest.mark.spec("A2ACP-184")
def test_a_new_coordinator_between_the_two_questions_begins_with_blackouts_again(met):
    people = circle(
        dict.fromkeys(("anna", "bob", "charlie", "diana"), FRIDAYS),
        **profiles("anna", "bob", "charlie", "diana"),
    )
    anna, bob, diana = (people[one] for one in ("anna", "bob", "diana"))
    people.cut.add(diana.me)
    group_id = people.ask("dinner on Friday evening")
    anna.decide(lambda ws: transferring.offer(ws, ws.book.part(GroupTables).groups[group_id], bob.me))
    people.cut.clear()
    people.settle()
    asked = [
        [need["field"] for need in one.fields["needs"]]
        for who, one in people.carried
        if who == bob.me and one.to == people["charlie"].me and one.fields.get("needs")
    ]
    assert asked == [["blackouts"], ["dietary", "location_preference"]]
    people.confirm()
    assert set(people.states(group_id).values()) == {"COMPLETED"}
    for desk in people.desks.values():
        desk.restarted()


def test_an_owner_who_says_in_own_words_when_it_cannot_be_is_taken_at_that_word(met):
    people = circle({"anna": [FRIDAY, SATURDAY], "bob": [FRIDAY, SATURDAY], "charlie": [FRIDAY, SATURDAY]})
    anna, bob = people["anna"], people["bob"]
    others = [bob.me, people["charlie"].me]
    goal = anna.goal("game night on Friday or Saturday evening")
    anna.decide(lambda ws: grouping.begin(ws, goal, others))
    people.settle(share=False)
    bob.answer(bob.question("consent"), share={"blackouts": "Friday 27 March 17:00-23:30"})
    people.settle()
    said = people.sent(bob, "context_response")[0].fields["context_provided"]["blackouts"]
    assert said["blocked"] == [{"date": "2026-03-27", "time": "17:00+00:00/23:30+00:00"}]
    assert [one["date"] for one in said["within"]] == ["2026-03-27", "2026-03-28"]
    days = {one.fields["proposal"]["details"]["date"] for one in people.sent(anna, "resolution")}
    assert days == {"2026-03-28"}


def test_blackouts_are_no_wider_a_permission_than_times_are(met):
    people = circle(dict.fromkeys(("anna", "bob", "charlie"), FRIDAYS))
    anna, bob = people["anna"], people["bob"]
    goal = anna.goal("game night on Friday evening")
    anna.decide(lambda ws: grouping.begin(ws, goal, [bob.me, people["charlie"].me]))
    people.settle(share=False)
    asked = bob.question("consent")
    assert bob.asked(asked) == ["blackouts"]
    assert not people.sent(bob, "context_response")
    bob.answer(asked, decline_all=True)
    people.settle(share=False)
    answer = people.sent(bob, "context_response")[0].fields
    assert "2026" not in json.dumps(answer)
    assert [one["field"] for one in answer["context_unavailable"]] == ["blackouts"]


def test_two_people_are_never_asked_in_two_steps():
    both = desks(anna={"busy": busy_but(FRIDAY)}, ben={"busy": busy_but(FRIDAY)})
    for one, other in ((both.anna, both.ben), (both.ben, both.anna)):
        one.peers[other.me] = Peer(other.me, FEATURES, heard=True, version=version.NEWEST)
    both.anna.ask("dinner on Friday evening", both.ben.me)
    both.anna.share_all(both.anna.question("consent"))
    wanted = [need["field"] for one in both.anna.sent for need in one.fields.get("needs", ())]
    assert "blackouts" not in wanted
    assert "time_windows" in wanted
