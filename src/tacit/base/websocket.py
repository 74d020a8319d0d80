"""WebSocket frames made by hand, so that many leave in one write (RFC 6455)."""

from __future__ import annotations


def text_frame(payload: bytes) -> bytes:
    """One unfragmented text frame from a server, which does not mask."""
    size = len(payload)
    if size < 126:
        return b"\x81%c%b" % (size, payload)
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + payload
    return b"\x81\x7f" + size.to_bytes(8, "big") + payload
