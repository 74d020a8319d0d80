"""The personal agent's MCP server, on the SDK's low-level server: the same for stdio and for `/mcp`.

A2ACP-264, A2ACP-266. Where a client opens pages for its person (URL elicitation), a call that has to wait for
the owner names the page of its question: as the error -32042 up to 2025-11-25, as a result that requires
input since 2026-07-28. The link goes to a client that said it can show one, and never into a result, which a
model reads. A form is never asked for: a model could fill it in. What a client says that its person answered
there is not looked at: only the page, the room and the terminal answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import UrlElicitationRequiredError

from tacit.agent.shell.mcp import door as agent_door
from tacit.base.errors import Refused, Unavailable
from tacit.base.version import version

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from tacit.agent.shell.mcp.door import AgentCaller, Outcome

    Context = ServerRequestContext[Any, Any]

INPUT_REQUIRED: Final = "2026-07-28"
"""The version since which a call that needs the person ends with a result, to be called again."""
MOST_NAMED: Final = 1000


def agent_server(caller_of: Callable[[Context], AgentCaller]) -> Server[Any]:
    """The server; `caller_of` says by which way a request reaches the agent."""
    door = _Door(caller_of)
    return Server(
        agent_door.NAME,
        version=version(),
        title=agent_door.TITLE,
        instructions=agent_door.INSTRUCTIONS,
        on_list_tools=door.list_tools,
        on_call_tool=door.call_tool,
    )


class _Door:
    """The handlers, by the SDK's names for them."""

    def __init__(self, caller_of: Callable[[Context], AgentCaller]) -> None:
        self._caller_of = caller_of
        self._named: dict[str, None] = {}

    async def list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(agent_door.tools())

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        caller = self._caller_of(context)
        outcome = await agent_door.call_tool(caller, params.name, params.arguments or {})
        if outcome.question_id and _opens_pages(context):
            named = await self._named_page(context, params, caller, outcome)
            if named is not None:
                return named
        return types.CallToolResult(
            content=[types.TextContent(text=outcome.shown.text)],
            structured_content=outcome.shown.structure,
            is_error=outcome.shown.is_error,
        )

    async def _named_page(
        self, context: Context, params: types.CallToolRequestParams, caller: AgentCaller, outcome: Outcome
    ) -> types.InputRequiredResult | None:
        """Name the question's page, once: the client calls again, and then hears how it stands."""
        question_id = outcome.question_id
        later = context.protocol_version >= INPUT_REQUIRED
        if (params.request_state == question_id) if later else question_id in self._named:
            return None
        url = await _link(caller, question_id)
        if not url:
            return None
        message = agent_door.message_of(outcome)
        if later:
            asked = types.ElicitRequest(params=types.ElicitRequestURLParams(message=message, url=url))
            return types.InputRequiredResult(input_requests={"page": asked}, request_state=question_id)
        self._named[question_id] = None
        while len(self._named) > MOST_NAMED:
            self._named.pop(next(iter(self._named)))
        page = types.ElicitRequestURLParams(message=message, url=url, elicitation_id=question_id)
        raise UrlElicitationRequiredError([page], message)


def _opens_pages(context: Context) -> bool:
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and elicitation.url is not None


async def _link(caller: AgentCaller, question_id: str) -> str:
    """The link to a question's page; empty when the agent serves none, or the question is answered."""
    try:
        found = await caller.ask("page_link", {"question_id": question_id})
    except (Refused, Unavailable):
        return ""
    return str(found["url"] or "")
