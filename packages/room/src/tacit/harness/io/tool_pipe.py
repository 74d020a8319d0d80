"""The program that an agent starts as its MCP server: it only carries lines between stdio and the harness.

So every tool call passes through the harness, whichever agent makes it. Started with `python -P -m`, so
that a file of the agent's working folder cannot stand in for a module. Needs nothing but the standard
library.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

SOCKET = "TACIT_TOOLS_SOCKET"
KEY = "TACIT_TOOLS_KEY"


def _pass_on(source: int, line: socket.socket) -> None:
    """From the agent to the harness, until the agent is done."""
    while data := os.read(source, 65_536):
        line.sendall(data)
    line.shutdown(socket.SHUT_WR)


def main() -> int:
    """Carry until either side ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(os.environ[SOCKET])
        except (KeyError, OSError):
            sys.stderr.write("the harness of this agent is not running\n")
            return 1
        line.sendall(os.environ.get(KEY, "").encode() + b"\n")
        threading.Thread(target=_pass_on, args=(sys.stdin.fileno(), line), daemon=True).start()
        while data := line.recv(65_536):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
