"""The `tacit` command as a process of its own, without paying for its imports each time.

A server that has imported the libraries forks for each command: its own environment, streams, working folder and exit
code, as if typed. Modules of the command itself are imported afterwards, as they look at the environment. `typed` runs
one to its end; `Started` lets it run, to be signalled, waited for or killed like any other process.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([
    "click", "tacit.client", "tacit.language",
    # Of an agent's commands and a relay's.
    "aiohttp.web", "prometheus_client", "tacit.a2acp.post.io.post", "tacit.agent.shell.io.agent",
    "tacit.relay.io.server", "tacit.seal.http_signature",
    "tacit.seal.passkey", "uvloop",
    # Of a hub.
    "tacit.hub.server",
    # Of `tacit join`.
    "tacit.harness.io.harness",
])  # fmt: skip


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def typed(words: tuple[str, ...], environment: dict[str, str], stdin: str = "", limit: float = 60.0) -> Done:
    """Run `tacit` with these words to its end."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("in", "out", "err")]
        streams[0].write_text(stdin, encoding="utf-8")
        process = SERVER.Process(target=_act, args=(words, environment, os.getcwd(), list(map(str, streams))))
        process.start()
        process.join(limit)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"tacit {' '.join(words)} did not end")
        code = process.exitcode
        process.close()
        done = Done(
            code, *(path.read_text(encoding="utf-8") if path.exists() else "" for path in streams[1:])
        )
        # Not above: what is forked here imports this module too.
        from tests.plugins.no_secrets import NOW

        NOW.put_out("stdout", done.stdout, words)
        NOW.put_out("stderr", done.stderr)
        return done


class Started:
    """`tacit` with these words, running; of `subprocess.Popen` what tests need."""

    def __init__(
        self,
        words: tuple[str, ...],
        environment: dict[str, str],
        log: Path,
        out: Path | None = None,
        folder: Path | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """Errors go to the end of a file; output too, or else it is read from `stdout`.

        `prepare` is called in the process before the command is, for what no option says.
        """
        reading, writing = SERVER.Pipe(duplex=False)
        given = (
            words,
            environment,
            str(folder or Path.cwd()),
            str(log),
            None if out is None else str(out),
            writing,
            prepare,
        )
        # A daemon is ended with its test process, and may have children: it is no pool's.
        self._process = SERVER.Process(target=_begin, args=given, daemon=True)
        self._process.start()
        from tests.plugins.no_secrets import NOW

        NOW.files.setdefault(log, 0)
        writing.close()
        self.stdout = None if out else os.fdopen(os.dup(reading.fileno()), encoding="utf-8")
        reading.close()
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if (code := self._process.exitcode) is None:
            raise subprocess.TimeoutExpired("tacit", timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_ANEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def _act(words: tuple[str, ...], environment: dict[str, str], folder: str, streams: list[str]) -> None:
    for number, (path, mode) in enumerate(zip(streams, (os.O_RDONLY, _ANEW, _ANEW), strict=True)):
        _stream(number, os.open(path, mode, 0o600))
    _main(words, environment, folder)


def _begin(
    words: tuple[str, ...],
    environment: dict[str, str],
    folder: str,
    log: str,
    out: str | None,
    pipe: Connection,
    prepare: Callable[[], None] | None,
) -> None:
    _stream(0, os.open(os.devnull, os.O_RDONLY))
    _stream(1, os.dup(pipe.fileno()) if out is None else os.open(out, _APPEND, 0o600))
    _stream(2, os.open(log, _APPEND, 0o600))
    pipe.close()
    _main(words, environment, folder, prepare)


def _stream(number: int, opened: int) -> None:
    os.dup2(opened, number)
    os.close(opened)


def _main(
    words: tuple[str, ...],
    environment: dict[str, str],
    folder: str,
    prepare: Callable[[], None] | None = None,
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", line_buffering=True)
    sys.argv = ["tacit", *words]
    from tacit.base.commands.main import main

    if prepare is not None:
        prepare()
    try:
        main()
    finally:
        sys.stdout.flush()
