"""How an operation that a door was asked for is carried out: in a process of its own where it only reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.hub.reader.reads import READS

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from tacit.hub.doors.routes import Run
    from tacit.hub.hub import RunningHub
    from tacit.hub.people.credentials import Credential


def run(
    hub: RunningHub, name: str, operation: Run, credential: Credential, params: Any, **given: Any
) -> Awaitable[object]:
    """Carry out the operation of this name."""
    readers = hub.readers
    if readers is not None and name in READS:
        return hub.ledger.whole(lambda: readers.read(name, credential, params))
    return operation(hub, credential, params, **given)
