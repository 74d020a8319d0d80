"""What the hub hears of work: changes at once, and all of it again as a sign of life."""

from __future__ import annotations

import pytest

from tacit.attention.settings import DEFAULTS, RANGES
from tacit.base.moment import SECOND, Moment
from tacit.c2a.notifications import Work
from tacit.harness.work import LONGEST_SILENCE, WorkReport, between_signs

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
    assert report.life_due == Moment(at(1170) + LONGEST_SILENCE)
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


SHORTEST_MS, LONGEST_MS = (int(bound) for bound in RANGES["deadline_ms"])


@pytest.mark.spec("C2A-173", "C2A-175")
@pytest.mark.parametrize(
    ("deadlines_ms", "seconds"),
    [
        ([], 30),
        ([DEFAULTS.deadline_ms], 30),
        ([DEFAULTS.claim_ttl_ms], 30),
        ([LONGEST_MS], 30),
        ([120_000], 30),
        ([119_000], 29.75),
        ([12_000], 3),
        ([SHORTEST_MS], 0.25),
        ([DEFAULTS.deadline_ms, 12_000, LONGEST_MS], 3),
    ],
)
def test_the_shortest_deadline_says_how_long_a_session_may_be_silent(deadlines_ms, seconds):
    assert between_signs(deadlines_ms) == seconds * SECOND
    for deadline_ms in deadlines_ms:
        reminded = deadline_ms * 1_000 * DEFAULTS.redeliver_at[0]
        assert between_signs(deadlines_ms) <= reminded / 2, (
            "one sign of life may get lost before the reminder"
        )


def leaving(
    report: WorkReport, queue: list[Work], seconds: range, silence: int
) -> list[tuple[int, list[str]]]:
    """What leaves in these seconds, in which nothing changes."""
    told = [(second, report.due(queue, at(second), silence)) for second in seconds]
    return [(second, [work.event_id for work in works]) for second, works in told if works]


@pytest.mark.spec("C2A-173")
def test_a_short_deadline_costs_one_report_a_sign_however_long_the_queue_is():
    report = WorkReport()
    queue = [Work("e1", "working", "t1"), *(Work(f"e{n}", "queued", position=n - 1) for n in range(2, 6))]
    report.due(queue, at(0), 3 * SECOND)
    told = leaving(report, queue, range(1, 30), 3 * SECOND)
    assert told == [(3 * n, [f"e{1 + (n - 1) % 5}"]) for n in range(1, 10)], "each in its turn"
    assert report.due(queue, at(30), 3 * SECOND) == queue
    assert report.life_due == at(33)


def test_what_the_hub_was_not_told_yet_leaves_with_the_first_sign():
    report = WorkReport()
    report.due([], at(0), 3 * SECOND)
    working, following = Work("e1", "working", "t1"), Work("e2", "queued")
    assert report.due([working], at(10), 3 * SECOND) == [working]
    assert report.due([working, following], at(11), 3 * SECOND) == []
    assert leaving(report, [working, following], range(12, 18), 3 * SECOND) == [(13, ["e2"]), (16, ["e1"])]


def test_a_question_with_a_shorter_deadline_brings_the_next_sign_forward():
    report = WorkReport()
    slow, hasty = Work("e1", "working", "t1"), Work("e2", "queued", position=1)
    report.due([slow], at(0))
    assert report.due([slow, hasty], at(20), 3 * SECOND) == [hasty]
    assert report.life_due == at(23)
    assert report.due([slow], at(24)) == []
    assert report.life_due == at(30)


def test_what_the_hub_brings_again_is_told_with_the_next_sign():
    report = WorkReport()
    queue = [Work(f"e{n}", "queued", position=n) for n in range(1, 5)]
    report.due(queue, at(0), 3 * SECOND)
    report.brought_again("e3")
    report.brought_again("unknown")
    assert leaving(report, queue, range(1, 8), 3 * SECOND) == [(3, ["e3"]), (6, ["e1"])]


def test_at_the_usual_deadlines_a_queue_costs_what_it_did_before():
    """Twenty minutes, five pieces of work: all of them every half a minute, and nothing between."""
    report = WorkReport()
    queue = [Work(f"e{n}", "queued", position=n) for n in range(1, 6)]
    report.due(queue, at(0))
    told = leaving(report, queue, range(1, 1_200), between_signs([DEFAULTS.deadline_ms]))
    assert [second for second, _ in told] == list(range(30, 1_200, 30))
    assert {tuple(events) for _, events in told} == {("e1", "e2", "e3", "e4", "e5")}
