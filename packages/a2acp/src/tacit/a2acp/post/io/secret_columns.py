"""Which columns of the agent's file are secret, and how they are kept: wrapped, or plain by choice.

A2ACP-212. All of them or none: whether the file has a row in `protection` decides. Until the owner's secret
has opened it the file is locked: everything else can be read, no key can. Another process may change the
protection; what was opened before then writes nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.system import SystemEntropy
from tacit.seal import key_protection, primitives
from tacit.seal.primitives import CannotOpen

if TYPE_CHECKING:
    import apsw

    from tacit.seal.key_protection import FolderKey, Protection

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
