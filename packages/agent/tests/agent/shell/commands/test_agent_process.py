"""What a crashed agent leaves behind: where it happened, and nobody's words.

Mistakes are planted into real processes: their texts hold a marker, as ours might hold somebody's words.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Unavailable
from tacit.base.io import agent_socket as socket
from tacit.hub.agents import personal_agent
from tacit.hub.config import AgentBeside
from tests.agent.arrangements import registered
from tests.hub.room import running
from tests.relay_support import Relay

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 60.0
MARKER = "MARKER-eats-no-meat"
WHEEL = f"""
from tacit.agent.shell.io.agent import Agent
async def planted(self):
    values = {{"dietary": "{MARKER}"}}
    raise RuntimeError(str(values))
Agent._turned_or_away = planted
"""
COMMAND = f"""
from tacit.agent.shell.io import calls
async def planted(agent, given):
    raise RuntimeError("{MARKER}" + str(given))
calls.HANDLERS["why"] = calls.Handler(None, planted)
"""
ORPHAN = f"""
import asyncio, gc
from tacit.agent.shell.io import calls
async def planted():
    raise RuntimeError("{MARKER}")
async def orphan(agent, given):
    task = asyncio.ensure_future(planted())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    del task
    gc.collect()
    return {{}}
calls.HANDLERS["why"] = calls.Handler(None, orphan)
"""
MAIN = "\nfrom tacit.base.commands.main import main\nmain()\n"


async def started(folder: Path, planted: str) -> asyncio.subprocess.Process:
    """`tacit agent run` with a mistake in it."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", planted + MAIN, "agent", "--data", str(folder), "run",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def test_an_agent_that_falls_over_its_own_mistake_says_where_and_not_what(tmp_path: Path) -> None:
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
        process = await started(tmp_path / "anna", WHEEL)
        out, said = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 3
    assert MARKER not in (out + said).decode()
    assert "RuntimeError in planted" in said.decode()


@pytest.mark.parametrize("planted", [COMMAND, ORPHAN])
async def test_a_command_or_a_task_that_fails_is_told_by_its_place_and_the_agent_goes_on(
    tmp_path: Path, planted: str
) -> None:
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
        process = await started(tmp_path / "anna", planted)
        try:
            assert b"is listening" in await asyncio.wait_for(process.stdout.readline(), PATIENCE)
            if planted is COMMAND:
                with pytest.raises(Unavailable, match="a fault of the agent's own"):
                    await socket.asked(tmp_path / "anna", "why", {"thread_id": MARKER})
            else:
                await socket.asked(tmp_path / "anna", "why", {"thread_id": MARKER})
            assert (await socket.asked(tmp_path / "anna", "pending", {}))["questions"] == []
        finally:
            process.terminate()
            _out, said = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert MARKER not in said.decode()
    assert "RuntimeError in planted" in said.decode()


async def test_a_hub_whose_agent_crashes_shows_and_keeps_the_place_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = personal_agent._words

    def with_a_mistake(beside: AgentBeside) -> list[str]:
        program, _safe_path, _dash_m, _tacit, *rest = words(beside)
        return [program, "-c", WHEEL + MAIN, *rest]

    monkeypatch.setattr(personal_agent, "_words", with_a_mistake)
    async with Relay(tmp_path / "relay") as relay:
        await registered(relay, tmp_path / "anna", "anna")
        async with running(tmp_path / "hub", agent=AgentBeside(tmp_path / "anna")) as room:
            async with asyncio.timeout(PATIENCE):
                while not (told := await room.ok("GET", "/v1/agent"))["reason"]:
                    await asyncio.sleep(0.05)
            assert "RuntimeError in planted" in told["reason"]
            assert MARKER not in json.dumps(told)
    for path in (tmp_path / "hub").rglob("*"):
        if path.is_file():
            assert MARKER.encode() not in path.read_bytes(), path
