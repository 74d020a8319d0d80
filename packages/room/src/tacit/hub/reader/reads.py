"""The reads that a process of their own can do: all that they need is the ledger, the settings and the time.

Each is the very operation that the doors offer (`doors/routes.py`), run against a stand-in for the hub that
has nothing else. What also needs to know who is connected is read in the hub.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from tacit.hub.host.tools import looked_up
from tacit.hub.operations import requests, timeline
from tacit.hub.operations import room as operations

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    import msgspec

    from tacit.c2a.errors import Refusal
    from tacit.hub.config import HubConfig
    from tacit.hub.host.tools import ReadCall
    from tacit.hub.hub import RunningHub
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.store import StoreOptions

T = TypeVar("T")

READS: Final[dict[str, tuple[type[msgspec.Struct], Callable[..., Coroutine[Any, Any, object]]]]] = {
    "events": (requests.EventsRequest, operations.read_events),
    "event": (requests.OneEvent, operations.show_event),
    "thread": (requests.ThreadRequest, operations.show_thread),
    "trace": (requests.TraceRequest, operations.show_trace),
    "window": (requests.WindowRequest, operations.show_window),
    "inbox": (requests.InboxRequest, operations.show_inbox),
    "search": (requests.SearchRequest, timeline.find_rows),
    "timeline": (requests.TimelineRequest, timeline.show_timeline),
    "conversations": (requests.OneGroup, timeline.list_conversations),
    "traces": (requests.TracesRequest, timeline.list_traces),
    "context": (requests.OneGroup, operations.show_context),
    "groups": (requests.Nothing, operations.list_groups),
    "group": (requests.OneGroup, operations.show_group),
    "actors": (requests.OneGroup, operations.list_actors),
}


@dataclass(frozen=True, slots=True)
class _Ledger:
    reader: Reader

    async def read(self, query: Callable[[Reader], T]) -> T:
        with self.reader.snapshot():
            return query(self.reader)


@dataclass(frozen=True, slots=True)
class _Store:
    options: StoreOptions


@dataclass(frozen=True, slots=True)
class LedgerAlone:
    """As much of a hub as these reads need."""

    config: HubConfig
    store: _Store
    ledger: _Ledger

    @classmethod
    def of(cls, config: HubConfig, options: StoreOptions, reader: Reader) -> LedgerAlone:
        """On a reader of a process's own."""
        return cls(config, _Store(options), _Ledger(reader))

    def run(self, name: str, credential: Credential, params: msgspec.Struct) -> object:
        """Carry a read out; it waits for nothing, so it is over at once."""
        work = READS[name][1](cast("RunningHub", self), credential, params)
        try:
            work.send(None)
        except StopIteration as done:
            return done.value
        work.close()
        raise RuntimeError("a read of the ledger alone has nothing to wait for")

    def look(self, call: ReadCall) -> dict[str, Any] | Refusal:
        """Answer a reading tool of an agent's."""
        with self.ledger.reader.snapshot():
            return looked_up(self.ledger.reader, call)
