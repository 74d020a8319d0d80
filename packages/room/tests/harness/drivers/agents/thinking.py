"""A small mind for test agents: Chat Completions at $MODEL_URL, with a tool loop. A program of its own, no Tacit in it.

It speaks MCP by itself: the official package takes more than a second of a processor to import, and some agents are
started for every turn. The drivers for OpenAI, Codex and Claude bring clients of their makers.
"""

import asyncio
import itertools
import json
import os
import urllib.error
import urllib.request
from contextlib import AsyncExitStack


def keep(file, messages):
    """Write a session down whole or not at all: the agent may be ended at any moment."""
    fresh = file.with_name(file.name + ".new")
    fresh.write_text(json.dumps(messages))
    fresh.replace(file)


class ModelFault(Exception):
    def __init__(self, status, retry_after=None):
        super().__init__(f"status {status}")
        self.status = status
        self.retry_after = retry_after


def ask(messages, tools):
    body = {"model": "scripted", "messages": messages}
    if tools:
        body["tools"] = tools
    request = urllib.request.Request(
        os.environ["MODEL_URL"] + "/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise ModelFault(error.code, error.headers.get("Retry-After")) from error
    except OSError as error:
        raise ModelFault(None) from error
    except ValueError as error:
        raise ModelFault(200) from error


class Tools:
    """An MCP server over stdio, and what it offers."""

    def __init__(self, command, environment):
        self._command = command
        kept = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
        self._environment = {name: os.environ[name] for name in kept if name in os.environ} | environment
        self._ids = itertools.count(1)

    async def __aenter__(self):
        self._server = await asyncio.create_subprocess_exec(
            *self._command,
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**24,
        )
        me = {"name": "small-mind", "version": "1"}
        await self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=me)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def __aexit__(self, *_):
        self._server.stdin.close()
        try:
            await asyncio.wait_for(self._server.wait(), 2)
        except TimeoutError:
            self._server.kill()
            await self._server.wait()

    def _write(self, message):
        self._server.stdin.write(json.dumps(message).encode() + b"\n")

    async def ask(self, method, **params):
        number = next(self._ids)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while line := await self._server.stdout.readline():
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message["result"]
        raise EOFError("the tool server is gone")


class Mind:
    """Thinks in a thread, so that the agent around it can be cancelled."""

    def __init__(self, run_in_thread, on_text, on_tool_started, on_tool_ended):
        self.run_in_thread = run_in_thread
        self.on_text = on_text
        self.on_tool_started = on_tool_started
        self.on_tool_ended = on_tool_ended
        self.usage = {"input": 0, "output": 0, "cached": 0}

    async def think(self, messages, servers):
        """The final text. `servers` are dicts with name, command, environment."""
        async with AsyncExitStack() as stack:
            offered, where = [], {}
            for server in servers:
                client = await stack.enter_async_context(Tools(server["command"], server["environment"]))
                for tool in (await client.ask("tools/list"))["tools"]:
                    wire = f"{server['name']}__{tool['name']}"
                    where[wire] = (client, server["name"], tool["name"])
                    offered.append(
                        {"type": "function", "function": {"name": wire, "parameters": tool["inputSchema"]}}
                    )
            return await self._loop(messages, offered, where)

    async def _loop(self, messages, offered, where):
        while True:
            answer = await self.run_in_thread(ask, messages, offered)
            counts = answer["usage"]
            self.usage["input"] += counts["prompt_tokens"]
            self.usage["output"] += counts["completion_tokens"]
            self.usage["cached"] += counts["prompt_tokens_details"]["cached_tokens"]
            message = answer["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                await self.on_text(message["content"])
                return message["content"]
            for call in message["tool_calls"]:
                client, server, tool = where[call["function"]["name"]]
                await self.on_tool_started(call["id"], f"{server}.{tool}")
                arguments = json.loads(call["function"]["arguments"])
                result = await client.ask("tools/call", name=tool, arguments=arguments)
                said = "\n".join(block["text"] for block in result["content"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
                await self.on_tool_ended(call["id"], f"{server}.{tool}", not result.get("isError"))
