"""There is no room: in the stream, at the servers, or on a node's own disk. Who writes is told, and nothing is lost.

Limits of JetStream and of a process stand for disks: what a program is told by them is the same.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.ledger.io.jetstream.servers import one, opened
from tests.nodes.history import Kept, breaches
from tests.nodes.hubs import WAIT, House

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server
    from tests.nodes.hubs import HubProcess

LONG = "x" * 2_000


def limit_stream(hubs: House, more_bytes: int | None) -> None:
    """Let the ledger's stream grow by so many bytes, or without a limit again."""
    with closing(opened(hubs.servers, hubs.stream, hubs.replicas)) as stream:
        ask = stream.connection.ask
        told = stream.connection.wait(ask(stream.name, "INFO", {}))
        assert told.state is not None
        most = -1 if more_bytes is None else told.state.bytes + more_bytes
        wanted = {**told.config, "max_bytes": most}
        assert stream.connection.wait(ask(stream.name, "UPDATE", wanted)).error is None


async def fill(hubs: House, hub: HubProcess) -> dict[str, Any]:
    """Write until nothing more is taken; what the caller was told then."""
    async with asyncio.timeout(WAIT):
        for number in itertools.count():
            body = f"{len(hubs.sent)} {number} {LONG}"
            if await hubs.send(hub, hubs.groups[0], body) == "refused":
                break
    status, told = hubs.refusals[-1]
    assert status == 503
    return told


def require_clear(told: dict[str, Any]) -> None:
    """It may be tried again, and nobody has to ask what became of it."""
    assert told["code"] == "daemon_unavailable"
    assert told["message"].endswith("nothing was appended")
    assert "details" not in told


async def test_a_stream_that_is_full_takes_nothing_and_goes_on_when_there_is_room(
    tmp_path: Path, server: Server
) -> None:
    async with House(tmp_path, [server], random.Random(11)) as hubs:
        await hubs.open_groups(2)

        async def full() -> None:
            await asyncio.to_thread(limit_stream, hubs, 40_000)
            for hub in hubs.hubs:
                require_clear(await fill(hubs, hub))
                await hubs.insist("GET", f"/v1/groups/{hubs.groups[0]}/events?limit=1", hub=hub)
                async with asyncio.timeout(WAIT):
                    while not (await hubs.insist("GET", "/v1/status", hub=hub))["stream"]["wrong"]:
                        await asyncio.sleep(0.02)
            logs = [(tmp_path / f"{hub.name}.log").read_text() for hub in hubs.hubs]
            assert any("takes nothing" in log for log in logs)
            await asyncio.to_thread(limit_stream, hubs, None)
            for hub in hubs.hubs:
                await hubs.follows(hub)

        await hubs.live(full)
        assert breaches(await hubs.history()) == []


async def without_disk(hubs: House, hub: HubProcess) -> None:
    """What it answers while its disk takes nothing it also shows: so it acknowledges nothing."""
    hub.limit_files(0)
    for number in range(3):
        told = await hubs.send(hub, hubs.groups[0], f"no disk {len(hubs.sent)} {number}")
        await hubs.read(hub, hubs.groups[0])
        assert not isinstance(told, Kept)
    hub.limit_files(-1)


async def test_a_node_whose_disk_takes_nothing_says_so_and_goes_on_when_there_is_room(
    tmp_path: Path, server: Server
) -> None:
    """It cannot keep what others write either, and shows what it has."""
    async with House(tmp_path, [server], random.Random(12)) as hubs:
        await hubs.open_groups(2)

        async def full() -> None:
            writer = await hubs.writer()
            await without_disk(hubs, writer)
            await hubs.follows(writer)
            (other,) = hubs.others(writer)
            other.limit_files(0)
            # Written by the other node, and not to be seen at this one.
            assert not isinstance(await hubs.send(other, hubs.groups[0], "not seen here"), Kept)
            await hubs.read(other, hubs.groups[0])
            other.limit_files(-1)
            await hubs.follows(other)

        await hubs.live(full)
        assert breaches(await hubs.history()) == []


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_servers_whose_store_is_full_take_no_lease_either_and_all_goes_on_when_there_is_room(
    tmp_path: Path,
) -> None:
    """They are started again with more of it; the hubs are not."""
    server = one(tmp_path / "server")
    roomy = server.config.read_text()
    try:
        server.kill()
        server.config.write_text(roomy.replace("max_file: 1GB", "max_file: 400KB"))
        server.restart()
        async with House(tmp_path, [server], random.Random(13)) as hubs:
            await hubs.open_groups(2)

            async def full() -> None:
                require_clear(await fill(hubs, hubs.hubs[0]))
                async with asyncio.timeout(WAIT):
                    while (await hubs.insist("GET", "/v1/status"))["stream"]["lives"]:
                        await asyncio.sleep(0.1)
                server.kill()
                server.config.write_text(roomy)
                await asyncio.to_thread(server.restart)
                for hub in hubs.hubs:
                    await hubs.follows(hub)

            await hubs.live(full)
            assert breaches(await hubs.history()) == []
    finally:
        server.kill()
