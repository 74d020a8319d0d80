"""What dinners teach, and what the next one is spared by it."""

from __future__ import annotations

import pytest

from tacit.agent.memory.relationship import recalled
from tests.agent.memory.dinners import DAY, dinner, dinners, pair, profile


def test_a_finished_dinner_teaches_diet_and_neighbourhood_and_the_next_wish_uses_them():
    both = pair(anna=profile("anna", location_preference="west Reading"))
    first = dinner(both)
    known = recalled(both.anna.value, both.ben.me).cache
    assert known["dietary"].value == "ben eats no meat"
    assert known["general_location_area"].value == "central Reading"
    asked = [one["field"] for one in both.anna.sent[0].fields["needs"]]
    assert {"dietary", "location_preference"} <= set(asked)
    both.later(7 * DAY)
    count = len(both.anna.sent)
    second = dinner(both)
    assert [one["field"] for one in both.anna.sent[count].fields["needs"]] == ["time_windows"]
    assert second.checkpoint["proposal"]["details"]["place"] == "central Reading"
    rests = {one["field"]: one for one in second.checkpoint["remembered"]}
    assert rests["general_location_area"]["told_by"] == "them"
    assert rests["general_location_area"]["since"].startswith("2026-03-23")
    assert "remembered" not in first.checkpoint
    both.anna.restarted()


@pytest.mark.spec("A2ACP-079", "A2ACP-191")
def test_the_first_dinner_takes_four_packets_and_a_question_the_fourteenth_one_each_way_and_none():
    both = pair()
    every = dinners(both, 14)
    first, last = every[0], every[-1]
    assert first.packets == {
        "anna": ["context", "context_response"],
        "ben": ["context_request", "resolution"],
    }
    assert first.questions == {"anna": 1, "ben": 1}
    assert last.packets == {"anna": ["context"], "ben": ["resolution"]}
    assert last.questions == {"anna": 0, "ben": 0}
    # It is the fourth that begins so: three of a kind make a pattern (A2ACP-084).
    assert [one.sent for one in every] == [4] * 3 + [2] * 11
