"""The relay's journal: one subject, a message for each batch of writes, in an order that all nodes share.

A message is guarded by the sequence that the subject ended with when its batch was decided, so that no two
nodes decide upon the same state; what an answer means is the table in `tacit.base.shipping`. Everything is
asked of the stream's leader. A node that has written says so to the others (`moved`), which then read; what
it says may be lost, so they also look by themselves now and then.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Corrupt, Unavailable, WrittenByNewer
from tacit.base.io.jetstream.connection import GUARD
from tacit.base.io.jetstream.safety import wanted_config
from tacit.base.shipping import FENCE_SUFFIX, BatchFound, NothingThere, ShippingStep, Tracking, again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tacit.base.io.jetstream.connection import NatsConnection, StoredMessage
    from tacit.base.shipping import Answer

BATCH_ID: Final = "Tacit-Batch"
VERSION: Final = "Tacit-Relay-Format"
HEADERS_AT_MOST: Final = 512
READ_AT_ONCE: Final = 32


class JournalBatch(msgspec.Struct, frozen=True):
    """A batch of writes on its way: its id, the sequence that it was decided upon, and its bytes."""

    batch_id: str
    guard: int
    payload: bytes


class TooFarBehind(Corrupt):
    """What follows is no longer in the journal: a node has to begin from the kept state."""


def shortened_config(name: str, replicas: int) -> dict[str, Any]:
    """A stream from which its node removes what the kept state has."""
    return {**wanted_config(name, replicas), "deny_purge": False}


class RelayJournal:
    """The journal of one relay, for one node. Blocking calls."""

    def __init__(self, connection: NatsConnection, name: str, *, replicas: int, version: int) -> None:
        """Makes the stream when there is none, and refuses one that is not safe."""
        self.connection: Final = connection
        self.name: Final = name
        self.replicas: Final = replicas
        self._version = version
        self._subject = f"{name}.journal"
        self._moved = f"tacit.{name}.moved"
        self.created: Final = connection.wait(connection.entrust(shortened_config(name, replicas))).created

    @property
    def room(self) -> int:
        """How many bytes a batch may have."""
        return self.connection.room - HEADERS_AT_MOST

    def ends(self) -> tuple[int, int]:
        """The first sequence that is there and the last that was, as the leader says."""
        state = self.connection.wait(self.connection.ask(self.name, "INFO", {})).state
        if state is None:
            raise Unavailable("the journal says nothing about itself")
        return state.first_seq, state.last_seq

    def size(self) -> int:
        """Bytes that are there."""
        state = self.connection.wait(self.connection.ask(self.name, "INFO", {})).state
        return state.bytes if state is not None else 0

    def read(self, after: int, upto: int) -> Iterator[tuple[int, bytes]]:
        """Sequence and bytes of every message behind one, up to another; a fence has none."""
        for first in range(after + 1, upto + 1, READ_AT_ONCE):
            last = min(first + READ_AT_ONCE - 1, upto)
            yield from self.connection.wait(self._some(first, last))

    async def _some(self, first: int, last: int) -> list[tuple[int, bytes]]:
        found = await asyncio.gather(*(self._found(seq=sequence) for sequence in range(first, last + 1)))
        return [(first + number, self._checked(message)) for number, message in enumerate(found)]

    def _checked(self, found: StoredMessage | None) -> bytes:
        if found is None:
            raise TooFarBehind("the journal begins later than this node ends", hint="start it again")
        written = int(found.headers.get(VERSION, "0"))
        if written > self._version:
            raise WrittenByNewer("the relay's journal", written, self._version)
        return found.payload

    async def _found(self, **asked: str | int) -> StoredMessage | None:
        return (await self.connection.ask(self.name, "MSG.GET", asked)).message

    def carry(self, batch: JournalBatch) -> Tracking:
        """See a batch through to its fate."""
        return self._carry(batch, Tracking(batch.batch_id, self.connection.patience.tries))

    def settle(self, batch: JournalBatch) -> Tracking:
        """Take up a batch whose fate stayed unknown: the subject moves, by a fence if need be."""
        tries = self.connection.patience.tries
        return self._carry(batch, again(Tracking(batch.batch_id, 1), tries))

    def _carry(self, batch: JournalBatch, tracking: Tracking) -> Tracking:
        return self.connection.wait(self.connection.see_through(tracking, partial(self._step, batch)))

    async def _step(self, batch: JournalBatch, step: ShippingStep) -> Answer:
        match step:
            case ShippingStep.PUBLISH:
                return await self._publish(batch, batch.batch_id, batch.payload)
            case ShippingStep.FENCE:
                return await self._publish(batch, batch.batch_id + FENCE_SUFFIX, b"")
            case ShippingStep.LOOK:
                try:
                    found = await self._found(seq=batch.guard + 1, next_by_subj=self._subject)
                except Unavailable:
                    return NothingThere()
                return (
                    BatchFound(found.seq, found.headers.get(BATCH_ID, ""))
                    if found is not None
                    else NothingThere()
                )

    async def _publish(self, batch: JournalBatch, batch_id: str, payload: bytes) -> Answer:
        headers = {
            "Nats-Msg-Id": batch_id,
            BATCH_ID: batch_id,
            VERSION: str(self._version),
            GUARD: str(batch.guard),
            "Nats-Expected-Stream": self.name,
        }
        return await self.connection.publish(self._subject, payload, headers)

    def say_moved(self, sequence: int) -> None:
        """Have the other nodes read up to there."""
        self.connection.post(lambda: self.connection.say(self._moved, str(sequence).encode()))

    def hear_moved(self, moved: Callable[[int], None]) -> None:
        """Be told when another node has written, on the connection's thread."""

        def heard(told: bytes) -> None:
            if told.isdigit():
                moved(int(told))

        self.connection.wait(self.connection.hear(self._moved, heard))

    def shorten(self, upto: int) -> None:
        """Remove what stands before a sequence; that one stays, as the guard of the next."""
        self.connection.wait(self.connection.ask(self.name, "PURGE", {"seq": upto}))
