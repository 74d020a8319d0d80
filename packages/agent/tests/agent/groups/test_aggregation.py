"""What several have in common, against a count by brute force; and who stands in the way."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.agent.groups import aggregation, trade_off
from tacit.agent.groups.aggregation import Overlap, aggregate
from tacit.base.moment import MINUTE, Moment, Span, merged, parse_rfc3339

HOUR = 60 * MINUTE


def hours(start: int, end: int) -> Span:
    return Span(Moment(start * HOUR), Moment(end * HOUR))


@st.composite
def answers(draw):
    people = draw(st.integers(1, 5))
    spans = st.tuples(st.integers(0, 40), st.integers(1, 12)).map(lambda one: hours(one[0], sum(one)))
    return {f"p{number}": draw(st.lists(spans, max_size=4)) for number in range(people)}


@pytest.mark.spec("A2ACP-176")
@pytest.mark.spec("A2ACP-180")
@settings(max_examples=150, deadline=None)
@given(answers(), st.integers(1, 3))
def test_the_best_window_is_what_counting_every_hour_finds(free, length):
    found = aggregate(free, length * 60).windows
    calendars = {name: merged(spans) for name, spans in free.items()}

    def there(start: int, end: int) -> set[str]:
        wanted = hours(start, end)
        return {
            name
            for name, spans in calendars.items()
            if any(one.start <= wanted.start and wanted.end <= one.end for one in spans)
        }

    most = max(len(there(start, start + length)) for start in range(60))
    assert (found[0].count if found else 0) == most
    if found:
        longest = max(
            end - start
            for start in range(60)
            for end in range(start + length, 61)
            if len(there(start, end)) == most
        )
        assert found[0].length == longest * HOUR
    for one in found:
        start, end = one.span.start // HOUR, one.span.end // HOUR
        assert set(one.available) == there(start, end)
        assert set(one.missing) == set(free) - set(one.available)


@pytest.mark.spec("A2ACP-180")
def test_who_has_not_answered_counts_for_nothing_and_length_decides_among_equals():
    overlap = Overlap(60)
    overlap.add("a", [hours(18, 22), hours(40, 46)])
    overlap.add("b", [hours(18, 22), hours(40, 46)])
    best = overlap.windows()
    assert [(one.count, one.span) for one in best] == [(2, hours(40, 46)), (2, hours(18, 22))]


@pytest.mark.spec("A2ACP-177")
def test_the_one_whose_yes_would_add_most_people_binds():
    free = {"a": [hours(0, 8)], "b": [hours(0, 8)], "c": [hours(20, 24)], "d": [hours(0, 8)]}
    assert aggregate(free, 60).binding == aggregation.Binding("c", "time_windows", 1)
    free["c"] = [hours(4, 8)]
    assert aggregate(free, 60).binding is None
    places = {"a": "Reading", "b": "reading, Oxford", "c": "London", "d": None}
    found = aggregate(free, 60, places=places)
    assert found.binding == aggregation.Binding("c", "location_preference", 1)
    assert found.areas == ("reading",)


@pytest.mark.spec("A2ACP-176")
def test_what_people_eat_is_added_up_without_whose_it_is():
    found = aggregate({"a": [hours(0, 3)]}, 60, diets={"a": "vegan", "b": ["No nuts", "vegan"], "c": None})
    assert found.dietary == ("no nuts", "vegan")


@pytest.mark.spec("A2ACP-179")
@pytest.mark.spec("A2ACP-054")
def test_the_trade_off_is_told_in_words_and_in_the_drafts_keys():
    friday, saturday = parse_rfc3339("2026-03-27T20:00:00Z"), parse_rfc3339("2026-03-28T19:00:00Z")
    early = [Span(friday, Moment(friday + 3 * HOUR))]
    late = [Span(saturday, Moment(saturday + 4 * HOUR))]
    free = {"alice": early + late, "bob": early + late, "charlie": early, "diana": early + late}
    found = aggregate(free, 120)
    told = trade_off.overlap_told(found, dict.fromkeys(free, "context_received"), "UTC")
    overlap = told["availability_overlap"]
    assert overlap["windows"] == [
        {"window": "Friday 27 March 20:00-23:00", "available_count": 4, "missing": []},
        {"window": "Saturday 28 March 19:00-23:00", "available_count": 3, "missing": ["charlie"]},
    ]
    assert (overlap["best_window"], overlap["available_count"]) == ("Friday 27 March 20:00-23:00", 4)
    assert (overlap["second_best"], overlap["available_count_2"]) == ("Saturday 28 March 19:00-23:00", 3)
    assert overlap["trade_off"] == (
        "Friday 27 March 20:00-23:00 suits all 4 but is 60 minutes shorter than"
        " Saturday 28 March 19:00-23:00, which suits 3 of 4"
    )
    assert told["participants"][0] == {"agent": "alice", "status": "context_received"}


def test_of_equal_choices_nobody_is_left_out_twice_in_a_row():
    free = {"a": [hours(0, 9), hours(20, 24)], "b": [hours(0, 9)], "c": [hours(20, 24)]}
    assert aggregate(free, 60).windows[0].missing == ("c",)
    assert aggregate(free, 60, first={"c"}).windows[0].missing == ("b",)
