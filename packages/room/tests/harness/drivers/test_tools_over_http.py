"""Tools behind an address and a token, as the hub's own `/mcp` is."""

import pytest

from tacit.base.errors import Unavailable
from tacit.harness.drivers.port import StandingInstructions, ToolAddress
from tests.harness.drivers.agents.http_notes import Notes
from tests.harness.drivers.rigs import RULES, RecordingWatch, named, soon, turn
from tests.model_server import Call, Say

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.parametrize("rig", named("codex", "claude", "openai"), indirect=True, scope="module"),
]


async def test_an_agent_calls_a_tool_over_http_with_its_token(rig, tmp_path, model):
    async with Notes() as notes:
        tools = (ToolAddress("notes", notes.url, "pass"),)
        driver = rig.driver(tmp_path, model)
        model.script(Call("read_note", {"name": "far"}), Say("it is blue"))
        watch = RecordingWatch()
        outcome = await soon(driver.run(turn(tools=tools), watch))
        await soon(driver.close())
    assert (outcome.text, watch.tools()) == ("it is blue", ["notes.read_note"])
    assert notes.read == ["far"]
    assert len(watch.boundaries) == 1


async def test_without_the_tools_an_agent_does_not_start(rig, tmp_path, model):
    async with Notes() as notes:
        driver = rig.driver(tmp_path, model)
        with pytest.raises(Unavailable):
            await soon(driver.start(StandingInstructions(RULES, (ToolAddress("notes", notes.url, "wrong"),))))
        await soon(driver.close())
    assert notes.refused
