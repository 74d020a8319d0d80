import itertools
from datetime import UTC, date
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets import formats
from tacit.a2acp.packets.dates import zone, zone_named
from tacit.a2acp.packets.formats import DAY, MINUTE
from tacit.a2acp.packets.windows import read_windows
from tacit.base.errors import Refused
from tacit.base.moment import Moment, Span, parse_rfc3339

LONDON, NEW_YORK = ZoneInfo("Europe/London"), ZoneInfo("America/New_York")
# Clocks that change at midnight, by half an hour, before Greenwich and far after it.
ZONES = ("Europe/London", "America/New_York", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Asia/Kathmandu",
         "Pacific/Kiritimati", "Pacific/Apia", "UTC")  # fmt: skip
NOW = parse_rfc3339("2026-03-21T14:30:00Z")


def at(text):
    return parse_rfc3339(text + "Z")


def span(start, end):
    return Span(at(start), at(end))


@pytest.mark.spec("A2ACP-073")
def test_the_first_packet_tells_the_five_forms_and_later_ones_do_not():
    body = {"intent": {}, "_format_hints": {"dates": "mine"}}
    first = formats.hinted(body, first=True)
    assert set(first["_format_hints"]) == {"dates", "times", "currency", "coordinates", "durations"}
    assert formats.hinted(first, first=False) == {"intent": {}}
    assert body == {"intent": {}, "_format_hints": {"dates": "mine"}}


@pytest.mark.spec("A2ACP-074")
@pytest.mark.parametrize(
    ("found", "form"),
    [
        (lambda: formats.write_date(at("2026-03-27T23:30:00"), ZoneInfo("Asia/Tokyo")), "2026-03-28"),
        (lambda: formats.write_time(at("2026-03-29T00:59:00"), LONDON), "00:59+00:00"),
        (lambda: formats.write_time(at("2026-03-29T01:00:00"), LONDON), "02:00+01:00"),
        (lambda: formats.write_time(at("2026-03-27T18:00:59"), NEW_YORK), "14:00-04:00"),
        (lambda: formats.write_time(at("2026-03-27T18:00:00"), ZoneInfo("Asia/Kathmandu")), "23:45+05:45"),
        (lambda: formats.write_duration(90), "PT1H30M"),
        (lambda: formats.write_duration(45), "PT45M"),
        (lambda: formats.write_duration(1440), "PT24H"),
    ],
)
def test_values_have_their_canonical_form(found, form):
    assert found() == form


@pytest.mark.parametrize(
    "odd",
    [
        lambda: formats.write_duration(0),
        lambda: formats.write_window(span("2026-03-27T18:00:00", "2026-03-27T18:00:30"), LONDON),
        lambda: formats.write_window(span("2026-03-27T18:00:00", "2026-03-28T18:01:00"), LONDON),
    ],
)
def test_what_has_no_form_is_refused(odd):
    with pytest.raises(Refused):
        odd()


@pytest.mark.spec("A2ACP-074", "A2ACP-075")
@pytest.mark.parametrize(
    ("start", "end", "where", "window"),
    [
        ("2026-03-27T18:00:00", "2026-03-27T21:00:00", LONDON, {"date": "2026-03-27", "time": "18:00+00:00/21:00+00:00"}),
        ("2026-03-27T22:00:00", "2026-03-28T02:00:00", LONDON, {"date": "2026-03-27", "time": "22:00+00:00/02:00+00:00"}),
        ("2026-03-29T00:30:00", "2026-03-29T02:30:00", LONDON, {"date": "2026-03-29", "time": "00:30+00:00/03:30+01:00"}),
        ("2026-10-25T00:30:00", "2026-10-25T01:15:00", LONDON, {"date": "2026-10-25", "time": "01:30+01:00/01:15+00:00"}),
        ("2026-03-27T00:00:00", "2026-03-28T00:00:00", UTC, {"date": "2026-03-27", "time": "00:00+00:00/00:00+00:00"}),
        ("2026-03-27T18:00:01", "2026-03-27T21:00:59", UTC, {"date": "2026-03-27", "time": "18:01+00:00/21:00+00:00"}),
    ],
)  # fmt: skip
def test_a_window_is_its_first_date_and_two_times_with_their_offsets(start, end, where, window):
    assert formats.write_window(span(start, end), where) == window


def minutes(least, most):
    return st.integers(least // MINUTE, most // MINUTE).map(lambda count: Moment(count * MINUTE))


MOMENTS = minutes(at("2000-01-01T00:00:00"), at("2099-12-31T00:00:00"))


@pytest.mark.spec("A2ACP-074", "A2ACP-075")
@given(start=MOMENTS, lasts=minutes(MINUTE, DAY), name=st.sampled_from(ZONES))
@settings(max_examples=100, deadline=None)
def test_a_window_that_was_written_is_read_as_it_was_meant_in_any_zone(start, lasts, name):
    meant = Span(start, Moment(start + lasts))
    window = formats.write_window(meant, zone(name))
    assert read_windows([window], timezone=None, proposed_date=None, now=NOW).spans == (meant,)


@given(start=MOMENTS, lasts=minutes(0, 9 * DAY), name=st.sampled_from(ZONES), seconds=st.integers(0, 59))
@settings(max_examples=100, deadline=None)
def test_a_long_stretch_is_written_day_by_day_without_gap_or_overlap(start, lasts, name, seconds):
    meant = Span(Moment(start - seconds), Moment(start + lasts + seconds))
    windows = formats.write_windows([meant], zone(name))
    spans = read_windows(windows, timezone=None, proposed_date=None, now=NOW).spans
    assert len(spans) == len(windows)
    if lasts:
        assert spans[0].start == start
        assert spans[-1].end == start + lasts
    assert all(one.end == other.start for one, other in itertools.pairwise(spans))


@given(st.integers(1, formats.MOST_MINUTES))
def test_a_duration_that_was_written_is_read_as_it_was_meant(count):
    assert formats.read_duration(formats.write_duration(count)) == count


@pytest.mark.spec("A2ACP-075")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PT1H30M", 90), ("P1DT1H", 1500), ("P2W", 20160), ("PT90S", 2), ("PT24H", 1440), ("90 minutes", 90),
        ("1h 30m", 90), ("2 hours", 120), ("1.5 hours", 90), ("45 min", 45), (" PT1H ", 60),
        ("PT0S", None), ("P", None), ("PT", None), ("P1Y", None), ("", None), ("a while", None), (90, None), (None, None),
        ("P9999W", None), ("PT9999999M", None), ("-PT1H", None), ("P1DT", None), ("9" * 500, None), ("\u0661 hours", None),
    ],
)  # fmt: skip
def test_durations_are_read_in_iso_and_in_words_and_never_guessed(text, found):
    assert formats.read_duration(text) == found


@pytest.mark.parametrize(
    "name", ["Europe/London", "America/Argentina/Buenos_Aires", "America/Port-au-Prince", "Etc/GMT+5", "UTC"]
)
def test_a_zone_is_known_by_its_iana_name(name):
    assert zone(name) is not None


@pytest.mark.parametrize(
    "name",
    ["localtime", "posixrules", "Europe", "Europe/Atlantis", "../etc/passwd", "/etc/localtime", "Europe/../Europe/London",
     "EST", "", "+01:00", 3, None, "A" * 300, "Europe/\ud800"],
)  # fmt: skip
def test_what_is_no_iana_name_is_no_zone(name):
    assert zone(name) is None


def test_an_owner_may_say_more_names_and_none_that_is_this_machines_own():
    assert zone_named("Japan") is not None
    assert zone("Japan") is None
    for name in ("localtime", "posixrules", "Factory"):
        assert zone_named(name) is None


def test_a_date_of_the_railways_is_written_in_utc():
    assert formats.write_time(at("1910-01-01T00:00:00"), ZoneInfo("Europe/Amsterdam")) == "00:00+00:00"
    early = formats.write_window(
        span("1909-12-31T23:50:00", "1910-01-01T01:00:00"), ZoneInfo("Europe/Amsterdam")
    )
    assert early["date"] == date(1909, 12, 31).isoformat()
