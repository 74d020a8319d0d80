"""How events come back from the tables: one query text for writers, readers and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base import ids
from tacit.ledger.io.schema import SEQ_MASK, SHIFT
from tacit.ledger.principal import USER
from tacit.ledger.stored_event import StoredEvent

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

ADDRESSABLE: Final = frozenset({"chat.message", "system.notify"})

SELECT: Final = """
SELECT e.pos, e.id, (SELECT name FROM kinds WHERE number=e.kind), e.raw,
  a.everyone, a.private, a.named, a.root
FROM events e LEFT JOIN audiences a ON a.pos=e.pos
"""


_IS_MESSAGE: Final = "e.kind=(SELECT number FROM kinds WHERE name='chat.message')"
_SEEN: Final = (
    "(NOT coalesce(a.private, 0) OR EXISTS(SELECT 1 FROM talk_parties p "
    "WHERE p.group_no=? AND p.principal=? AND p.talk=a.talk))"
)


def seen_by(number: int, principal: str) -> tuple[str, tuple[Any, ...]]:
    """What `StoredEvent.visible_to` says, for a query over `audiences a` (CCCS-110).

    Asked in the query itself, so that its limit counts only what the reader may see.
    """
    return ("1", ()) if principal == USER else (_SEEN, (number, principal))


class _By(msgspec.Struct):
    by: str


_by: Final = msgspec.json.Decoder(_By)


def found(row: Sequence[Any]) -> StoredEvent:
    """An event with its audience; without an audience row the kind says what it is."""
    pos, event_id, kind, raw, everyone, private, named, root = row
    raw = bytes(raw)
    by = _by.decode(raw).by
    if everyone is None:
        return StoredEvent(pos & SEQ_MASK, ids.text(event_id), kind, by, raw, everyone=kind in ADDRESSABLE)
    return StoredEvent(
        pos & SEQ_MASK,
        ids.text(event_id),
        kind,
        by,
        raw,
        bool(everyone),
        tuple(named.split("\n")) if named else (),
        bool(private),
        root,
    )


def messages_before(
    connection: apsw.Connection, base: int, upper: int, limit: int, principal: str = USER
) -> list[StoredEvent]:
    """The messages between two places that a principal may see, newest first."""
    seen, values = seen_by(base >> SHIFT, principal)
    rows = connection.execute(
        f"{SELECT}WHERE e.pos>? AND e.pos<? AND {_IS_MESSAGE} AND {seen} ORDER BY e.pos DESC LIMIT ?",
        (base, upper, *values, limit),
    )
    return [found(row) for row in rows]


def one(connection: apsw.Connection, where: str, values: tuple[Any, ...]) -> StoredEvent | None:
    """The event that a condition singles out."""
    row = connection.execute(SELECT + where, values).fetchone()
    return found(row) if row else None
