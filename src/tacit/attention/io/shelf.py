"""Shelves: where the fold's mappings are kept, in the ledger's own file and transaction (C2A-027, C2A-214).

One row a key in `folds`, read when it is asked for and written before the commit. What is marked open (live
claims, unmet duties) can be found without its key; everything else costs nothing until somebody names it, so
that a group's history does not have to fit into memory. Knows tables, no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    import apsw

K = TypeVar("K", str, tuple[str, str], tuple[str, str | None])
V = TypeVar("V")
_ABSENT: Final = object()
KEPT: Final = 20_000
_encoder: Final = msgspec.json.Encoder(order="deterministic")


class Books:
    """The shelves of one group: what was read and what has to be written."""

    def __init__(self, connection: apsw.Connection, number: int) -> None:
        self.connection = connection
        self.number = number
        self.changed: dict[str, Shelf[Any, Any]] = {}

    def shelf(
        self, name: str, key: type[K], value: Any, is_open: Callable[[V], bool] | None = None
    ) -> Shelf[K, V]:
        """The shelf of this name; `is_open` says what must be found without its key."""
        return Shelf(self, name, key, value, is_open or (lambda _value: False))

    def flush(self) -> None:
        """Write what changed into the open transaction."""
        for shelf in self.changed.values():
            shelf.flush()
        self.changed.clear()


class Shelf(MutableMapping[K, V], Generic[K, V]):
    """One mapping of the fold. Iterating gives what is open, and only that."""

    def __init__(
        self, books: Books, name: str, key: type[K], value: Any, is_open: Callable[[V], bool]
    ) -> None:
        self._books = books
        self._name = name
        self._plain: bool = cast("object", key) is str
        self._key = None if self._plain else msgspec.json.Decoder(key)
        self._value: msgspec.json.Decoder[V] = msgspec.json.Decoder(value)
        self._is_open = is_open
        self._cache: dict[K, Any] = {}
        self._open: dict[K, None] | None = None
        self._dirty: dict[K, None] = {}

    def _text(self, key: K) -> str:
        return cast("str", key) if self._plain else _encoder.encode(key).decode()

    def _look(self, key: K) -> Any:
        found = self._cache.get(key, self)
        if found is not self:
            return found
        row = self._books.connection.execute(
            "SELECT value FROM folds WHERE group_no=? AND fold=? AND key=?",
            (self._books.number, self._name, self._text(key)),
        ).fetchone()
        value = self._value.decode(bytes(row[0])) if row else _ABSENT
        self._cache[key] = value
        return value

    def __getitem__(self, key: K) -> V:
        found = self._look(key)
        if found is _ABSENT:
            raise KeyError(key)
        return cast("V", found)

    def get(self, key: K, default: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The value, or `default`; without an exception on the way."""
        found = self._look(key)
        return default if found is _ABSENT else found

    def __contains__(self, key: object) -> bool:
        return self._look(cast("K", key)) is not _ABSENT

    def __setitem__(self, key: K, value: V) -> None:
        self._cache[key] = value
        self._mark(key)
        opened = self._opened()
        if self._is_open(value):
            opened[key] = None
        else:
            opened.pop(key, None)

    def __delitem__(self, key: K) -> None:
        if self._look(key) is _ABSENT:
            raise KeyError(key)
        self._cache[key] = _ABSENT
        self._mark(key)
        self._opened().pop(key, None)

    def _mark(self, key: K) -> None:
        self._dirty[key] = None
        self._books.changed[self._name] = self

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._opened()))

    def __len__(self) -> int:
        return len(self._opened())

    def _opened(self) -> dict[K, None]:
        if self._open is None:
            self._open = {}
            rows = self._books.connection.execute(
                "SELECT key, value FROM folds WHERE group_no=? AND fold=? AND open",
                (self._books.number, self._name),
            ).fetchall()
            for text, value in rows:
                key = cast("K", text) if self._key is None else self._key.decode(text)
                if key not in self._dirty:
                    self._cache.setdefault(key, self._value.decode(bytes(value)))
                    self._open[key] = None
        return self._open

    def flush(self) -> None:
        """Write what changed; forget what is not open when too much is remembered."""
        self._write()
        self._dirty.clear()
        if len(self._cache) > KEPT:
            opened = self._opened()
            self._cache = {key: value for key, value in self._cache.items() if key in opened}

    def _write(self) -> None:
        number, name = self._books.number, self._name
        kept: list[tuple[Any, ...]] = []
        gone: list[tuple[Any, ...]] = []
        for key in self._dirty:
            value = self._cache[key]
            if value is _ABSENT:
                gone.append((number, name, self._text(key)))
            else:
                is_open = int(self._is_open(value))
                kept.append((number, name, self._text(key), is_open, _encoder.encode(value)))
        connection = self._books.connection
        if kept:
            connection.executemany("INSERT OR REPLACE INTO folds VALUES(?,?,?,?,?)", kept)
        if gone:
            connection.executemany("DELETE FROM folds WHERE group_no=? AND fold=? AND key=?", gone)
