"""What a screen shows of a ledger: messages either way from a position, each with all that hangs on it.

A row is an event with its reactions, acknowledgements, replies, newest edit and deletion (C2A-214). Three
places: the room, one private conversation, one thread. What a principal may not see is left out (CCCS-110),
and so is an event that is damaged, which the reader then names; the rest is shown. Knows nothing of
attention.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import apsw
from msgspec import DecodeError

from tacit.base import ids
from tacit.ledger.io.audience_index import parties_text
from tacit.ledger.io.read_model import SELECT, found, seen_by
from tacit.ledger.io.schema import SEQ_MASK, SHIFT
from tacit.ledger.principal import USER
from tacit.ledger.projection import before

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.state import Group

SHOWN: Final = (
    "chat.message",
    "system.notify",
    "group.create",
    "actor.add",
    "actor.remove",
    "x.tacit.person.add",
)
STEP: Final = 128
STRETCH_BYTES: Final = 512 * 1024
PRIVATE_SCAN: Final = 4000
QUOTE: Final = 160
RECEIVED: Final = 100
_IN_TALK: Final = SELECT.replace("LEFT JOIN", "JOIN")
"""For walks along one talk, which its own index leads."""
_OF_TALK: Final = "a.private AND a.talk=?"
_NEWEST: Final = f"""{_IN_TALK}
WHERE a.private AND a.talk=? AND e.kind=(SELECT number FROM kinds WHERE name='chat.message')
  AND (?='' OR instr(char(10)||a.named||char(10), char(10)||?||char(10)))
ORDER BY a.pos DESC LIMIT ?
"""  # noqa: S608 - fixed text
_PLACES: Final = """
SELECT a.pos FROM audiences a WHERE a.private AND a.talk=?
  AND (?='' OR instr(char(10)||a.named||char(10), char(10)||?||char(10))) ORDER BY a.pos DESC
"""
_REPLIES: Final = """
SELECT t.root, COALESCE(a.private, 0), COUNT(*) FROM threads t
LEFT JOIN audiences a ON a.pos=(t.group_no<<40)|t.seq
WHERE t.group_no=? AND t.root BETWEEN ? AND ? AND {seen} GROUP BY 1, 2
"""
_TRACES: Final = """
SELECT s.tid, MIN(s.seq), MAX(s.seq), COUNT(*) FROM speech s
LEFT JOIN audiences a ON a.pos=(s.group_no<<40)|s.seq
WHERE s.group_no=? AND s.tid<>'' AND {seen}
  AND NOT EXISTS(SELECT 1 FROM marks m WHERE m.group_no=s.group_no AND m.target=s.seq AND m.mark='delete')
GROUP BY s.tid ORDER BY MAX(s.seq) DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class TimelinePlace:
    """Where one looks: the whole room, the parties of a private conversation, or a thread's root."""

    parties: frozenset[str] | None = None
    root: int | None = None

    def holds(self, event: StoredEvent) -> bool:
        """Does this event stand here?"""
        if self.root is not None:
            return self.root in {event.seq, event.root}
        if self.parties is not None:
            return event.private and event.parties() == self.parties
        return not event.private


@dataclass(slots=True)
class Row:
    """One event as a screen shows it."""

    event: StoredEvent
    reactions: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    acknowledged: list[str] = field(default_factory=list[str])
    owing: list[str] = field(default_factory=list[str])
    replies: int = 0
    root_id: str | None = None
    quoted: StoredEvent | None = None
    quoted_edit: StoredEvent | None = None
    edit: StoredEvent | None = None
    deleted: bool = False
    quoted_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Private:
    """A private conversation: its parties, its end, and where its newest messages to one reader stand."""

    parties: tuple[str, ...]
    last_seq: int
    received: tuple[int, ...]


def stretch(
    reader: Reader, group: Group, principal: str, place: TimelinePlace, *, start: int, back: bool, limit: int
) -> tuple[list[StoredEvent], bool]:
    """Up to `limit` events of a place, going back from `start` or on from it (exclusive), oldest first.

    And whether it is cut: large events end it early, at the first that fills `STRETCH_BYTES`.
    """
    try:
        walk = _walk(reader.connection, group, principal, place, start, back=back)
        seen, is_cut = _some(filter(place.holds, walk), limit)
    except (apsw.Error, DecodeError) as error:
        if not reader.reads_past(error):
            raise
        seen, is_cut = _some(_past_damage(reader, group, principal, place, start, back=back), limit)
    return (seen[::-1] if back else seen), is_cut


def _some(events: Iterable[StoredEvent], limit: int) -> tuple[list[StoredEvent], bool]:
    """So many of these events as make one answer, and whether there may be more."""
    chosen: list[StoredEvent] = []
    size = 0
    for event in events:
        chosen.append(event)
        size += len(event.raw)
        if len(chosen) == limit or size >= STRETCH_BYTES:
            return chosen, True
    return chosen, False


def _past_damage(
    reader: Reader, group: Group, principal: str, place: TimelinePlace, start: int, *, back: bool
) -> Iterator[StoredEvent]:
    """The same walk, event by event, past those that nobody can vouch for."""
    first, last = (0, min(start - 1, group.last_seq)) if back else (start, group.last_seq)
    while first < last:
        after, upto = (max(first, last - STEP), last) if back else (first, min(last, first + STEP))
        events = reader.saved(group.number, after, upto)
        for event in reversed(events) if back else events:
            shown = place.parties is not None or place.root is not None or event.kind in SHOWN
            if shown and event.visible_to(principal) and place.holds(event):
                yield event
        first, last = (first, after) if back else (upto, last)


def _walk(
    connection: apsw.Connection, group: Group, principal: str, place: TimelinePlace, start: int, *, back: bool
) -> Iterator[StoredEvent]:
    seen, reader = seen_by(group.number, principal)
    if place.root is not None:
        whole = "e.pos IN (SELECT (group_no<<40)|seq FROM threads WHERE group_no=? AND root=?)"
        sources = [f"{whole} AND {seen}", f"e.pos=? AND {seen}"]
        values: list[tuple[Any, ...]] = [
            (group.number, place.root, *reader),
            (group.number << SHIFT | place.root, *reader),
        ]
    elif place.parties is not None:
        row = connection.execute(
            "SELECT talk FROM talks WHERE group_no=? AND parties=?",
            (group.number, parties_text(place.parties)),
        ).fetchone()
        if row is None or principal not in {USER, *place.parties}:
            return
        sources, values = [_OF_TALK], [(row[0],)]
    else:
        numbers = dict(connection.execute("SELECT name, number FROM kinds").fetchall())
        values = [(numbers[kind],) for kind in SHOWN if kind in numbers]
        sources = ["e.kind=? AND NOT coalesce(a.private, 0)"] * len(values)
    lanes = [
        _lane(connection, group, source, bound, start, back=back)
        for source, bound in zip(sources, values, strict=True)
    ]
    yield from heapq.merge(*lanes, key=lambda event: event.seq, reverse=back)


def _lane(
    connection: apsw.Connection,
    group: Group,
    source: str,
    bound: tuple[Any, ...],
    start: int,
    *,
    back: bool,
) -> Iterator[StoredEvent]:
    base = group.number << SHIFT
    text, pos = (_IN_TALK, "a.pos") if source is _OF_TALK else (SELECT, "e.pos")
    order = f"{pos}>? AND {pos}<? ORDER BY {pos} DESC" if back else f"{pos}>? AND {pos}<=? ORDER BY {pos}"
    at = min(start, SEQ_MASK)
    while True:
        low, high = (0, at) if back else (at, group.last_seq)
        rows = connection.execute(
            f"{text} WHERE {source} AND {order} LIMIT ?",
            (*bound, base | low, base | high, STEP),
        )
        count = 0
        # One row at a time: a stretch of large events that ends early has not read the others.
        for row in rows:
            count += 1
            at = int(row[0]) & SEQ_MASK
            yield found(row)
        if count < STEP:
            return


def rows(reader: Reader, group: Group, principal: str, events: Sequence[StoredEvent]) -> list[Row]:
    """The events with what hangs on them."""
    if not events:
        return []
    made = {event.seq: Row(event) for event in events}
    _hang_marks(reader, group, made)
    _count_replies(reader, group, principal, made)
    for row in made.values():
        event = row.event
        data = event.data
        if data.get("priority") == "attention" or data.get("requires_ack") is True:
            signs = reader.acks(group, event)
            row.acknowledged, row.owing = signs["acknowledged"], signs["owing"]
        if event.root:
            _link(reader, group, principal, row)
    return list(made.values())


def _hang_marks(reader: Reader, group: Group, made: dict[int, Row]) -> None:
    marks = reader.connection.execute(
        "SELECT target, mark, actor, detail, seq FROM marks WHERE group_no=? AND target BETWEEN ? AND ? "
        "AND holds AND mark IN ('reaction','edit','delete') ORDER BY seq",
        (group.number, min(made), max(made)),
    )
    for target, mark, actor, detail, seq in marks.fetchall():
        row = made.get(target)
        if row is None:
            continue
        if mark == "reaction":
            row.reactions.append({"actor_id": actor, "emoji": detail})
        elif mark == "edit":
            row.edit = reader.at(group, seq)
        else:
            row.deleted = True


def _count_replies(reader: Reader, group: Group, principal: str, made: dict[int, Row]) -> None:
    counts: defaultdict[int, int] = defaultdict(int)
    seen, values = seen_by(group.number, principal)
    threads = reader.connection.execute(
        _REPLIES.format(seen=seen),
        (group.number, min(made), max(made), *values),
    )
    for root, private, count in threads:
        # A private answer to an open message is nobody else's business, not even as a number.
        if root in made and (made[root].event.private or not private):
            counts[root] += count
    for root, count in counts.items():
        made[root].replies = count


def _link(reader: Reader, group: Group, principal: str, row: Row) -> None:
    root = reader.at(group, row.event.root)
    row.root_id = root.event_id if root is not None else None
    replied = row.event.data.get("reply_to")
    raw = ids.raw(replied) if isinstance(replied, str) else None
    parent = _named(reader, group, raw)
    quoted = original(reader, group, parent) if parent is not None else None
    if quoted is not None and quoted.visible_to(principal):
        row.quoted = quoted
        row.quoted_edit = _newest_edit(reader, group, quoted.seq)
        row.quoted_deleted = is_deleted(reader, group, quoted.seq)


def _newest_edit(reader: Reader, group: Group, seq: int) -> StoredEvent | None:
    row = reader.connection.execute(
        "SELECT seq FROM marks WHERE group_no=? AND target=? AND mark='edit' ORDER BY seq DESC LIMIT 1",
        (group.number, seq),
    ).fetchone()
    return reader.at(group, row[0]) if row else None


def _named(reader: Reader, group: Group, raw: bytes | None) -> StoredEvent | None:
    """The event with this id; none where it is damaged."""
    row = reader.connection.execute(
        "SELECT pos FROM events WHERE id=? AND pos>>40=?", (raw, group.number)
    ).fetchone()
    return reader.at(group, row[0] & SEQ_MASK) if row else None


def is_deleted(reader: Reader, group: Group, seq: int) -> bool:
    """Was the message at this position taken back?"""
    row = reader.connection.execute(
        "SELECT 1 FROM marks WHERE group_no=? AND target=? AND mark='delete'", (group.number, seq)
    ).fetchone()
    return row is not None


def original(reader: Reader, group: Group, event: StoredEvent) -> StoredEvent | None:
    """The message behind an edit; the event itself when it is none."""
    seen: set[str] = set()
    at: StoredEvent | None = event
    while at is not None and at.kind == "x.c2a.edit" and at.event_id not in seen:
        seen.add(at.event_id)
        raw = ids.raw(before(at.data))
        at = _named(reader, group, raw)
    return at


def _of_talk(reader: Reader, talk: int, recipient: str, most: int) -> list[StoredEvent]:
    """The newest messages of a private talk, to one of its parties where that is named."""
    try:
        return [found(row) for row in reader.connection.execute(_NEWEST, (talk, recipient, recipient, most))]
    except (apsw.Error, DecodeError) as error:
        if not reader.reads_past(error):
            raise
    places = reader.connection.execute(_PLACES, (talk, recipient, recipient)).fetchall()
    saved = (
        event
        for (pos,) in places
        for event in reader.saved(pos >> SHIFT, (pos & SEQ_MASK) - 1, pos & SEQ_MASK)
        if event.kind == "chat.message"
    )
    return list(islice(saved, most))


def privates(reader: Reader, group: Group, principal: str) -> list[Private]:
    """The private conversations that a principal may see, the newest first.

    What others say among themselves pushes nothing out and is not read.
    """
    mine = "" if principal == USER else "AND principal=?"
    query = f"SELECT DISTINCT talk FROM talk_parties WHERE group_no=? {mine}"  # noqa: S608 - fixed text
    talks = reader.connection.execute(query, (group.number, *([principal] if mine else ()))).fetchall()
    newest = sorted(
        ((event, talk) for (talk,) in talks for event in _of_talk(reader, talk, "", 1)),
        key=lambda last: -last[0].seq,
    )
    listed: list[Private] = []
    left = PRIVATE_SCAN
    for event, talk in newest[:PRIVATE_SCAN]:
        parties, most = event.parties(), min(RECEIVED, left)
        received = (
            tuple(one.seq for one in _of_talk(reader, talk, principal, most)) if principal in parties else ()
        )
        left -= len(received)
        listed.append(Private(tuple(sorted(parties)), event.seq, received))
    return listed


def traces(reader: Reader, group: Group, principal: str, limit: int) -> list[dict[str, Any]]:
    """The CLowl traces of a group, the newest first, each with its first and last message.

    What the principal may not see and what was taken back is not there, not even as a number.
    """
    seen, values = seen_by(group.number, principal)
    found_rows = reader.connection.execute(
        _TRACES.format(seen=seen), (group.number, *values, limit)
    ).fetchall()
    listed: list[dict[str, Any]] = []
    for tid, first, last, count in found_rows:
        opening, closing = reader.at(group, first), reader.at(group, last)
        if opening is not None and closing is not None:
            listed.append({"tid": tid, "first": opening, "last": closing, "count": count})
    return listed
