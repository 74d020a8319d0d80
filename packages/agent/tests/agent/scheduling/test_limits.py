"""Rounds, needs and repeated questions, by the rows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.a2acp.threads.states import COUNTED, ThreadTurns
from tacit.agent.scheduling.goal import Need
from tacit.agent.scheduling.limits import (
    MOST_NEEDS,
    askable,
    by_priority,
    five,
    fresh_and_repeated,
    may_propose,
)

ALIASES = {"diet": "dietary", "availability": "time_windows"}


def canonical(field: str) -> str:
    return ALIASES.get(field, field)


def need(field: str, priority: str = "helpful") -> Need:
    return Need(field, "because", priority)


def fields(needs) -> list[str]:
    return [one.field for one in needs]


def after(*packets: tuple[str, str]) -> ThreadTurns:
    turns = ThreadTurns()
    for side, kind in packets:
        turns = turns.after(side, kind)
    return turns


def exchange(turns: int) -> ThreadTurns:
    return after(*(("a" if number % 2 == 0 else "b", "context") for number in range(turns)))


ROUNDS = [
    ("nothing", [], 0, 0),
    ("one packet", [("a", "context")], 1, 0),
    ("question and answer", [("a", "context"), ("b", "context_response")], 2, 1),
    (
        "neighbours are one turn",
        [("a", "context"), ("a", "context_request"), ("b", "context_response")],
        2,
        1,
    ),
    ("three turns", [("a", "context"), ("b", "context_request"), ("a", "context_response")], 3, 1),
    ("an update counts", [("a", "context"), ("b", "intent_update")], 2, 1),
    ("a resolution does not", [("a", "context"), ("b", "resolution"), ("a", "resolution_response")], 1, 0),
    (
        "nor does it part neighbours",
        [("a", "context"), ("b", "context"), ("a", "resolution"), ("b", "context")],
        2,
        1,
    ),
    ("what is no negotiation does not", [("a", "thread_sync"), ("b", "processing_error")], 0, 0),
]


@pytest.mark.spec("A2ACP-103")
@pytest.mark.parametrize(
    ("packets", "turns", "rounds"), [row[1:] for row in ROUNDS], ids=[row[0] for row in ROUNDS]
)
def test_round_trips_are_counted_in_turns(packets, turns, rounds):
    found = after(*packets)
    assert (found.count, found.round_trips) == (turns, rounds)


@pytest.mark.spec("A2ACP-103")
@pytest.mark.parametrize("kind", sorted(COUNTED))
def test_the_sixteenth_turn_is_sent_and_the_seventeenth_is_not(kind):
    assert exchange(15).may_send("b", kind)
    assert not exchange(16).may_send("a", kind)
    assert exchange(16).may_send("b", kind)  # the sixteenth goes on


@pytest.mark.spec("A2ACP-102", "A2ACP-103")
@pytest.mark.parametrize("kind", ["resolution", "resolution_response", "thread_status"])
def test_a_resolution_may_be_sent_when_no_round_is_left(kind):
    assert exchange(16).may_send("a", kind)
    assert exchange(40).may_send("a", kind)


@pytest.mark.spec("A2ACP-102")
def test_after_eight_rounds_it_is_time_to_ask_the_owner():
    assert not exchange(15).exhausted
    assert exchange(16).exhausted
    assert exchange(17).exhausted  # whatever the other side sends


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([*sorted(COUNTED), "resolution"])), max_size=60)
)
def test_a_side_that_keeps_the_limit_never_begins_a_seventeenth_turn(packets):
    turns = ThreadTurns()
    sent: list[str] = []
    for side, kind in packets:
        if turns.may_send(side, kind):
            turns = turns.after(side, kind)
            sent += [side] if kind in COUNTED else []
    begun = [side for at, side in enumerate(sent) if at == 0 or sent[at - 1] != side]
    assert len(begun) == turns.count <= 16


@pytest.mark.spec("A2ACP-105")
def test_of_six_needs_the_five_most_important_are_asked_and_the_rest_is_kept():
    needs = [
        need("a", "nice_to_have"), need("b"), need("c", "required"), need("d"), need("e", "required"), need("f"),
    ]  # fmt: skip
    now, later = five(needs)
    assert fields(now) == ["c", "e", "b", "d", "f"]
    assert fields(later) == ["a"]


@pytest.mark.spec("A2ACP-105", "A2ACP-106")
@settings(max_examples=100)
@given(st.lists(st.builds(need, st.text("abc", min_size=1), st.sampled_from(["required", "helpful", "nice_to_have", "urgent"]))))  # fmt: skip
def test_no_packet_has_more_than_five_and_none_is_lost(needs):
    now, later = five(needs)
    assert len(now) == min(MOST_NEEDS, len(needs))
    assert sorted(fields((*now, *later))) == sorted(fields(needs))
    ranks = {"required": 0, "helpful": 1}
    order = [ranks.get(one.priority, 2) for one in (*now, *later)]
    assert order == sorted(order)


def test_an_unknown_priority_is_the_lowest():
    assert fields(by_priority([need("a", "vital"), need("b", "nice_to_have"), need("c")])) == ["c", "a", "b"]


@pytest.mark.spec("A2ACP-109", "A2ACP-110")
@pytest.mark.parametrize("asked", ["dietary", "Dietary", "diet", "DIET"])
def test_what_was_answered_is_not_asked_again_under_any_name(asked):
    assert askable([need(asked), need("budget_range")], {"dietary"}, canonical) == (need("budget_range"),)
    assert askable([need("dietary")], {asked}, canonical) == ()


@pytest.mark.spec("A2ACP-109")
def test_a_field_stands_once_in_a_request_at_its_highest_priority():
    found = askable([need("diet"), need("dietary", "required"), need("Diet")], (), canonical)
    assert found == (need("dietary", "required"),)


@pytest.mark.spec("A2ACP-110")
def test_repeated_needs_of_the_other_side_are_told_apart():
    fresh, repeated = fresh_and_repeated([need("diet"), need("place")], {"dietary"}, canonical)
    assert (fields(fresh), fields(repeated)) == (["place"], ["diet"])


PROPOSE = [
    ([], set(), True),
    ([need("time_windows", "required")], set(), False),
    ([need("time_windows", "required")], {"availability"}, True),
    ([need("time_windows", "required"), need("place", "required")], {"time_windows"}, False),
    ([need("time_windows"), need("place", "nice_to_have")], set(), True),
]


@pytest.mark.spec("A2ACP-091", "A2ACP-092")
@pytest.mark.parametrize(("wants", "answered", "expected"), PROPOSE)
def test_nothing_is_proposed_while_a_required_field_is_open(wants, answered, expected):
    assert may_propose(wants, answered, canonical) is expected
