"""Group commit: one thread writes; all jobs that waited while the last commit ran share the next one.

Knows nothing of what a job is. `commit` gets the jobs in the order they came and returns an outcome for
each; `deliver` hands outcomes back, once per batch. A job is never dropped: it is committed, or its outcome
says why not.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

from tacit.base.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

J = TypeVar("J")
R = TypeVar("R")


class GroupCommit(Generic[J, R]):
    """The single writer thread of one store."""

    def __init__(
        self,
        commit: Callable[[Sequence[J]], Sequence[R]],
        deliver: Callable[[Sequence[J], Sequence[R | Unavailable]], None],
        *,
        name: str = "tacit-writer",
        max_batch: int = 512,
    ) -> None:
        self._commit = commit
        self._deliver = deliver
        self._max_batch = max_batch
        self._waiting: deque[J] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._idle = threading.Event()
        self._closing = False
        self._died: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def submit(self, job: J) -> None:
        """Queue a job; raises `Unavailable` once the writer is closing or has died."""
        self.submit_all((job,))

    def submit_all(self, jobs: Sequence[J]) -> None:
        """Queue jobs side by side: all of them, or none and `Unavailable`."""
        with self._wake:
            if self._closing or self._died is not None:
                raise Unavailable("the store is closing" if self._closing else "the store's writer has died")
            idle = not self._waiting
            self._waiting.extend(jobs)
            if idle:
                self._wake.notify()

    @property
    def depth(self) -> int:
        """How many jobs wait."""
        return len(self._waiting)

    def until_idle(self, seconds: float) -> bool:
        """Wait until no job waits and none is being committed, no longer than so many seconds; is it so?"""
        return self._idle.wait(seconds)

    @property
    def died(self) -> BaseException | None:
        """What ended the writer, if something unexpected did."""
        return self._died

    def close(self) -> None:
        """Commit what waits, then stop. Safe to call twice."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _take(self) -> list[J]:
        with self._wake:
            while not self._waiting and not self._closing:
                self._idle.set()
                self._wake.wait()
            self._idle.clear()
            count = min(len(self._waiting), self._max_batch)
            return [self._waiting.popleft() for _ in range(count)]

    def _run(self) -> None:
        unanswered: list[J] = []
        try:
            while unanswered := self._take():
                jobs, outcomes = unanswered, self._commit(unanswered)
                unanswered = []
                self._deliver(jobs, outcomes)
        except BaseException as error:
            # Later callers are told by `submit` and by `died`; the failure itself reaches the thread's hook.
            with self._wake:
                self._died = error
                unanswered += self._waiting
                self._waiting.clear()
            if unanswered:
                told = Unavailable(
                    "the store's writer has died; whether this was written is not known", unknown=True
                )
                self._deliver(unanswered, [told] * len(unanswered))
            raise
