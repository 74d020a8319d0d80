"""Moments of rooms that somebody wrote who had not read the code: what is said reaches whom they expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attention.moments import WITHIN, figure, played

MOMENTS = Path(__file__).with_name("corpus") / "moments.jsonl"
OTHERWISE = {"everyone hold off on deploys until I say so"}
"""Words to all without a sign: that they call anybody is not understood, and nobody has them before them."""


@pytest.mark.spec("C2A-077")
def test_within_seconds_what_is_said_has_reached_whom_it_should() -> None:
    found = played(MOMENTS)
    assert {one.moment["text"] for one in found if not one.as_expected} == OTHERWISE, figure(found)
    assert WITHIN == 5
