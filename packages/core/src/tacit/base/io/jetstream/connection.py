"""A connection to NATS on a loop of its own thread, called from other threads: here alone NATS is spoken.

On a loop of its own since a connection must answer pings while nobody calls. Questions about a stream are
asked again while it has no leader. What an answer to a publish means is decided in `tacit.base.shipping`.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from tacit.base.errors import Refused, TacitError, Unavailable
from tacit.base.io.ending import end
from tacit.base.io.jetstream.client import NatsClient
from tacit.base.io.jetstream.consuming import SILENT_BEATS, STATUS, Consuming
from tacit.base.io.jetstream.greeting import greets
from tacit.base.io.jetstream.login import (
    INBOXES,
    denied_subject,
    lasting_fault,
    not_permitted,
    options_for,
)
from tacit.base.io.jetstream.safety import is_old, unsafe
from tacit.base.nats_access import NatsAccess, to_servers
from tacit.base.shipping import BatchStored, Declined, Elsewhere, Nobody, Silence, after

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

    from tacit.base.io.jetstream.consuming import Delivery
    from tacit.base.shipping import Answer, ShippingStep, Tracking

T = TypeVar("T")
log: Final = logging.getLogger("tacit.nats")
WRONG_END: Final = frozenset({10071, 10164})
"""The subject does not end with the sequence that was expected."""
PASSING: Final = frozenset({10008, 10009, 10074})
"""No leader at the moment: nobody took it."""
IN_PROCESS: Final = frozenset({10158, 10201})
"""The same id is being written: nobody can tell yet."""
NOT_FOUND: Final = 404
PINGS: Final = 2
"""After so many that a server did not answer, another one is looked for."""
GUARD: Final = "Nats-Expected-Last-Subject-Sequence"


class Patience(msgspec.Struct, frozen=True):
    """Seconds for an answer, for the pause between tries, for a connection; how often a batch is tried."""

    answer: float = 2.0
    tries: int = 8
    pause: float = 0.5
    connection: float = 15.0


class _Fault(msgspec.Struct):
    err_code: int = 0
    code: int = 0


class StoredMessage(msgspec.Struct):
    """A message of a stream as the server gives it: headers and bytes in base64."""

    seq: int
    subject: str
    hdrs: str = ""
    data: str = ""

    @property
    def payload(self) -> bytes:
        """Its bytes."""
        return base64.b64decode(self.data)

    @property
    def headers(self) -> dict[str, str]:
        """Its headers, each once."""
        lines = base64.b64decode(self.hdrs).decode(errors="replace").split("\r\n")[1:]
        return dict(line.split(": ", 1) for line in lines if ": " in line)


class _StreamState(msgspec.Struct):
    bytes: int = 0
    first_seq: int = 0
    last_seq: int = 0
    subjects: dict[str, int] = {}


class _Peer(msgspec.Struct):
    name: str = ""
    current: bool = False
    offline: bool = False
    lag: int = 0


class _Cluster(msgspec.Struct):
    leader: str = ""
    replicas: list[_Peer] = []


class StreamReply(msgspec.Struct):
    """What the server answers, to a publish or to a question about a stream."""

    error: _Fault | None = None
    seq: int = 0
    created: str = ""
    config: dict[str, Any] = {}
    state: _StreamState | None = None
    message: StoredMessage | None = None
    cluster: _Cluster | None = None
    ts: str = ""
    """What time it is there, when it tells about a stream."""


class _SubjectListener:
    """Somebody who hears what is said under a subject, whatever becomes of connections."""

    def __init__(self, subject: str, said: Callable[[Msg], Awaitable[None]]) -> None:
        self._subject = subject
        self._said = said
        self._subscription: Subscription | None = None

    async def begin(self, client: NatsClient) -> None:
        with suppress(NatsError):  # it begins with the next connection
            self._subscription = await client.subscribe(  # pyright: ignore[reportUnknownMemberType]
                self._subject, cb=self._said
            )

    async def end(self) -> None:
        if self._subscription is not None:
            with suppress(NatsError):
                await self._subscription.unsubscribe()

    async def drain(self) -> None:
        """Hear no more, after all that was said before the server knew of it."""
        if self._subscription is not None:
            with suppress(NatsError):
                await self._subscription.drain()


class NatsConnection:
    """A way to the servers, for several streams and threads."""

    def __init__(self, servers: Sequence[str] | NatsAccess, patience: Patience | None = None) -> None:
        """Connects, or raises; refuses servers that are too old, or do not let this program in."""
        self.patience = patience or Patience()
        self._access = servers if isinstance(servers, NatsAccess) else to_servers(servers)
        self._faults: list[Refused | None] | None = None
        """While it opens: what each attempt met that more attempts do not mend."""
        self._denied: set[str] = set()
        self._was_denied = asyncio.Event()
        self._full: set[str] = set()
        """Streams of which it was said that they take nothing."""
        self._listening: list[_SubjectListener] = []
        self._consuming: set[Consuming] = set()
        self._reopening: asyncio.Task[None] | None = None
        self._reconnects_before = 0
        self._is_closing = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tacit-nats", daemon=True)
        self._thread.start()
        self._client: NatsClient | None = None
        self._posted: set[asyncio.Task[None]] = set()
        try:
            self.wait(self._open())
        except BaseException:
            self.close()
            raise

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Have something done on the connection's loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def start(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Have something run beside, until it is stopped."""

        async def begun() -> asyncio.Task[None]:
            return self._loop.create_task(coroutine)

        return self.wait(begun())

    def post(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done soon, in the order of calling, without waiting; not any more when it closes."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._begin, work)

    def _begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = self._loop.create_task(work())
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)

    def stop(self, running: asyncio.Task[None]) -> None:
        """End what was started; returns when it has ended. Safe to call twice."""
        if not running.done():
            self.wait(end(running))

    async def _open(self) -> None:
        given = options_for(self._access, NatsError)
        client = NatsClient(is_encrypted=self._access.is_encrypted)
        self._faults = []
        try:
            await self._connect(client, given)
        except BaseException:
            self._faults = [None]  # what closing meets raises nothing
            await client.close()
            raise
        finally:
            self._faults = None
        self._client = client

    async def _connect(self, client: NatsClient, given: dict[str, Any]) -> None:
        try:
            async with asyncio.timeout(self.patience.connection):
                await client.connect(  # pyright: ignore[reportUnknownMemberType]
                    list(self._access.servers),
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=0.1,  # pyright: ignore[reportArgumentType] - it sleeps so long
                    # A machine that lost its power says nothing: another server is to be found before a
                    # lease is over.
                    ping_interval=self.patience.answer,  # pyright: ignore[reportArgumentType] - the same
                    max_outstanding_pings=PINGS,
                    error_cb=self._heard,
                    closed_cb=self._closed,
                    **given,
                )
        except (NatsError, OSError, TimeoutError) as error:
            for fault in filter(None, reversed(self._faults or [])):
                raise fault from error
            raise Unavailable(f"no NATS server can be reached ({type(error).__name__})") from error
        version = client.connected_server_version
        if is_old(version.major, version.minor):
            raise Refused("old_server", "this NATS server is older than 2.15: bring it up to date")

    async def _closed(self) -> None:
        """The client has given up, as it does when a server ends a connection with a word of its own."""
        for one in self._consuming:
            one.end()
        if self._faults is None and not self._is_closing:
            self._reopening = asyncio.get_running_loop().create_task(self._open_again())

    async def _open_again(self) -> None:
        self._reconnects_before = self.reconnects + 1
        while True:
            try:
                await self._open()
                break
            except TacitError as error:
                log.warning("there is no connection to NATS", extra={"fault": type(error).__name__})
                await asyncio.sleep(self.patience.pause)
        for one in list(self._listening):
            await one.begin(self._connected)

    @property
    def reconnects(self) -> int:
        """How often the connection was made anew."""
        return self._reconnects_before + (self._client.stats["reconnects"] if self._client is not None else 0)

    async def _heard(self, error: Exception) -> None:
        """What the client tells of. A broken connection it makes anew; whoever waited sees what it cost."""
        if (denied := denied_subject(error)) is not None:
            self._denied.add(denied)
            self._was_denied.set()
        if self._faults is not None:
            self._faults.append(fault := lasting_fault(error, self._access))
            if fault is not None and len(self._faults) >= len(self._access.servers) and all(self._faults):
                raise fault

    @property
    def _connected(self) -> NatsClient:
        if self._client is None:
            raise Unavailable("there is no connection to NATS")
        return self._client

    @property
    def server(self) -> tuple[str, str]:
        """The name of the server at the other end, and its version."""
        version = self._connected.connected_server_version
        return self._connected.server_name, f"{version.major}.{version.minor}.{version.patch}"

    async def silent_servers(self) -> list[str]:
        """Which of the servers that were named do not answer."""
        servers = self._access.servers
        answers = await asyncio.gather(*(greets(url, self.patience.answer) for url in servers))
        return [url for url, greeted in zip(servers, answers, strict=True) if not greeted]

    @property
    def room(self) -> int:
        """The largest payload that the server takes."""
        return self._connected.max_payload

    def fresh_name(self) -> str:
        """A name that nobody else has."""
        return self._connected.new_inbox().rsplit(".", 1)[-1]

    async def entrust(self, wanted: Mapping[str, Any]) -> StreamReply:
        """Make a stream when there is none; refuse one that is not safe."""
        name = str(wanted["name"])
        await self.require_permitted(name, "INFO")
        reply = await self.ask(name, "INFO", {})
        if reply.error is not None and reply.error.code == NOT_FOUND:
            await self.require_permitted(name, "CREATE")
            made = await self.ask(name, "CREATE", wanted)
            if made.error is not None:
                raise Refused("no_stream", f"the stream could not be made (NATS error {made.error.err_code})")
            reply = await self.ask(name, "INFO", {})
        if reply.error is not None:
            raise Unavailable(f"the stream says nothing about itself (NATS error {reply.error.err_code})")
        if wrong := unsafe(reply.config, wanted):
            raise Refused("unsafe_stream", f"the stream {name} is not safe: {'; '.join(wrong)}")
        await self.require_permitted(name, "MSG.GET", "MSG.DELETE")
        return reply

    async def ask(
        self, stream: str, what: str, asked: Mapping[str, Any], tries: int | None = None
    ) -> StreamReply:
        """Ask about a stream; again while it has no leader, as long as a batch would be tried."""
        subject = f"$JS.API.STREAM.{what}.{stream}"
        for _ in range(tries or self.patience.tries):
            try:
                message = await self._connected.request(
                    subject, msgspec.json.encode(asked), timeout=self.patience.answer
                )
            except (NatsError, OSError, TimeoutError):
                await asyncio.sleep(self.patience.pause)
                continue
            reply = msgspec.json.decode(message.data, type=StreamReply)
            if reply.error is None or reply.error.err_code not in PASSING:
                return reply
            await asyncio.sleep(self.patience.pause)
        raise Unavailable("the stream cannot be reached now; nothing was appended")

    async def require_permitted(self, stream: str, *questions: str) -> None:
        """Refuse to go on without what will be needed later. Nothing is changed: no question is complete."""
        subjects = [f"$JS.API.STREAM.{what}.{stream}" for what in questions]
        probe = f"{stream}.probe"
        # It is expected in another stream, so that none takes it.
        trying = self._published(probe, b"", {"Nats-Expected-Stream": f"{stream}-not"})
        await self._unless_denied((probe, *subjects), trying, *map(self.request, subjects))

    async def require_allowed(self, *subjects: str) -> None:
        """Refuse to go on where nothing may be said under these subjects; whoever hears it gets no bytes."""
        await self._unless_denied(subjects, *map(self.request, subjects))

    async def require_talk(self, subject: str) -> None:
        """Refuse to go on where nodes could not hear each other."""
        leave = await self.answer(subject, bytes)
        try:
            await self.require_allowed(subject)
        finally:
            await leave()

    async def _unless_denied(self, subjects: Sequence[str], *asked: Coroutine[Any, Any, object]) -> None:
        """Ask, and stop waiting when a server says that it may not be asked."""
        self._was_denied.clear()
        denied = asyncio.ensure_future(self._was_denied.wait())
        asking = {asyncio.ensure_future(one) for one in asked}
        try:
            while asking and not denied.done():
                done, _ = await asyncio.wait({denied, *asking}, return_when=asyncio.FIRST_COMPLETED)
                asking -= done
        finally:
            for one in (denied, *asking):
                one.cancel()
        for subject in (*subjects, INBOXES):
            if subject.lower() in self._denied:
                raise not_permitted(subject)

    async def see_through(
        self, tracking: Tracking, step: Callable[[ShippingStep], Awaitable[Answer]]
    ) -> Tracking:
        """Take a batch from step to step until its fate is known, with a pause before each further try."""
        while tracking.fate is None:
            tries = tracking.tries
            tracking = after(tracking, await step(tracking.step))
            if tracking.fate is None and tracking.tries < tries:
                await asyncio.sleep(self.patience.pause)
        return tracking

    async def publish(self, subject: str, payload: bytes, headers: dict[str, str]) -> Answer:
        """Publish once; what was answered."""
        answer = await self._published(subject, payload, headers)
        stream = subject.partition(".")[0]
        if isinstance(answer, BatchStored):
            self._full.discard(stream)
        elif isinstance(answer, Declined) and stream not in self._full:
            self._full.add(stream)
            log.error(
                "the stream %s takes nothing: is there room?", stream, extra={"nats_error": answer.code}
            )
        return answer

    async def _published(self, subject: str, payload: bytes, headers: dict[str, str]) -> Answer:
        try:
            answer = await self.answered(subject, payload, headers)
        except NoRespondersError:
            return Nobody()
        except (NatsError, OSError, TimeoutError):
            return Silence()
        return _answer(msgspec.json.decode(answer, type=StreamReply))

    async def publish_part(self, subject: str, payload: bytes, headers: dict[str, str]) -> Answer | None:
        """One part of an atomic batch that is not its last: taken when the answer is empty."""
        try:
            answer = await self.answered(subject, payload, headers)
        except (NatsError, OSError, TimeoutError):
            return Nobody()  # without its last part no batch is ever taken
        return _answer(msgspec.json.decode(answer, type=StreamReply)) if answer else None

    async def answered(self, subject: str, payload: bytes, headers: dict[str, str]) -> bytes:
        """The bytes of one answer."""
        message = await self._connected.request(
            subject, payload, timeout=self.patience.answer, headers=headers
        )
        return message.data

    async def request(self, subject: str) -> bytes | None:
        """Ask whoever listens to a subject; None when nobody does, or answers."""
        try:
            return (await self._connected.request(subject, b"", timeout=self.patience.answer)).data
        except (NatsError, OSError, TimeoutError):
            return None

    async def answer(self, subject: str, say: Callable[[], bytes]) -> Callable[[], Awaitable[None]]:
        """Answer everybody who asks under a subject, until what this gives is called."""

        async def asked(message: Msg) -> None:
            await message.respond(say())

        return await self._listen(subject, asked)

    async def hear(
        self, subject: str, heard: Callable[[bytes], None], nobody: Callable[[str], None] | None = None
    ) -> Callable[[], Coroutine[Any, Any, None]]:
        """Be told, on this connection's loop, of all that is said under a subject; returns how to leave.

        `nobody`: told of the subject's last part when nobody was there to hear what was said with it as the
        way back.
        """

        async def said(message: Msg) -> None:
            if nobody is not None and message.headers is not None and STATUS in message.headers:
                nobody(message.subject.rpartition(".")[2])
            else:
                heard(message.data)

        self._listening.append(made := _SubjectListener(subject, said))
        await made.begin(self._connected)

        async def leave() -> None:
            self._listening.remove(made)
            with suppress(TimeoutError):
                async with asyncio.timeout(self.patience.answer):
                    await made.drain()

        return leave

    async def _listen(
        self, subject: str, said: Callable[[Msg], Awaitable[None]]
    ) -> Callable[[], Awaitable[None]]:
        self._listening.append(made := _SubjectListener(subject, said))
        await made.begin(self._connected)

        async def leave() -> None:
            self._listening.remove(made)
            await made.end()

        return leave

    async def say(self, subject: str, payload: bytes, back: str = "") -> None:
        """Say something to whoever hears it; under `back` the server tells when nobody did."""
        with suppress(NatsError, OSError):  # who waits for an answer sees that none comes
            await self._connected.publish(subject, payload, reply=back)

    async def consume(
        self, stream: str, after: int, heartbeat: float, take: Callable[[Delivery], Awaitable[bool]]
    ) -> None:
        """Have a stream's messages as they are stored, in order and without a gap, behind one sequence.

        Ends when a message is missing or the servers fall silent: then it is called again, by what was had.
        `take` is given each message, and None for each sign of life; False ends it too.
        """
        inbox, consuming = self._connected.new_inbox(), Consuming(take)
        try:
            came = await self._connected.subscribe(inbox, cb=consuming.came)  # pyright: ignore[reportUnknownMemberType]
        except NatsError:
            return
        self._consuming.add(consuming)
        try:
            made = await self._connected.request(
                f"$JS.API.CONSUMER.CREATE.{stream}",
                msgspec.json.encode({"stream_name": stream, "config": _ordered(inbox, after, heartbeat)}),
                timeout=self.patience.answer,
            )
            if msgspec.json.decode(made.data, type=StreamReply).error is None:
                await consuming.until_over(heartbeat)
        except (NatsError, OSError, TimeoutError):
            return
        finally:
            self._consuming.discard(consuming)
            consuming.end()
            with suppress(NatsError, OSError):
                await came.unsubscribe()

    async def overwrite(self, stream: str, sequence: int) -> None:
        """Delete a message, its bytes on the servers' disks overwritten. One that is gone is no fault."""
        reply = await self.ask(stream, "MSG.DELETE", {"seq": sequence, "no_erase": False})
        if reply.error is None:
            return
        left = await self.ask(stream, "MSG.GET", {"seq": sequence})
        if left.message is not None:
            raise Unavailable(f"the stream does not delete (NATS error {reply.error.err_code})")

    def close(self) -> None:
        """Let go of the servers. Safe to call twice."""
        if self._loop.is_closed():
            return
        self.wait(self._let_go())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _let_go(self) -> None:
        self._is_closing = True
        if self._reopening is not None:
            await end(self._reopening)
        if self._posted:  # what was to be said is said
            await asyncio.wait(self._posted, timeout=self.patience.answer)
        if self._client is not None:
            await self._client.close()
        for left in asyncio.all_tasks() - {asyncio.current_task()}:  # the loop runs for this alone
            await end(left)


def _ordered(inbox: str, after: int, heartbeat: float) -> dict[str, Any]:
    nanoseconds = int(heartbeat * 1_000_000_000)
    return {
        "deliver_subject": inbox,
        "deliver_policy": "by_start_sequence",
        "opt_start_seq": after + 1,
        "ack_policy": "none",
        "max_deliver": 1,
        "flow_control": True,
        "idle_heartbeat": nanoseconds,
        "inactive_threshold": SILENT_BEATS * nanoseconds,
        "mem_storage": True,
        "num_replicas": 1,
    }


def _answer(reply: StreamReply) -> Answer:
    if reply.error is None:
        return BatchStored(reply.seq)
    code = reply.error.err_code
    if code in WRONG_END:
        return Elsewhere()
    if code in PASSING:
        return Nobody()
    return Silence() if code in IN_PROCESS else Declined(code)
