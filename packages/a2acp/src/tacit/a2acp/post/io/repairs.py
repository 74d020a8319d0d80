"""Packets that did not open: remembered, asked for again, sealed again, and told to both owners.

A2ACP-029, A2ACP-213, A2ACP-215, A2ACP-243, A2ACP-259. The rules are those of `agent.receipt`.

Every call is made inside a transaction of the caller's: what was dropped and the receipt for it are on disk
together, before `received` is said; a receipt that was heard and the packet that waits again, too. So either
side may be killed at any moment.

A packet of ours goes from `sent` to `repairing` with the first receipt, by way of `due` while its last copy
is still on the way to the relay, and ends `repaired` or `lost`. What was dropped here goes from `failed` to
`asked` when its receipt is written, and ends the same way; a `fault` is only remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets import packet
from tacit.a2acp.post import receipt
from tacit.a2acp.post.reception import Drop
from tacit.a2acp.post.settings import UNKNOWN_SENDERS
from tacit.base.moment import Moment, earlier
from tacit.seal import session

if TYPE_CHECKING:
    from tacit.a2acp.post.io.outbox import Outbox
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.a2acp.post.receipt import Receipt
    from tacit.a2acp.post.reception import SignedEnvelope
    from tacit.base.moment import ConfirmedTime

_A_PAGE: Final = 200
ASKED_AGAIN: Final = frozenset({Drop.SEALED, Drop.STALE})
"""What another copy of the same packet can mend."""
REPAIRED: Final = "repaired"
LOST: Final = "could not be delivered"
_WORDS: Final = {
    "due": "being repaired",
    "repairing": "being repaired",
    "failed": "could not be opened",
    "asked": "asked for again",
    "repaired": REPAIRED,
    "lost": LOST,
}


@dataclass(frozen=True, slots=True)
class Repair:
    """One packet that did not open at first, for its owner to see."""

    direction: str
    peer: str
    packet_id: str
    state: str
    tries: int
    at: Moment


class Repairs:
    """What one agent knows of packets that did not open, its own and those sent to it."""

    def __init__(self, store: AgentStore, outbox: Outbox) -> None:
        self._store = store
        self._outbox = outbox

    # As recipient.

    def drop(self, sender: str, signed: SignedEnvelope, why: Drop, now: Moment) -> None:
        """Remember an envelope that ends here; ask for it again when it was only not to be opened."""
        store = self._store
        state = "failed" if why in ASKED_AGAIN else "fault"
        open_before = self._is_open(sender)
        store.run(
            "INSERT OR IGNORE INTO dropped (sender, digest, packet_id, at, state) VALUES (?,?,?,?,?)",
            sender, signed.digest, signed.packet_id, int(now), state,
        )  # fmt: skip
        self._make_room(sender, now)
        if state == "failed" and self._ask(sender, signed.digest, signed.packet_id, now) and not open_before:
            problem = "could not be opened" if why is Drop.SEALED else "bears a date that cannot be right"
            store.note(f"a packet from {sender} {problem} and was asked for again", now)

    def _is_open(self, sender: str) -> bool:
        found = "SELECT 1 FROM dropped WHERE sender=? AND state IN ('failed','asked') LIMIT 1"
        return self._store.row(found, sender) is not None

    def _ask(self, sender: str, digest: bytes, packet_id: str, now: Moment) -> bool:
        """Write the receipt, if one more may go to this sender."""
        welcome = self._welcome(sender)
        if not self._may_hear(sender) or not receipt.may_tell(self._told(sender, now), welcome=welcome):
            return False
        self._store.run(
            "UPDATE dropped SET state='asked', told_at=? WHERE sender=? AND digest=?",
            int(now), sender, digest,
        )  # fmt: skip
        self._outbox.write_receipt(sender, receipt.Receipt(receipt.CANNOT_OPEN, packet_id, digest))
        return True

    def _may_hear(self, sender: str) -> bool:
        """Whether a sender may hear from this device at all.

        Whoever is not accepted would learn that it is awake, and its relay would take it for a contact: we
        have written to it. What it sent is asked for when it is accepted. Whoever is blocked hears nothing.
        """
        contact = self._store.contact(sender)
        if contact is not None and contact.reputation.blocked:
            return False
        return self._welcome(sender) or self._store.choice(UNKNOWN_SENDERS) == "accept"

    def _welcome(self, sender: str) -> bool:
        contact = self._store.contact(sender)
        return contact is not None and contact.welcome

    def _told(self, sender: str, now: Moment) -> receipt.Told:
        row = self._store.row(
            "SELECT ifnull(sum(sender=?1 AND told_at>?2),0), ifnull(sum(sender=?1),0),"
            " ifnull(sum(sender NOT IN (SELECT address FROM contacts WHERE welcome=1)),0)"
            " FROM dropped WHERE told_at>?3",
            sender, int(now) - receipt.HOUR, int(now) - receipt.DAY,
        )  # fmt: skip
        return receipt.Told(*(row or (0, 0, 0)))

    def _make_room(self, sender: str, now: Moment) -> None:
        """The oldest go, save those by which today's receipts are counted.

        What comes again after that is dropped again, and a receipt for it is worth nothing at its sender.
        """
        welcome, store = self._welcome(sender), self._store
        counted = int(now) - (receipt.HOUR if welcome else receipt.DAY)
        most = receipt.REMEMBERED_OF_A_CONTACT if welcome else receipt.REMEMBERED_OF_A_STRANGER
        store.run(
            "DELETE FROM dropped WHERE sender=?1 AND digest IN (SELECT digest FROM dropped WHERE sender=?1"
            " ORDER BY at DESC LIMIT -1 OFFSET ?2) AND ifnull(told_at,0)<=?3",
            sender, most, counted,
        )  # fmt: skip
        if not welcome:
            store.run(
                "DELETE FROM dropped WHERE (sender, digest) IN (SELECT sender, digest FROM dropped"
                " WHERE sender NOT IN (SELECT address FROM contacts WHERE welcome=1)"
                " ORDER BY at DESC LIMIT -1 OFFSET ?) AND ifnull(told_at,0)<=?",
                receipt.REMEMBERED_OF_STRANGERS, counted,
            )  # fmt: skip

    def taken(self, sender: str, signed: SignedEnvelope, packet_type: str, now: Moment) -> None:
        """A packet has opened: if it had failed before, its sender and our owner are told."""
        store = self._store
        mended = store.run(
            "UPDATE dropped SET state='repaired' WHERE sender=? AND packet_id=?"
            " AND state IN ('failed','asked','lost')",
            sender, signed.packet_id,
        )  # fmt: skip
        if mended:
            if self._may_hear(sender):
                opened = receipt.Receipt(receipt.OPENED, signed.packet_id, signed.digest)
                self._outbox.write_receipt(sender, opened)
            if packet_type == packet.THREAD_SYNC:
                # No person wrote it, so none need see it; its id is remembered with those that were taken.
                forget = "DELETE FROM dropped WHERE sender=? AND packet_id=?"
                store.run(forget, sender, signed.packet_id)
            else:
                store.note(f"packet {signed.packet_id} from {sender}: {REPAIRED}", now)

    # As sender.

    def hear(self, sender: str, said: Receipt, now: Moment) -> bool:
        """What a receipt changes; False when it is about nothing that we know, or comes too late."""
        match said.kind:
            case receipt.CANNOT_OPEN:
                return self._failed(sender, said, now)
            case receipt.OPENED:
                mended = self._store.run(
                    "UPDATE sealings SET state='repaired' WHERE peer=? AND packet_id=?"
                    " AND state IN ('due','repairing','lost')",
                    sender, said.packet_id,
                )  # fmt: skip
                if mended and not self._is_summary(sender, said.packet_id):
                    self._store.note(f"packet {said.packet_id} to {sender}: {REPAIRED}", now)
                return mended > 0
            case _:
                lost = self._store.run(
                    "UPDATE dropped SET state='lost' WHERE sender=?1 AND packet_id=?2"
                    " AND state IN ('failed','asked')"
                    " AND EXISTS (SELECT 1 FROM dropped WHERE sender=?1 AND packet_id=?2 AND digest=?3)",
                    sender, said.packet_id, said.digest,
                )  # fmt: skip
                if lost:
                    self._store.note(f"packet {said.packet_id} from {sender}: {LOST}", now)
                return lost > 0

    def _failed(self, peer: str, said: Receipt, now: Moment) -> bool:
        store = self._store
        row = store.row(
            "SELECT h.payload, s.digest, s.session, s.tries FROM history h LEFT JOIN sealings s"
            " ON s.peer=h.peer AND s.packet_id=h.packet_id"
            " WHERE h.direction='out' AND h.peer=? AND h.packet_id=?",
            peer, said.packet_id,
        )  # fmt: skip
        # A packet from before sealings were remembered is believed once: then its next one is remembered.
        if row is None or (row[1] is not None and row[1] != said.digest):
            return False
        payload, _, under, tries = row
        tries = (tries or 0) + 1
        spent = not payload or tries > receipt.MOST_TRIES
        # An empty digest is nobody's: this receipt has been used.
        store.run(
            "INSERT INTO sealings (peer, packet_id, digest, session, at, tries, state)"
            " VALUES (?1,?2,x'',x'',?3,?4,?5) ON CONFLICT (peer, packet_id)"
            " DO UPDATE SET digest=x'', tries=?4, state=?5",
            peer, said.packet_id, int(now), tries, "lost" if spent else "due",
        )  # fmt: skip
        if spent:
            self._outbox.write_receipt(peer, receipt.Receipt(receipt.GIVEN_UP, said.packet_id, said.digest))
            if not self._is_summary(peer, said.packet_id):
                store.note(f"packet {said.packet_id} to {peer}: {LOST}", now)
            return True
        sessions = store.sessions(peer)
        if not sessions or under is None or sessions[0].ephemeral == under:
            # Of the packets that one session lost, the first to be told begins the next one for all.
            store.run("UPDATE contacts SET fresh_session=1 WHERE address=?", peer)
        self._outbox.put_back([said.packet_id])
        return True

    def _is_summary(self, peer: str, packet_id: str) -> bool:
        """Whether a packet of ours is one that no person wrote, so that none need hear of its fate."""
        row = self._store.row(
            "SELECT type FROM history WHERE direction='out' AND peer=? AND packet_id=?", peer, packet_id
        )
        return row is not None and row[0] == packet.THREAD_SYNC

    # As time passes.

    def ask_late(self, now: Moment) -> None:
        """Ask for what could not be asked for when it failed; contacts first.

        There were too many, or their sender was not accepted yet.
        """
        rows = self._store.rows(
            "SELECT sender, digest, packet_id FROM dropped LEFT JOIN contacts ON address=sender"
            " WHERE state='failed' AND ifnull(blocked,0)=0 ORDER BY ifnull(welcome,0) DESC, at LIMIT ?",
            _A_PAGE,
        )
        for sender, digest, packet_id in rows:
            self._ask(sender, digest, packet_id, now)

    def forget_old(self, now: Moment, confirmed: ConfirmedTime) -> None:
        """Give up what by `confirmed` does not come any more, and forget what cannot come again."""
        store, until = self._store, session.forget_before(confirmed)
        for peer, packet_id in store.rows(
            "SELECT peer, packet_id FROM sealings WHERE state IN ('due','repairing') AND at<?", until
        ):
            store.note(f"packet {packet_id} to {peer}: {LOST}", now)
        store.run("DELETE FROM sealings WHERE at<?", until)
        store.run("DELETE FROM dropped WHERE at<?", until)
        late = earlier(confirmed, receipt.GIVEN_UP_AFTER)
        for sender, packet_id in store.rows(
            "SELECT DISTINCT sender, packet_id FROM dropped WHERE state IN ('failed','asked') AND at<=?", late
        ):
            store.run(
                "UPDATE dropped SET state='lost' WHERE sender=? AND packet_id=?"
                " AND state IN ('failed','asked')",
                sender, packet_id,
            )  # fmt: skip
            store.note(f"packet {packet_id} from {sender}: {LOST}", now)

    # For the owner.

    def known(self) -> list[Repair]:
        """What did not open at first, and what became of it, oldest first."""
        out = self._store.rows(
            "SELECT 'out', s.peer, s.packet_id, s.state, s.tries, s.at FROM sealings s JOIN history h"
            " ON h.direction='out' AND h.peer=s.peer AND h.packet_id=s.packet_id"
            " WHERE s.state<>'sent' AND h.type<>?",
            packet.THREAD_SYNC,
        )
        into = self._store.rows(
            "SELECT 'in', sender, packet_id, max(state), count(*), min(at) FROM dropped WHERE state<>'fault'"
            " GROUP BY sender, packet_id"
        )
        found = [
            Repair(direction, peer, packet_id, _WORDS[state], tries, Moment(at))
            for direction, peer, packet_id, state, tries, at in (*out, *into)
        ]
        return sorted(found, key=lambda one: (one.at, one.direction, one.packet_id))
