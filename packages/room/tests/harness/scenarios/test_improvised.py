"""Real agents with a model that nobody tells what to say: whatever it does, every question has one end, and it is seen.

The model is the second script (`tests.model_server.Improviser`), written from the formats' documentation: it thinks,
looks around with tools (some do not exist), falls silent for minutes, is cut short and refuses. The clock is in the
test's hand, so that its silences cost nothing.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.harness.drivers.rigs import named
from tests.model_server import Hush, Improviser
from tests.model_server.improviser import ANNOUNCED

REAL = pytest.mark.parametrize("rig", named("codex", "claude", "openai"))
"""The programs behind the other two are the tests' own, and written for the first script."""
ENDED = {"answered", "failed"}


async def improvised(home, model, rig, seed: int, count: int) -> tuple[Improviser, dict[str, list]]:
    """Ask so many questions at once, each in a thread of its own, let time pass until all are ended.

    For each question, what the room saw of it: replies, signs, and failures.
    """
    silences = tuple(Hush() for _ in range(3))
    improviser = Improviser(seed, silences)
    model.follow(improviser)
    await home.owner.add_actor(home.group, "bea")  # with her there, what names nobody is said to nobody
    async with home.agent("ada", rig.driver(home.folder / "ada" / "driver", model)) as ada:
        asked = {}
        for number in range(count):
            root = await home.say(f"topic {number}")
            asked[f"part-{number}"] = await home.say(f"@ada how is part-{number}?", reply_to=root)
        await ada.told.until("heard", asyncio.current_task(), count)
        async with asyncio.timeout(90):
            while True:
                ended = {
                    one["event_id"]
                    for one in await home.owner.attention.work(home.group, ended=True)
                    if one["state"] in ENDED
                }
                if ended >= set(asked.values()):
                    break
                await home.pass_time(4)
                for silence in silences:
                    if silence.arrived.is_set():
                        await home.pass_time(60)
                        silence.release()
                await asyncio.sleep(0.05)
        seen = {it: [] for it in asked}
        kinds = ["chat.message", "x.c2a.disposition"]
        found = (await home.owner.events(home.group, kinds=kinds, limit=1000)).events
    by_id = {event_id: it for it, event_id in asked.items()}
    for event in found:
        if event.kind == "chat.message" and event.by == "ada":
            seen[by_id[event.data["reply_to"]]].append(event.data["text"])
        elif event.kind == "x.c2a.disposition" and event.data["disposition"] == "failed":
            seen[by_id[event.data["event_id"]]].append(event.data["error"])
    return improviser, seen


def judged(improviser: Improviser, seen: dict[str, list]) -> None:
    for it, ends in seen.items():
        assert len(ends) == 1, (it, improviser.plans[it], ends)
        [end] = ends
        plan = improviser.plans[it]
        if isinstance(end, str):
            # Codex hands on no refusal: what the model announced before it is the last that it said.
            assert it in end or plan == "length" or (plan == "refused" and end in ANNOUNCED), (plan, end)
        else:
            assert plan in {"refused", "length"}, (plan, end)
            assert end["code"] != "agent_error", (plan, end)
            assert end["message"]


@REAL
async def test_whatever_a_model_makes_up_every_question_gets_one_answer_or_a_failure_that_speaks(
    rig, clocked, model
):
    judged(*await improvised(clocked, model, rig, seed=9, count=8))


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(1, 6))
@REAL
async def test_the_same_with_many_seeds(rig, seed, clocked, model):
    judged(*await improvised(clocked, model, rig, seed=seed, count=30))
