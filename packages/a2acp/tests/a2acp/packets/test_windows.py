import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets.windows import MOST, read_slot, read_windows
from tacit.base.moment import parse_rfc3339, rfc3339

NOW = parse_rfc3339("2026-03-21T14:30:00Z")  # a Saturday


def read(value, *, timezone="Europe/London", proposed="2026-03-27", now=NOW):
    return read_windows(value, timezone=timezone, proposed_date=proposed, now=now)


def written(reading):
    return [f"{rfc3339(span.start)[:16]}/{rfc3339(span.end)[:16]}" for span in reading.spans]


EVENING = "2026-03-27T18:00/2026-03-27T21:00"


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    "value",
    [
        {"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"},
        {"date": "2026-03-27", "time": "18:00-21:00"},
        {"date": "2026-03-27", "start": "18:00", "end": "21:00"},
        {"date": "2026-03-27", "time": "19:00/22:00", "timezone": "Europe/Paris"},
        {"start": "2026-03-27T18:00:00Z", "end": "2026-03-27T21:00:00Z"},
        {"from": "2026-03-27T18:00", "to": "2026-03-27T21:00"},
        {"time": "18:00-21:00"},
        "18:00-21:00",
        "18:00 - 21:00",
        "18:00\u201321:00",
        "18.00 until 21.00",
        "6pm to 9pm",
        "from 6 p.m. to 9 p.m.",
        "between 18:00 and 21:00",
        "18:00Z-21:00Z",
        "18:00-21:00Z",
        "18:00/PT3H",
        "Friday 18:00-21:00",
        "Fri, 18:00-21:00",
        "Friday 27 March 18:00-21:00",
        "friday 27 march 2026, 18:00-21:00",
        "Friday the 27th of March 18:00-21:00",
        "Mar 27 18:00-21:00",
        "March 27, 2026 at 6pm-9pm",
        "2026-03-27 18:00-21:00",
        "2026-03-27T18:00/21:00",
        "2026-03-27T18:00:00+00:00/2026-03-27T21:00:00+00:00",
        "2026-03-27T18:00:00+00:00 \u2013 2026-03-27T21:00:00+00:00",
        "2026-03-27T18:00/2026-03-27T21:00",
        "2026-03-27T20:00+02:00/PT3H",
        "20:00+02:00-23:00+02:00",
        "13:00-16:00-05:00",
    ],
)
def test_many_ways_to_write_one_evening_are_read_as_it(value):
    assert written(read(value)) == [EVENING]
    assert read(value).unclear == ()


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    "value",
    ["18:00-21:00", {"date": "2026-03-27", "time": "18:00/21:00"}, "2026-03-27T18:00/2026-03-27T21:00"],
)
@pytest.mark.parametrize("timezone", [None, "Europe/Atlantis", "localtime", "EST"])
def test_a_time_without_offset_from_a_sender_without_zone_is_asked_about_and_not_guessed(value, timezone):
    found = read(value, timezone=timezone)
    assert found.spans == ()
    assert "no time zone" in found.unclear[0]


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    ("timezone", "evening"),
    [
        ("Europe/London", "2026-03-27T18:00/2026-03-27T21:00"),
        # In these three weeks only New York has changed its clocks.
        ("America/New_York", "2026-03-27T22:00/2026-03-28T01:00"),
        ("Asia/Kathmandu", "2026-03-27T12:15/2026-03-27T15:15"),
    ],
)
def test_a_time_without_offset_is_read_in_the_sender_s_zone(timezone, evening):
    assert written(read("18:00-21:00", timezone=timezone)) == [evening]


@pytest.mark.parametrize(
    ("value", "night"),
    [
        ("22:00-02:00", "2026-03-27T22:00/2026-03-28T02:00"),
        ({"date": "2026-03-27", "time": "22:00+00:00/02:00+00:00"}, "2026-03-27T22:00/2026-03-28T02:00"),
        ("00:00-24:00", "2026-03-27T00:00/2026-03-28T00:00"),
        ("18:00-18:00", "2026-03-27T18:00/2026-03-28T18:00"),
        # The night in which London's clocks go forward has 23 hours.
        ("2026-03-28 12:00-12:00", "2026-03-28T12:00/2026-03-29T11:00"),
        ("2026-10-24 23:00-03:00", "2026-10-24T22:00/2026-10-25T03:00"),
        ("2026-10-25 01:30+01:00/01:15+00:00", "2026-10-25T00:30/2026-10-25T01:15"),
    ],
)
def test_an_end_at_or_before_the_start_is_on_the_next_day(value, night):
    assert written(read(value)) == [night]


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("Friday 28 March 12:00-14:00", "28 March 2026 is a Saturday, not a Friday"),
        ({"date": "Friday 28 March 2026", "time": "12:00+00:00/14:00+00:00"}, "is a Saturday, not a Friday"),
        ("31 April 12:00-14:00", "there is no 31 April"),
        ("2026-02-30 12:00-14:00", "there is no 30 February 2026"),
        ("2026-13-01 12:00-14:00", "there is no"),
        ("2026-03-29 01:30-03:30", "the clocks change then"),
        ("2026-10-25 01:30-03:30", "the clocks change then"),
        ("18:00-12:00-05:00", "in two ways"),
        ("2026-03-27T21:00Z/2026-03-27T18:00Z", "ends before it begins"),
        ("19:00", "can be read for certain"),
        ("evenings", "can be read for certain"),
        ("28/03 18:00-21:00", "can be read for certain"),
        ("6-9pm", "can be read for certain"),
        ("25:00-26:00", "can be read for certain"),
        ("18:00-21:00 or later", "can be read for certain"),
        ("18:00-21:00" + " " * 200 + "x", "can be read for certain"),
        ("9999-12-31 18:00-03:00", "there is no"),
        (5, "can be read for certain"),
        ({"date": "2026-03-27"}, "can be read for certain"),
        ({}, "can be read for certain"),
        (None, "can be read for certain"),
    ],
)
def test_what_has_two_readings_or_none_is_unclear_and_says_why(value, problem):
    found = read(value)
    assert found.spans == ()
    assert problem in found.unclear[0]


def test_a_range_needs_its_date_and_a_proposed_date_that_cannot_be_is_named():
    assert "no date" in read("18:00-21:00", proposed=None).unclear[0]
    assert "no date" in read("18:00-21:00", proposed="soon").unclear[0]
    assert "not a Friday" in read("18:00-21:00", proposed="Friday 28 March 2026").unclear[0]
    assert written(read("18:00-21:00", proposed="27 March")) == [EVENING]


@pytest.mark.parametrize(
    ("now", "proposed", "evening"),
    [
        ("2026-03-21T14:30:00Z", None, "2026-03-25T18:00/2026-03-25T21:00"),
        ("2026-03-25T14:30:00Z", None, "2026-03-25T18:00/2026-03-25T21:00"),
        ("2026-03-25T20:00:00Z", None, "2026-03-25T18:00/2026-03-25T21:00"),
        ("2026-03-25T21:00:00Z", None, "2026-04-01T17:00/2026-04-01T20:00"),
        ("2026-03-21T14:30:00Z", "2026-03-27", "2026-03-25T18:00/2026-03-25T21:00"),
        ("2026-03-21T14:30:00Z", "2026-04-01", "2026-04-01T17:00/2026-04-01T20:00"),
    ],
)
def test_a_weekday_is_the_proposed_day_if_it_is_one_else_the_next_that_is_not_over(now, proposed, evening):
    assert written(read("Wednesday 18:00-21:00", now=parse_rfc3339(now), proposed=proposed)) == [evening]


def test_a_date_without_year_is_the_next_one():
    december = parse_rfc3339("2026-12-20T10:00:00Z")
    assert written(read("Friday 1 January 18:00-21:00", now=december)) == [
        "2027-01-01T18:00/2027-01-01T21:00"
    ]
    assert written(read("29 February 18:00-21:00")) == ["2028-02-29T18:00/2028-02-29T21:00"]


def test_several_windows_keep_their_order_and_unclear_ones_cost_the_others_nothing():
    found = read(["2026-03-28 10:00-11:00", "soon", "18:00-21:00", 3])
    assert written(found) == ["2026-03-28T10:00/2026-03-28T11:00", EVENING]
    assert len(found.unclear) == 2
    many = read(["18:00-21:00"] * (MOST + 1))
    assert len(many.spans) == MOST
    assert many.unclear == (f"only the first {MOST} windows were read",)


def test_a_question_shows_what_was_written_without_what_no_screen_should_get():
    (asked,) = read("soon\x1b[2J\n" + "x" * 90).unclear
    assert asked.startswith('"soon [2J x')
    assert len(asked) < 160


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    ("details", "minutes", "evening"),
    [
        ({"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}, None, EVENING),
        ({"date": "2026-03-27", "time": "18:00", "duration": "PT3H"}, None, EVENING),
        ({"date": "2026-03-27", "time": "18:00", "duration": "PT3H"}, 60, EVENING),
        ({"date": "2026-03-27", "time": "18:00+00:00"}, 180, EVENING),
        ({"date": "2026-03-27", "time": "19:00", "timezone": "Europe/Paris"}, 180, EVENING),
        ({"date": "Friday 27 March 2026", "time": "6pm"}, 180, EVENING),
    ],
)
def test_a_proposal_s_details_name_one_stretch(details, minutes, evening):
    found = read_slot(details, timezone="Europe/London", minutes=minutes, now=NOW)
    assert written(found) == [evening]


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"date": "2026-03-27"},
        {"time": "18:00-21:00"},
        {"date": "2026-03-27", "time": "19:00"},
        {"date": "Friday 28 March 2026", "time": "18:00-21:00"},
        {"date": 3, "time": 4},
    ],
)
def test_a_proposal_without_a_certain_time_is_asked_about(details):
    found = read_slot(details, timezone="Europe/London", minutes=None, now=NOW)
    assert found.spans == ()
    assert found.unclear


PIECES = st.lists(
    st.sampled_from(["Friday", "28", "March", "2026", "2026-03-27", "T", "18:00", "21:00", "-", "/", "\u2013", "+01:00", "Z", " ", "9999", "pm", "PT3H", "0001-01-01", "24:00", "-14:00"]),
    max_size=9,
).map("".join)  # fmt: skip


@given(
    value=PIECES | st.text(max_size=130),
    timezone=st.sampled_from(["Europe/London", "Pacific/Kiritimati", None]),
)
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_span_or_a_question(value, timezone):
    for entry in (value, {"date": "2026-03-27", "time": value}, {"start": value, "end": value}):
        found = read(entry, timezone=timezone)
        assert len(found.spans) + len(found.unclear) == 1
        assert all(span.start < span.end for span in found.spans)
