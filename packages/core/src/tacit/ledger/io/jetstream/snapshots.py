"""Snapshots of a ledger's file in a stream beside the ledger's own, for nodes that join.

What travels: the file as one moment of it, without what is this machine's own (`TRAVELS`); node and owner's
token are files beside it and stay. It is copied and sent in a thread of its own: no commit waits for it.

What was taken back must not live on in a copy. Before anything is erased in the ledger's stream every
snapshot is removed and overwritten (`forget`), and the list says from which sequence on a copy may be kept:
one from before cannot come back, whoever sends it and however late. So nobody needs the lease for what is
right here; the node that writes keeps them since it is never behind.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
import threading
import time
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw
import msgspec

from tacit.base.errors import Corrupt, TacitError, Unavailable
from tacit.base.io.jetstream.kept_pieces import PIECE, KeptPieces
from tacit.base.io.jetstream.safety import wanted_config
from tacit.base.io.private_file import new_private
from tacit.base.io.sqlite import DAMAGED, FAILED, connect
from tacit.ledger.io.backup import copy_ledger
from tacit.ledger.io.folding import FOLDED, fold_version, folded_by, groups_on
from tacit.ledger.io.jetstream.journal import ALL
from tacit.ledger.io.schema import SCHEMA, STREAM
from tacit.ledger.io.store import CHECKED, DATABASE, OVERWRITTEN
from tacit.ledger.snapshots import LedgerSnapshot, SnapshotList, form_of, is_due, is_worth, mark_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tacit.base.io.folder_lock import FolderLock
    from tacit.base.ports import Entropy
    from tacit.ledger.engine import Engine
    from tacit.ledger.io.jetstream.stream import JetStream

log: Final = logging.getLogger("tacit.ledger")
SUFFIX: Final = "_SNAPSHOTS"
TRAVELS: Final = (STREAM, CHECKED, OVERWRITTEN, FOLDED)
"""Which facts of the file are those of every node."""
COPYING: Final = ".tacit-snapshot-"
ARRIVING: Final = f"{DATABASE}.arriving"
LEVEL: Final = 1
"""Of compression: half of a file is ids, salts and hashes, which none makes shorter."""
LOOK: Final = 10.0
"""Seconds between two looks whether a snapshot is due."""
REST: Final = 20
"""For so many times as long as making one took, no other is made."""
_BROKEN: Final = (TacitError, *FAILED, *DAMAGED, apsw.SQLError, OSError, zlib.error, msgspec.MsgspecError)


class LedgerSnapshots:
    """The snapshots of one ledger. Blocking calls, for any thread."""

    def __init__(self, stream: JetStream, entropy: Entropy) -> None:
        """Makes their stream when there is none, and refuses one that is not safe."""
        self._stream = stream
        self._entropy = entropy
        self._kept = KeptPieces(stream.connection, wanted_config(stream.name + SUFFIX, stream.replicas))
        self._lock = threading.Lock()
        self._breaks_off = threading.Event()
        self._nameless: set[str] = set()
        self._seen = 0
        """How many events there were when it was looked last whether a snapshot is due."""
        self.on_erased: Callable[[], None] = lambda: None
        """Told when something was erased in the ledger's stream."""
        self.bring_all_up: Callable[[], None] = lambda: None
        """Has the file hold all that is known of; called before a snapshot of it is kept."""

    def listed(self) -> tuple[SnapshotList | None, int]:
        """Which there are, and the guard of whoever changes that; None: in a form that is not known here."""
        payload, guard = self._kept.head()
        if not guard:
            return SnapshotList(), 0
        try:
            return msgspec.json.decode(payload, type=SnapshotList), guard
        except msgspec.MsgspecError:
            return None, guard

    def newest(self) -> LedgerSnapshot | None:
        """The newest there is."""
        listed, _ = self.listed()
        return listed.newest if listed is not None else None

    # -- joining

    def join(
        self,
        folder: Path,
        engine: Callable[[apsw.Connection], Engine] | None,
        locked: Callable[[Path], FolderLock],
    ) -> bool:
        """Begin from a snapshot where that is better than what the folder has; whether it was done."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = locked(folder)
        try:
            tidy(folder)
            applied = self._applied(folder / DATABASE)
            listed, _ = self.listed()
            form = form_of(len(SCHEMA.steps), _folds(engine))
            if applied is None or listed is None:
                return False
            fitting = (one for one in listed.kept if one.form == form)
            return any(
                (not applied or is_worth(one, applied)) and self._taken(one, folder) for one in fitting
            )
        finally:
            lock.release()

    def _applied(self, path: Path) -> int | None:
        """How far a file has come; None for one that is not ours to replace."""
        if not path.exists():
            return 0
        try:
            with closing(connect(path, readonly=True)) as connection:
                fact = connection.execute("SELECT value FROM facts WHERE name=?", (STREAM,)).fetchone()
                return _end_on(connection) if fact == (self._fact,) else None
        except _BROKEN:
            return None  # whoever opens it says what it is

    @property
    def _fact(self) -> str:
        return f"{self._stream.name} {self._stream.created}"

    def _taken(self, snapshot: LedgerSnapshot, folder: Path) -> bool:
        arriving = folder / ARRIVING
        try:
            self._require_of_this_stream(snapshot)
            self._fetch(snapshot, arriving)
            _require_described(snapshot, arriving, self._fact)
            for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
                (folder / name).unlink(missing_ok=True)
            arriving.rename(folder / DATABASE)
        except _BROKEN as error:
            log.warning(
                "a snapshot is not used", extra={"fault": type(error).__name__, "reason": _why(error)}
            )
            return False
        finally:
            arriving.unlink(missing_ok=True)
        log.info("the ledger begins from a snapshot", extra={"sequence": snapshot.sequence})
        return True

    def _require_of_this_stream(self, snapshot: LedgerSnapshot) -> None:
        """The stream has the very message with which the snapshot ends."""
        if snapshot.stream != self._stream.created or snapshot.sequence > self._stream.end():
            raise Corrupt("it is of another stream", hint="")
        if mark_of(self._stream.get(snapshot.sequence)) != snapshot.message:
            raise Corrupt("the stream has another message there", hint="")

    def _fetch(self, snapshot: LedgerSnapshot, arriving: Path) -> None:
        unpacking, size = zlib.decompressobj(), 0
        with new_private(arriving) as file:
            for piece in self._kept.get(snapshot.name, snapshot.pieces, snapshot.sha256):
                # Never more than it says, whatever a piece unfolds to.
                part = unpacking.decompress(piece, snapshot.size - size + 1)
                size += file.write(part)
                if size > snapshot.size:
                    break
        if size != snapshot.size or not unpacking.eof:
            raise Corrupt("it is not as long as it says", hint="")

    # -- keeping

    def keep_if_due(self, path: Path, *, is_last: bool = False) -> bool:
        """Keep a snapshot of the file if a joining node would be glad of it; whether it was done.

        `is_last`: this node writes no more, so that there is nothing to wait for.
        """
        with closing(connect(path, readonly=True)) as connection:
            # What is only noted counts, too: it is one event each at least.
            [(events,)] = connection.execute(
                "SELECT (SELECT coalesce(sum(last_seq), 0) FROM groups) + (SELECT count(*) FROM stream_noted)"
            ).fetchall()
        grown, self._seen = 0 if is_last else events - self._seen, events
        if not is_due(events, None, grown):
            return False
        listed, _ = self.listed()
        if listed is None or not is_due(events, listed.newest, grown):
            return False
        with suppress(TacitError):
            # Without, it is as true and of less use: whoever joins reads what is noted there.
            self.bring_all_up()
        return self.keep(path)

    def keep(self, path: Path) -> bool:
        """Keep a snapshot of the file as it stands now; False when it has come too late."""
        with self._lock:
            # First the guard, then the copy: what is erased in between moves the one and spoils the other.
            listed, guard = self.listed()
            name = self._entropy.draw(8).hex()
            try:
                with tempfile.TemporaryDirectory(prefix=COPYING, dir=path.parent) as scratch:
                    copy = Path(scratch) / DATABASE
                    copy_ledger(path, copy)
                    made = self._described(copy, name)
                    if listed is None or not made.sequence or listed.with_(made) is None:
                        return False
                    pieces, sha256 = self._kept.put(name, self._packed(copy))
                made = msgspec.structs.replace(made, pieces=pieces, sha256=sha256)
                after = listed.with_(made)
                self._kept.put_head(msgspec.json.encode(after), guard)
            except BaseException:
                with suppress(*_BROKEN):
                    self._remove_unless_listed(name)
                raise
            self._remove_others(after)
        log.info("a snapshot of the ledger is kept", extra={"sequence": made.sequence})
        return True

    def _described(self, copy: Path, name: str) -> LedgerSnapshot:
        with closing(connect(copy, erases=True)) as connection:
            marks = ",".join("?" * len(TRAVELS))
            connection.execute(f"DELETE FROM facts WHERE name NOT IN ({marks})", TRAVELS)  # noqa: S608 - question marks
            sequence, folds = _end_on(connection), folded_by(connection) or ""
            events, ends = _ends(connection)
        mark = mark_of(self._stream.get(sequence)) if sequence else ""
        form, size = form_of(len(SCHEMA.steps), folds), copy.stat().st_size
        return LedgerSnapshot(name, form, self._stream.created, sequence, mark, events, ends, size, 0, "")

    def _packed(self, copy: Path) -> Iterator[bytes]:
        packing, waiting = zlib.compressobj(LEVEL), bytearray()
        with copy.open("rb") as file:
            while True:
                read = file.read(4 * PIECE)
                waiting += packing.compress(read) if read else packing.flush()
                while len(waiting) >= PIECE or (waiting and not read):
                    if self._breaks_off.is_set():
                        raise Unavailable("the snapshot is not wanted any more")
                    yield bytes(waiting[:PIECE])
                    del waiting[:PIECE]
                if not read:
                    return

    def _remove_unless_listed(self, name: str) -> None:
        """Whether the head was written may be unknown: if it names the pieces, they stay."""
        listed, _ = self.listed()
        if listed is None or name not in {one.name for one in listed.kept}:
            self._kept.overwrite(name)

    def _remove_others(self, listed: SnapshotList | None) -> None:
        for name in self._kept.names() - {one.name for one in (listed or SnapshotList()).kept}:
            self._kept.overwrite(name)

    def sweep(self) -> None:
        """Remove pieces that no list names and that were there at the last call: whoever sent them died."""
        with self._lock:
            found = self._kept.names()
            listed, _ = self.listed()
            if listed is not None:
                found -= {one.name for one in listed.kept}
                for name in found & self._nameless:
                    self._kept.overwrite(name)
                self._nameless = found

    # -- taking away

    def forget(self) -> None:
        """Have every snapshot gone from the servers, and none from before now come back."""
        self._breaks_off.set()
        with self._lock:
            self._breaks_off.clear()
            least = self._stream.end()
            _, guard = self.listed()
            self._kept.put_head(msgspec.json.encode(SnapshotList(least)), guard)
            self._remove_others(None)


def tidy(folder: Path) -> None:
    """What a process that was killed left of copies: they may hold what was taken back since."""
    for left in folder.glob(f"{COPYING}*"):
        shutil.rmtree(left, ignore_errors=True)
    (folder / ARRIVING).unlink(missing_ok=True)


def _folds(engine: Callable[[apsw.Connection], Engine] | None) -> str:
    if engine is None:
        return ""
    with closing(apsw.Connection(":memory:")) as nothing:
        SCHEMA.migrate(nothing, Path(DATABASE))
        return fold_version(engine(nothing))


def _end_on(connection: apsw.Connection) -> int:
    row = connection.execute("SELECT sequence FROM stream_ends WHERE name=?", (ALL,)).fetchone()
    return int(row[0]) if row is not None else 0


def _ends(connection: apsw.Connection) -> tuple[int, str]:
    """How many events there are, and one hash over the ends of all groups' chains."""
    digest, events = hashlib.sha256(), 0
    for _number, group_id, last, chain in sorted(groups_on(connection), key=lambda row: row[1]):
        digest.update(f"{group_id} {last} {chain.hex()}\n".encode())
        events += last
    return events, digest.hexdigest()


def _require_described(snapshot: LedgerSnapshot, path: Path, fact: str) -> None:
    """The file is what its description says."""
    with closing(connect(path, readonly=True)) as connection:
        found = connection.execute("SELECT value FROM facts WHERE name=?", (STREAM,)).fetchone()
        [(schema,)] = connection.execute("PRAGMA user_version").fetchall()
        form = form_of(schema, folded_by(connection) or "")
        is_same = (found, form, _end_on(connection), *_ends(connection)) == (
            (fact,),
            snapshot.form,
            snapshot.sequence,
            snapshot.events,
            snapshot.ends,
        )
    if not is_same:
        raise Corrupt("it is not what its description says", hint="")


def _why(error: BaseException) -> str:
    return str(error) if isinstance(error, TacitError) else ""


class SnapshotRounds:
    """The thread that keeps snapshots while this node writes, and once more when it ends."""

    def __init__(self, snapshots: LedgerSnapshots, path: Path, may_write: Callable[[], bool]) -> None:
        self._snapshots = snapshots
        self._path = path
        self._may_write = may_write
        self._has_written = may_write()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tacit-snapshots", daemon=True)

    def begin(self) -> None:
        """Look from now on."""
        self._thread.start()

    def _run(self) -> None:
        pause = LOOK
        while not self._ended.wait(pause):
            pause = LOOK
            if self._may_write():
                self._has_written = True
                began = time.monotonic()
                if self._look():
                    pause = max(LOOK, REST * (time.monotonic() - began))

    def _look(self, *, is_last: bool = False) -> bool:
        try:
            if not is_last:
                self._snapshots.sweep()
            return self._snapshots.keep_if_due(self._path, is_last=is_last)
        except _BROKEN as error:
            log.info("no snapshot could be kept", extra={"fault": type(error).__name__})
            return False

    def end(self, *, keeps_last: bool) -> None:
        """Look no more; `keeps_last`: what this node wrote is kept for the next one, if that is worth it."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._has_written and keeps_last:
            self._look(is_last=True)
