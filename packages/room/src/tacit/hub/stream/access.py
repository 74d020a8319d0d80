"""The way to a ledger's stream, for whoever is told to use one: the extra, the credentials, the lease."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tacit.base.errors import Refused
from tacit.base.install_hint import install_hint
from tacit.base.stream_plan import way_to
from tacit.hub.beside import login_in

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tacit.base.io.folder_lock import FolderLock
    from tacit.base.nats_access import NatsAccess
    from tacit.base.ports import Entropy
    from tacit.base.stream_plan import StreamPlan
    from tacit.ledger.io.jetstream.blobs import BlobReaders
    from tacit.ledger.io.jetstream.cache import ServedStream


def access_of(plan: StreamPlan) -> NatsAccess:
    """How the plan's servers are reached."""
    return way_to(plan, login_in)


@contextmanager
def _extra() -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        missing = f"the library for NATS is not installed; add it with: {install_hint('room', 'scale')}"
        raise Refused("not_installed", missing) from error


def blobs_of(plan: StreamPlan) -> BlobReaders:
    """The way to the bytes of blobs, for a hub whose writer stands in another process."""
    with _extra():
        from tacit.ledger.io.jetstream.blobs import BlobReaders
    return BlobReaders(access_of(plan), plan.stream, plan.replicas)


def served(
    plan: StreamPlan, folder: Path, entropy: Entropy, *, alone: bool = False, lock: FolderLock | None = None
) -> ServedStream:
    """The plan's stream, as a node of it; `alone`: as its only one. `Refused` without the extra."""
    with _extra():
        from tacit.ledger.io.jetstream.cache import ServedStream
    return ServedStream(
        access_of(plan),
        plan.stream,
        folder,
        entropy,
        replicas=plan.replicas,
        lease_seconds=plan.lease_seconds,
        alone=alone,
        lock=lock,
    )
