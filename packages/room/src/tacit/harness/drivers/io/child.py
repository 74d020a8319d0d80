"""A child process of a driver: its own group and environment, and an end that leaves nobody behind.

The rule owned here: after `end` neither the process nor anything it started is alive, however it was ended;
and one that a killed driver left behind is ended before the next one starts in the same folder, so that no
turn is at work twice. What the process writes to stderr goes to a private file in the driver's folder, never
to a log of ours; the newest of it, however much there is.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tacit.base.errors import Refused, Unavailable
from tacit.harness.activity import struck

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence

_LINE_LIMIT: Final = 64 * 2**20
_GRACE: Final = 2.0
_LOOK_AGAIN: Final = 0.01
_LOOK_NOW_AND_THEN: Final = 0.1
_LAST_WORDS: Final = 0.5
_LOG_LIMIT: Final = 2**20
_LAST_BYTES: Final = 4096
_LAST_LINE: Final = 200
_NOTE: Final = "agent.pid"


class Child:
    """A running process with pipes. Made by `start`."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        state: Path,
        strays: tuple[str, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> None:
        assert process.stdin is not None  # noqa: S101 - asked for in `start`; the type does not say so
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        self.stdin = process.stdin
        self.stdout = process.stdout
        self.ending = False
        self._process = process
        self._note = state / _NOTE
        self._strays = strays
        self._secrets = secrets
        self._said = state / "stderr.log"
        self._listening = asyncio.create_task(_listen(process.stderr, self._said))

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: str,
        state: Path,
        strays: tuple[str, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> Child:
        """Start `command` in `directory`, at the head of a process group of its own.

        `strays` are arguments by which helpers are known that may slip out of the family: who has all of them
        and no parent that has the first is ended too. `secrets` are struck out of its last words.
        """
        await end_left_behind(state)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(environment),
                cwd=directory,
                start_new_session=True,
                limit=_LINE_LIMIT,
            )
        except (FileNotFoundError, NotADirectoryError, PermissionError, ValueError) as error:
            raise Refused(
                "driver_unusable", f"cannot run {Path(command[0]).name} in its directory"
            ) from error
        except OSError as error:
            raise Unavailable(f"cannot start {Path(command[0]).name}") from error
        _write_note(state / _NOTE, process.pid)
        return cls(process, state, strays, secrets)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs and has not closed its mouth."""
        return self._process.returncode is None and not self.stdout.at_eof()

    @property
    def exit_code(self) -> int | None:
        """How it ended; negative is the signal that ended it."""
        return self._process.returncode

    async def last_words(self) -> str:
        """The last line that it wrote to stderr, bounded; for its owner. Waits a little when it has ended."""
        if not self.alive:
            await asyncio.wait({self._listening}, timeout=_LAST_WORDS)
        return last_line(self._said, self._secrets)

    async def ended(self) -> None:
        """Wait for its end. `Process.wait` would wait for whoever holds its pipes too."""
        while self.exit_code is None:  # noqa: ASYNC110 - nothing else tells of it while a pipe is held
            await asyncio.sleep(_LOOK_NOW_AND_THEN)

    async def settled(self) -> int | None:
        """Wait a little for its end: how it ended, or None when it lingers."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._process.wait()
        return self.exit_code

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
        """End it and all it started, to the last, also when whoever asks for it is cancelled meanwhile."""
        await to_the_end(self._end(politely=politely))

    async def _end(self, *, politely: bool) -> None:
        """First by closing stdin, then by asking, then by force."""
        self.ending = True
        family = _descendants(self.pid) if self.exit_code is None else []
        if politely:
            with suppress(OSError, RuntimeError):
                self.stdin.close()
            await self.settled()
        if self.exit_code is None:
            self._signal(signal.SIGTERM)
            await self.settled()
        self._signal(signal.SIGKILL)
        await _end_orphans(family)
        await _end_orphans(_adrift(self._strays))
        await self.settled()
        await asyncio.wait({self._listening}, timeout=_LAST_WORDS)
        self._listening.cancel()
        self._let_go()
        self._note.unlink(missing_ok=True)

    def _let_go(self) -> None:
        """Close our ends of the pipes, also where a stranger still holds the others."""
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do it whole; whoever waits for it and is cancelled meanwhile is cancelled when it is done."""
    doing = asyncio.ensure_future(work)
    cancelled = False
    while not doing.done():
        try:
            await asyncio.shield(doing)
        except asyncio.CancelledError:
            cancelled = True
    doing.result()
    if cancelled:
        raise asyncio.CancelledError


async def _listen(said: asyncio.StreamReader, path: Path) -> None:
    """Keep what the process says to nobody in a fresh private file, begun anew when it has grown too long."""
    with os.fdopen(_private(path), "wb", buffering=0) as file:
        while data := await said.read(2**16):
            with suppress(OSError):  # a full disk is no reason for the process to wait
                if file.tell() + len(data) > _LOG_LIMIT:
                    file.seek(0)
                    file.truncate()
                file.write(data)


def last_line(path: Path, secrets: tuple[str, ...] = ()) -> str:
    """The last line with words in a file of whatever size, as `bounded` leaves it."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return bounded(next((line.strip() for line in reversed(lines) if line.strip()), ""), secrets)


def bounded(words: str, secrets: tuple[str, ...] = ()) -> str:
    """One line for a terminal: no control characters, no secrets, and not too long."""
    plain = "".join(char if char.isprintable() else " " for char in struck(words, secrets))
    return plain if len(plain) <= _LAST_LINE else f"{plain[: _LAST_LINE - 1]}…"


def _private(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _write_note(note: Path, pid: int) -> None:
    with suppress(OSError, ValueError, IndexError):
        note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        note.write_text(f"{pid} {_standing(Path(f'/proc/{pid}/stat'))[2]}", encoding="ascii")


def _read_note(note: Path) -> tuple[int, str] | None:
    try:
        pid, born = note.read_text(encoding="ascii").split()
        return int(pid), born
    except (OSError, ValueError):
        return None


async def end_left_behind(state: Path) -> None:
    """End the process that an earlier driver noted here and did not live to end, with all below it."""
    head = _read_note(state / _NOTE)
    if head is not None and _lives(*head):
        family = _descendants(head[0])
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(head[0], signal.SIGKILL)
        await _end_orphans([head, *family])


async def _end_orphans(family: list[tuple[int, str]]) -> None:
    """End by force those who outlived their head, and wait until they are gone."""
    deadline = asyncio.get_running_loop().time() + _GRACE
    while family := [member for member in family if _lives(*member)]:
        for pid, _ in family:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if asyncio.get_running_loop().time() > deadline:
            return
        await asyncio.sleep(_LOOK_AGAIN)


def _lives(pid: int, born: str) -> bool:
    """Whether this very process runs: a number given again to another process has another birth."""
    try:
        state, _, birth = _standing(Path(f"/proc/{pid}/stat"))
    except (OSError, ValueError, IndexError):
        return False
    return birth == born and state != "Z"


def _standing(stat: Path) -> tuple[str, int, str]:
    """A process's state, its parent, and when it was born."""
    after_name = stat.read_text("utf-8", "replace").rpartition(")")[2].split()
    return after_name[0], int(after_name[1]), after_name[19]


def _adrift(words: tuple[str, ...]) -> list[tuple[int, str]]:
    """The processes with these arguments whose parents are gone."""
    found: list[tuple[int, str]] = []
    for stat in Path("/proc").glob("[0-9]*/stat") if words else ():
        with suppress(OSError, ValueError, IndexError):
            if set(words) <= _arguments(stat.parent):
                _, parent, born = _standing(stat)
                if words[0] not in _arguments(Path(f"/proc/{parent}")):
                    found.append((int(stat.parent.name), born))
    return found


def _arguments(process: Path) -> set[str]:
    return set((process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0"))


def _descendants(root: int) -> list[tuple[int, str]]:
    """The processes below `root` and their births; none where the system does not show them as files."""
    below: dict[int, list[tuple[int, str]]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            _, parent, born = _standing(stat)
            below.setdefault(parent, []).append((int(stat.parent.name), born))
    found: list[tuple[int, str]] = []
    waiting = [root]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += [pid for pid, _ in children]
    return found
