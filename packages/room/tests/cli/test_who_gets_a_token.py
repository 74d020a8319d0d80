"""A token that a file of this machine holds is sent to the hub of the data folder, and to nobody else."""

from __future__ import annotations

import json
import signal
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tools.places import modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.shell import Shell

WRONG = b"HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n" + b"0" * 64
NOT_THERE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
COMMANDS = [
    ("send", "Room", "hello"),
    ("send", "Room", "hello", "--as", "ada"),
    ("group", "list"),
    ("link",),
    ("tail", "Room"),
    ("invite", "Room", "ben"),
    ("inbox", "Room", "--as", "ada"),
    ("c2a", "Room", "--as", "ada"),
    ("join", "Room", "--as", "ada", "--driver", "command", "--", "cat"),
    ("nodes",),
    ("doctor",),
]
"""One command of each kind that speaks with a token from a file."""


class Impostor:
    """A program that listens where the hub did, keeps what it is sent, and answers with what it is told to."""

    def __init__(self, port: int, answer: Callable[[bytes], bytes]) -> None:
        self.received = b""
        self._answer = answer
        self._server = socket.create_server(("127.0.0.1", port))
        self._server.settimeout(60)
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with connection:
                connection.settimeout(60)
                while asked := connection.recv(65536):
                    if asked == b"stop":
                        return
                    self.received += asked
                    connection.sendall(self._answer(asked))

    def stop(self) -> None:
        with socket.create_connection(self._server.getsockname()) as connection:
            connection.sendall(b"stop")
        self._thread.join()
        self._server.close()


@contextmanager
def impostor(port: int, answer: Callable[[bytes], bytes]) -> Iterator[Impostor]:
    listening = Impostor(port, answer)
    try:
        yield listening
    finally:
        listening.stop()


def secrets(shell: Shell) -> list[str]:
    """Every token that files of this machine hold."""
    kept = json.loads((shell.home / "config" / "tacit" / "tokens.json").read_text())
    actors = [token for groups in kept.values() for tokens in groups.values() for token in tokens.values()]
    return [(shell.home / "data" / "tacit" / "owner.token").read_text().strip(), *actors]


@pytest.fixture
def room(shell: Shell) -> Shell:
    shell.start()
    shell.run("group", "new", "Room")
    shell.run("actor", "add", "Room", "ada")
    return shell


@pytest.mark.parametrize("answer", [WRONG, NOT_THERE], ids=["a wrong proof", "none"])
def test_what_took_the_port_of_a_hub_that_died_is_sent_no_token(room: Shell, answer: bytes) -> None:
    port = int(room.env["TACIT_URL"].rsplit(":", 1)[1])
    room.stop(signal.SIGKILL)
    with impostor(port, lambda _asked: answer) as listening:
        for words in COMMANDS:
            room.env["TACIT_URL"] = ""
            said = room.run(*words, code=3 if words == ("doctor",) else 1)
            # The doctor reports it as a finding; everything else ends with it.
            assert words == ("doctor",) or "could not prove that it is your hub" in said
        assert b"/v1/proof?nonce=" in listening.received
        assert [token for token in secrets(room) if token.encode() in listening.received] == []


def test_passing_the_question_on_to_the_hub_proves_nothing(room: Shell) -> None:
    hub = ("127.0.0.1", int(room.env["TACIT_URL"].rsplit(":", 1)[1]))

    def passed_on(asked: bytes) -> bytes:
        with socket.create_connection(hub) as connection:
            connection.sendall(asked)
            return connection.recv(65536)

    with impostor(0, passed_on) as listening:
        refusal = room.run("--url", listening.url, "send", "Room", "hello", code=1)
        assert "could not prove that it is your hub" in refusal
        assert [token for token in secrets(room) if token.encode() in listening.received] == []


def test_a_token_given_by_hand_is_sent_where_it_was_told_to(room: Shell) -> None:
    with impostor(0, lambda _asked: NOT_THERE) as listening:
        room.run("--url", listening.url, "--token", "given-by-hand", "group", "list", code=1)
        assert b"Bearer given-by-hand" in listening.received


def test_the_data_folder_says_where_its_hub_is(room: Shell) -> None:
    del room.env["TACIT_URL"]
    room.run("send", "Room", "hello")
    assert "hello" in room.run("tail", "Room", "--no-follow")


def test_the_owners_token_does_not_go_to_another_hub_whatever_its_certificate(room: Shell) -> None:
    refusal = room.run("--url", "https://hub.example.org", "group", "list", code=1)
    assert "is not an address of the hub of" in refusal
    assert "--token" in refusal


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"url": "http://127.0.0.1:1"}', b"\xff"])
def test_an_address_that_cannot_be_read_is_not_taken_for_none(shell: Shell, broken: bytes) -> None:
    folder = shell.home / "data" / "tacit"
    folder.mkdir(parents=True)
    (folder / "owner.token").write_text("x")
    (folder / "address.json").write_bytes(broken)
    assert "address.json cannot be read" in shell.run("group", "list", code=1)


PLANTED = ("click", "msgspec", "apsw", "aiohttp", "uvloop", "tacit", "json", "asyncio", "sitecustomize")


def test_nothing_in_the_folder_where_a_hub_is_started_is_run(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, marker = tmp_path / "here", tmp_path / "ran"
    here.mkdir()
    for name in PLANTED:
        (here / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(here)
    shell.start("--writer", "process", "--crew")
    shell.run("group", "new", "Room")
    shell.run("send", "Room", "hello")
    assert "hello" in shell.run("search", "Room", "hello")
    shell.run("crew", "add", "Room", "ada", "--driver", "command", "--", "cat")
    assert shell.stop() == 0
    assert not marker.exists(), marker.read_text()


def test_every_child_is_started_in_one_way() -> None:
    starting = [path for path, _ in modules() if "sys.executable" in path.read_text("utf-8")]
    # The hint is shown to people, who type it.
    assert {path.name for path in starting} == {"own_program.py", "install_hint.py"}
