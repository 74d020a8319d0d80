"""What the hub counts, for Prometheus. Numbers only: no names, no texts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from tacit.base.moment import SECOND
from tacit.hub.bounds.quotas import MEASURES, NEAR

if TYPE_CHECKING:
    from tacit.base.callers import Connections
    from tacit.base.io.time_service import TimeService
    from tacit.base.ports import Clock
    from tacit.hub.bounds.quotas import Quotas
    from tacit.hub.bounds.turns import ReadTurns
    from tacit.ledger.io.erasure import PendingErasures
    from tacit.ledger.io.store import Store
    from tacit.ledger.standing import StreamStanding


STREAM: Final = {
    "tacit_stream_shipped": "Batches that this node has in the stream",
    "tacit_stream_stale": "Batches before which another node had written",
    "tacit_stream_unknown": "Batches of which nobody could tell whether they were written",
    "tacit_stream_fenced": "Batches that were kept from being written later",
    "tacit_stream_declined": "Batches that the stream did not take",
    "tacit_stream_ship_seconds": "Time that batches took to be shipped, added up",
    "tacit_stream_lag": "Messages of the stream that are not applied here",
    "tacit_stream_behind_snapshot": "Messages that a node that joins would read",
    "tacit_stream_reached": "Does the stream answer",
    "tacit_stream_replicas_current": "Servers that have all of the stream",
    "tacit_stream_lease_held": "Does this node hold its own lease: without, it writes to no group",
    "tacit_stream_groups": "Groups that this node writes to",
    "tacit_stream_groups_asleep": "Groups that nobody reads here and of which something is only noted",
    "tacit_stream_lease_changes": "How often this node has won or lost the lease",
    "tacit_stream_reconnects": "How often the connection was made anew",
    "tacit_stream_clock_off_seconds": "By how much this machine's clock is ahead of the servers', at least",
}
"""What a hub on NATS tells of its stream."""


def _numbers(standing: StreamStanding) -> dict[str, float]:
    counts = standing.counts
    return {
        "tacit_stream_shipped": counts.shipped,
        "tacit_stream_stale": counts.stale,
        "tacit_stream_unknown": counts.unknown,
        "tacit_stream_fenced": counts.fenced,
        "tacit_stream_declined": counts.declined,
        "tacit_stream_ship_seconds": counts.seconds,
        "tacit_stream_lag": standing.lag,
        "tacit_stream_behind_snapshot": standing.behind_snapshot,
        "tacit_stream_reached": standing.reached,
        "tacit_stream_replicas_current": sum(one.is_current for one in standing.replicas),
        "tacit_stream_lease_held": standing.lives,
        "tacit_stream_groups": standing.groups,
        "tacit_stream_groups_asleep": standing.asleep,
        "tacit_stream_lease_changes": standing.lease_changes,
        "tacit_stream_reconnects": standing.reconnects,
        "tacit_stream_clock_off_seconds": standing.clock_off,
    }


def _fullest(quotas: Quotas, clock: Clock, name: str) -> float:
    return next((one.share for one in quotas.uses(clock.now()) if one.quota == name), 0.0)


class Metrics:
    """One registry a hub, so that several hubs can live in one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._stream: dict[str, Gauge] = {}
        self.committed = Counter("tacit_events", "Events appended", registry=self._registry)
        self.repeated = Counter("tacit_repeats", "Submissions recognised as repeats", registry=self._registry)
        self.refused = Counter(
            "tacit_refusals", "Requests refused, by code", ["code"], registry=self._registry
        )
        self.batch = Histogram(
            "tacit_commit_jobs",
            "Commands that shared one commit",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
            registry=self._registry,
        )
        self.delivered = Counter("tacit_deliveries", "Events sent to followers", registry=self._registry)
        self.cut = Counter("tacit_followers_cut", "Followers cut for being slow", registry=self._registry)
        self.followers = Gauge("tacit_followers", "Live followers", registry=self._registry)
        self.connections = Gauge("tacit_connections", "Open WebSocket connections", registry=self._registry)
        self._wal = Gauge("tacit_wal_pages", "Length of the write-ahead log", registry=self._registry)
        self._queue = Gauge("tacit_writer_queue", "Commands waiting for the writer", registry=self._registry)
        self._failures = Gauge("tacit_commit_failures", "Commits that failed", registry=self._registry)
        self._erasures = Gauge(
            "tacit_erasures_pending",
            "Events whose content was taken back and may still lie on the disk",
            registry=self._registry,
        )
        self._oldest_erasure = Gauge(
            "tacit_oldest_erasure_seconds",
            "How long the oldest of those waits",
            registry=self._registry,
        )

    def watch(self, connections: Connections[Any]) -> None:
        """Tell of a server's connections: how many wait unknown, how many were cut for waiting."""
        guests = Gauge("tacit_guests", "Connections that have proved nothing yet", registry=self._registry)
        guests.set_function(lambda: connections.guests)
        cut = Gauge(
            "tacit_connections_cut", "Connections cut for waiting or not reading", registry=self._registry
        )
        cut.set_function(lambda: connections.cut)

    def watch_quotas(self, quotas: Quotas, clock: Clock) -> None:
        """Tell how often a quota refused something, how full each is at most, and how many nearly are."""
        refused = Gauge("tacit_quota_refusals", "Appends refused by a quota", registry=self._registry)
        refused.set_function(lambda: quotas.refused)
        near = Gauge("tacit_quotas_near", "Quotas of which four fifths are used", registry=self._registry)
        near.set_function(lambda: sum(one.share >= NEAR for one in quotas.uses(clock.now())))
        use = Gauge(
            "tacit_quota_use",
            "The largest share of a quota that anybody used",
            ["quota"],
            registry=self._registry,
        )
        for name in (f"{prefix}{one}_per_day" for prefix in ("", "group_") for one in MEASURES):
            use.labels(name).set_function(partial(_fullest, quotas, clock, name))

    def watch_clock(self, clock: TimeService) -> None:
        """Tell how far the hub's time is from the machine's, and how often that was set."""
        ahead = Gauge(
            "tacit_clock_ahead_seconds", "The hub's time less the machine's", registry=self._registry
        )
        ahead.set_function(lambda: clock.reckoning().ahead / SECOND)
        jumps = Gauge("tacit_clock_jumps", "How often the machine's clock was set", registry=self._registry)
        jumps.set_function(lambda: clock.jumps)

    def watch_turns(self, *every: ReadTurns) -> None:
        """Tell of reads: how many wait for a place, how many were stopped."""
        waiting = Gauge("tacit_reads_waiting", "Reads that wait for their turn", registry=self._registry)
        waiting.set_function(lambda: sum(one.waiting for one in every))
        stopped = Gauge(
            "tacit_reads_stopped", "Reads that were too slow or left alone", registry=self._registry
        )
        stopped.set_function(lambda: sum(one.stopped for one in every))

    def erasures(self, waiting: PendingErasures, store: Store) -> None:
        """Tell what was taken back and is not gone from the disk yet."""
        self._erasures.set(waiting.events)
        since = waiting.since
        self._oldest_erasure.set(max(0, store.options.clock.now() - since) / SECOND if since else 0)

    def stream(self, standing: StreamStanding) -> None:
        """Tell how the stream of the ledger stands."""
        if not self._stream:
            self._stream = {name: Gauge(name, text, registry=self._registry) for name, text in STREAM.items()}
        for name, number in _numbers(standing).items():
            self._stream[name].set(number)

    def text(self, store: Store) -> bytes:
        """The exposition format."""
        self._wal.set(store.transport.log_pages)
        self._queue.set(store.transport.depth)
        self._failures.set(store.transport.failures)
        return generate_latest(self._registry)
