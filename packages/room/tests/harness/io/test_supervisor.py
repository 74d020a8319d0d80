"""A supervisor keeps a team running: the fallen are started again, the refused are given up, each has a log."""

from __future__ import annotations

import asyncio
import json

import pytest

from tacit.base.errors import Refused, Unavailable, WrittenByNewer
from tacit.c2a.retry import Pace
from tacit.harness.io.supervisor import SupervisedAgent, Supervisor

QUICK = Pace(first=0.01, longest=0.02)


class Life:
    """A stand-in for a harness: ends as it is told. What is tested is what becomes of it."""

    def __init__(self, tell, endings) -> None:
        self._tell, self._endings = tell, endings
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self._stopped.set()

    async def run(self) -> None:
        self._tell("started")
        if self._endings:
            raise self._endings.pop(0)
        await self._stopped.wait()


def heard_by(told):
    return lambda name: lambda what, **data: told.append((name, what))


async def test_an_agent_that_falls_is_started_again_and_the_others_live_on(tmp_path):
    told = []
    endings = [Unavailable("the disk is full"), Unavailable("again")]
    posts = [
        SupervisedAgent("ada", lambda tell: Life(tell, endings), tmp_path / "ada.log"),
        SupervisedAgent("bob", lambda tell: Life(tell, []), tmp_path / "bob.log"),
    ]
    supervisor = Supervisor(posts, heard_by(told), pace=QUICK)
    running = asyncio.create_task(supervisor.run())
    async with asyncio.timeout(60):
        while told.count(("ada", "started")) < 3:
            await asyncio.sleep(0.005)
    assert told.count(("bob", "started")) == 1
    supervisor.stop()
    await running
    lines = [json.loads(line) for line in (tmp_path / "ada.log").read_text().splitlines()]
    assert [line["what"] for line in lines] == ["started", "fallen", "started", "fallen", "started"]
    assert lines[1]["reason"] == "the disk is full"
    assert (tmp_path / "bob.log").exists()


async def test_a_fault_of_our_own_ends_one_agent_and_not_the_team(tmp_path):
    told, endings = [], [OverflowError("too big")]
    posts = [
        SupervisedAgent("ada", lambda tell: Life(tell, endings), tmp_path / "ada.log"),
        SupervisedAgent("bob", lambda tell: Life(tell, []), tmp_path / "bob.log"),
    ]
    supervisor = Supervisor(posts, heard_by(told), pace=QUICK)
    running = asyncio.create_task(supervisor.run())
    async with asyncio.timeout(60):
        while told.count(("ada", "started")) < 2:
            await asyncio.sleep(0.005)
    assert told.count(("bob", "started")) == 1
    supervisor.stop()
    await running
    assert "OverflowError" in (tmp_path / "ada.log").read_text()


@pytest.mark.parametrize(
    "refused",
    [Refused("permission_denied", "the token was revoked"), WrittenByNewer("this folder's harness.db", 2, 1)],
    ids=["refused", "newer"],
)
async def test_an_agent_that_is_refused_is_given_up(tmp_path, refused):
    told = []
    supervisor = Supervisor(
        [SupervisedAgent("ada", lambda tell: Life(tell, [refused]), tmp_path / "a")], heard_by(told)
    )
    async with asyncio.timeout(60):
        await supervisor.run()
    assert told == [("ada", "started"), ("ada", "given_up")]
    assert supervisor.failed == {tmp_path / "a": refused}


async def test_agents_of_one_name_in_two_groups_both_leave(tmp_path):
    told = []
    posts = [
        SupervisedAgent("ada", lambda tell: Life(tell, []), tmp_path / group / "log")
        for group in ("g1", "g2")
    ]
    supervisor = Supervisor(posts, heard_by(told))
    running = asyncio.create_task(supervisor.run())
    async with asyncio.timeout(60):
        while told.count(("ada", "started")) < 2:
            await asyncio.sleep(0.005)
        supervisor.stop()
        await running


async def test_pauses_grow_and_a_stop_does_not_wait_for_them(tmp_path):
    told = []
    endings = [Unavailable("x") for _ in range(9)]
    supervisor = Supervisor(
        [SupervisedAgent("ada", lambda tell: Life(tell, endings), tmp_path / "a")],
        heard_by(told),
        pace=Pace(first=30.0),
    )
    running = asyncio.create_task(supervisor.run())
    async with asyncio.timeout(60):
        while ("ada", "fallen") not in told:
            await asyncio.sleep(0.005)
        supervisor.stop()
        await running
    assert told.count(("ada", "started")) == 1
