"""The personal agent over MCP: a real process, the SDK's own client, both eras; wishes, and no answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tacit.agent.engine.answering import Answer
from tacit.agent.packets.tools import TOOLS
from tests.agent.arrangements import share
from tests.bridges.mcp.agents import DINNER, NEED, program, running

if TYPE_CHECKING:
    from pathlib import Path

TWELVE = [
    "send_context", "request_context", "respond_context", "propose_resolution", "update_intent", "fork_thread",
    "list_threads", "get_thread", "list_pending", "wait_for_packet", "list_spaces", "update_space",
]  # fmt: skip


@pytest.mark.spec("A2ACP-264", "A2ACP-265", "A2ACP-266")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_program_of_either_era_has_a_dinner_arranged_while_the_owner_answers_elsewhere(
    tmp_path: Path, mode: str
) -> None:
    async with running(tmp_path) as (both, anna, ben), program(anna.folder, mode) as model:
        tools = (await model.client.list_tools()).tools
        assert [one.name for one in tools] == TWELVE == list(TOOLS)
        begun = await model.done("send_context", to=ben.me, intent=DINNER, context={})
        assert begun["state"] == "INITIATED"
        asked = await model.done("list_pending")
        assert asked["about"].startswith("What follows quotes another person's agent.")
        (question,) = asked["questions"]
        assert question["question_id"] == begun["questions"][0]["question_id"]
        assert "eats no meat" not in json.dumps(asked)
        owners = await both.question(anna, "consent")
        await anna.answer(owners["question_id"], share(owners))
        theirs = await both.question(ben, "consent")
        await ben.answer(theirs["question_id"], share(theirs))
        came = await model.done("wait_for_packet", cursor=begun["cursor"], timeout_seconds=30)
        assert came["packets"][0]["from"] == ben.me
        checkpoint = await both.question(anna, "checkpoint")
        seen = await model.done("get_thread", thread_id=begun["thread_id"])
        assert (seen["state"], seen["proposal"]["details"]["date"]) == ("PROPOSED", "2026-03-27")
        await anna.answer(checkpoint["question_id"], Answer(confirm=True))
        await ben.answer((await both.question(ben, "checkpoint"))["question_id"], Answer(confirm=True))
        await both.state(anna, begun["thread_id"], "COMPLETED")
        every = await model.done("list_threads", all=True)
        assert [(one["thread_id"], one["state"]) for one in every["threads"]] == [
            (begun["thread_id"], "COMPLETED")
        ]


@pytest.mark.spec("A2ACP-265")
async def test_what_is_wrong_comes_back_as_a_tool_error_with_its_code_and_repeats_nothing(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (_, anna, ben), program(anna.folder) as model:
        cases = [
            ("sing", {}, "unknown_op"),
            ("send_context", {"context": {}}, "bad_command"),
            ("send_context", {"context": "SECRET"}, "invalid_request"),
            ("send_context", {"context": {}, "SECRET": 1}, "invalid_request"),
            ("send_context", {"to": ben.me, "intent": {"summary": "SECRET"}, "context": {}}, "invalid_request"),
            ("request_context", {"to": ben.me, "intent": DINNER, "needs": [NEED] * 6}, "invalid_request"),
            ("get_thread", {"thread_id": "thr_" + "a" * 26}, "unknown_thread"),
            ("get_thread", {"thread_id": "../../etc"}, "invalid_request"),
            ("wait_for_packet", {"timeout_seconds": 3600}, "invalid_request"),
            ("wait_for_packet", {"thread_id": "thr_" + "a" * 26}, "unknown_thread"),
            ("update_space", {"space_id": "spc_a", "changes": {}}, "not_supported"),
        ]  # fmt: skip
        for tool, given, code in cases:
            refused = await model.refused(tool, **given)
            assert refused["code"] == code, (tool, given)
            assert "SECRET" not in json.dumps(refused)
        assert (await model.done("list_spaces"))["spaces"] == []
        assert (await model.done("list_threads"))["threads"] == []


@pytest.mark.spec("A2ACP-264")
async def test_without_a_running_agent_the_mcp_process_is_it_and_the_terminal_reaches_it(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (_, anna, _ben):
        folder = anna.folder
    async with program(folder) as model:
        assert (await model.done("list_threads"))["threads"] == []
        from tacit.agent.io import socket

        assert await socket.asked(folder, "pending", {}) == {"questions": []}
    # It ends with its client: the folder is free again.
    async with program(folder) as again:
        assert (await again.done("list_pending"))["questions"] == []
