"""The ledger's stream, as a writer uses it.

What an answer means is decided in `tacit.base.shipping`; here requests are made and answers are read.
Everything is asked of the stream's leader: a replica may lag behind what was acknowledged.

No message is ever changed. When the content of one has to go, another takes its place, under a subject that
names the sequence it stands for (`INSTEAD`), and then the first one is deleted and overwritten. So every
sequence that is missing is accounted for by a message that says so; whoever reads gets that one instead.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from tacit.base.errors import Unavailable, WrittenByNewer
from tacit.base.io.jetstream.connection import GUARD, NatsConnection
from tacit.base.io.jetstream.safety import wanted_config
from tacit.base.shipping import FENCE_SUFFIX, BatchFound, BatchStored, Elsewhere, NothingThere, ShippingStep
from tacit.ledger.shipment import FORMAT, INSTEAD, ShipmentPart, StreamMessage
from tacit.ledger.standing import ShipmentCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tacit.base.io.jetstream.connection import Patience, StoredMessage
    from tacit.base.io.jetstream.consuming import Arrival
    from tacit.base.nats_access import NatsAccess
    from tacit.base.shipping import Answer, Tracking
    from tacit.ledger.shipment import Shipment

BATCH_ID: Final = "Tacit-Batch"
VERSION: Final = "Tacit-Format"
STANDS_FOR: Final = "Tacit-Subject"
"""The subject of the message in whose place this one stands."""
QUIET: Final = "Tacit-Quiet"
"""On a batch that is of interest inside its group alone; a node that does not know it applies all."""
HEADERS_AT_MOST: Final = 512
READ_AT_ONCE: Final = 64
NOT_NOW: Final = "the stream does not take the erased form now; it is tried again"


def _marks(part: ShipmentPart) -> dict[str, str]:
    return {QUIET: "1"} if part.quiet else {}


class JetStream:
    """One stream of a NATS server or cluster, for one writer. Blocking calls."""

    def __init__(
        self,
        servers: Sequence[str] | NatsAccess | NatsConnection,
        name: str = "TACIT",
        *,
        replicas: int = 3,
        patience: Patience | None = None,
    ) -> None:
        """Connects, makes the stream when there is none, and refuses one that is not safe."""
        self.name: Final = name
        self.replicas: Final = replicas
        self.counts: Final = ShipmentCounts()
        given = isinstance(servers, NatsConnection)
        self.connection: Final = servers if given else NatsConnection(servers, patience)
        try:
            self.created: Final = self.connection.wait(self._made_sure_of())
        except BaseException:
            self.connection.close()
            raise

    async def _made_sure_of(self) -> str:
        created = (await self.connection.entrust(wanted_config(self.name, self.replicas))).created
        await self.connection.require_allowed(
            f"$JS.API.CONSUMER.CREATE.{self.name}", f"$JS.FC.{self.name}.probe"
        )
        return created

    @property
    def tries(self) -> int:
        """How often a batch is tried."""
        return self.connection.patience.tries

    @property
    def room(self) -> int:
        """How many bytes a batch may have: what the server takes, less what our headers need."""
        return self.connection.room - HEADERS_AT_MOST

    def end(self) -> int:
        """The sequence that the stream ends with, as its leader says."""
        reply = self.connection.wait(self.connection.ask(self.name, "INFO", {}))
        if reply.state is None or reply.created != self.created:
            raise Unavailable("the stream is not the one that it was: start the hub again")
        return reply.state.last_seq

    def require_open(self) -> None:
        """Raise `Unavailable` unless the stream answers at once."""
        self.connection.wait(self.connection.ask(self.name, "INFO", {}, tries=1))

    def read(self, after: int, upto: int) -> Iterator[StreamMessage]:
        """Every message behind one sequence, up to another, in order."""
        for first in range(after + 1, upto + 1, READ_AT_ONCE):
            yield from self.connection.wait(self._some(first, min(first + READ_AT_ONCE - 1, upto)))

    def read_these(self, sequences: Sequence[int]) -> Iterator[StreamMessage]:
        """These messages, in order, each or what stands in its place."""
        for first in range(0, len(sequences), READ_AT_ONCE):
            yield from self.connection.wait(self._these(sequences[first : first + READ_AT_ONCE]))

    def get(self, sequence: int) -> StreamMessage:
        """One message, or what stands in its place."""
        return self.connection.wait(self._get(sequence))

    def has(self, token: str) -> bool:
        """Is there a message under this subject?"""
        return bool(self.connection.wait(self._end_of(token)))

    async def _some(self, first: int, last: int) -> list[StreamMessage]:
        return await self._these(range(first, last + 1))

    async def _these(self, sequences: Iterable[int]) -> list[StreamMessage]:
        return await asyncio.gather(*map(self._get, sequences))

    async def _get(self, sequence: int) -> StreamMessage:
        found = await self._found(seq=sequence)
        if found is not None:
            return self._read(found, sequence, found.subject.removeprefix(f"{self.name}."))
        instead = await self._found(last_by_subj=f"{self.name}.{INSTEAD}{sequence}")
        if instead is None:
            raise Unavailable("the stream lacks a message that it had: restore the servers from a backup")
        return self._read(instead, sequence, instead.headers.get(STANDS_FOR, ""))

    async def _found(self, **asked: str | int) -> StoredMessage | None:
        return (await self.connection.ask(self.name, "MSG.GET", asked)).message

    def read_arrival(self, arrival: Arrival) -> StreamMessage | None:
        """A message that a consumer got; None when it is in a form that is not known here."""
        if arrival.headers.get(VERSION) != FORMAT:
            return None
        token = arrival.subject.removeprefix(f"{self.name}.")
        return StreamMessage(arrival.seq, token, arrival.payload, QUIET in arrival.headers)

    def _read(self, found: StoredMessage, sequence: int, token: str) -> StreamMessage:
        written = found.headers.get(VERSION, "")
        if written.isdecimal() and int(written) > int(FORMAT):
            raise WrittenByNewer("what is in the stream", int(written), int(FORMAT))
        if written != FORMAT:
            raise Unavailable("the stream holds a message that is not Tacit's: restore it from a backup")
        return StreamMessage(sequence, token, found.payload, QUIET in found.headers)

    # -- writing

    def carry(self, tracked: Sequence[tuple[Shipment, Tracking]]) -> list[Tracking]:
        """See batches through to their fates, side by side."""
        begun = time.monotonic()
        found = self.connection.wait(self._carry_all(tracked))
        self.counts.count(found, time.monotonic() - begun)
        return found

    async def _carry_all(self, tracked: Sequence[tuple[Shipment, Tracking]]) -> list[Tracking]:
        see_through = self.connection.see_through
        return await asyncio.gather(
            *(see_through(tracking, partial(self._step, shipment)) for shipment, tracking in tracked)
        )

    async def _step(self, shipment: Shipment, step: ShippingStep) -> Answer:
        first = shipment.parts[0]
        match step:
            case ShippingStep.PUBLISH if len(shipment.parts) == 1:
                return await self._publish(
                    first, {"Nats-Msg-Id": shipment.batch_id, BATCH_ID: shipment.batch_id}
                )
            case ShippingStep.PUBLISH:
                return await self._publish_together(shipment)
            case ShippingStep.FENCE:
                return await self._fence(first, shipment.batch_id)
            case ShippingStep.LOOK:
                return await self._look(first, len(shipment.parts))

    async def _fence(self, part: ShipmentPart, batch_id: str) -> Answer:
        fence = batch_id + FENCE_SUFFIX
        return await self._publish(
            msgspec.structs.replace(part, payload=b""), {"Nats-Msg-Id": fence, BATCH_ID: fence}
        )

    async def _publish(self, part: ShipmentPart, headers: dict[str, str]) -> Answer:
        own = {VERSION: FORMAT, GUARD: str(part.guard), "Nats-Expected-Stream": self.name}
        headers = {**headers, **_marks(part), **own}
        return await self.connection.publish(f"{self.name}.{part.token}", part.payload, headers)

    async def _publish_together(self, shipment: Shipment) -> Answer:
        """All parts as one atomic batch; each attempt has an id of its own, the guards make a repeat safe."""
        *before, last = shipment.parts
        headers = {BATCH_ID: shipment.batch_id, "Nats-Batch-Id": self.connection.fresh_name()}
        for number, part in enumerate(before, 1):
            answer = await self.connection.publish_part(
                f"{self.name}.{part.token}",
                part.payload,
                {
                    **headers,
                    **_marks(part),
                    "Nats-Batch-Sequence": str(number),
                    VERSION: FORMAT,
                    GUARD: str(part.guard),
                },
            )
            if answer is not None:
                return answer
        end = {"Nats-Batch-Sequence": str(len(shipment.parts)), "Nats-Batch-Commit": "1"}
        return await self._publish(last, {**headers, **end})

    async def _look(self, part: ShipmentPart, parts: int) -> Answer:
        """What follows the guard on the subject; the sequence is that of the last part."""
        try:
            found = await self._found(seq=part.guard + 1, next_by_subj=f"{self.name}.{part.token}")
        except Unavailable:
            return NothingThere()
        if found is None:
            return NothingThere()
        return BatchFound(found.seq + parts - 1, found.headers.get(BATCH_ID, ""))

    # -- taking away

    def replace(self, message: StreamMessage, payload: bytes) -> None:
        """Have a message stand there with this payload, and no other form of it be left on the servers.

        May be repeated after any failure: it goes on where it was.
        """
        self.connection.wait(self._replace(message, payload))

    async def _replace(self, message: StreamMessage, payload: bytes) -> None:
        place = f"{INSTEAD}{message.sequence}"
        newest = await self._end_of(place)
        if (await self._get(message.sequence)).payload != payload:
            newest = await self._put(ShipmentPart("", place, newest, payload), message.token)
        elif not newest:
            return  # it had nothing to lose
        earlier = message.sequence
        while 0 < (earlier := await self._next_in(place, earlier + 1)) < newest:
            if not await self._end_of(f"{INSTEAD}{earlier}"):
                await self._put(ShipmentPart("", f"{INSTEAD}{earlier}", 0, b""), place)
            await self.connection.overwrite(self.name, earlier)
        if await self._end_of(message.token) == message.sequence:
            # The guard of its subject would go back with it: something has to follow first.
            fence = ShipmentPart("", message.token, message.sequence, b"")
            if not isinstance(
                await self._fence(fence, self.connection.fresh_name()), BatchStored | Elsewhere
            ):
                raise Unavailable(NOT_NOW)
        await self.connection.overwrite(self.name, message.sequence)

    def is_replaced(self, message: StreamMessage, payload: bytes) -> bool:
        """Does a message stand there with this payload, and no other form of it?"""
        return self.connection.wait(self._is_replaced(message, payload))

    async def _is_replaced(self, message: StreamMessage, payload: bytes) -> bool:
        place = f"{INSTEAD}{message.sequence}"
        newest, first = await self._end_of(place), await self._next_in(place, message.sequence + 1)
        return first == newest and (await self._get(message.sequence)).payload == payload

    async def _put(self, part: ShipmentPart, stands_for: str) -> int:
        """Publish what stands in the place of another; where it stands."""
        answer = await self._publish(part, {BATCH_ID: self.connection.fresh_name(), STANDS_FOR: stands_for})
        if not isinstance(answer, BatchStored):
            raise Unavailable(NOT_NOW)
        return answer.sequence

    async def _end_of(self, token: str) -> int:
        found = await self._found(last_by_subj=f"{self.name}.{token}")
        return found.seq if found is not None else 0

    async def _next_in(self, token: str, first: int) -> int:
        found = await self._found(seq=first, next_by_subj=f"{self.name}.{token}")
        return found.seq if found is not None else 0

    def close(self) -> None:
        """Let go of the connection. Safe to call twice."""
        self.connection.close()
