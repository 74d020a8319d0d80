"""The writer: takes a batch of jobs, admits each against the ledger as it stands, and commits them as one.

Runs in the writer thread alone. Order of a batch is order of arrival. If the commit fails nothing of the
batch happened: every caller is told so and all that was remembered is read anew.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tacit.base import ids
from tacit.base.errors import Bug, Corrupt, Refused, Unavailable
from tacit.base.io.sqlite import DAMAGED, FAILED, damage_hint
from tacit.base.moment import Moment, rfc3339
from tacit.ledger.admission import Admitted, Repeat, Settings, Submission, admit
from tacit.ledger.codes import denied, invalid, missing
from tacit.ledger.envelope import MAX_EVENT_BYTES, encode
from tacit.ledger.io.groups import load_group
from tacit.ledger.io.journal import SqliteJournal
from tacit.ledger.io.read_model import ReadModel
from tacit.ledger.ports import JournalEntry, StoredEvent
from tacit.ledger.principal import USER, PrincipalKind, kind_of
from tacit.ledger.projection import Facts, fold, project
from tacit.ledger.state import Group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.ports import Blob, Earlier, Engine, Lookup

log: Final = logging.getLogger("tacit.ledger")
_written: Final = lru_cache(maxsize=16)(rfc3339)
"""All events of one commit share their moment, so its text is made once."""


class Append(msgspec.Struct):
    """Please append this. `creates` is set for the one submission that opens a group."""

    submission: Submission
    done: Callable[[Any], None]
    creates: bool = False


@dataclass(slots=True)
class Together:
    """Please append these, all or none: a relay and its send record."""

    submissions: Sequence[Submission]
    done: Callable[[Any], None]
    prepare: Callable[[apsw.Connection], None] | None = None


@dataclass(slots=True)
class Write:
    """Please write what is no event: a blob's record, a credential."""

    act: Callable[[apsw.Connection], Any]
    done: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A group as it stands in the writer, for a rule that decides and writes in one step."""

    group: Group
    lookup: Lookup
    now: Moment


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rule wants appended, all or nothing, and the answer once it is."""

    submissions: Sequence[Submission]
    answer: Callable[[Sequence[Committed | Duplicate]], Any]


@dataclass(slots=True)
class Act:
    """Please decide this against the group as it stands, and append what follows."""

    group_id: str
    rule: Callable[[Snapshot], Plan]
    done: Callable[[Any], None]


Job = Append | Together | Write | Act


class Committed(msgspec.Struct, frozen=True):
    """It is in the ledger, durable; `found` carries its bytes and its audience, `then` what followed from it.

    Whoever passes events on takes `everything`.
    """

    group_id: str
    found: StoredEvent
    then: tuple[Committed, ...] = ()

    def everything(self) -> Iterator[Committed]:
        """This event and all that followed from it, in the order of the ledger."""
        yield self
        for one in self.then:
            yield from one.everything()


class Duplicate(msgspec.Struct, frozen=True):
    """It was there already."""

    found: StoredEvent
    mismatch: bool = False


@dataclass(frozen=True, slots=True)
class Acted:
    """An act was decided: its answer, and the events that it appended."""

    answer: Any
    committed: tuple[Committed, ...]


CommandOutcome = Committed | Duplicate | Acted | Refused | Unavailable | Bug | object


class _HalfDone(Exception):
    """A refusal that came after part of its job was staged: the batch is undone and its jobs tried apart."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.code)
        self.refused = refused


class Writer:
    """Commits batches of jobs on one connection."""

    def __init__(
        self, connection: apsw.Connection, path: Path, clock: Clock, entropy: Entropy, settings: Settings
    ) -> None:
        self._connection = connection
        self._path = path
        self._clock = clock
        self._entropy = entropy
        self._settings = settings
        self._journal = SqliteJournal(connection)
        self._model = ReadModel(connection)
        self._uuid = ids.Uuid7()
        self._groups: dict[str, Group] = {}
        self._entries: defaultdict[str, list[JournalEntry]] = defaultdict(list)
        self._engine: Engine | None = None
        self._wrote = False
        self.failures = 0

    def attend(self, engine: Engine) -> None:
        """Let a fold above the ledger follow every event from here on."""
        self._engine = engine

    def commit(self, jobs: Sequence[Job]) -> Sequence[CommandOutcome]:
        """One transaction for all jobs; an outcome for each."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            now = self._clock.now()
            if len(jobs) > 1:
                self._model.look_ahead(self._keys(jobs))
            outcomes = [self._one(job, now) for job in jobs]
            self._flush()
            self._connection.execute("COMMIT" if self._wrote else "ROLLBACK")
        except (*FAILED, *DAMAGED) as error:
            return [self._give_up(error)] * len(jobs)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one job must not take the others along
            return self._apart(jobs, error)
        self._wrote = False
        return outcomes

    def _keys(self, jobs: Sequence[Job]) -> list[tuple[int, str, str]]:
        """The idempotency keys of a batch, so that they can be looked up together."""
        keys: list[tuple[int, str, str]] = []
        for job in jobs:
            if isinstance(job, Append):
                submission = job.submission
                key = submission.data.get("client_id")
                group = self._groups.get(submission.group_id)
                if group is not None and isinstance(key, str):
                    keys.append((group.number, submission.by, key))
        return keys

    def _apart(self, jobs: Sequence[Job], error: Exception) -> Sequence[CommandOutcome]:
        """After an unexpected fault: nothing happened; try each job alone, so that only the guilty fails."""
        self._roll_back()
        if len(jobs) > 1:
            return [self.commit([job])[0] for job in jobs]
        if isinstance(error, _HalfDone):
            return [error.refused]
        log.error("a job failed unexpectedly", exc_info=error, extra={"fault": type(error).__name__})
        return [Refused("internal", "a fault of the hub's own; nothing was appended")]

    def _one(self, job: Job, now: Moment) -> CommandOutcome:
        try:
            match job:
                case Append(submission=submission, creates=creates):
                    return self._append(submission, now, creates=creates)
                case Together(submissions=submissions, prepare=prepare):
                    return self._together(submissions, prepare, now)
                case Write(act=act):
                    return self._write(act)
                case Act(group_id=group_id, rule=rule):
                    return self._act(group_id, rule, now)
        except Refused as refused:
            return refused

    def _write(self, act: Callable[[apsw.Connection], Any]) -> object:
        self._wrote = True
        self._connection.execute("SAVEPOINT written")
        try:
            return act(self._connection)
        except Refused:
            self._connection.execute("ROLLBACK TO written")
            raise
        finally:
            self._connection.execute("RELEASE written")

    def _together(
        self,
        submissions: Sequence[Submission],
        prepare: Callable[[apsw.Connection], None] | None,
        now: Moment,
    ) -> list[Committed | Duplicate]:
        self._connection.execute("SAVEPOINT together")
        try:
            if prepare is not None:
                self._wrote = True
                prepare(self._connection)
            self._admissible(submissions, now)
        except Refused:
            self._connection.execute("ROLLBACK TO together")
            raise
        finally:
            self._connection.execute("RELEASE together")
        return self._all(submissions, now)

    def _admissible(self, submissions: Sequence[Submission], now: Moment) -> None:
        """Refuse all if one is refused; admission changes nothing, so that no trace of the first is left."""
        for submission in submissions:
            group = self._group(submission.group_id)
            admit(submission, group, View(self, group), now, self._settings)

    def _all(self, submissions: Sequence[Submission], now: Moment) -> list[Committed | Duplicate]:
        try:
            return [self._append(submission, now, creates=False) for submission in submissions]
        except Refused as refused:
            raise _HalfDone(refused) from refused

    def _act(self, group_id: str, rule: Callable[[Snapshot], Plan], now: Moment) -> Acted:
        group = self._group(group_id)
        plan = rule(Snapshot(group, View(self, group), Moment(max(now, group.last_ts))))
        self._admissible(plan.submissions, now)
        outcomes = self._all(plan.submissions, now)
        return Acted(plan.answer(outcomes), tuple(one for one in outcomes if isinstance(one, Committed)))

    def _append(self, submission: Submission, now: Moment, *, creates: bool) -> Committed | Duplicate:
        group = Group(submission.group_id) if creates else self._group(submission.group_id)
        view = View(self, group)
        outcome = admit(submission, group, view, now, self._settings)
        if isinstance(outcome, Repeat):
            found = view.at(outcome.seq)
            if found is None:
                raise Bug("a remembered submission has no event")
            return Duplicate(found, outcome.mismatch)
        if not creates:
            return self._land(submission, outcome, group, view, now)
        self._journal.number(group)
        self._groups[group.group_id] = group
        try:
            return self._land(submission, outcome, group, View(self, group), now)
        except Refused as refused:
            raise _HalfDone(refused) from refused

    def _land(
        self, submission: Submission, admitted: Admitted, group: Group, view: View, now: Moment
    ) -> Committed:
        at = max(now, group.last_ts)
        event_id = self._uuid.next(at // 1000, int.from_bytes(self._entropy.draw(10), "big"))
        ts = _written(at)
        seq = group.last_seq + 1
        event_id_text = ids.text(event_id)
        raw = encode(
            event_id=event_id_text,
            ts=ts,
            seq=seq,
            kind=submission.kind,
            group_id=group.group_id,
            scope_key=submission.scope_key,
            by=submission.by,
            data=admitted.raw,
        )
        if len(raw) > MAX_EVENT_BYTES:
            raise invalid(
                "the event is larger than 256 KiB; put large content into a blob",
                "CCCS-020",
                reason="too_large",
            )
        facts = project(submission.kind, submission.by, admitted.data, admitted.body, group, view)
        entry = JournalEntry(seq, event_id, submission.kind, raw)
        found = self.take(entry, event_id_text, submission.by, at, admitted.data, group, facts)
        self._entries[group.group_id].append(entry)
        if self._engine is None:
            return Committed(group.group_id, found)
        then = self._engine.committed(group, found, at, view)
        return Committed(group.group_id, found, tuple(self._of_our_own(then, now)))

    def _of_our_own(self, submissions: Sequence[Submission], now: Moment) -> Iterator[Committed]:
        for submission in submissions:
            try:
                outcome = self._append(submission, now, creates=False)
            except Refused as refused:
                raise Bug(f"the ledger refused the house's own event: {refused.code}") from refused
            if isinstance(outcome, Committed):
                yield outcome

    def take(
        self,
        entry: JournalEntry,
        event_id: str,
        by: str,
        at: Moment,
        data: dict[str, Any],
        group: Group,
        facts: Facts,
    ) -> StoredEvent:
        """Stage one event's consequences; the live writer and the rebuild share this step."""
        audience = facts.audience
        found = StoredEvent(
            entry.seq,
            event_id,
            entry.kind,
            by,
            entry.raw,
            audience.everyone,
            audience.named,
            audience.private,
            facts.root,
        )
        self._model.stage(group, found, at, facts)
        group.last_ts = at
        if fold(group, entry.kind, entry.seq, _written(at), data):
            self._model.save_group(group)
        self._wrote = True
        return found

    def _flush(self) -> None:
        for group_id, entries in self._entries.items():
            self._journal.commit(self._groups[group_id], entries, entries[0].seq - 1)
        self._entries.clear()
        self.flush_model()

    def flush_model(self) -> None:
        """Write staged projections; the journal is not touched."""
        self._model.flush()
        if self._engine is not None:
            self._engine.flush()

    def fold(self, group: Group, found: StoredEvent, at: Moment) -> None:
        """For the rebuild: let the engine move past an event."""
        if self._engine is not None:
            self._engine.folded(group, found, at, View(self, group))

    def _group(self, group_id: str) -> Group:
        group = self._groups.get(group_id) or load_group(self._connection, group_id)
        if group is None:
            raise missing("group", "no such group", "CCCS-007")
        self._groups[group_id] = group
        return group

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._wrote = False
        self._entries.clear()
        self._groups.clear()
        self._model.forget()
        self._journal.forget()
        if self._engine is not None:
            self._engine.forget()

    def _give_up(self, error: BaseException) -> Unavailable | Corrupt:
        self.failures += 1
        self._roll_back()
        log.error("commit failed", extra={"fault": type(error).__name__, "failures": self.failures})
        if isinstance(error, DAMAGED):
            return Corrupt("the ledger's file is damaged", hint=damage_hint(self._path))
        return Unavailable(f"the ledger cannot be written now ({type(error).__name__}); nothing was appended")

    @property
    def model(self) -> ReadModel:
        """The look-ups of the open batch."""
        return self._model

    def source(self, group_id: str, event_id: str, reader: str) -> StoredEvent:
        """An event that `reader` may read, in any group (CCCS-095)."""
        try:
            group = self._group(group_id)
        except Refused as refused:
            raise missing("group", "the source group does not exist", "CCCS-095") from refused
        if reader != USER and kind_of(reader) is not PrincipalKind.SERVICE and not group.has_member(reader):
            raise denied("this principal takes no part in the source group", "CCCS-095")
        found = self._model.event(group.number, event_id)
        if found is None:
            raise missing("event", "the source event does not exist", "CCCS-095")
        if not found.visible_to(reader):
            raise denied("this principal may not read the source event", "CCCS-095")
        if self._model.mark(group.number, "delete", found.seq, "", "") is not None:
            raise missing("event", "the source event was deleted", "C2A-187")
        return found


class View:
    """One group's look-ups for the rules (the `Lookup` port)."""

    __slots__ = ("_model", "_number", "_writer")

    def __init__(self, writer: Writer, group: Group) -> None:
        self._writer = writer
        self._model = writer.model
        self._number = group.number

    def event(self, event_id: str) -> StoredEvent | None:
        """The event with this id, in this group."""
        return self._model.event(self._number, event_id)

    def at(self, seq: int) -> StoredEvent | None:
        """The event at this position, in this group."""
        return self._model.at(self._number, seq)

    def submission(self, by: str, client_id: str) -> Earlier | None:
        """The last submission under this idempotency key."""
        return self._model.submission(self._number, by, client_id)

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

    def source(self, group_id: str, event_id: str, reader: str) -> StoredEvent:
        """An event of another group that `reader` may read; refuses otherwise."""
        return self._writer.source(group_id, event_id, reader)
