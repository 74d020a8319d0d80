"""The options that say which stream of NATS servers a ledger is in, for every command that speaks of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
_OPTIONS: Final = (
    click.option(
        "--nats-stream", default="TACIT", show_default=True, metavar="NAME", help="The stream's name."
    ),
    click.option(
        "--nats-replicas",
        default=3,
        show_default=True,
        type=click.IntRange(1, 5),
        help="How many servers keep it.",
    ),
    click.option(
        "--nats-creds",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Credentials for the servers.",
    ),
)


def stream_options(command: F) -> F:
    """The name, the replicas and the credentials."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
