"""The agent as a process: what ends it, and what it says when a mistake of ours does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from tacit.base.errors import TacitError, Unavailable
from tacit.base.faults import place_of

if TYPE_CHECKING:
    from collections.abc import Generator

_log: Final = logging.getLogger("tacit.agent")


def stop_by(stopped: asyncio.Event, *, beside: bool) -> None:
    """Stop at Ctrl-C and at `kill`; beside a hub when the hub's end of standard input is closed.

    There Ctrl-C reaches the whole terminal, and the hub says when to end.
    """
    loop = asyncio.get_running_loop()
    log_by_place(loop)
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    if not beside:
        loop.add_signal_handler(signal.SIGINT, stopped.set)
        return
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    handle = sys.stdin.fileno()

    def ended() -> None:
        # Nobody writes there: what can be read is its end.
        loop.remove_reader(handle)
        stopped.set()

    loop.add_reader(handle, ended)


def log_by_place(loop: asyncio.AbstractEventLoop) -> None:
    """What the loop itself has to complain of is told by its place too."""

    def complain(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        _log.error("a fault nobody waited for: %s", place_of(fault) if fault is not None else "unknown")

    loop.set_exception_handler(complain)


@contextlib.contextmanager
def without_words() -> Generator[None]:
    """A mistake of ours is told by its place: its text, and the values in its trace, may be somebody's."""
    try:
        yield
    except (TacitError, click.ClickException, click.Abort):
        raise
    except Exception as fault:  # noqa: BLE001 - the last line of a process that holds somebody's words
        raise Unavailable(f"the agent stopped by a fault of its own: {place_of(fault)}") from None
