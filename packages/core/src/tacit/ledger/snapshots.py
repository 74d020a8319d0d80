"""Snapshots of a ledger that is in a stream: which a joining node takes, and when a new one is due.

A snapshot is what a node had made of the stream up to one sequence. It is believed where the stream has the
very message there that the snapshot names, and where it was made by the same forms and folds as this
program's; else the stream itself is read. So a snapshot saves time and decides nothing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.ledger.shipment import FORMAT as MESSAGE_FORMAT

if TYPE_CHECKING:
    from tacit.ledger.shipment import StreamMessage

FORMAT: Final = 1
KEPT: Final = 2
"""How many snapshots are kept: whoever fetches one may be overtaken once."""
FEWEST_EVENTS: Final = 5_000
"""Events that are not worth a snapshot: they are folded in less than a second."""
GROWTH: Final = 4
"""A new one is due when a ledger has grown by this part of what the last one holds."""
BUSY: Final = 5_000
"""Events between two looks by which a node is known to have much to write."""
FEWEST_WHEN_BUSY: Final = 50_000
"""Such a node lets so many come together, and as many as the last snapshot holds: two seconds of folding."""
FEWEST_MESSAGES: Final = 1_000
"""Messages that a node reads behind what it has rather than begin anew."""


class LedgerSnapshot(msgspec.Struct, frozen=True):
    """What a snapshot holds, by what it is believed, and where its bytes are."""

    name: str
    form: str
    stream: str
    sequence: int
    message: str
    events: int
    ends: str
    size: int
    pieces: int
    sha256: str


class SnapshotList(msgspec.Struct, frozen=True):
    """The snapshots that count, the newest first.

    What was taken back may stand in a copy from before `least`: none is listed that ends earlier.
    """

    least: int = 0
    kept: tuple[LedgerSnapshot, ...] = ()

    @property
    def newest(self) -> LedgerSnapshot | None:
        """The newest; None where there is none."""
        return self.kept[0] if self.kept else None

    def with_(self, made: LedgerSnapshot) -> SnapshotList | None:
        """With one more in the place of the oldest; None when that one has come too late."""
        newest = self.newest.sequence if self.newest is not None else 0
        if made.sequence <= newest or made.sequence < self.least:
            return None
        return SnapshotList(self.least, (made, *self.kept)[:KEPT])


def form_of(schema: int, folds: str) -> str:
    """By what a file was made: the same form gives the same file from the same messages."""
    return f"{FORMAT}/{MESSAGE_FORMAT}/{schema}/{folds}"


def mark_of(message: StreamMessage) -> str:
    """By what the message that a snapshot ends with is known again."""
    return hashlib.sha256(message.token.encode() + b"\0" + message.payload).hexdigest()


def is_due(events: int, newest: LedgerSnapshot | None, grown: int = 0) -> bool:
    """Would a joining node have so much to fold that a new snapshot is worth its making?

    `grown`: by how many events since it was looked last. Making one costs as much as writing a tenth of what
    it holds, so that a node that has much to write waits for a calmer time, though not for ever.
    """
    held = newest.events if newest is not None else 0
    if grown >= BUSY:
        return events - held >= max(FEWEST_WHEN_BUSY, held)
    return events - held >= max(FEWEST_EVENTS, held // GROWTH)


def is_worth(snapshot: LedgerSnapshot, applied: int) -> bool:
    """Is it better to begin from it than to go on from what was applied up to there?"""
    return snapshot.sequence - applied >= FEWEST_MESSAGES and applied < snapshot.sequence // 2
