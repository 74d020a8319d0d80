"""Asking the agent of a folder from a command: the one that runs for it, or this process for a moment.

How a process is the agent for a moment is the shell's affair, which says so in the context of `tacit agent`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from tacit.base.io import agent_socket as socket

if TYPE_CHECKING:
    from collections.abc import Callable

FILE: Final = click.Path(path_type=Path)
wait_option = click.option(
    "--wait", default=10.0, show_default=True, help="Seconds to wait for the relay, when no agent is running."
)


class Invocation(NamedTuple):
    """What `tacit agent` was called with."""

    folder: Path
    passphrase_file: Path | None
    trust: Path | None
    for_a_moment: Callable[[str, dict[str, Any], float], Any]
    """Carries out a command as the agent itself, with its arguments and the seconds to wait for the relay."""


def invocation() -> Invocation:
    """What `tacit agent` was called with, from the current context."""
    return Invocation(*click.get_current_context().obj)


def call(command: str, wait: float = 10.0, **given: Any) -> Any:
    """The answer to a command, by the running agent or by this process as the agent for a moment."""
    invoked = invocation()
    try:
        return socket.ask(invoked.folder, command, given)
    except ConnectionError:
        return invoked.for_a_moment(command, given, wait)
