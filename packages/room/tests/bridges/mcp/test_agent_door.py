"""The personal agent over MCP: a real process, the SDK's own client, both eras; wishes, and no answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from mcp import MCPError
from mcp.types import ElicitResult

from tacit.a2acp.packets.tools import TOOLS
from tacit.agent.consent.answering import Answer
from tacit.agent.shell.io import page
from tacit.agent.shell.mcp import door as agent_door
from tests.agent.arrangements import share
from tests.bridges.mcp.agents import DINNER, NEED, program, running
from tests.bridges.mcp.rooms import TACIT
from tests.bridges.mcp.test_inspector import inspector, run

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    "send_context", "request_context", "respond_context", "propose_resolution", "update_intent", "fork_thread",
    "begin_group", "transfer_group", "get_group", "list_threads", "get_thread", "list_pending", "wait_for_packet", "list_spaces", "update_space",
]  # fmt: skip


@pytest.mark.spec("A2ACP-264", "A2ACP-265", "A2ACP-266")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_program_of_either_era_has_a_dinner_arranged_while_the_owner_answers_elsewhere(
    tmp_path: Path, mode: str
) -> None:
    async with running(tmp_path) as (both, anna, ben), program(anna.folder, mode) as model:
        tools = (await model.client.list_tools()).tools
        assert [one.name for one in tools] == NAMES == list(TOOLS)
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
        came = await model.done("wait_for_packet", cursor=begun["cursor"], timeout_seconds=50)
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


GAME_NIGHT = {"category": "scheduling", "summary": "game night on Friday evening", "urgency": "normal"}


@pytest.mark.spec("A2ACP-264", "A2ACP-266", "A2ACP-173")
async def test_a_program_has_an_evening_arranged_with_two_while_the_owner_answers_elsewhere(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "cleo") as (all_three, anna, ben, cleo), program(anna.folder) as model:
        wish = {"participants": [ben.me, cleo.me], "intent": GAME_NIGHT}
        begun = await model.done("begin_group", **wish)
        group_id = begun["thread_id"]
        # For each of them the owner reads what is said; until then nobody hears of it.
        assert [one["counterpart"] for one in begun["questions"]] == [ben.me, cleo.me]
        assert all(one["fields"][0]["field"] == "words_of_programs" for one in begun["questions"])
        assert (await model.done("begin_group", **wish))["thread_id"] == group_id
        early = await model.refused("transfer_group", thread_id=group_id, to=ben.me)
        assert early["code"] == "too_early"
        for one in (await anna.pending())["questions"]:
            await anna.answer(one["question_id"], share(one))
        for one in (ben, cleo):
            asked = await all_three.question(one, "consent")
            await one.answer(asked["question_id"], share(asked))
        # Both have answered; what it comes to holds the owner's own times, and is the owner's to release.
        asked = await all_three.question(anna, "consent")
        seen = await model.done("get_group", thread_id=group_id)
        assert {one["status"] for one in seen["participants"]} == {"context_received"}
        assert (seen["windows"], seen["may_coordinate"]) == ([], [ben.me, cleo.me])
        waits = await model.refused("transfer_group", thread_id=group_id, to=ben.me)
        assert (waits["code"], waits["details"]["question_id"]) == ("owner_is_asked", asked["question_id"])
        await anna.answer(asked["question_id"], share(asked))
        for one in (anna, ben, cleo):
            proposed = await all_three.question(one, "checkpoint")
            if one is anna:
                seen = await model.done("get_group", thread_id=group_id)
                assert seen["windows"][0]["available_count"] == 3
            await one.answer(proposed["question_id"], Answer(confirm=True))
        await all_three.state(anna, group_id, "COMPLETED")


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
            ("get_group", {"thread_id": "thr_" + "a" * 26}, "unknown_thread"),
            ("transfer_group", {"thread_id": "thr_" + "a" * 26, "to": ben.me}, "unknown_thread"),
            ("begin_group", {"participants": [ben.me], "intent": DINNER}, "invalid_request"),
            ("begin_group", {"participants": [ben.me] * 2, "intent": DINNER}, "bad_group"),
            ("begin_group", {"participants": [ben.me, "eve@relay.example"], "intent": DINNER}, "not_a_contact"),
            ("wait_for_packet", {"timeout_seconds": 3600}, "invalid_request"),
            ("wait_for_packet", {"thread_id": "thr_" + "a" * 26}, "unknown_thread"),
            ("update_space", {"space_id": "spc_a", "changes": {"status": "x"}}, "unknown_space"),
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
        from tacit.base.io import agent_socket as socket

        assert await socket.asked(folder, "pending", {}) == {"questions": []}
    # It ends with its client: the folder is free again.
    async with program(folder) as again:
        assert (await again.done("list_pending"))["questions"] == []


async def opened_in_browser(link: str, question_id: str, **answer: Any) -> None:
    """What the page does with a link: opens it once and answers, from its own origin."""
    address = link[: link.index("/q/")]
    async with aiohttp.ClientSession(headers={"Origin": address}) as browser:
        async with browser.post(f"{address}/agent/open", json={"link": link.rsplit("/", 1)[1]}) as said:
            opened = await said.json()
            assert said.status == 200, opened
        said = {"command": "answer", "arguments": {"question_id": question_id, **answer}}
        headers = {"Authorization": f"Bearer {opened['token']}"}
        async with browser.post(f"{address}/agent/call", json=said, headers=headers) as done:
            assert done.status == 200, await done.text()


@pytest.mark.spec("A2ACP-266", "A2ACP-264")
async def test_sort_dinner_with_ben_and_consent_opens_in_the_browser_up_to_2025_11_25(tmp_path: Path) -> None:
    async with running(tmp_path) as (both, anna, ben), page.served(anna, 0):
        async with program(anna.folder, "legacy", elicitation_callback=_never) as model:
            given = {"to": ben.me, "intent": DINNER, "context": {}}
            with pytest.raises(MCPError) as needed:
                await model.call("send_context", **given)
            assert needed.value.code == -32042
            (asked,) = needed.value.data["elicitations"]
            owners = await both.question(anna, "consent")
            assert (asked["mode"], asked["elicitationId"]) == ("url", owners["question_id"])
            assert asked["message"].startswith("Your Tacit agent needs your word")
            assert "eats no meat" not in json.dumps(needed.value.data)
            # The client says that its person went there; that alone answers nothing, and is not asked again.
            waits = await model.done("send_context", **given)
            assert [one["question_id"] for one in waits["questions"]] == [owners["question_id"]]
            share_all = {one["field"]: None for one in owners["fields"]}
            await opened_in_browser(asked["url"], owners["question_id"], share=share_all)
            gone = await model.done("send_context", **given)
            assert (gone["thread_id"], gone["questions"]) == (waits["thread_id"], [])
            assert len(anna.journal.book.threads[gone["thread_id"]].packets) >= 1
        told = (await anna.disclosures())["disclosures"]
        assert {one["via"] for one in told if one["basis"] == "user_approved"} == {"page"}


async def _never(_context: Any, params: Any) -> Any:
    """A person who is shown a page, and nothing else: a form would fail the test."""
    assert params.mode == "url"
    return ElicitResult(action="accept")


@pytest.mark.spec("A2ACP-266", "A2ACP-264")
async def test_since_2026_07_28_the_call_requires_input_at_the_page_and_what_the_client_says_of_it_counts_nothing(
    tmp_path: Path,
) -> None:
    shown: list[Any] = []

    async def accepts(_context: Any, params: Any) -> Any:
        shown.append(params)
        # A client that claims everything: its content is not looked at.
        return ElicitResult(action="accept", content={"confirm": True, "share": "dietary"})

    async with (
        running(tmp_path) as (both, anna, ben),
        page.served(anna, 0),
        program(anna.folder, "2026-07-28", elicitation_callback=accepts) as model,
    ):
        waits = await model.done("send_context", to=ben.me, intent=DINNER, context={})
        (asked,) = shown
        assert asked.mode == "url"
        owners = await both.question(anna, "consent")
        assert [one["question_id"] for one in waits["questions"]] == [owners["question_id"]]
        assert not list(anna.journal.records("x.a2acp.answered"))
        share_all = {one["field"]: None for one in owners["fields"]}
        await opened_in_browser(asked.url, owners["question_id"], share=share_all)
        again = await model.done("send_context", to=ben.me, intent=DINNER, context={})
        assert (again["thread_id"], again["questions"]) == (waits["thread_id"], [])


@pytest.mark.spec("A2ACP-266")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_that_opens_no_pages_and_its_model_never_see_a_link(tmp_path: Path, mode: str) -> None:
    async with (
        running(tmp_path) as (_, anna, ben),
        page.served(anna, 0) as served,
        program(anna.folder, mode) as model,
    ):
        begun = await model.done("send_context", to=ben.me, intent=DINNER, context={})
        said = [begun, await model.done("list_pending"), await model.done("list_threads")]
        said.append(await model.done("get_thread", thread_id=begun["thread_id"]))
        assert str(served.port) not in json.dumps(said)
        assert "http" not in json.dumps(said)


async def test_the_inspector_finds_nothing_to_complain_about_in_the_agents_tools(tmp_path: Path) -> None:
    found = await inspector(tmp_path)
    async with running(tmp_path) as (_, anna, _ben):
        entry = [TACIT, "agent", "--data", str(anna.folder), "mcp"]

        async def ask(*words: str) -> Any:
            # Its own options follow two dashes: the command has some too.
            code, out, err = await run(
                found, "--cli", *entry, *words, "--connect-timeout", "60000", home=tmp_path
            )
            assert code == 0, (out, err)
            return json.loads(out)

        tools = await ask("--method", "tools/list", "--strict")
        assert [one["name"] for one in tools["tools"]] == NAMES
        listed = await ask("--method", "tools/call", "--tool-name", "list_threads")
        assert listed["structuredContent"]["threads"] == []


@pytest.mark.spec("A2ACP-266")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ((), "1 decision waits."),
        (("a",), "1 decision waits."),
        (("a", "b"), "1 decision about 2 fields waits."),
    ],
)
def test_a_person_is_told_how_much_waits_and_nothing_of_it(fields, said):
    assert said in agent_door.message_of(len(fields))
