"""Content taken out of a ledger whose hub does not run, by its operator (C2A-187).

The same as a deletion by the owner, by the same command in the same writer: the record of it is an event,
what agents owed for it is called back, and everything is gone from the folder before this ends. For a message
that was taken back when its content stayed, another record says that the content goes now.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Self

from tacit.attention.commands import DeleteMessage
from tacit.attention.io.engine import AttentionEngine
from tacit.attention.state.records import DeleteRecord, submitted
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.sqlite import connect
from tacit.ledger.codes import missing
from tacit.ledger.envelope import decode
from tacit.ledger.io import erasure
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.principal import USER
from tacit.ledger.projection import first_form

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader

_STILL_THERE = """
SELECT g.group_id, m.target, m.seq FROM marks m JOIN groups g ON g.number=m.group_no
JOIN events e ON e.pos=(m.group_no<<40)|m.target
WHERE m.mark='delete' AND e.salt IS NOT x'' ORDER BY 1, 2
"""


class Redacting:
    """An open ledger from which content is taken; what is taken is gone when it is closed."""

    def __init__(self, folder: Path, clock: Clock, entropy: Entropy) -> None:
        options = StoreOptions(clock=clock, entropy=entropy, purpose="tacit ledger redact", readers=1)
        self._store = Store(folder, options, engine=AttentionEngine)

    def __enter__(self) -> Self:
        self._store.start()
        return self

    def __exit__(self, *_failed: object) -> None:
        self._store.close()
        with closing(connect(self._store.path, readonly=True)) as connection:
            if erasure.is_pending(connection):
                raise Unavailable("somebody reads this ledger: what was taken out goes at the next start")

    def one(self, name: str, event: str, reason: str) -> int:
        """A message, by its id or as `#position`, of a group by its id or title."""
        group_id, first, was_deleted = self._store.read(lambda reader: _message(reader, name, event))
        if decode(first.raw).redacted is not None:
            raise Refused("invalid_request", "its content is gone already", row="C2A-187")
        if was_deleted:
            self._record(group_id, DeleteRecord(event_id=first.event_id, by=USER, reason=reason))
        else:
            self._store.decide(DeleteMessage(group_id, USER, first.event_id, reason))
        return 1

    def taken_back(self, reason: str) -> int:
        """All that was taken back while its content stayed; in the name of who took it back."""
        found = self._store.read(_still_there)
        for group_id, event_id, by in found:
            self._record(group_id, DeleteRecord(event_id=event_id, by=by, reason=reason))
        return len(found)

    def _record(self, group_id: str, record: DeleteRecord) -> None:
        for submission in submitted(group_id, [record]):
            self._store.append(submission)


def _message(reader: Reader, name: str, event: str) -> tuple[str, StoredEvent, bool]:
    """The group, the first form of a message in it, and whether that was taken back."""
    titled = [group.group_id for group in reader.groups() if group.title == name]
    group = reader.group(titled[0] if len(titled) == 1 else name)
    glance = reader.glance(group)
    number = event.removeprefix("#")
    found = glance.at(int(number)) if number.isdecimal() else glance.event(event)
    first = first_form(found.event_id, glance) if found is not None else None
    if first is None:
        raise missing("event", "no such event in this group", "CCCS-068")
    if first.kind != "chat.message":
        raise Refused("invalid_request", "only a message has content that can be taken out", row="C2A-187")
    deleted = reader.connection.execute(
        "SELECT 1 FROM marks WHERE group_no=? AND target=? AND mark='delete'", (group.number, first.seq)
    ).fetchone()
    return group.group_id, first, deleted is not None


def _still_there(reader: Reader) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for group_id, target, seq in reader.connection.execute(_STILL_THERE).fetchall():
        glance = reader.glance(reader.group(group_id))
        message, deletion = glance.at(target), glance.at(seq)
        if message is not None and deletion is not None:
            found.append((group_id, message.event_id, str(deletion.data.get("by") or USER)))
    return found
