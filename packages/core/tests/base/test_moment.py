from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.moment import LAST, Moment, parse_rfc3339, rfc3339

MOMENTS_BEGIN = -62_135_596_800_000_000
MOMENTS = st.integers(MOMENTS_BEGIN, LAST).map(Moment)


@pytest.mark.spec("CCCS-017")
@given(MOMENTS)
def test_a_moment_survives_being_written_and_read(moment: Moment) -> None:
    text = rfc3339(moment)
    assert parse_rfc3339(text) == moment
    assert len(text) == 27
    assert text.endswith("Z")


@given(MOMENTS, MOMENTS)
def test_text_order_is_time_order(one: Moment, two: Moment) -> None:
    assert (rfc3339(one) < rfc3339(two)) == (one < two)


@given(st.datetimes(), st.integers(-23 * 60, 23 * 60))
def test_an_offset_is_counted(local: datetime, minutes: int) -> None:
    aware = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    found = parse_rfc3339(aware.isoformat())
    counted = (aware - epoch) // timedelta(microseconds=1)
    # What is before the year 1 or after 9999 in UTC is no moment: nobody could write it again.
    assert found == (counted if MOMENTS_BEGIN <= counted <= LAST else None)
    assert found is None or rfc3339(found)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_cannot_be_written_again_is_none(text: str) -> None:
    assert parse_rfc3339(text) is None


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("2026-01-13t10:00:00z", "2026-01-13T10:00:00.000000Z"),
        ("2026-01-13 10:00:00Z", "2026-01-13T10:00:00.000000Z"),
        ("2026-01-13T11:00:00.5+01:00", "2026-01-13T10:00:00.500000Z"),
        ("2026-01-13T10:00:00.123456789Z", "2026-01-13T10:00:00.123456Z"),
        ("2026-01-13T10:00:00-00:00", "2026-01-13T10:00:00.000000Z"),
    ],
)
def test_every_spelling_of_the_standard_is_read(text: str, same_as: str) -> None:
    assert parse_rfc3339(text) == parse_rfc3339(same_as)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-13",
        "2026-01-13T10:00:00",
        "2026-01-13T10:00Z",
        "2026-01-13T100000Z",
        "20260113T100000.000Z",
        "2026-W03-2T10:00:00Z",
        "2026-01-13T10:00:00,5Z",
        "2026-01-13T10:00:00.Z",
        "2026-01-13T10:00:00+01:00:30",
        "2026-01-13T10:00:00+0100",
        "2026-02-30T10:00:00Z",
        "2026-01-13T25:00:00Z",
        "2026-01-13T10:00:00Z\n",
        "\u0662026-01-13T10:00:00Z",
    ],
)
def test_other_spellings_of_time_are_none(text: str) -> None:
    assert parse_rfc3339(text) is None


@given(st.text())
def test_no_text_makes_the_reader_raise(text: str) -> None:
    parse_rfc3339(text)
