"""Groups over real relays when something is set back or away: they end once, in one way, for all."""

from __future__ import annotations

import asyncio
import contextlib
import shutil

import pytest

from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tacit.base.moment import SECOND, parse_rfc3339
from tests.agent.arrangements import MONDAY, Pair, people, registered, share
from tests.relay.test_federation_http import allow
from tests.relay_support import PATIENCE, Relay, until

HOUR = 3600 * SECOND


async def online(agent: Agent) -> None:
    agent.connect()
    await asyncio.wait_for(agent.connection.connected.wait(), PATIENCE)


async def proposed(three: Pair, anna: Agent, *others: Agent) -> str:
    """A game night, up to where everybody is asked to confirm."""
    begun = await anna.ask("game night on Friday evening", [one.me for one in others])
    for one in (*others, anna):
        asked = await three.question(one, "consent")
        await one.answer(asked["question_id"], share(asked))
    for one in (*others, anna):
        await three.question(one, "checkpoint")
    return begun["thread_id"]


async def checkpoints(agent: Agent) -> list[str]:
    """The questions in which an owner is asked to confirm."""
    found = (await agent.pending())["questions"]
    return [one["question_id"] for one in found if one["kind"] == "checkpoint"]


def check(folder, agents, group_id: str) -> None:
    """It ended once, for all: one moment at which it was met, one entry for each."""
    met = [one for agent in agents for one, _ in agent.journal.records("x.a2acp.met")]
    assert [one.group_id for one in met] == [group_id]
    for agent in agents:
        name = agent.me.removeprefix("agent:").partition("@")[0]
        assert (folder / name / "calendar.ics").read_text().count("BEGIN:VEVENT") == 1, name


@pytest.mark.spec("A2ACP-213", "A2ACP-163")
async def test_a_participant_restored_from_last_week_hears_of_the_group_again_and_it_ends_once(tmp_path):
    async with people(tmp_path, "anna", "ben", "cleo") as (three, anna, ben, cleo):
        await ben.disconnect()
        shutil.copytree(tmp_path / "ben", tmp_path / "last_week")
        three.relay.clock.ahead += 7 * 24 * HOUR
        await online(ben)
        group_id = await proposed(three, anna, ben, cleo)
        await three.settled()
        await ben.__aexit__(None, None, None)
        shutil.rmtree(tmp_path / "ben")
        shutil.move(tmp_path / "last_week", tmp_path / "ben")
        three.agents = (anna, cleo)
        for one in (anna, cleo):
            asked = await three.question(one, "checkpoint")
            await one.answer(asked["question_id"], Answer(confirm=True))
        async with Agent(tmp_path / "ben", clock=three.relay.clock) as again:
            await online(again)
            three.agents = (anna, again, cleo)
            for _ in range(5):
                if asked := await checkpoints(again):
                    break
                await compared(three, anna, again)
            await again.answer(asked[0], Answer(confirm=True))
            for one in three.agents:
                await three.state(one, group_id, "COMPLETED")
            check(tmp_path, three.agents, group_id)
            three.agents = (anna, cleo)


async def compared(three: Pair, one: Agent, other: Agent) -> None:
    """An agent connects anew and compares its threads with another: at each connect, at most once a minute."""
    sql = "SELECT count(*) FROM history WHERE direction='out' AND type='thread_sync' AND peer=?"
    before = one.post.store.row(sql, other.me)
    three.relay.clock.ahead += 61 * SECOND
    await one.disconnect()
    await online(one)
    # It does so a moment after the mail that waited; whoever disconnects it before that waits for nothing.
    await until(lambda: one.post.store.row(sql, other.me) != before)
    await three.settled()


class TwoRelays(Pair):
    """Agents on two relays; the second can go and come back."""

    def _is_held(self) -> bool:
        # What a relay holds is asked of neither: tests here wait for states.
        return False


async def begun(stack: contextlib.AsyncExitStack, folder, port: int | None = None, **more) -> Relay:
    relay = Relay(folder, port=port, **more)
    relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
    return await stack.enter_async_context(relay)


@pytest.mark.spec("A2ACP-163", "A2ACP-255")
async def test_one_relay_of_two_is_gone_for_an_hour_and_the_group_ends_once(tmp_path):
    async with contextlib.AsyncExitStack() as outer, contextlib.AsyncExitStack() as inner:
        one = await begun(outer, tmp_path / "one", host="localhost")
        two = await begun(inner, tmp_path / "two", host="127.0.0.1")
        await allow(one, two.domain)
        await allow(two, one.domain)
        homes = {"anna": one, "ben": two, "cleo": two}
        agents = []
        for name, home in homes.items():
            await registered(home, tmp_path / name, name)
            agent = await outer.enter_async_context(Agent(tmp_path / name, clock=one.clock))
            await agent.profile({"timezone": "Europe/London"})
            agents.append(agent)
        anna, ben, cleo = agents
        for agent in agents:
            for other in agents:
                if other is not agent:
                    agent.post.inbox.welcome(other.me)
            await online(agent)
        three = TwoRelays(one, *agents)
        group_id = await proposed(three, anna, ben, cleo)
        await inner.aclose()
        # Everybody says yes while nobody beyond the second relay can be reached.
        for agent in agents:
            asked = await three.question(agent, "checkpoint")
            await agent.answer(asked["question_id"], Answer(confirm=True))
        one.clock.ahead += HOUR
        for agent in agents:
            await agent.settle()
        assert anna.journal.book.threads[group_id].state == "PROPOSED"
        back = Relay(tmp_path / "two", port=two.port, host="127.0.0.1")
        back.clock.ahead = one.clock.ahead
        await outer.enter_async_context(back)
        for agent in (ben, cleo):
            # A line that was down is tried again after a pause that grows; people need not wait for it here.
            await agent.disconnect()
            await online(agent)
        for agent in agents:
            await three.state(agent, group_id, "COMPLETED")
        check(tmp_path, agents, group_id)
        for agent in agents:
            await agent.disconnect()
