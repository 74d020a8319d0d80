"""What the doctor says of a ledger on NATS, over what a hub tells."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.base.shipping import Fate, Tracking
from tacit.cli.operation.doctor_stream import stream_findings
from tacit.ledger.standing import ShipmentCounts

WELL: dict[str, Any] = {
    "name": "TACIT", "reached": True, "server": "n1", "version": "2.15.1", "silent": [], "wanted_replicas": 1,
    "replicas": [{"server": "n1", "is_current": True, "lag": 0}], "wrong": [], "lives": True, "groups": 2,
    "lease_changes": 0, "lag": 0, "behind_snapshot": 7, "reconnects": 0, "clock_off_s": 0.0,
    "batches": {"shipped": 2, "stale": 0, "unknown": 0, "fenced": 0, "declined": 0, "seconds": 0.004},
}  # fmt: skip


def told(**change: Any) -> dict[str, str]:
    """What is not well, and what was found."""
    return {one.what: one.found for one in stream_findings({**WELL, **change}) if not one.ok}


def test_a_stream_that_is_well_says_so_and_none_says_nothing() -> None:
    assert told() == {}
    assert told(clock_off_s=-1.0) == {}
    assert stream_findings(None) == []
    assert [one.what for one in stream_findings(WELL)] == [
        "nats", "replicas", "stream", "servers' clock", "writer", "lag", "batches",
    ]  # fmt: skip
    assert "would read 7 behind" in stream_findings(WELL)[-2].found
    assert "2.0 ms each" in stream_findings(WELL)[-1].found


@pytest.mark.parametrize(
    ("change", "what", "found"),
    [
        ({"silent": ["nats://n2:4222"]}, "nats", "no answer from nats://n2:4222"),
        ({"reconnects": 10}, "nats", "anew 10 times"),
        ({"wanted_replicas": 3}, "replicas", "1 of 3"),
        ({"replicas": [{"server": "n2", "is_current": False, "lag": 7}]}, "replicas", "n2 lacks 7"),
        ({"wrong": ["discard is 'old'"]}, "stream", "discard"),
        ({"lives": False, "groups": 0}, "writer", "writes to 0 groups"),
        ({"clock_off_s": 600.0}, "servers' clock", "600.0 s ahead of"),
        ({"clock_off_s": -1.1}, "servers' clock", "1.1 s behind"),
        ({"lag": 1000}, "lag", "1000 messages"),
        ({"batches": {**WELL["batches"], "unknown": 1}}, "batches", "1 unknown"),
    ],
)
def test_what_is_not_well_is_said(change: dict[str, Any], what: str, found: str) -> None:
    assert list(told(**change)) == [what]
    assert found in told(**change)[what]


def test_a_stream_that_does_not_answer_is_not_called_well() -> None:
    assert {"nats", "stream"} <= told(reached=False, replicas=[]).keys()


def test_every_fate_of_a_batch_is_counted_once() -> None:
    counts = ShipmentCounts()
    fates = [Fate.KEPT, Fate.KEPT, Fate.OVERTAKEN, Fate.UNKNOWN, Fate.NOT_WRITTEN]
    counts.count([Tracking("b", 1, fate=fate) for fate in fates], 0.5)
    counts.count([Tracking("b", 1, fate=Fate.NOT_WRITTEN, fencing=True)], 0.25)
    assert counts == ShipmentCounts(shipped=2, stale=1, unknown=1, fenced=1, declined=1, seconds=0.75)
