"""The read model's reading side: every query of the house, on a read-only connection of its own.

Nothing here reads a ledger from its start. What a principal may not see is left out and keeps its position,
so that the gap is visible (CCCS-110).
"""

from __future__ import annotations

import heapq
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

import apsw
from msgspec import DecodeError

from tacit.base import ids
from tacit.base.io.sqlite import is_damage
from tacit.base.moment import Moment, parse_rfc3339
from tacit.ledger.codes import invalid, missing
from tacit.ledger.cursor import matches
from tacit.ledger.envelope import SAYING, decode, without_words
from tacit.ledger.io import derived, noted
from tacit.ledger.io.audience_index import AudienceIndex, expressions
from tacit.ledger.io.groups import is_member, load_group
from tacit.ledger.io.read_model import (
    SELECT,
    Glance,
    ReadModel,
    found,
    messages_before,
    one,
    readable_blob,
    seen_by,
)
from tacit.ledger.io.schema import SEQ_MASK, SHIFT
from tacit.ledger.projection import first_form

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from tacit.ledger.cursor import Selection
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.io.salvage import Salvage
    from tacit.ledger.ports import Blob
    from tacit.ledger.state import Group

T = TypeVar("T")
CHUNK: Final = 256
PAGE_BYTES: Final = 4 * 1024 * 1024
_UNSEARCHABLE: Final = re.compile("[\\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class EventPage:
    """A stretch of a ledger; `next_seq` is where to go on."""

    events: list[StoredEvent]
    next_seq: int
    last_seq: int
    damaged: tuple[int, ...] = ()
    """Positions whose events can be vouched for no more: left out, and said."""


@dataclass(frozen=True, slots=True)
class InboxContents:
    """What waits for one principal."""

    unread: list[StoredEvent]
    unread_count: int
    attention: list[StoredEvent]
    attention_count: int
    notices: list[StoredEvent]
    cursor: int


def _events(led: Iterable[tuple[int, StoredEvent | None]]) -> list[StoredEvent]:
    return [event for _place, event in led if event is not None]


def _step(limit: int | None) -> int:
    """How many rows to fetch at first: no more than the answer can hold.

    Where that does not fill it, whole chunks follow: a short answer out of many rows that are not for its
    reader costs no query for each of them.
    """
    return CHUNK if limit is None else min(CHUNK, limit)


class Reader:
    """Queries on one read-only connection; used by one thread at a time."""

    def __init__(self, connection: apsw.Connection, salvage: Salvage) -> None:
        self._connection = connection
        self._salvage = salvage
        self._damaged: set[int] = set()
        self._hurt: tuple[str, ...] = ()
        self._may_lack: bool | None = None

    def damaged_tables(self) -> tuple[str, ...]:
        """Which tables that are derived from the events are damaged; looked for once they are."""
        self._hurt = self._hurt or derived.damaged(self._connection)
        return self._hurt

    @property
    def connection(self) -> apsw.Connection:
        """The read-only connection, for folds above the ledger that keep tables of their own."""
        return self._connection

    def glance(self, group: Group) -> Glance:
        """Look-ups of single events."""
        return Glance(ReadModel(self._connection), group.number)

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """All queries inside see the same moment: none of them can skip what another one already shows."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def group(self, group_id: str) -> Group:
        """A group, all of it that this node knows of; refuses an unknown one."""
        self._require_all((group_id,))
        group = load_group(self._connection, group_id)
        if group is None:
            raise missing("group", "no such group", "CCCS-007")
        return group

    def _require_all(self, only: Iterable[str] | None) -> None:
        """Every read of a group begins with the group: here it is made sure that no part of it is missing."""
        if self._may_lack is None:
            self._may_lack = noted.is_kept(self._connection)
        if self._may_lack:
            noted.require_all(self._connection, only)

    def is_member(self, group_id: str, principal: str) -> bool:
        """Is this an actor that is in the group now, or one of its people?"""
        return is_member(self._connection, group_id, principal)

    def groups(self, only: Iterable[str] | None = None) -> list[Group]:
        """All groups, or only these, oldest first; each as `group` gives it."""
        only = None if only is None else tuple(only)
        self._require_all(only)
        if only is None:
            rows = self._connection.execute("SELECT group_id FROM groups").fetchall()
            only = (row[0] for row in rows)
        loaded = (load_group(self._connection, group_id) for group_id in set(only))
        return sorted((group for group in loaded if group is not None), key=lambda group: group.number)

    def event(self, group: Group, event_id: str, principal: str) -> StoredEvent:
        """One event by id, if the principal may see it."""
        raw = ids.raw(event_id)
        event = self._single(raw, group.number) if raw else None
        if event is None or not event.visible_to(principal):
            raise missing("event", "no such event in this group", "CCCS-068")
        return event

    def reads_past(self, error: Exception) -> bool:
        """Is this damage, of which the rest can be read?"""
        return is_damage(error) or isinstance(error, DecodeError)

    def begin(self) -> None:
        """Begin to note what is left out."""
        self._damaged.clear()

    @property
    def left_out(self) -> tuple[int, ...]:
        """The positions whose events could not be vouched for since `begin`."""
        return tuple(sorted(self._damaged))

    def saved(self, number: int, after: int, last: int) -> list[StoredEvent]:
        """What can be vouched for of a stretch in which something is damaged."""
        return list(self._saved(number, after, last, None))

    def at(self, group: Group, seq: int) -> StoredEvent | None:
        """The event at a position; none where there is none, or it is damaged."""
        try:
            return one(self._connection, "WHERE e.pos=?", (group.number << SHIFT | seq,))
        except (apsw.Error, DecodeError) as error:
            if not self.reads_past(error):
                raise
        return next(iter(self.saved(group.number, seq - 1, seq)), None)

    def _single(self, raw: bytes, number: int) -> StoredEvent | None:
        condition = "WHERE e.id=? AND e.pos>>40=?"
        try:
            return one(self._connection, condition, (raw, number))
        except (apsw.Error, DecodeError) as error:
            if not self.reads_past(error):
                raise
        row = self._connection.execute("SELECT e.pos FROM events e " + condition, (raw, number)).fetchone()
        return self._salvage.event(self._connection, row[0]) if row else None

    def page(
        self, group: Group, principal: str, wanted: Selection, most_bytes: int = PAGE_BYTES
    ) -> EventPage:
        """Up to `limit` events after the cursor, in append order (CCCS-103).

        A page of large events ends early: at the first that fills `most_bytes`.
        Reads up to the end that `group` knew and no further: each kind is a query of its own, and an event
        that lands between two of them would otherwise be passed over.
        """
        noted_before, self._damaged = self._damaged, set()
        try:
            return self._page(group, principal, wanted, most_bytes)
        finally:
            self._damaged |= noted_before

    def _page(self, group: Group, principal: str, wanted: Selection, most_bytes: int) -> EventPage:
        after = self._after(group, wanted)
        kinds = self._kinds(wanted) if wanted.kinds else None
        events: list[StoredEvent] = []
        size = 0
        for event in self._scan(group, principal, after, kinds, _step(wanted.limit)):
            after = event.seq
            events.append(event)
            size += len(event.raw)
            if len(events) == wanted.limit or size >= most_bytes:
                return EventPage(self._as_left(group, events), after, group.last_seq, self._left_out(after))
        left_out = self._left_out(group.last_seq)
        return EventPage(self._as_left(group, events), max(after, group.last_seq), group.last_seq, left_out)

    def _as_left(self, group: Group, events: list[StoredEvent]) -> list[StoredEvent]:
        """The events, of messages that were taken back only where they stood (C2A-187)."""
        deleted = "SELECT target FROM marks WHERE group_no=? AND mark='delete'"
        if self._connection.execute(deleted + " LIMIT 1", (group.number,)).fetchone() is None:
            return events
        glance = self.glance(group)
        said = {
            event.seq: first.seq
            for event in events
            if event.kind in SAYING and (first := first_form(event.event_id, glance)) is not None
        }
        gone = {
            seq
            for seq, first in said.items()
            if self._connection.execute(deleted + " AND target=?", (group.number, first)).fetchone()
        }
        return [without_words(event) if event.seq in gone else event for event in events]

    def _left_out(self, last: int) -> tuple[int, ...]:
        return tuple(sorted(seq for seq in self._damaged if seq <= last))

    def _after(self, group: Group, wanted: Selection) -> int:
        if wanted.since_event_id is not None:
            raw = ids.raw(wanted.since_event_id)
            row = self._connection.execute(
                "SELECT pos FROM events WHERE id=? AND pos>>40=?", (raw, group.number)
            ).fetchone()
            if row is None:
                raise missing("event", "since_event_id names no event of this group", "CCCS-105")
            return int(row[0]) & SEQ_MASK
        if wanted.since_ts is not None:
            return self._before(group, wanted.since_ts)
        return wanted.since_seq or 0

    def _before(self, group: Group, moment: Moment) -> int:
        """The last position before a moment: times never decrease, so the ledger itself is the index."""
        low, high = 0, group.last_seq
        while low < high:
            middle = (low + high + 1) // 2
            event = self.at(group, middle)
            at = parse_rfc3339(decode(event.raw).ts) if event is not None else None
            if at is not None and at < moment:
                low = middle
            else:
                high = middle - 1
        return low

    def appended_since(self, group: Group, moment: Moment, what: Callable[[StoredEvent], T]) -> list[T]:
        """What is wanted of each event that was appended since a moment."""
        base, after = group.number << SHIFT, self._before(group, moment)
        try:
            rows = self._connection.execute(
                SELECT + "WHERE e.pos>? AND e.pos<=?", (base | after, base | group.last_seq)
            )
            return [what(event) for row in rows if (event := found(row))]
        except (apsw.Error, DecodeError) as error:
            if not self.reads_past(error):
                raise
        return [what(event) for event in self.saved(group.number, after, group.last_seq)]

    def _kinds(self, wanted: Selection) -> list[int]:
        rows = self._connection.execute("SELECT number, name FROM kinds")
        return [number for number, name in rows if any(matches(pattern, name) for pattern in wanted.kinds)]

    def _scan(
        self, group: Group, principal: str, after: int, kinds: list[int] | None, step: int
    ) -> Iterator[StoredEvent]:
        if kinds is None:
            yield from self._walk(group, principal, after, None, step)
        else:
            lanes = [self._walk(group, principal, after, kind, step) for kind in kinds]
            yield from heapq.merge(*lanes, key=lambda event: event.seq)

    def _walk(
        self, group: Group, principal: str, after: int, kind: int | None, step: int
    ) -> Iterator[StoredEvent]:
        base = group.number << SHIFT
        seen, reader = seen_by(group.number, principal)
        condition = "WHERE e.pos>? AND e.pos<=? " + ("" if kind is None else "AND e.kind=? ")
        query = f"{SELECT}{condition}AND {seen} ORDER BY e.pos LIMIT ?"
        kinds = () if kind is None else (kind,)
        while True:
            values = (base | after, base | group.last_seq, *kinds, *reader, step)
            count = 0
            try:
                # One row at a time: a page of large events that ends early has not read the others.
                for row in self._connection.execute(query, values):
                    count += 1
                    event = found(row)
                    after = event.seq
                    yield event
            except (apsw.Error, DecodeError) as error:
                if not self.reads_past(error):
                    raise
                end = min(after + CHUNK, group.last_seq)
                saved = self._saved(group.number, after, end, kind)
                yield from (event for event in saved if event.visible_to(principal))
                if end == group.last_seq:
                    return
                after = end
                continue
            if count < step:
                return
            step = CHUNK

    def _saved(self, number: int, after: int, last: int, kind: int | None) -> Iterator[StoredEvent]:
        """A stretch of the ledger in which something is damaged; what can be vouched for."""
        named = {row[0]: row[1] for row in self._connection.execute("SELECT number, name FROM kinds")}
        for seq, event in self._salvage.events(self._connection, number, after, last):
            if event is None:
                self._damaged.add(seq)
            elif kind is None or event.kind == named.get(kind):
                yield event

    def _led_to(
        self, source: str, place: str, rest: str, values: tuple[Any, ...]
    ) -> Iterator[tuple[int, StoredEvent | None]]:
        """The places to which a table leads, each with its event; None where that is damaged.

        `rest` is the end of the query, over `source` and the audiences `a` of its places.
        """
        count = 0
        try:
            for row in self._connection.execute(f"{SELECT} JOIN {source} ON e.pos={place} {rest}", values):
                led = int(row[0]), found(row)
                count += 1
                yield led
        except (apsw.Error, DecodeError) as error:
            if not self.reads_past(error):
                raise
        else:
            return
        query = f"SELECT {place} FROM {source} LEFT JOIN audiences a ON a.pos={place} {rest}"
        for (pos,) in self._connection.execute(query, values).fetchall()[count:]:
            yield pos, next(iter(self.saved(pos >> SHIFT, (pos & SEQ_MASK) - 1, pos & SEQ_MASK)), None)

    def window(self, group: Group, principal: str, before: int, limit: int) -> list[StoredEvent]:
        """The messages just before a position, oldest first: what a screen shows."""
        base = group.number << SHIFT
        upper = base | min(before, SEQ_MASK)
        try:
            return messages_before(self._connection, base, upper, limit, principal)[::-1]
        except (apsw.Error, DecodeError) as error:
            if not self.reads_past(error):
                raise
        kept: list[StoredEvent] = []
        last = min(before - 1, group.last_seq)
        while last > 0 and len(kept) < limit:
            some = self.saved(group.number, max(0, last - CHUNK), last)
            kept = [one for one in some if one.kind == "chat.message" and one.visible_to(principal)] + kept
            last -= CHUNK
        return kept[-limit:]

    def thread(self, group: Group, principal: str, event_id: str, limit: int) -> list[StoredEvent]:
        """A message and the newest replies in its thread, oldest first."""
        event = self.event(group, event_id, principal)
        root = event.root or event.seq
        seen, reader = seen_by(group.number, principal)
        rest = f"WHERE t.group_no=? AND t.root=? AND {seen} ORDER BY t.seq DESC LIMIT ?"
        values = (group.number, root, *reader, limit)
        replies = _events(self._led_to("threads t", "(t.group_no<<40)|t.seq", rest, values))
        first = self.at(group, root)
        head = [first] if first is not None and first.visible_to(principal) else []
        return head + replies[::-1]

    def trace(
        self,
        group: Group,
        principal: str,
        tid: str,
        limit: int,
        fits: Callable[[StoredEvent], bool] = lambda _event: True,
    ) -> list[StoredEvent]:
        """The messages that carry this CLowl trace, in append order; of those that fit."""
        seen, reader = seen_by(group.number, principal)
        rest = f"WHERE s.group_no=? AND s.tid=? AND {seen} ORDER BY s.seq"
        led = self._led_to("speech s", "(s.group_no<<40)|s.seq", rest, (group.number, tid, *reader))
        return list(islice((event for _, event in led if event is not None and fits(event)), limit))

    def unread_count(self, group: Group, principal: str) -> int:
        """How many addressed events lie after the read cursor; costs the same however many there are."""
        start = max(self.cursor(group, principal), group.joined_at(principal))
        own = self._beyond(group.number, "-" + principal, start)
        return self._beyond(group.number, principal, start) + self._beyond(group.number, "@all", start) - own

    def cursor(self, group: Group, principal: str) -> int:
        """The principal's read position."""
        row = self._connection.execute(
            "SELECT seq FROM reads WHERE group_no=? AND actor=?", (group.number, principal)
        ).fetchone()
        return int(row[0]) if row else 0

    def _beyond(self, number: int, lane: str, seq: int) -> int:
        end = self._connection.execute(
            "SELECT ordinal FROM lanes WHERE group_no=? AND lane=? ORDER BY seq DESC LIMIT 1", (number, lane)
        ).fetchone()
        if end is None:
            return 0
        start = self._connection.execute(
            "SELECT ordinal FROM lanes WHERE group_no=? AND lane=? AND seq<=? ORDER BY seq DESC LIMIT 1",
            (number, lane, seq),
        ).fetchone()
        return int(end[0]) - (int(start[0]) if start else 0)

    def inbox(self, group: Group, principal: str, limit: int) -> InboxContents:
        """Unread and owed, with counts (CCCS-058, CCCS-071)."""
        if not group.is_addressable(principal):
            raise missing("actor", "no such actor in this group", "CCCS-011")
        cursor = self.cursor(group, principal)
        count = self.unread_count(group, principal)
        start = max(cursor, group.joined_at(principal))
        return InboxContents(
            self._unread(group, principal, start, min(limit, count)),
            count,
            self._owed(group, principal, "ack", limit),
            self.duty_count(group, principal, "ack"),
            self._owed(group, principal, "notice", limit),
            cursor,
        )

    def _unread(self, group: Group, principal: str, start: int, limit: int) -> list[StoredEvent]:
        events: list[StoredEvent] = []
        if limit:
            step = _step(limit)
            lanes = (self._lane(group.number, lane, start, step) for lane in (principal, "@all"))
            for event in heapq.merge(*lanes, key=lambda event: event.seq):
                if event.by != principal and event.visible_to(principal):
                    events.append(event)
                    if len(events) == limit:
                        break
        return events

    def _lane(self, number: int, lane: str, after: int, step: int) -> Iterator[StoredEvent]:
        while True:
            rest = "WHERE l.group_no=? AND l.lane=? AND l.seq>? ORDER BY l.seq LIMIT ?"
            values = (number, lane, after, step)
            led = list(self._led_to("lanes l", "(l.group_no<<40)|l.seq", rest, values))
            yield from _events(led)
            if len(led) < step:
                return
            after = led[-1][0] & SEQ_MASK

    def _owed(self, group: Group, principal: str, duty: str, limit: int) -> list[StoredEvent]:
        rest = "WHERE d.group_no=? AND d.actor=? AND d.duty=? ORDER BY d.seq LIMIT ?"
        values = (group.number, principal, duty, limit)
        return _events(self._led_to("duties d", "(d.group_no<<40)|d.seq", rest, values))

    def duty_count(self, group: Group, principal: str, duty: str) -> int:
        """How many acknowledgements are open."""
        row = self._connection.execute(
            "SELECT open FROM duty_counts WHERE group_no=? AND actor=? AND duty=?",
            (group.number, principal, duty),
        ).fetchone()
        return int(row[0]) if row else 0

    def acks(self, group: Group, event: StoredEvent) -> dict[str, list[str]]:
        """Who acknowledged an event and who still owes it."""
        done = self._connection.execute(
            "SELECT actor FROM marks WHERE group_no=? AND target=? AND mark IN ('ack','notice') ORDER BY seq",
            (group.number, event.seq),
        )
        owing = self._connection.execute(
            "SELECT actor FROM duties WHERE group_no=:n AND duty IN ('ack','notice') AND seq=:s "
            "AND actor IN (SELECT actor_id FROM actors WHERE group_no=:n UNION "
            "SELECT principal FROM people WHERE group_no=:n UNION SELECT 'user')",
            {"n": group.number, "s": event.seq},
        )
        return {"acknowledged": [row[0] for row in done], "owing": [row[0] for row in owing]}

    def search(
        self,
        group: Group,
        principal: str,
        query: str,
        limit: int,
        fits: Callable[[StoredEvent], bool] = lambda _event: True,
    ) -> list[StoredEvent]:
        """Messages that contain every word of the query, newest first; of those that fit."""
        # SQLite reads a NUL as the end of the text; between words it means no more than a space.
        query = query.replace("\0", " ")
        if not query.strip() or len(query) > 500 or _UNSEARCHABLE.search(query):
            raise invalid("a search is 1 to 500 characters with at least one word", "CCCS-107")
        phrases = AudienceIndex(self._connection).phrases(query)
        if not phrases:
            return []
        asked = expressions(self._connection, group.number, principal, phrases)
        hits = (self._hits(group, match, _step(limit)) for match in asked)
        newest = heapq.merge(*hits, key=lambda event: event.seq, reverse=True)
        read = (event for event in newest if event.visible_to(principal) and fits(event))
        return list(islice(read, limit))

    def _hits(self, group: Group, match: str, step: int) -> Iterator[StoredEvent]:
        """What one expression finds in a group, newest first."""
        base = group.number << SHIFT
        upper = base | SEQ_MASK
        while True:
            rest = "WHERE search MATCH ? AND s.rowid>? AND s.rowid<? ORDER BY s.rowid DESC LIMIT ?"
            led = list(self._led_to("search s", "s.rowid", rest, (match, base, upper, step)))
            yield from _events(led)
            if len(led) < step:
                return
            upper, step = led[-1][0], CHUNK

    def context(self, group: Group, store: str) -> dict[str, Any]:
        """The shared context or the task store."""
        rows = self._connection.execute(
            "SELECT key, value FROM context WHERE group_no=? AND store=? ORDER BY key", (group.number, store)
        )
        return {key: json.loads(value) for key, value in rows}

    def blob(self, group: Group, principal: str, path: str) -> Blob:
        """A blob that the principal may see."""
        blob = readable_blob(self._connection, group.number, path, principal)
        if blob is None:
            raise missing("blob", "no such blob in this group", "CCCS-088")
        return blob

    def blob_bytes(self, group: Group, principal: str) -> tuple[int, int]:
        """What the blobs of a principal take, and those of the whole group."""
        row = self._connection.execute(
            "SELECT (SELECT coalesce(sum(b.bytes), 0) FROM blob_owners o JOIN blobs b USING(group_no, path) "
            "WHERE o.group_no=:group AND o.principal=:who), "
            "(SELECT coalesce(sum(bytes), 0) FROM blobs WHERE group_no=:group)",
            {"group": group.number, "who": principal},
        ).fetchone()
        return (int(row[0]), int(row[1])) if row is not None else (0, 0)

    def blobs_kept(self) -> list[tuple[str, str, int]]:
        """What files take: by group and principal, and with no principal for each whole group."""
        rows = self._connection.execute(
            "SELECT g.group_id, o.principal, sum(b.bytes) FROM blob_owners o "
            "JOIN blobs b USING(group_no, path) JOIN groups g ON g.number=b.group_no GROUP BY 1, 2 UNION ALL "
            "SELECT g.group_id, '', sum(b.bytes) FROM blobs b JOIN groups g ON g.number=b.group_no GROUP BY 1"
        )
        return [(str(group_id), str(who), int(taken)) for group_id, who, taken in rows]

    def reactions(self, group: Group, event: StoredEvent) -> list[dict[str, str]]:
        """Who reacted to an event with what."""
        rows = self._connection.execute(
            "SELECT actor, detail FROM marks WHERE group_no=? AND target=? AND mark='reaction' AND holds "
            "ORDER BY seq",
            (group.number, event.seq),
        )
        return [{"actor_id": actor, "emoji": emoji} for actor, emoji in rows]
