"""Some people's agents as processes on two relays, and a life for them: what they do, what is done to them, what must hold.

Every agent is a `tacit agent run` on its own folder, every relay a `tacit relay` with a certificate; the relays carry for
each other. Owners answer what they are asked, by the agent's socket. What happens is drawn from a seed; when it happens is
up to the machine, so that no two lives are the same and the rules are asked for only where everything has come to rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from tacit.a2acp.threads.states import TERMINAL
from tacit.base.errors import Refused, Unavailable
from tacit.base.io import agent_socket as socket
from tests.agent.test_on_disk import ledger
from tests.processes import AGENT, RELAY, RelayProcess, certificate, run
from tests.relay_support import free_port
from tests.typed import Started

if TYPE_CHECKING:
    from pathlib import Path

PATIENCE = 600.0
"""Seconds: a relay that was away is tried again after minutes."""
AWAY = (ConnectionError, Unavailable)
SECRETS = frozenset({"dietary", "home_address", "health_info", "budget_range"})
FREE = ("status", "phase", "notes", "decisions")
OVER = frozenset(one.value for one in TERMINAL)


@dataclass(slots=True)
class Arranged:
    """Something that was to be arranged, on a day of its own."""

    thread_id: str
    day: str
    members: tuple[str, ...]
    is_group: bool
    tainted: bool = False
    """Somebody in it has blocked another since: they need not agree any more."""


@dataclass(slots=True)
class Being:
    """One person: the agent's process, and what its owner would never tell."""

    name: str
    folder: Path
    relay: RelayProcess
    trust: str
    shares: bool
    process: Started | None = None
    answered: set[str] = field(default_factory=set)

    @property
    def me(self) -> str:
        return f"agent:{self.name}@{self.relay.domain}"

    @property
    def never(self) -> str:
        return f"{self.name}neverlane".upper()

    @property
    def asked(self) -> str:
        return f"{self.name}askeddiet".upper()

    @property
    def guest(self) -> str:
        return f"{self.name}sgrandmother".title()

    def register(self) -> None:
        run(
            AGENT, "--data", self.folder, "--trust", self.trust, "register", f"{self.name}@{self.relay.domain}",
            "--relay", self.relay.url, "--code", self.relay.invite(self.name), "--plain-keys",
        )  # fmt: skip

    async def start(self) -> None:
        words = (AGENT, "--data", str(self.folder), "--trust", self.trust, "run", "--page", "off")
        log = self.folder / "run.log"
        self.process = Started(words, dict(os.environ), log, out=log)
        async with asyncio.timeout(PATIENCE):
            while True:
                with contextlib.suppress(ConnectionError, Unavailable):
                    await self.call("me")
                    return
                assert self.process.poll() is None, log.read_text()
                await asyncio.sleep(0.05)

    async def call(self, command: str, **given: Any) -> Any:
        return await socket.asked(self.folder, command, given)

    def kill(self) -> None:
        """SIGKILL, no farewell."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(60)
            self.process = None

    async def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            await asyncio.to_thread(self.process.wait, 60)
            self.process = None

    async def answers(self, chance: random.Random) -> None:
        """What the owner says to all that is open; an owner that finds nobody there comes again."""
        for one in (await self.call("pending"))["questions"]:
            said = self._said(one, chance)
            try:
                await self.call("answer", question_id=one["question_id"], **said)
            except Refused as refused:
                if refused.code in {"stale_question", "answered", "unknown_question"}:
                    continue
                await self.call("answer", question_id=one["question_id"], dismiss=True)

    def _said(self, question: dict[str, Any], chance: random.Random) -> dict[str, Any]:
        match question["kind"]:
            case "checkpoint":
                return {"confirm": True} if chance.random() < 0.85 else {"refuse": True}
            case "consent":
                withheld = SECRETS - {"dietary"} if self.shares else SECRETS
                fields = [one for one in question["fields"] if len(one["values"]) == 1]
                known = [one["field"] for one in fields if one["field"] not in withheld]
                return {"share": dict.fromkeys(known)} if known else {"decline_all": True}
            case "escalation":
                return {"choose": 0}
            case "scope" | "space_invite" | "space_member" | "space_write":
                return {"confirm": True}
            case _:
                return {"dismiss": True}


class World:
    """All of them, and what has been begun."""

    def __init__(self, folder: Path, names: tuple[str, ...], seed: int) -> None:
        self.chance = random.Random(seed)
        self.cert, key = certificate(folder)
        self._context = ssl.create_default_context(cafile=self.cert)
        options = (
            "--tls-cert", self.cert, "--tls-key", key, "--trust", self.cert,
            "--packets-per-minute", 100_000, "--burst", 100_000, "--new-recipients-per-hour", 1000,
        )  # fmt: skip
        self.relays = [
            RelayProcess(folder / "one", free_port(), *options, scheme="https"),
            RelayProcess(folder / "two", free_port(), *options, host="127.0.0.1", scheme="https"),
        ]
        self.people = {
            name: Being(name, folder / name, self.relays[place % 2], self.cert, shares=place % 3 != 0)
            for place, name in enumerate(names)
        }
        self.arranged: list[Arranged] = []
        self.spaces: dict[str, str] = {}
        self.blocked: set[frozenset[str]] = set()
        self.did: dict[str, int] = {}
        self._days = iter(range(3, 3000))

    async def __aenter__(self) -> Self:
        for relay in self.relays:
            relay.start(context=self._context)
        for relay, other in zip(self.relays, self.relays[::-1], strict=True):
            run(RELAY, "--data", relay.folder, "peer", other.domain)
        for one in self.people.values():
            one.register()
        for one in self.people.values():
            await one.start()
            await one.call(
                "profile",
                changes={"timezone": "Europe/London", "home_address": one.never, "dietary": one.asked},
            )
            for name in FREE:
                await one.call("permissions", field=name, level="always")
            for other in self.people.values():
                if other is not one:
                    await one.call("contact", who=other.me, decision="add")
        self._owners = [asyncio.create_task(self._owner(one)) for one in self.people.values()]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._owners:
            task.cancel()
        await asyncio.gather(*self._owners, return_exceptions=True)
        for one in self.people.values():
            one.kill()
        for relay in self.relays:
            relay.kill()

    async def _owner(self, one: Being) -> None:
        while True:
            with contextlib.suppress(*AWAY, Refused):
                await one.answers(self.chance)
            await asyncio.sleep(0.3)

    # What they do.

    async def act(self) -> None:
        """One thing that somebody does, or that is done to somebody."""
        acts = {
            self.dinner: 5, self.group: 5, self.transfer: 2, self.new_space: 1.5, self.write: 6, self.invite: 1,
            self.leave: 0.3, self.writes_offline: 1.5, self.forget: 1, self.guest: 0.7, self.block: 0.2, self.kill: 3,
            self.outage: 0.5,
        }  # fmt: skip
        chosen = self.chance.choices(list(acts), list(acts.values()))[0]
        try:
            await chosen()
        except Refused as refused:
            self._count(f"{chosen.__name__} refused: {refused.code}")
        except AWAY:
            self._count(f"{chosen.__name__} away")
        else:
            self._count(chosen.__name__)

    def _count(self, what: str) -> None:
        self.did[what] = self.did.get(what, 0) + 1

    def _some(self, number: int) -> list[Being]:
        """People of whom none has blocked another."""
        for _ in range(50):
            found = self.chance.sample(list(self.people.values()), number)
            names = {one.name for one in found}
            if not any(pair <= names for pair in self.blocked):
                return found
        return []

    def _day(self) -> str:
        return f"{datetime.now(UTC) + timedelta(days=next(self._days)):%-d %B %Y}"

    async def dinner(self) -> None:
        found = self._some(2)
        if found:
            await self._ask("dinner", found, is_group=False)

    async def group(self) -> None:
        found = self._some(self.chance.choice([3, 4]))
        if found:
            quorum = self.chance.choice([None, None, 2, 3])
            await self._ask("game night", found, is_group=True, quorum=quorum)

    async def _ask(self, what: str, found: list[Being], *, is_group: bool, **how: Any) -> None:
        day = self._day()
        others = [one.me for one in found[1:]]
        begun = await found[0].call("ask", text=f"{what} on {day} evening", to=others, **how)
        names = tuple(one.name for one in found)
        self.arranged.append(Arranged(begun["thread_id"], day, names, is_group))

    async def transfer(self) -> None:
        groups = [one for one in self.arranged if one.is_group][-5:]
        if groups:
            one = self.chance.choice(groups)
            to = self.people[self.chance.choice(one.members[1:])]
            await self.people[one.members[0]].call("transfer", thread_id=one.thread_id, to=to.me)

    async def new_space(self) -> None:
        """A space for some, who have talked with each other or not."""
        found = self._some(3)
        if found:
            made = await found[0].call("space", do="new", title="plans", invite=[one.me for one in found[1:]])
            self.spaces[made["space_id"]] = found[0].name

    async def _members(self, space_id: str) -> set[str]:
        """Who is in a space, or may come into it."""
        creator = self.people[self.spaces[space_id]]
        shown = await creator.call("space", do="show", space_id=space_id, look=False)
        inside = {each["agent"] for each in shown["members"] if each["status"] != "left"}
        return {one.name for one in self.people.values() if one.me in inside}

    async def _keeper(self) -> tuple[str, Being] | None:
        """A space and somebody who keeps it."""
        if not self.spaces:
            return None
        space_id = self.chance.choice(list(self.spaces))
        shown = await self.people[self.spaces[space_id]].call(
            "space", do="show", space_id=space_id, look=False
        )
        joined = [one for one in self.people.values() if one.me in shown["participants"]]
        return (space_id, self.chance.choice(joined)) if joined else None

    async def write(self) -> None:
        """Somebody writes a field, or takes one away; not all may write what others began."""
        if (found := await self._keeper()) is None:
            return
        space_id, one = found
        name = self.chance.choice(FREE)
        if self.chance.random() < 0.2:
            await one.call("space", do="unset", space_id=space_id, field=name)
        else:
            value = f"as {one.name} wants it, {self.chance.randrange(10**6)}"
            await one.call("space", do="set", space_id=space_id, field=name, value=value)

    async def writes_offline(self) -> None:
        """Two write while one relay is away: the same field, or each another."""
        if (found := await self._keeper()) is None:
            return
        space_id, _ = found
        await asyncio.to_thread(self.chance.choice(self.relays).kill)
        for _ in range(4):
            with contextlib.suppress(Refused, *AWAY):
                one = self.chance.choice(list(self.people.values()))
                value = f"as {one.name} wanted it without a line, {self.chance.randrange(10**6)}"
                await one.call(
                    "space", do="set", space_id=space_id, field=self.chance.choice(FREE), value=value
                )

    async def invite(self) -> None:
        """Whoever began a space invites one more."""
        if self.spaces:
            space_id = self.chance.choice(list(self.spaces))
            creator = self.people[self.spaces[space_id]]
            other = self.chance.choice([one for one in self.people.values() if one is not creator])
            inside = {*await self._members(space_id), other.name}
            if not any(pair <= inside for pair in self.blocked):
                await creator.call("space", do="invite", space_id=space_id, who=other.me)

    async def leave(self) -> None:
        """Somebody leaves a space that another began; nothing of it stays there."""
        if (found := await self._keeper()) is None:
            return
        space_id, one = found
        if one.name != self.spaces[space_id]:
            await one.call("space", do="leave", space_id=space_id)

    async def forget(self) -> None:
        one, other = self.chance.sample(list(self.people.values()), 2)
        await one.call("memory_forget", who=other.me, key="dietary")

    async def guest(self) -> None:
        """Somebody without an agent is asked, and the link taken back."""
        one = self.chance.choice(list(self.people.values()))
        asked = await one.call("guest_ask", name=one.guest, text=f"tea on {self._day()} afternoon?")
        await one.call("guest_revoke", guest_id=asked["guest_id"])

    async def block(self) -> None:
        one, other = self.chance.sample(list(self.people.values()), 2)
        pair = frozenset({one.name, other.name})
        for each in self.arranged:
            each.tainted = each.tainted or pair <= set(each.members)
        # Who has blocked another keeps nothing of theirs: such a space is not the same for all any more.
        members = {space_id: await self._members(space_id) for space_id in self.spaces}
        self.spaces = {name: by for name, by in self.spaces.items() if not pair <= members[name]}
        self.blocked.add(pair)
        await one.call("contact", who=other.me, decision="block")

    async def kill(self) -> None:
        """SIGKILL of an agent, wherever it is; it is started again at once, or only before the next rest."""
        one = self.chance.choice(list(self.people.values()))
        one.kill()
        if self.chance.random() < 0.7:
            await one.start()

    async def outage(self) -> None:
        """One of the relays is gone, until the next rest."""
        await asyncio.to_thread(self.chance.choice(self.relays).kill)

    # Where it comes to rest.

    async def rest(self) -> None:
        """Everything is there again; returns when all that must hold does, and goes on holding."""
        for relay in self.relays:
            if relay.is_down:
                await asyncio.to_thread(relay.start, context=self._context)
        for one in self.people.values():
            if one.process is None:
                await one.start()
        faults, quiet = ["not looked at yet"], 0
        try:
            async with asyncio.timeout(PATIENCE):
                while quiet < 3:
                    faults = await self.faults()
                    quiet = 0 if faults else quiet + 1
                    await asyncio.sleep(0.5)
        except TimeoutError:
            raise AssertionError("\n".join(faults)) from None

    async def faults(self) -> list[str]:
        """What does not hold, or not yet."""
        found: list[str] = []
        for one in self.people.values():
            waiting = (await one.call("pending"))["questions"]
            found += [f"{one.name} is asked: {each['kind']}" for each in waiting]
        done: dict[str, set[str]] = {name: set() for name in self.people}
        loose: set[str] = set()
        for one in self.arranged:
            if one.tainted:
                loose.add(one.day)
                continue
            seen = await self._seen(one)
            found += self._unlike(one, seen)
            for name in self._came(seen):
                done[name].add(one.day)
        for name, days in done.items():
            entries = self.entries(name)
            kept = [day for day in entries if day not in loose]
            if len(kept) != len(set(kept)) or set(kept) != days:
                found.append(f"{name} has entries on {sorted(set(kept) ^ days)} or twice: {len(kept)}")
        return found + await self._replicas()

    async def _seen(self, one: Arranged) -> dict[str, dict[str, Any]]:
        """A thread or a group, as everybody who has heard of it sees it."""
        found: dict[str, dict[str, Any]] = {}
        for name in one.members:
            with contextlib.suppress(Refused):
                command = "group" if one.is_group else "thread"
                found[name] = await self.people[name].call(command, thread_id=one.thread_id)
        return found

    def _came(self, seen: dict[str, dict[str, Any]]) -> set[str]:
        """Who has it in the calendar: all with whom it is done, but for a coordinator that others outvoted."""
        found: set[str] = set()
        for name, each in seen.items():
            own = [one for one in each.get("participants", ()) if self._is(one, name) and "confirmed" in one]
            if each["state"] == "COMPLETED" and all(one["confirmed"] for one in own):
                found.add(name)
        return found

    def _is(self, told: Any, name: str) -> bool:
        return isinstance(told, dict) and told["agent"] == self.people[name].me

    def _unlike(self, one: Arranged, seen: dict[str, dict[str, Any]]) -> list[str]:
        """How a thread or group is not at its end, or not the same for all."""
        states = {name: each["state"] for name, each in seen.items()}
        found = [
            f"{one.thread_id} is {state} with {name}" for name, state in states.items() if state not in OVER
        ]
        if len(states) < len(one.members):
            found.append(f"{one.thread_id} has not come to all of {one.members}")
        if not one.is_group:
            return [
                *found,
                *([f"{one.thread_id} has two ends: {states}"] if len(set(states.values())) > 1 else []),
            ]
        coordinators = {each["coordinator"] for each in seen.values()}
        if len(coordinators) > 1:
            found.append(f"{one.thread_id} has two coordinators: {coordinators}")
        hub = next((each for name, each in seen.items() if self.people[name].me in coordinators), None)
        if hub is None or found:
            return found
        if hub["state"] != "COMPLETED" and "COMPLETED" in states.values():
            found.append(f"{one.thread_id} is done for some: {states}")
        for name in one.members:
            told = next((each for each in hub["participants"] if self._is(each, name)), {})
            if hub["state"] == "COMPLETED" and told.get("confirmed") and states[name] != "COMPLETED":
                found.append(f"{one.thread_id} is not done for {name}, who confirmed: {states}")
        return found

    async def _replicas(self) -> list[str]:
        found: list[str] = []
        for space_id, creator in self.spaces.items():
            shown: dict[str, Any] = {}
            whole = await self.people[creator].call("space", do="show", space_id=space_id, look=False)
            joined = [each["agent"] for each in whole["members"] if each["status"] == "joined"]
            for one in self.people.values():
                if one.me in joined:
                    try:
                        seen = await one.call("space", do="show", space_id=space_id, look=False)
                    except Refused as refused:
                        found.append(f"{space_id} is not with {one.name}: {refused.code}")
                        continue
                    values = {each["field"]: each["value"] for each in seen["fields"]}
                    shown[one.name] = (seen["field_versions"], values)
            if any(each != next(iter(shown.values())) for each in shown.values()):
                found.append(f"{space_id} differs: {shown}")
        return found

    def entries(self, name: str) -> list[str]:
        """The days for which somebody's calendar has an entry, as often as it has one."""
        path = self.people[name].folder / "calendar.ics"
        text = path.read_text() if path.exists() else ""
        days = re.findall(r"DTSTART[^:]*:(\d{8})", text)
        return [f"{datetime.strptime(one, '%Y%m%d').replace(tzinfo=UTC):%-d %B %Y}" for one in days]

    # What must hold wherever it has come to rest.

    async def check(self) -> None:
        """Markers, and the journal of somebody: it verifies, and rebuilt it is the same."""
        self.check_markers()
        one = self.chance.choice(list(self.people.values()))
        before = await self._known(one)
        await one.stop()
        assert ledger(one.folder, "verify")["sound"], one.name
        ledger(one.folder, "rebuild")
        assert ledger(one.folder, "verify")["sound"], one.name
        await one.start()
        assert await self._known(one) == before

    async def _known(self, one: Being) -> dict[str, str]:
        listed = (await one.call("threads", every=True))["threads"]
        return {each["thread_id"]: each["state"] for each in listed}

    def check_markers(self) -> None:
        """What an owner did not release is in nobody else's folder; a relay has nothing of anybody's."""
        for place in (*(one.folder for one in self.people.values()), *(one.folder for one in self.relays)):
            held = b"\n".join(path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file())
            for one in self.people.values():
                if place == one.folder:
                    continue
                assert one.never.encode() not in held, (place.name, one.never)
                assert one.guest.encode() not in held, (place.name, one.guest)
                if not one.shares or place.name in {"one", "two"}:
                    assert one.asked.encode() not in held, (place.name, one.asked)

    def told(self) -> bool:
        """Whether what was released came to anybody, so that looking for markers means something."""
        for one in self.people.values():
            for other in self.people.values():
                if other is not one and one.shares:
                    paths = (path for path in other.folder.rglob("*") if path.is_file())
                    if any(one.asked.encode() in path.read_bytes() for path in paths):
                        return True
        return False
