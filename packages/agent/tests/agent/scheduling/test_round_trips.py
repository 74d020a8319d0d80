"""Eight round trips and no more, on both sides; what an owner grants, and what is never answered."""

from __future__ import annotations

import pytest

from tacit.a2acp.packets import packet
from tacit.agent.kernel import records
from tacit.agent.kernel.workspace import Peer
from tacit.agent.scheduling.escalating import KEEP_TRYING, STOP
from tests.agent.scheduling.desk import FEATURES, Desk, begun, desks

PEER = "agent:carl@relay.example"
THREAD = "thr_endless0001"


def first(needs=(), **context):
    """A first packet about a dinner."""
    return {
        "intent": {
            "category": "scheduling",
            "summary": "Dinner on Friday 27 March 2026",
            "urgency": "normal",
        },
        "context": {"event_type": "dinner", **context},
        "needs": [{"field": one, "reason": "to know", "priority": "nice_to_have"} for one in needs],
    }


class Endless:
    """A peer that asks for one more thing each time."""

    def __init__(self, desk: Desk, *, windows: bool = False) -> None:
        self.desk = desk
        self.number = 0
        self.windows = [{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}] if windows else None

    def asks(self) -> str:
        """Its next packet; the id."""
        self.number += 1
        packet_id = f"pkt_endless{self.number:04}"
        if self.number == 1:
            body, kind = first([f"thing_{self.number}"]), "context"
        else:
            need = {"field": f"thing_{self.number}", "reason": "to know", "priority": "nice_to_have"}
            body, kind = {"needs": [need]}, "context_request"
        self.desk.receive(PEER, THREAD, packet_id, kind, body)
        self.desk.settle()
        return packet_id

    def until(self, turns: int) -> None:
        while self.desk.thread(THREAD).turns < turns if THREAD in self.desk.book.threads else True:
            self.asks()


def at_the_end() -> tuple[Desk, Endless]:
    """A desk whose peer has used up the round trips; neither side has anything else to say."""
    desk = Desk("ben")
    desk.peers[PEER] = Peer(PEER, FEATURES, heard=True, version="a2acp/0.2")
    peer = Endless(desk)
    peer.until(16)
    return desk, peer


@pytest.mark.spec("A2ACP-102")
@pytest.mark.spec("A2ACP-103")
def test_after_eight_round_trips_the_owner_is_asked_with_what_was_tried_and_nothing_else_is_sent():
    desk, _peer = at_the_end()
    assert desk.thread(THREAD).turns == 16
    assert desk.sent[-1].type in {"context_response", "context_request"}
    shown = desk.content(desk.question("escalation"))
    assert shown["choices"] == [KEEP_TRYING, STOP]
    assert "8 round trips" in shown["reason"]
    tried = dict(shown["tried"])
    assert tried["packets received"] == "8"
    assert "specific_availability" in tried["asked for in vain"]
    assert "thing_1" in tried["not told"]
    assert desk.thread(THREAD).awaiting_user
    assert desk.state(THREAD) == "NEGOTIATING"


@pytest.mark.spec("A2ACP-104")
def test_a_packet_past_the_limit_is_stored_and_not_answered():
    desk, peer = at_the_end()
    sent = len(desk.sent)
    late = [peer.asks() for _ in range(3)]
    assert len(desk.sent) == sent
    assert {one.packet_id for one in desk.thread(THREAD).packets} >= set(late)
    assert len(desk.questions("escalation")) == 1
    assert desk.state(THREAD) == "NEGOTIATING"


@pytest.mark.spec("A2ACP-104")
def test_keep_trying_grants_eight_more_and_then_asks_again():
    desk, peer = at_the_end()
    peer.asks()
    sent = len(desk.sent)
    desk.answer(desk.question("escalation"), choose=0)
    assert len(desk.sent) > sent, "what waited is answered now"
    assert not desk.thread(THREAD).awaiting_user
    assert not desk.questions("escalation")
    peer.until(31)
    desk.settle()
    assert desk.thread(THREAD).turns == 32
    assert desk.content(desk.question("escalation"))["choices"] == [KEEP_TRYING, STOP]
    sent = len(desk.sent)
    peer.asks()
    assert len(desk.sent) == sent


@pytest.mark.spec("A2ACP-104")
@pytest.mark.spec("A2ACP-163")
def test_stop_at_the_limit_closes_the_thread_and_says_so():
    desk, peer = at_the_end()
    desk.answer(desk.question("escalation"), choose=1)
    assert desk.state(THREAD) == "DECLINED"
    assert desk.thread(THREAD).closed_reason == "user_closed"
    assert desk.sent[-1].type == "thread_status"
    assert desk.sent[-1].fields["state"] == "DECLINED"
    sent = len(desk.sent)
    peer.asks()
    assert len(desk.sent) == sent


@pytest.mark.spec("A2ACP-103")
def test_a_resolution_may_still_be_sent_in_place_of_the_seventeenth_turn():
    desk, _peer = at_the_end()
    windows = [{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}]
    desk.answer(desk.question("escalation"), choose=0)
    desk.decide(lambda ws: ws.change(THREAD, granted=0))
    desk.receive(
        PEER, THREAD, "pkt_windows0001", "context_response", {"context_provided": {"time_windows": windows}}
    )
    desk.settle()
    for question in desk.questions("consent"):
        desk.share_all(question)
    assert desk.sent[-1].type == "resolution"
    assert desk.state(THREAD) == "PROPOSED"
    assert not desk.questions("escalation")


@pytest.mark.spec("A2ACP-103")
def test_packets_of_one_side_in_a_row_are_one_turn_and_a_resolution_is_none():
    both = desks()
    thread = begun(both, "dinner with ben on Friday evening")
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    said = [one for one in both.ben.thread(thread).packets if one.type != "resolution"]
    sides = [one.side for one in said]
    runs = sum(1 for at, one in enumerate(sides) if at == 0 or sides[at - 1] != one)
    assert both.ben.thread(thread).turns == runs < len(sides)
    assert both.anna.thread(thread).turns == runs


@pytest.mark.spec("A2ACP-106")
@pytest.mark.spec("A2ACP-105")
def test_of_more_than_five_needs_the_five_most_important_are_answered_and_a_violation_is_counted():
    desk = Desk("ben", profile={"timezone": "Europe/London"})
    needs = [
        {"field": f"thing_{number}", "reason": "to know", "priority": priority}
        for number, priority in enumerate(
            [
                "nice_to_have",
                "helpful",
                "required",
                "nice_to_have",
                "required",
                "helpful",
                "required",
                "helpful",
            ]
        )
    ]
    desk.receive(PEER, THREAD, "pkt_many000001", "context", {**first(), "needs": needs})
    desk.settle()
    assert desk.asked(desk.question("consent")) == ["thing_2", "thing_4", "thing_6", "thing_1", "thing_5"]
    assert desk.violations() == ["needs_beyond_five"]
    desk.answer(desk.question("consent"), decline_all=True)
    refused = [one for packet in desk.sent for one in packet.fields.get("context_unavailable", [])]
    assert {one["field"] for one in refused} == {"thing_1", "thing_2", "thing_4", "thing_5", "thing_6"}


@pytest.mark.spec("A2ACP-105")
@pytest.mark.spec("A2ACP-037")
def test_of_more_than_five_needs_of_our_own_the_rest_is_kept_for_a_later_packet():
    from msgspec.structs import replace

    from tacit.agent.scheduling import asking
    from tacit.agent.scheduling.goal import Need

    both = desks()
    goal = both.anna.goal("dinner with ben on Friday evening")
    more = tuple(Need(f"thing_{number}", "to know", "nice_to_have") for number in range(6))
    goal = replace(goal, wants=(*more, *goal.wants))
    thread = both.anna.decide(lambda ws: asking.ask(ws, goal, both.ben.me))
    both.anna.settle()
    both.anna.share_all(both.anna.question("consent"))
    asked = [one["field"] for one in both.anna.sent[0].fields["needs"]]
    assert asked == ["time_windows", "dietary", "thing_0", "thing_1", "thing_2"]
    both.settle()
    both.ben.share_all(both.ben.question("consent"))
    both.settle()
    later = [one["field"] for packet in both.anna.sent[1:] for one in packet.fields.get("needs", [])]
    assert later == ["thing_3", "thing_4", "thing_5", "location_preference"]
    assert all(len(packet.fields.get("needs", [])) <= 5 for packet in both.anna.sent)
    assert both.anna.state(thread) == "PROPOSED"
    assert [one for one in both.anna.log if isinstance(one, records.Sent)]


@pytest.mark.spec("A2ACP-043", "A2ACP-088")
def test_a_peer_that_takes_less_than_it_asks_for_gets_no_packet_and_the_thread_is_paused_in_public():
    desk = Desk("ben")
    desk.peers[PEER] = Peer(PEER, FEATURES, heard=True, version="a2acp/0.2")
    body = first(["dietary"], time_windows=[{"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}])
    body["needs"][0]["priority"] = "required"
    least = {**packet.capabilities(), "max_context_size_bytes": 1}
    desk.receive(PEER, THREAD, "pkt_tiny0001", "context", body | {"capabilities": least})
    desk.settle()
    for question in list(desk.questions("consent")):
        desk.share_all(question)
    desk.settle()
    assert desk.thread(THREAD).paused
    assert "generation_failed" in desk.notices()
    assert desk.sent[-1].type == "processing_error"
