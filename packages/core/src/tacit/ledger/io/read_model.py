"""The read model's writing side: facts about events, staged during a batch and written in bulk before commit.

Look-ups see staged facts too; those of one group are what the rules may ask (`GroupLookup`, the `Lookup`
port). Which rows an event gives is decided by `tacit.ledger.projection`; this module only knows tables.

How events come back from the tables: one query text for writers, readers and tools.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from tacit.base import ids
from tacit.base.moment import Moment
from tacit.ledger.codes import denied, missing
from tacit.ledger.envelope import StoredEvent
from tacit.ledger.io.audience_index import (
    NEW_PARTY,
    NEW_TALK,
    AudienceIndex,
    parties_rows,
    parties_text,
)
from tacit.ledger.io.schema import SEQ_MASK, SHIFT
from tacit.ledger.ports import Blob, EarlierSubmission
from tacit.ledger.principal import USER, PrincipalKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from tacit.ledger.projection import Facts, Mark
    from tacit.ledger.state import Group


# In the order in which a flush writes: a duty must be there before it can be done.
INSERTS: Final = {
    "audiences": "INSERT INTO audiences VALUES(?,?,?,?,?,?)",
    "talks": NEW_TALK,
    "talk_parties": NEW_PARTY,
    "lanes": "INSERT INTO lanes VALUES(?,?,?,?)",
    "duties": "INSERT OR IGNORE INTO duties VALUES(?,?,?,?)",
    "done": "DELETE FROM duties WHERE group_no=? AND actor=? AND duty=? AND seq=?",
    "marks": "INSERT OR REPLACE INTO marks VALUES(?,?,?,?,?,?,?)",
    "reads": "INSERT OR REPLACE INTO reads VALUES(?,?,?,?)",
    "submissions": "INSERT OR REPLACE INTO submissions VALUES(?,?,?,?,?)",
    "threads": "INSERT INTO threads VALUES(?,?,?)",
    "speech": "INSERT INTO speech VALUES(?,?,?,?)",
    "blob_refs": "INSERT OR IGNORE INTO blob_refs VALUES(?,?,?)",
    "search": "INSERT INTO search(rowid, text) VALUES(?,?)",
}

RECENT: Final = 512
"""Events that are held for look-ups by id; an event never changes."""
RECENT_BYTES: Final = 16_384
"""Larger ones are not held: together they would weigh more than they save."""
FEW_KEYS: Final = 8
MOST_KEYS: Final = 64
"""How many idempotency keys are looked up at once."""
_EARLIER: Final = {
    size: "SELECT client_id, seq, at FROM submissions WHERE group_no=? AND by=? AND client_id IN "  # noqa: S608
    f"({','.join('?' * size)})"
    for size in (FEW_KEYS, MOST_KEYS)
}
MOST_REMEMBERED: Final = 50_000
"""Ends of lanes, and talks, that are held before they are looked up again."""
_DONE_BY: Final = {"ack": "ack", "notice": "notice", "withdrawn": "notice"}
"""Which duty a mark ends: acknowledging does, and so does taking the notice back."""


class ReadModel:
    """Staged rows of the open batch, and look-ups that see them."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.index: Final = AudienceIndex(connection)
        """How texts become what is searched for."""
        self._talks: dict[tuple[int, str], int] = {}
        self._staged: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._duty_changes: defaultdict[tuple[int, str, str], int] = defaultdict(int)
        self._ordinals: dict[tuple[int, str], int] = {}
        self._events: dict[tuple[int, str], StoredEvent] = {}
        # Committed events that were asked for lately: the rules ask for the same few again and again.
        self._recent: dict[tuple[int, str], StoredEvent] = {}
        self._by_seq: dict[tuple[int, int], StoredEvent] = {}
        # By key; None where a look-up found none.
        self._submissions: dict[tuple[int, str, str], EarlierSubmission | None] = {}
        self._marks: dict[tuple[int, str, int, str, str], tuple[int, bool]] = {}
        self._reads: dict[tuple[int, str], tuple[int, int]] = {}
        self._duties: dict[tuple[int, str, int], bool] = {}
        self._speech: dict[tuple[int, str], StoredEvent] = {}

    def stage(self, group: Group, found: StoredEvent, at: Moment, facts: Facts) -> None:
        """Remember one event's facts until `flush`."""
        number, seq = group.number, found.seq
        self._events[number, found.event_id] = found
        self._by_seq[number, seq] = found
        pos = number << SHIFT | seq
        talk = self._talk(number, pos, found) if found.private else 0
        if found.named or found.private or found.root or found.everyone != (found.kind in ADDRESSABLE):
            row = (pos, found.everyone, found.private, "\n".join(found.named), found.root, talk or None)
            self._staged["audiences"].append(row)
        if facts.addressed:
            self._stage_lanes(number, found)
        if facts.text and (document := self.index.document(number, talk, facts.text)):
            self._staged["search"].append((pos, document))
        if found.root:
            self._staged["threads"].append((number, found.root, seq))
        if facts.client_id is not None:
            self._staged["submissions"].append((number, found.by, facts.client_id, seq, at))
            self._submissions[number, found.by, facts.client_id] = EarlierSubmission(seq, at)
        for actor in facts.owing:
            self._open(number, actor, facts.duty, seq)
        if facts.mark is not None:
            self._stage_mark(number, seq, facts.mark)
        if facts.read is not None:
            actor, position = facts.read
            self._staged["reads"].append((number, actor, position, seq))
            self._reads[number, actor] = (position, seq)
        for path in facts.blobs:
            self._staged["blob_refs"].append((number, path, seq))
        if facts.speech is not None:
            mid, tid = facts.speech
            self._staged["speech"].append((number, mid, seq, tid))
            self._speech.setdefault((number, mid), found)
        if facts.changes or facts.left:
            self._stage_rare(number, seq, facts)

    def _talk(self, number: int, pos: int, found: StoredEvent) -> int:
        """The talk of a private event's parties; with it their talk begins when they had none."""
        key = (number, parties_text(found.parties()))
        talk = self._talks.get(key)
        if talk is None:
            row = self.connection.execute(
                "SELECT talk FROM talks WHERE group_no=? AND parties=?", key
            ).fetchone()
            talk = int(row[0]) if row else pos
            if row is None:
                self._staged["talks"].append((*key, talk))
                self._staged["talk_parties"] += parties_rows(*key, talk)
            self._talks[key] = talk
        return talk

    def _stage_lanes(self, number: int, found: StoredEvent) -> None:
        if found.everyone:
            self._lane(number, "@all", found.seq)
            self._lane(number, "-" + found.by, found.seq)
        for name in found.named:
            # Someone who is named and in `@all` counts once; actors are all in `@all`, humans read it too.
            if not found.everyone:
                self._lane(number, name, found.seq)

    def _lane(self, number: int, lane: str, seq: int) -> None:
        key = (number, lane)
        ordinal = self._ordinals.get(key)
        if ordinal is None:
            row = self.connection.execute(
                "SELECT ordinal FROM lanes WHERE group_no=? AND lane=? ORDER BY seq DESC LIMIT 1", key
            ).fetchone()
            ordinal = int(row[0]) if row else 0
        self._ordinals[key] = ordinal + 1
        self._staged["lanes"].append((number, lane, seq, ordinal + 1))

    def _open(self, number: int, actor: str, duty: str, seq: int) -> None:
        self._staged["duties"].append((number, actor, duty, seq))
        self._duties[number, actor, seq] = True
        self._duty_changes[number, actor, duty] += 1

    def _stage_mark(self, number: int, seq: int, mark: Mark) -> None:
        self._staged["marks"].append(
            (number, mark.target, mark.mark, mark.actor, mark.detail, seq, mark.holds)
        )
        self._marks[number, mark.mark, mark.target, mark.actor, mark.detail] = (seq, mark.holds)
        duty = _DONE_BY.get(mark.mark)
        if duty is not None and self.owes(number, mark.actor, mark.target):
            self._staged["done"].append((number, mark.actor, duty, mark.target))
            self._duties[number, mark.actor, mark.target] = False
            self._duty_changes[number, mark.actor, duty] -= 1

    def _stage_rare(self, number: int, seq: int, facts: Facts) -> None:
        self._write()
        for change in facts.changes:
            if change.value is None:
                self.connection.execute(
                    "DELETE FROM context WHERE group_no=? AND store=? AND key=?",
                    (number, change.store, change.key),
                )
            else:
                self.connection.execute(
                    "INSERT OR REPLACE INTO context VALUES(?,?,?,?,?)",
                    (number, change.store, change.key, change.value, seq),
                )
        if facts.left:
            for table in ("duties", "duty_counts"):
                self.connection.execute(
                    f"DELETE FROM {table} WHERE group_no=? AND actor=?",  # noqa: S608 - two fixed names
                    (number, facts.left),
                )

    def save_group(self, group: Group, member: str | None) -> None:
        """Write the group's own state after an event that changed more than its end: of its members, one."""
        number = group.number
        self.connection.execute(
            "INSERT OR REPLACE INTO profiles VALUES(?,?,?,?)",
            (number, group.title, group.created, json.dumps(group.scopes)),
        )
        if member is not None and (actor := group.actors.get(member)) is not None:
            roles = json.dumps(actor.roles)
            self.connection.execute(
                "INSERT OR REPLACE INTO actors VALUES(?,?,?,?,?,?,?)",
                (number, actor.actor_id, actor.role, actor.title, roles, actor.joined, actor.removed),
            )
        if member is not None and (person := group.people.get(member)) is not None:
            self.connection.execute(
                "INSERT OR REPLACE INTO people VALUES(?,?,?,?)",
                (number, person.principal, person.title, person.joined),
            )

    def flush(self) -> None:
        """Write all staged rows into the open transaction; look-ups go to the tables from here on."""
        self._write()
        self._events.clear()
        self._by_seq.clear()
        self._submissions.clear()
        self._marks.clear()
        self._reads.clear()
        self._duties.clear()
        self._speech.clear()
        if len(self._ordinals) > MOST_REMEMBERED:
            self._ordinals.clear()
        if len(self._talks) > MOST_REMEMBERED:
            self._talks.clear()

    def _write(self) -> None:
        for table, statement in INSERTS.items():
            rows = self._staged.get(table)
            if not rows:
                continue
            if table == "search":
                # The index starts a new segment whenever a document number goes back, so sort first.
                rows.sort()
            self.connection.executemany(statement, rows)
        self._staged.clear()
        if self._duty_changes:
            self.connection.executemany(
                "INSERT INTO duty_counts VALUES(?,?,?,?) ON CONFLICT DO UPDATE SET open=open+excluded.open",
                [(*key, change) for key, change in self._duty_changes.items()],
            )
            self._duty_changes.clear()

    def forget(self) -> None:
        """Drop what belonged to a transaction that did not commit."""
        self._staged.clear()
        self._recent.clear()
        self._duty_changes.clear()
        self._ordinals.clear()
        self._talks.clear()
        self.flush()

    def drop(self, number: int, events: Sequence[StoredEvent]) -> None:
        """Look these up again when they are next asked for: their content is gone."""
        for event in events:
            self._recent.pop((number, event.event_id), None)

    def owes(self, number: int, actor: str, target: int) -> bool:
        """Is a duty of this actor open on this event?"""
        staged = self._duties.get((number, actor, target))
        if staged is not None:
            return staged
        return (
            self.connection.execute(
                "SELECT 1 FROM duties WHERE group_no=? AND actor=? AND duty IN ('ack','notice') AND seq=?",
                (number, actor, target),
            ).fetchone()
            is not None
        )

    def event(self, number: int, event_id: str) -> StoredEvent | None:
        """An event of a group by its id."""
        key = (number, event_id)
        known = self._events.get(key) or self._recent.get(key)
        raw = ids.raw(event_id) if known is None else None
        if known is not None or raw is None:
            return known
        found = one(self.connection, "WHERE e.id=? AND e.pos>>40=?", (raw, number))
        if found is not None:
            self._remember(number, found)
        return found

    def _remember(self, number: int, found: StoredEvent) -> None:
        """It was asked for, and may soon be asked for by its id."""
        key = (number, found.event_id)
        if key not in self._recent and len(found.raw) <= RECENT_BYTES:
            while len(self._recent) >= RECENT:
                del self._recent[next(iter(self._recent))]
            self._recent[key] = found

    def at(self, number: int, seq: int) -> StoredEvent | None:
        """An event of a group by its position."""
        staged = self._by_seq.get((number, seq))
        return staged or one(self.connection, "WHERE e.pos=?", (number << SHIFT | seq,))

    def messages(self, number: int, limit: int) -> list[StoredEvent]:
        """The last messages of a group, oldest first."""
        known = messages_before(self.connection, number << SHIFT, (number + 1) << SHIFT, limit)
        for found in reversed(known):
            self._remember(number, found)
        staged = [
            found
            for (group, _), found in self._by_seq.items()
            if group == number and found.kind == "chat.message"
        ]
        return [*reversed(known), *sorted(staged, key=lambda found: found.seq)][-limit:]

    def look_ahead(self, keys: Sequence[tuple[int, str, str]]) -> None:
        """Look up the submissions of a whole batch in one query; most are new and cost no more after it."""
        of_whom: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        for number, by, client_id in keys:
            of_whom[number, by].append(client_id)
        self._submissions.update(dict.fromkeys(keys))
        for (number, by), wanted in of_whom.items():
            for at in range(0, len(wanted), MOST_KEYS):
                self._look_up(number, by, wanted[at : at + MOST_KEYS])

    def _look_up(self, number: int, by: str, wanted: list[str]) -> None:
        # One of few statements, so that it is prepared once: the last key fills what is over.
        size = FEW_KEYS if len(wanted) <= FEW_KEYS else MOST_KEYS
        filled = wanted + wanted[-1:] * (size - len(wanted))
        for client_id, seq, at in self.connection.execute(_EARLIER[size], (number, by, *filled)):
            self._submissions[number, by, client_id] = EarlierSubmission(seq, Moment(at))

    def submission(self, number: int, by: str, client_id: str) -> EarlierSubmission | None:
        """The last submission under a key."""
        key = (number, by, client_id)
        if key in self._submissions:
            return self._submissions[key]
        row = self.connection.execute(
            "SELECT seq, at FROM submissions WHERE group_no=? AND by=? AND client_id=?",
            key,
        ).fetchone()
        return EarlierSubmission(row[0], Moment(row[1])) if row else None

    def mark(self, number: int, mark: str, target: int, actor: str, detail: str) -> tuple[int, bool] | None:
        """Who set a mark, and whether it holds."""
        staged = self._marks.get((number, mark, target, actor, detail))
        if staged is not None:
            return staged
        row = self.connection.execute(
            "SELECT seq, holds FROM marks WHERE group_no=? AND target=? AND mark=? AND actor=? AND detail=?",
            (number, target, mark, actor, detail),
        ).fetchone()
        return (row[0], bool(row[1])) if row else None

    def read_position(self, number: int, actor: str) -> tuple[int, int] | None:
        """(position read, event that said so)."""
        staged = self._reads.get((number, actor))
        if staged is not None:
            return staged
        row = self.connection.execute(
            "SELECT seq, said FROM reads WHERE group_no=? AND actor=?", (number, actor)
        ).fetchone()
        return (row[0], row[1]) if row else None

    def has_task(self, number: int, task_id: str) -> bool:
        """Is the task in the group's store?"""
        row = self.connection.execute(
            "SELECT 1 FROM context WHERE group_no=? AND store='tasks' AND key=?", (number, task_id)
        ).fetchone()
        return row is not None

    def speech(self, number: int, mid: str) -> StoredEvent | None:
        """The first message that carries this CLowl id."""
        row = self.connection.execute(
            "SELECT seq FROM speech WHERE group_no=? AND mid=? ORDER BY seq LIMIT 1", (number, mid)
        ).fetchone()
        return self.at(number, row[0]) if row else self._speech.get((number, mid))

    def blob(self, number: int, path: str, reader: str) -> Blob | None:
        """The blob, if this reader put it there or can see an event that carries it."""
        return readable_blob(self.connection, number, path, reader)


# Who put it there, who may read a message that carries it and was not taken back; and the owner, unless every
# message that carried it was.
_MAY_READ_BLOB: Final = """
SELECT 1 FROM blob_owners WHERE group_no=:group AND path=:path AND principal=:reader
UNION ALL
SELECT 1 FROM blob_refs r LEFT JOIN audiences a ON a.pos=(r.group_no<<40)|r.seq
WHERE r.group_no=:group AND r.path=:path
  AND (:reader=:owner OR NOT coalesce(a.private, 0) OR EXISTS(
    SELECT 1 FROM talk_parties p WHERE p.group_no=:group AND p.principal=:reader AND p.talk=a.talk))
  AND NOT EXISTS(
    SELECT 1 FROM marks m WHERE m.group_no=r.group_no AND m.target=r.seq AND m.mark='delete')
UNION ALL
SELECT 1 WHERE :reader=:owner AND NOT EXISTS(SELECT 1 FROM blob_refs WHERE group_no=:group AND path=:path)
LIMIT 1
"""


def readable_blob(connection: apsw.Connection, number: int, path: str, reader: str) -> Blob | None:
    """A blob of a group that `reader` may see (CCCS-110)."""
    row = connection.execute(
        "SELECT sha256, bytes, mime_type FROM blobs WHERE group_no=? AND path=?", (number, path)
    ).fetchone()
    if row is None:
        return None
    blob = Blob(path, row[0], row[1], row[2])
    allowed = connection.execute(
        _MAY_READ_BLOB, {"group": number, "path": path, "reader": reader, "owner": USER}
    ).fetchone()
    return blob if allowed else None


class Glance:
    """Look-ups of single events in one group, as the rules make them; on a reader's connection too."""

    __slots__ = ("_model", "_number")

    def __init__(self, model: ReadModel, number: int) -> None:
        self._model = model
        self._number = number

    def event(self, event_id: str) -> StoredEvent | None:
        """The event with this id, in this group."""
        return self._model.event(self._number, event_id)

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position, in this group."""
        return self._model.at(self._number, seq)

    def messages(self, limit: int) -> list[StoredEvent]:
        """The last messages, oldest first."""
        return self._model.messages(self._number, limit)

    def submission(self, by: str, client_id: str) -> EarlierSubmission | None:
        """The last submission under this idempotency key."""
        return self._model.submission(self._number, by, client_id)


class Sources(Protocol):
    """Where a view belongs: the model of all groups, and who may read what in another one."""

    @property
    def model(self) -> ReadModel:
        """The look-ups of the open batch."""
        ...

    def require_source(self, group_id: str, event_id: str, reader: str) -> None:
        """Refuses unless it is an event that `reader` may read, in any group."""
        ...


class GroupLookup(Glance):
    """All of one group's look-ups for the rules (the `Lookup` port), on the writer's model."""

    __slots__ = ("_writer",)

    def __init__(self, writer: Sources, number: int) -> None:
        super().__init__(writer.model, number)
        self._writer = writer

    def mark(self, mark: str, target: int, actor: str, detail: str = "") -> tuple[int, bool] | None:
        """The event that set a mark, and whether it still holds."""
        return self._model.mark(self._number, mark, target, actor, detail)

    def owes(self, actor: str, target: int) -> bool:
        """Is an acknowledgement by this actor open?"""
        return self._model.owes(self._number, actor, target)

    def read_position(self, actor: str) -> tuple[int, int] | None:
        """(position read, event that said so)."""
        return self._model.read_position(self._number, actor)

    def blob(self, path: str, reader: str) -> Blob | None:
        """The blob, if this reader may see it."""
        return self._model.blob(self._number, path, reader)

    def has_task(self, task_id: str) -> bool:
        """Does the group's task store have it?"""
        return self._model.has_task(self._number, task_id)

    def speech(self, mid: str) -> StoredEvent | None:
        """The first message of the group that carries this CLowl id."""
        return self._model.speech(self._number, mid)

    def require_source(self, group_id: str, event_id: str, reader: str) -> None:
        """Refuses unless it is an event of another group that `reader` may read."""
        self._writer.require_source(group_id, event_id, reader)


class Views(dict[int, GroupLookup]):
    """The views of a writer's groups, by number, each made when it is first asked for."""

    def __init__(self, writer: Sources) -> None:
        super().__init__()
        self._writer = writer

    def __missing__(self, number: int) -> GroupLookup:
        view = self[number] = GroupLookup(self._writer, number)
        return view


def require_part(group: Group, reader: str) -> None:
    """Refuses who takes no part in a group (CCCS-095)."""
    if reader != USER and kind_of(reader) is not PrincipalKind.SERVICE and not group.has_member(reader):
        raise denied("this principal takes no part in the source group", "CCCS-095")


def require_readable(model: ReadModel, group: Group, event_id: str, reader: str) -> None:
    """Refuses unless it is an event of this group that `reader` may read (CCCS-095)."""
    require_part(group, reader)
    found = model.event(group.number, event_id)
    if found is None:
        raise missing("event", "the source event does not exist", "CCCS-095")
    if not found.visible_to(reader):
        raise denied("this principal may not read the source event", "CCCS-095")
    if model.mark(group.number, "delete", found.seq, "", "") is not None:
        raise missing("event", "the source event was deleted", "C2A-187")


ADDRESSABLE: Final = frozenset({"chat.message", "system.notify"})

SELECT: Final = """
SELECT e.pos, e.id, (SELECT name FROM kinds WHERE number=e.kind), e.raw,
  a.everyone, a.private, a.named, a.root
FROM events e LEFT JOIN audiences a ON a.pos=e.pos
"""


_IS_MESSAGE: Final = "e.kind=(SELECT number FROM kinds WHERE name='chat.message')"
_SEEN: Final = (
    "(NOT coalesce(a.private, 0) OR EXISTS(SELECT 1 FROM talk_parties p "
    "WHERE p.group_no=? AND p.principal=? AND p.talk=a.talk))"
)


def seen_by(number: int, principal: str) -> tuple[str, tuple[Any, ...]]:
    """What `StoredEvent.visible_to` says, for a query over `audiences a` (CCCS-110).

    Asked in the query itself, so that its limit counts only what the reader may see.
    """
    return ("1", ()) if principal == USER else (_SEEN, (number, principal))


class _By(msgspec.Struct):
    by: str


_by: Final = msgspec.json.Decoder(_By)


def found(row: Sequence[Any]) -> StoredEvent:
    """An event with its audience; without an audience row the kind says what it is."""
    pos, event_id, kind, raw, everyone, private, named, root = row
    raw = bytes(raw)
    by = _by.decode(raw).by
    if everyone is None:
        return StoredEvent(pos & SEQ_MASK, ids.text(event_id), kind, by, raw, everyone=kind in ADDRESSABLE)
    return StoredEvent(
        pos & SEQ_MASK,
        ids.text(event_id),
        kind,
        by,
        raw,
        bool(everyone),
        tuple(named.split("\n")) if named else (),
        bool(private),
        root,
    )


def messages_before(
    connection: apsw.Connection, base: int, upper: int, limit: int, principal: str = USER
) -> list[StoredEvent]:
    """The messages between two places that a principal may see, newest first."""
    seen, values = seen_by(base >> SHIFT, principal)
    rows = connection.execute(
        f"{SELECT}WHERE e.pos>? AND e.pos<? AND {_IS_MESSAGE} AND {seen} ORDER BY e.pos DESC LIMIT ?",
        (base, upper, *values, limit),
    )
    return [found(row) for row in rows]


def one(connection: apsw.Connection, where: str, values: tuple[Any, ...]) -> StoredEvent | None:
    """The event that a condition singles out."""
    row = connection.execute(SELECT + where, values).fetchone()
    return found(row) if row else None
