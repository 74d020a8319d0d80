"""Whoever asked says "wait": the work rests, no deadline runs, and it goes on with their next line or by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.attention.settings import DEFAULTS
from tacit.attention.state.holds import is_held
from tests.attention.decide.test_plain_forms import WAITING
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tacit.attention.state.obligations import Obligation
    from tacit.ledger.envelope import Event
    from tests.attention.io.house import House

DEADLINE = DEFAULTS.deadline_ms / 1000
HOLD = DEFAULTS.hold_ms / 1000


@pytest.fixture(autouse=True)
def _people(house: House) -> None:
    for name in ("Eve", "Bob"):
        house.do(GROUP, "user", "x.tacit.person.add", principal=f"usr:{name.lower()}", title=name)


def asked(house: House) -> Event:
    found = house.say(GROUP, "usr:eve", "@ann please rebuild the index")
    house.clock.move(60)
    return found


def owed(house: House, event: Event) -> Obligation:
    found = house.attention.obligations.get(event.id, "ann")
    assert found is not None
    return found


def pass_time(house: House, seconds: float) -> None:
    house.clock.move(seconds)
    house.tick()


@pytest.mark.spec("C2A-122")
def test_no_deadline_runs_while_it_is_held_and_the_next_line_gives_the_time_back(house: House) -> None:
    event = asked(house)
    before = owed(house, event).deadline_at
    house.say(GROUP, "usr:eve", "hold on")
    assert is_held(owed(house, event))
    pass_time(house, HOLD - 60)
    assert [one.kind for one in house.events(GROUP) if one.kind == "system.notify"] == []
    assert owed(house, event).redelivered == 0
    house.say(GROUP, "usr:eve", "the backup is done")
    found = owed(house, event)
    assert found.owed
    assert found.disposition is None
    assert before is not None
    assert found.deadline_at == before + (HOLD - 60) * 1_000_000
    house.assert_rebuilds()


@pytest.mark.spec("C2A-122")
def test_whoever_says_nothing_more_gets_it_back_after_a_while(house: House) -> None:
    event = asked(house)
    house.say(GROUP, "usr:eve", "@ann wait")
    pass_time(house, HOLD - 1)
    assert is_held(owed(house, event))
    pass_time(house, 1)
    found = owed(house, event)
    assert (found.disposition, found.owed) == (None, True)
    assert found.deadline_at == house.clock.now() + DEADLINE * 1_000_000
    house.assert_rebuilds()


def test_the_asker_holds_it_in_any_language_named_or_not_as_a_reply_or_not(house: House) -> None:
    forms = [form for text in WAITING for form in ((text, False), (f"@ann {text}", False), (text, True))]
    for said, is_reply in forms:
        event = asked(house)
        house.say(GROUP, "usr:eve", said, **({"reply_to": event.id} if is_reply else {}))
        assert is_held(owed(house, event)), (said, is_reply)
        house.say(GROUP, "usr:eve", "go on", **({"reply_to": event.id} if is_reply else {}))
        assert not is_held(owed(house, event))


def test_nobody_else_holds_it_but_the_owner_who_replies_does(house: House) -> None:
    event = asked(house)
    for said, data in (("@ann hold on", {}), ("hold on", {}), ("hold on", {"reply_to": event.id})):
        house.say(GROUP, "usr:bob", said, **data)
        assert not is_held(owed(house, event))
    house.say(GROUP, "user", "@ann hold on")
    assert not is_held(owed(house, event))
    house.say(GROUP, "user", "@ann hold on", reply_to=event.id)
    assert is_held(owed(house, event))


def test_nobody_else_s_line_lets_it_go_on(house: House) -> None:
    event = asked(house)
    house.say(GROUP, "usr:eve", "hold on")
    house.say(GROUP, "usr:bob", "lunch is at noon")
    house.say(GROUP, "usr:bob", "@ann is the build red?")
    assert is_held(owed(house, event))


def test_a_question_to_another_agent_is_not_held(house: House) -> None:
    event = asked(house)
    other = house.say(GROUP, "usr:eve", "@ben is the build red?")
    house.say(GROUP, "usr:eve", "@ann hold on")
    assert is_held(owed(house, event))
    at_ben = house.attention.obligations.get(other.id, "ben")
    assert at_ben is not None
    assert at_ben.owed
    assert not is_held(at_ben)


def test_it_can_be_held_again_and_what_it_has_rested_counts_once(house: House) -> None:
    event = asked(house)
    before = owed(house, event).deadline_at
    for _ in range(3):
        house.say(GROUP, "usr:eve", "hold on")
        house.clock.move(100)
    house.say(GROUP, "usr:eve", "go on")
    assert before is not None
    assert owed(house, event).deadline_at == before + 300 * 1_000_000
    house.assert_rebuilds()


@pytest.mark.spec("C2A-081")
def test_what_is_still_owed_is_steered_without_a_name_however_late_and_to_however_many(house: House) -> None:
    event = house.say(GROUP, "usr:eve", "@ann and @ben please compare the two indexes")
    house.clock.move(200)
    house.say(GROUP, "usr:eve", "hold on")
    assert is_held(owed(house, event))
    assert is_held(house.attention.obligations.get(event.id, "ben"))
    house.say(GROUP, "usr:eve", "go on")
    house.clock.move(250)
    off = house.say(GROUP, "usr:eve", "never mind, found it")
    called_off = [
        one.data["session"]
        for one in house.events(GROUP)
        if one.kind == "x.c2a.delivery"
        and one.data["event_id"] == off.id
        and one.data["reason"] == "cancellation"
    ]
    assert called_off == ["ann", "ben"]


def test_who_has_turned_to_somebody_else_or_was_answered_steers_nothing_by_a_bare_word(house: House) -> None:
    event = asked(house)
    house.say(GROUP, "usr:bob", "@Eve are you coming to lunch?")
    house.say(GROUP, "usr:eve", "never mind")
    house.say(GROUP, "usr:eve", "hold on")
    assert not is_held(owed(house, event))
    reasons = [one.data["reason"] for one in house.events(GROUP) if one.kind == "x.c2a.delivery"]
    assert "cancellation" not in reasons
