"""The client of a command: one blocking socket, and the same answers and failures as the whole client."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import socket
import threading
from contextlib import contextmanager

import pytest

from tacit.base.websocket import PING
from tacit.c2a.rpc import ConnectionLost
from tacit.client import OutcomeUnknown, Refused, SocketHub, Unavailable
from tacit.client.blocking_socket import BlockingSocket


@contextmanager
def answering(*answers: bytes):
    """A server that gives each connection one answer and closes; says where it is."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        thread.join()
        listener.close()


async def test_a_long_message_and_an_attachment_arrive_whole(room, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("beside the message")
    text = "é" * 60_000

    def program() -> tuple[str, bytes]:
        with SocketHub(room.url, room.owner_token) as hub:
            group = hub.create_group("Lobby")["group_id"]
            sent = hub.send(group, text, attachments=[hub.upload(group, file)])
            read = hub.event(group, sent.id)
            return read.data["text"], hub.download(group, read.data["attachments"][0]["path"])

    assert await asyncio.to_thread(program) == (text, b"beside the message")


async def test_a_call_waits_out_a_restart_of_the_hub(room):
    with SocketHub(room.url, room.owner_token, retry_for=20) as hub:
        group = (await asyncio.to_thread(hub.create_group, "Lobby"))["group_id"]
        await room.stop()
        sending = asyncio.create_task(asyncio.to_thread(hub.send, group, "after the night"))
        await room.start()
        sent = await sending
        events = (await asyncio.to_thread(hub.events, group, kinds=["chat.message"])).events
    assert [event.id for event in events] == [sent.id]


async def test_a_token_that_nobody_knows_is_refused_at_once(room):
    with SocketHub(room.url, "tct_unknown", retry_for=20) as hub, pytest.raises(Refused) as refused:
        await asyncio.to_thread(hub.groups)
    assert refused.value.code == "permission_denied"


def test_nobody_there_is_unavailable():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with SocketHub(f"http://127.0.0.1:{port}", "x", retry_for=0) as hub, pytest.raises(Unavailable):
        hub.groups()


def test_what_speaks_no_websocket_is_no_hub():
    wrong = b"HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: wrong\r\n\r\n"
    with answering(wrong) as url, pytest.raises(Unavailable, match="no hub"):
        BlockingSocket(url, None)


def test_a_hub_that_asks_to_slow_down_is_unavailable():
    with answering(b"HTTP/1.1 429 Too Many Requests\r\n\r\n") as url, pytest.raises(Unavailable):
        BlockingSocket(url, None)


async def test_a_redirection_is_followed_by_the_whole_client_which_takes_no_token_to_another_origin(room):
    moved = f"HTTP/1.1 307 Moved\r\nLocation: {room.url}/v1/ws\r\nContent-Length: 0\r\n\r\n".encode()

    def program() -> None:
        with answering(moved, moved) as url, SocketHub(url, room.owner_token, retry_for=5) as hub:
            hub.whoami()

    with pytest.raises(Refused, match="authenticate first"):
        await asyncio.to_thread(program)


async def test_a_call_that_may_not_be_repeated_and_lost_its_answer_is_unknown(room):
    with SocketHub(room.url, room.owner_token) as hub:
        await asyncio.to_thread(hub.whoami)
        await room.stop()
        with pytest.raises(OutcomeUnknown):
            await asyncio.to_thread(hub.create_group, "Lobby")


def test_a_silent_hub_is_asked_for_a_sign_of_life_and_then_given_up():
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            head = connection.recv(65536)
            key = head.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            connection.sendall(b"HTTP/1.1 101 Go\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            while data := connection.recv(65536):
                heard.append(data)

    thread = threading.Thread(target=serve)
    thread.start()
    quiet = BlockingSocket(f"http://127.0.0.1:{listener.getsockname()[1]}", None, silence=0.05)
    with pytest.raises(ConnectionLost):
        quiet.call("whoami", {})
    thread.join()
    listener.close()
    assert any(data[0] == 0x80 | PING for data in heard[1:])
