"""The MCP server of Tacit, for hub and personal agent alike: the SDK's, over stdio and behind `POST /mcp`.

C2A-139, C2A-169, C2A-201, A2ACP-264, A2ACP-266. What is served is a `Surface`; who calls comes from the way
by which a request entered, for each request anew. Where a client opens pages for its person (URL
elicitation), a call that has to wait for a person names the page: as an error up to 2025-11-25, as a result
that requires input since 2026-07-28. The link goes to a client that said it can show one, and never into a
result, which a model reads. A form is never asked for: a model could fill it in. What a client says that its
person answered there is not looked at.

The SDK is heavy and an extra (`mcp`): this module is imported when it is used.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Final, Generic, cast

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError

from tacit.base.tool_results import CALLER, Caller, Fault, Surface
from tacit.base.version import version

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp.server.context import ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.requests import Request

    from tacit.base.tool_results import Page

    Context = ServerRequestContext[Any, Any]

INPUT_REQUIRED: Final = "2026-07-28"
"""The version since which a call that needs the person ends with a result, to be called again."""
MOST_NAMED: Final = 1000
_LISTS: Final[dict[str, tuple[str, type[types.Result]]]] = {
    "tools/list": ("on_list_tools", types.ListToolsResult),
    "resources/list": ("on_list_resources", types.ListResourcesResult),
    "resources/templates/list": ("on_list_resource_templates", types.ListResourceTemplatesResult),
    "prompts/list": ("on_list_prompts", types.ListPromptsResult),
}


def mcp_server(surface: Surface[Caller], caller_of: Callable[[Context], Caller]) -> Server[Any]:
    """A server of this surface; `caller_of` says for whom a request runs."""
    lists: dict[str, Any] = {
        argument: _listing(kind, surface.lists[method])
        for method, (argument, kind) in _LISTS.items()
        if method in surface.lists
    }
    return Server(
        surface.name,
        version=version(),
        title=surface.title,
        instructions=surface.instructions,
        on_call_tool=_Calls(surface, caller_of).call_tool,
        on_read_resource=_reading(surface.read, caller_of) if surface.read is not None else None,
        on_get_prompt=_prompting(surface.prompt) if surface.prompt is not None else None,
        **lists,
    )


async def serve_stdio(surface: Surface[Caller], caller: Caller, first: bytes = b"") -> None:
    """Serve one client on stdin and stdout until it closes our input, of which `first` was read already."""
    server = mcp_server(surface, lambda _context: caller)
    async with stdio_server(stdin=_Lines(first)) as (reading, writing):  # pyright: ignore[reportArgumentType]
        await server.run(reading, writing, server.create_initialization_options())


def http_transport(surface: Surface[Any], *, most_bytes: int) -> StreamableHTTPSessionManager:
    """The SDK's transport over HTTP, an ASGI application: one JSON answer for each request, no session."""
    # With all of a web framework, which standard input and output do without.
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(
        mcp_server(surface, lambda context: cast("Request", context.request).scope[CALLER]),
        json_response=True,
        stateless=True,
        max_request_body_size=most_bytes,
    )


class _Lines:
    """Standard input from its beginning, also when its first line was read already."""

    def __init__(self, first: bytes) -> None:
        self._first = first.decode("utf-8", "replace")

    async def __aiter__(self) -> AsyncIterator[str]:
        if self._first:
            yield self._first
        async for line in anyio.wrap_file(TextIOWrapper(sys.stdin.buffer, "utf-8", "replace")):
            yield line


def _listing(
    kind: type[types.Result], listed: Callable[[], dict[str, Any]]
) -> Callable[[Context, types.PaginatedRequestParams | None], Awaitable[types.Result]]:
    async def answer(_context: Context, _params: types.PaginatedRequestParams | None) -> types.Result:
        return kind.model_validate(listed())

    return answer


def _reading(
    read: Callable[[Caller, str], Awaitable[dict[str, Any] | Fault]], caller_of: Callable[[Context], Caller]
) -> Callable[[Context, types.ReadResourceRequestParams], Awaitable[types.ReadResourceResult]]:
    async def answer(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        result = await read(caller_of(context), str(params.uri))
        return types.ReadResourceResult.model_validate(_sound(result))

    return answer


def _prompting(
    prompt: Callable[[str], dict[str, Any] | Fault],
) -> Callable[[Context, types.GetPromptRequestParams], Awaitable[types.GetPromptResult]]:
    async def answer(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return types.GetPromptResult.model_validate(_sound(prompt(params.name)))

    return answer


class _Calls(Generic[Caller]):
    """Calls of tools, and the pages that were named because of them."""

    def __init__(self, surface: Surface[Caller], caller_of: Callable[[Context], Caller]) -> None:
        self._surface = surface
        self._caller_of = caller_of
        self._named: dict[str, None] = {}

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        result = await self._surface.call(self._caller_of(context), params.name, params.arguments or {})
        if result.page is not None and _opens_pages(context):
            named = await self._named_page(context, params, result.page)
            if named is not None:
                return named
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=result.structure,
            is_error=result.is_error,
        )

    async def _named_page(
        self, context: Context, params: types.CallToolRequestParams, page: Page
    ) -> types.InputRequiredResult | None:
        """Name the page, once: the client calls again, and then hears how it stands."""
        later = context.protocol_version >= INPUT_REQUIRED
        if (params.request_state == page.id) if later else page.id in self._named:
            return None
        url = await page.link()
        if not url:
            return None
        if later:
            asked = types.ElicitRequest(params=types.ElicitRequestURLParams(message=page.message, url=url))
            return types.InputRequiredResult(input_requests={"page": asked}, request_state=page.id)
        self._named[page.id] = None
        while len(self._named) > MOST_NAMED:
            self._named.pop(next(iter(self._named)))
        named = types.ElicitRequestURLParams(message=page.message, url=url, elicitation_id=page.id)
        raise UrlElicitationRequiredError([named], page.message)


def _sound(answer: dict[str, Any] | Fault) -> dict[str, Any]:
    if isinstance(answer, Fault):
        raise MCPError(answer.code, answer.message, answer.data)
    return answer


def _opens_pages(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and elicitation.url is not None
