"""Whose clock ever is wrong, by how much and how: no mail is lost in silence, and nothing is erased."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tests.agent_support import Person
from tests.clocks.disturbed import OFFSETS, WAYS, World
from tests.relay_support import Relay, until
from tests.two_clocks import DAY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PARTIES = ("sender", "receiver", "relay", "second device")
AGE = 80 * DAY
"""How old the oldest message is: younger than the ninety days after which its content goes."""


class Place:
    """A relay, somebody who writes, somebody who reads, and a stranger to both: each on a machine of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = World("sender", "receiver", "relay", "stranger")
        self.relay = Relay(folder / "relay")
        self._rebuild_relay()
        self.people: dict[str, Person] = {}
        self.world.on_hour = self.keep_house

    def _rebuild_relay(self) -> None:
        self.relay.clock = self.world.service("relay")
        self.relay._make()

    def keep_house(self) -> None:
        for person in self.people.values():
            person.post.clock.look()
        self.relay.clock.look()

    async def open(self, name: str) -> Person:
        """A process on that person's machine."""
        person = Person(self.folder / name, self.relay, name, self.world.service(name))
        await person.post.__aenter__()
        self.people[name] = person
        return person

    async def close(self, name: str) -> None:
        person = self.people.pop(name)
        await person.offline()
        await person.post.__aexit__()
        person.post.store.close()

    async def restart_relay(self) -> None:
        await self.relay.server.stop()
        self._rebuild_relay()
        await self.relay.server.start()

    async def nothing_waits(self) -> None:
        """Nothing is on its way; what the relay was not told of as fetched would end there, and somebody be told."""
        reader = self.relay.mailboxes.store.reader
        await until(lambda: not any(person.post.outbox.waiting() for person in self.people.values()))
        await until(lambda: reader.execute("SELECT count(*) FROM queue").get == 0)

    async def tidy(self) -> None:
        """What is done daily by everybody."""
        for person in self.people.values():
            person.post.inbox.forget_old()
        await self.relay.mailboxes.expire()


@contextlib.asynccontextmanager
async def placed(folder: Path) -> AsyncIterator[Place]:
    """Two who know each other, with something said long ago and something that waits at the relay."""
    place = Place(folder)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(_close_all, place)
        await stack.enter_async_context(place.relay)
        for name in ("sender", "receiver", "stranger"):
            person = await place.open(name)
            await person.register()
            await person.online()
        await until(lambda: all(person.connection.stocked.is_set() for person in place.people.values()))
        for name, person in place.people.items():
            for other, known in place.people.items():
                if name != other:
                    person.post.inbox.welcome(known.address)
        sender, receiver = place.people["sender"], place.people["receiver"]
        sender.say(receiver, "long ago")
        await receiver.has("long ago")
        receiver.say(sender, "long ago, too")
        await sender.has("long ago, too")
        await place.nothing_waits()
        for person in place.people.values():
            await person.offline()
        place.world.pass_time(AGE, hours=20)
        yield place


async def _close_all(place: Place) -> None:
    for name in list(place.people):
        await place.close(name)


async def live(place: Place, said: list[str]) -> None:
    """A message that waits, one that is fetched, and a first word to somebody new."""
    await place.tidy()
    sender, receiver, stranger = (place.people[name] for name in ("sender", "receiver", "stranger"))
    for person in (sender, receiver, stranger):
        await person.offline()
    text = f"number {len(said)}"
    said.append(text)
    await sender.online()
    sender.say(receiver, text)
    sender.say(stranger, text, thread="thr_first")
    await sender.sent()
    await place.tidy()
    await receiver.online()
    await stranger.online()
    await until(lambda: arrived(place, text) or is_told(place))
    receiver.say(sender, f"answer to {text}")
    await until(lambda: f"answer to {text}" in sender.texts() or is_told(place))
    if not is_told(place):
        await place.nothing_waits()
    await place.tidy()


def arrived(place: Place, text: str) -> bool:
    return all(text in place.people[name].texts() for name in ("receiver", "stranger"))


def all_arrived(place: Place, said: list[str]) -> None:
    for name in ("receiver", "stranger"):
        person = place.people[name]
        assert set(said) <= set(person.texts()), f"{name} lacks some; {person.notes()}"
    assert not is_told(place), "\n".join(f"{name}: {person.notes()}" for name, person in place.people.items())


def is_told(place: Place) -> bool:
    return any("not delivered" in person.notes() for person in place.people.values())


def kept(place: Place) -> list[str]:
    """The oldest contents that are still there."""
    return [
        row[0].decode()
        for name in ("sender", "receiver")
        for row in place.people[name].post.store.rows(
            "SELECT payload FROM history WHERE payload<>x'' AND type='context' ORDER BY position LIMIT 2"
        )
    ]


@pytest.mark.spec("A2ACP-029", "A2ACP-222", "A2ACP-245")
@pytest.mark.parametrize("by", OFFSETS.values(), ids=OFFSETS)
@pytest.mark.parametrize("party", PARTIES)
async def test_no_mail_is_lost_and_nothing_is_erased(tmp_path: Path, party: str, by: int) -> None:
    """One life in which the clock goes wrong in every way, and is put right each time."""
    said: list[str] = []
    async with placed(tmp_path) as place:
        assert len(kept(place)) == 4
        name = "sender" if party == "second device" else party
        if party == "second device":
            await move(place, by)
        before = kept(place)
        for way in WAYS:
            for todo in place.world.disturb(name, by, way):
                if todo == "stop":
                    await stop(place, name)
                    continue
                if todo == "start":
                    await start(place, name)
                await live(place, said)
                assert kept(place) == before, way
                all_arrived(place, said)
            place.world.put_right(name)
            await live(place, said)
            assert kept(place) == before, way
            all_arrived(place, said)


async def stop(place: Place, name: str) -> None:
    if name == "relay":
        for person in place.people.values():
            await person.offline()
    else:
        await place.close(name)


async def start(place: Place, name: str) -> None:
    if name == "relay":
        await place.restart_relay()
    else:
        await place.open(name)


async def move(place: Place, by: int) -> None:
    """The sender goes on on another device, whose clock is wrong while it is set up, and then put right."""
    sender = place.people["sender"]
    backup = sender.post.backup("passphrase", passes=1, memory_bytes=8 * 1024 * 1024)
    await place.close("sender")
    (place.folder / "sender").rename(place.folder / "drawer")
    place.world.clocks["sender"].leap(by)
    post = Post(place.folder / "sender", clock=place.world.service("sender"), entropy=SystemEntropy())
    post.restore(backup, "passphrase")
    post.store.close()
    place.world.clocks["sender"].leap(-by)
    await place.open("sender")
