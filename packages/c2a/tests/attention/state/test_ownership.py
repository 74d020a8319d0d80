"""Who owns tasks and streams."""

from __future__ import annotations

import pytest

from tacit.attention.read.message import task_ids
from tacit.attention.state.ownership import Ownership
from tests.attention.world import Room, three


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
