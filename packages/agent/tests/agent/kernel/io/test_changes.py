"""Whoever shows an agent hears of every change, by ids and states alone."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from tacit.agent.consent.answering import Answer
from tacit.agent.kernel import records
from tacit.agent.kernel.io.changes import EVERYTHING, MOST_HELD, Changes
from tacit.agent.shell.io import door
from tacit.base.errors import Unavailable
from tacit.base.io import agent_socket as socket
from tests.agent.arrangements import pair, share
from tests.agent.minds import minds
from tests.agent.scripted import Scripted

WISH = {"text": "dinner with ben on Friday evening"}


async def _until(changes, **wanted):
    """The first change that has all of this, and all before it."""
    heard = []
    async with asyncio.timeout(60):
        async for one in changes:
            heard.append(one)
            if wanted.items() <= one.items():
                return heard
    raise AssertionError(heard)


@pytest.mark.spec("A2ACP-274")
async def test_a_follower_at_the_socket_hears_a_question_open_and_close_without_anybodys_words(tmp_path):
    async with pair(tmp_path) as (both, anna, _ben), door.served(anna, anna.folder):
        following = socket.follow(anna.folder)
        first = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            while not anna.changes._followers:
                await asyncio.sleep(0.01)
        await anna.ask("dinner with ben on Friday evening")
        asked = await both.question(anna, "consent")
        heard = [await first, *await _until(following, change="question", open=True)]
        assert heard[-1]["question_id"] == asked["question_id"]
        await anna.answer(asked["question_id"], Answer(share=share(asked).share, via="page"))
        closed = await _until(following, question_id=asked["question_id"], open=False)
        assert closed[-1]["via"] == "page"
        assert "eats no meat" not in str(heard + closed)
        await following.aclose()


async def test_a_follower_hears_that_the_agent_has_stopped(tmp_path):
    async with pair(tmp_path) as (_both, anna, _ben):
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(door.served(anna, anna.folder))
            waiting = asyncio.ensure_future(anext(socket.follow(anna.folder)))
            async with asyncio.timeout(60):
                while not anna.changes._followers:
                    await asyncio.sleep(0.01)
        with pytest.raises(ConnectionError):
            await waiting


async def test_who_waits_at_the_door_of_an_agent_that_stops_is_answered_or_hung_up_on(tmp_path, monkeypatch):
    monkeypatch.setattr(door, "AT_THE_END", 0.2)
    asked, goes_on = asyncio.Event(), asyncio.Event()

    class Thinking(Scripted):
        """A model that takes its time."""

        async def complete(self, prompt):
            asked.set()
            await goes_on.wait()
            return await super().complete(prompt)

    async with minds(tmp_path, anna=Thinking()) as (_both, anna, _ben):
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(door.served(anna, anna.folder))
            reader, silent = await asyncio.open_unix_connection(anna.folder / socket.FILE)
            asks = asyncio.ensure_future(socket.asked(anna.folder, "ask", WISH))
            async with asyncio.timeout(60):
                await asked.wait()
        async with asyncio.timeout(60):
            with pytest.raises(Unavailable):
                await asks
            assert await reader.read() == b""
        silent.close()
        with pytest.raises(ConnectionError):
            await socket.asked(anna.folder, "hints", {})
        monkeypatch.setattr(door, "AT_THE_END", 60.0)
        asked.clear()
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(door.served(anna, anna.folder))
            asks = asyncio.ensure_future(socket.asked(anna.folder, "ask", WISH))
            async with asyncio.timeout(60):
                await asked.wait()
            goes_on.set()
        assert (await asks)["thread_id"]


async def test_a_follower_that_falls_behind_is_told_to_look_again_and_holds_little():
    changes = Changes([])
    with changes.followed() as follower:
        for number in range(10 * MOST_HELD):
            changes.tell(records.Withdrawn(f"qst_{number}", "over"))
        assert len(follower._held) <= MOST_HELD
        heard = [await follower.next() for _ in range(len(follower._held))]
        assert EVERYTHING in heard
        changes.tell(records.Withdrawn("qst_new", "over"))
        assert (await follower.next())["question_id"] == "qst_new"
