"""Intake: a packet's way into a mailbox, from the room that is reserved for it to its reader.

A2ACP-001, A2ACP-002, A2ACP-218, A2ACP-221, A2ACP-222.

What a contact sends needs room. What a stranger sends needs room in the strangers' part and, in the
transaction that stores it, what is left of the day: strangers may leave as much in a day as fits into their
part at once, within the same bounds for one of them, for one relay's and for this relay's. So an agent that
fetches its mail at once is no open door. Who is refused for the day hears when to come again, and its agent
does so; nothing that was accepted is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from tacit.base.callers import Bound
from tacit.base.errors import TacitError, Unavailable
from tacit.relay.io import store
from tacit.relay.io.budgets import DailyAllowance
from tacit.relay.io.store import Overtaken, Put, Queued
from tacit.relay.quota import ONE_STRANGER, MailboxQuota, stranger_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from tacit.base.moment import Moment
    from tacit.relay.io.budgets import Budgets
    from tacit.relay.io.correspondence import Correspondence
    from tacit.relay.io.store import RelayStore
    from tacit.relay.quota import Overflow
    from tacit.relay.settings import RelayLimits
    from tacit.wire.envelope import Envelope

MOST_MARKERS: Final = 200
_MOST_STRANGERS_MARKERS: Final = 50


class MailboxReader(Protocol):
    """Whoever reads a mailbox here, if it is connected."""

    def deliver(self, account: int, queued: Queued) -> None:
        """Hand out what was just stored."""
        ...

    def took_back(self, account: int, position: int) -> None:
        """A packet was replaced: it is no longer on its way."""
        ...


class Intake:
    """Takes packets into the mailboxes of one relay."""

    def __init__(
        self,
        relay_store: RelayStore,
        quota: MailboxQuota,
        correspondence: Correspondence,
        budgets: Budgets,
        limits: RelayLimits,
        *,
        home: str,
        reader: MailboxReader,
    ) -> None:
        self._store = relay_store
        self._quota = quota
        self._correspondence = correspondence
        self._budgets = budgets
        self._limits = limits
        self._home = home
        self._reader = reader

    def take(
        self,
        account: int,
        found: Envelope,
        sig: str,
        now: Moment,
        then: Callable[[TacitError | None], None],
    ) -> Overflow | None:
        """Store a packet, or say at once which limit of its mailbox is in the way.

        `then` is told when it is on disk, or why it is not.
        """
        contact = self._correspondence.knows(account, found.sender)
        size = len(found.raw)
        over = self._quota.reserve(
            account, found.queue_tag, found.sender, size, replaces=found.replaces_queue, contact=contact
        )
        if over is not None:
            return over

        def stored(put: Put, outcome: int | TacitError) -> None:
            if isinstance(outcome, TacitError):
                self._release(put)
                then(outcome)
                return
            then(None)
            self._stored(put, outcome)

        self._keep(Put(account, found, sig, size, now, stored), contact=contact)
        return None

    def _keep(self, put: Put, *, contact: bool) -> None:
        """Store a packet for which room was reserved; `put.then` is told."""
        if self._store.is_shared:
            found = put.envelope
            self._store.reserved(put, self._quota.spare(put.recipient, found.queue_tag, found.sender))
        try:
            if contact and not put.envelope.replaces_queue:
                self._store.put(put)
            else:
                self._store.write_then(
                    lambda file: self._write(file, put, contact=contact),
                    lambda gone: self._written(put, gone),
                )
        except Unavailable:
            self._release(put)
            raise

    def _write(self, file: apsw.Connection, put: Put, *, contact: bool) -> list[tuple[int, int]]:
        if not self._store.has_room(put):
            raise Overtaken("the mailbox has changed")
        gone: list[tuple[int, int]] = []
        if put.envelope.replaces_queue:
            gone = store.replace(file, put, self._store.next_position())
        else:
            store.add(file, put, self._store.next_position())
        if put.position and not contact:
            # A repeat of what is stored costs nothing.
            self._budgets.spend(file, self._of_a_day(put), put.accepted_at, put.size)
        return gone

    def _of_a_day(self, put: Put) -> list[DailyAllowance]:
        part, times, sender = self._limits.strangers, self._limits.strangers_fill_a_day, put.envelope.sender
        return [
            DailyAllowance(
                f"mailbox\n{put.recipient}\n{bound.key}",
                max(1, int(part.packets * bound.share)) * times,
                int(part.bytes * bound.share) * times,
            )
            for bound in (Bound(sender, ONE_STRANGER), *stranger_bounds(sender, self._home))
        ]

    def _written(self, put: Put, gone: list[tuple[int, int]] | TacitError) -> None:
        if isinstance(gone, TacitError):
            put.then(put, gone)
            return
        for position, size in gone:
            self._quota.release(put.recipient, put.envelope.queue_tag, put.envelope.sender, size)
            self._reader.took_back(put.recipient, position)
        put.then(put, put.position)

    def _stored(self, put: Put, position: int) -> None:
        if position == 0:
            # It was there already: the sender repeats itself after a crash. One copy, one place.
            self._release(put)
            return
        found = put.envelope
        queued = Queued(position, found.sender, found.queue_tag, put.size, found.raw, put.sig)
        self._reader.deliver(put.recipient, queued)

    def _release(self, put: Put) -> None:
        self._quota.release(put.recipient, put.envelope.queue_tag, put.envelope.sender, put.size)

    async def mark(self, account: int, found: Envelope) -> None:
        """Leave the recipient a note that packets of a tag were refused; strangers leave few."""
        most = MOST_MARKERS
        if not self._correspondence.knows(account, found.sender):
            most = _MOST_STRANGERS_MARKERS
        await self._store.write(lambda file: store.mark(file, account, found.queue_tag, most))
