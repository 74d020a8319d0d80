"""Hubs that share a ledger are killed, stopped and cut off while people use them; a judge says whether anybody was told wrong.

SIGKILL ends a process, not a machine: whether disks keep what they were told to keep is not tried here.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import TacitError
from tests.hub.c2a.stage import Agent
from tests.ledger.io.jetstream.servers import three
from tests.ledger.io.jetstream.test_cache import spoil
from tests.nodes.history import breaches
from tests.nodes.hubs import WAIT, House
from tests.nodes.test_full import fill, limit_stream, without_disk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

LOST: Any = ("pass", "pass", "eat", "eat the answer", "hold")
SPOILT = ("deleted", "truncated", "emptied", "of yesterday")


async def test_the_node_that_writes_stands_still_for_longer_than_its_lease(
    tmp_path: Path, server: Server
) -> None:
    async with House(tmp_path, [server], random.Random(2)) as hubs:
        await hubs.open_groups(2)
        await hubs.live(hubs.pause_writer)
        assert breaches(await hubs.history()) == []


async def test_a_hub_stands_still_or_dies_while_its_writer_goes_on(tmp_path: Path, server: Server) -> None:
    async with House(tmp_path, [server], random.Random(6)) as hubs:
        await hubs.open_groups(2)

        async def both() -> None:
            await hubs.pause_hub_alone()
            await hubs.kill_hub_alone()

        await hubs.live(both)
        assert breaches(await hubs.history()) == []


async def test_of_claims_that_race_at_two_doors_one_wins_each(tmp_path: Path, server: Server) -> None:
    async with House(tmp_path, [server], random.Random(3)) as hubs:
        await hubs.open_groups(1)
        await race(hubs, 200, ("ann", "ben"))
        assert breaches(await hubs.history()) == []


async def race(hubs: House, count: int, names: tuple[str, ...]) -> None:
    """Each file is wanted by two, at two doors, at once; each try is repeated until somebody has it."""
    tokens = [await hubs.actor(name) for name in names]
    for some in range(0, count, 20):
        async with asyncio.TaskGroup() as group:
            for number in range(some, some + 20):
                pair = hubs.chance.sample(tokens, 2)
                for hub, (name, token) in zip(hubs.hubs, pair, strict=False):
                    group.create_task(hubs.claim(hub, name, token, f"file{number}"))
    assert len({one.target for one in hubs.claims if one.answer == "won"}) == count


async def test_the_node_that_writes_is_killed_its_callers_move_over_and_an_agent_answers_once(
    tmp_path: Path, server: Server
) -> None:
    """The agent is connected to the other one, and what it is asked comes in at both."""
    async with House(tmp_path, [server], random.Random(4)) as hubs:
        await hubs.open_groups(2)
        # An agent is not pushed more than some deliveries a minute: others speak elsewhere.
        hubs.busy = hubs.groups[1:]
        (name, token), writer = await hubs.actor("ann"), await hubs.writer()
        seat: Any = SimpleNamespace(url=hubs.others(writer)[0].url)
        ann = Agent(seat, hubs.groups[0], name, token, accepts=True, known=None)
        await ann.start()

        async def kill() -> None:
            async with asyncio.TaskGroup() as group:
                group.create_task(hubs.ask(name, 10))
                group.create_task(hubs.kill(writer))
                for number in range(10):
                    async with asyncio.timeout(WAIT):
                        while len(hubs.asked) <= number or not await is_answered(ann, hubs.asked[number]):
                            await asyncio.sleep(0.01)

        try:
            await hubs.live(kill)
        finally:
            await ann.stop()
        assert breaches(await hubs.history()) == []


async def is_answered(agent: Agent, event: str) -> bool:
    with suppress(TacitError, OSError):
        return bool(await agent.answer(event, f"I know of {event}."))
    return False


async def test_everything_at_once(tmp_path: Path, server: Server) -> None:
    """Some seconds of it; an hour below."""
    async with House(tmp_path, [server], random.Random(5), through_proxies=True) as hubs:
        await hubs.open_groups(2)
        await hubs.live(lambda: some_of(hubs, tmp_path, 4))
        assert breaches(await hubs.history()) == []


async def some_of(hubs: House, tmp_path: Path, count: int) -> None:
    deeds = every_deed(hubs, tmp_path)
    for deed in hubs.chance.sample(deeds, count):
        await deed()


def every_deed(hubs: House, tmp_path: Path) -> list[Callable[[], Awaitable[None]]]:
    """What can be done to hubs, their network and their folders."""

    async def spoil_folder() -> None:
        how = hubs.chance.choice(SPOILT)

        def spoilt(folder: Path) -> None:
            yesterday = tmp_path / f"{folder.name}.yesterday"
            token = (folder / "owner.token").read_bytes()
            if not yesterday.exists():
                shutil.copytree(folder, yesterday)
            spoil(folder, how, yesterday)
            folder.mkdir(exist_ok=True)
            (folder / "owner.token").write_bytes(token)

        await hubs.kill_writer(spoilt)

    async def skew_clock() -> None:
        wrong = await hubs.writer()
        wrong.set_clock(hubs.chance.choice((600.0, -600.0)))
        await hubs.writer(*hubs.others(wrong))
        wrong.set_clock(0.0)
        await hubs.follows(wrong)

    async def fill_disk() -> None:
        writer = await hubs.writer()
        await without_disk(hubs, writer)
        await hubs.follows(writer)

    async def fill_stream() -> None:
        await asyncio.to_thread(limit_stream, hubs, 20_000)
        await fill(hubs, await hubs.writer())
        await asyncio.to_thread(limit_stream, hubs, None)
        await hubs.follows(await hubs.writer())

    through = [hubs.cut_writer, lambda: hubs.lose_some(LOST, 8)] if hubs.proxies else []
    return [
        hubs.kill_writer,
        hubs.stop_writer,
        hubs.pause_writer,
        hubs.pause_hub_alone,
        hubs.kill_hub_alone,
        lambda: flap(hubs, 4),
        spoil_folder,
        skew_clock,
        fill_disk,
        fill_stream,
        *through,
    ]


async def flap(hubs: House, times: int) -> None:
    for _ in range(times):
        await hubs.take_lease_away()


async def test_a_lease_that_is_lost_again_and_again(tmp_path: Path, server: Server) -> None:
    async with House(tmp_path, [server], random.Random(16)) as hubs:
        await hubs.open_groups(2)
        await hubs.live(lambda: flap(hubs, 8))
        assert breaches(await hubs.history()) == []


# -- long ones


def is_time() -> Callable[[], bool]:
    """Is there time for another round? `TACIT_NODES_MINUTES` says how long; one round there is in any case."""
    until = time.monotonic() + 60 * float(os.environ.get("TACIT_NODES_MINUTES", "60"))
    return lambda: time.monotonic() < until


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
async def test_everything_at_once_for_an_hour(tmp_path: Path, server: Server) -> None:
    """Three hubs, each round on a stream of its own; `TACIT_NODES_SEED` says what is drawn."""
    goes_on, seed, number = is_time(), int(os.environ.get("TACIT_NODES_SEED", "19")), 0
    while goes_on() or not number:
        number += 1
        folder = tmp_path / f"{number}"
        async with House(folder, [server], random.Random(seed + number), 3, through_proxies=True) as hubs:
            await hubs.open_groups(3)
            await hubs.live(lambda hubs=hubs, folder=folder: some_of(hubs, folder, 7), callers=6)
            assert breaches(await hubs.history()) == [], f"seed {seed + number}"
        shutil.rmtree(folder)


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_servers_of_three_die_under_load(tmp_path: Path) -> None:
    servers = three(tmp_path / "servers")
    try:
        async with House(tmp_path, servers, random.Random(6), 3, lease=15.0) as hubs:
            await hubs.open_groups(2)

            async def die() -> None:
                for deed in (hubs.kill_leader, hubs.kill_leader, hubs.kill_all_servers, hubs.kill_writer):
                    await deed()

            await hubs.live(die)
            assert breaches(await hubs.history()) == []
    finally:
        for server in servers:
            server.kill()


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_the_node_that_writes_stands_still_for_half_a_minute(tmp_path: Path, server: Server) -> None:
    """With the lease that hubs have, and long enough that others have written for a while."""
    async with House(tmp_path, [server], random.Random(7), lease=15.0) as hubs:
        await hubs.open_groups(2)

        async def stand_still() -> None:
            stands, until = await hubs.writer(), time.monotonic() + 30
            stands.pause()
            (other,) = hubs.others(stands)
            await hubs.writer(other)
            while time.monotonic() < until:
                await hubs.follows(other)
            stands.resume()
            await hubs.follows(stands)

        await hubs.live(stand_still)
        assert breaches(await hubs.history()) == []


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_a_thousand_claims_race_while_the_node_that_writes_is_killed(
    tmp_path: Path, server: Server
) -> None:
    async with House(tmp_path, [server], random.Random(8), 3) as hubs:
        await hubs.open_groups(1)
        async with asyncio.TaskGroup() as group:
            group.create_task(hubs.kill_writer())
            await race(hubs, 1000, tuple(f"agent{number}." for number in range(12)))
        assert breaches(await hubs.history()) == []
