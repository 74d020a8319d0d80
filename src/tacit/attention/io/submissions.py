"""Records and notices of attention as events of the hub's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tacit.attention.state import records
from tacit.attention.state.consequences import Notice, Written
from tacit.ledger.principal import SYSTEM
from tacit.ledger.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Iterable


def submitted(group_id: str, written: Iterable[Written], user: str = "user") -> list[Submission]:
    """Records and notices as events of the house's own."""
    found: list[Submission] = []
    for one in written:
        if isinstance(one, Notice):
            kind, data = "system.notify", {**one.data, "target_actor_id": user}
        else:
            kind, data = records.kind_of(one), records.data_of(one)
        found.append(Submission(group_id, SYSTEM, kind, data, msgspec.json.encode(data)))
    return found
