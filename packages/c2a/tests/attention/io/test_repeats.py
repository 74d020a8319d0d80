"""A person answers before the agent, or has asked the same: what the ledger, `why` and the second asker get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.io.recent_lines import ANSWERED_BEFORE
from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import decisions_view
from tacit.attention.io.work_view import AgentsNow
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House

ASKED = "@ann why is staging slow?"


@pytest.fixture(autouse=True)
def _people(house: House) -> None:
    for name in ("Eve", "Bob"):
        house.do(GROUP, "user", "x.tacit.person.add", principal=f"usr:{name.lower()}", title=name)


def why(house: House, event_id: str) -> dict[str, Any]:
    found = house.store.read(
        lambda reader: decisions_view(
            Archive.on(reader, reader.group(GROUP)), event_id, AgentsNow(house.clock.now())
        )
    )
    assert found is not None
    return found


def pointed(house: House) -> list[tuple[str, str]]:
    return [
        (str(one.data["target_actor_id"]), str(one.data["related_event_id"]))
        for one in house.events(GROUP)
        if one.kind == "system.notify" and one.data["kind"] == ANSWERED_BEFORE
    ]


@pytest.mark.spec("C2A-180")
def test_why_says_that_a_person_answered_it_and_a_rebuild_folds_the_same(house: House) -> None:
    asked = house.say(GROUP, "usr:eve", ASKED)
    house.clock.move(5)
    house.say(GROUP, "usr:bob", "the index is missing")
    house.clock.move(5)
    house.say(GROUP, "usr:eve", "thanks!")
    shown = why(house, asked.id)
    assert shown["sentence"].startswith("ann was called off")
    [one] = [one for one in shown["decisions"] if one["agent"] == "ann"]
    assert one["sentence"].endswith("It was called off: Answered by usr:bob.")
    assert one["work"]["state"] == "called_off"
    house.clock.move(3600)
    house.tick()
    assert not [one for one in house.events(GROUP) if one.kind == "system.notify"]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-168")
def test_a_second_person_who_asks_the_same_is_pointed_to_the_answer_and_gets_it_again(house: House) -> None:
    first = house.say(GROUP, "usr:eve", ASKED)
    answer = house.say(GROUP, "ann", "The index is missing.", reply_to=first.id)
    assert pointed(house) == []
    second = house.say(GROUP, "usr:bob", "@ann why is staging slow")
    assert pointed(house) == [("usr:bob", answer.id)]
    assert house.attention.obligations.get(second.id, "ann").owed
    again = house.say(GROUP, "ann", "The index is missing.", reply_to=second.id)
    assert again.data["text"] == "The index is missing."
    assert not house.attention.obligations.get(second.id, "ann").owed
    house.assert_rebuilds()


def test_a_person_s_answer_is_pointed_to_as_well(house: House) -> None:
    house.say(GROUP, "usr:eve", ASKED)
    answer = house.say(GROUP, "usr:bob", "@Eve the index is missing")
    house.say(GROUP, "user", ASKED)
    assert pointed(house) == [("user", answer.id)]


def test_another_question_one_s_own_an_old_one_and_one_without_an_answer_point_nowhere(house: House) -> None:
    first = house.say(GROUP, "usr:eve", ASKED)
    house.say(GROUP, "usr:bob", ASKED)
    answer = house.say(GROUP, "ann", "The index is missing.", reply_to=first.id)
    house.say(GROUP, "usr:eve", ASKED)
    house.say(GROUP, "user", "@ann why is the demo slow on the phone?")
    assert pointed(house) == []
    house.say(GROUP, "user", ASKED)
    assert pointed(house) == [("user", answer.id)]
    house.clock.move(3 * 3600)
    house.say(GROUP, "user", ASKED)
    assert len(pointed(house)) == 1
