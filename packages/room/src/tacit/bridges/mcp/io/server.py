"""The MCP server of a room, on the SDK's low-level server: the same for stdio and for `/mcp`.

Rows: C2A-139, C2A-169, C2A-201. Who calls comes from the door that the request entered by, for each request
anew. What is said is `tacit.bridges.mcp.surface` and `tacit.bridges.mcp.calls`; here it gets the SDK's types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from tacit.base.version import version
from tacit.bridges.mcp import calls, resources, surface
from tacit.bridges.mcp.results import error_of
from tacit.c2a.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from tacit.base.ports import Clock
    from tacit.bridges.mcp.port import ToolCaller

    Context = ServerRequestContext[Any, Any]

RESOURCE_NOT_FOUND: Final = -32602


def room_server(caller_of: Callable[[Context], ToolCaller], clock: Clock) -> Server[Any]:
    """The server; `caller_of` says under whose session a request runs."""
    door = _Door(caller_of, clock)
    return Server(
        surface.NAME,
        version=version(),
        title=surface.TITLE,
        instructions=surface.instructions(),
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
    )


class _Door:
    """The handlers, by the SDK's names for them."""

    def __init__(self, caller_of: Callable[[Context], ToolCaller], clock: Clock) -> None:
        self._caller_of = caller_of
        self._clock = clock

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(surface.tools())

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller = self._caller_of(context)
        result = await calls.call_tool(caller, params.name, params.arguments or {}, self._clock.now())
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=result.structure,
            is_error=result.is_error,
        )

    async def list_resources(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate(surface.listed_resources())

    async def list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate(surface.templates())

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        text = await calls.read_resource(self._caller_of(context), str(params.uri))
        if text is None:
            raise MCPError(RESOURCE_NOT_FOUND, surface.NO_SUCH_RESOURCE)
        if isinstance(text, Refusal):
            # A resource has no place for a refusal but the error itself.
            raise MCPError(text.number, text.message, error_of(text))
        contents = types.TextResourceContents(uri=params.uri, mime_type=resources.MIME, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate(surface.prompts())

    async def get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        found = surface.prompt(params.name)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, surface.NO_SUCH_PROMPT)
        return types.GetPromptResult.model_validate(found)
