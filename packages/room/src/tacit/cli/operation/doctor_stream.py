"""What `tacit doctor` says of a ledger on NATS: pure, over what the hub tells of its stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tacit.base.clock_offset import MOST
from tacit.base.moment import SECOND
from tacit.cli.show import counted, plain
from tacit.ledger.standing import BEHIND

if TYPE_CHECKING:
    from collections.abc import Mapping

RECONNECTS: Final = 10
"""From how many connections on somebody should look at the network."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was looked at."""

    what: str
    ok: bool
    found: str
    advice: str = ""


def stream_findings(told: Mapping[str, Any] | None) -> list[DoctorFinding]:
    """Servers, replicas, settings, what this node writes to, how far it has come; none without NATS."""
    if told is None:
        return []
    return [
        _servers(told),
        _replicas(told),
        _settings(told),
        _clock(told),
        _writer(told),
        _lag(told),
        _batches(told),
    ]


def _servers(told: Mapping[str, Any]) -> DoctorFinding:
    silent = ", ".join(plain(str(one)) for one in told["silent"])
    at = f"{plain(str(told['server']))}, version {plain(str(told['version']))}"
    many = told["reconnects"]
    return DoctorFinding(
        "nats",
        ok=bool(told["reached"]) and not silent and many < RECONNECTS,
        found=(f"at {at}" if told["reached"] else "the stream does not answer")
        + (f"; no answer from {silent}" if silent else "")
        + (f"; connected anew {counted(many, 'time')}" if many else ""),
        advice="start the servers that do not answer, or take them from --nats; look at their logs and at "
        "the network between",
    )


def _replicas(told: Mapping[str, Any]) -> DoctorFinding:
    current = sum(bool(one["is_current"]) for one in told["replicas"])
    late = ", ".join(
        f"{plain(str(one['server']))} lacks {one['lag']}" for one in told["replicas"] if not one["is_current"]
    )
    return DoctorFinding(
        "replicas",
        ok=current >= told["wanted_replicas"],
        found=f"{current} of {told['wanted_replicas']} servers have all of the stream"
        + (f"; {late}" if late else ""),
        advice="what is acknowledged stays safe while more than half have it; bring the others back before "
        "another one fails",
    )


def _settings(told: Mapping[str, Any]) -> DoctorFinding:
    wrong = "; ".join(plain(str(one)) for one in told["wrong"])
    return DoctorFinding(
        "stream",
        ok=bool(told["reached"]) and not wrong,
        found=f"{plain(str(told['name']))}: "
        + (wrong or ("as asked for" if told["reached"] else "not known")),
        advice="set the stream back as it was, or give it room, with the NATS tools (docs/nats.md)",
    )


def _clock(told: Mapping[str, Any]) -> DoctorFinding:
    off, most = told["clock_off_s"], MOST / SECOND
    return DoctorFinding(
        "servers' clock",
        ok=abs(off) <= most,
        found=f"this machine's is {abs(off):.1f} s {'ahead of' if off > 0 else 'behind'} the NATS servers'"
        if off
        else "this machine's agrees with the NATS servers'",
        advice=f"a node that is more than {most:.0f} s off does not write: set its clock by NTP, and theirs",
    )


def _writer(told: Mapping[str, Any]) -> DoctorFinding:
    return DoctorFinding(
        "writer",
        ok=bool(told["lives"]),
        found=f"this node writes to {counted(told['groups'], 'group')}; it won or lost its lease "
        f"{counted(told['lease_changes'], 'time')}",
        advice="without its lease a node writes to no group: servers do not answer it, or it stood still",
    )


def _lag(told: Mapping[str, Any]) -> DoctorFinding:
    return DoctorFinding(
        "lag",
        ok=told["lag"] < BEHIND,
        found=f"{told['lag']} messages of the stream are not applied here; a node that joins would read "
        f"{told['behind_snapshot']} behind the newest snapshot",
        advice="this node is slower than the others write: look at its disk and processor",
    )


def _batches(told: Mapping[str, Any]) -> DoctorFinding:
    batches = told["batches"]
    shipped = batches["shipped"]
    mean = 1000 * batches["seconds"] / shipped if shipped else 0.0
    return DoctorFinding(
        "batches",
        ok=not batches["unknown"],
        found=f"{shipped} shipped, {mean:.1f} ms each; {batches['stale']} overtaken, {batches['declined']} "
        f"declined, {batches['unknown']} unknown, {batches['fenced']} fenced",
        advice="the servers did not answer in time: look at their disks and at the network between; what was "
        "unknown is settled by itself",
    )
