"""What the hub hears of work: changes at once, and all of it again as a sign of life."""

from __future__ import annotations

from tacit.base.moment import SECOND, Moment
from tacit.c2a.notifications import Work
from tacit.harness.work import LIFE_EVERY, WorkReport

T0 = 1_768_298_400 * SECOND


def at(seconds: float) -> Moment:
    return Moment(T0 + int(seconds * SECOND))


def test_a_change_is_told_once_and_in_order():
    report = WorkReport()
    queue = [
        Work("e1", "working", "e1.1"),
        Work("e2", "queued", position=1),
        Work("e3", "queued", position=2),
    ]
    assert report.due(queue, at(0)) == queue
    assert report.due(queue, at(1)) == []
    moved = [Work("e2", "working", "e2.1"), Work("e3", "queued", position=1)]
    assert report.due(moved, at(2)) == moved
    assert report.due([], at(3)) == []


def test_while_anything_is_not_finished_all_of_it_is_told_again_every_thirty_seconds():
    report = WorkReport()
    working = [Work("e1", "working", "e1.1")]
    report.due(working, at(0))
    told = [second for second in range(1, 1200) if report.due(working, at(second))]
    assert told == list(range(30, 1200, 30))
    assert report.life_due == Moment(at(1170) + LIFE_EVERY)
    report.due([], at(1201))
    assert report.life_due is None


def test_what_is_new_and_next_is_not_told_until_it_is_begun_or_has_waited():
    report = WorkReport()
    assert report.due([], at(0)) == []
    following = [Work("e1", "queued")]
    assert report.due(following, at(100)) == []
    assert report.due(following, at(129)) == []
    assert report.life_due == at(130)
    assert report.due(following, at(130)) == following
    begun = [Work("e1", "working", "e1.1"), Work("e2", "queued", position=1)]
    assert report.due(begun, at(131)) == begun
    # What moves up, or comes back after a failure, is another matter: the hub knows it otherwise.
    assert report.due([Work("e2", "queued")], at(132)) == [Work("e2", "queued")]
    failed = [Work("e2", "failed", code="rate_limited")]
    assert report.due(failed, at(133)) == failed
    assert report.due([Work("e2", "queued")], at(134)) == [Work("e2", "queued")]


def test_a_new_connection_hears_of_what_is_next_too():
    report = WorkReport()
    assert report.due([Work("e1", "queued")], at(0)) == [Work("e1", "queued")]
    report.forget()
    assert report.due([Work("e1", "queued")], at(1)) == [Work("e1", "queued")]


def test_another_connection_hears_everything():
    report = WorkReport()
    queue = [Work("e1", "failed", code="rate_limited", retry_at="2026-01-13T10:00:00Z")]
    report.due(queue, at(0))
    report.forget()
    assert report.due(queue, at(1)) == queue
