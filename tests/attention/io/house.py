"""A store with its engine and no sockets: people and agents act, time passes, the store is closed and opened."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tacit.attention.io.archive import Archive
from tacit.attention.io.deliveries import delivered
from tacit.attention.io.engine import AttentionEngine, submitted
from tacit.attention.state import records
from tacit.hub import steering as people
from tacit.hub.credentials import Credential
from tacit.hub.host.tools import Tools
from tacit.hub.requests import Steer
from tacit.ledger.io import upkeep
from tacit.ledger.io.writer import Act, Plan
from tests.ledger.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.io.deliveries import Draft
    from tacit.attention.state.fold import Attention
    from tacit.c2a.errors import Refusal
    from tacit.c2a.messages import Delivered
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.store import Store
    from tacit.ledger.io.writer import Snapshot
    from tacit.ledger.state import Group

GROUP = "g_one"
MODES = ["immediate", "buffered", "notify", "tool_mailbox", "digest", "silent"]


class House(World):
    """One ledger with attention, as a hub has it."""

    def __init__(self, folder: Any) -> None:
        self.present: set[str] = set()
        super().__init__(folder)
        self.tools = Tools(self, None)  # type: ignore[arg-type]

    def _open(self) -> Store:
        store = super()._open()
        self.engine = AttentionEngine(store.writer.model.connection, self.online)
        store.writer.attend(self.engine)
        groups = store.read(lambda reader: reader.groups())
        store.write(lambda _connection: self.engine.wake(groups))
        return store

    def online(self, _group_id: str) -> frozenset[str]:
        return frozenset(self.present)

    def act(self, rule: Callable[[Snapshot], Plan]) -> Any:
        acted = self.store._wait(lambda done: Act(GROUP, rule, done))
        return acted.answer  # type: ignore[attr-defined]

    def record(self, *written: Any) -> None:
        self.store.together(submitted(GROUP, written))

    def connect(self, session: str, modes: list[str] | None = None) -> None:
        self.present.add(session)
        record = records.Session(session=session, version="2026-06-24", modes=modes or MODES)
        if session not in self.attention.sessions or modes is not None:
            self.record(record)

    def call(self, session: str, name: str, **arguments: Any) -> dict[str, Any] | Refusal:
        return self.act(lambda snapshot: self.tools._write(snapshot, session, name, arguments, "2026-06-24"))

    def steer(self, op: str, **given: Any) -> Any:
        acts = {"cancel": people._cancel, "reassign": people._reassign, "leave": people._leave}
        request = Steer(group_id=GROUP, op=op, **given)  # type: ignore[arg-type]
        hub: Any = SimpleNamespace(host=self)
        case = Credential("tok", "user")
        return self.act(lambda snapshot: acts[op](people._Case(hub, case, snapshot), request))

    def tick(self) -> int:
        """Everything that is due."""
        steps = 0
        due = self.store.write(lambda _connection: self.engine.due_groups(self.clock.now()))
        while due and self.act(self._step):
            steps += 1
            assert steps < 500, "time never comes to rest"
        return steps

    def _step(self, snapshot: Snapshot) -> Plan:
        submissions = self.engine.tick(snapshot)
        return Plan(submissions, lambda _committed: bool(submissions))

    def sent(self) -> list[tuple[Draft, Delivered | None]]:
        """What the writer has made since the last look, with what the ledger says to the same deliveries."""
        drafts = {draft.request_id: draft for draft in self.engine.drafts.values()}
        self.engine.drafts.clear()

        def read(reader: Reader) -> list[tuple[Draft, Delivered | None]]:
            group = reader.group(GROUP)
            archive = Archive.on(reader, group)
            return [(draft, self._read(reader, group, archive, draft)) for draft in drafts.values()]

        return self.store.read(read)

    def _read(self, reader: Reader, group: Group, archive: Archive, draft: Draft) -> Delivered | None:
        event_id, _, session = draft.delivered.idempotency_key.partition(":")
        obligation = archive.attention.obligations.get(event_id, session)
        if obligation is None or obligation.closed or obligation.accepted:
            return None
        return delivered(
            archive,
            obligation,
            lambda first: reader.thread(group, obligation.session, first, 50),
        )

    @property
    def attention(self) -> Attention:
        """The live fold; looked at only while nothing is written."""
        return self.act(
            lambda snapshot: Plan([], lambda _: self.engine.room(snapshot.group, snapshot.lookup))
        ).attention

    def assert_rebuilds(self) -> None:
        """Close; folding every event again gives the same folds, and a verification finds nothing."""
        self.close()
        before = self.folds()
        prints = upkeep.fingerprint(self.folder)
        upkeep.rebuild(self.folder, self.clock, self.entropy, self.settings, AttentionEngine)
        after = self.folds()
        keys = sorted(before.keys() | after.keys())
        differing = {
            key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)
        }
        assert not differing, differing
        assert upkeep.fingerprint(self.folder) == prints
        report = upkeep.verify(self.folder, self.entropy)
        assert report.sound, report.problems

    def folds(self) -> dict[tuple[str, str], tuple[int, str]]:
        """Every row of the folds."""
        from tacit.base.io.sqlite import connect

        connection = connect(self.folder / "ledger.db", readonly=True)
        try:
            rows = connection.execute("SELECT fold, key, open, value FROM folds").fetchall()
        finally:
            connection.close()
        return {(fold, key): (is_open, bytes(value).decode()) for fold, key, is_open, value in rows}
