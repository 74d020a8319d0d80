"""Several personal agents on one relay that keep spaces together: what a test of them needs."""

from __future__ import annotations

import asyncio
import contextlib

from tacit.agent import Agent
from tacit.agent.spaces.fold import SpaceTables
from tacit.base.moment import parse_rfc3339
from tacit.wire.version import SHARED_CONTEXT_SPACES
from tests.agent.arrangements import MONDAY, Pair, registered
from tests.relay_support import PATIENCE, Relay

FREE = ("status", "phase", "decisions", "next_actions", "notes", "title")
"""Fields that everybody here may know."""


class Company(Pair):
    """All of them, and how a test drives them."""

    def __init__(self, relay: Relay, folder, *agents: Agent) -> None:
        super().__init__(relay, *agents)
        self.folder = folder

    async def until(self, found):
        """What a condition finds, once it finds something."""
        async with asyncio.timeout(PATIENCE):
            while True:
                await self._turned()
                seen = found()
                seen = await seen if asyncio.iscoroutine(seen) else seen
                if seen:
                    return seen
                await asyncio.sleep(0.02)

    async def joined(self, agent: Agent) -> str:
        """Let an agent's owner say yes to the one invitation."""
        asked = await self.question(agent, "space_invite")
        await agent.answer(asked["question_id"], confirm=True)
        space_id = asked["thread_id"]
        await self.until(
            lambda: all(
                agent.me in one.journal.book.part(SpaceTables).spaces[space_id].present()
                for one in self.agents
                if space_id in one.journal.book.part(SpaceTables).spaces
                and one.journal.book.part(SpaceTables).spaces[space_id].status == "joined"
            )
        )
        return space_id

    async def sees(self, agent: Agent, space_id: str, **fields):
        """The space, once an agent's replica has these values; None for a field that is gone."""

        async def looked():
            shown = await agent.space("show", space_id=space_id, look=False)
            values = {one["field"]: one["value"] for one in shown["fields"]}
            wanted = {name.replace("__", "/"): value for name, value in fields.items()}
            return shown if all(values.get(name) == value for name, value in wanted.items()) else None

        return await self.until(looked)


@contextlib.asynccontextmanager
async def opened(company: Company, name: str):
    """An agent of the company, open and online, that was closed before."""
    async with Agent(company.folder / name, clock=company.relay.clock) as agent:
        agent.connect()
        await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
        yield agent


@contextlib.asynccontextmanager
async def company(folder, *names: str, free=FREE, now: str = MONDAY):
    """Friends by these names, online, who know of each other that they keep spaces."""
    async with Relay(folder / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(now) - relay.clock.now()
        for name in names:
            await registered(relay, folder / name, name, *(one for one in names if one != name))
        async with contextlib.AsyncExitStack() as stack:
            agents = []
            for name in names:
                agent = await stack.enter_async_context(Agent(folder / name, clock=relay.clock))
                with agent.post.store.transaction():
                    agent.post.store.run("UPDATE contacts SET features=?", SHARED_CONTEXT_SPACES)
                await agent.profile({"timezone": "Europe/London", "dietary": f"{name} eats no meat"})
                for field in free:
                    await agent.permissions(field, "always")
                agent.connect()
                agents.append(agent)
            for agent in agents:
                await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)
            yield Company(relay, folder, *agents), *agents
