"""A small mind for test agents: Chat Completions at $MODEL_URL, with a tool loop. A program of its own, no Tacit in it."""

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
                from mcp import Client, StdioServerParameters

                program, *arguments = server["command"]
                parameters = StdioServerParameters(command=program, args=arguments, env=server["environment"])
                client = await stack.enter_async_context(Client(parameters))
                for tool in (await client.list_tools()).tools:
                    wire = f"{server['name']}__{tool.name}"
                    where[wire] = (client, server["name"], tool.name)
                    offered.append(
                        {"type": "function", "function": {"name": wire, "parameters": tool.input_schema}}
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
                result = await client.call_tool(tool, json.loads(call["function"]["arguments"]))
                said = "\n".join(block.text for block in result.content)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": said})
                await self.on_tool_ended(call["id"], f"{server}.{tool}", not result.is_error)
