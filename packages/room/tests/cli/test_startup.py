"""How a command starts: by the modules that it loads, so that it stays quick whatever the machine.

Time is measured by `make bench-cli`; here stands why it is what it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

if TYPE_CHECKING:
    from tests.shell import Shell

HEAVY = (
    "aiohttp", "asyncio", "importlib.metadata", "wcwidth", "ssl", "pydantic", "mcp", "mcp_types", "jsonschema", "apsw", "email", "http",
    "prompt_toolkit", "tacit.agent", "tacit.hub", "tacit.harness", "tacit.attention", "tacit.language", "tacit.bridges", "tacit.c2a.messages",
    "tacit.c2a.io",
)  # fmt: skip
"""What takes tens of milliseconds each, and what no plain call to a running hub needs."""


TABLES = {
    name
    for table in ("tacit.a2acp.commands.table", "tacit.agent.shell.commands.table")
    for name in (table, *(table.rsplit(".", depth)[0] for depth in (1, 2)))
}
"""What each package says of its commands, which the list of all reads."""


def loaded(environment: dict[str, str], *words: str) -> set[str]:
    """The modules that `python -m tacit WORDS` imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tacit", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE))


def heavy(modules: set[str]) -> set[str]:
    return {name for name in HEAVY if any(one == name or one.startswith(name + ".") for one in modules)}


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("send", "--help"), ("tail", "--help"), ("agent", "--help")]
)
def test_help_loads_nothing_heavy(words):
    modules = loaded(dict(os.environ), *words) - TABLES
    assert "tacit.base.commands.main" in modules
    own = {"tacit.agent"} if words[0] == "agent" else set()
    assert heavy(modules) == own
    of_agent = {name for name in modules if name.startswith("tacit.agent.")}
    assert all(name.startswith(("tacit.agent.shell", "tacit.agent.terminal")) for name in of_agent)


def test_the_help_of_the_agent_lists_every_command_that_it_has():
    from tacit.agent.shell.commands.main import agent

    context = click.Context(agent)
    for name in agent.list_commands(context):
        command = agent.get_command(context, name)
        assert command is not None
        assert command.name == name


def test_talking_to_a_running_hub_loads_nothing_heavy(shell: Shell):
    shell.start()
    shell.run("group", "new", "Room")
    shell.run("actor", "add", "Room", "ada")
    for words in (
        ("send", "Room", "hello"),
        ("send", "Room", "hello", "--as", "ada"),
        ("reply", "Room", "#3", "yes"),
        ("react", "Room", "#3", "x"),
        ("read", "Room"),
        ("send", "Room", "hello", "--json"),
        ("group", "new", "Another"),
        ("why", "Room", "#3"),
        ("preview", "Room", "hello"),
        ("edit", "Room", "#3", "hello again"),
    ):
        assert heavy(loaded(shell.env, *words)) == set(), words


def test_the_list_of_the_heavy_names_what_there_is(shell: Shell):
    """A name that nothing has any more would watch over nothing: `tacit up` loads what the list is about."""
    import importlib.util

    assert all(importlib.util.find_spec(name) is not None for name in HEAVY)


def test_python_dash_m_is_the_command(shell: Shell):
    run = lambda *start: subprocess.run([*start, "--version"], capture_output=True, text=True, check=True)  # noqa: E731
    script = str(Path(sys.executable).parent / "tacit")
    assert run(sys.executable, "-m", "tacit").stdout == run(script).stdout
