"""A data folder whose ledger follows a stream: it may be empty, damaged, cut off or of yesterday.

What it lacks is read from the stream before anything is answered: events, and the records of the hub's own
(credentials, blobs and who brought them, webhooks). Where that is very much, a snapshot that another node
kept is what it begins from. The bytes of blobs are fetched when somebody asks for them. A damaged file is no
loss: it is removed and made anew.
"""

from __future__ import annotations

import logging
import socket
from dataclasses import replace as replaced
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from tacit.base.errors import Corrupt
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.jetstream.connection import NatsConnection
from tacit.base.io.jetstream.lease import KEY, SECONDS, Holder, Lease
from tacit.base.io.private_file import write_private
from tacit.base.io.time_service import even_time
from tacit.ledger.commands import HUB
from tacit.ledger.io.jetstream.blobs import BlobStream, CachedBlobs
from tacit.ledger.io.jetstream.erasing import erase
from tacit.ledger.io.jetstream.group_leases import NODES, GroupLeases
from tacit.ledger.io.jetstream.journal import JetStreamJournal
from tacit.ledger.io.jetstream.node import FollowingWriter, Node
from tacit.ledger.io.jetstream.overview import standing_of
from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots, SnapshotRounds, tidy
from tacit.ledger.io.jetstream.stream import JetStream
from tacit.ledger.io.store import DATABASE, Store, StoreOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.io.jetstream.connection import Patience
    from tacit.base.nats_access import NatsAccess
    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.engine import Engine

log: Final = logging.getLogger("tacit.ledger")
MOST_BEGINNINGS: Final = 2
"""From the file that is there, then from a snapshot; after these from the stream alone."""
NODE: Final = "node.id"
"""The file with the id of a folder: a hub that died and is started again has its lease back at once."""


class ServedStream:
    """The stream of a ledger, as one node has it: connection, lease, and the store on it."""

    def __init__(
        self,
        servers: Sequence[str] | NatsAccess,
        name: str,
        folder: Path,
        entropy: Entropy,
        *,
        replicas: int = 3,
        patience: Patience | None = None,
        lease_seconds: float = SECONDS,
        alone: bool = False,
        clock: Clock | None = None,
        lock: FolderLock | None = None,
    ) -> None:
        """Connects, and says that this node lives; `alone`: the only one, `Refused` while another lives."""
        self._groups: GroupLeases | None = None
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A second hub on this folder would be taken for the first one, come back.
        lock = lock or FolderLock(folder, purpose="tacit hub")
        try:
            connection = NatsConnection(servers, patience)
            try:
                self.stream: Final = JetStream(connection, name, replicas=replicas)
                # Its address is new with every start: what was said to an earlier one is not for it.
                holder = Holder(_node_id(folder, entropy), socket.gethostname(), connection.fresh_name())
                made = partial(Lease, connection, name, replicas=replicas, seconds=lease_seconds, clock=clock)
                self.lease: Final = _lease(made, connection, holder, alone=alone)
            except BaseException:
                connection.close()
                raise
        finally:
            lock.release()

    def open(
        self,
        folder: Path,
        options: StoreOptions,
        engine: Callable[[apsw.Connection], Engine] | None = None,
        *,
        anew: bool = True,
    ) -> tuple[Store, Node]:
        """The ledger's store, and this node among the others; when the store is closed, so is all of this.

        `anew`: the file may be made anew; else somebody reads it, and it has to do as it is.
        """
        connection = self.stream.connection
        journals: list[JetStreamJournal] = []
        try:
            groups = self._groups = GroupLeases(
                connection, self.stream.name, self.lease, self.stream.replicas
            )
            snapshots = LedgerSnapshots(self.stream, options.entropy)
            store = open_cache(
                folder, options, self.stream, engine, groups.holds, journals, snapshots, anew=anew
            )
            checkpointer = store.checkpointer
            writer = FollowingWriter(store.writer, journals[-1], self.stream, lambda: checkpointer.pages)
            store.transport = writer
            if (clock := even_time(options.clock)) is not None:
                # It went by a clock that was wrong, and would draw near the right one over hours.
                self.lease.on_clock_set = clock.begin_anew
            node = Node(connection, self.stream.name, self.lease, groups, writer)
            node.standing = partial(standing_of, self.stream, self.lease, groups, writer, snapshots)
            # What was put in the place of what was taken back stands in the stream beside the batches.
            snapshots.on_erased = writer.be_sure
            snapshots.bring_all_up = writer.bring_all_up
            connection.wait(groups.find([HUB]))
            rounds = SnapshotRounds(snapshots, store.path, lambda: groups.holds(HUB))
            connection.wait(node.begin())
            rounds.begin()
        except BaseException:
            self.close()
            raise

        def closed() -> None:
            connection.wait(node.end())
            self.lease.release()  # nobody who could write waits for a last snapshot
            rounds.end(keeps_last=node.keeps_last)
            self.close()

        store.on_closed = closed
        return store, node

    def close(self) -> None:
        """Give the lease back and let go of the servers."""
        if self._groups is not None:
            self._groups.close()
        self.lease.release()
        self.stream.close()


def _lease(made: Callable[..., Lease], connection: NatsConnection, holder: Holder, *, alone: bool) -> Lease:
    """A node's sign of life, or that of one who has the ledger alone. Both give theirs before they look."""
    if alone:
        lease = made(holder, alone=True)
    else:
        lease = made(holder, key=NODES + holder.node)
        if not lease.is_held and connection.wait(lease.holder()) is not None:
            # A copy of a folder whose node lives is a node of its own.
            lease.release()
            holder = replace(holder, node=f"{holder.node}-{holder.address}")
            lease = made(holder, key=NODES + holder.node)
    try:
        connection.wait(lease.wait_until_gone(lambda key: key.startswith(NODES) if alone else key == KEY))
    except BaseException:
        lease.release()
        raise
    return lease


def _node_id(folder: Path, entropy: Entropy) -> str:
    path = folder / NODE
    if not path.exists():
        write_private(path, entropy.draw(16).hex().encode())
    return path.read_text(encoding="ascii").strip()


def open_cache(
    folder: Path,
    options: StoreOptions,
    stream: JetStream,
    engine: Callable[[apsw.Connection], Engine] | None = None,
    holds: Callable[[str], bool] = lambda _group_id: True,
    journals: list[JetStreamJournal] | None = None,
    snapshots: LedgerSnapshots | None = None,
    *,
    anew: bool = True,
) -> Store:
    """A store that has applied all of the stream, not started yet; `journals` gets what it writes through.

    Without `snapshots` the stream alone is read; unless `anew`, into the file that is there.
    """
    bytes_of_blobs = BlobStream(stream.connection, stream.name, stream.replicas)

    def journal(connection: apsw.Connection) -> JetStreamJournal:
        made = JetStreamJournal(connection, stream, holds)
        if journals is not None:
            journals.append(made)
        return made

    def erases(connection: apsw.Connection) -> None:
        # By one node for all groups: it need not be the one that has written what goes.
        writes = holds(HUB)
        if snapshots is not None and writes:
            # First the copies: while the stream has the content, whoever comes next knows that it has to go.
            snapshots.forget()
        erase(connection, stream, may_write=writes)
        if snapshots is not None and writes:
            snapshots.on_erased()

    def blobs(folder: Path, entropy: Entropy) -> CachedBlobs:
        return CachedBlobs(folder, entropy, bytes_of_blobs, lambda: holds(HUB))

    # A half-written commit is no news: what it was is in the stream, or was never acknowledged.
    options = replaced(options, journal=journal, keeps_torn=False, erases=erases, blobs=blobs)
    if not anew:
        tidy(folder)  # whose process was killed has left it to the next one
    for _ in range(MOST_BEGINNINGS if anew else 0):
        joined = snapshots is not None and snapshots.join(folder, engine, options.locked)
        try:
            return _caught_up(folder, options, engine)
        except Corrupt:
            log.warning("the ledger's file is damaged: it is made anew from the stream")
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (folder / name).unlink(missing_ok=True)
        if joined:
            break  # what one snapshot led to the next would, too
    return _caught_up(folder, options, engine)


def _caught_up(
    folder: Path, options: StoreOptions, engine: Callable[[apsw.Connection], Engine] | None
) -> Store:
    store = Store(folder, options, engine=engine)
    try:
        store.writer.catch_up()
    except BaseException:
        store.close()
        raise
    return store
