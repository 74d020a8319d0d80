"""The room as an agent has it: what was said before, who is here, and names that mean somebody."""

from __future__ import annotations

import pytest

from tests.harness.drivers.rigs import named
from tests.harness.strict_prompt import message_of
from tests.model_server import Call, Say

PROGRAM = pytest.mark.parametrize("rig", named("command"))


def driver_of(rig, home, model, name="ada"):
    return rig.driver(home.folder / name / "driver", model)


def prompt_of(seen) -> str:
    return next(text for role, text in reversed(seen.said) if role == "user" and "C2A EVENT" in text)


@PROGRAM
@pytest.mark.spec("C2A-083", "C2A-223")
async def test_a_mention_carries_what_its_author_said_just_before_it_once(rig, home, model):
    model.script(Say("I look at it now."), Say("The index was gone."))
    async with home.agent("ada", driver_of(rig, home, model), roles=("importer",)):
        await home.say("the importer is slow since noon")
        await home.say("it was fine in the morning")
        first = await home.say("@ada can you look at it?")
        await home.until_reply(first)
        await home.say("the disk is fine by the way")
        second = await home.say("@ada and, what was it?")
        await home.until_reply(second)
    one, two = (prompt_of(seen) for seen in model.calls)
    asked = "the importer is slow since noon\nit was fine in the morning\n@ada can you look at it?"
    assert message_of(one) == asked
    # It goes on with what they were talking about, so it is part of the question.
    assert "the disk is fine by the way" in two
    assert "slow since noon" not in two
    assert "I look at it now." not in two
    assert "You are @ada" in model.calls[0].system
    assert "Your roles: @importer." in model.calls[0].system


@PROGRAM
@pytest.mark.spec("C2A-111", "C2A-112", "C2A-148")
async def test_an_agent_asks_a_teammate_by_name_and_still_answers_the_person(rig, home, model):
    def script(seen):
        if "You are @kit" in seen.system:
            return Say("The relay listens on seven four three four.")
        if "which port is it" not in prompt_of(seen):
            return Say("NO_REPLY")
        if not seen.texts("tool"):
            return Call(
                "chat_send_message", {"content": "@kit, which port has the relay? Do you know, @zoe?"}
            )
        return Say("I am not sure and have asked.")

    model.follow(script)
    async with (
        home.agent("kit", driver_of(rig, home, model, "kit")),
        home.agent("ada", driver_of(rig, home, model)),
    ):
        asked = await home.say("@ada which port is it?")
        await home.until_said(2, "ada")
        await home.until_said(1, "kit")
        asks, answers = (await home.said_by("ada"))[:2]
    assert asks.data["mentions"] == ["kit"]
    assert (asks.data["reply_to"], "in_reply_to" in asks.data["c2a"]) == (asked, False)
    assert answers.data["text"] == "I am not sure and have asked."
    assert answers.data["c2a"]["in_reply_to"] == asked
    told = "\n".join(text for seen in model.calls for text in seen.texts("tool"))
    assert "unreached" in told
    assert "@zoe" in told
