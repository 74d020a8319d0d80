"""(e) From append to receipt at 500 events a second: a follower on `/v1/ws`, one on SSE, and a bare echo."""

from __future__ import annotations

import asyncio
import itertools
import statistics
from time import perf_counter as now
from typing import TYPE_CHECKING, Final

from bench.spine.appends import calls
from bench.spine.plan import Case, Plan, Row, in_turn, middle, percentile, ratio
from bench.spine.processes import RunningHub, ask, bare_server, hub, scratch
from bench.spine.wire import Lines, WebSocket, websocket

if TYPE_CHECKING:
    from collections.abc import Callable

RATE: Final = 500
_KEY: Final = b'"client_id":"'
AT_MOST_MS: Final = 2.0


class Pace:
    """Sends calls at a steady rate and notes when each one comes back, under its idempotency key."""

    def __init__(self, group_id: str, seed: int) -> None:
        self._calls = calls(group_id, seed)
        self._numbers = itertools.count(1)
        self._sent: dict[bytes, float] = {}
        self.took: list[float] = []

    def received(self, text: bytes) -> None:
        """Take an event, or an echo, that carries the key."""
        at = text.find(_KEY)
        sent = self._sent.pop(text[at + 13 : at + 45], None) if at >= 0 else None
        if sent is not None:
            self.took.append(now() - sent)

    async def run(self, socket: WebSocket, seconds: float) -> dict[str, float]:
        """Send for a while, wait for the last receipts, and return the distribution in milliseconds."""
        self.took, self._sent = [], {}
        started = now()
        for number in range(int(seconds * RATE)):
            if (wait := started + number / RATE - now()) > 0:
                await asyncio.sleep(wait)
            call = next(self._calls)(next(self._numbers))
            at = call.index(_KEY)
            self._sent[call[at + 13 : at + 45]] = now()
            socket.send(call)
        for _ in range(1000):
            if not self._sent:
                break
            await asyncio.sleep(0.01)
        if self._sent:
            raise RuntimeError(f"{len(self._sent)} events never arrived")
        return {
            "p50_ms": statistics.median(self.took) * 1e3,
            "p99_ms": percentile(self.took, 0.99) * 1e3,
            "per_second": len(self.took) / seconds,
        }


async def follow(running: RunningHub, group_id: str, on_text: Callable[[bytes], None]) -> WebSocket:
    begun: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    socket = await running.connect(lambda text: begun.done() or begun.set_result(text), running.tokens["a1"])
    last = await running.call("group", {"group_id": group_id})
    await ask(socket, begun, "follow", {"group_id": group_id, "since_seq": last["last_seq"]})
    socket.on_text = on_text
    return socket


async def _stream(running: RunningHub, group_id: str, on_data: Callable[[bytes], None]) -> Lines:
    last = await running.call("group", {"group_id": group_id})
    path = f"/v1/groups/{group_id}/events?since_seq={last['last_seq']}"
    loop = asyncio.get_running_loop()
    _, lines = await loop.create_connection(
        lambda: Lines(path, running.tokens["a1"], on_data), "127.0.0.1", running.port
    )
    await lines.begun
    return lines


async def receipts(plan: Plan) -> Case:
    """Each round: the WebSocket follower, the SSE follower, the echo."""
    with scratch() as folder:
        async with hub(folder / "hub") as running, bare_server() as port:
            group_id = await running.open_group("latency", 2)
            pace = Pace(group_id, 11)
            writer = await running.connect(lambda _text: None, running.tokens["a0"])
            bare = await websocket(port, "/echo", None, pace.received)

            async def followed() -> dict[str, float]:
                follower = await follow(running, group_id, pace.received)
                found = await pace.run(writer, plan.seconds)
                follower.close()
                return found

            async def streamed() -> dict[str, float]:
                lines = await _stream(running, group_id, pace.received)
                found = await pace.run(writer, plan.seconds)
                lines.transport.close()
                return found

            await followed()
            found = await in_turn(
                plan.rounds,
                {"ws": followed, "sse": streamed, "echo": lambda: pace.run(bare, plan.seconds)},
            )
            writer.close()
            bare.close()
    rows = [
        Row(
            f"Append to receipt by a follower on {name}, 500 events/s: p50",
            middle(found[key], "p50_ms"),
            "ms",
            "bare WebSocket echo at the same rate",
            middle(found["echo"], "p50_ms"),
            ratio(found, (key, "p50_ms"), ("echo", "p50_ms")),
            at_most_value=AT_MOST_MS,
            note=f"p99 {middle(found[key], 'p99_ms'):.2f} ms; echo p99 {middle(found['echo'], 'p99_ms'):.2f} ms",
        )
        for key, name in (("ws", "`/v1/ws`"), ("sse", "SSE"))
    ]
    return Case("Append to receipt", rows, found)
