"""What a harness must not forget: its inbox, what it is about to say, what it spent.

Rows: C2A-160, C2A-162, C2A-167. One SQLite file for each agent. An event is kept before it is accepted; a
body is kept with its key before it is sent; what a turn leads to is one transaction. Ids are remembered
for more than seven days after the event is done. Decides nothing.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from tacit.base.errors import Corrupt, Unavailable
from tacit.base.io.sqlite import DAMAGED, FAILED, Schema, connect
from tacit.base.moment import SECOND, Moment, earlier
from tacit.c2a.messages import Delivered, read_delivered
from tacit.harness.budget import DaySpending, Spending, day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path

    import apsw

    from tacit.base.moment import ConfirmedTime
    from tacit.harness.effects import Spent

_AFRESH: Final = "the agent begins afresh, and what it had not answered goes on to somebody else in time"
REMEMBERED: Final = 8 * 86_400 * SECOND
COSTS_REMEMBERED: Final = 400 * 86_400 * SECOND
"""`tacit agents --days` looks back a year."""
KEPT_SESSIONS: Final = 500
"""Audiences whose session is remembered."""
_SCHEMA: Final = Schema(
    0x7AC17402,
    [
        """
        CREATE TABLE events (
          event_id TEXT PRIMARY KEY, request_id TEXT NOT NULL, params BLOB NOT NULL, arrived INTEGER NOT NULL,
          state TEXT NOT NULL, turn_id TEXT NOT NULL DEFAULT '', failed INTEGER NOT NULL DEFAULT 0,
          runs INTEGER NOT NULL DEFAULT 0, ended INTEGER) WITHOUT ROWID;
        CREATE INDEX events_open ON events(arrived) WHERE state != 'done';
        CREATE INDEX events_by_request ON events(request_id);
        CREATE TABLE outbox (
          position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, turn_id TEXT NOT NULL,
          event_id TEXT NOT NULL, name TEXT NOT NULL, arguments BLOB NOT NULL, state TEXT NOT NULL,
          result TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL);
        CREATE INDEX outbox_ready ON outbox(position) WHERE state = 'ready';
        CREATE INDEX outbox_by_turn ON outbox(turn_id);
        CREATE INDEX outbox_by_event ON outbox(event_id);
        CREATE TABLE spent (
          turn_id TEXT PRIMARY KEY, day TEXT NOT NULL, event_id TEXT NOT NULL, tokens_in INTEGER NOT NULL,
          tokens_out INTEGER NOT NULL, tokens_cached INTEGER NOT NULL, cost_usd REAL, at INTEGER NOT NULL);
        CREATE INDEX spent_by_day ON spent(day);
        CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        """,
        """
        ALTER TABLE spent ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
        ALTER TABLE spent ADD COLUMN model TEXT NOT NULL DEFAULT '';
        ALTER TABLE spent ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
        """,
        # The one session that was kept before held private talk beside the room's: it is not continued.
        """
        CREATE TABLE sessions (
          audience TEXT PRIMARY KEY, session_id TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX sessions_by_use ON sessions(used);
        DELETE FROM notes WHERE name = 'session';
        """,
        "CREATE TABLE permissions (key TEXT PRIMARY KEY, asked BLOB NOT NULL) WITHOUT ROWID;",
    ],
)


@dataclass(frozen=True, slots=True)
class InboxRow:
    """An event of the inbox that is not done."""

    event: Delivered
    state: str
    turn_id: str
    failed: int
    runs: int


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """Something to say to the hub: a tool call, or a disposition."""

    key: str
    turn_id: str
    event_id: str
    name: str
    arguments: dict[str, Any]
    state: str
    result: str = ""


class KeptRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A permission that was asked for in the room, until the agent's program has had the answer."""

    key: str
    events: tuple[str, ...]
    """What the turn worked on, its carrier first."""
    params: dict[str, Any]
    """The question, as it goes to the hub."""
    wants: str
    """A fingerprint of what is wanted: the same wish in another run of the question is this one."""
    asker: str = ""
    """Who asked for it, as the hub names them."""
    approval_id: str = ""
    state: str = ""
    """The answer; empty while there is none."""
    scope: str = ""
    by: str = ""
    reason: str = ""


class HarnessStore:
    """One agent's memory. Threads take turns: writes run beside the loop, which reads meanwhile."""

    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        self._one = threading.RLock()
        try:
            self._db = connect(path, vfs=vfs)
        except Corrupt as error:
            raise _damaged(path) from error
        with _told(path):
            # Small and of one agent: it checkpoints in its own commits and needs no thread and little memory.
            self._db.execute("PRAGMA wal_autocheckpoint=1000")
            self._db.execute("PRAGMA cache_size=-512")
            _SCHEMA.migrate(self._db, path)
        self._path = path

    def newest(self) -> int | None:
        """The newest moment that anything here bears; None while nothing does."""
        newest = (
            "SELECT max(at) FROM (SELECT max(arrived) at FROM events UNION SELECT max(at) FROM outbox"
            " UNION SELECT max(at) FROM spent)"
        )
        return cast("int | None", self._db.execute(newest).get)

    def close(self) -> None:
        """Let go of the file."""
        with self._one:
            self._db.close()

    def _read(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._one, _told(self._path):
            return self._db.execute(query, cast("Any", values)).fetchall()

    def _row(self, query: str, values: tuple[object, ...]) -> Any:
        """The first row; None when there is none."""
        return next(iter(self._read(query, values)), None)

    def write(self, work: Callable[[StoreTransaction], None]) -> None:
        """Everything that `work` does, in one synced transaction."""
        with self._one, _told(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                work(StoreTransaction(self._db))
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def waiting(self) -> list[InboxRow]:
        """What is not done, in the order of arrival."""
        rows = self._read(
            "SELECT params, state, turn_id, failed, runs FROM events WHERE state IN ('waiting', 'turn') "
            "ORDER BY arrived, event_id"
        )
        return [
            InboxRow(
                read_delivered(msgspec.json.decode(cast("bytes", params))),
                str(state),
                str(turn),
                int(failed),
                int(runs),
            )
            for params, state, turn, failed, runs in cast("Iterable[tuple[Any, ...]]", rows)
        ]

    def known(self) -> dict[str, tuple[str, str, str]]:
        """Every remembered event: its state, mode and policy."""
        rows = cast(
            "Iterable[tuple[str, str, bytes]]", self._read("SELECT event_id, state, params FROM events")
        )
        found: dict[str, tuple[str, str, str]] = {}
        for event_id, state, params in rows:
            value = msgspec.json.decode(params)
            found[event_id] = (state, str(value["injection"]["mode"]), str(value["policy"]))
        return found

    def runs(self, event_id: str) -> int:
        """How often a turn was begun for an event."""
        row = self._row("SELECT runs FROM events WHERE event_id = ?", (event_id,))
        return int(row[0]) if row else 0

    def event_of_request(self, request_id: str) -> str | None:
        """The event that a delivery brought, also in an earlier connection (C2A-179)."""
        row = self._row("SELECT event_id FROM events WHERE request_id = ?", (request_id,))
        return str(row[0]) if row else None

    def outgoing(self, *, turn_id: str | None = None) -> list[OutboxRow]:
        """What is ready to be said, in order; or all that a turn said or wants to say."""
        where, values = ("turn_id = ?", (turn_id,)) if turn_id is not None else ("state = 'ready'", ())
        rows = self._read(
            "SELECT key, turn_id, event_id, name, arguments, state, result FROM outbox "  # noqa: S608 - fixed text
            f"WHERE {where} ORDER BY position",
            values,
        )
        return [
            OutboxRow(key, turn, event, name, msgspec.json.decode(arguments), state, result)
            for key, turn, event, name, arguments, state, result in cast("Iterable[tuple[Any, ...]]", rows)
        ]

    def replies_to(self, event_id: str) -> int:
        """How many messages were written in answer to an event."""
        row = self._row(
            "SELECT count(*) FROM outbox WHERE event_id = ? AND name = 'chat.send_message'", (event_id,)
        )
        return int(cast("tuple[int]", row)[0])

    def refusals(self, event_id: str, code: str) -> int:
        """How many answers to an event were refused with this code."""
        row = self._row(
            "SELECT count(*) FROM outbox WHERE event_id = ? AND state = 'refused' AND result = ?",
            (event_id, code),
        )
        return int(cast("tuple[int]", row)[0])

    def spent_on(self, day: str) -> Spending:
        """What a day has cost so far."""
        row = self._row(
            "SELECT count(*), total(tokens_in), total(tokens_out), total(tokens_cached), total(cost_usd) "
            "FROM spent WHERE day = ?",
            (day,),
        )
        turns, tokens_in, tokens_out, cached, cost = cast("tuple[float, ...]", row)
        return Spending(int(turns), int(tokens_in), int(tokens_out), int(cached), cost)

    def spending(self, since: str) -> list[DaySpending]:
        """What each day from `since` on cost, by conversation and model."""
        rows = self._read(
            "SELECT day, conversation, model, count(*), total(tokens_in + tokens_out), sum(cost_usd), "
            "max(estimated) FROM spent WHERE day >= ? GROUP BY day, conversation, model "
            "ORDER BY day, conversation, model",
            (since,),
        )
        return [
            DaySpending(day, place, model, int(turns), int(tokens), cost, bool(estimated))
            for day, place, model, turns, tokens, cost, estimated in cast("Iterable[tuple[Any, ...]]", rows)
        ]

    def permissions_asked(self) -> list[KeptRequest]:
        """What people were asked on behalf of the agent's program, and it has not gone on with."""
        rows = cast("Iterable[tuple[bytes]]", self._read("SELECT asked FROM permissions ORDER BY key"))
        return [msgspec.json.decode(asked, type=KeptRequest) for (asked,) in rows]

    def session_for(self, audience: str) -> str | None:
        """The model's session for an audience, as its driver named it last."""
        row = self._row("SELECT session_id FROM sessions WHERE audience = ?", (audience,))
        return str(row[0]) if row else None


def _damaged(path: Path) -> Corrupt:
    hint = f"move {path} away and join again: {_AFRESH}"
    return Corrupt(f"{path.name} is damaged or is no database", hint=hint)


@contextmanager
def _told(path: Path) -> Generator[None]:
    """The file's troubles as ours, with what a person can do about them."""
    try:
        yield
    except DAMAGED as error:
        raise _damaged(path) from error
    except FAILED as error:
        raise Unavailable(f"the harness's store cannot be used: {type(error).__name__}") from error


class StoreTransaction:
    """What can be done inside one transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def accept(self, event_id: str, request_id: str, params: dict[str, Any], now: Moment) -> None:
        """Keep an event, or open it again in a new form."""
        self._db.execute(
            "INSERT INTO events(event_id, request_id, params, arrived, state) VALUES (?, ?, ?, ?, 'waiting') "
            "ON CONFLICT(event_id) DO UPDATE SET params = excluded.params, state = 'waiting', turn_id = '', "
            "request_id = excluded.request_id, ended = NULL",
            (event_id, request_id, msgspec.json.encode(params), now),
        )

    def begin(self, turn_id: str, event_ids: Iterable[str], *, counts: bool = True) -> None:
        """These events belong to a turn."""
        self._db.executemany(
            "UPDATE events SET state = 'turn', turn_id = ?, runs = runs + ? WHERE event_id = ?",
            [(turn_id, int(counts), event_id) for event_id in event_ids],
        )

    def give_back(self, event_ids: Iterable[str], *, failed: bool) -> None:
        """These events wait again; the turn that had them is still their group."""
        self._db.executemany(
            "UPDATE events SET state = 'waiting', failed = failed + ? WHERE event_id = ? AND state != 'done'",
            [(int(failed), event_id) for event_id in event_ids],
        )

    def end(self, event_id: str, state: str, now: Moment) -> None:
        """An event is done, or deferred."""
        self._db.execute("UPDATE events SET state = ?, ended = ? WHERE event_id = ?", (state, now, event_id))

    def reopen(self, event_id: str) -> None:
        """An event that was done waits again."""
        self._db.execute(
            "UPDATE events SET state = 'waiting', turn_id = '', ended = NULL WHERE event_id = ?", (event_id,)
        )

    def say(self, row: OutboxRow, now: Moment) -> None:
        """Keep something to say; the same key twice is one thing, the first."""
        self._db.execute(
            "INSERT OR IGNORE INTO outbox(key, turn_id, event_id, name, arguments, state, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                row.key,
                row.turn_id,
                row.event_id,
                row.name,
                msgspec.json.encode(row.arguments),
                row.state,
                now,
            ),
        )

    def said(self, key: str, state: str, result: str = "") -> None:
        """How it went."""
        self._db.execute("UPDATE outbox SET state = ?, result = ? WHERE key = ?", (state, result, key))

    def spent(self, spent: Spent, now: Moment, model: str = "") -> None:
        """Count a turn."""
        usage = spent.usage
        self._db.execute(
            "INSERT OR REPLACE INTO spent(turn_id, day, event_id, tokens_in, tokens_out, tokens_cached, "
            "cost_usd, at, conversation, model, estimated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                spent.turn.id,
                day_of(now),
                spent.turn.carrier.event_id,
                usage.input,
                usage.output,
                usage.cached,
                spent.cost_usd,
                now,
                spent.turn.carrier.conversation,
                model,
                spent.estimated,
            ),
        )

    def keep_permission(self, kept: KeptRequest) -> None:
        """Keep what a person was asked, or has answered."""
        self._db.execute(
            "INSERT OR REPLACE INTO permissions VALUES (?, ?)", (kept.key, msgspec.json.encode(kept))
        )

    def drop_permission(self, key: str) -> None:
        """The program has its answer, or nobody has to answer any more."""
        self._db.execute("DELETE FROM permissions WHERE key = ?", (key,))

    def session_for(self, audience: str, session_id: str, now: Moment) -> None:
        """Keep an audience's session; those that were used longest ago are forgotten beyond a measure."""
        self._db.execute("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)", (audience, session_id, now))
        self._db.execute(
            "DELETE FROM sessions WHERE audience != '' AND audience NOT IN "
            "(SELECT audience FROM sessions ORDER BY used DESC LIMIT ?)",
            (KEPT_SESSIONS,),
        )

    def forget(self, confirmed: ConfirmedTime) -> None:
        """Let go of what was done longer than a week ago (C2A-162), and of costs that nobody asks for."""
        until = earlier(confirmed, REMEMBERED)
        self._db.execute("DELETE FROM events WHERE state = 'done' AND ended < ?", (until,))
        self._db.execute("DELETE FROM outbox WHERE state != 'ready' AND at < ?", (until,))
        self._db.execute("DELETE FROM spent WHERE at < ?", (earlier(confirmed, COSTS_REMEMBERED),))
