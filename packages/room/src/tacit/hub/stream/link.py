"""The hub's end of a stream's writer that stands in another process (`tacit.hub.stream.process`).

THEORY OF OPERATION

State. To the hub this is two things: the way to its own writer, as `WriterLink` is, and this node among the
others (`Among`). What the process knows and the hub asks all the time is mirrored here, in the order in which
it happened there: which groups this node writes to, and up to where the stream is applied. A mirror may be
late, never wrong about the past: who writes is decided by the process, and by the stream's guards.

What moves it. Every frame of the process, on the loop's thread. Outcomes come behind all that they rest on.
Both ends say now and then that they live. A hub that says nothing for the span of a lease loses it, since
nobody would act by it; a process that says nothing for longer is killed.

What can go wrong, and what then.
- The process cannot open the ledger: what it says is raised where the store is opened.
- It dies, or is killed: its lease is over, or is its own again when it is back, since it is that of the
  folder. Who waited hears that the outcome is not known. It is started again as `WriterLink` does it; the
  file stays the same, since it is being read here. Groups are taken anew, by whoever wants to write to them.
- The hub dies: the process writes what it has, gives the groups back and ends.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import sys
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from tacit.base.errors import Unavailable
from tacit.base.io.time_service import even_time
from tacit.hub.stream.codec import (
    AskStanding,
    ClockSet,
    CommandBatch,
    Find,
    GiveUp,
    GroupsChanged,
    GroupsFree,
    HubLives,
    Hurry,
    LeaveTalk,
    MissedEvents,
    NodeHeard,
    NotReady,
    Outcomes,
    Reached,
    Ready,
    Say,
    SayToAll,
    StreamAnswer,
    StreamOpening,
    Unheard,
    WhereFound,
    decode_from_writer,
    encode,
)
from tacit.hub.writer.codec import WriterFailure, frames, heard, sent
from tacit.hub.writer.link import READ_BYTES, WriterLink

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Sequence

    from tacit.base.stream_plan import StreamPlan
    from tacit.hub.stream.codec import FromHub, FromWriter
    from tacit.ledger.commands import Command, Committed
    from tacit.ledger.io.store import Store
    from tacit.ledger.io.writer_thread import Deliver, OnMissed
    from tacit.ledger.standing import StreamStanding

log: Final = logging.getLogger("tacit.hub")
SIGNS: Final = 5
"""How often each end says that it lives in the span of a lease."""
SILENT_SPANS: Final = 2.0
"""For how many spans a process may say nothing before it is killed."""
NOT_THERE: Final = "the ledger's writer is not there now"


def _untold(_missed: Sequence[Committed], _records: bool) -> None:
    """Nobody wants to hear of what others write yet."""


class StreamLink(WriterLink):
    """A stream's writer process and the socket to it; implements `WriterTransport` and `Among`."""

    MODULE: ClassVar = "tacit.hub.stream.process"
    MOST_STARTS: ClassVar = sys.maxsize  # servers may be away for long

    def __init__(self, store: Store, plan: StreamPlan) -> None:
        """Starts the process; returns when it has made the file and applied all of the stream."""
        super().__init__(store)
        self._plan = plan
        self._held: set[str] = set()
        self._reach = self._wrote = self._asleep = 0
        self._unsettled = False
        self._asked: dict[int, Future[StreamStanding | None]] = {}
        self._seeking: dict[int, tuple[list[str], Callable[[dict[str, str | None]], None]]] = {}
        self._numbers = itertools.count(1)
        self._missed: OnMissed = _untold
        self._on_heard: Callable[[bytes], None] = lambda _payload: None
        self._on_unheard: Callable[[str], None] = lambda _number: None
        self._on_reached: Callable[[int], None] = lambda _sequence: None
        self._on_changed: Callable[[frozenset[str], bool], None] = lambda _groups, _held: None
        self._on_free: Callable[[], None] = lambda: None
        self._sign: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self._is_first = self._is_ready = True
        self._first = self._started()
        try:
            self._ready = self._until_ready(self._first)
        except BaseException:
            self._first.close()
            self._drop()
            raise
        self._is_first = False

    def _opening(self) -> bytes:
        opening = StreamOpening.of(self._path, self._options, self._plan, self._lock, anew=self._is_first)
        return encode(opening)

    def _until_ready(self, ours: socket.socket) -> Ready:
        ours.sendall(self._opening())
        while not (found := frames(self._in)):
            data = ours.recv(READ_BYTES)
            if not data:
                raise Unavailable("the ledger's writer ended before it was ready")
            self._in += data
        first = decode_from_writer(found[0])
        if isinstance(first, NotReady):
            raise first.failure.error()
        if not isinstance(first, Ready):
            raise Unavailable("the ledger's writer is of another version")
        self._early = found[1:]
        return first

    # -- as a way to the writer

    def start(self, deliver: Deliver) -> None:
        """Begin, on the running loop."""
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._take_up)

    def _take_up(self) -> None:
        """Take what the process has said since it is ready: by now it is known who wants to hear of it."""
        self._heard_at = self._running().time()
        self._listen(self._first)
        for body in self._early:
            self._take(body)
        self._take_frames()
        self._flush()
        self._give_sign()

    def close(self) -> None:
        """Let the writer finish what it has and end; blocks, so it is called beside the loop."""
        if self._loop is None:
            self._first.close()
            self._drop()
        else:
            super().close()

    @property
    def is_unsettled(self) -> bool:
        """Does the writer wait to learn the fate of an earlier batch?"""
        return self._unsettled

    def watch_missed(self, missed: OnMissed) -> None:
        """Have `missed` told, on the loop's thread."""
        self._missed = missed

    def _frame(self, commands: list[Command]) -> bytes:
        return encode(CommandBatch(sent(commands)))

    def _say(self, word: FromHub) -> None:
        """In the order in which things were said and submitted."""
        self._flush()
        self._send(encode(word))

    def _take(self, body: bytes) -> None:
        self._heard_at = self._running().time()
        self._took(decode_from_writer(body))

    def _took(self, word: FromWriter) -> None:
        match word:
            case Outcomes():
                self._starts = 0
                self._failures, self._log_pages = word.failures, word.log_pages
                self._unsettled = word.is_unsettled
                self._reach, self._wrote, self._asleep = word.reached, word.wrote, word.asleep
                self._hand_over(heard(word.outcomes))
            case MissedEvents(events, records):
                self._missed(events, records)
            case Reached(reached, wrote, asleep):
                self._reach, self._wrote, self._asleep = reached, wrote, asleep
                self._on_reached(reached)
            case NodeHeard(payload):
                self._on_heard(payload)
            case Unheard(number):
                self._on_unheard(number)
            case GroupsChanged() | GroupsFree() | ClockSet():
                self._stands_otherwise(word)
            case WhereFound(number, where):
                _groups, found = self._seeking.pop(number)
                found(where)
            case StreamAnswer(number, standing):
                self._answered(number, standing)
            case Ready():
                self._ready, self._is_ready = word, True
                self._give_sign()
                self._on_free()
                self.on_restart()
            case NotReady(failure):
                log.error("the ledger's writer cannot begin again", extra={"reason": failure.message})
            case _:
                pass

    def _stands_otherwise(self, word: GroupsChanged | GroupsFree | ClockSet) -> None:
        match word:
            case GroupsChanged(groups, held):
                self._held = self._held | groups if held else self._held - groups
                self._on_changed(groups, held)
            case GroupsFree():
                self._on_free()
            case ClockSet():
                if (clock := even_time(self._options.clock)) is not None:
                    clock.begin_anew()

    def _began_again(self) -> None:
        """Not before it has caught up with the stream: it says when it is ready."""

    def _answered(self, number: int, found: StreamStanding | WriterFailure | None) -> None:
        waiting = self._asked.pop(number, None)
        if waiting is None:
            return
        if isinstance(found, WriterFailure):
            waiting.set_exception(found.error())
        else:
            waiting.set_result(found)

    # -- that both live

    def _give_sign(self) -> None:
        if self._sign is not None:
            self._sign.cancel()
        loop = self._running()
        if self._socket is None or self._process is None:
            return
        if loop.time() - self._heard_at > SILENT_SPANS * self.seconds and not self._is_closing:
            log.error("the ledger's writer says nothing any more: it is killed and started again")
            self._process.kill()
        self._send(encode(HubLives()))
        self._sign = loop.call_later(self.seconds / SIGNS, self._give_sign)

    def _lost(self) -> None:
        lost, self._held = frozenset(self._held), set()
        self._is_ready = False
        if self._sign is not None:
            self._sign.cancel()
        for waiting in self._asked.values():
            waiting.set_exception(Unavailable(NOT_THERE))
        self._asked.clear()
        for groups, found in self._seeking.values():
            found(dict.fromkeys(groups))
        self._seeking.clear()
        if lost:
            self._on_changed(lost, False)
        super()._lost()

    # -- as one of several nodes

    @property
    def address(self) -> str:
        """Where this node is spoken to."""
        return self._ready.address

    @property
    def room(self) -> int:
        """How many bytes can be said at once."""
        return self._ready.room

    @property
    def seconds(self) -> float:
        """How long the lease of a node that died lasts."""
        return self._ready.seconds

    @property
    def reached(self) -> int:
        """Up to which position the stream is applied here."""
        return self._reach

    @property
    def wrote(self) -> int:
        """The last position that is applied here, or that is this node's own."""
        return self._wrote

    @property
    def asleep(self) -> int:
        """Of how many groups, that nobody reads here, something is only noted."""
        return self._asleep

    def hurry(self, sequence: int) -> None:
        """Somebody waits until the stream is applied up to here."""
        self._say(Hurry(sequence))

    def holds(self, group_id: str) -> bool:
        """Does this node write to a group, as far as is known here?"""
        return group_id in self._held

    @property
    def held(self) -> int:
        """To how many groups this node writes."""
        return len(self._held)

    def open(
        self, heard: Callable[[bytes], None], nobody: Callable[[str], None], reached: Callable[[int], None]
    ) -> None:
        """Hear what is said to this node, which message reached nobody, and what was applied."""
        self._on_heard, self._on_unheard, self._on_reached = heard, nobody, reached

    def watch(self, changed: Callable[[frozenset[str], bool], None], free: Callable[[], None]) -> None:
        """Be told which groups this node has taken or lost, and when others may have lost theirs."""
        self._on_changed, self._on_free = changed, free

    def say(self, address: str, payload: bytes, number: int = 0) -> None:
        """Say something to a node, without waiting."""
        self._say(Say(address, payload, number))

    def say_to_all(self, payload: bytes) -> None:
        """Say something to every node."""
        self._say(SayToAll(payload))

    def find(self, groups: Iterable[str], found: Callable[[dict[str, str | None]], None]) -> None:
        """Look for the nodes that write to groups; takes those that nobody has."""
        asked, number = list(groups), next(self._numbers)
        if self._socket is None:
            found(dict.fromkeys(asked))
            return
        self._seeking[number] = asked, found
        self._say(Find(number, asked))

    def give_up(self) -> None:
        """Let others write to the groups of this node, at once; blocks, so it is called beside the loop."""
        with suppress(Unavailable):  # a process that is not there has nothing to give up
            self._ask(GiveUp)

    def leave(self) -> None:
        """Hear no more what is said to this node alone; blocks, so it is called beside the loop."""
        with suppress(Unavailable):
            self._ask(LeaveTalk)

    def standing(self) -> StreamStanding:
        """How the stream stands, for operators; blocks, so it is called beside the loop."""
        found = self._ask(AskStanding)
        if found is None:
            raise Unavailable(NOT_THERE)
        return found

    def _ask(self, question: Callable[[int], GiveUp | LeaveTalk | AskStanding]) -> StreamStanding | None:
        waiting: Future[StreamStanding | None] = Future()
        self._running().call_soon_threadsafe(partial(self._put, question(next(self._numbers)), waiting))
        return waiting.result()

    def _put(
        self, question: GiveUp | LeaveTalk | AskStanding, waiting: Future[StreamStanding | None]
    ) -> None:
        if self._socket is None or not self._is_ready:
            # One that still opens the ledger would answer when it has, and nobody knows when that is.
            waiting.set_exception(Unavailable(NOT_THERE))
            return
        self._asked[question.number] = waiting
        self._say(question)
