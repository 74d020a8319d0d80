from __future__ import annotations

import json
import os
import signal
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.typed import Started, typed

TACIT = str(Path(sys.executable).parent / "tacit")


def signed_in(url: str, code: str) -> dict[str, str]:
    """What the page gets for a link's code."""
    body = json.dumps({"code": code}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/sign-in", body), timeout=60) as answer:
        return json.load(answer)


class Shell:
    """The `tacit` command as a person types it, in a home folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TACIT")},
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "COLUMNS": "200",
            "NO_COLOR": "1",
            "HOME": str(home),
        }
        self.hub: Started | None = None

    def start(self, *options: str, port: str = "0") -> dict[str, object]:
        self.hub = Started(("--json", "up", "--port", port, *options), self.env, self.home / "hub.log")
        told = json.loads(self.hub.stdout.readline())
        self.env["TACIT_URL"] = told["url"]
        return told

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.hub.send_signal(how)
        code = self.hub.wait(20)
        self.hub.stdout.close()
        return code

    def run(self, *words: str, code: int = 0, stdin: str = "") -> str:
        done = typed(words, self.env, stdin)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout if code == 0 else done.stderr

    def json(self, *words: str):
        return json.loads(self.run(*words, "--json"))


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path)
    yield shell
    if shell.hub is not None and shell.hub.poll() is None:
        shell.stop(signal.SIGKILL)
    elif shell.hub is not None:
        shell.hub.stdout.close()
