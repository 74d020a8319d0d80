"""Conversations, threads and who owns what."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.attention.read.conversation import author_of, conversation_of
from tacit.attention.state.ownership import Ownership, task_ids
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


@pytest.mark.spec("C2A-048", "C2A-101")
def test_owners_of_tasks_and_streams_hear_of_what_touches_them() -> None:
    room = Room()
    room.record("context.sync", ops=[
        {"op": "set", "store": "tasks", "key": "T1", "value": {"assignee": "tester"}},
        {"op": "set", "key": "stream:s1", "value": {"owner": "worker", "title": "Backend migration", "digest": ["lead"]}},
    ])  # fmt: skip
    touched = room.say("the column is wider now", refs=[{"kind": "task_ref", "task_id": "T1"}])
    assert three(touched["tester"]) == ("to_my_role", "may_respond", "notify")
    streamed = room.say(
        "the column is wider now", conversation={"kind": "channel", "id": "C1", "stream_id": "s1"}
    )
    assert three(streamed["worker"])[0] == "to_my_role"
    assert streamed.parsed is not None
    assert streamed.parsed.conversation.title == "Backend migration"
    status = room.say("build 5 passed", conversation={"kind": "channel", "id": "C1", "stream_id": "s1"})
    assert status["lead"].mode == "digest"
    room.record(
        "context.sync",
        ops=[{"op": "delete", "store": "tasks", "key": "T1"}, {"op": "delete", "key": "stream:s1"}],
    )
    gone = room.say("the column is wider now", refs=[{"kind": "task_ref", "task_id": "T1"}])
    assert gone["tester"].policy == "must_not_respond"


def test_ownership_ignores_what_it_does_not_understand() -> None:
    ownership = Ownership()
    ownership.synced(
        {
            "ops": [
                {"op": "set", "key": "stream:x", "value": "text"},
                {"op": "set", "key": "other", "value": {"owner": "a"}},
            ]
        }
    )
    assert task_ids({"refs": ["x", {"kind": "task_ref", "task_id": 4}]}) == []


@pytest.mark.spec("C2A-050", "C2A-072")
def test_who_writes_or_is_named_in_a_thread_takes_part_in_it() -> None:
    room = Room()
    room.say("@lead what do you think about the index")
    room.say("it is slow", by="worker", reply_to="m1")
    reply = room.say("the disk is slow too", reply_to="m1")
    assert [three(reply[name])[0] for name in ("lead", "worker", "tester")] == [
        "to_my_role",
        "to_my_role",
        "ambient",
    ]
    deeper = room.say("and the network", reply_to="m3")
    assert deeper.parsed is not None
    assert deeper.parsed.conversation.thread == "m1"


def test_a_reply_inside_a_dm_stays_between_its_parties() -> None:
    room = Room()
    room.say("can you keep a secret", to=["lead"])
    answer = room.say("the budget is 5", reply_to="m1", to=["lead"])
    assert three(answer["worker"]) == ("to_other", "must_not_respond", "silent")
    assert answer["lead"].policy == "must_respond"


def test_an_agent_that_opened_a_thread_owns_it() -> None:
    room = Room()
    room.say("I will look at the index", by="worker")
    room.say("status: half way", reply_to="m1")
    assert room.attention.thread_owner["m1"] == "worker"


def test_a_name_in_a_private_thread_lets_nobody_in_but_a_recipient_may_be_added() -> None:
    room = Room()
    room.say("can you keep a secret", to=["lead"])
    named = room.say("ask @worker about it", reply_to="m1")
    assert named["worker"].mode == "silent"
    added = room.say("please read this", reply_to="m1", to=["lead", "worker"])
    assert added["worker"].policy == "must_respond"
    assert added["tester"].mode == "silent"
