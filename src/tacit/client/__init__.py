"""The hub's Python clients: `Hub` (asyncio) and its twin `SyncHub`; `AgentSession` for harnesses (C2A).

async with Hub("http://127.0.0.1:7433", token) as hub:
    event = await hub.send("g_...", "hello")
    async for event in hub.follow("g_...", since_seq=event.seq):
        ...
"""

from tacit.base.errors import Refused, Unavailable
from tacit.c2a.io.session import AgentSession, Delivery, Disconnected, Habits, Sent
from tacit.c2a.messages import Connected, Delivered
from tacit.c2a.notifications import Cancelled, Typing
from tacit.c2a.retry import OutcomeUnknown
from tacit.client.hub import Hub
from tacit.client.results import Appended, Inbox, Page, Source, SourceUnavailable
from tacit.client.sync import SyncHub
from tacit.ledger.envelope import Event

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
    "Source",
    "SourceUnavailable",
    "SyncHub",
    "Typing",
    "Unavailable",
]
