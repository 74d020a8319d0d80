"""A hub behind a proxy that encrypts: its pages work, and callers are told apart by who they are."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp import web

from tacit.hub.config import Limits
from tests.hub.room import running
from tools.places import ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.hub.room import Room

PUBLIC = "https://tacit.example"
DEPLOY = ROOT / "deploy"
LOCAL = ("127.0.0.1",)


class Proxy:
    """What Caddy and nginx do: hands requests and WebSockets on, and says for whom."""

    def __init__(self, target: str, session: aiohttp.ClientSession) -> None:
        self._target = target
        self._session = session
        self.caller = "203.0.113.7"

    def _headers(self, request: web.Request) -> dict[str, str]:
        own = {"host", "connection", "upgrade", "transfer-encoding", "content-length"}
        own |= {name.lower() for name in request.headers if name.lower().startswith("sec-websocket")}
        sent = {name: value for name, value in request.headers.items() if name.lower() not in own}
        before = request.headers.get("X-Forwarded-For")
        sent["Host"] = "tacit.example"
        sent["X-Forwarded-For"] = f"{before}, {self.caller}" if before else self.caller
        sent["X-Forwarded-Proto"] = "https"
        return sent

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return await self._websocket(request)
        async with self._session.request(
            request.method,
            self._target + request.path_qs,
            headers=self._headers(request),
            data=await request.read(),
        ) as answer:
            body = await answer.read()
            return web.Response(body=body, status=answer.status, content_type=answer.content_type)

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        async with self._session.ws_connect(
            self._target + request.path_qs, headers=self._headers(request)
        ) as hub:
            caller = web.WebSocketResponse()
            await caller.prepare(request)

            async def back() -> None:
                async for message in hub:
                    await caller.send_str(message.data)
                await caller.close()

            other = asyncio.create_task(back())
            async for message in caller:
                await hub.send_str(message.data)
            await hub.close()
            await other
        return caller


@asynccontextmanager
async def behind(folder: Path, **given: object) -> AsyncIterator[tuple[Room, Proxy, str]]:
    """A hub, a proxy before it, and where the proxy is."""
    async with running(folder, **given) as room:
        proxy = Proxy(room.url, room.session)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", proxy.handle)
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield room, proxy, f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


@pytest.mark.parametrize(
    "given",
    [{"public_url": PUBLIC}, {"trusted_proxies": LOCAL}, {"public_url": PUBLIC, "trusted_proxies": LOCAL}],
    ids=["url", "headers", "both"],
)
async def test_the_page_and_its_calls_work_behind_a_proxy(tmp_path: Path, given) -> None:
    async with behind(tmp_path / "data", **given) as (room, _proxy, front):
        group = await room.group()
        signed = {"Authorization": f"Bearer {room.owner}", "Origin": PUBLIC}
        async with room.session.get(front + "/", headers={"Origin": PUBLIC}) as page:
            assert page.status == 200
        body = {"kind": "chat.message", "data": {"text": "hello"}}
        async with room.session.post(f"{front}/v1/groups/{group}/events", json=body, headers=signed) as sent:
            assert sent.status == 201, await sent.text()
        async with room.session.ws_connect(front + "/v1/ws", headers=signed) as socket:
            await socket.send_json({"jsonrpc": "2.0", "id": 1, "method": "groups", "params": {}})
            assert (await socket.receive_json(timeout=60))["id"] == 1
        foreign = {**signed, "Origin": "https://evil.example"}
        async with room.session.post(f"{front}/v1/groups/{group}/events", json=body, headers=foreign) as sent:
            assert sent.status == 403


async def test_without_being_told_the_hub_believes_no_proxy(tmp_path: Path) -> None:
    async with (
        behind(tmp_path / "data") as (room, _proxy, front),
        room.session.get(front + "/", headers={"Origin": PUBLIC}) as page,
    ):
        assert page.status == 403


async def test_failed_sign_ins_are_counted_for_the_caller_behind_the_proxy(tmp_path: Path) -> None:
    slow = Limits(failed_sign_ins_per_second=1 / 6)
    async with behind(tmp_path / "data", trusted_proxies=LOCAL, limits=slow) as (room, proxy, front):

        async def tried() -> int:
            wrong = {"Authorization": "Bearer wrong", "X-Forwarded-For": "198.51.100.1"}
            async with room.session.get(front + "/v1/groups", headers=wrong) as answer:
                return answer.status

        found = {await tried() for _ in range(20)}
        assert found == {401, 429}
        proxy.caller = "203.0.113.8"
        assert await tried() == 401


async def test_the_owners_link_has_the_public_name(tmp_path: Path) -> None:
    async with running(tmp_path / "data", public_url=PUBLIC) as room:
        assert room.server.new_link().startswith(PUBLIC + "/#sign-in=")
        made = await room.ok("POST", "/v1/sign-in-links", json={})
        assert made["public_url"] + made["path"] == f"{PUBLIC}/#sign-in={made['code']}"


def test_the_unit_is_one_that_systemd_reads(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("this machine has no systemd-analyze")
    text = (DEPLOY / "tacit.service").read_text()
    unit = tmp_path / "tacit.service"
    # Nothing is installed there on a machine that tests; what is asked is whether the rest is read.
    unit.write_text(text.replace("ExecStart=/opt/tacit/bin/tacit ", "ExecStart=/bin/true "))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "tacit.service" not in done.stderr, done.stderr


def test_the_proxies_own_checks_take_our_files(tmp_path: Path) -> None:
    tried = False
    if shutil.which("caddy"):
        tried = True
        words = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    if shutil.which("nginx"):
        tried = True
        block = (DEPLOY / "nginx.conf").read_text().replace("listen 443 ssl", "listen 8443")
        lines = [line for line in block.splitlines() if "ssl_certificate" not in line]
        whole = (
            "events {}\npid nginx.pid;\nerror_log stderr;\nhttp { access_log off;\n"
            + "\n".join(lines)
            + "\n}\n"
        )
        (tmp_path / "nginx.conf").write_text(whole)
        words = ["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    if not tried:
        pytest.skip("neither caddy nor nginx is installed here")
