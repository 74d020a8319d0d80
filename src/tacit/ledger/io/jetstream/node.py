"""A node: one of several machines with a cache of the same stream, of which one at a time writes.

Its writer's thread has two sources. With the lease it decides commands; without, it applies what the stream
brings, through the same steps, so that readers and followers here cannot tell the difference. Whoever wins
the lease reads what the leader has to its end before it decides anything. What the network held back of one
that had it before may land after that: the holder looks now and then whether the stream has more than it
wrote. Nodes speak to each other over plain NATS: at most once, and in order from one to another.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tacit.base.errors import TacitError, Unavailable
from tacit.base.io.sqlite import DAMAGED, FAILED
from tacit.ledger.commands import Ping
from tacit.ledger.io.jetstream.following import Following
from tacit.ledger.io.writer_thread import WriterThread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.base.io.jetstream.connection import NatsConnection
    from tacit.base.io.jetstream.lease import Lease
    from tacit.ledger.commands import Outcome
    from tacit.ledger.io.jetstream.journal import JetStreamJournal
    from tacit.ledger.io.jetstream.stream import JetStream
    from tacit.ledger.io.writer import Writer
    from tacit.ledger.io.writer_thread import Job
    from tacit.ledger.standing import StreamStanding

log: Final = logging.getLogger("tacit.ledger")
LOOK_SECONDS: Final = 2.0
"""How often a node that writes looks whether the stream has what it did not write."""


def _woken(_outcome: object) -> None:
    """Nobody waits for this: the thread was woken."""


class FollowingWriter(WriterThread):
    """A writer's thread that applies what arrived before it commits what was asked."""

    def __init__(
        self, writer: Writer, journal: JetStreamJournal, stream: JetStream, log_pages: Callable[[], int]
    ) -> None:
        super().__init__(writer, log_pages)
        self._journal = journal
        self.following: Final = Following(stream, self._arrived)
        self._is_unsure = False
        self._told = 0
        self.on_reached: Callable[[int], None] = lambda _sequence: None
        """Told, on this thread, up to which sequence the stream is applied here."""

    @property
    def reached(self) -> int:
        """Up to which sequence the stream is applied here."""
        return self._journal.reached

    @property
    def gapless(self) -> int:
        """Everything up to this sequence is applied here."""
        return self._journal.gapless

    def be_sure(self) -> None:
        """Read what the leader has to its end before anything else is decided."""
        self._is_unsure = True
        self._wake()

    def _arrived(self) -> None:
        if self.following.reach > self._journal.gapless:
            self._wake()

    def follow(self) -> None:
        """Take in what the stream brings from now on; on the connection's loop."""
        self.following.begin(self._journal.gapless)

    def _wake(self) -> None:
        try:
            self.submit(Ping(), _woken)
        except Unavailable:
            log.debug("the writer is closing")

    def _commit(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        self._follow()
        if self._is_unsure:
            self._is_unsure = False
            self._writer.fall_behind()
        outcomes = super()._commit(jobs)
        self._tell()
        return outcomes

    def _follow(self) -> None:
        messages, reach = self.following.take(), self.following.reach
        if reach <= self._journal.gapless:
            return
        try:
            self._writer.catch_up(self._journal.arrived(messages, reach))
        except (TacitError, *FAILED, *DAMAGED) as error:
            # The next heartbeat tries again, and reads what was lost here.
            log.error("what the stream has cannot be applied", extra={"fault": type(error).__name__})  # noqa: TRY400 - a disk that fails is no fault of ours
        self._tell()

    def _tell(self) -> None:
        if self.reached > self._told:
            self._told = self.reached
            self.on_reached(self._told)

    def _hand_over(self, jobs: Sequence[Job], outcomes: Sequence[Outcome | Unavailable]) -> None:
        asked = [
            (job, outcome) for job, outcome in zip(jobs, outcomes, strict=True) if job.done is not _woken
        ]
        if asked:
            super()._hand_over([job for job, _ in asked], [outcome for _, outcome in asked])


class Node:
    """This node among the others: whether it writes, and how others are spoken to."""

    def __init__(
        self, connection: NatsConnection, ledger: str, lease: Lease, writer: FollowingWriter, address: str
    ) -> None:
        self._connection = connection
        self._ledger = ledger
        self._lease = lease
        self._writer = writer
        self.address: Final = address
        self._looking: asyncio.Task[None] | None = None
        self.standing: Callable[[], StreamStanding] | None = None
        """How the stream stands, for operators; blocks."""
        self.on_change: Callable[[bool], None] = lambda _holds: None
        """Told, on the connection's loop, that the lease was won or lost."""

    @property
    def holds(self) -> bool:
        """May this node write now?"""
        return self._lease.is_held

    @property
    def seconds(self) -> float:
        """How long the lease of a node that died lasts."""
        return self._lease.seconds

    @property
    def reached(self) -> int:
        """Up to which sequence the stream is applied here."""
        return self._writer.reached

    @property
    def room(self) -> int:
        """How many bytes can be said at once."""
        return self._connection.room

    async def begin(self) -> None:
        """Write or follow from now on, as the lease says; on the connection's loop."""
        self._lease.on_change = self._changed
        self._take_part(holds=self.holds)
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        """What the stream had a while ago and is not applied yet, somebody else wrote."""
        end = 0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not self.holds:
                end = 0
                continue
            if end > self._writer.gapless:
                self._writer.be_sure()
            with suppress(Unavailable):
                reply = await self._connection.ask(self._ledger, "INFO", {}, tries=1)
                end = reply.state.last_seq if reply.state is not None else 0

    def _changed(self, holds: bool) -> None:
        self._take_part(holds=holds)
        self.on_change(holds)

    def _take_part(self, *, holds: bool) -> None:
        if holds:
            self._writer.following.end()
            self._writer.be_sure()
        else:
            self._writer.follow()

    async def end(self) -> None:
        """Follow no more; on the connection's loop."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})
        await self._writer.following.close()

    def give_up(self) -> None:
        """Let another node write, at once; blocks."""
        self._lease.release()

    # -- to the others

    def open(
        self, heard: Callable[[bytes], None], nobody: Callable[[str], None], reached: Callable[[int], None]
    ) -> None:
        """Hear what others say to this node or to all, what reached nobody, and what was applied.

        All three are called on threads of their own.
        """
        self._writer.on_reached = reached
        self._connection.wait(self._open(heard, nobody))

    async def _open(self, heard: Callable[[bytes], None], nobody: Callable[[str], None]) -> None:
        await self._connection.hear(self._to(self.address), heard)
        await self._connection.hear(self._to("all"), heard)
        await self._connection.hear(f"tacit.{self._ledger}.back.{self.address}.*", heard, nobody)

    def _to(self, address: str) -> str:
        return f"tacit.{self._ledger}.to.{address}"

    def say(self, address: str, payload: bytes, number: int = 0) -> None:
        """Say something to one node, without waiting; when it is not there, `nobody` hears the number."""
        back = f"tacit.{self._ledger}.back.{self.address}.{number}"
        self._connection.post(lambda: self._connection.say(self._to(address), payload, back))

    def say_to_all(self, payload: bytes) -> None:
        """Say something to every node, this one too."""
        self._connection.post(lambda: self._connection.say(self._to("all"), payload))

    def holder(self, found: Callable[[str | None], None]) -> None:
        """Find out where the one who writes is spoken to; `found` gets None when nobody says so."""
        self._connection.post(lambda: self._find(found))

    async def _find(self, found: Callable[[str | None], None]) -> None:
        holder = await self._lease.holder()
        found(holder.address if holder is not None else None)
