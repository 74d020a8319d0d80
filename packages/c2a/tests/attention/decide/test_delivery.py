"""Deliveries: both shapes of one event."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.attention import decide
from tacit.attention.decide.delivery import content, thread_window
from tacit.attention.decide.delivery import delivered as made_of
from tacit.base.errors import Bug
from tacit.c2a.delivery_shape import faults
from tacit.c2a.messages import Part, encode, idempotency_key
from tacit.c2a.vocabulary import NEWER, OLDER, ConversationKind
from tests.attention.world import ROSTER, event, lead_gets, state, thread


def delivered(what: Any, version: str = NEWER, where: Any = None, agent: str = "lead") -> dict[str, Any]:
    decisions = decide(what, ROSTER, where or state())
    assert decisions.parsed is not None
    return encode(made_of(what, decisions.parsed, decisions[agent], agent), version)


@pytest.mark.spec(
    "C2A-030",
    "C2A-031",
    "C2A-037",
    "C2A-038",
    "C2A-040",
    "C2A-041",
    "C2A-042",
    "C2A-043",
    "C2A-044",
    "C2A-006",
)
def test_a_delivery_holds_both_shapes_at_once() -> None:
    what = event("where is the runbook", to=["lead"], seq=42)
    found = delivered(what)
    assert found["eventId"] == "e1"
    assert found["source"] == {"platform": "cccs", "workspaceId": "g"}
    assert found["conversation"] == {"id": "dm:lead+user", "kind": "dm", "parties": ["lead", "user"]}
    assert found["author"] == {"id": "user", "kind": "human", "displayName": "user"}
    assert found["target"] == {"mentions": ["agent:lead"], "directedness": "to_me", "recipient": "agent:lead"}
    assert (found["addressedToMe"], found["policy"], found["content"]) == (
        True,
        "must_respond",
        "where is the runbook",
    )
    assert found["timing"] == {"createdAt": "2026-06-02T19:10:00.000000Z", "sequence": 42}
    assert found["attention"] == {
        "policy": "must_respond",
        "reason": "direct_message",
        "priority": "normal",
        "deadlineMs": 300_000,
    }
    assert found["injection"] == {"mode": "buffered", "context": "none", "role": "user"}
    assert found["reliability"] == {"attempt": 1, "idempotencyKey": "e1:lead"}
    assert faults(found) == []
    assert idempotency_key("e1", "worker") != idempotency_key("e1", "lead")


@pytest.mark.spec("C2A-035", "C2A-055", "C2A-032")
def test_the_version_decides_content_kinds_and_ack_only() -> None:
    what = event("look", to=["lead"], attachments=[{"kind": "image", "title": "graph"}])
    assert delivered(what)["content"] == "look\n[image: graph]"
    assert delivered(what, OLDER)["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image", "title": "graph"},
    ]
    notice = event(by="system", kind="system.notify", target_actor_id="lead", message="soon")
    assert delivered(notice, OLDER)["policy"] == "ack_only"
    assert delivered(notice, OLDER)["conversation"]["kind"] == "system"
    assert delivered(notice)["policy"] == delivered(notice)["attention"]["policy"] == "must_not_respond"
    assert delivered(notice)["conversation"]["kind"] == "dm"
    assert {kind.value for kind in ConversationKind} == {"dm", "channel", "thread", "system", "tool"}


@pytest.mark.spec("C2A-036", "C2A-030", "C2A-001")
def test_a_knock_carries_no_content_and_a_broken_delivery_is_told_apart() -> None:
    found = delivered(event("the secret sauce is vinegar", reply_to="x"), where=thread(participants={"lead"}))
    assert "content" not in found
    assert "vinegar" not in str(found)
    file = {"kind": "file", "title": "recipe.pdf", "path": "blobs/" + "a" * 64}
    shown = delivered(event("a recipe", to=["lead"], attachments=[file]))
    assert "blobs/" in str(shown)
    knock = delivered(
        event("a recipe", reply_to="x", attachments=[file]), where=thread(participants={"lead"})
    )
    assert "content" not in knock
    assert "blobs/" not in str(knock)
    assert faults(found) == []
    assert faults({**found, "content": "x"}) == ["content"]
    assert "policy" in faults({**found, "policy": "may_respond_twice"})
    assert "policy" in faults({**found, "policy": "must_respond"})
    assert "injection.role" in faults({**found, "injection": {"mode": "notify", "role": "system"}})
    assert "eventId" in faults({name: value for name, value in found.items() if name != "eventId"})
    escalating = lead_gets(event("@lead look")).__class__
    assert escalating


@pytest.mark.spec("C2A-204")
def test_a_delivery_is_redacted_and_the_event_is_not() -> None:
    what = event("password: hunter22", to=["lead"])
    assert delivered(what)["content"] == "password: [redacted:password]"
    assert what.data["text"] == "password: hunter22"


@pytest.mark.spec("C2A-026")
def test_an_escalated_event_is_not_encoded_for_the_harness_that_cannot_take_it() -> None:
    from tacit.attention.decide.decision import step_down

    decisions = decide(event("@lead look"), ROSTER)
    assert decisions.parsed is not None
    with pytest.raises(Bug):
        made_of(event("@lead look"), decisions.parsed, step_down(decisions["lead"], frozenset()), "lead")


@pytest.mark.spec("C2A-223")
def test_a_thread_window_is_the_root_and_the_last_messages() -> None:
    assert thread_window([]) == []
    assert thread_window(["root"]) == [0]
    assert thread_window(["x"] * 30) == [0, *range(20, 30)]
    assert thread_window(["x" * 3000, "y" * 3000, "z" * 3000]) == [0, 2]


@pytest.mark.spec("C2A-035", "C2A-204")
def test_content_is_the_text_the_attachments_by_kind_and_title_and_a_thousand_characters_of_a_quote() -> None:
    told = content(
        {
            "text": "see",
            "attachments": [{"title": "plan.pdf"}, {"kind": "image"}],
            "quote_text": "q" * 1_001,
        }
    )
    assert told == (
        Part(text="see"),
        Part("file", title="plan.pdf"),
        Part("image", title=""),
        Part("quote", title="q" * 1_000),
    )
    assert content({"message": "a notice", "quote_text": ""}) == (Part(text="a notice"),)
    assert content({"text": 7}) == (Part(text=""),)
