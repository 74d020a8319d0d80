"""Repetition rules: the same times as `dateutil` where it ends, an end where it does not."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from dateutil.rrule import rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.agent.scheduling.calendars.recurrence import DAYS_LOOKED_AT, Allowance, parse_rule, times

LOW = datetime(2026, 3, 1)
HIGH = datetime(2026, 6, 1)


def found(text: str, start: datetime, low: datetime = LOW, high: datetime = HIGH, left: int = 10**6):
    rule = parse_rule(text)
    assert rule is not None
    return times(rule, start, low, high, is_over=lambda _: False, allowance=Allowance(left))


def numbers(low: int, high: int, most: int = 3):
    usable = st.integers(low, high).filter(bool)
    return st.lists(usable, min_size=1, max_size=most, unique=True).map(lambda many: ",".join(map(str, many)))


plain_days = st.lists(
    st.sampled_from(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]), min_size=1, max_size=4, unique=True
).map(",".join)
numbered_days = st.lists(
    st.builds("{}{}".format, st.sampled_from(["", "1", "2", "-1", "5"]), st.sampled_from(["MO", "WE", "FR", "SU"])),
    min_size=1, max_size=3, unique=True,
).map(",".join)  # fmt: skip


@st.composite
def rules(draw):
    frequency = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]))
    parts = [f"FREQ={frequency}"]
    optional = {"INTERVAL": st.integers(1, 5), "COUNT": st.integers(1, 60), "BYMONTH": numbers(1, 12)}
    if frequency != "WEEKLY":
        optional["BYMONTHDAY"] = numbers(-31, 31)
    optional["BYDAY"] = numbered_days if frequency in {"MONTHLY", "YEARLY"} else plain_days
    if frequency in {"MONTHLY", "YEARLY"}:
        optional["BYSETPOS"] = numbers(-3, 3, most=2)
    optional["BYHOUR"] = st.just("9,14")
    optional["WKST"] = st.sampled_from(["MO", "SU"])
    for name in draw(st.lists(st.sampled_from(sorted(optional)), max_size=4, unique=True)):
        parts.append(f"{name}={draw(optional[name])}")
    return ";".join(parts)


@settings(max_examples=60)
@given(
    rules(),
    st.datetimes(datetime(2022, 1, 1), datetime(2026, 7, 1)).map(lambda one: one.replace(microsecond=0)),
)
def test_a_rule_gives_the_times_that_dateutil_gives(text, start):
    # What holds never, or nearly never, dateutil seeks for seconds: a probe tells by our own count.
    assume(found(text, start, high=datetime(2034, 1, 1), low=start))
    expected = []
    for one in rrulestr(text, dtstart=start):
        if one > HIGH:
            break
        if one >= LOW:
            expected.append(one)
    assert found(text, start) == expected


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=3",
        "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=31",
    ],
)
def test_a_rule_that_never_holds_ends_at_the_stretch(text):
    assert found(text, datetime(2026, 1, 1)) == []


def test_an_endless_rule_from_long_ago_is_looked_at_near_the_stretch_only():
    daily = parse_rule("FREQ=DAILY")
    assert daily is not None
    allowance = Allowance(10**6)
    given = times(daily, datetime(1602, 1, 1, 9), LOW, HIGH, is_over=lambda _: False, allowance=allowance)
    assert given is not None
    assert len(given) == 92
    assert 10**6 - allowance.left < 300


def test_a_counted_rule_that_costs_too_much_is_given_up():
    assert found(f"FREQ=DAILY;COUNT={DAYS_LOOKED_AT * 3}", datetime(1602, 1, 1)) is None
    assert found("FREQ=DAILY;COUNT=500", datetime(2026, 1, 1), left=50) is None


def test_a_rule_ends_after_its_last_time():
    rule = parse_rule("FREQ=WEEKLY;UNTIL=20260315")
    assert rule is not None
    until = datetime(2026, 3, 15)
    given = times(
        rule, datetime(2026, 3, 1, 9), LOW, HIGH, is_over=lambda at: at > until, allowance=Allowance(1000)
    )
    assert given == [datetime(2026, 3, 1, 9) + timedelta(days=days) for days in (0, 7)]


@pytest.mark.parametrize(
    "text",
    [
        "", "FREQ", "FREQ=", "FREQ=SECONDLY", "FREQ=MINUTELY", "FREQ=HOURLY", "FREQ=FORTNIGHTLY",
        "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;INTERVAL=0", "FREQ=DAILY;INTERVAL=-1", "FREQ=DAILY;INTERVAL=x",
        "FREQ=DAILY;COUNT=-1", "FREQ=DAILY;COUNT=x", "FREQ=DAILY;BYDAY=1MO", "FREQ=WEEKLY;BYMONTHDAY=1",
        "FREQ=MONTHLY;BYDAY=XX", "FREQ=MONTHLY;BYDAY=0MO", "FREQ=MONTHLY;BYMONTHDAY=32",
        "FREQ=MONTHLY;BYMONTHDAY=0", "FREQ=YEARLY;BYMONTH=13", "FREQ=YEARLY;BYWEEKNO=3",
        "FREQ=YEARLY;BYYEARDAY=100", "RSCALE=CHINESE;FREQ=YEARLY", "FREQ=DAILY;BYHOUR=24", "FREQ=DAILY;X=1",
        "FREQ=DAILY;WKST=XX", "FREQ=DAILY;BYMONTH=", "FREQ=DAILY;COUNT=99999999999",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_no_rule(text):
    assert parse_rule(text) is None


def test_more_times_a_day_than_a_person_has_appointments_are_given_up():
    minutes = ",".join(map(str, range(60)))
    assert found(f"FREQ=DAILY;BYHOUR=1,2;BYMINUTE={minutes}", datetime(2026, 1, 1)) is None


@settings(max_examples=100)
@given(st.text(alphabet="FREQ=DAILYWKMNTHBSUOC;,-0123456789", max_size=60))
def test_any_text_is_a_rule_or_none(text):
    rule = parse_rule(text)
    if rule is not None:
        times(rule, datetime(2026, 1, 1), LOW, HIGH, is_over=lambda _: False, allowance=Allowance(1000))
