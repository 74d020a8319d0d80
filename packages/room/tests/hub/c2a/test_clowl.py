"""CLowl meets attention: who is obliged by each performative, and what a transfer and a withdrawal change."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hub.c2a.stage import refused

NEEDS = {
    "REQ": {"t": "review", "d": {"pr": 12}},
    "QRY": {"t": "which_port", "d": {}},
    "DLGT": {"t": "review", "d": {"delegation_mode": "assist"}},
    "INF": {"t": "moved", "d": {"to": "k8s"}},
    "ACK": {"t": "review", "d": {}},
    "DONE": {"t": "review", "d": {"result": "fine"}},
    "PROG": {"t": "review", "d": {"pct": 50}},
    "ERR": {"t": "review", "d": {"code": "E100", "msg": "no access"}},
    "CAPS": {"t": "capabilities", "d": {"supports": ["review"], "clowl": "0.2"}},
    "CNCL": {"t": "review", "d": {}},
}


def spoken(mid: str, p: str, sender: str, to: Any, *, pid: str | None = None, **d: Any) -> dict[str, Any]:
    body = {**NEEDS[p], "d": {**NEEDS[p]["d"], **d}}
    made = {
        "clowl": "0.2", "mid": mid, "ts": 1_768_298_400, "p": p, "from": sender, "to": to,
        "cid": "c1", "tid": "t1", "body": body,
    }  # fmt: skip
    return {**made, "pid": pid} if pid is not None else made


async def speak(stage, token: str, message: dict[str, Any]) -> dict[str, Any]:
    answer = await stage.post(f"/v1/groups/{stage.group_id}/clowl", {"message": message}, token=token)
    assert answer.status == 201, answer.body
    return answer.body


@pytest.mark.spec("CLOWL-092")
@pytest.mark.parametrize("performative", ["REQ", "QRY", "DLGT"])
async def test_what_asks_somebody_to_act_obliges_it_and_nobody_else(stage, performative):
    ann, ben, cyd = await stage.cast("ann", "ben", "cyd")
    event = await speak(stage, ann.token, spoken("m1", performative, "ann", "ben"))
    heard = await ben.delivery(event)
    assert (heard["policy"], heard["target"]["directedness"]) == ("must_respond", "to_me")
    assert heard["content"] == event["data"]["text"]
    assert await stage.delivered(event, policy="must_respond") == ["ben"]
    view = (await stage.decisions(event)).body
    assert view["intent_from"] == "clowl"
    assert cyd.got(event) == []


@pytest.mark.spec("CLOWL-092")
@pytest.mark.parametrize("performative", ["INF", "ACK", "DONE", "PROG", "CAPS", "ERR"])
async def test_what_only_tells_obliges_nobody(stage, performative):
    ann, ben = await stage.cast("ann", "ben")
    asked = await speak(stage, ann.token, spoken("m1", "REQ", "ann", "ben"))
    await ben.delivery(asked)
    told = await speak(stage, ben.token, spoken("m2", performative, "ben", "ann", pid="m1"))
    assert await stage.delivered(told, policy="must_respond") == []
    view = (await stage.decisions(told)).body
    shown = {one["agent"]: one["policy"] for one in view["decisions"]}
    assert shown.get("ann", "must_not_respond") != "must_respond"
    # The requester hears of a result and of a failure; a receipt and a progress report cost it nothing.
    heard = await stage.delivered(told)
    assert heard == (["ann"] if performative in {"DONE", "ERR", "INF"} else []), heard


@pytest.mark.spec("CLOWL-092")
@pytest.mark.parametrize("performative", ["DONE", "ERR"])
async def test_a_result_ends_what_was_owed_and_an_acknowledgement_does_not(stage, performative):
    ann, ben = await stage.cast("ann", "ben")
    asked = await speak(stage, ann.token, spoken("m1", "REQ", "ann", "ben"))
    await ben.delivery(asked)
    for mid, early in (("m2", "ACK"), ("m3", "PROG")):
        await speak(stage, ben.token, spoken(mid, early, "ben", "ann", pid="m1"))
        assert [one for one in await stage.recorded("disposition") if one.get("closes")] == []
    await speak(stage, ben.token, spoken("m4", performative, "ben", "ann", pid="m1"))
    ended = [one for one in await stage.recorded("disposition") if one.get("closes")]
    assert [(one["event_id"], one["session"], one["disposition"]) for one in ended] == [
        (asked["id"], "ben", "responded")
    ]


@pytest.mark.spec("CLOWL-092")
async def test_a_delegation_that_transfers_moves_the_obligation(stage):
    ann, ben, cyd = await stage.cast("ann", "ben", "cyd")
    asked = await speak(stage, ann.token, spoken("m1", "REQ", "ann", "ben"))
    await ben.delivery(asked)
    moved = await speak(
        stage, ben.token, spoken("m2", "DLGT", "ben", "cyd", pid="m1", delegation_mode="transfer")
    )
    heard = await cyd.delivery(moved)
    assert heard["policy"] == "must_respond"
    ended = await stage.recorded("disposition", event_id=asked["id"])
    assert [(one["session"], one["disposition"], one["reason"]) for one in ended] == [
        ("ben", "superseded", "transferred")
    ]
    agents = (await stage.get(f"/v1/groups/{stage.group_id}/agents")).body["agents"]
    assert {one["actor_id"]: [owed["event_id"] for owed in one["owes"]] for one in agents} == {
        "ann": [], "ben": [], "cyd": [moved["id"]],
    }  # fmt: skip
    # Nothing comes back to ben by time alone.
    await stage.pass_time(3600)
    assert await stage.delivered(asked) == ["ben"]
    assert ben.cancelled == []


@pytest.mark.spec("CLOWL-092")
async def test_a_delegation_that_assists_leaves_the_delegator_in_charge(stage):
    ann, ben, cyd = await stage.cast("ann", "ben", "cyd")
    asked = await speak(stage, ann.token, spoken("m1", "REQ", "ann", "ben"))
    await ben.delivery(asked)
    helping = await speak(stage, ben.token, spoken("m2", "DLGT", "ben", "cyd", pid="m1"))
    await cyd.delivery(helping)
    agents = (await stage.get(f"/v1/groups/{stage.group_id}/agents")).body["agents"]
    assert {one["actor_id"]: [owed["event_id"] for owed in one["owes"]] for one in agents} == {
        "ann": [], "ben": [asked["id"]], "cyd": [helping["id"]],
    }  # fmt: skip


@pytest.mark.spec("CLOWL-092", "C2A-179")
async def test_a_withdrawn_request_is_called_back_and_a_late_answer_refused(stage):
    ann, ben, cyd = await stage.cast("ann", "ben", "cyd")
    asked = await speak(stage, ann.token, spoken("m1", "REQ", "ann", ["ben", "cyd"]))
    for agent in (ben, cyd):
        await agent.delivery(asked)
    await speak(stage, ann.token, spoken("m2", "CNCL", "ann", ["ben", "cyd"], pid="m1"))
    for agent in (ben, cyd):
        await agent.until(lambda agent=agent: agent.cancelled)
        assert agent.cancelled[0].event_id == asked["id"]
        request = next(one.request_id for one in agent.open if one.event_id == asked["id"])
        assert agent.cancelled[0].request_id == request
        with refused("event_superseded"):
            await agent.answer(asked, f"{agent.name}: the review found nothing.")
    ended = await stage.recorded("disposition", event_id=asked["id"])
    assert {(one["session"], one["disposition"]) for one in ended} == {
        ("ben", "superseded"),
        ("cyd", "superseded"),
    }


@pytest.mark.spec("CLOWL-092")
async def test_only_who_asked_withdraws(stage):
    ann, ben, cyd = await stage.cast("ann", "ben", "cyd")
    asked = await speak(stage, ann.token, spoken("m1", "REQ", "ann", ["ben", "cyd"]))
    await ben.delivery(asked)
    await speak(stage, cyd.token, spoken("m2", "CNCL", "cyd", "ben", pid="m1"))
    assert await stage.recorded("disposition") == []
    await ben.answer(asked, "The review found two typos.")
