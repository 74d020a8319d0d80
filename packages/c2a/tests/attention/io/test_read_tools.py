"""The tools that read: which part of a conversation they show, and that a long list goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.io import read_tools
from tacit.attention.io.read_tools import Pull
from tacit.attention.io.state_store import Archive
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def shown(house: House, tool: str, **arguments: Any) -> list[str]:
    def read(reader: Any) -> Any:
        group = reader.group(GROUP)
        return getattr(Pull(reader, group, Archive.on(reader, group), "ann", "2026-06-24"), tool)(arguments)

    return [one["content"] for one in house.store.read(read)["events"]]


@pytest.mark.spec("C2A-141")
@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ({}, ["three", "four"]),
        ({"after": 0}, ["one", "two"]),
        ({"before": 4}, ["two", "three"]),
        ({"after": 0, "before": 4}, ["two", "three"]),
        ({"after": 3}, ["four"]),
    ],
)
def test_a_window_holds_the_first_after_a_message_otherwise_the_last(
    house: House, bounds: dict[str, int], found: list[str]
) -> None:
    said = [house.say(GROUP, "user", text).id for text in ("zero", "one", "two", "three", "four")]
    named = {name: said[number] for name, number in bounds.items()}
    assert shown(house, "read_channel", conversationId="main", limit=2, **named) == found


@pytest.mark.spec("C2A-140")
def test_a_list_from_a_cursor_goes_on_over_its_pages(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_tools, "MOST", 2)
    for text in ("zero", "one", "two", "three"):
        house.say(GROUP, "user", text)
    asked = house.say(GROUP, "user", "@ann which one is it?")
    assert shown(house, "list_events", cursor="0", limit=2) == ["zero", "one"]
    found = shown(house, "list_events", cursor="0", limit=2, policy="must_respond")
    assert found == [asked.data["text"]]


@pytest.mark.spec("C2A-140")
@pytest.mark.parametrize(
    ("given", "found"), [({"cursor": "0"}, ["soon", "@ann is it?"]), ({}, ["@ann is it?"])]
)
def test_of_what_waits_a_report_goes_on_over_notices_and_the_last_are_messages(
    house: House, given: dict[str, str], found: list[str]
) -> None:
    house.do(GROUP, "system", "system.notify", kind="info", target_actor_id="ann", message="soon")
    house.say(GROUP, "user", "@ann is it?")
    assert shown(house, "list_events", openOnly=True, **given) == found
