"""Who asked steers, and the owner; and what counts as answered is a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hub.c2a.stage import refused
from tests.hub.room import Failed

if TYPE_CHECKING:
    from tests.hub.c2a.stage import Stage


@pytest.mark.spec("C2A-199")
async def test_a_guest_calls_off_nothing_of_others_and_sends_nobody_away(stage: Stage) -> None:
    ann, _ben = await stage.cast("ann", "ben")
    bea, sam = await stage.person("bea"), await stage.person("sam")
    asked = await stage.tell("@ann which region do we deploy to first?", bea)
    await ann.delivery(asked)
    for op, given in (
        ("cancel", {"event_id": asked["id"]}),
        ("reassign", {"event_id": asked["id"], "to": "ben"}),
        ("leave", {"agent": "ann", "event_id": asked["id"]}),
        ("leave", {"agent": "ann"}),
        ("return", {"agent": "ann"}),
    ):
        answer = await stage.steer(op, token=sam, **given)
        assert (answer.status, answer.code) == (403, "permission_denied"), op
    async with stage.socket(sam) as socket:
        future = await socket.send("steer", group_id=stage.group_id, op="cancel", event_id=asked["id"])
        assert (await future)["error"]["data"]["code"] == "permission_denied"
    assert (await stage.decisions(asked)).body["decisions"][0]["state"] != "cancelled"
    assert (await stage.steer("leave", token=bea, agent="ben", event_id=asked["id"])).status == 200
    assert (await stage.steer("cancel", token=bea, event_id=asked["id"])).body["cancelled"] == ["ann"]
    again = await stage.tell("@ann and the second one?", bea)
    await ann.delivery(again)
    assert (await stage.steer("reassign", event_id=again["id"], to="ben")).status == 200


@pytest.mark.spec("C2A-199", "CCCS-042")
async def test_a_token_of_another_group_steers_nothing_here_though_it_is_the_same_persons(
    stage: Stage,
) -> None:
    ann = await stage.agent("ann")
    bea = await stage.person("bea")
    asked = await stage.tell("@ann which region first?", bea)
    await ann.delivery(asked)
    other = await stage.group("Other")
    made = await stage.ok("POST", f"/v1/groups/{other}/people", json={"principal": "usr:bea"})
    answer = await stage.steer("cancel", token=made["token"], event_id=asked["id"])
    assert (answer.status, answer.code) == (403, "permission_denied")
    assert (await stage.steer("cancel", token=bea, event_id=asked["id"])).body["cancelled"] == ["ann"]


@pytest.mark.spec("C2A-117")
async def test_only_an_answer_makes_a_question_answered(stage: Stage) -> None:
    ann = await stage.agent("ann")
    asked = await stage.tell("@ann which region do we deploy to first?")
    await ann.delivery(asked)
    async with stage.wire("ann") as raw:
        with pytest.raises(Failed) as failed:
            await raw.call("chat/disposition", eventId=asked["id"], disposition="responded")
        assert failed.value.body["details"]["reason"] == "not_answered"
    assert not await stage.recorded("disposition", event_id=asked["id"], disposition="responded")
    answer = {"text": "Europe first.", "reply_to": asked["id"]}
    assert (await stage.append(stage.group_id, "chat.message", answer, ann.token)).status == 201
    closed = await stage.recorded("disposition", event_id=asked["id"], disposition="responded")
    assert [one["session"] for one in closed] == ["ann"]


@pytest.mark.spec("C2A-146", "C2A-206")
async def test_resolving_answers_nothing_and_why_says_what_happened(stage: Stage) -> None:
    ann = await stage.agent("ann")
    asked, chore = await stage.tell("@ann which region first?"), await stage.tell("@ann restart the build")
    await ann.delivery(asked)
    await ann.delivery(chore)
    with refused("invalid_request", "C2A-146"):
        await ann.call("chat.resolve", eventId=asked["id"], summary="Europe")
    await ann.call("chat.react", inReplyTo=chore["id"], signal="done")
    await ann.call("chat.resolve", eventId=chore["id"])
    owing = (await stage.decisions(asked)).body
    assert (owing["decisions"][0]["state"], owing["sentence"]) == ("delivered", "ann owes a reply")
    done = (await stage.decisions(chore)).body
    assert done["sentence"] == "ann marked it as done"
    assert done["decisions"][0]["sentence"].endswith("ann marked it as done, without words.")
    await ann.answer(asked, "Europe first.")
    assert (await stage.decisions(asked)).body["sentence"] == "ann answered"
