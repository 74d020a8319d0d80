"""WebSocket frames made and read by hand (RFC 6455).

A server writes many in one go; a client that makes one call and ends needs no library for it. Bytes in,
frames out; knows no socket.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tacit.base.errors import PeerFault

CONTINUATION: Final = 0x0
TEXT: Final = 0x1
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA


class Frame(msgspec.Struct, frozen=True):
    """One frame as it arrived."""

    opcode: int
    payload: bytes
    is_last: bool = True


def text_frame(payload: bytes) -> bytes:
    """One unfragmented text frame from a server, which does not mask."""
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload


def client_frame(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """One unfragmented frame from a client, which masks with four bytes of chance."""
    size = len(payload)
    if size < 126:
        head = bytes((0x80 | opcode, 0x80 | size))
    elif size < 65536:
        head = bytes((0x80 | opcode, 0x80 | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((0x80 | opcode, 0x80 | 127)) + size.to_bytes(8, "big")
    # As one number: byte by byte a message of a megabyte takes a tenth of a second.
    pattern = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(pattern, "big")
    return head + mask + masked.to_bytes(size, "big")


class FrameReader:
    """Frames of a server, as their bytes arrive in whatever pieces."""

    def __init__(self) -> None:
        self._left = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are whole now; `PeerFault` for what a server may not send."""
        self._left += data
        found: list[Frame] = []
        while (frame := self._next()) is not None:
            found.append(frame)
        return found

    def _next(self) -> Frame | None:
        left = self._left
        if len(left) < 2:
            return None
        first, second = left[0], left[1]
        if first & 0x70 or second & 0x80:
            raise PeerFault("a frame has bits that were not agreed on")
        size, start = second & 0x7F, 2
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(left) < start:
                return None
            size = int.from_bytes(left[2:start], "big")
        if len(left) < start + size:
            return None
        frame = Frame(first & 0x0F, bytes(left[start : start + size]), bool(first & 0x80))
        del left[: start + size]
        return frame
