"""What an agent does about what it hears: inputs in, effects out, time as an argument."""

from __future__ import annotations

import pytest

from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_delivered
from tacit.harness.conduct import ConductOptions
from tacit.harness.drivers.port import Failure, FailureKind, Insert, Proceed, Stop, TurnOutcome
from tacit.harness.effects import (
    Abort,
    Begin,
    Claim,
    Defer,
    Join,
    PostAnswer,
    Postpone,
    React,
    Report,
    Return,
    Settle,
    Spent,
    SteerTurn,
    Tell,
)
from tests.c2a_peer import WRITTEN, delivery
from tests.harness.one_turn import OneTurn, reach_the_model
from tests.harness.strict_prompt import message_of

T0 = 1_768_298_400 * SECOND
PLAIN = ConductOptions(boundaries=True)


def at(seconds: float) -> Moment:
    return Moment(T0 + int(seconds * SECOND))


def event(event_id="e1", text="the plan for Monday", **more):
    return read_delivered(delivery(event_id, text, **more))


def immediate(event_id, **more):
    return event(event_id, injection__mode="immediate", **more)


def knock(event_id, reason="thread_participation", policy="may_respond", **more):
    return event(
        event_id,
        content=None,
        knock={"from": "human:ann", "where": f"thread:{event_id}", "topic": "question"},
        injection__mode="notify",
        attention={"policy": policy, "reason": reason, "priority": "normal"},
        policy=policy,
        target__directedness="to_my_role",
        **more,
    )


def kinds(effects, *kept):
    """The effects of these kinds."""
    return [one for one in effects if isinstance(one, kept)]


def settled(effects):
    return {one.event_id: one.disposition for one in effects if isinstance(one, Settle)}


def begin(conduct, *events, start=0.0):
    """The turn of these events, begun once the author is quiet."""
    for number, one in enumerate(events):
        conduct.heard(one, at(start + number))
    effects = conduct.due(at(start + len(events) + 3))
    return kinds(effects, Begin)[0].turn


def done(text="The plan is ready."):
    return TurnOutcome("t", text)


def failure(kind=FailureKind.RETRYABLE, code="model_unavailable", **more):
    return TurnOutcome("t", failure=Failure(kind, code, **more))


# -- fragments


@pytest.mark.spec("C2A-083", "C2A-085", "C2A-087", "C2A-221")
def test_five_fragments_a_second_apart_are_one_turn_and_the_others_superseded():
    conduct = OneTurn(PLAIN)
    for number in range(5):
        assert conduct.heard(event(f"e{number}", f"part {number}"), at(number)) == []
    assert conduct.next_due == at(7)
    assert conduct.due(at(6.9)) == []
    turn = kinds(conduct.due(at(7)), Begin)[0].turn
    assert [one.text for one in turn.events] == [f"part {number}" for number in range(5)]
    effects = conduct.ended(done(), at(9))
    assert [one.body for one in kinds(effects, PostAnswer)] == ["The plan is ready."]
    assert settled(effects) == {"e4": None, **{f"e{number}": "superseded" for number in range(4)}}
    assert kinds(effects, Settle)[-1].more == {"mergedInto": "e4"}


@pytest.mark.spec("C2A-083")
@pytest.mark.parametrize(
    "other",
    [
        {"author": {"id": "usr:bo", "kind": "human", "displayName": "Bo"}},
        {"conversation__id": "g2"},
        {"conversation__threadId": "elsewhere"},
    ],
)
def test_nothing_is_joined_across_authors_conversations_or_threads(other):
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1"), at(0))
    conduct.heard(event("e2", **other), at(1))
    turn = kinds(conduct.due(at(5)), Begin)[0].turn
    assert [one.event_id for one in turn.events] == ["e1"]
    turn = kinds(conduct.ended(done(), at(6)), Begin)[0].turn
    assert [one.event_id for one in turn.events] == ["e2"]


@pytest.mark.spec("C2A-084")
def test_typing_holds_the_window_open_up_to_the_cap():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1"), at(0))
    for second in range(1, 29, 4):
        conduct.typing("g1", "user", at(second), typing=True)
        assert conduct.next_due == at(min(30, second + 6))
        assert conduct.due(at(second + 3.5)) == []
    assert kinds(conduct.due(at(30)), Begin)


@pytest.mark.spec("C2A-084")
def test_a_typing_signal_runs_out_and_a_stop_ends_it_at_once():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1"), at(0))
    conduct.typing("g1", "user", at(1), typing=True)
    assert conduct.next_due == at(7)
    conduct.typing("g1", "user", at(2), typing=False)
    assert conduct.next_due == at(5)
    conduct.typing("g1", "user", at(3), typing=True)
    conduct.heard(event("e2"), at(4))
    assert conduct.next_due == at(7)


@pytest.mark.spec("C2A-084")
def test_somebody_else_s_typing_holds_nothing():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1"), at(0))
    conduct.typing("g1", "usr:bo", at(1), typing=True)
    conduct.typing("g2", "user", at(1), typing=True)
    assert conduct.next_due == at(3)


@pytest.mark.spec("C2A-086")
def test_fragments_are_merged_for_thirty_seconds():
    conduct = OneTurn(PLAIN)
    for number in range(0, 30, 2):
        conduct.heard(event(f"e{number}"), at(number))
    turn = kinds(conduct.due(at(30)), Begin)[0].turn
    assert len(turn.events) == 15
    late = event("late", "and more", timing__createdAt=f"{WRITTEN[:17]}31Z")
    assert conduct.heard(late, at(31)) == []
    assert kinds(conduct.ended(done(), at(40)), Begin)[0].turn.events == (late,)


def test_what_was_written_far_apart_and_arrives_together_is_not_joined():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", timing__createdAt="2026-01-13T08:00:00Z"), at(0))
    conduct.heard(event("e2", timing__createdAt="2026-01-13T09:00:00Z"), at(0))
    assert len(kinds(conduct.due(at(3)), Begin)[0].turn.events) == 1


@pytest.mark.spec("C2A-188")
def test_a_fragment_while_the_model_thinks_restarts_the_turn_with_everything():
    conduct = OneTurn(PLAIN)
    first = begin(conduct, event("e1", "one"))
    effects = conduct.heard(event("e2", "two"), at(10))
    assert effects == [Return(("e1", "e2")), Abort(first.id)]
    assert kinds(conduct.ended(done("half an answer"), at(10.2)), PostAnswer) == []
    turn = kinds(conduct.due(at(13.3)), Begin)[0].turn
    assert [one.text for one in turn.events] == ["one", "two"]
    assert turn.id != first.id


@pytest.mark.spec("C2A-188")
def test_two_restarts_and_no_more():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    for number in (2, 3):
        assert kinds(conduct.heard(event(f"e{number}", "and more"), at(number * 5)), Abort)
        conduct.ended(failure(FailureKind.CANCELLED, "cancelled"), at(number * 5 + 1))
        assert kinds(conduct.due(at(number * 5 + 4)), Begin)
    assert conduct.heard(event("e4", "and the last of it"), at(22)) == []
    effects = conduct.ended(done(), at(26))
    assert kinds(effects, PostAnswer)[0].turn.carrier.event_id == "e3"
    assert kinds(effects, Begin)[0].turn.carrier.event_id == "e4"


@pytest.mark.spec("C2A-188")
@pytest.mark.parametrize("tool", ["shell", "Bash", "mcp__files__write", "tacit.chat_send_message"])
def test_no_restart_after_a_side_effecting_tool_call(tool):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.tool_started("c1", tool)
    conduct.boundary("c1", at(6))
    assert conduct.heard(event("e2"), at(7)) == []
    assert kinds(conduct.ended(done(), at(8)), PostAnswer)


@pytest.mark.spec("C2A-188")
@pytest.mark.parametrize("tool", ["Read", "Grep", "tacit.chat_read_thread", "mcp__tacit__chat_claim"])
def test_a_tool_that_only_reads_does_not_stand_in_the_way_of_a_restart(tool):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.tool_started("c1", tool)
    assert conduct.boundary("c1", at(6)) == (Proceed(), [])
    assert kinds(conduct.heard(event("e2", "and the tests"), at(7)), Abort)


@pytest.mark.spec("C2A-188")
def test_a_driver_that_can_be_steered_gets_the_fragment_without_a_restart():
    conduct = OneTurn(ConductOptions(steers=True, inserts=True, boundaries=True, draw=lambda: "5f3a"))
    turn = begin(conduct, event("e1", "one"))
    steer = kinds(conduct.heard(event("e2", "two"), at(8)), SteerTurn)[0]
    assert (steer.turn_id, message_of(steer.text) == "two") == (turn.id, True)
    assert conduct.steered(steer, at(8), taken=True) == [Join(turn.id, (steer.event,))]
    effects = conduct.ended(done(), at(9))
    assert kinds(effects, PostAnswer)[0].turn.carrier.event_id == "e2"
    assert settled(effects) == {"e2": None, "e1": "superseded"}


def test_a_steer_that_is_not_taken_becomes_a_restart():
    conduct = OneTurn(ConductOptions(steers=True, inserts=True, boundaries=True))
    begin(conduct, event("e1"))
    steer = kinds(conduct.heard(event("e2", "and the tests"), at(8)), SteerTurn)[0]
    assert kinds(conduct.steered(steer, at(8), taken=False), Abort)


def test_a_steer_that_comes_too_late_is_a_turn_of_its_own():
    conduct = OneTurn(ConductOptions(steers=True, inserts=True, boundaries=True))
    begin(conduct, event("e1"))
    steer = kinds(conduct.heard(event("e2", "and the tests"), at(8)), SteerTurn)[0]
    conduct.ended(done(), at(8.5))
    assert kinds(conduct.steered(steer, at(9), taken=True), Begin)


# -- a busy agent: what belongs to its work, and what waits its turn


DRIVERS = [
    ConductOptions(),
    ConductOptions(boundaries=True),
    ConductOptions(inserts=True, boundaries=True),
    ConductOptions(steers=True, inserts=True, boundaries=True),
]


@pytest.mark.parametrize("options", DRIVERS)
@pytest.mark.parametrize(
    ("text", "after", "more"),
    [
        ("unrelated: which port does the hub use?", 5, {}),
        ("@ada unrelated: tell me the port", 5, {}),
        ("Which port does the hub use?", 12, {}),
        ("which port does the hub use", 300, {}),
        ("Bump the version.", 300, {}),
        ("and the tests", 10, {"author": {"id": "usr:bo", "kind": "human"}}),
        ("and the tests", 10, {"conversation__id": "g2"}),
        ("and the tests", 10, {"conversation__threadId": "elsewhere"}),
        ("by the way, the tests", 10, {"conversation__threadId": "e1"}),
    ],
)
def test_what_is_unrelated_waits_its_turn_and_both_are_answered(options, text, after, more):
    conduct = OneTurn(options)
    turn = begin(conduct, event("e1", "refactor the parser"))
    written = f"{WRITTEN[:14]}{after // 60:02}:{after % 60:02}Z"
    assert conduct.heard(event("e2", text, timing__createdAt=written, **more), at(after)) == []
    assert conduct.running.turn is turn
    effects = conduct.ended(done("The parser is done."), at(after + 400))
    assert settled(effects) == {"e1": None}
    assert [one.turn.carrier.event_id for one in kinds(effects, PostAnswer, Begin)] == ["e1", "e2"]
    assert settled(conduct.ended(done("It is 8080."), at(after + 500))) == {"e2": None}


@pytest.mark.spec("C2A-188")
@pytest.mark.parametrize(
    ("text", "after", "more"),
    [
        ("and the tests", 10, {}),
        ("What about Windows?", 10, {}),
        ("Does it run offline?", 10, {}),
        ("actually, use the release branch", 300, {}),
        ("@ada sorry, I meant the lexer", 300, {}),
        ("*lexer", 300, {}),
        ("use the release branch", 300, {"conversation__threadId": "e1"}),
    ],
)
def test_a_continuation_a_correction_and_a_reply_belong_to_the_running_question(text, after, more):
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1", "refactor the parser"))
    written = f"{WRITTEN[:14]}{after // 60:02}:{after % 60:02}Z"
    effects = conduct.heard(event("e2", text, timing__createdAt=written, **more), at(10))
    assert effects == [Return(("e1", "e2")), Abort(turn.id)]
    conduct.ended(failure(FailureKind.CANCELLED, "cancelled"), at(11))
    again = kinds(conduct.due(at(14)), Begin)[0].turn
    assert [one.event_id for one in again.events] == ["e1", "e2"]


@pytest.mark.spec("C2A-188")
def test_a_correction_after_something_was_done_is_before_the_model_at_its_next_boundary():
    conduct = OneTurn(ConductOptions(inserts=True, boundaries=True))
    begin(conduct, event("e1", "refactor the parser"))
    conduct.tool_started("c1", "shell")
    assert conduct.heard(event("e2", "actually, the lexer"), at(8)) == []
    order, effects = conduct.boundary("c1", at(9))
    assert isinstance(order, Insert)
    assert "actually, the lexer" in order.text
    assert kinds(effects, Join)[0].events[0].event_id == "e2"
    effects = conduct.ended(done("The lexer is done."), at(20))
    assert settled(effects) == {"e2": None, "e1": "superseded"}
    assert [one.turn.carrier.event_id for one in kinds(effects, PostAnswer)] == ["e2"]


def test_a_correction_is_of_what_its_author_asked_last():
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1", "refactor the parser"))
    conduct.heard(event("e2", "Which port does the hub use?"), at(20))
    assert conduct.heard(event("e3", "sorry, I meant the relay"), at(60)) == []
    assert conduct.running.turn is turn
    waiting = kinds(conduct.ended(done(), at(70)), Begin)[0].turn
    assert [one.event_id for one in waiting.events] == ["e2", "e3"]


def test_five_questions_in_a_minute_get_five_answers_in_order():
    conduct = OneTurn(PLAIN)
    asked = [f"Where is part {number} kept?" for number in range(5)]
    for number, text in enumerate(asked):
        conduct.heard(
            event(f"e{number}", text, timing__createdAt=f"{WRITTEN[:17]}{number * 12:02}Z"), at(number * 12)
        )
        conduct.due(at(number * 12 + 3))
    posts, now = [], 60
    while conduct.running is not None:
        effects = conduct.ended(done(f"answer {now}"), at(now))
        posts += kinds(effects, PostAnswer)
        now += 30
    assert [one.turn.carrier.text for one in posts] == asked


@pytest.mark.spec("C2A-082")
@pytest.mark.parametrize(
    ("place", "ended"),
    [
        ({"author": {"id": "usr:bo", "kind": "human"}}, set()),
        ({"author": {"id": "usr:bo", "kind": "human"}, "conversation__threadId": "e1"}, set()),
        ({"conversation__threadId": "e2"}, {"e2"}),
        ({"conversation__id": "g9"}, {"e1", "e2"}),
        ({}, {"e1"}),
    ],
)
def test_a_stop_ends_what_it_replies_to_or_its_author_s_own_work_and_nobody_else_s(place, ended):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "refactor the parser"))
    conduct.heard(event("e2", "and now this", conversation__id="g2"), at(4))
    effects = conduct.heard(immediate("s1", text="stop", attention__reason="cancellation", **place), at(9))
    assert {one for one, how in settled(effects).items() if how == "superseded"} == ended


@pytest.mark.parametrize(("by", "ended"), [("user", {"e1"}), ("usr:bo", {"e1"}), ("usr:amy", set())])
def test_work_is_its_asker_s_to_call_off_and_the_owner_s(by, ended):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "refactor the parser", author={"id": "usr:bo", "kind": "human"}))
    place = {"author": {"id": by, "kind": "human"}, "conversation__threadId": "e1"}
    effects = conduct.heard(immediate("s1", text="stop", attention__reason="cancellation", **place), at(9))
    assert {one for one, how in settled(effects).items() if how == "superseded"} == ended
    assert ("s1" in settled(effects)) is bool(ended), "what nobody may call off is a question for the model"


def test_a_turn_that_had_spoken_and_was_cut_for_something_urgent_does_not_stay_open():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"e1"}
    conduct.heard(immediate("u1", attention__priority="urgent", conversation__id="g2"), at(5))
    assert settled(conduct.due(at(15))) == {"e1": None}


# -- what reaches a model at all


@pytest.mark.spec("C2A-003", "C2A-080", "C2A-091")
@pytest.mark.parametrize(
    "more",
    [
        {"injection__mode": "tool_mailbox", "target__directedness": "ambient"},
        {"injection__mode": "silent"},
        {
            "injection__mode": "buffered",
            "target__directedness": "ambient",
            "attention__policy": "must_not_respond",
        },
        {
            "injection__mode": "immediate",
            "target__directedness": "to_other",
            "attention__policy": "may_respond",
        },
    ],
)
def test_ambient_traffic_and_the_mailbox_start_no_turn_and_add_nothing_to_a_prompt(more):
    conduct = OneTurn(PLAIN)
    for number in range(100):
        assert conduct.heard(event(f"a{number}", **more), at(number)) == [Settle(f"a{number}")]
    assert conduct.next_due is None
    turn = begin(conduct, event("e1"), start=200)
    assert (turn.knocks, turn.digests, len(turn.events)) == ((), (), 1)


@pytest.mark.spec("C2A-003", "C2A-080")
@pytest.mark.parametrize(
    "more",
    [
        {"injection__mode": "digest", "attention__policy": "must_not_respond"},
        {"injection__mode": "buffered", "attention__policy": "must_respond"},
        {"injection__mode": "immediate", "attention__policy": "must_respond"},
    ],
)
def test_a_digest_and_what_must_be_answered_reach_the_model_wherever_they_were_said(more):
    conduct = OneTurn(PLAIN)
    assert Settle("a1") not in conduct.heard(event("a1", target__directedness="ambient", **more), at(0))


@pytest.mark.spec("C2A-080")
def test_an_owner_may_let_the_ambient_traffic_of_one_conversation_through():
    conduct = OneTurn(ConductOptions(ambient=frozenset({"g1"})))
    more = {"target__directedness": "ambient", "attention__policy": "may_respond"}
    assert conduct.heard(event("a1", **more), at(0)) == []
    assert conduct.heard(event("a2", conversation__id="g2", **more), at(0)) == [Settle("a2")]


@pytest.mark.spec("C2A-090")
def test_knocks_wait_for_the_next_turn_and_wake_nobody():
    conduct = OneTurn(PLAIN)
    for number in range(3):
        assert conduct.heard(knock(f"k{number}"), at(number)) == []
    assert conduct.next_due is None
    turn = begin(conduct, event("e1"), start=10)
    assert [one.event_id for one in turn.knocks] == ["k0", "k1", "k2"]
    assert settled(conduct.ended(done(), at(20))) == {"e1": None, "k0": None, "k1": None, "k2": None}


@pytest.mark.spec("C2A-090")
def test_a_knock_that_obliges_wakes_an_idle_session():
    conduct = OneTurn(PLAIN)
    assert kinds(conduct.heard(knock("k1", policy="must_respond"), at(0)), Begin)


@pytest.mark.spec("C2A-071", "C2A-153")
def test_work_put_up_for_a_role_is_claimed_before_a_model_is_asked():
    conduct = OneTurn(PLAIN)
    asked = knock("k1", reason="role_mention")
    assert conduct.heard(asked, at(0)) == [Claim(asked)]
    won = event("k1", "Who reviews this?", target__directedness="to_my_role", attention__policy="may_respond")
    [begun] = kinds(conduct.heard(won, at(0.1), claimed=True), Begin)
    assert begun.turn.carrier.text == "Who reviews this?"


def test_an_agent_that_does_not_claim_keeps_the_knock():
    conduct = OneTurn(ConductOptions(claims_roles=False))
    assert conduct.heard(knock("k1", reason="role_mention"), at(0)) == []


@pytest.mark.spec("C2A-092")
def test_a_digest_is_shown_with_the_next_turn():
    conduct = OneTurn(PLAIN)
    digest = event("d1", "12 messages", injection__mode="digest", attention__policy="must_not_respond")
    assert conduct.heard(digest, at(0)) == []
    assert [one.event_id for one in begin(conduct, event("e1")).digests] == ["d1"]


def test_knocks_of_a_run_that_failed_are_shown_again():
    conduct = OneTurn(PLAIN)
    conduct.heard(knock("k1"), at(0))
    begin(conduct, event("e1"))
    effects = conduct.ended(failure(), at(10))
    assert settled(effects) == {}
    assert [one.event_id for one in kinds(conduct.due(at(13)), Begin)[0].turn.knocks] == ["k1"]


# -- how a turn ends


@pytest.mark.spec("C2A-120", "C2A-163")
def test_a_person_s_question_met_with_no_word_at_all_is_tried_again_and_then_fails_aloud():
    conduct = OneTurn(PLAIN)
    begin(conduct, event())
    for number, pause in enumerate((2, 8)):
        effects = conduct.ended(done("  "), at(10 + 20 * number))
        assert settled(effects) == {}
        [again] = kinds(conduct.due(at(10 + 20 * number + pause)), Begin)
        assert "without a word" in again.turn.note
    effects = conduct.ended(done(""), at(60))
    assert settled(effects) == {"e1": "failed"}
    assert "without a word" in kinds(effects, Settle)[0].more["error"]["message"]


@pytest.mark.spec("C2A-163")
@pytest.mark.parametrize(("tool", "told"), [("shell", True), ("read_file", False)])
def test_a_turn_that_failed_after_it_had_done_something_is_told_to_look_when_it_is_tried_again(tool, told):
    conduct = OneTurn(PLAIN)
    begin(conduct, event())
    conduct.tool_started("c1", tool)
    conduct.boundary("c1", at(9))
    conduct.ended(failure(), at(10))
    [again] = kinds(conduct.due(at(12)), Begin)
    assert ("check what is done already" in again.turn.note) is told


@pytest.mark.spec("C2A-059")
def test_silence_posts_nothing_and_is_told_as_the_policy_allows():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", attention__policy="may_respond"))
    effects = conduct.ended(done("NO_REPLY"), at(9))
    assert kinds(effects, PostAnswer, React) == []
    assert settled(effects) == {"e1": "ignored"}


@pytest.mark.spec("C2A-059", "C2A-121", "C2A-133")
@pytest.mark.parametrize(("author", "sign"), [("human", "seen"), ("agent", "done")])
def test_silence_where_an_answer_is_owed_shows_as_a_sign(author, sign):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", author={"id": "x", "kind": author}))
    effects = conduct.ended(done("NO_REPLY"), at(9))
    assert kinds(effects, PostAnswer, React) == [React("e1", sign)]
    assert settled(effects) == {"e1": None}


@pytest.mark.spec("C2A-002", "C2A-118")
def test_words_about_an_event_that_must_not_be_answered_are_dropped():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", attention__policy="must_not_respond"))
    effects = conduct.ended(done("I have an opinion."), at(9))
    assert kinds(effects, PostAnswer) == []
    assert settled(effects) == {"e1": "ignored"}


@pytest.mark.spec("C2A-168")
def test_a_tool_post_and_a_last_word_are_one_message():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"e1"}
    effects = conduct.ended(done("I have answered."), at(9))
    assert kinds(effects, PostAnswer) == []
    assert settled(effects) == {"e1": None}


def test_a_message_elsewhere_does_not_take_the_place_of_the_answer():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"other"}
    assert kinds(conduct.ended(done("The answer."), at(9)), PostAnswer)


@pytest.mark.spec("C2A-133")
def test_a_signal_discharges_without_words():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.discharged = {"e1"}
    effects = conduct.ended(done("I have reacted."), at(9))
    assert kinds(effects, PostAnswer) == []


def test_what_the_model_deferred_waits_for_the_hub_to_bring_it_again():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.deferred = {"e1"}
    assert kinds(conduct.ended(done("Later."), at(9)), Postpone, PostAnswer) == [Postpone("e1")]


@pytest.mark.spec("C2A-163")
@pytest.mark.parametrize("code", ["rubbish", "agent_died", "agent_error", "time_limit"])
def test_an_agent_that_fails_is_tried_three_times_and_then_the_event_has_failed(code):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    effects = conduct.ended(failure(code=code), at(10))
    assert kinds(effects, Return) == [Return(("e1",), failed=True)]
    assert conduct.next_due == at(12)
    assert kinds(conduct.due(at(12)), Begin)[0].turn.attempt == 2
    conduct.ended(failure(code=code, retry_after=20.0), at(13))
    assert conduct.next_due == at(33)
    assert kinds(conduct.due(at(33)), Begin)[0].turn.attempt == 3
    effects = conduct.ended(failure(code=code), at(40))
    assert settled(effects) == {"e1": "failed"}
    error = kinds(effects, Settle)[0].more["error"]
    assert error["code"] == code
    assert "3 times in all" in error["message"]
    assert kinds(effects, Tell)[0].level == "error"
    assert [(one.work.state, one.work.code, one.work.retry_at) for one in kinds(effects, Report)] == [
        ("failed", code, "")
    ]


@pytest.mark.spec("C2A-163")
def test_a_model_that_is_down_for_an_hour_is_asked_with_growing_pauses_and_answers_then():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "refactor the parser"))
    conduct.heard(event("e2", "unrelated: the port", conversation__id="g2"), at(5))
    now, tries, pauses = 10.0, 0, []
    while now < 3600:
        assert conduct.running is not None
        tries += 1
        effects = conduct.ended(failure(), at(now))
        assert settled(effects) == {}, "nobody gives up while the model is only away"
        if conduct.running is None:
            told = {one.event_id: one for one in conduct.work(at(now))}
            assert {one.state for one in told.values()} == {"failed"}
            assert {one.code for one in told.values()} == {"model_unavailable"}
            assert all(one.message and one.retry_at for one in told.values())
            pauses.append((conduct.next_due - at(now)) / SECOND)
            now = (conduct.next_due - T0) / SECOND
            conduct.due(at(now))
    assert tries < 40
    assert max(pauses) <= 600
    effects = conduct.ended(done("The parser is done."), at(now + 1))
    assert kinds(effects, Begin), "the model is back: whoever waited for it is asked at once"
    last = conduct.ended(done("It is 8080."), at(now + 2))
    assert {one.turn.carrier.event_id for one in kinds([*effects, *last], PostAnswer)} == {"e1", "e2"}


@pytest.mark.spec("C2A-163")
def test_a_server_that_asks_for_more_than_an_hour_is_asked_again_after_one():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.ended(failure(retry_after=86_400.0), at(10))
    assert conduct.next_due == at(3610)


@pytest.mark.spec("C2A-163")
def test_a_model_that_stays_away_for_hours_is_given_up_with_a_word():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    now, effects = 10.0, []
    while not settled(effects):
        effects = conduct.ended(failure(), at(now))
        if conduct.next_due is not None:
            now = (conduct.next_due - T0) / SECOND
            conduct.due(at(now))
    assert settled(effects) == {"e1": "failed"}
    assert 3 * 3600 < now < 6 * 3600


def test_a_session_that_is_full_is_followed_by_a_new_one_with_the_question():
    conduct = OneTurn(PLAIN)
    assert not begin(conduct, event("e1")).fresh
    full = failure(FailureKind.PERMANENT, "context_full")
    again = kinds(conduct.ended(full, at(10)), Begin)[0].turn
    assert (again.fresh, again.attempt, again.carrier.event_id) == (True, 1, "e1")
    assert "new one" in again.note
    assert settled(conduct.ended(full, at(11))) == {"e1": "failed"}


# -- how work stands


def states(conduct, seconds):
    return [(one.event_id, one.state, one.position) for one in conduct.work(at(seconds))]


def test_a_queue_has_places_and_moves_up():
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1", "refactor the parser"))
    for number in (2, 3):
        conduct.heard(event(f"e{number}", "unrelated", conversation__id=f"g{number}"), at(10 + number))
    assert states(conduct, 19) == [("e1", "queued", 0), ("e2", "queued", 1), ("e3", "queued", 2)]
    reach_the_model(conduct)
    assert states(conduct, 20) == [("e1", "working", 0), ("e2", "queued", 1), ("e3", "queued", 2)]
    assert conduct.work(at(20))[0].turn == turn.id
    conduct.ended(done(), at(20))
    reach_the_model(conduct)
    assert states(conduct, 20) == [("e2", "working", 0), ("e3", "queued", 1)]


def test_every_fragment_of_a_question_is_told_of():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "one"), at(0))
    conduct.heard(event("e2", "two"), at(1))
    assert states(conduct, 1) == [("e1", "queued", 0), ("e2", "queued", 0)]
    conduct.due(at(4))
    reach_the_model(conduct)
    assert states(conduct, 5) == [("e1", "working", 0), ("e2", "working", 0)]


def test_what_waits_for_a_person_or_for_tomorrow_says_so():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    reach_the_model(conduct)
    conduct.running.waits_for = ("permission", "it asks whether it may run `make`")
    [asked] = conduct.work(at(5))
    assert (asked.state, asked.code, asked.message) == (
        "waiting", "permission", "it asks whether it may run `make`",
    )  # fmt: skip
    conduct.heard(event("e2", "unrelated", conversation__id="g2"), at(5))
    conduct.pause(at(5000), "the day's budget is used up")
    assert [one.code for one in conduct.work(at(9))] == ["permission", "over_budget"]


def test_work_that_is_called_off_is_told_and_nothing_of_it_stays():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    effects = conduct.heard(immediate("s1", text="stop", attention__reason="cancellation"), at(5))
    assert [one.work.state for one in kinds(effects, Report)] == ["called_off"]
    assert states(conduct, 5) == []


@pytest.mark.spec("C2A-163")
def test_a_failure_that_only_a_person_can_mend_is_not_tried_again():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    assert settled(conduct.ended(failure(FailureKind.PERMANENT, "signed_out"), at(9))) == {"e1": "failed"}


@pytest.mark.spec("C2A-164")
def test_a_turn_that_broke_after_it_had_spoken_is_not_run_again():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"e1"}
    effects = conduct.ended(failure(), at(9))
    assert settled(effects) == {"e1": None}
    assert conduct.next_due is None


@pytest.mark.spec("C2A-164")
def test_a_turn_that_broke_after_words_about_something_else_leaves_its_question_failed_and_not_open():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"elsewhere"}
    effects = conduct.ended(failure(), at(9))
    assert settled(effects) == {"e1": "failed"}
    assert kinds(effects, Settle)[0].more["error"]["code"] == "model_unavailable"
    assert conduct.next_due is None


def test_what_a_turn_cost_is_told_also_when_it_was_aborted():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.cancelled("e1", at(5))
    assert kinds(conduct.ended(done(), at(6)), Spent)[0].ended == "aborted"


# -- edits, deletes, stop


@pytest.mark.spec("C2A-180", "C2A-187")
def test_a_deleted_message_is_forgotten_wherever_it_is():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1"), at(0))
    assert conduct.cancelled("e1", at(1)) == [Settle("e1", "superseded")]
    assert conduct.due(at(5)) == []
    conduct.heard(knock("k1"), at(6))
    assert conduct.cancelled("k1", at(7)) == [Settle("k1", "superseded")]
    assert conduct.cancelled("unknown", at(8)) == []


@pytest.mark.spec("C2A-180", "C2A-185")
def test_a_cancelled_turn_ends_and_nothing_of_it_is_posted():
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1"))
    assert conduct.cancelled("e1", at(5)) == [Settle("e1", "superseded"), Abort(turn.id)]
    assert kinds(conduct.ended(done("too late"), at(6)), PostAnswer) == []


@pytest.mark.spec("C2A-185", "C2A-189")
def test_an_edit_while_the_model_thinks_is_the_only_thing_answered():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "delete the old logs"))
    conduct.cancelled("e1", at(5))
    conduct.heard(event("e2", "delete nothing", supersedes="e1"), at(5))
    conduct.ended(done("deleted"), at(5.1))
    turn = kinds(conduct.due(at(9)), Begin)[0].turn
    assert [one.text for one in turn.events] == ["delete nothing"]


@pytest.mark.spec("C2A-185")
@pytest.mark.parametrize("cancel_first", [True, False])
def test_an_edited_fragment_keeps_its_place(cancel_first):
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1", "one"), event("e2", "two"), event("e3", "three"))
    if cancel_first:
        conduct.cancelled("e2", at(7))
    conduct.heard(event("e4", "TWO", supersedes="e2"), at(7))
    conduct.ended(done("stale"), at(7.1))
    turn = kinds(conduct.due(at(11)), Begin)[0].turn
    assert [one.text for one in turn.events] == ["one", "TWO", "three"]


@pytest.mark.spec("C2A-185")
def test_an_edit_before_the_model_is_asked_replaces_the_text():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", "the plna"), at(0))
    conduct.heard(event("e2", "the plan", supersedes="e1"), at(1))
    assert [one.text for one in kinds(conduct.due(at(4)), Begin)[0].turn.events] == ["the plan"]


@pytest.mark.spec("C2A-180")
def test_a_running_side_effect_is_let_to_its_end_and_then_the_turn_stops():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.tool_started("c1", "shell")
    assert conduct.cancelled("e1", at(5)) == [Settle("e1", "superseded")]
    assert conduct.boundary("c1", at(6)) == (Stop(), [])


@pytest.mark.spec("C2A-180")
def test_what_is_cancelled_on_its_way_into_a_turn_or_out_of_a_claim_is_gone():
    conduct = OneTurn(ConductOptions(steers=True, inserts=True, boundaries=True))
    begin(conduct, event("e1"))
    steer = kinds(conduct.heard(event("e2", "and the tests"), at(8)), SteerTurn)[0]
    assert conduct.cancelled("e2", at(8)) == []
    assert conduct.steered(steer, at(8), taken=False) == [Settle("e2", "superseded")]
    conduct.heard(knock("k1", reason="role_mention"), at(9))
    conduct.cancelled("k1", at(9))
    assert conduct.heard(event("k1"), at(9), claimed=True) == [Settle("k1", "superseded")]


@pytest.mark.spec("C2A-180")
def test_messages_already_sent_stay():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"e1"}
    assert conduct.cancelled("e1", at(5)) == []


@pytest.mark.spec("C2A-082", "C2A-180", "C2A-219")
def test_stop_ends_the_work_at_once_and_is_answered_with_a_signal():
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1"))
    conduct.heard(
        event("e2", "and then", author={"id": "user", "kind": "human"}, conversation__threadId="t"), at(4)
    )
    stop = immediate("s1", text="stop", attention__reason="cancellation")
    effects = conduct.heard(stop, at(5))
    assert settled(effects) == {"e2": "superseded", "e1": "superseded", "s1": None}
    assert kinds(effects, Abort, React) == [Abort(turn.id), React("s1", "done")]
    assert kinds(conduct.ended(done("more"), at(5.2)), PostAnswer, Begin) == []


def test_stop_without_anything_to_stop_is_a_question_for_the_model():
    conduct = OneTurn(PLAIN)
    stop = immediate("s1", text="stop the deploy", attention__reason="cancellation")
    assert kinds(conduct.heard(stop, at(5)), Begin)


# -- immediate and urgent


@pytest.mark.spec("C2A-081")
def test_immediate_content_needs_no_compose_window():
    conduct = OneTurn(PLAIN)
    assert kinds(conduct.heard(immediate("e1"), at(0)), Begin)


@pytest.mark.spec("C2A-081", "C2A-082")
def test_immediate_content_enters_the_same_turn_at_its_next_boundary():
    conduct = OneTurn(ConductOptions(inserts=True, boundaries=True))
    turn = begin(conduct, event("e1"))
    assert conduct.heard(immediate("e2", text="use the other branch", conversation__id="g2"), at(5)) == []
    conduct.tool_started("c1", "shell")
    order, effects = conduct.boundary("c1", at(6))
    assert isinstance(order, Insert)
    assert "use the other branch" in order.text
    assert kinds(effects, Join)[0].turn_id == turn.id
    conduct.running.acts.sends, conduct.running.acts.replied = 1, {"e2"}
    effects = conduct.ended(done("The plan."), at(9))
    assert settled(effects) == {"e1": None, "e2": None}
    assert len(kinds(effects, PostAnswer)) == 1


def test_an_inserted_obligation_that_went_unanswered_gets_a_turn_of_its_own():
    conduct = OneTurn(ConductOptions(inserts=True, boundaries=True))
    begin(conduct, event("e1"))
    conduct.heard(immediate("e2", conversation__id="g2"), at(5))
    conduct.boundary("c1", at(6))
    effects = conduct.ended(done("The plan."), at(9))
    assert kinds(effects, Begin)[0].turn.carrier.event_id == "e2"


@pytest.mark.spec("C2A-082")
def test_a_generation_is_not_aborted_for_what_is_immediate_but_not_urgent():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    assert conduct.heard(immediate("e2", conversation__id="g2"), at(5)) == []
    assert conduct.due(at(60)) == []
    effects = conduct.ended(done(), at(70))
    assert kinds(effects, Begin)[0].turn.carrier.event_id == "e2"


@pytest.mark.spec("C2A-082", "C2A-219")
def test_an_urgent_event_aborts_after_ten_seconds_without_a_boundary_and_the_work_comes_again():
    conduct = OneTurn(PLAIN)
    turn = begin(conduct, event("e1"))
    conduct.heard(immediate("u1", attention__priority="urgent", conversation__id="g2"), at(5))
    assert conduct.next_due == at(15)
    assert conduct.due(at(14.9)) == []
    assert conduct.due(at(15)) == [Return(("e1",)), Abort(turn.id)]
    effects = conduct.ended(failure(FailureKind.CANCELLED, "cancelled"), at(15.1))
    assert kinds(effects, Begin)[0].turn.carrier.event_id == "u1"
    assert kinds(conduct.ended(done(), at(20)), Begin)[0].turn.carrier.event_id == "e1"


@pytest.mark.spec("C2A-082", "C2A-219")
def test_no_abort_for_urgency_where_interruption_was_not_agreed():
    conduct = OneTurn(ConductOptions(interrupt=False, boundaries=True))
    begin(conduct, event("e1"))
    conduct.heard(immediate("u1", attention__priority="urgent", conversation__id="g2"), at(5))
    assert conduct.next_due is None
    assert conduct.due(at(100)) == []


@pytest.mark.spec("C2A-219")
def test_an_urgent_event_never_aborts_while_a_side_effecting_call_runs():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.tool_started("c1", "shell")
    conduct.heard(immediate("u1", attention__priority="urgent", conversation__id="g2"), at(5))
    assert conduct.due(at(30)) == []
    order, effects = conduct.boundary("c1", at(31))
    assert order == Stop()
    assert kinds(effects, Return) == [Return(("e1",))]


def test_pressing_questions_go_first():
    conduct = OneTurn(PLAIN)
    begin(conduct, event("e1"))
    conduct.heard(event("e2", conversation__id="g2"), at(5))
    conduct.heard(immediate("e3", conversation__id="g3"), at(9))
    assert kinds(conduct.ended(done(), at(20)), Begin)[0].turn.carrier.event_id == "e3"


# -- budget and restart


def test_a_pause_stops_turns_and_tells_whoever_is_owed_an_answer():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1"), at(0))
    assert conduct.pause(at(3600), "the day's budget is used up") == [
        Defer("e1", "the day's budget is used up", at(3600))
    ]
    assert conduct.due(at(10)) == []
    assert kinds(conduct.heard(event("e2", conversation__id="g2"), at(11)), Defer)
    assert conduct.next_due == at(3600)
    assert kinds(conduct.due(at(3600)), Begin)


def test_what_comes_after_a_pause_is_not_put_off_again():
    conduct = OneTurn(PLAIN)
    conduct.pause(at(3600), "the day's budget is used up")
    assert conduct.next_due == at(3600)
    assert kinds(conduct.heard(knock("k1", "role_mention"), at(3601)), Claim)
    conduct.pause(at(7200), "the day's budget is used up")
    assert kinds(conduct.heard(event("e1"), at(7201)), Defer) == []
    assert kinds(conduct.due(at(7300)), Begin)


def test_what_an_earlier_process_left_is_asked_again_as_it_was_put_together():
    conduct = OneTurn(PLAIN)
    rows = [(event("e1", "one"), "e2.1", 0, 1), (event("e2", "two"), "e2.1", 0, 1), (knock("k1"), "", 0, 0)]
    conduct.restore(rows, at(100))
    turn = kinds(conduct.due(at(100)), Begin)[0].turn
    assert [one.text for one in turn.events] == ["one", "two"]
    assert turn.id == "e2.2"
    assert [one.event_id for one in turn.knocks] == ["k1"]


@pytest.mark.spec("C2A-158", "C2A-163")
def test_work_for_a_role_that_an_earlier_process_took_on_is_taken_up_again():
    conduct = OneTurn(PLAIN)
    offered = knock("k1", "role_mention")
    assert conduct.restore([(offered, "k1.1", 0, 1)], at(100)) == [Claim(offered)]
    effects = conduct.heard(event("k1", "Who reviews this?"), at(101), claimed=True)
    turn = kinds([*effects, *conduct.due(at(120))], Begin)[0].turn
    assert turn.id == "k1.2"


@pytest.mark.spec("C2A-081")
def test_an_immediate_question_given_to_a_running_turn_is_answered_on_its_own():
    conduct = OneTurn(ConductOptions(steers=True, inserts=True, boundaries=True))
    turn = begin(conduct, event("e1"))
    steer = kinds(conduct.heard(immediate("e2"), at(8)), SteerTurn)[0]
    assert conduct.steered(steer, at(8), taken=True) == [Join(turn.id, (steer.event,))]
    effects = conduct.ended(done(), at(9))
    assert kinds(effects, PostAnswer)[0].turn.carrier.event_id == "e1"
    assert kinds(effects, Begin)[0].turn.carrier.event_id == "e2"


@pytest.mark.spec("C2A-163")
def test_questions_that_queued_in_an_earlier_process_are_questions_apart_in_this_one():
    conduct = OneTurn(PLAIN)
    said = [
        ("e1", "What is the plan?", "2026-01-13T10:00:00Z"),
        ("e2", "and for the tests", "2026-01-13T10:00:01Z"),
        ("e3", "Which port does the hub use?", "2026-01-13T10:02:00Z"),
        ("e4", "Who wrote the parser?", "2026-01-13T10:09:00Z"),
        ("e5", "unrelated: is it Friday?", "2026-01-13T10:09:01Z"),
    ]
    rows = [(event(one, text, timing__createdAt=when), "", 0, 0) for one, text, when in said]
    conduct.restore(rows, at(2000))
    turns, effects = [], conduct.due(at(2000))
    while begun := kinds(effects, Begin):
        turns.append([one.event_id for one in begun[0].turn.events])
        effects = conduct.ended(done(f"Answer {len(turns)}."), at(2000))
    assert turns == [["e1", "e2"], ["e3"], ["e4"], ["e5"]]


STEERED = ConductOptions(steers=True, inserts=True, boundaries=True)


@pytest.mark.spec("C2A-203", "C2A-188")
@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("mode", ["buffered", "immediate"])
def test_what_was_meant_for_a_turn_that_is_over_does_not_enter_the_next_one(taken, mode):
    conduct = OneTurn(STEERED)
    begin(conduct, event("e1"))
    conduct.heard(private("p1", "ada", "user", text="whispered"), at(5))
    more = event("e2", "and the tests", injection__mode=mode)
    [steer] = kinds(conduct.heard(more, at(8)), SteerTurn)
    [begun] = kinds(conduct.ended(done(), at(9)), Begin)
    assert begun.turn.audience == "ada+user"
    effects = conduct.steered(steer, at(9), taken=taken)
    assert kinds(effects, Join, Abort) == []
    assert [one.event_id for one in conduct.running.turn.events] == ["p1"]
    effects = conduct.ended(done("Only for the two of us."), at(10))
    assert [one.turn.carrier.event_id for one in kinds(effects, PostAnswer)] == ["p1"]
    [last] = kinds([*effects, *conduct.due(at(20))], Begin)
    assert [one.event_id for one in last.turn.events] == ["e2"]


# -- audiences


def private(event_id, *parties, **more):
    """An event of a private conversation."""
    place = {"id": "main", "kind": "dm", "parties": list(parties)}
    return event(event_id, conversation=place, **more)


@pytest.mark.spec("C2A-203")
def test_what_different_people_may_read_is_never_one_question():
    conduct = OneTurn(PLAIN)
    conduct.heard(event("e1", conversation={"id": "main", "kind": "channel"}), at(0))
    conduct.heard(private("e2", "ada", "user"), at(1))
    conduct.heard(private("e3", "ada", "user", "usr:bo"), at(1))
    turns, effects = [], conduct.due(at(10))
    while begun := kinds(effects, Begin):
        turns.append(begun[0].turn)
        effects = conduct.ended(done(f"Answer {len(turns)}."), at(10))
    assert [[one.event_id for one in turn.events] for turn in turns] == [["e1"], ["e2"], ["e3"]]
    assert [turn.audience for turn in turns] == ["", "ada+user", "ada+user+usr:bo"]


@pytest.mark.spec("C2A-203", "C2A-081")
@pytest.mark.parametrize("options", [ConductOptions(steers=True, boundaries=True), PLAIN, None])
def test_an_immediate_event_of_another_audience_does_not_enter_the_turn(options):
    conduct = OneTurn(options or ConductOptions(inserts=True, boundaries=True))
    begin(conduct, event("e1"))
    urgent = {"policy": "must_respond", "reason": "direct_mention", "priority": "urgent"}
    whisper = private("e2", "ada", "user", injection__mode="immediate", attention=urgent)
    assert kinds(conduct.heard(whisper, at(5)), SteerTurn) == []
    conduct.tool_started("c1", "read")
    order, effects = conduct.boundary("c1", at(6))
    assert not isinstance(order, Insert)
    assert not kinds(effects, Join)
    effects = conduct.due(at(20))
    if isinstance(order, Proceed):
        assert kinds(effects, Abort)
    [begun] = kinds(conduct.ended(done(), at(21)), Begin)
    assert [one.event_id for one in begun.turn.events] == ["e2"]


@pytest.mark.spec("C2A-203", "C2A-090")
def test_a_knock_of_a_private_conversation_is_shown_beside_its_own_turns_alone():
    conduct = OneTurn(PLAIN)
    conduct.heard(knock("k1", conversation={"id": "main", "kind": "dm", "parties": ["ada", "usr:bo"]}), at(0))
    conduct.heard(knock("k2"), at(0))
    room = begin(conduct, event("e1"))
    assert [one.event_id for one in room.knocks] == ["k2"]
    conduct.ended(done(), at(5))
    other = begin(conduct, private("e2", "ada", "user"), start=10)
    assert other.knocks == ()
    conduct.ended(done("Another thing."), at(15))
    own = begin(conduct, private("e3", "ada", "usr:bo"), start=20)
    assert [one.event_id for one in own.knocks] == ["k1"]
