"""What a message would do, said before it is sent: who must reply, who may take it, which name nobody has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.commands import ChangeRules
from tacit.attention.io.preview import preview
from tacit.attention.io.state_store import Archive
from tacit.base.moment import rfc3339
from tacit.ledger.envelope import Event
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def would(house: House, text: str, by: str = "user", **data: Any) -> dict[str, Any]:
    """The preview of a message."""
    event = Event(
        v=1, id="", ts=rfc3339(house.clock.now()), seq=1_000, kind="chat.message", group_id=GROUP, scope_key="",
        by=by, data={"text": text, **data},
    )  # fmt: skip
    return house.store.read(
        lambda reader: preview(Archive.on(reader, reader.group(GROUP), frozenset(house.present)), event)
    )


CASES = [
    ("@ann which port is it?", "ann must reply; 1 other stays quiet"),
    ("lunch was good today", "everyone stays quiet"),
    ("does anyone know which port it is?", "Nobody is named. ann or ben may take it."),
    ("@zoe can you check the build?", "Nobody here is called zoe. ann or ben may take it."),
    ("can one of you check the build, @zoe?", "Nobody here is called zoe. ann or ben may take it."),
    ("@ann @zoe can you check the build?", "ann must reply; 1 other stays quiet"),
    (
        "@ann can you check the build with @zoe?",
        "Nobody here is called zoe; ann must reply; 1 other stays quiet",
    ),
    ("@zoe is joining us at three", "Nobody here is called zoe; everyone stays quiet"),
    ("what does `@zoe` do?", "Nobody is named. ann or ben may take it."),
]


@pytest.mark.spec("C2A-077", "C2A-207")
@pytest.mark.parametrize(("text", "sentence"), CASES)
def test_it_says_who_will_have_it_and_which_name_nobody_has(house: House, text: str, sentence: str) -> None:
    assert would(house, text)["sentence"] == sentence


def test_whoever_is_away_cannot_take_it_and_that_is_said_at_once(house: House) -> None:
    house.present.discard("ann")
    assert would(house, "which port is it?")["sentence"] == "Nobody is named. ben may take it."
    house.present.discard("ben")
    found = would(house, "which port is it?")
    assert (found["may"], found["sentence"]) == ([], "Nobody is named. No agent is here to take it.")
    assert would(house, "@zoe which port is it?")["sentence"] == (
        "Nobody here is called zoe. No agent is here to take it."
    )


def test_whoever_spoke_just_before_is_named_once(house: House) -> None:
    house.say(GROUP, "ben", "Welcome, I keep the build green.")
    assert would(house, "what is this place?")["sentence"] == "Nobody is named. ann or ben may take it."


def test_many_are_counted(house: House) -> None:
    for name in ("cid", "dan"):
        house.do(GROUP, "user", "actor.add", actor_id=name, role="peer")
        house.connect(name)
    assert would(house, "which port is it?")["sentence"] == "Nobody is named. One of 4 agents may take it."


def test_where_nothing_is_offered_it_says_so(house: House) -> None:
    asked = house.say(GROUP, "user", "the build is green")
    assert would(house, "which port is it?", by="ann")["sentence"] == "Nobody is named. No agent is notified."
    assert would(house, "which port is it?", reply_to=asked.id)["sentence"] == (
        "Nobody is named. No agent is notified."
    )
    house.store.decide(ChangeRules(GROUP, "user", {"room_silence_ms": 0}))
    assert would(house, "which port is it?")["sentence"] == "Nobody is named. No agent is notified."


@pytest.mark.spec("C2A-077")
def test_alone_with_an_agent_its_person_is_told_that_it_must_reply(house: House) -> None:
    house.do(GROUP, "user", "actor.remove", actor_id="ben")
    assert would(house, "write a function that sorts names")["sentence"] == "ann must reply"
    assert would(house, "thanks!")["sentence"] == "everyone stays quiet"
    house.do(GROUP, "user", "actor.remove", actor_id="ann")
    found = would(house, "write a function that sorts names")
    assert (found["agents"], found["sentence"]) == (0, "Nobody is named. No agent is here to take it.")
