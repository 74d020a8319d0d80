"""The `tacit` command as a process of its own, without paying for its imports each time.

A server that has imported the libraries forks for each command: its own environment, streams, working folder and exit
code, as if typed. Modules of the command itself are imported afterwards, as they look at the environment.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload([
    "click", "rich.console", "rich.table", "tacit.client", "tacit.language",
    # Of an agent's commands and a relay's.
    "aiohttp.web", "prometheus_client", "tacit.agent.io.post", "tacit.relay.io.server", "tacit.seal.http_signature",
    "tacit.seal.passkey", "uvloop",
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
        process = _SERVER.Process(
            target=_act, args=(words, environment, os.getcwd(), list(map(str, streams)))
        )
        process.start()
        process.join(limit)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(f"tacit {' '.join(words)} did not end")
        code = process.exitcode
        process.close()
        return Done(
            code, *(path.read_text(encoding="utf-8") if path.exists() else "" for path in streams[1:])
        )


def _act(words: tuple[str, ...], environment: dict[str, str], folder: str, streams: list[str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part]
    modes = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2)
    for number, (path, mode) in enumerate(zip(streams, modes, strict=True)):
        opened = os.open(path, mode, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, "r", closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", line_buffering=True)
    sys.argv = ["tacit", *words]
    from tacit.cli.main import main

    try:
        main()
    finally:
        sys.stdout.flush()
