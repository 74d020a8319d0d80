"""A relay's folder on a journal: it may be empty, damaged, cut off or of yesterday.

What it lacks is read before anything is answered. A file that cannot be followed from is removed and made
anew from the kept state: nothing is in it that the streams do not have.
"""

from __future__ import annotations

import logging
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io import sqlite
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.jetstream.connection import NatsConnection
from tacit.base.io.jetstream.lease import SECONDS, Holder, Lease
from tacit.base.io.private_file import make_private, write_private
from tacit.relay.io.jetstream.journal import RelayJournal
from tacit.relay.io.jetstream.kept_state import KeptState
from tacit.relay.io.jetstream.store import StreamStore
from tacit.relay.io.schema import SCHEMA
from tacit.relay.io.store import FILE, NODE, follows_stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.base.io.jetstream.connection import Patience
    from tacit.base.nats_access import NatsAccess
    from tacit.base.ports import Clock, Entropy

_log: Final = logging.getLogger("tacit.relay")
MOST_FETCHES: Final = 5


@dataclass(frozen=True, slots=True)
class RelayStream:
    """Where a relay's state is, and how it is reached."""

    access: Sequence[str] | NatsAccess
    name: str = "TACIT_RELAY"
    replicas: int = 3
    patience: Patience | None = None
    lease_seconds: float = SECONDS


def open_node(folder: Path, stream: RelayStream, clock: Clock, entropy: Entropy) -> StreamStore:
    """The store of a node that serves, caught up, and in line for what one node has to do."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = FolderLock(folder, purpose="tacit relay")
    try:
        store = open_store(folder, stream, clock, entropy)
    except BaseException:
        lock.release()
        raise
    store.lock = lock
    try:
        holder = Holder(store.node, socket.gethostname())
        store.lease = Lease(
            store.journal.connection,
            stream.name,
            holder,
            replicas=stream.replicas,
            seconds=stream.lease_seconds,
        )
    except BaseException:
        store.abandon()
        raise
    return store


def open_store(folder: Path, stream: RelayStream, clock: Clock, entropy: Entropy) -> StreamStore:
    """A store that has applied all of the journal, not started yet."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_followed(folder)
    connection = NatsConnection(stream.access, stream.patience)
    try:
        journal = RelayJournal(connection, stream.name, replicas=stream.replicas, version=len(SCHEMA.steps))
        kept = KeptState(connection, stream.name, stream.replicas, clock, entropy)
        try:
            return _caught_up(folder, journal, kept, clock, entropy)
        except (Corrupt, *sqlite.DAMAGED):
            _log.warning("the relay's file cannot be followed from: it is made anew from the streams")
        _remove(folder)
        return _caught_up(folder, journal, kept, clock, entropy)
    except BaseException:
        connection.close()
        raise


def _caught_up(
    folder: Path, journal: RelayJournal, kept: KeptState, clock: Clock, entropy: Entropy
) -> StreamStore:
    node = _node_id(folder, entropy)
    if not (folder / FILE).exists():
        _fetch(folder, kept)
    store = StreamStore(folder, journal, node=node, now=clock.now(), entropy=entropy)
    try:
        store.check_stream()
        store.catch_up()
    except BaseException:
        store.close_file()
        raise
    store.kept_state = kept
    return store


def _fetch(folder: Path, kept: KeptState) -> None:
    arriving = folder / f"{FILE}.arriving"
    make_private(arriving)
    try:
        for left in reversed(range(MOST_FETCHES)):
            head, sequence = kept.head()
            if not sequence:
                return
            try:
                kept.fetch(head, arriving)
            except Unavailable:
                if not left:
                    raise
            else:
                arriving.rename(folder / FILE)
                return
    finally:
        arriving.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):
        (folder / name).unlink(missing_ok=True)


def _check_followed(folder: Path) -> None:
    if (folder / FILE).exists() and not follows_stream(folder):
        raise Refused("other_relay", "this folder holds a relay of its own: give an empty folder")


def _node_id(folder: Path, entropy: Entropy) -> str:
    path = folder / NODE
    if not path.exists():
        write_private(path, entropy.draw(16).hex().encode())
    return path.read_text(encoding="ascii").strip()
