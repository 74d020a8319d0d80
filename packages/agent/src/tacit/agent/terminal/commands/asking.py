"""Asking the agent of a folder from a command: the one that runs for it, or this process for a moment.

How a process is the agent for a moment is the shell's affair, which says so in the context of `tacit agent`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.base.agent_operations import AgentOperation

Result = TypeVar("Result")

FILE: Final = click.Path(path_type=Path)
wait_option = click.option(
    "--wait", default=10.0, show_default=True, help="Seconds to wait for the relay, when no agent is running."
)


class Invocation(NamedTuple):
    """What `tacit agent` was called with."""

    folder: Path
    passphrase_file: Path | None
    trust: Path | None
    for_a_moment: Callable[[str, dict[str, object], float], object]
    """Carries out a command as the agent itself, with its arguments and the seconds to wait for the relay."""


def invocation() -> Invocation:
    """What `tacit agent` was called with, from the current context."""
    return Invocation(*click.get_current_context().obj)


def call(operation: AgentOperation[Result], wait: float = 10.0, /, **given: object) -> Result:
    """The answer to an operation, by the running agent or by this process as the agent for a moment."""
    # Imported where something is asked, so that help and completion start quickly.
    from tacit.base.io import agent_socket

    invoked = invocation()
    try:
        answer: object = agent_socket.ask(invoked.folder, operation.command, given)
    except ConnectionError:
        answer = invoked.for_a_moment(operation.command, given, wait)
    return operation.answer(answer)
