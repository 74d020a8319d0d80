"""The MCP server of a room, on the SDK's low-level server: the same for stdio and for `/mcp`.

Rows: C2A-017, C2A-139, C2A-169, C2A-201. Who calls comes from the door that the request entered by, for each
request anew. Arguments are held against the listed schema before the call; what does not fit is refused like
anything else that the host would refuse, by place, without repeating what was sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from jsonschema import Draft202012Validator
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from tacit import __version__
from tacit.bridges.mcp import resources
from tacit.bridges.mcp.results import as_text, error_of, shown
from tacit.bridges.mcp.tools import OFFERED, Offered, tool_named
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.standing_rules import PULLED, standing_rules
from tacit.c2a.tools import SEND, fill_send

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from tacit.base.ports import Clock
    from tacit.bridges.mcp.port import ToolCaller

    Context = ServerRequestContext[Any, Any]

NAME: Final = "tacit"
MANNERS: Final = "manners"
MANNERS_SAY: Final = "The standing rules of an agent in a room: when to speak, and when not to."
RESOURCE_NOT_FOUND: Final = -32602
_VALIDATORS: Final[dict[str, Any]] = {
    name: Draft202012Validator(offered.input_schema) for name, offered in OFFERED.items()
}


def room_server(caller_of: Callable[[Context], ToolCaller], clock: Clock) -> Server[Any]:
    """The server; `caller_of` says under whose session a request runs."""
    door = _Door(caller_of, clock)
    return Server(
        NAME,
        version=__version__,
        title="Tacit room",
        instructions=standing_rules(PULLED),
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
        on_list_resources=door.list_resources,
        on_list_resource_templates=door.list_templates,
        on_read_resource=door.read_resource,
        on_list_prompts=door.list_prompts,
        on_get_prompt=door.get_prompt,
    )


def faults(offered: Offered, arguments: Mapping[str, Any]) -> list[str]:
    """The places of arguments that do not fit, with the rule that each breaks; never their content."""
    found = _VALIDATORS[offered.name].iter_errors(dict(arguments))
    return sorted(
        {f"{'.'.join(str(step) for step in fault.path) or '.'}: {fault.validator}" for fault in found}
    )


class _Door:
    """The handlers, by the SDK's names for them."""

    def __init__(self, caller_of: Callable[[Context], ToolCaller], clock: Clock) -> None:
        self._caller_of = caller_of
        self._clock = clock

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(offered) for offered in OFFERED.values()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        offered = tool_named(params.name)
        if offered is None:
            outcome: dict[str, Any] | Refusal = refusal("unknown_op", "there is no such tool", "C2A-017")
        else:
            outcome = await self._called(context, offered, params.arguments or {})
        result = shown(outcome)
        return types.CallToolResult(
            content=[types.TextContent(text=result.text)],
            structured_content=result.structure,
            is_error=result.is_error,
        )

    async def _called(
        self, context: Context, offered: Offered, arguments: Mapping[str, Any]
    ) -> dict[str, Any] | Refusal:
        wrong = faults(offered, arguments)
        if wrong:
            return refusal(
                "invalid_request", "arguments do not fit the tool", "C2A-017",
                remedy="see the tool's input schema", wrong=wrong,
            )  # fmt: skip
        whole = fill_send(arguments, now=self._clock.now()) if offered.c2a_name == SEND else dict(arguments)
        if isinstance(whole, Refusal):
            return whole
        return await self._caller_of(context).call(offered.c2a_name, whole)

    async def list_resources(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        inbox = types.Resource(
            name="inbox",
            title="Inbox",
            uri=resources.INBOX,
            description=resources.INBOX_SAYS,
            mime_type=resources.MIME,
        )
        return types.ListResourcesResult(resources=[inbox])

    async def list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        thread = types.ResourceTemplate(
            name="thread",
            title="Thread",
            uri_template=resources.THREAD_TEMPLATE,
            description=resources.THREAD_SAYS,
            mime_type=resources.MIME,
        )
        return types.ListResourceTemplatesResult(resource_templates=[thread])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        look = resources.look_for(str(params.uri))
        if look is None:
            raise MCPError(RESOURCE_NOT_FOUND, "there is no such resource")
        outcome = await self._caller_of(context).call(look.tool, look.arguments)
        if isinstance(outcome, Refusal):
            # A resource has no place for a refusal but the error itself.
            raise MCPError(outcome.number, outcome.message, error_of(outcome))
        text = as_text(resources.arranged(str(params.uri), outcome))
        contents = types.TextResourceContents(uri=params.uri, mime_type=resources.MIME, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        manners = types.Prompt(name=MANNERS, title="Manners", description=MANNERS_SAY)
        return types.ListPromptsResult(prompts=[manners])

    async def get_prompt(
        self, _context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != MANNERS:
            raise MCPError(types.INVALID_PARAMS, "there is no such prompt")
        message = types.PromptMessage(role="user", content=types.TextContent(text=standing_rules(PULLED)))
        return types.GetPromptResult(description=MANNERS_SAY, messages=[message])


def _listed(offered: Offered) -> types.Tool:
    return types.Tool(
        name=offered.name,
        title=offered.c2a_name,
        description=offered.says,
        input_schema=offered.input_schema,
        output_schema=offered.output_schema,
        annotations=types.ToolAnnotations(
            title=offered.c2a_name,
            read_only_hint=offered.read_only,
            idempotent_hint=offered.idempotent,
            destructive_hint=offered.destructive,
            open_world_hint=False,
        ),
    )
