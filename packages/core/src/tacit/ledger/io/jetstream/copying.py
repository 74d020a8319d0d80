"""A ledger copied from its folder into a stream, and from a stream into a folder: all of it, and verified.

Into a stream: one that is empty, from a folder that no hub serves. A first message says that a copy is under
way and a last one that it is whole; nobody follows a stream between the two. Events travel as they are, so
that every chain of hashes ends as before, which is looked at in a ledger made anew from the stream. Out of a
stream: its cache is a ledger already; it gets the files, and then follows the stream no more.
"""

from __future__ import annotations

import json
import secrets
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.folder_lock import FolderLock
from tacit.base.io.sqlite import connect
from tacit.base.shipping import Fate, Tracking
from tacit.ledger.commands import (
    HUB,
    DatedRecord,
    IssueCredential,
    RecordBlob,
    RevokeCredential,
    SetWebhook,
    UseCredential,
)
from tacit.ledger.io.blobs import BLOBS, BlobFolder
from tacit.ledger.io.folding import groups_on, rows_on
from tacit.ledger.io.jetstream.blobs import BlobStream
from tacit.ledger.io.jetstream.cache import open_cache
from tacit.ledger.io.journal import FIRST_LINK
from tacit.ledger.io.schema import SCHEMA, STREAM
from tacit.ledger.io.store import DATABASE, StoreOptions
from tacit.ledger.io.upkeep import ends_on
from tacit.ledger.ports import JournalEntry
from tacit.ledger.shipment import COPIED, COPYING, Shipment, ShipmentPart, packed, packed_records, token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from tacit.base.ports import Entropy
    from tacit.ledger.engine import Engine
    from tacit.ledger.io.jetstream.stream import JetStream

SHARE: Final = 2
"""A message is at most this part of what the servers take."""
TABLES: Final = ("stream_ends", "stream_batches", "stream_blobs", "stream_instead")


def copy_in(folder: Path, stream: JetStream, entropy: Entropy) -> int:
    """Copy a folder's ledger into an empty stream; how many events there are."""
    lock = FolderLock(folder, purpose="tacit ledger copy")
    try:
        if stream.end():
            raise Refused("not_empty", "the stream is not empty: a copy needs one of its own")
        with closing(connect(folder / DATABASE, readonly=True)) as connection:
            connection.execute("BEGIN")
            if SCHEMA.require_known(connection, folder / DATABASE) != len(SCHEMA.steps):
                raise Refused("older_version", "this ledger is of an older version: start a hub on it once")
            if connection.execute("SELECT 1 FROM facts WHERE name=?", (STREAM,)).fetchone() is not None:
                raise Refused("follows_stream", "this ledger is in a stream already")
            _ship(stream, COPYING, 0, b"1")
            count = sum(_copy_group(connection, stream, *row) for row in groups_on(connection))
            _copy_blobs(connection, stream, BlobFolder(folder / BLOBS, entropy))
            _copy_records(connection, stream)
            _ship(stream, COPIED, 0, b"1")
            wanted = ends_on(connection)
        _verify(folder, stream, wanted)
    finally:
        lock.release()
    return count


def _ship(stream: JetStream, subject: str, guard: int, payload: bytes) -> int:
    batch_id = secrets.token_hex(12)
    shipment = Shipment(batch_id, (ShipmentPart("", subject, guard, payload),))
    [tracking] = stream.carry([(shipment, Tracking(batch_id, stream.tries))])
    if tracking.fate is not Fate.KEPT:
        raise Unavailable("the copy broke off: delete the streams and begin again")
    return tracking.sequence


def _copy_group(
    connection: apsw.Connection, stream: JetStream, number: int, group_id: str, last: int, chain: bytes
) -> int:
    del last, chain
    before, guard, count, size = FIRST_LINK, 0, 0, 0
    entries: list[JournalEntry] = []
    link = before
    for seq, event_id, kind, following, raw, salt in rows_on(connection, number):
        if entries and size + len(raw) > stream.room // SHARE:
            guard = _ship(stream, token(group_id), guard, packed(before, entries))
            before, size = link, 0
            entries.clear()
        entries.append(JournalEntry(seq, event_id, kind, raw, salt))
        link, size, count = following, size + len(raw) + 128, count + 1
    if entries:
        _ship(stream, token(group_id), guard, packed(before, entries))
    return count


def _copy_blobs(connection: apsw.Connection, stream: JetStream, blobs: BlobFolder) -> None:
    kept = BlobStream(stream.connection, stream.name, stream.replicas)
    for (sha256,) in connection.execute("SELECT DISTINCT sha256 FROM blobs").fetchall():
        with blobs.open(sha256) as file:
            kept.put(sha256, file)


def _copy_records(connection: apsw.Connection, stream: JetStream) -> None:
    guard, some, size = 0, list[DatedRecord](), 0
    for record in _records(connection):
        some.append(record)
        size += len(packed_records((record,)))
        if size > stream.room // SHARE:
            guard = _ship(stream, token(HUB), guard, packed_records(some))
            some, size = [], 0
    if some:
        _ship(stream, token(HUB), guard, packed_records(some))


def _records(connection: apsw.Connection) -> Iterator[DatedRecord]:
    """Records that give the same rows when they are kept again."""
    for row in connection.execute(
        "SELECT g.group_id, b.sha256, b.bytes, b.mime_type, o.principal "
        "FROM blob_owners o JOIN blobs b USING(group_no, path) JOIN groups g ON g.number=o.group_no"
    ):
        group_id, sha256, size, mime_type, principal = row
        yield DatedRecord(0, RecordBlob(group_id, sha256, size, mime_type, principal))
    for (
        token_hash,
        token_id,
        principal,
        group_id,
        created,
        revoked,
        browser,
        used,
        groups,
    ) in connection.execute(
        "SELECT c.token_hash, c.token_id, c.principal, c.group_id, c.created, c.revoked, c.browser, c.used, "
        "s.groups FROM credentials c LEFT JOIN services s ON s.name=c.principal ORDER BY c.created"
    ):
        allowed = tuple(json.loads(groups)) if groups is not None else None
        issued = IssueCredential(bytes(token_hash), token_id, principal, group_id, allowed, bool(browser))
        yield DatedRecord(created, issued)
        if used is not None:
            yield DatedRecord(used, UseCredential(token_id))
        if revoked is not None:
            yield DatedRecord(revoked, RevokeCredential(token_id))
    for group_id, session, url, secret, version in connection.execute(
        "SELECT group_id, session, url, secret, version FROM webhooks"
    ):
        yield DatedRecord(0, SetWebhook(group_id, session, url, secret, version))


def _verify(folder: Path, stream: JetStream, wanted: object) -> None:
    """Make a ledger of what is in the stream now: every group must end as it did."""
    with tempfile.TemporaryDirectory(prefix=".tacit-copy-", dir=folder) as scratch:
        open_cache(Path(scratch), StoreOptions(purpose="tacit ledger copy", readers=1), stream).close()
        with closing(connect(Path(scratch) / DATABASE, readonly=True)) as made:
            if ends_on(made) != wanted:
                raise Corrupt(
                    "what is in the stream is not what was copied",
                    hint="delete the streams, run `tacit ledger verify`, and copy again",
                )


def copy_out(
    folder: Path, stream: JetStream, engine: Callable[[apsw.Connection], Engine] | None, entropy: Entropy
) -> int:
    """Make of a folder a ledger of its own that has all that the stream has; how many events there are."""
    store = open_cache(
        folder, StoreOptions(entropy=entropy, purpose="tacit ledger copy", readers=1), stream, engine
    )
    try:
        hashes = store.read(
            lambda reader: reader.connection.execute("SELECT DISTINCT sha256 FROM blobs").fetchall()
        )
        for (sha256,) in hashes:
            store.blobs.open(sha256).close()
    finally:
        store.close()
    with closing(connect(folder / DATABASE, overwrites=True)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM facts WHERE name=?", (STREAM,))
        connection.execute("COMMIT")
        row = connection.execute("SELECT count(*) FROM events").fetchone()
    return int(row[0]) if row else 0
