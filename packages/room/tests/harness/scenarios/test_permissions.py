"""Permission prompts in the room: asked by the agents' own programs, answered by people (C2A-207)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from tacit.base.errors import Refused
from tacit.client import Hub
from tacit.harness.drivers.options import Access
from tests.harness.drivers.rigs import RIGS
from tests.model_server import Call, Say

CODERS = [rig for rig in RIGS if rig.name in {"codex", "claude"}]
coders = pytest.mark.parametrize("rig", CODERS, ids=lambda rig: rig.name)


def command(rig, line):
    if rig.name == "codex":
        escalated = {"sandbox_permissions": "require_escalated", "justification": "it must"}
        return Call("exec_command", {"cmd": line, **escalated})
    return Call("Bash", {"command": line, "description": "it must"})


async def waiting(home, count=1):
    """The questions that wait for the owner, once there are so many."""
    async with asyncio.timeout(60):
        while True:
            found = (await home.owner.call("agents", {"group_id": home.group}))["approvals"]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.05)


async def open_requests(home):
    return (await home.owner.call("agents", {"group_id": home.group}))["approvals"]


@pytest.fixture
async def invited(home):
    """Invites somebody; gives their client."""
    async with AsyncExitStack() as opened:

        async def invite(name):
            given = {"group_id": home.group, "principal": f"usr:{name}"}
            token = (await home.owner.call("add_person", given, repeatable=False))["token"]
            return await opened.enter_async_context(Hub(home.url, token))

        yield invite


async def say(hub, home, text):
    return (await hub.send(home.group, text)).id


async def stands(home, question, state, code=""):
    """Wait until the hub says so of the work on a question."""
    async with asyncio.timeout(60):
        while True:
            found = await home.owner.attention.work(home.group)
            if any(
                (one["event_id"], one["state"], one.get("code", "")) == (question, state, code)
                for one in found
            ):
                return
            await asyncio.sleep(0.05)


async def answer(home, one, op="approve", hub=None, **more):
    return await (hub or home.owner).call(
        "steer",
        {"group_id": home.group, "op": op, "approval_id": one["approval_id"], **more},
        repeatable=False,
    )


def agent(home, rig, model, work, **more):
    work.mkdir(exist_ok=True)
    driver = rig.driver(home.folder / "driver", model, access=Access.READ)
    return home.agent("ada", driver, directory=str(work), **more)


@coders
async def test_a_command_is_asked_for_in_the_room_and_runs_when_the_owner_says_so(rig, home, model, tmp_path):
    made = tmp_path / "made.txt"
    model.script(command(rig, f"touch {made}"), Say("It is made."))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        assert (asked["session"], asked["kind"], asked["title"]) == ("ada", "command", f"touch {made}")
        assert asked["event_id"] == question
        assert asked["covers"] == f"commands that begin with `touch {made}` in {tmp_path / 'work'}"
        assert not made.exists()
        await stands(home, question, "waiting", "permission")
        await answer(home, asked)
        assert (await home.until_reply(question)).data["text"] == "It is made."
    assert made.exists()
    states = [
        (one.data["state"], one.data.get("scope"), one.data.get("answered_by"))
        for one in (await home.owner.events(home.group, kinds=["x.c2a.approval"], limit=100)).events
    ]
    assert states == [("asked", None, None), ("granted", "once", "user")]


@coders
async def test_a_no_reaches_the_model_with_the_persons_reason(rig, home, model, tmp_path):
    made = tmp_path / "made.txt"
    model.script(command(rig, f"touch {made}"), Say("Then not."))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        await answer(home, asked, "refuse", reason="the freeze lasts until Monday")
        await home.until_reply(question)
    assert not made.exists()
    assert "the freeze lasts until Monday" in str(model.calls[-1].body)


async def test_a_turn_that_waits_for_a_person_makes_room_and_goes_on_with_the_answer(
    home, model, tmp_path, invited
):
    ben = await invited("ben")
    made = tmp_path / "made.txt"
    rig = CODERS[1]
    line = command(rig, f"touch {made}")
    model.script(line, Say("never read"))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        model.script(Say("It is noon."))
        other = await say(ben, home, "@ada what time is it?")
        assert (await home.until_reply(other)).data["text"] == "It is noon."
        assert not made.exists()
        await stands(home, question, "waiting", "permission")
        assert [one["approval_id"] for one in await waiting(home)] == [asked["approval_id"]]
        model.script(line, Say("It is made."))
        await answer(home, asked)
        assert (await home.until_reply(question)).data["text"] == "It is made."
        assert "It is granted now" in str(model.calls[-2].body)
        assert await open_requests(home) == []
    assert made.exists()


async def test_a_request_waits_while_the_agent_is_gone_and_a_yes_carries_the_work_on(home, model, tmp_path):
    made = tmp_path / "made.txt"
    rig = CODERS[1]
    line = command(rig, f"touch {made}")
    model.script(line, Say("never read"))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
    assert [one["approval_id"] for one in await waiting(home)] == [asked["approval_id"]]
    asked_of_the_model = len(model.calls)
    async with agent(home, rig, model, tmp_path / "work") as harness:
        await home.until(lambda: harness.told.of("started"))
        await stands(home, question, "waiting", "permission")
        assert len(model.calls) == asked_of_the_model, "nothing is run again before there is an answer"
    model.script(line, Say("It is made."))
    await answer(home, asked)  # while the agent is gone
    async with agent(home, rig, model, tmp_path / "work"):
        assert (await home.until_reply(question)).data["text"] == "It is made."
    assert made.exists()
    assert await open_requests(home) == []


async def test_a_grant_is_for_whoever_asked(home, model, tmp_path, invited):
    rig = CODERS[1]
    made = tmp_path / "made.txt"
    line = command(rig, f"touch {made}")
    ben = await invited("ben")
    model.script(line, Say("Made."), line, Say("Made again."), line, Say("Not made."))
    async with agent(home, rig, model, tmp_path / "work"):
        first = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        assert (asked["asked_by"], asked["request"]["text"]) == (["user"], "@ada make the file")
        await answer(home, asked, scope="always")
        await home.until_reply(first)
        second = await home.say("@ada once more")
        await home.until_reply(second)
        third = await say(ben, home, "@ada and for me")
        (asked,) = await waiting(home)
        assert (asked["asked_by"], asked["request"]["text"]) == (["usr:ben"], "@ada and for me")
        await answer(home, asked, "refuse")
        await home.until_reply(third)


async def test_nobody_but_the_owner_allows_what_they_asked_for(home, model, tmp_path, invited):
    rig = CODERS[1]
    await home.rules(people_permit=True)
    mia, ben = await invited("mia"), await invited("ben")
    work = tmp_path / "work"
    async with agent(home, rig, model, work):
        model.script(command(rig, "touch a.txt"), Say("One."))
        question = await say(mia, home, "@ada make one")
        (asked,) = await waiting(home)
        (shown,) = (await mia.call("agents", {"group_id": home.group}))["approvals"]
        assert shown["may_allow"] is False
        with pytest.raises(Refused, match="you asked for this yourself"):
            await answer(home, asked, hub=mia)
        (shown,) = (await ben.call("agents", {"group_id": home.group}))["approvals"]
        assert shown["may_allow"] is True
        await answer(home, asked, hub=ben)
        await home.until_reply(question)
    assert (work / "a.txt").exists()


@coders
async def test_an_answer_after_the_turn_was_called_off_changes_nothing_and_says_so(
    rig, home, model, tmp_path
):
    made = tmp_path / "made.txt"
    model.script(command(rig, f"touch {made}"), Say("never"))
    async with agent(home, rig, model, tmp_path / "work") as harness:
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        await home.owner.call(
            "steer", {"group_id": home.group, "op": "cancel", "event_id": question}, repeatable=False
        )
        with pytest.raises(Refused, match="called off: the answer changes nothing"):
            await answer(home, asked)
        await home.until(lambda: harness.told.of("turn_ended"))
        model.script(Say("Yes, here."))
        other = await home.say("@ada are you there?")
        await home.until_reply(other)
    assert not made.exists()


@coders
async def test_what_was_allowed_for_the_turn_is_asked_again_in_the_next(rig, home, model, tmp_path):
    made = tmp_path / "made.txt"
    line = command(rig, f"touch {made}")
    model.script(line, line, Say("Made."), line, Say("Made again."))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        await answer(home, asked, scope="turn")
        await home.until_reply(question)
        again = await home.say("@ada and once more")
        (asked,) = await waiting(home)
        await answer(home, asked, "refuse")
        await home.until_reply(again)


async def test_always_is_kept_over_a_restart_listed_and_revoked(home, model, tmp_path):
    rig = CODERS[1]
    made = tmp_path / "made.txt"
    line = command(rig, f"touch {made}")
    model.script(line, Say("Made."))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada make the file")
        (asked,) = await waiting(home)
        await answer(home, asked, scope="always")
        await home.until_reply(question)
    made.unlink()
    model.script(line, Say("Made again."))
    async with agent(home, rig, model, tmp_path / "work"):
        question = await home.say("@ada once more, please")
        await home.until_reply(question)
        assert made.exists()
        listed = (await home.owner.call("agents", {"group_id": home.group}))["permissions"]
        assert [(one["session"], one["covers"], one["answered_by"]) for one in listed] == [
            ("ada", f"commands that begin with `touch {made}` in {tmp_path / 'work'}", "user")
        ]
    await answer(home, listed[0], "revoke")  # while the agent is away
    assert (await home.owner.call("agents", {"group_id": home.group}))["permissions"] == []
    model.script(line, Say("Not made."))
    async with agent(home, rig, model, tmp_path / "work") as harness:
        await home.until(lambda: harness.told.of("permission_revoked"))
        question = await home.say("@ada and again")
        (asked,) = await waiting(home)
        await answer(home, asked, "refuse")
        await home.until_reply(question)


async def test_a_question_survives_the_hubs_restart(house, model, tmp_path):
    rig = CODERS[1]
    made = tmp_path / "made.txt"
    model.script(command(rig, f"touch {made}"), Say("It is made."))
    async with agent(house, rig, model, tmp_path / "work"):
        question = await house.say("@ada make the file")
        (asked,) = await waiting(house)
        house.stop()
        house.start()
        (asked,) = await waiting(house)
        await answer(house, asked)
        assert (await house.until_reply(question)).data["text"] == "It is made."
    assert made.exists()


async def test_who_may_answer_is_the_owner_and_others_where_the_group_says_so(home, model, tmp_path):
    rig = CODERS[1]
    token = (
        await home.owner.call(
            "add_person", {"group_id": home.group, "principal": "usr:ben"}, repeatable=False
        )
    )["token"]
    work = tmp_path / "work"
    async with agent(home, rig, model, work), Hub(home.url, token) as ben:
        model.script(command(rig, "touch a.txt"), Say("One."))
        first = await home.say("@ada make one")
        (asked,) = await waiting(home)
        assert (await ben.call("agents", {"group_id": home.group}))["approvals"] == []
        assert (await ben.events(home.group, kinds=["x.c2a.approval"], limit=100)).events == []
        with pytest.raises(Refused, match="no such request"):
            await answer(home, asked, hub=ben)
        await answer(home, asked, "refuse")
        await home.until_reply(first)

        await home.rules(people_permit=True)
        model.script(command(rig, "touch b.txt"), Say("Two."))
        second = await home.say("@ada make two")
        (asked,) = await waiting(home)
        assert [
            one["title"] for one in (await ben.call("agents", {"group_id": home.group}))["approvals"]
        ] == ["touch b.txt"]
        await answer(home, asked, hub=ben)
        await home.until_reply(second)

        model.script(command(rig, "touch c.txt"), Say("Three."))
        private = await home.say("make three", to=["ada"])
        (asked,) = await waiting(home)
        assert (await ben.call("agents", {"group_id": home.group}))["approvals"] == []
        await answer(home, asked, "refuse")
        await home.until_reply(private)
    assert ((work / "a.txt").exists(), (work / "b.txt").exists(), (work / "c.txt").exists()) == (
        False,
        True,
        False,
    )


async def test_an_acp_agent_asks_what_its_access_does_not_grant(home, model, tmp_path):
    rig = next(one for one in RIGS if one.name == "acp")
    driver = rig.driver(home.folder / "driver", model, access=Access.READ)

    class Direct:
        """The agent of the tests asks when its prompt says so; here the room's prompt stands around that."""

        def __getattr__(self, name):
            return getattr(driver, name)

        async def run(self, turn, watch):
            from dataclasses import replace

            return await driver.run(replace(turn, prompt="MAY I execute: make all"), watch)

    async with home.agent("ada", Direct(), directory=str(tmp_path)):
        question = await home.say("@ada build it")
        (asked,) = await waiting(home)
        assert (asked["kind"], asked["title"]) == ("command", "make all")
        await answer(home, asked)
        assert (await home.until_reply(question)).data["text"] == "y"
