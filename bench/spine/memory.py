"""(h) The hub's resident memory: with a long ledger open and in use, and for each idle connection."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any, Final

from bench.spine.filled import ACTORS, filled
from bench.spine.plan import Case, Plan, Row
from bench.spine.processes import RunningHub, ask, hub, scratch
from bench.spine.texts import ClientIds, messages

if TYPE_CHECKING:
    from bench.spine.wire import WebSocket

CONNECTIONS: Final = 1000
MIB: Final = 1024 * 1024


class Caller:
    """One connection that asks one thing at a time."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[bytes] | None = None
        self.socket: WebSocket | None = None

    def answered(self, text: bytes) -> None:
        """Take the answer; live events pass by."""
        if self._answer is not None and not self._answer.done() and b'"method":"event"' not in text[:60]:
            self._answer.set_result(text)

    async def __call__(self, method: str, **params: Any) -> Any:
        self._answer = asyncio.get_running_loop().create_future()
        assert self.socket is not None
        return await ask(self.socket, self._answer, method, params)


async def _use(running: RunningHub, group_id: str, rounds: int) -> None:
    """Everything a group is used for, all over the ledger."""
    caller, dice, client_id = Caller(), random.Random(4), ClientIds(77)
    token = (await running.call("issue_token", {"group_id": group_id, "actor_id": "a0"}))["token"]
    caller.socket = await running.connect(caller.answered, token)
    last = (await caller("group", group_id=group_id))["last_seq"]
    for text in messages()[:rounds]:
        at = dice.randrange(last)
        data = {"text": text, "client_id": client_id()}
        await caller("append", group_id=group_id, kind="chat.message", data=data)
        await caller("events", group_id=group_id, since_seq=at, limit=100)
        await caller("window", group_id=group_id, before_seq=at + 50, limit=50)
        await caller("inbox", group_id=group_id)
        await caller("search", group_id=group_id, q=text.split()[-1], limit=20)
    following = await caller("follow", group_id=group_id, since_seq=max(0, last - 1000))
    await caller("unfollow", subscription=following["subscription"])
    caller.socket.close()


async def resident(plan: Plan) -> Case:
    """A large ledger in use; then a thousand connections that do nothing, and a thousand that follow."""
    folder, group_id = filled(plan.large)
    async with hub(folder) as running:
        opened = running.rss()
        await _use(running, group_id, plan.samples(500))
        used = running.rss()
    with scratch() as empty:
        async with hub(empty / "hub") as running:
            group_id = await running.open_group("idle", 2)
            idle = await _grow(running, group_id, follow=False)
        async with hub(empty / "again") as running:
            group_id = await running.open_group("idle", 2)
            following = await _grow(running, group_id, follow=True)
    rows = [
        Row(
            f"Hub memory with a group of {plan.large:,} events open and in use ({ACTORS} actors)",
            used / MIB,
            "MiB",
            at_most_value=150.0 * 1000 * 1000 / MIB,
            note=f"{opened / MIB:.0f} MiB right after opening",
        ),
        Row("Growth for each idle connection, over 1,000", idle / 1024, "KiB", at_most_value=40.0),
        Row(
            "Growth for each idle connection that follows a group, over 1,000",
            following / 1024,
            "KiB",
            at_most_value=40.0,
        ),
    ]
    raw = {"opened": opened, "used": used, "idle": idle, "following": following}
    return Case("Memory", rows, raw)


async def _grow(running: RunningHub, group_id: str, *, follow: bool) -> float:
    """Bytes a connection, after a hundred for warming up."""
    sockets: list[WebSocket] = []

    async def open_more(count: int) -> None:
        for _ in range(count):
            caller = Caller()
            caller.socket = await running.connect(caller.answered, running.tokens["a1"])
            sockets.append(caller.socket)
            if follow:
                await caller("follow", group_id=group_id)
            else:
                await caller("group", group_id=group_id)

    await open_more(100)
    await asyncio.sleep(1.0)
    before = running.rss()
    await open_more(CONNECTIONS)
    await asyncio.sleep(1.0)
    grown = (running.rss() - before) / CONNECTIONS
    for socket in sockets:
        socket.close()
    return grown
