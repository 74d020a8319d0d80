"""The writer of a ledger on a stream, in a process of its own, with all that speaks to the servers.

Beside what any writer's process does (`tacit.hub.writer.process`) this one is the node that other nodes see:
it holds the lease, applies what the stream brings, and passes on what nodes say to each other. The
lease is for a hub that lives: while that one says nothing it is not renewed. When the hub is gone, what was
taken is written, the groups are given back, and it ends.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from tacit.attention.io.engine import AttentionEngine
from tacit.base.errors import Corrupt, Refused, TacitError, Unavailable
from tacit.base.io.folder_lock import InheritedLock
from tacit.base.io.system import steady_seconds
from tacit.hub.nodes.transport import Among
from tacit.hub.store.inherited_socket import serve_inherited
from tacit.hub.stream.access import served
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
    Unheard,
    WhereFound,
    WriterLives,
    decode_from_hub,
    decode_opening,
    encode,
)
from tacit.hub.writer.codec import WriterFailure, frames, received, told
from tacit.ledger.io.store import StoreOptions

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Sequence

    from tacit.hub.stream.codec import FromHub, FromWriter, StreamOpening
    from tacit.ledger.commands import Command, Committed, Outcome
    from tacit.ledger.io.store import Store
    from tacit.ledger.io.writer_thread import Done
    from tacit.ledger.standing import StreamStanding

log: Final = logging.getLogger("tacit.ledger")
READ_BYTES: Final = 1 << 20
GULP: Final = 0.003
"""Seconds between two looks at what the hub says while the writer is busy: each takes the writer's time."""


class HubSocket:
    """The socket to the hub: what it says, in order; and what it is told, from any thread."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.heard_at = steady_seconds()
        """When the hub last said something."""
        self.rest: Callable[[], object] = lambda: None
        """Called each time before it is listened to again."""

    def bodies(self) -> Iterator[bytes]:
        """The frames until the hub goes."""
        buffer = bytearray()
        while data := self._received():
            self.heard_at = steady_seconds()
            buffer += data
            yield from frames(buffer)
            self.rest()

    def _received(self) -> bytes:
        try:
            return self._connection.recv(READ_BYTES)
        except ConnectionError:
            return b""

    def tell(self, word: FromWriter) -> None:
        """Say something to the hub. That it is gone shows where it is listened to."""
        frame = encode(word)
        try:
            with self._lock:
                self._connection.sendall(frame)
        except OSError:
            log.debug("the hub went before it heard this")

    def end_with_hub(self) -> Callable[[], None]:
        """End this process if the hub goes, until what is returned was called: nothing is at stake yet."""
        begun = threading.Event()

        def watch() -> None:
            gone = select.poll()
            gone.register(self._connection, select.POLLRDHUP)
            gone.poll()
            if not begun.is_set():
                os._exit(0)

        threading.Thread(target=watch, daemon=True).start()
        return begun.set


class ServedNode(Among, Protocol):
    """This node, with what only its own process asks of it."""

    keeps_last: bool
    """Is a last snapshot kept when this node ends?"""

    @property
    def groups(self) -> frozenset[str]:
        """To which groups this node writes."""
        ...

    @property
    def standing(self) -> Callable[[], StreamStanding] | None:
        """How the stream stands, for operators; blocks."""
        ...

    def watch_clock(self, was_set: Callable[[], None]) -> None:
        """Be told, before groups are taken, that the machine's clock was off and is not any more."""
        ...

    def submit_all(self, commands: Sequence[Command], done: Done) -> None:
        """Queue commands for the writer of this node, side by side."""
        ...

    def until_idle(self, seconds: float) -> bool:
        """Wait until the writer has nothing to do, no longer than so many seconds; has it?"""
        ...

    def is_wanted(self, asked: Callable[[], bool]) -> None:
        """Hold the lease only while this says that whoever acts by it lives."""
        ...


class StreamWriter:
    """An open ledger on a stream, as one hub uses it."""

    def __init__(self, hub: HubSocket, store: Store, node: ServedNode) -> None:
        self._hub = hub
        self._store = store
        self._node = node
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="tacit-stream")
        """For what waits for the servers."""
        self._is_asked_to_end = False

    def start(self) -> None:
        """Take up work; the hub is told of everything from here on."""
        hub, node = self._hub, self._node
        node.watch_clock(lambda: hub.tell(ClockSet()))
        node.is_wanted(lambda: steady_seconds() - hub.heard_at < node.seconds)
        self._store.transport.watch_missed(self._missed)
        hub.tell(Ready(node.address, node.seconds, node.room))
        node.watch(lambda groups, held: hub.tell(GroupsChanged(groups, held)), lambda: hub.tell(GroupsFree()))
        hub.tell(GroupsChanged(node.groups, held=True))
        node.open(
            lambda payload: hub.tell(NodeHeard(payload)),
            lambda number: hub.tell(Unheard(number)),
            self._reached,
        )
        self._store.start(self._deliver)
        hub.rest = partial(node.until_idle, GULP)

    def _deliver(self, _callers: Sequence[Done], outcomes: Sequence[Outcome]) -> None:
        transport, node = self._store.transport, self._node
        self._hub.tell(
            Outcomes(
                told(outcomes),
                transport.failures,
                transport.log_pages,
                transport.is_unsettled,
                node.reached,
                node.wrote,
                node.asleep,
            )
        )

    def _missed(self, events: Sequence[Committed], records: bool) -> None:
        self._hub.tell(MissedEvents(list(events), records))

    def _reached(self, sequence: int) -> None:
        self._hub.tell(Reached(sequence, self._node.wrote, self._node.asleep))

    def take(self, said: FromHub) -> None:
        """Do what the hub says."""
        node = self._node
        match said:
            case CommandBatch(commands):
                node.submit_all(received(commands), _answered_in_order)
            case Say(address, payload, number):
                node.say(address, payload, number)
            case SayToAll(payload):
                node.say_to_all(payload)
            case Find(number, groups):
                node.find(groups, lambda where: self._hub.tell(WhereFound(number, where)))
            case GiveUp(number):
                self._is_asked_to_end = True
                self._beside.submit(self._answer, number, node.give_up)
            case LeaveTalk(number):
                self._beside.submit(self._answer, number, node.leave)
            case AskStanding(number):
                self._beside.submit(self._answer, number, node.standing or _unknown)
            case Hurry(sequence):
                node.hurry(sequence)
            case HubLives():
                self._hub.tell(WriterLives())

    def _answer(self, number: int, ask: Callable[[], StreamStanding | None]) -> None:
        try:
            found: StreamStanding | WriterFailure | None = ask()
        except TacitError as error:
            found = _failure(error)
        self._hub.tell(StreamAnswer(number, found))

    def close(self) -> None:
        """Write what was taken, give the groups back, let go of everything."""
        self._beside.shutdown(wait=True)
        # A hub that went without a word may be started again and wait for its folder.
        self._node.keeps_last = self._is_asked_to_end
        self._store.close()


def _answered_in_order(_outcome: object) -> None:
    """Outcomes go to the hub as they come, in the order of the commands: none needs to be told apart."""


def _unknown() -> None:
    """How the stream stands cannot be asked."""


def _failure(error: TacitError) -> WriterFailure:
    known = isinstance(error, (Refused, Unavailable, Corrupt))
    return WriterFailure.of(error if known else Unavailable(str(error)))


def opened(opening: StreamOpening) -> tuple[Store, ServedNode]:
    """The ledger as the opening says; blocks until all of the stream is applied."""
    path, ledger = Path(opening.ledger.path), opening.ledger
    lock = InheritedLock(opening.lock)
    options = StoreOptions(settings=ledger.settings, clock=ledger.clock, wal_hard_pages=ledger.wal_hard_pages)
    options = replace(options, lock=lock, readers=1)
    stream = served(opening.plan, path.parent, options.entropy, lock=lock)
    return stream.open(path.parent, options, AttentionEngine, anew=opening.anew)


def serve(connection: socket.socket) -> None:
    """Write until the hub goes."""
    hub = HubSocket(connection)
    bodies = hub.bodies()
    first = next(bodies, None)
    if first is None:
        return
    begun = hub.end_with_hub()
    try:
        writer = StreamWriter(hub, *opened(decode_opening(first)))
    except TacitError as error:
        hub.tell(NotReady(_failure(error)))
        return
    finally:
        begun()
    try:
        writer.start()
        for body in bodies:
            writer.take(decode_from_hub(body))
    finally:
        writer.close()


if __name__ == "__main__":
    serve_inherited(serve)
