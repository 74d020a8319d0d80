"""What was taken back, and who was: nothing of a deleted message is read, nothing is posted to a removed actor."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from tacit.ledger.io import erasure
from tests.bridges.mcp.rooms import over_http
from tests.hub.room import WAIT, Failed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.hub.c2a.stage import Stage

WORD = "axolotl"


async def everything(stage: Stage, token: str, event_id: str) -> dict[str, Any]:
    """What one principal gets of a message by every way of reading there is."""
    base, group = f"/v1/groups/{stage.group_id}", stage.group_id
    paths = {
        "events": f"{base}/events",
        "event": f"{base}/events/{event_id}",
        "thread": f"{base}/events/{event_id}/thread",
        "window": f"{base}/window",
        "timeline": f"{base}/timeline",
        "search": f"{base}/search?q={WORD}",
        "inbox": f"{base}/inbox",
        "traces": f"{base}/traces",
        "work": f"{base}/work?ended=true",
        "decisions": f"{base}/events/{event_id}/decisions",
    }
    read = {name: (await stage.get(path, token=token)).body for name, path in paths.items()}
    last = await stage.last_seq(group)
    async with stage.socket(token) as socket, stage.stream(group, token) as stream:
        read["socket"] = await socket.call("events", group_id=group)
        await socket.call("follow", group_id=group)
        for name, source in (("replay", socket), ("sse", stream)):
            read[name] = [await source.event()]
            while read[name][-1]["seq"] < last - 1:
                read[name].append(await source.event())
    return read


@pytest.mark.spec("C2A-187", "C2A-189")
async def test_nothing_of_a_deleted_message_is_read_by_any_door(stage: Stage) -> None:
    ann, eve = await stage.member("ann"), await stage.member("eve")
    group, base = stage.group_id, f"/v1/groups/{stage.group_id}"
    blob = (await stage.call("POST", f"{base}/blobs", data=b"axolotl.png", token=ann)).body["path"]
    said = await stage.tell(f"an {WORD} at noon", ann, attachments=[{"path": blob}])
    edited = await stage.edit(said, f"the {WORD} at one", ann)
    assert edited.status == 200
    await stage.tell("what is that?", reply_to=said["id"])
    await stage.tell("and what is this?", eve)
    for token in (ann, eve, stage.owner):
        shown = await everything(stage, token, said["id"])
        assert {name for name, found in shown.items() if WORD in json.dumps(found)} >= {
            "events", "event", "thread", "window", "timeline", "search", "socket", "replay", "sse"
        }  # fmt: skip
        assert (await stage.get(f"{base}/blobs/{blob}", token=token)).status == 200
    assert (await stage.delete(said, ann)).status == 200
    await stage.tell("it is gone", eve)
    for token in (ann, eve, stage.owner):
        shown = await everything(stage, token, said["id"])
        assert {name for name, found in shown.items() if WORD in json.dumps(found)} == set()
        kept = {one["id"]: one for one in shown["events"]["events"]}
        assert kept[said["id"]]["data"] == {"text": "", "deleted": True}
        assert kept[edited.body["id"]]["data"]["text"] == ""
        assert shown["replay"][said["seq"] - 1] == shown["sse"][said["seq"] - 1] == kept[said["id"]]
    for token in (eve, stage.owner):
        assert (await stage.get(f"{base}/blobs/{blob}", token=token)).code == "blob_not_found"
        async with stage.socket(token) as socket:
            with pytest.raises(Failed) as failed:
                await socket.call("blob", group_id=group, path=blob)
            assert failed.value.code == "blob_not_found"
        data = {"text": "look", "attachments": [{"path": blob}]}
        assert (await stage.append(group, "chat.message", data, token)).status == 400
    async with over_http(stage, eve) as mcp:
        for tool, given in (
            ("chat_search", {"query": WORD}),
            ("chat_read_channel", {}),
            ("chat_list_events", {}),
        ):
            assert WORD not in json.dumps(await mcp.done(tool, **given))
    # Who posts it again says it anew, and that is read again.
    await stage.call("POST", f"{base}/blobs", data=b"axolotl.png", token=ann)
    await stage.tell("here", ann, attachments=[{"path": blob}])
    assert (await stage.get(f"{base}/blobs/{blob}", token=eve)).status == 200


@pytest.mark.spec("C2A-187")
async def test_a_deleted_message_leaves_the_hubs_folder_in_every_byte(stage: Stage) -> None:
    folder = stage.server.hub.store.folder
    marks = (b"axolotlzymurgy", b"the bytes of a newtquixotic")
    ann = await stage.agent("ann")
    base = f"/v1/groups/{stage.group_id}"
    blob = (await stage.call("POST", f"{base}/blobs", data=marks[1])).body["path"]
    said = await stage.tell("@ann what is axolotlzymurgy?", attachments=[{"path": blob}])
    await ann.delivery(said)
    latest = (await stage.edit(said, "@ann what is an axolotlzymurgy?")).body["id"]
    await ann.delivery(latest)

    def holding() -> set[str]:
        files = [path for path in folder.rglob("*") if path.is_file()]
        return {path.name for path in files if any(mark in path.read_bytes() for mark in marks)}

    assert holding() == {"ledger.db-wal", blob}
    assert (await stage.delete(said)).status == 200
    async with asyncio.timeout(WAIT):
        while await stage.server.hub.ledger.read(lambda reader: erasure.is_pending(reader.connection)):
            await asyncio.sleep(0.01)
    assert holding() == set()
    shown = (await stage.get(f"{base}/events/{said['id']}")).body["event"]
    assert shown["redacted"]["by"] == "user"
    assert shown["data"] == {"mentions": ["ann"], "text": "", "deleted": True}
    (row,) = [
        row for row in (await stage.get(f"{base}/timeline")).body["rows"] if row["event"]["id"] == said["id"]
    ]
    assert row["event"]["redacted"] == shown["redacted"]


POSTED = web.AppKey("posted", list[Any])


@asynccontextmanager
async def receiver() -> AsyncIterator[tuple[str, list[Any]]]:
    """An address, and what was posted to it."""

    async def post(request: web.Request) -> web.Response:
        body = await request.json()
        request.app[POSTED].append(body)
        return web.json_response({"accepted": True, "eventId": body.get("params", {}).get("eventId")})

    app = web.Application()
    app[POSTED] = []
    app.router.add_post("/hook", post)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/hook", app[POSTED]
    finally:
        await runner.cleanup()


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.mark.spec("C2A-011")
async def test_a_removed_actors_webhook_hears_nothing_any_more(stage: Stage) -> None:
    group, base = stage.group_id, f"/v1/groups/{stage.group_id}"
    bea = await stage.agent("bea")
    async with receiver() as (dans, posted), receiver() as (eves, heard):
        for name, url in (("dan", dans), ("eve", eves)):
            await stage.member(name)
            answer = await stage.post(f"{base}/actors/{name}/webhook", {"url": url})
            assert answer.status == 201

        async def stir(word: str) -> None:
            async with stage.socket() as socket:
                await socket.call("typing", group_id=group)
            await bea.session.send(
                "channel:main", word, key=word, visibility="ephemeral", directedness="ambient"
            )
            await until(lambda: word in json.dumps(heard))

        await stir("first words")
        await until(lambda: "first words" in json.dumps(posted))
        wire = stage.server.hub.hooks._wires[group, "dan"]
        removed = await stage.append(group, "actor.remove", {"actor_id": "dan"})
        assert removed.status == 201
        await asyncio.wait({wire._task}, timeout=60)
        assert wire._task.done()
        posted.clear()
        await stir("second words")
        await until(lambda: (group, "dan") not in stage.server.hub.hooks._wires)
        await stir("third words")
        assert posted == []
        kept = await stage.server.hub.ledger.read(
            lambda reader: reader.connection.execute("SELECT session FROM webhooks").fetchall()
        )
        assert kept == [("eve",)]


@pytest.mark.spec("CCCS-110", "C2A-203")
async def test_typing_tells_outsiders_nothing_of_a_private_conversation(stage: Stage) -> None:
    group = stage.group_id
    await stage.agent("ann")
    eve = await stage.agent("eve")
    bea = await stage.person("bea")
    secret = await stage.tell("between us", bea, to=["ann"], conversation={"kind": "dm"})
    name = "dm:ann+usr:bea"
    places = (name, f"thread:{secret['id']}", secret["id"])
    async with stage.socket(bea) as beas, stage.socket(eve.token) as eves, stage.socket() as owners:
        for socket in (beas, eves, owners):
            await socket.call("follow", group_id=group, since_seq=await stage.last_seq(group))
        for place in places:
            await beas.call("typing", group_id=group, conversation_id=place)
            assert (await owners.note("typing"))["params"]["conversation_id"] == place
            with pytest.raises(Failed) as failed:
                await eves.call("typing", group_id=group, conversation_id=place)
            assert failed.value.code in {"permission_denied", "event_not_found"}
            async with stage.wire("eve") as raw:
                await raw.say(method="notifications/typing", params={"conversationId": place, "typing": True})
                await raw.call("tools/list")
        await beas.call("typing", group_id=group)
        # What is in order comes in order: the open one is the first that eve hears of.
        assert (await eves.note("typing"))["params"]["conversation_id"] is None
        assert (await owners.note("typing"))["params"]["conversation_id"] is None
