"""Opening a link of a space through a tool of the owner's that speaks MCP (A2ACP-206).

The owner names a server's command and which of its tools takes an address of which beginning; it is started
for one call, asked, and ended. What it says is somebody else's text: shown, cut, and taken for nothing else.
The address is of whoever wrote the field, so that a link is opened only when the owner asks for it.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.agent.spaces import links
from tacit.agent.spaces import sending as out
from tacit.base.errors import Refused, Unavailable
from tacit.base.quoting import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.a2acp.packets.packet import Fields
    from tacit.agent.kernel.io.core import AgentCore

SETTING: Final = "space_tools"
PATIENCE: Final = 30.0
LONGEST: Final = 20_000


async def add_tool(agent: AgentCore, name: str, definition: Fields) -> Fields:
    """Let links that begin in a certain way be opened by a tool."""
    links.check_tool(definition)
    found = await agent.revise(SETTING, lambda kept: {**kept, name: definition})
    return {"tools": sorted(found)}


async def opened(agent: AgentCore, space_id: str, path: str) -> Fields:
    """What a link leads to; the link as text where no tool is configured for it."""
    ws = agent.workspace()
    out.space_of(ws, space_id)
    url = links.url_of(out.value_of(ws, space_id, path))
    if url is None:
        raise Refused("no_link", "the field holds no link", row="A2ACP-206")
    tools = cast("Fields", ws.read(ws.book.settings.get(SETTING, "")) or {})
    name = links.opener(url, tools)
    if name is None:
        return {"url": url, "tool": None, "text": url}
    try:
        async with asyncio.timeout(PATIENCE):
            text = await _called(tools[name], url)
    except (TimeoutError, OSError) as fault:
        raise Unavailable(f"the tool for this link does not answer: {type(fault).__name__}") from None
    return {"url": url, "tool": name, "text": text}


async def _called(definition: Mapping[str, Any], url: str) -> str:
    from mcp import Client, MCPError
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program, *rest = definition["argv"]
    try:
        with Path(os.devnull).open("w") as unheard:  # noqa: ASYNC230 - a device that never blocks
            server = stdio_client(StdioServerParameters(command=program, args=rest), errlog=unheard)
            async with Client(server) as client:
                result = await client.call_tool(definition["tool"], {definition["argument"]: url})
    except (MCPError, RuntimeError, ExceptionGroup):
        raise Unavailable("the tool for this link does not answer") from None
    if result.is_error:
        raise Unavailable("the tool for this link could not open it")
    said = "\n".join(str(getattr(block, "text", "")) for block in result.content)
    return "\n".join(shown(line, LONGEST) for line in said[:LONGEST].splitlines())
