"""The agent's file: one connection, explicit transactions, everything durable before it is said.

A2ACP-209, A2ACP-212, A2ACP-215, A2ACP-246.

Several processes of one person may use it at once: each change reads and writes inside one immediate
transaction. What a transaction destroys, a chain key, a used prekey, a message past its time, is in no byte
of the folder once it has ended (`sqlite.connect`, `erases`). Keys are kept wrapped, or plain by the owner's
choice (`secret_columns`).

Which columns of the agent's file are secret, and how they are kept: wrapped, or plain by choice.

A2ACP-212. All of them or none: whether the file has a row in `protection` decides. Until the owner's secret
has opened it the file is locked: everything else can be read, no key can. Another process may change the
protection; what was opened before then writes nothing more.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import apsw

from tacit.a2acp.post.io.schema import FILE, SCHEMA
from tacit.a2acp.post.reception import SenderReputation
from tacit.a2acp.post.settings import CHOICES
from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io import sqlite
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import Moment
from tacit.seal import key_protection, primitives, session, x3dh
from tacit.seal.identity import Identity, Pin, PublicIdentity, Trust
from tacit.seal.primitives import CannotOpen

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tacit.seal.key_protection import FolderKey, Protection
    from tacit.seal.session import RatchetSession


# Table, its secret columns, and the columns that name a row; a row of `former` is named by a secret alone.
_SECRETS: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = (
    ("identity", ("signing_seed", "agreement_private"), ("id",)),
    ("pending", ("signing_seed", "agreement_private"), ("address",)),
    ("former", ("signing_seed", "agreement_private"), ()),
    ("prekeys", ("private",), ("kind", "id")),
    ("sessions", ("state",), ("address",)),
)


def _place(table: str, column: str, row: tuple[object, ...]) -> bytes:
    return primitives.framed(table.encode(), column.encode(), *(str(part).encode() for part in row))


class SecretColumns:
    """The secrets of one file."""

    def __init__(self, file: apsw.Connection) -> None:
        self._file = file
        self._entropy = SystemEntropy()
        self._opened: bytes | None = None
        self._key: FolderKey | None = None

    def _kept(self) -> bytes | None:
        row = self._file.execute("SELECT content FROM protection").fetchone()
        return cast("bytes", row[0]) if row else None

    def protection(self) -> Protection | None:
        """How the keys are protected; None when they are plain."""
        kept = self._kept()
        return key_protection.decode(kept) if kept is not None else None

    def unlock(self, secret: bytes) -> None:
        """Open the secrets with the owner's; `Refused` when it is another."""
        kept = self._kept()
        if kept is not None:
            self._key = key_protection.unlock(key_protection.decode(kept), secret)
            self._opened = kept

    def hide(self, secret: bytes, table: str, column: str, *row: object) -> bytes:
        """A secret as it is kept in a column, inside a transaction of the caller's."""
        key = self._present_key()
        return secret if key is None else key.wrap(secret, _place(table, column, row), self._entropy)

    def show(self, kept: bytes, table: str, column: str, *row: object) -> bytes:
        """The secret that is kept in a column."""
        key = self._present_key()
        if key is None:
            return kept
        try:
            return key.unwrap(kept, _place(table, column, row))
        except CannotOpen:
            raise Corrupt(f"a key in {table} does not open", hint="restore a backup of the agent") from None

    def _present_key(self) -> FolderKey | None:
        kept = self._kept()
        if kept == self._opened:
            return self._key
        if self._key is None and kept is not None:
            raise Refused("keys_locked", "this agent's keys are locked; give its passphrase or its keyring")
        raise Unavailable("how this agent's keys are protected was changed meanwhile; start again")

    def protect(self, protection: Protection | None, key: FolderKey | None) -> None:
        """Keep every secret another way, plain without a key; inside a transaction of the caller's."""
        rows = [
            (table, columns, names, self._secrets(table, columns, names))
            for table, columns, names in _SECRETS
        ]
        self._file.execute("DELETE FROM protection")
        if protection is not None:
            self._file.execute(
                "INSERT INTO protection VALUES (1,?,?)", (protection.method, protection.encode())
            )
        self._opened, self._key = self._kept(), key
        for table, columns, names, found in rows:
            where = " AND ".join(f"{name}=?" for name in names or columns)
            changes = ", ".join(f"{column}=?" for column in columns)
            for row, stored, secrets in found:
                hidden = [
                    self.hide(secret, table, column, *row)
                    for column, secret in zip(columns, secrets, strict=True)
                ]
                self._file.execute(
                    f"UPDATE {table} SET {changes} WHERE {where}",  # noqa: S608 - fixed names
                    (*hidden, *(row if names else stored)),
                )

    def _secrets(
        self, table: str, columns: tuple[str, ...], names: tuple[str, ...]
    ) -> list[tuple[tuple[Any, ...], tuple[bytes, ...], list[bytes]]]:
        found = self._file.execute(f"SELECT {', '.join((*names, *columns))} FROM {table}").fetchall()  # noqa: S608
        split = [(tuple(row[: len(names)]), tuple(row[len(names) :])) for row in found]
        return [
            (
                row,
                stored,
                [self.show(kept, table, column, *row) for column, kept in zip(columns, stored, strict=True)],
            )
            for row, stored in split
        ]


SIGNED: Final = 3
_STEPS: Final = "steps"
OWN_FAULTS: Final = (Unavailable, Corrupt, apsw.Error, OSError, MemoryError)
"""Faults of this device: nobody's packet is to blame, and none may be let go for them."""


@dataclass(frozen=True, slots=True, repr=False)
class Myself:
    """Who this agent is."""

    address: str
    relay_url: str
    identity: Identity
    serial: int
    record: bytes


@dataclass(frozen=True, slots=True)
class Contact:
    """What is known of someone else's agent."""

    address: str
    pin: Pin | None
    encryption: tuple[str, ...]
    versions: tuple[str, ...]
    features: frozenset[str]
    welcome: bool
    reputation: SenderReputation
    fresh_session: bool


def no_agent(folder: Path) -> Refused:
    """What is said of a folder without an agent."""
    return Refused("no_identity", f"there is no agent in {folder} yet: run `tacit agent register` first")


def require_agent(folder: Path) -> None:
    """Refuse a folder that holds no agent, before anything is made or changed in it."""
    if not (folder / FILE).exists() and (folder.is_dir() or not folder.exists()):
        raise no_agent(folder)


class AgentStore:
    """One agent's folder."""

    def __init__(self, folder: Path, *, vfs: str | None = None) -> None:
        self.folder = folder
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)
            # The file exists with its owner's rights before SQLite writes a byte into it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise Unavailable(f"cannot use {folder} as an agent's folder: {error.strerror}") from error
        SCHEMA.require_known_header(path)
        self._file = sqlite.connect(path, vfs=vfs, erases=True)
        SCHEMA.migrate(self._file, path)
        self.secrets = SecretColumns(self._file)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextlib.contextmanager
    def transaction(self) -> Generator[None]:
        """All or nothing, and on disk at the end; `Unavailable` when the disk will not take it."""
        try:
            self._file.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._file.execute("COMMIT")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")
                raise
        except sqlite.FAILED as error:
            raise Unavailable(f"the agent cannot write: {type(error).__name__}") from error

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._file.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        """The first row of a query."""
        return self._file.execute(sql, values).fetchone()

    def run(self, sql: str, *values: Any) -> int:
        """One change; returns how many rows it touched."""
        before = self._file.total_changes()
        self._file.execute(sql, values)
        return self._file.total_changes() - before

    def data_version(self) -> int:
        """A number that moves when another process has written."""
        return int(cast("int", self._file.execute("PRAGMA data_version").get))

    # Who we are.

    def me(self) -> Myself:
        """This agent; `Refused` before its keys exist."""
        row = self.row(
            "SELECT address, relay_url, signing_seed, agreement_private, serial, record FROM identity"
        )
        if row is None:
            raise no_agent(self.folder)
        return self._myself(row, "identity", 1)

    def _myself(self, row: tuple[Any, ...], table: str, name: object) -> Myself:
        keys = Identity(
            self.secrets.show(row[2], table, "signing_seed", name),
            self.secrets.show(row[3], table, "agreement_private", name),
        )
        return Myself(row[0], row[1], keys, row[4], row[5])

    def has_keys(self) -> bool:
        """Whether any keys are here, in use or offered to a relay."""
        return self.has_identity() or self.row("SELECT 1 FROM pending") is not None

    def rewrite(self) -> None:
        """Write the file anew, so that nothing of what it held before stays in it."""
        try:
            self._file.execute("VACUUM")
        except sqlite.FAILED as error:
            raise Unavailable(f"the agent's file was not rewritten: {type(error).__name__}") from error

    def has_identity(self) -> bool:
        """Whether keys exist."""
        return self.row("SELECT 1 FROM identity") is not None

    def set_identity(self, me: Myself) -> None:
        """Keep new or restored keys."""
        self.run(
            "INSERT OR REPLACE INTO identity VALUES (1,?,?,?,?,?,?)",
            me.address,
            me.relay_url,
            self.secrets.hide(me.identity.signing_seed, "identity", "signing_seed", 1),
            self.secrets.hide(me.identity.agreement_private, "identity", "agreement_private", 1),
            me.serial,
            me.record,
        )

    def pending(self, address: str) -> Myself | None:
        """Keys that were offered to a relay whose answer we have not had."""
        row = self.row(
            "SELECT address, relay_url, signing_seed, agreement_private, serial, record FROM pending"
            " WHERE address=?",
            address,
        )
        return self._myself(row, "pending", address) if row else None

    def set_pending(self, me: Myself) -> None:
        """Keep new keys before any relay hears of them (A2ACP-215)."""
        self.run(
            "INSERT OR REPLACE INTO pending VALUES (?,?,?,?,?,?)",
            me.address,
            me.relay_url,
            self.secrets.hide(me.identity.signing_seed, "pending", "signing_seed", me.address),
            self.secrets.hide(me.identity.agreement_private, "pending", "agreement_private", me.address),
            me.serial,
            me.record,
        )

    def formers(self) -> list[Identity]:
        """Keys of ours that were replaced, while packets sealed for them may still be on their way."""
        rows = self.rows("SELECT signing_seed, agreement_private FROM former ORDER BY until DESC")
        show = self.secrets.show
        return [
            Identity(show(seed, "former", "signing_seed"), show(private, "former", "agreement_private"))
            for seed, private in rows
        ]

    def add_former(self, keys: Identity, until: int) -> None:
        """Keep replaced keys for a while."""
        hide = self.secrets.hide
        self.run(
            "INSERT INTO former VALUES (?,?,?)",
            hide(keys.agreement_private, "former", "agreement_private"),
            hide(keys.signing_seed, "former", "signing_seed"),
            until,
        )

    def setting(self, name: str, default: str) -> str:
        """What is remembered under a name."""
        row = self.row("SELECT value FROM settings WHERE name=?", name)
        return str(row[0]) if row else default

    def choice(self, name: str) -> str:
        """What the person has chosen, or the default (`agent.settings`)."""
        return self.setting(name, CHOICES[name][0])

    def choose(self, name: str, value: str) -> None:
        """Remember it."""
        self.run("INSERT OR REPLACE INTO settings VALUES (?,?)", name, value)

    def newest(self) -> int | None:
        """The newest moment that anything here bears; None while nothing does."""
        row = self.row(
            "SELECT max(at) FROM (SELECT max(at) at FROM history UNION SELECT max(made_at) FROM prekeys)"
        )
        return row[0] if row else None

    def steps(self) -> int:
        """How many steps the keys of this folder have taken."""
        return int(self.setting(_STEPS, "0"))

    def step(self, to: int | None = None) -> None:
        """Count a step, in the transaction that takes it; `to` goes straight to a number."""
        self.choose(_STEPS, str(self.steps() + 1 if to is None else to))

    # Others.

    def contact(self, address: str) -> Contact | None:
        """What is known of an address."""
        row = self.row(
            "SELECT signing, agreement, serial, trust, offered_signing, offered_agreement, offered_serial,"
            " encryption, versions, features, welcome, score, faults, flagged, blocked, fresh_session"
            " FROM contacts WHERE address=?",
            address,
        )
        if row is None:
            return None
        offered = PublicIdentity(row[4], row[5]) if row[4] else None
        pin = Pin(PublicIdentity(row[0], row[1]), row[2], Trust(row[3]), offered, row[6]) if row[0] else None
        faults = tuple(Moment(int(at)) for at in row[12].split())
        return Contact(
            address=address,
            pin=pin,
            encryption=tuple(row[7].split()),
            versions=tuple(row[8].split()),
            features=frozenset(row[9].split()),
            welcome=bool(row[10]),
            reputation=SenderReputation(row[11], faults, bool(row[13]), bool(row[14])),
            fresh_session=bool(row[15]),
        )

    def know(self, address: str, *, welcome: bool = False) -> None:
        """See that a contact exists; `welcome` once the person has said so (A2ACP-020, A2ACP-032)."""
        self.run(
            "INSERT INTO contacts (address, welcome) VALUES (?,?)"
            " ON CONFLICT (address) DO UPDATE SET welcome=max(welcome, excluded.welcome)",
            address,
            int(welcome),
        )

    def set_pin(self, address: str, pin: Pin) -> None:
        """Keep a contact's keys and how far they are trusted."""
        offered = pin.offered
        self.run(
            "UPDATE contacts SET signing=?, agreement=?, serial=?, trust=?, offered_signing=?,"
            " offered_agreement=?, offered_serial=? WHERE address=?",
            pin.keys.signing,
            pin.keys.agreement,
            pin.serial,
            str(pin.trust),
            offered.signing if offered else None,
            offered.agreement if offered else None,
            pin.offered_serial,
            address,
        )

    def set_offers(self, address: str, *, encryption: list[str], versions: list[str]) -> None:
        """What a contact's signed record says it can do."""
        self.run(
            "UPDATE contacts SET encryption=?, versions=? WHERE address=?",
            " ".join(encryption),
            " ".join(versions),
            address,
        )

    def set_reputation(self, address: str, reputation: SenderReputation) -> None:
        """Keep a sender's record."""
        self.run(
            "UPDATE contacts SET score=?, faults=?, flagged=?, blocked=? WHERE address=?",
            reputation.score,
            " ".join(str(at) for at in reputation.faults),
            int(reputation.flagged),
            int(reputation.blocked),
            address,
        )

    # Sessions and prekeys.

    def sessions(self, address: str) -> tuple[RatchetSession, ...]:
        """The ratchets with one peer, newest first."""
        row = self.row("SELECT state FROM sessions WHERE address=?", address)
        return session.decode(self.secrets.show(row[0], "sessions", "state", address)) if row else ()

    def set_sessions(self, address: str, sessions: tuple[RatchetSession, ...]) -> None:
        """Keep the ratchets after a step; the step before is gone."""
        state = self.secrets.hide(session.encode(sessions), "sessions", "state", address)
        self.run("INSERT OR REPLACE INTO sessions VALUES (?,?)", address, state)
        self.step()

    def signed(self, identifier: int) -> bytes | None:
        """A private signed prekey."""
        return self._prekey(SIGNED, identifier)

    def single(self, kind: int, identifier: int) -> bytes | None:
        """A private one-time or last-resort prekey."""
        if kind not in {x3dh.ONE_TIME, x3dh.LAST_RESORT}:
            return None
        return self._prekey(kind, identifier)

    def _prekey(self, kind: int, identifier: int) -> bytes | None:
        row = self.row("SELECT private FROM prekeys WHERE kind=? AND id=?", kind, identifier)
        return self.secrets.show(row[0], "prekeys", "private", kind, identifier) if row else None

    def add_prekey(self, kind: int, identifier: int, private: bytes, made_at: int) -> None:
        """Keep a new prekey."""
        hidden = self.secrets.hide(private, "prekeys", "private", kind, identifier)
        self.run("INSERT INTO prekeys VALUES (?,?,?,?,NULL)", kind, identifier, hidden, made_at)

    def note(self, text: str, now: Moment) -> None:
        """Something the person should know."""
        self.run("INSERT INTO notes (at, text) VALUES (?,?)", int(now), text)

    def notes(self, after: int = 0) -> list[tuple[int, str]]:
        """What the person should know, since `after`."""
        return [
            (row[0], row[1]) for row in self.rows("SELECT id, text FROM notes WHERE id>? ORDER BY id", after)
        ]
