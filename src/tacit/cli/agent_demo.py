"""`tacit agent demo`: the draft's dinner, played by two agents of the product on a relay of the product.

A2ACP-008, A2ACP-272. Everything is real but the two people: a relay on a free loopback port, two folders
with keys of their own, sealed packets, calendars as files, a booking by a program. What the people say is
written down here; it goes in by the same commands that the terminal gives. No network, no model, no key.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from tacit.agent.io import calls
from tacit.agent.io.agent import Agent
from tacit.agent.io.outside import OWN_CALENDAR
from tacit.agent.post.io.post import Post
from tacit.base.errors import Unavailable
from tacit.base.io.system import SystemClock, SystemEntropy
from tacit.base.moment import SECOND
from tacit.cli import relay_parts
from tacit.cli.agent_demo_screen import JsonScreen, PaneScreen
from tacit.relay import accounts
from tacit.relay.io import registry
from tacit.relay.io.server import RelayServer, Settings
from tacit.relay.settings import Limits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tacit.agent.packets.packet import Fields

ZONE: Final = "Europe/London"
PATIENCE: Final = 60.0
DAYS_AHEAD: Final = 4
"""So that a weekday's name can mean that day alone."""


@dataclass(frozen=True, slots=True)
class Part:
    """One person of the play: what its agent is told beforehand, and when it has no time."""

    name: str
    friend: str
    profile: Fields
    busy: tuple[str, str, str]
    """From, to and what for, on the day of the dinner."""
    keeps: tuple[str, ...]
    """What it does not share when it is asked."""


ALICE: Final = Part(
    "alice",
    "bob",
    {
        "timezone": ZONE,
        "general_location_area": "central Reading",
        "dietary": "vegetarian",
        "budget_range": "GBP 20-40",
        "home_address": "17 Mill Lane",
    },
    ("17:00", "18:30", "piano lesson"),
    ("budget_range",),
)
BOB: Final = Part(
    "bob",
    "alice",
    {
        "timezone": ZONE,
        "general_location_area": "central Reading",
        "dietary": "no shellfish",
        "health_info": "new tablets, ask Dr Rao",
    },
    ("20:30", "23:00", "late shift"),
    (),
)
_BOOK: Final = ("sh", "-c", 'cat > "$0.$1.json"')
"""The restaurant's side of the play: it writes down what it was asked for."""


class Stage:
    """The play while it runs: both agents, and the screen that is told of every step."""

    def __init__(self, people: dict[str, Agent], screen: JsonScreen | PaneScreen, pace: float) -> None:
        self._people = people
        self._screen = screen
        self._pace = pace
        self._told: set[str] = set()
        self._thread_id = ""

    async def tell(self, kind: str, who: str = "", **more: Any) -> None:
        """One step of the play."""
        self._screen.step({"step": kind, "who": who, **more})
        if self._pace:
            await asyncio.sleep(self._pace)

    async def call(self, who: str, command: str, **given: Any) -> Any:
        """A command of this person's, as the terminal and the socket give it."""
        return await calls.call(self._people[who], command, given)

    async def says(self, who: str, text: str) -> None:
        """The sentence with which it begins."""
        await self.tell("says", who, text=text, command=f'tacit agent ask "{text}"')
        self._thread_id = (await self.call(who, "ask", text=text))["thread_id"]

    async def consents(self, part: Part) -> None:
        """What this person is asked for, and what it lets go."""
        question = await self._question(part.name, "consent")
        fields = question["fields"]
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

    async def confirms(self, part: Part) -> None:
        """The proposal, and this person's yes."""
        question = await self._question(part.name, "checkpoint")
        await self.packets()
        await self.tell("asked", part.name, question=question)
        await self.tell("answers", part.name, confirms=True, command="tacit agent answer … --confirm")
        await self.call(part.name, "answer", question_id=question["question_id"], confirm=True)
        await self.packets()

    async def _question(self, who: str, kind: str) -> Fields:
        async with asyncio.timeout(PATIENCE):
            while True:
                for one in (await self.call(who, "pending"))["questions"]:
                    if one["kind"] == kind:
                        return one
                await asyncio.sleep(0.02)

    async def packets(self) -> None:
        """What has left since, from either, in its order, with what it disclosed and what allowed that."""
        found: list[tuple[str, str, Fields]] = []
        for name in self._people:
            thread = await self._thread(name)
            sent = [one for one in thread.get("history", ()) if one["side"] == "us"]
            found += [(one["at"], name, one) for one in sent if one["packet_id"] not in self._told]
        for _, name, one in sorted(found, key=lambda row: row[:2]):
            self._told.add(one["packet_id"])
            told = (await self.call(name, "disclosures"))["disclosures"]
            left = {row["field"]: row["basis"] for row in told if row["packet_id"] == one["packet_id"]}
            await self.tell("sent", name, type=one["type"], packet_id=one["packet_id"], left=left)

    async def _thread(self, who: str) -> Fields:
        if self._thread_id not in self._people[who].journal.book.threads:
            return {}
        return await self.call(who, "thread", thread_id=self._thread_id)

    async def _completed(self) -> bool:
        return {(await self._thread(name)).get("state") for name in self._people} == {"COMPLETED"}

    async def ended(self) -> None:
        """Wait until it is done on both sides, and show what stands in both calendars and what left."""
        async with asyncio.timeout(PATIENCE):
            while not await self._completed():  # noqa: ASYNC110 - what another task brings about
                await asyncio.sleep(0.02)
        await self.packets()
        entries = {name: _entry(one.folder / OWN_CALENDAR) for name, one in self._people.items()}
        await self.tell("calendar", entries=entries)
        booked = json.loads((self._people["alice"].folder / "booking.do.json").read_text("utf-8"))
        await self.tell("booked", "alice", details=booked["details"])
        people: Fields = {}
        for name in self._people:
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


def _calendar(part: Part, day: datetime) -> str:
    """A calendar with what this person has on that day already."""
    begin, end, what = part.busy
    date = day.strftime("%Y%m%d")
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Tacit//Demo//EN",
        "BEGIN:VEVENT",
        f"UID:{part.name}-demo",
        f"DTSTAMP:{date}T000000Z",
        f"DTSTART;TZID={ZONE}:{date}T{begin.replace(':', '')}00",
        f"DTEND;TZID={ZONE}:{date}T{end.replace(':', '')}00",
        f"SUMMARY:{what}",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
    return "\r\n".join(lines)


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
    settings = Settings(data=folder, domain=domain, port=port, scheme="http")
    return RelayServer(settings, relay_parts.parts(folder, public_url=f"http://{domain}")), domain


async def _register(folder: Path, server: RelayServer, domain: str, part: Part) -> None:
    """Keys, an account, and one accepted contact."""
    code = accounts.code_text(SystemEntropy().draw(accounts.CODE_BYTES))
    expires = SystemClock().now() + Limits().invite_valid
    await server.mailboxes.store.write(
        lambda file: registry.add_code(file, code=code, purpose="invite", username=part.name, expires=expires)
    )
    post = Post(folder, clock=SystemClock(), entropy=SystemEntropy())
    try:
        async with post:
            await post.directory.register(f"agent:{part.name}@{domain}", f"http://{domain}", code)
            await post.publish()
            post.inbox.welcome(f"agent:{part.friend}@{domain}")
    finally:
        post.store.close()


@contextlib.asynccontextmanager
async def _person(folder: Path, part: Part, day: datetime) -> AsyncGenerator[Agent]:
    """One agent, told what its owner told it, running as `tacit agent run` does."""
    async with Agent(folder) as one:
        path = folder / "mine.ics"
        path.write_text(_calendar(part, day), "utf-8")
        await calls.call(one, "profile", {"changes": part.profile})
        await calls.call(
            one, "add_calendar", {"name": "mine", "definition": {"kind": "ics", "path": str(path)}}
        )
        if part is ALICE:
            argv = [*_BOOK, str(folder / "booking")]
            booking: Fields = {"kind": "command", "argv": argv, "for": ["dinner"], "reversible": True}
            await calls.call(one, "add_handler", {"name": "book_table", "definition": booking})
        stopped = asyncio.Event()
        running = asyncio.get_running_loop().create_task(one.run(stopped))
        try:
            await asyncio.wait_for(one.connect().connected.wait(), PATIENCE)
            yield one
        finally:
            stopped.set()
            await asyncio.gather(running, return_exceptions=True)


async def play(folder: Path, screen: JsonScreen | PaneScreen, pace: float) -> None:
    """The whole play in this folder."""
    now = datetime.fromtimestamp(SystemClock().now() / SECOND, ZoneInfo(ZONE))
    day = now + timedelta(days=DAYS_AHEAD)
    async with contextlib.AsyncExitStack() as stack:
        server, domain = await stack.enter_async_context(_relay(folder / "relay"))
        people: dict[str, Agent] = {}
        for part in (ALICE, BOB):
            await _register(folder / part.name, server, domain, part)
            people[part.name] = await stack.enter_async_context(_person(folder / part.name, part, day))
        stage = Stage(people, screen, pace)
        await stage.tell("began", relay=f"http://{domain}", people=[one.me for one in people.values()])
        known = {one.name: {"profile": one.profile, "busy": list(one.busy)} for one in (ALICE, BOB)}
        await stage.tell("knows", people=known, day=f"{day:%A}")
        await stage.says(ALICE.name, f"dinner with bob on {day:%A} evening")
        await stage.consents(ALICE)
        await stage.consents(BOB)
        await stage.confirms(ALICE)
        await stage.confirms(BOB)
        await stage.ended()


def show(keep: Path | None, pace: float | None, *, as_json: bool) -> None:
    """Play it, in a folder that is gone afterwards unless it is to be kept."""
    screen = JsonScreen() if as_json else PaneScreen()
    wait = pace if pace is not None else screen.pace
    folder = keep.resolve() if keep is not None else Path(tempfile.mkdtemp(prefix="tacit-demo-"))
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        asyncio.run(play(folder, screen, wait))
    except TimeoutError:
        raise Unavailable("the demo stood still for a minute; is this machine very busy?") from None
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    screen.end(folder if keep is not None else None)
