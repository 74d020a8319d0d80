"""A fold's mappings as rows of the ledger's own file, written in the transaction of what changed them.

One row a key in `folds`, read when it is asked for. What is marked open can be found without its key; all
else costs nothing until somebody names it, so that what is folded does not have to fit into memory, and what
is closed makes no start longer: open rows among many are found by their index, not by looking through all.
The same objects serve the writer and, on a read-only connection, every view. What a fold keeps is its own
business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, ValuesView
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

import msgspec

if TYPE_CHECKING:
    import apsw

K = TypeVar("K", str, tuple[str, str], tuple[str, str | None])
V = TypeVar("V")
_ABSENT: Final = object()
KEPT: Final = 20_000
_JOINED: Final = "SELECT json_group_array(key), '[' || group_concat(CAST(value AS TEXT)) || ']' FROM folds"
_ALL_ROWS: Final = f"{_JOINED} WHERE group_no=? AND fold=? AND open"
_OPEN_ROWS: Final = f"{_JOINED} INDEXED BY folds_open WHERE group_no=? AND fold=? AND open"
_keys: Final = msgspec.json.Decoder(list[str])
_encoder: Final = msgspec.json.Encoder(order="deterministic")


@cache
def _decoder(of: Any) -> msgspec.json.Decoder[Any]:
    """One for each type: every look at a group opens all of its tables."""
    return msgspec.json.Decoder(of)


def always(_value: object) -> bool:
    """Every row is open."""
    return True


class GroupFolds:
    """The tables of one group: what was read and what has to be written."""

    def __init__(self, connection: apsw.Connection, number: int) -> None:
        self.connection = connection
        self.number = number
        self.changed: dict[str, FoldTable[Any, Any]] = {}

    def table(
        self, name: str, key: type[K], value: Any, is_open: Callable[[V], bool] | None = None
    ) -> FoldTable[K, V]:
        """The table of this name; `is_open` says what must be found without its key, if anything."""
        return FoldTable(self, name, key, value, is_open)

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


class FoldTable(MutableMapping[K, V], Generic[K, V]):
    """One mapping of the fold. Iterating gives what is open, and only that."""

    def __init__(
        self, folds: GroupFolds, name: str, key: type[K], value: Any, is_open: Callable[[V], bool] | None
    ) -> None:
        self._folds = folds
        self._name = name
        self._plain: bool = cast("object", key) is str
        self._key: msgspec.json.Decoder[K] | None = None if self._plain else _decoder(key)
        self._value: msgspec.json.Decoder[V] = _decoder(value)
        self._values: msgspec.json.Decoder[list[V]] = _decoder(list[value])
        self._is_open = is_open
        self._cache: dict[K, Any] = {}
        self._open: dict[K, None] | None = None if is_open else {}
        self._dirty: dict[K, None] = {}

    def _text(self, key: K) -> str:
        return cast("str", key) if self._plain else _encoder.encode(key).decode()

    def _read_key(self, text: str) -> K:
        return cast("K", text) if self._key is None else self._key.decode(text)

    def _look(self, key: K) -> Any:
        found = self._cache.get(key, self)
        if found is not self:
            return found
        row = self._folds.connection.execute(
            "SELECT value FROM folds WHERE group_no=? AND fold=? AND key=?",
            (self._folds.number, self._name, self._text(key)),
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
        self._folds.changed[self._name] = self

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
            # As one row of two lists: ten thousand rows are as many turns of the interpreter's lock.
            keys, values = cast(
                "tuple[str, str | None]",
                self._folds.connection.execute(
                    _ALL_ROWS if self._is_open is always else _OPEN_ROWS, (self._folds.number, self._name)
                ).fetchone(),
            )
            self._open = opened = {}
            found = zip(
                map(self._read_key, _keys.decode(keys)), self._values.decode(values or "[]"), strict=True
            )
            for key, value in found:
                if key not in self._dirty:
                    self._cache.setdefault(key, value)
                    opened[key] = None
        return self._open

    def flush(self) -> None:
        """Write what changed; forget what is not open when too much is remembered."""
        self._write()
        self._dirty.clear()
        if len(self._cache) > KEPT:
            opened = self._opened()
            self._cache = {key: value for key, value in self._cache.items() if key in opened}

    def settle(self) -> None:
        """What changed here has been written by another: nothing is left to write."""
        self._dirty.clear()

    def _write(self) -> None:
        number, name = self._folds.number, self._name
        kept: list[tuple[Any, ...]] = []
        gone: list[tuple[Any, ...]] = []
        opened = self._opened()
        for key in self._dirty:
            value = self._cache[key]
            if value is _ABSENT:
                gone.append((number, name, self._text(key)))
            else:
                kept.append((number, name, self._text(key), int(key in opened), _encoder.encode(value)))
        connection = self._folds.connection
        if kept:
            connection.executemany("INSERT OR REPLACE INTO folds VALUES(?,?,?,?,?)", kept)
        if gone:
            connection.executemany("DELETE FROM folds WHERE group_no=? AND fold=? AND key=?", gone)
