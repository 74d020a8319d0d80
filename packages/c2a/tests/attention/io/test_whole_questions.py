"""A question in several lines, over a real ledger: who gets which of them, in which order, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention.commands import AuthorContinued, ChangeRules, DeleteMessage
from tacit.c2a.messages import encode
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def got(house: House, session: str = "ann") -> list[str]:
    """What the writer has put before a session since the last look, in its order; the ledger says the same."""
    found = [one for one in house.sent() if one[0].session == session]
    for draft, read in found:
        assert draft.delivered == read
    return [draft.delivered.text for draft, _ in found]


def talk(house: House, *lines: str, pause: float = 2, by: str = "user") -> None:
    for line in lines:
        house.say(GROUP, by, line)
        house.clock.move(pause)


@pytest.mark.spec("C2A-083")
def test_what_is_added_without_a_name_goes_to_whoever_was_called(house: House) -> None:
    house.sent()
    talk(house, "@ann hey", "so about the importer", "it is slow since noon")
    assert got(house) == ["@ann hey", "so about the importer", "it is slow since noon"]
    added = house.attention.obligations.of_event(house.events(GROUP, kinds=["chat.message"])[-1].id)
    assert [(one.session, one.policy, one.reason) for one in added] == [("ann", "may_respond", "added")]
    house.assert_rebuilds()


@pytest.mark.spec("C2A-083")
def test_a_correction_belongs_although_another_speaks_in_between(house: House) -> None:
    house.sent()
    house.say(GROUP, "user", "@ann please restart the database")
    house.say(GROUP, "ben", "the coffee is ready")
    house.say(GROUP, "user", "I mean the staging one")
    assert got(house) == ["@ann please restart the database", "I mean the staging one"]
    assert got(house, "ben") == []


@pytest.mark.spec("C2A-083")
def test_what_was_said_before_the_call_comes_first(house: House) -> None:
    house.sent()
    talk(house, "the importer is slow", "since noon")
    gone = house.say(GROUP, "user", "my salary is five")
    house.store.decide(DeleteMessage(GROUP, "user", gone.id))
    house.say(GROUP, "ben", "lunch?")
    house.say(GROUP, "user", "@ann can you look?")
    assert got(house) == ["the importer is slow", "since noon", "@ann can you look?"]
    assert got(house, "ben") == []
    house.say(GROUP, "user", "@ann and at the cache?")
    assert got(house) == ["@ann and at the cache?"], "what she has had does not come again"
    house.assert_rebuilds()


@pytest.mark.spec("C2A-083")
def test_in_a_thread_it_is_the_same(house: House) -> None:
    root = house.say(GROUP, "ben", "the importer is slow")
    house.sent()
    house.say(GROUP, "user", "@ann hey", reply_to=root.id)
    house.say(GROUP, "user", "can you look", reply_to=root.id)
    house.say(GROUP, "user", "lunch was good")
    asked = house.attention.obligations
    lines = house.events(GROUP, kinds=["chat.message"])[-2:]
    owed = [(one.policy, one.reason) for one in asked.of_event(lines[0].id) if one.session == "ann"]
    assert owed == [("must_respond", "direct_mention")], "the greeting asked for nothing, this does"
    said = [one.session for one in asked.of_event(lines[1].id)]
    assert "ann" not in said, "said in the open, where nobody was called"


@pytest.mark.spec("C2A-083", "C2A-075")
def test_what_comes_later_or_after_the_answer_or_by_the_owners_wish_is_no_piece(house: House) -> None:
    house.sent()
    asked = house.say(GROUP, "user", "@ann which port")
    house.clock.move(61)
    house.say(GROUP, "user", "lunch was good")
    assert got(house) == ["@ann which port"]
    assert [one for one in house._effects if isinstance(one, AuthorContinued)] == []
    house.say(GROUP, "user", "@ann which host")
    house.say(GROUP, "ann", "7434", reply_to=asked.id)
    got(house)
    house.say(GROUP, "user", "lunch was bad")
    assert got(house, "ben") == []
    house.store.decide(ChangeRules(GROUP, "user", {"dialogue": False}))
    talk(house, "it is slow", "@ann hey", "since noon")
    assert got(house)[-1:] == ["@ann hey"]


@pytest.mark.spec("C2A-068", "C2A-223")
def test_a_call_in_the_open_carries_the_lines_before_it_as_its_window(house: House) -> None:
    house.say(GROUP, "ben", "the build is red")
    house.clock.move(120)
    house.sent()
    house.say(GROUP, "user", "@ann can you look?")
    [(draft, _)] = [one for one in house.sent() if one[0].session == "ann"]
    params = encode(draft.delivered)
    assert params["injection"]["context"] == "thread_window"
    assert [one["content"] for one in params["threadWindow"]] == ["the build is red"]


@pytest.mark.spec("C2A-083")
def test_what_goes_on_with_a_dialogue_is_begun_without_a_name_and_added_to(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann which port")
    house.say(GROUP, "ann", "7434", reply_to=asked.id, to=["user"], conversation={"kind": "channel"})
    house.clock.move(20)
    house.sent()
    talk(house, "and which host is that?", "it refuses me")
    assert got(house) == ["and which host is that?", "it refuses me"]
