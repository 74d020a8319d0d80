"""A child process of a driver: its own group and environment, and an end that leaves nobody behind.

The rule owned here: after `end` neither the process nor anything it started is alive, however it was ended.
What the process writes to stderr goes to a private file in the driver's folder, never to a log of ours.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LINE_LIMIT: Final = 64 * 2**20
_GRACE: Final = 2.0


class Child:
    """A running process with pipes. Made by `start`."""

    def __init__(self, process: asyncio.subprocess.Process, stderr: Path) -> None:
        assert process.stdin is not None  # noqa: S101 - asked for in `start`; the type does not say so
        assert process.stdout is not None  # noqa: S101
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.stderr = stderr
        self._process = process

    @classmethod
    async def start(
        cls, command: Sequence[str], *, environment: Mapping[str, str], directory: str, stderr: Path
    ) -> Child:
        """Start `command` in `directory`, at the head of a process group of its own."""
        stderr.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        log = os.open(stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=dict(environment),
                cwd=directory,
                start_new_session=True,
                limit=_LINE_LIMIT,
            )
        except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
            raise Refused(
                "driver_unusable", f"cannot run {Path(command[0]).name} in its directory"
            ) from error
        except OSError as error:
            raise Unavailable(f"cannot start {Path(command[0]).name}") from error
        finally:
            os.close(log)
        return cls(process, stderr)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    @property
    def exit_code(self) -> int | None:
        """How it ended; negative is the signal that ended it."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until it ended."""
        return await self._process.wait()

    async def line(self) -> bytes:
        """The next line of stdout; empty at its end. A line beyond every measure counts as the end."""
        try:
            return await self.stdout.readline()
        except ValueError:
            return b""

    async def send(self, data: bytes) -> None:
        """Write to stdin. Raises `Unavailable` when nobody reads there any more."""
        try:
            self.stdin.write(data)
            await self.stdin.drain()
        except (BrokenPipeError, ConnectionResetError, RuntimeError) as error:
            raise Unavailable("the agent's process ended") from error

    async def end(self, *, politely: bool = True) -> None:
        """End it and all it started: first by closing stdin, then by asking, then by force."""
        family = _descendants(self.pid) if self.alive else []
        if politely:
            with suppress(OSError, RuntimeError):
                self.stdin.close()
            await self._within_grace()
        if self.alive:
            self._signal(signal.SIGTERM)
            await self._within_grace()
        self._signal(signal.SIGKILL)
        for pid, born in family:
            with suppress(OSError, ValueError, IndexError):
                if _standing(Path(f"/proc/{pid}/stat"))[1] == born:
                    os.kill(pid, signal.SIGKILL)
        await self.wait()

    async def _within_grace(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self.wait()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _standing(stat: Path) -> tuple[int, str]:
    """A process's parent, and when it was born: a number given again to another process has another birth."""
    after_name = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
    return int(after_name[1]), after_name[19]


def _descendants(root: int) -> list[tuple[int, str]]:
    """The processes below `root` and their births; none where the system does not show them as files."""
    below: dict[int, list[tuple[int, str]]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            parent, born = _standing(stat)
            below.setdefault(parent, []).append((int(stat.parent.name), born))
    found: list[tuple[int, str]] = []
    waiting = [root]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += [pid for pid, _ in children]
    return found
