"""Frames made by hand are what a client library reads: each whole, whatever its size, many in one write."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from tacit.base.websocket import text_frame

SIZES = (0, 1, 125, 126, 127, 65_535, 65_536, 70_000)


@pytest.mark.parametrize("together", [True, False], ids=["in one write", "one by one"])
async def test_frames_of_every_length_are_read_whole_and_in_order(together):
    texts = ["é" * (size // 2) + "x" * (size % 2) for size in SIZES]

    async def speak(connection: ServerConnection) -> None:
        frames = [text_frame(text.encode()) for text in texts]
        for data in [b"".join(frames)] if together else frames:
            connection.transport.write(data)
        await connection.wait_closed()

    async with serve(speak, "127.0.0.1", 0, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(10), connect(f"ws://127.0.0.1:{port}", compression=None) as client:
            assert [await client.recv() for _ in texts] == texts
