"""The hub's end of a writer that stands in another process (`WriterTransport` over a socket pair).

Lives on the loop's thread: the commands of one tick leave in one frame, outcomes are handed over as they
come, in the order of the commands. A writer that dies takes nothing acknowledged with it: those who wait are
told that the outcome is not known, and it is started again, with pauses, a few times; what failed for good is
`Unavailable`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import threading
from collections import deque
from typing import TYPE_CHECKING, ClassVar, Final

import msgspec

from tacit.base.backoff import Backoff
from tacit.base.errors import Unavailable
from tacit.base.io.own_program import own_program
from tacit.hub.writer.codec import WriterOpening, decode_reply, encode_commands, encode_opening, frames
from tacit.ledger.io.writer_thread import deliver_here

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.ledger.commands import Command, Outcome
    from tacit.ledger.io.store import Store
    from tacit.ledger.io.writer_thread import Deliver, Done, OnMissed

log: Final = logging.getLogger("tacit.hub")
READ_BYTES: Final = 1 << 20
ENDING_SECONDS: Final = 30.0
AGAIN: Final = Backoff(first=0.1, longest=2.0)
UNKNOWN: Final = "the ledger's writer has died; whether this was written is not known"


class WriterLink:
    """A writer process and the socket to it."""

    MODULE: ClassVar = "tacit.hub.writer.process"
    """What runs in the process."""
    MOST_STARTS: ClassVar[int] = 5
    """Starts in a row without a single commit, before the writer is given up."""

    def __init__(self, store: Store) -> None:
        self._path = str(store.path)
        self._options = store.options
        self._lock = store.lock.handle
        self._deliver: Deliver = deliver_here
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._in = bytearray()
        self._out = bytearray()
        self._commands: list[Command] = []
        self._callers: deque[Done] = deque()
        self._starts = 0
        self._failures = 0
        self._log_pages = 0
        self._is_closing = False
        self._ended = threading.Event()
        self._given_up = False
        self.on_restart: Callable[[], None] = lambda: None

    @property
    def process_id(self) -> int | None:
        """The writer's process, while there is one."""
        return self._process.pid if self._process is not None else None

    @property
    def depth(self) -> int:
        """How many commands wait."""
        return len(self._callers)

    @property
    def failures(self) -> int:
        """How many commits failed."""
        return self._failures

    @property
    def log_pages(self) -> int:
        """How long the write-ahead log is."""
        return self._log_pages

    @property
    def is_unsettled(self) -> bool:
        """A file of one's own leaves nothing unknown."""
        return False

    def watch_missed(self, missed: OnMissed) -> None:
        """Nobody else writes to a file of one's own."""

    def start(self, deliver: Deliver) -> None:
        """Begin, on the running loop."""
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._begin()

    def _begin(self) -> None:
        self._listen(self._started())
        self._send(self._opening())

    def _started(self) -> socket.socket:
        """A process of its own for the writer; the socket to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            command = own_program(self.MODULE, str(theirs.fileno()))
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command, pass_fds=(theirs.fileno(), self._lock), stdin=subprocess.DEVNULL
            )
        self._starts += 1
        log.debug("the writer is a process of its own", extra={"writer_process": self.process_id})
        return ours

    def _listen(self, ours: socket.socket) -> None:
        ours.setblocking(False)
        self._socket = ours
        self._running().add_reader(ours.fileno(), self._readable)

    def _opening(self) -> bytes:
        """What the process is told first."""
        options = self._options
        return encode_opening(
            WriterOpening.of(self._path, options.settings, options.wal_hard_pages, options.clock)
        )

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise Unavailable("the writer was not started")
        return self._loop

    # -- out

    def submit(self, command: Command, done: Done) -> None:
        """Queue a command; it leaves at once when the writer is idle, else with everything of this tick."""
        if self._is_closing or self._given_up:
            raise Unavailable("the store is closing" if self._is_closing else "the store's writer has died")
        is_idle = not self._callers
        if not is_idle and not self._commands:
            self._running().call_soon(self._flush)
        self._commands.append(command)
        self._callers.append(done)
        if is_idle:
            self._flush()

    def _flush(self) -> None:
        if self._commands and self._socket is not None:
            self._send(self._frame(self._commands))
            self._commands = []

    def _frame(self, commands: list[Command]) -> bytes:
        return encode_commands(commands)

    def _send(self, data: bytes) -> None:
        if self._socket is None:
            return
        if not self._out:
            try:
                sent = self._socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                return  # it broke: reading says so too, and that is where it is seen to
            if sent == len(data):
                return
            data = data[sent:]
            self._running().add_writer(self._socket.fileno(), self._writable)
        self._out += data

    def _writable(self) -> None:
        if self._socket is None:
            return
        try:
            del self._out[: self._socket.send(self._out)]
        except BlockingIOError:
            return
        except OSError:
            self._out.clear()
        if not self._out:
            self._running().remove_writer(self._socket.fileno())

    # -- in

    def _readable(self) -> None:
        if self._socket is None:
            return
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        self._in += data
        self._take_frames()

    def _take_frames(self) -> None:
        try:
            for body in frames(self._in):
                self._take(body)
        except msgspec.ValidationError:
            log.exception("the writer answered what cannot be read")
            self._lost()

    def _take(self, body: bytes) -> None:
        reply = decode_reply(body)
        self._starts = 0
        self._failures, self._log_pages = reply.failures, reply.log_pages
        self._hand_over(reply.outcomes)

    def _hand_over(self, outcomes: list[Outcome]) -> None:
        callers = [self._callers.popleft() for _ in outcomes]
        self._deliver(callers, outcomes)

    def _lost(self) -> None:
        """The writer is gone: because it was told to end, or because it died."""
        self._drop()
        if not self._is_closing:
            log.error("the writer died", extra={"starts": self._starts})
        unanswered = len(self._callers) - len(self._commands)
        if self._is_closing or self._starts >= self.MOST_STARTS:
            self._given_up, self._commands, unanswered = True, [], len(self._callers)
        if unanswered:
            self._hand_over([Unavailable(UNKNOWN, unknown=True)] * unanswered)
        if not self._given_up:
            self._running().call_later(AGAIN.pause(self._starts - 1), self._again)
        self._ended.set()

    def _again(self) -> None:
        if not self._is_closing:
            self._ended.clear()
            self._begin()
            self._flush()
            self._began_again()

    def _began_again(self) -> None:
        self.on_restart()

    def _drop(self) -> None:
        self._in.clear()
        self._out.clear()
        if self._socket is not None:
            self._running().remove_reader(self._socket.fileno())
            self._running().remove_writer(self._socket.fileno())
            self._socket.close()
            self._socket = None
        if self._process is not None:
            self._process.wait()
            self._process = None

    # -- end

    def close(self) -> None:
        """Let the writer finish what it has and end; blocks, so it is called beside the loop."""
        if self._loop is None or self._is_closing:
            return
        self._loop.call_soon_threadsafe(self._finish)
        if not self._ended.wait(ENDING_SECONDS):
            log.error("the writer does not end; it is left to itself")

    def _finish(self) -> None:
        self._flush()
        self._is_closing = True
        if self._socket is None:
            self._lost()
            return
        # Its end of the socket sees the end of what we say, answers what it has, and goes.
        self._socket.shutdown(socket.SHUT_WR)
