"""Frames made by hand are what a library reads, and the other way: each whole, whatever its size."""

from __future__ import annotations

import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from tacit.base.errors import PeerFault
from tacit.base.websocket import CLOSE, PING, TEXT, Frame, FrameReader, client_frame, text_frame

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
        async with asyncio.timeout(60), connect(f"ws://127.0.0.1:{port}", compression=None) as client:
            assert [await client.recv() for _ in texts] == texts


async def test_frames_of_a_client_are_read_whole_by_a_library():
    texts = ["é" * (size // 2) + "x" * (size % 2) for size in SIZES]
    heard: list[str] = []

    async def listen(connection: ServerConnection) -> None:
        heard.extend([str(await connection.recv()) for _ in texts])

    async with serve(listen, "127.0.0.1", 0, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(60), connect(f"ws://127.0.0.1:{port}", compression=None) as client:
            for number, text in enumerate(texts):
                client.transport.write(client_frame(TEXT, text.encode(), bytes([number, 0, 255, 7])))
            await client.wait_closed()
    assert heard == texts


@pytest.mark.parametrize("step", [1, 3, 10**9], ids=["byte by byte", "in pieces", "at once"])
def test_a_reader_gives_the_same_frames_however_their_bytes_arrive(step):
    sent = [Frame(TEXT, bytes(size)) for size in (0, 1, 125, 126, 70_000 if step > 1 else 200)]
    stream = b"".join(text_frame(frame.payload) for frame in sent) + b"\x89\x00" + b"\x88\x02\x03\xe8"
    reader, found = FrameReader(), []
    for start in range(0, len(stream), step):
        found += reader.feed(stream[start : start + step])
    assert found == [*sent, Frame(PING, b""), Frame(CLOSE, b"\x03\xe8")]


@pytest.mark.parametrize("head", [b"\xc1\x00", b"\x81\x80"], ids=["compressed", "masked"])
def test_a_frame_that_no_server_may_send_is_a_fault_of_the_peer(head):
    with pytest.raises(PeerFault):
        FrameReader().feed(head)
