"""By every door a wish with words that nobody understood is asked about, and nothing is begun or sent."""

from __future__ import annotations

import json

import pytest

from tacit.agent.scheduling.io import wishes
from tacit.agent.shell.io import calls
from tacit.base.errors import Refused
from tacit.cli.personal import manners
from tests.agent.arrangements import pair
from tests.agent.minds import minds
from tests.agent.scripted import DINNER, Scripted

RAIN = "dinner with ben on Friday evening unless it rains"
QUOTED = "I did not understand “unless it rains”. Please say it in other words, or leave it out"


async def refused(agent, command: str, **given) -> Refused:
    with pytest.raises(Refused) as found:
        await calls.call(agent, command, given)
    return found.value


@pytest.mark.spec("A2ACP-076")
async def test_nothing_is_begun_or_sent_before_the_owner_has_said_what_unread_words_mean(tmp_path):
    async with pair(tmp_path) as (both, anna, ben):
        summary = {"category": "scheduling", "summary": RAIN, "urgency": "normal"}
        program = {"tool": "send_context", "arguments": {"to": ben.me, "intent": summary, "context": {}}}
        for command, given in (
            ("ask", {"text": RAIN}),
            ("ask", {"text": RAIN, "to": [ben.me]}),
            ("ask", {"text": RAIN, "to": [ben.me], "by_program": True}),
            ("ask", {"text": RAIN, "to": [ben.me, "agent:dan@relay.example"]}),
            ("program", program),
        ):
            no = await refused(anna, command, **given)
            assert (no.code, no.message) == ("unclear_request", QUOTED), given
        assert (await calls.call(anna, "threads", {"every": True}))["threads"] == []
        assert (await calls.call(anna, "ask", {"text": RAIN.partition(" unless")[0]}))["thread_id"]
        await both.settled()


@pytest.mark.spec("A2ACP-076", "A2ACP-111")
async def test_a_thread_is_not_made_into_something_with_unread_words(tmp_path):
    async with pair(tmp_path) as (_both, anna, _ben):
        thread = (await anna.ask("dinner with ben on Friday evening"))["thread_id"]
        no = await refused(anna, "change", thread_id=thread, text="lunch on Saturday unless it rains")
        assert no.message == QUOTED
        texts = ["dinner with ben on Saturday evening", "lunch with ben on Sunday and Carol"]
        no = await refused(anna, "fork", thread_id=thread, texts=texts)
        assert "“and Carol”" in no.message


@pytest.mark.spec("A2ACP-076")
async def test_another_contact_who_is_named_is_never_dropped(tmp_path):
    async with pair(tmp_path) as (_both, anna, ben):
        await calls.call(anna, "contact", {"who": "agent:will@localhost:1", "decision": "add"})
        no = await refused(anna, "ask", text="dinner with ben and will on Friday", to=[ben.me])
        assert "“and will”" in no.message
        no = await refused(anna, "ask", text="dinner with ben and will on Friday")
        assert (no.code, "ben and will" in no.message) == ("who", True)
        assert "“stop”" in (await refused(anna, "ask", text="cancel my dinner")).message


@pytest.mark.spec("A2ACP-076", "A2ACP-090")
@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("dinner with ben on Friday evening, nothing over £30", "“nothing over £30”"),
        ("dinner with ben and Carol on Friday evening", "“and Carol”"),
        (RAIN, "“unless it rains”"),
        ("cancel dinner with ben", "“stop”"),
    ],
)
async def test_what_a_models_goal_cannot_carry_is_asked_about_too(tmp_path, text, quoted):
    async with minds(tmp_path, anna=Scripted()) as (_both, anna, ben):
        no = await refused(anna, "ask", text=text, to=[ben.me])
        assert (no.code, quoted in no.message) == ("unclear_request", True)


@pytest.mark.spec("A2ACP-041", "A2ACP-090")
async def test_a_model_keeps_to_what_was_ruled_out_and_to_the_length_that_was_named(tmp_path):
    evening = {"from": "18:00", "to": "22:00"}
    times = [{"date": "2026-03-26", **evening}, {"date": "2026-03-27", **evening}]
    model = Scripted(lambda _prompt: json.dumps({**DINNER, "times": times}))
    async with minds(tmp_path, anna=model) as (_both, anna, ben):
        goal = await wishes.goal(anna, "2 hour dinner with ben this week, not Thursday", ben.me)
        assert (goal.unclear, goal.minutes, goal.details["duration"]) == ((), 120, "PT2H")
        assert len(goal.spans) == 1, "Friday alone"


def test_the_room_asks_the_question_as_it_stands_and_says_of_anything_else_that_it_cannot():
    assert manners.refused("unclear_request", "I did not understand “@carol”") == (
        'I did not understand " at carol".'
    )
    assert manners.refused("who", "say with whom") == "I cannot: say with whom."
