"""Cross-group relay and attachments over the doors.

Rows: CCCS-086, CCCS-087, CCCS-088, CCCS-095, CCCS-096, CCCS-097, CCCS-098, CCCS-099, CCCS-100, CCCS-101,
CCCS-102.
"""

from __future__ import annotations

import base64
import hashlib
import io
import shutil
from typing import Any

import pytest

from tests.hub.room import Answer, Failed, Room


async def upload(room: Room, group: str, content: bytes, token: str = "", mime: str = "text/plain") -> str:
    answer = await room.call(
        "POST",
        f"/v1/groups/{group}/blobs",
        data=io.BytesIO(content),
        token=token,
        headers={"Content-Type": mime},
    )
    digest = hashlib.sha256(content).hexdigest()
    assert (answer.status, answer.body) == (201, {"path": digest, "sha256": digest, "bytes": len(content)})
    return digest


async def relay(
    room: Room, target: str, source: str, event: dict[str, Any], token: str = "", **more: Any
) -> Answer:
    body = {"src_group_id": source, "src_event_id": event["id"], **more}
    return await room.post(f"/v1/groups/{target}/relay", body, token=token)


@pytest.mark.spec("CCCS-095", "CCCS-096", "CCCS-097", "CCCS-101")
async def test_a_relay_carries_the_original_word_for_word_with_its_envelope_and_leaves_a_record(
    room: Room,
) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(
        source, "The build is *green*.", format="markdown", refs=[{"kind": "url", "url": "x"}]
    )
    answer = await relay(room, target, source, said)
    data = answer.body["data"]
    assert answer.status == 201
    assert (data["src_group_id"], data["src_event_id"], data["text"]) == (
        source,
        said["id"],
        said["data"]["text"],
    )
    assert data["src_envelope"] == {name: value for name, value in said.items() if name != "data"}
    assert (data["format"], data["refs"], data["to"]) == ("markdown", said["data"]["refs"], ["@all"])
    assert answer.body["id"] != said["id"]
    record = (await room.events(source))[-1]
    assert (record["data"]["dst_group_id"], record["data"]["dst_to"]) == (target, ["@all"])
    assert record["data"].get("priority", "normal") == "normal"


@pytest.mark.spec("CCCS-096")
@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("FYI: the whole story. Bye", 201),
        ("[Summarized] a story", 201),
        ("  [summarized] a story", 201),
        ("a story", 400),
        ("The whole story", 400),
        ("about [Summarized] a story", 400),
        ("", 400),
    ],
)
async def test_a_relayed_text_is_verbatim_or_marked(room: Room, text: str, status: int) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "the whole story")
    answer = await relay(room, target, source, said, text=text)
    assert answer.status == status
    assert await room.last_seq(target) == (2 if status == 201 else 1)
    assert await room.last_seq(source) == (3 if status == 201 else 2)


@pytest.mark.spec("CCCS-101", "CCCS-102")
async def test_without_a_record_the_destination_resolves_the_same(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "hello")
    kept = (await relay(room, target, source, said)).body["data"]
    bare = (await relay(room, target, source, said, record=False)).body["data"]
    assert kept == bare
    assert [event["data"].get("dst_group_id") for event in await room.events(source)] == [None, None, target]
    shown = await room.ok("GET", f"/v1/groups/{bare['src_group_id']}/events/{bare['src_event_id']}")
    assert shown["event"] == said


@pytest.mark.spec("CCCS-098", "CCCS-086")
async def test_a_relay_copies_blobs_and_opens_a_duty_of_its_own(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    ann, bob = await room.actor(source, "ann"), await room.actor(target, "bob")
    path = await upload(room, source, b"report", ann)
    assert (await room.get(f"/v1/groups/{target}/blobs/{path}")).code == "blob_not_found"
    said = await room.say(
        source, "see", ann, attachments=[{"path": path, "title": "r"}], priority="attention"
    )
    event = (await relay(room, target, source, said, priority="attention")).body
    attachment = event["data"]["attachments"][0]
    assert attachment == {"path": path, "title": "r", "sha256": path, "bytes": 6}
    assert (await room.get(f"/v1/groups/{target}/blobs/{path}", token=bob)).raw == b"report"
    owed = (await room.ok("GET", f"/v1/groups/{target}/inbox", token=bob))["attention"]
    assert [one["id"] for one in owed] == [event["id"]]
    assert (
        await room.append(target, "chat.ack", {"actor_id": "bob", "event_id": event["id"]}, bob)
    ).status == 201
    assert (await room.ok("GET", f"/v1/groups/{source}/events/{said['id']}"))["acknowledged"] == []


@pytest.mark.spec("CCCS-095", "CCCS-100")
async def test_an_unavailable_source_is_told_apart_by_code_and_nothing_is_written(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "hello")
    only_target = await room.service("svc:x.narrow", [target])
    missing = {"id": "00000000-0000-7000-8000-000000000000"}
    for answer, code in (
        (await relay(room, target, "g_none", said), "group_not_found"),
        (await relay(room, target, source, missing), "event_not_found"),
        (await relay(room, target, source, said, only_target), "permission_denied"),
        (await relay(room, "g_none", source, said), "group_not_found"),
        (await relay(room, target, source, (await room.events(source))[0]), "invalid_request"),
        (await relay(room, target, source, said, to=["nobody"]), "actor_not_found"),
    ):
        assert answer.code == code
    shown = await room.get(f"/v1/groups/{source}/events/{said['id']}", token=only_target)
    assert (shown.status, shown.code) == (403, "permission_denied")
    assert (await room.last_seq(source), await room.last_seq(target)) == (2, 1)


@pytest.mark.spec("C2A-187")
async def test_a_deleted_message_is_not_brought_back_by_a_relay(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "a slip")
    assert (await relay(room, target, source, said, client_id="k")).status == 201
    assert (await room.post(f"/v1/groups/{source}/events/{said['id']}/delete")).status == 200
    before = await room.last_seq(target)
    answer = await relay(room, target, source, said)
    assert (answer.status, answer.code) == (404, "event_not_found")
    again = await relay(room, target, source, said, client_id="k")
    assert again.status == 200
    assert await room.last_seq(target) == before


@pytest.mark.spec("CCCS-053", "CCCS-095")
async def test_source_ids_stand_together_and_are_checked_on_a_plain_message(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "hello")
    for data, code in (
        ({"src_group_id": source}, "invalid_request"),
        ({"src_event_id": said["id"]}, "invalid_request"),
        ({"src_group_id": "g_none", "src_event_id": said["id"]}, "group_not_found"),
        ({"src_group_id": source, "src_event_id": "none"}, "event_not_found"),
    ):
        assert (await room.append(target, "chat.message", {"text": "hello", **data})).code == code


@pytest.mark.spec("CCCS-056", "CCCS-095")
async def test_a_repeated_relay_writes_neither_message_nor_record_twice(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "hello")
    first = await relay(room, target, source, said, client_id="k")
    again = await relay(room, target, source, said, client_id="k")
    assert (first.status, again.status) == (201, 200)
    assert (again.body["event_id"], again.body["duplicate"]) == (first.body["id"], True)
    assert (await room.last_seq(source), await room.last_seq(target)) == (3, 2)


@pytest.mark.spec("CCCS-101")
async def test_records_of_relays_with_long_keys_are_kept_apart(room: Room) -> None:
    source, target = await room.group("a"), await room.group("b")
    said = await room.say(source, "hello")
    for end in ("1", "2"):
        assert (await relay(room, target, source, said, client_id="k" * 127 + end)).status == 201
    assert (await room.last_seq(source), await room.last_seq(target)) == (4, 3)


@pytest.mark.spec("CCCS-086", "CCCS-087", "CCCS-088")
async def test_a_blob_is_stored_under_its_hash_and_fetched_over_http_and_rpc(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    content = bytes(range(256)) * 5000
    path = await upload(room, group, content, mime="image/png")
    assert await upload(room, group, content, bob) == path
    place = f"/v1/groups/{group}/blobs/{path}"
    answer = await room.get(place, token=bob)
    assert (answer.status, answer.raw) == (200, content)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    part = await room.get(place, headers={"Range": "bytes=10-19"})
    assert (part.status, part.raw) == (206, content[10:20])
    async with room.socket(bob) as socket:
        read = b""
        while len(read) < len(content):
            got = await socket.call("blob", group_id=group, path=path, offset=len(read))
            assert (got["sha256"], got["bytes"], got["mime_type"]) == (path, len(content), "image/png")
            read += base64.b64decode(got["content"])
        assert read == content
        past = await socket.call("blob", group_id=group, path=path, offset=10**9)
        assert past["content"] == ""
        with pytest.raises(Failed) as failed:
            await socket.call("blob", group_id=group, path=path, offset=2**63 + 5)
        assert failed.value.code == "invalid_request"


@pytest.mark.spec("CCCS-086")
@pytest.mark.parametrize("mime", ["text/html", "image/svg+xml", "application/javascript", "x" * 300, "é/é"])
async def test_what_a_browser_could_run_is_only_offered_as_a_download(room: Room, mime: str) -> None:
    group = await room.group()
    path = await upload(room, group, b"<script>alert(1)</script>", mime=mime)
    answer = await room.get(f"/v1/groups/{group}/blobs/{path}")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == "attachment"


@pytest.mark.spec("CCCS-086", "CCCS-088")
@pytest.mark.parametrize(
    "path",
    [
        "../../owner.token",
        "..%2f..%2fowner.token",
        "%2e%2e/%2e%2e/owner.token",
        "/etc/passwd",
        "//etc/passwd",
        "..\\..\\owner.token",
        "%00",
        "0" * 64 + "%00",
        "0" * 64,
        "ff/" + "f" * 64,
        "incoming-1",
        "." * 10,
        "a" * 4000,
    ],
)
async def test_tricks_with_a_blobs_path_find_nothing(room: Room, path: str) -> None:
    from yarl import URL

    group = await room.group()
    url = URL(f"{room.url}/v1/groups/{group}/blobs/{path}", encoded=True)
    async with room.session.get(url, headers={"Authorization": f"Bearer {room.owner}"}) as response:
        body = await response.json()
        assert response.status == 404
        assert body["code"] in {"blob_not_found", "unknown_op"}
    async with room.socket() as socket:
        with pytest.raises(Failed) as failed:
            await socket.call("blob", group_id=group, path=path)
        assert failed.value.code in {"blob_not_found", "invalid_request"}
    answer = await room.append(group, "chat.message", {"text": "x", "attachments": [{"path": path}]})
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert await room.last_seq(group) == 1


@pytest.mark.spec("CCCS-084", "CCCS-087")
async def test_what_a_sender_says_about_an_attachment_must_be_true_and_is_completed(room: Room) -> None:
    group = await room.group()
    path = await upload(room, group, b"abc")
    for wrong in ({"sha256": "0" * 64}, {"bytes": 4}, {"kind": "film"}, {"path": None}):
        data = {"text": "x", "attachments": [{"path": path, **wrong}]}
        assert (await room.append(group, "chat.message", data)).code == "invalid_request"
    said = await room.say(group, "", attachments=[{"path": path, "kind": "text", "far": 1}])
    assert said["data"]["attachments"] == [
        {"path": path, "kind": "text", "far": 1, "sha256": path, "bytes": 3}
    ]


@pytest.mark.folder
@pytest.mark.spec("CCCS-088", "CCCS-113")
async def test_a_blob_whose_file_is_gone_or_cannot_be_written_is_the_hubs_trouble_not_the_callers(
    room: Room,
) -> None:
    group = await room.group()
    path = await upload(room, group, b"abc")
    shutil.rmtree(room.server.config.data / "blobs")
    answer = await room.get(f"/v1/groups/{group}/blobs/{path}")
    assert (answer.status, answer.code) == (503, "daemon_unavailable")
    answer = await room.call("POST", f"/v1/groups/{group}/blobs", data=b"more")
    assert (answer.status, answer.code) == (503, "daemon_unavailable")
