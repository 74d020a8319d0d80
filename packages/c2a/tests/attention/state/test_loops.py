"""Loops: exchanges between agents are stopped, and people open them again."""

from __future__ import annotations

import pytest

from tacit.attention.decide.decision import content_shown
from tacit.attention.settings import Settings
from tacit.attention.state.escalation import human_notice
from tacit.attention.state.loops import Exchange, agent_spoke, duplicate_refused, progressed
from tests.attention.world import Room, three


@pytest.mark.spec("C2A-198", "C2A-200", "C2A-199")
def test_an_exchange_of_two_agents_without_progress_is_stopped_and_a_person_opens_it_again() -> None:
    room = Room()
    for turn in range(6):
        by, to = ("lead", "worker") if turn % 2 == 0 else ("worker", "lead")
        room.say(f"what about option {turn}", by=by, to=[to])
    assert room.stopped == ["m6"]
    told = human_notice("m6", why="loop")
    assert (told["priority"], told["related_event_id"]) == ("high", "m6")
    assert room.attention.exchanges.at(("dm:lead+worker", None)).last == ("m5", "m6")
    after = room.say("what about option 7", by="lead", to=["worker"])
    assert (after["worker"].policy, after["worker"].reason) == ("must_not_respond", "loop_stopped")
    assert room.stopped == ["m6"]
    room.say("take option 3", conversation={"kind": "dm", "id": "dm:lead+worker"}, to=["lead", "worker"])
    assert room.say("so option 3 then?", by="lead", to=["worker"])["worker"].policy == "must_respond"


@pytest.mark.spec("C2A-200")
def test_progress_restarts_the_count_and_a_monologue_is_no_exchange() -> None:
    one = Exchange()
    for _ in range(20):
        one = agent_spoke(one, "a", "x")
    assert not one.stopped
    two = agent_spoke(one, "b", "y")
    assert two.count == 2
    assert progressed(two) == Exchange()
    for _ in range(3):
        two = duplicate_refused(two, "b")
    assert two.stopped
    assert progressed(two) == two
    quick = agent_spoke(
        agent_spoke(Exchange(), "a", "x", Settings(exchange_limit=2)), "b", "y", Settings(exchange_limit=2)
    )
    assert quick.stopped
    assert quick.last == ("x", "y")


def test_three_agents_in_a_circle_are_stopped_too() -> None:
    room = Room()
    ring = ["lead", "worker", "tester"]
    for turn in range(9):
        room.say(f"thanks {turn}, what next", by=ring[turn % 3], to=[ring[(turn + 1) % 3], "user"])
    assert room.stopped == ["m9"]


@pytest.mark.spec("C2A-200")
def test_attachments_done_and_resolve_count_as_progress() -> None:
    room = Room()
    for turn in range(5):
        room.say(f"try {turn}", by=("lead", "worker")[turn % 2], to=[("worker", "lead")[turn % 2]])
    room.say("here is the patch", by="worker", to=["lead"], attachments=[{"path": "x"}])
    assert room.stopped == []
    place = ("dm:lead+worker", None)
    assert room.attention.exchanges.at(place).count == 1
    room.say("looks odd, why", by="lead", to=["worker"])
    room.record(
        "x.c2a.disposition",
        event_id="m6",
        session="lead",
        disposition="responded",
        closes=True,
        reason="resolved",
    )
    assert room.attention.exchanges.at(place) == Exchange()


@pytest.mark.spec("C2A-196", "C2A-195")
def test_thanks_between_agents_end_the_exchange() -> None:
    room = Room()
    room.say("the fix is in branch x", by="worker", to=["lead"])
    thanks = room.say("thanks, got it", by="lead", to=["worker"])
    assert not any(
        content_shown(one.mode) or one.policy in {"must_respond", "may_respond"} for one in thanks.values()
    )
    assert three(thanks["lead"])[1:] == ("must_not_respond", "silent")


def test_three_refused_near_duplicates_stop_an_exchange_through_the_audit() -> None:
    room = Room()
    room.say("is it done", by="lead", to=["worker"])
    for _ in range(3):
        room.record(
            "x.c2a.audit",
            what="send",
            session="worker",
            code="no_new_information",
            details={"conversation": "dm:lead+worker"},
        )
    assert room.attention.exchanges.stopped(("dm:lead+worker", None)) == {"lead", "worker"}
