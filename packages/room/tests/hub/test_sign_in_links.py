"""Links that sign somebody in: once, for a short while, worth nothing to whoever finds one later."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from tacit.hub.config import Limits
from tacit.hub.people.credentials import digest
from tacit.hub.people.sign_in_links import MOST, SignInLinks
from tests.hub.room import Answer, Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class Seeded:
    """Randomness that a test can repeat."""

    def __init__(self) -> None:
        self._source = random.Random(7)

    def draw(self, count: int) -> bytes:
        return self._source.randbytes(count)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with running(tmp_path / "data", limits=Limits(failed_sign_ins_per_second=1000.0)) as opened:
        yield opened


async def link(room: Room, **given: Any) -> str:
    return (await room.ok("POST", "/v1/sign-in-links", json=given))["code"]


async def opened(room: Room, code: object, **given: Any) -> Answer:
    return await room.post("/v1/sign-in", {"code": code, **given}, token=None)


async def person(room: Room, group: str, name: str) -> dict[str, Any]:
    body = {"principal": f"usr:{name}", "by_link": True}
    return await room.ok("POST", f"/v1/groups/{group}/people", json=body)


@pytest.mark.spec("CCCS-042")
async def test_a_link_is_worth_one_token_of_its_own(room: Room) -> None:
    code = room.server.new_link().split("/#sign-in=")[1]
    first = await opened(room, code)
    assert first.status == 201
    assert first.body["principal"] == "user"
    assert first.body["token"] != room.owner
    assert (await room.get("/v1/groups", token=first.body["token"])).status == 200
    again = await opened(room, code)
    assert (again.status, again.code) == (403, "permission_denied")
    assert "used already" in again.body["message"]
    assert (await room.get("/v1/groups", token=code)).status == 401


async def test_of_many_who_open_a_link_at_once_one_comes_in(room: Room) -> None:
    code = await link(room)
    answers = await asyncio.gather(*(opened(room, code) for _ in range(12)))
    assert sorted(one.status for one in answers) == [201, *[403] * 11]


async def test_looking_says_whom_a_link_signs_in_and_spends_nothing(room: Room) -> None:
    group = await room.group("Importer")
    made = await person(room, group, "ben")
    assert "token" not in made
    for _ in range(2):
        seen = await opened(room, made["code"], look=True)
        assert (seen.status, seen.body) == (
            200,
            {"principal": "usr:ben", "group_id": group, "title": "Importer"},
        )
    assert (await opened(room, made["code"])).body["principal"] == "usr:ben"
    assert (await opened(room, made["code"], look=True)).status == 403
    owners = await opened(room, await link(room), look=True)
    assert owners.body == {"principal": "user", "group_id": None}


async def test_a_person_who_was_invited_by_link_has_no_token_before_it_is_opened(room: Room) -> None:
    group = await room.group()
    made = await person(room, group, "ben")
    path = f"/v1/groups/{group}/actors/usr:ben/tokens"
    (only,) = (await room.ok("GET", path))["tokens"]
    assert only.startswith("lnk_")
    token = (await opened(room, made["code"])).body["token"]
    (only,) = (await room.ok("GET", path))["tokens"]
    assert only.startswith("tok_")
    assert (await room.say(group, "I am in", token))["by"] == "usr:ben"


async def test_a_link_ends_when_it_is_revoked_like_a_token(room: Room) -> None:
    group = await room.group()
    made = await person(room, group, "ben")
    (link_id,) = (await room.ok("GET", f"/v1/groups/{group}/actors/usr:ben/tokens"))["tokens"]
    done = await room.ok("DELETE", f"/v1/tokens/{link_id}")
    assert done == {"token_id": link_id, "principal": "usr:ben", "revoked": True}
    assert (await opened(room, made["code"])).status == 403
    assert (await room.call("DELETE", f"/v1/tokens/{link_id}")).code == "invalid_request"


async def test_a_link_ends_with_the_token_that_made_it(room: Room) -> None:
    group = await room.group()
    session = (await opened(room, await link(room))).body["token"]
    mine = await room.ok("POST", "/v1/sign-in-links", json={}, token=session)
    path = f"/v1/groups/{group}/actors/user/tokens"
    ids = [one for one in (await room.ok("GET", path))["tokens"] if one.startswith("tok_")]
    (of_session,) = [one for one in ids if not one.startswith("tok_owner_")]
    await room.ok("DELETE", f"/v1/tokens/{of_session}")
    assert (await opened(room, mine["code"])).status == 403
    assert (await room.get("/v1/groups")).status == 200


async def test_only_the_owners_token_makes_links_and_only_for_people(room: Room) -> None:
    group = await room.group()
    ada = await room.actor(group, "ada")
    ben = (await opened(room, (await person(room, group, "ben"))["code"])).body["token"]
    bot = await room.service("svc:x.bot")
    for token in (ada, ben, bot):
        for body in ({}, {"group_id": group, "principal": "usr:ben"}):
            answer = await room.post("/v1/sign-in-links", body, token=token)
            assert (answer.status, answer.code) == (403, "permission_denied")
    for body, status in (
        ({"group_id": group, "principal": "ada"}, 404),
        ({"group_id": group, "principal": "usr:zoe"}, 404),
        ({"group_id": group}, 400),
        ({"principal": "usr:ben"}, 400),
        ({"group_id": group, "principal": "user"}, 400),
        ({"minutes": 0}, 400),
        ({"minutes": 1441}, 400),
    ):
        assert (await room.post("/v1/sign-in-links", body)).status == status, body


async def test_under_local_trust_nobody_makes_a_link_by_saying_who_they_are(tmp_path: Path) -> None:
    async with running(tmp_path / "data", local_trust=True) as room:
        assert (await room.post("/v1/sign-in-links", {}, token=None)).status == 403
        group = await room.group()
        body = {"principal": "usr:ben", "by_link": True}
        assert (await room.post(f"/v1/groups/{group}/people", body, token=None)).status == 403
        assert (await room.post("/v1/sign-in-links", {})).status == 201


async def test_guesses_are_slowed_down_as_those_of_tokens_are(tmp_path: Path) -> None:
    async with running(tmp_path / "data", limits=Limits(failed_sign_ins_per_second=1 / 6)) as room:
        good = await link(room)
        found = {(await opened(room, f"guess-{number}", look=True)).status for number in range(20)}
        assert found == {403, 429}
        assert (await opened(room, good)).status == 201


@pytest.mark.parametrize("code", [None, 7, [], {}, "", "\ud800"])
async def test_what_is_no_code_is_refused(room: Room, code: object) -> None:
    assert (await opened(room, code)).status in {400, 403}


async def test_no_link_outlives_its_hub_or_lies_in_its_folder(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as room:
        code = await link(room)
        held = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
        assert not [path for path in held if code.encode() in path.read_bytes()]
    async with running(tmp_path / "data") as room:
        assert (await opened(room, code)).status == 403


def test_a_link_ends_when_its_time_has_come() -> None:
    links = SignInLinks(Seeded())
    code = links.make("user", None, maker="tok_a", until=900.0)
    assert links.find(digest(code), 899.9, spends=False) is not None
    assert links.ids("g_any", "user", 899.9)
    assert links.find(digest(code), 900.0, spends=True) is None
    assert links.ids("g_any", "user", 900.0) == []


def test_a_removed_person_and_a_revoked_token_take_their_links_along() -> None:
    links = SignInLinks(Seeded())
    ben = links.make("usr:ben", "g_one", maker="tok_a", until=9.0)
    zoe = links.make("usr:zoe", "g_one", maker="tok_b", until=9.0)
    elsewhere = links.make("usr:ben", "g_two", maker="tok_b", until=9.0)
    assert [one.principal for one in links.drop(actor=("g_one", "usr:ben"))] == ["usr:ben"]
    assert links.find(digest(ben), 0.0, spends=False) is None
    assert links.find(digest(elsewhere), 0.0, spends=False) is not None
    links.drop(token_id="tok_b")
    assert links.find(digest(zoe), 0.0, spends=False) is None
    assert links.find(digest(elsewhere), 0.0, spends=False) is None


def test_nobody_has_more_than_so_many_links_and_the_oldest_goes() -> None:
    links = SignInLinks(Seeded())
    other = links.make("usr:ben", "g_one", maker="tok_a", until=9.0)
    codes = [links.make("user", None, maker="tok_a", until=9.0) for _ in range(MOST + 2)]
    assert [links.find(digest(one), 0.0, spends=False) is not None for one in codes] == [
        False,
        False,
        *[True] * MOST,
    ]
    assert links.find(digest(other), 0.0, spends=False) is not None
