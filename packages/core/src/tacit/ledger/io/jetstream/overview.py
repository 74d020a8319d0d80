"""How a ledger's stream stands, asked of the servers: for operators, not for any decision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import TacitError
from tacit.base.io.jetstream.safety import unsafe, wanted_config
from tacit.base.moment import SECOND
from tacit.ledger.standing import Replica, StreamStanding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.base.io.jetstream.connection import StreamReply
    from tacit.base.io.jetstream.lease import Lease
    from tacit.ledger.io.jetstream.group_leases import GroupLeases
    from tacit.ledger.io.jetstream.node import FollowingWriter
    from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots
    from tacit.ledger.io.jetstream.stream import JetStream

NEARLY: Final = 0.9
"""From this part of its limit on a stream is called full."""


def standing_of(
    stream: JetStream, lease: Lease, groups: GroupLeases, writer: FollowingWriter, snapshots: LedgerSnapshots
) -> StreamStanding:
    """What can be learnt now, without waiting for servers that do not answer; blocks."""
    standing = stream.connection.wait(_standing(stream, lease, groups, writer))
    try:
        newest = snapshots.newest() if standing.reached else None
    except TacitError:
        newest = None
    return replace(standing, snapshot=newest.sequence) if newest is not None else standing


def _wrong(reply: StreamReply, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    most, has = int(reply.config.get("max_bytes", -1)), reply.state.bytes if reply.state is not None else 0
    full = [f"it has {has} of {most} bytes"] if 0 < most * NEARLY <= has else []
    return (*unsafe(reply.config, wanted), *full)


async def _standing(
    stream: JetStream, lease: Lease, groups: GroupLeases, writer: FollowingWriter
) -> StreamStanding:
    connection = stream.connection
    try:
        reply = await connection.ask(stream.name, "INFO", {}, tries=1)
    except TacitError:
        reply = None
    server, version = connection.server
    return StreamStanding(
        stream.name,
        stream.replicas,
        writer.reached,
        lease.is_held,
        groups.held,
        lease.changes,
        connection.reconnects,
        stream.counts,
        reached=reply is not None,
        end=reply.state.last_seq if reply is not None and reply.state is not None else 0,
        server=server,
        version=version,
        replicas=_replicas(reply, server),
        wrong=_wrong(reply, wanted_config(stream.name, stream.replicas)) if reply else (),
        silent=tuple(await connection.silent_servers()),
        asleep=writer.asleep,
        clock_off=lease.clock_off / SECOND,
    )


def _replicas(reply: StreamReply | None, server: str) -> tuple[Replica, ...]:
    if reply is None:
        return ()
    if reply.cluster is None or not reply.cluster.leader:
        return (Replica(server, is_current=True),)
    others = [Replica(one.name, one.current and not one.offline, one.lag) for one in reply.cluster.replicas]
    return (Replica(reply.cluster.leader, is_current=True), *others)
