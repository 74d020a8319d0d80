"""The running agent's own door: a socket in its folder, for its owner alone.

Whoever may open the folder is the owner; nobody else can reach it. A line of JSON asks, a line answers; to
`follow` there is a line for each change, until the asker hangs up. When the agent stops, what is under way
comes to its end within a few seconds or is hung up on: nobody waits for an agent that has gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.agent.shell.io import calls
from tacit.base.errors import Corrupt, Refused, TacitError
from tacit.base.faults import place_of
from tacit.base.io.agent_socket import FILE, FOLLOW, LONGEST
from tacit.base.io.ending import end_listening

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from tacit.agent.shell.io.commands import Commands

_log: Final = logging.getLogger("tacit.agent")
AT_THE_END: Final = 5.0
"""Seconds that a command under way has left when the agent stops."""


@contextlib.asynccontextmanager
async def served(agent: Commands, folder: Path) -> AsyncGenerator[None]:
    """Answer at the socket while the block runs."""
    path = folder / FILE
    path.unlink(missing_ok=True)

    closing = asyncio.Event()
    asking = _Asking()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asking.enter(writer)
        try:
            line = b"" if closing.is_set() else await reader.readline()
            asking.silent.discard(task)
            if _is_follow(line):
                await _follow(agent, reader, writer, closing)
            elif line:
                writer.write(json.dumps(await _answered(agent, line)).encode() + b"\n")
                await writer.drain()
        except (OSError, ValueError):
            # Whoever asked has gone, or said more than a line can hold; nothing was begun for it.
            return
        finally:
            asking.leave(task)
            writer.close()

    before = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(serve, path, limit=LONGEST)
    finally:
        os.umask(before)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        closing.set()
        await end_listening(server)
        await asking.ended()


class _Asking:
    """Who is at the door, and who of them has not said what for."""

    def __init__(self) -> None:
        self._lines: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}
        self.silent: set[asyncio.Task[Any]] = set()

    def enter(self, writer: asyncio.StreamWriter) -> asyncio.Task[Any]:
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._lines[task] = writer
        self.silent.add(task)
        return task

    def leave(self, task: asyncio.Task[Any]) -> None:
        self.silent.discard(task)
        self._lines.pop(task, None)

    async def ended(self) -> None:
        """Return when nobody is left."""
        everybody = set(self._lines)
        for task in self.silent:
            task.cancel()
        if not everybody:
            return
        _done, stuck = await asyncio.wait(everybody, timeout=AT_THE_END)
        for task in stuck:
            self._lines[task].transport.abort()
            task.cancel()
        await asyncio.gather(*everybody, return_exceptions=True)


def _is_follow(line: bytes) -> bool:
    with contextlib.suppress(ValueError):
        asked = json.loads(line)
        return isinstance(asked, dict) and cast("dict[str, Any]", asked).get("command") == FOLLOW
    return False


async def _follow(
    agent: Commands, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, closing: asyncio.Event
) -> None:
    """A line for each change, until either end is closed."""
    ends: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(reader.read(1)),
        asyncio.ensure_future(closing.wait()),
    ]
    try:
        with agent.changes.followed() as follower:
            writer.write(json.dumps({"ok": {"following": agent.me}}).encode() + b"\n")
            while True:
                following = asyncio.ensure_future(follower.next())
                await asyncio.wait({*ends, following}, return_when=asyncio.FIRST_COMPLETED)
                if any(one.done() for one in ends):
                    following.cancel()
                    return
                writer.write(json.dumps(following.result()).encode() + b"\n")
                await writer.drain()
    finally:
        for one in ends:
            one.cancel()
        await asyncio.gather(*ends, return_exceptions=True)


def _read(line: bytes) -> tuple[str, dict[str, Any]]:
    try:
        asked: object = json.loads(line)
    except ValueError:
        raise Refused("bad_command", "a command is one line of JSON") from None
    named = cast("dict[str, Any]", asked) if isinstance(asked, dict) else {}
    command: object = named.get("command")
    given: object = named.get("arguments") or {}
    if not isinstance(command, str) or not isinstance(given, dict):
        raise Refused("bad_command", "a command is one JSON object, with its `command` and `arguments`")
    return command, cast("dict[str, Any]", given)


async def _answered(agent: Commands, line: bytes) -> dict[str, Any]:
    try:
        command, given = _read(line)
        return {"ok": await calls.call(agent, command, given)}
    except TacitError as fault:
        return _fault(fault)
    except ValueError:
        return _fault(Refused("bad_command", "an argument of this command is none that it could have"))
    except Exception as fault:  # noqa: BLE001 - a mistake of ours costs this command; its text is nobody's to read
        _log.error("a command failed: %s", place_of(fault))
        return {"unavailable": "a fault of the agent's own; look with `tacit agent pending`"}


def _fault(fault: TacitError) -> dict[str, Any]:
    if isinstance(fault, Refused):
        return {
            "refused": {
                "code": fault.code,
                "message": fault.message,
                "row": fault.row,
                "details": fault.details,
            }
        }
    if isinstance(fault, Corrupt):
        return {"corrupt": {"message": fault.message, "hint": fault.hint}}
    return {"unavailable": str(fault)}
