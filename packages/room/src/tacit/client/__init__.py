"""The hub's Python clients: `Hub` (asyncio) and its twin `SyncHub`; `AgentSession` for harnesses (C2A).

async with Hub("http://127.0.0.1:7433", token) as hub:
    event = await hub.send("g_...", "hello")
    async for event in hub.follow("g_...", since_seq=event.seq):
        ...

Each name is imported when it is used: whoever needs one client does not pay for the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tacit.base.errors import Refused, Unavailable
    from tacit.c2a.io.session import AgentSession, Delivery, Disconnected, Habits, Sent
    from tacit.c2a.messages import Connected, Delivered
    from tacit.c2a.notifications import Cancelled, Typing
    from tacit.c2a.retry import OutcomeUnknown
    from tacit.client.hub import Hub
    from tacit.client.results import Appended, Inbox, Page, Source, SourceUnavailable
    from tacit.client.socket_hub import SocketHub
    from tacit.client.sync import SyncHub
    from tacit.ledger.envelope import Event

_HOME: Final[dict[str, str]] = {
    "AgentSession": "tacit.c2a.io.session",
    "Appended": "tacit.client.results",
    "Cancelled": "tacit.c2a.notifications",
    "Connected": "tacit.c2a.messages",
    "Delivered": "tacit.c2a.messages",
    "Delivery": "tacit.c2a.io.session",
    "Disconnected": "tacit.c2a.io.session",
    "Event": "tacit.ledger.envelope",
    "Habits": "tacit.c2a.io.session",
    "Hub": "tacit.client.hub",
    "Inbox": "tacit.client.results",
    "OutcomeUnknown": "tacit.c2a.retry",
    "Page": "tacit.client.results",
    "Refused": "tacit.base.errors",
    "Sent": "tacit.c2a.io.session",
    "SocketHub": "tacit.client.socket_hub",
    "Source": "tacit.client.results",
    "SourceUnavailable": "tacit.client.results",
    "SyncHub": "tacit.client.sync",
    "Typing": "tacit.c2a.notifications",
    "Unavailable": "tacit.base.errors",
}

__all__ = [
    "AgentSession",
    "Appended",
    "Cancelled",
    "Connected",
    "Delivered",
    "Delivery",
    "Disconnected",
    "Event",
    "Habits",
    "Hub",
    "Inbox",
    "OutcomeUnknown",
    "Page",
    "Refused",
    "Sent",
    "SocketHub",
    "Source",
    "SourceUnavailable",
    "SyncHub",
    "Typing",
    "Unavailable",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = found  # asked once
    return found
