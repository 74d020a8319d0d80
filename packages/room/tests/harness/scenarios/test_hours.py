"""An hour without a model, a budget that ends in mid-turn, a long queue, orders during a job: with real agents."""

from __future__ import annotations

import asyncio

import pytest

from tacit.harness.budget import DailyBudget
from tests.harness.drivers.rigs import named
from tests.harness.strict_prompt import message_of
from tests.model_server import Held, Hush, Say, Status, Use, says
from tests.model_server.replies import Tokens

ALL = pytest.mark.parametrize("rig", named("command", "codex", "claude", "acp", "openai"))
CODERS = pytest.mark.parametrize("rig", named("codex", "claude"))
MINUTE, HOUR = 60.0, 3600.0


def driver_of(rig, home, model):
    return rig.driver(home.folder / "ada" / "driver", model)


async def work(home, **more) -> dict[str, dict]:
    found = await home.owner.call("work", {"group_id": home.group, "limit": 200, **more})
    return {one["event_id"]: one for one in found["work"]}


async def at(silence) -> None:
    async with asyncio.timeout(60):
        await silence.arrived.wait()


def question_of(seen) -> str:
    return message_of([text for text in seen.texts("user") if "MESSAGE" in text][-1]).strip()


@ALL
@pytest.mark.spec("C2A-197")
async def test_yes_twice_is_said_twice(rig, clocked, model):
    home = clocked
    model.script(Say("Yes."), Say("Yes."))
    async with home.agent("ada", driver_of(rig, home, model)) as ada:
        for question in ("@ada is the build green?", "@ada is the deploy done?"):
            said = await home.until_reply(await home.ask(ada, question))
            assert said.data["text"] == "Yes."
            await home.pass_time(MINUTE)


@CODERS
@pytest.mark.spec("C2A-180", "C2A-188")
async def test_a_correction_an_unrelated_question_and_a_stop_during_a_job(rig, clocked, model):
    home = clocked
    first, corrected = Held(Say("About the wrong branch.")), Held(Say("Never said."))
    model.script(first, corrected, Say("Port eight thousand."))
    async with home.agent("ada", driver_of(rig, home, model)) as ada:
        job = await home.ask(ada, "@ada check the main branch")
        await at(first)
        await home.pass_time(3 * MINUTE)
        correction = await home.ask(ada, "@ada sorry, I meant the release branch")
        if rig.name == "codex":
            await ada.told.until("steered", asyncio.current_task())
            first.release()
        await at(corrected)
        assert "the release branch" in str(model.calls[1].body)
        unrelated = await home.ask(ada, "@ada unrelated: which port does the hub use?")
        standing = await work(home)
        assert (standing[correction]["state"], standing[unrelated]["state"]) == ("working", "queued")
        await home.pass_time(3 * MINUTE)
        ends = len(ada.told.of("turn_ended"))
        await home.say("@ada stop", reply_to=correction)
        await ada.told.until("turn_ended", asyncio.current_task(), ends + 1)
        await home.pass_time(10)
        said = await home.until_reply(unrelated)
        await home.pass_time(15 * MINUTE, step=30)
        assert [event.id for event in await home.said_by("ada")] == [said.id]
        ended = await work(home, ended=True)
    assert ended[correction]["state"] == "called_off"
    assert ended[unrelated]["state"] == "answered"
    assert ended.get(job, {"state": "called_off"})["state"] in {"called_off", "handed_over", "answered"}


@pytest.mark.parametrize(
    "rig",
    [
        *named("codex", "openai"),
        # Claude Code takes seconds for each of its thirteen tries.
        *(pytest.param(*one.values, id=one.id, marks=pytest.mark.soak) for one in named("claude")),
    ],
)
@pytest.mark.spec("C2A-163", "C2A-176")
async def test_a_model_that_is_down_for_an_hour_is_waited_for_and_then_answers_everybody(rig, clocked, model):
    home = clocked
    await home.rules(dialogue=False)  # else what is said right after it is more of the first question
    model.follow(lambda seen: Status(503))
    async with home.agent("ada", driver_of(rig, home, model)) as ada:
        asked = [await home.ask(ada, "@ada is the build green?")]
        await ada.told.until("turn_ended", asyncio.current_task())
        root = await home.say("something else")
        asked.append(await home.ask(ada, "@ada which port?", reply_to=root))
        passed, waited = 0.0, []
        while passed < HOUR:
            standing = await work(home)
            assert set(standing) == set(asked)
            assert {one["state"] for one in standing.values()} <= {"failed", "queued", "working"}
            ends = len(ada.told.of("turn_ended"))
            due = ada._conduct.next_due
            pause = max(1.0, (due - home.clock.now()) / 1e6) if due is not None else 1.0
            await home.pass_time(pause, step=30)
            passed += pause
            waited.append(pause)
            await ada.told.until("turn_ended", asyncio.current_task(), ends + 1)
        tries = len(model.calls)
        assert tries < 30, "it is not asked without end"
        model.follow(lambda seen: Say(f"Back: {question_of(seen)}"))
        await home.pass_time(10 * MINUTE, step=30)
        for event_id in asked:
            await home.until_reply(event_id)
        await home.pass_time(15 * MINUTE, step=30)
        assert len(await home.said_by("ada")) == 2
    assert (await home.owner.events(home.group, kinds=["system.notify"], limit=10)).events == []


@CODERS
async def test_a_budget_reached_in_mid_turn_ends_it_says_so_and_the_next_day_has_the_answer(
    rig, clocked, model
):
    home = clocked
    never = Hush()
    costly = Tokens(input=90_000, output=20_000, cached=0)
    model.script(says("Let me look.", Use("chat_members"), tokens=costly), says(never, "Never said."))
    async with home.agent("ada", driver_of(rig, home, model), budget=DailyBudget(tokens=100_000)) as ada:
        question = await home.ask(ada, "@ada who is here?")
        await ada.told.until("turn_ended", asyncio.current_task())
        assert ada.told.of("turn_ended")[0]["failure"] == "over_budget"
        model.script(says("Only the two of us."))
        await home.pass_time(10)
        standing = (await work(home))[question]
        assert standing["code"] == "over_budget"
        assert "00:00:00 UTC: the day's budget of 100000 tokens is used up" in standing["sentence"]
        await home.pass_time(24 * HOUR, step=HOUR)
        said = await home.until_reply(question)
        await home.pass_time(MINUTE)
        assert [event.id for event in await home.said_by("ada")] == [said.id]
    assert said.data["text"] == "Only the two of us."


@pytest.mark.parametrize(
    ("rig", "answered"),
    [pytest.param(*one.values, count, id=one.id) for one, count in zip(named("codex", "claude", "openai"), (3, 3, 100), strict=True)],
)  # fmt: skip
@pytest.mark.spec("C2A-160", "C2A-163")
async def test_a_hundred_questions_wait_over_a_restart_and_are_answered_in_order(
    rig, answered, clocked, model
):
    home = clocked
    held = Held(Say("never said"))
    model.follow(lambda seen: held)
    await home.rules(injected_per_minute=6000, sends_per_minute=1000, sends_per_conversation=1000)
    await home.owner.add_actor(home.group, "bea")  # with her there, what names nobody is said to nobody
    asked = []
    async with home.agent("ada", driver_of(rig, home, model)) as ada:
        for number in range(100):
            root = await home.say(f"topic {number}")
            asked.append(await home.say(f"@ada how is part {number}?", reply_to=root))
        await ada.told.until("heard", asyncio.current_task(), 100)
        await home.pass_time(10)
        await at(held)
    next_held = Held(Say("never said"))

    def answer(seen):
        question = question_of(seen)
        is_last = answered < 100 and question.endswith(f" part {answered}?")
        return next_held if is_last else Say(f"Answer to: {question}")

    model.follow(answer)
    async with home.agent("ada", driver_of(rig, home, model)) as ada:
        standing = await work(home)
        assert set(standing) == set(asked), "all of it is known while the agent starts"
        said = []
        async with asyncio.timeout(60):
            while len(said) < answered:
                await home.pass_time(4)
                said = await home.said_by("ada")
        if answered < 100:
            await at(next_held)
            places, waiting = [], asked[answered + 1 :]
            async with asyncio.timeout(60):
                while places != list(range(1, len(waiting) + 1)):  # told in its order, while nothing moves
                    await home.pass_time(1)
                    left = await work(home)
                    places = [left[event_id]["position"] for event_id in waiting]
    assert [event.data["reply_to"] for event in said] == asked[: len(said)]
    assert [event.data["text"] for event in said] == [
        f"Answer to: @ada how is part {number}?" for number in range(len(said))
    ]
