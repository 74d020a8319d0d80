"""What one node has in memory alone is found at every node: sign-in links, and what agents do."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.stream_plan import StreamPlan
from tacit.c2a.activity import Activity
from tacit.hub.host import activities
from tests.hub.c2a.test_activity import MARK, heard, heard_before_typing, update
from tests.hub.room import running
from tests.ledger.io.jetstream.servers import new_name
from tests.ledger.io.jetstream.test_node_agents import nodes  # noqa: F401
from tests.ledger.io.jetstream.test_nodes import LONG, let_in, same, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.c2a.stage import Stage
    from tests.hub.room import Answer
    from tests.ledger.io.jetstream.servers import Server
    from tests.ledger.io.jetstream.test_node_agents import Nodes


@pytest.fixture
async def known(nodes: Nodes) -> Nodes:  # noqa: F811
    """Two nodes that know of each other."""

    async def met() -> bool:
        return all(len(stage.server.hub.neighbours.beats()) == 2 for stage in (nodes.one, nodes.other))  # type: ignore[union-attr]

    await until(met)
    return nodes


async def opened(stage: Stage, code: str, **given: Any) -> Answer:
    return await stage.post("/v1/sign-in", {"code": code, **given}, token=None)


@pytest.mark.spec("CCCS-042")
async def test_a_link_signs_in_once_at_whatever_node(known: Nodes) -> None:
    """A proxy hands a browser to any node, and its next request to another."""
    code = known.one.server.new_link().split("/#sign-in=")[1]
    seen = await opened(known.other, code, look=True)
    assert (seen.status, seen.body) == (200, {"principal": "user", "group_id": None})
    came = await opened(known.other, code)
    assert came.status == 201
    await let_in(came.body["token"], known.one, known.other)
    for stage in (known.one, known.other):
        assert (await stage.get("/v1/groups", token=came.body["token"])).status == 200
        assert (await opened(stage, code)).status == 403


@pytest.mark.spec("CCCS-042")
async def test_of_all_who_open_a_link_at_once_one_comes_in(known: Nodes) -> None:
    code = (await known.other.ok("POST", "/v1/sign-in-links", json={}))["code"]
    stages = [known.one, known.other] * 3
    answers = await asyncio.gather(*(opened(stage, code) for stage in stages))
    assert sorted(answer.status for answer in answers) == [201, *[403] * 5]


@pytest.mark.spec("CCCS-042")
async def test_a_link_of_another_node_is_listed_and_revoked(known: Nodes) -> None:
    group = known.one.group_id
    made = await known.one.ok(
        "POST", f"/v1/groups/{group}/people", json={"principal": "usr:ben", "by_link": True}
    )
    await same(known.one, known.other, group)
    (listed,) = (await known.other.ok("GET", f"/v1/groups/{group}/actors/usr:ben/tokens"))["tokens"]
    assert listed.startswith("lnk_")
    ended = await known.other.ok("DELETE", f"/v1/tokens/{listed}")
    assert (ended["principal"], ended["revoked"]) == ("usr:ben", True)
    assert (await known.other.call("DELETE", f"/v1/tokens/{listed}")).status == 400
    assert (await opened(known.one, made["code"])).status == 403


@pytest.mark.spec("CCCS-042")
async def test_a_code_of_a_crew_lets_its_agent_in_once_at_whatever_node(
    tmp_path: Path, server: Server
) -> None:
    plan = StreamPlan((server.url,), new_name(), 1, lease_seconds=LONG)
    async with (
        running(tmp_path / "one", stream=plan, crew=True) as one,
        running(tmp_path / "two", stream=plan) as other,
    ):
        group = await one.group()
        made = await one.ok("POST", f"/v1/groups/{group}/crew/far/invite", json={"roles": ["helper"]})
        await same(one, other, group)
        await until(lambda: settled(other.server.hub.neighbours.count() == 2))  # type: ignore[union-attr]
        rooms = [other, one] * 2
        answers = await asyncio.gather(
            *(room.post("/v1/redeem", {"code": made["code"]}, token=None) for room in rooms)
        )
        assert sorted(answer.status for answer in answers) == [201, 403, 403, 403]
        (came,) = [answer.body for answer in answers if answer.status == 201]
        assert (came["actor_id"], came["group_id"]) == ("far", group)
        await let_in(came["token"], one, other)


async def test_who_guesses_codes_is_stopped_before_other_nodes_are_asked(
    known: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    inquiries = known.one.server.hub.neighbours.inquiries  # type: ignore[union-attr]
    ask = inquiries.ask

    def counted(*given: Any, **more: Any) -> Any:
        asked.append(given)
        return ask(*given, **more)

    monkeypatch.setattr(inquiries, "ask", counted)
    answers = await asyncio.gather(*(opened(known.one, f"guess {number}") for number in range(60)))
    refused = [answer for answer in answers if answer.status == 429]
    assert refused
    assert len(asked) == 60 - len(refused)


@pytest.mark.spec("CCCS-110")
async def test_what_an_agent_does_is_seen_at_every_node_by_who_may_see_it(known: Nodes) -> None:
    one, other, group = known.one, known.other, known.one.group_id
    ada = await known.agent(other, "ada")
    ben = await one.person("ben")
    await known.are_seen("ada")
    await let_in(ben, one)
    async with one.socket() as owner, one.socket(ben) as person:
        for socket in (owner, person):
            await socket.call("follow", group_id=group)
        await until(lambda: settled("usr:ben" in other.server.hub.live.elsewhere(group)))
        public = await one.tell("@ada build it")
        await ada.delivery(public)
        await ada.session.tell(update(public))
        for socket in (owner, person):
            told = await heard(socket)
            assert (told["event_id"], told["items"][0]["text"]) == (public["id"], MARK)
        private = await one.tell("build it quietly", to=["ada"])
        await ada.delivery(private)
        await ada.session.tell(Activity(private["id"], "t2", "running", 1, update(private).items))
        assert (await heard(owner))["event_id"] == private["id"]
        await ada.session._connection.notify("notifications/typing", {"conversationId": "main"})
        assert await heard_before_typing(one, ada, person) == []
        # Who comes late asks, at whichever node.
        path = f"/v1/groups/{group}/events/{{}}/activity"
        for stage in (one, other):
            (card,) = (await stage.ok("POST", path.format(public["id"]), json={}))["cards"]
            assert (card["session"], card["items"][0]["text"]) == ("ada", MARK)
        assert MARK not in json.dumps((await one.post(path.format(private["id"]), token=ben)).body)


async def settled(found: bool) -> bool:
    return found


@pytest.mark.spec("C2A-187")
async def test_what_is_taken_back_at_one_node_is_forgotten_by_an_agent_at_another(
    known: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activities, "ANSWER_WITHIN", 0.25)
    ada = await known.agent(known.other, "ada")
    await known.are_seen("ada")
    asked = await known.one.tell("@ada build it")
    await ada.delivery(asked)
    await known.one.ok("POST", f"/v1/groups/{known.one.group_id}/events/{asked['id']}/delete", json={})
    await ada.until(lambda: [one for one in ada.wanted if one.forget and one.event_id == asked["id"]])
