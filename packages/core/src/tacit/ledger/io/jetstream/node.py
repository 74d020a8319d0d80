"""A node: one of several machines with a cache of the same stream, each of which writes to groups of its own.

Its writer's thread has two sources. It decides commands in the groups that are this node's, and it applies
what the stream brings of the others, through the same steps, so that readers and followers here cannot tell
the difference. Whoever takes a group reads what the leader has to its end before it decides anything. Of
groups that nobody here reads or writes it only notes what is new, until it is told that somebody does
(`Awaken`). Nodes speak to each other over plain NATS: at most once, and in order from one to another.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Corrupt, TacitError, Unavailable
from tacit.base.io.sqlite import DAMAGED, FAILED
from tacit.ledger.commands import Awaken, LetRest, Ping, Recorded
from tacit.ledger.io.jetstream.following import StreamBacklog
from tacit.ledger.io.writer_thread import WriterThread

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence

    from tacit.base.io.jetstream.connection import NatsConnection
    from tacit.base.io.jetstream.lease import Lease
    from tacit.ledger.commands import Command, Failure, Outcome
    from tacit.ledger.io.jetstream.group_leases import GroupLeases
    from tacit.ledger.io.jetstream.journal import JetStreamJournal
    from tacit.ledger.io.jetstream.stream import JetStream
    from tacit.ledger.io.writer import Writer
    from tacit.ledger.io.writer_thread import Done, Job
    from tacit.ledger.standing import StreamStanding

log: Final = logging.getLogger("tacit.ledger")
NOTED_WITHIN: Final = 0.02
"""Seconds within which what nobody waits for is noted: many messages cost little more than one."""
_OWN: Final = (Awaken, LetRest)
"""What this thread sees to itself."""


def _woken(_outcome: object) -> None:
    """Nobody waits for this: the thread was woken."""


class _Waited(Future["Outcome"]):
    """A thread beside the hub's waits for this: it is told here, and the hub hears nothing of it."""

    def __call__(self, outcome: Outcome) -> None:
        self.set_result(outcome)


class FollowingWriter(WriterThread):
    """A writer's thread that applies what arrived before it commits what was asked."""

    def __init__(
        self, writer: Writer, journal: JetStreamJournal, stream: JetStream, log_pages: Callable[[], int]
    ) -> None:
        super().__init__(writer, log_pages)
        self._journal = journal
        self.following: Final = StreamBacklog(stream, lambda: journal.gapless, self._arrived, journal.presses)
        self._wanted = 0
        self._is_due = self._is_set = False
        self._is_unsure = False
        self._told = 0
        self.on_reached: Callable[[int], None] = lambda _sequence: None
        """Told, on this thread, up to which sequence the stream is applied here."""

    @property
    def reached(self) -> int:
        """Up to which sequence the stream is applied here."""
        return self._journal.gapless

    @property
    def wrote(self) -> int:
        """The last sequence that is applied here: behind others' that are not, if it is this node's own."""
        return self._journal.reached

    @property
    def asleep(self) -> int:
        """Of how many groups, that nobody reads here, something is only noted."""
        return self._journal.count_behind

    def bring_all_up(self) -> None:
        """Have everything applied that was only noted; blocks. For any thread but the writer's."""
        done = _Waited()
        self.submit(Awaken(), done)
        if isinstance(fault := done.result(), Unavailable | Corrupt):
            raise fault

    def be_sure(self) -> None:
        """Read what the leader has to its end before anything else is decided."""
        self._is_unsure = True
        self._wake()

    def hurry(self, sequence: int) -> None:
        """Somebody waits until the stream is applied up to here; on any thread."""
        self._wanted = max(self._wanted, sequence)
        self._wake()

    def _arrived(self) -> None:
        if self.following.reach <= self._journal.gapless:
            return
        if self._presses:
            self._wake()
        elif not self._is_set:
            self._is_set = True
            asyncio.get_running_loop().call_later(NOTED_WITHIN, self._be_due)

    @property
    def _presses(self) -> bool:
        return self.following.is_pressing or self._is_due or self._journal.gapless < self._wanted

    def _be_due(self) -> None:
        self._is_set, self._is_due = False, True
        self._wake()

    def follow(self) -> None:
        """Take in what the stream brings from now on; on the connection's loop."""
        self._journal.notes = True
        self.following.begin(self._journal.gapless)

    def _wake(self) -> None:
        try:
            self.submit(Ping(), _woken)
        except Unavailable:
            log.debug("the writer is closing")

    def _commit(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        own = [job.command for job in jobs if isinstance(job.command, _OWN)]
        if own or self._presses:
            self._follow()
        is_unsure, self._is_unsure = self._is_unsure, False
        if is_unsure:
            self._writer.fall_behind()
        fault = self._attend(own) if own else None
        asked = [job for job in jobs if not isinstance(job.command, _OWN)]
        if not is_unsure and all(job.done is _woken for job in asked):
            decided: Iterable[Outcome] = [Recorded()] * len(asked)
        else:
            decided = super()._commit(asked)
        self._tell()
        if not own:
            return list(decided)
        rest = iter(decided)
        return [fault or Recorded() if isinstance(job.command, _OWN) else next(rest) for job in jobs]

    def _attend(self, commands: Iterable[Awaken | LetRest]) -> Failure | None:
        """Whom to read for from now on, in the order in which it was said; then bring up what was asked."""
        awake, wanted = self._journal.awake, set[str]()
        for command in commands:
            if isinstance(command, LetRest):
                awake.difference_update(command.groups)
            elif command.groups is None:
                wanted |= self._journal.behind
            else:
                awake.update(command.groups)
                wanted.update(command.groups)
        wanted &= self._journal.behind
        if not wanted:
            return None
        try:
            self._writer.catch_up(self._journal.brought_up(wanted))
        except (Unavailable, Corrupt) as fault:
            found: Failure = fault
        except (*FAILED, *DAMAGED) as error:
            found = Unavailable(f"what was noted cannot be applied now ({type(error).__name__})")
        else:
            return None
        awake -= wanted
        return found

    def _follow(self) -> None:
        self._is_due = False
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
        asked: list[tuple[Job, Outcome | Unavailable]] = []
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(job.done, _Waited):
                job.done(outcome)
            elif job.done is not _woken:
                asked.append((job, outcome))
        if asked:
            super()._hand_over([job for job, _ in asked], [outcome for _, outcome in asked])


async def _heard_nothing() -> None:
    """Nothing was listened to yet."""


class Node:
    """This node among the others: to which groups it writes, and how others are spoken to."""

    def __init__(
        self,
        connection: NatsConnection,
        ledger: str,
        lease: Lease,
        groups: GroupLeases,
        writer: FollowingWriter,
    ) -> None:
        self._connection = connection
        self._ledger = ledger
        self._lease = lease
        self._groups = groups
        self._writer = writer
        self.address: Final = lease.mine.address
        self._leave: Callable[[], Coroutine[Any, Any, None]] = _heard_nothing
        self.standing: Callable[[], StreamStanding] | None = None
        """How the stream stands, for operators; blocks."""
        self.keeps_last = True
        """Is a last snapshot kept when this node ends? It takes a while, in which it has its folder."""

    def holds(self, group_id: str) -> bool:
        """May this node write to a group now?"""
        return self._groups.holds(group_id)

    def submit_all(self, commands: Sequence[Command], done: Done) -> None:
        """Queue commands for the writer of this node, side by side."""
        self._writer.submit_all(commands, done)

    def until_idle(self, seconds: float) -> bool:
        """Wait until the writer has nothing to do, no longer than so many seconds; has it?"""
        return self._writer.until_idle(seconds)

    @property
    def held(self) -> int:
        """To how many groups this node writes."""
        return self._groups.held

    @property
    def groups(self) -> frozenset[str]:
        """To which groups this node writes."""
        return self._groups.groups

    @property
    def seconds(self) -> float:
        """How long the lease of a node that died lasts."""
        return self._lease.seconds

    @property
    def reached(self) -> int:
        """Up to which sequence the stream is applied here."""
        return self._writer.reached

    @property
    def wrote(self) -> int:
        """The last sequence that is applied here, or that is this node's own."""
        return self._writer.wrote

    @property
    def asleep(self) -> int:
        """Of how many groups, that nobody reads here, something is only noted."""
        return self._writer.asleep

    def hurry(self, sequence: int) -> None:
        """Somebody waits until the stream is applied up to here."""
        self._writer.hurry(sequence)

    @property
    def room(self) -> int:
        """How many bytes can be said at once."""
        return self._connection.room

    def watch_clock(self, was_set: Callable[[], None]) -> None:
        """Be told, before groups are taken, that the machine's clock was off and is not any more."""
        before = self._lease.on_clock_set

        def both() -> None:
            before()
            was_set()

        self._lease.on_clock_set = both

    def is_wanted(self, asked: Callable[[], bool]) -> None:
        """Hold the lease only while this says that whoever acts by it lives."""
        self._lease.is_wanted = asked

    async def begin(self) -> None:
        """Follow from now on; on the connection's loop."""
        self._groups.on_taken = self._writer.be_sure
        self._writer.follow()

    async def end(self) -> None:
        """Follow no more; on the connection's loop."""
        await self._writer.following.close()

    def give_up(self) -> None:
        """Let others write to the groups of this node, at once; blocks."""
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

    def leave(self) -> None:
        """Hear no more what is said to this node alone, after all that was said by now; blocks.

        From now on whoever speaks to it learns that nobody is there.
        """
        leave, self._leave = self._leave, _heard_nothing
        self._connection.wait(leave())

    def watch(self, changed: Callable[[frozenset[str], bool], None], free: Callable[[], None]) -> None:
        """Be told which groups this node has taken or lost, and when others may have lost theirs.

        Both are called on a thread of their own.
        """
        self._groups.on_change, self._groups.on_free = changed, free

    async def _open(self, heard: Callable[[bytes], None], nobody: Callable[[str], None]) -> None:
        self._leave = await self._connection.hear(self._to(self.address), heard)
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

    def find(self, groups: Iterable[str], found: Callable[[dict[str, str | None]], None]) -> None:
        """Find out where the nodes that write to groups are spoken to; takes those that nobody has."""
        self._connection.post(lambda: self._find(groups, found))

    async def _find(self, groups: Iterable[str], found: Callable[[dict[str, str | None]], None]) -> None:
        found(await self._groups.find(groups))
