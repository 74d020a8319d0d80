"""The writer: takes a batch of commands, decides each against the ledger as it stands, commits them as one.

THEORY OF OPERATION

State. There is exactly one writer for a ledger, and it is the only one that ever changes the file. Durable
state is the SQLite file: the journal (groups, kinds, events), the read model derived from it, the engine's
folds, and records of the hub's own. In memory the writer holds, for each group it has touched, the small
`Group` (its last position, its roster); the read model's look-ahead and staged rows; the events staged for
the journal; and whatever the engine remembers. All of it can be thrown away at any time: `_roll_back` does
so, and the next command reads it anew.

What moves it. `commit` gets the commands that waited while the last commit ran (group commit), in the order
of their arrival, opens ONE transaction, and decides them one after the other, each seeing what the ones
before it did: an append is admitted by the pure rules, encoded once, projected, staged, and shown to the
engine, whose own events are appended behind it in the same way; a command of the engine's is planned against
a snapshot and its plan appended; a record of the hub's own is written. Then the staged rows are flushed, the
events are shipped to where order is decided (with SQLite that is this very file), and the transaction is
committed and synced. Only then do the callers get their outcomes: append, then act.

What can go wrong, and what then.
- A command is refused: by the rules, before anything of it is staged. Its outcome is the refusal, the others
  go on. A refusal that comes after part of a command was staged (`HalfDone`) undoes the whole batch; see the
  next point.
- A fault of ours in one command (a bug in a rule, say): the batch is rolled back and every command is tried
  again in a transaction of its own, so that only the guilty one fails. For this a command must be a value:
  what is run again decides again from the ledger, and nothing but the ledger remembers that there was a first
  time.
- A group's end is not where we believed (`Stale`): somebody else has written, which a lock forbids and a
  second machine will not. The transaction is rolled back, what was missed is applied, and the commands are
  decided again. Not those whose groups the journal kept: a stream does not roll back, so their events stand,
  come back with what was missed, and their outcomes hold. After `MOST_TRIES` the callers are told to try
  again.
- The disk fails after the events were kept elsewhere: the same. If what was missed cannot be applied either,
  callers hear that the outcome is not known: they would look in vain for what they were told stands here.
- The disk fails, at any write or at the sync: nothing of the batch is visible, every caller is answered
  `Unavailable`, all that was remembered is dropped. Whether a commit whose sync failed survives a power cut
  is not known to anybody; a client's `client_id` makes the repeat safe.
- The file is damaged: `Corrupt`, with what a person can do.

Why so. One transaction for many commands makes a synced append cheap; deciding inside it makes of twenty
simultaneous claims one winner without a lock. One after the other in one thread needs no locks at all.
Consequences share their cause's transaction, so that an obligation is durable when its message is.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tacit.base import ids
from tacit.base.errors import Bug, Corrupt, Refused, TacitError, Unavailable
from tacit.base.io.sqlite import DAMAGED, FAILED, damage_hint, is_damage
from tacit.base.moment import Moment, rfc3339
from tacit.ledger.admission import AdmissionSettings, Admitted, Repeat, admit
from tacit.ledger.codes import invalid, missing
from tacit.ledger.commands import (
    HUB,
    Append,
    AppendedTogether,
    AppendTogether,
    Committed,
    DatedRecord,
    Decided,
    Duplicate,
    GroupCommand,
    KeptRecord,
    Ping,
    RecordBlob,
    Recorded,
)
from tacit.ledger.engine import NO_CONSEQUENCES, GroupSnapshot
from tacit.ledger.envelope import MAX_EVENT_BYTES, NOTHING_MORE, EventChance, Remains, StoredEvent, encode
from tacit.ledger.io import records
from tacit.ledger.io.blobs import BLOBS, BlobFolder
from tacit.ledger.io.erasure import Erasing, is_pending
from tacit.ledger.io.groups import load_group
from tacit.ledger.io.journal import NOTHING_KEPT, SqliteJournal
from tacit.ledger.io.read_model import GroupLookup, ReadModel, Views, require_part, require_readable
from tacit.ledger.io.refolding import refold
from tacit.ledger.io.undone import Again, HalfDone
from tacit.ledger.ports import JournalEntry, NotCurrent, Stale, TooLarge
from tacit.ledger.projection import Facts, fold, project
from tacit.ledger.state import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import apsw

    from tacit.base.ports import Clock, Entropy
    from tacit.ledger.commands import Command, HubRecord, Outcome
    from tacit.ledger.engine import Engine
    from tacit.ledger.ports import Journal, Missed
    from tacit.ledger.projection import Mark
    from tacit.ledger.submission import Submission

T = TypeVar("T")
log: Final = logging.getLogger("tacit.ledger")
_written: Final = lru_cache(maxsize=16)(rfc3339)
"""All events of one commit share their moment, so its text is made once."""
MOST_TRIES: Final = 5  # how often commands are decided when others write to their groups all the time
UNSEEN: Final = "this was shipped, and cannot be kept here now"
CAUGHT_UP_BYTES: Final = 4_000_000  # how much one transaction takes in of a node that catches up


class Writer:
    """Commits batches of commands on one connection."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        clock: Clock,
        entropy: Entropy,
        settings: AdmissionSettings,
        journal: Journal | None = None,
        blobs: BlobFolder | None = None,
    ) -> None:
        self._connection = connection
        self._path = path
        self._clock = clock
        self._settings = settings
        self._blobs = blobs or BlobFolder(path.parent / BLOBS, entropy)
        self._journal = journal or SqliteJournal(connection)
        self.model: Final = ReadModel(connection)
        """The look-ups of the open batch."""
        self.views: Final = Views(self)
        self._uuid = ids.Uuid7()
        self._chance = EventChance(entropy)
        self._groups: dict[str, Group] = {}
        self._entries: defaultdict[str, list[JournalEntry]] = defaultdict(list)
        self._engine: Engine | None = None
        self._gone: list[tuple[Group, int, str, str]] = []
        self._bound: list[frozenset[str]] = []
        self._wrote = False
        self._behind = False
        self.failures = 0
        self._told: set[tuple[str, int]] = set()
        # Told of events that were written without an outcome of ours; and whether there were records.
        self.on_missed: Callable[[Sequence[Committed], bool], None] | None = None
        self.on_erasure: Callable[[], None] = lambda: None
        """Told when content was taken away: what the log and the folder hold of it has to go too."""

    def attend(self, engine: Engine) -> None:
        """Let a fold above the ledger follow every event from here on."""
        self._engine = engine

    def commit(self, commands: Sequence[Command]) -> Sequence[Outcome]:
        """One transaction for all commands; an outcome for each."""
        try:
            return self._committed(commands)
        except Again as again:
            outcomes = self._decide_again(commands, again.outcomes)
        # Who hears that it was written may look for it at once.
        if self._behind and self._fault_in_catching_up() is not None:
            self._told.clear()
            unseen = Unavailable(UNSEEN, unknown=True)
            return [one if isinstance(one, TacitError) else unseen for one in outcomes]
        return outcomes

    @property
    def is_unsettled(self) -> bool:
        """Is the fate of an earlier batch unknown still? The next commit asks, were it of a `Ping`."""
        return self._journal.is_unsettled

    def _decide_again(self, commands: Sequence[Command], outcomes: list[Outcome | None]) -> Sequence[Outcome]:
        tries = MOST_TRIES - 1
        while tries and (open_ := [number for number, outcome in enumerate(outcomes) if outcome is None]):
            found: Sequence[Outcome | None]
            try:
                found = self._committed([commands[number] for number in open_])
            except Again as again:
                found = again.outcomes
                tries -= again.is_try
            for number, outcome in zip(open_, found, strict=True):
                outcomes[number] = outcome
        busy = Unavailable("others write to this group all the time; nothing was appended")
        return [busy if outcome is None else outcome for outcome in outcomes]

    def _committed(self, commands: Sequence[Command]) -> Sequence[Outcome]:
        outcomes: list[Outcome] = []
        kept = NOTHING_KEPT
        if self._behind and (fault := self._fault_in_catching_up()) is not None:
            return [fault] * len(commands)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            now = self._clock.now()
            if len(commands) > 1:
                self.model.look_ahead(self._keys(commands))
            outcomes = [self._one(command, now) for command in commands]
            erases = self._flush()
            kept = self._journal.ship(self._bound)
            self._connection.execute("COMMIT" if self._wrote else "ROLLBACK")
        except (*FAILED, *DAMAGED) as error:
            failed = self._give_up(error)
            if kept:
                raise self._again(commands, outcomes, kept) from error
            return [failed] * len(commands)
        except Stale as stale:
            again = self._again(commands, outcomes, stale.kept, stale.failed)
            again.is_try = not isinstance(stale, NotCurrent)
            raise again from stale
        except TooLarge:
            return self._in_halves(commands)
        except Exception as error:  # noqa: BLE001 - a fault of ours in one command must not take the others along
            return self._apart(commands, error)
        self._wrote = False
        self._bound.clear()
        self._journal.settle()
        if erases:
            self.on_erasure()
        return outcomes

    def _again(
        self,
        commands: Sequence[Command],
        outcomes: Sequence[Outcome],
        kept: frozenset[str],
        failed: Mapping[str, Unavailable] | None = None,
    ) -> Again:
        """Undo the batch; which outcomes hold. What was missed is applied before anything else is decided."""
        self._roll_back()
        self._behind = True
        again = Again.after(commands, outcomes, kept, failed or {})
        self._told |= again.places
        return again

    def _in_halves(self, commands: Sequence[Command]) -> Sequence[Outcome]:
        """More than one message can carry: nothing was shipped; try fewer at once."""
        self._roll_back()
        if len(commands) == 1:
            return [Refused("too_large", "this is more than the journal takes at once; nothing was appended")]
        middle = len(commands) // 2
        return [*self.commit(commands[:middle]), *self.commit(commands[middle:])]

    def _fault_in_catching_up(self) -> Unavailable | Corrupt | None:
        try:
            self.catch_up()
        except (*FAILED, *DAMAGED) as error:
            return self._give_up(error)
        except (Unavailable, Corrupt) as fault:
            return fault
        return None

    def fall_behind(self) -> None:
        """Others may have written: look where the journal ends before anything is decided."""
        self._behind = True

    def catch_up(self, arrived: Iterator[Missed] | None = None) -> None:
        """Apply what is durable and not applied here: what others wrote, and of ours what was rolled back.

        `arrived` is what came by itself: then this may not be all.
        """
        missed, more = arrived or self._journal.missed(), True
        try:
            while more:
                found, has_records = list[Committed](), False
                self._connection.execute("BEGIN IMMEDIATE")
                size, more = 0, False
                for one in missed:
                    taken = self._take_in(one)
                    if self.on_missed is not None:
                        found += [each for each in taken if (each.group_id, each.event.seq) not in self._told]
                        has_records |= bool(one.records)
                    size += sum(len(entry.raw) for entry in one.entries)
                    if more := size > CAUGHT_UP_BYTES:
                        break
                self.flush_model()
                self._erase_gone()
                self._connection.execute("COMMIT")
                self._journal.settle()
                # At once: if the next part fails, nobody comes by this one again.
                if self.on_missed is not None and (found or has_records):
                    self.on_missed(found, has_records)
        except BaseException:
            self._roll_back()
            raise
        self._wrote = False
        if arrived is None:
            self._behind = False
            self._told.clear()
        if is_pending(self._connection):
            self.on_erasure()

    def _take_in(self, missed: Missed) -> list[Committed]:
        for record in missed.records:
            records.keep_again(self._connection, record)
        if not missed.entries:
            return []
        group = self._groups.get(missed.group_id) or load_group(self._connection, missed.group_id)
        group = self._groups[missed.group_id] = group or Group(missed.group_id)
        self._journal.number(group)
        view = self.views[group.number]
        expected = group.last_seq
        taken: list[Committed] = []
        for entry in missed.entries:
            event, facts, stored = refold(self, group, entry, view)
            taken.append(Committed(group.group_id, stored))
            if facts.mark is not None:
                self._note_taken_back(group, facts.mark, event.by, event.data, event.ts)
        self._journal.stage(group, missed.entries, expected)
        return taken

    def _keys(self, commands: Sequence[Command]) -> list[tuple[int, str, str]]:
        """The idempotency keys of a batch, so that they can be looked up together."""
        keys: list[tuple[int, str, str]] = []
        for command in commands:
            if isinstance(command, Append):
                submission = command.submission
                key = submission.data.get("client_id")
                group = self._groups.get(submission.group_id)
                if group is not None and isinstance(key, str):
                    keys.append((group.number, submission.by, key))
        return keys

    def _apart(self, commands: Sequence[Command], error: Exception) -> Sequence[Outcome]:
        """After an unexpected fault: nothing happened; try each alone, so that only the guilty fails."""
        self._roll_back()
        if len(commands) > 1:
            return [self.commit([command])[0] for command in commands]
        if isinstance(error, HalfDone):
            return [error.refused]
        log.error("a command failed unexpectedly", exc_info=error, extra={"fault": type(error).__name__})
        return [Refused("internal", "a fault of the hub's own; nothing was appended")]

    def _one(self, command: Command, now: Moment) -> Outcome:
        try:
            if isinstance(command, Append):
                creates = command.creates
                return self._append(command.submission, now, creates=creates, judged=not creates)
            match command:
                case AppendTogether():
                    return AppendedTogether(tuple(self._together(command, now)))
                case GroupCommand():
                    return self._decide(command, now)
                case RecordBlob(sha256=sha256, size=size) if not self._blobs.holds(sha256, size):
                    # It was there when it arrived, and went since: with a message that had the same file.
                    raise invalid("the file is gone; send it again", "CCCS-086", reason="no_blob")
                case _:
                    return self._undone_if_refused(lambda: self._keep(command, now))
        except (Refused, Unavailable) as fault:
            return fault

    def _keep(self, record: HubRecord, now: Moment) -> Recorded:
        if isinstance(record, Ping) and record.writes:
            self._journal.require_open()
        kept = records.keep(self._connection, record, now)
        if isinstance(record, KeptRecord):
            self._journal.stage_record(DatedRecord(now, record))
        return kept

    def _undone_if_refused(self, write: Callable[[], T]) -> T:
        """Write rows beside the events; a refusal in the middle leaves none of them."""
        self._wrote = True
        self._connection.execute("SAVEPOINT written")
        try:
            return write()
        except Refused:
            self._connection.execute("ROLLBACK TO written")
            raise
        finally:
            self._connection.execute("RELEASE written")

    def _together(self, command: AppendTogether, now: Moment) -> list[Committed | Duplicate]:
        share = command.share
        groups = frozenset(submission.group_id for submission in command.submissions)
        if share is not None:
            groups |= {HUB}
        if len(groups) > 1:
            others = [bound for bound in self._bound if not bound & groups]
            self._bound = [*others, groups.union(*(bound for bound in self._bound if bound & groups))]
        if share is None:
            self._admissible(command.submissions, now, judged=True)
        else:
            # The events may name the blobs that come along, so these must be there when the rules look.
            def shared() -> list[RecordBlob]:
                found = records.share_blobs(self._connection, share)
                self._admissible(command.submissions, now, judged=True)
                return found

            for record in self._undone_if_refused(shared):
                self._journal.stage_record(DatedRecord(now, record))
        return self._all(command.submissions, now)

    def _admissible(self, submissions: Sequence[Submission], now: Moment, *, judged: bool = False) -> None:
        """Refuse all if one is refused; admission changes nothing, so that no trace of the first is left."""
        for submission in submissions:
            group = self._group(submission.group_id)
            view = self.views[group.number]
            if isinstance(admit(submission, group, view, now, self._settings), Admitted) and judged:
                self._judge(submission, group, view, now)

    def _judge(self, submission: Submission, group: Group, view: GroupLookup, now: Moment) -> None:
        """What an actor asks for is put to the engine; what the engine itself decided was."""
        if self._engine is not None and submission.by in group.actors:
            self._engine.judge(submission, GroupSnapshot(group, view, Moment(max(now, group.last_ts))))

    def _all(self, submissions: Sequence[Submission], now: Moment) -> list[Committed | Duplicate]:
        try:
            return [self._append(submission, now, creates=False) for submission in submissions]
        except Refused as refused:
            raise HalfDone(refused) from refused

    def _decide(self, command: GroupCommand, now: Moment) -> Decided:
        if self._engine is None:
            raise Bug("nothing here decides such a command")
        group = self._group(command.group_id)
        plan = self._engine.plan(
            command, GroupSnapshot(group, self.views[group.number], Moment(max(now, group.last_ts)))
        )
        self._admissible(plan.submissions, now)
        outcomes = self._all(plan.submissions, now)
        return Decided(plan.answer(outcomes), tuple(outcomes))

    def _append(
        self, submission: Submission, now: Moment, *, creates: bool, judged: bool = False
    ) -> Committed | Duplicate:
        group = Group(submission.group_id) if creates else self._group(submission.group_id)
        view = self.views[group.number]
        outcome = admit(submission, group, view, now, self._settings)
        if isinstance(outcome, Repeat):
            found = view.at(outcome.seq)
            if found is None:
                raise Bug("a remembered submission has no event")
            return Duplicate(found)
        if judged:
            self._judge(submission, group, view, now)
        if not creates:
            return self._append_admitted(submission, outcome, group, view, now)
        self._journal.number(group)
        self._groups[group.group_id] = group
        try:
            return self._append_admitted(submission, outcome, group, self.views[group.number], now)
        except Refused as refused:
            raise HalfDone(refused) from refused

    def _append_admitted(
        self, submission: Submission, admitted: Admitted, group: Group, view: GroupLookup, now: Moment
    ) -> Committed:
        at = max(now, group.last_ts)
        for_id, salt = self._chance.next()
        event_id, event_id_text = self._uuid.pair(at // 1000, int.from_bytes(for_id, "big"))
        ts = _written(at)
        seq = group.last_seq + 1
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
        entry = JournalEntry(seq, event_id, submission.kind, raw, salt)
        found = self.take(entry, event_id_text, submission.by, at, admitted.data, group, facts)
        self._entries[group.group_id].append(entry)
        if facts.mark is not None:
            self._note_taken_back(group, facts.mark, submission.by, admitted.data, ts)
        if self._engine is None:
            return Committed(group.group_id, found)
        follows = self._engine.committed(group, found, at, view)
        if follows is NO_CONSEQUENCES:
            return Committed(group.group_id, found)
        return Committed(
            group.group_id, found, tuple(self._of_our_own(follows.submissions, now)), follows.effects
        )

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
        self.model.stage(group, found, at, facts)
        group.last_ts = at
        if fold(group, entry.kind, entry.seq, _written(at), data):
            member = data.get("actor_id") or data.get("principal")
            self.model.save_group(group, member if isinstance(member, str) else None)
        self._wrote = True
        return found

    def _note_taken_back(self, group: Group, mark: Mark, author: str, data: dict[str, Any], ts: str) -> None:
        if mark.mark == "delete":
            self._gone.append((group, mark.target, str(data.get("by") or author), ts))

    def _flush(self) -> bool:
        """Write what the batch staged; True when content was taken away."""
        for group_id, entries in self._entries.items():
            self._journal.stage(self._groups[group_id], entries, entries[0].seq - 1)
        self._entries.clear()
        self.flush_model()
        return self._erase_gone()

    def _erase_gone(self) -> bool:
        taken, self._gone = self._gone, []
        for group, target, by, at in taken:
            self._erase(group, target, by, at)
        return bool(taken)

    def _erase(self, group: Group, target: int, by: str, at: str) -> None:
        view = self.views[group.number]
        first = view.at(target)
        if first is None:
            raise Bug("what was taken back is not there")

        def remains(event: StoredEvent) -> Remains:
            return self._engine.remains(group, event, view) if self._engine is not None else NOTHING_MORE

        erasing = Erasing(self._connection, self.model.index, group.number, view, remains)
        self.model.drop(group.number, erasing.erase(first, by, at))

    def flush_model(self) -> None:
        """Write staged projections; the journal is not touched."""
        self.model.flush()
        if self._engine is not None:
            self._engine.flush()

    def fold(self, group: Group, found: StoredEvent, at: Moment) -> None:
        """For the rebuild: let the engine move past an event."""
        if self._engine is not None:
            self._engine.folded(group, found, at, self.views[group.number])

    def _group(self, group_id: str) -> Group:
        self._journal.require_current(group_id)
        group = self._groups.get(group_id) or load_group(self._connection, group_id)
        if group is None:
            raise missing("group", "no such group", "CCCS-007")
        self._groups[group_id] = group
        return group

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._wrote = False
        self._bound.clear()
        self._entries.clear()
        self._gone.clear()
        self._groups.clear()
        self.model.forget()
        self._journal.forget()
        if self._engine is not None:
            self._engine.forget()

    def _give_up(self, error: BaseException) -> Unavailable | Corrupt:
        self.failures += 1
        self._roll_back()
        log.error("commit failed", extra={"fault": type(error).__name__, "failures": self.failures})
        if is_damage(error):
            return Corrupt("the ledger's file is damaged", hint=damage_hint(self._path))
        return Unavailable(f"the ledger cannot be written now ({type(error).__name__}); nothing was appended")

    def require_source(self, group_id: str, event_id: str, reader: str) -> None:
        """Refuses unless it is an event that `reader` may read, in any group (CCCS-095)."""
        # First who asks: nothing is brought up for whoever takes no part. The roster is never behind.
        known = self._groups.get(group_id) or load_group(self._connection, group_id)
        if known is None:
            raise missing("group", "the source group does not exist", "CCCS-095")
        require_part(known, reader)
        group = self._group(group_id)
        require_readable(self.model, group, event_id, reader)
