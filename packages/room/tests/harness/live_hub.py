"""For scenarios: a hub in a process of its own, its owner, and agents with real harnesses and drivers."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.client import Hub
from tacit.harness.io.agent_config import AgentConfig
from tacit.harness.io.harness import Harness
from tests.harness.living import QUICK, WAIT, Desk, Told
from tests.typed import Started

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tacit.base.ports import Clock
    from tacit.client import Event
    from tacit.harness.drivers.port import Driver

TACIT = str(Path(sys.executable).parent / "tacit")


class LiveHub:
    """A hub process, a group, and its owner's client."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TACIT")},
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "HOME": str(folder),
            "NO_COLOR": "1",
        }
        self.hub: Started | subprocess.Popen[str] | None = None
        self.url = ""
        self.port = "0"
        self.group = ""
        self.owner: Hub

    def start(self) -> None:
        words = ("--json", "up", "--port", self.port)
        self.hub = Started(words, self.environment, self.folder / "hub.log")
        self.url = json.loads(self.hub.stdout.readline())["url"]
        self.port = self.url.rsplit(":", 1)[1]
        self.environment["TACIT_URL"] = self.url

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.hub is not None:
            self.hub.send_signal(how)
            self.hub.wait(20)
            self.hub.stdout.close()
            self.hub = None

    @property
    def owner_token(self) -> str:
        return (self.folder / "data" / "tacit" / "owner.token").read_text().strip()

    async def say(self, text: str, **more: Any) -> str:
        return (await self.owner.send(self.group, text, **more)).id

    async def messages(self) -> list[Event]:
        return (await self.owner.events(self.group, kinds=["chat.message"], limit=1000)).events

    async def said_by(self, *names: str) -> list[Event]:
        return [event for event in await self.messages() if event.by in names]

    async def until_said(self, count: int, *names: str) -> list[Event]:
        """Wait until agents have posted this many messages."""
        async with asyncio.timeout(WAIT):
            async for event in self.owner.follow(self.group, kinds=["chat.message"]):
                if event.by in names and len(found := await self.said_by(*names)) >= count:
                    return found
        raise AssertionError

    async def until_kind(self, kind: str, fits=lambda event: True) -> Event:
        async with asyncio.timeout(WAIT):
            async for event in self.owner.follow(self.group, kinds=[kind]):
                if fits(event):
                    return event
        raise AssertionError

    async def rules(self, **settings: Any) -> None:
        """Change the group's numbers; an agent hears of them when it joins."""
        await self.owner.call("change_rules", {"group_id": self.group, "settings": settings})

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something that others do."""
        async with asyncio.timeout(WAIT):
            while not condition():
                await asyncio.sleep(0.01)

    async def until_reply(self, event_id: str, name: str = "ada") -> Event:
        """Wait until an agent has answered a message."""
        return await self.until_kind(
            "chat.message", lambda event: event.by == name and event.data.get("reply_to") == event_id
        )

    async def said_in_the_end(self, name: str = "ada") -> list[Event]:
        """What an agent has said once it has answered something that was asked after all the rest.

        An agent does one thing at a time, and says what is ready in order. So whatever it still had to say
        about earlier events is said by then. The model's script gives the last answer, as the next call. The
        question stands in a thread of its own, as it must not be taken for more of another one.
        """
        root = await self.say("and now something else")
        marker = await self.say(f"@{name} is anything left?", reply_to=root)
        await self.until_reply(marker, name)
        return [event for event in await self.said_by(name) if event.data.get("reply_to") != marker]

    async def type(self) -> None:
        await self.owner.typing(self.group)

    @asynccontextmanager
    async def agent(
        self,
        name: str,
        driver: Driver,
        *,
        roles: tuple[str, ...] = (),
        clock: Clock | None = None,
        **more: Any,
    ) -> AsyncIterator[Harness]:
        """An agent in this process, with a real driver."""
        token_file = self.folder / f"{name}.token"
        if not token_file.exists():
            token_file.write_text((await self.owner.add_actor(self.group, name, roles=list(roles)))["token"])
        config = AgentConfig(
            self.url, token_file.read_text(), name, self.folder / name / "state", habits=QUICK, **more
        )
        told = Told()
        harness = Harness(config, driver, clock=clock, tell=told)
        harness.told = told
        running = asyncio.create_task(harness.run())
        await told.until("connected", running)
        try:
            yield harness
        finally:
            harness.stop()
            await running

    def join(self, name: str, desk: Desk, *options: str) -> subprocess.Popen[str]:
        """The same as a process of its own, by the command that a person types."""
        words = [TACIT, "--json", "--as", name, "join", self.group, "--driver", "command", *options, "--"]
        with (self.folder / f"{name}.log").open("a") as log:
            return subprocess.Popen(
                [*words, *desk.command()], env=self.environment, stdout=subprocess.PIPE, stderr=log, text=True
            )


class Guest(LiveHub):
    """A group of one's own in a hub that is there for others too, which is therefore nobody's to stop."""

    def __init__(self, folder: Path, host: LiveHub) -> None:
        super().__init__(folder)
        self.url = host.url
        self._host = host

    def start(self) -> None:
        raise AssertionError("this hub is shared: take `house`")

    def stop(self, how: int = signal.SIGTERM) -> None:
        raise AssertionError("this hub is shared: take `house`")

    @property
    def owner_token(self) -> str:
        return self._host.owner_token


@asynccontextmanager
async def lobby(opened: LiveHub) -> AsyncIterator[LiveHub]:
    """One group, with the shortest compose window that the rows allow."""
    async with Hub(opened.url, opened.owner_token, retry_for=20) as owner:
        opened.owner = owner
        opened.group = (await owner.create_group("Lobby"))["group_id"]
        await opened.rules(compose_quiet_ms=2000)
        yield opened
