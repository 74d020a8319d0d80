"""The harness's own gate: what it refuses by itself, and what it leaves to the hub."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.base.moment import SECOND, Moment
from tacit.c2a.messages import read_delivered
from tacit.c2a.tools import Send
from tacit.harness.session_view import SessionView, settings_of
from tests.c2a_peer import delivery

NOW = Moment(1_768_298_400 * SECOND)


def event(event_id="e1", text="What is the plan?", **more):
    return read_delivered(delivery(event_id, text, **more))


def send(body="The plan is ready.", in_reply_to="e1", **more):
    given = {"visibility": "thread", "directedness": "to_me", **more}
    return Send(
        "ada",
        "thread:e1",
        body,
        "k1",
        given.pop("visibility"),
        given.pop("directedness"),
        in_reply_to,
        **given,
    )


@pytest.fixture
def memory():
    known = SessionView("ada")
    known.heard(event("e1"))
    return known


def code(refusal) -> str | None:
    return refusal.code if refusal else None


def test_an_answer_to_what_was_asked_may_go(memory):
    assert memory.judge(send(), NOW) is None


@pytest.mark.spec("C2A-002", "C2A-061")
def test_what_must_not_be_answered_is_not(memory):
    memory.heard(event("n1", attention__policy="must_not_respond"))
    assert code(memory.judge(send(in_reply_to="n1"), NOW)) == "policy_forbids"


@pytest.mark.spec("C2A-004")
def test_what_a_tool_showed_as_not_to_be_answered_is_not(memory):
    memory.read({"ok": True, "events": [{"eventId": "x1", "policy": "must_not_respond", "content": "hi"}]})
    assert code(memory.judge(send(in_reply_to="x1"), NOW)) == "policy_forbids"


def test_what_is_unknown_is_left_to_the_hub(memory):
    assert memory.judge(send(in_reply_to="unknown"), NOW) is None


@pytest.mark.spec("C2A-103")
def test_what_somebody_else_claimed_is_theirs_until_the_claim_ends(memory):
    memory.heard(event("r1", target__directedness="to_my_role", attention__policy="may_respond"))
    memory.claimed("r1", "bob", Moment(NOW + 60 * SECOND))
    assert code(memory.judge(send(in_reply_to="r1"), NOW)) == "claim_conflict"
    assert memory.judge(send(in_reply_to="r1"), Moment(NOW + 61 * SECOND)) is None


@pytest.mark.spec("C2A-104")
def test_what_was_taken_back_is_not_answered(memory):
    memory.withdrawn("e1")
    assert code(memory.judge(send(), NOW)) == "event_superseded"


@pytest.mark.spec("C2A-104", "C2A-185")
def test_what_was_edited_is_answered_in_its_new_form(memory):
    memory.heard(event("e2", supersedes="e1"))
    assert code(memory.judge(send(), NOW)) == "event_superseded"
    assert memory.judge(send(in_reply_to="e2"), NOW) is None


@pytest.mark.spec("C2A-195")
def test_an_agent_does_not_answer_itself(memory):
    memory.said(send(), "m1", NOW)
    assert code(memory.judge(send("More.", in_reply_to="m1"), NOW)) == "policy_forbids"


@pytest.mark.spec("C2A-168")
def test_the_same_answer_is_not_given_twice(memory):
    memory.said(send(), "m1", NOW)
    assert code(memory.judge(send("The PLAN is ready!"), NOW)) == "already_responded"


@pytest.mark.spec("C2A-191", "C2A-193")
def test_after_leaving_nothing_is_said_until_somebody_names_the_agent(memory):
    memory.left("g1")
    assert code(memory.judge(send(), NOW)) == "left_conversation"
    memory.heard(event("e3"))
    assert memory.judge(send(in_reply_to="e3"), NOW) is None


@pytest.mark.spec("C2A-113")
def test_a_signal_rather_than_a_sentence(memory):
    assert code(memory.judge(send("Got it!"), NOW)) == "use_reaction"


@pytest.mark.spec("C2A-112")
def test_a_mention_that_obliges_nobody_contradicts_itself(memory):
    refused = memory.judge(send(mentions=("bob",), directedness="ambient"), NOW)
    assert code(refused) == "invalid_request"


@pytest.mark.spec("C2A-205", "C2A-197")
def test_limits_are_kept_as_the_hub_tells_them_and_else_left_to_it(memory):
    for number in range(7):
        memory.said(send(f"message number {number}", in_reply_to=None), f"m{number}", NOW)
    assert memory.judge(send(), NOW, settings_of({})) is None
    told = settings_of({"sends_per_conversation": 6, "similarity": 0.9})
    assert code(memory.judge(send(), NOW, told)) == "rate_limited"
    assert code(memory.judge(send("message number 6", in_reply_to=None), NOW, told)) == "no_new_information"


def test_settings_of_the_wrong_type_are_not_taken():
    assert settings_of({"compose_quiet_ms": "fast", "compose_restarts": 1}).compose_quiet_ms == 3000
    assert settings_of({"compose_restarts": 1}).compose_restarts == 1


@pytest.mark.spec("C2A-064")
@pytest.mark.parametrize(
    ("target", "known"), [("thread:e1", True), ("dm:usr:eve", True), ("nowhere:x", False), ("", False)]
)
def test_a_target_is_a_place_or_none(target, known):
    there = replace(send(), target=target).destination
    assert (there is not None) is known
