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
