"""The lease: who has it lives, and acts; by its key it is one for all nodes, or a node's own sign of life.

A message in a stream whose messages expire: whoever holds the lease writes it anew, guarded by the one that
it wrote before, a few times in each span. Its holder counts from before it asked, and for a shorter time than
the servers do: it has stopped before another can begin. What is in the ledger never depends on this: were two
nodes to write, the guards of the stream would keep every event once and in order. The lease keeps two of them
from acting on the same events. A holder answers who it is and where it is spoken to. Whoever wants the lease
asks for it now and then, and at once when its holder says that it lets go of it. The time for which it is
held without a break is a term, with a name of its own: what rests on a term that has ended is over for good.

A machine whose clock is not the servers' does not have it: whatever its holder writes bears its time, and no
event of a group is older than the one before it, so that one fast clock would drag all others along.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.clock_offset import MOST, offset
from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import GUARD
from tacit.base.io.jetstream.safety import last_of_each
from tacit.base.io.system import steady_seconds
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND, parse_rfc3339
from tacit.base.shipping import BatchStored, Elsewhere

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tacit.base.io.jetstream.connection import NatsConnection
    from tacit.base.moment import Moment
    from tacit.base.ports import Clock

log: Final = logging.getLogger("tacit.ledger")
SUFFIX: Final = "_NODE"
SECONDS: Final = 15.0
SHARE: Final = 0.8
"""The part of the span for which its holder relies on it."""
KEY: Final = "holder"
"""The key of the lease that one node has for all."""
LONGEST_PAUSE: Final = 0.5
"""Seconds before it is looked again whether another's is gone, at most."""
RENEWALS: Final = 4
"""How often it is renewed in a span."""


async def _nothing() -> None:
    """Nobody wants to be called."""


class Holder(msgspec.Struct, frozen=True):
    """Who writes to a ledger: the id of its folder, the machine's name for people, where it is spoken to."""

    node: str
    machine: str = ""
    address: str = ""
    term: str = ""


def _elsewhere(holder: Holder) -> Refused:
    return Refused("served_elsewhere", f"another hub serves this ledger, on {holder.machine}: stop it first")


class Lease:
    """One lease, for the nodes of one ledger. Blocking calls; renewed, or striven for, by itself."""

    def __init__(
        self,
        connection: NatsConnection,
        ledger: str,
        holder: Holder,
        *,
        replicas: int = 3,
        seconds: float = SECONDS,
        alone: bool = False,
        key: str = KEY,
        clock: Clock | None = None,
    ) -> None:
        """Takes the lease if nobody has it and the machine's clock is right.

        `alone`: nothing else will do. Waits until that of a node that died has expired; `Refused` while one
        lives.
        """
        self._connection = connection
        self._name = ledger + SUFFIX
        self._key = key
        self._holder = holder
        self._ledger = ledger
        self._free = f"tacit.{ledger}.free"
        self._probe = f"tacit.{ledger}.probe"
        self.seconds: Final = seconds
        self._sequence = 0
        self._until = 0.0
        self._hurry = asyncio.Event()
        self._clock = clock or TimeService()
        self.clock_off = 0
        """Microseconds by which this machine's clock is ahead of the servers', at least; behind: negative."""
        self.changes = 0
        """How often it was won or lost since the start."""
        self.is_wanted: Callable[[], bool] = lambda: True
        """Does whoever acts by it live? Asked before each renewal."""
        self.on_renewed: Callable[[], Awaitable[None]] = _nothing
        """Called, on the connection's loop, a few times in each span, and when somebody has let go."""
        self.on_witness: Callable[[Moment], None] = lambda _moment: None
        """Told what time it is at the servers, whenever they say so."""
        self.on_clock_set: Callable[[], None] = lambda: None
        """Told, before the lease is taken, that this machine's clock was off and is not any more."""
        self._leave: Callable[[], Awaitable[None]] | None = None
        self.on_change: Callable[[bool], None] = lambda _held: None
        """Told, on the connection's loop, that the lease was won or lost."""
        connection.wait(self._open(replicas, alone=alone))
        self._renewing = connection.start(self._renew())

    @property
    def is_held(self) -> bool:
        """Is it this node's now?"""
        return steady_seconds() < self._until

    @property
    def term(self) -> str:
        """The name of the time since which it is held without a break; empty while it is not."""
        return self._holder.term if self.is_held else ""

    @property
    def mine(self) -> Holder:
        """Who this node is, as holder."""
        return self._holder

    async def _open(self, replicas: int, *, alone: bool) -> None:
        wanted = {
            **last_of_each(self._name, replicas),
            "max_age": int(self.seconds * 1_000_000_000),
            "duplicate_window": int(self.seconds * 1_000_000_000),
        }
        await self._connection.require_permitted(self._name, "INFO", "CREATE")
        made = await self._connection.ask(self._name, "CREATE", wanted)
        if made.error is not None:
            raise Refused("no_stream", f"the lease cannot be kept (NATS error {made.error.err_code})")
        await self._connection.require_permitted(self._name, "MSG.GET", "MSG.DELETE")
        await self._connection.require_talk(self._probe)
        if not await self._take_or_retake() and alone:
            await self._wait_until_free()
        await self._connection.hear(self._free, self._freed)
        await self._answer_while_held()

    async def _wait_until_free(self) -> None:
        while (holder := await self.holder()) is None:
            if self._is_off:
                raise Refused("clock_off", f"{self._off_by()}; set it, then start again")
            await asyncio.sleep(min(self.seconds / RENEWALS, LONGEST_PAUSE))
            if await self._take_or_retake():
                return
        raise _elsewhere(holder)

    async def wait_until_gone(self, is_meant: Callable[[str], bool]) -> None:
        """Wait until no lease is left under keys that are meant; `Refused` when the holder of one lives."""
        while keys := [key for key in await self.keys() if is_meant(key)]:
            for key in keys:
                if (holder := await self.holder(key)) is not None:
                    raise _elsewhere(holder)
            await asyncio.sleep(min(self.seconds / RENEWALS, LONGEST_PAUSE))

    def _to(self, key: str) -> str:
        return f"tacit.{self._ledger}.{key}"

    async def holder(self, key: str = "") -> Holder | None:
        """Who has the lease, or that under another key, and lives; None when nobody says so."""
        told = await self._connection.request(self._to(key or self._key))
        return msgspec.json.decode(told, type=Holder) if told is not None else None

    async def _answer_while_held(self) -> None:
        if self.is_held and self._leave is None:
            self._leave = await self._connection.answer(self._to(self._key), self._who)
        elif not self.is_held and self._leave is not None:
            leave, self._leave = self._leave, None
            await leave()

    def _freed(self, _payload: bytes) -> None:
        self._hurry.set()

    def _who(self) -> bytes:
        return msgspec.json.encode(self._holder)

    async def found(self, key: str) -> tuple[Holder | None, int]:
        """Who has the lease under a key, as the servers say, and its revision."""
        reply = await self._connection.ask(self._name, "MSG.GET", {"last_by_subj": f"{self._name}.{key}"})
        if reply.message is None:
            return None, 0
        return msgspec.json.decode(reply.message.payload, type=Holder), reply.message.seq

    async def keys(self) -> list[str]:
        """Under which keys there is a lease now."""
        reply = await self._connection.ask(self._name, "INFO", {"subjects_filter": f"{self._name}.>"})
        found = reply.state.subjects if reply.state is not None else {}
        return [subject.removeprefix(f"{self._name}.") for subject in found]

    async def _take_or_retake(self) -> bool:
        """The second time by what the first has learnt."""
        await self._compare_clocks()
        if self._is_off or not self.is_wanted():
            await self._let_go()
            return False
        return await self._take() or await self._take()

    @property
    def _is_off(self) -> bool:
        return abs(self.clock_off) > MOST

    def _off_by(self) -> str:
        where = "ahead of" if self.clock_off > 0 else "behind"
        return (
            f"this machine's clock is {abs(self.clock_off) / SECOND:.1f} s {where} that of the NATS servers"
        )

    async def _compare_clocks(self) -> None:
        """Without an answer what was known holds."""
        before = self._clock.now()
        try:
            reply = await self._connection.ask(self._name, "INFO", {}, tries=1)
        except Unavailable:
            return
        if (told := parse_rfc3339(reply.ts)) is None:
            return
        was_off, self.clock_off = self._is_off, offset(before, told, self._clock.now())
        self.on_witness(told)
        if self._is_off and not was_off:
            log.error("%s: it does not write", self._off_by())
        if was_off and not self._is_off:
            self.on_clock_set()

    async def _let_go(self) -> None:
        """Write no more, now, and let another begin."""
        if self.is_held:
            self._until = 0.0
            await self._give_back()

    async def _take(self) -> bool:
        """Write it anew, if it is ours or nobody's."""
        began = steady_seconds()
        if not self.is_held:
            self._holder = msgspec.structs.replace(self._holder, term=self._connection.fresh_name())
        answer = await self._connection.publish(
            f"{self._name}.{self._key}", msgspec.json.encode(self._holder), {GUARD: str(self._sequence)}
        )
        if isinstance(answer, Elsewhere):
            # It expired, another has it, or what we wrote before came through without an answer.
            holder, sequence = await self.found(self._key)
            if holder is None or (holder.node == self._holder.node and not await self._lives(holder)):
                self._sequence = sequence
            return False
        if not isinstance(answer, BatchStored):
            return False
        self._sequence, self._until = answer.sequence, began + SHARE * self.seconds
        return True

    async def _lives(self, holder: Holder) -> bool:
        """Is it another process that has our name, from a folder that was copied, and not one of ours?"""
        return holder != self._holder and await self.holder() == holder

    async def _renew(self) -> None:
        term = self.term
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.seconds / RENEWALS):
                    await self._hurry.wait()
            self._hurry.clear()
            with suppress(Unavailable):  # the span runs out meanwhile, which is what it is for
                await self._take_or_retake()
            before, term = term, self.term
            for ended in [True] * bool(before and before != term) + [False] * bool(term and before != term):
                self.changes += 1
                log.warning("the lease of %s is %s", self._name, "lost" if ended else "held")
                self.on_change(not ended)
            await self._answer_while_held()
            with suppress(Unavailable):
                await self.on_renewed()

    def release(self) -> None:
        """Let another node begin at once. Safe to call when it is lost already, and twice."""
        if not self._renewing.done():
            self._connection.stop(self._renewing)
            self._until = 0.0
            self._connection.wait(self._give_back())

    async def _give_back(self) -> None:
        try:
            holder, sequence = await self.found(self._key)
            if holder == self._holder:
                await self._connection.overwrite(self._name, sequence)
            await self._answer_while_held()
            await self._connection.say(self._free, b"")
        except Unavailable:
            log.warning("the lease of %s could not be given back: it expires", self._name)
