"""One agent's post, put together: its file, its ways in and out, its connection, its backup.

A2ACP-015, A2ACP-224, A2ACP-225, A2ACP-247.

Composition only. The backup holds identity, contacts, threads and all that waits, to be sent, judged or read;
never ratchet state: a restored copy of that would use keys twice.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

import aiohttp
import msgspec

from tacit.a2acp.post.io import epochs
from tacit.a2acp.post.io.directory import Directory
from tacit.a2acp.post.io.inbox import PacketInbox
from tacit.a2acp.post.io.outbox import Outbox
from tacit.a2acp.post.io.relay_connection import RelayConnection
from tacit.a2acp.post.io.store import AgentStore, Myself
from tacit.base.errors import Refused
from tacit.base.io.time_service import time_of
from tacit.seal import backup, identity
from tacit.seal.identity import Identity

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path

    from tacit.base.ports import Clock, Entropy

_KEPT_TABLES = (
    "contacts", "threads", "history", "seen", "settings", "sealings", "dropped", "handshakes",
    # What waits here is nowhere else: a relay lets go of what it has handed out. Sent twice it is taken once.
    "outbox", "unjudged", "notes",
    # By which keys blocked agents were known.
    "purges",
    # Contents that the personal agent's journal names.
    "vault",
)  # fmt: skip


class Post:
    """Everything between one person's agent and its relay."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        entropy: Entropy,
        trust: ssl.SSLContext | None = None,
        vfs: str | None = None,
    ) -> None:
        self.store = AgentStore(folder, vfs=vfs)
        self.clock = time_of(clock)
        self.clock.remember_in(folder, self.store.newest)
        self.outbox = Outbox(self.store, self.clock, entropy)
        self.inbox = PacketInbox(self.store, self.outbox, entropy)
        self._entropy = entropy
        self.trust = trust

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self.trust if self.trust is not None else True)
        self.http = aiohttp.ClientSession(connector=connector)
        self.directory = Directory(self.store, self.http, self.clock, self._entropy)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.close()

    def connection(self, changed: Callable[[], None] = lambda: None) -> RelayConnection:
        """The connection, not yet running."""
        return RelayConnection(
            self.store,
            self.outbox,
            self.inbox,
            self.directory,
            self.http,
            clock=self.clock,
            entropy=self._entropy,
            changed=changed,
        )

    async def publish(self, patience: float = 10.0) -> bool:
        """Connect once so that the relay holds our prekeys: from then on strangers can write first."""
        connection = self.connection()
        running = asyncio.get_running_loop().create_task(connection.run())
        waiting = asyncio.get_running_loop().create_task(connection.stocked.wait())
        done, _ = await asyncio.wait(
            {running, waiting}, timeout=patience, return_when=asyncio.FIRST_COMPLETED
        )
        for task in (running, waiting):
            task.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        return waiting in done

    def safety_number(self, peer: str, *, offered: bool = False) -> str:
        """Sixty digits to compare with a contact, for its pinned or its offered key."""
        me, contact = self.store.me(), self.store.contact(peer)
        if contact is None or contact.pin is None:
            raise Refused("unknown_contact", "no key is known for this address yet", row="A2ACP-247")
        keys = contact.pin.offered if offered and contact.pin.offered else contact.pin.keys
        return identity.safety_number(
            our_address=me.address,
            our_signing=me.identity.signing_public,
            their_address=peer,
            their_signing=keys.signing,
        )

    def decide(self, peer: str, decision: str) -> None:
        """A person's word on a contact's key: `accept`, `reject` or `verified`."""
        with self.store.transaction():
            contact = self.store.contact(peer)
            if contact is None or contact.pin is None:
                raise Refused("unknown_contact", "no key is known for this address yet", row="A2ACP-247")
            decide = {"accept": identity.accept, "reject": identity.reject, "verified": identity.verified}[
                decision
            ]
            pin = decide(contact.pin)
            self.store.set_pin(peer, pin)
            if pin.keys != contact.pin.keys:
                # Packets sealed for the old key would not open; those that wait are sealed anew.
                self.store.run("DELETE FROM sessions WHERE address=?", peer)
                # An epoch is signed by a key; those of the former one say nothing of this one's.
                self.store.run("UPDATE handshakes SET epoch=0 WHERE address=?", peer)
                self.store.run(
                    "UPDATE outbox SET envelope=NULL, sig=NULL WHERE peer=? AND state='waiting'", peer
                )

    def take_over(self) -> None:
        """Speak for the address from this device again, with new prekeys and new sessions (A2ACP-223)."""
        self.store.me()
        with self.store.transaction():
            epochs.begin_epoch(self.store, self.clock.now())

    # Backup.

    def backup(self, passphrase: str, *, beside: Callable[[], dict[str, Any]] = dict, **cost: int) -> bytes:
        """An encrypted file to carry to another device (A2ACP-224, A2ACP-225).

        `beside` gives what else belongs into it, read while nobody can write here.
        """
        # One moment of all tables: a listening process may be writing.
        with self.store.transaction():
            me = self.store.me()
            tables: dict[str, list[Any]] = {
                table: self.store.rows(f"SELECT * FROM {table}")  # noqa: S608 - fixed names
                for table in _KEPT_TABLES
            }
            also = beside()
        content = {
            **also,
            "address": me.address,
            "relay_url": me.relay_url,
            "signing_seed": me.identity.signing_seed,
            "agreement_private": me.identity.agreement_private,
            "serial": me.serial,
            "record": me.record,
            "tables": tables,
        }
        return backup.lock(msgspec.msgpack.encode(content), passphrase, self._entropy, **cost)

    def open_backup(self, data: bytes, passphrase: str) -> dict[str, Any]:
        """What a backup holds, for a folder that has no agent yet; nothing is changed."""
        if self.store.has_identity():
            raise Refused("other_identity", "this folder already has an agent; choose an empty --data")
        return msgspec.msgpack.decode(backup.unlock(data, passphrase), type=dict[str, Any])

    def restore(self, data: bytes, passphrase: str) -> Myself:
        """Become the agent of a backup; every peer's next packet begins a fresh session."""
        return self.become(self.open_backup(data, passphrase))

    def become(self, content: dict[str, Any]) -> Myself:
        """Become the agent of an opened backup."""
        me = Myself(
            content["address"],
            content["relay_url"],
            Identity(content["signing_seed"], content["agreement_private"]),
            content["serial"],
            content["record"],
        )
        with self.store.transaction():
            self.store.set_identity(me)
            for table in _KEPT_TABLES:
                # An older program's backup lacks the tables and columns that were added since.
                columns = [row[0] for row in self.store.rows("SELECT name FROM pragma_table_info(?)", table)]
                for row in content["tables"].get(table, ()):
                    names, marks = ",".join(columns[: len(row)]), ",".join("?" * len(row))
                    self.store.run(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", *row)  # noqa: S608
            if "notes" not in content["tables"]:
                # Their numbers begin again: none of the new ones has been read.
                self.store.choose("noted", "0")
            epochs.begin_epoch(self.store, self.clock.now())
            self.store.run("UPDATE threads SET synced_at=NULL, answered_at=NULL")
        return me
