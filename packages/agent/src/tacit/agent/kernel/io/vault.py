"""The vault: contents that the journal names and does not hold, by contact, really gone when they go.

A2ACP-195, A2ACP-212.

Theory of operation. The values lie in a table of their own in the journal's file, so that a decision is one
transaction: its records and what they name are durable together, at the price of one. Events cannot be
forgotten, rows of this table can. What goes is overwritten in its page (`secure_delete`); the file's log may
still hold it, and is started anew, cut to nothing: at once when a contact is forgotten, when the agent comes
to rest after something was replaced, and at every start, so that a kill in between leaves nothing. What was
half-written at a crash is not kept aside as another ledger's would be (`Options.keeps_torn`).

Packets that arrived are read from the post's history, where they are anyway; packets that are to leave lie
here until the post has them.
"""

# apsw's types name a buffer type that Python 3.11 lacks.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Any, Final, cast

import apsw

from tacit.a2acp.packets import packet, schemas
from tacit.a2acp.post.io import purging
from tacit.agent.kernel.io.paths import journal_file
from tacit.agent.kernel.state import US
from tacit.base.errors import Unavailable
from tacit.base.io import sqlite
from tacit.base.strict_json import parse

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from tacit.a2acp.packets.packet import Fields
    from tacit.a2acp.post.io.store import AgentStore
    from tacit.base.moment import Moment
    from tacit.base.ports import Entropy

_KEY: Final = "vault_key"
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS vault (
  value_id TEXT PRIMARY KEY, contact TEXT NOT NULL, at INTEGER NOT NULL, value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS vault_contact ON vault (contact, at);
"""
_OF_CONTACT: Final = "SELECT value_id, contact, at, value FROM vault WHERE contact=?"
_DROP: Final = "DELETE FROM vault WHERE value_id=?"
_DROP_OLD: Final = "DELETE FROM vault WHERE contact=? AND at<?"
_NOT_LASTING: Final = " AND value_id NOT GLOB ?"
Kept = tuple[str, str, int, bytes]
"""A value's id, its contact, when, and its bytes."""


def prepare(connection: apsw.Connection) -> None:
    """Make a connection that writes here fit for it."""
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute(_TABLE)


def write(connection: apsw.Connection, keep: Iterable[Kept], gone: Iterable[str]) -> None:
    """Keep values and let go of others, in the caller's transaction."""
    connection.executemany("INSERT OR REPLACE INTO vault VALUES (?,?,?,?)", keep)
    connection.executemany(_DROP, ((one,) for one in gone))


def rows_of(connection: apsw.Connection, contact: str | None = None) -> list[Kept]:
    """Every value, or those of one contact: the owner's own have none."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name='vault'").fetchone() is None:
        return []
    every = "SELECT value_id, contact, at, value FROM vault"
    # Two texts: a condition that may be empty would look at every row for one contact's.
    rows = connection.execute(every) if contact is None else connection.execute(_OF_CONTACT, (contact,))
    return [(row[0], row[1], row[2], bytes(row[3])) for row in rows]


class Vault:
    """The values of one agent (the engine's `Values` port)."""

    def __init__(
        self, store: AgentStore, entropy: Entropy, *, lasting: Iterable[str] = (), vfs: str | None = None
    ) -> None:
        self._store = store
        self._lasting = tuple(f"{prefix}*" for prefix in lasting)
        """Patterns of the names of values that stay when a contact's time is over."""
        kept = store.setting(_KEY, "")
        if not kept:
            kept = entropy.draw(32).hex()
            with store.transaction():
                store.choose(_KEY, kept)
        self._key = bytes.fromhex(kept)
        self._file = sqlite.connect(journal_file(store.folder), vfs=vfs)
        prepare(self._file)
        self.owes_erasing = True
        """Whether the log may hold something that is gone."""
        self._adopt()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _adopt(self) -> None:
        """Take over values that an older program kept in the file of the keys."""
        rows = self._store.rows("SELECT value_id, contact, at, value FROM vault")
        if rows:
            with _changing(self._file):
                write(self._file, cast("list[Kept]", rows), ())
            with self._store.transaction():
                self._store.run("DELETE FROM vault")

    def keyed_hash(self, data: bytes) -> str:
        """By which the journal names content: without the key it says nothing of it."""
        return hashlib.blake2b(data, key=self._key, digest_size=16).hexdigest()

    def raw(self, value_id: str) -> bytes | None:
        """A kept value's bytes; None when it is gone."""
        row = self._file.execute("SELECT value FROM vault WHERE value_id=?", (value_id,)).fetchone()
        return bytes(row[0]) if row else None

    def value(self, value_id: str) -> Any:
        """A kept value; None when it is gone."""
        kept = self.raw(value_id)
        return parse(kept) if kept is not None else None

    def packet(self, peer: str, packet_id: str, side: str) -> Fields | None:
        """The fields of a packet, from here while it has not left, else from the post's history."""
        found = self.value(packet_id) if side == US else None
        if found is not None:
            return cast("Fields", found)
        row = self._store.row(
            "SELECT payload FROM history WHERE direction=? AND peer=? AND packet_id=? AND payload<>x''",
            "out" if side == US else "in", peer, packet_id,
        )  # fmt: skip
        if row is None:
            return None
        inner = packet.read(bytes(row[0]))
        return inner.fields if side == US else schemas.normalised(inner.type, inner.fields)

    def contacts_with(self, prefix: str) -> list[str]:
        """The contacts of whom there is a value whose name begins so."""
        rows = self._file.execute(
            "SELECT contact FROM vault WHERE value_id GLOB ? ORDER BY contact", (f"{prefix}*",)
        )
        return [str(row[0]) for row in rows]

    def of_contact(self, contact: str) -> list[tuple[str, bytes]]:
        """The names and bytes of a contact's values."""
        return [(one[0], one[3]) for one in rows_of(self._file, contact)]

    def let_go(self, names: Iterable[str]) -> None:
        """Let go of some values; the log is cut by `erase`."""
        with _changing(self._file):
            write(self._file, (), names)
        self.owes_erasing = True

    def tidy(self, settings: Iterable[str], open_with: Iterable[str], until: Moment | None) -> None:
        """Let go of the owner's values that nothing names, and of contacts' when their time is over.

        `open_with` are the contacts with whom something is still being arranged: theirs stay.
        """
        named, busy = set(settings), set(open_with)
        run = self._file.execute
        with _changing(self._file):
            before = self._file.total_changes()
            for (value_id,) in run("SELECT value_id FROM vault WHERE contact=''").fetchall():
                if value_id not in named:
                    run(_DROP, (value_id,))
            contacts = [] if until is None else run("SELECT DISTINCT contact FROM vault").fetchall()
            drop_old = _DROP_OLD + _NOT_LASTING * len(self._lasting)
            for (contact,) in contacts:
                if contact and contact not in busy:
                    run(drop_old, (contact, int(until or 0), *self._lasting))
            self.owes_erasing = self.owes_erasing or self._file.total_changes() > before

    def erase(self) -> None:
        """Cut the log, if it may hold what is gone; when somebody reads just now, at the next call."""
        if self.owes_erasing:
            self._file.set_busy_timeout(sqlite.RESTART_WAIT_MS)
            try:
                self.owes_erasing = not _cut_log(self._file)
            finally:
                self._file.set_busy_timeout(sqlite.BUSY_MS)

    def forget(self, contact: str) -> None:
        """Let go of every content of one contact, here and at the post (A2ACP-195, A2ACP-196)."""
        with self._store.transaction():
            purging.keys(self._store, contact)
        _erase_values(self._file, contact)


def erase(store: AgentStore, contact: str) -> None:
    """Every content of one contact goes from an agent's folder; ids, times and states stay.

    Whichever process of the owner's does it: the rows of the vault are no part of the ledger that they lie
    beside.
    """
    with store.transaction():
        purging.keys(store, contact)
    path = journal_file(store.folder)
    if path.exists():
        file = sqlite.connect(path)
        try:
            prepare(file)
            _erase_values(file, contact)
        finally:
            file.close()


def _erase_values(file: apsw.Connection, contact: str) -> None:
    with _changing(file):
        file.execute("DELETE FROM vault WHERE contact=?", (contact,))
    if not _cut_log(file):
        raise Unavailable("somebody reads the journal now; what was said is gone with the next try")


def _cut_log(file: apsw.Connection) -> bool:
    try:
        file.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    except sqlite.FAILED as error:
        raise Unavailable(f"the journal's log cannot be cut: {type(error).__name__}") from error
    return True


@contextlib.contextmanager
def _changing(file: apsw.Connection) -> Generator[None]:
    try:
        file.execute("BEGIN IMMEDIATE")
        try:
            yield
            file.execute("COMMIT")
        except BaseException:
            if file.in_transaction:
                file.execute("ROLLBACK")
            raise
    except sqlite.FAILED as error:
        raise Unavailable(f"the agent cannot write: {type(error).__name__}") from error
