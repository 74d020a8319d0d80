"""The ledger: takes submissions from the doors to the writer and brings outcomes back to the loop.

Append, then act: followers hear of an event, and its sender gets an answer, only after its commit. Both
happen on the loop's thread, once per commit.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.ledger.io.writer import (
    Act,
    Acted,
    Append,
    CommandOutcome,
    Committed,
    Duplicate,
    Job,
    Together,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from tacit.hub.live import Live
    from tacit.hub.metrics import Metrics
    from tacit.ledger.admission import Submission
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.store import Store
    from tacit.ledger.io.writer import Plan, Snapshot
    from tacit.ledger.ports import StoredEvent

T = TypeVar("T")
log: Final = logging.getLogger("tacit.hub")
SETTLE_SECONDS: Final = 10.0


def _parts(outcome: object) -> Iterable[object]:
    if isinstance(outcome, Acted):
        return outcome.committed
    return cast("list[object]", outcome) if isinstance(outcome, list) else (outcome,)


class AsyncLedger:
    """The store as the loop sees it."""

    def __init__(self, store: Store, live: Live, metrics: Metrics) -> None:
        self.store = store
        self._live = live
        self._metrics = metrics
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing = False
        self._open = 0
        self._settled = asyncio.Event()
        self._settled.set()
        self.on_committed: Callable[[Committed], None] = lambda _committed: None

    def open(self) -> None:
        """Start the writer and bind it to the running loop."""
        self._loop = asyncio.get_running_loop()
        self.store.start(self._from_writer)

    def _from_writer(self, jobs: Sequence[Job], outcomes: Sequence[CommandOutcome]) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._committed, jobs, outcomes)

    def _committed(self, jobs: Sequence[Job], outcomes: Sequence[CommandOutcome]) -> None:
        self._metrics.batch.observe(len(jobs))
        fresh: defaultdict[str, list[StoredEvent]] = defaultdict(list)
        for outcome in outcomes:
            for one in _parts(outcome):
                if isinstance(one, Committed):
                    if not one.then:
                        self._fresh(one, fresh)
                        continue
                    for event in one.everything():
                        self._fresh(event, fresh)
                elif isinstance(one, Duplicate):
                    self._metrics.repeated.inc()
        for group_id, events in fresh.items():
            self._metrics.committed.inc(len(events))
            self._live.publish(group_id, events)
        for job, outcome in zip(jobs, outcomes, strict=True):
            job.done(outcome.answer if isinstance(outcome, Acted) else outcome)
        self._open -= len(jobs)
        if not self._open:
            self._settled.set()

    def _fresh(self, committed: Committed, fresh: defaultdict[str, list[StoredEvent]]) -> None:
        fresh[committed.group_id].append(committed.found)
        if not committed.found.kind.startswith("chat."):
            self.on_committed(committed)

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

    def submit(self, job: Job) -> None:
        """Queue a job; its `done` is called on the loop's thread."""
        if self._closing:
            raise Unavailable("the hub is stopping; nothing was appended")
        self.store.submit(job)
        self._open += 1
        self._settled.clear()

    async def append(self, submission: Submission, *, creates: bool = False) -> Committed | Duplicate:
        """Append and wait for the commit."""
        return cast("Committed | Duplicate", await self._wait(lambda done: Append(submission, done, creates)))

    async def together(
        self, submissions: Sequence[Submission], prepare: Callable[[apsw.Connection], None] | None
    ) -> list[Committed | Duplicate]:
        """Append several, all or none."""
        outcome = await self._wait(lambda done: Together(submissions, done, prepare))
        return cast("list[Committed | Duplicate]", outcome)

    async def act(self, group_id: str, rule: Callable[[Snapshot], Plan]) -> Any:
        """Decide something against the group as it stands, and append what follows, in one step."""
        return await self._wait(lambda done: Act(group_id, rule, done))

    async def write(self, act: Callable[[apsw.Connection], T]) -> T:
        """Write what is no event."""
        return cast("T", await self._wait(lambda done: Write(act, done)))

    async def _wait(self, job: Callable[[Callable[[Any], None]], Job]) -> object:
        future: asyncio.Future[object] = asyncio.get_running_loop().create_future()

        def done(outcome: object) -> None:
            if not future.done():
                future.set_result(outcome)

        self.submit(job(done))
        outcome = await future
        if isinstance(outcome, (Refused, Unavailable, Corrupt)):
            raise outcome
        return outcome

    async def read(self, query: Callable[[Reader], T]) -> T:
        """Run a query in a reader's thread."""
        try:
            # Only a pool that was shut down refuses here; what the query raises comes with the answer.
            answer = asyncio.get_running_loop().run_in_executor(self.store.pool, self.store.read, query)
        except RuntimeError as error:
            raise Unavailable("the hub is stopping") from error
        return await answer
