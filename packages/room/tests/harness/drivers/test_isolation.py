"""A person's own configuration is neither read nor changed, and nobody but the model is spoken to."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.harness.drivers.catalogue import build
from tacit.harness.drivers.port import FailureKind, StandingInstructions
from tests.harness.drivers.rigs import RULES, RecordingWatch, named, offspring, soon, turn
from tests.model_server import Say

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Doorkeeper:
    """Stands where a proxy would be and notes who wants to go out."""

    async def __aenter__(self):
        self.wanted = []
        self._server = await asyncio.start_server(self._note, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def _note(self, reader, writer):
        self.wanted.append((await reader.readline()).decode(errors="replace").strip())
        writer.close()

    async def __aexit__(self, *exc):
        self._server.close()
        await self._server.wait_closed()


@pytest.fixture
def person(tmp_path, monkeypatch):
    """A person with a home full of settings, keys in the environment, and a token of the room."""
    home = tmp_path / "person"
    for name, text in {
        ".codex/config.toml": 'model = "poisoned"\ndeveloper_instructions = "POISON"\n',
        ".codex/AGENTS.md": "POISON\n",
        ".claude/CLAUDE.md": "POISON\n",
        ".claude/settings.json": '{"model": "poisoned", "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}}\n',
        ".claude.json": '{"mcpServers": {"poison": {"command": "false"}}}\n',
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "POISON")
    monkeypatch.setenv("SOME_SECRET", "POISON")
    monkeypatch.setenv("TACIT_TOKEN", "POISON")
    return home


def contents(home: Path) -> dict:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def environment_of(pid: int) -> str:
    return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")


# A program of the person's own runs as theirs, so `command` is not here.
@pytest.mark.parametrize("rig", named("codex", "claude", "acp", "openai"), indirect=True, scope="module")
async def test_an_agent_sees_nothing_of_the_person_and_speaks_to_the_model_alone(
    rig, tmp_path, model, person, monkeypatch
):
    async with Doorkeeper() as doorkeeper:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, doorkeeper.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
        before, was = contents(person), offspring()
        driver = rig.driver(tmp_path / "state", model)
        await soon(driver.start(StandingInstructions(RULES)))
        environments = [environment_of(pid) for pid in offspring() - was]
        model.script(Say("quiet"), Say("still quiet"))
        for expected in ("quiet", "still quiet"):
            assert (await soon(driver.run(turn(), RecordingWatch()))).text == expected
        await soon(driver.close())
    assert doorkeeper.wanted == []
    assert model.others == []
    assert contents(person) == before
    assert not any("POISON" in environment for environment in environments)
    for seen in model.calls:
        assert "POISON" not in str(seen.body)
        assert "POISON" not in str(seen.headers)


# Agents behind `acp` and `command` bring their own keys.
@pytest.mark.parametrize("rig", named("codex", "claude", "openai"), indirect=True, scope="module")
async def test_the_key_reaches_the_model_and_stands_on_no_command_line(rig, tmp_path, model, tools):
    was = offspring()
    driver = rig.driver(tmp_path, model)
    await soon(driver.start(StandingInstructions(RULES, tools)))
    lines = [Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in offspring() - was]
    model.script(Say("ok"))
    await soon(driver.run(turn(tools=tools), RecordingWatch()))
    await soon(driver.close())
    sent = model.calls[0].headers
    assert "k3y-of-the-model" in str(sent.get("Authorization")) + str(
        sent.get("X-Api-Key", sent.get("x-api-key"))
    )
    assert not any("k3y-of-the-model" in line or "secret-of-the-room" in line for line in lines)
    left = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"secret-of-the-room" not in left
    assert b"k3y-of-the-model" not in left


@pytest.mark.parametrize("rig", named("codex", "claude"), indirect=True, scope="module")
async def test_with_my_config_an_agent_is_mine(rig, tmp_path, model, person, monkeypatch):
    (person / ".claude" / "settings.json").write_text("{}")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "k3y-of-the-model")
    driver = build(rig.name, replace(rig.options(tmp_path / "state", model), use_my_config=True))
    model.script(Say("as you like it"))
    assert (await soon(driver.run(turn(), RecordingWatch()))).text == "as you like it"
    await soon(driver.close())
    assert "POISON" in str(model.calls[0].body)


@pytest.mark.parametrize("rig", named("claude"), indirect=True, scope="module")
async def test_without_a_key_or_an_account_an_agent_is_signed_out(rig, tmp_path, model, person):
    driver = rig.driver(tmp_path / "state", model, key="")
    model.script()
    failure = (await soon(driver.run(turn(), RecordingWatch()))).failure
    await soon(driver.close())
    assert (failure.kind, failure.code) == (FailureKind.PERMANENT, "signed_out")
    assert model.calls == []
