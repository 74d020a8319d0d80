"""Blobs: content-addressed files on disk, written once, shared by all groups (CCCS-086, CCCS-087).

A blob's path inside a group is its sha256. Who may read it is the read model's question; this module knows
only bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from tacit.base.errors import Corrupt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tacit.base.ports import Entropy

BLOBS: Final = "blobs"
"""The folder's name beside a ledger."""
_NAME: Final = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """What was written."""

    sha256: str
    size: int


class BlobFolder:
    """The folder of all blobs of one hub."""

    def __init__(self, folder: Path, entropy: Entropy) -> None:
        self._folder = folder
        self._entropy = entropy

    def prepare(self) -> None:
        """Make the folder and clear what an earlier process did not finish; for the folder's owner alone."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in self._folder.glob("incoming-*"):
            left.unlink()

    def incoming(self) -> Incoming:
        """A place to write a new blob to, piece by piece."""
        return Incoming(self._folder, self._entropy.draw(12).hex(), self.arrived)

    def arrived(self, stored: StoredBlob) -> None:
        """Told of each blob that has been written; here that is all."""

    def open(self, sha256: str) -> BinaryIO:
        """The blob's bytes; a record whose file is gone is damage, not absence."""
        try:
            return self.place(sha256).open("rb")
        except FileNotFoundError as error:
            raise Corrupt(
                "a blob's file is missing", hint="restore the blobs folder from a backup"
            ) from error

    def holds(self, sha256: str, size: int) -> bool:
        """Are the bytes where they are safe, so that a message may refer to them?"""
        del size
        return self.place(sha256).exists()

    def place(self, sha256: str) -> Path:
        """Where a blob lies; only a sha256 can name a place."""
        if not _NAME.match(sha256):
            raise ValueError("not a sha256")
        return self._folder / sha256[:2] / sha256

    def remove(self, sha256: str) -> None:
        """Have it gone, also after a crash; for a blob that no group has any more."""
        place = self.place(sha256)
        place.unlink(missing_ok=True)
        if place.parent.exists():
            _sync_folder(place.parent)

    def is_sound(self, sha256: str) -> bool:
        """Do the bytes on disk still have this hash?"""
        place = self.place(sha256)
        if not place.is_file():
            return False
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256


class Incoming:
    """A blob while it arrives: hashed as it is written, visible only when whole and synced."""

    def __init__(self, folder: Path, name: str, arrived: Callable[[StoredBlob], None] | None = None) -> None:
        self._folder = folder
        self._arrived = arrived
        self._path = folder / f"incoming-{name}"
        self._file = os.fdopen(
            os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb"
        )
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, piece: bytes) -> None:
        """Add bytes."""
        self._file.write(piece)
        self._hash.update(piece)
        self.size += len(piece)

    @property
    def sha256(self) -> str:
        """The hash of what has arrived so far."""
        return self._hash.hexdigest()

    def finish(self) -> StoredBlob:
        """Sync, then give it its name; the same content twice is the same file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        sha256 = self.sha256
        place = self._folder / sha256[:2] / sha256
        if place.exists():
            self._path.unlink()
        else:
            place.parent.mkdir(exist_ok=True, mode=0o700)
            self._path.rename(place)
            _sync_folder(place.parent)
            _sync_folder(self._folder)
        stored = StoredBlob(sha256, self.size)
        if self._arrived is not None:
            self._arrived(stored)
        return stored

    def abandon(self) -> None:
        """Throw away what arrived so far."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
