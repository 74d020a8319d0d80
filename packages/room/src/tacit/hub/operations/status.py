"""How the hub stands, for its operator: why it is not ready, who is near a quota, what its clock does.

Also what was taken back and has not left the disk yet. The owner alone may ask, as it names principals of
every group. What `tacit doctor` shows.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from tacit.base.io.time_service import even_time
from tacit.base.moment import SECOND
from tacit.hub.bounds.quotas import NEAR
from tacit.hub.telemetry import health
from tacit.ledger.io import erasure

if TYPE_CHECKING:
    from tacit.hub.bounds.quotas import QuotaUse
    from tacit.hub.hub import RunningHub
    from tacit.hub.operations.requests import Nothing
    from tacit.hub.people.credentials import Credential
    from tacit.ledger.standing import StreamStanding

MOST_SHOWN: Final = 50


async def show_status(hub: RunningHub, credential: Credential, _request: Nothing) -> object:
    """Why the hub is not ready, the fullest quotas, and how far its time is from the machine's."""
    credential.require_owner()
    why = await health.reasons(hub.ledger, hub.config.data, hub.config.least_free_bytes)
    quotas = hub.ledger.quotas
    uses: list[QuotaUse] = []
    if quotas is not None:
        kept = await hub.ledger.read(lambda reader: reader.blobs_kept())
        uses = [*quotas.uses(hub.store.options.clock.now()), *quotas.blob_uses(kept)]
    near = sorted((one for one in uses if one.share >= NEAR), key=lambda one: (-one.share, one.quota))
    clock = hub.store.options.clock
    waiting = await hub.ledger.read(lambda reader: erasure.pending(reader.connection))
    steady = even_time(clock)
    standing = await hub.stream_standing()
    return {
        "stream": _stream(standing) if standing is not None else None,
        "ready": not why,
        "why": why,
        "clock": {
            "ahead_s": round(steady.reckoning().ahead / SECOND, 3) if steady is not None else 0.0,
            "jumps": steady.jumps if steady is not None else 0,
            "doubt": hub.clock.doubt(),
        },
        "erasures": {
            "pending": waiting.events,
            "oldest_s": round(max(0, clock.now() - waiting.since) / SECOND, 3) if waiting.since else 0.0,
        },
        "nodes": _nodes(hub),
        "quotas": {
            "refused": quotas.refused if quotas is not None else 0,
            "fullest": round(max((one.share for one in uses), default=0.0), 4),
            "near": [_shown(one) for one in near[:MOST_SHOWN]],
        },
    }


def _nodes(hub: RunningHub) -> list[dict[str, object]]:
    """The hubs that share the ledger, this one first; empty where it is the hub's own."""
    beats = hub.neighbours.beats() if hub.neighbours is not None else []
    end = max((beat.reached for beat in beats), default=0)
    return [
        {
            "machine": beat.machine,
            "groups": beat.groups,
            "behind": end - beat.reached,
            "asleep": beat.asleep,
            "here": not number,
        }
        for number, beat in enumerate(beats)
    ]


def _stream(standing: StreamStanding) -> dict[str, object]:
    return {
        "name": standing.name,
        "reached": standing.reached,
        "server": standing.server,
        "version": standing.version,
        "silent": list(standing.silent),
        "replicas": [asdict(one) for one in standing.replicas],
        "wanted_replicas": standing.wanted_replicas,
        "wrong": list(standing.wrong),
        "lives": standing.lives,
        "groups": standing.groups,
        "lease_changes": standing.lease_changes,
        "lag": standing.lag,
        "asleep": standing.asleep,
        "behind_snapshot": standing.behind_snapshot,
        "reconnects": standing.reconnects,
        "clock_off_s": round(standing.clock_off, 3),
        "batches": asdict(standing.counts),
    }


def _shown(use: QuotaUse) -> dict[str, object]:
    return {
        "group_id": use.group_id,
        "principal": use.principal or None,
        "quota": use.quota,
        "used": use.used,
        "limit": use.limit,
    }
