"""Several sessions of one agent: a real line, a real store, two programs at work at the same time."""

from __future__ import annotations

import pytest

from tacit.c2a.tools import INPUTS
from tacit.harness.budget import DailyBudget
from tacit.harness.io.tool_pipe import KEY
from tests.c2a_peer import delivery, peering
from tests.harness.living import Desk, living

BO = {"author": {"id": "usr:bo", "kind": "human", "displayName": "Bo"}}


def key_of(turn):
    """The key of the tool door that a turn's program was given: one for each session."""
    return turn["tools"][0]["environment"][KEY]


@pytest.fixture
async def peer():
    async with peering() as opened:
        opened.settings = {"compose_quiet_ms": 100, "compose_cap_ms": 30_000}
        yield opened


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "desk")


async def test_an_unrelated_question_is_answered_while_the_first_is_worked_on(peer, desk, tmp_path):
    desk.script([{"until": "go"}, {"text": "The long job is done."}], [{"text": "Port eight thousand."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2):
        await peer.accepted(delivery("e1", "Do the long job"))
        await desk.until_turn(1)
        await peer.accepted(delivery("e2", "Which port is it?", **BO))
        await peer.until(lambda: peer.sends)
        assert [send["inReplyTo"] for send in peer.sends] == ["e2"]
        desk.go("go")
        await peer.until(lambda: len(peer.sends) == 2)
    assert [send["content"] for send in peer.sends] == ["Port eight thousand.", "The long job is done."]
    assert len({key_of(turn) for turn in desk.turns}) == 2


async def test_the_tools_of_each_session_speak_for_its_own_turn(peer, desk, tmp_path):
    said = [{"tool": "chat_send_message", "arguments": {"content": "Half way."}}, {"text": "NO_REPLY"}]
    desk.script([{"until": "go"}, *said], [{"until": "go"}, *said])
    async with living(peer.url, "token", tmp_path, desk, sessions=2):
        await peer.accepted(delivery("e1", "Do the long job"))
        await desk.until_turn(1)
        await peer.accepted(delivery("e2", "Which port is it?", **BO))
        await desk.until_turn(2)
        desk.go("go")
        await peer.until(lambda: len(peer.sends) == 2)
    # One that was not answered when the harness was stopped goes out once more under its key.
    sends = {send["idempotencyKey"]: send for send in peer.sends}.values()
    assert sorted(send["inReplyTo"] for send in sends) == ["e1", "e2"]
    assert {send["turn"] for send in sends} == {"e1.0", "e2.0"}


@pytest.mark.spec("C2A-155")
async def test_a_file_is_claimed_for_the_turn_that_is_at_it(peer, desk, tmp_path):
    peer.schemas = {"chat.claim": INPUTS["chat.claim"]}
    claim = {"tool": "chat_claim", "arguments": {"path": "src/app.py"}}
    desk.script([{"until": "go"}, {"text": "One."}], [claim, {"text": "Two."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2):
        await peer.accepted(delivery("e1", "Do the long job"))
        await desk.until_turn(1)
        await peer.accepted(delivery("e2", "Which port is it?", **BO))
        await peer.until(lambda: peer.sends)
        desk.go("go")
    [claimed] = peer.tool_calls("chat.claim")
    assert (claimed["path"], claimed["during"]) == ("src/app.py", "e2")


@pytest.mark.spec("C2A-180")
async def test_a_cancellation_ends_its_own_turn_and_leaves_the_other(peer, desk, tmp_path):
    desk.script([{"until": "go"}, {"text": "One."}], [{"until": "never"}, {"text": "Two."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2) as harness:
        await peer.accepted(delivery("e1", "Do the long job"))
        await desk.until_turn(1)
        request = await peer.accepted(delivery("e2", "Which port is it?", **BO))
        await desk.until_turn(2)
        await peer.notify("notifications/cancelled", requestId=request, reason="deleted")
        await desk.until(lambda: harness.told.of("turn_ended"))
        assert harness.told.of("turn_ended")[0]["turn_id"] == "e2.1~1"
        desk.go("go")
        await peer.until(lambda: peer.sends)
    assert [send["content"] for send in peer.sends] == ["One."]


@pytest.mark.spec("C2A-160", "C2A-163")
async def test_both_questions_of_a_stopped_harness_are_answered_by_the_next_in_their_slots(
    peer, desk, tmp_path
):
    desk.script([{"until": "never"}], [{"until": "never"}], [{"text": "Again one."}], [{"text": "Two then."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2):
        await peer.accepted(delivery("e1", "Do the long job"))
        await desk.until_turn(1)
        await peer.accepted(delivery("e2", "Which port is it?", **BO))
        await desk.until_turn(2)
    async with living(peer.url, "token", tmp_path, desk, sessions=2) as harness:
        await peer.until(lambda: len(peer.sends) == 2)
    assert sorted(send["inReplyTo"] for send in peer.sends) == ["e1", "e2"]
    assert sorted(one["turn_id"] for one in harness.told.of("turn")) == ["e1.2", "e2.2~1"]


async def test_private_talk_side_by_side_with_the_room_shares_no_session(peer, desk, tmp_path):
    desk.script([{"until": "go"}, {"text": "For the room."}], [{"until": "go"}, {"text": "For you."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2):
        await peer.accepted(delivery("e1", "Do the long job"))
        await desk.until_turn(1)
        await peer.accepted(
            delivery("e2", "Which port?", conversation__kind="dm", conversation__id="dm:bo", **BO)
        )
        await desk.until_turn(2)
        desk.go("go")
        await peer.until(lambda: len(peer.sends) == 2)
    assert len({key_of(turn) for turn in desk.turns}) == 2


async def test_two_questions_at_once_keep_to_the_days_turns(peer, desk, tmp_path):
    desk.script([{"until": "go"}, {"text": "One."}], [{"text": "Two."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2, budget=DailyBudget(turns=1)) as harness:
        await peer.accepted(delivery("e1", "Which port is it?"))
        await peer.accepted(delivery("e2", "Which host is it?", **BO))
        await desk.until_turn(1)
        await desk.until(lambda: len(harness.told.of("heard")) == 2)
        desk.go("go")
        await peer.until(lambda: peer.tool_calls("chat.defer"))
    assert len(desk.turns) == 1


async def test_all_sessions_together_keep_to_the_days_turns(peer, desk, tmp_path):
    desk.script([{"text": "One."}])
    async with living(peer.url, "token", tmp_path, desk, sessions=2, budget=DailyBudget(turns=1)) as harness:
        await peer.accepted(delivery("e1", "Which port is it?"))
        await desk.until(lambda: harness.told.of("budget"))
        await peer.accepted(delivery("e2", "Which host is it?", **BO))
        await desk.until(lambda: len(harness.told.of("heard")) == 2)
        await peer.until(lambda: peer.tool_calls("chat.defer"))
    assert len(desk.turns) == 1
