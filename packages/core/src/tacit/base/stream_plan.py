"""Where a state is that several nodes share: which NATS servers keep it, and how they are reached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.base.nats_access import to_servers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.base.nats_access import NatsAccess, NatsLogin


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """A state on NATS JetStream: the servers, the stream's name, how many of them keep it."""

    servers: tuple[str, ...]
    stream: str = "TACIT"
    replicas: int = 3
    credentials: Path | None = None
    ca: Path | None = None
    """Who signed for the servers, if not one of those that every machine knows."""
    lease_seconds: float = 15.0
    """After how long another node writes when the one that did has died."""


def way_to(plan: StreamPlan, login_in: Callable[[str], NatsLogin]) -> NatsAccess:
    """How the plan's servers are reached; the credentials are read for each connection: they may change.

    `login_in` reads them: it signs, which is no matter of the ground's.
    """
    path = plan.credentials
    return replace(
        to_servers(plan.servers),
        ca=plan.ca,
        login=(lambda: login_in(path.read_text(encoding="utf-8"))) if path is not None else None,
    )
