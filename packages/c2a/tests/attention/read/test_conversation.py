"""Conversations, threads and who owns what."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.attention.read.conversation import author_of, conversation_of
from tests.attention.world import Room, event, three


@pytest.mark.spec("C2A-209", "C2A-032")
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({}, "channel"),
        ({"to": ["@all"]}, "channel"),
        ({"to": ["lead"]}, "dm"),
        ({"to": ["@user"]}, "dm"),
        ({"to": ["lead", "worker"]}, "channel"),
        ({"to": ["lead"], "reply_to": "x"}, "thread"),
        ({"reply_to": "x"}, "thread"),
        ({"to": ["lead"], "conversation": {"kind": "channel", "id": "C1"}}, "channel"),
        ({"conversation": {"kind": "dm"}, "to": ["lead", "worker"]}, "dm"),
        ({"conversation": {"kind": "nonsense"}}, "channel"),
        ({"to": "lead"}, "channel"),
        ({"to": {"lead": 1}}, "channel"),
        ({"conversation": {"kind": "system"}}, "system"),
    ],
)
def test_the_kind_of_a_conversation(data: dict[str, Any], kind: str) -> None:
    assert conversation_of(data, "user").kind == kind


def test_both_sides_of_a_dm_share_one_conversation() -> None:
    assert conversation_of({"to": ["lead"]}, "user").id == conversation_of({"to": ["user"]}, "lead").id


@pytest.mark.spec("C2A-209", "C2A-203")
@pytest.mark.parametrize(
    ("by", "given", "expected"),
    [
        ("eve", {"kind": "dm", "id": "dm:lead+usr:bea"}, "dm:eve+lead"),
        ("eve", {"kind": "dm", "id": "private"}, "dm:eve+lead"),
        ("usr:bea", {"kind": "dm", "id": "dm:lead+usr:bea"}, "dm:lead+usr:bea"),
        ("eve", {"kind": "channel", "id": "dm:lead+usr:bea"}, "main"),
        ("eve", {"kind": "thread", "id": "dm:lead+usr:bea"}, "main"),
        ("eve", {"kind": "channel", "id": "C1"}, "C1"),
        ("user", {"kind": "dm", "id": "dm:lead+usr:bea"}, "dm:lead+usr:bea"),
        ("user", {"kind": "channel", "id": "dm:lead+usr:bea"}, "main"),
    ],
)
def test_nobody_but_the_owner_speaks_in_a_dm_of_others(by: str, given: dict[str, Any], expected: str) -> None:
    assert conversation_of({"to": ["lead"], "conversation": given}, by).id == expected


@pytest.mark.spec("C2A-209")
def test_a_private_reply_without_recipients_stays_in_its_dm() -> None:
    room = Room()
    room.say("hello?", by="usr:bea", to=["lead"])
    for by, data in (("lead", {"kind": "dm"}), ("usr:bea", {"kind": "dm", "id": "dm:worker"})):
        parsed = room.say("yes?", by=by, reply_to="m1", conversation=data).parsed
        assert parsed is not None
        assert (parsed.conversation.id, parsed.conversation.kind) == ("dm:lead+usr:bea", "dm")


@pytest.mark.spec("C2A-033", "C2A-215")
def test_authors_are_humans_agents_system_or_tools() -> None:
    kinds = [
        author_of(event("x", by=by)).kind.value for by in ("user", "usr:ann", "lead", "system", "svc:ci")
    ]
    assert kinds == ["human", "human", "agent", "system", "tool"]


def test_a_reply_inside_a_dm_stays_between_its_parties() -> None:
    room = Room()
    room.say("can you keep a secret", to=["lead"])
    answer = room.say("the budget is 5", reply_to="m1", to=["lead"])
    assert three(answer["worker"]) == ("to_other", "must_not_respond", "silent")
    assert answer["lead"].policy == "must_respond"


def test_a_name_in_a_private_thread_lets_nobody_in_but_a_recipient_may_be_added() -> None:
    room = Room()
    room.say("can you keep a secret", to=["lead"])
    named = room.say("ask @worker about it", reply_to="m1")
    assert named["worker"].mode == "silent"
    added = room.say("please read this", reply_to="m1", to=["lead", "worker"])
    assert added["worker"].policy == "must_respond"
    assert added["tester"].mode == "silent"
