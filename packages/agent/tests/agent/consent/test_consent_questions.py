"""What an owner is asked about a packet's needs: once, whole, with who asks and why; how far the answer holds."""

from __future__ import annotations

import pytest

from tests.agent.scheduling.desk import Desk

CARL, DORA = "agent:carl@relay.example", "agent:dora@relay.example"
THREAD = "thr_consent0001"
OWN = {"timezone": "Europe/London", "dietary": "vegan", "budget_range": "EUR 41"}
FIRST = {
    "intent": {"category": "scheduling", "summary": "Dinner on Friday 27 March 2026", "urgency": "normal"},
    "context": {"event_type": "dinner"},
}


def need(field: str, priority: str = "required", reason: str = "to pick  a\nrestaurant") -> dict[str, str]:
    return {"field": field, "reason": reason, "priority": priority}


def asked(*needs: dict[str, str], peer: str = CARL, thread: str = THREAD, desk: Desk | None = None) -> Desk:
    """A desk that was asked for something in a first packet."""
    desk = desk or Desk("ben", profile=OWN)
    desk.receive(peer, thread, f"pkt_of_{thread}", "context", {**FIRST, "needs": list(needs)})
    desk.settle()
    return desk


def told(desk: Desk, thread: str = THREAD) -> str:
    """Everything that has left in a thread."""
    return str([one.fields for one in desk.sent if one.thread_id == thread])


@pytest.mark.spec("A2ACP-129", "A2ACP-130")
def test_all_that_a_packet_needs_is_one_question_with_who_asks_why_and_what_is_known():
    desk = asked(need("diet"), need("budget_range", "helpful", "x" * 500), need("shoe_size", "helpful"))
    question = desk.question("consent")
    content = desk.content(question)
    assert (question.peer, question.thread_id) == (CARL, THREAD)
    assert [(one["field"], one["reason"], one["values"]) for one in content["fields"]] == [
        ("diet", "to pick a restaurant", ["vegan"]),
        ("budget_range", "x" * 279 + "…", ["EUR 41"]),
        ("shoe_size", "to pick a restaurant", []),
    ]
    assert content["choices"] == ["share_selected", "decline_all"]
    assert not desk.sent


@pytest.mark.spec("A2ACP-133")
@pytest.mark.parametrize(("peer", "thread"), [(CARL, "thr_consent0002"), (DORA, "thr_consent0003")])
def test_a_yes_holds_for_its_field_its_counterpart_and_its_thread(peer: str, thread: str):
    desk = asked(need("dietary"))
    desk.share_all(desk.question("consent"))
    assert "vegan" in told(desk)
    asked(need("dietary"), peer=peer, thread=thread, desk=desk)
    assert desk.asked(desk.question("consent")) == ["dietary"]
    assert "vegan" not in told(desk, thread)
    desk.receive(CARL, THREAD, "pkt_asks_more", "context_request", {"needs": [need("budget_range")]})
    desk.settle()
    assert "EUR 41" not in told(desk)
