"""`tacit join --worktree` and `tacit worktree`, with a real hub, real agents and a real repository."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from tests.cli.test_join import Joining, until_said
from tests.harness.io.test_worktrees import git

WRITER = """#!/bin/sh
# Writes what it was told to write, in the folder where it runs, and says so.
cat > /dev/null
echo "$2" > app.txt
echo "The answer of $1."
"""


@pytest.fixture(autouse=True)
def hub(shell):
    shell.start()
    shell.run("group", "new", "Lobby")


@pytest.fixture
def project(shell) -> Path:
    folder = shell.home / "importer"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "app.txt").write_text("first\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


@pytest.fixture
def writer(shell) -> str:
    path = shell.home / "writer.sh"
    path.write_text(WRITER)
    path.chmod(0o755)
    return str(path)


def join(shell, name: str, writer: str, folder: Path, *options: str) -> Joining:
    joined = Joining(
        shell, "join", "Lobby", "--as", name, "--driver", "command", *options, "--",
        "--text", "--cwd", str(folder), writer, name, f"of {name}",
    )  # fmt: skip
    joined.until("is in the room")
    return joined


def test_two_agents_in_two_worktrees_a_conflict_and_a_persons_way_out(shell, project, writer):
    ada, bob = (join(shell, name, writer, project, "--worktree") for name in ("ada", "bob"))
    assert "ada works on branch tacit/ada" in "".join(ada.lines)
    assert (project / "app.txt").read_text() == "first\n"
    for name in ("ada", "bob"):
        shell.run("send", "Lobby", f"@{name} write it")
        until_said(shell, name)
    assert (project / "app.txt").read_text() == "first\n"
    listed = {one["agent"]: one for one in shell.json("worktree", "list")}
    assert {name: one["status"]["files"] for name, one in listed.items()} == {
        "ada": ["app.txt"],
        "bob": ["app.txt"],
    }
    assert "+of bob" in shell.run("worktree", "diff", "bob")
    assert "1 uncommitted file" in shell.run("worktree", "status", "bob")
    assert "merged ada's work into main" in shell.run("worktree", "merge", "ada")
    assert (project / "app.txt").read_text() == "of ada\n"
    for act in ("merge", "rebase"):
        assert "both changed app.txt" in shell.run("worktree", act, "bob", code=1)
    assert (project / "app.txt").read_text() == "of ada\n"
    assert Path(listed["bob"]["path"], "app.txt").read_text() == "of bob\n"
    assert "is running in this worktree" in shell.run("worktree", "discard", "bob", code=1)
    bob.leave()
    again = join(shell, "bob", writer, project, "--worktree")
    assert Path(listed["bob"]["path"], "app.txt").read_text() == "of bob\n"
    again.leave()
    assert "--force" in shell.run("worktree", "discard", "bob", code=1)
    assert "kept: git branch again" in shell.run("worktree", "discard", "bob", "--force")
    ada.leave()
    shell.run("worktree", "discard", "ada")
    assert shell.json("worktree", "list") == []
    assert "tacit/" not in git(project, "branch", "--list")


def test_agents_say_their_branch_where_a_person_looks_for_them(shell, project, writer):
    ada = join(shell, "ada", writer, project, "--worktree")
    shown = json.loads(shell.run("--json", "agents", "Lobby"))
    assert shown[0]["worktree"]["branch"] == "tacit/ada"
    assert "tacit/ada" in shell.run("agents", "Lobby")
    ada.leave()


def test_two_that_write_in_one_folder_are_told_and_so_are_their_models(shell, project):
    looker = shell.home / "looker.py"
    looker.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[1], 'w').write(sys.stdin.read())\n"
        "print('The answer of', sys.argv[1])\n"
    )
    looker.chmod(0o755)
    seen = {name: shell.home / f"seen-{name}" for name in ("ada", "bob")}
    joined = []
    for name in ("ada", "bob"):
        joined.append(
            Joining(
                shell,
                "join",
                "Lobby",
                "--as",
                name,
                "--driver",
                "command",
                "--",
                "--text",
                "--cwd",
                str(project),
                str(looker),
                str(seen[name]),
            )
        )
        joined[-1].until("is in the room")
    assert "bob and ada all write in" in (shell.home / "join.err").read_text()
    for name, other in (("ada", "bob"), ("bob", "ada")):
        shell.run("send", "Lobby", f"@{name} what do you see?")
        until_said(shell, name)
        assert f"These work in this folder too, at the same time:\n| {other}\n" in seen[name].read_text()
    for one in joined:
        one.leave()


def test_a_worktree_of_nothing_is_refused_before_anything_runs(shell, writer):
    words = ("join", "Lobby", "--as", "ada", "--driver", "command", "--worktree", "--", "--text", "--cwd",
             str(shell.home), writer)  # fmt: skip
    assert "in no git repository" in shell.run(*words, code=1)
    assert shell.json("group", "show", "Lobby")["actors"] == []
    assert "no worktree of ada" in shell.run("worktree", "status", "ada", code=1)


def test_one_wrong_entry_of_a_teams_file_fails_alone(shell, project, writer):
    team = shell.home / "team.toml"
    team.write_text(
        'group = "Lobby"\n'
        '[[agent]]\nname = "bad"\ndriver = "command"\noptions = ["./none"]\n'
        '[[agent]]\nname = "worse"\n'
        '[[agent]]\nname = "ada"\ndriver = "command"\nworktree = true\n'
        f'options = ["--text", "--cwd", "{project}", "{writer}", "ada", "of ada"]\n'
    )
    joined = Joining(shell, "join", "--all", str(team))
    joined.until("ada is in the room")
    shell.run("send", "Lobby", "@ada write it")
    until_said(shell, "ada")
    assert shell.json("worktree", "list")[0]["branch"] == "tacit/ada"
    assert joined.leave() == 1
    told = (shell.home / "join.err").read_text()
    assert "bad: there is no program" in told
    assert "agent 2: `driver` is missing" in told


def test_one_broken_record_fails_alone(shell, project, writer):
    ada, bob = (join(shell, name, writer, project, "--worktree") for name in ("ada", "bob"))
    bob.leave()
    [record] = shell.home.rglob("bob/worktree.json")
    for broken in ("{", "[]", '{"agent": 7}'):
        record.write_text(broken)
        listed = {one["agent"]: one for one in shell.json("worktree", "list")}
        assert listed["ada"]["status"]["words"] == "same as main"
        assert "cannot be read" in listed["bob"]["fault"]
        assert "cannot be read" in shell.run("worktree", "list").replace("\n", " ")
        assert "cannot be read" in shell.run("worktree", "merge", "bob", code=1)
        assert "tacit/ada" in shell.run("agents", "Lobby")
    ada.leave()


@pytest.mark.parametrize("act", ["merge", "rebase"])
def test_a_tree_is_not_changed_under_a_running_turn(shell, project, act):
    slow = shell.home / "slow.sh"
    slow.write_text(
        f"#!/bin/sh\ncat > /dev/null\ntouch {shell.home}/begun\n"
        f"while [ ! -e {shell.home}/go ]; do sleep 0.05; done\necho of ada > app.txt\necho The answer of ada\n"
    )
    slow.chmod(0o755)
    ada = join(shell, "ada", str(slow), project, "--worktree")
    shell.run("send", "Lobby", "@ada write it")
    ada.until("thinks about it")
    end = time.monotonic() + 60
    while not (shell.home / "begun").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert "in the middle of a turn" in shell.run("worktree", act, "ada", code=1)
    (shell.home / "go").touch()
    until_said(shell, "ada")
    shell.run("worktree", act, "ada")
    ada.leave()


def test_two_sessions_of_one_agent_answer_side_by_side_each_in_a_tree_of_its_own(shell, project):
    program = shell.home / "both.sh"
    program.write_text(
        f"#!/bin/sh\ncat > {shell.home}/asked.$$\n"
        f"if tail -n 1 {shell.home}/asked.$$ | grep -q 'long job'; then\n"
        f"  while [ ! -e {shell.home}/go ]; do sleep 0.05; done\nfi\n"
        'pwd > where.txt\necho "The answer from $(pwd)"\n'
    )
    program.chmod(0o755)
    refused = shell.run(
        "join", "Lobby", "--as", "ada", "--driver", "command", "--sessions", "2", "--",
        "--text", "--cwd", str(project), str(program), code=1,
    )  # fmt: skip
    assert "2 sessions that write in one folder" in " ".join(refused.split())
    ada = Joining(
        shell, "join", "Lobby", "--as", "ada", "--driver", "command", "--worktree", "--sessions", "2", "--",
        "--text", "--cwd", str(project), str(program),
    )  # fmt: skip
    ada.until("is in the room")
    assert "its session 2 works on branch tacit/ada.2" in "".join(ada.lines)
    shell.run("send", "Lobby", "@ada do the long job")
    ada.until("thinks about it")
    shell.run("send", "Lobby", "@ada unrelated: which port is it?")
    [quick] = until_said(shell, "ada")
    assert "session-2" in quick["data"]["text"]
    (shell.home / "go").touch()
    assert len(until_said(shell, "ada", 2)) == 2
    listed = {one["agent"]: one for one in shell.json("worktree", "list")}
    assert {name: one["status"]["files"] for name, one in listed.items()} == {
        "ada": ["where.txt"],
        "ada.2": ["where.txt"],
    }
    assert listed["ada.2"]["running"]
    assert "is running in this worktree" in shell.run("worktree", "discard", "ada.2", code=1)
    assert "merged ada.2's work into main" in shell.run("worktree", "merge", "ada.2")
    ada.leave()
