"""Settings: what is refused at the start."""

from __future__ import annotations

import pytest

from tacit.attention import decide
from tacit.attention.settings import Settings, accepted, checked, warnings
from tacit.attention.state import records
from tests.attention.world import ROSTER, event


@pytest.mark.spec("C2A-085")
def test_settings_outside_their_range_are_refused_at_start() -> None:
    assert checked(Settings()) is None
    for wrong in (
        Settings(compose_quiet_ms=1_999), Settings(compose_quiet_ms=5_001), Settings(compose_cap_ms=31_000),
        Settings(compose_quiet_ms=31_000, compose_slow=True), Settings(claim_ttl_ms=1), Settings(redeliver_at=(1.5,)),
    ):  # fmt: skip
        assert checked(wrong) is not None
    slow = Settings(compose_quiet_ms=12_000, compose_slow=True)
    assert checked(slow) is None
    assert warnings(slow)
    assert [bool(warnings(Settings(compose_quiet_ms=ms))) for ms in (5_000, 5_001)] == [False, True]
    assert not warnings(Settings())
    assert records.kind_of(records.DeleteRecord(event_id="x")) == "x.c2a.delete"
    assert decide(event("x"), ROSTER)


@pytest.mark.spec("C2A-178")
@pytest.mark.parametrize("shares", [[0.8, 0.5], [0.5, 0.5], ["x"], [True], [0.01 * n for n in range(1, 12)]])
def test_shares_that_do_not_rise_are_refused_by_name(shares: list[object]) -> None:
    refused = accepted(Settings(), {"redeliver_at": shares})
    assert not isinstance(refused, Settings)
    assert (refused.code, refused.row) == ("invalid_request", "C2A-178")
    rising = [round(0.09 * n, 2) for n in range(1, 11)]
    assert accepted(Settings(), {"redeliver_at": rising}) == Settings(redeliver_at=tuple(rising))
