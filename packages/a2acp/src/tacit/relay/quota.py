"""Quotas of a mailbox: 100 per queue tag; a quarter for one sender; a quarter for all strangers together.

A2ACP-218, A2ACP-221, A2ACP-222.

A mailbox has room for 2,000 packets or 64 MiB, whichever comes first, and each share counts both. A quarter
of it is the strangers'; the rest is the contacts', at most a quarter of the whole for one of them. The two
parts never lend each other room, so no number of strangers gets a contact refused. Of the strangers' part one
stranger gets a quarter, those of one other relay together a half, those of this relay three quarters and
those of all other relays three quarters: whoever fills what it may, there is room for somebody else. Who is a
contact is the caller's to say (`relay.io.correspondence`). What strangers may leave in a day is counted in
the same bounds (`relay.io.intake`).

Counts what is stored and what is about to be; a reservation is given back when its write fails. The new
packet is the one refused. Knows counts, never contents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tacit.base.callers import Bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tacit.relay.settings import RelayLimits, Share

ONE_STRANGER: Final = 0.25
ONE_RELAY: Final = 0.5
HERE_OR_ELSEWHERE: Final = 0.75
_CONTACTS: Final = (Bound("contacts", 1.0),)


def stranger_bounds(sender: str, home: str) -> tuple[Bound, ...]:
    """By what a stranger's packets count besides its own name; `home` is this relay's domain.

    Another relay counts by its host: one machine has very many ports.
    """
    domain = sender.partition("@")[2]
    everybody = Bound("strangers", 1.0)
    if domain == home:
        return Bound("here", HERE_OR_ELSEWHERE), everybody
    host = domain.partition(":")[0]
    return Bound("@" + host, ONE_RELAY), Bound("elsewhere", HERE_OR_ELSEWHERE), everybody


@dataclass(slots=True)
class _Tally:
    """So many packets and bytes."""

    packets: int = 0
    size: int = 0

    def add(self, packets: int, size: int) -> None:
        self.packets += packets
        self.size += size

    def is_full(self, size: int, most_packets: int, most_bytes: int) -> bool:
        """Is there no room for a packet of this size? The first one always has room."""
        return self.packets >= most_packets or (self.packets > 0 and self.size + size > most_bytes)


@dataclass(slots=True)
class _SenderTally(_Tally):
    """What one sender has in a mailbox, and in which parts of it."""

    contact: bool = False
    bounds: tuple[Bound, ...] = ()


@dataclass(slots=True)
class _Mailbox:
    tags: dict[str, int] = field(default_factory=dict[str, int])
    senders: dict[str, _SenderTally] = field(default_factory=dict[str, _SenderTally])
    parts: dict[str, _Tally] = field(default_factory=dict[str, _Tally])

    def add(self, bounds: tuple[Bound, ...], packets: int, size: int) -> None:
        """Count in each part; one that holds nothing is forgotten."""
        for bound in bounds:
            part = self.parts.setdefault(bound.key, _Tally())
            part.add(packets, size)
            if part.packets <= 0:
                del self.parts[bound.key]


@dataclass(frozen=True, slots=True)
class Overflow:
    """The limit that was hit."""

    limit: int


class MailboxQuota:
    """How much every mailbox of the relay for `home` holds."""

    def __init__(self, limits: RelayLimits, home: str) -> None:
        self._limits = limits
        self._home = home
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
            if own is not None and own.is_full(size, share.one_packets + lent, share.one_bytes):
                return Overflow(share.one_packets)
            for bound in self._bounds(sender, contact=contact):
                most_packets, most_bytes = _of_share(share, bound)
                part = box.parts.get(bound.key)
                if part is not None and part.is_full(size, most_packets + lent, most_bytes):
                    return Overflow(most_packets)
        self._add(recipient, tag, sender, 1, size, contact=contact)
        return None

    def _bounds(self, sender: str, *, contact: bool) -> tuple[Bound, ...]:
        return _CONTACTS if contact else stranger_bounds(sender, self._home)

    def spare(self, recipient: int, tag: str, sender: str) -> tuple[int, int]:
        """How many packets and bytes would fit beside what is counted, whosever they were, at least.

        For whoever shares mailboxes with nodes that count by themselves.
        """
        box = self._boxes.get(recipient)
        own = box.senders.get(sender) if box is not None else None
        if box is None or own is None:
            return 0, 0
        share = self._limits.share(contact=own.contact)
        packets = min(self._limits.per_tag - box.tags.get(tag, 0), share.one_packets - own.packets)
        size = share.one_bytes - own.size
        for bound in own.bounds:
            most_packets, most_bytes = _of_share(share, bound)
            part = box.parts[bound.key]
            packets, size = min(packets, most_packets - part.packets), min(size, most_bytes - part.size)
        return max(0, packets), max(0, size)

    def release(self, recipient: int, tag: str, sender: str, size: int) -> None:
        """Give one place back."""
        self._add(recipient, tag, sender, -1, -size, contact=False)

    def befriend(self, recipient: int, sender: str) -> None:
        """A sender has become a contact: what waits of it no longer counts as a stranger's."""
        box = self._boxes.get(recipient)
        own = box.senders.get(sender) if box is not None else None
        if box is None or own is None or own.contact:
            return
        box.add(own.bounds, -own.packets, -own.size)
        own.contact, own.bounds = True, _CONTACTS
        box.add(own.bounds, own.packets, own.size)

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
        return sum(box.tags.values()) if box else 0

    def total(self) -> tuple[int, int]:
        """Packets and bytes in all mailboxes."""
        senders = [own for box in self._boxes.values() for own in box.senders.values()]
        return sum(own.packets for own in senders), sum(own.size for own in senders)

    def _add(self, recipient: int, tag: str, sender: str, packets: int, size: int, *, contact: bool) -> None:
        box = self._boxes.get(recipient)
        if box is None:
            box = self._boxes[recipient] = _Mailbox()
        own = box.senders.get(sender)
        if own is None:
            own = _SenderTally(contact=contact, bounds=self._bounds(sender, contact=contact))
            box.senders[sender] = own
        own.add(packets, size)
        box.add(own.bounds, packets, size)
        if own.packets <= 0:
            del box.senders[sender]
        count = box.tags.get(tag, 0) + packets
        if count > 0:
            box.tags[tag] = count
        else:
            box.tags.pop(tag, None)
        if not box.senders:
            del self._boxes[recipient]


def _of_share(share: Share, bound: Bound) -> tuple[int, int]:
    """The packets and bytes of a part of a mailbox that a bound lets somebody have: one packet at least."""
    return max(1, int(share.packets * bound.share)), int(share.bytes * bound.share)
