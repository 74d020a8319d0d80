"""Quotas of a mailbox: 100 per queue tag, 2,000 packets or 64 MiB in all, a quarter per sender.

A2ACP-218, A2ACP-221, A2ACP-222.

Counts what is stored and what is about to be; a reservation is given back when its write fails. The new
packet is the one refused. Knows counts, never contents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.relay.settings import Limits


@dataclass(slots=True)
class _Mailbox:
    packets: int = 0
    size: int = 0
    tags: dict[str, int] = field(default_factory=dict[str, int])
    senders: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Overflow:
    """The limit that was hit."""

    limit: int


class MailboxQuota:
    """How much every mailbox holds."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._boxes: dict[int, _Mailbox] = {}

    def load(self, rows: Iterable[tuple[int, str, str, int, int]]) -> None:
        """Start from what is stored: recipient, tag, sender, packets, bytes."""
        for recipient, tag, sender, packets, size in rows:
            self._add(recipient, tag, sender, packets, size)

    def reserve(self, recipient: int, tag: str, sender: str, size: int, *, replaces: bool) -> Overflow | None:
        """Take a place, or say which limit is in the way."""
        box = self._boxes.get(recipient)
        if box is not None:
            limits = self._limits
            # A consolidated packet empties its tag, so one place beyond a full box or tag is lent to it.
            lent = 1 if replaces else 0
            if not replaces and box.tags.get(tag, 0) >= limits.per_tag:
                return Overflow(limits.per_tag)
            if box.senders.get(sender, 0) >= limits.per_sender + lent:
                return Overflow(limits.per_sender)
            if box.packets >= limits.per_recipient + lent or box.size + size > limits.per_recipient_bytes:
                return Overflow(limits.per_recipient)
        self._add(recipient, tag, sender, 1, size)
        return None

    def release(self, recipient: int, tag: str, sender: str, size: int) -> None:
        """Give one place back."""
        self._add(recipient, tag, sender, -1, -size)

    def forget(self, recipient: int) -> None:
        """A mailbox was emptied."""
        self._boxes.pop(recipient, None)

    def packets(self, recipient: int) -> int:
        """How many packets a mailbox holds."""
        box = self._boxes.get(recipient)
        return box.packets if box else 0

    def total(self) -> tuple[int, int]:
        """Packets and bytes in all mailboxes."""
        return sum(box.packets for box in self._boxes.values()), sum(box.size for box in self._boxes.values())

    def _add(self, recipient: int, tag: str, sender: str, packets: int, size: int) -> None:
        box = self._boxes.get(recipient)
        if box is None:
            box = self._boxes[recipient] = _Mailbox()
        box.packets += packets
        box.size += size
        _count(box.tags, tag, packets)
        _count(box.senders, sender, packets)
        if box.packets <= 0:
            del self._boxes[recipient]


def _count(counts: dict[str, int], key: str, more: int) -> None:
    count = counts.get(key, 0) + more
    if count > 0:
        counts[key] = count
    else:
        counts.pop(key, None)
