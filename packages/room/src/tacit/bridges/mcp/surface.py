"""What the door shows of itself, as MCP writes it: who it is, its tools, resources and prompts.

Rows: C2A-139, C2A-170, C2A-201. One description for both servers: the SDK's (`tacit.base.io.mcp_server`), and
the thin one that `tacit mcp` answers the first requests with. Plain values; knows nothing of chat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tacit.base.tool_results import Fault
from tacit.base.version import version as installed_version
from tacit.bridges.mcp import resources
from tacit.bridges.mcp.tools import OFFERED
from tacit.c2a.errors import INVALID_PARAMS
from tacit.c2a.standing_rules import PULLED, standing_rules

if TYPE_CHECKING:
    from tacit.bridges.mcp.tools import Offered

NAME: Final = "tacit"
TITLE: Final = "Tacit room"
MANNERS: Final = "manners"
MANNERS_SAY: Final = "The standing rules of an agent in a room: when to speak, and when not to."
CHANNEL: Final = "claude/channel"
"""The capability of a server that pushes into a live session of Claude Code."""
NO_SUCH_RESOURCE: Final = "there is no such resource"
NO_SUCH_PROMPT: Final = "there is no such prompt"
_STEADY: Final = {"listChanged": False}


def instructions() -> str:
    """What a client tells its model about the door."""
    return standing_rules(PULLED)


def greeting(version: str, *, channel: bool = False) -> dict[str, Any]:
    """The answer to `initialize`."""
    capabilities: dict[str, Any] = {
        "prompts": _STEADY,
        "resources": {**_STEADY, "subscribe": False},
        "tools": _STEADY,
    }
    if channel:
        capabilities["experimental"] = {CHANNEL: {}}
    return {
        "protocolVersion": version,
        "capabilities": capabilities,
        "serverInfo": {"name": NAME, "title": TITLE, "version": installed_version()},
        "instructions": instructions(),
    }


def tools() -> dict[str, Any]:
    """The answer to `tools/list`."""
    return {"tools": [_listed(offered) for offered in OFFERED.values()]}


def _listed(offered: Offered) -> dict[str, Any]:
    return {
        "name": offered.name,
        "title": offered.c2a_name,
        "description": offered.says,
        "inputSchema": offered.input_schema,
        "outputSchema": offered.output_schema,
        "annotations": {
            "title": offered.c2a_name,
            "readOnlyHint": offered.read_only,
            "idempotentHint": offered.idempotent,
            "destructiveHint": offered.destructive,
            "openWorldHint": False,
        },
    }


def listed_resources() -> dict[str, Any]:
    """The answer to `resources/list`."""
    inbox = {
        "name": "inbox",
        "title": "Inbox",
        "uri": resources.INBOX,
        "description": resources.INBOX_SAYS,
        "mimeType": resources.MIME,
    }
    return {"resources": [inbox]}


def templates() -> dict[str, Any]:
    """The answer to `resources/templates/list`."""
    thread = {
        "name": "thread",
        "title": "Thread",
        "uriTemplate": resources.THREAD_TEMPLATE,
        "description": resources.THREAD_SAYS,
        "mimeType": resources.MIME,
    }
    return {"resourceTemplates": [thread]}


def prompts() -> dict[str, Any]:
    """The answer to `prompts/list`."""
    return {"prompts": [{"name": MANNERS, "title": "Manners", "description": MANNERS_SAY}]}


def prompt(name: object) -> dict[str, Any] | Fault:
    """The answer to `prompts/get`."""
    if name != MANNERS:
        return Fault(INVALID_PARAMS, NO_SUCH_PROMPT)
    message = {"role": "user", "content": {"type": "text", "text": instructions()}}
    return {"description": MANNERS_SAY, "messages": [message]}


LISTS: Final = {
    "tools/list": tools,
    "resources/list": listed_resources,
    "resources/templates/list": templates,
    "prompts/list": prompts,
}
"""What a client may list, by its method."""
