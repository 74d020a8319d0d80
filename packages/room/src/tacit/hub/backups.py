"""Backups as files: named by their moment, there whole or not at all, sealed when asked, the oldest removed.

A file is written under another name, synced, then given its own; what a killed process left under the other
name is removed by the next. A disk that is full leaves what was there.
"""

from __future__ import annotations

import asyncio
import errno
import io
import logging
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from tacit.attention.io.engine import AttentionEngine
from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable
from tacit.base.io.private_file import new_private
from tacit.base.moment import SECOND, Moment, parse_rfc3339, rfc3339
from tacit.base.sealed_form import FRAME_BYTES, HEADER_BYTES, MAGIC, PIECE_BYTES
from tacit.hub import beside
from tacit.ledger.io import backup

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tacit.base.io.time_service import TimeService
    from tacit.base.ports import Clock, Entropy
    from tacit.hub.config import BackupPlan
    from tacit.ledger.io.backup import Manifest

log: Final = logging.getLogger("tacit.hub")
SUFFIX: Final = ".tacit-backup"
_NAME: Final = re.compile(r"tacit-\d{8}T\d{6}Z\.tacit-backup")
_PARTIAL: Final = re.compile(r"\.tacit-\d{8}T\d{6}Z\.tacit-backup\.partial-(\d+)")


def name_at(moment: Moment) -> str:
    """A backup's name."""
    return "tacit-" + rfc3339(moment)[:19].replace("-", "").replace(":", "") + "Z" + SUFFIX


def too_old(names: Iterable[str], keep: int) -> list[str]:
    """Which backups go when the newest `keep` stay; other files are nobody's business."""
    own = sorted(name for name in names if _NAME.fullmatch(name))
    return own[: max(0, len(own) - keep)]


def due_in(names: Iterable[str], now: Moment, every_seconds: int) -> float:
    """Seconds until the next backup, by the names of those that are there."""
    newest = max((name for name in names if _NAME.fullmatch(name)), default=None)
    if newest is None or newest > name_at(now):
        return 0.0 if newest is None else float(every_seconds)
    oldest_that_counts = name_at(Moment(now - every_seconds * SECOND))
    if newest <= oldest_that_counts:
        return 0.0
    digits = re.sub(r"\D", "", newest[:21])
    at = _moment_of(digits)
    return max(0.0, (at + every_seconds * SECOND - now) / SECOND)


def _moment_of(digits: str) -> Moment:
    day, time = digits[:8], digits[8:14]
    text = f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z"
    return parse_rfc3339(text) or Moment(0)


class _Sealing(io.RawIOBase):
    """A file whose content is sealed piece by piece."""

    def __init__(self, file: BinaryIO, sealer: beside.SealedFileWriter) -> None:
        self._file = file
        self._sealer = sealer
        self._waiting = bytearray()
        file.write(sealer.header)

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        piece = bytes(cast("bytes", data))
        self._waiting += piece
        while len(self._waiting) > PIECE_BYTES:
            self._file.write(self._sealer.seal(bytes(self._waiting[:PIECE_BYTES])))
            del self._waiting[:PIECE_BYTES]
        return len(piece)

    def finish(self) -> None:
        """The last piece, marked as such."""
        self._file.write(self._sealer.seal(bytes(self._waiting), last=True))


class _Opening(io.RawIOBase):
    """A sealed file's content."""

    def __init__(self, file: BinaryIO, opener: beside.SealedFileReader) -> None:
        self._file = file
        self._opener = opener
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(cast("bytearray", buffer))
        while not self._ready and not self._ended:
            frame = self._file.read(FRAME_BYTES)
            size = int.from_bytes(frame[1:], "big")
            sealed = self._file.read(size) if len(frame) == FRAME_BYTES and size <= 2 * PIECE_BYTES else b""
            if len(sealed) != size or not size:
                raise Refused("bad_backup", "this backup is not whole")
            self._ended = bool(frame[0])
            self._ready = self._opener.open(sealed, last=self._ended)
        taken = self._ready[: len(view)]
        view[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)


def take(
    data: Path, target: Path, clock: Clock, entropy: Entropy, passphrase: str | None = None
) -> tuple[Path, Manifest]:
    """Write a backup of a data folder to a file, or into a folder under the moment's name."""
    now = clock.now()
    path = target / name_at(now) if target.is_dir() else target
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        _clear(path.parent)
        with new_private(partial) as file:
            manifest = _written(data, file, path.parent, (rfc3339(now), passphrase), entropy)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            raise Refused("exists", f"{path} exists already; nothing was overwritten")
        partial.rename(path)
        _sync(path.parent)
    except OSError as error:
        raise no_room(error, path.parent) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return path, manifest


def _written(
    data: Path, file: BinaryIO, folder: Path, said: tuple[str, str | None], entropy: Entropy
) -> Manifest:
    made, passphrase = said
    if passphrase is None:
        return backup.write(data, file, folder, made, entropy)
    sealing = _Sealing(file, beside.sealer(passphrase, entropy))
    manifest = backup.write(data, cast("BinaryIO", sealing), folder, made, entropy)
    sealing.finish()
    return manifest


def no_room(error: OSError, folder: Path) -> Unavailable:
    """A disk's refusal in one line."""
    if error.errno == errno.ENOSPC:
        return Unavailable(f"there is no room in {folder}; nothing was changed: make room, or choose another")
    return Unavailable(f"{folder} cannot be written ({error.strerror}); nothing was changed")


def _clear(folder: Path) -> None:
    """Remove what killed processes left half-written."""
    for path in folder.glob(".tacit-*.partial-*"):
        found = _PARTIAL.fullmatch(path.name)
        if found and not _lives(int(found[1])):
            path.unlink(missing_ok=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_sealed(path: Path) -> bool:
    """Does a backup need a passphrase?"""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def bring_back(path: Path, folder: Path, entropy: Entropy, passphrase: str | None = None) -> Manifest:
    """Restore a backup's file into a new folder."""
    try:
        with path.open("rb") as file:
            if not is_sealed(path):
                return backup.restore(file, folder, entropy, AttentionEngine)
            if passphrase is None:
                raise Refused("no_passphrase", "this backup is encrypted: give --passphrase-file")
            opened = _Opening(file, beside.opener(file.read(HEADER_BYTES), passphrase))
            return backup.restore(io.BufferedReader(opened), folder, entropy, AttentionEngine)
    except OSError as error:
        raise no_room(error, folder.parent) from error


class Backups:
    """The backups of a running hub, each when it is due; a failure is logged, counted, and tried again."""

    def __init__(
        self, data: Path, plan: BackupPlan | None, clock: Clock, entropy: Entropy, watch: TimeService
    ) -> None:
        self._data = data
        self._plan = plan
        self._clock = clock
        self._entropy = entropy
        self._watch = watch
        self._task: asyncio.Task[None] | None = None
        self.failures = 0
        self.taken = 0

    def open(self) -> None:
        """Begin, when there is a plan."""
        if self._plan is not None:
            self._task = asyncio.create_task(self._run(self._plan))

    async def close(self) -> None:
        """Take no more; one that is under way leaves nothing half-written."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self, plan: BackupPlan) -> None:
        while True:
            await asyncio.sleep(await asyncio.to_thread(self._wait, plan))
            try:
                await asyncio.to_thread(self.once, plan)
            except TacitError as error:
                self.failures += 1
                why = error.message if isinstance(error, (Corrupt, Refused)) else str(error)
                log.error("the backup failed", extra={"why": why, "failures": self.failures})  # noqa: TRY400
                await asyncio.sleep(min(600, plan.every_seconds))

    def _wait(self, plan: BackupPlan) -> float:
        try:
            names = [path.name for path in plan.folder.iterdir()]
        except OSError:
            return 0.0
        return due_in(names, self._clock.now(), plan.every_seconds)

    def once(self, plan: BackupPlan) -> None:
        """Take one now, then let the oldest go."""
        try:
            plan.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path, _manifest = take(self._data, plan.folder, self._clock, self._entropy, plan.passphrase)
            # By the names of a clock that leapt nobody knows which is the oldest: then all stay.
            keep = sys.maxsize if self._watch.look().leapt else plan.keep
            others = (one.name for one in plan.folder.iterdir() if one != path)
            for name in too_old(others, keep - 1):
                (plan.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise no_room(error, plan.folder) from error
        self.taken += 1
        log.info("a backup was taken", extra={"file": path.name})
