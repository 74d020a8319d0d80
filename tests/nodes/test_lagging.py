"""A replica that stands still while others write, and then is the one that is read from, or leads."""

from __future__ import annotations

import asyncio
import random
import signal
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.ledger.io.jetstream.servers import opened, three
from tests.nodes.history import breaches
from tests.nodes.hubs import WAIT, House

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server


def leader(hubs: House, name: str) -> str:
    """The server that leads a stream now; empty when none does."""
    with closing(opened(hubs.servers, hubs.stream, hubs.replicas)) as stream:
        told = stream.connection.wait(stream.connection.ask(name, "INFO", {})).cluster
    return told.leader if told is not None else ""


def step_down(hubs: House, preferred: str) -> None:
    with closing(opened(hubs.servers, hubs.stream, hubs.replicas)) as stream:
        wanted = {"placement": {"preferred": preferred}}
        stream.connection.wait(stream.connection.ask(stream.name, "LEADER.STEPDOWN", wanted, tries=1))


async def make_lead(hubs: House, server: Server) -> None:
    """A replica that lags is not preferred: it is asked until it leads."""
    async with asyncio.timeout(WAIT):
        while await asyncio.to_thread(leader, hubs, hubs.stream) != server.name:
            await asyncio.to_thread(step_down, hubs, server.name)
            for hub in hubs.hubs:
                await hubs.follows(hub)


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_a_replica_that_stood_still_is_read_from_and_leads(tmp_path: Path) -> None:
    """Each hub is at another server, so that one of them is behind the replica that lags."""
    servers = three(tmp_path / "servers")
    try:
        async with House(tmp_path, servers, random.Random(17), 3, lease=15.0, one_each=True) as hubs:
            await hubs.open_groups(2)

            async def lag() -> None:
                for late in servers:
                    leads = await asyncio.to_thread(leader, hubs, hubs.stream)
                    if late.name == leads:
                        continue
                    at = hubs.hubs[servers.index(late)]
                    late.process.send_signal(signal.SIGSTOP)
                    for _ in range(5):
                        for hub in hubs.others(at):
                            await hubs.follows(hub)
                    late.process.send_signal(signal.SIGCONT)
                    await hubs.follows(at)
                    await make_lead(hubs, late)
                    for hub in hubs.hubs:
                        await hubs.follows(hub)

            await hubs.live(lag)
            assert breaches(await hubs.history()) == []
    finally:
        for server in servers:
            server.process.send_signal(signal.SIGCONT)
            server.kill()
