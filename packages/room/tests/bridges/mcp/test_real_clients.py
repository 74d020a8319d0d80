"""What reaches the model: Codex and Claude Code themselves, with the configuration that the command prints.

Both hand their model the structure of a result and not its text; so what marks quoted chat has to stand there. And the
very first request has the room's tools.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tacit.base.mcp_configs import ConfigEntry, config_for
from tacit.bridges.mcp.results import NOTICE
from tacit.harness.drivers.claude import QUIET
from tests.bridges.mcp.rooms import TACIT, environment, group_of
from tests.model_server import Call, ModelServer, Say

if TYPE_CHECKING:
    from tests.hub.room import Room

MARKER = "the harbour crane is number forty-one"


def codex(entry: ConfigEntry, folder: Path, model: ModelServer) -> tuple[list[str], dict[str, str]]:
    from codex_cli_bin import bundled_codex_path

    home = folder / "codex"
    home.mkdir()
    provider = (
        'model = "scripted"\nmodel_provider = "here"\n\n[model_providers.here]\nname = "here"\n'
        f'base_url = "{model.url}/v1"\nwire_api = "responses"\nenv_key = "MODEL_KEY"\n\n'
    )
    (home / "config.toml").write_text(provider + config_for("codex", entry) + "\n")
    line = [
        str(bundled_codex_path()),
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
    ]
    return [*line, "look into your inbox"], {"CODEX_HOME": str(home), "MODEL_KEY": "k3y"}


def claude(entry: ConfigEntry, folder: Path, model: ModelServer) -> tuple[list[str], dict[str, str]]:
    import claude_agent_sdk

    program = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    (folder / "mcp.json").write_text(config_for("claude-code", entry))
    line = [
        str(program),
        "-p",
        "--model",
        "scripted",
        "--mcp-config",
        str(folder / "mcp.json"),
        "--strict-mcp-config",
    ]
    line += ["--allowedTools", "mcp__tacit", "--", "look into your inbox"]
    config = folder / "claude"
    config.mkdir()
    return line, {
        **QUIET, "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "k3y", "CLAUDE_CONFIG_DIR": str(config),
    }  # fmt: skip


@pytest.mark.spec("C2A-169", "C2A-201")
@pytest.mark.parametrize("client", [codex, claude])
async def test_the_first_request_has_the_tools_and_what_is_quoted_is_marked(
    room: Room, tmp_path: Path, client
) -> None:
    group = await group_of(room, ada=[])
    await group.say(f"@ada remember: {MARKER}")
    entry = ConfigEntry(room.url, command=TACIT, token=group.tokens["ada"])

    def script(seen):
        quoted = json.dumps(seen.body)
        if MARKER in quoted:
            return Say("I have seen it.")
        return Call(seen.offered("chat_list_events"), {"openOnly": True})

    async with ModelServer(is_aside=lambda seen: not any("chat_" in tool for tool in seen.tools)) as model:
        model.follow(script)
        line, more = client(entry, tmp_path, model)
        (tmp_path / "work").mkdir()
        process = await asyncio.create_subprocess_exec(
            *line,
            env=environment(**more, HOME=str(tmp_path)),
            cwd=tmp_path / "work",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        async with asyncio.timeout(120):
            said, _ = await process.communicate()
        assert model.asides == [], "a request went out before the tools were there"
        assert len(model.calls) == 2, said.decode()
        request = json.dumps(model.calls[1].body)
        assert NOTICE in request
        assert request.index(NOTICE) < request.index(MARKER)
