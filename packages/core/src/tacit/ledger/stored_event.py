"""An event as the read model gives it: what was appended, and for whom it is."""

from __future__ import annotations

from typing import Any

import msgspec

from tacit.ledger.envelope import decode_data
from tacit.ledger.principal import USER


class StoredEvent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An event of the ledger with what the read model knows about its audience."""

    seq: int
    event_id: str
    kind: str
    by: str
    raw: bytes
    everyone: bool = False
    named: tuple[str, ...] = ()
    private: bool = False
    root: int = 0

    @property
    def data(self) -> dict[str, Any]:
        """The event's data."""
        return decode_data(self.raw).data

    def parties(self) -> frozenset[str]:
        """Who may read it, when it is private (besides `user`)."""
        return frozenset((*self.named, self.by))

    def visible_to(self, principal: str) -> bool:
        """Private events are for their parties and the owner (CCCS-110)."""
        return not self.private or principal in {USER, self.by} or principal in self.named

    def is_known_to_readers_of(self, other: StoredEvent) -> bool:
        """May everybody who reads the other event read this one too (the owner aside)?"""
        return not self.private or (other.private and other.parties() <= self.parties())
