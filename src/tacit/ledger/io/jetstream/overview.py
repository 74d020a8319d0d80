"""How a ledger's stream stands, asked of the servers: for operators, not for any decision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.base.errors import TacitError
from tacit.base.io.jetstream.safety import unsafe, wanted_config
from tacit.base.moment import SECOND
from tacit.ledger.standing import Replica, StreamStanding

if TYPE_CHECKING:
    from tacit.base.io.jetstream.connection import StreamReply
    from tacit.base.io.jetstream.lease import Lease
    from tacit.ledger.io.jetstream.node import FollowingWriter
    from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots
    from tacit.ledger.io.jetstream.stream import JetStream


def standing_of(
    stream: JetStream, lease: Lease, writer: FollowingWriter, snapshots: LedgerSnapshots
) -> StreamStanding:
    """What can be learnt now, without waiting for servers that do not answer; blocks."""
    standing = stream.connection.wait(_standing(stream, lease, writer))
    try:
        newest = snapshots.newest() if standing.reached else None
    except TacitError:
        newest = None
    return replace(standing, snapshot=newest.sequence) if newest is not None else standing


async def _standing(stream: JetStream, lease: Lease, writer: FollowingWriter) -> StreamStanding:
    connection = stream.connection
    try:
        reply = await connection.ask(stream.name, "INFO", {}, tries=1)
    except TacitError:
        reply = None
    holder = await lease.holder() if reply is not None else None
    server, version = connection.server
    return StreamStanding(
        stream.name,
        stream.replicas,
        writer.reached,
        lease.is_held,
        lease.changes,
        connection.reconnects,
        stream.counts,
        reached=reply is not None,
        end=reply.state.last_seq if reply is not None and reply.state is not None else 0,
        server=server,
        version=version,
        replicas=_replicas(reply, server),
        wrong=tuple(unsafe(reply.config, wanted_config(stream.name, stream.replicas))) if reply else (),
        holder=holder.machine if holder is not None else "",
        silent=tuple(await connection.silent_servers()),
        clock_off=lease.clock_off / SECOND,
    )


def _replicas(reply: StreamReply | None, server: str) -> tuple[Replica, ...]:
    if reply is None:
        return ()
    if reply.cluster is None or not reply.cluster.leader:
        return (Replica(server, is_current=True),)
    others = [Replica(one.name, one.current and not one.offline, one.lag) for one in reply.cluster.replicas]
    return (Replica(reply.cluster.leader, is_current=True), *others)
