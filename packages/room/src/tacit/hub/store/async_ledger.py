"""The ledger as the loop sees it: commands go to the writer, outcomes come back to the loop.

Append, then act: followers hear of an event, and its sender gets an answer, only after its commit. Both
happen on the loop's thread, once per commit. Where the writer stands is the transport's business.

Lines before the writer: commands wait by member, take turns, and a small one passes large ones.

The writer decides one command after the other, so what waits there is waited for by whoever comes next. Only
as much is handed to it as makes a good batch; the rest waits here. A member's own commands keep their order.
What the hub does by itself stands in the house's line.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar, cast

from tacit.attention.commands import CallTool, DeleteMessage, EditMessage, ReportWork, Steer
from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.fair_turns import HOUSE, FairTurns
from tacit.base.io.sqlite import Stopping
from tacit.c2a.signals import signal_of
from tacit.hub.bounds.quotas import CAUSED, CLAIM, CLAIMING, NOTE, Charge, charged, sort_of_call
from tacit.hub.store.wakefulness import AWAKE_SECONDS, GLANCE_SECONDS, Wakefulness
from tacit.ledger.commands import (
    HUB,
    Append,
    AppendedTogether,
    AppendTogether,
    Awaken,
    Committed,
    Decided,
    Duplicate,
    LetRest,
    Ping,
    RecordBlob,
    groups_asked,
)
from tacit.ledger.ports import Behind
from tacit.ledger.principal import SYSTEM, USER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence

    from tacit.hub.bounds.quotas import Quotas
    from tacit.hub.bounds.turns import ReadTurns
    from tacit.hub.live import Live
    from tacit.hub.telemetry.metrics import Metrics
    from tacit.ledger.commands import BlobShare, Command, GroupCommand, HubRecord, Outcome, Recorded, Success
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.store import Store
    from tacit.ledger.io.writer_thread import Done
    from tacit.ledger.submission import Submission


AT_THE_WRITER: Final = 128
"""How many commands the writer has at once: batches of this size are nearly as cheap as larger ones."""
ANY: Final = 1 << 40
OF_ONE_MEMBER: Final = 96
"""How many of them may be of one member."""
HEAVY_BYTES: Final = 16 * 1024
"""From this size on a command keeps the writer for longer than a batch of small ones."""
MOST_WAITING: Final = 64 * 1024
"""How many commands of one member may wait."""
MOST_BYTES: Final = 64 * 1024 * 1024
"""How large they may be together."""


class QueuedCommand(NamedTuple):
    """A command in its line, and who gets its outcome."""

    owner: str
    command: Command
    done: Done
    size: int

    @property
    def is_heavy(self) -> bool:
        """Is it a large one?"""
        return self.size >= HEAVY_BYTES


def owner_of(command: Command) -> str:
    """In whose line a command stands: a person's or a service's, or that of an actor in its group."""
    match command:
        case Append(submission=submission):
            member, group_id = submission.by, submission.group_id
        case AppendTogether(submissions=[submission, *_]):
            member, group_id = submission.by, submission.group_id
        case CallTool(session=member, group_id=group_id) | ReportWork(session=member, group_id=group_id):
            pass
        case (
            EditMessage(principal=member, group_id=group_id)
            | DeleteMessage(principal=member, group_id=group_id)
            | Steer(principal=member, group_id=group_id)
            | RecordBlob(principal=member, group_id=group_id)
        ):
            pass
        case _:
            return HOUSE
    if member == SYSTEM:
        return HOUSE
    return member if ":" in member else f"{group_id} {member}"


def size_of(command: Command) -> int:
    """How much there is to read in a command, as far as its size is its sender's choice."""
    match command:
        case Append(submission=submission):
            return len(submission.raw)
        case AppendTogether(submissions=submissions):
            return sum(len(submission.raw) for submission in submissions)
        case CallTool(arguments=arguments):
            return sum(len(value) for value in arguments.values() if isinstance(value, str))
        case EditMessage(text=text):
            return len(text)
        case _:
            return 0


class CommandLines:
    """All lines before one writer."""

    def __init__(self, *, bounded: bool = True) -> None:
        """Nobody waits in lines without bounds: of several writers one may be out of reach, others not."""
        self._turns: FairTurns[QueuedCommand] = FairTurns(
            AT_THE_WRITER if bounded else ANY,
            OF_ONE_MEMBER if bounded else ANY,
            MOST_WAITING,
            lambda waiting: bounded and waiting.is_heavy,
        )
        self._bytes: dict[str, int] = {}

    @property
    def waiting(self) -> int:
        """How many commands have not been handed to the writer yet."""
        return self._turns.waiting

    def ask(self, command: Command, done: Done) -> None:
        """Stand in line; refuses a member's command when too many of its own wait already."""
        waiting = QueuedCommand(owner_of(command), command, done, size_of(command))
        held = self._bytes.get(waiting.owner, 0) + waiting.size
        is_full = waiting.owner != HOUSE and held > max(MOST_BYTES, waiting.size)
        if is_full or not self._turns.ask(waiting.owner, waiting):
            raise Refused(
                "rate_limited",
                "too much of this member waits to be written already; slow down",
                details={"reason": "too_many_writes", "retry_after_s": 1},
            )
        self._bytes[waiting.owner] = held

    def next(self) -> Iterator[QueuedCommand]:
        """The commands whose turn has come."""
        return self._turns.next()

    def over(self, waiting: QueuedCommand) -> None:
        """A command has its outcome."""
        self._turns.done(waiting.owner, heavy=waiting.is_heavy)
        left = self._bytes.pop(waiting.owner, 0) - waiting.size
        if left:
            self._bytes[waiting.owner] = left


T = TypeVar("T")
log: Final = logging.getLogger("tacit.hub")
SETTLE_SECONDS: Final = 10.0
ASKED_AGAIN_SECONDS: Final = 1.0
"""How soon the writer is asked again after what became of a batch."""
MOST_LOOKS: Final = 20
"""How often a read is begun anew since some group of it was behind."""


def _appended(outcome: Outcome) -> Iterable[Committed | Duplicate]:
    """What was appended, or was there, by anything but a plain append that was new."""
    match outcome:
        case Duplicate():
            return (outcome,)
        case AppendedTogether(outcomes) | Decided(_, outcomes):
            return outcomes
        case _:
            return ()


class AsyncLedger:
    """One store on one loop."""

    def __init__(self, store: Store, live: Live, metrics: Metrics, turns: ReadTurns) -> None:
        self.turns = turns
        self.lines = CommandLines()
        self.quotas: Quotas | None = None
        self.store = store
        self._transport = store.transport
        self._live = live
        self._metrics = metrics
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = False
        self._asks_again = False
        self._open = 0
        self.failing: str | None = None
        """Why the last commit failed; None once one has succeeded again."""
        self._settled = asyncio.Event()
        self._settled.set()
        self.on_committed: Callable[[Committed], None] = lambda _committed: None
        self.on_removed: Callable[[str, str], None] = lambda _group_id, _actor_id: None
        self.on_missed: Callable[[Iterable[str], bool], None] = lambda _groups, _records: None
        """Told of groups that have events without an outcome of ours, and of records that changed so."""
        self.tells_of_others = False
        """Is what is told now what another node has written? Then nobody here has a draft of it."""
        self.awake: Wakefulness | None = None
        """The groups that are read here, where this is one of several nodes that need not have all."""

    async def open(self) -> None:
        """Bind the writer to the running loop and wait until it is there.

        Then the groups are told what an earlier crash left half-written.
        """
        self._loop = asyncio.get_running_loop()
        self._transport.watch_missed(self._missed_by_writer)
        self.store.start(self._from_writer)
        await self.record(Ping())
        for notice in await self._loop.run_in_executor(None, self.store.torn_notices):
            await self.append(notice)

    def _from_writer(self, callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
        self._on_loop(lambda: self._committed(callers, outcomes))

    def _missed_by_writer(self, missed: Sequence[Committed], records: bool) -> None:
        self._on_loop(lambda: self._take_missed(missed, records))

    def _on_loop(self, do: Callable[[], None]) -> None:
        """Called where the transport has something: on its own thread, or the loop's. All keeps its order."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        try:
            here = asyncio.get_running_loop() is loop
        except RuntimeError:
            here = False
        if here:
            do()
        else:
            loop.call_soon_threadsafe(do)

    def _committed(self, callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
        self._metrics.batch.observe(len(callers))
        failed = self._publish(outcomes)
        self.failing = None if failed is None else getattr(failed, "message", str(failed))
        if self._transport.is_unsettled and not self._asks_again:
            self._asks_again = True
            asyncio.get_running_loop().call_later(ASKED_AGAIN_SECONDS, self._ask_again)
        self._answer(callers, outcomes)

    def answer(self, callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
        """Answer with what another node did: its events come by themselves, and are told of then."""
        faults = [one for one in outcomes if isinstance(one, (Unavailable, Corrupt))]
        self.failing = str(faults[0]) if faults else None
        self._answer(callers, outcomes)

    def _answer(self, callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
        for done, outcome in zip(callers, outcomes, strict=True):
            done(outcome)
        self._answered(len(callers))
        self._hand_on()

    def _answered(self, count: int) -> None:
        self._open -= count
        if not self._open:
            self._settled.set()

    def expect_one(self) -> None:
        """One more command will be answered, which did not come through here."""
        self._open += 1
        self._settled.clear()

    def _publish(self, outcomes: Iterable[Outcome]) -> Unavailable | Corrupt | None:
        """Let everybody know of events that have just become durable; the first failure, if there is one."""
        failed: Unavailable | Corrupt | None = None
        fresh: defaultdict[str, list[StoredEvent]] = defaultdict(list)
        for outcome in outcomes:
            if isinstance(outcome, Committed):
                self._fresh(outcome, fresh)
            elif isinstance(outcome, (Unavailable, Corrupt)):
                failed = failed or outcome
            else:
                for one in _appended(outcome):
                    if isinstance(one, Duplicate):
                        self._metrics.repeated.inc()
                    else:
                        self._fresh(one, fresh)
        self._count(fresh)
        for group_id, events in fresh.items():
            self._metrics.committed.inc(len(events))
            self._live.publish(group_id, events)
        return failed

    def _take_missed(self, missed: Sequence[Committed], records: bool) -> None:
        self.tells_of_others = True
        try:
            self._publish(missed)
        finally:
            self.tells_of_others = False
        self.on_missed(dict.fromkeys(one.group_id for one in missed), records)

    def _ask_again(self) -> None:
        """Nobody may ever write there again: what became of a batch is found out all the same."""
        self._asks_again = False
        if self._transport.is_unsettled and not self._closing:
            self.submit(Ping(), lambda _outcome: None)

    def _fresh(self, committed: Committed, fresh: defaultdict[str, list[StoredEvent]]) -> None:
        """An event and all that followed from it, in the order of the ledger."""
        event = committed.event
        fresh[committed.group_id].append(event)
        if committed.effects or not event.kind.startswith("chat."):
            self.on_committed(committed)
        if event.kind == "actor.remove":
            self.on_removed(committed.group_id, str(event.data["actor_id"]))
        for one in committed.then:
            self._fresh(one, fresh)

    def _count(self, fresh: Mapping[str, Sequence[StoredEvent]]) -> None:
        """Add a commit's events to what was used today; those of one principal together."""
        if self.quotas is None or not fresh:
            return
        now = self.store.options.clock.now()
        for group_id, events in fresh.items():
            charges: list[Charge] = []
            plain: dict[str, list[int]] = {}
            for event in events:
                if event.kind in CAUSED:
                    charges.append(charged(event.kind, event.by, event.data, len(event.raw)))
                else:
                    plain.setdefault(event.by, []).append(len(event.raw))
            charges += [Charge(by, sum(sizes), events=len(sizes)) for by, sizes in plain.items()]
            self.quotas.count(group_id, charges, now)

    async def settled(self) -> None:
        """Return when everything that was taken has been answered, or when the writer seems to hang."""
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                await self._settled.wait()
        except TimeoutError:
            log.warning("stopping although the writer has not answered", extra={"open": self._open})

    @property
    def is_closing(self) -> bool:
        """Is the hub stopping?"""
        return self._closing

    def close(self) -> None:
        """Take nothing more."""
        self._closing = True

    def submit(self, command: Command, done: Done) -> None:
        """Queue a command; `done` gets its outcome on the loop's thread. Refuses what is over a quota."""
        if self._closing:
            raise Unavailable("the hub is stopping; nothing was appended")
        if isinstance(command, Append):
            self._require(command.submission)
        elif isinstance(command, AppendTogether):
            for wanted in command.submissions:
                self._require(wanted)
        elif isinstance(command, CallTool):
            sort = sort_of_call(command.name, command.arguments)
            self._within(command.group_id, Charge(command.session, 0, sort))
        if self.awake is not None:
            self._awaken_soon(self.awake, command)
        self.lines.ask(command, done)
        self.expect_one()
        self._hand_on()

    def _hand_on(self) -> None:
        """Hand the writer the commands whose turn has come."""
        for waiting in self.lines.next():
            try:
                self._transport.submit(waiting.command, partial(self._over, waiting))
            except Unavailable as fault:
                self._over(waiting, fault)
                self._answered(1)

    def _over(self, waiting: QueuedCommand, outcome: Outcome) -> None:
        self.lines.over(waiting)
        waiting.done(outcome)

    def _require(self, wanted: Submission) -> None:
        if wanted.by == USER:
            return
        charge = charged(wanted.kind, wanted.by, wanted.data, len(wanted.raw))
        if wanted.kind == "chat.reaction" and signal_of(wanted.data) in CLAIMING:
            charge = charge._replace(sort=CLAIM)
        if wanted.by != SYSTEM or charge.sort == NOTE:
            # What the hub has to write it writes; a note is the session's own.
            self._within(wanted.group_id, charge)

    def _within(self, group_id: str, charge: Charge) -> None:
        if self.quotas is not None:
            self.quotas.require(group_id, charge, self.store.options.clock.now())

    async def append(self, submission: Submission, *, creates: bool = False) -> Committed | Duplicate:
        """Append and wait for the commit."""
        return cast("Committed | Duplicate", await self._wait(Append(submission, creates)))

    async def together(
        self, submissions: Sequence[Submission], share: BlobShare | None = None
    ) -> tuple[Committed | Duplicate, ...]:
        """Append several, all or none, with the blobs that come along."""
        return cast("AppendedTogether", await self._wait(AppendTogether(tuple(submissions), share))).outcomes

    async def decide(self, command: GroupCommand) -> Decided:
        """Decide something against the group as it stands, and append what follows, in one step."""
        return cast("Decided", await self._wait(command))

    async def record(self, record: HubRecord) -> Recorded:
        """Keep what is no event."""
        return cast("Recorded", await self._wait(record))

    async def _wait(self, command: Command) -> Success:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(outcome: object) -> None:
            if not future.done():
                future.set_result(outcome)

        self.submit(command, done)
        outcome = await future
        if isinstance(outcome, (Refused, Unavailable, Corrupt)):
            raise outcome
        return outcome

    async def read(self, query: Callable[[Reader], T]) -> T:
        """Run a query in a reader's thread, when the turn of whoever asks has come."""
        return await self.whole(lambda: self.turns.run(lambda: ThreadRead(self.store, query)))

    # -- groups of which this node has only noted what is new

    async def whole(self, read: Callable[[], Awaitable[T]]) -> T:
        """Carry a read out, anew when a group of it was behind: it is brought up first."""
        for _ in range(MOST_LOOKS):
            try:
                return await read()
            except Behind as behind:
                await self.awaken(*behind.groups)
        return await read()

    async def awaken(self, *groups: str) -> None:
        """Somebody here reads these groups: returns when all that is known of them is applied."""
        if self.awake is not None:
            future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
            self._awaken(self.awake, groups, future)
            outcome = await future
            if isinstance(outcome, (Refused, Unavailable, Corrupt)):
                raise outcome

    async def stay_awake(self, group_id: str) -> None:
        """Somebody begins to follow a group here: returns when whatever comes of it will be told."""
        if self.awake is not None and not self.awake.is_awake(group_id, self._until(AWAKE_SECONDS)):
            await self.awaken(group_id)

    async def awaken_again(self) -> None:
        """The writer may be another one, that knows nothing of who reads here."""
        if self.awake is not None and (groups := self.awake.groups):
            await self.awaken(*groups)

    def _awaken_soon(self, awake: Wakefulness, command: Command) -> None:
        """What somebody writes here is counted with what is applied here: from now on all of the group's."""
        until = self._until(AWAKE_SECONDS)
        for group_id in groups_asked(command):
            if group_id != HUB and not awake.is_awake(group_id, until) and not awake.is_asked(group_id):
                self._awaken(awake, (group_id,), None)

    def _awaken(
        self, awake: Wakefulness, groups: tuple[str, ...], told: asyncio.Future[Outcome] | None
    ) -> None:
        def done(outcome: Outcome) -> None:
            failed = isinstance(outcome, (Refused, Unavailable, Corrupt))
            seconds = AWAKE_SECONDS if len(groups) == 1 else GLANCE_SECONDS
            awake.answered(groups, None if failed else self._until(seconds))
            if told is not None and not told.done():
                told.set_result(outcome)

        self._transport.submit(Awaken(groups), done)
        self.expect_one()
        awake.ask(groups)

    def _until(self, seconds: float) -> float:
        return asyncio.get_running_loop().time() + seconds

    def let_rest(self, connected: Container[str]) -> None:
        """Let the writer only note what comes of groups that nobody reads any more."""
        groups = self.awake.resting(self._until(0.0), connected) if self.awake is not None else ()
        if groups and not self._closing:
            self._transport.submit(LetRest(groups), lambda _outcome: None)
            self.expect_one()


class ThreadRead(Generic[T]):
    """One query in a reader's thread."""

    def __init__(self, store: Store, query: Callable[[Reader], T]) -> None:
        self._stopping = Stopping()
        try:
            # Only a pool that was shut down refuses here; what the query raises comes with the answer.
            self.ended: asyncio.Future[T] = asyncio.get_running_loop().run_in_executor(
                store.pool, store.read, query, self._stopping
            )
        except RuntimeError as error:
            raise Unavailable("the hub is stopping") from error

    def stop(self) -> None:
        """End it soon."""
        self._stopping.stop()
