"""The stream itself: a connection to NATS on a loop of its own thread, called from the writer's.

On a loop of its own since a connection must answer pings while the writer is idle. What an answer means is
decided in `tacit.ledger.shipping`; here requests are made and answers are read. Everything is asked of the
stream's leader: a replica may lag behind what was acknowledged.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
import nats
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from tacit.base.errors import Refused, Unavailable
from tacit.ledger.io.jetstream.safety import is_old, unsafe, wanted_config
from tacit.ledger.shipment import FORMAT, StreamMessage
from tacit.ledger.shipping import (
    FENCE_SUFFIX,
    Declined,
    Elsewhere,
    Found,
    Nobody,
    NothingThere,
    Silence,
    Step,
    Taken,
    after,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from nats.aio.client import Client

    from tacit.ledger.shipment import Part, Shipment
    from tacit.ledger.shipping import Answer, Tracking

T = TypeVar("T")
BATCH_ID: Final = "Tacit-Batch"
VERSION: Final = "Tacit-Format"
WRONG_END: Final = frozenset({10071, 10164})
"""The subject does not end with the sequence that was expected."""
PASSING: Final = frozenset({10008, 10009, 10074})
"""No leader at the moment: nobody took it."""
IN_PROCESS: Final = frozenset({10158, 10201})
"""The same id is being written: nobody can tell yet."""
HEADERS_AT_MOST: Final = 512
READ_AT_ONCE: Final = 64


class Patience(msgspec.Struct, frozen=True):
    """Seconds for an answer, for the pause between tries, for a connection; how often a batch is tried."""

    answer: float = 2.0
    tries: int = 8
    pause: float = 0.5
    connection: float = 15.0


class _Fault(msgspec.Struct):
    err_code: int = 0
    code: int = 0


class _Message(msgspec.Struct):
    seq: int
    subject: str
    hdrs: str = ""
    data: str = ""


class _State(msgspec.Struct):
    last_seq: int = 0


class _Reply(msgspec.Struct):
    """What the server answers, to a publish or to a question about the stream."""

    error: _Fault | None = None
    seq: int = 0
    created: str = ""
    config: dict[str, Any] = {}
    state: _State | None = None
    message: _Message | None = None


class JetStream:
    """One stream of a NATS server or cluster, for one writer. Blocking calls."""

    def __init__(
        self,
        servers: Sequence[str],
        name: str = "TACIT",
        *,
        replicas: int = 3,
        patience: Patience | None = None,
    ) -> None:
        """Connects, makes the stream when there is none, and refuses one that is not safe."""
        self.name = name
        self.created = ""
        self.patience = patience or Patience()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tacit-nats", daemon=True)
        self._thread.start()
        self._client: Client | None = None
        try:
            self._call(self._open(list(servers), replicas))
        except BaseException:
            self.close()
            raise

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    async def _open(self, servers: list[str], replicas: int) -> None:
        try:
            async with asyncio.timeout(self.patience.connection):
                self._client = await nats.connect(  # pyright: ignore[reportUnknownMemberType]
                    servers, max_reconnect_attempts=-1, reconnect_time_wait=0.1, error_cb=_ignored
                )
        except (NatsError, OSError, TimeoutError) as error:
            raise Unavailable(f"no NATS server can be reached ({type(error).__name__})") from error
        version = self._connected.connected_server_version
        if is_old(version.major, version.minor):
            raise Refused("old_server", "this NATS server is older than 2.15: bring it up to date")
        wanted = wanted_config(self.name, replicas)
        reply = await self._api("INFO", {})
        if reply.error is not None and reply.error.code == 404:
            made = await self._api("CREATE", wanted)
            if made.error is not None:
                raise Refused("no_stream", f"the stream could not be made (NATS error {made.error.err_code})")
            reply = await self._api("INFO", {})
        if reply.error is not None:
            raise Unavailable(f"the stream says nothing about itself (NATS error {reply.error.err_code})")
        if wrong := unsafe(reply.config, wanted):
            raise Refused("unsafe_stream", f"the stream {self.name} is not safe: {'; '.join(wrong)}")
        self.created = reply.created

    @property
    def _connected(self) -> Client:
        if self._client is None:
            raise Unavailable("there is no connection to NATS")
        return self._client

    async def _api(self, what: str, asked: dict[str, Any]) -> _Reply:
        """Ask about the stream; again while it has no leader, as long as a batch would be tried."""
        for _ in range(self.patience.tries):
            try:
                message = await self._connected.request(
                    f"$JS.API.STREAM.{what}.{self.name}",
                    msgspec.json.encode(asked),
                    timeout=self.patience.answer,
                )
            except (NatsError, OSError, TimeoutError):
                await asyncio.sleep(self.patience.pause)
                continue
            reply = msgspec.json.decode(message.data, type=_Reply)
            if reply.error is None or reply.error.err_code not in PASSING:
                return reply
            await asyncio.sleep(self.patience.pause)
        raise Unavailable("the stream cannot be reached now; nothing was appended")

    @property
    def tries(self) -> int:
        """How often a batch is tried."""
        return self.patience.tries

    @property
    def room(self) -> int:
        """How many bytes a batch may have: what the server takes, less what our headers need."""
        return self._connected.max_payload - HEADERS_AT_MOST

    def end(self) -> int:
        """The sequence that the stream ends with, as its leader says."""
        reply = self._call(self._api("INFO", {}))
        if reply.state is None or reply.created != self.created:
            raise Unavailable("the stream is not the one that it was: start the hub again")
        return reply.state.last_seq

    def read(self, after: int, upto: int) -> Iterator[StreamMessage]:
        """Every message behind one sequence, up to another, in order."""
        for first in range(after + 1, upto + 1, READ_AT_ONCE):
            yield from self._call(self._some(first, min(first + READ_AT_ONCE - 1, upto)))

    async def _some(self, first: int, last: int) -> list[StreamMessage]:
        asked = [self._api("MSG.GET", {"seq": sequence}) for sequence in range(first, last + 1)]
        return [self._read(reply) for reply in await asyncio.gather(*asked)]

    def _read(self, reply: _Reply) -> StreamMessage:
        found = reply.message
        if found is None:
            raise Unavailable("the stream lacks a message that it had")
        headers = _headers(found.hdrs)
        if headers.get(VERSION) != FORMAT:
            raise Unavailable(
                "the stream holds what a newer version of this program wrote: bring this node up to date"
            )
        return StreamMessage(
            found.seq, found.subject.removeprefix(f"{self.name}."), base64.b64decode(found.data)
        )

    def carry(self, tracked: Sequence[tuple[Shipment, Tracking]]) -> list[Tracking]:
        """See batches through to their fates, side by side."""
        return self._call(self._carry_all(tracked))

    async def _carry_all(self, tracked: Sequence[tuple[Shipment, Tracking]]) -> list[Tracking]:
        return await asyncio.gather(*(self._carry(shipment, tracking) for shipment, tracking in tracked))

    async def _carry(self, shipment: Shipment, tracking: Tracking) -> Tracking:
        while tracking.fate is None:
            tries = tracking.tries
            tracking = after(tracking, await self._step(shipment, tracking.step))
            if tracking.fate is None and tracking.tries < tries:
                await asyncio.sleep(self.patience.pause)
        return tracking

    async def _step(self, shipment: Shipment, step: Step) -> Answer:
        first = shipment.parts[0]
        match step:
            case Step.PUBLISH if len(shipment.parts) == 1:
                return await self._publish(
                    first, {"Nats-Msg-Id": shipment.batch_id, BATCH_ID: shipment.batch_id}
                )
            case Step.PUBLISH:
                return await self._publish_together(shipment)
            case Step.FENCE:
                fence = shipment.batch_id + FENCE_SUFFIX
                headers = {"Nats-Msg-Id": fence, BATCH_ID: fence}
                return await self._publish(msgspec.structs.replace(first, payload=b""), headers)
            case Step.LOOK:
                return await self._look(first, len(shipment.parts))

    async def _publish(self, part: Part, headers: dict[str, str]) -> Answer:
        headers = {
            **headers,
            VERSION: FORMAT,
            "Nats-Expected-Last-Subject-Sequence": str(part.guard),
            "Nats-Expected-Stream": self.name,
        }
        try:
            message = await self._connected.request(
                f"{self.name}.{part.token}", part.payload, timeout=self.patience.answer, headers=headers
            )
        except NoRespondersError:
            return Nobody()
        except (NatsError, OSError, TimeoutError):
            return Silence()
        return _answer(msgspec.json.decode(message.data, type=_Reply))

    async def _publish_together(self, shipment: Shipment) -> Answer:
        """All parts as one atomic batch; each attempt has an id of its own, the guards make a repeat safe."""
        *before, last = shipment.parts
        attempt = self._connected.new_inbox().rsplit(".", 1)[-1]
        headers = {BATCH_ID: shipment.batch_id, "Nats-Batch-Id": attempt}
        for number, part in enumerate(before, 1):
            answer = await self._open_part(part, {**headers, "Nats-Batch-Sequence": str(number)})
            if answer is not None:
                return answer
        end = {"Nats-Batch-Sequence": str(len(shipment.parts)), "Nats-Batch-Commit": "1"}
        return await self._publish(last, {**headers, **end})

    async def _open_part(self, part: Part, headers: dict[str, str]) -> Answer | None:
        """One part of an atomic batch that is not its last: taken when the answer is empty."""
        headers = {**headers, VERSION: FORMAT, "Nats-Expected-Last-Subject-Sequence": str(part.guard)}
        try:
            message = await self._connected.request(
                f"{self.name}.{part.token}", part.payload, timeout=self.patience.answer, headers=headers
            )
        except (NatsError, OSError, TimeoutError):
            return Nobody()  # without its last part no batch is ever taken
        return _answer(msgspec.json.decode(message.data, type=_Reply)) if message.data else None

    async def _look(self, part: Part, parts: int) -> Answer:
        """What follows the guard on the subject; the sequence is that of the last part."""
        asked = {"seq": part.guard + 1, "next_by_subj": f"{self.name}.{part.token}"}
        try:
            reply = await self._api("MSG.GET", asked)
        except Unavailable:
            return NothingThere()
        if reply.message is None:
            return NothingThere()
        return Found(reply.message.seq + parts - 1, _headers(reply.message.hdrs).get(BATCH_ID, ""))

    def close(self) -> None:
        """Let go of the connection. Safe to call twice."""
        if self._loop.is_closed():
            return
        if self._client is not None:
            self._call(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _answer(reply: _Reply) -> Answer:
    if reply.error is None:
        return Taken(reply.seq)
    code = reply.error.err_code
    if code in WRONG_END:
        return Elsewhere()
    if code in PASSING:
        return Nobody()
    return Silence() if code in IN_PROCESS else Declined(code)


def _headers(encoded: str) -> dict[str, str]:
    lines = base64.b64decode(encoded).decode(errors="replace").split("\r\n")[1:]
    return dict(line.split(": ", 1) for line in lines if ": " in line)


async def _ignored(error: Exception) -> None:
    """A broken connection is made anew by the client; whoever waited for an answer sees what it cost."""
    del error
