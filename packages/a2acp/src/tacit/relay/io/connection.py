"""One agent's connection: what waits to be said, what was handed out, how far its mailbox was read.

A2ACP-001, A2ACP-002, A2ACP-223.

An idle connection owns no task of its own; a pump runs only while there is something to say. Packets go out
in the order they were accepted, within a window; the rest stays in the file until the agent has answered
`received`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Final

from aiohttp import WSMsgType

from tacit.base.websocket import text_frame
from tacit.wire import codes, frames

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import web

    from tacit.base.callers import Bound
    from tacit.base.moment import Moment
    from tacit.base.ports import Clock
    from tacit.relay.io.store import Queued, RelayStore
    from tacit.relay.settings import RelayLimits

_PAGE: Final = 32
_TOGETHER: Final = 32
_MOST_SENDERS: Final = 1_000
_log: Final = logging.getLogger("tacit.relay")


def _nothing_holds(_message: bytes, _signature: bytes) -> bool:
    return False


class MailboxConnection:
    """A WebSocket and its place in the mailbox. Unauthenticated until `account` is set."""

    __slots__ = (
        "_asked",
        "_clock",
        "_limits",
        "_pump_task",
        "_store",
        "_transport",
        "_unsent",
        "_ws",
        "accepted",
        "account",
        "address",
        "behind",
        "challenge",
        "check",
        "closing",
        "cursor",
        "gone",
        "heard",
        "inflight",
        "job",
        "key",
        "markers",
        "notices_heard",
        "notices_said",
        "opened", "penalty",
        "removing",
        "senders",
        "sources",
    )  # fmt: skip

    def __init__(
        self,
        ws: web.WebSocketResponse,
        transport: asyncio.WriteTransport,
        store: RelayStore,
        limits: RelayLimits,
        *,
        sources: tuple[Bound, ...],
        clock: Clock,
    ) -> None:
        self._ws = ws
        self._transport = transport
        self._store = store
        self._limits = limits
        self.sources = sources
        self._clock = clock
        self.opened: Moment = clock.now()
        self.heard = self.opened
        self.challenge = ""
        self.account = 0
        self.address = ""
        self.key = b""
        self.check: Callable[[bytes, bytes], bool] = _nothing_holds
        self.accepted: list[str] = []
        self._unsent: deque[bytes] = deque()
        # By position: sender, tag, size, and when it was handed out; the longest ago first.
        self.inflight: dict[int, tuple[str, str, int, Moment]] = {}
        # Numbers of the last notice said, asked about by a ping, and known to be heard.
        self.notices_said = 0
        self._asked = 0
        self.notices_heard = 0
        # Overflow markers that were said on this connection, by the numbers they are answered with.
        self.markers: set[int] = set()
        self.cursor = 0
        self.behind = False
        self.closing = 0
        self.penalty = 0
        # What must be done before the next frame is read.
        self.job: asyncio.Task[None] | None = None
        # Whose packets were handed out here, so that only their recipient reports them; the last ones.
        self.senders: dict[str, None] = {}
        # What the agent has on its disk, on the way out of the file: one write at a time.
        self.gone: list[int] = []
        self.removing: asyncio.Task[None] | None = None
        self._pump_task: asyncio.Task[None] | None = None

    def say(self, frame: frames.Frame) -> None:
        """Send a control frame as soon as the socket takes it."""
        self.say_bytes(frames.encode(frame))

    def say_bytes(self, frame: bytes) -> None:
        """Send a frame that is encoded already."""
        if len(self._unsent) >= self._limits.unsent_frames:
            self.close(codes.CLOSE_TOO_SLOW)
            return
        self._unsent.append(frame)
        self.wake()

    def say_notice(self, number: int, frame: bytes) -> None:
        """Send a notice, and a ping when it is out: the pong tells that it was heard."""
        self.notices_said = number
        self.say_bytes(frame)

    def pong(self, data: bytes) -> int:
        """The last notice that this pong proves to be heard; 0 when it proves nothing new."""
        number = int(data) if data.isdigit() and len(data) < 20 else 0
        if not self.notices_heard < number <= self._asked:
            return 0
        self.notices_heard = number
        return number

    def confirm(self, packet_id: str) -> None:
        """Tell the sender that its packet is on disk; those of one commit share a frame."""
        self.accepted.append(packet_id)
        self.wake()

    def deliver(self, queued: Queued) -> None:
        """Hand out a packet now, or leave it in the file until the window has room."""
        if queued.position <= self.cursor:
            return
        if self.behind or len(self.inflight) >= self._limits.window_packets:
            self.behind = True
        else:
            self._hand_out(queued)
        self.wake()

    def read_mailbox(self) -> None:
        """Begin at the oldest packet."""
        self.behind = True
        self.wake()

    def hand_out_again(self, now: Moment) -> None:
        """What was handed out long ago and never answered is handed out once more, one by one.

        Its reader knows repeats. Whoever has not even read what waits for it gets nothing on top.
        """
        if self._unsent:
            return
        late: list[int] = []
        for position, (_, _, _, at) in self.inflight.items():
            if now - at <= self._limits.hand_out_again:
                break
            late.append(position)
        for position in late[:_PAGE]:
            del self.inflight[position]
            for queued in self._store.fetch(self.account, position - 1, 1):
                if queued.position == position:
                    self._say_packet(queued)
        if late:
            self.wake()

    def close(self, code: int, last: frames.Frame | None = None) -> None:
        """Close after one last frame; whatever else waited stays in the file."""
        if self.closing:
            return
        self.closing = code
        self._unsent.clear()
        self.accepted.clear()
        if last is not None:
            self._unsent.append(frames.encode(last))
        self.wake()

    async def drained(self) -> None:
        """Wait until the last frame and the close are out."""
        if self._pump_task is not None:
            await asyncio.wait({self._pump_task}, timeout=5)

    def abort(self) -> None:
        """The socket is gone."""
        self.closing = self.closing or 1006
        self._unsent.clear()
        if self._pump_task is not None:
            self._pump_task.cancel()

    def wake(self) -> None:
        """See that the pump runs."""
        if self._pump_task is None:
            self._pump_task = asyncio.get_running_loop().create_task(self._pump())

    async def _pump(self) -> None:
        try:
            while await self._step():
                pass
        except (ConnectionError, RuntimeError):
            # The peer went away while we spoke; the reading side notices and tidies up.
            self._unsent.clear()
        except asyncio.CancelledError:
            pass
        finally:
            self._pump_task = None

    async def _step(self) -> bool:
        if self.accepted and not self.closing:
            ids, self.accepted = self.accepted, []
            await self._ws.send_frame(frames.encode(frames.AcceptedFrame(ids)), WSMsgType.TEXT)
            return True
        if self._unsent:
            if len(self._unsent) > 1 and self._transport.get_write_buffer_size() == 0:
                self._send_together()
            else:
                await self._ws.send_frame(self._unsent.popleft(), WSMsgType.TEXT)
            return True
        if self._asked < self.notices_said and not self.closing:
            self._asked = self.notices_said
            await self._ws.ping(str(self._asked).encode())
            return True
        if self.closing:
            await self._ws.close(code=self.closing)
            return False
        if self.behind and self.account and len(self.inflight) < self._limits.window_packets:
            page = self._store.fetch(self.account, self.cursor, _PAGE)
            self.behind = len(page) == _PAGE
            for queued in page:
                self._hand_out(queued)
            return bool(page)
        return False

    def _send_together(self) -> None:
        """Many frames in one write, to a peer that keeps up: a slow one gets its frames one by one."""
        several = [self._unsent.popleft() for _ in range(min(len(self._unsent), _TOGETHER))]
        self._transport.write(b"".join(map(text_frame, several)))

    def _hand_out(self, queued: Queued) -> None:
        self.cursor = queued.position
        self._say_packet(queued)
        if queued.sender not in self.senders:
            self.senders[queued.sender] = None
            if len(self.senders) > _MOST_SENDERS:
                del self.senders[next(iter(self.senders))]

    def _say_packet(self, queued: Queued) -> None:
        self.inflight[queued.position] = (queued.sender, queued.tag, queued.size, self._clock.now())
        self._unsent.append(frames.packet_bytes(queued.envelope, queued.sig, queued.position))
