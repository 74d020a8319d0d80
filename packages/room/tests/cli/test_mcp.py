"""`tacit mcp` as a person and a client start it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tacit.bridges.mcp.tools import OFFERED
from tests.shell import TACIT

if TYPE_CHECKING:
    from tests.shell import Shell

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
LATER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}


@pytest.fixture
def room(shell: Shell) -> Shell:
    shell.start()
    shell.run("group", "new", "Lab")
    shell.run("actor", "add", "Lab", "ada")
    return shell


def token_of(shell: Shell, actor: str) -> str:
    kept = json.loads((shell.home / "config" / "tacit" / "tokens.json").read_text())
    return next(tokens[actor] for groups in kept.values() for tokens in groups.values() if actor in tokens)


async def listed(config: dict[str, object], shell: Shell) -> int:
    """How many tools a client finds with what was printed."""
    env = {**shell.env, **config["env"]}
    parameters = StdioServerParameters(command=TACIT, args=config["args"], env=env)
    async with Client(stdio_client(parameters)) as client:
        result = await client.call_tool("chat_list_events", {})
        assert not result.is_error, result.structured_content
        return len((await client.list_tools()).tools)


async def test_what_is_printed_for_a_client_lets_it_in_under_the_actors_kept_token(room: Shell) -> None:
    text = room.run("mcp", "--as", "ada", "--group", "Lab", "--print-config", "claude-code")
    assert token_of(room, "ada") not in text
    server = json.loads(text)["mcpServers"]["tacit"]
    assert server["args"] == ["mcp", "--as", "ada", "--group", "Lab"]
    assert "TACIT_TOKEN" not in server["env"]
    assert await listed(server, room) == len(OFFERED)


def test_a_token_is_printed_only_when_asked_for(room: Shell) -> None:
    token = token_of(room, "ada")
    named = room.run("mcp", "--print-config", "codex", "--name", "lab")
    assert tomllib.loads(named)["mcp_servers"]["lab"]["env_vars"] == ["TACIT_TOKEN"]
    assert token not in named
    remote = room.run("mcp", "--print-config", "gemini-cli", "--http", "--as", "ada")
    assert "$TACIT_TOKEN" in remote
    assert token not in remote
    for client in ("claude-code", "codex", "cursor", "gemini-cli", "opencode"):
        assert token in room.run("mcp", "--print-config", client, "--with-token", "--as", "ada")
    assert "Invalid value" in room.run("mcp", "--print-config", "notepad", code=2)
    assert "letters, digits" in room.run("mcp", "--print-config", "codex", "--name", "a.b", code=1)


def test_an_actor_that_is_not_meant_clearly_is_asked_for(room: Shell) -> None:
    assert "no token" in room.run("mcp", "--as", "zoe", code=1)
    room.run("actor", "add", "Lab", "bob")
    said = room.run("mcp", code=1)
    assert "ada in g_" in said
    assert "bob in g_" in said
    room.env["TACIT_TOKEN"] = "${TACIT_TOKEN}"
    assert "was not set where the client was started" in room.run("mcp", code=1)


async def test_the_command_ends_with_its_input_and_at_once_when_interrupted(shell: Shell) -> None:
    env = {**shell.env, "TACIT_URL": "http://127.0.0.1:9", "TACIT_TOKEN": "x" * 40}
    for ending, code in (("close", 0), ("interrupt", -signal.SIGINT)):
        process = await asyncio.create_subprocess_exec(
            TACIT, "mcp", env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        async with asyncio.timeout(60):
            answer = json.loads(await process.stdout.readline())
            assert answer["result"]["serverInfo"]["name"] == "tacit"
            if ending == "close":
                process.stdin.close()
            else:
                process.send_signal(signal.SIGINT)
            _, err = await process.communicate()
        assert (process.returncode, err) == (code, b"")


def test_without_the_sdk_the_command_says_what_to_install(room: Shell, tmp_path) -> None:
    def without(module: str, line: bytes) -> subprocess.CompletedProcess[bytes]:
        (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
        env = {**room.env, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [TACIT, "mcp", "--as", "ada"], env=env, input=line, capture_output=True, check=False
        )

    for module, line in (("jsonschema", b""), ("mcp", json.dumps(LATER).encode() + b"\n")):
        done = without(module, line)
        assert done.returncode == 3
        assert b"[mcp]'" in done.stderr
    served = without("mcp", json.dumps(HELLO).encode() + b"\n")
    assert json.loads(served.stdout)["result"]["serverInfo"]["name"] == "tacit"
    assert json.loads(room.run("mcp", "--as", "ada", "--print-config", "opencode"))["mcp"]["tacit"]["enabled"]
