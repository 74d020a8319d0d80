"""Words for what was computed."""

import pytest

from tacit.agent.brain import writing

DAY, HOUR, PLACE = {"time": "19:00", "date": "2026-03-27"}, {"time": "20:00"}, {"place": "Alfama"}


@pytest.mark.spec("A2ACP-090")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "what both sides have said"),
        ([PLACE], "what both sides have said"),
        ([PLACE, PLACE], "what both sides have said"),
        ([DAY], "the time that suits"),
        ([DAY, HOUR], "The first option"),
        ([PLACE, HOUR], "The first option"),
    ],
)
def test_the_reasoning_tells_a_time_from_other_things_and_one_from_several_and_no_value(options, said):
    told = writing.reasoning(options)
    assert said in told
    assert not any(value in told for option in options for value in option.values())


@pytest.mark.spec("A2ACP-147")
@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({}, "Meeting"),
        ({"event_type": "game_night"}, "Game night"),
        ({"kind": "loan", "place": "Pepe"}, "Loan, Pepe"),
        ({"event_type": "dinner", "place": 7, "venue": "Bar\n \x1b[2JX"}, "Dinner, Bar [2JX"),
        ({"event_type": "dinner", "place": ["Pepe"], "address": ""}, "Dinner"),
        ({"event_type": "x" * 90, "place": "y" * 90}, "X" + "x" * 79 + ", " + "y" * 80),
    ],
)
def test_a_summary_has_one_line_and_leaves_out_what_is_no_text(details, said):
    assert writing.summary(details) == said
