"""What people see of attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.attention.io.read_tools import Pull
from tacit.attention.io.state_store import Archive
from tacit.attention.io.views import agents_view, decisions_view
from tacit.attention.io.work_view import AgentsNow
from tacit.attention.state import records
from tests.attention.io.house import GROUP

if TYPE_CHECKING:
    from tests.attention.io.house import House


def decisions(house: House, event_id: str) -> dict[str, dict[str, Any]]:
    found = house.store.read(
        lambda reader: decisions_view(
            Archive.on(reader, reader.group(GROUP)), event_id, AgentsNow(house.clock.now())
        )
    )
    assert found is not None
    return {one["agent"]: one for one in found["decisions"]}


def progress_of(house: House, agent: str, viewer: str = "user") -> Any:
    return agent_of(house, agent, viewer)["progress"]


def agent_of(house: House, agent: str, viewer: str = "user") -> dict[str, Any]:
    found = house.store.read(
        lambda reader: agents_view(Archive.on(reader, reader.group(GROUP)), {}, viewer, house.clock.now())
    )
    return {one["actor_id"]: one for one in found}[agent]


def test_what_was_spent_yesterday_is_not_todays(house: House) -> None:
    house.record(records.UsageRecord(session="ann", tokens_in=30, tokens_out=12, estimated=True))
    shown = agent_of(house, "ann")
    assert (shown["today"]["tokens"], shown["today"]["estimated"]) == (42, True)
    house.clock.move(86_400)
    shown = agent_of(house, "ann")
    assert (shown["today"], shown["tokens_in"] + shown["tokens_out"]) == (None, 42)


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


def sentence(house: House, event_id: str) -> str:
    found = house.store.read(
        lambda reader: decisions_view(
            Archive.on(reader, reader.group(GROUP)), event_id, AgentsNow(house.clock.now())
        )
    )
    assert found is not None
    return found["sentence"]


def states(house: House, event_id: str) -> dict[str, str]:
    return {agent: one["state"] for agent, one in decisions(house, event_id).items()}


@pytest.mark.spec("C2A-206", "C2A-207", "C2A-226")
def test_a_sentence_says_who_owes_who_works_and_who_answered(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann and @ben please look at this")
    assert states(house, asked.id) == {"ann": "pending", "ben": "pending"}
    assert sentence(house, asked.id) == "ann and ben owe a reply"
    house.record(records.AcceptedRecord(event_ids=[asked.id], session="ann"))
    assert states(house, asked.id) == {"ann": "delivered", "ben": "pending"}
    assert house.call("ben", "chat.progress", progressToken=asked.id, progress=1)["ok"]
    assert states(house, asked.id) == {"ann": "delivered", "ben": "working"}
    assert sentence(house, asked.id) == "ann owes a reply; ben took it"
    house.say(GROUP, "ann", "The disk was full, and I made room.", reply_to=asked.id)
    assert states(house, asked.id) == {"ann": "answered", "ben": "working"}
    assert sentence(house, asked.id) == "ann answered; ben took it"


@pytest.mark.spec("C2A-206", "C2A-207", "C2A-226")
def test_a_sentence_says_who_may_claim_and_who_took_it(house: House) -> None:
    for agent in ("ann", "ben"):
        house.do(GROUP, "user", "actor.update", actor_id=agent, roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    assert sentence(house, asked.id) == "ann and ben were notified"
    assert house.call("ben", "chat.claim", eventId=asked.id)["claimed"]
    assert states(house, asked.id) == {"ann": "pending", "ben": "claimed"}
    assert sentence(house, asked.id) == "ben took it; ann was notified"


@pytest.mark.spec("C2A-206", "C2A-226")
def test_a_sentence_says_that_nobody_is_named_and_who_may_take_it(house: House) -> None:
    asked = house.say(GROUP, "user", "does anyone know why staging is slow?")
    assert sentence(house, asked.id) == "Nobody is named. ann or ben may take it"
    said = decisions(house, asked.id)["ann"]["sentence"]
    assert said == "Nobody is named. ann can take this question; it has not been notified yet."
    house.tick()
    assert sentence(house, asked.id) == "ann was notified"
    house.call("ann", "chat.claim", eventId=asked.id)
    assert sentence(house, asked.id) == "ann took it"


@pytest.mark.spec("C2A-206", "C2A-226")
def test_each_agent_is_named_once_in_a_sentence(house: House) -> None:
    for agent in ("ann", "ben"):
        house.connect(agent, ["tool_mailbox"])
    asked = house.say(GROUP, "user", "@ann and @ben please look at this")
    assert {one["mode"] for one in decisions(house, asked.id).values()} == {"notify"}
    assert sentence(house, asked.id) == "ann and ben owe a reply"
    for agent in ("ann", "ben"):
        house.do(GROUP, "user", "actor.update", actor_id=agent, roles=["ops"])
    asked = house.say(GROUP, "user", "@ops who looks at this?")
    assert set(states(house, asked.id).values()) == {"offered"}
    assert sentence(house, asked.id) == "ann and ben were notified"


@pytest.mark.spec("C2A-036", "C2A-094", "C2A-095", "C2A-140")
def test_a_tool_shows_a_message_whole(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann please look")
    answer = house.store.read(
        lambda reader: Pull(
            reader,
            reader.group(GROUP),
            Archive.on(reader, reader.group(GROUP)),
            "ann",
            "2026-06-24",
        ).list_events({"limit": 1})
    )
    assert isinstance(answer, dict)
    [shown] = answer["events"]
    assert shown == {
        "eventId": asked.id,
        "createdAt": asked.ts,
        "sequence": asked.seq,
        "content": "@ann please look",
        "author": {"id": "user", "kind": "human", "displayName": "user"},
        "conversation": {"id": "main", "kind": "channel"},
        "policy": "must_respond",
        "directedness": "to_me",
        "disposition": None,
        "open": True,
    }


@pytest.mark.spec("C2A-206")
def test_why_names_the_cues_of_a_dialogue_also_after_a_restart(house: House) -> None:
    asked = house.say(GROUP, "user", "@ann which port does staging use?")
    house.clock.move(10)
    house.say(GROUP, "ann", "8443", reply_to=asked.id)
    house.clock.move(40)
    more = house.say(GROUP, "user", "and which certificate does it show?")
    shown = decisions(house, more.id)["ann"]
    assert shown["rule"] == "matrix.continued_question"
    assert (
        "What told so: ann and user were talking 40 s ago, ann spoke last of the two (" in shown["sentence"]
    )
    assert "What told so" not in decisions(house, asked.id)["ann"]["sentence"]
    house.restart()
    assert decisions(house, more.id)["ann"]["sentence"] == shown["sentence"]
