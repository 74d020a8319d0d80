"""The hub's Python clients: `Hub` (asyncio) and its twin `SyncHub`.

async with Hub("http://127.0.0.1:7433", token) as hub:
    event = await hub.send("g_...", "hello")
    async for event in hub.follow("g_...", since_seq=event.seq):
        ...
"""

from tacit.base.errors import Refused, Unavailable
from tacit.client.errors import OutcomeUnknown
from tacit.client.hub import Hub
from tacit.client.results import Appended, Inbox, Page, Source, SourceUnavailable
from tacit.client.sync import SyncHub
from tacit.ledger.envelope import Event

__all__ = [
    "Appended",
    "Event",
    "Hub",
    "Inbox",
    "OutcomeUnknown",
    "Page",
    "Refused",
    "Source",
    "SourceUnavailable",
    "SyncHub",
    "Unavailable",
]
