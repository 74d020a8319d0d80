"""The files in `deploy/`, as far as they can be tried without a container runtime and a service manager."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import socket
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tests.hub.room import WAIT, running

from tacit.cli.main import tacit
from tacit.cli.session import default_data

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = "https://tacit.example"


def instructions() -> list[tuple[str, str]]:
    """What the container file says: each instruction with its words, lines that go on put together."""
    text = (ROOT / "deploy" / "Containerfile").read_text()
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines if line.strip())]


def of(name: str) -> list[str]:
    return [rest for word, rest in instructions() if word == name]


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of a command of ours, as the command line would read them; refuses what it does not know."""
    program, name, *options = words
    assert program.endswith("tacit")
    command = tacit.get_command(click.Context(tacit), name)
    assert command is not None, name
    return command.make_context(name, options).params


def test_the_container_runs_as_nobody_special_and_stops_cleanly() -> None:
    words = [word for word, _ in instructions()]
    [user] = of("USER")
    last = len(words) - 1 - words[::-1].index("FROM")
    assert last < words.index("USER") < words.index("CMD"), "of the image that runs, before anything does"
    assert user.isdigit()
    assert int(user) > 0
    assert f"--uid {user} " in " ".join(of("RUN"))
    assert of("STOPSIGNAL") == ["SIGTERM"]


def test_the_container_is_built_of_what_is_here() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    build = " ".join(of("RUN"))
    [lock] = re.findall(r"-r (\S+)", build)
    pinned = (ROOT / lock).read_text()
    assert "--no-build-isolation" in build
    for needed in project["build-system"]["requires"]:
        assert re.search(rf"(?m)^{needed}==", pinned), "nothing is fetched to build with"
    assert {"COPY . ."} <= {f"COPY {rest}" for rest in of("COPY")}
    ignored = (ROOT / ".containerignore").read_text().split()
    assert {".git", ".venv", "data"} <= set(ignored), "what is this machine's own stays here"
    least = project["project"]["requires-python"].removeprefix(">=")
    assert all(rest.split()[0] == f"python:{least}-slim" for rest in of("FROM"))


def test_the_container_and_the_unit_start_our_command_with_options_that_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = json.loads(of("CMD")[0])
    assert shell[:2] == ["sh", "-c"]
    start, *words = shlex.split(shell[2].replace("$TACIT_PUBLIC_URL", PUBLIC))
    assert start == "exec", "the hub itself gets the signal to stop"
    options = parsed(words)
    assert [str(options["port"])] == of("EXPOSE")
    assert options["public_url"] == PUBLIC
    kept = re.findall(r"TACIT_DATA=(\S+)", " ".join(of("ENV")))
    assert kept == of("VOLUME")
    monkeypatch.setenv("TACIT_DATA", kept[0])
    assert str(default_data()) == kept[0]

    unit = (ROOT / "deploy" / "tacit.service").read_text()
    [started] = re.findall(r"(?m)^ExecStart=/usr/bin/env (.*)$", unit)
    given = started.replace("${TACIT_PUBLIC_URL}", PUBLIC).replace("${STATE_DIRECTORY}", "/var/lib/tacit")
    assert parsed(shlex.split(given))["public_url"] == PUBLIC


async def test_the_health_check_asks_a_hub_that_is_ready(tmp_path: Path) -> None:
    [said] = of("HEALTHCHECK")
    program, flag, code = json.loads(said[said.index("[") :])
    assert (program, flag) == ("python", "-c")
    asked = f"http://127.0.0.1:{of('EXPOSE')[0]}"
    assert asked in code

    async def check(url: str) -> int:
        tried = await asyncio.create_subprocess_exec(
            sys.executable, flag, code.replace(asked, url), stderr=asyncio.subprocess.DEVNULL
        )
        async with asyncio.timeout(WAIT):
            return await tried.wait()

    async with running(tmp_path / "data") as room:
        assert await check(room.url) == 0
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # ours, so that no other hub listens there meanwhile
        assert await check(f"http://127.0.0.1:{nobody.getsockname()[1]}") != 0
