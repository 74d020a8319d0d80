"""What a scenario needs of the world: a place that takes bookings, and an agent that stops and starts again."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tacit.agent import Agent
from tacit.agent.consent.answering import Answer
from tests.agent.arrangements import Pair, share
from tests.relay_support import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

YES = Answer(confirm=True)


class Restaurant:
    """A web server that books tables by their keys; it can refuse, or book and cut the line."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.booked: dict[str, dict[str, Any]] = {}
        self.refuses = 0
        self.cuts = 0
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        said = await request.json()
        name = said["action_id"]
        self.requests.append((said["operation"], name))
        assert request.headers["Idempotency-Key"].startswith(name)
        if said["operation"] == "undo":
            self.booked.pop(name, None)
            return web.json_response({})
        if self.refuses:
            self.refuses -= 1
            return web.json_response({"reason": "full"}, status=422)
        if name in self.booked:
            return web.json_response({"action_id": name}, status=409)
        self.booked[name] = said["details"]
        if self.cuts:
            self.cuts -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.json_response({"reference": "T1"})


@contextlib.asynccontextmanager
async def restaurant():
    """One that is open."""
    place = Restaurant()
    application = web.Application()
    application.router.add_post("/book", place.take)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        place.url = f"http://127.0.0.1:{runner.addresses[0][1]}/book"
        yield place
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def reopened(both: Pair, agent: Agent):
    """The same folder, opened again after the agent in it has stopped."""
    await agent.__aexit__(None, None, None)
    async with Agent(agent.folder, clock=both.relay.clock) as fresh:
        both.agents = tuple(fresh if one is agent else one for one in both.agents)
        fresh.connect()
        async with _patience():
            await fresh.connection.connected.wait()
        yield fresh


def _patience():
    return asyncio.timeout(PATIENCE)


async def proposed(both: Pair, asking: Agent, other: Agent, text: str, **more: Any) -> str:
    """One sentence, one consent each; until both see the proposal."""
    begun = await asking.ask(text, **more)
    thread = begun["thread_id"]
    for one in (asking, other):
        async with _patience():
            while True:
                await both.settled()
                found = [
                    question
                    for question in (await one.pending())["questions"]
                    if question["thread_id"] == thread
                ]
                if found:
                    break
        if found[0]["kind"] == "consent":
            await one.answer(found[0]["question_id"], share(found[0]))
    await until(both, thread, "PROPOSED")
    return thread


async def until(both: Pair, thread: str, state: str) -> None:
    """Both agents go on until the thread is in this state on both sides."""
    async with _patience():
        while any(one.journal.book.threads[thread].state != state for one in both.agents):
            await both.settled()


async def checkpoint(both: Pair, one: Agent, thread: str) -> dict[str, Any]:
    """The owner's checkpoint in one thread."""
    async with _patience():
        while True:
            found = [
                question
                for question in (await one.pending())["questions"]
                if (question["kind"], question["thread_id"]) == ("checkpoint", thread)
            ]
            if found:
                assert len(found) == 1
                return found[0]
            await both.settled()


def entries(path: Path) -> int:
    """How many events a calendar file has."""
    return path.read_text("utf-8").count("BEGIN:VEVENT") if path.exists() else 0


def spoken(one: Agent, peer: Agent, thread: dict[str, Any], side: str, kind: str) -> list[dict[str, Any]]:
    """The fields of a thread's packets of one side and type."""
    return [
        one.vault.packet(peer.me, said["packet_id"], side) or {}
        for said in thread["history"]
        if (said["side"], said["type"]) == (side, kind)
    ]
