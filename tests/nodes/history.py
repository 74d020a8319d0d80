"""Judges what several doors of one ledger told their callers: was it one log, written to one after the other?

A history is what callers saw (each call with the times at which it was begun and answered), and what every node
has in the end. A group is an append-only log, so that no search for an order is needed: the log is the order, and
each rule is a question to it. Sends are linearizable: what was acknowledged stands in the log once, and whoever
began after another was answered stands behind it. Reads are what a node promises: a prefix of the log, with all
that was acknowledged at that door before, and never less than at that door before. Pure: the times are values, by
one clock.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Rule = Literal[
    "gap", "altered", "lost", "doubled", "refused and written", "invented", "out of order", "before its time",
    "read is no prefix", "own write not read", "read went back", "doors differ", "not what a rebuild gives",
    "two winners", "no winner", "another won", "unmet", "met twice",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer to a send: it stands there."""

    seq: int
    event_id: str


Answer = Kept | Literal["refused", "unknown"]


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt to append. Attempts with one key are one send; without a key each is its own."""

    door: str
    group: str
    body: str
    invoked: float
    completed: float
    answer: Answer
    key: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """What a door gave of a group: events from `first` on, by their ids, without a gap."""

    door: str
    group: str
    invoked: float
    completed: float
    first: int
    ids: tuple[str, ...]

    @property
    def upto(self) -> int:
        return self.first + len(self.ids) - 1


@dataclass(frozen=True, slots=True)
class Claimed:
    """One attempt to take something that one alone can have."""

    door: str
    target: str
    session: str
    answer: Literal["won", "lost", "unknown"]


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of the log; those that no caller sent have no body."""

    seq: int
    event_id: str
    body: str | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """What one node has in the end: its logs, their chains of hashes, its projections and those of a rebuild."""

    door: str
    logs: Mapping[str, Sequence[Logged]]
    chains: Mapping[str, str] = field(default_factory=dict)
    prints: Mapping[str, str] = field(default_factory=dict)
    rebuilt: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Who took each target, by the log."""
    duties: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What met or moved each obligation, by the log."""


@dataclass(frozen=True, slots=True)
class History:
    """All of it."""

    sent: Sequence[Sent]
    endings: Sequence[Ending]
    reads: Sequence[Read] = ()
    claims: Sequence[Claimed] = ()


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that does not hold, and of what."""

    rule: Rule
    of: str


@dataclass(frozen=True, slots=True)
class _Send:
    """All attempts of one send together."""

    group: str
    bodies: frozenset[str]
    key: str
    invoked: float
    completed: float
    kept: frozenset[Kept]
    refused: bool
    """Every attempt was."""


def breaches(history: History) -> list[Breach]:
    """Every rule that does not hold; empty for a history of one log."""
    if not history.endings:
        raise ValueError("nothing to judge by: no node has come to an end")
    log = history.endings[0]
    sends = _sends(history.sent)
    found = [*_of_nodes(history.endings)]
    for group in sorted(
        log.logs.keys() | {send.group for send in sends} | {read.group for read in history.reads}
    ):
        events = log.logs.get(group, ())
        mine = [send for send in sends if send.group == group]
        reads = [read for read in history.reads if read.group == group]
        found += _of_log(group, events)
        found += _of_sends(events, mine)
        found += _of_order(events, mine)
        found += _of_reads(events, mine, reads)
        found += _of_doors(reads, [one for one in history.sent if one.group == group])
    found += _of_claims(history.claims, log.owners)
    found += _of_duties(log.duties)
    return found


def _sends(attempts: Iterable[Sent]) -> list[_Send]:
    together: defaultdict[tuple[str, str], list[Sent]] = defaultdict(list)
    for number, one in enumerate(attempts):
        together[one.group, one.key or f"\0{number}"].append(one)
    return [
        _Send(
            tried[0].group,
            frozenset(one.body for one in tried),
            tried[0].key,
            min(one.invoked for one in tried),
            min((one.completed for one in tried if isinstance(one.answer, Kept)), default=math.inf),
            frozenset(one.answer for one in tried if isinstance(one.answer, Kept)),
            all(one.answer == "refused" for one in tried),
        )
        for tried in together.values()
    ]


def _of_log(group: str, events: Sequence[Logged]) -> Iterator[Breach]:
    if [one.seq for one in events] != list(range(1, len(events) + 1)):
        yield Breach("gap", group)
    for event_id, times in Counter(one.event_id for one in events).items():
        if times > 1:
            yield Breach("doubled", event_id)


def _there(events: Sequence[Logged], sends: Sequence[_Send]) -> Iterator[tuple[_Send, list[Logged]]]:
    """Each send with what stands of it in the log."""
    keyed: defaultdict[str, list[Logged]] = defaultdict(list)
    plain: defaultdict[str, list[Logged]] = defaultdict(list)
    for event in events:
        if event.body is not None:
            (keyed[event.key] if event.key else plain[event.body]).append(event)
    for send in sends:
        yield send, keyed[send.key] if send.key else [one for body in send.bodies for one in plain[body]]


def _of_sends(events: Sequence[Logged], sends: Sequence[_Send]) -> Iterator[Breach]:
    """Acknowledged: there, once, as it was sent. Unknown: at most once. Refused: not at all."""
    for send, there in _there(events, sends):
        name = send.key or min(send.bodies)
        if len(there) > 1:
            yield Breach("doubled", name)
        if there and send.refused:
            yield Breach("refused and written", name)
        if any(event.body not in send.bodies for event in there):
            yield Breach("altered", name)
        stands = {Kept(event.seq, event.event_id) for event in there}
        for kept in send.kept - stands:
            yield Breach("lost", f"{name} at {kept.seq}")
    keys = {send.key for send in sends if send.key}
    bodies = {body for send in sends if not send.key for body in send.bodies}
    for event in events:
        if event.body is not None and not (event.key in keys if event.key else event.body in bodies):
            yield Breach("invented", event.event_id)


def _of_order(events: Sequence[Logged], sends: Sequence[_Send]) -> Iterator[Breach]:
    """What was begun after another was answered stands behind it."""
    placed = sorted(
        ((there[0].seq, send) for send, there in _there(events, sends) if there), key=lambda one: one[0]
    )
    answered = math.inf
    for seq, send in reversed(placed):
        if send.invoked > answered:
            yield Breach("out of order", f"{send.key or min(send.bodies)} at {seq}")
        answered = min(answered, send.completed)


def _of_reads(events: Sequence[Logged], sends: Sequence[_Send], reads: Sequence[Read]) -> Iterator[Breach]:
    ids = [event.event_id for event in events]
    began = {there[0].seq: send.invoked for send, there in _there(events, sends) if there}
    for read in reads:
        if tuple(ids[read.first - 1 : read.upto]) != read.ids:
            yield Breach("read is no prefix", f"{read.door} up to {read.upto}")
        for seq in range(read.first, read.upto + 1):
            if began.get(seq, -math.inf) > read.completed:
                yield Breach("before its time", f"{read.door} has {seq}")


def _of_doors(reads: Sequence[Read], attempts: Sequence[Sent]) -> Iterator[Breach]:
    """At one door: its own answers and earlier reads are in every later read."""
    for door in sorted({read.door for read in reads}):
        known = [
            (one.completed, one.answer.seq, "own write not read")
            for one in attempts
            if one.door == door and isinstance(one.answer, Kept)
        ]
        mine = [read for read in reads if read.door == door]
        known += [(read.completed, read.upto, "read went back") for read in mine]
        known.sort()
        at, furthest = 0, dict[str, int]()
        for read in sorted(mine, key=lambda read: read.invoked):
            while at < len(known) and known[at][0] < read.invoked:
                _completed, seq, rule = known[at]
                furthest[rule] = max(furthest.get(rule, 0), seq)
                at += 1
            for rule in ("own write not read", "read went back"):
                if furthest.get(rule, 0) > read.upto:
                    yield Breach(rule, f"{door}: {furthest[rule]}, not {read.upto}")


def _of_nodes(endings: Sequence[Ending]) -> Iterator[Breach]:
    first = endings[0]
    for one in endings:
        logs = {group: list(log) for group, log in one.logs.items()}
        same = logs == {group: list(log) for group, log in first.logs.items()} and one.chains == first.chains
        if not same or one.owners != first.owners or one.duties != first.duties:
            yield Breach("doors differ", f"{first.door} and {one.door}")
        if one.prints != one.rebuilt:
            yield Breach("not what a rebuild gives", one.door)


def _of_claims(claims: Sequence[Claimed], owners: Mapping[str, Sequence[str]]) -> Iterator[Breach]:
    targets: defaultdict[str, list[Claimed]] = defaultdict(list)
    for one in claims:
        targets[one.target].append(one)
    for target, tried in targets.items():
        won = {one.session for one in tried if one.answer == "won"}
        may = won | {one.session for one in tried if one.answer == "unknown"}
        took = owners.get(target, ())
        if len(won) > 1 or len(took) > 1:
            yield Breach("two winners", target)
        elif not took and (won or all(one.answer == "lost" for one in tried)):
            yield Breach("no winner", target)
        elif won != set(took) and not (not won and set(took) <= may):
            yield Breach("another won", target)


def _of_duties(duties: Mapping[str, Sequence[str]]) -> Iterator[Breach]:
    for event_id, by in duties.items():
        if len(by) != 1:
            yield Breach("met twice" if by else "unmet", event_id)
