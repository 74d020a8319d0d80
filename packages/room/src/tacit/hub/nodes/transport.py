"""The way to the writers of a ledger that several nodes share (`WriterTransport`).

THEORY OF OPERATION

State. Each group is written by one node at a time, whose writer decides for all. A node hands commands in its
own groups to its own writer's thread. Any other it sends on, as values, to the node that writes to the group:
pipelined, all of one tick in one message. What was sent waits here under its number until an answer comes. A
group that nobody has is taken by the first who wants to write to it. A command over several groups goes where
one of them is written: the stream's guards see to the others.

What moves it. An answer names the position of the stream that it rests on. The caller hears it when this node
has applied the stream up to there, so that whoever writes through any node reads there what was written. The
outcome is for the caller alone: followers and harnesses of this node hear of events when the stream brings
them, as of everybody's. The other way round a command names the position up to which who asks has seen the
stream, and is decided by a node that has come as far: what was read in one group may be used in another.

What can go wrong, and what then.
- Nobody hears it (the server says so), or whoever hears it does not write there (it says so): nothing was
  done. It is looked for who does and the command is sent again, until `PATIENT_SPANS` of a lease have passed.
- No answer comes: the node died, or the answer was lost. When another node writes to the group by then, what
  is the same done twice is sent to that one: it has read the stream to its end before it decides, so that it
  knows what the dead one wrote. If the same node writes still after a span of the lease, it is sent to it
  once more. Of anything else, or when time is up, the caller hears that the outcome is not known.
- This node takes the group: what waits unsent goes to its own writer, before anything that comes later.
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
from tacit.hub.nodes.codec import (
    SPARE,
    CommandsAnswered,
    CommandsAsked,
    NotTaken,
    command_bytes,
    command_of,
    cut,
    decode,
    encode,
    is_repeatable,
    outcome_bytes,
    outcome_of,
)
from tacit.ledger.commands import Recorded, groups_asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tacit.hub.nodes.codec import NodeMessage, Numbered, Word
    from tacit.ledger.commands import Command, Outcome
    from tacit.ledger.io.writer_thread import Deliver, Done, OnMissed, WriterTransport
    from tacit.ledger.standing import StreamStanding

log: Final = logging.getLogger("tacit.hub")
PATIENT_SPANS: Final = 2.0
"""For how many spans of a lease a command waits for somebody who writes, or for its answer."""
LOOK_SECONDS: Final = 0.25
"""How often it is looked for who writes, while something waits."""
NOBODY: Final = "no node writes to this group now; nothing was appended"
UNKNOWN: Final = "the node that writes has not answered; whether this was written is not known"
UNSEEN: Final = "this was answered by the node that writes, and this one has not seen it yet"


class Speaking(Protocol):
    """How this node and the others of its ledger speak to each other."""

    @property
    def address(self) -> str:
        """Where this node is spoken to."""
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

    def leave(self) -> None:
        """Hear no more what is said to this node alone, after all that was said by now; blocks."""
        ...

    def say(self, address: str, payload: bytes, number: int = 0) -> None:
        """Say something to a node, without waiting."""
        ...

    def say_to_all(self, payload: bytes) -> None:
        """Say something to every node."""
        ...


class Among(Speaking, Protocol):
    """This node among the others of its ledger: who writes where."""

    @property
    def held(self) -> int:
        """To how many groups this node writes."""
        ...

    def holds(self, group_id: str) -> bool:
        """May this node write to a group now?"""
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
    def wrote(self) -> int:
        """The last position that is applied here, or that is this node's own."""
        ...

    @property
    def asleep(self) -> int:
        """Of how many groups, that nobody reads here, something is only noted."""
        ...

    def hurry(self, sequence: int) -> None:
        """Somebody waits until the stream is applied up to here."""
        ...

    def watch(self, changed: Callable[[frozenset[str], bool], None], free: Callable[[], None]) -> None:
        """Be told which groups this node has taken or lost, and when others may have lost theirs."""
        ...

    def find(self, groups: Iterable[str], found: Callable[[dict[str, str | None]], None]) -> None:
        """Look for the nodes that write to groups; takes those that nobody has."""
        ...

    def give_up(self) -> None:
        """Let others write to the groups of this node, at once; blocks."""
        ...


@dataclass(slots=True)
class _Sent:
    """A command that waits: in which group, since when, and where, in which message and when it was sent.

    `doubt`: it was sent before, and may have been done then.
    """

    group_id: str
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
        self._unsent: defaultdict[str, list[int]] = defaultdict(list)
        """By group."""
        self._where: dict[str, str] = {}
        """By group: who was last said to write to it, if that is another node."""
        self._sought: set[str] = set()
        self._messages = itertools.count(1)
        self._unseen: list[tuple[int, float, list[Done], list[Outcome]]] = []
        self._early: list[CommandsAsked] = []
        """What others ask who have seen more of the stream than this node."""
        self._answers: defaultdict[str, list[Numbered]] = defaultdict(list)
        self._flushes = self._looks = False
        self._is_closing = False
        self._untold: set[type] = set()
        """Words that were too large to be said, until one of their kind is said again."""
        self.standing: Callable[[], StreamStanding] | None = None
        """How the stream stands, for operators; blocks."""
        self.is_stopping: Callable[[], bool] = lambda: self._is_closing
        """Does this node take nothing more? Then others ask the next one that writes to a group."""
        self.on_taken: Callable[[], None] = lambda: None
        """Told of each command of another node's that this node's writer will answer."""
        self.answer: Callable[[Sequence[Done], Sequence[Outcome]], None] = lambda _callers, _outcomes: None
        """Answers callers of this node with what another one did."""
        self.on_change: Callable[[frozenset[str], bool], None] = lambda _groups, _held: None
        """Told to which groups this node writes now, or no more."""
        self.on_free: Callable[[], None] = lambda: None
        """Told that there may be groups that nobody has."""
        self.on_word: Callable[[Word], None] = lambda _word: None
        """Told what other nodes say of themselves."""
        self.on_record: Callable[[], None] = lambda: None
        """Told that another node had a record of the hub's own written."""

    def start(self, deliver: Deliver) -> None:
        """Begin, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._local.start(deliver)
        self._among.watch(
            lambda groups, held: self._from_beside(lambda: self._changed(groups, held)),
            lambda: self._from_beside(self._freed),
        )
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
        group_id = self._place_of(command)
        if group_id is None or (self._among.holds(group_id) and group_id not in self._unsent):
            self._local.submit(command, done)
            return
        if self._is_closing:
            raise Unavailable("the hub is stopping; nothing was appended")
        body = command_bytes(command)
        if len(body) > self._among.room - SPARE:
            raise Refused("too_large", "this is more than one node can tell another; nothing was appended")
        number = next(self._numbers)
        self._waiting[number] = _Sent(group_id, command, done, body, self._now())
        self._unsent[group_id].append(number)
        if not self._flushes and self._loop is not None:
            self._flushes = True
            self._loop.call_soon(self._flush)

    def _place_of(self, command: Command) -> str | None:
        """The group by which it is decided who writes: one of this node's own, if there is one."""
        asked = groups_asked(command)
        return next((one for one in asked if self._among.holds(one)), asked[0] if asked else None)

    def _flush(self, *, seeks: bool = True) -> None:
        """Hand on what waits unsent, wherever it is known where to; `seeks`: look for the rest at once."""
        self._flushes = False
        ready: defaultdict[str, list[int]] = defaultdict(list)
        for group_id, unsent in list(self._unsent.items()):
            numbers = sorted(number for number in unsent if number in self._waiting)
            address = self._where.get(group_id)
            if self._among.holds(group_id):
                for number in numbers:
                    self._submit_here(self._waiting.pop(number))
            elif address is not None:
                ready[address] += numbers
            elif numbers:
                continue
            del self._unsent[group_id]
        for address, numbers in ready.items():
            bodies = [(number, self._waiting[number].body) for number in sorted(numbers)]
            for part in cut(bodies, self._among.room):
                self._send(address, part)
        if seeks:
            self._seek(self._unsent.keys() - self._sought)
        self._look_soon()

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
        self._among.say(
            address, encode(CommandsAsked(self._among.address, part, self._among.reached)), message
        )

    # -- who writes

    def _seek(self, groups: set[str]) -> None:
        if groups:
            self._sought |= groups
            self._among.find(groups, lambda found: self._from_beside(lambda: self._found(found)))

    def _look_soon(self) -> None:
        if not self._looks and self._loop is not None and (self._waiting or self._unseen):
            self._looks = True
            self._loop.call_later(LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """While anything waits: is its time up, and who writes to its group?"""
        self._looks = False
        self._end_what_is_late()
        self._seek({sent.group_id for sent in self._waiting.values()} - self._sought)
        self._look_soon()

    def _found(self, found: dict[str, str | None]) -> None:
        for group_id, address in found.items():
            self._sought.discard(group_id)
            self._where.pop(group_id, None)
            if address is not None:
                if address != self._among.address:
                    self._where[group_id] = address
                self._send_again(group_id, address)
        # What is not known now is looked for again, but not at once.
        self._flush(seeks=False)

    def _send_again(self, group_id: str, writes: str) -> None:
        """What was sent to a node that writes no more, or long ago, is sent again where that is safe."""
        late = self._now() - self._among.seconds
        for number, sent in list(self._waiting.items()):
            if sent.group_id != group_id or not sent.address:
                continue
            if sent.address == writes and (sent.doubt or sent.sent_at > late):
                continue
            if is_repeatable(sent.command):
                sent.address, sent.doubt = "", True
                self._unsent[group_id].append(number)
            elif sent.address != writes and sent.sent_at <= self._now() - LOOK_SECONDS:
                # Until then the servers may say that nobody was there to hear it.
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

    def _changed(self, groups: frozenset[str], held: bool) -> None:
        if held:
            self._found(dict.fromkeys(groups, self._among.address))
        self.on_change(groups, held)

    def _freed(self) -> None:
        self._seek({sent.group_id for sent in self._waiting.values()} - self._sought)
        self.on_free()

    def claim(self, groups: Iterable[str]) -> None:
        """Take those of these groups that nobody has; `on_change` tells of them."""
        self._seek(set(groups) - self._sought)

    # -- what others say

    def _heard(self, payload: bytes) -> None:
        try:
            said: NodeMessage = decode(payload)
        except msgspec.ValidationError:
            log.warning("another node says what cannot be read: is it of another version?")
            return
        match said:
            case CommandsAsked():
                self._early.append(said)
                self._take_up()
                if said.seen > self._among.reached:
                    self._among.hurry(said.seen)
            case CommandsAnswered(sequence=sequence, outcomes=outcomes):
                self._answered(sequence, outcomes)
            case NotTaken(address=address, numbers=numbers):
                known = [number for number in numbers if number in self._waiting]
                self._not_taken([number for number in known if self._waiting[number].address == address])
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
            sent = self._waiting[number]
            sent.address = ""
            self._where.pop(sent.group_id, None)
            self._unsent[sent.group_id].append(number)
        self._look_soon()

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
            self._among.hurry(sequence)
            self._unseen.append((sequence, self._now(), callers, told))
            self._look_soon()

    def _reached(self, sequence: int) -> None:
        self._take_up()
        seen = [one for one in self._unseen if one[0] <= sequence]
        if seen:
            self._unseen = [one for one in self._unseen if one[0] > sequence]
            for _sequence, _since, callers, outcomes in seen:
                self.answer(callers, outcomes)

    # -- what this node does for others

    def _take_up(self) -> None:
        """Do what others ask, as soon as this node has seen of the stream what they have."""
        ready = [asked for asked in self._early if asked.seen <= self._among.reached]
        if ready:
            self._early = [asked for asked in self._early if asked.seen > self._among.reached]
        for asked in ready:
            self._asked(asked.address, asked.commands)

    def _asked(self, address: str, commands: list[Numbered]) -> None:
        refused: list[int] = []
        for number, body in commands:
            command = command_of(body)
            group_id = self._place_of(command)
            if self.is_stopping() or group_id is None or not self._among.holds(group_id):
                refused.append(number)
            else:
                self._do(address, number, command)
        if refused:
            self._among.say(address, encode(NotTaken(self._among.address, refused)))

    def _do(self, address: str, number: int, command: Command) -> None:
        def done(outcome: Outcome) -> None:
            if isinstance(outcome, Recorded):
                self.on_record()
            if not self._answers and self._loop is not None:
                self._loop.call_soon(self._tell)
            self._answers[address].append((number, outcome_bytes(outcome, self._among.room)))

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
                self._among.say(address, encode(CommandsAnswered(self._among.wrote, part)))

    @property
    def room(self) -> int:
        """How many bytes can be said at once."""
        return self._among.room

    def say_to(self, address: str, word: Word) -> bool:
        """Say something to one other node, without waiting; was it small enough?"""
        payload = encode(word)
        if len(payload) >= self._among.room:
            return False
        self._among.say(address, payload)
        return True

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

    def holds(self, group_id: str) -> bool:
        """Does this node write to a group now?"""
        return self._among.holds(group_id)

    @property
    def held(self) -> int:
        """To how many groups this node writes."""
        return self._among.held

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
    def asleep(self) -> int:
        """Of how many groups, that nobody reads here, something is only noted."""
        return self._among.asleep

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

    @property
    def is_unsettled(self) -> bool:
        """Does this node's writer wait to learn the fate of an earlier batch?"""
        return self._local.is_unsettled

    def watch_missed(self, missed: OnMissed) -> None:
        """Have `missed` told of what others write."""
        self._local.watch_missed(missed)

    def give_up(self) -> None:
        """Let others write to the groups of this node, at once; blocks. What was taken is answered before."""
        self._among.give_up()

    def close(self) -> None:
        """Finish what this node's own writer has, then stop; blocks.

        What others ask of it until its server knows that it goes is declined, so that they ask the next one.
        """
        self._is_closing = True
        self._among.leave()
        self._local.close()
