"""How an MCP agent presents itself: it has tools, can be knocked at, and pulls (C2A-019, C2A-021).

The door takes knocks for it: they wait in the inbox until the agent looks. So an obligation is neither pushed
into a prompt, which MCP cannot do, nor passed on to somebody else at once for want of a way (C2A-026); only
its deadline does that.
"""

from __future__ import annotations

from typing import Any, Final

from tacit import __version__
from tacit.attention.negotiation import CAPABILITIES, VERSIONS

INITIALIZE: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": VERSIONS[0],
        "clientInfo": {"name": "tacit-mcp", "version": __version__},
        "capabilities": {
            "delivery": {"ack": False, "redelivery": False, "idempotency": True},
            "injection": {"notify": True, "tool_mailbox": True},
            "chatTools": dict.fromkeys(CAPABILITIES["chatTools"], True),
        },
    },
}
"""The C2A request that either door sends before the agent's first call."""
