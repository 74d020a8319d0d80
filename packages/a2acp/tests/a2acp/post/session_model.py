"""Two real agents with their files, and between them a relay in memory that does as it is told: well or badly.

What an agent has is real: store, outbox, inbox, directory, sessions. What is left out is the socket: `flush`, `hand`
and `connect` do what `RelayConnection` does with frames. The relay keeps what a relay keeps; it loses, repeats,
reorders, withholds, sets itself back and lies only by the rules of the machine (`test_session_machine.py`).
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from tacit.a2acp.packets import packet
from tacit.a2acp.post.io import epochs, prekeys
from tacit.a2acp.post.io.directory import Directory
from tacit.a2acp.post.io.post import Post
from tacit.base.errors import PeerFault, Refused
from tacit.base.moment import SECOND, ConfirmedTime, Moment
from tacit.relay import registration
from tacit.relay.registration import Registered
from tacit.seal import identity, primitives, session, x3dh
from tacit.wire import envelope, frames, records
from tacit.wire.encoding import b64, unb64
from tests.agent_support import body, cleared
from tests.post_support import Repeatable

if TYPE_CHECKING:
    from tacit.a2acp.post.io.store import AgentStore

CHEAP = {"passes": 1, "memory_bytes": 8 * 1024 * 1024}


class Clock:
    def __init__(self) -> None:
        self.at = 1_800_000_000 * SECOND

    def now(self) -> Moment:
        self.at += 1_000
        return Moment(self.at)


@dataclass(frozen=True)
class Sealed:
    """A packet as a relay has it."""

    sender: str
    to: str
    packet_id: str
    raw: bytes
    sig: str


@dataclass
class Account:
    registered: Registered
    signed: dict | None = None
    last_resort: dict | None = None
    one_time: list[dict] = field(default_factory=list)
    epoch: int = 0
    steps: frames.StepsFrame = field(default_factory=lambda: frames.StepsFrame(0, ""))


class MemoryRelay:
    """Accounts, prekeys and mailboxes; an honest relay's answers."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.mailbox: dict[str, list[Sealed]] = {}
        self.ever: list[Sealed] = []
        self.records: dict[str, list[bytes]] = {}

    def register(self, address: str, record: bytes) -> None:
        found = records.read_record(record)
        offered = records.SignedStatement(found.statement, found.sig, found.rotation_sig)
        statement = records.read_statement(bytes(offered.statement))
        known = self.accounts.get(address)
        before = known.registered if known else None
        registration.check_serial(before, statement, may_reset=False)
        kept = registration.record_after(before, offered, statement, primitives.verify)
        now = Registered(unb64(statement.signing_key) or b"", statement.serial, kept)
        if known is None:
            self.accounts[address], self.mailbox[address] = Account(now), []
        else:
            if known.registered.signing_key != now.signing_key:
                self.accounts[address] = Account(now)
            known = self.accounts[address]
            known.registered = now
        self.records.setdefault(address, []).append(kept)

    def stock(self, address: str, frame) -> None:
        account = self.accounts[address]
        assert frame.epoch >= account.epoch, "an older device was let in"
        if frame.reset or frame.epoch != account.epoch:
            account.one_time, account.signed, account.last_resort = [], None, None
        account.epoch = frame.epoch
        account.signed = frame.signed or account.signed
        account.last_resort = frame.last_resort or account.last_resort
        account.one_time += frame.one_time

    def bundle(self, address: str, *, one_time: bool = True) -> bytes:
        account = self.accounts[address]
        found = {"record": msgspec.Raw(account.registered.record)}
        if account.signed:
            found |= {"signed": account.signed, "last_resort": account.last_resort}
        if one_time and account.one_time:
            found["one_time"] = account.one_time.pop(0)
        return msgspec.json.encode(found)

    def accept(self, sealed: Sealed) -> bool:
        key = self.accounts[sealed.sender].registered.signing_key
        if not primitives.verify(key, envelope.signed_bytes(sealed.raw), unb64(sealed.sig) or b""):
            return False
        self.ever.append(sealed)
        same = [
            one
            for one in self.mailbox[sealed.to]
            if (one.packet_id, one.sig) == (sealed.packet_id, sealed.sig)
        ]
        if not same:
            self.mailbox[sealed.to].append(sealed)
        return True

    def snapshot(self):
        return copy.deepcopy((self.accounts, self.mailbox))

    def set_back(self, snapshot) -> None:
        accounts, self.mailbox = copy.deepcopy(snapshot)
        for address, account in self.accounts.items():
            # Keys that were registered since: their owner cannot log in and registers again, as a person would.
            if accounts[address].registered.signing_key != account.registered.signing_key:
                accounts[address] = account
        self.accounts = accounts


@dataclass
class Memory:
    """What one side's owner said, and what it was handed; set back together with the folder."""

    said: dict[str, str] = field(default_factory=dict)
    handed: list[str] = field(default_factory=list)
    opened: list[tuple[bytes, bool]] = field(default_factory=list)
    weak: set[bytes] = field(default_factory=set)
    """Sessions that began on a last-resort key, by what names them."""


class Agent:
    """One real agent without a socket."""

    def __init__(self, name: str, folder, relay: MemoryRelay, clock: Clock) -> None:
        self.address = f"agent:{name}@relay.example"
        self.folder = folder / name
        self.relay = relay
        self.clock = clock
        # Randomness is the machine's, and is not set back with a folder.
        self.entropy = Repeatable(name)
        self.memory = Memory()
        self.peer: Agent
        self.open()

    def open(self) -> None:
        self.post = Post(self.folder, clock=self.clock, entropy=self.entropy)
        self.directory = Directory(self.post.store, None, self.post.clock, self.entropy)
        # A kill is a copy of the folder here, which needs no disk behind it.
        self.store._file.execute("PRAGMA synchronous=OFF")

    @property
    def store(self) -> AgentStore:
        return self.post.store

    def enrol(self, *, rotate: bool = False) -> None:
        known = self.store.me() if self.store.has_identity() else None
        keys = known.identity if known and not rotate else identity.generate(self.entropy)
        previous = known.identity if known and rotate else None
        published = self.relay.accounts.get(self.address)
        serial = max(known.serial if known else 0, published.registered.serial if published else 0) + 1
        me = self.directory._statement(self.address, "https://relay.example", keys, serial, previous)
        self.relay.register(self.address, me.record)
        self.directory._become(me, known)

    # What the connection does.

    def connect(self) -> None:
        """Log in: prekeys are restocked, open threads summarised."""
        account = self.relay.accounts[self.address]
        if account.registered.signing_key != self.store.me().identity.signing_public:
            self.enrol()
            account = self.relay.accounts[self.address]
        if epochs.is_published(self.store) and epochs.epoch_of(self.store) < account.epoch:
            # An older device is refused, until its owner says that this is the one to speak.
            self.post.take_over()
        held = account.signed["id"] if account.signed else 0
        ids = [one["id"] for one in account.one_time]
        welcome = frames.AuthOkFrame(
            self.address,
            steps=account.steps.steps,
            steps_sig=account.steps.sig,
            prekey_epoch=account.epoch,
            one_time_ids=ids,
        )
        epochs.compare(self.store, welcome, self.clock.now())
        epochs.agree(self.store, welcome, self.clock.now())
        frame = prekeys.restock(
            self.store,
            self.clock,
            self.entropy,
            len(account.one_time),
            held,
            confirmed=ConfirmedTime(self.clock.now()),
        )
        self.tell_steps()
        if frame is not None:
            self.relay.stock(self.address, frame)
            epochs.published(self.store)
        with self.store.transaction():
            for thread, peer in self.post.inbox.open_threads():
                self.post.inbox.summarise(peer, thread, answer=False)

    def tell_steps(self) -> None:
        """How far our keys have come, before anything leaves; a relay keeps the furthest."""
        account, said = self.relay.accounts[self.address], epochs.statement(self.store)
        if said.steps > account.steps.steps:
            account.steps = said

    def seal_next(self, waiting, *, one_time: bool = True):
        bundle = None
        if not waiting.receipt and self.post.outbox.needs_prekeys(waiting.peer):
            try:
                raw = self.relay.bundle(waiting.peer, one_time=one_time)
                bundle = self.directory._read_prekeys(waiting.peer, raw)
            except Refused as refused:
                self.post.outbox.refused(waiting.packet_id, refused.code)
                return None
            except PeerFault:
                return None
        return self.post.outbox.seal(waiting.position, bundle)

    def flush(self, *, arrives: bool = True, told: bool = True, one_time: bool = True) -> None:
        """Send what waits; it may be lost on the way, or the relay's answer may."""
        for waiting in self.post.outbox.waiting():
            sealed = waiting if waiting.envelope else self.seal_next(waiting, one_time=one_time)
            if sealed is None or sealed.envelope is None or not arrives:
                continue
            one = Sealed(self.address, sealed.peer, sealed.packet_id, sealed.envelope, sealed.sig)
            self.tell_steps()
            if self.relay.accept(one):
                if told:
                    self.post.outbox.accepted([sealed.packet_id])
            else:
                self.post.outbox.refused(sealed.packet_id, "bad_signature")

    def hand(self, sealed: Sealed) -> bool:
        """A packet of the relay's; whether the relay may forget it."""
        before = self._seen(sealed)
        self.store_asked = 0
        single = self.store.single

        def noted(kind, number):
            self.store_asked = kind
            return single(kind, number)

        self.store.single = noted
        try:
            done = self.post.inbox.admit(sealed.raw, sealed.sig)
            if self.post.inbox.unverified.holds(sealed.sender):
                self.look_up(sealed.sender)
        finally:
            del self.store.single
        if done:
            self.tell_steps()
        if not before and self._seen(sealed):
            self.memory.opened.append((sealed.raw, self._is_weak(sealed.sender)))
        return done

    def _is_weak(self, sender: str) -> bool:
        """Was it opened in a session that began on a last-resort key?

        Until that key is replaced it opens the session's beginning: every packet of it, not the first alone.
        """
        newest = self.store.sessions(sender)
        if self.store_asked == x3dh.LAST_RESORT and newest:
            self.memory.weak.add(newest[0].ephemeral)
        return self.store_asked == x3dh.LAST_RESORT or (
            bool(newest) and newest[0].ephemeral in self.memory.weak
        )

    def look_up(self, sender: str) -> None:
        if not self.post.inbox.judge(sender, asked=False):
            try:
                record = self.relay.accounts[sender].registered.record
                self.directory._observe(sender, records.read_record(record))
            except (PeerFault, Refused):
                return
            self.post.inbox.judge(sender, asked=True)

    def _seen(self, sealed: Sealed) -> bool:
        sql = "SELECT 1 FROM seen WHERE sender=? AND packet_id=?"
        return self.store.row(sql, sealed.sender, sealed.packet_id) is not None

    def drain(self) -> None:
        """Take all that waits at the relay, in its order, and say so."""
        mailbox = self.relay.mailbox[self.address]
        for sealed in list(mailbox):
            if self.hand(sealed):
                mailbox.remove(sealed)

    # What its owner does.

    def say(self, text: str, thread: str) -> str:
        packet_id = self.post.outbox.post(
            cleared(
                self.peer.address, "context", body(text), thread_id=thread, at=self.post.outbox.clock.now()
            )
        )
        self.memory.said[packet_id] = text
        return packet_id

    def read(self) -> list[tuple[str, str]]:
        """Packet ids and texts that are new to the owner; each is then handled."""
        arrived = self.post.inbox.unhandled()
        with self.store.transaction():
            self.post.inbox.handled(arrived)
        found = [
            (one.packet_id, packet.read(one.payload).fields["context"]["text"])
            for one in arrived
            if one.type == "context"
        ]
        self.memory.handed += [packet_id for packet_id, _ in found]
        return found

    def trusts(self) -> bool:
        """Whether the other's key is not in doubt."""
        contact = self.store.contact(self.peer.address)
        return contact is None or contact.pin is None or contact.pin.usable

    def knows(self, other: Agent) -> bool:
        """Whether the key that is believed to be the other's is one of its own."""
        contact = self.store.contact(other.address)
        return contact is None or contact.pin is None or contact.pin.keys in other.public_keys

    def told(self, packet_id: str) -> bool:
        """Whether the owner can see that a packet has not arrived: it waits, or a note names it."""
        notes = any(packet_id in text for _, text in self.store.notes())
        return notes or self.post.outbox.pending(packet_id) is not None

    # What happens to its device.

    def restart(self) -> None:
        """Killed and started: what a copy of the folder holds at this moment is what there is."""
        left = self.folder.with_name(self.folder.name + ".left")
        shutil.rmtree(left, ignore_errors=True)
        shutil.copytree(self.folder, left)
        self.store.close()
        self._replace_folder(left)
        shutil.rmtree(left)

    def snapshot(self, where):
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(self.folder, where)
        return where, copy.deepcopy(self.memory)

    def set_back(self, snapshot) -> None:
        where, memory = snapshot
        self.store.close()
        self._replace_folder(where)
        self.memory = copy.deepcopy(memory)

    def move(self) -> None:
        """To a new device, by a backup file."""
        data = self.post.backup("passphrase", **CHEAP)
        self.store.close()
        shutil.rmtree(self.folder)
        self.open()
        self.post.restore(data, "passphrase")

    def _replace_folder(self, by) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(by, self.folder)
        self.open()

    # What a thief could do.

    def opens_again(self, raw: bytes) -> bool:
        """Whether what is stored now opens a body that was opened before."""
        outer = envelope.read(raw)
        binding = session.Binding(
            outer.sender,
            outer.recipient,
            outer.packet_id,
            envelope.associated_data(envelope.header_of(outer)),
        )
        contact = self.store.contact(outer.sender)
        peers = self.peer.public_keys | ({contact.pin.keys} if contact and contact.pin else set())
        # A thief may well leave the sessions aside and begin with the prekeys that are left.
        for me, peer, sessions in itertools.product(
            (self.store.me().identity, *self.store.formers()),
            peers,
            (self.store.sessions(outer.sender), ()),
        ):
            with contextlib.suppress(primitives.CannotOpen):
                opened = session.open_body(
                    me, peer, sessions, self.store, unb64(outer.body) or b"", binding, Repeatable("thief")
                )
                # A receipt holds nothing of what was said, and is sealed for the lasting key by design.
                return not opened.receipt
        return False

    @property
    def public_keys(self) -> set:
        own = (self.store.me().identity, *self.store.formers())
        return {one.public for one in own}


def swapped(relay: MemoryRelay, address: str, entropy: Repeatable) -> bytes:
    """A record for an address under a key of the relay's own."""
    mallory = identity.generate(entropy)
    raw = records.statement_bytes(
        records.Statement(
            address=address,
            signing_key=b64(mallory.signing_public),
            agreement_key=b64(mallory.agreement_public),
            serial=relay.accounts[address].registered.serial + 1,
        )
    )
    sig = b64(mallory.sign(records.statement_signed_bytes(raw)))
    return msgspec.json.encode(records.KeyRecord(msgspec.Raw(raw), sig))


def altered(sealed: Sealed, at: int) -> Sealed:
    """One letter of the body changed."""
    outer = envelope.read(sealed.raw)
    place = sealed.raw.index(outer.body.encode()) + at % len(outer.body)
    other = b"B" if sealed.raw[place : place + 1] == b"A" else b"A"
    raw = sealed.raw[:place] + other + sealed.raw[place + 1 :]
    return Sealed(sealed.sender, sealed.to, sealed.packet_id, raw, sealed.sig)
