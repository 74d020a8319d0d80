"""The ledger of a hub, opened as its config says: in the folder or on a stream, its writer here or beside.

Whatever is chosen, the hub gets the same: a store to read, and a way to whoever writes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tacit.attention.io.engine import AttentionEngine
from tacit.hub.nodes.transport import NodeTransport
from tacit.hub.stream.access import blobs_of, served
from tacit.hub.stream.link import StreamLink
from tacit.hub.writer.link import WriterLink
from tacit.ledger.io.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.base.stream_plan import StreamPlan
    from tacit.hub.config import HubConfig
    from tacit.ledger.io.store import StoreOptions

T = TypeVar("T", bound="WriterLink")


class OpenLedger(NamedTuple):
    """A hub's ledger: the way to other nodes where there are several, to a process where one writes."""

    store: Store
    nodes: NodeTransport | None = None
    process: WriterLink | None = None


def open_ledger(config: HubConfig, options: StoreOptions) -> OpenLedger:
    """The ledger of a hub, as its config says."""
    if config.stream is None and config.writer == "process":
        links: list[WriterLink] = []
        store = Store(config.data, options, engine=AttentionEngine, elsewhere=_kept(links, WriterLink))
        return OpenLedger(store, process=links[0])
    if config.stream is None:
        return OpenLedger(Store(config.data, options, engine=AttentionEngine))
    if config.writer == "process":
        return _opened_beside(config.stream, config.data, options)
    store, node = served(config.stream, config.data, options.entropy).open(
        config.data, options, AttentionEngine
    )
    store.transport = transport = NodeTransport(store.transport, node)
    transport.standing = node.standing
    return OpenLedger(store, transport)


def _kept(links: list[T], made: Callable[[Store], T]) -> Callable[[Store], T]:
    """The same, and what it made is kept."""

    def elsewhere(store: Store) -> T:
        links.append(made(store))
        return links[-1]

    return elsewhere


def _opened_beside(plan: StreamPlan, folder: Path, options: StoreOptions) -> OpenLedger:
    """The store of a hub whose node stands in a process of its own."""
    blobs = blobs_of(plan)
    options = replace(options, blobs=blobs.folder, keeps_torn=False)
    links: list[StreamLink] = []
    elsewhere = _kept(links, partial(StreamLink, plan=plan))
    try:
        store = Store(folder, options, elsewhere=elsewhere, makes_ready=False)
    except BaseException:
        blobs.close()
        raise
    store.on_closed = blobs.close
    [link] = links
    store.transport = transport = NodeTransport(link, link)
    transport.standing = link.standing
    return OpenLedger(store, transport, link)
