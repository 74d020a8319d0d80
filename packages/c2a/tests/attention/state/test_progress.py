"""Progress: one report a token, what moved last first."""

from __future__ import annotations

import pytest

from tacit.attention.state import records
from tacit.attention.state.progress import KEPT_TOKENS, ProgressReports


def report(token: str, value: float, message: str | None = None) -> records.ProgressRecord:
    return records.ProgressRecord(session="lead", token=token, progress=value, message=message)


@pytest.mark.spec("C2A-181")
def test_a_report_that_stands_still_is_taken_and_one_that_goes_back_is_not() -> None:
    reports = ProgressReports()
    for one in (report("a", 50, "half"), report("b", 10), report("a", 50, "still"), report("b", 9)):
        reports.apply(one)
    assert reports.of_session("lead") == [report("a", 50, "still"), report("b", 10)]
    assert reports.of_session("worker") == []


@pytest.mark.spec("C2A-181")
def test_an_old_token_is_shown_no_more_and_still_cannot_go_back() -> None:
    reports = ProgressReports()
    for number in range(KEPT_TOKENS + 1):
        reports.apply(report(f"t{number}", 5))
    shown = [one.token for one in reports.of_session("lead")]
    assert (len(shown), shown[0], shown[-1]) == (20, "t20", "t1")
    reports.apply(report("t0", 4))
    assert "t0" not in [one.token for one in reports.of_session("lead")]
    reports.apply(report("t0", 6))
    assert reports.of_session("lead")[0] == report("t0", 6)
