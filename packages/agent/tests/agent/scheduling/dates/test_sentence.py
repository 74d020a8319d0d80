"""The time grammar, sentence by sentence. Now is Monday 23 March 2026, 10:00 in London; clocks change there on the 29th."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.packets.tokens import Sentence
from tacit.agent.scheduling.dates import words as calendar_words
from tacit.agent.scheduling.dates.sentence import contradictions, read_when
from tacit.agent.scheduling.dates.words import Hours
from tacit.base.errors import Refused
from tacit.base.moment import LAST, Moment, Span, parse_rfc3339

LONDON = "Europe/London"
NOW = parse_rfc3339("2026-03-23T10:00:00Z")
assert NOW is not None


def at(text: str, zone: str = LONDON) -> Moment:
    """`03-27 18:00` on London's clocks of 2026; a year may stand before it."""
    text = text if text.count("-") == 2 else f"2026-{text}"
    there = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    return Moment(round(there.timestamp()) * 1_000_000)


def spans(text: str) -> tuple[Span, ...]:
    """`03-27 18:00/21:00; 03-28 00:00/03-29 00:00`."""
    found = []
    for piece in filter(None, text.split("; ")):
        start, _, end = piece.partition("/")
        found.append(Span(at(start), at(end if "-" in end else f"{start.split(' ')[0]} {end}")))
    return tuple(found)


WINDOWS = [
    # Days.
    ("today", "03-23 10:00/03-24 00:00"),
    ("tomorrow", "03-24 00:00/03-25 00:00"),
    ("tmrw", "03-24 00:00/03-25 00:00"),
    ("the day after tomorrow", "03-25 00:00/03-26 00:00"),
    ("Friday", "03-27 00:00/03-28 00:00"),
    ("on friday", "03-27 00:00/03-28 00:00"),
    ("this Friday", "03-27 00:00/03-28 00:00"),
    ("Monday", "03-23 10:00/03-24 00:00"),
    ("Monday or Tuesday", "03-23 10:00/03-25 00:00"),
    ("Weekday evenings only, from the 27th to the 31st", "03-27 17:00/22:00; 03-30 17:00/22:00; 03-31 17:00/22:00"),
    ("Friday or Monday", "03-27 00:00/03-28 00:00; 03-30 00:00/03-31 00:00"),
    ("next Monday", "03-30 00:00/03-31 00:00"),
    ("next Friday", "04-03 00:00/04-04 00:00"),
    ("this week", "03-23 10:00/03-30 00:00"),
    ("next week", "03-30 00:00/04-06 00:00"),
    ("sometime next week", "03-30 00:00/04-06 00:00"),
    ("the week after next", "04-06 00:00/04-13 00:00"),
    ("the week of 6 April", "04-06 00:00/04-13 00:00"),
    ("early next week", "03-30 00:00/04-02 00:00"),
    ("later this week", "03-26 00:00/03-30 00:00"),
    ("this weekend", "03-28 00:00/03-30 00:00"),
    ("at the weekend", "03-28 00:00/03-30 00:00"),
    ("next weekend", "04-04 00:00/04-06 00:00"),
    ("in 3 days", "03-26 00:00/03-27 00:00"),
    ("in two weeks", "04-06 00:00/04-07 00:00"),
    ("in a fortnight", "04-06 00:00/04-07 00:00"),
    ("a week from now", "03-30 00:00/03-31 00:00"),
    ("Friday in two weeks", "04-10 00:00/04-11 00:00"),
    ("the next three days", "03-23 10:00/03-27 00:00"),
    ("within a week", "03-23 10:00/03-31 00:00"),
    ("within the next days", "03-23 10:00/03-30 00:00"),
    ("in the next weeks", "03-23 10:00/04-06 00:00"),
    ("the coming days", "03-23 10:00/03-30 00:00"),
    ("in a few days", "03-26 00:00/03-27 00:00"),
    ("in 3 days from now", "03-26 00:00/03-27 00:00"),
    ("3 days from today", "03-26 00:00/03-27 00:00"),
    ("in two weeks time", "04-06 00:00/04-07 00:00"),
    ("within a fortnight", "03-23 10:00/04-07 00:00"),
    ("within a month", "03-23 10:00/04-23 00:00"),
    ("within three months", "03-23 10:00/05-24 00:00"),
    ("next month", "04-01 00:00/05-01 00:00"),
    ("in May", "05-01 00:00/06-01 00:00"),
    ("in February", "2027-02-01 00:00/2027-03-01 00:00"),
    # Dates.
    ("28 March", "03-28 00:00/03-29 00:00"),
    ("28th of March", "03-28 00:00/03-29 00:00"),
    ("March 28th", "03-28 00:00/03-29 00:00"),
    ("Mar 28, 2026", "03-28 00:00/03-29 00:00"),
    ("28.3.", "03-28 00:00/03-29 00:00"),
    ("28.3.2026", "03-28 00:00/03-29 00:00"),
    ("28/3", "03-28 00:00/03-29 00:00"),
    ("28/03/2026", "03-28 00:00/03-29 00:00"),
    ("2026-03-28", "03-28 00:00/03-29 00:00"),
    ("28 March 2026", "03-28 00:00/03-29 00:00"),
    ("Saturday 28 March 2026", "03-28 00:00/03-29 00:00"),
    ("28 March (Saturday)", "03-28 00:00/03-29 00:00"),
    ("Saturday the 28th", "03-28 00:00/03-29 00:00"),
    ("the 28th", "03-28 00:00/03-29 00:00"),
    ("the 3rd", "04-03 00:00/04-04 00:00"),
    ("the third of April", "04-03 00:00/04-04 00:00"),
    ("3 January", "2027-01-03 00:00/2027-01-04 00:00"),
    ("tomorrow (Tuesday)", "03-24 00:00/03-25 00:00"),
    # Several days.
    ("Wednesday or Thursday", "03-25 00:00/03-27 00:00"),
    ("Wednesday/Thursday", "03-25 00:00/03-27 00:00"),
    ("tomorrow, Wednesday or Thursday", "03-24 00:00/03-27 00:00"),
    ("Tuesday or Friday", "03-24 00:00/03-25 00:00; 03-27 00:00/03-28 00:00"),
    ("Sat or Sun", "03-28 00:00/03-30 00:00"),
    ("Tuesday to Thursday", "03-24 00:00/03-27 00:00"),
    ("from Tuesday to Thursday", "03-24 00:00/03-27 00:00"),
    ("between Tuesday and Thursday", "03-24 00:00/03-27 00:00"),
    ("Fri-Mon", "03-27 00:00/03-31 00:00"),
    ("27-29 March", "03-27 00:00/03-30 00:00"),
    ("27 to 29 March", "03-27 00:00/03-30 00:00"),
    ("March 27-29", "03-27 00:00/03-30 00:00"),
    ("6, 7 or 9 April", "04-06 00:00/04-08 00:00; 04-09 00:00/04-10 00:00"),
    ("28th or 29th April", "04-28 00:00/04-30 00:00"),
    ("on 28th or 29th April", "04-28 00:00/04-30 00:00"),
    ("the 28th or 29th April", "04-28 00:00/04-30 00:00"),
    ("on the 28th or 29th of April", "04-28 00:00/04-30 00:00"),
    ("the 28th or the 30th of April", "04-28 00:00/04-29 00:00; 04-30 00:00/05-01 00:00"),
    ("between 28 and 30 April", "04-28 00:00/05-01 00:00"),
    ("between the 28th and the 30th of April", "04-28 00:00/05-01 00:00"),
    ("from the 28th to the 30th of April", "04-28 00:00/05-01 00:00"),
    ("Wednesday next week", "04-01 00:00/04-02 00:00"),
    ("next week on Wednesday", "04-01 00:00/04-02 00:00"),
    ("Wednesday or Thursday next week", "04-01 00:00/04-03 00:00"),
    ("by Thursday", "03-23 10:00/03-27 00:00"),
    ("no later than Thursday", "03-23 10:00/03-27 00:00"),
    ("before Thursday", "03-23 10:00/03-26 00:00"),
    ("after Thursday", "03-27 00:00/04-03 00:00"),
    # Parts of the day.
    ("tonight", "03-23 17:00/03-24 00:00"),
    ("tomorrow morning", "03-24 08:00/12:00"),
    ("tomorrow afternoon", "03-24 12:00/17:00"),
    ("on Friday evening", "03-27 17:00/22:00"),
    ("Friday lunchtime", "03-27 11:30/14:30"),
    ("this afternoon", "03-23 12:00/17:00"),
    ("early evening on Friday", "03-27 17:00/19:00"),
    ("after work on Friday", "03-27 17:00/22:00"),
    ("Wednesday or Thursday evening", "03-25 17:00/22:00; 03-26 17:00/22:00"),
    ("Tuesday morning or Thursday evening", "03-24 08:00/12:00; 03-26 17:00/22:00"),
    ("tomorrow morning or evening", "03-24 08:00/12:00; 03-24 17:00/22:00"),
    ("Wednesday evening next week", "04-01 17:00/22:00"),
    ("dinner on Friday", "03-27 17:30/22:00"),
    ("lunch on Friday", "03-27 11:30/14:30"),
    ("dinner tonight", "03-23 17:30/22:00"),
    ("tomorrow after lunch", "03-24 13:00/17:00"),
    # Ranges.
    ("between 6 and 9 on Friday", "03-27 18:00/21:00"),
    ("from 18:00 to 21:00 tomorrow", "03-24 18:00/21:00"),
    ("Friday 18:00-21:00", "03-27 18:00/21:00"),
    ("Friday 6-9", "03-27 18:00/21:00"),
    ("6–9pm on Friday", "03-27 18:00/21:00"),  # noqa: RUF001
    ("from 10 to 2pm tomorrow", "03-24 10:00/14:00"),
    ("from ten to six tomorrow", "03-24 10:00/18:00"),
    ("11am to 2 tomorrow", "03-24 11:00/14:00"),
    ("from 9 to 5 on Friday", "03-27 09:00/17:00"),
    ("22:00 to 02:00 on Friday", "03-27 22:00/03-28 02:00"),
    ("after 6 on Friday", "03-27 18:00/03-28 00:00"),
    ("Friday 6pm or later", "03-27 18:00/03-28 00:00"),
    ("dinner after 6 on Friday", "03-27 18:00/22:00"),
    ("before noon tomorrow", "03-24 07:00/12:00"),
    ("until 9pm tomorrow", "03-24 07:00/21:00"),
    ("after 6 and before 9 tomorrow", "03-24 18:00/21:00"),
    ("this evening after 7", "03-23 19:00/22:00"),
    ("Tuesday to Thursday after 6pm", "03-24 18:00/03-25 00:00; 03-25 18:00/03-26 00:00; 03-26 18:00/03-27 00:00"),
    ("around 8pm tomorrow", "03-24 19:30/21:30"),
    ("8ish tomorrow evening", "03-24 19:30/21:30"),
    ("in the next 2 hours", "03-23 10:00/12:00"),
    # No time at all.
    ("", ""),
    ("we sat in the sun", ""),
    ("may I ask something", ""),
    ("last Friday", ""),
    ("yesterday", ""),
    ("2 days ago", ""),
    ("6-9 people", ""),
    ("a table for 4", ""),
]  # fmt: skip

POINTS = [
    ("tonight at 8", "03-23 20:00"),
    ("at 11 tonight", "03-23 23:00"),
    ("dinner tonight at 8", "03-23 20:00"),
    ("dinner on Friday at 7", "03-27 19:00"),
    ("dinner at 5 on Friday", "03-27 17:00"),
    ("dinner at 8:30 on Friday", "03-27 20:30"),
    ("lunch on Friday at 1", "03-27 13:00"),
    ("breakfast on Friday at 8", "03-27 08:00"),
    ("Friday at 3", "03-27 15:00"),
    ("Friday at 11", "03-27 11:00"),
    ("Friday at 12", "03-27 12:00"),
    ("Friday at 7 in the evening", "03-27 19:00"),
    ("Friday at 7 in the morning", "03-27 07:00"),
    ("tomorrow evening at 8", "03-24 20:00"),
    ("today at 9", "03-23 21:00"),
    ("8pm", "03-23 20:00"),
    ("9am", "03-24 09:00"),
    ("20:00", "03-23 20:00"),
    ("Friday 3 p.m.", "03-27 15:00"),
    ("Friday at 7.30pm", "03-27 19:30"),
    ("at 7.30 on Friday evening", "03-27 19:30"),
    ("Friday at 08:00", "03-27 08:00"),
    ("tomorrow at 1930", "03-24 19:30"),
    ("Monday at 9am", "03-30 09:00"),
    ("Friday, starting at 9am", "03-27 09:00"),
    ("Friday beginning at 9am", "03-27 09:00"),
    ("Monday at 11am", "03-23 11:00"),
    ("noon on Friday", "03-27 12:00"),
    ("Friday at midnight", "03-28 00:00"),
    ("Friday night at 12", "03-28 00:00"),
    ("half past seven tomorrow evening", "03-24 19:30"),
    ("half seven tomorrow evening", "03-24 19:30"),
    ("quarter to eight tomorrow evening", "03-24 19:45"),
    ("a quarter past 3 tomorrow", "03-24 15:15"),
    ("ten to six tomorrow", "03-24 17:50"),
    ("twenty five past four tomorrow", "03-24 16:25"),
    ("at seven thirty tomorrow evening", "03-24 19:30"),
    ("three o'clock tomorrow", "03-24 15:00"),
    ("Friday 27 March at 19:00", "03-27 19:00"),
    ("at half past six on the 3rd of April", "04-03 18:30"),
    ("in 2 hours", "03-23 12:00"),
    ("in half an hour", "03-23 10:30"),
    ("20 minutes from now", "03-23 10:20"),
    ("tomorrow at 10 or 11", "03-24 10:00; 03-24 11:00"),
    ("Friday evening at 8 or 9", "03-27 20:00; 03-27 21:00"),
    ("Friday or Saturday at 8pm", "03-27 20:00; 03-28 20:00"),
    ("at 8pm on Friday or Saturday", "03-27 20:00; 03-28 20:00"),
    ("Friday at 8pm or Saturday at 9pm", "03-27 20:00; 03-28 21:00"),
    ("Tuesday or Wednesday next week at 3pm", "03-31 15:00; 04-01 15:00"),
    # Zones: London is at +00:00 until the 29th.
    ("tomorrow at 3pm London time", "03-24 15:00"),
    ("tomorrow at 9am New York time", "03-24 13:00"),
    ("30 March at 9am New York time", "03-30 14:00"),
    ("tomorrow at 15:00 CET", "03-24 14:00"),
    ("tomorrow at 15:00 UTC", "03-24 15:00"),
    ("30 March at 15:00 UTC", "03-30 16:00"),
    ("tomorrow 15:00+02:00", "03-24 13:00"),
    ("tomorrow at 3pm UTC+2", "03-24 13:00"),
    ("tomorrow at 3pm GMT-5", "03-24 20:00"),
    ("tomorrow at 15:00 Europe/Berlin", "03-24 14:00"),
    ("tomorrow at 3pm my time", "03-24 15:00"),
    ("2026-03-27T18:00:00+01:00", "03-27 17:00"),
    ("2026-03-27T18:00Z", "03-27 18:00"),
]  # fmt: skip

UNCLEAR = [
    ("Friday at 7", "morning or"),
    ("Friday at 8:00", "morning or"),
    ("between 7 and 9 on Friday", "morning or"),
    ("Friday 28 March 2026", "28 March 2026 is a Saturday, not a Friday"),
    ("Friday, 28 March", "28 March 2026 is a Saturday"),
    ("Friday the 28th", "28 March 2026 is a Saturday"),
    ("28 March 2026 (Friday)", "is a Saturday"),
    ("2026-03-28, Friday", "is a Saturday"),
    ("2026-03-28, a Friday", "is a Saturday"),
    ("28 Mar. 2025", "has passed"),
    ("fri 28 march", "is a Saturday"),
    ("sun 28 march", "is a Saturday"),
    ("29 February", "does not exist"),
    ("tomorrow, Wednesday", "24 March 2026 is a Tuesday"),
    ("on 3/4", "3 April or 4 March"),
    ("31 February", "does not exist"),
    ("2026-02-30", "does not exist"),
    ("29 February 2027", "does not exist"),
    ("1 March 2020", "has passed"),
    ("20 March", "20 March 2027"),
    ("this morning at 9am", "has passed"),
    ("today at 9am", "has passed"),
    ("tomorrow at 25:00", "on no clock"),
    ("tomorrow at 13pm", "on no clock"),
    ("12.03 at noon", "12 March"),
    ("20:00 in the morning tomorrow", "exclude each other"),
    ("from 2 April to 30 March", "is before"),
    ("every Friday", "once"),
    ("29 March at 01:30", "clocks are changed"),
    ("25 October at 01:30", "clocks are changed"),
    ("Friday 15:00 EST", "do not show EST"),
    ("30 March at 15:00 CET", "do not show CET"),
    ("5 April 10am IST", "several zones"),
    ("tomorrow at 3pm your time", "which timezone"),
    ("tomorrow at 3pm Bob's time", "which timezone"),
    ("tomorrow at 3pm UTC or 5pm CET", "Several timezones"),
]


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(("text", "expected"), WINDOWS)
def test_windows_are_as_wide_as_the_words(text: str, expected: str) -> None:
    when = read_when(text, NOW, LONDON)
    assert when.unclear == ()
    assert when.spans == spans(expected)
    assert not when.exact


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(("text", "expected"), POINTS)
def test_a_time_to_begin_at_is_exact_and_lasts_as_long_as_it_usually_does(text: str, expected: str) -> None:
    when = read_when(text, NOW, LONDON, minutes=45)
    assert when.unclear == ()
    assert [span.start for span in when.spans] == [at(piece) for piece in expected.split("; ")]
    assert {span.end - span.start for span in when.spans} == {45 * 60_000_000}
    assert when.exact


@pytest.mark.spec("A2ACP-076")
@pytest.mark.parametrize(("text", "question"), UNCLEAR)
def test_what_can_be_read_two_ways_is_asked_and_yields_no_time(text: str, question: str) -> None:
    when = read_when(text, NOW, LONDON)
    assert any(question in each for each in when.unclear), when.unclear
    assert all(each.endswith("?") for each in when.unclear)
    assert when.spans == ()
    assert not when.exact


def test_there_are_many_sentences() -> None:
    assert len(WINDOWS) + len(POINTS) + len(UNCLEAR) >= 200


@pytest.mark.parametrize("text", ["9 to 5 on Friday", "seven thirty tomorrow", "Friday 8", "8 tomorrow"])
def test_bare_figures_without_a_word_before_them_are_no_time(text: str) -> None:
    assert not read_when(text, NOW, LONDON).exact


@pytest.mark.spec("A2ACP-076")
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Friday at 20:00", True), ("Friday 18:00-21:00", True), ("Friday after 6pm", True), ("Friday at noon", True),
        ("Friday at 20:00 UTC", False), ("Friday at 20:00+01:00", False), ("Friday at 8pm London time", False),
        ("Friday", False), ("Friday evening", False),
    ],
)  # fmt: skip
def test_between_two_zones_a_clock_time_without_its_zone_is_asked_not_guessed(text: str, asked: bool) -> None:
    assert read_when(text, NOW, LONDON).spans
    when = read_when(text, NOW, LONDON, ambiguous_zone=True)
    assert bool(when.unclear) is asked
    assert bool(when.spans) is not asked


@pytest.mark.parametrize(
    ("text", "usual", "expected"),
    [
        ("Friday at 8", Hours(540, 1200), ""),
        ("Friday at 8", Hours(1020, 1380), "03-27 20:00"),
        ("Friday at 9", Hours(540, 1080), "03-27 09:00"),
        ("Friday at 7", Hours(540, 1080), ""),
        ("Friday at 8", Hours(540, 1080), ""),
        ("Friday at 11", Hours(1050, 1320), "03-27 23:00"),
    ],
)
def test_a_bare_figure_is_read_by_the_usual_hours_with_two_hours_grace(
    text: str, usual: Hours, expected: str
) -> None:
    found = read_when(text, NOW, LONDON, usual=usual)
    assert [span.start for span in found.spans] == ([at(expected)] if expected else [])
    assert bool(found.unclear) is not bool(expected)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("for 2 hours", 120), ("for two hours", 120), ("half an hour", 30), ("90 minutes", 90), ("an hour", 60),
        ("an hour and a half", 90), ("one and a half hours", 90), ("2.5 hours", 150), ("1h30", 90), ("45min", 45),
        ("2 hours and 15 minutes", 135), ("a couple of hours", 120), ("a 30-minute call", 30),
        ("three quarters of an hour", 45), ("for forty-five minutes", 45), ("for 4", 0), ("in 2 hours", 0),
    ],
)  # fmt: skip
def test_lengths(text: str, minutes: int) -> None:
    assert read_when(text, NOW, LONDON).minutes == minutes


def test_a_stated_length_is_the_length_of_an_exact_time() -> None:
    when = read_when("tomorrow at 3pm for 2 hours", NOW, LONDON, minutes=30)
    assert when.spans == spans("03-24 15:00/17:00")


@pytest.mark.spec("A2ACP-041")
@pytest.mark.parametrize(
    ("text", "flexible"),
    [
        ("must be Wednesday", {"date": "not_flexible"}),
        ("it has to be Wednesday at 8pm", {"date": "not_flexible", "time": "not_flexible"}),
        ("only Wednesday", {"date": "not_flexible"}),
        ("Wednesday only", {"date": "not_flexible"}),
        ("Thursday 8pm sharp", {"time": "not_flexible"}),
        ("ideally Thursday", {"date": "somewhat_flexible"}),
        ("Thursday if possible", {"date": "somewhat_flexible"}),
        ("ideally Thursday, time is flexible", {"date": "somewhat_flexible", "time": "flexible"}),
        ("any day next week", {"date": "flexible"}),
        ("any time on Friday", {"time": "flexible"}),
        ("I'm flexible", {"date": "flexible", "time": "flexible"}),
        ("not flexible on the date, flexible on time", {"date": "not_flexible", "time": "flexible"}),
        ("the place is flexible", {"location": "flexible"}),
        ("whenever", {"date": "flexible", "time": "flexible"}),
        ("around 8pm", {"time": "somewhat_flexible"}),
        ("Friday at 8pm", {}),
    ],
)  # fmt: skip
def test_how_much_room_a_sentence_leaves(text: str, flexible: dict[str, str]) -> None:
    assert read_when(text, NOW, LONDON).flexible == flexible


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("dinner with Bob on Friday at 8", "dinner with Bob"),
        ("on Wednesday or Thursday evening dinner with Bob", "dinner with Bob"),
        ("Call Bob, tomorrow (Tuesday)", "Call Bob ,"),
        ("what we said last Friday", "what we said last Friday"),
        ("Dinner at Dopo at 8pm", "Dinner at Dopo"),
    ],
)
def test_the_rest_is_the_sentence_without_its_words_about_time(text: str, rest: str) -> None:
    left = read_when(text, NOW, LONDON).rest(Sentence(text))
    assert " ".join(token.written for token in left.tokens) == rest


@pytest.mark.parametrize(
    ("text", "part"), [("tomorrow morning", "morning"), ("tonight", "night"), ("Friday at 8pm", "")]
)
def test_the_part_of_the_day_is_told(text: str, part: str) -> None:
    assert read_when(text, NOW, LONDON).part_of_day == part


def test_today_counts_while_its_hours_are_still_ahead() -> None:
    friday = parse_rfc3339("2026-03-27T21:00:00Z")
    assert friday is not None
    assert read_when("dinner on Friday", friday, LONDON).spans == spans("03-27 21:00/22:00")
    later = parse_rfc3339("2026-03-27T22:30:00Z")
    assert later is not None
    assert read_when("dinner on Friday", later, LONDON).spans == spans("04-03 17:30/22:00")


@pytest.mark.spec("A2ACP-075")
def test_a_day_of_changed_clocks_is_as_long_as_it_is() -> None:
    assert read_when("29 March", NOW, LONDON).spans[0].end - read_when("29 March", NOW, LONDON).spans[
        0
    ].start == (23 * 3_600_000_000)
    night = read_when("25 October from 00:30 to 03:00", NOW, LONDON).spans[0]
    assert night.end - night.start == 3.5 * 3_600_000_000
    twice = read_when("25 October from 00:15 to 01:30", NOW, LONDON).spans[0]
    assert twice.end - twice.start == 2.25 * 3_600_000_000


def test_london_and_new_york_in_the_weeks_when_only_one_has_changed_its_clocks() -> None:
    for day, hours in (
        ("2026-03-05", 5),
        ("2026-03-20", 4),
        ("2026-04-02", 5),
        ("2026-10-28", 4),
        ("2026-11-04", 5),
    ):
        early = parse_rfc3339("2026-03-01T00:00:00Z")
        assert early is not None
        there = read_when(f"{day} at 12:00 New York time", early, LONDON)
        here = read_when(f"{day} at 12:00", early, LONDON)
        assert there.spans[0].start - here.spans[0].start == hours * 3_600_000_000


@pytest.mark.spec("A2ACP-075")
def test_a_wrong_weekday_is_found_in_any_text_and_nothing_else_is() -> None:
    assert contradictions("Lunch instead: Friday 28 March 2026, 12:00-14:00", NOW, LONDON)
    assert contradictions("Lunch instead: Saturday 28 March 2026 at 7", NOW, LONDON) == ()
    assert contradictions("1 March 2020", NOW, LONDON) == ()
    assert contradictions("28 March, Friday 27 March", NOW, LONDON) == ()


def test_a_figure_that_no_year_has_is_left_unread_behind_a_date() -> None:
    sentence = Sentence("28 March 2230")
    assert read_when(sentence.text, NOW, LONDON).rest(sentence).tokens == sentence.tokens[2:]


def test_an_unknown_zone_is_refused() -> None:
    for name in ("", "Nowhere/Else", "../etc/passwd", "Europe", "x" * 100):
        with pytest.raises(Refused):
            read_when("tomorrow", NOW, name)


@pytest.mark.parametrize("name", sorted({*calendar_words.ZONES.values(), *calendar_words.REGIONS.values()}))
def test_every_place_in_the_table_has_a_clock(name: str) -> None:
    assert ZoneInfo(name)


def test_a_long_text_is_read_in_time_that_grows_with_it_alone() -> None:
    read_when("Friday at 7 or " * 100_000, NOW, LONDON)
    read_when("'" * 500_000, NOW, LONDON)
    read_when("a'" * 500_000, NOW, LONDON)
    read_when("9" * 1_000_000, NOW, LONDON)


WORDS = [
    "friday", "sat", "next", "this", "week", "at", "8", "pm", "8pm", "18:00", "-", "to", "or", "and", ",", "27", "march", "may",
    "the", "3rd", "of", "in", "2", "hours", "half", "past", "seven", "noon", "midnight", "tomorrow", "tonight", "evening",
    "between", "after", "before", "by", "from", "until", "2026-03-28", "28.3.", "3/4", "UTC", "+", "02:00", "London", "time",
    "must", "be", "flexible", "every", "weekend", "a", "couple", "few", "days", "for", "lunch", "(", ")", "99", "0", "2026",
    "quarter", "31", "february", "T", "Z", "first", "couple of", "end", "month", "about", "ish", "24:00", "EST", "last",
]  # fmt: skip
ZONES = st.sampled_from(
    [LONDON, "America/New_York", "Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo", "UTC"]
)
MOMENTS = st.integers(min_value=0, max_value=LAST).map(Moment) | st.integers(
    min_value=NOW - 10**15, max_value=NOW + 10**15
).map(Moment)


@settings(max_examples=100)
@given(
    text=st.text() | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    now=MOMENTS,
    zone=ZONES,
    data=st.data(),
)
def test_whatever_is_said_gives_ordered_spans_ahead_or_questions(
    text: str, now: Moment, zone: str, data: st.DataObject
) -> None:
    usual = data.draw(st.none() | st.sampled_from([Hours(540, 1080), Hours(1050, 1320)]))
    when = read_when(text, now, zone, usual=usual, ambiguous_zone=data.draw(st.booleans()))
    assert list(when.spans) == sorted(set(when.spans))
    assert all(now <= span.start < span.end <= LAST for span in when.spans)
    assert not (when.spans and when.unclear)
    assert when.exact is False or when.spans
    if not when.exact:
        assert all(one.end < two.start for one, two in zip(when.spans, when.spans[1:], strict=False))
    assert all(each.endswith("?") for each in when.unclear)
    assert set(when.flexible.values()) <= {"flexible", "somewhat_flexible", "not_flexible"}
    assert contradictions(text, now, zone) == tuple(dict.fromkeys(contradictions(text, now, zone)))


@settings(max_examples=60)
@given(st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join))
def test_reading_twice_says_the_same_and_capitals_change_no_figures(text: str) -> None:
    assert read_when(text, NOW, LONDON) == read_when(text, NOW, LONDON)
