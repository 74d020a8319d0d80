"""Attention from the terminal: why, preview, edit, delete, settings, and C2A over standard input and output."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from tacit.c2a.negotiation import CAPABILITIES
from tests.shell import TACIT, Shell

EVERYTHING = {section: dict.fromkeys(names, True) for section, names in CAPABILITIES.items()}


class Harness:
    """`tacit c2a` as a harness starts it: one JSON message a line, both ways."""

    def __init__(self, shell: Shell, group: str, name: str) -> None:
        self._child = subprocess.Popen(
            [TACIT, "c2a", group, "--as", name],
            env=shell.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, **message: Any) -> None:
        self._child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._child.stdin.flush()

    def next(self) -> dict[str, Any]:
        return json.loads(self._child.stdout.readline())

    def hello(self) -> dict[str, Any]:
        params = {
            "protocolVersion": "2026-06-24",
            "clientInfo": {"name": "t", "version": "1"},
            "capabilities": EVERYTHING,
        }
        self.send(id=1, method="initialize", params=params)
        return self.next()

    def end(self) -> int:
        self._child.stdin.close()
        code = self._child.wait(20)
        self._child.stdout.close()
        return code


@pytest.fixture
def room(shell: Shell) -> Shell:
    shell.start()
    shell.run("group", "new", "My room")
    for name in ("ada", "bob", "cid"):
        shell.run("actor", "add", "My room", name, "--skill", "backend")
    return shell


@pytest.mark.spec("C2A-206")
def test_why_says_who_was_asked_and_who_stayed_quiet_with_the_rule(room: Shell) -> None:
    sent = room.json("send", "My room", "@ada which branch do we release from?")["event"]
    told = room.run("why", "My room", f"#{sent['seq']}")
    assert "ada must answer within 5 minutes: it names the agent (C2A-068)" in told
    assert "2 others stay quiet" in told
    assert "which branch" not in told
    data = room.json("why", "My room", sent["id"])
    assert [(one["agent"], one["policy"], one["rule"]) for one in data["decisions"]] == [
        ("ada", "must_respond", "matrix.direct_mention")
    ]
    assert data["saved_bytes"] > 0
    ambient = room.json("send", "My room", "lunch was good")["event"]
    assert "Every agent must not answer" in room.run("why", "My room", ambient["id"])


def test_a_preview_says_what_sending_would_do_and_sends_nothing(room: Shell) -> None:
    assert room.run("preview", "My room", "@ada", "please", "look") == "ada must reply; 2 others stay quiet\n"
    said = room.run("preview", "My room", "@backend who has time?")
    assert said == "ada, bob or cid may take it\n"
    assert room.run("preview", "My room", "lunch was good") == "everyone stays quiet\n"
    assert room.run("tail", "My room", "--no-follow", "--kinds", "chat.message") == ""


@pytest.mark.spec("C2A-077", "C2A-207")
def test_sending_says_at_once_what_will_happen(room: Shell) -> None:
    assert room.run("send", "My room", "@ada which branch?").splitlines()[1] == (
        "ada must reply; 2 others stay quiet"
    )
    told = room.run("send", "My room", "@zoe", "can", "you", "check", "the", "build?")
    assert told.splitlines()[1] == "Nobody here is called zoe. No agent is here to take it."
    sent = room.json("send", "My room", "who can check the build?")
    assert sent["attention"]["sentence"] == "Nobody is named. No agent is here to take it."
    assert (sent["attention"]["open"], sent["attention"]["unknown"]) == (True, [])
    reply = room.run("reply", "My room", f"#{sent['event']['seq']}", "@bob perhaps you?")
    assert reply.splitlines()[1].startswith("bob must reply")


def test_in_a_room_of_people_sending_says_no_more_than_that_it_was_sent(room: Shell) -> None:
    room.run("group", "new", "People")
    assert len(room.run("send", "People", "hello").splitlines()) == 1
    assert "attention" not in room.json("send", "People", "who has time?")


def test_one_edits_and_deletes_ones_own_words(room: Shell) -> None:
    sent = room.json("send", "My room", "we meet at nine", "--as", "ada")["event"]
    room.run("edit", "My room", sent["id"], "we", "meet", "at", "ten", "--as", "ada")
    assert "we meet at ten" in room.run("search", "My room", "ten")
    assert "permission_denied" in room.run("edit", "My room", sent["id"], "no", "--as", "bob", code=1)
    room.run("delete", "My room", sent["id"], "--as", "ada")
    assert "meet" not in room.run("search", "My room", "ten")


def test_settings_are_shown_changed_and_kept_in_their_range(room: Shell) -> None:
    assert room.json("attention", "settings", "My room")["compose_quiet_ms"] == 3000
    room.run("attention", "settings", "My room", "compose_quiet_ms=4000", "similarity=0.8")
    assert room.json("attention", "settings", "My room")["similarity"] == 0.8
    refused = room.run("attention", "settings", "My room", "compose_quiet_ms=100", code=1)
    assert "between 2000 and 5000" in refused
    room.run("attention", "settings", "My room", "nonsense=1", code=1)
    room.run("attention", "settings", "My room", "similarity", code=2)


@pytest.mark.spec("C2A-007")
def test_c2a_is_spoken_over_standard_input_and_output(room: Shell) -> None:
    harness = Harness(room, "My room", "ada")
    try:
        assert harness.hello()["result"]["session"]["id"] == "ada"
        sent = room.json("send", "My room", "@ada what is the plan?")["event"]
        delivered = harness.next()
        assert (delivered["method"], delivered["params"]["eventId"]) == ("chat/deliver", sent["id"])
        harness.send(id=delivered["id"], result={"accepted": True, "eventId": sent["id"]})
        arguments = {
            "target": delivered["params"]["replyTarget"],
            "content": "We ship on Friday.",
            "inReplyTo": sent["id"],
            "idempotencyKey": "k1",
            "visibility": "channel",
            "directedness": "to_other",
        }
        harness.send(id=2, method="tools/call", params={"name": "chat.send_message", "arguments": arguments})
        assert harness.next()["result"]["ok"] is True
        assert "ada answered" in room.run("why", "My room", sent["id"])
    finally:
        assert harness.end() == 0


@pytest.mark.spec("C2A-206")
def test_work_lists_who_is_at_what_and_why_says_what_failed_and_what_now(room: Shell) -> None:
    assert "Nobody is at anything." in room.run("work", "My room")
    harness = Harness(room, "My room", "ada")
    try:
        harness.hello()
        sent = [room.json("send", "My room", f"@ada what is plan {n}?")["event"] for n in (1, 2)]
        for _ in sent:
            delivered = harness.next()
            harness.send(
                id=delivered["id"], result={"accepted": True, "eventId": delivered["params"]["eventId"]}
            )
        failed = {
            "state": "failed",
            "code": "overloaded",
            "message": "The model is busy.",
            "retryAt": "2099-01-01T00:00:00Z",
        }
        harness.send(method="notifications/work", params={"eventId": sent[0]["id"], **failed})
        queued = {"eventId": sent[1]["id"], "state": "queued", "position": 1}
        harness.send(method="notifications/work", params=queued)
        harness.send(id=2, method="ping", params={})
        assert harness.next()["id"] == 2
        listed = room.json("work", "My room")
        assert [(one["agent"], one["state"]) for one in listed] == [("ada", "failed"), ("ada", "queued")]
        told = room.run("work", "My room", "--agent", "ada")
        assert "queued, 1 before it" in told
        assert "what is plan 2?" in told
        assert (
            "ada failed: The model is busy (overloaded). It is tried again by itself at 00:00:00 UTC." in told
        )
        assert "The model is busy" in room.run("why", "My room", sent[0]["id"])
        assert "Nobody is at anything." in room.run("work", "--agent", "bob")
        assert room.json("work", "--all") == [{**one, "group": "My room"} for one in listed]
    finally:
        assert harness.end() == 0


@pytest.mark.spec("C2A-228")
def test_the_self_test_reports_each_of_the_nine_parts(shell: Shell) -> None:
    told = shell.run("c2a", "--self-test").splitlines()
    assert len(told) == 9
    assert all(line.startswith("pass") for line in told), told
