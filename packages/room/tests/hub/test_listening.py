"""A hub that cannot listen says so, and leaves nothing behind."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.errors import Refused, Unavailable
from tacit.hub.server import Server
from tests.hub.room import config, running

if TYPE_CHECKING:
    from pathlib import Path


async def started(folder: Path, **given: Any) -> None:
    server = Server(config(folder, **given))
    try:
        await server.start()
    finally:
        await server.stop()


async def test_a_port_that_is_taken_is_named_and_the_folder_is_free_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"cannot listen on 127.0.0.1:{port}: .*in use"):
            await started(tmp_path, port=port)
    async with running(tmp_path) as room:
        await room.ok("GET", "/v1/status")


async def test_a_socket_in_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "hub.sock"
    with pytest.raises(Unavailable, match=f"cannot listen on {path}: "):
        await started(tmp_path / "data", socket=path)


async def test_a_certificate_that_is_none_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    (file := tmp_path / "cert.pem").write_text("no certificate")
    with pytest.raises(Refused) as refused:
        await started(tmp_path / "data", tls_cert=file, tls_key=file)
    assert refused.value.code == "bad_tls"
