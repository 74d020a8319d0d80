"""Packets that came in: opened, written down once, handed on in order.

A2ACP-029, A2ACP-030, A2ACP-031, A2ACP-032, A2ACP-213, A2ACP-214, A2ACP-215, A2ACP-219, A2ACP-226,
A2ACP-227, A2ACP-228, A2ACP-229, A2ACP-241, A2ACP-259, A2ACP-260.

One transaction holds the ratchet's step, the used prekey, the packet and its id; only after it may `received`
be said. What the application has handled is remembered here too, so each packet reaches it once.
"""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.a2acp.packets import packet
from tacit.a2acp.post import reception, sync
from tacit.a2acp.post.io import epochs, purging
from tacit.a2acp.post.io.repairs import Repairs
from tacit.a2acp.post.io.store import OWN_FAULTS
from tacit.a2acp.post.io.threads import NO_COMMON_VERSION, OPEN, Threads
from tacit.a2acp.post.io.unverified import Anteroom, Unverified
from tacit.a2acp.post.reception import FAULTS, Drop, Dropped, ReceivedReceipt
from tacit.a2acp.post.settings import AUTO_BLOCK, FOR_EVER, HISTORY_DAYS
from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment, earlier
from tacit.seal import session, x3dh
from tacit.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.a2acp.post.io.outbox import Outbox
    from tacit.a2acp.post.io.store import AgentStore, Contact
    from tacit.a2acp.post.reception import ReceivedPacket
    from tacit.base.moment import ConfirmedTime
    from tacit.base.ports import Entropy
    from tacit.seal.identity import Identity, Pin
    from tacit.seal.session import PrekeySecrets, RatchetSession
    from tacit.wire.envelope import Envelope

_log: Final = logging.getLogger("tacit.agent")
WANTING: Final = frozenset({Drop.NO_KEY, Drop.KEY_CHANGED, Drop.BAD_SIGNATURE})
"""What another key, or the person's word on one, may mend."""
FORGED: Final = (
    "what came from {} is not signed by the key that is known for it, and was not taken;"
    " compare keys with its owner"
)
_LATEST: Final = 200
DAY: Final = 24 * 3600 * SECOND
# Kept among the settings, under the names they had when only `tacit agent listen` read packets.
_HANDLED: Final = "printed"
_HANDLED_BEYOND: Final = "printed_beyond"


@dataclass(frozen=True, slots=True)
class Arrived:
    """A packet for the application; `ready` rises in the order in which packets were handed on."""

    ready: int
    peer: str
    packet_id: str
    thread_id: str
    type: str
    payload: bytes


class _StoredKnowledge:
    """What the checks may ask, read from the file."""

    def __init__(self, store: AgentStore) -> None:
        self._store = store
        self._contacts: dict[str, Contact | None] = {}

    def _contact(self, sender: str) -> Contact | None:
        if sender not in self._contacts:
            self._contacts[sender] = self._store.contact(sender)
        return self._contacts[sender]

    def blocked(self, sender: str) -> bool:
        contact = self._contact(sender)
        return contact is not None and contact.reputation.blocked

    def seen(self, sender: str, packet_id: str) -> bool:
        sql = "SELECT 1 FROM seen WHERE sender=? AND packet_id=?"
        return self._store.row(sql, sender, packet_id) is not None

    def came_before(self, sender: str, packet_id: str) -> bool:
        sql = "SELECT 1 FROM history WHERE direction='in' AND peer=? AND packet_id=?"
        return self._store.row(sql, sender, packet_id) is not None

    def dropped(self, sender: str, digest: bytes) -> bool:
        sql = "SELECT 1 FROM dropped WHERE sender=? AND digest=?"
        return self._store.row(sql, sender, digest) is not None

    def pin(self, sender: str) -> Pin | None:
        contact = self._contact(sender)
        return contact.pin if contact else None

    def sessions(self, sender: str) -> tuple[RatchetSession, ...]:
        return self._store.sessions(sender)

    def participant(self, thread_id: str, sender: str) -> bool:
        peers = [row[0] for row in self._store.rows("SELECT peer FROM threads WHERE thread_id=?", thread_id)]
        named = "SELECT 1 FROM thread_members WHERE thread_id=? AND member=?"
        return not peers or sender in peers or self._store.row(named, thread_id, sender) is not None

    @property
    def prekeys(self) -> PrekeySecrets:
        return self._store

    def formers(self) -> list[Identity]:
        return self._store.formers()


class PacketInbox:
    """The way in of one agent."""

    def __init__(self, store: AgentStore, outbox: Outbox, entropy: Entropy) -> None:
        self._store = store
        self._outbox = outbox
        self.clock = outbox.clock
        self._entropy = entropy
        self.threads = Threads(store)
        self.unverified = Unverified(store)
        self.repairs = Repairs(store, outbox)
        self.anteroom = Anteroom(store)

    def admit(self, raw: bytes, sig: str) -> bool:
        """Take a packet, or keep it until it can be judged; False when the relay must go on keeping it."""
        sender = sender_of(raw)
        if sender is not None and self.anteroom.refuses(sender):
            return True
        if sender is None or not self.unverified.holds(sender):
            why = self.take(raw, sig)
            if why is not None:
                _log.info("packet dropped: %s" if why not in WANTING else "packet kept: %s", why)
            if sender is None or why not in WANTING:
                return True
        now = self.clock.now()
        with self._store.transaction():
            if not self.anteroom.may_look_up(sender):
                self.anteroom.knock(sender, now)
            return self.unverified.keep(sender, raw, sig, now)

    def wanted_keys(self) -> list[str]:
        """Senders of what was kept whose relays may be asked for a key, contacts first."""
        return [sender for sender in self.unverified.senders() if self.anteroom.may_look_up(sender)]

    def judge(self, sender: str, *, asked: bool) -> bool:
        """Judge what was kept of a sender, in order; False when its key is still wanted.

        `asked`: its relay has just told its key, so that a signature that does not hold now never will.
        """
        while (kept := self.unverified.first(sender)) is not None:
            why = self.take(kept.envelope, kept.sig)
            never = asked and why is Drop.BAD_SIGNATURE
            if why in WANTING and not never:
                return False
            with self._store.transaction():
                self.unverified.done(kept.position)
                contact = self._store.contact(sender) if never else None
                if contact is not None and contact.welcome:
                    # A forgery, or the relay lied when the key was first asked for: only a person finds out.
                    self.unverified.tell_once(FORGED.format(sender), self.clock.now())
        return True

    def take(self, raw: bytes, sig: str) -> Drop | None:
        """Check, open and write down one packet; None when it was new and good, else why it ended here."""
        try:
            return self._take(raw, sig)
        except OWN_FAULTS:
            raise
        except Exception as fault:  # noqa: BLE001 - one packet that we cannot judge must not hold up the rest
            place = traceback.extract_tb(fault.__traceback__)[-1]
            _log.error("packet met %s in %s, line %s", type(fault).__name__, place.name, place.lineno)
            with self._store.transaction():
                self._count(Dropped(Drop.MALFORMED, sender_of(raw)), self.clock.now())
            return Drop.MALFORMED

    def _take(self, raw: bytes, sig: str) -> Drop | None:
        store, now = self._store, self.clock.now()
        with store.transaction():
            me = store.me()
            found = reception.receive(
                raw,
                sig,
                me=me.identity,
                address=me.address,
                knowledge=_StoredKnowledge(store),
                entropy=self._entropy,
                times=self.clock.span(),
            )
            if isinstance(found, Dropped):
                self._count(found, now)
                return found.why
            if isinstance(found, ReceivedReceipt):
                self._hear(found, now)
                return None
            self._write_down(found, now)
            return None

    def _hear(self, found: ReceivedReceipt, now: Moment) -> None:
        sender = found.envelope.sender
        if self.repairs.hear(sender, found.receipt, now):
            self._store.run(
                "INSERT OR IGNORE INTO seen VALUES (?,?,?)",
                sender,
                found.envelope.packet_id,
                _counted_from(found.envelope, now),
            )

    def _count(self, dropped: Dropped, now: Moment) -> None:
        store = self._store
        if dropped.sender is None:
            return
        if dropped.signed is not None:
            # Nothing more: whoever can repeat a packet must not move a session by it.
            self.repairs.drop(dropped.sender, dropped.signed, dropped.why, now)
        if dropped.why not in FAULTS:
            return
        contact = store.contact(dropped.sender)
        if contact is None:
            return
        auto = store.choice(AUTO_BLOCK) == "on"
        after = reception.after_fault(contact.reputation, now, auto_block=auto)
        store.set_reputation(dropped.sender, after)
        if after.blocked and not contact.reputation.blocked:
            purging.ordered(store, dropped.sender, purging.BLOCK)
        if after.flagged and not contact.reputation.flagged:
            store.note(f"{dropped.sender} keeps sending malformed packets; you may block it", now)

    def _write_down(self, found: ReceivedPacket, now: Moment) -> None:
        store, inner, sender = self._store, found.packet, found.envelope.sender
        if not found.opened.stateless:
            store.set_sessions(sender, session.tended(found.opened.sessions, now, self.clock.confirmed()))
            epochs.answered(store, sender, found.opened.sessions[0].ephemeral, now)
        if found.opened.used_one_time is not None:
            store.run("DELETE FROM prekeys WHERE kind=? AND id=?", x3dh.ONE_TIME, found.opened.used_one_time)
        strange = not self.anteroom.accepted(sender)
        if strange and not self.anteroom.takes(sender, inner, now):
            # Its id is not remembered either: after acceptance it can be asked for and sent again.
            return
        store.run(
            "INSERT OR IGNORE INTO seen VALUES (?,?,?)",
            sender,
            inner.packet_id,
            _counted_from(found.envelope, now),
        )
        self.repairs.taken(sender, found.signed, inner.type, now)
        if not self._learn(inner, sender, now):
            return
        if inner.type == packet.THREAD_SYNC:
            self._compare(inner.fields, sender, inner.thread_id, now)
            return
        state = "asked" if strange else "held"
        store.run(
            "INSERT OR IGNORE INTO history"
            " (direction, peer, packet_id, thread_id, seq, type, at, state, payload)"
            " VALUES ('in',?,?,?,?,?,?,?,?)",
            sender, inner.packet_id, inner.thread_id, inner.seq, inner.type, int(now), state,
            packet.to_keep(inner),
        )  # fmt: skip
        if inner.fields.get("consolidated") is True:
            self._skip_to(inner, sender)
        if strange:
            self.anteroom.knock(sender, now)
        else:
            self._release(inner.thread_id, sender, now)

    def _skip_to(self, inner: packet.Packet, sender: str) -> None:
        """A consolidated packet says what its predecessors said: it does not wait for them, only asks.

        A2ACP-220.
        """
        row = self._store.row(
            "SELECT next_seq FROM threads WHERE thread_id=? AND peer=?", inner.thread_id, sender
        )
        if row is not None and inner.seq > row[0]:
            skip = "UPDATE threads SET next_seq=? WHERE thread_id=? AND peer=?"
            self._store.run(skip, inner.seq, inner.thread_id, sender)
            self.summarise(sender, inner.thread_id, answer=False)

    def _learn(self, inner: packet.Packet, sender: str, now: Moment) -> bool:
        """What a packet says of its sender and its thread; False when it ends here."""
        store = self._store
        fresh = store.run(
            "INSERT OR IGNORE INTO threads (thread_id, peer) VALUES (?,?)", inner.thread_id, sender
        )
        if fresh and (contact := store.contact(sender)) is not None and contact.welcome:
            store.set_reputation(sender, reception.after_thread(contact.reputation))
        self.threads.learn_members(inner, sender)
        features = packet.features_named(inner.fields)
        if features:
            store.run("UPDATE contacts SET features=? WHERE address=?", " ".join(sorted(features)), sender)
        code = inner.fields.get("code") if inner.type == packet.PROCESSING_ERROR else None
        if code == NO_COMMON_VERSION:
            self.threads.stall(sender, inner.thread_id, NO_COMMON_VERSION, now)
        elif not self.threads.learn_version(inner, store.contact(sender)):
            # Said once for each time it comes to a stand; an error is never answered with an error.
            answers = self.anteroom.accepted(sender)
            if answers and self.threads.stall(sender, inner.thread_id, NO_COMMON_VERSION, now) and not code:
                self._outbox.write_no_common_version(sender, inner.thread_id, inner.packet_id)
            return False
        return True

    # Order.

    def _release(self, thread_id: str, peer: str, now: Moment) -> bool:
        """Hand on what is in order; True when a gap was passed over."""
        store = self._store
        held = {
            row[1]: (row[0], Moment(row[2]))
            for row in store.rows(
                "SELECT position, seq, at FROM history WHERE direction='in' AND thread_id=? AND peer=?"
                " AND state='held' AND seq>0",
                thread_id,
                peer,
            )
        }
        row = store.row("SELECT next_seq FROM threads WHERE thread_id=? AND peer=?", thread_id, peer)
        expected = row[0] if row else 1
        numbers, following, gap = reception.releasable(
            expected, {seq: at for seq, (_, at) in held.items()}, now
        )
        for position in self._unordered(thread_id, peer) + [held[number][0] for number in numbers]:
            store.run(
                "UPDATE history SET state='ready', ready=(SELECT ifnull(max(ready),0)+1 FROM history)"
                " WHERE position=?",
                position,
            )
        store.run("UPDATE threads SET next_seq=? WHERE thread_id=? AND peer=?", following, thread_id, peer)
        return gap

    def _unordered(self, thread_id: str, peer: str) -> list[int]:
        rows = self._store.rows(
            "SELECT position FROM history WHERE direction='in' AND thread_id=? AND peer=?"
            " AND state='held' AND seq=0",
            thread_id,
            peer,
        )
        return [row[0] for row in rows]

    def release_overdue(self) -> None:
        """Pass over gaps that were held long enough, and ask for what is missing (A2ACP-030)."""
        now = self.clock.now()
        with self._store.transaction():
            overdue = self._store.rows(
                "SELECT DISTINCT thread_id, peer FROM history"
                " WHERE state IN ('held', 'asked') AND state='held' AND at<=?",
                now - reception.HOLD,
            )
            for thread_id, peer in overdue:
                if self._release(thread_id, peer, now):
                    self.summarise(peer, thread_id, answer=False)

    # For the application.

    def unhandled(self, limit: int = 100) -> list[Arrived]:
        """Packets that the application has not handled; those of low reputation last (A2ACP-260).

        Each sender's stay in their order. Asked anew for every page, so that a good packet does not wait for
        what a poor sender has piled up before it.
        """
        before, beyond = self._handled()
        rows = self._store.rows(
            "SELECT ready, peer, packet_id, thread_id, type, payload FROM history"
            " LEFT JOIN contacts ON address=peer"
            " WHERE ready>? AND ready NOT IN (SELECT value FROM json_each(?))"
            " ORDER BY ifnull(score,?)<?, ready LIMIT ?",
            before, _json(beyond), reception.START, reception.LOW, limit,
        )  # fmt: skip
        return [Arrived(*row) for row in rows]

    def handled(self, arrived: Sequence[Arrived]) -> None:
        """These are done and do not come again; inside a transaction of the caller's."""
        store, (before, beyond) = self._store, self._handled()
        beyond |= {one.ready for one in arrived}
        row = store.row(
            "SELECT min(ready) FROM history WHERE ready>? AND ready NOT IN (SELECT value FROM json_each(?))",
            before,
            _json(beyond),
        )
        before = max(before, *beyond, 0) if row is None or row[0] is None else row[0] - 1
        store.choose(_HANDLED, str(before))
        store.choose(_HANDLED_BEYOND, _json({number for number in beyond if number > before}))

    def _handled(self) -> tuple[int, set[int]]:
        """All up to a number, and some beyond it while poor senders' packets wait.

        Not one number for each reputation: a sender's may change meanwhile, and its packets would be lost or
        come twice.
        """
        beyond = msgspec.json.decode(self._store.setting(_HANDLED_BEYOND, "[]"), type=set[int])
        return int(self._store.setting(_HANDLED, "0")), beyond

    # First contact.

    def welcome(self, peer: str) -> None:
        """The person has accepted a sender: what waited is handed on (A2ACP-032)."""
        now = self.clock.now()
        with self._store.transaction():
            self._store.know(peer, welcome=True)
            self._store.run(
                "UPDATE history SET state='held'"
                " WHERE state IN ('held', 'asked') AND peer=? AND state='asked'",
                peer,
            )
            for (thread_id,) in self._store.rows("SELECT thread_id FROM threads WHERE peer=?", peer):
                self._release(thread_id, peer, now)
            self.repairs.ask_late(now)

    def block(self, peer: str, *, blocked: bool = True) -> None:
        """Put a sender on the local blocklist or take it off; it is told nothing (A2ACP-259)."""
        with self._store.transaction():
            self._store.know(peer)
            contact = self._store.contact(peer)
            known = contact.reputation if contact else reception.SenderReputation()
            changed = reception.SenderReputation(known.score, known.faults, known.flagged, blocked)
            self._store.set_reputation(peer, changed)
            if not blocked:
                purging.called_off(self._store, peer)
            else:
                purging.ordered(self._store, peer, purging.BLOCK)
                self._store.run(
                    "DELETE FROM history WHERE state IN ('held', 'asked') AND peer=? AND state='asked'", peer
                )
                self.unverified.forget(peer)
                # What this device would have told it by itself: receipts, summaries, what it said it lacks.
                self._store.run("DELETE FROM outbox WHERE peer=? AND (kind='receipt' OR later=1)", peer)

    def remove(self, peer: str) -> None:
        """Let a contact go; whoever writes from there again is somebody new (A2ACP-195)."""
        with self._store.transaction():
            if self._store.contact(peer) is None:
                raise Refused("unknown_contact", "this address is not among your contacts", row="A2ACP-020")
            purging.ordered(self._store, peer, purging.REMOVE)
            self._store.run(
                "DELETE FROM history WHERE state IN ('held', 'asked') AND peer=? AND state='asked'", peer
            )

    # Gap recovery.

    def _ids(self, direction: str, thread_id: str, peer: str) -> list[str]:
        rows = self._store.rows(
            "SELECT packet_id FROM history WHERE direction=? AND thread_id=? AND peer=? AND type<>?"
            " ORDER BY position DESC LIMIT ?",
            direction, thread_id, peer, packet.THREAD_SYNC, sync.LAST,
        )  # fmt: skip
        return [row[0] for row in reversed(rows)]

    def _compare(self, fields: dict[str, Any], peer: str, thread_id: str, now: Moment) -> None:
        if not self.anteroom.accepted(peer):
            return
        missing = sync.lacking(self._ids("out", thread_id, peer), fields["received_ids"])
        self._outbox.again(peer, missing)
        row = self._store.row("SELECT answered_at FROM threads WHERE thread_id=? AND peer=?", thread_id, peer)
        if not fields.get("answer") and sync.due(row[0] if row else None, now):
            self._store.run(
                "UPDATE threads SET answered_at=? WHERE thread_id=? AND peer=?", int(now), thread_id, peer
            )
            self.summarise(peer, thread_id, answer=True)

    def summarise(self, peer: str, thread_id: str, *, answer: bool) -> bool:
        """Send a summary of one thread, inside a transaction of the caller's; at most once a minute."""
        store, now = self._store, self.clock.now()
        row = store.row("SELECT synced_at, state FROM threads WHERE thread_id=? AND peer=?", thread_id, peer)
        contact = store.contact(peer)
        if row is None or contact is None or contact.pin is None or not contact.pin.usable:
            return False
        if not self.anteroom.accepted(peer):
            return False
        able = packet.may_send(packet.THREAD_SYNC, contact.features)
        if not answer and not (able and sync.due(row[0], now)):
            # Whoever has sent one takes one, also where a folder of last week knows nothing else of it.
            return False
        if self._outbox.summary_waits(peer, thread_id):
            # A peer that cannot be reached gets one when it can, not one for each time we connected.
            return False
        store.run("UPDATE threads SET synced_at=? WHERE thread_id=? AND peer=?", int(now), thread_id, peer)
        sent, got = self._ids("out", thread_id, peer), self._ids("in", thread_id, peer)
        try:
            self._outbox.write_sync(peer, thread_id, sync.summary(row[1], sent, got, answer=answer))
        except Refused:
            # A peer that no longer speaks any version of ours must not keep us from our connection.
            return False
        return True

    def open_threads(self) -> list[tuple[str, str]]:
        """Thread and peer of all that is open: last spoken in first, then compared longest ago."""
        spoken = self._store.rows(
            "SELECT thread_id, peer FROM history ORDER BY position DESC LIMIT ?", _LATEST
        )
        open_ones = self._store.rows(
            "SELECT thread_id, peer FROM threads WHERE state=? ORDER BY synced_at, peer, thread_id", OPEN
        )
        known = {(thread_id, peer) for thread_id, peer in open_ones}
        first = dict.fromkeys((thread_id, peer) for thread_id, peer in spoken if (thread_id, peer) in known)
        return list(first | dict.fromkeys((thread_id, peer) for thread_id, peer in open_ones))

    def forget_old(self) -> None:
        """Let go of ids that no replay can use any more, of packets nobody could verify, and of spent keys.

        A2ACP-222, A2ACP-245.
        """
        for _ in self.forgetting():
            pass

    def forgetting(self) -> Iterator[None]:
        """The same part by part, each on disk for itself: whoever reads the connection comes in between."""
        store, now = self._store, self.clock.now()
        self._tell_of_clock(now)
        confirmed = self.clock.confirmed()
        with store.transaction():
            store.run("DELETE FROM seen WHERE at<?", session.forget_before(confirmed))
            self.unverified.forget_old(confirmed)
        yield
        with store.transaction():
            self.repairs.forget_old(now, confirmed)
            self.repairs.ask_late(now)
            self._outbox.expire(now, confirmed)
        yield
        with store.transaction():
            purging.forget_expired(store, now, confirmed)
        yield
        with store.transaction():
            self._forget_content(confirmed)
        yield
        with store.transaction():
            self.anteroom.tidy()
        yield

    def _tell_of_clock(self, now: Moment) -> None:
        """Tell the owner of a clock that is in doubt, once."""
        if news := self.clock.news():
            with self._store.transaction():
                self._store.note(f"{news}; `tacit agent clock --trust` says that it is", now)

    def _forget_content(self, confirmed: ConfirmedTime) -> None:
        """What was said longer ago than the person wants it kept; ids stay, so that nothing comes twice."""
        days = self._store.choice(HISTORY_DAYS)
        if days == FOR_EVER:
            return
        handled, _ = self._handled()
        until = earlier(confirmed, int(days) * DAY)
        self._store.run(
            "UPDATE history SET payload=x'' WHERE at<? AND payload<>x''"
            " AND (direction='out' OR (ready IS NOT NULL AND ready<=?))",
            until, handled,
        )  # fmt: skip
        self._outbox.forget_content(until)
        self._store.run(
            "DELETE FROM history WHERE state IN ('held', 'asked') AND at<? AND state='asked'", until
        )


def _counted_from(header: Envelope, now: Moment) -> int:
    """Since when an id counts as seen: one of a later date outlives the window of that date."""
    return max(now, envelope.timestamp_of(header.timestamp) or now)


def _json(numbers: set[int]) -> str:
    return msgspec.json.encode(sorted(numbers)).decode()


def sender_of(raw: bytes) -> str | None:
    """The sender a packet claims; None when it is no envelope."""
    try:
        return envelope.read(raw).sender
    except (Refused, RecursionError):
        return None
