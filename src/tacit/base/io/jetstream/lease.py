"""The lease: one hub at a time serves a ledger on a stream.

A message in a stream whose messages expire: whoever holds the lease writes it anew, guarded by the one that
it wrote before, a few times in each span. Its holder counts from before it asked, and for a shorter time than
the servers do: it has stopped before another can begin. What is in the ledger never depends on this: were two
hubs to write, the guards of the stream would keep every event once and in order. The lease keeps two hubs
from acting on the same events. A holder that lives answers who it is: a second hub is refused at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Refused, Unavailable
from tacit.base.io.jetstream.connection import GUARD
from tacit.base.shipping import Elsewhere, Taken

if TYPE_CHECKING:
    from tacit.base.io.jetstream.connection import NatsConnection

log: Final = logging.getLogger("tacit.ledger")
SUFFIX: Final = "_NODE"
SECONDS: Final = 15.0
SHARE: Final = 0.8
"""The part of the span for which its holder relies on it."""
RENEWALS: Final = 4
"""How often it is renewed in a span."""


class Holder(msgspec.Struct, frozen=True):
    """Who serves a ledger: the id of its folder, and the machine's name for people."""

    node: str
    machine: str = ""


class Lease:
    """The right to serve one ledger. Blocking calls; renewed by itself."""

    def __init__(
        self,
        connection: NatsConnection,
        ledger: str,
        holder: Holder,
        *,
        replicas: int = 3,
        seconds: float = SECONDS,
        waits: bool = True,
    ) -> None:
        """Takes the lease, waiting until that of a hub that died has expired; `Refused` while one lives.

        Who does not wait gets in line: the lease is taken when it is free.
        """
        self._connection = connection
        self._name = ledger + SUFFIX
        self._holder = holder
        self._asked = f"tacit.{ledger}.holder"
        self._seconds = seconds
        self._sequence = 0
        self._until = 0.0
        connection.wait(self._open(replicas, waits=waits))
        self._renewing = connection.start(self._renew())

    @property
    def is_held(self) -> bool:
        """May this hub serve the ledger now?"""
        return time.monotonic() < self._until

    async def _open(self, replicas: int, *, waits: bool) -> None:
        wanted = {
            "name": self._name,
            "subjects": [f"{self._name}.>"],
            "retention": "limits",
            "discard": "old",
            "storage": "file",
            "num_replicas": replicas,
            "max_msgs_per_subject": 1,
            "max_age": int(self._seconds * 1_000_000_000),
            "duplicate_window": int(self._seconds * 1_000_000_000),
        }
        made = await self._connection.ask(self._name, "CREATE", wanted)
        if made.error is not None:
            raise Refused("no_stream", f"the lease cannot be kept (NATS error {made.error.err_code})")
        while not await self._take_or_retake() and waits:
            if (told := await self._connection.request(self._asked)) is not None:
                machine = msgspec.json.decode(told, type=Holder).machine
                raise Refused(
                    "served_elsewhere", f"another hub serves this ledger, on {machine}: stop it first"
                )
            await asyncio.sleep(self._seconds / RENEWALS)
        if waits:
            await self._connection.answer(self._asked, self._who)

    def _who(self) -> bytes:
        return msgspec.json.encode(self._holder)

    async def _found(self) -> tuple[Holder | None, int]:
        reply = await self._connection.ask(self._name, "MSG.GET", {"last_by_subj": f"{self._name}.holder"})
        if reply.message is None:
            return None, 0
        return msgspec.json.decode(reply.message.payload, type=Holder), reply.message.seq

    async def _take_or_retake(self) -> bool:
        """The second time by what the first has learnt."""
        return await self._take() or await self._take()

    async def _take(self) -> bool:
        """Write it anew, if it is ours or nobody's."""
        began = time.monotonic()
        answer = await self._connection.publish(
            f"{self._name}.holder", msgspec.json.encode(self._holder), {GUARD: str(self._sequence)}
        )
        if isinstance(answer, Elsewhere):
            # It expired, another has it, or what we wrote before came through without an answer.
            holder, sequence = await self._found()
            if holder is None or holder.node == self._holder.node:
                self._sequence = sequence
            return False
        if not isinstance(answer, Taken):
            return False
        self._sequence, self._until = answer.sequence, began + SHARE * self._seconds
        return True

    async def _renew(self) -> None:
        was_held = self.is_held
        while True:
            await asyncio.sleep(self._seconds / RENEWALS)
            with suppress(Unavailable):  # the span runs out meanwhile, which is what it is for
                await self._take_or_retake()
            if was_held != self.is_held:
                was_held = self.is_held
                log.warning("the lease of %s is %s", self._name, "held" if was_held else "lost")

    def release(self) -> None:
        """Let another hub begin at once. Safe to call when it is lost already."""
        self._connection.stop(self._renewing)
        self._until = 0.0
        self._connection.wait(self._give_back())

    async def _give_back(self) -> None:
        try:
            _holder, sequence = await self._found()
            if sequence == self._sequence:
                await self._connection.overwrite(self._name, sequence)
        except Unavailable:
            log.warning("the lease of the ledger could not be given back: it expires")
