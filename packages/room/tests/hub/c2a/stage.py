"""A room of people and agents on a real hub whose clock is moved by hand, for scenarios over real sockets."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tacit.base.errors import Refused
from tacit.c2a.activity import ActivityWanted
from tacit.c2a.io.session import EVERYTHING, Delivery, Disconnected
from tacit.c2a.messages import Connected
from tacit.c2a.notifications import Cancelled
from tacit.c2a.retry import Pace
from tacit.client import AgentSession, Habits
from tacit.hub.server import Server
from tacit.ledger.io.store import StoreOptions
from tests.hub.room import WAIT, Room, Socket, config
from tests.ledger.world import HandClock, SeededEntropy

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

QUICK = Pace(tries=1, first=0.02)
GREETING = {
    "protocolVersion": "2026-06-24",
    "clientInfo": {"name": "raw", "version": "1"},
    "capabilities": EVERYTHING,
}


@contextmanager
def refused(code: str, row: str | None = None) -> Iterator[None]:
    """Expect the hub's no with this code."""
    with pytest.raises(Refused) as caught:
        yield
    no = caught.value
    assert no.code == code, (no.code, no.message, no.details)
    assert row is None or row in {no.row, (no.details or {}).get("row")}, (no.row, no.details)


def capable(**changes: bool) -> dict[str, dict[str, bool]]:
    """Every capability, some of them changed: `delivery_ack=False`."""
    made = {section: dict(names) for section, names in EVERYTHING.items()}
    for name, value in changes.items():
        section, _, member = name.partition("_")
        made[section][member] = value
    return made


class Agent:
    """One agent with the reference client; accepts what it hears, unless it is told to wait."""

    def __init__(
        self, stage: Stage, group: str, name: str, token: str, *, accepts: bool, known: Any, **habits: Any
    ) -> None:
        self.name = name
        self.token = token
        self.group = group
        self.stage = stage
        self.accepts = accepts
        self.heard: list[dict[str, Any]] = []
        self.open: list[Delivery] = []
        self.cancelled: list[Cancelled] = []
        self.wanted: list[ActivityWanted] = []
        self.connections = 0
        made = Habits(calls=QUICK, connecting=Pace(first=0.02, longest=0.2), **habits)
        self.session = AgentSession(stage.url, token, habits=made, known=known)
        self._changed = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.session.__aenter__()
        self._task = asyncio.create_task(self._listen())
        await self.until(lambda: self.connections > 0)

    async def stop(self) -> None:
        await self.session.close()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=WAIT)
            self._task = None

    async def _listen(self) -> None:
        async for item in self.session.incoming():
            if isinstance(item, Delivery):
                self.heard.append(item.params)
                self.open.append(item)
                if self.accepts:
                    await item.accept()
            elif isinstance(item, Cancelled):
                self.cancelled.append(item)
            elif isinstance(item, ActivityWanted):
                self.wanted.append(item)
            elif isinstance(item, Connected):
                self.connections += 1
            elif isinstance(item, Disconnected):
                pass
            async with self._changed:
                self._changed.notify_all()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until something was heard."""
        async with asyncio.timeout(WAIT), self._changed:
            await self._changed.wait_for(condition)
        return condition()

    def got(self, event: Any) -> list[dict[str, Any]]:
        """Every delivery of an event so far."""
        wanted = event["id"] if isinstance(event, dict) else event
        return [one for one in self.heard if one["eventId"] == wanted]

    async def delivery(self, event: Any) -> dict[str, Any]:
        """The delivery of an event, waited for."""
        await self.until(lambda: self.got(event))
        return self.got(event)[-1]

    async def answer(self, event: Any, text: str, key: str = "", **more: Any) -> str:
        """Answer an event the way its delivery says; the new message's id."""
        heard = await self.delivery(event)
        target = heard["replyTarget"]
        channel = heard["conversation"]["kind"] == "channel"
        given = {"visibility": "channel" if channel else "thread", "directedness": "ambient", **more}
        if channel and given["visibility"] == "thread":
            target = f"thread:{heard['eventId']}"
        if heard["conversation"]["kind"] == "dm":
            given["directedness"] = more.get("directedness", "to_me")
        sent = await self.session.send(
            target,
            text,
            key=key or f"{self.name}:{heard['eventId']}:{text}",
            in_reply_to=heard["eventId"],
            **given,
        )
        return sent.event_id

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return await self.session.call(name, **arguments)


class Stage(Room):
    """A hub with one group, its owner, and agents that come and go."""

    clock: HandClock
    group_id: str

    def __init__(self, server: Server, session: aiohttp.ClientSession, clock: HandClock) -> None:
        super().__init__(server, session)
        self.clock = clock
        self.tokens: dict[str, str] = {}
        self.agents: dict[str, Agent] = {}
        self._stack = AsyncExitStack()

    async def open(self) -> None:
        self.group_id = await self.group("Stage")

    async def close(self) -> None:
        await self._stack.aclose()

    async def member(self, name: str, **given: Any) -> str:
        """An actor without a harness; its token."""
        self.tokens[name] = await self.actor(self.group_id, name, **given)
        return self.tokens[name]

    async def agent(
        self, name: str, *, accepts: bool = True, habits: Any = None, known: Any = None, **given: Any
    ) -> Agent:
        """An actor with a harness that is connected."""
        if name not in self.tokens:
            await self.member(name, **given)
        token = self.tokens[name]
        made = Agent(self, self.group_id, name, token, accepts=accepts, known=known, **(habits or {}))
        await made.start()
        self._stack.push_async_callback(made.stop)
        self.agents[name] = made
        return made

    async def cast(self, *names: str, **given: Any) -> list[Agent]:
        return [await self.agent(name, **given) for name in names]

    async def person(self, name: str) -> str:
        """Another human of the group; the token."""
        body = {"principal": f"usr:{name}"}
        made = await self.ok("POST", f"/v1/groups/{self.group_id}/people", json=body)
        return made["token"]

    async def tell(self, text: str, token: str = "", **data: Any) -> dict[str, Any]:
        return await self.say(self.group_id, text, token, **data)

    async def pass_time(self, seconds: float) -> None:
        """Move the clock and let the hub do what is due."""
        self.clock.move(seconds)
        await self.server.hub.host.tick()

    async def recorded(self, kind: str, **wanted: Any) -> list[dict[str, Any]]:
        """The data of the records of a kind that hold these members."""
        found = await self.events(self.group_id, kinds=f"x.c2a.{kind}")
        return [
            one["data"]
            for one in found
            if all(one["data"].get(key) == value for key, value in wanted.items())
        ]

    async def delivered(self, event: Any, **wanted: Any) -> list[str]:
        """To whom an event was delivered, as the ledger says."""
        wanted_id = event["id"] if isinstance(event, dict) else event
        return [one["session"] for one in await self.recorded("delivery", event_id=wanted_id, **wanted)]

    async def messages(self, token: str = "") -> list[dict[str, Any]]:
        return await self.events(self.group_id, token, kinds="chat.message")

    async def steer(self, op: str, *, token: str = "", **given: Any) -> Any:
        return await self.post(f"/v1/groups/{self.group_id}/attention", {"op": op, **given}, token=token)

    async def settings(self, **values: Any) -> Any:
        path = f"/v1/groups/{self.group_id}/attention/settings"
        return await self.post(path, {"settings": values})

    async def edit(self, event: Any, text: str, token: str = "", **more: Any) -> Any:
        path = f"/v1/groups/{self.group_id}/events/{event['id']}/edit"
        return await self.post(path, {"text": text, **more}, token=token)

    async def delete(self, event: Any, token: str = "") -> Any:
        return await self.post(f"/v1/groups/{self.group_id}/events/{event['id']}/delete", token=token)

    async def decisions(self, event: Any, token: str = "") -> Any:
        return await self.get(f"/v1/groups/{self.group_id}/events/{event['id']}/decisions", token=token)

    @asynccontextmanager
    async def wire(self, name: str, *, greet: bool = True, **greeting: Any) -> AsyncIterator[Raw]:
        """A raw connection that answers nothing by itself."""
        headers = {"Authorization": f"Bearer {self.tokens[name]}"}
        async with (
            self.session.ws_connect(self.url + "/c2a", headers=headers, max_msg_size=0) as ws,
            Raw(ws) as raw,
        ):
            if greet:
                await raw.call("initialize", **{**GREETING, **greeting})
            yield raw


class Raw(Socket):
    """JSON-RPC by hand: deliveries wait in `notes` until the test answers them."""

    async def delivery(self) -> dict[str, Any]:
        return await self.note("chat/deliver")

    async def accept(self, delivery: dict[str, Any]) -> None:
        await self.say(id=delivery["id"], result={"accepted": True, "eventId": delivery["params"]["eventId"]})

    async def say(self, **message: Any) -> None:
        await self.ws.send_str(json.dumps({"jsonrpc": "2.0", **message}))

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        return await self.call("tools/call", name=name, arguments=arguments)


@asynccontextmanager
async def staged(
    folder: Path, *, clock: HandClock | None = None, entropy: SeededEntropy | None = None, **given: Any
) -> AsyncIterator[Stage]:
    """A hub on a folder with a hand-moved clock, from start to graceful stop."""
    moved = clock or HandClock()
    server = Server(config(folder, **given), StoreOptions(clock=moved, entropy=entropy or SeededEntropy()))
    await server.start()
    try:
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=False), timeout=aiohttp.ClientTimeout(total=WAIT)
        ) as session:
            stage = Stage(server, session, moved)
            try:
                yield stage
            finally:
                await stage.close()
    finally:
        await server.stop()
