"""What a room serves over MCP, with the two requests that reach it: calling a tool, and reading an address.

Rows: C2A-017, C2A-169, C2A-201. Arguments are held against the listed schema before the call; what does not
fit is refused like anything else that the host would refuse, by place, without repeating what was sent. Who
calls, and how, is the caller's business.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tacit.base.tool_results import Fault, Surface, ToolResult
from tacit.bridges.mcp import resources, results, surface
from tacit.bridges.mcp.results import as_text, framed, shown
from tacit.bridges.mcp.tools import OFFERED, Offered, tool_named
from tacit.c2a.errors import Refusal, refusal
from tacit.c2a.tools import SEND, fill_send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.moment import Moment
    from tacit.base.ports import Clock
    from tacit.bridges.mcp.port import ToolCaller


@functools.cache
def _validator(name: str) -> Any:
    # Heavier than everything else here: imported with the first call, when the client has its list of tools.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(OFFERED[name].input_schema)


def faults(offered: Offered, arguments: Mapping[str, Any]) -> list[str]:
    """The places of arguments that do not fit, with the rule that each breaks; never their content."""
    found = _validator(offered.name).iter_errors(dict(arguments))
    return sorted(
        {f"{'.'.join(str(step) for step in fault.path) or '.'}: {fault.validator}" for fault in found}
    )


async def call_tool(caller: ToolCaller, name: str, arguments: Mapping[str, Any], now: Moment) -> ToolResult:
    """Run a tool by either of its names; a "no" is a result that the model can read."""
    offered = tool_named(name)
    if offered is None:
        return shown(refusal("unknown_op", "there is no such tool", "C2A-017"))
    wrong = faults(offered, arguments)
    if wrong:
        return shown(
            refusal(
                "invalid_request", "arguments do not fit the tool", "C2A-017",
                remedy="see the tool's input schema", wrong=wrong,
            )
        )  # fmt: skip
    whole = fill_send(arguments, now=now) if offered.c2a_name == SEND else dict(arguments)
    if isinstance(whole, Refusal):
        return shown(whole)
    return shown(await caller.call(offered.c2a_name, whole))


async def read_resource(caller: ToolCaller, uri: str) -> str | Refusal | None:
    """What stands at an address, as text; None when there is no such address."""
    look = resources.look_for(uri)
    if look is None:
        return None
    outcome = await caller.call(look.tool, look.arguments)
    if isinstance(outcome, Refusal):
        return outcome
    return as_text(framed(resources.arranged(uri, outcome)))


def room_surface(clock: Clock) -> Surface[ToolCaller]:
    """A room as MCP serves it."""

    async def call(caller: ToolCaller, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await call_tool(caller, name, arguments, clock.now())

    async def read(caller: ToolCaller, uri: str) -> dict[str, Any] | Fault:
        return results.read(uri, await read_resource(caller, uri))

    return Surface(
        surface.NAME, surface.TITLE, surface.instructions(), surface.LISTS, call, read, surface.prompt
    )
