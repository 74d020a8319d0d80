"""SIGKILL of a personal agent before and after its events and effects: nothing is sent, asked or booked twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys

import pytest

from tacit.agent.shell.io.agent import Agent
from tests.agent.arrangements import registered
from tests.days import weekday
from tests.faults.arranging_program import said_to
from tests.relay_support import Relay


@contextlib.asynccontextmanager
async def lives():
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.faults.arranging_program",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip

    async def live(**order) -> dict:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        answer = json.loads(await process.stdout.readline())
        assert answer["signal"] in {0, signal.SIGKILL}, answer
        return answer

    try:
        yield live
    finally:
        process.stdin.close()
        await process.wait()


async def willing(agent: Agent) -> None:
    """The other owner: shares the times, says yes."""
    while True:
        for one in (await agent.pending())["questions"]:
            await agent.answer(one["question_id"], said_to(one))
        await asyncio.sleep(0.02)


async def ended(task: asyncio.Task) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def killed_at(tmp_path, aims, friends=("ben",)) -> tuple[int, int]:
    """Arrange dinners while dying at each of these points; how often it died, and how many dinners there were."""
    deaths = dinners = 0
    names = ("anna", *friends)
    async with Relay(tmp_path / "relay") as relay, lives() as live, contextlib.AsyncExitStack() as stack:
        for name in names:
            await registered(relay, tmp_path / name, name, *(one for one in names if one != name))
        folder = tmp_path / "anna"
        others = [await stack.enter_async_context(Agent(tmp_path / name)) for name in friends]
        for one in others:
            one.connect()
        owners = [asyncio.create_task(willing(one)) for one in others]
        for owner in owners:
            stack.push_async_callback(ended, owner)
        done = True
        order = {"folder": str(folder), "to": [f"{name}@{relay.domain}" for name in friends]}
        for number in aims:
            dinners += done
            day = weekday(1 + dinners % 6)
            end = await live(**order, dinners=dinners, day=day, number=number)
            done = end["signal"] == 0
            deaths += not done
        if not done:
            assert (await live(**order, dinners=dinners, day=day, number=0))["signal"] == 0
        async with asyncio.timeout(60):
            while any(one.state != "COMPLETED" for other in others for one in threads(other)):
                await asyncio.sleep(0.02)
        for owner in owners:
            await ended(owner)
        for other in others:
            check(other, folder, dinners)
    return deaths, dinners


def threads(agent: Agent) -> list:
    begun = [one.thread_id for one, _ in agent.journal.records("x.a2acp.began")]
    return [agent.journal.book.threads[name] for name in begun]


def check(ben: Agent, folder, dinners: int) -> None:
    found = threads(ben)
    assert len(found) == dinners
    for thread in found:
        came = [one.type for one in thread.packets if one.side == "them"]
        assert came.count("context") == 1, came
        assert came.count("resolution") <= 1, came
        assert came.count("resolution_response") == 1, came
        bodies = [json.dumps(ben.vault.packet(thread.peer, one.packet_id, "them")) for one in thread.packets]
        assert len(bodies) == len(thread.packets)
    entries = (folder / "calendar.ics").read_text()
    assert entries.count("BEGIN:VEVENT") == dinners
    booked = (folder / "bookings.txt").read_text().split() if (folder / "bookings.txt").exists() else []
    assert len(booked) == len(set(booked)) <= dinners
    answers = (folder / "answered.txt").read_text().split()
    assert len(answers) == len(set(answers))


@pytest.mark.spec("A2ACP-215", "A2ACP-216", "A2ACP-217", "A2ACP-166")
async def test_killed_at_some_points_an_agent_asks_sends_and_books_once(tmp_path):
    deaths, _ = await killed_at(tmp_path, [7, 12, 3, 16, 9, 2])
    assert deaths >= 4


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_killed_at_every_point_an_agent_asks_sends_and_books_once(tmp_path):
    deaths, dinners = await killed_at(tmp_path, range(1, 90))
    assert deaths >= 60
    assert dinners >= 2


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_a_coordinator_killed_at_every_point_ends_each_group_once_for_all(tmp_path):
    deaths, dinners = await killed_at(tmp_path, range(1, 130), ("ben", "cleo"))
    assert deaths >= 60
    assert dinners >= 2
