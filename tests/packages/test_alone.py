"""Each package installed alone: it does what its README says, and what it does not ask for is not there."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from tests.packages.alone import OURS, Alone, Wheels

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proof

ROOMS = {
    "core": {"base", "ledger"},
    "clowl": {"language"},
    "c2a": {"c2a", "attention"},
    "a2acp": {"wire", "seal", "relay", "a2acp"},
    "agent": {"agent"},
    "room": {"client", "harness", "bridges", "hub", "cli"},
}
COMMANDS = {
    "a2acp": {"completion", "relay"},
    "agent": {"completion", "relay", "agent"},
    "room": {"completion", "clowl", "up", "send", "doctor"},
}
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SESSION = re.compile(
    r"^```console\n\$ pip install (.*?)\n\$ python\n(>>> .*?)^```$", re.DOTALL | re.MULTILINE
)
OF_EXTRAS = {
    "core": {"aiohttp", "anyio", "apsw", "click", "mcp", "mcp_types", "nats", "starlette", "wcwidth"},
    "clowl": {"aiohttp", "bpe_openai", "click", "opentelemetry", "prometheus_client"},
    "c2a": {"aiohttp", "apsw"},
    "a2acp": set(),
    "agent": {"apprise", "keyring", "mcp", "rich", "textual"},
    "room": {
        "acp", "claude_agent_sdk", "codex_cli_bin", "httpx2", "jsonschema", "mcp", "mcp_types",
    },
}  # fmt: skip
"""What each package imports that only an extra brings."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    return Wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module", params=ROOMS)
def alone(request: pytest.FixtureRequest, wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return Alone(tmp_path_factory.mktemp(request.param), wheels, f"tacit-{request.param}")


def name_of(alone: Alone) -> str:
    return alone.own.folder.name


@pytest.mark.parametrize(
    ("name", "brought"),
    [
        ("core", {"tacit-core", "msgspec"}),
        ("clowl", {"tacit-clowl", "tacit-core", "msgspec"}),
        ("c2a", {"tacit-c2a", "tacit-core", "msgspec"}),
    ],
)
def test_a_library_brings_core_and_msgspec_and_nothing_else(
    name: str, brought: set[str], wheels: Wheels
) -> None:
    assert wheels.needed(f"tacit-{name}") == brought


def test_the_relay_comes_without_a_room_and_the_room_without_an_agent(wheels: Wheels) -> None:
    ours = {name: wheels.needed(f"tacit-{name}") & OURS.keys() for name in ("a2acp", "agent", "room")}
    assert ours["a2acp"] == {"tacit-a2acp", "tacit-core"}
    assert ours["agent"] == ours["a2acp"] | {"tacit-agent"}
    assert ours["room"] == {"tacit-room", "tacit-c2a", "tacit-clowl", "tacit-core"}


def imported(folder: Path) -> set[str]:
    """The libraries that a package imports anywhere, also late and for types alone."""
    names: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import():
                    names |= {alias.name.partition(".")[0] for alias in node.names}
                case ast.ImportFrom(module=str(module), level=0):
                    names.add(module.partition(".")[0])
    return names - sys.stdlib_module_names - {"tacit"}


def test_every_library_that_it_imports_comes_with_it_or_with_an_extra(alone: Alone) -> None:
    names = sorted(imported(alone.own.folder / "src"))
    program = (
        f"from importlib.util import find_spec\nprint(*(name for name in {names} if find_spec(name) is None))"
    )
    assert set(alone.run("python", "-c", program).stdout.split()) == OF_EXTRAS[name_of(alone)]
    if name_of(alone) in {"a2acp", "agent"}:
        assert "tzdata" in alone.names, "old names of zones are in no Debian"


def test_no_module_needs_one_of_a_package_that_is_not_there(alone: Alone) -> None:
    program = """
        import importlib, pkgutil, sys, tacit
        for module in pkgutil.walk_packages(tacit.__path__, "tacit."):
            if module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                print(module.name, error.name)
        print(*sorted({name.split(".")[1] for name in sys.modules if name.count(".") == 1 and name.startswith("tacit.")}))
    """
    done = alone.run("python", "-", text=textwrap.dedent(program))
    assert done.returncode == 0, done.stdout
    *missing, rooms = done.stdout.splitlines()
    there = {room for name in alone.names & OURS.keys() for room in ROOMS[OURS[name].folder.name]}
    assert set(rooms.split()) - {"clowl_commands"} == there
    # What the room lends to an agent is loaded by the agent alone.
    kept = [line for line in missing if not line.startswith("tacit.cli.personal.")]
    assert [line for line in kept if line.split()[1].startswith("tacit")] == []


def test_the_command_has_what_is_installed(alone: Alone) -> None:
    name = name_of(alone)
    shown = alone.run("tacit", "--help")
    if name not in COMMANDS:
        assert shown.returncode == 1
        assert "the command line needs more libraries" in shown.stdout
        return
    assert shown.returncode == 0, shown.stdout
    listed = set(re.findall(r"^  ([a-z][\w-]+)  ", shown.stdout, re.MULTILINE))
    assert COMMANDS[name] <= listed
    for commands in COMMANDS.values():
        for command in commands - COMMANDS[name]:
            assert command not in listed
            assert alone.run("tacit", command).returncode == 2
    assert alone.run("tacit", "--version").stdout == f"tacit, version {alone.own.version}\n"


def test_its_readme_does_what_it_says(
    alone: Alone, wheels: Wheels, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Blocks of Python and of a shell, and sessions of Python with the extra that they install."""
    page = (alone.own.folder / "README.md").read_text(encoding="utf-8")
    blocks = [(language, text) for language, text in BLOCK.findall(page) if "pip install" not in text]
    assert blocks, "a README shows something that works"
    python = "\n".join(text for language, text in blocks if language == "python")
    if python:
        done = alone.run("python", "-W", "error", "-", text=python)
        assert done.returncode == 0, done.stdout
    for text in [text for language, text in blocks if language == "sh"]:
        done = alone.run("sh", "-eu", text=text)
        assert done.returncode == 0, done.stdout
    for installed, session in SESSION.findall(page):
        [extra] = re.findall(rf"packages/{name_of(alone)}\[(\w+)\]", installed)
        more = Alone(tmp_path_factory.mktemp(extra), wheels, f"{alone.own.name}[{extra}]")
        (more.home / "session.txt").write_text(session, encoding="utf-8")
        done = more.run("python", "-m", "doctest", "session.txt")
        assert done.returncode == 0, done.stdout


def test_the_core_readme_has_a_session_that_is_run() -> None:
    assert len(SESSION.findall((OURS["tacit-core"].folder / "README.md").read_text(encoding="utf-8"))) == 1
