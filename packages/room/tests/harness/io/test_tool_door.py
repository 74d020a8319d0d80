"""The door for a driver's agent, met with the official MCP client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tacit.harness import chat_tools
from tacit.harness.io.tool_door import LINE, ToolDoor
from tests.c2a_peer import TOOLS

LISTED = chat_tools.listed(
    [
        {"name": name, "description": name, "inputSchema": {"type": "object"}, "annotations": {}}
        for name in TOOLS
    ]
)


@pytest.fixture
async def door():
    calls, audiences, others = [], [], asyncio.Event()

    async def call(name, arguments, audience):
        calls.append((name, arguments))
        audiences.append(audience)
        if name == "chat_claim":
            await others.wait()
        return chat_tools.result_for_model({"ok": name != "chat_react", "name": name})

    async with ToolDoor(call, lambda: LISTED) as opened:
        opened.calls, opened.others, opened.audiences = calls, others, audiences
        yield opened


def started(door, **changes):
    program = door.program()
    environment = {**os.environ, **program.environment, **changes}
    return stdio_client(
        StdioServerParameters(command=program.command[0], args=list(program.command[1:]), env=environment)
    )


async def test_the_official_client_lists_and_calls_the_tools(door):
    async with started(door) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == {name.replace(".", "_") for name in TOOLS}
        slow = asyncio.create_task(client.call_tool("chat_claim", {"eventId": "e1"}))
        good = await client.call_tool("chat_send_message", {"content": "hi"})
        bad = await client.call_tool("chat_react", {"signal": "seen"})
        door.others.set()  # a slow call does not hold up those that come after it
        await slow
    assert good.content[0].text == '{"ok":true,"name":"chat_send_message"}'
    assert bad.model_dump(by_alias=True)["isError"] is True
    assert {name for name, _ in door.calls} == {"chat_claim", "chat_send_message", "chat_react"}


async def test_whoever_does_not_know_the_key_is_not_let_in(door):
    reader, writer = await asyncio.open_unix_connection(door.program().environment["TACIT_TOOLS_SOCKET"])
    writer.write(b"guess\n" + b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert door.calls == []


async def test_rubbish_is_answered_and_the_line_lives(door):
    environment = door.program().environment
    reader, writer = await asyncio.open_unix_connection(environment["TACIT_TOOLS_SOCKET"])
    writer.write(environment["TACIT_TOOLS_KEY"].encode() + b"\nnot json\n")
    writer.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert b"-32600" in await reader.readline()
    assert b'"id":1' in await reader.readline()
    writer.close()
    await writer.wait_closed()


async def test_rubbish_of_the_right_shape_and_a_line_beyond_measure_upset_nobody(door):
    upset = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: upset.append(context))
    environment = door.program().environment
    reader, writer = await asyncio.open_unix_connection(environment["TACIT_TOOLS_SOCKET"])
    writer.write(environment["TACIT_TOOLS_KEY"].encode() + b"\n")
    writer.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}\n')
    writer.write(b'{"jsonrpc":"2.0","id":2,"method":' + b"[" * 100_000 + b"\n")
    assert b"-32602" in await reader.readline()
    assert b"-32600" in await reader.readline()
    with contextlib.suppress(ConnectionError):
        writer.write(b"x" * (LINE + 2**20))
        assert await reader.read() == b""
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    async with asyncio.timeout(60):
        while door._guests:
            await asyncio.sleep(0.01)
    assert upset == []


async def test_the_pipe_says_so_when_no_harness_runs(tmp_path, door):
    program = door.program()
    environment = {**os.environ, "TACIT_TOOLS_SOCKET": str(tmp_path / "gone")}
    process = await asyncio.create_subprocess_exec(
        *program.command, env=environment, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    assert process.returncode == 1
    assert b"is not running" in said


@pytest.mark.spec("C2A-203")
async def test_a_call_says_for_whom_it_is_made_by_the_key_it_came_with(door):
    for audience in ("", "ada+usr:bo"):
        environment = door.program(audience).environment
        reader, writer = await asyncio.open_unix_connection(environment["TACIT_TOOLS_SOCKET"])
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {}}}
        writer.write(environment["TACIT_TOOLS_KEY"].encode() + b"\n" + json.dumps(call).encode() + b"\n")
        await reader.readline()
        writer.close()
        await writer.wait_closed()
    assert door.audiences == ["", "ada+usr:bo"]
    assert door.program("ada+usr:bo") == door.program("ada+usr:bo")
    assert door.program("ada+usr:bo") != door.program()
