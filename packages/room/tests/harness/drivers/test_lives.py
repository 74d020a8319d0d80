"""Beginnings and ends: sessions that outlive processes, processes that die, and nothing left behind."""

import asyncio
import os
import sys

import pytest

from tacit.harness.drivers.port import FailureKind, StandingInstructions
from tests.harness.drivers.rigs import RULES, RecordingWatch, alive, kill, named, offspring, soon, turn, until
from tests.model_server import Call, Held, Say
from tools.places import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_session_goes_on_in_a_new_process(rig, tmp_path, model):
    first = rig.driver(tmp_path, model)
    await soon(first.start(StandingInstructions(RULES)))
    model.script(Say("I shall remember"))
    outcome = await soon(first.run(turn("REMEMBER THE HERON"), RecordingWatch()))
    await soon(first.close())
    second = rig.driver(tmp_path, model)
    await soon(second.start(StandingInstructions(RULES), outcome.session_id))
    model.script(Say("a heron"))
    again = await soon(second.run(turn("which bird?"), RecordingWatch()))
    await soon(second.close())
    assert again.text == "a heron"
    assert again.session_id == outcome.session_id
    assert any("REMEMBER THE HERON" in text for text in model.calls[0].texts("user"))
    assert (again.usage, again.cost_usd) == (outcome.usage, pytest.approx(outcome.cost_usd))


async def test_a_session_that_is_no_longer_there_begins_anew(rig, tmp_path, model):
    driver = rig.driver(tmp_path, model)
    await soon(driver.start(StandingInstructions(RULES), "01a1ddb4-847e-7242-9918-9068f14ff61a"))
    model.script(Say("hello"))
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "hello"
    await soon(driver.close())


async def test_changed_rules_are_obeyed_from_the_next_turn_on(rig, tmp_path, model):
    driver = rig.driver(tmp_path, model)
    model.script(Say("one"), Say("two"))
    await soon(driver.run(turn("FIRST PROMPT", rules="RULES OF MAY"), RecordingWatch()))
    assert (
        await soon(driver.run(turn("SECOND PROMPT", rules="RULES OF JUNE"), RecordingWatch()))
    ).text == "two"
    await soon(driver.close())
    assert any("RULES OF JUNE" in text for text in model.calls[1].texts(*rig.rules_in))
    assert any("FIRST PROMPT" in text for text in model.calls[1].texts("user"))


async def test_close_ends_every_process_it_started(rig, tmp_path, model, tools):
    before = offspring()
    driver = rig.driver(tmp_path, model)
    await soon(driver.start(StandingInstructions(RULES, tools)))
    held = Held(Say("too late"))
    model.script(held)
    running = asyncio.create_task(driver.run(turn(tools=tools), RecordingWatch()))
    await soon(held.arrived.wait())
    started = offspring() - before
    assert started
    await soon(driver.close(), 10)
    assert (await soon(running)).failure.kind is FailureKind.CANCELLED
    assert alive(started) == set()
    await driver.close()


# `openai` has no process; what happens when its tools are killed is below.
@pytest.mark.parametrize("rig", named("codex", "claude", "acp", "command"), indirect=True, scope="module")
async def test_a_killed_agent_is_a_failure_to_try_again(rig, tmp_path, model):
    driver = rig.driver(tmp_path, model)
    before = offspring()
    held = Held(Say("never said"))
    model.script(Say("alive"), held, Say("alive again"))
    first = await soon(driver.run(turn("BEFORE"), RecordingWatch()))
    running = asyncio.create_task(driver.run(turn(), RecordingWatch()))
    await soon(held.arrived.wait())
    kill(offspring() - before)
    outcome = await soon(running, 10)
    assert (outcome.failure.kind, outcome.failure.code) == (FailureKind.RETRYABLE, "agent_died")
    again = await soon(driver.run(turn(), RecordingWatch()))
    assert (again.text, again.session_id) == ("alive again", first.session_id)
    assert any("BEFORE" in text for text in model.calls[-1].texts("user"))
    await soon(driver.close())


async def test_a_killed_agent_between_turns_is_not_noticed(rig, tmp_path, model):
    driver = rig.driver(tmp_path, model)
    before = offspring()
    model.script(Say("one"), Say("two"))
    await soon(driver.run(turn(), RecordingWatch()))
    started = offspring() - before
    kill(started)
    await until(lambda: not alive(started) and not (rig.has_process and driver._room.backend.alive))
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "two"
    await soon(driver.close())


@pytest.mark.parametrize("rig", named("openai"), indirect=True, scope="module")
async def test_killed_tools_are_told_to_the_model_and_started_again(rig, tmp_path, model, tools):
    before = offspring()
    driver = rig.driver(tmp_path, model)
    await soon(driver.start(StandingInstructions(RULES, tools)))
    held = Held(Call("read_note", {"name": "x"}))
    model.script(held, Say("no tool"), Call("read_note", {"name": "x"}), Say("tool again"))
    running = asyncio.create_task(driver.run(turn(tools=tools), RecordingWatch()))
    await soon(held.arrived.wait())
    kill(offspring() - before)
    held.release()
    watch = RecordingWatch()
    assert (await soon(running)).text == "no tool"
    assert (await soon(driver.run(turn(tools=tools), watch))).text == "tool again"
    assert [ended.ok for ended in watch.boundaries] == [True]
    await soon(driver.close())


HOST = """
import asyncio, sys
from pathlib import Path
from types import SimpleNamespace
from tests.harness.drivers.rigs import RIGS, RecordingWatch, turn

async def main(name, state, url):
    rig = next(rig for rig in RIGS if rig.name == name)
    await rig.driver(Path(state), SimpleNamespace(url=url)).run(turn(), RecordingWatch())

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("rig", named("codex", "claude", "acp", "command"), indirect=True, scope="module")
async def test_an_agent_left_behind_by_a_killed_harness_does_not_work_on(rig, tmp_path, model):
    root = str(ROOT)
    held = Held(Say("from the grave"))
    model.script(held, Say("alive"))
    host = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOST,
        rig.name,
        str(tmp_path),
        model.url,
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
    )
    await soon(held.arrived.wait())
    left = offspring(host.pid)
    assert left
    host.kill()
    await host.wait()
    driver = rig.driver(tmp_path, model)
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "alive"
    assert alive(left) == set()
    await soon(driver.close())
    assert not (tmp_path / "agent.pid").exists()
