"""Events out of a damaged file, one at a time, and only what can be vouched for.

A page whose checksum is wrong holds several events, of which mostly one is changed. What is in the row of an
event is hashed into its group's chain: read without the page's checksum, an event whose link holds is what
was written. Who may see it stands in another table, which the chain does not cover: that is read with
checksums or not at all. What cannot be vouched for is named by its position and served to nobody.
"""

from __future__ import annotations

import logging
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import apsw
import msgspec

from tacit.base.errors import Corrupt
from tacit.base.io.sqlite import connect, damage_hint, is_damage
from tacit.ledger.envelope import decode
from tacit.ledger.io.journal import FIRST_LINK, link
from tacit.ledger.io.read_model import SELECT, found
from tacit.ledger.io.schema import SEQ_MASK, SHIFT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tacit.ledger.envelope import StoredEvent

log: Final = logging.getLogger("tacit.ledger")


class Salvage:
    """Reads past damage in one file, for one reader."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def events(
        self, checked: apsw.Connection, number: int, after: int, last: int
    ) -> Iterator[tuple[int, StoredEvent | None]]:
        """Each position after `after` up to `last`, with its event; None where it is damaged."""
        with closing(connect(self._path, readonly=True)) as bare:
            bare.execute("PRAGMA checksum_verification=OFF").fetchall()
            for seq in range(after + 1, last + 1):
                yield seq, self._one(checked, bare, number << SHIFT | seq)

    def event(self, checked: apsw.Connection, pos: int) -> StoredEvent:
        """The event at a place; refuses by name when it is damaged."""
        ((seq, event),) = self.events(checked, pos >> SHIFT, (pos & SEQ_MASK) - 1, pos & SEQ_MASK)
        if event is None:
            raise Corrupt(f"event {seq} of this group is damaged", hint=damage_hint(self._path))
        return event

    def _one(self, checked: apsw.Connection, bare: apsw.Connection, pos: int) -> StoredEvent | None:
        try:
            row = checked.execute(SELECT + "WHERE e.pos=?", (pos,)).fetchone()
            return found(row) if row else None
        except (apsw.Error, msgspec.DecodeError) as error:
            if not is_damage(error) and not isinstance(error, msgspec.DecodeError):
                raise
        try:
            return _vouched(checked, bare, pos)
        except (apsw.Error, msgspec.DecodeError, ValueError, TypeError):
            log.error("an event is damaged", extra={"group": pos >> SHIFT, "seq": pos & SEQ_MASK})  # noqa: TRY400
            return None


def _vouched(checked: apsw.Connection, bare: apsw.Connection, pos: int) -> StoredEvent:
    row = bare.execute("SELECT id, chain, raw, salt FROM events WHERE pos=?", (pos,)).fetchone()
    before = bare.execute("SELECT chain FROM events WHERE pos=?", (pos - 1,)).fetchone()
    if row is None or not all(isinstance(part, bytes) for part in (*row[:3], *(before or ()))):
        raise ValueError("no event is here")
    event_id, chain, raw, salt = row
    previous = before[0] if before is not None else FIRST_LINK
    event = decode(raw)
    if link(previous, raw, salt) != chain or event.seq != pos & SEQ_MASK:
        raise ValueError("the chain does not vouch for it")
    seen: tuple[Any, ...] = checked.execute(
        "SELECT everyone, private, named, root FROM audiences WHERE pos=?", (pos,)
    ).fetchone() or (None, None, None, None)
    return found((pos, event_id, event.kind, raw, *seen))
