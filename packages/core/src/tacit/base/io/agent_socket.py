"""Asking the running agent of a folder: one line of JSON asks, one line answers.

Knows nothing of what an agent is made of, so that a command that only asks starts quickly.
"""

from __future__ import annotations

import asyncio
import json
import socket as sockets
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Corrupt, Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

FILE: Final = "agent.sock"
FOLLOW: Final = "follow"
LONGEST: Final = 4 * 1024 * 1024
PATIENCE: Final = 900.0
"""Seconds: a command may wait for a model, which is asked again and then another one."""


def ask(folder: Path, command: str, arguments: dict[str, Any]) -> Any:
    """Ask the running agent of a folder; `ConnectionError` when none is running."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as line:
        line.settimeout(PATIENCE)
        try:
            line.connect(str(folder / FILE))
        except OSError as error:
            raise ConnectionError(str(error)) from error
        try:
            line.sendall(json.dumps({"command": command, "arguments": arguments}).encode() + b"\n")
            with line.makefile("rb") as said:
                answer = json.loads(said.readline(LONGEST) or b"null")
        except (OSError, ValueError) as error:
            raise Unavailable("the running agent did not answer; look with `tacit agent pending`") from error
    return _read(answer)


async def asked(folder: Path, command: str, arguments: dict[str, Any]) -> Any:
    """`ask` for those who have a loop that must not wait."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_unix_connection(folder / FILE, limit=LONGEST)
    except (OSError, TimeoutError) as error:
        raise ConnectionError(str(error)) from error
    try:
        async with asyncio.timeout(PATIENCE):
            writer.write(json.dumps({"command": command, "arguments": arguments}).encode() + b"\n")
            await writer.drain()
            answer = json.loads(await reader.readline() or b"null")
    except (OSError, ValueError, TimeoutError) as error:
        raise Unavailable("the running agent did not answer; look with `tacit agent pending`") from error
    finally:
        writer.close()
    return _read(answer)


async def follow(folder: Path, *, begun: bool = False) -> AsyncGenerator[dict[str, Any]]:
    """What changes in the running agent, as it happens; `ConnectionError` when none runs, or it ends.

    With `begun` the first change is `following`: from there on nothing is missed.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(folder / FILE, limit=LONGEST)
    except OSError as error:
        raise ConnectionError(str(error)) from error
    try:
        writer.write(json.dumps({"command": FOLLOW, "arguments": {}}).encode() + b"\n")
        await writer.drain()
        while line := await reader.readline():
            said = json.loads(line)
            if "change" in said:
                yield said
            else:
                _read(said)
                if begun:
                    yield {"change": "following"}
    except OSError as error:
        raise ConnectionError(str(error)) from error
    finally:
        writer.close()
    raise ConnectionError("the running agent has stopped")


def _read(answer: Any) -> Any:
    match answer:
        case {"ok": value}:
            return value
        case {"refused": {"code": str(code), "message": str(message), "row": str(row), "details": details}}:
            raise Refused(code, message, row=row, details=details)
        case {"corrupt": {"message": str(message), "hint": str(hint)}}:
            raise Corrupt(message, hint=hint)
        case {"unavailable": str(message)}:
            raise Unavailable(message)
        case _:
            raise Unavailable("the running agent did not answer; look with `tacit agent pending`")
