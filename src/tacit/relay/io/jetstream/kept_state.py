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
import hashlib
from typing import TYPE_CHECKING, Final, cast

import msgspec

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io import sqlite
from tacit.base.io.jetstream.connection import GUARD
from tacit.base.shipping import Taken
from tacit.relay.io.jetstream.journal import shortened_config

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.io.jetstream.connection import NatsConnection
    from tacit.base.ports import Clock, Entropy
    from tacit.relay.io.jetstream.journal import RelayJournal

SUFFIX: Final = "_STATE"
PIECE: Final = 512 * 1024
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
        self.name: Final = relay + SUFFIX
        self._connection = connection
        self._clock = clock
        self._entropy = entropy
        connection.wait(connection.entrust(shortened_config(self.name, replicas)))

    def head(self) -> tuple[StateHead, int]:
        """The head, and the sequence under which it stands; 0 when there is none yet."""
        found = self._message("head")
        if found is None:
            return NO_STATE, 0
        return msgspec.json.decode(found[1], type=StateHead), found[0]

    def fetch(self, head: StateHead, file: Path) -> None:
        """Write the kept state into a file."""
        digest = hashlib.sha256()
        with file.open("wb") as copy:
            for number in range(head.pieces):
                found = self._message(f"{head.copy}.{number}")
                if found is None:
                    raise Unavailable("the kept state is being replaced: try again")
                digest.update(found[1])
                copy.write(found[1])
        if digest.hexdigest() != head.sha256:
            raise Corrupt("the kept state is damaged", hint="restore the streams from a backup")

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
        name, digest, number = self._entropy.draw(8).hex(), hashlib.sha256(), 0
        with copy.open("rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
                self._publish(f"{name}.{number}", piece)
                number += 1
        now = int(self._clock.now())
        head = StateHead(name, sequence, now, number, digest.hexdigest(), journal_bytes)
        self._publish("head", msgspec.json.encode(head), guard)
        self._purge("head", keep=1)
        self._drop_others(name)
        return before

    def _publish(self, token: str, payload: bytes, guard: int = 0) -> None:
        headers = {GUARD: str(guard), "Nats-Expected-Stream": self.name}
        answer = self._connection.wait(self._connection.publish(f"{self.name}.{token}", payload, headers))
        if isinstance(answer, Taken):
            return
        # Without an answer it may stand there all the same.
        found = self._message(token)
        if found is None or found[1] != payload:
            raise Unavailable("the state cannot be kept now")

    def _message(self, token: str) -> tuple[int, bytes] | None:
        reply = self._connection.wait(
            self._connection.ask(self.name, "MSG.GET", {"last_by_subj": f"{self.name}.{token}"})
        )
        return (reply.message.seq, reply.message.payload) if reply.message is not None else None

    def _drop_others(self, kept: str) -> None:
        """Purge the pieces of every other copy: one that was replaced, or never came to its end."""
        asked = {"subjects_filter": f"{self.name}.*.0"}
        reply = self._connection.wait(self._connection.ask(self.name, "INFO", asked))
        for subject in reply.state.subjects if reply.state is not None else {}:
            name = subject.split(".")[1]
            if name != kept:
                self._purge(f"{name}.>")

    def _purge(self, token: str, keep: int = 0) -> None:
        asked: dict[str, str | int] = {"filter": f"{self.name}.{token}"}
        self._connection.wait(
            self._connection.ask(self.name, "PURGE", {**asked, "keep": keep} if keep else asked)
        )
