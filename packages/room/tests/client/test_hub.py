"""The asyncio client against a real hub on a real socket."""

from __future__ import annotations

import asyncio
import contextlib

import aiohttp
import msgspec
import pytest
from aiohttp import web

from tacit.client import Hub, OutcomeUnknown, Refused, Source, SourceUnavailable, Unavailable


async def test_a_sent_message_comes_back_as_a_typed_event(owner, group):
    sent = await owner.send(group, "hello", to=["@all"])
    assert (sent.event.kind, sent.event.by, sent.event.data["text"]) == ("chat.message", "user", "hello")
    assert not sent.duplicate


@pytest.mark.spec("CCCS-056")
async def test_sending_again_with_the_same_client_id_gives_the_first_event(owner, group):
    first = await owner.send(group, "hello", client_id="k1")
    again = await owner.send(group, "hello", client_id="k1")
    assert again.duplicate
    assert again.id == first.id
    assert (await owner.events(group, kinds=["chat.message"])).events == [first.event]


@pytest.mark.spec("CCCS-057")
async def test_the_same_key_with_other_words_is_refused(owner, group):
    await owner.send(group, "hello", client_id="k1")
    with pytest.raises(Refused) as refused:
        await owner.send(group, "goodbye", client_id="k1")
    assert refused.value.code == "idempotency_conflict"


@pytest.mark.spec("CCCS-111", "CCCS-112")
async def test_a_refusal_carries_code_message_and_row(owner, group):
    with pytest.raises(Refused) as refused:
        await owner.send(group, "   ")
    assert refused.value.code == "invalid_request"
    assert refused.value.details["row"] == "CCCS-047"


@pytest.mark.spec("CCCS-113")
async def test_a_hub_that_cannot_be_reached_is_unavailable(unused_tcp_port):
    async with Hub(f"http://127.0.0.1:{unused_tcp_port}", "x", retry_for=0.2) as hub:
        with pytest.raises(Unavailable):
            await hub.groups()


async def test_calls_survive_a_restart_of_the_hub(room, owner, group):
    await owner.send(group, "before")
    await room.stop()
    sending = asyncio.create_task(owner.send(group, "during", client_id="once"))
    await room.start()
    sent = await sending
    texts = [event.data["text"] for event in (await owner.events(group, kinds=["chat.message"])).events]
    assert texts == ["before", "during"]
    assert (await owner.send(group, "during", client_id="once")).id == sent.id


@pytest.mark.spec("CCCS-026", "CCCS-106")
async def test_a_follow_resumes_after_a_restart_with_no_gap_and_no_repeat(room, owner, group):
    seen: list[int] = []
    enough = asyncio.Event()

    async def watch() -> None:
        async for event in owner.follow(group):
            seen.append(event.seq)
            if event.data.get("text") == "last":
                enough.set()
                return

    watching = asyncio.create_task(watch())
    for number in range(20):
        await owner.send(group, f"one {number}")
    await room.stop()
    await room.start()
    for number in range(20):
        await owner.send(group, f"two {number}")
    await owner.send(group, "last")
    async with asyncio.timeout(60):
        await enough.wait()
        await watching
    assert seen == list(range(1, 43))


@pytest.mark.spec("CCCS-021", "CCCS-022", "CCCS-024")
async def test_unknown_kinds_and_members_do_not_stop_a_follow(owner, group):
    await owner.append(group, "x.foo.bar", {"v": 9, "anything": {"deep": [1]}})
    await owner.append(group, "chat.message", {"text": "plain", "v": 7, "extra": True})
    seen = []
    async for event in owner.follow(group):
        seen.append(event)
        if event.kind == "chat.message":
            break
    assert [event.kind for event in seen] == ["group.create", "x.foo.bar", "chat.message"]
    assert seen[1].data["anything"] == {"deep": [1]}
    assert seen[2].data["extra"] is True


@pytest.mark.spec("CCCS-100", "CCCS-099")
async def test_the_source_of_a_relayed_message_is_there_or_clearly_unavailable(room, owner, group):
    other = (await owner.create_group("Other"))["group_id"]
    ada = await owner.add_actor(other, "ada")
    original = await owner.send(group, "the original words")
    relayed = await owner.relay(other, group, original.id)
    assert relayed.event.data["text"] == "the original words"
    assert await owner.source_of(relayed.event) == Source(original.event)
    async with Hub(room.url, ada["token"]) as stranger:
        gone = await stranger.source_of(relayed.event)
    assert gone == SourceUnavailable(group, original.id, "permission_denied")
    assert str(gone) == "source unavailable (permission_denied)"
    assert await owner.source_of(original.event) is None


@pytest.mark.spec("CCCS-066", "CCCS-065")
async def test_reading_with_ack_appends_two_separate_events(room, owner, group):
    ada = await owner.add_actor(group, "ada")
    asked = await owner.send(group, "please", to=["ada"], attention=True)
    async with Hub(room.url, ada["token"]) as hub:
        moved = await hub.read(group, asked.id)
        assert (moved.event.kind, moved.event.data["event_id"]) == ("chat.read", asked.id)
        assert (await hub.inbox(group)).attention_count == 1
        await hub.read(group, asked.id, ack=True)
        box = await hub.inbox(group)
    assert (box.attention_count, box.unread_count) == (0, 0)
    kinds = [event.kind for event in (await owner.events(group)).events][-2:]
    assert kinds == ["chat.read", "chat.ack"]


@pytest.mark.spec("CCCS-071")
async def test_unread_counts_come_from_the_hub(room, owner, group):
    ada = await owner.add_actor(group, "ada")
    sent = [await owner.send(group, f"m{number}") for number in range(5)]
    async with Hub(room.url, ada["token"]) as hub:
        assert (await hub.inbox(group, limit=2)).unread_count == 5
        await hub.read(group, sent[2].id)
        box = await hub.inbox(group)
    assert box.unread_count == 2
    assert [event.id for event in box.unread] == [one.id for one in sent[3:]]


async def test_files_go_up_and_come_down_unchanged(owner, group, tmp_path):
    path = tmp_path / "plan.txt"
    path.write_bytes(b"the plan\n" * 1000)
    attachment = await owner.files.upload(group, path)
    sent = await owner.send(group, "", attachments=[attachment])
    assert sent.event.data["attachments"][0]["title"] == "plan.txt"
    assert await owner.files.download(group, attachment["path"]) == path.read_bytes()
    with pytest.raises(Refused) as refused:
        await owner.files.download(group, "0" * 64)
    assert refused.value.code == "blob_not_found"


class Fragile:
    """A peer that speaks just enough of the protocol to misbehave on purpose."""

    def __init__(self, on_call) -> None:
        self._on_call = on_call
        self.calls: list[dict] = []

    async def _serve(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            call = msgspec.json.decode(message.data)
            self.calls.append(call)
            await self._on_call(self, socket, call)
        return socket

    @contextlib.asynccontextmanager
    async def running(self):
        app = web.Application()
        app.router.add_get("/v1/ws", self._serve)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        finally:
            await runner.cleanup()


async def _answer(socket, call, result) -> None:
    await socket.send_str(
        msgspec.json.encode({"jsonrpc": "2.0", "id": call["id"], "result": result}).decode()
    )


async def test_a_connection_lost_after_sending_leaves_the_outcome_unknown():
    async def drop(_peer, socket, _call):
        await socket.close()

    async with Fragile(drop).running() as url, Hub(url, retry_for=1) as hub:
        with pytest.raises(OutcomeUnknown):
            await hub.create_group("Lobby")


async def test_a_repeatable_call_is_retried_when_the_connection_is_lost():
    async def drop_once(peer, socket, call):
        if len(peer.calls) == 1:
            await socket.close()
        else:
            await _answer(socket, call, {"groups": []})

    peer = Fragile(drop_once)
    async with peer.running() as url, Hub(url) as hub:
        assert await hub.groups() == []
    assert [call["method"] for call in peer.calls] == ["groups", "groups"]


def _event(seq: int, *, v: int = 1, ts: str = "2026-01-01T00:00:00Z", kind: str = "chat.message") -> dict:
    return {
        "v": v,
        "id": f"e{seq}",
        "ts": ts,
        "seq": seq,
        "kind": kind,
        "group_id": "g",
        "scope_key": "",
        "by": "user",
        "data": {"text": str(seq)},
    }


async def _tell(socket, event) -> None:
    note = {"jsonrpc": "2.0", "method": "event", "params": {"subscription": 1, "event": event}}
    await socket.send_str(msgspec.json.encode(note).decode())


@pytest.mark.spec("CCCS-014")
async def test_an_event_of_another_envelope_version_is_skipped_and_reported(caplog):
    async def serve(_peer, socket, call):
        if call["method"] == "capabilities":
            await _answer(socket, call, {"cursors": ["since_seq"], "filters": ["kinds"]})
        else:
            await _answer(socket, call, {"subscription": 1})
            for event in (_event(1), _event(2, v=2), _event(3)):
                await _tell(socket, event)

    async with Fragile(serve).running() as url, Hub(url) as hub:
        seen = []
        async for event in hub.follow("g"):
            seen.append(event.seq)
            if event.seq == 3:
                break
        assert seen == [1, 3]
        assert hub.skipped == 1
    assert "another envelope version" in caplog.text


@pytest.mark.spec("CCCS-109")
async def test_a_hub_without_seq_cursors_and_filters_is_followed_by_time_and_filtered_here():
    ts = "2026-01-01T00:00:00Z"

    async def serve(peer, socket, call):
        if call["method"] == "capabilities":
            await _answer(socket, call, {"cursors": ["since_ts"], "filters": []})
            return
        await _answer(socket, call, {"subscription": 1})
        follows = [one for one in peer.calls if one["method"] == "follow"]
        if len(follows) == 1:
            for event in (_event(1, ts=ts), _event(2, ts=ts, kind="x.a.b"), _event(3, ts=ts)):
                await _tell(socket, event)
            await socket.close()
        else:
            for seq in (1, 2, 3, 4):
                await _tell(socket, _event(seq, ts=ts))

    peer = Fragile(serve)
    async with peer.running() as url, Hub(url) as hub:
        seen = []
        async for event in hub.follow("g", kinds=["chat.*"]):
            seen.append(event.seq)
            if event.seq == 4:
                break
    assert seen == [1, 3, 4]
    first, second = [call["params"] for call in peer.calls if call["method"] == "follow"]
    assert first == {"group_id": "g"}
    assert second == {"group_id": "g", "since_ts": ts}


@pytest.mark.spec("CCCS-010", "CCCS-027")
async def test_events_keep_the_streams_order_whatever_their_times_and_scopes_say():
    async def serve(_peer, socket, call):
        if call["method"] == "capabilities":
            await _answer(socket, call, {"cursors": ["since_seq"], "filters": ["kinds"]})
            return
        await _answer(socket, call, {"subscription": 1})
        for seq, ts in (
            (1, "2026-01-01T00:00:09Z"),
            (2, "2026-01-01T00:00:01Z"),
            (3, "2026-01-01T00:00:05Z"),
        ):
            await _tell(socket, {**_event(seq, ts=ts), "scope_key": "%%not/parsed%%"})

    async with Fragile(serve).running() as url, Hub(url) as hub:
        seen = []
        async for event in hub.follow("g"):
            seen.append((event.seq, event.scope_key))
            if event.seq == 3:
                break
    assert seen == [(1, "%%not/parsed%%"), (2, "%%not/parsed%%"), (3, "%%not/parsed%%")]


@pytest.mark.spec("CCCS-112")
async def test_an_unknown_code_is_a_plain_failure():
    async def serve(_peer, socket, call):
        error = {"code": -1, "message": "no", "data": {"code": "never_heard_of", "message": "no"}}
        await socket.send_str(
            msgspec.json.encode({"jsonrpc": "2.0", "id": call["id"], "error": error}).decode()
        )

    async with Fragile(serve).running() as url, Hub(url) as hub:
        with pytest.raises(Refused) as refused:
            await hub.groups()
    assert refused.value.code == "never_heard_of"


@pytest.mark.spec("CCCS-023", "CCCS-097")
async def test_a_relayed_message_carries_the_originals_envelope_unchanged(owner, group):
    other = (await owner.create_group("Other"))["group_id"]
    original = (await owner.send(group, "words")).event
    relayed = (await owner.relay(other, group, original.id)).event
    said = msgspec.structs.asdict(original)
    kept = {name: value for name, value in said.items() if name not in {"data", "redacted"}}
    assert relayed.data["src_envelope"] == kept
    assert relayed.id != original.id


@pytest.mark.spec("CCCS-039")
async def test_a_further_person_takes_part_without_breaking_anybody(room, owner, group):
    bob = await owner.add_person(group, "usr:bob", title="Bob")
    async with Hub(room.url, bob["token"]) as hub:
        sent = await hub.send(group, "hello from a second human")
        assert sent.event.by == "usr:bob"
        asked = await owner.send(group, "bob?", to=["usr:bob"], attention=True)
        await hub.ack(group, asked.id)
    assert [event.by for event in (await owner.window(group))] == ["usr:bob", "user"]


async def test_typing_reaches_the_other_followers(room, owner, group):
    ada = await owner.add_actor(group, "ada")
    async with aiohttp.ClientSession() as session, session.ws_connect(f"{room.url}/v1/ws") as socket:
        await socket.send_json(
            {"jsonrpc": "2.0", "id": 1, "method": "authenticate", "params": {"token": ada["token"]}}
        )
        await socket.receive_json()
        params = {"group_id": group, "since_seq": 2}
        await socket.send_json({"jsonrpc": "2.0", "id": 2, "method": "follow", "params": params})
        await socket.receive_json()
        await owner.send(group, "marker")
        assert (await socket.receive_json())["method"] == "event"
        await owner.typing(group, "c1")
        note = await socket.receive_json()
    assert note["method"] == "typing"
    assert note["params"] == {"group_id": group, "by": "user", "conversation_id": "c1"}


async def test_who_looks_elsewhere_is_away_on_every_follow_and_over_a_restart_of_the_hub(room, owner, group):
    bob = await owner.add_person(group, "usr:bob")

    async def until(wanted: list[str], where: str) -> None:
        async with asyncio.timeout(60):
            while (await owner.presence(group)).get(where) != wanted:
                await asyncio.sleep(0.01)

    async with Hub(room.url, bob["token"], retry_for=10) as hub:
        stream = hub.follow(group)

        async def listen() -> None:
            async for _ in stream:
                pass

        listening = asyncio.create_task(listen())
        await until(["usr:bob"], "online")
        await hub.away()
        await until(["usr:bob"], "away")
        await room.stop()
        await room.start()
        await until(["usr:bob"], "away")
        await hub.away(away=False)
        await until(["usr:bob"], "online")
        listening.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await listening
        await stream.aclose()
    await until([], "online")
