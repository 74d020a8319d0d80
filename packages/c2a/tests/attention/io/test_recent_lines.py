"""The open lines before a question, as they go along with it: what a session could read there itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention.commands import ChangeRules, DeleteMessage, EditMessage
from tacit.attention.io import recent_lines
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def along(house: House, text: str = "@ann can you check the build?", **more: object) -> list[str] | None:
    """The lines that go along with a question to ann; the same as she can read there."""
    house.sent()
    house.say(GROUP, "user", text, **more)
    # What the same author has just said to nobody goes first, as a part of it.
    draft, read = [one for one in house.sent() if one[0].session == "ann"][-1]
    assert read is not None
    assert draft.delivered == read
    found = draft.delivered.before
    return None if found is None else [one.text for one in found]


@pytest.mark.spec("C2A-223", "C2A-203")
def test_a_question_comes_with_the_open_lines_before_it_as_they_stand(house: House) -> None:
    house.say(GROUP, "user", "the build is red")
    wrong = house.say(GROUP, "user", "since Monday")
    gone = house.say(GROUP, "user", "my salary is five")
    house.say(GROUP, "user", "in a thread", reply_to=wrong.id)
    house.say(GROUP, "user", "between us", to=["ann"], conversation={"kind": "dm"})
    house.say(GROUP, "user", "elsewhere", conversation={"kind": "channel", "id": "ops"})
    assert along(house) == ["the build is red", "since Monday", "my salary is five"]
    house.store.decide(EditMessage(GROUP, "user", wrong.id, "since Tuesday"))
    house.store.decide(DeleteMessage(GROUP, "user", gone.id))
    lines = ["the build is red", "since Tuesday", "@ann can you check the build?"]
    assert along(house) == lines
    house.restart()
    house.connect("ann")
    assert along(house) == [*lines, "@ann can you check the build?"]


@pytest.mark.spec("C2A-223")
@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ({"lines_before": 3}, ["line 7", "line 8", "line 9"]),
        ({"lines_before_chars": 13}, ["line 8", "line 9"]),
        ({"lines_before": 0}, None),
    ],
)
def test_the_lines_that_go_along_keep_to_the_owners_measure(
    house: House, settings: dict[str, int], lines: list[str] | None
) -> None:
    house.store.decide(ChangeRules(GROUP, "user", settings))
    for number in range(10):
        house.say(GROUP, "user", f"line {number}")
    assert along(house) == lines


@pytest.mark.spec("C2A-223")
def test_a_pasted_log_is_cut_and_hides_none_of_the_lines_around_it(house: House) -> None:
    house.say(GROUP, "user", "the build is red")
    house.say(GROUP, "user", "LOG " + "x" * 100_000)
    house.say(GROUP, "user", "since Monday")
    found = along(house)
    assert found is not None
    assert [line[:8] for line in found] == ["the buil", "LOG xxxx", "since Mo"]
    assert len(found[1]) < 1_300
    house.store.decide(ChangeRules(GROUP, "user", {"lines_before_chars": 0}))
    assert along(house) is None


@pytest.mark.spec("C2A-223")
def test_after_the_measure_was_small_for_a_while_nothing_is_said_to_be_all(house: House) -> None:
    lines = [f"line {number}" for number in range(40)]
    for line in lines:
        house.say(GROUP, "user", line)
    assert along(house, "@ann what is it now?") == lines[-24:]
    house.store.decide(ChangeRules(GROUP, "user", {"lines_before": 1}))
    assert along(house) == ["@ann what is it now?"]
    house.store.decide(ChangeRules(GROUP, "user", {"lines_before": 24}))
    assert along(house, "@ann and now, please?") == [
        *lines[-22:], "@ann what is it now?", "@ann can you check the build?",
    ]  # fmt: skip


@pytest.mark.spec("C2A-223")
def test_where_lines_may_lie_further_back_than_was_looked_none_go_along(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_lines, "LOOKED_THROUGH", 10)
    house.store.decide(ChangeRules(GROUP, "user", {"lines_before": 4}))
    house.say(GROUP, "user", "long ago")
    for _ in range(20):
        house.say(GROUP, "user", "elsewhere", conversation={"kind": "channel", "id": "ops"})
    assert along(house) is None
    for number in range(4):
        house.say(GROUP, "user", f"line {number}")
    assert along(house) == [f"line {number}" for number in range(4)]


@pytest.mark.spec("C2A-223")
def test_lines_are_held_for_so_many_places_and_then_looked_up_anew(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_lines, "MOST_PLACES", 3)
    monkeypatch.setattr(recent_lines, "MOST_MADE", 2)
    for number in range(9):
        place = {"kind": "channel", "id": f"place{number % 5}"}
        house.say(GROUP, "user", f"line {number}", conversation=place)
        found = along(house, conversation=place)
        assert found is None or f"line {number}" in found
        assert len(house.live.lines._lines) <= 3


@pytest.mark.spec("C2A-203", "C2A-223")
@pytest.mark.parametrize(
    "more",
    [
        {"to": ["ann"], "conversation": {"kind": "dm"}},
        {"to": ["ann"]},
        {"text": "@ann thanks!"},
    ],
)
def test_nothing_goes_along_with_what_is_private_or_asks_nothing(
    house: House, more: dict[str, object]
) -> None:
    house.say(GROUP, "user", "the build is red")
    house.sent()
    text = str(more.pop("text", "@ann can you check it?"))
    house.say(GROUP, "user", text, **more)
    assert [one.delivered.before for one, _ in house.sent() if one.session == "ann"] in ([None], [])
