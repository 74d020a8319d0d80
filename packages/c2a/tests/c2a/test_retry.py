"""Which calls may be made again, and when."""

from __future__ import annotations

import pytest

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.c2a.retry import (
    Annotations,
    Pace,
    is_unknown,
    may_repeat,
    passes,
    redeliver_after,
    retry_after_ms,
)


@pytest.mark.spec("C2A-167")
def test_pauses_double_from_one_second_to_thirty() -> None:
    pace = Pace()
    assert [pace.pause(tried, 0.0) for tried in (1, 2, 3, 4, 5, 6, 9)] == [1, 2, 4, 8, 16, 30, 30]
    assert pace.pause(1, 1.0) == 1.5
    assert pace.pause(9, 1.0) == 30
    assert pace.pause(1, 0.0, retry_after_ms=7000) == 7
    assert pace.pause(4, 0.0, retry_after_ms=7000) == 8


@pytest.mark.spec("C2A-161")
def test_a_delivery_waits_for_its_acknowledgement_up_to_a_minute() -> None:
    assert [redeliver_after(tries) for tries in (1, 2, 3, 6, 7, 8, 99)] == [1, 2, 4, 32, 60, 60, 60]


@pytest.mark.spec("C2A-171", "C2A-172")
@pytest.mark.parametrize(
    ("marks", "arguments", "yes"),
    [
        (None, {}, False),
        (None, {"idempotencyKey": "k"}, True),
        (None, {"idempotencyKey": ""}, False),
        (Annotations(read_only=True), {}, True),
        (Annotations(idempotent=True), {}, True),
        (Annotations(), {}, False),
        # A send without a key is not repeatable, whatever the tool says in general.
        (Annotations(idempotent=True), {"content": "hi"}, False),
        (Annotations(idempotent=True), {"content": "hi", "idempotencyKey": "k"}, True),
    ],
)
def test_a_call_is_repeated_only_where_that_is_safe(marks, arguments, yes) -> None:
    assert may_repeat(marks, arguments) is yes


@pytest.mark.spec("C2A-167", "C2A-169")
def test_time_heals_some_refusals_and_no_fault_of_the_peer() -> None:
    assert passes(Unavailable("away"))
    assert all(passes(Refused(code, "")) for code in ("rate_limited", "delivery_transient"))
    assert not passes(Refused("delivery_failed", ""))
    assert not passes(PeerFault("strange"))
    assert retry_after_ms(Refused("rate_limited", "", details={"retryAfterMs": 300})) == 300
    assert retry_after_ms(Refused("rate_limited", "", details={"retryAfterMs": "soon"})) is None
    assert retry_after_ms(Unavailable("away")) is None


@pytest.mark.spec("C2A-171")
@pytest.mark.parametrize(
    ("error", "unknown"),
    [
        (Unavailable("away", unknown=True), True),
        (Unavailable("away"), False),
        (Refused("rate_limited", ""), False),
        (ValueError("strange"), False),
    ],
)
def test_only_a_hub_that_says_so_does_not_know_whether_it_happened(error, unknown) -> None:
    assert is_unknown(error) is unknown
