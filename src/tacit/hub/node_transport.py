"""The way to the writer of a ledger that several nodes share (`WriterTransport`).

THEORY OF OPERATION

State. One node holds the lease, and its writer decides for all. A node that holds it hands commands to its
own writer's thread. Any other sends them on, as values, to the one that does: pipelined, all of one tick in
one message. What was sent waits here under its number until an answer comes.

What moves it. An answer names the position of the stream that it rests on. The caller hears it when this node
has applied the stream up to there, so that whoever writes through any node reads there what was written. The
outcome is for the caller alone: followers and harnesses of this node hear of events when the stream brings
them, as of everybody's.

What can go wrong, and what then.
- Nobody hears it (the server says so), or whoever hears it does not write (it says so): nothing was done.
  The writer is looked for and the command is sent again, until `PATIENT_SPANS` of the lease have passed.
- No answer comes: the node died, or the answer was lost. When another node writes by then, what is the same
  done twice is sent to that one: it has read the stream to its end before it decides, so that it knows what
  the dead one wrote. If the same node writes still after a span of the lease, it is sent to it once more. Of
  anything else, or when time is up, the caller hears that the outcome is not known.
- This node wins the lease: what waits unsent goes to its own writer.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from tacit.base.errors import Refused, Unavailable
from tacit.hub.node_codec import (
    SPARE,
    Answered,
    Asked,
    NotTaken,
    Writes,
    command_bytes,
    command_of,
    cut,
    decode,
    encode,
    is_repeatable,
    outcome_bytes,
    outcome_of,
)
from tacit.ledger.commands import Ping, Recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tacit.hub.node_codec import NodeMessage, Numbered, Word
    from tacit.ledger.commands import Command, Outcome
    from tacit.ledger.io.writer_thread import Deliver, Done, WriterTransport
    from tacit.ledger.standing import StreamStanding

log: Final = logging.getLogger("tacit.hub")
PATIENT_SPANS: Final = 2.0
"""For how many spans of the lease a command waits for somebody who writes, or for its answer."""
LOOK_SECONDS: Final = 0.25
"""How often it is looked for who writes, while something waits."""
NOBODY: Final = "no node writes to this ledger now; nothing was appended"
UNKNOWN: Final = "the node that writes has not answered; whether this was written is not known"
UNSEEN: Final = "this was answered by the node that writes, and this one has not seen it yet"


class Among(Protocol):
    """This node among the others of its ledger."""

    on_change: Callable[[bool], None]
    """Told, on a thread of its own, that this node writes now, or no more."""

    @property
    def address(self) -> str:
        """Where this node is spoken to."""
        ...

    @property
    def holds(self) -> bool:
        """May this node write now?"""
        ...

    @property
    def seconds(self) -> float:
        """How long the lease of a node that died lasts."""
        ...

    @property
    def reached(self) -> int:
        """Up to which position the stream is applied here."""
        ...

    @property
    def room(self) -> int:
        """How many bytes can be said at once."""
        ...

    def open(
        self, heard: Callable[[bytes], None], nobody: Callable[[str], None], reached: Callable[[int], None]
    ) -> None:
        """Hear what is said to this node, which message reached nobody, and what was applied."""
        ...

    def say(self, address: str, payload: bytes, number: int = 0) -> None:
        """Say something to a node, without waiting."""
        ...

    def say_to_all(self, payload: bytes) -> None:
        """Say something to every node."""
        ...

    def holder(self, found: Callable[[str | None], None]) -> None:
        """Look for the node that writes."""
        ...

    def give_up(self) -> None:
        """Let another node write, at once; blocks."""
        ...


@dataclass(slots=True)
class _Sent:
    """A command that waits: since when, and where, in which message and when it was sent, if it was.

    `doubt`: it was sent before, and may have been done then.
    """

    command: Command
    done: Done
    body: bytes
    since: float
    address: str = ""
    message: int = 0
    sent_at: float = 0.0
    doubt: bool = False

    def told(self, outcome: Outcome) -> Outcome:
        """What the caller hears: that nothing was done this time is not that nothing was done."""
        if self.doubt and isinstance(outcome, Unavailable) and not outcome.unknown:
            return Unavailable(UNKNOWN, unknown=True)
        return outcome


class NodeTransport:
    """Implements `WriterTransport` for one of several nodes. Lives on the loop's thread."""

    def __init__(self, local: WriterTransport, among: Among) -> None:
        self._local = local
        self._among = among
        self._loop: asyncio.AbstractEventLoop | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Sent] = {}
        self._unsent: list[int] = []
        self._messages = itertools.count(1)
        self._unseen: list[tuple[int, float, list[Done], list[Outcome]]] = []
        self._answers: defaultdict[str, list[Numbered]] = defaultdict(list)
        self._holder: str | None = None
        self._looks = False
        self._is_closing = False
        self._untold: set[type] = set()
        """Words that were too large to be said, until one of their kind is said again."""
        self.standing: Callable[[], StreamStanding] | None = None
        """How the stream stands, for operators; blocks."""
        self.is_stopping: Callable[[], bool] = lambda: self._is_closing
        """Does this node take nothing more? Then others ask the next one that writes."""
        self.on_taken: Callable[[], None] = lambda: None
        """Told of each command of another node's that this node's writer will answer."""
        self.answer: Callable[[Sequence[Done], Sequence[Outcome]], None] = lambda _callers, _outcomes: None
        """Answers callers of this node with what another one did."""
        self.on_change: Callable[[bool], None] = lambda _holds: None
        """Told that this node writes now, or no more."""
        self.on_word: Callable[[Word], None] = lambda _word: None
        """Told what other nodes say of themselves."""
        self.on_record: Callable[[], None] = lambda: None
        """Told that another node had a record of the hub's own written."""

    def start(self, deliver: Deliver) -> None:
        """Begin, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._local.start(deliver)
        self._among.on_change = lambda holds: self._from_beside(lambda: self._changed(holds))
        self._among.open(
            lambda payload: self._from_beside(lambda: self._heard(payload)),
            lambda number: self._from_beside(lambda: self._unheard(number)),
            lambda sequence: self._from_beside(lambda: self._reached(sequence)),
        )

    def _from_beside(self, do: Callable[[], None]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(do)

    def _now(self) -> float:
        return self._loop.time() if self._loop is not None else 0.0

    # -- what this node wants

    def submit(self, command: Command, done: Done) -> None:
        """Queue a command, for the writer of this node or of another."""
        if self._among.holds or (isinstance(command, Ping) and not command.writes):
            self._local.submit(command, done)
            return
        if self._is_closing:
            raise Unavailable("the hub is stopping; nothing was appended")
        body = command_bytes(command)
        if len(body) > self._among.room - SPARE:
            raise Refused("too_large", "this is more than one node can tell another; nothing was appended")
        number = next(self._numbers)
        self._waiting[number] = _Sent(command, done, body, self._now())
        self._later(number)

    def _later(self, *numbers: int) -> None:
        if not self._unsent and self._loop is not None:
            self._loop.call_soon(self._flush)
        self._unsent += numbers

    def _flush(self) -> None:
        self._unsent = sorted(number for number in self._unsent if number in self._waiting)
        if not self._unsent:
            return
        if self._among.holds:
            unsent, self._unsent = self._unsent, []
            for number in unsent:
                self._submit_here(self._waiting.pop(number))
        elif self._holder is not None:
            unsent, self._unsent = self._unsent, []
            bodies = [(number, self._waiting[number].body) for number in unsent]
            for part in cut(bodies, self._among.room):
                self._send(self._holder, part)
        self._look_soon(0.0 if self._holder is None else LOOK_SECONDS)

    def _submit_here(self, sent: _Sent) -> None:
        def done(outcome: Outcome) -> None:
            sent.done(sent.told(outcome))

        try:
            self._local.submit(sent.command, done)
        except Unavailable as fault:
            self.answer([done], [fault])

    def _send(self, address: str, part: list[Numbered]) -> None:
        message = next(self._messages)
        for number, _body in part:
            sent = self._waiting[number]
            sent.address, sent.message, sent.sent_at = address, message, self._now()
        self._among.say(address, encode(Asked(self._among.address, part)), message)

    # -- who writes

    def _look_soon(self, seconds: float) -> None:
        if not self._looks and self._loop is not None:
            self._looks = True
            self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        """While anything waits: is its time up, and who writes?"""
        self._end_what_is_late()
        if self._waiting or self._unseen:
            self._among.holder(lambda address: self._from_beside(lambda: self._looked(address)))
        else:
            self._looks = False

    def _looked(self, address: str | None) -> None:
        self._looks = False
        self._found(address)

    def _found(self, address: str | None) -> None:
        if address is not None and address != self._among.address:
            self._holder = address
            self._send_again(address)
        else:
            self._holder = None
            if self._among.holds:
                self._send_again(self._among.address)
        if self._holder is not None or self._among.holds:
            self._flush()
        if self._waiting or self._unseen:
            self._look_soon(LOOK_SECONDS)

    def _send_again(self, writes: str) -> None:
        """What was sent to a node that writes no more, or long ago, is sent again where that is safe."""
        late = self._now() - self._among.seconds
        for number, sent in list(self._waiting.items()):
            if not sent.address or (sent.address == writes and (sent.doubt or sent.sent_at > late)):
                continue
            if is_repeatable(sent.command):
                sent.address, sent.doubt = "", True
                self._unsent.append(number)
            elif sent.address != writes:
                self._fail(number, Unavailable(UNKNOWN, unknown=True))

    def _end_what_is_late(self) -> None:
        late = self._now() - PATIENT_SPANS * self._among.seconds
        for number, sent in list(self._waiting.items()):
            if sent.since < late:
                unknown = bool(sent.address) or sent.doubt
                self._fail(number, Unavailable(UNKNOWN if unknown else NOBODY, unknown=unknown))
        for one in [one for one in self._unseen if one[1] < late]:
            self._unseen.remove(one)
            self.answer(one[2], [Unavailable(UNSEEN, unknown=True)] * len(one[2]))

    def _fail(self, number: int, fault: Unavailable) -> None:
        self.answer([self._waiting.pop(number).done], [fault])

    def _changed(self, holds: bool) -> None:
        if holds:
            self._holder = None
            self._send_again(self._among.address)
            self._flush()
            self._among.say_to_all(encode(Writes(self._among.address)))
        self.on_change(holds)

    # -- what others say

    def _heard(self, payload: bytes) -> None:
        try:
            said: NodeMessage = decode(payload)
        except msgspec.ValidationError:
            log.warning("another node says what cannot be read: is it of another version?")
            return
        match said:
            case Asked(address=address, commands=commands):
                self._asked(address, commands)
            case Answered(sequence=sequence, outcomes=outcomes):
                self._answered(sequence, outcomes)
            case NotTaken(address=address, numbers=numbers):
                known = [number for number in numbers if number in self._waiting]
                self._not_taken([number for number in known if self._waiting[number].address == address])
            case Writes(address=address):
                if address != self._among.address:
                    self._found(address)
            case _:
                if said.address != self._among.address:
                    self.on_word(said)

    def _unheard(self, message: str) -> None:
        """Nobody was there to hear a message."""
        self._not_taken(
            [
                number
                for number, sent in self._waiting.items()
                if sent.address and f"{sent.message}" == message
            ]
        )

    def _not_taken(self, numbers: list[int]) -> None:
        for number in numbers:
            self._waiting[number].address = ""
        self._holder = None
        self._unsent += numbers
        self._look_soon(LOOK_SECONDS)

    def _answered(self, sequence: int, outcomes: list[Numbered]) -> None:
        callers: list[Done] = []
        told: list[Outcome] = []
        for number, body in outcomes:
            sent = self._waiting.pop(number, None)
            if sent is not None:
                callers.append(sent.done)
                told.append(sent.told(outcome_of(body)))
        if not callers:
            return
        if sequence <= self._among.reached:
            self.answer(callers, told)
        else:
            self._unseen.append((sequence, self._now(), callers, told))
            self._look_soon(LOOK_SECONDS)

    def _reached(self, sequence: int) -> None:
        seen = [one for one in self._unseen if one[0] <= sequence]
        if seen:
            self._unseen = [one for one in self._unseen if one[0] > sequence]
            for _sequence, _since, callers, outcomes in seen:
                self.answer(callers, outcomes)

    # -- what this node does for others

    def _asked(self, address: str, commands: list[Numbered]) -> None:
        if not self._among.holds or self.is_stopping():
            numbers = [number for number, _body in commands]
            self._among.say(address, encode(NotTaken(self._among.address, numbers)))
            return
        for number, body in commands:
            self._do(address, number, body)

    def _do(self, address: str, number: int, body: bytes) -> None:
        def done(outcome: Outcome) -> None:
            if isinstance(outcome, Recorded) and not isinstance(command, Ping):
                self.on_record()
            if not self._answers and self._loop is not None:
                self._loop.call_soon(self._tell)
            self._answers[address].append((number, outcome_bytes(outcome, self._among.room)))

        command = command_of(body)
        try:
            self._local.submit(command, done)
        except Unavailable as fault:
            done(fault)
        else:
            self.on_taken()

    def _tell(self) -> None:
        answers, self._answers = self._answers, defaultdict(list)
        for address, outcomes in answers.items():
            for part in cut(outcomes, self._among.room):
                self._among.say(address, encode(Answered(self._among.reached, part)))

    def say_to_all(self, word: Word) -> None:
        """Say something to every other node, without waiting."""
        payload, kind = encode(word), type(word)
        if len(payload) < self._among.room:
            self._untold.discard(kind)
            self._among.say_to_all(payload)
        elif kind not in self._untold:
            self._untold.add(kind)
            log.error(
                "what other nodes have to know of this one is larger than a message can be",
                extra={"word": kind.__name__, "bytes": len(payload)},
            )

    # -- how it is, and its end

    @property
    def holds(self) -> bool:
        """Does this node write now?"""
        return self._among.holds

    @property
    def address(self) -> str:
        """Where this node is spoken to."""
        return self._among.address

    @property
    def seconds(self) -> float:
        """How long the lease of a node that died lasts."""
        return self._among.seconds

    @property
    def reached(self) -> int:
        """Up to which position the stream is applied here."""
        return self._among.reached

    @property
    def depth(self) -> int:
        """How many commands wait."""
        return self._local.depth + len(self._waiting)

    @property
    def failures(self) -> int:
        """How many commits failed."""
        return self._local.failures

    @property
    def log_pages(self) -> int:
        """How long the write-ahead log is."""
        return self._local.log_pages

    def give_up(self) -> None:
        """Let another node write, at once; blocks. What was taken is answered before."""
        self._among.give_up()

    def close(self) -> None:
        """Finish what this node's own writer has, then stop; blocks."""
        self._is_closing = True
        self._local.close()
