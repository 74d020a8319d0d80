"""The kept state: a copy of the whole file in a stream of its own, behind which the journal is cut.

It is what a node begins with that has nothing, and it is how the relay forgets: what was removed from the
mailboxes is in the next copy no more, and the messages that brought it are purged. The copy is cut into
pieces, then its head is written, guarded by the head before: a node that stood still meanwhile cannot put an
older state in the place of a newer one. Only then do the pieces of the copy before go, and what the journal
has from before that copy: whoever follows may be one copy late.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final, cast

import msgspec

from tacit.base.errors import Unavailable
from tacit.base.io import sqlite
from tacit.base.io.jetstream.kept_pieces import PIECE, KeptPieces
from tacit.relay.io.jetstream.journal import shortened_config

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.io.jetstream.connection import NatsConnection
    from tacit.base.ports import Clock, Entropy
    from tacit.relay.io.jetstream.journal import RelayJournal

SUFFIX: Final = "_STATE"
MOST_MESSAGES: Final = 50_000
MOST_BYTES: Final = 256 * 1024 * 1024
LONGEST: Final = 1800 * 1_000_000
"""Microseconds after which a copy is made anew, if anything was written; so what went is gone in an hour."""


class StateHead(msgspec.Struct, frozen=True):
    """Which pieces are the kept state, and what they are."""

    copy: str
    sequence: int
    made_at: int
    pieces: int
    sha256: str
    journal_bytes: int = 0


NO_STATE: Final = StateHead("", 0, 0, 0, "")


class KeptState:
    """The kept state of one relay. Blocking calls, for any thread."""

    def __init__(
        self, connection: NatsConnection, relay: str, replicas: int, clock: Clock, entropy: Entropy
    ) -> None:
        """Makes the stream when there is none, and refuses one that is not safe."""
        self._pieces = KeptPieces(connection, shortened_config(relay + SUFFIX, replicas))
        self._clock = clock
        self._entropy = entropy

    def head(self) -> tuple[StateHead, int]:
        """The head, and the sequence under which it stands; 0 when there is none yet."""
        payload, sequence = self._pieces.head()
        return (msgspec.json.decode(payload, type=StateHead) if sequence else NO_STATE), sequence

    def fetch(self, head: StateHead, file: Path) -> None:
        """Write the kept state into a file."""
        with file.open("wb") as copy:
            for piece in self._pieces.get(head.copy, head.pieces, head.sha256):
                copy.write(piece)

    def keep_if_due(self, file: Path, journal: RelayJournal) -> None:
        """Make a copy if the journal has become long since the last one, or that one is old."""
        head, _ = self.head()
        behind, size = journal.ends()[1] - head.sequence, journal.size()
        late = behind and self._clock.now() - head.made_at > LONGEST
        if behind > MOST_MESSAGES or size > MOST_BYTES + head.journal_bytes or late:
            self.keep(file, journal)

    def keep(self, file: Path, journal: RelayJournal) -> None:
        """Make a copy of a node's file, and cut the journal behind it."""
        copy = file.with_name("relay.copy")
        copy.unlink(missing_ok=True)
        try:
            with contextlib.closing(sqlite.connect(file, readonly=True)) as reader:
                reader.execute("VACUUM INTO ?", (str(copy),))
            with contextlib.closing(sqlite.connect(copy, readonly=True)) as reader:
                sequence = int(cast("int", reader.execute("SELECT sequence FROM stream_applied").get))
            before = self._put(copy, sequence, journal.size())
        finally:
            copy.unlink(missing_ok=True)
        if before.sequence:
            journal.shorten(before.sequence)

    def _put(self, copy: Path, sequence: int, journal_bytes: int) -> StateHead:
        """Have a copy be the kept state; which one was it before."""
        before, guard = self.head()
        if sequence < before.sequence:
            raise Unavailable("a newer state is kept already")
        self._drop_others(before.copy)
        name = self._entropy.draw(8).hex()
        with copy.open("rb") as file:
            pieces, sha256 = self._pieces.put(name, iter(lambda: file.read(PIECE), b""))
        head = StateHead(name, sequence, int(self._clock.now()), pieces, sha256, journal_bytes)
        self._pieces.put_head(msgspec.json.encode(head), guard)
        self._drop_others(name)
        return before

    def _drop_others(self, kept: str) -> None:
        """Purge the pieces of every other copy: one that was replaced, or never came to its end."""
        for name in self._pieces.names() - {kept}:
            self._pieces.purge(name)
