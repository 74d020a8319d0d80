"""How a process that the hub starts begins: with the one socket that it was born with.

Signals are the hub's business: it closes the socket when they are to end, and dies with it otherwise.
"""

from __future__ import annotations

import signal
import socket
import sys
from typing import TYPE_CHECKING

from tacit.hub.telemetry import logs

if TYPE_CHECKING:
    from collections.abc import Callable


def serve_inherited(serve: Callable[[socket.socket], None]) -> None:
    """Serve the socket whose handle the command line names, until it ends."""
    logs.set_up(as_json=not sys.stderr.isatty())
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection)
