"""Direct messages: only their parties and the owner get them, through every door (CCCS-110)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from tests.hub.room import Failed, Room

SECRET = "zebra"


@dataclass
class Scene:
    room: Room
    group: str
    ann: str
    bob: str
    eve: str
    bot: str
    blob: str
    secret: dict[str, Any]
    reply: dict[str, Any]

    @property
    def hidden(self) -> set[str]:
        return {self.secret["id"], self.reply["id"]}

    def outsiders(self) -> tuple[str, str]:
        return self.eve, self.bot


@pytest.fixture
async def scene(room: Room) -> Scene:
    group = await room.group()
    ann, bob, eve = [await room.actor(group, name) for name in ("ann", "bob", "eve")]
    bot = await room.service("svc:x.bot")
    uploaded = await room.call("POST", f"/v1/groups/{group}/blobs", data=b"secret bytes", token=ann)
    blob = uploaded.body["path"]
    secret = await room.say(
        group,
        f"{SECRET} at noon",
        ann,
        to=["bob"],
        conversation={"kind": "dm"},
        priority="attention",
        attachments=[{"path": blob}],
    )
    reply = await room.say(group, f"{SECRET} agreed", bob, reply_to=secret["id"])
    await room.say(group, "public", ann)
    return Scene(room, group, ann, bob, eve, bot, blob, secret, reply)


@pytest.mark.spec("CCCS-110")
async def test_a_page_leaves_a_visible_gap_for_outsiders(scene: Scene) -> None:
    everything = await scene.room.events(scene.group, scene.room.owner)
    for token in (scene.ann, scene.bob):
        assert await scene.room.events(scene.group, token) == everything
    for token in scene.outsiders():
        seen = await scene.room.events(scene.group, token)
        assert seen == [event for event in everything if event["id"] not in scene.hidden]
        page = await scene.room.get(f"/v1/groups/{scene.group}/events", token=token)
        assert SECRET.encode() not in page.raw
        assert page.body["next_cursor"] == everything[-1]["seq"]


@pytest.mark.spec("CCCS-110")
async def test_replay_and_live_leave_private_events_out_on_both_doors(scene: Scene) -> None:
    room, group = scene.room, scene.group
    async with (
        room.socket(scene.eve) as eve,
        room.socket(scene.bob) as bob,
        room.socket(scene.bot) as filtered,
        room.stream(group, scene.eve) as stream,
    ):
        await eve.call("follow", group_id=group)
        await bob.call("follow", group_id=group)
        await filtered.call("follow", group_id=group, kinds=["chat.*"])
        live = await room.say(group, f"{SECRET} live", scene.ann, to=["bob"])
        last = await room.say(group, "public again", scene.ann)
        seen = {"eve": [], "bob": [], "filtered": [], "stream": []}
        for name, source in (("eve", eve), ("bob", bob), ("filtered", filtered), ("stream", stream)):
            while not seen[name] or seen[name][-1]["id"] != last["id"]:
                seen[name].append(await source.event())
    hidden = scene.hidden | {live["id"]}
    assert hidden <= {event["id"] for event in seen["bob"]}
    for name in ("eve", "filtered", "stream"):
        assert not hidden & {event["id"] for event in seen[name]}
        assert SECRET not in str(seen[name])
    assert [event["seq"] for event in seen["bob"]] == list(range(1, last["seq"] + 1))


@pytest.mark.spec("CCCS-110")
async def test_event_thread_window_search_and_inbox_hide_it(scene: Scene) -> None:
    room, base = scene.room, f"/v1/groups/{scene.group}"
    for token in scene.outsiders():
        for event_id in scene.hidden:
            for path in (f"/events/{event_id}", f"/events/{event_id}/thread"):
                answer = await room.get(base + path, token=token)
                assert (answer.status, answer.code) == (404, "event_not_found")
        for path in ("/window", f"/search?q={SECRET}", "/search?q=noon"):
            assert SECRET.encode() not in (await room.get(base + path, token=token)).raw
    inbox = await room.ok("GET", base + "/inbox", token=scene.eve)
    assert SECRET not in str(inbox)
    assert inbox["unread_count"] == 1
    for token in (scene.ann, scene.bob, room.owner):
        found = (await room.ok("GET", base + f"/search?q={SECRET}", token=token))["events"]
        assert {event["id"] for event in found} == scene.hidden
        assert (await room.ok("GET", base + f"/events/{scene.secret['id']}", token=token))["owing"] == ["bob"]
        thread = (await room.ok("GET", base + f"/events/{scene.reply['id']}/thread", token=token))["events"]
        assert [event["id"] for event in thread] == [scene.secret["id"], scene.reply["id"]]
    answer = await room.get(base + "/inbox?actor_id=bob", token=scene.eve)
    assert (answer.status, answer.code) == (403, "permission_denied")
    assert (await room.ok("GET", base + "/inbox?actor_id=bob"))["attention_count"] == 1


@pytest.mark.spec("CCCS-110", "CCCS-088")
async def test_its_blob_is_for_its_parties(scene: Scene) -> None:
    room, path = scene.room, f"/v1/groups/{scene.group}/blobs/{scene.blob}"
    for token in (scene.ann, scene.bob, room.owner):
        assert (await room.get(path, token=token)).raw == b"secret bytes"
    for token in scene.outsiders():
        answer = await room.get(path, token=token)
        assert (answer.status, answer.code) == (404, "blob_not_found")
        async with room.socket(token) as socket:
            with pytest.raises(Failed) as failed:
                await socket.call("blob", group_id=scene.group, path=scene.blob)
            assert failed.value.code == "blob_not_found"
        data = {"text": "mine", "attachments": [{"path": scene.blob}]}
        assert (await room.append(scene.group, "chat.message", data, token)).code == "invalid_request"


@pytest.mark.spec("CCCS-110")
async def test_signs_on_a_private_message_are_as_private(scene: Scene) -> None:
    room, group, target = scene.room, scene.group, scene.secret["id"]
    signs = [
        ("chat.ack", {"actor_id": "bob", "event_id": target}),
        ("chat.read", {"actor_id": "bob", "event_id": target}),
        ("chat.reaction", {"actor_id": "bob", "event_id": target, "emoji": "+"}),
    ]
    for kind, data in signs:
        answer = await room.append(group, kind, {**data, "actor_id": "eve"}, scene.eve)
        assert (answer.status, answer.code) == (404, "event_not_found"), kind
        answer = await room.append(group, kind, data, scene.bob)
        assert answer.status == 201
        for token in scene.outsiders():
            assert answer.body["id"] not in {event["id"] for event in await room.events(group, token)}
        assert answer.body["id"] in {event["id"] for event in await room.events(group, scene.ann)}
    said = {"text": "x", "reply_to": target}
    assert (await room.append(group, "chat.message", said, scene.eve)).code == "event_not_found"


@pytest.mark.spec("CCCS-110", "CCCS-095")
async def test_an_outsider_can_neither_relay_it_nor_name_it_as_a_source(scene: Scene) -> None:
    room = scene.room
    target = await room.group("elsewhere")
    body = {"src_group_id": scene.group, "src_event_id": scene.secret["id"]}
    answer = await room.post(f"/v1/groups/{target}/relay", body, token=scene.bot)
    assert (answer.status, answer.code) == (404, "event_not_found")
    answer = await room.append(target, "chat.message", {"text": "x", **body}, scene.bot)
    assert answer.status in {403, 404}
    assert await room.last_seq(target) == 1


@pytest.mark.spec("CCCS-110")
async def test_a_cursor_may_name_a_hidden_event_but_shows_nothing_of_it(scene: Scene) -> None:
    seen = await asyncio.gather(
        *(
            scene.room.events(scene.group, token, since_event_id=scene.reply["id"])
            for token in scene.outsiders()
        )
    )
    for one in seen:
        assert SECRET not in str(one)
