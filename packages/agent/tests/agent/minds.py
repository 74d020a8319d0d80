"""Two personal agents on a real relay, one or both with a scripted model: what their scenarios need."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from tacit.agent import Agent
from tacit.agent.brain.configured import SETTING
from tacit.agent.consent.answering import Answer
from tacit.base.moment import parse_rfc3339
from tests.agent.arrangements import MONDAY, Pair, registered, share
from tests.agent.scripted import DEFINITION, Opened, Scripted, Waited
from tests.relay_support import PATIENCE, Relay

SECRETS = {"dietary": "no shellfish at all", "home_address": "5 Elm Road, Reading"}


@contextlib.asynccontextmanager
async def minds(folder, *, now: str = MONDAY, **models: Scripted):
    """Anna and Ben; `anna` and `ben` are the models of those who have one, for every tier."""
    async with Relay(folder / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(now) - relay.clock.now()
        for name, friend in (("anna", "ben"), ("ben", "anna")):
            await registered(relay, folder / name, name, friend)
        async with contextlib.AsyncExitStack() as stack:
            agents = []
            for name in ("anna", "ben"):
                agent = await stack.enter_async_context(opened(folder / name, relay, models.get(name)))
                await agent.profile({"timezone": "Europe/London", **SECRETS})
                if name in models:
                    await choose(agent)
                agent.connect()
                agents.append(agent)
            for agent in agents:
                await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
            yield Pair(relay, *agents), *agents


def opened(folder, relay: Relay, model: Scripted | None) -> Agent:
    """One agent, to be entered."""
    models = Opened(m=model) if model is not None else None
    return Agent(folder, clock=relay.clock, models=models, waiting=Waited())


async def choose(agent: Agent, **more: Any) -> None:
    """The model for every tier."""
    await agent.set_to(SETTING, {"tiers": {"small": DEFINITION}, **more})


async def dinner(both: Pair, anna: Agent, ben: Agent, text: str = "dinner with ben on Friday evening") -> str:
    """A dinner from one sentence to its end; the thread."""
    thread = (await anna.ask(text, [ben.me]))["thread_id"]
    for person in (anna, ben):
        asked = await both.question(person, "consent")
        known = [one["field"] for one in asked["fields"] if len(one["values"]) == 1]
        await person.answer(asked["question_id"], share(asked, *known))
    for person in (anna, ben):
        proposed = await both.question(person, "checkpoint")
        await person.answer(proposed["question_id"], Answer(confirm=True))
    for person in (anna, ben):
        await both.state(person, thread, "COMPLETED")
    return thread
