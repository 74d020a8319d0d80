"""A fold's mappings as rows of the ledger's own file, written in the transaction of what changed them.

One row a key in `folds`. There are three kinds of table. A `WholeTable` is small and gone through: it is a
dictionary, read with all others of its group in one look-up, and only what changes it passes by here. A
`ListTable` has a list for every key, mostly an empty one, and reads each once. A `FoldTable` is asked by key:
a row is read when it is asked for. What is marked open can be found without its
key; all else costs nothing until somebody names it, so that what is folded does not have to fit into memory,
and what is closed makes no start longer: open rows among many are found by their index, not by looking
through all. The same objects serve the writer and, on a read-only connection, every view. What a fold keeps
is its own business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, ValuesView
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    import apsw

K = TypeVar("K", str, tuple[str, str], tuple[str, str | None])
V = TypeVar("V")
_ABSENT: Final = object()
KEPT: Final = 20_000
# As one row of two lists: ten thousand rows are as many turns of the interpreter's lock.
_JOINED: Final = "json_group_array(key), '[' || group_concat(CAST(value AS TEXT)) || ']' FROM folds"
_OPEN_ROWS: Final = f"SELECT {_JOINED} INDEXED BY folds_open WHERE group_no=? AND fold=? AND open"
_ONE_ROW: Final = "SELECT value FROM folds WHERE group_no=? AND fold=? AND key=?"
_keys: Final = msgspec.json.Decoder(list[str])
_encoder: Final = msgspec.json.Encoder(order="deterministic")
_of_any_mapping: Final[Any] = MutableMapping


@cache
def _named(count: int) -> str:
    """All rows of so many tables."""
    named = f"WHERE group_no=? AND fold IN ({','.join('?' * count)})"
    return f"SELECT fold, {_JOINED} {named} GROUP BY fold"


@cache
def _format(name: str, key: Any, value: Any) -> RowFormat[Any, Any]:
    """One for each table: every look at a group opens all of its tables."""
    return RowFormat(name, key, value)


class _Table(Protocol):
    """What may have changed."""

    def flush(self) -> None: ...
    def settle(self) -> None: ...


class GroupFolds:
    """The tables of one group: what was read and what has to be written."""

    def __init__(self, connection: apsw.Connection, number: int) -> None:
        self.connection = connection
        self.number = number
        self.changed: dict[str, _Table] = {}

    def table(
        self, name: str, key: type[K], value: Any, is_open: Callable[[V], bool] | None = None
    ) -> FoldTable[K, V]:
        """The table of this name; `is_open` says what must be found without its key, if anything."""
        return FoldTable(self, _format(name, key, value), is_open)

    def lists(self, name: str, key: type[K], item: type[V]) -> ListTable[K, V]:
        """The table of this name that has a list of such items for every key."""
        return ListTable(self, _format(name, key, tuple[item, ...]))

    def whole(self, tables: Mapping[str, tuple[Any, Any]]) -> dict[str, WholeTable[Any, Any]]:
        """Small tables with all of their rows, by the types of their keys and values."""
        rows = self.connection.execute(_named(len(tables)), (self.number, *tables))
        found = {name: (keys, values) for name, keys, values in rows}
        made: dict[str, WholeTable[Any, Any]] = {}
        for name, types in tables.items():
            written_as = _format(name, *types)
            pairs = written_as.pairs(*found[name]) if name in found else ()
            made[name] = WholeTable(self, written_as, pairs)
        return made

    def settle(self) -> None:
        """What changed has been written by another."""
        for table in self.changed.values():
            table.settle()
        self.changed.clear()

    def flush(self) -> None:
        """Write what changed into the open transaction."""
        for table in self.changed.values():
            table.flush()
        self.changed.clear()


class RowFormat(Generic[K, V]):
    """How the keys and values of one table are written."""

    __slots__ = ("_key", "_values", "name", "value")

    def __init__(self, name: str, key: Any, value: Any) -> None:
        self.name = name
        self.value: msgspec.json.Decoder[V] = msgspec.json.Decoder(value)
        self._values: msgspec.json.Decoder[list[V]] = msgspec.json.Decoder(list[value])
        self._key: msgspec.json.Decoder[K] | None = None if key is str else msgspec.json.Decoder(key)

    def text(self, key: K) -> str:
        """A key as it is written."""
        return cast("str", key) if self._key is None else _encoder.encode(key).decode()

    def pairs(self, keys: str, values: str | None) -> Iterator[tuple[K, V]]:
        """Keys and values out of two lists of them."""
        texts, read = _keys.decode(keys), self._key
        found = cast("list[K]", texts) if read is None else [read.decode(text) for text in texts]
        return zip(found, self._values.decode(values or "[]"), strict=True)

    def write(self, folds: GroupFolds, kept: Iterable[tuple[K, V, bool]], gone: Iterable[K]) -> None:
        """Write these rows, open or not, and remove those."""
        number, name, connection = folds.number, self.name, folds.connection
        rows = [
            (number, name, self.text(key), is_open, _encoder.encode(value)) for key, value, is_open in kept
        ]
        if rows:
            connection.executemany("INSERT OR REPLACE INTO folds VALUES(?,?,?,?,?)", rows)
        lost = [(number, name, self.text(key)) for key in gone]
        if lost:
            connection.executemany("DELETE FROM folds WHERE group_no=? AND fold=? AND key=?", lost)


class _Rows(dict[K, V], Generic[K, V]):
    """What was read of a table, and which keys were changed."""

    __slots__ = ("_dirty", "_folds", "_format")

    def __init__(
        self, folds: GroupFolds, written_as: RowFormat[K, V], pairs: Iterable[tuple[K, V]] = ()
    ) -> None:
        super().__init__(pairs)
        self._folds = folds
        self._format = written_as
        self._dirty: dict[K, None] = {}

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self._mark(key)

    def _hold(self, key: K, value: V) -> None:
        """It was read, which changes nothing."""
        super().__setitem__(key, value)

    def _mark(self, key: K) -> None:
        self._dirty[key] = None
        self._folds.changed[self._format.name] = cast("_Table", self)

    def settle(self) -> None:
        """What changed here has been written by another: nothing is left to write."""
        self._dirty.clear()


class WholeTable(_Rows[K, V], Generic[K, V]):
    """A mapping of the fold that is at hand as a whole: to read it is to read a dictionary."""

    __slots__ = ()

    def __delitem__(self, key: K) -> None:
        super().__delitem__(key)
        self._mark(key)

    def pop(self, key: K, *default: Any) -> Any:
        """Take a row out; without it the default, or `KeyError`."""
        if key in self:
            self._mark(key)
        return super().pop(key, *default)

    # A dictionary's own would pass by the above.
    popitem: Any = _of_any_mapping.popitem
    clear: Any = _of_any_mapping.clear
    update: Any = _of_any_mapping.update
    setdefault: Any = _of_any_mapping.setdefault

    def flush(self) -> None:
        """Write what changed."""
        dirty = self._dirty
        self._format.write(
            self._folds,
            [(key, self[key], True) for key in dirty if key in self],
            [key for key in dirty if key not in self],
        )
        dirty.clear()


class ListTable(_Rows[K, tuple[V, ...]], Generic[K, V]):
    """A list for every key (the `Lists` port); one that is empty has no row."""

    __slots__ = ()

    def __missing__(self, key: K) -> tuple[V, ...]:
        row = self._folds.connection.execute(
            _ONE_ROW, (self._folds.number, self._format.name, self._format.text(key))
        ).fetchone()
        found = self._format.value.decode(bytes(row[0])) if row else ()
        self._hold(key, found)
        return found

    def flush(self) -> None:
        """Write what changed; forget what was read when that is too much."""
        self._format.write(
            self._folds,
            [(key, self[key], False) for key in self._dirty if self[key]],
            [key for key in self._dirty if not self[key]],
        )
        self._dirty.clear()
        if len(self) > KEPT:
            self.clear()


class FoldTable(MutableMapping[K, V], Generic[K, V]):
    """One mapping of the fold. Iterating gives what is open, and only that."""

    def __init__(
        self, folds: GroupFolds, written_as: RowFormat[K, V], is_open: Callable[[V], bool] | None
    ) -> None:
        self._folds = folds
        self._format = written_as
        self._is_open = is_open
        self._cache: dict[K, Any] = {}
        self._open: dict[K, None] | None = None if is_open else {}
        self._dirty: dict[K, None] = {}

    def _look(self, key: K) -> Any:
        found = self._cache.get(key, self)
        if found is not self:
            return found
        row = self._folds.connection.execute(
            _ONE_ROW, (self._folds.number, self._format.name, self._format.text(key))
        ).fetchone()
        value = self._format.value.decode(bytes(row[0])) if row else _ABSENT
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
        if self._is_open is None:
            return
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
        self._folds.changed[self._format.name] = self

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._opened()))

    def __len__(self) -> int:
        return len(self._opened())

    def values(self) -> ValuesView[V]:
        """What is open, without a look-up for each."""
        opened = self._opened()
        return {key: cast("V", self._cache[key]) for key in opened}.values()

    def _opened(self) -> dict[K, None]:
        if self._open is None:
            keys, values = cast(
                "tuple[str, str | None]",
                self._folds.connection.execute(
                    _OPEN_ROWS, (self._folds.number, self._format.name)
                ).fetchone(),
            )
            self._open = opened = {}
            for key, value in self._format.pairs(keys, values):
                if key not in self._dirty:
                    self._cache.setdefault(key, value)
                    opened[key] = None
        return self._open

    def flush(self) -> None:
        """Write what changed; forget what is not open when too much is remembered."""
        opened, held = self._opened(), self._cache
        found = [(key, held[key]) for key in self._dirty]
        self._format.write(
            self._folds,
            [(key, value, key in opened) for key, value in found if value is not _ABSENT],
            [key for key, value in found if value is _ABSENT],
        )
        self._dirty.clear()
        if len(held) > KEPT:
            self._cache = {key: value for key, value in held.items() if key in opened}

    def settle(self) -> None:
        """What changed here has been written by another: nothing is left to write."""
        self._dirty.clear()
