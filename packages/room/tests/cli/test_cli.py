"""The command line against a hub that it started itself."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import urllib.error

import pytest

from tests.shell import TACIT, Shell, signed_in


@pytest.fixture
def room(shell: Shell) -> Shell:
    shell.start()
    shell.run("group", "new", "My room")
    shell.run("actor", "add", "My room", "ada", "--role", "peer", "--skill", "backend")
    return shell


def test_the_first_start_prints_the_link_once_and_keeps_the_token_private(shell: Shell):
    hub = subprocess.Popen(
        [TACIT, "up", "--port", "0"],
        env=shell.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    lines = [hub.stdout.readline() for _ in range(4)]
    hub.terminate()
    assert hub.wait(20) == 0
    hub.stdout.close()
    token_file = shell.home / "data" / "tacit" / "owner.token"
    token = token_file.read_text().strip()
    link = re.search(r"(http://\S+)/#sign-in=(\S+)", "".join(lines))
    assert link is not None
    assert token not in "".join(lines)
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    told = shell.start()
    assert told["first_start"] is False
    url, code = shell.run("link").strip().split("/#sign-in=")
    assert signed_in(url, code)["principal"] == "user"
    with pytest.raises(urllib.error.HTTPError):
        signed_in(url, code)
    assert token not in shell.run("link")
    (browser,) = shell.json("link", "--list")
    assert (browser["principal"], browser["group_id"]) == ("user", None)
    assert browser["token_id"] in shell.run("link", "--list")
    assert "revoked" in shell.run("link", "--revoke", browser["token_id"])
    assert "No link was opened yet" in shell.run("link", "--list")


def test_a_message_goes_from_one_terminal_to_another(room: Shell):
    room.run("send", "my room", "hello", "everyone")
    room.run("send", "My room", "hi", "--as", "ada")
    shown = room.run("tail", "My room", "--no-follow")
    assert "user  hello everyone" in shown
    assert "ada  hi" in shown
    assert [
        event["data"]["text"]
        for event in _lines(room.run("tail", "My room", "--no-follow", "--json", "--kinds", "chat.message"))
    ] == [
        "hello everyone",
        "hi",
    ]


def _lines(text: str):
    return [json.loads(line) for line in text.splitlines()]


def test_attention_reading_and_acknowledging_are_told_apart(room: Shell):
    sent = room.json("send", "My room", "please", "--to", "ada", "--attention")
    assert "1 to acknowledge" in room.run("inbox", "My room", "--as", "ada")
    room.run("read", "My room", "--as", "ada")
    box = room.json("inbox", "My room", "--as", "ada")
    assert (box["unread_count"], box["attention_count"]) == (0, 1)
    room.run("ack", "My room", str(sent["event"]["seq"]), "--as", "ada")
    assert "Nothing waits for you." in room.run("inbox", "My room", "--as", "ada")


def test_replies_reactions_search_forwarding_and_sources(room: Shell):
    sent = room.json("send", "My room", "the release is ready")["event"]
    reply = room.json("reply", "My room", f"#{sent['seq']}", "great", "--as", "ada")["event"]
    assert reply["data"]["reply_to"] == sent["id"]
    room.run("react", "My room", sent["id"], "👍", "--as", "ada")
    room.run("react", "My room", sent["id"], "👍", "--remove", "--as", "ada")
    assert "the release is ready" in room.run("search", "My room", "rele")
    assert "nothing found" in room.run("search", "My room", "zebra")
    room.run("group", "new", "Other")
    moved = room.json("forward", "My room", sent["id"], "Other")["event"]
    assert "the release is ready" in room.run("source", "Other", moved["id"])
    assert "was not relayed" in room.run("source", "My room", sent["id"])
    assert room.json("source", "Other", moved["id"])["source"]["id"] == sent["id"]
    assert room.json("source", "My room", sent["id"]) == {"source": None}


@pytest.mark.spec("CCCS-100")
def test_a_source_that_may_not_be_seen_is_said_to_be_unavailable(room: Shell):
    room.run("group", "new", "Other")
    room.run("actor", "add", "Other", "eve")
    sent = room.json("send", "My room", "words")["event"]
    moved = room.json("forward", "My room", sent["id"], "Other")["event"]
    assert "source unavailable (permission_denied)" in room.run("source", "Other", moved["id"], "--as", "eve")


def test_text_and_files_come_from_standard_input_and_disk(room: Shell, tmp_path):
    plan = tmp_path / "plan.txt"
    plan.write_text("step one")
    room.run("send", "My room", "-", stdin="from a pipe\n")
    sent = room.json("send", "My room", "see", "--attach", str(plan))["event"]
    assert sent["data"]["attachments"][0]["bytes"] == 8
    assert "from a pipe" in room.run("tail", "My room", "--no-follow")


MISTAKES = [
    (("send", "nowhere", "x"), 1, "refused (group_not_found)"),
    (("send", "My room", "x", "--to", "nobody"), 1, "refused (actor_not_found)"),
    (("ack", "My room", "1"), 1, "refused (invalid_request)"),
    (("inbox", "My room", "--as", "stranger"), 1, "no token of stranger"),
    (("nonsense",), 2, "No such command"),
    (("send",), 2, "Missing argument"),
]


def test_refusals_and_mistakes_have_a_clear_line_and_their_exit_code(room: Shell):
    for words, code, said in MISTAKES:
        assert said in room.run(*words, code=code)


def test_without_a_hub_commands_are_unavailable(shell: Shell):
    assert "run `tacit up`" in shell.run("group", "list", code=3)
    shell.start()
    shell.stop()
    assert "cannot be reached" in shell.run("group", "list", code=3)


def test_tokens_are_issued_listed_and_revoked(room: Shell):
    first = room.json("actor", "token", "My room", "ada", "--list")["tokens"]
    room.run("actor", "token", "My room", "ada")
    both = room.json("actor", "token", "My room", "ada", "--list")["tokens"]
    assert len(both) == 2
    new = next(token for token in both if token not in first)
    room.run("actor", "token", "My room", "ada", "--revoke", new)
    assert "permission_denied" in room.run("send", "My room", "x", "--as", "ada", code=1)
    kept = room.home / "config" / "tacit" / "tokens.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.spec("CCCS-114")
def test_a_second_hub_on_the_same_folder_is_refused_and_told_who_holds_it(room: Shell):
    said = room.run("up", "--port", "0", code=3)
    assert f"process {room.hub.pid}" in said


def test_a_public_address_needs_tls_or_a_word(shell: Shell):
    said = shell.run("up", "--host", "0.0.0.0", "--port", "0", code=1)
    assert "--insecure-public" in said
    assert "loopback only" in shell.run(
        "up", "--host", "0.0.0.0", "--insecure-public", "--local-trust", "--port", "0", code=1
    )


def test_a_tail_goes_on_by_itself_after_the_hub_was_killed(room: Shell):
    port = room.env["TACIT_URL"].rsplit(":", 1)[1]
    tail = subprocess.Popen(
        [TACIT, "--json", "tail", "My room"], env=room.env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert json.loads(tail.stdout.readline())["kind"] == "group.create"
        assert json.loads(tail.stdout.readline())["kind"] == "actor.add"
        room.run("send", "My room", "before")
        assert json.loads(tail.stdout.readline())["data"]["text"] == "before"
        room.stop(signal.SIGKILL)
        room.start(port=port)
        room.run("send", "My room", "after")
        assert json.loads(tail.stdout.readline())["data"]["text"] == "after"
    finally:
        tail.kill()
        tail.wait()
        tail.stdout.close()


def test_export_verify_and_rebuild(room: Shell):
    for number in range(5):
        room.run("send", "My room", f"message {number}")
    exported = _lines(room.run("ledger", "export"))
    assert [event["seq"] for event in exported] == list(range(1, 8))
    assert "sound" in room.run("ledger", "verify")
    assert "in use" in room.run("ledger", "rebuild", code=3)
    assert "in use" in room.run("ledger", "redact", "My room", "#4", code=3)
    room.stop()
    assert json.loads(room.run("ledger", "rebuild", "--json"))["events"] == 7
    assert "name a group" in room.run("ledger", "redact", code=2)
    assert "sound" in room.run("ledger", "verify")
    database = room.home / "data" / "tacit" / "ledger.db"
    raw = bytearray(database.read_bytes())
    at = raw.find(b'"message 3"')
    raw[at + 9] = ord("9")
    database.write_bytes(raw)
    report = json.loads(
        subprocess.run(
            [TACIT, "ledger", "verify", "--json"], env=room.env, capture_output=True, text=True, check=False
        ).stdout
    )
    assert not report["sound"]
    assert "chain of hashes" in " ".join(report["problems"])


def test_a_damaged_file_stops_the_hub_with_advice(shell: Shell):
    shell.start()
    shell.stop()
    database = shell.home / "data" / "tacit" / "ledger.db"
    database.write_bytes(b"this is no database" * 500)
    for left in ("-wal", "-shm"):
        database.with_name(database.name + left).unlink(missing_ok=True)
    said = shell.run("up", "--port", "0", code=3)
    assert "what to do" in said


def test_doctor_says_what_is_there_and_what_to_do(shell: Shell):
    assert (
        "`tacit up` makes it"
        in subprocess.run(
            [TACIT, "doctor"], env=shell.env, capture_output=True, text=True, check=False
        ).stdout
    )
    shell.start()
    told = shell.run("doctor")
    assert "version" in told
    assert "of the fullest is used" in told


def test_help_and_completion_teach(shell: Shell):
    shown = shell.run("--help")
    assert "A first minute" in shown
    assert "tacit" in shell.run("completion", "bash")
    done = subprocess.run(
        [TACIT],
        env={**shell.env, "_TACIT_COMPLETE": "bash_complete", "COMP_WORDS": "tacit gro", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "group" in done.stdout


def test_a_message_cannot_drive_somebodys_terminal(room: Shell):
    room.run("send", "My room", "\x1b[2Jboo\x07")
    shown = room.run("tail", "My room", "--no-follow")
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "boo" in shown


def test_a_stopped_hub_leaves_nothing_running_and_exits_cleanly(room: Shell):
    assert room.stop() == 0
    assert not os.path.exists(f"/proc/{room.hub.pid}")


def test_clowl_messages_are_sent_and_their_trace_is_shown(room: Shell):
    def speak(mid: str, p: str, sender: str, to: str, **more) -> str:
        value = {
            "clowl": "0.2",
            "mid": mid,
            "ts": 1_700_000_000,
            "p": p,
            "from": sender,
            "to": to,
            "cid": "c1",
        }
        return json.dumps({**value, "tid": "t1", "body": {"t": "review", "d": {}}, **more})

    room.run("actor", "add", "My room", "bob")
    assert "ada asks bob to do review" in room.run(
        "speak", "My room", speak("m1", "REQ", "ada", "bob"), "--as", "ada"
    )
    room.run("speak", "My room", "--as", "bob", stdin=speak("m2", "DONE", "bob", "ada", pid="m1"))
    shown = room.run("trace", "My room", "t1")
    assert "ada asks bob" in shown
    assert "sequenceDiagram" in room.run("trace", "My room", "t1", "--format", "mermaid")
    assert "<!doctype html>" in room.run("trace", "My room", "t1", "--format", "html").lower()
    said = room.run("speak", "My room", '{"clowl":"0.2"}', "--as", "ada", code=1)
    assert "E001" in said
    assert "$.mid" in said
