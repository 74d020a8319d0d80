"""(g) One writer, 200 followers: deliveries a second, beside a bare broadcast loop with the same receivers."""

from __future__ import annotations

import asyncio
from functools import partial
from time import perf_counter as now
from typing import Final

from bench.spine.appends import IN_FLIGHT, Appender, press
from bench.spine.plan import Case, Plan, Row, in_turn, middle, ratio
from bench.spine.processes import RunningHub, ask, bare_server, hub, scratch
from bench.spine.wire import Counter, counter, masked, websocket

FOLLOWERS: Final = 200


class Tally:
    """How many deliveries all receivers have had."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, more: int) -> None:
        """Count."""
        self.count += more

    async def reach(self, goal: int) -> None:
        """Wait until everybody has everything."""
        for _ in range(2000):
            if self.count >= goal:
                return
            await asyncio.sleep(0.005)
        raise RuntimeError(f"{goal - self.count} deliveries are missing")


class BareAppender(Appender):
    """The same writer in front of the broadcast loop: answers carry no number, they come in order."""

    def answered(self, text: bytes) -> None:
        number = next(iter(self._sent))
        super().answered(text.replace(b'"id":1,', b'"id":%b,' % number, 1))

    def _flush(self) -> None:
        # Only the event's data travels: the bare server puts the envelope around it.
        data = [masked(call[call.index(b'"data":', 6) + 7 : -2]) for call in self._out]
        assert self.socket is not None
        self.socket.transport.write(b"".join(data))
        self._out.clear()


async def _followers(running: RunningHub, group_id: str, tally: Tally) -> list[Counter]:
    found: list[Counter] = []
    last = await running.call("group", {"group_id": group_id})
    for _ in range(FOLLOWERS):
        begun: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        one = await counter(running.port, "/v1/ws", running.tokens["a1"], tally.add)
        one.on_text = lambda text, begun=begun: begun.done() or begun.set_result(text)
        await ask(one, begun, "follow", {"group_id": group_id, "since_seq": last["last_seq"]})
        one.is_counting = True
        found.append(one)
    return found


async def deliver(writer: Appender, tally: Tally, seconds: float, in_flight: int) -> dict[str, float]:
    """Deliveries a second, until the last follower has the last event."""
    tally.count = 0
    started = now()
    found = await press([writer], seconds, in_flight)
    goal = len(writer.took) * FOLLOWERS
    await tally.reach(goal)
    return {"deliveries": goal / (now() - started), "events": found["per_second"]}


async def broadcast(plan: Plan) -> Case:
    """Both with 200 receivers in this process; with 16 in flight a tick carries many events, with one just one."""
    with scratch() as folder:
        async with hub(folder / "hub") as running, bare_server() as port:
            group_id = await running.open_group("fan-out", 2)
            ours, theirs = Tally(), Tally()
            writer = Appender(group_id, 3)
            writer.socket = await running.connect(writer.answered, running.tokens["a0"])
            bare = BareAppender(group_id, 3)
            bare.socket = await websocket(port, "/write", None, bare.answered)
            receivers = await _followers(running, group_id, ours)
            for _ in range(FOLLOWERS):
                one = await counter(port, "/follow", None, theirs.add)
                one.is_counting = True
                receivers.append(one)
            parts = {
                f"{name}_{many}": partial(deliver, *pair, plan.seconds, many)
                for many in (IN_FLIGHT, 1)
                for name, pair in (("hub", (writer, ours)), ("bare", (bare, theirs)))
            }
            await deliver(writer, ours, min(1.0, plan.seconds), IN_FLIGHT)
            found = await in_turn(plan.rounds, parts)
            for one in receivers:
                one.close()
    rows = [
        Row(
            f"Fan-out, one writer and 200 followers, {what}",
            middle(found[f"hub_{many}"], "deliveries"),
            "deliveries/s",
            "bare broadcast loop on aiohttp, same writer",
            middle(found[f"bare_{many}"], "deliveries"),
            ratio(found, (f"hub_{many}", "deliveries"), (f"bare_{many}", "deliveries")),
            at_least=0.60,
            note=f"{middle(found[f'hub_{many}'], 'events'):,.0f} durable events/s, each delivered 200 times",
        )
        for many, what in ((IN_FLIGHT, "16 events in flight"), (1, "one event at a time"))
    ]
    return Case("Fan-out", rows, found)
