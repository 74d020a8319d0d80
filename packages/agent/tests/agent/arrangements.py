"""Two personal agents on a real relay, in one process: what a scenario needs."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tacit.base.moment import parse_rfc3339
from tests.agent_support import Person
from tests.relay_support import PATIENCE, Relay

MONDAY = "2026-03-23T09:00:00Z"
"""A Monday morning; London changes its clocks on the Sunday after."""


async def registered(relay: Relay, folder, name: str, *friends: str) -> None:
    """An agent's folder with its keys, known to the relay, and with contacts it has accepted."""
    person = Person(folder, relay, name)
    async with person.post:
        await person.register()
        await person.online()
        await asyncio.wait_for(person.connection.stocked.wait(), PATIENCE)
        await person.offline()
        for friend in friends:
            person.post.inbox.welcome(f"agent:{friend}@{relay.domain}")
    person.post.store.close()


class Pair:
    """Both agents, and how a test drives them."""

    def __init__(self, relay: Relay, *agents: Agent) -> None:
        self.relay = relay
        self.agents = agents

    async def settled(self) -> None:
        """Until both have done all they can and nothing is on its way."""
        quiet = 0
        async with asyncio.timeout(PATIENCE):
            while quiet < 3:
                for agent in self.agents:
                    await agent.settle()
                busy = any(agent.post.outbox.waiting(limit=1) for agent in self.agents)
                busy = busy or any(agent.post.inbox.unhandled(limit=1) for agent in self.agents)
                quiet = 0 if busy or self._is_held() else quiet + 1
                await asyncio.sleep(0.05)

    def _is_held(self) -> bool:
        """Whether the relay holds something for one who is there to take it."""
        boxes = self.relay.mailboxes
        there = [one for one in self.agents if one.connection and one.connection.connected.is_set()]
        known = [boxes.agent(one.me.removeprefix("agent:").partition("@")[0]) for one in there]
        return any(boxes.store.fetch(one.account, 0, 1) for one in known if one is not None)

    async def _turned(self) -> None:
        """Neither can wait for the other while only one of them is looked at."""
        for agent in self.agents:
            await agent.settle()

    async def question(self, agent: Agent, kind: str) -> dict[str, Any]:
        """The one open question of this kind, once it is asked."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self._turned()
                found = [one for one in (await agent.pending())["questions"] if one["kind"] == kind]
                if found:
                    assert len(found) == 1, found
                    return found[0]
                await asyncio.sleep(0.02)

    async def state(self, agent: Agent, thread_id: str, *states: str) -> dict[str, Any]:
        """The thread, once it is in one of these states."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self._turned()
                known = agent.journal.book.threads.get(thread_id)
                if known is not None and known.state in states:
                    return await agent.thread(thread_id)
                await asyncio.sleep(0.02)


def share(question: dict[str, Any], *names: str) -> Answer:
    """Share what was asked, or only some of it."""
    fields = names or [one["field"] for one in question["fields"]]
    return Answer(share=dict.fromkeys(fields))


@contextlib.asynccontextmanager
async def people(folder, *names: str, now: str = MONDAY, more=None):
    """Friends of each other, each with a profile, online; `more` is what each agent is given beside."""
    async with Relay(folder / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(now) - relay.clock.now()
        for name in names:
            await registered(relay, folder / name, name, *(one for one in names if one != name))
        async with contextlib.AsyncExitStack() as stack:
            agents = []
            for name in names:
                agent = await stack.enter_async_context(
                    Agent(folder / name, clock=relay.clock, **(more or {}).get(name, {}))
                )
                await agent.profile({"timezone": "Europe/London"})
                agent.connect()
                agents.append(agent)
            for agent in agents:
                await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
            yield Pair(relay, *agents), *agents


@contextlib.asynccontextmanager
async def pair(folder, *, now: str = MONDAY, zones=("Europe/London", "Europe/London"), more=None):
    """Anna and Ben, friends, each with a profile, online; `more` is what each agent is given beside, by name."""
    async with Relay(folder / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(now) - relay.clock.now()
        for name, friend in (("anna", "ben"), ("ben", "anna")):
            await registered(relay, folder / name, name, friend)
        async with contextlib.AsyncExitStack() as stack:
            agents = []
            for name, zone in zip(("anna", "ben"), zones, strict=True):
                agent = await stack.enter_async_context(
                    Agent(folder / name, clock=relay.clock, **(more or {}).get(name, {}))
                )
                await agent.profile(
                    {
                        "timezone": zone,
                        "dietary": f"{name} eats no meat",
                        "general_location_area": "central Reading",
                    }
                )
                agent.connect()
                agents.append(agent)
            for agent in agents:
                await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
            yield Pair(relay, *agents), *agents
