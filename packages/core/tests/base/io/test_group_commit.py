from __future__ import annotations

import threading
from typing import Any

import pytest

from tacit.base.errors import Unavailable
from tacit.base.io.group_commit import GroupCommit


class Bench:
    """A writer whose commits wait for a hand signal."""

    def __init__(self, **options: Any) -> None:
        self.batches: list[list[int]] = []
        self.answers: dict[int, object] = {}
        self.entered = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.fails = False
        self.writer: GroupCommit[int, int] = GroupCommit(self.commit, self.deliver, **options)
        self.writer.start()

    def commit(self, jobs: Any) -> list[int]:
        self.batches.append(list(jobs))
        self.entered.release()
        assert self.go.acquire(timeout=60)
        if self.fails:
            raise MemoryError
        return [job * 10 for job in jobs]

    def deliver(self, jobs: Any, outcomes: Any) -> None:
        self.answers.update(zip(jobs, outcomes, strict=True))


def test_jobs_that_wait_during_a_commit_share_the_next_one() -> None:
    bench = Bench()
    bench.writer.submit(1)
    assert bench.entered.acquire(timeout=60)
    for job in (2, 3, 4):
        bench.writer.submit(job)
    assert bench.writer.depth == 3
    bench.go.release(2)
    bench.writer.close()
    assert bench.batches == [[1], [2, 3, 4]]
    assert bench.answers == {1: 10, 2: 20, 3: 30, 4: 40}


def test_jobs_handed_over_together_share_a_commit_or_are_refused_together() -> None:
    bench = Bench()
    bench.writer.submit_all([])
    bench.writer.submit_all([1, 2, 3])
    assert bench.entered.acquire(timeout=60)
    bench.go.release(1)
    bench.writer.close()
    assert bench.batches == [[1, 2, 3]]
    with pytest.raises(Unavailable):
        bench.writer.submit_all([4, 5])
    assert bench.answers == {1: 10, 2: 20, 3: 30}


def test_a_writer_is_idle_when_nothing_waits_and_nothing_is_being_committed() -> None:
    bench = Bench()
    assert bench.writer.until_idle(60)
    bench.writer.submit(1)
    assert bench.entered.acquire(timeout=60)
    assert not bench.writer.until_idle(0)
    bench.writer.submit(2)
    bench.go.release(1)
    assert bench.entered.acquire(timeout=60), "the next batch follows at once"
    assert not bench.writer.until_idle(0)
    bench.go.release(1)
    assert bench.writer.until_idle(60)
    bench.writer.close()


def test_a_batch_has_a_largest_size_and_order_is_kept() -> None:
    bench = Bench(max_batch=2)
    bench.writer.submit(0)
    assert bench.entered.acquire(timeout=60)
    for job in range(1, 6):
        bench.writer.submit(job)
    bench.go.release(9)
    bench.writer.close()
    assert bench.batches == [[0], [1, 2], [3, 4], [5]]


def test_closing_commits_what_waits_and_refuses_what_comes_later() -> None:
    bench = Bench()
    bench.writer.submit(1)
    bench.go.release(1)
    bench.writer.close()
    bench.writer.close()
    assert bench.answers == {1: 10}
    with pytest.raises(Unavailable, match="closing"):
        bench.writer.submit(2)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_dies_answers_everybody_who_waits() -> None:
    bench = Bench()
    bench.fails = True
    bench.writer.submit(1)
    assert bench.entered.acquire(timeout=60)
    bench.writer.submit(2)
    bench.go.release()
    bench.writer._thread.join(10)
    assert isinstance(bench.writer.died, MemoryError)
    assert {job: type(answer) for job, answer in bench.answers.items()} == {1: Unavailable, 2: Unavailable}
    assert all(isinstance(answer, Unavailable) and answer.unknown for answer in bench.answers.values())
    with pytest.raises(Unavailable, match="died"):
        bench.writer.submit(3)
