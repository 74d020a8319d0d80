"""Seeing work: what real agents do is on the card while they do it, and in their record afterwards."""

from __future__ import annotations

import asyncio
import json

import pytest

from tacit.harness.drivers.options import Access
from tests.harness.drivers.rigs import RIGS
from tests.model_server import Call, Held, Say


def doing(rig, line):
    """A tool call that each agent shows."""
    if rig.name == "codex":
        return Call("exec_command", {"cmd": line})
    return Call("Bash", {"command": line})


async def cards(home, event_id, **more):
    params = {"group_id": home.group, "event_id": event_id, **more}
    return await home.owner.call("activity", params, repeatable=False)


@pytest.mark.parametrize(
    "rig", [one for one in RIGS if one.name in {"codex", "claude"}], ids=lambda rig: rig.name
)
async def test_a_command_is_seen_while_the_turn_runs_and_afterwards(rig, home, model, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    driver = rig.driver(home.folder / "driver", model, access=Access.FULL)
    held = Held(Say("The build is green."))
    model.script(doing(rig, "echo built by the marmalade"), held)
    async with home.agent("ada", driver, directory=str(work), secrets=("marmalade",)):
        question = await home.say("@ada build it")
        await asyncio.wait_for(held.arrived.wait(), 60)
        async with asyncio.timeout(60):
            while not (running := (await cards(home, question))["cards"]):
                await asyncio.sleep(0.05)
        (command,) = [one for one in running[0]["items"] if one["kind"] == "command"]
        assert running[0]["state"] == "running"
        assert command["title"] == "echo built by the [redacted]"
        held.release()
        await home.until_reply(question)
        turn = await home.until_kind("x.c2a.turn")
        assert turn.data["commands"] == [{"command": "echo built by the [redacted]", "ok": True}]
        assert turn.data["event_id"] == question
        async with asyncio.timeout(60):
            while (found := (await cards(home, question))["cards"])[:1] and found[0]["state"] != "ended":
                await asyncio.sleep(0.05)
        kept = next(one for one in found[0]["items"] if one["kind"] == "command")
        assert "built by the" in kept["text"]
        assert any("The build is green." in one.get("text", "") for one in found[0]["items"])
        events = (await home.owner.events(home.group, limit=1000)).events
        assert "built by the [redacted]\n" not in json.dumps([one.data for one in events])
        assert (await cards(home, question, forget=True))["forgotten"] == ["ada"]
        assert (await cards(home, question))["cards"] == []
    assert (await cards(home, question)) == {"cards": [], "away": ["ada"]}


@pytest.mark.parametrize(
    "rig", [one for one in RIGS if one.name in {"acp", "openai", "command"}], ids=lambda rig: rig.name
)
async def test_every_driver_shows_its_tool_calls_and_its_words(rig, home, model, tmp_path):
    driver = rig.driver(home.folder / "driver", model)
    model.script(Call("chat_search", {"query": "port"}), Say("It is 8080."))
    async with home.agent("ada", driver, directory=str(tmp_path)):
        question = await home.say("@ada which port?")
        await home.until_reply(question)
        await home.until_kind("x.c2a.turn")
        async with asyncio.timeout(60):
            while not (found := (await cards(home, question))["cards"]):
                await asyncio.sleep(0.05)
    kinds = [one["kind"] for one in found[0]["items"]]
    assert "tool" in kinds
    assert any("8080" in one.get("text", "") for one in found[0]["items"] if one["kind"] == "text")
