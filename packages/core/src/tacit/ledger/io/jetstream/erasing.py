"""Erasing in the stream: what was taken back here leaves the servers too (C2A-187).

The list of what has to go is the file's own (`erasures`), so nothing is forgotten by a crash: it is emptied
when the servers have done their part. A node that finds content in the stream of which a later message says
that it was taken back (another died in between) puts it on its list by applying that message, and does the
rest here. Every node has the list; the one that writes does the work, and the others see to it that it is
done: should that one die, the next has it on its list still.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Unavailable
from tacit.ledger.envelope import GONE
from tacit.ledger.io.schema import SEQ_MASK, SHIFT
from tacit.ledger.shipment import without, without_blobs

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from tacit.ledger.io.jetstream.stream import JetStream
    from tacit.ledger.shipment import StreamMessage

_BATCHES: Final = """
SELECT pos, sequence, (SELECT min(n.pos) FROM stream_batches n WHERE n.pos>b.pos) FROM stream_batches b
WHERE pos IN (SELECT (SELECT max(m.pos) FROM stream_batches m WHERE m.pos<=e.pos)
              FROM erasures e WHERE e.pos IS NOT NULL)
"""
_TWICE: Final = "SELECT stands_for FROM stream_instead GROUP BY stands_for HAVING count(*)>1"
_ONCE: Final = """
DELETE FROM stream_instead WHERE stands_for=?
  AND sequence<(SELECT max(sequence) FROM stream_instead WHERE stands_for=?)
"""
_REDACTED: Final = "SELECT pos, raw FROM events WHERE pos>=? AND pos<? AND salt=?"
_LOST: Final = """
SELECT group_id, path, principal, sequence FROM stream_blobs b WHERE NOT EXISTS(
  SELECT 1 FROM blob_owners o JOIN groups g ON g.number=o.group_no
  WHERE g.group_id=b.group_id AND o.path=b.path AND o.principal=b.principal)
"""


def erase(connection: apsw.Connection, stream: JetStream, *, may_write: bool) -> None:
    """Have everything on the list gone from the stream; `Unavailable` when that cannot be now."""
    put = stream.replace if may_write else partial(_require_replaced, stream)
    # First the records of files: were the messages first, and the rest lost, nobody would know of these.
    _erase_blobs(connection, stream, put)
    for first, sequence, after in connection.execute(_BATCHES).fetchall():
        message = stream.get(sequence)
        put(message, without(message.payload, _redacted(connection, first, after)))
    for (sequence,) in connection.execute(_TWICE).fetchall():
        message = stream.get(sequence)
        put(message, message.payload)
        connection.execute(_ONCE, (sequence, sequence))


def _require_replaced(stream: JetStream, message: StreamMessage, payload: bytes) -> None:
    if not stream.is_replaced(message, payload):
        raise Unavailable("what was taken back is to be erased by the node that writes")


def _erase_blobs(
    connection: apsw.Connection, stream: JetStream, put: Callable[[StreamMessage, bytes], None]
) -> None:
    lost = connection.execute(_LOST).fetchall()
    gone = {(str(group_id), str(path), str(principal)) for group_id, path, principal, _ in lost}
    for sequence in sorted({int(row[3]) for row in lost}):
        message = stream.get(sequence)
        put(message, without_blobs(message.payload, gone))
    connection.executemany(
        "DELETE FROM stream_blobs WHERE group_id=? AND path=? AND principal=? AND sequence=?", lost
    )


def _redacted(connection: apsw.Connection, first: int, after: int | None) -> dict[int, bytes]:
    """The events of one batch that have lost their content here, by position."""
    end = ((first >> SHIFT) + 1) << SHIFT
    rows = connection.execute(_REDACTED, (first, min(after or end, end), GONE)).fetchall()
    return {int(pos) & SEQ_MASK: bytes(raw) for pos, raw in rows}
