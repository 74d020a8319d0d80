"""Leaving a channel or thread, and coming back."""

from __future__ import annotations

import pytest

from tacit.attention.read.conversation import Conversation
from tacit.attention.state.absences import leave, returns
from tacit.c2a.errors import Refusal
from tacit.c2a.vocabulary import ConversationKind, Mode
from tests.attention.world import Room

CHANNEL = Conversation()


@pytest.mark.spec("C2A-190", "C2A-192", "C2A-193")
def test_an_agent_that_was_asked_to_leave_is_quiet_until_it_is_named() -> None:
    room = Room()
    room.say("the index is slow", by="lead")
    asked = room.say("@lead please leave this thread", reply_to="m1")
    assert (asked["lead"].reason, asked["lead"].policy) == ("leave_request", "must_respond")
    assert asked.parsed is not None
    record = leave("lead", asked.parsed.conversation, "m2")
    assert not isinstance(record, Refusal)
    room.record(
        "x.c2a.membership", session="lead", conversation="main", thread="m1", action="leave", event_id="m2"
    )
    for text, more in (
        ("why is it slow", {}),
        ("@all any ideas", {}),
        ("could someone look", {"to": ["@all"]}),
    ):
        decision = room.say(text, reply_to="m1", **more)["lead"]
        assert (decision.policy, decision.mode) == ("must_not_respond", Mode.TOOL_MAILBOX)
    named = room.say("@lead one more question: which disk", reply_to="m1")
    assert named["lead"].policy == "must_respond"
    [back] = returns(named, room.attention.absences)
    assert (back.session, back.thread, back.action) == ("lead", "m1", "return")
    room.record("x.c2a.membership", session="lead", conversation="main", thread="m1", action="return")
    assert room.say("the disk is slow", reply_to="m1")["lead"].policy == "must_respond"


@pytest.mark.spec("C2A-194")
def test_leaving_a_channel_covers_its_threads_and_a_name_in_one_returns_for_that_one() -> None:
    room = Room()
    room.say("first", by="lead")
    room.say("second", by="lead")
    room.record("x.c2a.membership", session="lead", conversation="main", action="leave")
    assert room.say("hm, the disk", reply_to="m1")["lead"].mode == "tool_mailbox"
    named = room.say("@lead which disk", reply_to="m1")
    [back] = returns(named, room.attention.absences)
    room.record("x.c2a.membership", session="lead", conversation="main", thread=back.thread, action="return")
    assert room.say("the disk is slow", reply_to="m1")["lead"].policy == "must_respond"
    assert room.say("the disk is slow", reply_to="m2")["lead"].policy == "must_not_respond"
    assert isinstance(leave("lead", Conversation("d", ConversationKind.DM)), Refusal)
    assert room.say("are you there", to=["lead"])["lead"].policy == "must_respond"


@pytest.mark.spec("C2A-191")
def test_one_goodbye_is_open_after_leaving_and_then_none() -> None:
    room = Room()
    room.say("@lead please leave the channel")
    room.record("x.c2a.membership", session="lead", conversation="main", action="leave", event_id="m1")
    assert room.attention.absences.goodbye_for("lead", CHANNEL) == "m1"
    room.say("Goodbye, and good luck.", by="lead")
    assert room.attention.absences.goodbye_for("lead", CHANNEL) is None
    assert room.attention.absences.has_left("lead", CHANNEL)
