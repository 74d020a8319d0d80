"""A browser that a sign-in link let in: it signs out for good, the owner sees it, and it ends when unused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.moment import SECOND, Moment, rfc3339
from tacit.hub.people.credentials import DAY, IDLE
from tacit.ledger.io.store import StoreOptions
from tests.hub.room import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.hub.room import Room

START = Moment(1_800_000_000 * SECOND)


class Moved:
    """A clock that stands until it is moved."""

    def __init__(self, at: Moment = START) -> None:
        self.at = at

    def now(self) -> Moment:
        return self.at

    def move(self, by: int) -> None:
        self.at = Moment(self.at + by)


@pytest.fixture
async def clock() -> Moved:
    return Moved()


@pytest.fixture
async def room(tmp_path: Path, clock: Moved) -> AsyncIterator[Room]:
    async with running(tmp_path / "data", options=StoreOptions(clock=clock)) as opened:
        yield opened


async def signed_in(room: Room, **whom: Any) -> str:
    code = (await room.ok("POST", "/v1/sign-in-links", json=whom))["code"]
    return (await room.ok("POST", "/v1/sign-in", json={"code": code}, token=None))["token"]


async def invited(room: Room, name: str = "usr:ben") -> tuple[str, str]:
    group = await room.group()
    body = {"principal": name, "by_link": True}
    code = (await room.ok("POST", f"/v1/groups/{group}/people", json=body))["code"]
    return group, (await room.ok("POST", "/v1/sign-in", json={"code": code}, token=None))["token"]


async def listed(room: Room, token: str = "") -> list[dict[str, Any]]:
    return (await room.ok("GET", "/v1/browsers", token=token))["browsers"]


async def lets_in(room: Room, token: str) -> bool:
    return (await room.get("/v1/whoami", token=token)).status == 200


@pytest.mark.spec("CCCS-042")
async def test_signing_out_ends_the_browsers_token_and_its_connections_and_no_other(room: Room) -> None:
    mine, other = await signed_in(room), await signed_in(room)
    async with room.socket(mine) as socket, room.socket(other) as left:
        await socket.call("whoami")
        assert await room.ok("POST", "/v1/sign-out", json={}, token=mine) == {"revoked": True}
        await socket.closed
        assert (await left.call("whoami"))["principal"] == "user"
    assert not await lets_in(room, mine)
    assert (await room.post("/v1/sign-out", token=mine)).status == 401
    assert await lets_in(room, other)
    assert await lets_in(room, room.owner)


async def test_a_token_that_was_shown_to_somebody_is_not_ended_by_signing_out(room: Room) -> None:
    group = await room.group()
    body = {"principal": "usr:eve"}
    tokens = [
        room.owner,
        await room.actor(group, "ada"),
        await room.service("svc:x.bot", [group]),
        (await room.ok("POST", f"/v1/groups/{group}/people", json=body))["token"],
    ]
    for token in tokens:
        assert await room.ok("POST", "/v1/sign-out", json={}, token=token) == {"revoked": False}
        assert await lets_in(room, token)
    assert await listed(room) == []


async def test_what_was_signed_out_stays_out_after_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as room:
        gone, kept = await signed_in(room), await signed_in(room)
        await room.ok("POST", "/v1/sign-out", json={}, token=gone)
    async with running(tmp_path / "data") as room:
        assert not await lets_in(room, gone)
        assert await lets_in(room, kept)
        assert [one["principal"] for one in await listed(room)] == ["user"]


async def test_the_owner_sees_every_browser_and_ends_one(room: Room, clock: Moved) -> None:
    group, bens = await invited(room)
    clock.move(2 * DAY)
    mine = await signed_in(room)
    shown = await listed(room, mine)
    assert [(one["principal"], one["group_id"], one["created"], one["here"]) for one in shown] == [
        ("user", None, rfc3339(clock.now()), True),
        ("usr:ben", group, rfc3339(START), False),
    ]
    assert (await room.get("/v1/browsers", token=bens)).status == 403
    # Ben's request was a use, two days after his link was opened.
    assert [one["used"] for one in await listed(room)] == [rfc3339(clock.now())] * 2
    await room.ok("DELETE", f"/v1/tokens/{shown[1]['token_id']}")
    assert not await lets_in(room, bens)
    assert [one["principal"] for one in await listed(room)] == ["user"]


async def test_a_browser_that_nobody_uses_ends_and_one_that_is_used_does_not(
    tmp_path: Path, clock: Moved
) -> None:
    data, options = tmp_path / "data", StoreOptions(clock=clock)
    async with running(data, options=options) as room:
        _group, unused = await invited(room)
        used = await signed_in(room)
        for _ in range(3):
            clock.move(IDLE // 2)
            assert await lets_in(room, used)
        assert not await lets_in(room, unused)
        clock.move(IDLE)
        assert await lets_in(room, used)
    async with running(data, options=options) as room:
        # What was noted of its use is in the ledger's file, and so is the other's end.
        assert [one["used"] for one in await listed(room)] == [rfc3339(clock.now())]
        assert await lets_in(room, used)
        assert not await lets_in(room, unused)
        clock.move(IDLE + 1)
        assert not await lets_in(room, used)
        # The owner's own token, and those that were given to somebody, do not end by themselves.
        assert await lets_in(room, room.owner)
        assert await listed(room) == []


async def test_what_was_left_alone_for_too_long_ends_when_a_start_was_watched_for_a_day(
    tmp_path: Path, clock: Moved
) -> None:
    data, options = tmp_path / "data", StoreOptions(clock=clock)
    async with running(data, options=options) as room:
        token = await signed_in(room)
    clock.move(IDLE + 1)
    async with running(data, options=options) as room:
        # Nobody saw the month pass: the clock may have been set.
        assert room.server.hub.registry.browsers() != []
        clock.move(DAY)
    async with running(data, options=options) as room:
        assert room.server.hub.registry.browsers() != []
        clock.move(DAY)
        await room.server.hub.browsers.end_idle()
        assert room.server.hub.registry.browsers() == []
        assert not await lets_in(room, token)


async def test_an_open_connection_is_used_by_what_it_asks_and_ends_when_it_asks_too_late(
    room: Room, clock: Moved
) -> None:
    token = await signed_in(room)
    async with room.socket(token) as socket:
        for _ in range(4):
            clock.move(IDLE - 1)
            await socket.call("whoami")
        clock.move(IDLE + 1)
        await socket.ws.send_str('{"jsonrpc":"2.0","id":1,"method":"whoami"}')
        await socket.closed
    assert not await lets_in(room, token)
