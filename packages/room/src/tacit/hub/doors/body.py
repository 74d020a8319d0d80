"""Bodies of requests, read under bounds of size, of time and of what they unpack to.

Nobody's body is read before its sender is known (the doors see to the order), and none is unpacked by the
server library: a gzip of a few bytes can hold any number. Here it is unpacked piece by piece, and the bound
counts what comes out. A body that stops coming is given up; each byte that comes buys time for the next, so
that a large file over a slow line arrives.
"""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, Final

from aiohttp import hdrs, web

from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tacit.base.errors import Refused
    from tacit.hub.config import Limits

PIECE: Final = 64 * 1024
SLOWEST_BYTES_PER_SECOND: Final = 16 * 1024
_WINDOWS: Final = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


def _bad(message: str) -> Refused:
    return invalid(message, "CCCS-020", reason="bad_body")


def _too_large(most: int) -> Refused:
    return invalid(f"this body is at most {most} bytes", "CCCS-020", reason="too_large")


class _Unpacking:
    """A body on its way out of its wrapping."""

    def __init__(self, window: int) -> None:
        self._unpacker = zlib.decompressobj(wbits=window)

    def piece(self, packed: bytes) -> tuple[bytes, bytes]:
        """A piece of what was packed, and what has still to be unpacked."""
        try:
            piece = self._unpacker.decompress(packed, PIECE)
        except zlib.error as fault:
            raise _bad("the body is not what its headers say") from fault
        if self._unpacker.unused_data:
            raise _bad("something stands behind the end of the body")
        return piece, self._unpacker.unconsumed_tail

    def finish(self) -> None:
        """Refuse a body that ends before its time."""
        if not self._unpacker.eof:
            raise _bad("the body is not what its headers say")


def _unpacking(request: web.Request) -> _Unpacking | None:
    """What unpacks the body; None when it comes plain."""
    coding = request.headers.get(hdrs.CONTENT_ENCODING, "").strip().lower()
    if coding in {"", "identity"}:
        return None
    if coding not in _WINDOWS:
        raise _bad("a body is sent plain, or as gzip or deflate")
    return _Unpacking(_WINDOWS[coding])


def is_small(request: web.Request, bytes_: int) -> bool:
    """Does its head promise a body of fewer bytes than these, as it is?"""
    length = request.content_length
    return length is not None and length < bytes_ and hdrs.CONTENT_ENCODING not in request.headers


async def _received(request: web.Request, seconds: float) -> AsyncIterator[bytes]:
    """The bytes on the wire, as long as they keep coming."""
    until = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(until):
                piece = await request.content.read(PIECE)
        except TimeoutError:
            raise invalid("the body came too slowly", "CCCS-020", reason="too_slow") from None
        except web.RequestPayloadError as fault:
            raise _bad("the body is not what its headers say") from fault
        if not piece:
            return
        until += len(piece) / SLOWEST_BYTES_PER_SECOND
        yield piece


async def pieces(request: web.Request, limits: Limits, most: int) -> AsyncIterator[bytes]:
    """The body, unpacked, in pieces; refuses it as soon as it is over `most` bytes."""
    if (request.content_length or 0) > most:
        raise _too_large(most)
    unpacking, size = _unpacking(request), 0
    async for received in _received(request, limits.body_seconds):
        rest = received
        while rest:
            piece, rest = rest, b""
            if unpacking is not None:
                piece, rest = unpacking.piece(piece)
                # What a small piece unpacks to may be large: others have their turn in between.
                await asyncio.sleep(0)
            size += len(piece)
            if size > most:
                raise _too_large(most)
            yield piece
    if unpacking is not None:
        unpacking.finish()


async def whole(request: web.Request, limits: Limits, most: int | None = None) -> bytes:
    """The whole body, unpacked."""
    found = bytearray()
    async for piece in pieces(request, limits, limits.body_bytes if most is None else most):
        found += piece
    return bytes(found)
