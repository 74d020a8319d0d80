"""One WebSocket to the hub over a plain blocking socket: for a program that makes a few calls and ends.

No event loop, no thread, no library: what the command line waits for is the hub, not its own imports. Breaks
as a whole and is replaced, as the asyncio one (`tacit.client.rpc_connection`), and fails in the same kinds. A
hub that is silent is asked for a sign of life after `SILENCE` seconds and given up after as long again.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import socket
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from tacit.base.errors import PeerFault, Refused, Unavailable
from tacit.base.io.proving import CONNECT_WITHIN, check_connection
from tacit.base.websocket import CLOSE, CONTINUATION, PING, PONG, TEXT, FrameReader, client_frame
from tacit.c2a.rpc import CallError, CallResult, ConnectionLost, Correlator, error_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SILENCE: Final = 30.0
_GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MOST_HEAD: Final = 65536


class Redirected(Unavailable):
    """What answers here says that the hub is elsewhere: following it is left to the whole client."""


class BlockingSocket:
    """An open connection; not reopened, replaced."""

    def __init__(
        self, url: str, token: str | None, *, silence: float = SILENCE, proven_by: bytes | None = None
    ) -> None:
        """Connect; `Unavailable` when the hub cannot be reached, `Refused` when it does not want us.

        With `proven_by` what answers has to prove that it holds this key before the token is sent.
        """
        self._correlator = Correlator()
        self._frames = FrameReader()
        self._silence = silence
        self.is_open = True
        try:
            self._socket, early = _connected(url, token, proven_by)
        except (OSError, TimeoutError) as error:
            raise Unavailable(f"the hub at {url} cannot be reached") from error
        self._early = early
        self._socket.settimeout(silence)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Send a call and wait for its answer."""
        call, data = self._correlator.request(method, params)
        try:
            self._write(TEXT, data)
            for text in self._texts():
                match self._correlator.receive(text):
                    case CallResult(answered, result) if answered == call:
                        return result
                    case CallError(answered, error) if answered == call:
                        raise error_of(error)
                    case _:
                        continue
        except (OSError, PeerFault) as broken:
            self._end()
            raise ConnectionLost("the connection broke") from broken
        self._end()
        raise ConnectionLost("the connection ended")

    def _write(self, opcode: int, payload: bytes) -> None:
        self._socket.sendall(client_frame(opcode, payload, os.urandom(4)))

    def _texts(self) -> Iterator[bytes]:
        """Every whole text message until the hub closes."""
        parts: list[bytes] = []
        while True:
            data = self._early or self._read()
            self._early = b""
            if not data:
                return
            for frame in self._frames.feed(data):
                if frame.opcode == CLOSE:
                    return
                if frame.opcode == PING:
                    self._write(PONG, frame.payload)
                elif frame.opcode in {TEXT, CONTINUATION}:
                    parts.append(frame.payload)
                    if frame.is_last:
                        yield b"".join(parts)
                        parts = []

    def _read(self) -> bytes:
        try:
            return self._socket.recv(65536)
        except TimeoutError:
            self._write(PING, b"")
            return self._socket.recv(65536)

    def _end(self) -> None:
        self.is_open = False
        self._socket.close()

    def close(self) -> None:
        """End the connection."""
        if self.is_open:
            with contextlib.suppress(OSError):  # it broke: there is nobody left to tell
                self._write(CLOSE, (1000).to_bytes(2, "big"))
            self._end()


def _connected(url: str, token: str | None, proven_by: bytes | None) -> tuple[socket.socket, bytes]:
    """A socket on which the hub has agreed to speak WebSocket, and what it said after agreeing."""
    place = urlsplit(url)
    secure = place.scheme == "https"
    host, port = place.hostname or "", place.port or (443 if secure else 80)
    connection = socket.create_connection((host, port), CONNECT_WITHIN)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if secure:
            import ssl

            connection = ssl.create_default_context().wrap_socket(connection, server_hostname=host)
        elif proven_by is not None:
            check_connection(connection, place, proven_by)
        key = base64.b64encode(os.urandom(16))
        lines = [
            f"GET {place.path.rstrip('/')}/v1/ws HTTP/1.1",
            f"Host: {place.netloc.rpartition('@')[2]}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key.decode()}",
            "Sec-WebSocket-Version: 13",
        ]
        lines += [f"Authorization: Bearer {token}"] if token else []
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head, early = _head(connection)
        _agreed(head, key, url)
    except BaseException:  # whatever it was, the socket is closed; it goes on to the caller
        connection.close()
        raise
    return connection, early


def _head(connection: socket.socket) -> tuple[bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(4096)
        if not piece or len(received) > _MOST_HEAD:
            raise ConnectionError("what answers does not speak HTTP")
        received += piece
    head, _, early = received.partition(b"\r\n\r\n")
    return head, early


def _agreed(head: bytes, key: bytes, url: str) -> None:
    """Has the hub taken the connection? Raises what its answer means to a caller."""
    status, *lines = head.split(b"\r\n")
    words = status.split(b" ", 2)
    number = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    if 300 <= number < 400:
        raise Redirected(f"the hub at {url} is elsewhere")
    if number == 429:
        raise Unavailable("the hub asks to slow down")
    if number != 101:
        raise Refused("permission_denied", f"the hub refused the connection ({number})")
    given = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)
    }
    wanted = base64.b64encode(hashlib.sha1(key + _GUID).digest())  # noqa: S324 - as RFC 6455 asks
    if given.get(b"sec-websocket-accept") != wanted:
        raise Unavailable(f"what answers at {url} is no hub")
