"""The options that say which stream of NATS servers something is in, for every command that speaks of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from tacit.base.stream_plan import StreamPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

F = TypeVar("F", bound="Callable[..., Any]")
_OPTIONS: Final = (
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
        help="Credentials for the servers: what NATS tools write, or a line user:password.",
    ),
    click.option(
        "--nats-ca",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The CA that signed the servers' certificates (PEM); nothing goes unencrypted then.",
    ),
)


def stream_options(command: F, *, name: str = "TACIT") -> F:
    """The name, which is this one unless another is given, the replicas, the credentials and the CA."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return click.option(
        "--nats-stream", default=name, show_default=True, metavar="NAME", help="The stream's name."
    )(command)


def plan_of(servers: Sequence[str], given: dict[str, Any]) -> StreamPlan:
    """Where it is; what these options were given is taken from `given`."""
    return StreamPlan(
        tuple(servers),
        given.pop("nats_stream"),
        given.pop("nats_replicas"),
        given.pop("nats_creds"),
        given.pop("nats_ca"),
    )
