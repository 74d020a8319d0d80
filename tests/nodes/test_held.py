"""Publishes that the network holds back beyond every time-out, and for longer than the servers know ids: once or never."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.ledger.io.jetstream.servers import opened
from tests.nodes.history import breaches
from tests.nodes.hubs import WAIT, House

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.ledger.io.jetstream.proxy import Proxy
    from tests.ledger.io.jetstream.servers import Server

WINDOW = 0.5
"""Seconds for which the servers know what was written by its id; two minutes otherwise."""


def shorten_window(hubs: House) -> None:
    with closing(opened(hubs.servers, hubs.stream, hubs.replicas)) as stream:
        ask = stream.connection.ask
        told = stream.connection.wait(ask(stream.name, "INFO", {}))
        wanted = {**told.config, "duplicate_window": int(WINDOW * 1_000_000_000)}
        assert stream.connection.wait(ask(stream.name, "UPDATE", wanted)).error is None


async def live_on(hubs: House, seconds: float) -> None:
    """Others write for so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for hub in hubs.hubs:
            if hub.is_up:
                await hubs.follows(hub)


async def has_held(proxies: Sequence[Proxy]) -> None:
    async with asyncio.timeout(WAIT):
        while not any(proxy.held for proxy in proxies):
            await asyncio.sleep(0.01)


async def test_a_publish_that_lands_when_its_repeat_is_forgotten_stands_once(
    tmp_path: Path, server: Server
) -> None:
    async with House(tmp_path, [server], random.Random(15), through_proxies=True) as hubs:
        await hubs.open_groups(1)
        await asyncio.to_thread(shorten_window, hubs)

        async def hold() -> None:
            for proxy in hubs.proxies:
                proxy.plan.append("hold")
            await has_held(hubs.proxies)
            await live_on(hubs, 2 * WINDOW)
            for proxy in hubs.proxies:
                proxy.plan.clear()
                await asyncio.to_thread(proxy.release)

        await hubs.live(hold)
        assert breaches(await hubs.history()) == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(4))
async def test_batches_and_fences_that_are_held_until_nobody_can_tell_land_once_or_never(
    tmp_path: Path, server: Server, seed: int
) -> None:
    """They come in any order; meanwhile the hub that sent them has the group still, or has died."""
    chance = random.Random(100 + seed)
    async with House(tmp_path, [server], chance, 3, through_proxies=True) as hubs:
        await hubs.open_groups(2)
        await asyncio.to_thread(shorten_window, hubs)

        async def hold() -> None:
            writer = await hubs.writer()
            proxy = hubs.proxies[hubs.hubs.index(writer)]
            proxy.always = "hold"
            async with asyncio.timeout(WAIT):
                while not (await hubs.insist("GET", "/v1/status", hub=writer))["stream"]["batches"][
                    "unknown"
                ]:
                    await asyncio.sleep(0.1)
            proxy.always = "pass"
            if seed % 2:
                await asyncio.to_thread(writer.kill)
                await hubs.writer(*hubs.others(writer))
            chance.shuffle(proxy.held)
            if seed < 2:
                # The group goes on before they land: after fences, or at another node.
                await live_on(hubs, 2 * WINDOW)
            await asyncio.to_thread(proxy.release)
            if not writer.is_up:
                await asyncio.to_thread(writer.start)
            for hub in hubs.hubs:
                await hubs.follows(hub)

        await hubs.live(hold)
        assert breaches(await hubs.history()) == []
