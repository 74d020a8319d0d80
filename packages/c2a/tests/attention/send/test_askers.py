"""Who asked for what an agent wants to do, also through another agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.commands import ChangeRules, Steer
from tacit.base.errors import Refused
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House

SEND = {"target": "channel:main", "visibility": "channel", "directedness": "to_other"}


@pytest.fixture
def mia(house: House) -> str:
    for name in ("mia", "sam"):
        house.do(GROUP, "user", "x.tacit.person.add", principal=f"usr:{name}", title=name)
    house.store.decide(ChangeRules(GROUP, "user", {"people_permit": True}))
    return "usr:mia"


def wish(house: House, session: str, event_id: str, key: str = "k1", **more: Any) -> Any:
    given = {"key": key, "eventId": event_id, "kind": "command", "title": "make deploy"}
    return house.call(session, "chat/permission", **given, **more)


def passed_on(house: House, event_id: str, key: str) -> Any:
    """Ann has ben do what she was asked for."""
    said = {
        "content": "@ben please deploy it",
        "mentions": ["ben"],
        "turn": f"{event_id}.0",
        "during": event_id,
    }
    house.call("ann", "chat.send_message", idempotencyKey=key, **said, **SEND)
    return [one for one in house.events(GROUP) if one.kind == "chat.message"][-1]


@pytest.mark.spec("C2A-207")
def test_nobody_allows_through_an_agent_what_they_asked_for(house: House, mia: str) -> None:
    asked = house.say(GROUP, mia, "@ann have ben deploy it")
    passed = passed_on(house, asked.id, "p1")
    assert passed.by == "ann"
    approval_id = wish(house, "ben", passed.id)["approvalId"]
    with pytest.raises(Refused, match="you asked for this yourself"):
        house.store.decide(Steer(GROUP, mia, "approve", approval_id=approval_id))
    house.store.decide(Steer(GROUP, "usr:sam", "approve", approval_id=approval_id))


@pytest.mark.spec("C2A-207")
def test_a_grants_asker_has_another_name_for_whomever_the_same_agent_asks(house: House, mia: str) -> None:
    names = set()
    for number, who in enumerate((mia, "usr:sam", "user")):
        asked = house.say(GROUP, who, f"@ann have ben deploy number {number}")
        passed = passed_on(house, asked.id, f"p{number}")
        names.add(wish(house, "ben", passed.id, f"by:{passed.id}")["asker"])
    assert len(names) == 3
    assert not any("mia" in name for name in names), "who asked in private is nobody else's to know"
    own = house.say(GROUP, "user", "@ben deploy it")
    assert wish(house, "ben", own.id, f"by:{own.id}")["asker"] == "user"


@pytest.mark.spec("C2A-207")
def test_whoever_adds_to_what_a_turn_works_on_asks_too(house: House, mia: str) -> None:
    first = house.say(GROUP, "user", "@ann please look at the build")
    more = house.say(GROUP, mia, "@ann and deploy it")
    approval_id = wish(house, "ann", first.id, beside=[more.id])["approvalId"]
    [record] = [one.data for one in house.events(GROUP) if one.kind == "x.c2a.approval"]
    assert (record["asked_by"], record["beside"]) == (["user", mia], [more.id])
    with pytest.raises(Refused, match="you asked for this yourself"):
        house.store.decide(Steer(GROUP, mia, "approve", approval_id=approval_id))
    house.store.decide(Steer(GROUP, mia, "refuse", approval_id=approval_id))


@pytest.mark.spec("C2A-207")
def test_a_yes_to_tell_private_talk_is_for_whoever_asked(house: House) -> None:
    for name in ("eve", "sam"):
        house.do(GROUP, "user", "x.tacit.person.add", principal=f"usr:{name}", title=name)
    states = []
    for number, who in enumerate(("usr:eve", "usr:sam")):
        told = house.say(GROUP, who, "@ann is the offer out?", to=["ann"], conversation={"kind": "dm"})
        sent = {
            "content": "The offer went out on Tuesday.",
            "inReplyTo": told.id,
            "idempotencyKey": f"k{number}",
        }
        refused = house.call("ann", "chat.send_message", **sent, **SEND)
        states.append(refused.details["state"])
        asked = [one for one in house.events(GROUP) if one.kind == "x.c2a.approval"][-1].data
        house.store.decide(Steer(GROUP, who, "approve", approval_id=asked["approval_id"]))
        assert house.call("ann", "chat.send_message", **sent, **SEND)["ok"]
    assert states == ["unasked", "unasked"]
