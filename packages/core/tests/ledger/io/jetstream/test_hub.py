"""A hub whose ledger is in a stream: its folder may be lost, and what nobody could tell of is told when it is known."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import Patience
from tacit.base.io.jetstream.safety import wanted_config
from tacit.base.nats_access import to_servers
from tacit.base.stream_plan import StreamPlan
from tacit.hub.bounds.quotas import Caller
from tacit.hub.config import BackupPlan, HubConfig, Limits
from tacit.hub.hub import RunningHub
from tacit.hub.telemetry.metrics import STREAM
from tests.hub.room import WAIT, running
from tests.hub.test_turns import endless, read_as
from tests.hub.test_turns import until as until_so
from tests.ledger.io.jetstream.proxy import Proxy
from tests.ledger.io.jetstream.servers import free_port, new_name, one, opened
from tests.ledger.io.jetstream.test_erasing import on_disk
from tests.ledger.io.jetstream.test_traps import until
from tools.places import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ledger.io.jetstream.servers import Server

PAGE = ROOT / "docs" / "nats.md"
SHORT = Patience(answer=0.3, tries=2, pause=0.01)


def plan(server: Server | Proxy, name: str) -> StreamPlan:
    return StreamPlan((server.url,), name, 1)


@pytest.mark.spec("CCCS-018", "CCCS-086", "C2A-187")
async def test_a_hub_outlives_its_folder(tmp_path: Path, server: Server) -> None:
    folder, stream = tmp_path / "data", plan(server, new_name())
    async with running(folder, stream=stream) as room:
        group = await room.group()
        ann = await room.actor(group, "ann")
        said = [(await room.say(group, text))["id"] for text in ("one", "a-hubs-secret", "three")]
        await room.say(group, "four", ann, reply_to=said[0])
        blob = await room.call("POST", f"/v1/groups/{group}/blobs", data=b"a file's bytes")
        path = blob.body["path"]
        await room.ok("POST", f"/v1/groups/{group}/events/{said[1]}/delete", json={})
        before = await room.events(group)
    shutil.rmtree(folder)
    async with running(folder, stream=stream) as room:
        assert await room.events(group, ann) == await room.events(group) == before
        assert (await room.get(f"/v1/groups/{group}/blobs/{path}")).raw == b"a file's bytes"
        await room.say(group, "five", ann)
        assert await room.last_seq(group) == before[-1]["seq"] + 1
    assert not on_disk("a-hubs-secret", server.folder)
    async with running(folder, stream=stream) as room:
        assert len(await room.events(group)) == len(before) + 1


@pytest.mark.spec("CCCS-103")
async def test_what_nobody_could_tell_of_reaches_followers_when_it_is_known(
    tmp_path: Path, server: Server
) -> None:
    """The group is written to by nobody else: the hub asks by itself what became of it."""
    proxy = Proxy(server.port, name := new_name())
    direct = opened([server.url], name, 1)
    try:
        async with running(tmp_path / "data", stream=plan(proxy, name)) as room:
            connection = connection_of(room.server.hub)
            group = await room.group()
            async with room.stream(group) as followed:
                patience, connection.patience = connection.patience, SHORT
                proxy.always = "hold"
                answer = await room.append(group, "chat.message", {"text": "landed"})
                assert answer.status == 503
                assert answer.body["details"] == {"reason": "outcome_unknown"}
                # It lands while all else is held back still: before the hub can have moved the subject.
                end = direct.end()
                proxy.held = proxy.held[:1]
                proxy.release()
                await asyncio.to_thread(until, lambda: direct.end() > end)
                connection.patience, proxy.always = patience, "pass"
                while (told := await followed.event())["kind"] != "chat.message":
                    pass
                assert told["data"]["text"] == "landed"
            texts = [event["data"]["text"] for event in await room.events(group, kinds="chat.message")]
            assert texts == ["landed"]
    finally:
        direct.close()
        proxy.close()


async def test_a_hub_whose_servers_are_away_reads_is_not_ready_and_goes_on_when_they_are_back(
    tmp_path: Path,
) -> None:
    server = one(tmp_path / "server")
    try:
        async with running(tmp_path / "data", stream=plan(server, new_name())) as room:
            group = await room.group()
            connection = connection_of(room.server.hub)
            patience, connection.patience = connection.patience, SHORT
            server.kill()
            assert (await room.append(group, "chat.message", {"text": "lost"})).status == 503
            told = await room.get("/readyz")
            assert told.status == 503
            assert "commits fail" in told.body["why"][0]
            assert len(await room.events(group)) == 1
            connection.patience = patience
            server.restart()
            back = {"text": "back", "client_id": "k"}
            async with asyncio.timeout(WAIT):
                while (await room.append(group, "chat.message", back)).status == 503:
                    pass
                assert (await room.get("/readyz")).status == 200
            # What was answered as unknown may have waited in the connection, and then it is there once.
            texts = [event["data"]["text"] for event in await room.events(group, kinds="chat.message")]
            assert texts in (["back"], ["lost", "back"])
    finally:
        server.kill()


async def test_a_hub_that_stops_waits_for_no_read(tmp_path: Path, server: Server) -> None:
    """It looks whether something is left to do before it gives its groups back: not behind whoever reads."""
    limits = Limits(read_seconds=3_600.0)
    async with running(tmp_path / "data", stream=plan(server, new_name()), limits=limits) as room:
        tasks = [asyncio.create_task(read_as(room, Caller(str(one)), endless())) for one in range(4)]
        await until_so(lambda: room.server.hub.ledger.turns.waiting >= 2)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, Unavailable) for one in ended)


async def test_what_the_page_says_that_a_hub_may_do_is_enough(tmp_path: Path) -> None:
    permitted = re.search(r"```nats\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert permitted is not None
    server = one(tmp_path / "server", permitted[1].replace("…", "secret"))
    (tmp_path / "hub.creds").write_text("hub:secret")
    asked = StreamPlan((server.url,), replicas=1, credentials=tmp_path / "hub.creds")
    try:
        for _ in range(2):
            async with running(tmp_path / "data", stream=asked) as room:
                group = await room.group()
                said = await room.say(group, "a-hubs-secret")
                await room.ok("POST", f"/v1/groups/{group}/blobs", data=b"bytes")
                await room.ok("POST", f"/v1/groups/{group}/events/{said['id']}/delete", json={})
                async with running(tmp_path / "two", stream=asked) as other:
                    await other.say(group, "through the other")
                    await room.say(group, "through the first")
                    async with asyncio.timeout(WAIT):
                        while await other.last_seq(group) < await room.last_seq(group):
                            pass
            assert not on_disk("a-hubs-secret", server.folder)
            shutil.rmtree(tmp_path / "data")
            shutil.rmtree(tmp_path / "two")
    finally:
        server.kill()


@pytest.mark.folder
async def test_a_hub_tells_how_its_stream_stands(tmp_path: Path, server: Server) -> None:
    name = new_name()
    async with running(tmp_path / "data", stream=plan(server, name)) as room:
        group = await room.group()
        await room.say(group, "one")
        told = (await room.get("/v1/status")).body["stream"]
        assert (told["name"], told["reached"], told["lives"]) == (name, True, True)
        assert told["version"].startswith("2.")
        assert told["batches"]["shipped"] >= 2
        assert (told["silent"], told["wrong"], told["lag"]) == ([], [], 0)
        assert [one["is_current"] for one in told["replicas"]] == [True]
        lines = (await room.get("/metrics")).raw.decode().splitlines()
        numbers = dict(line.rsplit(" ", 1) for line in lines if line.startswith("tacit_stream_"))
        assert numbers.keys() == STREAM.keys()
        assert float(numbers["tacit_stream_shipped"]) >= 2
        assert float(numbers["tacit_stream_lease_held"]) == 1
        page = PAGE.read_text(encoding="utf-8")
        assert [one for one in STREAM if one not in page] == []
        # Somebody changes the stream, and another server that was named is not there.
        connection = connection_of(room.server.hub)
        changed = {**wanted_config(name, 1), "discard": "old"}
        await asyncio.to_thread(lambda: connection.wait(connection.ask(name, "UPDATE", changed)))
        connection._access = to_servers([server.url, f"nats://127.0.0.1:{free_port()}"])
        told = (await room.get("/v1/status")).body["stream"]
        assert any("discard" in one for one in told["wrong"])
        assert len(told["silent"]) == 1
    async with running(tmp_path / "plain") as room:
        assert (await room.get("/v1/status")).body["stream"] is None
        assert "tacit_stream_" not in (await room.get("/metrics")).raw.decode()


def connection_of(hub: RunningHub) -> Any:
    return hub.nodes._among._connection  # type: ignore[union-attr, attr-defined]


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    stream = StreamPlan(("nats://127.0.0.1:1",))
    with pytest.raises(Refused, match="cache"):
        RunningHub(HubConfig(tmp_path, stream=stream, backups=BackupPlan(tmp_path)))
    with pytest.raises(Refused, match="letters"):
        RunningHub(HubConfig(tmp_path, stream=StreamPlan((), "no.dots")))
    assert not list(tmp_path.iterdir())


async def test_a_folder_that_follows_a_stream_is_served_by_no_hub_without_it(
    tmp_path: Path, server: Server
) -> None:
    async with running(tmp_path / "data", stream=plan(server, new_name())) as room:
        await room.group()
    with pytest.raises(Refused, match="--nats"):
        RunningHub(HubConfig(tmp_path / "data"))
