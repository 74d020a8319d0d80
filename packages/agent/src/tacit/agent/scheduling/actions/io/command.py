"""A deed as a program of the owner's (A2ACP-166, A2ACP-167).

It gets JSON on its standard input, `do` or `undo` as its last argument, and ends with 0 when it is done, with
1 when it failed, with 75 (try again) when it cannot say. Every other end, a signal and a time-out among them,
leaves the deed unknown: it is asked again under the same `action_id`, by which the program recognises what it
did. No shell, a small environment, and nothing in its process group outlives it. What it writes on its
standard output may be JSON with `reference` and `reason`, for the owner alone.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.actions.answer import LARGEST, read_answer
from tacit.agent.scheduling.actions.io.webhook import DO, UNDO
from tacit.agent.scheduling.actions.port import DONE, FAILED, UNKNOWN, Deed, Result
from tacit.base.errors import Refused
from tacit.base.strict_json import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_TRY_AGAIN: Final = 75
_LOOK_AGAIN: Final = 0.02
_LAST_WORDS: Final = 0.5
"""How long the output of a program that has ended is waited for, where somebody else holds it open."""
PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""What a program sees of our environment; whatever else it needs is its owner's to give."""


class CommandHandler:
    """Carries deeds out by one program."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        reversible: bool = True,
    ) -> None:
        if not argv or not argv[0] or any("\0" in word for word in argv):
            raise Refused("invalid_request", "a command names its program first", row="A2ACP-166")
        self.reversible = reversible
        self._argv = tuple(argv)
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self._environment = {**passed, **(environment or {})}
        self._timeout = timeout

    async def do(self, deed: Deed) -> Result:
        """Have it done."""
        return await self._run(deed, DO)

    async def undo(self, deed: Deed) -> Result:
        """Have it undone."""
        return await self._run(deed, UNDO)

    async def _run(self, deed: Deed, operation: str) -> Result:
        body = canonical({"action_id": deed.action_id, "action": deed.action, "details": deed.details})
        if len(body) > LARGEST:
            return Result(FAILED, reason="the action's details are too long for a program")
        try:
            process = await asyncio.create_subprocess_exec(
                *self._argv,
                operation,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError):
            return Result(FAILED, reason="the program cannot be started")
        try:
            written = await self._heard(process, body + b"\n")
            code = process.returncode
        finally:
            # Whatever it left running in its group ends with it, also when we are cancelled.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            _let_go(process)
            await process.wait()
        return _result(code, written)

    async def _heard(self, process: asyncio.subprocess.Process, body: bytes) -> bytes:
        """What it wrote by its end, or nothing when its time was up."""
        feeding = asyncio.create_task(_feed(process, body))
        listening = asyncio.create_task(_listen(process))
        try:
            async with asyncio.timeout(self._timeout):
                # `wait` would wait for whoever holds its pipes too, and its end is what counts.
                while process.returncode is None:  # noqa: ASYNC110 - nothing else tells of it
                    await asyncio.sleep(_LOOK_AGAIN)
            await asyncio.wait({listening}, timeout=_LAST_WORDS)
            return listening.result() if listening.done() else b""
        except TimeoutError:
            return b""
        finally:
            feeding.cancel()
            listening.cancel()
            await asyncio.gather(feeding, listening, return_exceptions=True)


def _let_go(process: asyncio.subprocess.Process) -> None:
    """Close our ends of its pipes: `wait` would wait for a stranger who holds the others."""
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


async def _feed(process: asyncio.subprocess.Process, body: bytes) -> None:
    """Its input; a program that does not read it is none the worse."""
    if process.stdin is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(body)
        await process.stdin.drain()
    process.stdin.close()


async def _listen(process: asyncio.subprocess.Process) -> bytes:
    """Its output, read to the end; nothing of it where it is too long."""
    found = bytearray()
    size = 0
    while process.stdout is not None and (part := await process.stdout.read(LARGEST)):
        size += len(part)
        found += part if size <= LARGEST else b""
    return bytes(found) if size <= LARGEST else b""


def _result(code: int | None, written: bytes) -> Result:
    if code is None:
        return Result(UNKNOWN, reason="the program did not end in time")
    said = read_answer(written)
    reference = said.get("reference", "")
    if code == EXIT_DONE:
        return Result(DONE, reference=reference)
    if code == EXIT_FAILED:
        return Result(
            FAILED, reason=said.get("reason") or "the program said that it failed", reference=reference
        )
    return Result(UNKNOWN, reason=said.get("reason") or "the program cannot say what happened")
