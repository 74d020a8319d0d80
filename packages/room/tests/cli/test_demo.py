"""The demo's lobby: what a newcomer sees in the first minute, without a key or a model."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tacit.client import SyncHub
from tests.shell import TACIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shell import Shell

WAIT = 90.0


class Watcher:
    """`tacit tail --json` in another terminal."""

    def __init__(self, shell: Shell) -> None:
        self._child = subprocess.Popen(
            [TACIT, "--json", "tail", "Lobby", "--since", "0"],
            env=shell.env,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seen: list[dict[str, Any]] = []

    def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            event = json.loads(self._child.stdout.readline())
            self.seen.append(event)
            if fits(event):
                return event
        raise AssertionError("it never came")

    def said_by(self, *names: str) -> list[str]:
        return [
            one["data"]["text"] for one in self.seen if one["kind"] == "chat.message" and one["by"] in names
        ]

    def end(self) -> None:
        self._child.terminate()
        self._child.wait(20)
        self._child.stdout.close()


@pytest.fixture
def lobby(shell: Shell) -> Shell:
    shell.start("--demo")
    shell.run("attention", "settings", "Lobby", "compose_quiet_ms=2000")
    return shell


def _message(by: set[str]) -> Callable[[dict[str, Any]], bool]:
    return lambda event: event["kind"] == "chat.message" and event["by"] in by


def _type_in_pieces(lobby: Shell, *lines: str) -> None:
    """As fast as a person hits Enter; a command for each line would be slower than that."""
    token = (lobby.home / "data" / "tacit" / "owner.token").read_text().strip()
    with SyncHub(lobby.env["TACIT_URL"], token) as hub:
        group = next(one["group_id"] for one in hub.groups() if one["title"] == "Lobby")
        for line in lines:
            hub.send(group, line)


def test_a_newcomer_sees_a_mention_a_claim_silence_merged_lines_and_a_stopped_loop(lobby: Shell) -> None:
    watcher = Watcher(lobby)
    try:
        assert "scripted agent" in watcher.until(_message({"maya"}))["data"]["text"]
        lobby.run("send", "Lobby", "nice weather today")
        _type_in_pieces(lobby, "@maya", "what is this place", "and who runs it")
        answer = watcher.until(_message({"maya"}))
        assert "read them as one" in answer["data"]["text"]
        asked = lobby.json("send", "Lobby", "@backend who can look at a slow query?")["event"]
        taken = watcher.until(_message({"kit", "rio"}))
        why = lobby.json("why", "Lobby", asked["id"])
        assert {one["agent"]: one["state"] for one in why["decisions"]}[taken["by"]] == "answered"
        assert len(watcher.said_by("kit", "rio")) == 1
        lobby.run("send", "Lobby", "@kit please argue with rio")
        stopped = watcher.until(lambda event: event["kind"] == "system.notify")
        assert stopped["data"]["kind"] == "attention.loop"
        assert len(watcher.said_by("kit", "rio")) == 1 + 6
        assert len(watcher.said_by("maya")) == 2
        lobby.run("send", "Lobby", "@maya what is this place")
        again = watcher.until(_message({"maya"}))["data"]["text"]
        lobby.run("send", "Lobby", "@maya what is this place")
        assert watcher.until(_message({"maya"}))["data"]["text"] not in {again, answer["data"]["text"]}
    finally:
        watcher.end()
    assert lobby.stop() == 0


def test_a_second_start_finds_the_lobby_as_it_was(lobby: Shell) -> None:
    lobby.stop()
    lobby.start("--demo")
    told = lobby.run("tail", "Lobby", "--no-follow", "--kinds", "chat.message")
    assert told.count("scripted agent") == 1
    assert lobby.run("group", "list").count("Lobby") == 1
