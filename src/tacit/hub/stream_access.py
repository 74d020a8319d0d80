"""The way to a ledger's stream, for whoever is told to use one: the extra, the credentials, the lease."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.base.errors import Refused
from tacit.base.nats_access import to_servers
from tacit.seal.nats_login import login_in

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.nats_access import NatsAccess
    from tacit.base.ports import Entropy
    from tacit.hub.config import StreamPlan
    from tacit.ledger.io.jetstream.cache import ServedStream


def access_of(plan: StreamPlan) -> NatsAccess:
    """How the plan's servers are reached; the credentials are read for each connection: they may change."""
    path = plan.credentials
    return replace(
        to_servers(plan.servers),
        ca=plan.ca,
        login=(lambda: login_in(path.read_text(encoding="utf-8"))) if path is not None else None,
    )


def served(plan: StreamPlan, folder: Path, entropy: Entropy, *, alone: bool = False) -> ServedStream:
    """The plan's stream, as a node of it; `alone`: as its only one. `Refused` without the extra."""
    try:
        from tacit.ledger.io.jetstream.cache import ServedStream
    except ModuleNotFoundError as error:
        raise Refused("not_installed", "NATS needs the extra: pip install 'tacit[scale]'") from error
    return ServedStream(
        access_of(plan),
        plan.stream,
        folder,
        entropy,
        replicas=plan.replicas,
        lease_seconds=plan.lease_seconds,
        alone=alone,
    )
