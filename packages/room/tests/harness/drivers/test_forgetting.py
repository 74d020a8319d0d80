"""A turn that is to be forgotten: no earlier turn is in it, it is in no later one, and nothing of it is on the disk."""

import asyncio
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.harness.drivers.catalogue import build
from tacit.harness.drivers.options import PASSING
from tacit.harness.drivers.port import FailureKind, TurnRequest
from tests.harness.drivers.rigs import (
    PATIENCE,
    RULES,
    RecordingWatch,
    alive,
    kill,
    named,
    offspring,
    soon,
    turn,
    until,
)
from tests.model_server import Held, Say
from tools.places import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")
STRICT = {
    "type": "object",
    "properties": {"when": {"type": "string"}},
    "required": ["when"],
    "additionalProperties": False,
}
LOOSE = {"type": "object", "properties": {"when": {"type": "string"}}}


def passing(prompt: str, *, rules: str = RULES, schema=None, time_limit: float = PATIENCE) -> TurnRequest:
    return replace(turn(prompt, rules=rules, time_limit=time_limit), forget=True, schema=schema)


def left(folder: Path, *marks: str) -> list[str]:
    """The files under a folder that hold any of these words."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            found += [str(path.relative_to(folder)) for mark in marks if mark.encode() in data]
    return found


def body(seen) -> str:
    return str(seen.body)


@pytest.mark.spec("A2ACP-064")
async def test_nothing_of_a_forgotten_turn_is_in_a_later_request_or_on_the_disk(
    rig, tmp_path, model, monkeypatch
):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    driver = rig.driver(tmp_path / "state", model)
    model.script(Say("saffron-answer"), Say("second"), Say("third"))
    first = await soon(driver.run(passing("about saffron-a", rules="PROFILE saffron-b"), RecordingWatch()))
    assert first.text == "saffron-answer"
    assert first.session_id is None
    # A program of the person's own keeps what it likes, where it likes: it is told that it should not.
    own = tmp_path / "state" / "program"
    assert [
        one
        for one in left(tmp_path, "saffron")
        if rig.name != "command" or not (tmp_path / one).is_relative_to(own)
    ] == []
    watch = RecordingWatch()
    assert (await soon(driver.run(passing("about turmeric"), watch))).text == "second"
    assert watch.sessions == []
    assert (await soon(driver.run(turn("an ordinary turn"), RecordingWatch()))).text == "third"
    assert "saffron" in body(model.calls[0])
    assert "saffron" not in body(model.calls[1]) + body(model.calls[2])
    assert "turmeric" not in body(model.calls[2])
    await soon(driver.close())
    assert not (tmp_path / "state" / PASSING).exists()


async def test_an_ordinary_session_goes_on_around_a_forgotten_turn(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    model.script(Say("one"), Say("two"), Say("three"))
    await soon(driver.run(turn("remember the cumin"), RecordingWatch()))
    await soon(driver.run(passing("about nothing"), RecordingWatch()))
    await soon(driver.run(turn("what was it?"), RecordingWatch()))
    await soon(driver.close())
    assert "cumin" not in body(model.calls[1])
    assert "cumin" in body(model.calls[2])


@pytest.mark.parametrize("rig", named("codex", "claude"), indirect=True, scope="module")
async def test_an_agent_of_ones_own_keeps_nothing_of_a_forgotten_turn_in_ones_home(
    rig, tmp_path, model, monkeypatch
):
    home = tmp_path / "home"
    ran = tmp_path / "ran"
    for name, text in {
        ".codex/config.toml": f'[mcp_servers."the.poison"]\ncommand = "touch"\nargs = ["{ran}"]\n',
        ".claude/CLAUDE.md": "POISON\n",
        ".claude/settings.json": '{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": '
        f'"touch {ran}"'
        "}]}]}}",
        ".claude.json": f'{{"mcpServers": {{"poison": {{"command": "touch", "args": ["{ran}"]}}}}}}',
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k3y-of-the-model")
    driver = build(rig.name, replace(rig.options(tmp_path / "state", model), use_my_config=True))
    model.script(Say("saffron-answer"), Say("second"))
    asked = passing("about saffron-a", rules="PROFILE saffron-b")
    assert (await soon(driver.run(asked, RecordingWatch()))).text == "saffron-answer"
    assert (await soon(driver.run(passing("about turmeric"), RecordingWatch()))).text == "second"
    await soon(driver.close())
    assert left(tmp_path, "saffron", "turmeric") == []
    assert "saffron" not in body(model.calls[1])
    assert not ran.exists()
    assert not any("POISON" in body(seen) for seen in model.calls)


@pytest.mark.parametrize("rig", named("codex", "claude"), indirect=True, scope="module")
async def test_in_a_forgotten_turn_an_agent_has_no_tools_that_reach_anything(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    model.script(Say("ok"))
    await soon(driver.run(passing("hello"), RecordingWatch()))
    await soon(driver.close())
    # Codex cannot be without this one; it asks a person, and nobody is asked.
    assert set(model.calls[0].tools) <= {"request_user_input"}


async def test_what_is_ours_in_a_forgotten_turn_stands_on_no_command_line(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    held = Held(Say("ok"))
    model.script(held)
    was = offspring()
    running = asyncio.create_task(
        driver.run(passing("words-of-saffron", rules="rules-of-saffron"), RecordingWatch())
    )
    await soon(held.arrived.wait())
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in offspring() - was]
    held.release()
    assert (await soon(running)).text == "ok"
    await soon(driver.close())
    assert not any("saffron" in line for line in lines)


async def test_a_forgotten_turn_that_is_cancelled_leaves_nothing(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    held = Held(Say("never"))
    model.script(held)
    was = offspring()
    asked = passing("about saffron")
    running = asyncio.create_task(driver.run(asked, RecordingWatch()))
    await soon(held.arrived.wait())
    await driver.cancel(asked.turn_id)
    outcome = await soon(running)
    assert outcome.failure is not None
    assert outcome.failure.kind is FailureKind.CANCELLED
    assert not (tmp_path / "state" / PASSING).exists()
    await until(lambda: not alive(offspring() - was))
    await soon(driver.close())


# The others have no process of an agent's that holds what was said.
@pytest.mark.parametrize("rig", named("codex", "claude", "acp"), indirect=True, scope="module")
async def test_a_forgotten_turn_whose_agent_is_killed_fails_and_leaves_nothing(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    held = Held(Say("never"))
    model.script(held, Say("again"))
    was = offspring()
    running = asyncio.create_task(driver.run(passing("about saffron"), RecordingWatch()))
    await soon(held.arrived.wait())
    kill(offspring() - was)
    outcome = await soon(running)
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.code) == (FailureKind.RETRYABLE, "agent_died")
    assert not (tmp_path / "state" / PASSING).exists()
    assert (await soon(driver.run(passing("about turmeric"), RecordingWatch()))).text == "again"
    assert "saffron" not in body(model.calls[1])
    await soon(driver.close())


ORPHAN = """
    import asyncio, sys
    from pathlib import Path
    from tests.harness.drivers.rigs import RIGS, RecordingWatch
    from tests.harness.drivers.test_forgetting import passing

    class Model:
        url = sys.argv[3]

    rig = next(one for one in RIGS if one.name == sys.argv[1])
    driver = rig.driver(Path(sys.argv[2]), Model)
    asyncio.run(driver.run(passing("about saffron", rules="saffron"), RecordingWatch()))
"""


@pytest.mark.parametrize("rig", named("codex", "claude"), indirect=True, scope="module")
async def test_what_a_killed_process_left_of_such_a_turn_goes_before_the_next_one(rig, tmp_path, model):
    state = tmp_path / "state"
    held = Held(Say("never"))
    model.script(held, Say("fresh"))
    line = [sys.executable, "-c", textwrap.dedent(ORPHAN), rig.name, str(state), model.url]
    orphan = subprocess.Popen(line, cwd=ROOT)
    await soon(held.arrived.wait())
    below = offspring(orphan.pid)
    orphan.kill()
    orphan.wait()
    assert (state / PASSING).exists()
    driver = rig.driver(state, model)
    assert (await soon(driver.run(passing("about turmeric"), RecordingWatch()))).text == "fresh"
    await soon(driver.close())
    assert alive(below) == set()
    assert left(tmp_path, "saffron", "turmeric") == []
    assert "saffron" not in body(model.calls[1])


async def test_tokens_of_each_forgotten_turn_are_counted_whole(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    model.script(Say("one"), Say("two"))
    found = [(await soon(driver.run(passing("hello"), RecordingWatch()))).usage for _ in range(2)]
    await soon(driver.close())
    assert found[0] == found[1]
    assert (found[0].input, found[0].output) == (100, 20)


@pytest.mark.parametrize("rig", named("openai", "codex"), indirect=True, scope="module")
async def test_an_answers_schema_reaches_the_model_where_there_is_a_way(rig, tmp_path, model):
    driver = rig.driver(tmp_path / "state", model)
    model.script(Say("{}"), Say("{}"), Say("{}"))
    for schema in (STRICT, LOOSE, None):
        await soon(driver.run(passing("when?", schema=schema), RecordingWatch()))
    await soon(driver.close())
    if rig.name == "codex":  # it asks for the strict form alone
        shapes = [seen.body.get("text", {}).get("format") for seen in model.calls]
        assert (shapes[0]["schema"], shapes[0]["strict"]) == (STRICT, True)
        assert shapes[1] is None
    else:
        shapes = [seen.body.get("response_format") for seen in model.calls]
        assert shapes[0]["json_schema"] == {"name": "answer", "schema": STRICT, "strict": True}
        assert shapes[1]["json_schema"] == {"name": "answer", "schema": LOOSE, "strict": False}
    assert shapes[2] is None
