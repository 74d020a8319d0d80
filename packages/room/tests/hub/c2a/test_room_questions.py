"""A question to the room through a real hub: a knock for one, then for the next, then a word to whoever asked."""

from __future__ import annotations

import pytest

from tacit.attention.state.room_questions import TO_TAKE_MS

TO_TAKE = TO_TAKE_MS / 1000


@pytest.mark.spec("C2A-077")
async def test_what_nobody_answers_is_offered_to_one_agent_after_the_other(stage):
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell("does anyone know why staging is slow")
    await ann.delivery(asked)
    records = await stage.recorded("delivery", event_id=asked["id"])
    assert [(one["session"], one["mode"], one["policy"]) for one in records] == [
        ("ann", "notify", "may_respond")
    ]
    await stage.pass_time(TO_TAKE)
    await ben.delivery(asked)
    assert await stage.delivered(asked) == ["ann", "ben"]
    await stage.pass_time(TO_TAKE)
    notices = [one["data"] for one in await stage.events(stage.group_id, kinds="system.notify")]
    assert [(one["kind"], one["related_event_id"]) for one in notices] == [
        ("attention.room_unanswered", asked["id"])
    ]
