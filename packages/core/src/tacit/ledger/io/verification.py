"""Is a ledger what it was when it was written? Every page, event, blob and projection is looked at.

Only reads, also beside a running hub. Damage is what this is for: whatever is found is a line that says
what and where, and the look goes on behind it as far as it can; nothing found here is raised. Where the file
itself is damaged, what follows is read without its checksums, so that the chain of hashes names the events.

Projections are compared with a rebuild: the file is copied beside itself, folded anew there by the functions
of the live writer, and each table's rows are laid against each other. A ledger that an earlier version left
has other tables, or rows of other folds: its copy is brought forward and folded, as the next start of a hub
will do, and that this succeeds is all that can be asked of it.
"""

from __future__ import annotations

import tempfile
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import apsw
import msgspec

from tacit.base import ids
from tacit.base.errors import Corrupt, TacitError, Unavailable
from tacit.base.io.folder_lock import is_held
from tacit.base.io.sqlite import connect, is_damage
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import Moment, parse_rfc3339
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.envelope import GONE, QUOTING, decode
from tacit.ledger.io import derived, torn
from tacit.ledger.io.blobs import BlobFolder
from tacit.ledger.io.folding import fold_all, fold_version, folded_by, groups_on, rows_on
from tacit.ledger.io.journal import FIRST_LINK, link
from tacit.ledger.io.read_model import Glance, ReadModel
from tacit.ledger.io.schema import PROJECTIONS, SCHEMA, STREAM
from tacit.ledger.io.store import DATABASE, lost_checksums
from tacit.ledger.io.writer import Writer
from tacit.ledger.projection import first_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tacit.base.ports import Entropy
    from tacit.ledger.engine import Engine

_OWNERS: Final = (
    "SELECT d.pageno, d.name, m.tbl_name FROM dbstat d LEFT JOIN sqlite_master m ON m.name=d.name"
)
_MOST: Final = 20
_BROKEN: Final = (apsw.Error, TacitError, ValueError, TypeError, LookupError, OSError, MemoryError)
"""What damaged rows bring about when they are read: wrong types, texts and places, besides SQLite's own."""


@dataclass(slots=True)
class VerificationReport:
    """What a verification found."""

    groups: int = 0
    events: int = 0
    redacted: int = 0
    """Of the events: how many have lost their content, by a record that says so."""
    blobs: int = 0
    projections: int = 0
    is_older: bool = False
    """Did another version write the tables, or fold the events? Then its projections are not compared."""
    problems: list[str] = field(default_factory=list[str])

    @property
    def sound(self) -> bool:
        """Nothing was wrong."""
        return not self.problems


def verify(
    folder: Path, entropy: Entropy, attending: Callable[[apsw.Connection], Engine] | None = None
) -> VerificationReport:
    """Check the file, every group's order, ids, times and chain, every blob's hash, every projection.

    `attending` is the engine of whose folds the ledger holds rows; without it those are not compared.
    """
    report = VerificationReport()
    path = folder / DATABASE
    if not is_held(folder):
        _log(path, report)
    try:
        with closing(connect(path, readonly=True)) as connection:
            if lost_checksums(connection, path):
                report.problems.append("file: page 1 is damaged: it says that no page has a checksum")
            else:
                SCHEMA.require_known(connection, path)
            _verify_file(connection, path, report)
            _steps(connection, folder, entropy, report)
            if report.sound:
                _step(report, "projections", lambda: _projections(connection, path, attending, report))
    except Corrupt as corrupt:
        report.problems.append(f"file: {corrupt.message}")
    except Unavailable:
        raise  # there is no file, it is not ours to read, or a newer version wrote it: that is no damage
    except _BROKEN as error:
        report.problems.append(f"file: cannot be opened ({type(error).__name__})")
    return report


def _format(connection: apsw.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").get)


def _step(report: VerificationReport, what: str, look: Callable[[], None]) -> None:
    try:
        look()
    except _BROKEN as error:
        report.problems.append(f"{what}: cannot be read further ({type(error).__name__})")


def _steps(connection: apsw.Connection, folder: Path, entropy: Entropy, report: VerificationReport) -> None:
    groups: list[tuple[int, str, int, bytes]] = []

    def list_groups() -> None:
        groups.extend(groups_on(connection))

    _step(report, "groups", list_groups)
    for number, group_id, last, chain in groups:
        report.groups += 1
        before = report.events

        def look(
            number: int = number, group_id: str = group_id, end: tuple[int, bytes] = (last, chain)
        ) -> None:
            _verify_group(connection, number, group_id, end, report)

        try:
            look()
        except _BROKEN as error:
            place = f"group {group_id} after event {report.events - before}"
            report.problems.append(f"{place}: cannot be read further ({type(error).__name__})")
    _step(report, "blobs", lambda: _blobs(connection, folder, entropy, report))


def _log(path: Path, report: VerificationReport) -> None:
    """The write-ahead log of a hub that does not run ends with a whole commit, or with a torn one."""
    with suppress(*_BROKEN):
        if hidden := torn.hidden_bytes(path):
            report.problems.append(f"log: {hidden} bytes lie behind damage, commits among them")


def _verify_file(connection: apsw.Connection, path: Path, report: VerificationReport) -> None:
    try:
        _integrity(connection, report)
    except _BROKEN as error:
        if isinstance(error, apsw.Error) and is_damage(error):
            _pages(connection, path, report)
            connection.execute("PRAGMA checksum_verification=OFF").fetchall()
            _step(report, "file", lambda: _integrity(connection, report))
        if report.sound:
            report.problems.append(f"file: cannot be read ({type(error).__name__})")


def _integrity(connection: apsw.Connection, report: VerificationReport) -> None:
    for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall():
        if line != "ok":
            report.problems.append(f"file: {line}")


def _pages(connection: apsw.Connection, path: Path, report: VerificationReport) -> None:
    """Which pages do not have the checksum that they carry, and of which table they are."""
    size = int(connection.execute("PRAGMA page_size").get)
    owners: dict[int, tuple[str, str]] = {}
    connection.execute("PRAGMA checksum_verification=OFF").fetchall()
    with suppress(*_BROKEN):
        owners = {page: (name, table or "") for page, name, table in connection.execute(_OWNERS)}
    found = 0
    with path.open("rb") as file:
        for number, page in enumerate(iter(lambda: file.read(size), b""), 1):
            if len(page) == size and not connection.execute("SELECT verify_checksum(?)", (page,)).get:
                found += 1
                if found <= _MOST:
                    name, table = owners.get(number, ("nothing", ""))
                    mends = "; `tacit ledger rebuild` mends it" if derived.is_derived(name, table) else ""
                    report.problems.append(f"file: page {number} of {name} is damaged{mends}")
    if found > _MOST:
        report.problems.append(f"file: {found} pages are damaged")


def _verify_group(
    connection: apsw.Connection,
    number: int,
    group_id: str,
    end: tuple[int, bytes],
    report: VerificationReport,
) -> None:
    expected, chain, last_ts = 0, FIRST_LINK, Moment(0)
    gone: dict[int, str] = {}
    for seq, event_id, kind, stored, raw, salt in rows_on(connection, number, end[0]):
        expected += 1
        report.events += 1
        chain = link(chain, raw, salt)
        if salt == GONE:
            gone[seq] = ids.text(event_id)
        fault = _fault(raw, seq, event_id, (kind, group_id), last_ts)
        if seq != expected:
            fault = f"position {expected} is missing"
        elif stored != chain:
            fault = "the chain of hashes breaks here: this event or its order was changed"
        if fault:
            report.problems.append(f"group {group_id} event {seq}: {fault}")
            return
        last_ts = parse_rfc3339(decode(raw).ts) or last_ts
    report.redacted += len(gone)
    _recorded(connection, number, group_id, gone, report)
    if (expected, chain) != (end[0], end[1]):
        report.problems.append(f"group {group_id}: ends at {expected}, its record says {end[0]}")
    # One query is one snapshot: a hub that appends meanwhile moves both ends.
    beyond = connection.execute(
        "SELECT count(*) FROM groups, events WHERE number=:n AND pos>(:n<<40)|last_seq AND pos<(:n+1)<<40",
        {"n": number},
    ).fetchone()
    if beyond and beyond[0]:
        report.problems.append(
            f"group {group_id}: {beyond[0]} events lie beyond the end that its record says"
        )


def _recorded(
    connection: apsw.Connection, number: int, group_id: str, gone: dict[int, str], report: VerificationReport
) -> None:
    """Content goes by a record of who had it taken away; an event that lost it without one was changed."""
    if not gone:
        return
    rows = connection.execute(
        "SELECT target FROM marks WHERE group_no=? AND mark='delete'", (number,)
    ).fetchall()
    taken_back = {int(row[0]) for row in rows}
    glance = Glance(ReadModel(connection), number)
    for seq, event_id in gone.items():
        event = glance.event(event_id)
        if event is None or event.kind == QUOTING:
            continue
        first = first_form(event_id, glance)
        if first is None or first.seq not in taken_back:
            problem = "its content is gone, nobody took it back"
            report.problems.append(f"group {group_id} event {seq}: {problem}")


def _fault(raw: bytes, seq: int, event_id: bytes, said: tuple[str, str], last_ts: Moment) -> str:
    try:
        event = decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "its text is no event"
    at = parse_rfc3339(event.ts)
    if event.v != 1 or at is None or at < last_ts:
        return "version or time is wrong"
    if (event.seq, event.id, event.kind, event.group_id) != (seq, ids.text(event_id), *said):
        return "its text and its record differ"
    return ""


def _blobs(connection: apsw.Connection, folder: Path, entropy: Entropy, report: VerificationReport) -> None:
    blobs = BlobFolder(folder / "blobs", entropy)
    cached = connection.execute("SELECT 1 FROM facts WHERE name=?", (STREAM,)).fetchone() is not None
    for (sha256,) in connection.execute("SELECT DISTINCT sha256 FROM blobs").fetchall():
        report.blobs += 1
        if cached and not blobs.place(sha256).exists():
            continue  # it is in the stream, and fetched when somebody asks for it
        if not blobs.is_sound(sha256):
            report.problems.append(f"blob {sha256}: missing or changed")


def _projections(
    connection: apsw.Connection,
    path: Path,
    attending: Callable[[apsw.Connection], Engine] | None,
    report: VerificationReport,
) -> None:
    """Lay each projection beside one that is folded anew from the events, at one moment of the ledger."""
    with _scratch(path.parent) as scratch:
        copy = Path(scratch) / DATABASE
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT count(*) FROM groups").fetchall()
            with closing(connect(copy)) as again:
                with again.backup("main", connection, "main") as backup:
                    backup.step()
                again.execute("PRAGMA synchronous=OFF")
                written_by = _format(again)
                SCHEMA.migrate(again, copy)
                again.execute("BEGIN")
                engine = attending(again) if attending is not None else None
                folded_otherwise = engine is not None and folded_by(again) != fold_version(engine)
                report.is_older = written_by < len(SCHEMA.steps) or folded_otherwise
                _fold(again, copy, engine)
                if not report.is_older:
                    _compare(connection, again, engine is not None, report)
                again.execute("COMMIT")
        finally:
            connection.execute("ROLLBACK")


def _scratch(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A place for a copy: beside the ledger, or where the system keeps such things when that is read-only."""
    try:
        return tempfile.TemporaryDirectory(prefix=".verify-", dir=folder)
    except OSError:
        return tempfile.TemporaryDirectory(prefix="tacit-verify-")


def _fold(again: apsw.Connection, copy: Path, engine: Engine | None) -> None:
    writer = Writer(again, copy, TimeService(), SystemEntropy(), AdmissionSettings())
    if engine is not None:
        writer.attend(engine)
    fold_all(again, writer)


def _compare(
    live: apsw.Connection, again: apsw.Connection, has_folds: bool, report: VerificationReport
) -> None:
    for table in PROJECTIONS:
        if table == "folds" and not has_folds:
            continue
        report.projections += 1
        keys = [row[1] for row in live.execute(f"PRAGMA table_info({table})").fetchall() if row[5]]
        order = ", ".join(keys)
        _lay(table, len(keys), live, again, f"SELECT * FROM {table} ORDER BY {order}", report)  # noqa: S608
    report.projections += 1
    for one in (live, again):
        one.execute("CREATE VIRTUAL TABLE temp.verified_terms USING fts5vocab(main, search, instance)")
    try:
        words = "SELECT doc, col, offset, term FROM temp.verified_terms ORDER BY 1, 2, 3, 4"
        _lay("search", 1, live, again, words, report)
    finally:
        for one in (live, again):
            one.execute("DROP TABLE temp.verified_terms")


def _lay(
    table: str,
    keys: int,
    live: apsw.Connection,
    again: apsw.Connection,
    query: str,
    report: VerificationReport,
) -> None:
    """Rows beside rows; the first that differs is named by its key, which holds no words of anybody's."""
    for one, other in zip_longest(_all(live, query), _all(again, query)):
        if one != other:
            key = (one if other is None or (one is not None and one[:keys] < other[:keys]) else other) or ()
            where = ", ".join(str(part) for part in key[:keys])
            report.problems.append(
                f"projection {table} at ({where}): not what the events say; `tacit ledger rebuild` mends it"
            )
            return


def _all(connection: apsw.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    return iter(connection.execute(query))
