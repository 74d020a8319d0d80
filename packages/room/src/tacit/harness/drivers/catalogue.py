"""The drivers by name: what each is, which extra brings it, which options it takes, and how it is built.

One table, from which `tacit join --driver` builds, `tacit doctor` lists, and the documents are checked.
Nothing heavy is imported before a driver is built.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, cast

from tacit.base.errors import Refused
from tacit.base.install_hint import install_hint
from tacit.harness.drivers.files import folder_name
from tacit.harness.drivers.options import PASSING, PRIVATE, Access, DriverOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.harness.drivers.io.turns import Backend
    from tacit.harness.drivers.port import Driver

FLAGS: Final = {
    "--model": "NAME: the model to ask for",
    "--base-url": "URL: where the model is, when not at its maker's",
    "--key-env": "VARIABLE: the environment variable that holds the model's key",
    "--cwd": "DIR: the agent's working directory; an empty one of its own when left out",
    "--access": "read|write|full: how far the agent's own tools may reach (read)",
    "--use-my-config": "run the agent as yours: your account, settings and environment",
    "--retries": "N: how often the agent repeats a failed model call by itself (2)",
    "--text": "the program gets the prompt as plain text and prints its reply",
}
"""Every option, with its help; `DriverEntry.takes` says which driver takes which."""


@dataclass(frozen=True, slots=True)
class DriverEntry:
    """A driver in the catalogue."""

    name: str
    description: str
    takes: tuple[str, ...]
    backend: str
    """Module and class, imported when built."""
    extra: str = ""
    """The extra that brings what it needs; empty when nothing more is needed."""
    modules: tuple[str, ...] = ()
    """What the extra brings, as it is imported."""
    key_env: str = ""
    """Where the key is looked for when `--key-env` is not given."""
    says_cost: bool = False
    """The agent itself says what a turn cost."""
    program: str = ""
    """What the words after the options mean; empty when there are none."""

    @property
    def installed(self) -> bool:
        """Whether all it needs can be imported."""
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def install(self) -> str:
        """The command that brings what is missing."""
        return install_hint("room", self.extra) if self.extra else ""


_AGENT: Final = ("--model", "--base-url", "--key-env", "--cwd", "--access", "--use-my-config", "--retries")

CATALOGUE: Final = (
    DriverEntry(
        "codex",
        "OpenAI Codex; takes more text while it thinks",
        _AGENT,
        "tacit.harness.drivers.io.codex:Codex",
        extra="codex",
        modules=("codex_cli_bin",),
        key_env="OPENAI_API_KEY",
        program="another codex binary",
    ),
    DriverEntry(
        "claude",
        "Anthropic Claude Code",
        _AGENT,
        "tacit.harness.drivers.io.claude:Claude",
        extra="claude",
        modules=("claude_agent_sdk",),
        key_env="ANTHROPIC_API_KEY",
        says_cost=True,
        program="another claude binary",
    ),
    DriverEntry(
        "acp",
        "any agent that speaks the Agent Client Protocol over stdio",
        ("--cwd", "--access", "--use-my-config"),
        "tacit.harness.drivers.io.acp:Acp",
        extra="acp",
        modules=("acp",),
        program="the agent and its arguments",
    ),
    DriverEntry(
        "openai",
        "a model behind any endpoint that speaks Chat Completions, local ones too",
        ("--model", "--base-url", "--key-env", "--retries"),
        "tacit.harness.drivers.io.openai:OpenAi",
        extra="openai",
        modules=("mcp",),
        key_env="OPENAI_API_KEY",
    ),
    DriverEntry(
        "command",
        "a program of yours: the turn as JSON on stdin, the reply on stdout",
        ("--cwd", "--text"),
        "tacit.harness.drivers.io.command:Command",
        program="the program and its arguments",
    ),
)


def entry(name: str) -> DriverEntry:
    """The driver of this name."""
    for found in CATALOGUE:
        if found.name == name:
            return found
    names = ", ".join(found.name for found in CATALOGUE)
    raise Refused("driver_unknown", f"there is no driver of this name; there are {names}")


def parse(name: str, words: Sequence[str], *, state: str, environment: Mapping[str, str]) -> DriverOptions:
    """Options from a command line: flags, then, after an optional `--`, a program and its arguments."""
    found = entry(name)
    options, key_env = DriverOptions(state), found.key_env
    rest = list(words)
    while rest and rest[0].startswith("--") and rest[0] != "--":
        flag, _, value = rest.pop(0).partition("=")
        if flag not in found.takes:
            raise Refused("driver_option", f"{name} takes {', '.join(found.takes)}; not {flag}")
        if flag not in {"--use-my-config", "--text"} and not value:
            if not rest:
                raise Refused("driver_option", f"{flag} needs a value")
            value = rest.pop(0)
        if flag == "--key-env":
            key_env = value
        else:
            options = _with(options, flag, value)
    command = tuple(rest[1:] if rest[:1] == ["--"] else rest)
    if command and not found.program:
        raise Refused("driver_option", f"{name} runs no program of yours")
    key = environment.get(key_env, "") if key_env else ""
    if key_env and not (key or options.base_url or options.use_my_config):
        mine = ", or give --use-my-config if you are signed in" if "--use-my-config" in found.takes else ""
        raise Refused("driver_option", f"{name} has no account: set {key_env}{mine}")
    return replace(options, command=command, key=key)


def _with(options: DriverOptions, flag: str, value: str) -> DriverOptions:
    match flag:
        case "--model":
            return replace(options, model=value)
        case "--base-url":
            return replace(options, base_url=value)
        case "--cwd":
            return replace(options, directory=value)
        case "--use-my-config":
            return replace(options, use_my_config=True)
        case "--text":
            return replace(options, plain_text=True)
        case "--access" if value in set(Access):
            return replace(options, access=Access(value))
        case "--retries" if value.isascii() and value.isdigit():
            return replace(options, model_retries=int(value))
        case _:
            raise Refused("driver_option", f"{flag} does not take this value: {FLAGS.get(flag, '')}")


def build(name: str, options: DriverOptions) -> Driver:
    """The driver, not yet started. `Refused` when its extra is missing or its options do not fit it."""
    found = entry(name)
    if not found.installed:
        raise Refused(
            "driver_missing",
            f"the {name} driver is not installed: {found.install}",
            details={"install": found.install},
        )
    module, _, kind = found.backend.partition(":")
    make = cast("Callable[[DriverOptions], Backend]", getattr(import_module(module), kind))
    turns = import_module("tacit.harness.drivers.io.turns")

    folders = import_module("tacit.harness.drivers.io.private_folders")

    def private(audience: str) -> Backend:
        own = private_options(options, audience)
        folders.use(own.state)
        return make(own)

    passing = passing_options(options)
    forgetting = import_module("tacit.harness.drivers.io.passing").Passing(
        passing.state, partial(make, passing)
    )
    return cast(
        "Driver", turns.SessionDriver(make(options), private, partial(workplace, options), forgetting)
    )


def passing_options(options: DriverOptions) -> DriverOptions:
    """The options for a turn that is to be forgotten: a folder that goes with it, empty but for its own."""
    return replace(
        options,
        state=f"{options.state}/{PASSING}",
        directory=None,
        access=Access.READ,
        forgets=True,
    )


def private_options(options: DriverOptions, audience: str) -> DriverOptions:
    """The options for an audience other than the room: the same, with a folder of its own.

    So no session, note or empty working directory of one audience lies where another's agent looks. A
    working directory that a person named is everybody's.
    """
    return replace(options, state=f"{options.state}/{PRIVATE}/{folder_name(audience)}")


def workplace(options: DriverOptions, audience: str) -> str:
    """Where an agent works for an audience: where a person said, or in a folder of that audience's own."""
    own = private_options(options, audience) if audience else options
    return options.directory or f"{own.state}/work"
