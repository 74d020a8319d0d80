"""How an agent's keys are kept, from the command line: real processes, a real keyring library, a real terminal."""

import os
import pty
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.a2acp.post.io.schema import FILE, protection_method
from tests.a2acp.commands.test_relay_and_agent import wait_for_holder
from tests.a2acp.post.test_erasure import found_in
from tests.a2acp.post.test_protection import living
from tests.processes import AGENT, RelayProcess, command, run
from tests.relay_support import free_port

PHRASE = "correct horse battery"


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    process = RelayProcess(tmp_path_factory.mktemp("relay"), free_port())
    process.start()
    yield process
    process.stop()


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch):
    """Neither this machine's keyring nor its environment decides."""
    for name in ("TACIT_AGENT_PASSPHRASE", "TACIT_AGENT_PASSPHRASE_FILE", "TACIT_AGENT_PLAIN_KEYS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


@pytest.fixture
def ring(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.file_keyring.FileKeyring")
    monkeypatch.setenv("TACIT_TEST_KEYRING", str(tmp_path / "keyring.json"))
    return tmp_path / "keyring.json"


def registration(relay, name):
    return "register", f"{name}@{relay.domain}", "--relay", relay.url, "--code", relay.invite(name)


def keys_of(folder, phrase=None):
    from tacit.a2acp.post.io.store import AgentStore

    store = AgentStore(folder)
    if phrase is not None:
        store.secrets.unlock(phrase.encode())
    try:
        return living(store)
    finally:
        store.close()


@pytest.mark.spec("A2ACP-212")
def test_where_nobody_sits_keys_are_made_only_by_a_choice(relay, tmp_path):
    folder = tmp_path / "agent"
    refused = run(AGENT, "--data", folder, *registration(relay, "nobody-chose"), status=1)
    assert refused["code"] == "keys_unprotected"
    for way in ("--passphrase-file", "TACIT_AGENT_PASSPHRASE", "keyring", "--plain-keys"):
        assert way in refused["message"]
    run(AGENT, "--data", folder, *registration(relay, "nobody-chose"), "--plain-keys")
    assert protection_method(folder / FILE) is None
    assert found_in(folder, keys_of(folder))


@pytest.mark.spec("A2ACP-212", "A2ACP-246")
def test_under_a_passphrase_the_agent_works_and_without_it_says_so(relay, tmp_path, monkeypatch):
    folder, file = tmp_path / "agent", tmp_path / "phrase"
    file.write_text(PHRASE + "\n")
    locked, opened = ("--data", folder), ("--data", folder, "--passphrase-file", file)
    run(AGENT, *opened, *registration(relay, "with-phrase"))
    assert protection_method(folder / FILE) == "passphrase"
    assert not found_in(folder, keys_of(folder, PHRASE))
    for command_ in (("keys",), ("send", f"x@{relay.domain}", "hello"), ("listen", "--once")):
        assert run(AGENT, *locked, *command_, status=1)["code"] == "keys_locked"
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", "wrong horse battery")
    assert run(AGENT, *locked, "keys", status=1)["code"] == "wrong_passphrase"
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", PHRASE)
    assert run(AGENT, *locked, "keys")["address"] == f"agent:with-phrase@{relay.domain}"
    assert run(AGENT, "--data", folder, "--passphrase-file", tmp_path / "none", "keys", status=3)
    monkeypatch.delenv("TACIT_AGENT_PASSPHRASE")
    file.write_text("\n")
    assert run(AGENT, *opened, "keys", status=1)["code"] == "no_passphrase"


def test_a_short_passphrase_makes_no_keys(relay, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", "short")
    refused = run(AGENT, "--data", tmp_path / "agent", *registration(relay, "short"), status=1)
    assert refused["code"] == "weak_passphrase"
    assert run(AGENT, "--data", tmp_path / "agent", "keys", status=1)["code"] == "no_identity"


@pytest.mark.spec("A2ACP-212")
def test_a_send_beside_a_listening_process_opens_the_same_keys(relay, tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", PHRASE)
    for name in ("beside-a", "beside-b"):
        run(AGENT, "--data", tmp_path / name, *registration(relay, name))
    alice, bob = (("--data", tmp_path / name) for name in ("beside-a", "beside-b"))
    run(AGENT, *bob, "contact", f"beside-a@{relay.domain}", "add")
    listening = subprocess.Popen(command(AGENT, *alice, "listen", "--json"), stdout=subprocess.DEVNULL)
    try:
        wait_for_holder(Path(alice[1]), listening.pid)
        assert run(AGENT, *alice, "protect", "--with", "plain", status=3)["code"] == "unavailable"
        assert (
            run(AGENT, *alice, "send", f"beside-b@{relay.domain}", "hello", "--wait", "30")["status"]
            == "accepted"
        )
    finally:
        listening.terminate()
        assert listening.wait(20) == 0
    assert run(AGENT, *bob, "listen", "--count", "1")["packet"]["context"] == {"text": "hello"}


@pytest.mark.spec("A2ACP-212")
def test_a_folder_goes_from_plain_to_passphrase_to_keyring_and_back(relay, tmp_path, monkeypatch, ring):
    folder, new = tmp_path / "agent", tmp_path / "new"
    new.write_text(PHRASE)
    plain = ("--data", folder)
    run(AGENT, *plain, *registration(relay, "changes"), "--plain-keys")
    keys = keys_of(folder)
    assert run(AGENT, *plain, "protect") == {"keys": "plain"}
    assert run(AGENT, *plain, "protect", "--with", "passphrase", status=1)["code"] == "no_passphrase"
    changed = run(AGENT, *plain, "protect", "--with", "passphrase", "--new-passphrase-file", new)
    assert changed == {"keys": "passphrase"}
    assert not found_in(folder, keys)
    assert keys_of(folder, PHRASE) == keys
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", PHRASE)
    monkeypatch.setenv("TACIT_AGENT_NEW_PASSPHRASE", "another long phrase")
    run(AGENT, *plain, "protect", "--with", "passphrase")
    assert run(AGENT, *plain, "keys", status=1)["code"] == "wrong_passphrase"
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", "another long phrase")
    assert run(AGENT, *plain, "protect", "--with", "keyring") == {"keys": "keyring"}
    monkeypatch.delenv("TACIT_AGENT_PASSPHRASE")
    assert run(AGENT, *plain, "keys")["address"] == f"agent:changes@{relay.domain}"
    assert not found_in(folder, keys)
    assert len(ring.read_text()) > 40
    assert run(AGENT, *plain, "protect", "--with", "plain") == {"keys": "plain"}
    assert keys_of(folder) == keys
    # The keyring keeps nothing that opens nothing.
    assert ring.read_text() == "{}"


@pytest.mark.spec("A2ACP-212")
def test_where_there_is_a_keyring_it_keeps_the_secret_without_being_asked(relay, tmp_path, monkeypatch, ring):
    folder = tmp_path / "agent"
    run(AGENT, "--data", folder, *registration(relay, "with-ring"))
    assert run(AGENT, "--data", folder, "protect") == {"keys": "keyring"}
    assert run(AGENT, "--data", folder, "listen", "--once") == {}
    monkeypatch.setenv("TACIT_TEST_KEYRING", str(tmp_path / "another.json"))
    assert run(AGENT, "--data", folder, "keys", status=1)["code"] == "wrong_keyring"
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    assert run(AGENT, "--data", folder, "keys", status=1)["code"] == "no_keyring"


@pytest.mark.spec("A2ACP-212", "A2ACP-224")
def test_a_backup_is_restored_under_a_protection_of_its_new_device(relay, tmp_path, monkeypatch):
    run(AGENT, "--data", tmp_path / "old", *registration(relay, "moves"), "--plain-keys")
    run(AGENT, "--data", tmp_path / "old", "backup", tmp_path / "saved", "--passphrase", "for the backup")
    restore = ("--data", tmp_path / "new", "restore", tmp_path / "saved", "--passphrase", "for the backup")
    assert run(AGENT, *restore, status=1)["code"] == "keys_unprotected"
    monkeypatch.setenv("TACIT_AGENT_PASSPHRASE", PHRASE)
    run(AGENT, *restore)
    assert run(AGENT, "--data", tmp_path / "new", "protect") == {"keys": "passphrase"}
    assert not found_in(tmp_path / "new", keys_of(tmp_path / "new", PHRASE))


@pytest.mark.spec("A2ACP-224")
def test_a_backup_that_does_not_fit_on_the_disk_leaves_the_one_before_whole(relay, tmp_path):
    alice, place = ("--data", tmp_path / "agent"), tmp_path / "backups"
    place.mkdir()
    run(AGENT, *alice, *registration(relay, "saves"), "--plain-keys")
    saving = (*alice, "backup", place / "saved", "--passphrase", "for the backup")
    run(AGENT, *saving)
    before = (place / "saved").read_bytes()
    full = subprocess.run(
        command(AGENT, *saving, "--json"), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
    )  # fmt: skip
    assert full.returncode == 3, full
    assert "the backup was not written" in full.stdout
    assert [path.name for path in place.iterdir()] == ["saved"]
    assert (place / "saved").read_bytes() == before
    run(AGENT, *saving)
    assert (place / "saved").read_bytes() != before


@pytest.mark.spec("A2ACP-212")
def test_on_a_terminal_the_passphrase_is_asked_for(relay, tmp_path):
    folder = tmp_path / "agent"
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        command(AGENT, "--data", folder, *registration(relay, "on-a-terminal"), "--json"),
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    asked = b""
    for prompt in (b"agent's keys: ", b"confirmation: "):
        # What is typed before the question is asked is thrown away with it.
        while not asked.endswith(prompt):
            more = started.stderr.read1(1)
            assert more, asked
            asked += more
        os.write(ours, PHRASE.encode() + b"\n")
    out, err = started.communicate(timeout=60)
    os.close(ours)
    assert started.returncode == 0, (out, err)
    assert protection_method(folder / FILE) == "passphrase"
    assert not found_in(folder, keys_of(folder, PHRASE))


def test_the_doctor_tells_plain_keys_from_protected_ones(relay, tmp_path, monkeypatch):
    data = tmp_path / "share" / "tacit"
    folder = tmp_path / "share" / "tacit-agent"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))

    def said():
        done = subprocess.run(
            [sys.executable, "-m", "tacit", "--data", data, "doctor"],
            capture_output=True,
            text=True,
            check=False,
        )
        return [line for line in done.stdout.splitlines() if "agent keys" in line or "agent protect" in line]

    assert said() == []
    run(AGENT, "--data", folder, *registration(relay, "sees-a-doctor"), "--plain-keys")
    found, advice = said()
    assert "plain" in found
    assert "tacit agent protect --with" in advice
    monkeypatch.setenv("TACIT_AGENT_NEW_PASSPHRASE", PHRASE)
    run(AGENT, "--data", folder, "protect", "--with", "passphrase")
    (found,) = said()
    assert "encrypted at rest (passphrase)" in found
