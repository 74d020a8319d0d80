"""A disk that fails on command: an apsw VFS over the system's own, below which no page has a checksum."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from collections.abc import Generator

_names = itertools.count()


class Disk:
    """Counts operations on files of one VFS and fails those that it is told to."""

    def __init__(self) -> None:
        self.name = f"faulty{next(_names)}"
        self.counts = {"write": 0, "sync": 0, "truncate": 0, "read": 0}
        self._op = ""
        self._left = 0
        self._last = 0
        self._error: type[Exception] = apsw.IOError
        self.failed = 0

    def fail(self, op: str, nth: int, error: type[Exception], times: int = 1) -> None:
        """The nth operation of this sort from now (from 0) fails, and the `times - 1` after it."""
        self._op, self._error, self.failed = op, error, 0
        self._left = self.counts[op] + nth
        self._last = self._left + times

    def heal(self) -> None:
        self._op = ""

    def tick(self, op: str) -> None:
        at = self.counts[op]
        self.counts[op] = at + 1
        if op == self._op and self._left <= at < self._last:
            self.failed += 1
            raise self._error(f"{op} {at} fails for a test")


class _Files(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__(disk.name, "unix")

    def xOpen(self, name: Any, flags: Any) -> _File:
        return _File(self._disk, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.tick("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.tick("sync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        self._disk.tick("truncate")
        super().xTruncate(newsize)

    def xRead(self, amount: int, offset: int) -> Any:
        self._disk.tick("read")
        return super().xRead(amount, offset)


@contextmanager
def disk() -> Generator[Disk]:
    """A registered faulty disk."""
    made = Disk()
    files = _Files(made)
    try:
        yield made
    finally:
        made.heal()
        files.unregister()
