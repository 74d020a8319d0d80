"""A data folder as one stream, taken beside a running hub, and back: ledger, blobs, the hub's settings.

The ledger is copied page by page in one read transaction, so that it is one moment of it; blobs follow, which
are never changed once they have their name. Tokens are in it by their hashes alone: the owner's own token
stays behind, and a restored hub makes a new one. What is read back is checked against the list at the
stream's end, verified as a ledger, and only then given the folder's name.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from tacit.base.errors import Corrupt, Refused, Unavailable
from tacit.base.io.private_file import new_private
from tacit.base.io.sqlite import DAMAGED, FAILED, connect, damage_hint, is_damage
from tacit.ledger.io.blobs import BlobFolder
from tacit.ledger.io.schema import SCHEMA, STREAM
from tacit.ledger.io.store import DATABASE
from tacit.ledger.io.upkeep import GroupEnd, ends_on
from tacit.ledger.io.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from tacit.base.ports import Entropy
    from tacit.ledger.engine import Engine

MANIFEST: Final = "manifest.json"
SETTINGS: Final = ("crew/crew.json",)
"""What an operator has set that is in no ledger, by its place in the folder."""
_MEMBER: Final = re.compile(r"ledger\.db|manifest\.json|crew/crew\.json|blobs/[0-9a-f]{2}/[0-9a-f]{64}")
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds: every file with its hash, every group with its end."""

    format: str
    made: str
    files: dict[str, str]
    groups: dict[str, GroupEnd]


FORMAT: Final = "tacit-backup-1"


def write(folder: Path, out: BinaryIO, beside: Path, made: str, entropy: Entropy) -> Manifest:
    """Write a folder's backup to `out`; `beside` is where a copy of the ledger may stand meanwhile."""
    if not (folder / DATABASE).exists():
        raise Unavailable(f"there is no ledger in {folder}")
    files: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory(prefix=".tacit-copy-", dir=beside) as scratch,
        tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        copy = Path(scratch) / DATABASE
        copy_ledger(folder / DATABASE, copy)
        with closing(connect(copy, readonly=True)) as connection:
            SCHEMA.require_known(connection, folder / DATABASE)
            if connection.execute("SELECT 1 FROM facts WHERE name=?", (STREAM,)).fetchone() is not None:
                raise Refused("follows_stream", "this folder is a cache of a NATS stream: back up the stream")
            groups = ends_on(connection)
            blobs = [row[0] for row in connection.execute("SELECT DISTINCT sha256 FROM blobs").fetchall()]
        files[DATABASE] = _add(archive, copy, DATABASE)
        kept = BlobFolder(folder / "blobs", entropy)
        for sha256 in sorted(blobs):
            name = f"blobs/{sha256[:2]}/{sha256}"
            with kept.open(sha256):  # missing is damage, with its hint
                files[name] = _add(archive, kept.place(sha256), name)
            if files[name] != sha256:
                raise Corrupt(
                    f"blob {sha256} has changed on the disk", hint="restore it from an older backup"
                )
        for name in SETTINGS:
            if (folder / name).is_file():
                files[name] = _add(archive, folder / name, name)
        manifest = Manifest(FORMAT, made, files, groups)
        body = msgspec.json.encode(manifest)
        entry = tarfile.TarInfo(MANIFEST)
        entry.size = len(body)
        archive.addfile(entry, io.BytesIO(body))
    return manifest


def copy_ledger(source: Path, copy: Path) -> None:
    """One moment of a ledger as a file of its own; writers go on meanwhile."""
    try:
        with closing(connect(source, readonly=True)) as live, closing(connect(copy)) as made:
            live.execute("BEGIN")
            live.execute("SELECT count(*) FROM groups").fetchall()
            with made.backup("main", live, "main") as steps:
                while not steps.done:
                    steps.step(1024)
            live.execute("ROLLBACK")
            made.execute("PRAGMA journal_mode=DELETE").fetchall()
    except (*DAMAGED, *FAILED) as error:
        if is_damage(error):
            raise Corrupt("the ledger's file is damaged", hint=damage_hint(source)) from error
        raise Unavailable(
            f"the ledger cannot be copied to {copy.parent.parent} ({type(error).__name__})"
        ) from error


def _add(archive: tarfile.TarFile, path: Path, name: str) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = os.fstat(file.fileno()).st_size, 0o600
        archive.addfile(entry, _Hashing(file, digest))
    return digest.hexdigest()


class _Hashing(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: BinaryIO, digest: Any) -> None:
        self._file = file
        self._digest = digest

    def read(self, size: int = -1, /) -> bytes:
        piece = self._file.read(size)
        self._digest.update(piece)
        return piece


def restore(
    source: BinaryIO,
    folder: Path,
    entropy: Entropy,
    attending: Callable[[apsw.Connection], Engine] | None = None,
) -> Manifest:
    """Make a data folder of a backup: read, checked and verified beside its place, then put there."""
    if folder.exists() and any(folder.iterdir()):
        raise Refused("not_empty", f"{folder} is not empty: a backup is restored into a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-restoring-", dir=folder.parent) as scratch:
        place = Path(scratch) / "data"
        place.mkdir(mode=0o700)
        found = _unpack(source, place)
        manifest = _manifest(place / MANIFEST)
        if found != manifest.files:
            raise Corrupt("the backup does not hold what its list says", hint="use another backup")
        (place / MANIFEST).unlink()
        _prove(place, manifest, entropy, attending)
        if folder.exists():
            folder.rmdir()
        place.rename(folder)
    return manifest


def _unpack(source: BinaryIO, place: Path) -> dict[str, str]:
    """The files of a stream, written with their hashes; nothing else than a backup's own names is made."""
    found: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=source, mode="r|") as archive:
            for entry in archive:
                file = (
                    archive.extractfile(entry) if entry.isfile() and _MEMBER.fullmatch(entry.name) else None
                )
                if file is None:
                    raise Refused("bad_backup", "this backup holds something that no backup holds")
                target = place / entry.name
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                found[entry.name] = _take(iter(lambda file=file: file.read(_PIECE), b""), target)
    except tarfile.TarError:
        raise Refused("bad_backup", "this is no backup, or not a whole one") from None
    found.pop(MANIFEST, None)
    return found


def _take(pieces: Iterator[bytes], target: Path) -> str:
    digest = hashlib.sha256()
    with new_private(target) as file:
        for piece in pieces:
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _manifest(path: Path) -> Manifest:
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        raise Refused("bad_backup", "this is no backup, or not a whole one") from None
    if manifest.format != FORMAT:
        raise Refused("bad_backup", "this backup is of a version that this program does not know")
    return manifest


def _prove(
    place: Path,
    manifest: Manifest,
    entropy: Entropy,
    attending: Callable[[apsw.Connection], Engine] | None,
) -> None:
    report = verify(place, entropy, attending)
    with closing(connect(place / DATABASE, readonly=True)) as connection:
        same = ends_on(connection) == manifest.groups
    if not report.sound or not same:
        why = report.problems[0] if report.problems else "its groups do not end where its list says"
        raise Corrupt(f"the backup is unsound: {why}", hint="nothing was restored; use another backup")
