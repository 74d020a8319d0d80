"""`tacit join` and `tacit agents` as a person types them."""

from __future__ import annotations

import json
import signal
import stat
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.typed import Started
from tools.places import ROOT

ANSWER = """#!/bin/sh
cat > /dev/null
echo "The answer of $1."
"""


class Joining:
    """A running `tacit join`."""

    def __init__(self, shell, *words: str, folder: Path | None = None) -> None:
        self.process = Started(words, shell.env, shell.home / "join.err", folder=folder)
        self.lines: list[str] = []
        self.watchdog = threading.Timer(60, self.process.kill)
        self.watchdog.start()

    def until(self, words: str) -> str:
        for line in self.process.stdout:
            self.lines.append(line)
            if words in line:
                return line
        raise AssertionError("".join(self.lines))

    def leave(self, how: int = signal.SIGINT) -> int:
        self.watchdog.cancel()
        self.process.send_signal(how)
        self.lines += self.process.stdout.readlines()
        code = self.process.wait(20)
        self.process.stdout.close()
        return code


@pytest.fixture(autouse=True)
def hub(shell):
    shell.start()


@pytest.fixture
def answer(shell):
    path = shell.home / "answer.sh"
    path.write_text(ANSWER)
    path.chmod(0o755)
    return str(path)


def until_said(shell, by: str, count: int = 1) -> list[dict]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        shown = [json.loads(line) for line in shell.run("--json", "search", "Lobby", "answer").splitlines()]
        events = [one for group in shown for one in (group if isinstance(group, list) else [group])]
        if len(found := [one for one in events if one.get("by") == by]) >= count:
            return found
        time.sleep(0.1)
    raise AssertionError(by)


def test_an_agent_joins_answers_and_leaves(shell, answer):
    shell.run("group", "new", "Lobby")
    ada = Joining(
        shell,
        "join",
        "Lobby",
        "--as",
        "ada",
        "--driver",
        "command",
        "--role",
        "helper",
        "--",
        "--text",
        answer,
        "Ada",
    )
    ada.until("is in the room")
    assert "added ada to the group" in "".join(ada.lines)
    shell.run("send", "Lobby", "@ada what is it?")
    ada.until("replied")
    assert until_said(shell, "ada")
    listed = json.loads(shell.run("--json", "agents", "Lobby"))
    assert (listed[0]["actor_id"], listed[0]["status"], listed[0]["roles"]) == ("ada", "idle", ["helper"])
    assert "ada" in shell.run("agents", "Lobby")
    assert ada.leave() == 0
    assert ada.lines[-1] == "ada left\n"
    tokens = list(Path(shell.env["XDG_DATA_HOME"]).rglob("token"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in tokens] == [0o600]


def test_it_comes_back_with_the_token_it_kept_and_the_owner_is_not_asked(shell, answer):
    shell.run("group", "new", "Lobby")
    words = ("join", "Lobby", "--as", "ada", "--driver", "command", "--", "--text", answer, "Ada")
    first = Joining(shell, *words)
    first.until("is in the room")
    first.leave(signal.SIGTERM)
    second = Joining(shell, *words)
    second.until("is in the room")
    assert "added" not in "".join(second.lines)
    assert second.leave() == 0


def test_paths_in_a_teams_file_are_meant_from_where_the_file_is(shell, answer):
    shell.run("group", "new", "Lobby")
    folder = shell.home / "team"
    folder.mkdir()
    Path(answer).rename(folder / "answer.sh")
    team = folder / "team.toml"
    team.write_text(
        'group = "Lobby"\n[[agent]]\nname = "ada"\ndriver = "command"\n'
        'options = ["--text", "sh", "answer.sh", "Ada"]\n'
    )
    joined = Joining(shell, "join", "--all", str(team), folder=shell.home)
    joined.until("is in the room")
    shell.run("send", "Lobby", "@ada what is it?")
    joined.until("replied")
    assert joined.leave() == 0


def test_a_person_reads_why_an_agent_has_no_answer(shell):
    shell.run("group", "new", "Lobby")
    ada = Joining(
        shell, "join", "Lobby", "--as", "ada", "--driver", "command", "--", "--text", "sh", "-c", "exit 64"
    )
    ada.until("is in the room")
    shell.run("send", "Lobby", "@ada what is it?")
    assert "got no answer (agent_error: the program ended with code 64)" in ada.until("got no answer")
    assert ada.leave() == 0


def test_a_token_that_the_hub_does_not_know_and_a_folder_that_is_none_are_told_plainly(shell, answer):
    shell.run("group", "new", "Lobby")
    words = ("join", "Lobby", "--as", "ada", "--driver", "command", "--", "--text", answer, "Ada")
    first = Joining(shell, *words)
    first.until("is in the room")
    assert "or join under another name" in shell.run(*words, code=3)
    first.leave()
    (token,) = Path(shell.env["XDG_DATA_HOME"]).rglob("token")
    token.write_text("tct_unknown\n")
    assert f"remove {token} and join again" in shell.run(*words, code=1)
    for rubbish in (b"", b"\xff\xfe"):
        token.write_bytes(rubbish)
        again = Joining(shell, *words)
        again.until("is in the room")
        assert again.leave() == 0
    (token.parent / "harness.db").write_bytes(b"rubbish" * 1000)
    assert "move " in shell.run(*words, code=3)
    token.parent.rename(token.parent.with_name("bob"))
    token.parent.write_text("a file in its place")
    assert "cannot be used" in shell.run(*words, code=3)


def test_a_team_joins_from_a_file_with_a_log_for_each(shell, answer):
    shell.run("group", "new", "Lobby")
    team = shell.home / "team.toml"
    team.write_text(
        'group = "Lobby"\n'
        + "".join(
            f'[[agent]]\nname = "{name}"\ndriver = "command"\noptions = ["--text", "{answer}", "{name}"]\n'
            for name in ("ada", "bob")
        )
    )
    joined = Joining(shell, "--json", "join", "--all", str(team))
    joined.until('"what":"connected"')
    joined.until('"what":"connected"')
    shell.run("send", "Lobby", "@bob tell us")
    joined.until('"what":"posted"')
    assert until_said(shell, "bob")
    assert joined.leave() == 0
    logs = sorted(Path(shell.env["XDG_DATA_HOME"]).rglob("agent.log"))
    assert [path.parent.name for path in logs] == ["ada", "bob"]
    assert '"what":"posted"' in logs[1].read_text()
    assert '"what":"posted"' not in logs[0].read_text()
    assert "tell us" not in logs[1].read_text()


IMPOSSIBLE = [
    (("join",), 2, "say where, who and how"),
    (("join", "Lobby", "--as", "ada"), 2, "say where, who and how"),
    (("join", "Lobby", "--as", "ada", "--driver", "abacus"), 2, "abacus"),
    (("join", "Lobby", "--as", "ada", "--driver", "command"), 1, "needs a program"),
    (("join", "Lobby", "--as", "ada", "--driver", "command", "--", "--model", "x"), 1, "driver_option"),
    (("join", "Lobby", "--as", "ada", "--driver", "command", "--", "./nothing"), 1, "there is no program"),
    (
        ("join", "Lobby", "--as", "ada", "--driver", "command", "--", "no-such"),
        1,
        "no program no-such on the",
    ),
    (("join", "Lobby", "--as", "ada", "--driver", "command", "--", "/etc/passwd"), 1, "chmod +x"),
    (
        ("join", "Lobby", "--as", "ada", "--driver", "command", "--", "--cwd", "/no", "true"),
        1,
        "no folder /no",
    ),
    (
        ("join", "Lobby", "--as", "ada", "--driver", "command", "--budget-usd", "nan", "--", "true"),
        2,
        "above 0",
    ),
    (
        ("join", "Lobby", "--as", "ada", "--driver", "command", "--time-limit", "0", "--", "true"),
        2,
        "above 0",
    ),
    (("join", "Nowhere", "--as", "ada", "--driver", "command", "--", "true"), 1, "group_not_found"),
    (("join", "Lobby", "--as", "ada", "--driver", "command", "--", "~nobody-here/x"), 1, "nobody whose home"),
]


def test_what_cannot_be_is_said_before_anything_runs(shell):
    shell.run("group", "new", "Lobby")
    for words, code, says in IMPOSSIBLE:
        assert says in shell.run(*words, code=code)
    rubbish = shell.home / "rules.txt"
    rubbish.write_bytes(b"\xff\xfe")
    words = (
        "join",
        "Lobby",
        "--as",
        "ada",
        "--driver",
        "command",
        "--instructions",
        str(rubbish),
        "--",
        "true",
    )
    assert "rules.txt is not UTF-8 text" in shell.run(*words, code=1)
    assert json.loads(shell.run("--json", "group", "show", "Lobby"))["actors"] == []


def test_a_bad_team_file_names_its_faults(shell):
    team = shell.home / "team.toml"
    team.write_text('[[agent]]\nname = "ada"\n')
    said = shell.run("join", "--all", str(team), code=1)
    assert "agent 1: `driver` is missing" in said
    shell.run("group", "new", "Lobby")
    team.write_text('group = "Lobby"\n[[agent]]\nname = "ada"\ndriver = "command"\noptions = ["./none"]\n')
    assert "ada: there is no program" in shell.run("join", "--all", str(team), code=1)
    group = shell.json("group", "show", "Lobby")["group_id"]
    agent = '[[agent]]\nname = "ada"\ndriver = "command"\noptions = ["true"]\ngroup = "{}"\n'
    team.write_text(agent.format("Lobby") + agent.format(group))
    twice = Joining(shell, "join", "--all", str(team))
    twice.until("is in the room")
    assert twice.leave() == 1
    assert "ada is named twice" in (shell.home / "join.err").read_text()
    team.write_text("not toml [")
    assert "is not TOML" in shell.run("join", "--all", str(team), code=1)


def test_the_first_agent_of_the_page_answers(shell):
    """What docs/harness.md shows is what happens."""
    page = (ROOT / "docs" / "harness.md").read_text(encoding="utf-8")
    program = shell.home / "answer.sh"
    program.write_text(page.split("```text\n")[1].split("```")[0])
    program.chmod(0o755)
    line = next(line for line in page.splitlines() if line.startswith("$ tacit join"))
    shell.run("group", "new", "Lobby")
    counter = Joining(shell, *line.removeprefix("$ tacit ").split(), folder=shell.home)
    counter.until("counter is in the room")
    shell.run("send", "Lobby", "@counter how long is this?")
    counter.until("replied")
    assert "I counted 5 words." in shell.run("group", "show", "Lobby")
    assert counter.leave() == 0


@pytest.mark.parametrize(
    ("status", "body"),
    [(502, b"<html>Bad Gateway</html>"), (404, b'["no"]'), (500, b""), (200, b"<html>"), (200, b"{}")],
)
def test_what_is_no_hub_is_told_apart_when_a_code_is_used(shell, status, body):
    class Other(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            return

    server = HTTPServer(("127.0.0.1", 0), Other)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        said = shell.run("--url", url, "join", "--invite", "abc", "--driver", "command", "--", "cat", code=3)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()
    assert "not as a hub does" in said
    assert not list(shell.home.rglob("invited/*.json"))
