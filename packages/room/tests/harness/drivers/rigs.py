"""The five drivers as tests drive them: each with its real agent, all with the same scripted model behind them."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tacit.harness.drivers.catalogue import build
from tacit.harness.drivers.options import DriverOptions
from tacit.harness.drivers.port import (
    NotPermitted,
    Proceed,
    StandingInstructions,
    ToolProgram,
    ToolStarted,
    TurnRequest,
)
from tests.model_server import ModelServer

AGENTS = Path(__file__).parent / "agents"
RULES = "STANDING RULES: be kind."
PATIENCE = 60.0
PROMPT = 10.0
"""Seconds in which a cancelled turn is over, also where the agent had to be ended by force."""


@dataclass(frozen=True)
class Rig:
    """What a test must know about a driver."""

    name: str
    rules_in: tuple[str, ...]
    """The roles in which the agent can put the standing rules."""
    counts_tokens: bool = True
    has_process: bool = True
    """An agent's process lives between turns."""
    codes: dict = field(default_factory=dict)
    """Where an agent tells less than the model's server did, the code it is left with."""

    def options(self, state: Path, model: ModelServer) -> DriverOptions:
        options = DriverOptions(str(state), model="scripted", key="k3y-of-the-model", model_retries=0)
        match self.name:
            case "codex" | "openai":
                return replace(options, base_url=f"{model.url}/v1")
            case "claude":
                return replace(options, base_url=model.url)
            case "acp":
                line = ("env", f"MODEL_URL={model.url}", sys.executable, str(AGENTS / "acp_agent.py"))
                return replace(options, command=line)
            case _:
                sessions = state / "program"
                sessions.mkdir(parents=True, exist_ok=True)
                line = ("env", f"MODEL_URL={model.url}", f"SESSIONS={sessions}")
                return replace(options, command=(*line, sys.executable, str(AGENTS / "program.py")))

    def driver(self, state: Path, model: ModelServer, **changes):
        return build(self.name, replace(self.options(state, model), **changes))


RIGS = [
    Rig("codex", ("developer", "system")),
    Rig("claude", ("system",)),
    # The protocol has no system text, and its errors carry no status.
    Rig(
        "acp",
        ("user",),
        codes=dict.fromkeys(("model_unavailable", "rate_limited", "rubbish", "model_refused"), "agent_error"),
    ),
    Rig("openai", ("system",), has_process=False),
    Rig("command", ("system",), has_process=False),
]


def named(*names: str) -> list:
    """Some of the rigs, for tests that concern only them."""
    return [pytest.param(rig, id=rig.name) for rig in RIGS if rig.name in names]


class RecordingWatch:
    """A watch that keeps what it saw and answers boundaries as the test wishes."""

    def __init__(self, *orders, answers=()):
        self.answers = list(answers)
        self.wanted = []
        self.activities = []
        self.events = []
        self.sessions = []
        self.orders = list(orders)
        self.boundaries = []

    async def saw(self, event):
        self.events.append(event)

    async def at_boundary(self, ended):
        self.boundaries.append(ended)
        return self.orders.pop(0) if self.orders else Proceed()

    async def did(self, activity):
        self.activities.append(activity)

    async def in_session(self, session_id):
        self.sessions.append(session_id)

    async def asked(self, wanted):
        """Whoever is asked more than the test says, says no."""
        self.wanted.append(wanted)
        return self.answers.pop(0) if self.answers else NotPermitted("the test says no")

    def kinds(self):
        return [type(event).__name__ for event in self.events]

    def tools(self):
        return [event.name for event in self.events if isinstance(event, ToolStarted)]


_turns = iter(range(10**9))


def turn(prompt="hello", *, rules=RULES, tools=(), time_limit=PATIENCE, directory=None):
    return TurnRequest(
        f"turn-{next(_turns)}", StandingInstructions(rules, tools, directory), prompt, time_limit
    )


def notes(log: Path) -> ToolProgram:
    """The test's MCP server, as a tool server for an agent."""
    environment = {"NOTES_LOG": str(log), "NOTES_TOKEN": "secret-of-the-room"}
    return ToolProgram("notes", (sys.executable, str(AGENTS / "notes.py")), environment)


async def soon(awaitable, seconds=PATIENCE):
    async with asyncio.timeout(seconds):
        return await awaitable


def kill(pids: Iterable[int]) -> None:
    """SIGKILL; with one of them others may have gone already."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def offspring(root: int | None = None) -> set[int]:
    """All processes below this one."""
    below = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] != "Z":
            below.setdefault(int(words[1]), set()).add(int(stat.parent.name))
    found, waiting = set(), [root or os.getpid()]
    while waiting:
        children = below.get(waiting.pop(), set()) - found
        found |= children
        waiting += children
    return found


def alive(pids) -> set[int]:
    found = set()
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] != "Z":
            found.add(pid)
    return found


async def until(condition, seconds=PATIENCE):
    """Wait for something outside this process, which cannot tell us."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
