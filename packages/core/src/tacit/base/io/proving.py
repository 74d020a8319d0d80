"""Asking what listens at an address whether it is the hub of a data folder, before a token is sent to it.

For tokens that files on this machine hold, over plain HTTP: there nothing else says who answers. Over TLS the
certificate does. The question and the exact answer are in `tacit.base.hub_proof`.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tacit.base.errors import Refused, Unavailable
from tacit.base.hub_proof import NONCE_BYTES, PATH, proof_of

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    import aiohttp

CONNECT_WITHIN: Final = 10.0
_MOST_BYTES: Final = 65536


def check(url: str, key: bytes) -> None:
    """Refused unless the hub that holds `key` listens at `url`; its certificate vouches for an https one."""
    place = urlsplit(url)
    if place.scheme == "https":
        return
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), CONNECT_WITHIN) as connection:
            check_connection(connection, place, key)
    except (OSError, TimeoutError) as error:
        raise Unavailable(f"the hub at {url} cannot be reached") from error


def check_connection(connection: socket.socket, place: SplitResult, key: bytes) -> None:
    """The same over a connection that is open already and stays so, for what is sent to the hub next."""
    nonce = os.urandom(NONCE_BYTES)
    lines = [
        f"GET {place.path.rstrip('/')}{PATH}?nonce={nonce.hex()} HTTP/1.1",
        f"Host: {place.netloc.rpartition('@')[2]}",
    ]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    host, port, *_ = connection.getpeername()
    if _answer(connection) != proof_of(key, nonce, host, port):
        raise Refused(
            "permission_denied",
            f"what listens at {place.scheme}://{place.netloc} could not prove that it is your hub, so no "
            "token was sent to it. If an earlier version of Tacit started your hub, restart it; for a hub on "
            "another machine, give the token with --token",
        )


def checks(url: str, key: bytes | None) -> list[aiohttp.TraceConfig]:
    """The same before each connection of an `aiohttp` session; nothing to do without a key."""
    if key is None:
        return []
    import asyncio

    import aiohttp

    async def prove(*_: object) -> None:
        await asyncio.to_thread(check, url, key)

    before_connecting = aiohttp.TraceConfig()
    before_connecting.on_connection_create_start.append(prove)
    return [before_connecting]


def _answer(connection: socket.socket) -> str:
    """The body of the answer, read to its stated length; empty for anything but a plain success."""
    received = b""
    while b"\r\n\r\n" not in received and len(received) < _MOST_BYTES:
        piece = connection.recv(4096)
        if not piece:
            return ""
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    if status.split(b" ")[1:2] != [b"200"]:
        return ""
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)
    }
    length = headers.get(b"content-length", b"")
    if not length.isdigit() or int(length) > _MOST_BYTES:
        return ""
    while len(body) < int(length):
        piece = connection.recv(4096)
        if not piece:
            return ""
        body += piece
    return body[: int(length)].decode("ascii", "replace")
