"""`tacit crew`: agents that the hub runs, with a real hub, its crew's process, and real harnesses and programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.test_join import ANSWER, Joining, until_said
from tests.harness.io.test_worktrees import git
from tests.shell import TACIT

WAIT = 60.0


@pytest.fixture(autouse=True)
def hub(shell):
    shell.start()
    shell.run("group", "new", "Lobby")


@pytest.fixture
def answer(shell) -> str:
    path = shell.home / "answer.sh"
    path.write_text(ANSWER)
    path.chmod(0o755)
    return str(path)


def until(what, seconds: float = WAIT):
    """Wait for something that other processes do; gives what was found."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)
    return found


def state_of(shell, name: str) -> str:
    return next(one["state"] for one in shell.json("crew", "list") if one["actor_id"] == name)


def until_state(shell, name: str, state: str) -> None:
    until(lambda: state_of(shell, name) == state)


def add(shell, name: str, program: str, *options: str) -> None:
    shell.run("crew", "add", "Lobby", name, "--driver", "command", *options, "--", "--text", program, name)


def crew_processes(shell) -> list[int]:
    """The crew's processes of this test's hub, alive or on their way out."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes()
            ours = shell.env["HOME"].encode() in (path / "environ").read_bytes()
        except OSError:
            continue
        if b"tacit.harness.io.crew_process" in words and ours:
            found.append(int(path.name))
    return found


def connections(shell, name: str) -> int:
    """How often the agent's harness came into the room, by its own log."""
    (log,) = (shell.home / "data" / "tacit" / "crew").rglob(f"{name}/agent.log")
    return log.read_text().count('"what":"connected"')


def test_an_agent_is_added_answers_is_stopped_started_and_removed(shell, answer):
    assert "the crew is empty" in shell.run("crew", "list")
    assert crew_processes(shell) == []
    add(shell, "ada", answer, "--role", "helper")
    until_state(shell, "ada", "running")
    shell.run("send", "Lobby", "@ada what is it?")
    until_said(shell, "ada")
    assert "posted" in shell.run("crew", "logs", "ada")
    shell.run("crew", "stop", "ada")
    until_state(shell, "ada", "stopped")
    shell.run("crew", "start", "ada")
    until_state(shell, "ada", "running")
    shell.run("crew", "restart", "ada")
    until(lambda: connections(shell, "ada") == 3)
    shell.run("crew", "remove", "ada")
    assert "the crew is empty" in shell.run("crew", "list")
    listed = until(lambda: [one for one in shell.json("agents", "Lobby") if not one["online"]])
    assert [one["actor_id"] for one in listed] == ["ada"]
    assert "no agent ada" in shell.run("crew", "stop", "ada", code=1)


def test_the_crew_comes_back_with_its_hub_and_who_was_stopped_stays_away(shell, answer):
    add(shell, "ada", answer)
    add(shell, "bob", answer, "--stopped")
    until_state(shell, "ada", "running")
    port = shell.env["TACIT_URL"].rsplit(":", 1)[1]
    for how in (signal.SIGTERM, signal.SIGKILL):
        shell.stop(how)
        shell.start(port=port)
        until_state(shell, "ada", "running")
        assert state_of(shell, "bob") == "stopped"
        until(lambda: len(crew_processes(shell)) == 1)
    shell.run("send", "Lobby", "@ada what is it?")
    until_said(shell, "ada")
    assert len(until_said(shell, "ada")) == 1


def test_a_crew_process_that_is_killed_is_started_again_and_nobody_is_there_twice(shell, answer):
    add(shell, "ada", answer)
    add(shell, "bob", answer)
    for name in ("ada", "bob"):
        until_state(shell, name, "running")
    for round_ in range(2, 4):
        (process,) = crew_processes(shell)
        os.kill(process, signal.SIGKILL)
        for name in ("ada", "bob"):
            until(lambda name=name, count=round_: connections(shell, name) == count)
            until_state(shell, name, "running")
        assert len(crew_processes(shell)) == 1
    shell.run("send", "Lobby", "@ada what is it?")
    assert len(until_said(shell, "ada")) == 1


def live_tokens(shell) -> list[str]:
    return shell.json("actor", "token", "Lobby", "ada", "--list")["tokens"]


def test_the_book_holds_no_secret_and_each_start_has_a_token_of_its_own(shell, answer):
    shell.env["SECRET_KEY_OF_THE_MODEL"] = "sk-very-secret"
    add(shell, "ada", answer)
    until_state(shell, "ada", "running")
    book = shell.home / "data" / "tacit" / "crew" / "crew.json"
    assert book.stat().st_mode & 0o777 == 0o600
    first = json.loads(book.read_text())["agents"][0]["token_id"]
    assert live_tokens(shell) == [first]
    assert not [path for path in book.parent.rglob("*") if path.is_file() and b"tct_" in path.read_bytes()]
    shell.run("crew", "restart", "ada")
    until(lambda: connections(shell, "ada") == 2)
    second = json.loads(book.read_text())["agents"][0]["token_id"]
    assert live_tokens(shell) == [second] != [first]


def test_what_is_wrong_with_an_agent_is_said_at_once_and_it_is_not_of_the_crew(shell, answer):
    for words, says in (
        (("--driver", "command", "--", "./nothing"), "there is no program"),
        (("--driver", "command", "--", "--cwd", "/no", "true"), "no folder /no"),
        (("--driver", "command", "--", "--model", "x"), "takes"),
        (("--driver", "openai", "--", "--model", "x"), "has no account"),
    ):
        assert says in shell.run("crew", "add", "Lobby", "ada", *words, code=1)
    assert shell.json("crew", "list") == []
    assert shell.json("group", "show", "Lobby")["actors"] == []
    where = ("--worktree", "--", "--text", "--cwd", str(shell.home), answer)
    shell.run("crew", "add", "Lobby", "ada", "--driver", "command", *where)
    until_state(shell, "ada", "failed")
    assert "in no git repository" in shell.run("crew", "list")
    assert "already" in shell.run("crew", "add", "Lobby", "ada", "--driver", "command", "--", "true", code=1)


def test_a_teams_file_is_taken_in_and_one_wrong_entry_fails_alone(shell, answer):
    team = shell.home / "team.toml"
    team.write_text(
        'group = "Lobby"\n'
        '[[agent]]\nname = "bad"\ndriver = "command"\noptions = ["./none"]\n'
        '[[agent]]\nname = "ada"\ndriver = "command"\noptions = ["--text", "./answer.sh", "ada"]\n'
        "budget = { turns = 7 }\n"
    )
    assert "bad: there is no program" in shell.run("crew", "add", "--all", str(team), code=1)
    until_state(shell, "ada", "running")
    (listed,) = shell.json("crew", "list")
    assert listed["agent"]["budget"] == {"turns": 7}


def test_a_crew_with_worktrees_shows_branches_and_the_person_merges(shell):
    project = shell.home / "importer"
    project.mkdir()
    git(project, "init", "--quiet", "--initial-branch", "main")
    (project / "app.txt").write_text("first\n")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "first")
    writer = shell.home / "writer.sh"
    writer.write_text('#!/bin/sh\ncat > /dev/null\necho "of $1" > app.txt\necho "The answer of $1."\n')
    writer.chmod(0o755)
    words = ("--", "--text", "--cwd", str(project), str(writer))
    for name in ("ada", "bob"):
        shell.run("crew", "add", "Lobby", name, "--driver", "command", "--worktree", *words, name)
        until_state(shell, name, "running")
        shell.run("send", "Lobby", f"@{name} write it")
        until_said(shell, name)
    assert "tacit/ada (1 uncommitted file)" in shell.run("crew", "list")
    assert (project / "app.txt").read_text() == "first\n"
    shell.run("worktree", "merge", "ada")
    assert (project / "app.txt").read_text() == "of ada\n"
    group = shell.json("group", "show", "Lobby")["group_id"]
    call = ("POST", f"/v1/groups/{group}/crew/bob/worktree")
    came = request(shell, *call, {"op": "merge"})
    assert (came["done"], came["conflicts"]) == (False, ["app.txt"])
    assert "+of bob" in request(shell, "GET", f"/v1/groups/{group}/crew/bob/diff")["diff"]
    assert "stop it first" in request(shell, *call, {"op": "discard", "force": True})["message"]
    shell.run("crew", "stop", "bob")
    until_state(shell, "bob", "stopped")
    assert "--force" in request(shell, *call, {"op": "discard"})["message"]
    assert request(shell, *call, {"op": "discard", "force": True})["done"]
    shell.run("crew", "start", "bob")
    until_state(shell, "bob", "running")
    (tree,) = [one["worktree"] for one in shell.json("crew", "list") if one["actor_id"] == "bob"]
    assert Path(tree["path"], "app.txt").read_text() == "of ada\n"


def request(shell, method: str, path: str, body: object = None) -> dict:
    """As the page does it: HTTP with the owner's token."""
    token = (shell.home / "data" / "tacit" / "owner.token").read_text().strip()
    # Read by curl from its input: the words of a program are seen by everybody on the machine.
    words = ["curl", "-sS", "-X", method, "-H", "@-"]
    words += ["-H", "Content-Type: application/json", "-d", json.dumps(body)] if body is not None else []
    done = subprocess.run(
        [*words, shell.env["TACIT_URL"] + path],
        input=f"Authorization: Bearer {token}", capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_another_machine_joins_by_a_command_that_works_once(shell, answer):
    made = shell.json("crew", "invite", "Lobby", "far", "--role", "helper")
    assert f"join --invite {made['code']}" in made["command"]
    elsewhere = shell.home / "elsewhere"
    elsewhere.mkdir()
    env = {
        **shell.env,
        "HOME": str(elsewhere),
        "XDG_DATA_HOME": str(elsewhere / "data"),
        "XDG_CONFIG_HOME": str(elsewhere / "config"),
    }
    far = type("Elsewhere", (), {"home": elsewhere, "env": env})
    words = (*made["command"].split()[1:], "--driver", "command", "--", "--text", answer, "far")
    for _start in range(2):  # the same command again, on the same machine
        joined = Joining(far, *words)
        joined.until("far is in the room")
        assert joined.leave() == 0
    third = shell.home / "third"
    third.mkdir()
    env |= {"XDG_DATA_HOME": str(third / "data")}
    done = subprocess.run([TACIT, *words], env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "was used, has run out, or never was" in done.stderr
    assert made["code"] not in (shell.home / "data" / "tacit" / "crew" / "crew.json").read_text()


def test_a_hub_without_a_crew_says_so_and_a_damaged_book_stops_nothing_else(shell, answer):
    port = shell.env["TACIT_URL"].rsplit(":", 1)[1]
    shell.stop()
    shell.start("--no-crew", port=port)
    assert "tacit up --crew" in shell.run("crew", "list", code=1)
    assert "tacit up --crew" in shell.run(
        "crew", "add", "Lobby", "ada", "--driver", "command", "--", "true", code=1
    )
    shell.stop()
    folder = shell.home / "data" / "tacit" / "crew"
    folder.mkdir(exist_ok=True)
    (folder / "crew.json").write_text("{ not json")
    shell.start(port=port)
    assert "move it away" in shell.run("crew", "list", code=3)
    shell.run("send", "Lobby", "the room works")
    assert (folder / "crew.json").read_text() == "{ not json"


def test_the_service_is_one_unit_file_of_the_account(shell, tmp_path):
    odd = tmp_path / 'da"ta %h $HOME'
    shown = shell.run("up", "--service", "print", "--port", "7999", "--no-crew", "--data", str(odd))
    line = next(one for one in shown.splitlines() if one.startswith("ExecStart="))
    assert '"up" "--port" "7999" "--no-crew"' in line
    assert 'da\\"ta %%h $$HOME' in line
    without = {**shell.env, "PATH": str(tmp_path / "nothing")}
    done = subprocess.run(
        [TACIT, "up", "--service"], env=without, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 3
    assert "this machine has no systemd" in done.stderr
    assert (shell.home / "config" / "systemd" / "user" / "tacit.service").exists()


def test_the_crew_is_installed_with_the_machine_and_taken_out_again(shell, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    systemctl = programs / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {programs}/asked\n')
    systemctl.chmod(0o755)
    shell.env["PATH"] = f"{programs}:{shell.env['PATH']}"
    unit = shell.home / "config" / "systemd" / "user" / "tacit.service"
    shell.run("crew", "install", "--port", "7999")
    assert '"up" "--port" "7999" "--crew"' in unit.read_text()
    shell.run("crew", "uninstall")
    assert not unit.exists()
    shell.run("crew", "uninstall")
    assert (programs / "asked").read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable --now tacit.service",
        "--user disable --now tacit.service",
        "--user daemon-reload",
    ]


def test_without_systemd_the_unit_is_written_and_removed_and_that_is_said(shell, tmp_path):
    shell.env["PATH"] = str(tmp_path / "nothing")
    unit = shell.home / "config" / "systemd" / "user" / "tacit.service"
    assert "this machine has no systemd" in shell.run("crew", "install", code=3)
    assert unit.exists()
    assert "the service is removed" in shell.run("crew", "uninstall")
    assert not unit.exists()
    assert "no such option" in shell.run("crew", "install", "--frobnicate", code=2).lower()
