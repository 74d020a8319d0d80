"""A data folder whose ledger follows a stream: it may be empty, damaged, cut off or of yesterday.

What it lacks is read from the stream before anything is answered: events, and the records of the hub's own
(credentials, blobs and who brought them, webhooks). Where that is very much, a snapshot that another node
kept is what it begins from. The bytes of blobs are fetched when somebody asks for them. A damaged file is no
loss: it is removed and made anew.
"""

from __future__ import annotations

import logging
import socket
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.jetstream.connection import NatsConnection
from tacit.base.io.jetstream.lease import SECONDS, Holder, Lease
from tacit.base.io.private_file import write_private
from tacit.ledger.io.jetstream.blobs import BlobStream, CachedBlobs
from tacit.ledger.io.jetstream.erasing import erase
from tacit.ledger.io.jetstream.journal import JetStreamJournal
from tacit.ledger.io.jetstream.node import FollowingWriter, Node
from tacit.ledger.io.jetstream.overview import standing_of
from tacit.ledger.io.jetstream.snapshots import LedgerSnapshots, SnapshotRounds
from tacit.ledger.io.jetstream.stream import JetStream
from tacit.ledger.io.store import DATABASE, Options, Store

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
    ) -> None:
        """Connects, and takes the lease if nobody has it; `alone`: `Refused` while another node has it."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A second hub on this folder would be taken for the first one, come back.
        lock = FolderLock(folder, purpose="tacit hub")
        try:
            connection = NatsConnection(servers, patience)
            try:
                self.stream: Final = JetStream(connection, name, replicas=replicas)
                # Its address is new with every start: what was said to an earlier one is not for it.
                holder = Holder(_node_id(folder, entropy), socket.gethostname(), connection.fresh_name())
                self._address = holder.address
                self.lease: Final = Lease(
                    connection,
                    name,
                    holder,
                    replicas=replicas,
                    seconds=lease_seconds,
                    alone=alone,
                    clock=clock,
                )
            except BaseException:
                connection.close()
                raise
        finally:
            lock.release()

    def open(
        self, folder: Path, options: Options, engine: Callable[[apsw.Connection], Engine] | None = None
    ) -> tuple[Store, Node]:
        """The ledger's store, and this node among the others; when the store is closed, so is all of this."""
        connection = self.stream.connection
        journals: list[JetStreamJournal] = []

        def may_write() -> bool:
            return self.lease.is_held

        try:
            snapshots = LedgerSnapshots(self.stream, options.entropy)
            store = open_cache(folder, options, self.stream, engine, may_write, journals, snapshots)
            checkpointer = store.checkpointer
            writer = FollowingWriter(store.writer, journals[-1], self.stream, lambda: checkpointer.pages)
            store.transport = writer
            node = Node(connection, self.stream.name, self.lease, writer, self._address)
            node.standing = partial(standing_of, self.stream, self.lease, writer, snapshots)
            # What was put in the place of what was taken back stands in the stream beside the batches.
            snapshots.on_erased = writer.be_sure
            rounds = SnapshotRounds(snapshots, store.path, may_write)
            connection.wait(node.begin())
            rounds.begin()
        except BaseException:
            self.close()
            raise

        def closed() -> None:
            connection.wait(node.end())
            self.lease.release()  # nobody who could write waits for a last snapshot
            rounds.end()
            self.close()

        store.on_closed = closed
        return store, node

    def close(self) -> None:
        """Give the lease back and let go of the servers."""
        self.lease.release()
        self.stream.close()


def _node_id(folder: Path, entropy: Entropy) -> str:
    path = folder / NODE
    if not path.exists():
        write_private(path, entropy.draw(16).hex().encode())
    return path.read_text(encoding="ascii").strip()


def open_cache(
    folder: Path,
    options: Options,
    stream: JetStream,
    engine: Callable[[apsw.Connection], Engine] | None = None,
    may_write: Callable[[], bool] = lambda: True,
    journals: list[JetStreamJournal] | None = None,
    snapshots: LedgerSnapshots | None = None,
) -> Store:
    """A store that has applied all of the stream, not started yet; `journals` gets what it writes through.

    Without `snapshots` the stream alone is read.
    """
    bytes_of_blobs = BlobStream(stream.connection, stream.name, stream.replicas)

    def journal(connection: apsw.Connection) -> JetStreamJournal:
        made = JetStreamJournal(connection, stream, may_write)
        if journals is not None:
            journals.append(made)
        return made

    def erases(connection: apsw.Connection) -> None:
        writes = may_write()
        if snapshots is not None and writes:
            # First the copies: while the stream has the content, whoever comes next knows that it has to go.
            snapshots.forget()
        erase(connection, stream, may_write=writes)
        if snapshots is not None and writes:
            snapshots.on_erased()

    def blobs(folder: Path, entropy: Entropy) -> CachedBlobs:
        return CachedBlobs(folder, entropy, bytes_of_blobs, may_write)

    # A half-written commit is no news: what it was is in the stream, or was never acknowledged.
    options = replace(options, journal=journal, keeps_torn=False, erases=erases, blobs=blobs)
    for _ in range(MOST_BEGINNINGS):
        joined = snapshots is not None and snapshots.join(folder, engine, options.purpose)
        try:
            return _caught_up(folder, options, engine)
        except Corrupt:
            log.warning("the ledger's file is damaged: it is made anew from the stream")
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (folder / name).unlink(missing_ok=True)
        if joined:
            break  # what one snapshot led to the next would, too
    return _caught_up(folder, options, engine)


def _caught_up(folder: Path, options: Options, engine: Callable[[apsw.Connection], Engine] | None) -> Store:
    store = Store(folder, options, engine=engine)
    try:
        store.writer.catch_up()
    except BaseException:
        store.close()
        raise
    return store
