"""What a proposal is called in words of the code's own."""

from types import SimpleNamespace

import pytest

from tacit.agent.scheduling import proposing


@pytest.mark.parametrize(
    ("found", "goal", "called"),
    [
        ({"event_type": "dinner"}, SimpleNamespace(event_type="lunch"), "Dinner"),
        ({}, SimpleNamespace(event_type="lunch"), "Lunch"),
        ({}, SimpleNamespace(event_type=""), "Meeting"),
        ({}, None, "Meeting"),
    ],
)
def test_a_proposal_is_called_by_its_kind_else_by_the_goals_else_a_meeting(found, goal, called):
    assert proposing.plainly(SimpleNamespace(goal=goal), found) == called
