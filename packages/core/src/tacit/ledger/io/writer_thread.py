"""The writer behind a thread of this process: the embedded default.

Commands go in from any thread, outcomes come back once per commit. Speaks the same as every other way to a
writer (`WriterTransport`): nothing but values crosses, so that whoever submits cannot tell which one it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tacit.base.io.group_commit import GroupCommit

if TYPE_CHECKING:
    from tacit.base.errors import Unavailable
    from tacit.ledger.commands import Command, Committed, Outcome
    from tacit.ledger.io.writer import Writer

Done = Callable[[Any], None]
"""Gets the outcome of one command, wherever `deliver` calls it."""
Deliver = Callable[[Sequence[Done], "Sequence[Outcome]"], None]
"""Hands the outcomes of one commit over, each to its own."""
OnMissed = Callable[["Sequence[Committed]", bool], None]
"""Gets events that were written without an outcome of ours, and whether there were records among them."""


def deliver_here(callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
    """Answer callers wherever the outcomes arrive."""
    for done, outcome in zip(callers, outcomes, strict=True):
        done(outcome)


class WriterTransport(Protocol):
    """A way to the writer. What was submitted is answered exactly once, in the order of submission."""

    def start(self, deliver: Deliver) -> None:
        """Begin; `deliver` gets each commit's outcomes."""
        ...

    def submit(self, command: Command, done: Done) -> None:
        """Queue a command; `Unavailable` when none are taken any more."""
        ...

    @property
    def depth(self) -> int:
        """How many commands wait."""
        ...

    @property
    def failures(self) -> int:
        """How many commits failed."""
        ...

    @property
    def log_pages(self) -> int:
        """How long the write-ahead log is."""
        ...

    @property
    def is_unsettled(self) -> bool:
        """Does the writer wait to learn the fate of an earlier batch? The next command asks."""
        ...

    def watch_missed(self, missed: OnMissed) -> None:
        """Have `missed` told of what was written without an outcome, where outcomes are delivered."""
        ...

    def close(self) -> None:
        """Finish what waits, then stop; blocks. Safe to call twice."""
        ...


class Job(NamedTuple):
    """A command, and who gets its outcome."""

    command: Command
    done: Done


class WriterThread:
    """Implements `WriterTransport` with a writer and a thread of its own."""

    def __init__(self, writer: Writer, log_pages: Callable[[], int] = lambda: 0) -> None:
        self._writer = writer
        self._log_pages = log_pages
        self._deliver: Deliver = deliver_here
        self._queue: GroupCommit[Job, Outcome] = GroupCommit(self._commit, self._hand_over)

    def _commit(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        return self._writer.commit([job.command for job in jobs])

    def _hand_over(self, jobs: Sequence[Job], outcomes: Sequence[Outcome | Unavailable]) -> None:
        self._deliver([job.done for job in jobs], outcomes)

    def start(self, deliver: Deliver) -> None:
        """Begin to write."""
        self._deliver = deliver
        self._queue.start()

    def submit(self, command: Command, done: Done) -> None:
        """Queue a command."""
        self._queue.submit(Job(command, done))

    def submit_all(self, commands: Sequence[Command], done: Done) -> None:
        """Queue commands side by side: all of them, or none and `Unavailable`."""
        self._queue.submit_all([Job(command, done) for command in commands])

    def until_idle(self, seconds: float) -> bool:
        """Wait until nothing waits or is being committed, no longer than so many seconds; is it so?"""
        return self._queue.until_idle(seconds)

    @property
    def depth(self) -> int:
        """How many commands wait."""
        return self._queue.depth

    @property
    def failures(self) -> int:
        """How many commits failed."""
        return self._writer.failures

    @property
    def log_pages(self) -> int:
        """How long the write-ahead log is."""
        return self._log_pages()

    @property
    def is_unsettled(self) -> bool:
        """Does the writer wait to learn the fate of an earlier batch?"""
        return self._writer.is_unsettled

    def watch_missed(self, missed: OnMissed) -> None:
        """Have `missed` told, on the writer's thread."""
        self._writer.on_missed = missed

    def close(self) -> None:
        """Finish what waits, then stop."""
        self._queue.close()
