"""A store with its attendant and no sockets: people and agents act, time passes, the store is closed and opened."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tacit.attention import records
from tacit.attention.io.archive import Archive
from tacit.attention.io.attendant import Attendant, submitted
from tacit.attention.io.wire import delivered
from tacit.hub import attention as people
from tacit.hub.credentials import Credential
from tacit.hub.host.tools import Tools
from tacit.hub.requests import Steer
from tacit.ledger.io import upkeep
from tacit.ledger.io.clerk import Act, Ruling
from tests.ledger.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.attention.codes import Refusal
    from tacit.attention.fold import Attention
    from tacit.attention.io.wire import Draft
    from tacit.ledger.io.clerk import Scene
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.store import Store
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
        self.attendant = Attendant(store.clerk.model.connection, self.online)
        store.clerk.attend(self.attendant)
        groups = store.read(lambda reader: reader.groups())
        store.write(lambda _connection: self.attendant.wake(groups))
        return store

    def online(self, _group_id: str) -> frozenset[str]:
        return frozenset(self.present)

    def act(self, rule: Callable[[Scene], Ruling]) -> Any:
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
        return self.act(lambda scene: self.tools._write(scene, session, name, arguments, "2026-06-24"))

    def steer(self, op: str, **given: Any) -> Any:
        acts = {"cancel": people._cancel, "reassign": people._reassign, "leave": people._leave}
        request = Steer(group_id=GROUP, op=op, **given)  # type: ignore[arg-type]
        hub: Any = SimpleNamespace(host=self)
        case = Credential("tok", "user")
        return self.act(lambda scene: acts[op](people._Case(hub, case, scene), request))

    def tick(self) -> int:
        """Everything that is due."""
        steps = 0
        due = self.store.write(lambda _connection: self.attendant.due_groups(self.clock.now()))
        while due and self.act(self._step):
            steps += 1
            assert steps < 500, "time never comes to rest"
        return steps

    def _step(self, scene: Scene) -> Ruling:
        submissions = self.attendant.tick(scene)
        return Ruling(submissions, lambda _landed: bool(submissions))

    def sent(self) -> list[tuple[Draft, dict[str, Any] | None]]:
        """What the writer has made since the last look, with what the ledger says to the same deliveries."""
        drafts = {draft.request_id: draft for draft in self.attendant.drafts.values()}
        self.attendant.drafts.clear()

        def read(reader: Reader) -> list[tuple[Draft, dict[str, Any] | None]]:
            group = reader.group(GROUP)
            archive = Archive.on(reader, group)
            return [(draft, self._read(reader, group, archive, draft)) for draft in drafts.values()]

        return self.store.read(read)

    def _read(self, reader: Reader, group: Group, archive: Archive, draft: Draft) -> dict[str, Any] | None:
        event_id, _, session = draft.params["reliability"]["idempotencyKey"].partition(":")
        duty = archive.attention.duties.get(event_id, session)
        if duty is None or duty.closed or duty.accepted:
            return None
        return delivered(
            archive, duty, draft.version, lambda first: reader.thread(group, duty.session, first, 50)
        )

    @property
    def attention(self) -> Attention:
        """The live fold; looked at only while nothing is written."""
        return self.act(
            lambda scene: Ruling([], lambda _: self.attendant.room(scene.group, scene.lookup))
        ).attention

    def assert_rebuilds(self) -> None:
        """Close; folding every event again gives the same folds, and a verification finds nothing."""
        self.close()
        before = self.folds()
        prints = upkeep.fingerprint(self.folder)
        upkeep.rebuild(self.folder, self.clock, self.entropy, self.settings, Attendant)
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
