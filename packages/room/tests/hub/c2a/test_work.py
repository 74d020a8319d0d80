"""Work over real sockets: a running turn keeps its duty, an answer ends every copy, failures speak, nobody peeks."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest
from msgspec import structs

from tacit.attention.commands import ReportWork
from tacit.attention.state.work import AgentStatus
from tacit.base.errors import Unavailable
from tacit.c2a.notifications import Status, Work, members, method_of
from tacit.c2a.retry import Pace
from tacit.client import AgentSession, Delivery, Habits
from tacit.client import Hub as Client
from tacit.hub.nodes.codec import NodePresence
from tests.hub.c2a.stage import GREETING, Stage, refused, staged
from tests.hub.c2a.test_kill import Killed
from tests.hub.c2a.test_people import Receiver
from tests.hub.room import WAIT, Socket
from tests.ledger.world import HandClock

JOB = "@ann please compile the whole tree"


async def work(stage: Stage, token: str = "", **wanted: Any) -> list[dict[str, Any]]:
    query = "&".join(f"{name}={value}" for name, value in wanted.items())
    answer = await stage.get(f"/v1/groups/{stage.group_id}/work?{query}", token=token)
    assert answer.status == 200, answer.body
    return answer.body["work"]


async def until_work(stage: Stage, **wanted: Any) -> dict[str, Any]:
    """The first piece of work that has these members, waited for."""
    async with asyncio.timeout(WAIT):
        while True:
            for one in await work(stage, ended="true"):
                if all(one.get(name) == value for name, value in wanted.items()):
                    return one
            await asyncio.sleep(0.01)


async def heard(stage: Stage, agent: Any, told: Work) -> None:
    """Tell, and wait until the hub has it: what follows on the same connection comes later."""
    assert await agent.session.tell(told)
    await agent.call("chat.list_events")


@pytest.mark.spec("C2A-173", "C2A-175", "C2A-176", "C2A-178")
async def test_340_seconds_of_work_are_not_given_to_a_second_agent(stage):
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    for _ in range(34):
        await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
        await stage.pass_time(10)
    await ann.answer(asked, "It compiles.", visibility="thread")
    await stage.pass_time(1_000)
    assert ben.heard == []
    assert len(ann.got(asked)) == 1
    assert not await stage.events(stage.group_id, kinds="system.notify")
    states = [one["state"] for one in await stage.recorded("work") if "alive_at" not in one]
    assert states == ["working"], "signs of life are not events"
    assert len(await stage.recorded("work")) <= 4


@pytest.mark.spec("C2A-176", "C2A-177", "C2A-179")
async def test_after_silence_the_second_answers_and_the_first_turn_is_cancelled(stage):
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    for _ in range(11):
        await stage.pass_time(30)
    await ben.delivery(asked)
    await ben.answer(asked, "It compiles.", visibility="thread")
    await ann.until(lambda: [one for one in ann.cancelled if one.event_id == asked["id"]])
    assert ann.cancelled[-1].reason == "Answered by ben"
    await stage.pass_time(4_000)
    assert not await stage.events(stage.group_id, kinds="system.notify")
    states = {one["agent"]: one["state"] for one in await work(stage, ended="true")}
    assert states == {"ann": "called_off", "ben": "answered"}


@pytest.mark.spec("C2A-176", "C2A-179")
async def test_a_late_answer_of_the_first_ends_the_second_and_takes_the_alarm_back(stage):
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    for _ in range(21):
        await stage.pass_time(30)
    [told] = await stage.events(stage.group_id, kinds="system.notify")
    assert told["data"]["related_event_id"] == asked["id"]
    await ann.call("chat.read_thread", eventId=asked["id"])
    await ann.answer(asked, "It compiles.", visibility="thread")
    await ben.until(lambda: ben.cancelled)
    [back] = await stage.recorded("withdrawal")
    assert (back["notice_id"], back["by"]) == (told["id"], "ann")
    inbox = await stage.get(f"/v1/groups/{stage.group_id}/inbox")
    assert inbox.body["notices"] == []


@pytest.mark.spec("C2A-197")
async def test_yes_is_an_answer_to_each_question_of_a_person(stage):
    (ann,) = await stage.cast("ann")
    for question, text in (
        ("@ann is the relay up?", "Yes."),
        ("@ann is the hub up?", "Yes."),
        ("@ann did you merge alpha?", "I have merged the branch alpha into the main line and pushed it."),
        ("@ann did you merge beta?", "I have merged the branch beta into the main line and pushed it."),
        ("@ann say: I have merged it", "I have merged it"),
    ):
        asked = await stage.tell(question)
        await ann.answer(asked, text, visibility="thread")
    assert [one["data"]["text"] for one in await stage.messages() if one["by"] == "ann"][:2] == [
        "Yes.",
        "Yes.",
    ]
    with refused("already_responded"):
        await ann.answer(asked, "I have merged it!", key="again", visibility="thread")


@pytest.mark.spec("C2A-197")
async def test_between_agents_a_repetition_is_refused_with_a_way_to_say_it_otherwise(stage):
    ann, ben = await stage.cast("ann", "ben")
    sentence = "I have merged the branch alpha into the main line and pushed it."
    for number in (1, 2):
        asked = await stage.tell(f"did you merge it, attempt {number}?", ben.token, to=["ann"])
        if number == 1:
            await ann.answer(asked, sentence)
    with refused("no_new_information") as _no:
        await ann.answer(asked, sentence)
    await ann.answer(asked, "It was merged before you asked; the branch alpha is gone.", key="otherwise")


@pytest.mark.spec("C2A-206")
async def test_a_failure_speaks_in_why_in_the_list_and_in_the_notice(stage):
    (ann,) = await stage.cast("ann")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    at = "2030-01-01T00:00:00Z"
    failed = Work(asked["id"], "failed", code="overloaded", message="The model is busy.", retry_at=at)
    await heard(stage, ann, failed)
    [one] = (await stage.decisions(asked)).body["decisions"]
    assert one["state"] == "failed"
    assert one["work"]["sentence"] == "ann failed: The model is busy (overloaded)"
    assert one["work"]["now"] == "It is tried again by itself at 00:00:00 UTC."
    sentence = (await stage.decisions(asked)).body["sentence"]
    assert sentence.startswith("ann failed and tries it again")
    assert "could not do it" not in sentence
    [listed] = await work(stage, agent="ann", state="failed")
    assert (listed["code"], listed["message"], listed["retry_at"][:19]) == (
        "overloaded", "The model is busy.", at[:19],
    )  # fmt: skip
    await heard(stage, ann, Work(asked["id"], "working", turn="t2"))
    error = {"code": "crashed", "message": "The program ended with code 2."}
    await ann.session.disposition(asked["id"], "failed", error=error)
    body = (await stage.decisions(asked)).body
    assert "ann could not do it" in body["sentence"]
    assert body["decisions"][0]["work"]["sentence"] == "ann failed: The program ended with code 2 (crashed)"
    assert "The owner was told" in body["decisions"][0]["work"]["now"]
    [told] = await stage.events(stage.group_id, kinds="system.notify")
    assert told["data"]["title"].startswith("ann could not work")
    assert "The program ended with code 2 (crashed)" in told["data"]["message"]


async def test_who_waits_for_a_time_does_not_say_that_a_person_keeps_it_waiting(stage):
    (ann,) = await stage.cast("ann")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    for at, says in (
        ("", "ann waits for a person: Leave to run a command"),
        ("2030-01-01T00:00:00Z", "ann waits until 00:00:00 UTC: Leave to run a command"),
    ):
        message = "Leave to run a command."
        await heard(stage, ann, Work(asked["id"], "waiting", code="x", message=message, retry_at=at))
        [one] = await work(stage)
        assert one["sentence"] == says


@pytest.mark.parametrize("late", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
async def test_a_time_that_nobody_can_write_spoils_no_list(stage, late):
    (ann,) = await stage.cast("ann")
    asked, other = await stage.tell(JOB), await stage.tell("@ann and the docs?")
    await ann.delivery(asked)
    await ann.delivery(other)
    await heard(stage, ann, Work(asked["id"], "failed", code="busy", message="Busy.", retry_at=late))
    for eta in (late, "in 999999 weeks"):
        await ann.call("chat.defer", eventId=other["id"], reason="later", eta=eta)
        found = await work(stage, ended="true")
        assert {one["event_id"] for one in found} == {asked["id"], other["id"]}
        assert (await stage.decisions(other)).status == 200


async def test_the_list_shows_the_place_in_the_queue_as_the_harness_tells_it(stage):
    (ann,) = await stage.cast("ann")
    events = [await stage.tell(f"@ann please check disk {n}") for n in range(3)]
    for number, event in enumerate(events):
        await ann.delivery(event)
        await heard(stage, ann, Work(event["id"], "working" if not number else "queued", position=number))
    assert [(one["state"], one.get("position")) for one in await work(stage)] == [
        ("working", None), ("queued", 1), ("queued", 2),
    ]  # fmt: skip
    await heard(stage, ann, Work(events[2]["id"], "queued", position=1))
    assert (await work(stage))[2]["position"] == 1
    assert len(await stage.recorded("work")) == 3, "a place in the queue is not worth an event"
    assert (await work(stage))[0]["about"] == "@ann please check disk 0"
    assert len(await work(stage, limit=1)) == 1


@pytest.mark.spec("C2A-203", "CCCS-110")
async def test_work_on_a_private_question_is_seen_by_its_parties_alone_by_every_door(stage):
    ann, ben = await stage.cast("ann", "ben")
    cleo = await stage.person("cleo")
    secret = await stage.tell("@ann what is my zebra worth?", to=["ann"], conversation={"kind": "dm"})
    public = await stage.tell(JOB)
    for asked in (secret, public):
        await ann.delivery(asked)
        failed = Work(
            asked["id"], "failed", code="zebra", message="zebra is down", retry_at="2030-01-01T00:00:00Z"
        )
        await heard(stage, ann, failed)
    await ben.session.tell(Work(secret["id"], "working"))  # not its own: nothing comes of it
    await ben.call("chat.list_events")
    for token, sees in ((stage.owner, 2), (ann.token, 2), (ben.token, 1), (cleo, 1)):
        found = await work(stage, token, limit=2)
        assert len(found) == sees, "what one may not see takes no place in the list"
        ids = {one["event_id"] for one in found}
        assert (secret["id"] in ids) == (sees == 2)
        records = await stage.events(stage.group_id, token, kinds="x.c2a.work")
        assert {one["data"]["event_id"] for one in records} == ids
        async with stage.socket(token) as socket:
            over = await socket.call("work", group_id=stage.group_id)
            assert {one["event_id"] for one in over["work"]} == ids
        async with Client(stage.url, token) as client:
            assert {one["event_id"] for one in await client.attention.work(stage.group_id)} == ids
        answer = await stage.decisions(secret, token)
        assert answer.status == (200 if sees == 2 else 404)


@pytest.mark.spec("C2A-027", "C2A-173", "C2A-176")
async def test_a_restarted_hub_waits_for_the_harness_and_knows_its_work(tmp_path):
    clock = HandClock()
    async with staged(tmp_path / "data", clock=clock) as stage:
        await stage.open()
        ann, _ben = await stage.cast("ann", "ben")
        asked = await stage.tell(JOB)
        await ann.delivery(asked)
        await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
        group, tokens = stage.group_id, stage.tokens
    clock.move(1_000)
    async with staged(tmp_path / "data", clock=clock) as stage:
        stage.group_id, stage.tokens = group, tokens
        await stage.server.hub.host.tick()
        (ben,) = await stage.cast("ben")
        await stage.pass_time(59)
        [one] = await work(stage)
        assert (one["agent"], one["state"]) == ("ann", "out_of_touch")
        assert one["sentence"].startswith("ann was working on it and has not been heard of since ")
        (ann,) = await stage.cast("ann")
        assert [one["state"] for one in await work(stage)] == ["working"]
        for _ in range(12):
            await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
            await stage.pass_time(60)
        assert ben.heard == []
        assert not await stage.events(stage.group_id, kinds="system.notify")
        assert [one["agent"] for one in await work(stage)] == ["ann"]


@pytest.mark.spec("C2A-027", "C2A-173")
async def test_a_killed_hub_still_knows_who_is_at_what(tmp_path):
    hub = Killed(tmp_path / "data")
    await hub.start()
    pace = Pace(first=0.02, longest=0.1)
    async with aiohttp.ClientSession() as http:
        group = (await hub.post(http, "/v1/groups", {"title": "Killed"}))["group_id"]
        token = (await hub.post(http, f"/v1/groups/{group}/actors", {"actor_id": "ann"}))["token"]
        async with AgentSession(hub.url, token, habits=Habits(calls=pace, connecting=pace)) as session:
            deliveries = session.deliveries()
            await session.is_up()
            said = {"kind": "chat.message", "data": {"text": JOB, "client_id": "job"}}
            asked = await hub.post(http, f"/v1/groups/{group}/events", said)
            async with asyncio.timeout(WAIT):
                delivery: Delivery = await anext(deliveries)
                await delivery.accept()
                await session.tell(Work(asked["id"], "working", turn="t1"))
                await session.call("chat.list_events")
            await hub.kill()
            await hub.start()
            async with asyncio.timeout(WAIT), Client(hub.url, hub.owner["Authorization"][7:]) as client:
                [one] = await client.attention.work(group)
                assert (one["agent"], one["attempt"]) == ("ann", 1)
                while (await client.attention.work(group))[0]["state"] != "working":
                    await asyncio.sleep(0.01)  # its harness is not back yet
                sent = await session.send(
                    f"thread:{asked['id']}",
                    "It compiles.",
                    key="k",
                    in_reply_to=asked["id"],
                    visibility="thread",
                )
                assert sent.event_id
                [one] = await client.attention.work(group, ended=True)
                assert one["state"] == "answered"
    await hub.kill()


async def test_the_greeting_says_that_the_hub_hears_of_work(stage):
    await stage.member("ann")
    async with stage.wire("ann", greet=False) as raw:
        answer = await raw.call("initialize", **GREETING)
        assert "work" in answer["session"]["hears"]


async def test_the_socket_and_http_say_the_same(stage):
    (ann,) = await stage.cast("ann")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    async with stage.socket(stage.owner) as socket:
        assert isinstance(socket, Socket)
        over = await socket.call("work", group_id=stage.group_id, agent="ann")
    assert over["work"] == await work(stage, agent="ann")
    assert (over["work"][0]["state"], over["more"]) == ("queued", 0)
    assert (await stage.get(f"/v1/groups/{stage.group_id}/work?state=asleep")).status == 400


async def test_what_is_not_the_sessions_own_is_remembered_by_nobody(stage):
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    await heard(stage, ann, Work(asked["id"], "working", turn="t" * 9_000, message="m" * 9_000))
    for number in range(20):
        await ben.session.tell(Work(f"never-{number}", "working"))
    await heard(stage, ben, Work(asked["id"], "working", message="m" * 9_000))
    links = {name: stage.server.hub.host.link(stage.group_id, name) for name in ("ann", "ben")}
    assert links["ben"].work == {}
    [kept] = links["ann"].work.values()
    assert (len(kept.turn), len(kept.message)) == (200, 500)
    assert [one["session"] for one in await stage.recorded("work")] == ["ann"]


async def test_a_change_that_could_not_be_written_is_news_when_it_is_said_again(stage, monkeypatch):
    (ann,) = await stage.cast("ann")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    ledger = stage.server.hub.ledger
    decide = ledger.decide

    async def fails(command: Any) -> Any:
        if isinstance(command, ReportWork):
            raise Unavailable("the writer is starting")
        return await decide(command)

    written: list[str] = []
    for state in ("queued", "working"):
        with monkeypatch.context() as patched:
            patched.setattr(ledger, "decide", fails)
            await heard(stage, ann, Work(asked["id"], state, turn="t1"))
        assert [one["state"] for one in await stage.recorded("work")] == written
        link = stage.server.hub.host.link(stage.group_id, "ann")
        assert [one.state for one in link.work.values()] == written, "it is still known to be at it"
        await heard(stage, ann, Work(asked["id"], state, turn="t1"))
        written.append(state)
        assert [one["state"] for one in await stage.recorded("work")] == written


@pytest.mark.spec("C2A-173", "C2A-176")
async def test_what_is_given_back_to_the_first_is_held_by_the_turn_that_it_never_ended(stage):
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    for _ in range(11):
        await stage.pass_time(30)  # ann is silent: its turn hangs, and ben gets the question
    await ben.delivery(asked)
    assert (await stage.steer("reassign", event_id=asked["id"], to="ann")).status == 200
    told = len(ben.heard)
    for _ in range(34):
        await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
        await stage.pass_time(10)
    [mine] = await work(stage, agent="ann")
    assert (mine["state"], mine["open"]) == ("working", True)
    assert len(ben.heard) == told, "ann was at it all the time"


async def gone(stage: Stage, agent: Any) -> None:
    """Its connection has ended, and the hub knows."""
    await agent.stop()
    async with asyncio.timeout(WAIT):
        while stage.server.hub.host.link(stage.group_id, agent.name) is not None:
            await asyncio.sleep(0.01)


async def how_it_stands(stage: Stage, asked: dict[str, Any], agent: str) -> set[str]:
    """The state of an agent's work on a question, by every door that shows it."""
    found = {one["state"] for one in await work(stage, agent=agent)}
    async with stage.socket(stage.owner) as socket:
        over = await socket.call("work", group_id=stage.group_id, agent=agent)
        found |= {one["state"] for one in over["work"]}
    async with Client(stage.url, stage.owner) as client:
        found |= {one["state"] for one in await client.attention.work(stage.group_id, agent=agent)}
    for one in (await stage.decisions(asked)).body["decisions"]:
        found |= {one["state"], one["work"]["state"]} if one["agent"] == agent else set()
    return found


async def status_of(stage: Stage, agent: str) -> set[str]:
    """What an agent is at, in the roster of people and in that of agents."""
    answer = await stage.get(f"/v1/groups/{stage.group_id}/agents")
    (reader,) = [one for one in stage.agents.values() if one.name != agent]
    members = (await reader.call("chat.members"))["members"]
    return {
        *(one["status"] for one in answer.body["agents"] if one["actor_id"] == agent),
        *(one["status"] for one in members if one["id"] == agent),
    }


@pytest.mark.spec("C2A-206")
async def test_an_agent_that_is_gone_is_shown_at_work_nowhere_until_it_is_back(stage):
    ann, _ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    await ann.session.tell(Status("busy"))
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    assert (await how_it_stands(stage, asked, "ann"), await status_of(stage, "ann")) == (
        {"working"},
        {"busy"},
    )
    await gone(stage, ann)
    assert await how_it_stands(stage, asked, "ann") == {"out_of_touch"}
    assert await status_of(stage, "ann") == {"offline"}
    assert await work(stage, state="working") == []
    assert len(await work(stage, state="out_of_touch")) == 1
    (ann,) = await stage.cast("ann")
    assert await how_it_stands(stage, asked, "ann") == {"working"}
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    assert len(await stage.recorded("work")) == 1, "coming back is no event"


@pytest.mark.spec("C2A-173", "C2A-206")
async def test_an_agent_that_is_connected_is_at_work_for_as_long_as_its_next_sign_of_life_may_take(stage):
    await stage.settings(deadline_ms=12_000)
    ann, _ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    for seconds, state in ((5, "working"), (2, "out_of_touch")):
        await stage.pass_time(seconds)
        assert await how_it_stands(stage, asked, "ann") == {state}
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    assert await how_it_stands(stage, asked, "ann") == {"working"}


@pytest.mark.spec("C2A-173", "C2A-175")
async def test_after_a_reminder_any_sign_of_life_holds_what_was_reported(stage):
    """The reminder crosses with a sign of life: what was reported needs no second report."""
    await stage.settings(deadline_ms=12_000)
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    stage.clock.move(1)
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    await stage.pass_time(7)
    assert await stage.delivered(asked) == ["ann", "ann"]
    for _ in range(10):
        await ann.call("chat.list_events")
        await stage.pass_time(5)
    assert ben.heard == []
    assert await stage.delivered(asked) == ["ann", "ann"]


@pytest.mark.spec("C2A-173", "C2A-176")
async def test_a_sign_of_life_at_another_node_counts_from_when_it_may_have_been_given(stage):
    """Its word comes up to two seconds late: with a deadline of one second that is no silence."""
    await stage.settings(deadline_ms=1_000)
    ann, ben = await stage.cast("ann", "ben")
    asked = await stage.tell(JOB)
    await ann.delivery(asked)
    stage.clock.move(0.1)
    await heard(stage, ann, Work(asked["id"], "working", turn="t1"))
    host = stage.server.hub.host
    [life] = [one for one in host.lives(stage.group_id) if one.session == "ann"]
    await gone(stage, ann)
    host._gone.clear()
    lives = [life]
    host.elsewhere = lambda _group_id: [
        NodePresence("far", stage.group_id, {"ann": AgentStatus("busy")}, tuple(lives))
    ]
    host.elsewhere_late_by = 2_000_000
    for _ in range(10):
        for _ in range(5):
            await stage.pass_time(0.4)
        lives[:] = [structs.replace(life, heard_at=stage.clock.now())]
    assert ben.heard == []
    assert await how_it_stands(stage, asked, "ann") == {"working"}
    lives[:] = [structs.replace(lives[0], connected=False)]
    for _ in range(3):
        await stage.pass_time(0.5)
    await ben.delivery(asked)


@pytest.mark.spec("C2A-173", "C2A-206")
async def test_a_service_that_is_called_tells_by_its_own_calls_that_it_is_at_work(stage):
    """It has no connection whose end would show: what it said counts until its next word is due."""
    await stage.cast("ben")
    token = await stage.member("ann")

    async def says(told: Work | Status) -> None:
        method, params = method_of(told), members(told)
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        assert (await stage.post("/c2a", body, token=token)).status == 202

    async with Receiver() as receiver:
        await receiver.hook(stage, "ann")
        asked = await stage.tell(JOB)
        for _ in range(6):
            await says(Status("busy"))
            await says(Work(asked["id"], "working", turn="t1"))
            await stage.pass_time(100)
        assert await stage.delivered(asked) == ["ann"]
        assert await how_it_stands(stage, asked, "ann") == {"working"}
        assert await status_of(stage, "ann") == {"busy"}
        await stage.pass_time(51)
        assert await how_it_stands(stage, asked, "ann") == {"out_of_touch"}
        assert await status_of(stage, "ann") == {"out_of_touch"}
