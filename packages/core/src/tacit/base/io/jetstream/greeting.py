"""Whether a NATS server is there at all: it greets whoever connects, before it asks who that is."""

from __future__ import annotations

import asyncio
from typing import Final
from urllib.parse import urlsplit

PORT: Final = 4222
GREETING: Final = b"INFO"


async def greets(url: str, seconds: float) -> bool:
    """Does the server at this address greet within so many seconds?"""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or PORT)
            try:
                return (await reader.read(len(GREETING))) == GREETING
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False
