"""A hub that is killed in the middle of a thousand deliveries: every event reaches its agent once, in order."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tacit.c2a.retry import Pace
from tacit.client import AgentSession, Delivery, Habits
from tests.hub.room import WAIT

CHILD = Path(__file__).parent.parent / "child.py"
AGENTS = 20
EACH = 50
KILLS = 3


class Killed:
    """A hub process on one folder and, from its second life on, one port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, str(CHILD), str(self.folder), str(self.port), stdout=asyncio.subprocess.PIPE
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(WAIT):
            self.port = int(await self._process.stdout.readline())

    async def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
            self._process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def owner(self) -> dict[str, str]:
        token = (self.folder / "owner.token").read_text().strip()
        return {"Authorization": f"Bearer {token}"}

    async def post(self, http: aiohttp.ClientSession, path: str, body: Any) -> Any:
        """Until the hub is there and has it; a key makes the repeats one."""
        async with asyncio.timeout(WAIT):
            while True:
                try:
                    async with http.post(self.url + path, json=body, headers=self.owner) as answer:
                        if answer.status in {200, 201}:
                            return await answer.json()
                        assert answer.status == 503, await answer.text()
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.02)


class Keeper:
    """An agent that keeps what it accepts, and counts what it was handed."""

    def __init__(self, url: str, token: str) -> None:
        habits = Habits(calls=Pace(first=0.02), connecting=Pace(first=0.02, longest=0.1))
        self.session = AgentSession(url, token, habits=habits)
        self.kept: list[tuple[str, str, int]] = []
        self.done = asyncio.Event()

    async def listen(self) -> None:
        async for item in self.session.incoming():
            if isinstance(item, Delivery):
                self.kept.append((item.event_id, item.event.text, item.event.sequence))
                await item.accept()
                if len(self.kept) >= EACH:
                    self.done.set()


@pytest.mark.spec("C2A-008", "C2A-009", "C2A-027", "C2A-028")
async def test_a_hub_killed_during_a_thousand_deliveries_loses_none_repeats_none_and_keeps_their_order(
    tmp_path,
):
    hub = Killed(tmp_path / "data")
    await hub.start()
    keepers: list[Keeper] = []
    listening: list[asyncio.Task[None]] = []
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
            group = (await hub.post(http, "/v1/groups", {"title": "Kill"}))["group_id"]
            base = f"/v1/groups/{group}"
            for number in range(AGENTS):
                made = await hub.post(http, f"{base}/actors", {"actor_id": f"a{number:02}"})
                keepers.append(Keeper(hub.url, made["token"]))
            for keeper in keepers:
                await keeper.session.__aenter__()
                listening.append(asyncio.create_task(keeper.listen()))
            await asyncio.gather(*(keeper.session.call("chat.list_events") for keeper in keepers))
            sent: dict[str, list[str]] = {f"a{number:02}": [] for number in range(AGENTS)}

            async def write(name: str) -> None:
                for number in range(EACH):
                    data = {
                        "text": f"question {number} to {name}?",
                        "to": [name],
                        "client_id": f"{name}:{number}",
                    }
                    event = await hub.post(http, f"{base}/events", {"kind": "chat.message", "data": data})
                    sent[name].append(event["id"])

            writers = asyncio.gather(*(write(name) for name in sent))
            for killing in range(1, KILLS + 1):
                async with asyncio.timeout(WAIT):
                    while sum(len(keeper.kept) for keeper in keepers) < killing * AGENTS * EACH // (
                        KILLS + 1
                    ):
                        await asyncio.sleep(0.005)
                await hub.kill()
                await hub.start()
            await writers
            async with asyncio.timeout(WAIT):
                await asyncio.gather(*(keeper.done.wait() for keeper in keepers))
            # A last question each: nothing else was on its way before it.
            for name in sent:
                body = {"kind": "chat.message", "data": {"text": f"last to {name}?", "to": [name]}}
                sent[name].append((await hub.post(http, f"{base}/events", body))["id"])
            async with asyncio.timeout(WAIT):
                while any(len(keeper.kept) <= EACH for keeper in keepers):
                    await asyncio.sleep(0.01)
            for (name, ids), keeper in zip(sent.items(), keepers, strict=True):
                assert [event_id for event_id, _, _ in keeper.kept] == ids, name
                assert [text for _, text, _ in keeper.kept][:EACH] == [
                    f"question {n} to {name}?" for n in range(EACH)
                ]
                positions = [position for _, _, position in keeper.kept]
                assert positions == sorted(set(positions))
    finally:
        for keeper in keepers:
            await keeper.session.close()
        await asyncio.gather(*listening)
        await hub.kill()
