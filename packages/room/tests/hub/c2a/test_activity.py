"""What an agent does is seen by the people who may read what it is about, and by nobody else (CCCS-110)."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest

from tacit.c2a.activity import Activity
from tacit.hub.host import activities
from tacit.hub.host.activities import CARD_BYTES
from tests.hub.c2a.stage import GREETING, Agent

if TYPE_CHECKING:
    from tests.hub.c2a.stage import Stage
    from tests.hub.room import Socket

MARK = "marmalade"


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """These agents keep no record to show, so that the hub always waits for one as long as it will."""
    monkeypatch.setattr(activities, "ANSWER_WITHIN", 0.25)


def update(event: dict[str, Any], number: int = 1, text: str = MARK, **more: Any) -> Activity:
    item = {"id": f"c{number}", "kind": "command", "state": "running", "title": "make", "text": text}
    return Activity(event["id"], "t1", "running", number, (item,), **more)


async def heard(socket: Socket, name: str = "activity") -> dict[str, Any]:
    """The next signal of this name."""
    async with asyncio.timeout(60):
        while True:
            note = await socket.notes.get()
            if note["method"] == name:
                return note["params"]


async def heard_before_typing(stage: Stage, agent: Agent, socket: Socket) -> list[dict[str, Any]]:
    """What a follower was told of activity before the agent typed in the room, which everybody hears."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(60):
        while True:
            note = await socket.notes.get()
            if note["method"] == "activity":
                found.append(note["params"])
            if note["method"] == "typing" and note["params"]["by"] == agent.name:
                return found


async def test_an_update_reaches_the_people_who_may_read_the_question(stage: Stage) -> None:
    ben = await stage.person("ben")
    ada, eve = await stage.cast("ada", "eve")
    async with stage.socket() as owner, stage.socket(ben) as other, stage.socket(eve.token) as agent:
        for one in (owner, other, agent):
            await one.call("follow", group_id=stage.group_id)
        public = await stage.tell("@ada build it")
        await ada.delivery(public)
        await ada.session.tell(update(public))
        for one in (owner, other):
            told = await heard(one)
            assert (told["session"], told["event_id"], told["items"][0]["text"]) == (
                "ada",
                public["id"],
                MARK,
            )

        private = await stage.tell("build it quietly", to=["ada"])
        await ada.delivery(private)
        await ada.session.tell(Activity(private["id"], "t2", "running", 1, update(private).items))
        assert (await heard(owner))["event_id"] == private["id"]
        await ada.session._connection.notify("notifications/typing", {"conversationId": "main"})
        assert await heard_before_typing(stage, ada, other) == []
        assert await heard_before_typing(stage, ada, agent) == []  # agents are never told

        refused = await stage.post(f"/v1/groups/{stage.group_id}/events/{private['id']}/activity", token=ben)
        assert refused.status == 404
        denied = await stage.post(
            f"/v1/groups/{stage.group_id}/events/{public['id']}/activity", token=eve.token
        )
        assert denied.status == 403


async def test_an_agent_tells_only_of_what_was_given_to_it(stage: Stage) -> None:
    ada, eve = await stage.cast("ada", "eve")
    async with stage.socket() as owner:
        await owner.call("follow", group_id=stage.group_id)
        question = await stage.tell("@ada build it")
        await ada.delivery(question)
        private = await stage.tell("and this", to=["ada"])
        await ada.delivery(private)
        for event in (private, {"id": "nothing"}):
            await eve.session.tell(update(event))
        await eve.session._connection.notify("notifications/typing", {"conversationId": "main"})
        assert await heard_before_typing(stage, eve, owner) == []


async def test_who_comes_late_gets_the_turn_as_it_stands_and_the_ledger_nothing_but_the_summary(
    stage: Stage,
) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    async with stage.socket() as owner:
        await owner.call("follow", group_id=stage.group_id)
        for number in (1, 2, 3):
            await ada.session.tell(update(question, number))
            await heard(owner)
        path = f"/v1/groups/{stage.group_id}/events/{question['id']}/activity"
        asked = asyncio.create_task(stage.ok("POST", path, json={}))
        (card,) = (await asked)["cards"]
        assert (card["session"], card["state"], card["update"]) == ("ada", "running", 3)
        assert [one["id"] for one in card["items"]] == ["c1", "c2", "c3"]
        assert await stage.recorded("turn") == []

        summary = {
            "files": ["a.py"],
            "file_count": 1,
            "commands": [{"command": "make", "ok": True}],
            "ended": "done",
        }
        await ada.session.tell(Activity(question["id"], "t1", "ended", summary=summary))
        assert (await heard(owner))["state"] == "ended"
        async with asyncio.timeout(60):
            while not (recorded := await stage.recorded("turn")):
                await asyncio.sleep(0.01)
    assert (recorded[0]["session"], recorded[0]["event_id"], recorded[0]["files"]) == (
        "ada",
        question["id"],
        ["a.py"],
    )
    assert MARK not in json.dumps(await stage.events(stage.group_id))
    shown = (await stage.decisions(question)).body["decisions"]
    assert [one["turns"][0]["file_count"] for one in shown if one["agent"] == "ada"] == [1]


async def test_a_flood_of_updates_is_thinned_out_for_followers_and_kept_whole_for_latecomers(
    stage: Stage,
) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    async with stage.socket() as owner:
        await owner.call("follow", group_id=stage.group_id)
        for number in range(1, 400):
            await ada.session.tell(update(question, 1, f"line {number}"))
        await ada.session._connection.notify("notifications/typing", {"conversationId": "main"})
        assert len(await heard_before_typing(stage, ada, owner)) <= 120
    path = f"/v1/groups/{stage.group_id}/events/{question['id']}/activity"
    (card,) = (await stage.ok("POST", path, json={}))["cards"]
    assert card["items"][0]["text"] == "line 399"


async def test_a_summary_of_private_work_is_for_those_who_may_read_the_question(stage: Stage) -> None:
    ben = await stage.person("ben")
    (ada,) = await stage.cast("ada")
    private = await stage.tell("build it", to=["ada"])
    await ada.delivery(private)
    await ada.session.tell(Activity(private["id"], "t1", "ended", summary={"files": ["secret.py"]}))
    async with asyncio.timeout(60):
        while not await stage.recorded("turn"):
            await asyncio.sleep(0.01)
    assert "secret.py" not in json.dumps(await stage.events(stage.group_id, ben))


async def test_who_sees_an_update_goes_by_its_own_event_whatever_its_turn_is_called(stage: Stage) -> None:
    ben = await stage.person("ben")
    (ada,) = await stage.cast("ada")
    public, private = await stage.tell("@ada build it"), await stage.tell("build it quietly", to=["ada"])
    await ada.delivery(public)
    await ada.delivery(private)
    async with stage.socket() as owner, stage.socket(ben) as other:
        for one in (owner, other):
            await one.call("follow", group_id=stage.group_id)
        await ada.session.tell(update(public, 1, "in the open"))
        await ada.session.tell(update(private, 2))  # under the same turn
        assert [(await heard(owner))["event_id"] for _ in range(2)] == [public["id"], private["id"]]
        await ada.session._connection.notify("notifications/typing", {"conversationId": "main"})
        assert MARK not in json.dumps(await heard_before_typing(stage, ada, other))
    path = f"/v1/groups/{stage.group_id}/events/{public['id']}/activity"
    assert MARK not in json.dumps(await stage.ok("POST", path, json={}, token=ben))


async def test_a_card_is_bounded_whatever_its_things_are_made_of(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    for number in range(200):
        files = [f"{number}-{one}-" + "f" * 480 for one in range(50)]
        item = {"id": f"c{number}", "kind": "edit", "state": "done", "title": "edit", "files": files}
        await ada.session.tell(Activity(question["id"], "t1", "running", number, (item,)))
    await ada.call("chat.list_events")
    path = f"/v1/groups/{stage.group_id}/events/{question['id']}/activity"
    (card,) = (await stage.ok("POST", path, json={}))["cards"]
    assert len(card["items"]) == 200
    assert len(json.dumps(card)) < 2 * CARD_BYTES
    assert (card["items"][-1]["files"][0][:6], card["items"][0]["cut"]) == ("199-0-", True)


async def test_a_namesake_in_another_room_does_not_answer_for_an_agent(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    other = await stage.group("Other")
    eve = Agent(stage, other, "ada", await stage.actor(other, "ada"), accepts=True, known=None)
    await eve.start()
    try:
        path = f"/v1/groups/{stage.group_id}/events/{question['id']}/activity"
        asked = asyncio.create_task(stage.ok("POST", path, json={}))
        lie = ({"turn": "t9", "state": "ended", "items": [*update(question).items]},)
        for number in itertools.count():
            # The numbers are easy to guess, and the false answer comes before any other.
            await eve.session.tell(Activity("any", answers=f"activity-{number % 9}", cards=lie))
            if asked.done():
                break
            await asyncio.sleep(0.01)
        assert await asked == {"cards": [], "away": ["ada"]}
    finally:
        await eve.stop()


async def test_a_turn_of_a_connection_that_was_superseded_no_longer_runs(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    path = f"/v1/groups/{stage.group_id}/events/{question['id']}/activity"
    await ada.session.tell(update(question))
    await ada.call("chat.list_events")
    assert len((await stage.ok("POST", path, json={}))["cards"]) == 1
    before = stage.server.hub.host.link(stage.group_id, "ada")
    async with stage.session.ws_connect(
        f"{stage.url}/c2a", headers={"Authorization": f"Bearer {ada.token}"}
    ) as second:
        await second.send_json({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING})
        await second.receive_json()
        assert stage.server.hub.host.link(stage.group_id, "ada") is not before
        assert (await stage.ok("POST", path, json={}))["cards"] == []


async def test_an_end_that_is_told_again_is_summed_up_once(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    for _ in range(3):
        await ada.session.tell(Activity(question["id"], "t1", "ended", summary={"ended": "done"}))
    await ada.session.tell(Activity(question["id"], "t2", "ended", summary={"ended": "done"}))
    async with asyncio.timeout(60):
        while "t2" not in [one["turn"] for one in await stage.recorded("turn")]:
            await asyncio.sleep(0.01)
    assert [one["turn"] for one in await stage.recorded("turn")] == ["t1", "t2"]


async def test_turns_side_by_side_are_cards_side_by_side(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    questions = [await stage.tell(f"@ada unrelated: build {name}") for name in ("one", "two")]
    for number, question in enumerate(questions):
        await ada.delivery(question)
        await ada.session.tell(Activity(question["id"], f"t{number}", "running", 1, update(question).items))
    await ada.call("chat.list_events")
    for number, question in enumerate(questions):
        path = f"/v1/groups/{stage.group_id}/events/{question['id']}/activity"
        assert [one["turn"] for one in (await stage.ok("POST", path, json={}))["cards"]] == [f"t{number}"]


async def test_the_work_on_an_edited_question_is_shown_by_the_question(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    edited = (await stage.edit(question, "@ada build it twice")).body
    fresh = {"id": edited["id"]}
    await ada.delivery(fresh)
    async with stage.socket() as owner:
        await owner.call("follow", group_id=stage.group_id)
        await ada.session.tell(update(fresh))
        assert (await heard(owner))["event_id"] == question["id"]
    for one in (question, fresh):
        path = f"/v1/groups/{stage.group_id}/events/{one['id']}/activity"
        assert [card["turn"] for card in (await stage.ok("POST", path, json={}))["cards"]] == ["t1"]


async def test_who_did_something_about_a_deleted_message_is_told_to_forget_it(stage: Stage) -> None:
    (ada,) = await stage.cast("ada")
    question = await stage.tell("@ada build it")
    await ada.delivery(question)
    await ada.answer(question, "Built.")
    await stage.delete(question)
    await ada.until(lambda: [one for one in ada.wanted if one.forget and one.event_id == question["id"]])
