"""A driver whose agent is a script in this process: for the demo's lobby.

It calls the chat tools as any agent does, through the harness's own door.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.attention.settings import DEFAULTS
from tacit.harness.demo.scripts import SILENCE, Does, shown_in
from tacit.harness.drivers.port import (
    Failure,
    FailureKind,
    ToolProgram,
    ToolStarted,
    Traits,
    TurnOutcome,
)
from tacit.harness.io.tool_pipe import KEY, SOCKET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.harness.demo.scripts import Script
    from tacit.harness.drivers.port import StandingInstructions, TurnFile, TurnRequest, Watch

CANCELLED: Final = Failure(FailureKind.CANCELLED, "cancelled")


class ScriptedDriver:
    """One scripted agent."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._running: dict[str, asyncio.Task[TurnOutcome]] = {}
        self._said: deque[str] = deque(maxlen=DEFAULTS.similar_window)

    @property
    def traits(self) -> Traits:
        """What this driver can do."""
        return Traits("scripted", steers=False, inserts=False, boundaries=False, resumes=False)

    def workplace(self, audience: str) -> str | None:
        """A script works in no folder."""
        del audience
        return None

    async def start(self, standing: StandingInstructions, session_id: str | None = None) -> None:
        """Nothing to open."""

    async def run(self, turn: TurnRequest, watch: Watch) -> TurnOutcome:
        """Do what the script says."""
        task = asyncio.create_task(self._act(turn, watch))
        self._running[turn.turn_id] = task
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled():
                return TurnOutcome(turn.turn_id, failure=CANCELLED)
            raise
        finally:
            self._running.pop(turn.turn_id, None)

    async def _act(self, turn: TurnRequest, watch: Watch) -> TurnOutcome:
        shown = shown_in(turn.prompt)
        does: Does = self._script(shown) if shown is not None else SILENCE
        for name, arguments in does.calls:
            await watch.saw(ToolStarted(f"{turn.turn_id}:{name}", name))
            await _call(turn.standing, name, arguments)
        words = does.words(self._said)
        self._said.append(words)
        return TurnOutcome(turn.turn_id, words or "NO_REPLY")

    async def steer(self, turn_id: str, text: str, files: tuple[TurnFile, ...] = ()) -> bool:
        """A script is not steered."""
        del turn_id, text, files
        return False

    async def cancel(self, turn_id: str) -> None:
        """End the turn."""
        task = self._running.get(turn_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def close(self) -> None:
        """End whatever runs."""
        for turn_id in list(self._running):
            await self.cancel(turn_id)


async def _call(standing: StandingInstructions, name: str, arguments: Mapping[str, Any]) -> None:
    """One tool call over the harness's door; a refusal is the hub's last word, and a script's too."""
    program = next(one for one in standing.tools if isinstance(one, ToolProgram))
    reader, writer = await asyncio.open_unix_connection(program.environment[SOCKET])
    try:
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        writer.write(program.environment[KEY].encode() + b"\n" + msgspec.json.encode(call) + b"\n")
        await writer.drain()
        await reader.readline()
    finally:
        writer.close()
        await writer.wait_closed()
