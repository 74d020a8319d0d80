"""What a hub and the writer of its stream say to each other, as bytes.

The writer of a ledger on a stream stands in a process of its own, with all that speaks to the servers: the
stream, the lease, what other nodes say. A frame is what `tacit.hub.writer.codec` says one is; in it is one of
the values below. What waits for an answer of its own bears a number.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from tacit.base.stream_plan import StreamPlan
from tacit.hub.writer.codec import SentCommand, SentOutcome, WriterFailure, WriterOpening, framed
from tacit.ledger.commands import Committed
from tacit.ledger.standing import StreamStanding

if TYPE_CHECKING:
    from tacit.ledger.io.store import StoreOptions


class StreamOpening(msgspec.Struct, frozen=True, array_like=True):
    """The first frame: the file, the settings, the way to the stream, the open file of the folder's lock."""

    ledger: WriterOpening
    servers: tuple[str, ...]
    stream: str
    replicas: int
    credentials: str | None
    ca: str | None
    lease_seconds: float
    lock: int
    anew: bool
    """May the file be made anew? Not while the hub reads it."""

    @classmethod
    def of(
        cls, path: str, options: StoreOptions, plan: StreamPlan, lock: int, *, anew: bool
    ) -> StreamOpening:
        """The opening for a plan, at this moment."""
        ledger = WriterOpening.of(path, options.settings, options.wal_hard_pages, options.clock)
        credentials, ca = (str(one) if one is not None else None for one in (plan.credentials, plan.ca))
        return cls(
            ledger,
            plan.servers,
            plan.stream,
            plan.replicas,
            credentials,
            ca,
            plan.lease_seconds,
            lock,
            anew,
        )

    @property
    def plan(self) -> StreamPlan:
        """The way to the stream."""
        credentials, ca = (Path(one) if one is not None else None for one in (self.credentials, self.ca))
        return StreamPlan(self.servers, self.stream, self.replicas, credentials, ca, self.lease_seconds)


# -- from the hub


class CommandBatch(msgspec.Struct, frozen=True, array_like=True, tag="do"):
    """Commands, whose outcomes come in their order."""

    commands: list[SentCommand]


class Say(msgspec.Struct, frozen=True, array_like=True, tag="say"):
    """Something for one node; when it is not there, the number comes back (`Unheard`)."""

    address: str
    payload: bytes
    number: int


class SayToAll(msgspec.Struct, frozen=True, array_like=True, tag="say to all"):
    """Something for every node."""

    payload: bytes


class Find(msgspec.Struct, frozen=True, array_like=True, tag="find"):
    """Which nodes write to these groups? Those that nobody has are taken."""

    number: int
    groups: list[str]


class GiveUp(msgspec.Struct, frozen=True, array_like=True, tag="give up"):
    """Let others write to the groups of this node."""

    number: int


class LeaveTalk(msgspec.Struct, frozen=True, array_like=True, tag="leave"):
    """Hear no more what is said to this node, after all that was said by now."""

    number: int


class AskStanding(msgspec.Struct, frozen=True, array_like=True, tag="standing"):
    """How does the stream stand?"""

    number: int


class Hurry(msgspec.Struct, frozen=True, array_like=True, tag="hurry"):
    """Somebody waits until the stream is applied up to here."""

    sequence: int


class HubLives(msgspec.Struct, frozen=True, array_like=True, tag="hub lives"):
    """The hub lives: for a hub that does not nobody holds a lease."""


# -- to the hub


class Ready(msgspec.Struct, frozen=True, array_like=True, tag="ready"):
    """The ledger is open: where this node is spoken to, how long a lease lasts, what can be said at once."""

    address: str
    seconds: float
    room: int


class NotReady(msgspec.Struct, frozen=True, array_like=True, tag="not ready"):
    """It could not be opened."""

    failure: WriterFailure


class Outcomes(msgspec.Struct, frozen=True, array_like=True, tag="outcomes"):
    """The outcomes of one commit, and how the writer is."""

    outcomes: list[SentOutcome]
    failures: int
    log_pages: int
    is_unsettled: bool
    reached: int
    wrote: int
    asleep: int


class MissedEvents(msgspec.Struct, frozen=True, array_like=True, tag="missed"):
    """Events that were written without an outcome of ours, and whether there were records."""

    events: list[Committed]
    records: bool


class Reached(msgspec.Struct, frozen=True, array_like=True, tag="reached"):
    """Up to where the stream is applied, and of how many groups something is only noted."""

    reached: int
    wrote: int
    asleep: int


class NodeHeard(msgspec.Struct, frozen=True, array_like=True, tag="heard"):
    """What another node says."""

    payload: bytes


class Unheard(msgspec.Struct, frozen=True, array_like=True, tag="unheard"):
    """The number of what reached nobody."""

    number: str


class GroupsChanged(msgspec.Struct, frozen=True, array_like=True, tag="groups"):
    """Groups that this node has taken, or lost."""

    groups: frozenset[str]
    held: bool


class GroupsFree(msgspec.Struct, frozen=True, array_like=True, tag="free"):
    """Others may have lost theirs."""


class ClockSet(msgspec.Struct, frozen=True, array_like=True, tag="clock"):
    """This machine's clock was off, and is not any more; said before groups are taken."""


class WhereFound(msgspec.Struct, frozen=True, array_like=True, tag="found"):
    """Where groups are written."""

    number: int
    where: dict[str, str | None]


class StreamAnswer(msgspec.Struct, frozen=True, array_like=True, tag="answer"):
    """What was asked under a number is done."""

    number: int
    standing: StreamStanding | WriterFailure | None = None


class WriterLives(msgspec.Struct, frozen=True, array_like=True, tag="writer lives"):
    """The answer to `HubLives`."""


FromHub: TypeAlias = (
    LeaveTalk | CommandBatch | Say | SayToAll | Find | GiveUp | AskStanding | Hurry | HubLives
)
FromWriter: TypeAlias = (
    Ready
    | NotReady
    | Outcomes
    | MissedEvents
    | Reached
    | NodeHeard
    | Unheard
    | GroupsChanged
    | GroupsFree
    | ClockSet
    | WhereFound
    | StreamAnswer
    | WriterLives
)
_encode: Final = msgspec.msgpack.Encoder().encode
_opening: Final = msgspec.msgpack.Decoder(StreamOpening).decode
_from_hub: Final = msgspec.msgpack.Decoder(FromHub).decode
_from_writer: Final = msgspec.msgpack.Decoder(FromWriter).decode


def encode(said: StreamOpening | FromHub | FromWriter) -> bytes:
    """One frame."""
    return framed(_encode(said))


def decode_opening(body: bytes) -> StreamOpening:
    """The first frame, read."""
    return _opening(body)


def decode_from_hub(body: bytes) -> FromHub:
    """What the hub says."""
    return _from_hub(body)


def decode_from_writer(body: bytes) -> FromWriter:
    """What the writer says."""
    return _from_writer(body)
