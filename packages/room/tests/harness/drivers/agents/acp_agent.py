"""A small real ACP agent, written with the agent side of the official package."""

import asyncio
import json
import os
import uuid
from pathlib import Path

from acp import (
    PROTOCOL_VERSION,
    RequestError,
    run_agent,
    start_tool_call,
    update_agent_message_text,
    update_tool_call,
)
from acp.schema import (
    AgentCapabilities,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptCapabilities,
    PromptResponse,
    ToolCallUpdate,
    Usage,
)
from thinking import Mind, ModelFault, keep


def content(block):
    if block.type == "image":
        return [{"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}]
    return block.text


class SmallAgent:
    def __init__(self):
        self.servers = []
        self.thinking = None

    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                load_session=True, prompt_capabilities=PromptCapabilities(image=True)
            ),
        )

    async def new_session(self, cwd, mcp_servers=None, **_):
        self._keep(mcp_servers)
        if "SIGNED_OUT" in os.environ:
            raise RequestError.auth_required()
        return NewSessionResponse(session_id=uuid.uuid4().hex)

    async def load_session(self, cwd, session_id, mcp_servers=None, **_):
        self._keep(mcp_servers)
        if not self._file(session_id).exists():
            raise RequestError.resource_not_found(session_id)
        return LoadSessionResponse()

    def _keep(self, servers):
        self.servers = [
            {"name": s.name, "command": [s.command, *s.args], "environment": {e.name: e.value for e in s.env}}
            for s in servers or []
        ]

    def _file(self, session_id):
        return Path(os.environ["HOME"]) / session_id

    async def prompt(self, session_id, prompt, **_):
        file = self._file(session_id)
        earlier = json.loads(file.read_text()) if file.exists() else []
        said = [{"role": "user", "content": content(block)} for block in prompt]

        async def on_text(text):
            await self.client.session_update(session_id, update_agent_message_text(text))

        async def on_tool_started(call_id, name):
            await self.client.session_update(session_id, start_tool_call(call_id, name, status="in_progress"))

        async def on_tool_ended(call_id, name, ok):
            status = "completed" if ok else "failed"
            await self.client.session_update(session_id, update_tool_call(call_id, status=status))
            await asyncio.sleep(0)

        if getattr(prompt[-1], "text", "").startswith("MAY I "):
            kind = prompt[-1].text.removeprefix("MAY I ")
            options = [
                PermissionOption(option_id="y", name="Yes", kind="allow_once"),
                PermissionOption(option_id="n", name="No", kind="reject_once"),
            ]
            kind, _, line = kind.partition(": ")
            given = {"raw_input": {"command": line}} if line else {}
            call = ToolCallUpdate(tool_call_id="p1", title="something", kind=kind, **given)
            answer = await self.client.request_permission(
                session_id=session_id, tool_call=call, options=options
            )
            await on_text(answer.outcome.option_id)
            return PromptResponse(stop_reason="end_turn")

        mind = Mind(asyncio.to_thread, on_text, on_tool_started, on_tool_ended)
        self.thinking = asyncio.create_task(mind.think([*earlier, *said], self.servers))
        try:
            text = await asyncio.shield(self.thinking)
        except asyncio.CancelledError:
            return PromptResponse(stop_reason="cancelled")
        except ModelFault as fault:
            raise RequestError(
                -32000 if fault.status == 401 else -32602 if fault.status == 400 else -32603, "model"
            ) from fault
        keep(file, [*earlier, *said, {"role": "assistant", "content": text}])
        counts = mind.usage
        usage = Usage(
            total_tokens=counts["input"] + counts["output"],
            input_tokens=counts["input"],
            output_tokens=counts["output"],
            cached_read_tokens=counts["cached"],
        )
        return PromptResponse(stop_reason="end_turn", usage=usage)

    async def cancel(self, session_id, **_):
        if self.thinking is not None:
            self.thinking.cancel()


def main():
    loop = asyncio.new_event_loop()
    loop.run_until_complete(run_agent(SmallAgent()))
    os._exit(0)  # a call that still hangs in a thread must not hold the process


main()
