"""Packets on their way out: kept from the moment they are made until the relay has them.

A2ACP-209, A2ACP-212, A2ACP-213, A2ACP-215, A2ACP-220, A2ACP-243, A2ACP-248, A2ACP-253.

A packet is first written down, unsealed, so that it can be made without any connection. It is sealed in the
same transaction that moves the ratchet and stores the envelope; only then may it reach a socket. A repeat
sends the same bytes under the same id. What is sealed anew, as its recipient lacks it or could not open it,
waits until the relay has answered for the copy before: there is never more than one of a packet here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from tacit.a2acp.packets import packet
from tacit.a2acp.post import receipt, reception, sync
from tacit.a2acp.post.io import epochs
from tacit.a2acp.post.io.threads import NO_COMMON_VERSION, Threads
from tacit.base.errors import PeerFault, Refused
from tacit.base.moment import SECOND, Moment, earlier, parse_rfc3339, rfc3339
from tacit.seal import session
from tacit.wire import address, buckets, codes, envelope, version
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.a2acp.packets.cleared import Cleared
    from tacit.a2acp.post.io.store import AgentStore, Contact, Myself
    from tacit.base.io.time_service import TimeService
    from tacit.base.moment import ConfirmedTime
    from tacit.base.ports import Entropy
    from tacit.seal.identity import Pin
    from tacit.seal.x3dh import PublicPrekeys

UNORDERED: Final = frozenset({packet.THREAD_SYNC})
DAY: Final = 24 * 3600 * SECOND
KEPT_BY_RELAYS: Final = 30 * DAY
"""How long a relay keeps what nobody fetches; what is older is not lost by its being set back."""
MOST_UNFETCHED: Final = 500
"""Packets that are looked at when the relay may have lost what it accepted."""
MOST_AGAIN: Final = 200
"""Packets that wait at once to be sent again to one peer: what it lacks beyond that, it says once more."""


@dataclass(frozen=True, slots=True)
class UnsentPacket:
    """A packet that the relay does not have yet."""

    position: int
    packet_id: str
    peer: str
    envelope: bytes | None
    sig: str
    receipt: bool = False
    later: bool = False


class _OwnPacket(NamedTuple):
    """What the post says of itself, a summary or an error: ids and states, nothing of its owner's."""

    to: str
    type: str
    thread_id: str
    packet_id: str
    at: Moment
    body: dict[str, Any]


class Outbox:
    """The way out of one agent."""

    def __init__(self, store: AgentStore, clock: TimeService, entropy: Entropy) -> None:
        self._store = store
        self.clock = clock
        self._entropy = entropy
        self._threads = Threads(store)

    def new_thread(self) -> str:
        """A thread id that tells nothing."""
        return packet.identifier("thr_", self._entropy.draw(17))

    def post(self, cleared: Cleared, *, replace_queue: bool = False) -> str:
        """Write a packet that consent has cleared down to be sent; returns its id.

        `Refused` when it could never be sent. The id and the time are the caller's: a repeat changes nothing.
        """
        to, packet_type = cleared.to, cleared.type
        address.parse(to)
        store = self._store
        with store.transaction():
            if self._knows(to, cleared.packet_id):
                return cleared.packet_id
            me = store.me()
            contact = store.contact(to)
            if contact is not None and contact.pin is not None and not contact.pin.usable:
                raise Refused(
                    "key_changed",
                    "this contact's key has changed; compare the safety number, then accept or reject it",
                    row="A2ACP-247",
                )
            store.know(to, welcome=True)
            features = contact.features if contact else frozenset[str]()
            if not packet.may_send(packet_type, features):
                raise Refused("not_supported", "the peer does not know this packet type", row="A2ACP-057")
            return self._write_down(me, contact, cleared, replace_queue=replace_queue)

    def _knows(self, peer: str, packet_id: str) -> bool:
        sql = "SELECT 1 FROM history WHERE direction='out' AND peer=? AND packet_id=?"
        return self._store.row(sql, peer, packet_id) is not None

    def _own(self, to: str, packet_type: str, body: dict[str, Any], thread_id: str) -> _OwnPacket:
        """What the post says of itself: ids and states, nothing of its owner's."""
        identifier = packet.identifier("pkt_", self._entropy.draw(17))
        return _OwnPacket(to, packet_type, thread_id, identifier, self.clock.now(), body)

    def _write_down(
        self,
        me: Myself,
        contact: Contact | None,
        cleared: Cleared | _OwnPacket,
        *,
        replace_queue: bool = False,
    ) -> str:
        store, now = self._store, cleared.at
        to, packet_type, thread_id = cleared.to, cleared.type, cleared.thread_id
        first = store.run("INSERT OR IGNORE INTO threads (thread_id, peer) VALUES (?,?)", thread_id, to) > 0
        row = store.row("SELECT sent_seq, protocol FROM threads WHERE thread_id=? AND peer=?", thread_id, to)
        sent_seq, spoken = row or (0, "")
        seq = 0 if packet_type in UNORDERED else sent_seq + 1
        fields: dict[str, Any] = {
            **cleared.body,
            "protocol": spoken or self._protocol(contact, to),
            "packet_id": cleared.packet_id,
            "thread_id": thread_id,
            "from": me.address,
            "to": to,
            "timestamp": rfc3339(self.clock.for_others(now)),
            "type": packet_type,
        }
        if seq:
            fields["seq"] = seq
        if replace_queue:
            fields["consolidated"] = True
        if first or seq == 1 or replace_queue:
            fields["capabilities"] = packet.capabilities()
        raw = packet.compose(fields)
        # What no body can hold is refused now, while somebody is there to hear it.
        buckets.bucket_for(len(raw) + session.MOST_OVERHEAD)
        identifier = fields["packet_id"]
        store.run(
            "UPDATE threads SET sent_seq=max(sent_seq,?) WHERE thread_id=? AND peer=?", seq, thread_id, to
        )
        store.run(
            "INSERT INTO history (direction, peer, packet_id, thread_id, seq, type, at, state, payload)"
            " VALUES ('out',?,?,?,?,?,?,'sent',?)",
            to, identifier, thread_id, seq, packet_type, int(now), raw,
        )  # fmt: skip
        if replace_queue:
            # What the relay refused, or has not seen, is said by the consolidated packet.
            stale = "DELETE FROM outbox WHERE peer=? AND thread_id=? AND state IN ('overflow','waiting')"
            store.run(stale, to, thread_id)
        store.run(
            "INSERT INTO outbox (packet_id, peer, thread_id, payload, flags, later) VALUES (?,?,?,?,?,?)",
            identifier, to, thread_id, raw, envelope.REPLACE_QUEUE if replace_queue else "",
            int(packet_type in UNORDERED),
        )  # fmt: skip
        return identifier

    def write_sync(self, peer: str, thread_id: str, body: dict[str, Any]) -> str:
        """A summary of a thread, inside a transaction of the caller's."""
        me, contact = self._store.me(), self._store.contact(peer)
        return self._write_down(me, contact, self._own(peer, packet.THREAD_SYNC, body, thread_id))

    def write_no_common_version(self, peer: str, thread_id: str, in_reply_to: str) -> str:
        """Say once that we cannot read what came, inside a transaction of the caller's (A2ACP-239)."""
        body = {"code": NO_COMMON_VERSION, "in_reply_to": in_reply_to, "retry_expected": False}
        # Not in the peer's version, which we do not know, but in our best.
        said = self._own(peer, packet.PROCESSING_ERROR, body, thread_id)
        return self._write_down(self._store.me(), None, said)

    def write_receipt(self, peer: str, said: receipt.Receipt) -> None:
        """A word about a packet, inside a transaction of the caller's; kept in no history."""
        self._store.run(
            "INSERT INTO outbox (packet_id, peer, thread_id, payload, kind) VALUES (?,?,'',?,'receipt')",
            packet.identifier("pkt_", self._entropy.draw(17)), peer, receipt.compose(said),
        )  # fmt: skip

    def put_back(self, packet_ids: Sequence[str]) -> None:
        """Send again what is due, unless a copy of it is still on its way to the relay."""
        for packet_id in packet_ids:
            for peer, thread_id, payload in self._store.rows(
                "SELECT peer, thread_id, payload FROM history JOIN sealings USING (peer, packet_id)"
                " WHERE packet_id=?1 AND direction='out' AND sealings.state='due'"
                " AND NOT EXISTS (SELECT 1 FROM outbox WHERE packet_id=?1 AND outbox.peer=history.peer)",
                packet_id,
            ):
                self._store.run(
                    "INSERT INTO outbox (packet_id, peer, thread_id, payload) VALUES (?,?,?,?)",
                    packet_id, peer, thread_id, payload,
                )  # fmt: skip
                self._store.run(
                    "UPDATE sealings SET state='repairing' WHERE peer=? AND packet_id=?", peer, packet_id
                )

    def version_with(self, peer: str) -> str:
        """The version that is spoken with a peer; empty before anything is known of it."""
        contact = self._store.contact(peer)
        if contact is None or not contact.versions:
            return self._threads.last_version(peer) or ""
        return version.common_version(version.SUPPORTED, contact.versions) or ""

    def _protocol(self, contact: Contact | None, peer: str) -> str:
        if contact is None or not contact.versions:
            return version.opening_version(self._threads.last_version(peer))
        found = version.common_version(version.SUPPORTED, contact.versions)
        if found is None:
            raise Refused(NO_COMMON_VERSION, "this agent and the peer's share no version", row="A2ACP-239")
        return found

    def again(self, peer: str, packet_ids: list[str]) -> int:
        """Put sent packets back, under their own ids, for a peer that lacks them (A2ACP-213).

        Each at most once a minute, however often the peer says so (A2ACP-214), and after all mail: what a
        peer claims to lack must not hold up the others'.
        """
        now = self.clock.now()
        self._forget_resent(now)
        return self._again(peer, packet_ids, now)

    def _forget_resent(self, now: Moment) -> None:
        self._store.run("DELETE FROM resent WHERE at<=?", now - sync.EVERY)

    def _again(self, peer: str, packet_ids: list[str], now: Moment) -> int:
        count = 0
        waiting = "SELECT count(*) FROM outbox WHERE peer=? AND later=1 AND state='waiting'"
        (already,) = self._store.row(waiting, peer) or (0,)
        for packet_id in packet_ids[: max(0, MOST_AGAIN - already)]:
            if not self._store.run("INSERT OR IGNORE INTO resent VALUES (?,?,?)", peer, packet_id, int(now)):
                continue
            row = self._store.row(
                "SELECT thread_id, payload FROM history WHERE direction='out' AND peer=? AND packet_id=?"
                " AND payload<>x''",
                peer,
                packet_id,
            )
            if row is not None:
                count += self._store.run(
                    "INSERT OR IGNORE INTO outbox (packet_id, peer, thread_id, payload, later)"
                    " VALUES (?,?,?,?,1)",
                    packet_id, peer, row[0], row[1],
                )  # fmt: skip
        return count

    def waiting(
        self, limit: int = 64, besides: Sequence[str] = (), unkeyed: Sequence[str] = ()
    ) -> list[UnsentPacket]:
        """The oldest packets that the relay does not have, besides those for some peers; mail first.

        For the `unkeyed` only receipts are given: those need no prekeys.
        """
        rows = self._store.rows(
            "SELECT position, packet_id, peer, envelope, sig, kind, later FROM outbox WHERE state='waiting'"
            " AND peer NOT IN (SELECT value FROM json_each(?))"
            " AND (kind='receipt' OR peer NOT IN (SELECT value FROM json_each(?)))"
            " ORDER BY later, position LIMIT ?",
            msgspec.json.encode(besides).decode(),
            msgspec.json.encode(unkeyed).decode(),
            limit,
        )
        return [
            UnsentPacket(row[0], row[1], row[2], row[3], row[4] or "", row[5] == "receipt", bool(row[6]))
            for row in rows
        ]

    def summary_waits(self, peer: str, thread_id: str) -> bool:
        """Whether a summary of a thread has not even reached the relay yet."""
        row = self._store.row(
            "SELECT 1 FROM outbox o JOIN history h ON h.direction='out' AND h.peer=o.peer"
            " AND h.packet_id=o.packet_id"
            " WHERE o.peer=? AND o.thread_id=? AND o.state='waiting' AND h.type=?",
            peer, thread_id, packet.THREAD_SYNC,
        )  # fmt: skip
        return row is not None

    def recipient(self, packet_id: str) -> str | None:
        """For whom a packet waits."""
        row = self._store.row("SELECT peer FROM outbox WHERE packet_id=?", packet_id)
        return row[0] if row else None

    def position(self, packet_id: str) -> int | None:
        """The place of a packet that waits; another one each time it is put back."""
        row = self._store.row("SELECT position FROM outbox WHERE packet_id=?", packet_id)
        return row[0] if row else None

    def needs_prekeys(self, peer: str) -> bool:
        """Whether a first packet to this peer needs a bundle from its relay."""
        contact = self._store.contact(peer)
        if contact is None or contact.pin is None:
            return True
        if version.common_encryption(contact.encryption) != version.RATCHET:
            return False
        return contact.fresh_session or session.sealing(self._sessions(peer)) is None

    def _sessions(self, peer: str) -> tuple[session.RatchetSession, ...]:
        """The sessions with a peer that are not past their time."""
        return session.tended(self._store.sessions(peer), self.clock.now(), self.clock.confirmed())

    def seal(self, position: int, prekeys: PublicPrekeys | None) -> UnsentPacket | None:
        """Seal one packet.

        None when it cannot be, yet or ever. The ratchet and the envelope change together.
        """
        try:
            with self._store.transaction():
                return self._sealed(position, prekeys)
        except (Refused, PeerFault, OverflowError) as fault:
            # It would fail each time anew and hold up whatever waits behind it.
            row = self._store.row("SELECT packet_id FROM outbox WHERE position=?", position)
            if row is not None:
                self.refused(row[0], fault.code if isinstance(fault, Refused) else "cannot_be_sealed")
            return None

    def _sealed(self, position: int, prekeys: PublicPrekeys | None) -> UnsentPacket | None:
        store = self._store
        row = store.row(
            "SELECT packet_id, peer, payload, flags, envelope, sig, kind FROM outbox WHERE position=?",
            position,
        )
        if row is None:
            return None
        packet_id, peer, payload, flags, sealed, sig, kind = row
        if sealed is not None:
            return UnsentPacket(position, packet_id, peer, sealed, sig, kind == "receipt")
        contact = store.contact(peer)
        if contact is None or contact.pin is None or not contact.pin.usable:
            return None
        if kind == "receipt":
            raw = self._sealed_receipt(store.me(), contact.pin, peer, packet_id, payload)
            return self._keep_sealed(position, packet_id, peer, raw, receipt=True)
        form = version.common_encryption(contact.encryption)
        if form is None:
            problem = "UPDATE outbox SET state='failed', problem='no_common_encryption' WHERE position=?"
            store.run(problem, position)
            store.note(f"{peer} shares no encryption with this agent; nothing was sent", self.clock.now())
            return None
        payload = self._dated(peer, packet_id, payload)
        header = self._header(store.me(), contact.pin, payload, flags)
        body = self._body(store.me(), contact, header, payload, form, prekeys)
        if body is None:
            return None
        raw = envelope.compose(header, b64(body))
        under = store.sessions(peer)[0].ephemeral if form == version.RATCHET else b""
        store.run(
            "INSERT INTO sealings (peer, packet_id, digest, session, at) VALUES (?,?,?,?,?)"
            " ON CONFLICT (peer, packet_id) DO UPDATE SET digest=excluded.digest, session=excluded.session",
            peer, packet_id, session.digest(raw), under, int(self.clock.now()),
        )  # fmt: skip
        return self._keep_sealed(position, packet_id, peer, raw)

    def _dated(self, peer: str, packet_id: str, payload: bytes) -> bytes:
        """The packet under a date that its recipient can take.

        It may have been written before anybody could say that this clock was wrong: nobody takes what is
        dated in the future. What was asked for again bears the present date if its own is too old as well.
        """
        now, fields = self.clock.shared(), decode_fields(payload)
        asked_again = "SELECT 1 FROM sealings WHERE peer=? AND packet_id=? AND tries>0"
        oldest = Moment(now - session.REMEMBERED + DAY)
        written = parse_rfc3339(fields["timestamp"]) or now
        too_old = written < oldest and self._store.row(asked_again, peer, packet_id) is not None
        if written <= now + DAY and not too_old:
            return payload
        raw = packet.compose({**fields, "timestamp": rfc3339(now)})
        history = "UPDATE history SET payload=? WHERE direction='out' AND peer=? AND packet_id=?"
        self._store.run(history, raw, peer, packet_id)
        return raw

    def _keep_sealed(
        self, position: int, packet_id: str, peer: str, raw: bytes, *, receipt: bool = False
    ) -> UnsentPacket:
        sig = b64(self._store.me().identity.sign(envelope.signed_bytes(raw)))
        self._store.run("UPDATE outbox SET envelope=?, sig=? WHERE position=?", raw, sig, position)
        return UnsentPacket(position, packet_id, peer, raw, sig, receipt)

    def _sealed_receipt(self, me: Myself, pin: Pin, peer: str, packet_id: str, said: bytes) -> bytes:
        """An envelope like any other's: to the relay, the first packet of some new thread."""
        header = envelope.visible_header(
            protocol=version.NEWEST,
            packet_id=packet_id,
            queue_tag="q_" + b64(self._entropy.draw(16)),
            sender=me.address,
            recipient=peer,
            timestamp=rfc3339(self.clock.shared()),
        )
        binding = session.Binding(me.address, peer, packet_id, envelope.associated_data(header))
        body = session.seal_receipt(me.identity, pin.keys, said, binding, receipt.BODY_BYTES, self._entropy)
        return envelope.compose(header, b64(body))

    @staticmethod
    def _header(me: Myself, pin: Pin, payload: bytes, flags: str) -> dict[str, Any]:
        inner = packet.read(payload)
        return envelope.visible_header(
            protocol=inner.protocol,
            packet_id=inner.packet_id,
            queue_tag=reception.queue_tag(
                me.identity, pin, sender=me.address, recipient=inner.recipient, thread_id=inner.thread_id
            ),
            sender=inner.sender,
            recipient=inner.recipient,
            timestamp=inner.timestamp,
            flags=tuple(flags.split()),
        )

    def _body(
        self,
        me: Myself,
        contact: Contact,
        header: dict[str, Any],
        payload: bytes,
        form: str,
        prekeys: PublicPrekeys | None,
    ) -> bytes | None:
        pin, store, fit = contact.pin, self._store, buckets.bucket_for
        if pin is None:
            return None
        binding = session.Binding(
            me.address, contact.address, header["packet_id"], envelope.associated_data(header)
        )
        if form == version.STATELESS:
            return session.seal_stateless(me.identity, pin.keys, payload, binding, fit, self._entropy)
        sessions = self._sessions(contact.address)
        present = None if contact.fresh_session else session.sealing(sessions)
        if present is None:
            now = self.clock.now()
            if prekeys is None or not epochs.may_begin(store, contact.address, prekeys, now):
                return None
            present = session.begin(me.identity, pin.keys, prekeys, self._entropy)
            epochs.began(store, contact.address, prekeys, present.ephemeral, now)
            store.run("UPDATE contacts SET fresh_session=0 WHERE address=?", contact.address)
        after, body = session.seal(me.identity, pin.keys, present, payload, binding, fit, self._entropy)
        kept = session.tended(session.with_new(sessions, after), self.clock.now(), self.clock.confirmed())
        store.set_sessions(contact.address, kept)
        return body

    # What the relay answered.

    def unfetched(self, now: Moment) -> None:
        """The relay may have lost what it accepted, inside a transaction of the caller's.

        Threads are compared, as at every login. With peers who have said nothing yet nothing can be compared:
        they get the last packets once more, and know those that they have by their ids.
        """
        rows = self._store.rows(
            "SELECT peer, packet_id FROM history WHERE direction='out' AND type<>? AND at>?"
            " ORDER BY position DESC LIMIT ?",
            packet.THREAD_SYNC, now - KEPT_BY_RELAYS, MOST_UNFETCHED,
        )  # fmt: skip
        by_peer: dict[str, list[str]] = {}
        for peer, packet_id in reversed(rows):
            by_peer.setdefault(peer, []).append(packet_id)
        self._forget_resent(now)
        for peer, packet_ids in by_peer.items():
            contact = self._store.contact(peer)
            is_mute = contact is not None and not packet.may_send(packet.THREAD_SYNC, contact.features)
            if contact is not None and is_mute and not contact.reputation.blocked:
                self._again(peer, packet_ids, now)

    def accepted(self, packet_ids: list[str], told: int = 0) -> None:
        """The relay has them on disk, and was told of so many steps; we may forget that they wait."""
        with self._store.transaction():
            if told > 0:
                epochs.told(self._store, told)
            for packet_id in packet_ids:
                self._store.run("DELETE FROM outbox WHERE packet_id=?", packet_id)
            self.put_back(packet_ids)

    def refused(self, packet_id: str, code: str, *, overflow: bool = False) -> None:
        """The relay will not take it; it is kept, and the person is told."""
        with self._store.transaction():
            if not self._is_of_a_person(packet_id):
                self._store.run("DELETE FROM outbox WHERE packet_id=?", packet_id)
                return
            state = "overflow" if overflow else "failed"
            changed = self._store.run(
                "UPDATE outbox SET state=?, problem=? WHERE packet_id=?", state, code, packet_id
            )
            if changed or code == codes.EXPIRED:
                self._store.note(f"packet {packet_id} was not delivered: {code}", self.clock.now())

    def _is_of_a_person(self, packet_id: str) -> bool:
        """Does somebody wait for it to arrive? Receipts and summaries of threads go by themselves."""
        types = self._store.rows("SELECT type FROM history WHERE direction='out' AND packet_id=?", packet_id)
        return any(packet_type not in UNORDERED for (packet_type,) in types)

    def expire(self, now: Moment, confirmed: ConfirmedTime) -> None:
        """Give up what by `confirmed` nobody would take any more; the person is told. Inside a transaction.

        A recipient drops what is older than its memory of ids reaches, and says nothing.
        """
        for peer, packet_id, packet_type in self._store.rows(
            "SELECT o.peer, o.packet_id, h.type FROM outbox o JOIN history h"
            " ON h.direction='out' AND h.peer=o.peer AND h.packet_id=o.packet_id"
            " WHERE o.state='waiting' AND h.at<?",
            earlier(confirmed, session.REMEMBERED),
        ):
            if packet_type in UNORDERED:
                # No person wrote it; the next one says more.
                self._store.run("DELETE FROM outbox WHERE peer=? AND packet_id=?", peer, packet_id)
                continue
            self._store.run(
                "UPDATE outbox SET state='failed', problem=? WHERE peer=? AND packet_id=?",
                codes.EXPIRED, peer, packet_id,
            )  # fmt: skip
            self._store.note(f"packet {packet_id} was not delivered: {codes.EXPIRED}", now)

    def forget_content(self, until: ConfirmedTime) -> None:
        """Let go of what was refused, and written before a moment; inside a transaction of the caller's."""
        self._store.run(
            "DELETE FROM outbox WHERE state<>'waiting' AND EXISTS (SELECT 1 FROM history h WHERE"
            " h.direction='out' AND h.peer=outbox.peer AND h.packet_id=outbox.packet_id AND h.at<?)",
            until,
        )

    def pending(self, packet_id: str) -> str | None:
        """`waiting`, `overflow` or `failed: code`; None once the relay has it."""
        row = self._store.row("SELECT state, problem FROM outbox WHERE packet_id=?", packet_id)
        return None if row is None else (f"{row[0]}: {row[1]}" if row[1] else row[0])


def decode_fields(payload: bytes) -> dict[str, Any]:
    """A stored packet's fields."""
    return msgspec.json.decode(payload, type=dict[str, Any])
