"""Tokens and limits: what a credential proves, when it dies, who is slowed down, what is too large."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import ipaddress
import json
import logging
import os
import ssl
from typing import TYPE_CHECKING

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from prometheus_client.parser import text_string_to_metric_families

from tacit.base.errors import Refused
from tacit.hub.config import HubConfig, Limits
from tacit.hub.doors.http import unauthenticated_answer
from tacit.hub.telemetry.logs import JsonLines
from tests.hub.room import WAIT, Failed, Room, running

if TYPE_CHECKING:
    from pathlib import Path


def files_with(folder: Path, needle: bytes) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes())


@pytest.mark.spec("CCCS-042")
async def test_tokens_lie_hashed_and_only_the_owners_lies_in_clear_in_its_own_file(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        bob = await room.actor(group, "bob")
        bot = await room.service("svc:x.bot")
        path = f"/v1/groups/{group}/actors/bob/tokens"
        given = await room.ok("POST", path, json={})
        other = given["token"]
        assert given == {"actor_id": "bob", "group_id": group, "token": other}
        owner = room.owner
        for answer in (
            await room.get(path),
            await room.get(f"/v1/groups/{group}"),
            await room.get(f"/v1/groups/{group}/events"),
        ):
            assert bob.encode() not in answer.raw
            assert other.encode() not in answer.raw
        for token in (bob, bot, other):
            assert files_with(tmp_path, token.encode()) == []
    for token in (bob, bot, other):
        assert files_with(tmp_path, token.encode()) == []
    assert files_with(tmp_path, owner.encode()) == ["owner.token"]
    assert (tmp_path / "owner.token").stat().st_mode & 0o777 == 0o600


async def test_a_call_without_a_valid_token_gets_401_and_says_how_to_come_back(room: Room) -> None:
    group = await room.group()
    for headers in (
        {},
        {"Authorization": "Bearer nope"},
        {"Authorization": "Basic dTpw"},
        {"Authorization": "Bearer"},
    ):
        for path in ("/v1/groups", f"/v1/groups/{group}/events", f"/v1/groups/{group}/blobs/{'0' * 64}"):
            answer = await room.get(path, token=None, headers=headers)
            assert (answer.status, answer.code) == (401, "permission_denied")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    stream = await room.get(f"/v1/groups/{group}/events", token=None, headers={"Accept": "text/event-stream"})
    assert stream.status == 401
    assert (await room.post(f"/v1/groups/{group}/blobs", token=None)).status == 401


async def test_a_websocket_with_a_wrong_token_is_not_opened(room: Room) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with room.socket("nope"):
            pass
    assert refused.value.status == 401


async def test_a_browser_authenticates_on_the_open_socket(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    ann = await room.actor(group, "ann")
    async with room.socket(None) as socket:
        for method, params in (
            ("events", {"group_id": group}),
            ("follow", {"group_id": group}),
            ("append", {"group_id": group, "kind": "chat.message", "data": {"text": "x"}}),
        ):
            with pytest.raises(Failed) as failed:
                await socket.call(method, **params)
            assert failed.value.code == "permission_denied"
        with pytest.raises(Failed):
            await socket.call("authenticate", token="nope")
        with pytest.raises(Failed):
            await socket.call("authenticate", token=5)
        assert await socket.call("authenticate", token=bob) == {"principal": "bob", "group_id": group}
        assert (await socket.call("events", group_id=group))["last_seq"] == 3
        with pytest.raises(Failed):
            await socket.call("authenticate", token=ann)
    assert await room.last_seq(group) == 3


async def test_a_socket_cannot_trade_its_token_for_another_so_that_revoking_the_first_still_ends_it(
    room: Room,
) -> None:
    group = await room.group()
    first = await room.actor(group, "bob")
    path = f"/v1/groups/{group}/actors/bob/tokens"
    (first_id,) = (await room.ok("GET", path))["tokens"]
    second = (await room.ok("POST", path, json={}))["token"]
    async with room.socket(first) as socket:
        await socket.call("follow", group_id=group)
        with pytest.raises(Failed):
            await socket.call("authenticate", token=second)
        await room.ok("DELETE", f"/v1/tokens/{first_id}")
        assert await asyncio.wait_for(socket.closed, WAIT) == 4001


async def test_a_socket_that_never_signs_in_is_closed(tmp_path: Path) -> None:
    async with (
        running(tmp_path, limits=Limits(sign_in_seconds=0.05)) as room,
        room.socket(None) as socket,
        room.socket() as known,
    ):
        assert await asyncio.wait_for(socket.closed, WAIT) == 4001
        assert (await known.call("groups")) == {"groups": []}


async def test_a_revoked_token_is_dead_at_once_on_http_sockets_and_streams(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    path = f"/v1/groups/{group}/actors/bob/tokens"
    (token_id,) = (await room.ok("GET", path))["tokens"]
    other = (await room.ok("POST", path, json={}))["token"]
    async with (
        room.socket(bob) as socket,
        room.socket(other) as kept,
        room.stream(group, bob, since_seq=2) as stream,
    ):
        for one in (socket, kept):
            await one.call("follow", group_id=group, since_seq=2)
        await room.say(group, "before")
        assert (await socket.event())["seq"] == (await stream.event())["seq"] == 3
        revoked = await room.ok("DELETE", f"/v1/tokens/{token_id}")
        assert revoked == {"token_id": token_id, "principal": "bob", "revoked": True}
        await room.say(group, "after")
        assert await asyncio.wait_for(socket.closed, WAIT) == 4001
        assert socket.notes.empty()
        block = await stream.block()
        assert (block["event"], json.loads(block["data"])["reason"]) == ("cut", "token revoked")
        assert await stream.block() == {}
        assert [(await kept.event())["seq"] for _ in range(2)] == [3, 4]
    assert (await room.get("/v1/groups", token=bob)).status == 401
    assert (await room.get("/v1/groups", token=other)).status == 200
    answer = await room.call("DELETE", f"/v1/tokens/{token_id}")
    assert (answer.status, answer.code) == (400, "invalid_request")


async def test_the_tokens_of_a_removed_actor_are_dead_at_once_and_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        bob = await room.actor(group, "bob")
        ann = await room.actor(group, "ann")
        (ann_id,) = (await room.ok("GET", f"/v1/groups/{group}/actors/ann/tokens"))["tokens"]
        eva = await room.actor(group, "eva")
        async with room.socket(bob) as socket:
            await socket.call("follow", group_id=group)
            assert (await room.append(group, "actor.remove", {"actor_id": "bob"})).status == 201
            assert await asyncio.wait_for(socket.closed, WAIT) == 4001
        assert (await room.get("/v1/groups", token=bob)).status == 401
        await room.ok("DELETE", f"/v1/tokens/{ann_id}")
    async with running(tmp_path) as room:
        assert (await room.get("/v1/groups", token=bob)).status == 401
        assert (await room.get("/v1/groups", token=ann)).status == 401
        assert (await room.say(group, "still here", eva))["by"] == "eva"


@pytest.mark.folder
async def test_a_lost_owner_file_gives_a_new_token_and_the_old_one_is_dead(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        old = room.owner
        group = await room.group()
        assert room.server.hub.is_first_start
    async with running(tmp_path) as room:
        assert room.owner == old
        assert not room.server.hub.is_first_start
    (tmp_path / "owner.token").unlink()
    async with running(tmp_path) as room:
        assert room.owner != old
        assert (await room.get("/v1/groups", token=old)).status == 401
        assert await room.last_seq(group) == 1
    async with running(tmp_path) as room:
        assert (await room.get("/v1/groups", token=old)).status == 401
        assert (await room.get("/v1/groups")).status == 200


@pytest.mark.parametrize("left", [b"", b"\n", b"short\n", b"\xff\xfe\n"])
async def test_a_damaged_owner_file_never_becomes_a_credential(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "owner.token").write_bytes(left)
    async with running(tmp_path) as room:
        assert len(room.owner) > 40
        assert (tmp_path / "owner.token").stat().st_mode & 0o777 == 0o600
        for header in ("Bearer", "Bearer ", "Bearer short"):
            assert (await room.get("/v1/groups", token=None, headers={"Authorization": header})).status == 401
        assert (await room.get("/v1/groups")).status == 200


async def test_an_owner_who_revokes_the_own_token_finds_a_new_one_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        await room.actor(group, "user1")
        old = room.owner
        token_id = room.server.hub.registry.find(old).token_id
        await room.ok("DELETE", f"/v1/tokens/{token_id}")
        assert (await room.get("/v1/groups")).status == 401
    async with running(tmp_path) as room:
        assert room.owner != old
        assert (await room.get("/v1/groups", token=old)).status == 401
        assert await room.last_seq(group) == 2


async def test_failed_sign_ins_are_slowed_down_while_good_tokens_go_on(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(failed_sign_ins_per_second=0.5)) as room:
        answers = [await room.get("/v1/groups", token="guess") for _ in range(6)]
        assert [answer.status for answer in answers] == [401] * 3 + [429] * 3
        assert answers[-1].code == "rate_limited"
        assert int(answers[-1].headers["Retry-After"]) >= 1
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with room.socket("guess"):
                pass
        assert refused.value.status == 429
        assert (await room.get("/v1/groups")).status == 200
        async with room.socket(None) as socket:
            with pytest.raises(Failed) as failed:
                await socket.call("authenticate", token="guess")
            assert failed.value.code == "rate_limited"
            assert (await socket.call("authenticate", token=room.owner))["principal"] == "user"


async def test_opening_a_socket_without_a_token_is_no_failed_sign_in(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(failed_sign_ins_per_second=0.2)) as room:
        for _ in range(5):
            async with room.socket(None) as socket:
                assert (await socket.call("authenticate", token=room.owner))["principal"] == "user"


async def test_each_credential_has_a_rate_of_its_own(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(requests_per_second=0.5, burst=10)) as room:
        group = await room.group()
        bob = await room.actor(group, "bob")
        answers = [await room.get("/v1/groups", token=bob) for _ in range(12)]
        assert [answer.status for answer in answers] == [200] * 10 + [429] * 2
        assert answers[-1].code == "rate_limited"
        assert int(answers[-1].headers["Retry-After"]) >= 1
        assert (await room.get("/v1/groups")).status == 200
        async with room.socket() as socket:
            codes: list[str] = []
            for _ in range(10):
                try:
                    await socket.call("groups")
                except Failed as failed:
                    codes.append(failed.code)
            assert codes
            assert set(codes) == {"rate_limited"}


async def test_bodies_blobs_and_frames_have_limits(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(body_bytes=20_000, blob_bytes=30_000)) as room:
        group = await room.group()
        for path, size in ((f"/v1/groups/{group}/events", 20_001), (f"/v1/groups/{group}/blobs", 30_001)):
            answer = await room.call("POST", path, data=b" " * size)
            assert (answer.status, answer.code) == (413, "invalid_request")

            async def pieces(size: int = size):
                for _ in range(0, size, 1000):
                    yield b" " * 1001

            answer = await room.call("POST", path, data=pieces())
            assert (answer.status, answer.code) == (413, "invalid_request")
        assert (await room.call("POST", f"/v1/groups/{group}/blobs", data=b"x" * 30_000)).status == 201
        assert list((tmp_path / "blobs").glob("incoming-*")) == []
        async with room.socket() as socket:
            await socket.ws.send_str(" " * 20_001)
            assert await asyncio.wait_for(socket.closed, WAIT) == 1009
        assert await room.last_seq(group) == 1


@pytest.mark.spec("CCCS-020")
async def test_an_event_larger_than_256_kib_is_too_large_on_both_doors(room: Room) -> None:
    group = await room.group()
    data = {"text": "x" * 256 * 1024}
    answer = await room.append(group, "chat.message", data)
    assert (answer.status, answer.code) == (413, "invalid_request")
    edge = {"text": "x" * (256 * 1024 - 20)}
    answer = await room.append(group, "chat.message", edge)
    assert (answer.status, answer.code) == (413, "invalid_request")
    async with room.socket() as socket:
        with pytest.raises(Failed) as failed:
            await socket.call("append", group_id=group, kind="chat.message", data=data)
        assert failed.value.body["details"]["reason"] == "too_large"
    assert await room.last_seq(group) == 1


async def test_pages_of_other_origins_are_refused_on_every_door(room: Room) -> None:
    group = await room.group()
    evil = {"Origin": "https://evil.example"}
    for path in ("/v1/groups", f"/v1/groups/{group}/events", "/healthz"):
        answer = await room.get(path, headers=evil)
        assert (answer.status, answer.code) == (403, "permission_denied")
        assert "Access-Control-Allow-Origin" not in answer.headers
    preflight = {**evil, "Access-Control-Request-Method": "POST"}
    assert (await room.call("OPTIONS", "/v1/groups", headers=preflight)).status == 403
    assert (await room.get("/v1/groups", headers={"Origin": "null"})).status == 403
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with room.socket(origin="https://evil.example"):
            pass
    assert refused.value.status == 403
    same = {"Origin": room.url}
    assert (await room.get("/v1/groups", headers=same)).status == 200
    async with room.socket(origin=room.url) as socket:
        assert "groups" in await socket.call("groups")


async def test_an_allowed_origin_may_read_answers_errors_and_streams(tmp_path: Path) -> None:
    page = "https://app.example"
    async with running(tmp_path, allow_origins=(page,)) as room:
        group = await room.group()
        preflight = {"Origin": page, "Access-Control-Request-Method": "POST"}
        answer = await room.call("OPTIONS", f"/v1/groups/{group}/events", headers=preflight, token=None)
        assert answer.status == 204
        assert "POST" in answer.headers["Access-Control-Allow-Methods"]
        assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
        for path, token in (("/v1/groups", ""), ("/v1/nonsense", ""), ("/v1/groups", None)):
            answer = await room.get(path, headers={"Origin": page}, token=token)
            assert answer.headers["Access-Control-Allow-Origin"] == page
            assert answer.headers["Vary"] == "Origin"
        async with room.stream(group, headers={"Origin": page}) as stream:
            assert stream.response.headers["Access-Control-Allow-Origin"] == page
        async with room.socket(origin=page) as socket:
            assert "groups" in await socket.call("groups")
        assert (await room.get("/v1/groups", headers={"Origin": "https://evil.example"})).status == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "hub.example", ""])
def test_a_public_bind_needs_tls_or_a_word(tmp_path: Path, host: str) -> None:
    asked = HubConfig(tmp_path, host=host)
    with pytest.raises(Refused, match="insecure-public"):
        asked.check()
    dataclasses.replace(asked, insecure_public=True).check()
    dataclasses.replace(asked, tls_cert=tmp_path, tls_key=tmp_path).check()
    with pytest.raises(Refused, match="together"):
        dataclasses.replace(asked, tls_cert=tmp_path).check()
    with pytest.raises(Refused, match="loopback"):
        dataclasses.replace(asked, insecure_public=True, local_trust=True).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_loopback_needs_no_word(tmp_path: Path, host: str) -> None:
    HubConfig(tmp_path, host=host).check()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hub")])
    now = dt.datetime.now(dt.UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    places = folder / "cert.pem", folder / "key.pem"
    places[0].write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    places[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return places


async def test_tls_works_with_a_self_signed_certificate(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    async with running(tmp_path / "data", tls_cert=cert, tls_key=key) as room:
        assert room.url.startswith("https://")
        trust = ssl.create_default_context(cafile=str(cert))
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trust)) as session,
            session.get(room.url + "/healthz") as response,
        ):
            assert await response.json() == {"status": "ok"}
        group = await room.group()
        async with room.socket() as socket:
            await socket.call("follow", group_id=group)
            assert (await socket.event())["seq"] == 1
            sent = await room.say(group, "over TLS")
            assert await socket.event() == sent
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientError):
                await session.get(room.url.replace("https", "http") + "/healthz")


@pytest.mark.spec("CCCS-043")
async def test_a_hint_is_not_taken_unless_local_trust_is_on(room: Room) -> None:
    answer = await room.get("/v1/groups", token=None, headers={"X-Tacit-By": "user"})
    assert answer.status == 401


@pytest.mark.spec("CCCS-043", "CCCS-044")
async def test_local_trust_takes_hints_says_so_and_keeps_tokens_binding(tmp_path: Path) -> None:
    async with running(tmp_path, local_trust=True) as room:
        group = await room.group()
        bob = await room.actor(group, "bob")
        await room.actor(group, "ann")
        assert (await room.ok("GET", "/v1/capabilities", token=None))["auth"] == "local_trust"
        path = f"/v1/groups/{group}/events"
        said = {"kind": "chat.message", "data": {"text": "x"}}
        assert (await room.post(path, {**said, "by": "ann"}, token=None)).body["by"] == "ann"
        assert (await room.post(path, said, token=None, headers={"X-Tacit-By": "bob"})).body["by"] == "bob"
        assert (await room.post(path, said, token=None)).body["by"] == "user"
        assert (await room.post(path, {**said, "by": "eve"}, token=None)).code == "permission_denied"
        assert (await room.post(path, {**said, "by": "ann"}, token=bob)).code == "permission_denied"
        async with room.socket(None) as socket:
            sent = await socket.call("append", group_id=group, **said, by="ann")
            assert sent["by"] == "ann"


@pytest.mark.spec("CCCS-043")
async def test_local_trust_takes_no_caller_that_uses_another_name_for_this_machine(tmp_path: Path) -> None:
    async with running(tmp_path, local_trust=True) as room:
        name = f"evil.example:{room.server.port}"
        rebound = {"Host": name, "Origin": f"http://{name}"}
        answer = await room.get("/v1/groups", token=None, headers=rebound)
        assert (answer.status, answer.code) == (403, "permission_denied")
        local = {"Host": f"localhost:{room.server.port}"}
        assert (await room.get("/v1/groups", token=None, headers=local)).status == 200


async def test_logs_carry_no_user_content_and_no_token(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mark = "MARKER5c1e"
    caplog.set_level(logging.DEBUG)
    async with running(tmp_path) as room:
        group = await room.group(mark, scopes=[f"file:///{mark}"])
        bob = await room.actor(group, mark, title=mark, roles=[mark.lower()])
        await room.say(group, mark, bob, client_id=mark, quote_text=mark, extra={mark: mark})
        blob = await room.call("POST", f"/v1/groups/{group}/blobs", data=mark.encode())
        await room.say(group, mark, attachments=[{"path": blob.body["path"], "title": mark}])
        for path in (
            "search?q=" + mark,
            "events?since_ts=" + mark,
            "inbox?actor_id=" + mark,
            f"blobs/{mark}",
            mark,
        ):
            await room.get(f"/v1/groups/{group}/{path}")
        await room.post(f"/v1/groups/{group}/events", {"kind": mark, "data": {mark: mark}})
        await room.call("POST", f"/v1/groups/{group}/events", data=mark.encode())
        await room.get("/v1/groups", token=mark)
        async with room.socket(bob) as socket:
            await socket.call("follow", group_id=group)
            await socket.call("typing", group_id=group, conversation_id=mark)
            await socket.answer_to(mark)
            with pytest.raises(Failed):
                await socket.call(mark, **{mark: mark})
            with pytest.raises(Failed):
                await socket.call("search", group_id=group, q=mark, limit=mark)
        await room.append(group, "actor.remove", {"actor_id": mark})
    lines = [JsonLines().format(record) for record in caplog.records if record.name != "asyncio"]
    assert any(json.loads(line)["what"] == "stopped" for line in lines)
    for line in lines:
        assert mark.lower() not in line.lower()
        assert bob not in line
        assert room.owner not in line


async def test_metrics_parse_and_count(room: Room) -> None:
    async def read() -> dict[str, float]:
        text = (await room.get("/metrics")).raw.decode()
        return {
            sample.name + (sample.labels.get("code") or ""): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if "le" not in sample.labels
        }

    group = await room.group()
    async with room.socket() as socket:
        await socket.call("follow", group_id=group)
        await socket.event()
        for n in range(3):
            await room.say(group, "x", client_id=f"c{n}")
        await room.say(group, "x", client_id="c0")
        for _ in range(3):
            await socket.event()
        await room.append(group, "chat.message", {"text": ""})
        found = await read()
        assert found["tacit_events_total"] == 4
        assert found["tacit_repeats_total"] == 1
        assert found["tacit_refusals_totalinvalid_request"] == 1
        assert found["tacit_deliveries_total"] == 3
        assert (found["tacit_followers"], found["tacit_connections"]) == (1, 1)
        assert found["tacit_commit_jobs_count"] >= 5
        assert found["tacit_writer_queue"] == 0
        assert found["tacit_wal_pages"] > 0
        assert found["tacit_commit_failures"] == 0
    found = await read()
    assert (found["tacit_followers"], found["tacit_connections"]) == (0, 0)


@pytest.mark.parametrize(
    "where", [{"host": "0.0.0.0", "insecure_public": True}, {}], ids=["public", "loopback"]
)
async def test_the_metrics_of_a_hub_are_for_its_owner(tmp_path: Path, where: dict[str, object]) -> None:
    """Behind a proxy on the same machine everybody comes from loopback."""
    async with running(tmp_path, **where) as room:
        group = await room.group()
        bob = await room.actor(group, "bob")
        assert (await room.get("/metrics", token=None)).status == 401
        answer = await room.get("/metrics", token=bob)
        assert (answer.status, answer.code) == (403, "permission_denied")
        assert (await room.get("/metrics")).status == 200
    assert os.stat(tmp_path).st_mode


@pytest.mark.spec("CCCS-043")
async def test_under_local_trust_nobody_can_be_the_hub_itself(tmp_path: Path) -> None:
    async with running(tmp_path, local_trust=True) as room:
        answer = await room.call("GET", "/v1/groups", headers={"X-Tacit-By": "system"}, token=None)
        assert (answer.status, answer.code) == (403, "permission_denied")


@pytest.mark.spec("CCCS-043")
def test_who_comes_without_a_token_is_told_how_to_come_back() -> None:
    answer = unauthenticated_answer()
    assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
