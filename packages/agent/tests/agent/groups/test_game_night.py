"""Three people and one evening: asked, told, added up, proposed, confirmed by all, entered once at each."""

from __future__ import annotations

from tests.agent.groups.circle import FRIDAY, SATURDAY, circle, own_thread


def test_three_find_an_evening_and_each_enters_it_once():
    four = circle({"anna": [FRIDAY, SATURDAY], "ben": [FRIDAY], "cleo": [FRIDAY, SATURDAY]})
    group_id = four.ask()
    assert set(four.states(group_id).values()) == {"PROPOSED"}
    four.confirm()
    assert set(four.states(group_id).values()) == {"COMPLETED"}
    for desk in four.desks.values():
        assert desk.done == [("do", "calendar")]
        desk.restarted()
    assert own_thread(four["ben"], group_id).peer == four["anna"].me
