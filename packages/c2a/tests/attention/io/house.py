"""A store with its engine and no sockets: people and agents act, time passes, the store is closed and opened."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.attention.commands import (
    CallTool,
    DeliveryDraft,
    RecordSession,
    ReportWork,
    RunDueTimers,
    SetPresence,
    Steer,
)
from tacit.attention.io.deliveries import delivered
from tacit.attention.io.engine import AttentionEngine
from tacit.attention.io.read_tools import Pull
from tacit.attention.io.state_store import Archive
from tacit.attention.state.records import submitted
from tacit.attention.state.work import SessionLife
from tacit.base.moment import Moment
from tacit.harness.session_view import open_lines
from tacit.ledger.commands import AppendedTogether, Committed, Decided
from tacit.ledger.io import upkeep, verification
from tacit.ledger.io.store import Store, StoreOptions
from tacit.ledger.io.writer_thread import deliver_here
from tests.ledger.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.attention.io.engine import GroupAttention
    from tacit.attention.state.fold import Attention
    from tacit.c2a.errors import Refusal
    from tacit.c2a.messages import Delivered, Earlier
    from tacit.ledger.commands import Outcome
    from tacit.ledger.io.reader import Reader
    from tacit.ledger.io.writer_thread import Done
    from tacit.ledger.state import Group

GROUP = "g_one"
MODES = ["immediate", "buffered", "notify", "tool_mailbox", "digest", "silent"]


def lines_before(
    reader: Reader, group: Group, archive: Archive, made: Delivered, session: str
) -> tuple[Earlier, ...]:
    """The open lines before a question, as the session itself can read them."""
    first = archive.original(made.event_id)
    tools = Pull(reader, group, archive, session, "2026-06-24", archive.found(first))
    where = {"conversationId": made.conversation, "before": first, "limit": 200, "brief": True}
    found: list[Earlier] = []
    room = archive.attention.settings.lines_before_chars
    for given in reversed(open_lines(tools.read_channel(where)["events"])):
        line = given.cut()
        room -= len(line.text)
        if room < 0 or len(found) == archive.attention.settings.lines_before:
            break
        found.append(line)
    return tuple(reversed(found))


class Present(set[str]):
    """Who is connected; the writer is told of every change, as a hub tells it."""

    def __init__(self, told: Callable[[], None]) -> None:
        super().__init__()
        self._told = told

    def add(self, session: str) -> None:
        super().add(session)
        self._told()

    def discard(self, session: str) -> None:
        super().discard(session)
        self._told()

    def clear(self) -> None:
        super().clear()
        self._told()


class House(World):
    """One ledger with attention, as a hub has it."""

    def __init__(self, folder: Any, vfs: str | None = None) -> None:
        self.present = Present(self._tell)
        self._effects: list[Any] = []
        self.lives: dict[str, SessionLife] = {}
        self.since = Moment(0)
        super().__init__(folder, vfs=vfs)

    def _open(self) -> Store:
        options = StoreOptions(
            settings=self.settings, clock=self.clock, entropy=self.entropy, purpose="a test", vfs=self.vfs
        )
        store = Store(self.folder, options, engine=self._engine)
        store.start(self._delivered)
        self.store = store
        if store.read(lambda reader: reader.groups()):
            self._tell()
        return store

    def _engine(self, connection: Any) -> AttentionEngine:
        self.engine = AttentionEngine(connection)
        return self.engine

    def _delivered(self, callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            made = outcome.outcomes if isinstance(outcome, (AppendedTogether, Decided)) else (outcome,)
            for one in made:
                if isinstance(one, Committed):
                    self._keep_effects(one)
        deliver_here(callers, outcomes)

    def _keep_effects(self, committed: Committed) -> None:
        self._effects += committed.effects
        for one in committed.then:
            self._keep_effects(one)

    def _tell(self) -> None:
        self.store.decide(SetPresence(GROUP, tuple(sorted(self.present))))

    def record(self, *written: Any) -> None:
        self.store.together(submitted(GROUP, written))

    def connect(self, session: str, modes: list[str] | None = None) -> None:
        self.present.add(session)
        known = self.attention.sessions
        if session not in known or modes is not None:
            self.store.decide(RecordSession(GROUP, session, "2026-06-24", tuple(modes or MODES)))

    def call(self, session: str, name: str, **arguments: Any) -> dict[str, Any] | Refusal:
        answer = self.store.decide(CallTool(GROUP, session, name, arguments, "2026-06-24")).answer
        return answer.refusal or answer.result

    def steer(self, op: str, **given: Any) -> Any:
        return self.store.decide(Steer(GROUP, "user", op, **given)).answer.result

    def restart(self) -> None:
        """Closed and opened as a hub is: whom it heard of before is forgotten, and the time of the start known."""
        self.reopen()
        self.lives.clear()
        self.since = self.clock.now()

    def report(self, session: str, event_id: str, state: str, **more: Any) -> int:
        """A harness says how work stands; how many events that was worth. It is heard of by it."""
        self.hear(session, event_id)
        return len(self.store.decide(ReportWork(GROUP, session, event_id, state, **more)).outcomes)

    def hear(self, session: str, *reported: str) -> None:
        """A sign of life of a session, as the host notes it."""
        now, known = self.clock.now(), self.lives.get(session)
        connected, before = (known.connected_at, known.reported) if known is not None else (now, frozenset())
        self.lives[session] = SessionLife(session, connected, now, before | set(reported))

    def tick(self) -> int:
        """Everything that is due."""
        steps = 0
        while (
            ran := self.store.decide(RunDueTimers(GROUP, tuple(self.lives.values()), self.since)).answer
        ).stepped:
            steps += 1
            assert steps < 500, "time never comes to rest"
        assert ran.next_due is None or ran.next_due > self.clock.now(), (
            "what is due is neither done nor put off"
        )
        return steps

    def sent(self) -> list[tuple[DeliveryDraft, Delivered | None]]:
        """What the writer has made since the last look, with what the ledger says to the same deliveries."""
        made, self._effects = self._effects, []
        drafts = {one.request_id: one for one in made if isinstance(one, DeliveryDraft)}

        def read(reader: Reader) -> list[tuple[DeliveryDraft, Delivered | None]]:
            group = reader.group(GROUP)
            archive = Archive.on(reader, group)
            return [(draft, self._read(reader, group, archive, draft)) for draft in drafts.values()]

        return self.store.read(read)

    def _read(self, reader: Reader, group: Group, archive: Archive, draft: DeliveryDraft) -> Delivered | None:
        event_id, _, session = draft.delivered.idempotency_key.partition(":")
        obligation = archive.attention.obligations.get(event_id, session)
        if obligation is None or obligation.closed or obligation.accepted:
            return None
        made = delivered(
            archive,
            obligation,
            lambda first: reader.thread(group, obligation.session, first, 50),
        )
        if made is None or draft.delivered.before is None:
            return made
        return replace(made, before=lines_before(reader, group, archive, made, obligation.session))

    @property
    def live(self) -> GroupAttention:
        """The group as the engine holds it; looked at only while nothing is written."""
        self.store.decide(SetPresence(GROUP, tuple(sorted(self.present))))
        writer = self.store.writer
        group = writer._group(GROUP)
        return self.engine.group(group, writer.views[group.number])

    @property
    def attention(self) -> Attention:
        """The live fold."""
        return self.live.attention

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
        report = verification.verify(self.folder, self.entropy)
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
