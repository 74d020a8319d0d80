"""CLowl in the room: appended as English with the object beside it, refused with every fault, traced."""

from __future__ import annotations

import asyncio

import pytest

from tacit.client import Hub, Refused
from tacit.ledger.io import upkeep


def message(mid: str, p: str, sender: str, to, task: str = "review", **more) -> dict:
    return {
        "clowl": "0.2",
        "mid": mid,
        "ts": 1_700_000_000 + len(mid),
        "p": p,
        "from": sender,
        "to": to,
        "cid": "c1",
        "tid": "t1",
        "body": {"t": task, "d": more.pop("d", {})},
        **more,
    }


@pytest.fixture
async def pair(room, owner, group):
    tokens = [(await owner.add_actor(group, name))["token"] for name in ("ada", "bob")]
    async with Hub(room.url, tokens[0]) as ada, Hub(room.url, tokens[1]) as bob:
        yield ada, bob


async def test_a_clowl_message_lands_as_its_english_with_the_object_beside_it(group, pair):
    ada, _ = pair
    sent = (await ada.speak(group, message("m1", "REQ", "ada", "bob", d={"pr": 12}))).event
    assert sent.kind == "chat.message"
    assert sent.data["text"] == "ada asks bob to do review (pr=12)."
    assert sent.data["to"] == ["bob"]
    assert sent.data["clowl"]["p"] == "REQ"


async def test_malformed_messages_are_refused_with_every_fault_at_once(group, pair):
    ada, _ = pair
    bad = message("m1", "req", "ada", [], d=[1])
    before = (await ada.events(group)).next_cursor
    with pytest.raises(Refused) as refused:
        await ada.speak(group, bad)
    paths = {fault["path"] for fault in refused.value.details["faults"]}
    assert {"$.p", "$.to", "$.body.d"} <= paths
    assert refused.value.details["answer_with"] == "E001"
    assert (await ada.events(group)).next_cursor == before


@pytest.mark.spec("CLOWL-018", "CLOWL-092")
async def test_from_must_be_the_credentials_own_actor_and_tokens_are_not_stored(room, group, pair):
    ada, bob = pair
    with pytest.raises(Refused) as refused:
        await bob.speak(group, message("m1", "REQ", "ada", "bob"))
    assert refused.value.details["answer_with"] == "E002"
    sent = (await ada.speak(group, message("m2", "REQ", "ada", "bob", auth="s3cret-token"))).event
    assert "auth" not in sent.data["clowl"]
    folder = b"".join(
        path.read_bytes() for path in room.folder.iterdir() if path.name.startswith("ledger.db")
    )
    assert b"s3cret-token" not in folder


async def test_the_same_message_twice_is_one_event(group, pair):
    ada, _ = pair
    first = await ada.speak(group, message("m1", "REQ", "ada", "bob"))
    again = await ada.speak(group, message("m1", "REQ", "ada", "bob"))
    assert (again.duplicate, again.id) == (True, first.id)


async def test_an_answer_becomes_a_reply_and_stays_between_the_two(room, owner, group, pair):
    ada, bob = pair
    eve = await owner.add_actor(group, "eve")
    asked = (await ada.speak(group, message("m1", "REQ", "ada", "bob"))).event
    done = (await bob.speak(group, message("m2x", "DONE", "bob", "ada", pid="m1"))).event
    assert done.data["reply_to"] == asked.id
    again = await bob.speak(group, message("m2x", "DONE", "bob", "ada", pid="m1"))
    assert again.duplicate
    async with Hub(room.url, eve["token"]) as stranger:
        assert [
            event.kind for event in (await stranger.events(group)).events if event.kind == "chat.message"
        ] == []
        with pytest.raises(Refused) as refused:
            await stranger.trace(group, "t1")
    assert refused.value.code == "event_not_found"


async def test_a_reply_in_the_same_breath_finds_its_parent(group, pair):
    ada, _ = pair
    first, second = await asyncio.gather(
        ada.speak(group, message("m1", "REQ", "ada", "bob")),
        ada.speak(group, message("m2x", "CNCL", "ada", "bob", pid="m1")),
    )
    assert second.event.data["reply_to"] == first.id


async def test_a_trace_is_told_from_the_ledger(group, pair):
    ada, bob = pair
    await ada.speak(group, message("m1", "REQ", "ada", "bob"))
    await bob.speak(group, message("m22", "ACK", "bob", "ada", pid="m1"))
    await bob.speak(group, message("m333", "DONE", "bob", "ada", pid="m1"))
    told = await ada.trace(group, "t1")
    assert [(one["mid"], one["depth"]) for one in told["trace"]["tree"]] == [
        ("m1", 0),
        ("m22", 1),
        ("m333", 1),
    ]
    assert told["trace"]["tasks"][0]["is_open"] is False
    assert len(told["events"]) == 3


@pytest.mark.parametrize(("p", "intent"), [("REQ", "obliges"), ("INF", "informs")])
async def test_the_performative_is_the_declared_intent(group, pair, p, intent):
    ada, _ = pair
    sent = await ada.speak(group, message("m1", p, "ada", "bob"))
    answer = await ada.call("event", {"group_id": group, "event_id": sent.id})
    assert answer["intent"] == intent


@pytest.mark.parametrize("beside", [{"text": "something else"}, {"to": ["eve"]}])
async def test_words_and_recipients_beside_the_object_may_not_differ_from_it(group, pair, beside):
    ada, _ = pair
    with pytest.raises(Refused) as refused:
        await ada.append(group, "chat.message", {**beside, "clowl": message("m1", "REQ", "ada", "bob")})
    assert refused.value.code == "invalid_request"


async def test_a_rebuild_keeps_traces_and_links(room, group, pair):
    ada, bob = pair
    await ada.speak(group, message("m1", "REQ", "ada", "bob"))
    await bob.speak(group, message("m22", "DONE", "bob", "ada", pid="m1"))
    await room.stop()
    before = upkeep.fingerprint(room.folder)
    from tacit.base.io.system import SystemEntropy
    from tacit.base.io.time_service import TimeService
    from tacit.ledger.admission import AdmissionSettings

    upkeep.rebuild(room.folder, TimeService(), SystemEntropy(), AdmissionSettings())
    assert upkeep.fingerprint(room.folder) == before
    await room.start()
    assert len((await ada.trace(group, "t1"))["events"]) == 2
