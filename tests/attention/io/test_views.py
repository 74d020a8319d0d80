"""What people see of attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.io.archive import Archive
from tacit.attention.io.views import agents_view, decisions_view
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def decisions(house: House, event_id: str) -> dict[str, dict[str, Any]]:
    found = house.store.read(
        lambda reader: decisions_view(Archive.on(reader, reader.group(GROUP)), event_id, house.clock.now())
    )
    assert found is not None
    return {one["agent"]: one for one in found["decisions"]}


def progress_of(house: House, agent: str, viewer: str = "user") -> Any:
    found = house.store.read(lambda reader: agents_view(Archive.on(reader, reader.group(GROUP)), {}, viewer))
    return {one["actor_id"]: one["progress"] for one in found}[agent]


@pytest.mark.spec("C2A-181", "C2A-183")
def test_progress_rises_for_each_token_by_itself_and_what_falls_is_dropped(house: House) -> None:
    first = house.say(GROUP, "user", "@ann please rebuild the index")
    second = house.say(GROUP, "user", "@ann please check the disk")
    for event, value in ((first, 50), (second, 10), (first, 20)):
        assert house.call("ann", "chat.progress", progressToken=event.id, progress=value, total=100)["ok"]
    shown = decisions(house, first.id)["ann"]
    assert (shown["state"], shown["progress"]["value"]) == ("working", 50)
    assert decisions(house, second.id)["ann"]["progress"]["value"] == 10
    assert progress_of(house, "ann")["value"] == 10
    assert progress_of(house, "ben") is None
    house.call("ann", "chat.progress", progressToken=first.id, progress=60)
    assert progress_of(house, "ann") == {"value": 60, "total": None, "message": None}
    assert decisions(house, second.id)["ann"]["progress"]["value"] == 10
    house.assert_rebuilds()


@pytest.mark.spec("C2A-203")
def test_progress_on_private_work_is_shown_to_its_parties_and_the_rest_sees_the_open_work(
    house: House,
) -> None:
    house.do(GROUP, "user", "x.tacit.person.add", principal="usr:eve", title="Eve")
    known = house.say(GROUP, "user", "@ann please rebuild the index")
    secret = house.say(GROUP, "user", "@ann please check my salary", to=["ann"], conversation={"kind": "dm"})
    house.call("ann", "chat.progress", progressToken=known.id, progress=1)
    house.call("ann", "chat.progress", progressToken=secret.id, progress=2, message="raise found")
    assert progress_of(house, "ann")["value"] == 2
    assert progress_of(house, "ann", "usr:eve") == {"value": 1, "total": None, "message": None}
