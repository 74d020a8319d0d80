"""Quotas of a mailbox: 100 per queue tag; a quarter for one sender; a quarter for all strangers together.

A2ACP-218, A2ACP-221, A2ACP-222.

A mailbox has room for 2,000 packets or 64 MiB, whichever comes first, and each share counts both. A quarter
of it is the strangers', a quarter of that at most one stranger's; the rest is the contacts', at most a
quarter of the whole for one of them. The two parts never lend each other room, so no number of strangers gets
a contact refused. Who is a contact is the caller's to say (`relay.io.correspondence`).

Counts what is stored and what is about to be; a reservation is given back when its write fails. The new
packet is the one refused. Knows counts, never contents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.relay.settings import Limits


@dataclass(slots=True)
class _Tally:
    """So much of one sender, or of one part of a mailbox."""

    contact: bool
    packets: int = 0
    size: int = 0

    def add(self, packets: int, size: int) -> None:
        self.packets += packets
        self.size += size


@dataclass(slots=True)
class _Mailbox:
    contacts: _Tally = field(default_factory=lambda: _Tally(contact=True))
    strangers: _Tally = field(default_factory=lambda: _Tally(contact=False))
    tags: dict[str, int] = field(default_factory=dict[str, int])
    senders: dict[str, _Tally] = field(default_factory=dict[str, _Tally])

    def part(self, sender: _Tally) -> _Tally:
        return self.contacts if sender.contact else self.strangers


@dataclass(frozen=True, slots=True)
class Overflow:
    """The limit that was hit."""

    limit: int


class MailboxQuota:
    """How much every mailbox holds."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._boxes: dict[int, _Mailbox] = {}

    def load(
        self, rows: Iterable[tuple[int, str, str, int, int]], is_contact: Callable[[int, str], bool]
    ) -> None:
        """Start from what is stored: recipient, tag, sender, packets, bytes."""
        for recipient, tag, sender, packets, size in rows:
            self._add(recipient, tag, sender, packets, size, contact=is_contact(recipient, sender))

    def reserve(
        self, recipient: int, tag: str, sender: str, size: int, *, replaces: bool, contact: bool
    ) -> Overflow | None:
        """Take a place, or say which limit is in the way."""
        box = self._boxes.get(recipient)
        if box is not None:
            # A consolidated packet empties its tag, so one place beyond a full part or tag is lent to it.
            lent = 1 if replaces else 0
            if not replaces and box.tags.get(tag, 0) >= self._limits.per_tag:
                return Overflow(self._limits.per_tag)
            own = box.senders.get(sender)
            contact = contact if own is None else own.contact
            share = self._limits.share(contact=contact)
            if own is not None and (
                own.packets >= share.one_packets + lent or own.size + size > share.one_bytes
            ):
                return Overflow(share.one_packets)
            part = box.contacts if contact else box.strangers
            if part.packets >= share.packets + lent or (part.packets and part.size + size > share.bytes):
                return Overflow(share.packets)
        self._add(recipient, tag, sender, 1, size, contact=contact)
        return None

    def spare(self, recipient: int, tag: str, sender: str) -> tuple[int, int]:
        """How many packets and bytes would fit beside what is counted, whosever they were, at least.

        For whoever shares mailboxes with nodes that count by themselves.
        """
        box = self._boxes.get(recipient)
        own = box.senders.get(sender) if box is not None else None
        if box is None or own is None:
            return 0, 0
        share, part = self._limits.share(contact=own.contact), box.part(own)
        packets = min(
            self._limits.per_tag - box.tags.get(tag, 0),
            share.one_packets - own.packets,
            share.packets - part.packets,
        )
        return max(0, packets), max(0, min(share.one_bytes - own.size, share.bytes - part.size))

    def release(self, recipient: int, tag: str, sender: str, size: int) -> None:
        """Give one place back."""
        self._add(recipient, tag, sender, -1, -size, contact=False)

    def befriend(self, recipient: int, sender: str) -> None:
        """A sender has become a contact: what waits of it no longer counts as a stranger's."""
        box = self._boxes.get(recipient)
        own = box.senders.get(sender) if box is not None else None
        if box is None or own is None or own.contact:
            return
        box.strangers.add(-own.packets, -own.size)
        own.contact = True
        box.contacts.add(own.packets, own.size)

    def senders(self, recipient: int) -> list[str]:
        """Whose packets a mailbox holds."""
        box = self._boxes.get(recipient)
        return list(box.senders) if box else []

    def forget(self, recipient: int) -> None:
        """A mailbox was emptied."""
        self._boxes.pop(recipient, None)

    def packets(self, recipient: int) -> int:
        """How many packets a mailbox holds."""
        box = self._boxes.get(recipient)
        return box.contacts.packets + box.strangers.packets if box else 0

    def total(self) -> tuple[int, int]:
        """Packets and bytes in all mailboxes."""
        parts = [part for box in self._boxes.values() for part in (box.contacts, box.strangers)]
        return sum(part.packets for part in parts), sum(part.size for part in parts)

    def _add(self, recipient: int, tag: str, sender: str, packets: int, size: int, *, contact: bool) -> None:
        box = self._boxes.get(recipient)
        if box is None:
            box = self._boxes[recipient] = _Mailbox()
        own = box.senders.get(sender)
        if own is None:
            own = box.senders[sender] = _Tally(contact)
        own.add(packets, size)
        box.part(own).add(packets, size)
        if own.packets <= 0:
            del box.senders[sender]
        count = box.tags.get(tag, 0) + packets
        if count > 0:
            box.tags[tag] = count
        else:
            box.tags.pop(tag, None)
        if not box.senders:
            del self._boxes[recipient]
