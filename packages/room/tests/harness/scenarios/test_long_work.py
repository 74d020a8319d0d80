"""Work that takes long, with real agents and a clock in the test's hand: nobody takes it away, nothing is said twice."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack

import pytest

from tacit.harness.drivers.options import Access
from tests.harness.clocked_hub import QUIET
from tests.harness.drivers.rigs import named, offspring
from tests.model_server import Cut, Hush, Use, says

CODERS = pytest.mark.parametrize("rig", named("codex", "claude"))
MINUTE = 60.0


def driver_of(rig, home, model, name="ada", **more):
    return rig.driver(home.folder / name / "driver", model, **more)


def shell(rig, line: str) -> Use:
    """A command, in the tool that each agent has for it."""
    return Use("exec_command", {"cmd": line}) if rig.name == "codex" else Use("Bash", {"command": line})


def bystander(home, model):
    """A second agent that could be given the work of the first."""
    rig = named("openai")[0].values[0]
    return home.agent("kit", driver_of(rig, home, model, "kit"))


async def works(home) -> list[tuple[str, str]]:
    return [(one["agent"], one["state"]) for one in await home.owner.attention.work(home.group)]


async def at(silence: Hush) -> None:
    """The model was asked, and is silent."""
    async with asyncio.timeout(60):
        await silence.arrived.wait()


async def alarms(home) -> list[str]:
    found = (await home.owner.events(home.group, kinds=["system.notify"], limit=10)).events
    return [event.data["message"] for event in found]


@pytest.mark.parametrize("rig", named("openai"))
@pytest.mark.spec("C2A-173", "C2A-175", "C2A-176", "C2A-178")
async def test_a_twenty_minute_task_with_progress_stays_with_its_agent_and_is_answered_once(
    rig, clocked, model
):
    home = clocked
    silences = [Hush() for _ in range(4)]
    looks = [says(silence, Use("chat_members")) for silence in silences[:3]]
    model.script(*looks, says(silences[3], "All three parts are done."))
    async with bystander(home, model), home.agent("ada", driver_of(rig, home, model)) as ada:
        question = await home.ask(ada, "@ada build all three parts")
        for silence in silences:
            await at(silence)
            await home.pass_time(5 * MINUTE)
            assert await works(home) == [("ada", "working")]
            silence.release()
        said = await home.until_reply(question)
        await home.pass_time(15 * MINUTE, step=30)
        everything = await home.said_by("ada", "kit")
    assert [event.id for event in everything] == [said.id]
    assert await alarms(home) == []
    assert len(model.calls) == 4


@pytest.mark.parametrize(("deadline", "step"), [(12, 1.5), (1, 0.125)])
@pytest.mark.spec("C2A-173", "C2A-175", "C2A-176", "C2A-178")
async def test_work_far_beyond_a_short_deadline_stays_with_its_agent_and_so_does_its_queue(
    clocked, model, deadline, step
):
    """One silent turn of five deadlines, with questions behind it, beside an agent that could take them."""
    home = clocked
    await home.rules(deadline_ms=deadline * 1_000)
    silence = Hush()
    model.script(says(silence, "The parts are built."), says("Port 7433."), says("Port 7434."))
    rig = named("openai")[0].values[0]
    async with bystander(home, model), home.agent("ada", driver_of(rig, home, model)) as ada:
        asked = [await home.say("@ada build all three parts.")]
        await ada.told.until("heard", asyncio.current_task())
        await home.pass_time(QUIET, step=step)
        await at(silence)
        for place in ("hub", "relay"):
            asked.append(
                await home.say("@ada which port is it?", conversation={"id": place, "kind": "channel"})
            )
        await ada.told.until("heard", asyncio.current_task(), 3)
        await home.pass_time(5 * deadline, step=step)
        standing = {one["event_id"]: one["state"] for one in await home.owner.attention.work(home.group)}
        assert standing == dict(zip(asked, ("working", "queued", "queued"), strict=True))
        silence.release()
        for question in asked:
            await home.until_reply(question)
        everything = await home.said_by("ada", "kit")
        deliveries = (await home.owner.events(home.group, kinds=["x.c2a.delivery"], limit=1000)).events
    assert [(event.by, event.data["reply_to"]) for event in everything] == [("ada", one) for one in asked]
    assert [event.data["session"] for event in deliveries] == ["ada"] * 3, "nobody was even reminded"
    assert ada.told.of("refused") == []
    assert await alarms(home) == []


@CODERS
@pytest.mark.spec("C2A-163", "C2A-173", "C2A-176", "C2A-178")
async def test_twenty_minutes_with_a_crash_of_agent_hub_and_model_end_in_one_answer_and_no_alarm(
    rig, clocked, model, tmp_path
):
    home = clocked
    one, two, three, four = (Hush() for _ in range(4))
    model.script(
        says(one, shell(rig, "echo part one >> done.txt")),
        says(two, shell(rig, "echo never >> done.txt")),
        says(three, shell(rig, "echo part two >> done.txt")),
        Cut(),
        says(four, "Both parts are done."),
    )
    work = tmp_path / "work"
    work.mkdir()
    driver = driver_of(rig, home, model, access=Access.FULL)
    not_of_agents = offspring()
    async with bystander(home, model), home.agent("ada", driver, directory=str(work)) as ada:
        question = await home.ask(ada, "@ada build both parts")
        await at(one)
        await home.pass_time(5 * MINUTE)
        one.release()
        await at(two)
        await home.pass_time(2 * MINUTE)
        for process in offspring() - not_of_agents:
            os.kill(process, signal.SIGKILL)
        await ada.told.until("turn_ended", asyncio.current_task())
        await home.pass_time(QUIET)
        await at(three)
        await home.pass_time(3 * MINUTE)
        home.stop(signal.SIGKILL)
        connected = len(ada.told.of("connected"))
        await home.pass_time(2 * MINUTE)
        home.start()
        await ada.told.until("connected", asyncio.current_task(), connected + 1)
        await home.pass_time(4 * MINUTE)
        assert await works(home) == [("ada", "working")]
        three.release()
        await ada.told.until("turn_ended", asyncio.current_task(), 2)
        await home.pass_time(10)
        await at(four)
        await home.pass_time(4 * MINUTE)
        four.release()
        said = await home.until_reply(question)
        await home.pass_time(15 * MINUTE, step=30)
        everything = await home.said_by("ada", "kit")
    assert said.data["text"] == "Both parts are done."
    assert [event.id for event in everything] == [said.id]
    assert (work / "done.txt").read_text() == "part one\npart two\n"
    assert [end["failure"] for end in ada.told.of("turn_ended")] == ["agent_died", "model_unavailable", ""]
    assert await alarms(home) == []
    assert "Both parts" not in str(model.calls[-1].body)
    assert "part one" in str(model.calls[-1].body), "the session is taken up again after the crashes"


async def test_three_busy_agents_and_one_question_to_their_role_give_one_answer_and_end_no_job(
    clocked, model
):
    home = clocked
    names = {"ada": "codex", "bea": "claude", "cy": "openai"}
    jobs = {name: Hush() for name in names}

    def script(seen):
        asked = [text for text in seen.texts("user") if "C2A EVENT" in text][-1]
        me = next(name for name in names if f"You are @{name}" in seen.system)
        return says("Port 7433.") if "which port" in asked else says(jobs[me], f"The job of {me} is done.")

    model.follow(script)
    async with AsyncExitStack() as stack:
        agents = {}
        for name, driver in names.items():
            rig = named(driver)[0].values[0]
            agents[name] = await stack.enter_async_context(
                home.agent(name, driver_of(rig, home, model, name), roles=("coder",))
            )
        asked = {name: await home.ask(agents[name], f"@{name} do the long job") for name in names}
        for job in jobs.values():
            await at(job)
        question = await home.say("@coder which port has the hub?")
        await home.until(
            lambda: (
                sum(len(one.told.of("claimed") + one.told.of("claim_lost")) for one in agents.values()) == 3
            )
        )
        await home.pass_time(10 * MINUTE)
        [winner] = [name for name, one in agents.items() if one.told.of("claimed")]
        standing = {
            (one["agent"], one["event_id"]): one for one in await home.owner.attention.work(home.group)
        }
        assert {key: one["state"] for key, one in standing.items()} == {
            **{(name, asked[name]): "working" for name in names},
            (winner, question): "queued",
        }
        assert standing[winner, question]["position"] == 1
        for job in jobs.values():
            job.release()
        for name in names:
            assert (await home.until_reply(asked[name], name)).data["text"] == f"The job of {name} is done."
        await home.pass_time(10)
        await home.until_reply(question, winner)
        await home.pass_time(15 * MINUTE, step=30)
        said = await home.said_by(*names)
    assert [event.by for event in said if event.data["reply_to"] == question] == [winner]
    assert len(said) == 4
    assert await alarms(home) == []
