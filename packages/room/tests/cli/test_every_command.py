"""Every command, by a walk through the tree: its help, its `--data`, and the code it ends with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import click
import pytest

from tacit.base.commands.main import main, tacit
from tests.shell import TACIT, Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = click.Context(tacit)


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """What can be run: commands, and groups that do something by themselves."""
    if isinstance(command, click.Group):
        for name in command.list_commands(ROOT):
            inner = command.get_command(ROOT, name)
            assert inner is not None
            yield from leaves(inner, (*path, name))
        if not command.invoke_without_command:
            return
    if path:
        yield " ".join(path), command


COMMANDS = dict(leaves(tacit))

REFUSED = {
    "up": "--host 0.0.0.0 --port 0",
    "relay": "--host 0.0.0.0 --port 0",
    "mcp": "",
    "relay block": "x",
    "worktree diff": "x", "worktree discard": "x", "worktree merge": "x", "worktree rebase": "x",
    "worktree status": "x",
    "agent ask": "x", "agent inbox": "", "agent pending": "", "agent answer": "x", "agent threads": "",
    "agent thread": "x", "agent change": "x x", "agent fork": "x x", "agent stop": "x", "agent resume": "x",
    "agent disclosures": "", "agent why": "x", "agent notices": "", "agent thoughts": "", "agent run": "",
    "agent tick": "", "agent page": "", "agent join": "", "agent guest ask": "x x",
    "agent guest list": "", "agent guest show": "x", "agent guest revoke": "x", "agent guest forget": "x", "agent guest paste": "x x",
    "agent guest result": "x", "agent guest mail": "x x", "agent guest mail-server": "", "agent nudge add": "", "agent nudge list": "",
    "agent nudge off": "", "agent nudge on": "", "agent nudge quiet": "x", "agent nudge remove": "x",
    "agent nudge try": "", "agent mcp": "", "agent profile": "", "agent permissions": "", "agent autonomy": "",
    "agent brain large": "rules", "agent brain medium": "rules", "agent brain secondary": "openai",
    "agent brain small": "rules", "agent brain try": "", "agent brain": "", "agent calendar add": "x ics x",
    "agent calendar list": "", "agent calendar remove": "x", "agent action add": "x calendar x", "agent keys": "", "agent contact": "x show",
    "agent me": "", "agent add": "", "agent send": "x x", "agent listen": "", "agent schema": "x",
    "agent take-over": "", "agent group": "x", "agent transfer": "x x", "agent space invite": "x x",
    "agent space leave": "x", "agent space level": "x x x", "agent space link": "x x x", "agent space list": "",
    "agent space new": "x", "agent space notify": "x x", "agent space open": "x x", "agent space set": "x x x",
    "agent space show": "x", "agent space tool": "x x x x x", "agent space unset": "x x",
    "agent known": "x", "agent memory edit": "x x", "agent memory forget": "x", "agent memory show": "", "agent backup": "x", "agent clock": "", "agent protect": "",
    "agent setting": "auto_block_malformed", "agent repairs": "",
}  # fmt: skip
MISUSED = {
    "agent brain budget": "", "agent facts": "", "agent find": "", "agent restore": "no-such-file", "agent": "",
    "agent demo": "--nonsense", "join": "", "crew add": "", "crew install": "--port x",
    "restore": "no-such-file", "ledger import": "no-such-file",
}  # fmt: skip
UNASKED = {"agent setup": "", "agent register": "x"}
WELL = {
    "clowl english": "", "clowl prompt": "", "clowl schema": "", "clowl trace": "", "clowl validate": "",
    "worktree list": "", "completion": "bash", "crew uninstall": "",
}  # fmt: skip
UNAVAILABLE = {
    "link": "", "group list": "", "group new": "x", "group show": "x", "actor add": "x x", "actor list": "x",
    "actor remove": "x x", "actor token": "x x", "invite": "x", "service add": "x", "send": "x hi",
    "reply": "x x x", "inbox": "x", "read": "x", "ack": "x x", "react": "x x x", "tail": "x", "search": "x x",
    "forward": "x x x", "edit": "x x x", "delete": "x x", "preview": "x x", "why": "x x",
    "attention settings": "x", "attention steer": "x cancel", "activity": "x x", "approve": "x",
    "permissions": "x", "c2a": "", "speak": "x", "trace": "x x", "source": "x x", "relay account": "x",
    "relay accounts": "", "relay invite": "x", "relay peer": "x", "relay stats": "", "crew invite": "x x",
    "crew list": "", "crew logs": "x", "crew remove": "x", "crew restart": "x", "crew start": "x",
    "crew stop": "x", "agents": "x", "work": "", "ledger export": "", "ledger rebuild": "", "ledger verify": "",
    "ledger redact": "x x", "ledger copy": "--to-nats nats://127.0.0.1:1",
    "doctor": "", "backup": "x", "nodes": "", "clock": "", "relay clock": "",
}  # fmt: skip
ENDS = {
    name: (words, code)
    for code, names in ((0, WELL), (1, REFUSED), (2, MISUSED), (3, UNAVAILABLE), (130, UNASKED))
    for name, words in names.items()
}
"""How each ends in a home where nothing was ever started, with nobody at the keyboard."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name, value in Shell(tmp_path).env.items():
        monkeypatch.setenv(name, value)
    for name in ("TACIT_DATA", "TACIT_TOKEN", "TACIT_AS", "TACIT_SKILL"):
        monkeypatch.delenv(name, raising=False)
    with open(os.devnull, encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        yield tmp_path


def ended(monkeypatch: pytest.MonkeyPatch, *words: str) -> object:
    """The exit code of the entry point itself."""
    monkeypatch.setattr(sys, "argv", ["tacit", *words])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_every_command_shows_its_help_where_there_is_no_ledger_and_takes_data(home, monkeypatch, capsys):
    for name in COMMANDS:
        assert ended(monkeypatch, *name.split(), "--help") == 0, name
        shown = capsys.readouterr().out
        assert "Usage:" in shown
        assert "--data" in shown, name
    assert not list(home.iterdir())


def test_what_a_command_does_not_know_is_a_mistake_of_usage(home, monkeypatch, capsys):
    for name in COMMANDS:
        assert ended(monkeypatch, *name.split(), "--no-such-option") == 2, name
        assert "Error:" in capsys.readouterr().err


def test_every_command_has_an_expected_end():
    assert set(ENDS) == set(COMMANDS)


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.filterwarnings("ignore::getpass.GetPassWarning")
def test_every_command_ends_with_its_code_and_no_traceback(name, home, monkeypatch, capsys):
    words, code = ENDS[name]
    assert ended(monkeypatch, *name.split(), *words.split()) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out


def test_data_after_a_command_names_the_folder_of_its_kind(home, monkeypatch, capsys):
    for words in (("link",), ("ledger", "verify"), ("relay", "stats")):
        assert ended(monkeypatch, *words, "--data", str(home / "elsewhere")) == 3
        assert str(home / "elsewhere") in capsys.readouterr().err
    assert ended(monkeypatch, "agent", "protect", "--data", str(home / "mine")) == 1
    assert f"there is no agent in {home / 'mine'} yet" in capsys.readouterr().err


def _script(shell: Shell, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TACIT, *words], env=shell.env, capture_output=True, text=True, check=False)


def test_the_installed_script_says_by_its_code_that_a_ledger_is_unsound(shell: Shell):
    shell.start()
    shell.run("group", "new", "My room")
    shell.run("send", "My room", "the words of the message")
    assert _script(shell, "doctor").returncode == 0
    shell.stop()
    assert _script(shell, "doctor").returncode == 3
    assert _script(shell, "ledger", "verify").returncode == 0
    database = shell.home / "data" / "tacit" / "ledger.db"
    raw = bytearray(database.read_bytes())
    at = raw.find(b"the words of the message")
    assert at > 0
    raw[at] ^= 1
    database.write_bytes(raw)
    done = _script(shell, "ledger", "verify", "--json")
    assert done.returncode == 1
    assert not json.loads(done.stdout)["sound"]


def test_no_command_makes_or_changes_a_folder_that_holds_no_agent(tmp_path, monkeypatch, capsys):
    """But those that make an agent there."""
    folder = tmp_path / "photos"
    folder.mkdir(mode=0o755)
    (folder / "sea.jpg").write_bytes(b"sea")
    making = {"agent register", "agent setup", "agent restore", "agent demo"}
    for name, (words, _code) in ENDS.items():
        if name.startswith("agent") and name not in making:
            typed = name.split()[1:] + words.split()
            assert ended(monkeypatch, "agent", "--data", str(folder), *typed) != 0, name
    assert [path.name for path in folder.iterdir()] == ["sea.jpg"]
    assert folder.stat().st_mode & 0o777 == 0o755


PORTS = [
    (name, flag)
    for name, command in COMMANDS.items()
    for parameter in command.params
    for flag in parameter.opts
    if flag == "--port" or (flag == "--page" and "PORT" in (parameter.metavar or ""))
]


@pytest.mark.parametrize("port", ["-5", "65536", "99999", "x"])
@pytest.mark.parametrize(("name", "flag"), PORTS)
def test_what_is_no_port_is_a_mistake_of_usage(name, flag, port, home, monkeypatch, capsys):
    assert ended(monkeypatch, *name.split(), flag, port) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_the_commands_that_listen_are_tried():
    assert {("up", "--port"), ("relay", "--port"), ("agent run", "--page")} <= set(PORTS)
