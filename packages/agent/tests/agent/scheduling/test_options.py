"""Which times suit both sides: against brute force, and by the rules of ranking."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.scheduling import options as rules
from tacit.agent.scheduling.goal import Goal
from tacit.agent.scheduling.options import MOST_ALTERNATIVES, Exclusion, options
from tacit.base.moment import MINUTE, Moment, Span
from tests.agent.scheduling.calendars.texts import at, shown, span

NOW = at("2026-03-21 14:30")
FRIDAY = span("2026-03-27 12:00", "2026-03-27 23:00")
SATURDAY = span("2026-03-28 12:00", "2026-03-28 23:00")


def goal(*spans: Span, event_type: str = "dinner", minutes: int = 120) -> Goal:
    return Goal(
        kind="meeting",
        category="scheduling",
        summary="x",
        event_type=event_type,
        spans=spans,
        minutes=minutes,
    )


def best(*arguments, zone: str = "Europe/London", **more):
    return shown(one.span for one in options(*arguments, zone=zone, now=more.pop("now", NOW), **more).best)


@pytest.mark.spec("A2ACP-069")
def test_a_clear_best_stands_alone_at_the_usual_hour():
    assert best(goal(FRIDAY), (FRIDAY,), (FRIDAY,)) == ["2026-03-27T19:00/2026-03-27T21:00"]


@pytest.mark.spec("A2ACP-069")
def test_several_good_ones_are_a_best_and_its_alternatives():
    both = (FRIDAY, SATURDAY)
    assert best(goal(*both), both, both) == [
        "2026-03-27T19:00/2026-03-27T21:00",
        "2026-03-28T19:00/2026-03-28T21:00",
    ]


@pytest.mark.spec("A2ACP-069")
def test_no_overlap_gives_no_option():
    assert best(goal(FRIDAY, SATURDAY), (FRIDAY,), (SATURDAY,)) == []


def test_there_are_three_alternatives_at_most():
    days = tuple(span(f"2026-04-{day:02} 12:00", f"2026-04-{day:02} 23:00") for day in range(1, 15))
    found = best(goal(*days), days, days)
    assert len(found) == 1 + MOST_ALTERNATIVES
    assert found[0].startswith("2026-04-01T18:00")


def test_a_day_far_from_the_usual_hour_is_no_alternative_to_one_at_it():
    noon = span("2026-03-28 12:00", "2026-03-28 15:00")
    assert len(best(goal(FRIDAY, noon), (FRIDAY, noon), (FRIDAY, noon))) == 1


@pytest.mark.parametrize(
    ("event_type", "hour"),
    [
        ("dinner", "19:00"),
        ("Lunch", "12:30"),
        ("call", "13:30"),
        ("game_night", "19:30"),
        ("drinks", "18:30"),
    ],
)
def test_the_hour_is_the_usual_one_of_the_format_or_the_nearest_free(event_type, hour):
    free = (span("2026-03-27 12:00", "2026-03-27 13:30"), span("2026-03-27 13:30", "2026-03-27 23:00"))
    window = (span("2026-03-27 13:30", "2026-03-27 23:00"),) if event_type == "call" else free
    assert best(goal(FRIDAY, event_type=event_type, minutes=60), window, window)[0][11:16] == hour


@pytest.mark.spec("A2ACP-069")
@pytest.mark.parametrize(
    ("event_type", "hour"),
    [
        ("breakfast", "08:30"), ("brunch", "11:00"), ("call", "10:00"), ("cinema", "20:00"), ("coffee", "10:30"), ("dinner", "19:00"),
        ("drinks", "18:30"), ("game night", "19:30"), ("lunch", "12:30"), ("meeting", "10:00"),
    ],
)  # fmt: skip
def test_each_format_has_its_usual_hour(event_type, hour):
    assert {f"{minute // 60:02}:{minute % 60:02}" for minute in rules.usual_minutes(event_type)} == {hour}


def test_an_unknown_format_is_by_day():
    night = span("2026-03-27 02:00", "2026-03-27 10:00")
    assert best(goal(night, event_type="chess", minutes=60), (night,), (night,))[0][11:16] == "09:00"
    late = span("2026-03-27 19:00", "2026-03-27 23:00")
    assert best(goal(late, event_type="chess", minutes=60), (late,), (late,))[0][11:16] == "19:00"


def test_the_usual_hour_is_on_the_owners_wall():
    wide = span("2026-07-03 12:00", "2026-07-04 08:00")
    assert best(goal(wide), (wide,), (wide,), zone="America/New_York")[0][11:16] == "23:00"
    assert best(goal(wide), (wide,), (wide,), zone="Asia/Kathmandu")[0][11:16] == "13:15"


def test_an_earlier_day_goes_first_and_more_room_before_that_hour():
    narrow = span("2026-03-27 19:00", "2026-03-27 21:00")
    assert best(goal(narrow, SATURDAY), (narrow, SATURDAY), (narrow, SATURDAY))[0].startswith("2026-03-27")
    tied = (span("2026-03-27 18:30", "2026-03-27 19:30"), span("2026-03-27 12:00", "2026-03-27 18:30"))
    found = options(goal(FRIDAY, event_type="dinner", minutes=30), tied, tied, zone="Europe/London", now=NOW)
    assert shown([found.best[0].span]) == ["2026-03-27T19:00/2026-03-27T19:30"]


def test_at_equally_good_hours_more_room_around_it_is_better():
    morning = span("2026-03-27 09:00", "2026-03-27 12:00")
    assert best(goal(morning, event_type="chess", minutes=60), (morning,), (morning,))[0][11:16] == "10:00"


def test_an_option_begins_on_a_quarter_of_an_hour():
    crooked = span("2026-03-27 19:07", "2026-03-27 22:00")
    assert best(goal(FRIDAY), (crooked,), (FRIDAY,)) == ["2026-03-27T19:15/2026-03-27T21:15"]


EXCLUDING = [
    ("refused before", {"excluded": (span("2026-03-27 18:00", "2026-03-27 22:00"),)}, rules.REFUSED),
    ("held elsewhere", {"holds": (span("2026-03-27 18:00", "2026-03-27 22:00"),)}, rules.HELD),
    ("over", {"now": at("2026-03-27 22:00")}, rules.PAST),
]


@pytest.mark.parametrize(("more", "why"), [row[1:] for row in EXCLUDING], ids=[row[0] for row in EXCLUDING])
def test_what_is_over_held_or_refused_is_not_offered_and_said_why(more, why):
    evening = span("2026-03-27 18:00", "2026-03-27 22:00")
    found = options(goal(evening), (evening,), (evening,), zone="Europe/London", **({"now": NOW} | more))
    assert found.best == ()
    assert Exclusion(evening, why) in found.excluded


def test_two_threads_never_get_the_same_evening():
    evening = span("2026-03-27 18:00", "2026-03-27 22:00")
    first = options(goal(evening), (evening,), (evening,), zone="Europe/London", now=NOW).best[0]
    second = options(
        goal(evening), (evening,), (evening,), zone="Europe/London", now=NOW, holds=(first.span,)
    )
    assert second.best == ()


def test_exclusions_name_our_own_stretches_and_no_window_of_the_other_side():
    theirs = (span("2026-03-27 12:00", "2026-03-27 13:17"),)
    ours = (span("2026-03-27 12:00", "2026-03-27 15:00"), span("2026-03-27 18:00", "2026-03-27 23:00"))
    found = options(goal(FRIDAY), ours, theirs, zone="Europe/London", now=NOW)
    assert found.best == ()
    assert found.excluded == (
        Exclusion(ours[0], rules.TOO_SHORT),
        Exclusion(span("2026-03-27 15:00", "2026-03-27 18:00"), rules.OWN_CALENDAR),
        Exclusion(ours[1], rules.COUNTERPART),
    )
    assert set(rules.WHY) >= {one.why for one in found.excluded}
    assert theirs[0].end not in {edge for one in found.excluded for edge in one.what}


@pytest.mark.spec("A2ACP-092")
def test_when_they_decline_to_tell_their_time_the_proposal_is_broader():
    told = options(goal(FRIDAY), (FRIDAY,), (FRIDAY,), zone="Europe/London", now=NOW).best
    declined = options(goal(FRIDAY), (FRIDAY,), None, zone="Europe/London", now=NOW).best
    assert len(told) == 1
    assert len(declined) == 1 + MOST_ALTERNATIVES
    assert declined[0].span == told[0].span


def test_nothing_outside_what_was_asked_for_is_offered():
    wide = (span("2026-03-20 00:00", "2026-04-20 00:00"),)
    found = best(goal(span("2026-03-27 17:00", "2026-03-27 18:30"), minutes=60), wide, wide)
    assert found == ["2026-03-27T17:30/2026-03-27T18:30"]


def away(quarter: int, early: int, late: int) -> int:
    """Minutes from the usual hour, by a clock in London."""
    shown = datetime.fromtimestamp(at_quarter(quarter) // 10**6, ZoneInfo("Europe/London"))
    minute = shown.hour * 60 + shown.minute
    return 0 if early <= minute <= late else min(abs(minute - early), abs(minute - late))


quarters = st.integers(0, 4 * 24 * 3)


def at_quarter(number: int) -> Moment:
    return Moment(at("2026-03-27") + number * 15 * MINUTE)


windows = st.lists(
    st.builds(
        lambda start, length: Span(at_quarter(start), at_quarter(start + length)),
        quarters,
        st.integers(1, 40),
    ),
    max_size=5,
).map(tuple)


@settings(max_examples=40)
@given(
    windows,
    windows,
    windows,
    st.sampled_from([30, 60, 90, 120]),
    st.sampled_from(["dinner", "lunch", "call", ""]),
)
def test_the_best_option_is_the_one_that_trying_every_quarter_finds(ours, theirs, taken, minutes, event_type):
    everything = Span(at_quarter(0), at_quarter(4 * 24 * 5))
    found = options(
        goal(everything, event_type=event_type, minutes=minutes), ours, theirs,
        zone="Europe/London", now=at_quarter(20), excluded=taken[:2], holds=taken[2:],
    )  # fmt: skip

    def fits(start: int) -> bool:
        pieces = [at_quarter(start + step) for step in range(minutes // 15)]
        return start >= 20 and all(
            any(one.start <= piece < one.end for one in ours)
            and any(one.start <= piece < one.end for one in theirs)
            and not any(one.start <= piece < one.end for one in taken)
            for piece in pieces
        )

    possible = [start for start in range(4 * 24 * 5) if fits(start)]
    offered = [(one.span.start - at_quarter(0)) // (15 * MINUTE) for one in found.best]
    assert set(offered) <= set(possible)
    assert bool(offered) == bool(possible)
    if offered:
        usual = {
            "dinner": (19 * 60,) * 2,
            "lunch": (12 * 60 + 30,) * 2,
            "call": (600, 600),
            "": (540, 19 * 60),
        }[event_type]
        assert away(offered[0], *usual) == min(away(start, *usual) for start in possible)
    scores = [one.score for one in found.best]
    assert scores == sorted(scores, reverse=True)
    again = options(
        goal(everything, event_type=event_type, minutes=minutes), tuple(reversed(ours)), tuple(reversed(theirs)),
        zone="Europe/London", now=at_quarter(20), excluded=taken[:2], holds=taken[2:],
    )  # fmt: skip
    assert again == found
