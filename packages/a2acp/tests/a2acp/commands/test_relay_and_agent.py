"""The commands of docs/relay.md, run as they are written, and how each command ends."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tacit.base.io import sqlite
from tacit.relay.io.store import FILE
from tests.processes import AGENT, RELAY, RelayProcess, command, run
from tests.relay_support import free_port
from tools.places import ROOT

PAGE = ROOT / "docs" / "relay.md"


@pytest.fixture
def relay(tmp_path):
    process = RelayProcess(tmp_path / "relay", free_port())
    process.start()
    yield process
    process.stop()


def people(relay, tmp_path, *names):
    found = []
    for name in names:
        run(
            AGENT,
            "--data",
            tmp_path / name,
            "register",
            f"{name}@{relay.domain}",
            "--relay",
            relay.url,
            "--code",
            relay.invite(name),
            "--plain-keys",
        )
        found.append(("--data", tmp_path / name))
    return found


@pytest.mark.spec("A2ACP-002", "A2ACP-020")
def test_the_commands_of_the_page_carry_a_packet_to_a_sleeping_agent(relay, tmp_path):
    block = re.search(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    lines = [line.removeprefix("$ ").partition("  #")[0].strip() for line in block.splitlines()]
    assert lines[0] == "tacit relay"
    codes = {}
    for line in lines[1:]:
        words = re.findall(r'"[^"]*"|\S+', line)
        group, rest = (
            words[1],
            [word.strip('"').replace("localhost:7434", relay.domain) for word in words[2:]],
        )
        if group == "relay":
            codes[rest[-1]] = run(RELAY, "--data", relay.folder, *rest)["code"]
            continue
        rest = [str(tmp_path / word) if word.startswith("data/") else word for word in rest]
        if "CODE" in rest:
            name = rest[rest.index("register") + 1].partition("@")[0]
            rest[rest.index("CODE")] = codes[name]
        if rest[-1] == "listen":
            rest += ["--count", "1"]
        last = run(AGENT, *rest)
    assert last["packet"]["context"] == {"text": "dinner on Friday?"}
    # Bob's own agent may have left a summary of the thread for alice, who sleeps now.
    file = sqlite.connect(Path(relay.folder) / FILE, readonly=True)
    end = time.monotonic() + 60
    while file.execute("SELECT count(*) FROM queue WHERE sender LIKE 'agent:alice@%'").get:
        assert time.monotonic() < end, "the relay still keeps what bob has read"
        time.sleep(0.02)
    file.close()
    assert run(RELAY, "--data", relay.folder, "stats")["agents"] == 2


def wait_for_holder(folder: Path, pid: int) -> None:
    """Return when this process holds the agent's folder: only then does a send beside it go through it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        lock = folder / "lock"
        if lock.exists() and f'"pid": {pid},' in lock.read_text():
            return
        time.sleep(0.02)
    raise AssertionError("the listening process never took its folder")


def test_a_listening_process_carries_what_another_process_of_the_agent_sends(relay, tmp_path):
    alice, bob = people(relay, tmp_path, "alice", "bob")
    run(AGENT, *bob, "contact", f"alice@{relay.domain}", "add")
    listening = subprocess.Popen(command(AGENT, *alice, "listen", "--json"), stdout=subprocess.DEVNULL)
    try:
        wait_for_holder(Path(alice[1]), listening.pid)
        sent = run(AGENT, *alice, "send", f"bob@{relay.domain}", "from beside", "--wait", "30")
        assert sent["status"] == "accepted"
    finally:
        listening.terminate()
        assert listening.wait(20) == 0
    heard = run(AGENT, *bob, "listen", "--count", "1")
    assert heard["packet"]["context"]["text"] == "from beside"
    # Printed once, also over restarts.
    assert run(AGENT, *bob, "listen", "--once") == {}


def test_exit_codes_tell_refused_from_unavailable_and_usage(relay, tmp_path):
    (alice,) = people(relay, tmp_path, "alice")
    assert (
        run(AGENT, *alice, "send", f"nobody@{relay.domain}", "x", status=1)["status"]
        == "failed: unknown_recipient"
    )
    assert run(AGENT, *alice, "send", "not-an-address", "x", status=1)["code"] == "bad_address"
    assert run(AGENT, "--data", tmp_path / "new", "keys", status=1)["code"] == "no_identity"
    again = run(
        AGENT,
        "--data",
        tmp_path / "new",
        "register",
        f"carol@{relay.domain}",
        "--relay",
        relay.url,
        "--code",
        "wrong",
        "--plain-keys",
        status=1,
    )
    assert again["code"] == "bad_code"
    run(RELAY, "--data", tmp_path / "nowhere", "stats", status=3)
    assert run(RELAY, "--data", relay.folder, "invite", "alice", status=1)["code"] == "username_taken"
    assert run(RELAY, "--data", relay.folder, "--port", relay.port, status=3)["code"] == "unavailable"
    assert (
        subprocess.run(command(RELAY, "--no-such-option"), capture_output=True, check=False).returncode == 2
    )
    relay.kill()
    assert (
        run(AGENT, *alice, "send", f"bob@{relay.domain}", "later", "--wait", "1", status=3)["status"]
        == "waiting"
    )


@pytest.mark.spec("A2ACP-224", "A2ACP-015")
def test_backup_restore_and_rotation_from_the_command_line(relay, tmp_path):
    (alice,) = people(relay, tmp_path, "alice")
    before = run(AGENT, *alice, "keys")
    phrase = ("--passphrase", "correct horse battery")
    run(AGENT, *alice, "backup", tmp_path / "saved", *phrase)
    assert (tmp_path / "saved").stat().st_mode & 0o077 == 0
    assert (
        run(
            AGENT,
            "--data",
            tmp_path / "second",
            "restore",
            tmp_path / "saved",
            "--passphrase",
            "wrong horse battery",
            status=1,
        )["code"]
        == "bad_backup"
    )
    run(AGENT, "--data", tmp_path / "second", "restore", tmp_path / "saved", *phrase, "--plain-keys")
    assert run(AGENT, "--data", tmp_path / "second", "keys") == before
    code = run(RELAY, "--data", relay.folder, "invite", "alice", "--renew")["code"]
    run(AGENT, *alice, "register", f"alice@{relay.domain}", "--relay", relay.url, "--code", code, "--rotate")
    assert run(AGENT, *alice, "keys")["fingerprint"] != before["fingerprint"]


def test_an_operators_block_works_beside_the_running_relay(relay, tmp_path):
    alice, _bob = people(relay, tmp_path, "alice", "bob")
    run(RELAY, "--data", relay.folder, "block", f"bob@{relay.domain}")
    accounts = run(RELAY, "--data", relay.folder, "accounts")["accounts"]
    assert [one["username"] for one in accounts] == ["alice", "bob"]
    end = time.monotonic() + 60
    while run_status(alice, relay) == "accepted":
        assert time.monotonic() < end
    run(RELAY, "--data", relay.folder, "block", f"bob@{relay.domain}", "--undo")
    end = time.monotonic() + 60
    while run_status(alice, relay) != "accepted":
        assert time.monotonic() < end


def run_status(alice, relay) -> str:
    done = subprocess.run(
        command(AGENT, *alice, "send", f"bob@{relay.domain}", "x", "--json"),
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout)["status"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_relay_that_is_told_to_stop_closes_its_file_and_ends_well(relay, number):
    relay.invite("ann")
    assert relay.stop(number) == 0
    assert not list(relay.folder.glob("*-wal"))


def test_without_tls_a_relay_does_not_listen_to_the_world(tmp_path):
    answer = run(RELAY, "--data", tmp_path, "--host", "0.0.0.0", "--domain", "relay.example", status=1)
    assert answer["code"] == "no_tls"


def test_what_a_stranger_writes_does_not_steer_the_terminal(relay, tmp_path):
    alice, bob = people(relay, tmp_path, "alice", "bob")
    run(AGENT, *bob, "contact", f"alice@{relay.domain}", "add")
    run(AGENT, *alice, "send", f"bob@{relay.domain}", "\x1b[2J[red]hi[/red]\x07")
    done = subprocess.run(
        command(AGENT, *bob, "listen", "--count", "1"), capture_output=True, text=True, check=True, timeout=60
    )
    assert "\x1b[2J" not in done.stdout
    assert "\x07" not in done.stdout
    assert "[red]hi[/red]" in done.stdout
