"""What both plays of `tacit agent demo` stand on: real agents on a real relay, and people who are played.

A2ACP-008, A2ACP-272. Everything is real but the people: a relay on a free loopback port, folders with keys of
their own, sealed packets, calendars as files. What the people say goes in by the same commands that the
terminal gives. No network, no model, no key. Which play it is is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol
from zoneinfo import ZoneInfo

from tacit.a2acp.commands import relay_parts
from tacit.a2acp.post.io.post import Post
from tacit.agent.scheduling.io.outside import OWN_CALENDAR
from tacit.agent.shell.io import calls
from tacit.agent.shell.io.agent import Agent
from tacit.base.errors import Unavailable
from tacit.base.io.private_file import write_private
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tacit.relay import accounts
from tacit.relay.io import registry
from tacit.relay.io.server import RelayServer, RelaySettings
from tacit.relay.settings import RelayLimits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from tacit.a2acp.packets.packet import Fields

ZONE: Final = "Europe/London"
PATIENCE: Final = 60.0
DAYS_AHEAD: Final = 4
"""So that a weekday's name can mean that day alone."""


class DemoScreen(Protocol):
    """Whoever is told of every step."""

    def step(self, one: dict[str, Any], /) -> None:
        """One step of the play."""
        ...


@dataclass(frozen=True, slots=True)
class DemoBusy:
    """Something that stands in a person's calendar already."""

    begin: str
    end: str
    what: str
    day: int = 0
    """How many days after the first day that the play is about."""


@dataclass(frozen=True, slots=True)
class DemoPart:
    """One person of the play: what its agent is told beforehand, and when it has no time."""

    name: str
    profile: Fields
    busy: tuple[DemoBusy, ...] = ()
    keeps: tuple[str, ...] = ()
    """What it does not share when it is asked."""


class Stage:
    """The play while it runs: the agents, and the screen that is told of every step."""

    def __init__(self, people: dict[str, Agent], day: datetime, screen: DemoScreen, pace: float) -> None:
        self.people = people
        self.day = day
        self._screen = screen
        self._pace = pace
        self._told: set[str] = set()
        self.thread_id = ""

    async def tell(self, kind: str, who: str = "", **more: Any) -> None:
        """One step of the play."""
        self._screen.step({"step": kind, "who": who, **more})
        if self._pace:
            await asyncio.sleep(self._pace)

    async def call(self, who: str, command: str, **given: Any) -> Any:
        """A command of this person's, as the terminal and the socket give it."""
        return await calls.call(self.people[who], command, given)

    async def begins(self, parts: Sequence[DemoPart], relay: str) -> None:
        """Who plays, where, and what each agent knows beforehand."""
        await self.tell("began", relay=relay, people=[one.me for one in self.people.values()])
        known: Fields = {
            one.name: {
                "profile": one.profile,
                "busy": [[self.weekday(busy.day), busy.begin, busy.end, busy.what] for busy in one.busy],
            }
            for one in parts
        }
        await self.tell("knows", people=known)

    def weekday(self, later: int = 0) -> str:
        """The name of a day that the play is about."""
        return f"{self.day + timedelta(days=later):%A}"

    async def says(self, who: str, text: str, *to: str) -> None:
        """The sentence with which it begins; to several when it names them."""
        typed = "".join(f" --to {one}" for one in to)
        await self.tell("says", who, text=text, command=f'tacit agent ask "{text}"{typed}')
        named = [self.people[one].me for one in to]
        self.thread_id = (await self.call(who, "ask", text=text, to=named))["thread_id"]

    async def consents(self, part: DemoPart) -> None:
        """What this person is asked for, and what it lets go."""
        question = await self.question(part.name, "consent")
        fields = question["fields"]
        await self.packets()
        await self.tell("asked", part.name, question=question)
        given = [one["field"] for one in fields if one["field"] not in part.keeps]
        kept = [one["field"] for one in fields if one["field"] in part.keeps]
        typed = " ".join([*(f"--share {name}" for name in given), *(f"--decline {name}" for name in kept)])
        await self.tell(
            "answers", part.name, shares=given, keeps=kept, command=f"tacit agent answer … {typed}"
        )
        answered = question["question_id"]
        await self.call(part.name, "answer", question_id=answered, share=dict.fromkeys(given), decline=kept)
        await self.packets()

    async def confirms(self, part: DemoPart) -> None:
        """The proposal, and this person's yes."""
        question = await self.question(part.name, "checkpoint")
        await self.packets()
        await self.tell("asked", part.name, question=question)
        await self.tell("answers", part.name, confirms=True, command="tacit agent answer … --confirm")
        await self.call(part.name, "answer", question_id=question["question_id"], confirm=True)
        await self.packets()

    async def question(self, who: str, kind: str) -> Fields:
        """What this person is asked, once it is."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for one in (await self.call(who, "pending"))["questions"]:
                    if one["kind"] == kind:
                        return one
                await asyncio.sleep(0.02)

    async def packets(self, *names: str) -> None:
        """What has left since, from all or from some, in its order, with what it disclosed and why it may."""
        found: list[tuple[str, str, str, Fields]] = []
        for name in names or self.people:
            for line in (await self.call(name, "threads", every=True))["threads"]:
                thread = await self.call(name, "thread", thread_id=line["thread_id"])
                peer = str(line["with"]).removeprefix("agent:").partition("@")[0]
                sent = [one for one in thread["history"] if one["side"] == "us"]
                found += [(one["at"], name, peer, one) for one in sent]
        for _, name, peer, one in sorted(found, key=lambda row: row[:3]):
            if one["packet_id"] in self._told:
                continue
            self._told.add(one["packet_id"])
            told = (await self.call(name, "disclosures"))["disclosures"]
            left = {row["field"]: row["basis"] for row in told if row["packet_id"] == one["packet_id"]}
            await self.tell("sent", name, to=peer, type=one["type"], packet_id=one["packet_id"], left=left)

    async def _completed(self) -> bool:
        states: set[str] = set()
        for name, one in self.people.items():
            if self.thread_id not in one.journal.book.threads:
                return False
            states.add((await self.call(name, "thread", thread_id=self.thread_id))["state"])
        return states == {"COMPLETED"}

    async def completed(self) -> None:
        """Wait until it is done at everybody's, and show what stands in all calendars."""
        async with asyncio.timeout(PATIENCE):
            while not await self._completed():  # noqa: ASYNC110 - what another task brings about
                await asyncio.sleep(0.02)
        await self.packets()
        entries = {name: _entry(one.folder / OWN_CALENDAR) for name, one in self.people.items()}
        await self.tell("calendar", entries=entries)

    async def left(self) -> None:
        """What left everybody in all, and what did not."""
        people: Fields = {}
        for name in self.people:
            told = (await self.call(name, "disclosures"))["disclosures"]
            left = [row["value"] for row in told]
            profile = (await self.call(name, "profile"))["profile"]
            # What went under another name of its field has gone all the same.
            stayed = [key for key, value in profile.items() if value not in left]
            people[name] = {"disclosures": told, "stayed": stayed}
        await self.tell("left", people=people)


def _entry(path: Path) -> Fields:
    """The one entry of a calendar file of ours, as its lines say it."""
    text = path.read_bytes().decode("utf-8").replace("\r\n ", "").replace("\\,", ",")
    lines = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    start = datetime.strptime(lines["DTSTART"] + "+0000", "%Y%m%dT%H%M%SZ%z").astimezone(ZoneInfo(ZONE))
    end = datetime.strptime(lines["DTEND"] + "+0000", "%Y%m%dT%H%M%SZ%z").astimezone(ZoneInfo(ZONE))
    when = f"{start:%A} {start.day} {start:%B}, {start:%H:%M}-{end:%H:%M}"
    return {"when": when, "summary": lines["SUMMARY"], "place": lines.get("LOCATION", "")}


def write_calendar(folder: Path, part: DemoPart, day: datetime) -> Path:
    """A calendar file with what this person has around that day already."""
    path = folder / "mine.ics"
    write_private(path, _calendar(part, day).encode())
    return path


def _calendar(part: DemoPart, day: datetime) -> str:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tacit//Demo//EN"]
    for number, busy in enumerate(part.busy):
        date = (day + timedelta(days=busy.day)).strftime("%Y%m%d")
        lines += [
            "BEGIN:VEVENT",
            f"UID:{part.name}-demo-{number}",
            f"DTSTAMP:{date}T000000Z",
            f"DTSTART;TZID={ZONE}:{date}T{busy.begin.replace(':', '')}00",
            f"DTEND;TZID={ZONE}:{date}T{busy.end.replace(':', '')}00",
            f"SUMMARY:{busy.what}",
            "END:VEVENT",
        ]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def _relay(folder: Path) -> AsyncGenerator[tuple[RelayServer, str]]:
    """A relay of the demo's own on loopback; and its domain."""
    for _ in range(3):
        server, domain = _server(folder)
        try:
            await server.start()
        except Unavailable:
            # Somebody took the port between looking and listening.
            continue
        try:
            yield server, domain
        finally:
            await server.stop()
        return
    raise Unavailable("no port of this machine is free")


def _server(folder: Path) -> tuple[RelayServer, str]:
    port = _free_port()
    domain = f"localhost:{port}"
    settings = RelaySettings(data=folder, domain=domain, port=port, scheme="http")
    return RelayServer(settings, relay_parts.parts(folder, public_url=f"http://{domain}")), domain


async def _register(folder: Path, server: RelayServer, domain: str, name: str, friends: list[str]) -> None:
    """Keys, an account, and the contacts that it has accepted."""
    code = accounts.code_text(SystemEntropy().draw(accounts.CODE_BYTES))
    expires = TimeService().now() + RelayLimits().invite_valid
    await server.mailboxes.store.write(
        lambda file: registry.add_code(file, code=code, purpose="invite", username=name, expires=expires)
    )
    post = Post(folder, clock=TimeService(), entropy=SystemEntropy())
    try:
        async with post:
            await post.directory.register(f"agent:{name}@{domain}", f"http://{domain}", code)
            await post.publish()
            for friend in friends:
                post.inbox.welcome(f"agent:{friend}@{domain}")
    finally:
        post.store.close()


@contextlib.asynccontextmanager
async def _person(folder: Path, part: DemoPart, day: datetime) -> AsyncGenerator[Agent]:
    """One agent, told what its owner told it, running as `tacit agent run` does."""
    async with Agent(folder) as one:
        path = write_calendar(folder, part, day)
        await calls.call(one, "profile", {"changes": part.profile})
        await calls.call(
            one, "add_calendar", {"name": "mine", "definition": {"kind": "ics", "path": str(path)}}
        )
        stopped = asyncio.Event()
        running = asyncio.get_running_loop().create_task(one.run(stopped))
        try:
            async with asyncio.timeout(PATIENCE):
                await one.connect().connected.wait()
            yield one
        finally:
            stopped.set()
            await asyncio.gather(running, return_exceptions=True)


@contextlib.asynccontextmanager
async def stage(
    folder: Path, parts: Sequence[DemoPart], screen: DemoScreen, pace: float
) -> AsyncGenerator[Stage]:
    """A relay, and everybody's agent on it, friends of each other; all of it ends with the play."""
    now = datetime.fromtimestamp(TimeService().now() / SECOND, ZoneInfo(ZONE))
    day = now + timedelta(days=DAYS_AHEAD)
    async with contextlib.AsyncExitStack() as stack:
        server, domain = await stack.enter_async_context(_relay(folder / "relay"))
        people: dict[str, Agent] = {}
        for part in parts:
            friends = [one.name for one in parts if one is not part]
            await _register(folder / part.name, server, domain, part.name, friends)
            people[part.name] = await stack.enter_async_context(_person(folder / part.name, part, day))
        found = Stage(people, day, screen, pace)
        await found.begins(parts, f"http://{domain}")
        yield found
