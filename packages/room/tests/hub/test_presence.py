"""Online, away, offline: what people are told of each other, from connections alone."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.hub.live import MANY_STIRRED
from tacit.hub.people.presence import Presence
from tests.hub.room import WAIT, Failed, Room, Socket

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


class Chair:
    """A connection that somebody may turn away from."""

    def __init__(self, *, is_away: bool = False) -> None:
        self.is_away = is_away


def test_one_connection_that_is_looked_at_makes_somebody_online() -> None:
    presence, ledger, phone = Presence(), Chair(), Chair(is_away=True)
    assert presence.status("g", "usr:ben") == "offline"
    presence.enter("g", "usr:ben", phone)
    assert presence.status("g", "usr:ben") == "away"
    presence.enter("g", "usr:ben", ledger)
    presence.enter("g", "usr:ben", ledger)
    assert presence.status("g", "usr:ben") == "online"
    presence.leave("g", "usr:ben", ledger)
    assert presence.status("g", "usr:ben") == "online"
    ledger.is_away = True
    assert presence.present("g") == {"online": [], "away": ["usr:ben"]}
    presence.leave("g", "usr:ben", ledger)
    presence.leave("g", "usr:ben", phone)
    assert presence.status("g", "usr:ben") == "offline"
    assert presence.present("g") == {"online": [], "away": []}
    assert presence.status("elsewhere", "usr:ben") == "offline"


async def person(room: Room, group: str, name: str) -> str:
    body = {"principal": f"usr:{name}"}
    return (await room.ok("POST", f"/v1/groups/{group}/people", json=body))["token"]


async def followed(socket: Socket, group: str) -> None:
    """Follow, and wait until it is live: an event has come through."""
    await socket.call("follow", group_id=group)
    await socket.note("event")


async def told(socket: Socket) -> dict[str, Any]:
    return (await socket.note("presence"))["params"]


async def test_the_others_are_told_when_somebody_comes_looks_elsewhere_is_back_and_goes(room: Room) -> None:
    group = await room.group()
    token = await person(room, group, "ben")
    path = f"/v1/groups/{group}/presence"
    async with room.socket() as owner:
        await followed(owner, group)
        async with room.socket(token) as ben:
            await followed(ben, group)
            assert await told(owner) == {"group_id": group, "actor_id": "usr:ben", "status": "online"}
            assert await ben.call("away", away=True) == {"away": True}
            assert (await told(owner))["status"] == "away"
            assert await room.ok("GET", path) == {"online": ["user"], "away": ["usr:ben"]}
            assert await ben.call("away", away=False) == {"away": False}
            assert (await told(owner))["status"] == "online"
        assert (await told(owner))["status"] == "offline"
        assert await room.ok("GET", path) == {"online": ["user"], "away": []}
        before = await room.last_seq(group)
        await owner.call("away", away=True)
        assert await room.last_seq(group) == before, "a signal, not an event"


async def test_two_tabs_are_away_together_or_not_at_all(room: Room) -> None:
    group = await room.group()
    token = await person(room, group, "ben")

    def tab() -> AbstractAsyncContextManager[Socket]:
        return room.socket(token)

    async with room.socket() as owner, tab() as first:
        await followed(owner, group)
        await followed(first, group)
        assert (await told(owner))["status"] == "online"
        async with tab() as second:
            await second.call("away", away=True)
            await followed(second, group)
            assert (await owner.call("presence", group_id=group))["online"] == ["user", "usr:ben"]
            await first.call("away", away=True)
            assert (await told(owner))["status"] == "away"
            await second.call("away", away=False)
            assert (await told(owner))["status"] == "online"
        assert (await told(owner))["status"] == "away"


async def test_who_loads_the_page_again_was_never_gone(room: Room) -> None:
    group = await room.group()
    token = await person(room, group, "ben")
    live = room.server.hub.live
    live.settle_seconds = 3600
    async with room.socket() as owner:
        await followed(owner, group)
        async with room.socket(token) as ben:
            await followed(ben, group)
            live.settled()
            assert (await told(owner))["status"] == "online"
        async with asyncio.timeout(WAIT):
            while "usr:ben" in live.present(group)["online"]:
                await asyncio.sleep(0.005)
        async with room.socket(token) as ben:
            await followed(ben, group)
            live.settled()
            await ben.call("away", away=True)
            live.settled()
            assert (await told(owner))["status"] == "away"


async def test_a_crowd_is_told_once(room: Room) -> None:
    group = await room.group()
    token = await person(room, group, "ben")
    names = [f"p{number}" for number in range(MANY_STIRRED + 1)]
    live = room.server.hub.live
    async with room.socket() as owner:
        await followed(owner, group)
        for name in names:
            live._stir(group, f"usr:{name}")
            live._told[group, f"usr:{name}"] = "online"
        async with room.socket(token) as ben:
            await followed(ben, group)
            assert await told(owner) == {"group_id": group}
    assert not any(key[1].startswith("usr:p") for key in live._told)


@pytest.mark.spec("CCCS-111")
@pytest.mark.parametrize("params", [{}, {"away": 1}, {"away": "yes"}, {"away": None}, {"away": []}])
async def test_what_is_no_answer_to_away_is_refused(room: Room, params: dict[str, Any]) -> None:
    async with room.socket() as socket:
        with pytest.raises(Failed) as failed:
            await socket.call("away", **params)
        assert failed.value.code == "invalid_request"
        assert await socket.call("away", away=True) == {"away": True}


@pytest.mark.spec("CCCS-042")
async def test_a_stranger_cannot_be_away(room: Room) -> None:
    async with room.socket(None) as socket:
        with pytest.raises(Failed) as failed:
            await socket.call("away", away=True)
    assert failed.value.code == "permission_denied"


async def test_agents_come_and_go_without_a_word_from_their_followers(room: Room) -> None:
    group = await room.group()
    ada = await room.actor(group, "ada")
    token = await person(room, group, "ben")
    async with room.socket() as owner:
        await followed(owner, group)
        async with room.socket(ada) as agent, room.stream(group, token) as stream:
            await followed(agent, group)
            assert (await stream.event())["seq"] == 1
            assert (await told(owner))["actor_id"] == "usr:ben", "and not ada"
