"""The owner's personal agent at the hub's `/mcp`: for the owner's own token, and for nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.a2acp.packets.tools import TOOLS
from tacit.bridges.mcp.tools import OFFERED
from tacit.hub.config import AgentBeside
from tests.bridges.mcp.agents import DINNER
from tests.bridges.mcp.rooms import over_http
from tests.hub.room import running
from tests.hub.test_personal_agent import relayed, state

if TYPE_CHECKING:
    from pathlib import Path

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.spec("A2ACP-264", "A2ACP-266")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_owners_token_reaches_the_agents_tools_and_an_actors_the_rooms(
    tmp_path: Path, mode: str
) -> None:
    async with relayed(tmp_path) as relay, running(
        tmp_path / "data", agent=AgentBeside(tmp_path / "anna")
    ) as room:  # fmt: skip
        await state(room, "running")
        group = await room.group()
        actor = await room.actor(group, "ada", roles=[])
        async with over_http(room, room.owner, mode) as owner:
            assert [one.name for one in (await owner.client.list_tools()).tools] == list(TOOLS)
            begun = await owner.done("send_context", to=f"ben@{relay.domain}", intent=DINNER, context={})
            pending = await owner.done("list_pending")
            assert [one["thread_id"] for one in pending["questions"]] == [begun["thread_id"]]
            assert (await owner.refused("agent_answer", confirm=True))["code"] == "unknown_op"
        async with over_http(room, actor, mode) as ada:
            assert [one.name for one in (await ada.client.list_tools()).tools] == list(OFFERED)
            assert (await ada.refused("send_context", context={}))["code"] == "unknown_op"


async def test_without_an_agent_the_owners_token_is_no_actors_as_before(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as room:
        refused = await room.post("/mcp", LIST, headers=ACCEPT)
        assert (refused.status, refused.body["details"]["row"]) == (403, "C2A-006")
