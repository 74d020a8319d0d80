"""A hub in a process of its own: `python child.py FOLDER [PORT [WRITER]]`. Prints its port, serves until SIGTERM or SIGKILL."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import uvloop

from tacit.hub.server import Server
from tests.hub.room import config


def announce(server: Server) -> None:
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
        writer = sys.argv[3] if len(sys.argv) > 3 else "thread"
        runner.run(Server(config(Path(sys.argv[1]), port=port, writer=writer)).run(announce))
