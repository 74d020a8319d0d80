"""What is tried before people are asked, and what of it may become a proposal."""

from __future__ import annotations

import itertools

import pytest

from tacit.agent.scheduling.calendars.availability import all_free
from tacit.agent.scheduling.calendars.busy import Busy
from tacit.agent.scheduling.conflict import (
    MOST_ALTERNATIVES,
    SURFACE_TO_USERS,
    alternatives,
    attempted,
    conflict_context,
    escalation,
    log_of,
)
from tacit.agent.scheduling.goal import Goal
from tacit.agent.scheduling.tries import (
    FIXED,
    FOLLOWING_WEEK,
    NO_OTHER,
    NO_OVERLAP,
    NOT_TOLD,
    OTHER_FORMAT,
    OTHER_TIMES,
    OWN_TIME,
    tries,
)
from tacit.base.moment import DAY, Span, common, without
from tests.agent.scheduling.calendars.texts import at, shown, span

NOW = at("2026-03-21 14:30")
LONDON = "Europe/London"
WEDNESDAY = span("2026-03-25 18:00", "2026-03-25 21:00")
THURSDAY = span("2026-03-26 18:00", "2026-03-26 21:00")
FIXED_DATE = {"date": "not_flexible"}


def dinner(*spans: Span, event_type: str = "dinner", **flexibility: str) -> Goal:
    return Goal(
        kind="meeting", category="scheduling", summary="dinner", event_type=event_type, spans=spans or (WEDNESDAY, THURSDAY),
        minutes=120, flexibility=flexibility,
    )  # fmt: skip


def ours(*busy: Span):
    """Our free time: all but these and Thursday evening."""
    return lambda wanted: all_free(Busy((THURSDAY, *busy)), wanted, 1)


def made(goal: Goal, theirs=(THURSDAY,), flexibility=None, free=None, **more):
    found = tries(goal, free or ours(), theirs, flexibility or {}, zone=LONDON, now=NOW, **more)
    return {one.name: one for one in found}


@pytest.mark.spec("A2ACP-099")
def test_the_following_week_other_times_and_another_format_are_all_tried():
    found = made(dinner())
    assert list(found) == [FOLLOWING_WEEK, OTHER_FORMAT, OTHER_TIMES]
    assert shown(found[FOLLOWING_WEEK].spans) == [
        "2026-04-01T17:00/2026-04-01T20:00",  # 18:00 on a wall that has changed to summer time
        "2026-04-02T17:00/2026-04-02T20:00",
    ]
    assert found[OTHER_FORMAT].event_type == "lunch"
    assert shown(found[OTHER_TIMES].spans)[0] == "2026-03-25T08:00/2026-03-25T18:00"
    assert all(one.why_failed == NOT_TOLD for one in found.values())


@pytest.mark.spec("A2ACP-099")
def test_the_log_has_each_try_and_why_it_failed():
    log = log_of(made(dinner()).values())
    assert [(one["try"], one["failed"]) for one in log] == [
        (FOLLOWING_WEEK, NOT_TOLD), (OTHER_FORMAT, NOT_TOLD), (OTHER_TIMES, NOT_TOLD)
    ]  # fmt: skip
    assert all(one["why"] for one in log)


def test_what_they_told_of_the_following_week_gives_a_resolution():
    later = span("2026-04-01 17:00", "2026-04-01 20:00")
    found = made(dinner(), theirs=(THURSDAY, later))[FOLLOWING_WEEK]
    assert found.may_resolve
    assert shown([found.options[0].span]) == ["2026-04-01T18:00/2026-04-01T20:00"]


VARIED = [
    (FOLLOWING_WEEK, "date", span("2026-04-01 17:00", "2026-04-01 20:00")),
    (OTHER_TIMES, "time", span("2026-03-25 14:30", "2026-03-25 17:00")),
    (OTHER_FORMAT, "format", span("2026-03-25 12:00", "2026-03-25 14:30")),
    (OTHER_FORMAT, "time", span("2026-03-25 12:00", "2026-03-25 14:30")),
]


@pytest.mark.spec("A2ACP-042")
@pytest.mark.parametrize(("name", "dimension", "told"), VARIED)
@pytest.mark.parametrize("side", ["ours", "theirs", "nobody"])
def test_what_a_side_cannot_change_becomes_no_resolution(name, dimension, told, side):
    marked = {dimension: "not_flexible"}
    found = made(
        dinner(**(marked if side == "ours" else {"date": "flexible"})),
        theirs=(THURSDAY, told),
        flexibility=marked if side == "theirs" else {dimension: "somewhat_flexible"},
    )
    one = found[name]
    assert one.options
    assert one.may_resolve is (side == "nobody")
    assert (one.why_failed == FIXED) is (side != "nobody")
    assert (one, one.options[0]) in alternatives([one])


@pytest.mark.spec("A2ACP-042")
def test_another_format_on_the_same_day_needs_no_other_date():
    told = span("2026-03-25 12:00", "2026-03-25 14:30")
    assert made(dinner(**FIXED_DATE), theirs=(told,), flexibility=FIXED_DATE)[OTHER_FORMAT].may_resolve
    friday = span("2026-03-27 12:00", "2026-03-27 14:30")
    assert not made(dinner(**FIXED_DATE), theirs=(friday,))[OTHER_FORMAT].may_resolve
    assert made(dinner(), theirs=(friday,))[OTHER_FORMAT].may_resolve


def test_where_we_have_no_time_nothing_is_suggested():
    everything = span("2026-03-01", "2026-05-01")
    found = made(
        dinner(), free=ours(without((everything,), (WEDNESDAY,))[0], without((everything,), (WEDNESDAY,))[1])
    )
    assert [one.why_failed for one in found.values()] == [OWN_TIME] * 3
    assert alternatives(found.values()) == ()


def test_what_they_left_out_of_their_time_is_not_suggested_to_them():
    whole_days = (span("2026-03-25 00:00", "2026-03-27 00:00"),)
    found = made(dinner(*whole_days), theirs=(THURSDAY,))
    assert found[OTHER_TIMES].why_failed == NO_OTHER
    in_week = [one for one in found[OTHER_FORMAT].suggestions if one.span.start < whole_days[0].end]
    assert in_week == []


def test_with_time_on_both_sides_but_none_together_it_is_no_overlap():
    in_pieces = (span("2026-04-01 17:00", "2026-04-01 18:30"), span("2026-04-01 18:45", "2026-04-01 20:00"))
    found = made(dinner(WEDNESDAY), theirs=in_pieces)[FOLLOWING_WEEK]
    assert found.why_failed == NO_OVERLAP
    assert found.options == ()


def test_a_format_without_another_is_told():
    assert made(dinner(event_type="audience with the king"))[OTHER_FORMAT].why_failed == NO_OTHER


def test_a_meeting_becomes_a_shorter_call():
    monday = span("2026-03-23 09:00", "2026-03-23 17:00")
    found = made(dinner(monday, event_type="meeting"), theirs=())[OTHER_FORMAT]
    assert found.event_type == "call"
    assert {one.span.end - one.span.start for one in found.suggestions} == {30 * 60 * 10**6}


def test_nothing_that_was_asked_for_is_tried_again_and_nothing_is_suggested_twice():
    two_weeks = dinner(WEDNESDAY, THURSDAY, span("2026-04-01 17:00", "2026-04-01 20:00"))
    for goal in (dinner(), two_weeks):
        for one in made(goal).values():
            assert common(one.spans, goal.spans) == ()
            spans = sorted(each.span for each in one.suggestions)
            assert all(first.end <= second.start for first, second in itertools.pairwise(spans))
            assert common(spans, goal.spans) == ()


def test_held_and_refused_times_are_not_tried_again():
    every = made(dinner())
    taken = tuple(one.span for found in every.values() for one in found.suggestions)
    for more in ({"holds": taken}, {"excluded": taken}):
        again = made(dinner(), **more)
        assert not {one.span for found in again.values() for one in found.suggestions} & set(taken)


def test_no_try_looks_further_than_nine_days_beyond_what_was_named():
    goal = dinner()
    asked: list[Span] = []

    def free(wanted):
        asked.extend(wanted)
        return ours()(wanted)

    made(goal, free=free)
    assert asked
    assert max(one.end for one in asked) <= THURSDAY.end + 9 * DAY


@pytest.mark.spec("A2ACP-097", "A2ACP-098")
@pytest.mark.parametrize("we_began", [True, False])
def test_a_conflict_names_the_initiators_values_first(we_began):
    our_values = [{"date": "2026-03-25", "time": "18:00+00:00/21:00+00:00"}]
    their_values = [{"date": "2026-03-26", "time": "18:00+00:00/21:00+00:00"}]
    found = conflict_context(
        field="time_windows", ours=our_values, theirs=their_values, we_began=we_began,
        made=made(dinner(**FIXED_DATE), flexibility=FIXED_DATE).values(), zone=LONDON,
    )  # fmt: skip
    conflict = found["conflict"]
    assert conflict["type"] == "no_overlap"
    assert conflict["field"] == "time_windows"
    assert conflict["agent_a_values"] == (our_values if we_began else their_values)
    assert conflict["agent_b_values"] == (their_values if we_began else our_values)
    for words in ("the following week", "other times of day", "another format"):
        assert words in conflict["attempted_resolution"]
    rationales = [one["rationale"] for one in found["proposed_alternatives"]]
    first, second = ("initiator", "other side") if we_began else ("other side", "initiator")
    assert first in rationales[0]
    assert second in rationales[1]


@pytest.mark.spec("A2ACP-100")
def test_an_escalation_asks_both_owners():
    found = escalation(made(dinner()).values(), subject="dinner")
    assert found["recommend"] == SURFACE_TO_USERS == "surface_to_users"
    assert found["reason"]
    assert "dinner" in found["suggested_prompt"]
    assert "alternatives" in found["suggested_prompt"]
    assert "alternatives" not in escalation([])["suggested_prompt"]


def test_what_is_told_of_the_tries_has_no_time_in_it():
    assert not any(one.isdigit() for one in attempted(made(dinner()).values()))


def test_there_are_three_alternatives_at_most_two_of_them_next_week():
    found = alternatives(
        made(dinner(WEDNESDAY, THURSDAY, span("2026-03-27 18:00", "2026-03-27 21:00"))).values()
    )
    assert len(found) == MOST_ALTERNATIVES
    assert [one.name for one, _ in found] == [FOLLOWING_WEEK, FOLLOWING_WEEK, OTHER_FORMAT]
