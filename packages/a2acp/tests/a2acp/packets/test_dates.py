from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import dates
from tacit.base.moment import parse_rfc3339

NOW = parse_rfc3339("2026-03-21T14:30:00Z")
WRONG = "28 March 2026 is a Saturday, not a Friday"


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    "text",
    [
        "Dinner on Friday 28 March 2026 at seven",
        "Lunch instead \u2014 Friday 28 March 12:00-14:00",
        "friday, 28 march",
        "Fri 28 Mar 2026",
        "Friday the 28th of March",
        "Friday, March 28, 2026",
        "FRIDAY MARCH 28TH",
        "Friday (28 March)",
        "Friday 2026-03-28",
        "28 March 2026 (Friday)",
        "2026-03-28, a Friday",
        "2026-03-28, a fri",
        "Friday\n28 March",
        "28 March, Friday",
        "28 March 2026 Friday 18:00-21:00",
        "Fri the 28th of mar. 2026",
        "fri 28 march",
    ],
)
def test_a_weekday_that_is_not_its_date_s_is_found(text):
    assert dates.weekday_faults_in(text, NOW) == (WRONG,)


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    "text",
    [
        "Dinner on Saturday 28 March 2026",
        "Friday 27 March",
        "Friday 28 March 2025",
        "Friday at 7, or on 28 March",
        "28 March, Friday 27 March",
        "28 March, Friday or Sunday",
        "Friday or Saturday 28 March",
        "Friday 28 may be too late",
        "Friday 12:00-14:00",
        "Satisfied with 28 March",
        "",
    ],
)
def test_a_weekday_that_is_right_or_belongs_to_no_date_is_no_fault(text):
    assert dates.weekday_faults_in(text, NOW) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Friday 31 February", "there is no 31 February"),
        ("Monday 29 February 2026", "there is no 29 February 2026"),
        ("Friday 28 May 2026", "28 May 2026 is a Thursday, not a Friday"),
        ("Friday 28 may 2026", "28 May 2026 is a Thursday, not a Friday"),
    ],
)
def test_a_day_that_does_not_exist_is_found_too(text, found):
    assert dates.weekday_faults_in(text, NOW) == (found,)


def test_without_a_year_the_nearest_date_is_meant():
    december = parse_rfc3339("2026-12-20T10:00:00Z")
    assert dates.weekday_faults_in("Friday 1 January", december) == ()
    assert dates.weekday_faults_in("Thursday 1 January", december) == (
        "1 January 2027 is a Friday, not a Thursday",
    )
    assert dates.weekday_faults_in("Friday 18 December", december) == ()


def test_every_string_of_a_packet_is_looked_at():
    body = {
        "proposal": {
            "summary": "fine",
            "alternatives": [{"summary": "Friday 28 March"}, {"reason": ["Sunday 28 March"]}],
        },
        "n": 3,
    }
    assert dates.weekday_faults_in(body, NOW) == (WRONG, "28 March 2026 is a Saturday, not a Sunday")
    assert dates.weekday_faults_in({"summary": "Friday 27 March"}, NOW) == ()


@given(day=st.dates(date(1990, 1, 1), date(2099, 12, 31)), said=st.integers(0, 6), order=st.booleans())
@settings(max_examples=100)
def test_a_mention_is_faulty_exactly_when_the_weekday_is_another_s(day, said, order):
    weekday, month = dates.WEEKDAYS[said], dates.MONTHS[day.month - 1]
    text = f"{weekday} {day.day} {month} {day.year}" if order else f"{weekday}, {month} {day.day}, {day.year}"
    assert bool(dates.weekday_faults_in(f"see you {text}!", NOW)) == (day.weekday() != said)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("2026-03-27", date(2026, 3, 27)),
        ("27 March 2026", date(2026, 3, 27)),
        ("Friday 27 March 2026", date(2026, 3, 27)),
        ("the 27th of March 2026", date(2026, 3, 27)),
        ("27 Mar. 2026", date(2026, 3, 27)),
        ("27 March", None),
        ("27 March 2230", None),
        ("Friday", None),
        ("2026-03-27 18:00", None),
        ("27/03/2026", None),
        ("", None),
        (20260327, None),
        ("Friday 28 March 2026", WRONG),
        ("2026-02-30", "there is no 30 February 2026"),
    ],
)
def test_a_date_is_read_whole_or_its_fault_named(value, found):
    assert dates.read_date(value) == found


def test_a_date_without_year_is_counted_from_a_day():
    assert dates.read_date("27 March", since=date(2026, 3, 28)) == date(2027, 3, 27)
    assert dates.read_date("27 March", since=date(2026, 3, 27)) == date(2026, 3, 27)


@given(weekday=st.integers(0, 6), since=st.dates(date(2000, 1, 1), date(2099, 1, 1)))
def test_a_coming_weekday_is_within_the_week(weekday, since):
    found = dates.coming(weekday, since)
    assert found.weekday() == weekday
    assert since <= found < since + timedelta(days=7)
