"""Who may handle the crew: every operation, asked with every kind of token. A real hub, over every door."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import TYPE_CHECKING, Any

import pytest

from tacit.base.backoff import Backoff
from tacit.base.errors import Refused, Unavailable
from tacit.hub.agents import crew as crews
from tacit.hub.agents.crew import Crew
from tacit.hub.config import HubConfig
from tacit.hub.doors.routes import OPERATIONS
from tacit.ledger.io.store import StoreOptions
from tests.hub.room import WAIT, Failed, Room, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CREW = [one for one in OPERATIONS if one.name.startswith("crew_")]
GIVEN: dict[str, dict[str, Any]] = {
    "crew_list": {},
    "crew_add": {"actor_id": "eve", "driver": "command", "options": ["touch", "/nowhere"]},
    "crew_start": {"actor_id": "ada"},
    "crew_stop": {"actor_id": "ada"},
    "crew_remove": {"actor_id": "ada"},
    "crew_log": {"actor_id": "ada"},
    "crew_diff": {"actor_id": "ada"},
    "crew_worktree": {"actor_id": "ada", "op": "discard", "force": True},
    "crew_invite": {"actor_id": "eve"},
}


async def tokens(room: Room, group: str) -> dict[str, str | None]:
    """A token of each kind but the owner's."""
    other = await room.group("Other")
    person = await room.ok("POST", f"/v1/groups/{group}/people", json={"principal": "usr:ben"})
    return {
        "agent": await room.actor(group, "bob"),
        "foreman": await room.actor(group, "fay", role="foreman"),
        "agent elsewhere": await room.actor(other, "cy"),
        "guest": person["token"],
        "service": await room.service("svc:x.bot"),
        "service here": await room.service("svc:x.here", [group]),
        "nobody's": "tct_" + "x" * 43,
        "none": None,
    }


def path_of(operation: Any, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    path, rest = operation.path, dict(params)
    for name in list(rest):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", str(rest.pop(name)))
    return path, rest


def test_the_table_names_every_operation_of_the_crew() -> None:
    assert sorted(GIVEN) == sorted(one.name for one in CREW)


async def test_no_operation_of_the_crew_is_done_for_anybody_but_the_owner(tmp_path: Path) -> None:
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        await room.ok(
            "POST",
            f"/v1/groups/{group}/crew",
            json={"actor_id": "ada", "driver": "command", "options": ["true"], "start": False},
        )
        book = (tmp_path / "crew" / "crew.json").read_bytes()
        for kind, token in (await tokens(room, group)).items():
            for operation in CREW:
                params = {"group_id": group, **GIVEN[operation.name]}
                path, rest = path_of(operation, params)
                given = {"params": rest} if operation.method == "GET" else {"json": rest}
                answer = await room.call(operation.method, path, token=token, **given)
                assert answer.status in {401, 403}, (kind, operation.name, answer.body)
                assert answer.code == "permission_denied"
            if token is None or kind == "nobody's":
                continue
            async with room.socket(token) as socket:
                for operation in CREW:
                    with pytest.raises(Failed) as refused:
                        await socket.call(operation.name, group_id=group, **GIVEN[operation.name])
                    assert refused.value.code == "permission_denied", (kind, operation.name)
        assert (tmp_path / "crew" / "crew.json").read_bytes() == book
        (listed,) = (await room.ok("GET", "/v1/crew"))["agents"]
        assert (listed["actor_id"], listed["state"], listed["wanted"]) == ("ada", "stopped", False)


async def test_under_local_trust_nobody_is_the_owner_of_a_crew(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="runs no crew"):
        HubConfig(data=tmp_path, local_trust=True, crew=True).check()
    async with running(tmp_path, local_trust=True) as room:
        group = await room.group()
        for operation in CREW:
            path, rest = path_of(operation, {"group_id": group, **GIVEN[operation.name]})
            given = {"params": rest} if operation.method == "GET" else {"json": rest}
            answer = await room.call(
                operation.method, path, token=None, headers={"X-Tacit-By": "user"}, **given
            )
            assert (answer.status, answer.code) == (403, "permission_denied"), operation.name


async def test_a_hub_that_runs_no_crew_starts_nothing_even_for_its_owner(tmp_path: Path) -> None:
    async with running(tmp_path) as room:
        group = await room.group()
        assert (await room.ok("GET", "/v1/crew"))["enabled"] is False
        for operation in CREW:
            if operation.name == "crew_list":
                continue
            path, rest = path_of(operation, {"group_id": group, **GIVEN[operation.name]})
            given = {"params": rest} if operation.method == "GET" else {"json": rest}
            answer = await room.call(operation.method, path, **given)
            assert answer.body["details"]["reason"] == "crew_off", operation.name
        assert not (tmp_path / "crew").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"driver": "abacus"}, "there is no driver"),
        ({"options": ["--model", "x"]}, "takes"),
        ({"options": ["no-such-program"]}, "no program no-such-program on the PATH"),
        ({"options": ["--cwd", "/no/such", "true"]}, "no folder /no/such"),
        ({"actor_id": "../../etc"}, ""),
        ({"actor_id": "-rf"}, ""),
        ({"budget": {"cost_usd": -1}}, "budget"),
        ({"options": "true; touch /tmp/x"}, "options"),
        ({"group_id": "g_nowhere"}, ""),
    ],
)
async def test_what_an_owner_gets_wrong_is_refused_and_nothing_is_kept(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        body = {"actor_id": "ada", "driver": "command", "options": ["true"], **change}
        path = f"/v1/groups/{body.pop('group_id', group)}/crew"
        answer = await room.post(path, body)
        assert answer.status in {400, 404}, answer.body
        assert says in answer.body["message"]
        assert (await room.ok("GET", "/v1/crew"))["agents"] == []
        assert [one["actor_id"] for one in (await room.ok("GET", f"/v1/groups/{group}"))["actors"]] == []


async def test_a_code_is_worth_one_token_and_wrong_ones_are_slowed_down(tmp_path: Path) -> None:
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        made = await room.ok("POST", f"/v1/groups/{group}/crew/far/invite", json={"roles": ["helper"]})
        first = await room.post("/v1/redeem", {"code": made["code"]}, token=None)
        assert (first.status, first.body["group_id"], first.body["actor_id"]) == (201, group, "far")
        assert (await room.get("/v1/whoami", token=first.body["token"])).body["principal"] == "far"
        # The code itself is no token.
        assert (await room.get("/v1/whoami", token=made["code"])).status == 401
        codes = [made["code"], "tct_never", "", 7, None]
        for code in codes:
            again = await room.post("/v1/redeem", {"code": code}, token=None)
            assert (again.status, again.code) == (403, "permission_denied"), code
        for _ in range(60):
            last = await room.post("/v1/redeem", {"code": "tct_guess"}, token=None)
        assert last.status == 429


async def test_a_code_may_come_in_pieces_and_what_is_longer_than_any_is_not_read(tmp_path: Path) -> None:
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        made = await room.ok("POST", f"/v1/groups/{group}/crew/far/invite", json={})

        long = await room.call("POST", "/v1/redeem", token=None, data=b'{"code": "' + b"x" * 9_000 + b'"}')
        assert (long.status, long.code) == (413, "invalid_request")

        async def pieces() -> AsyncIterator[bytes]:
            for piece in (b'{"code": ', b'"' + made["code"].encode(), b'"}'):
                yield piece

        assert (await room.call("POST", "/v1/redeem", token=None, data=pieces())).status == 201


async def test_a_stranger_does_not_hear_where_a_damaged_book_lies(tmp_path: Path) -> None:
    (tmp_path / "crew").mkdir()
    (tmp_path / "crew" / "crew.json").write_text("{", encoding="utf-8")
    async with running(tmp_path, crew=True) as room:
        answer = await room.post("/v1/redeem", {"code": "tct_any"}, token=None)
        assert (answer.status, answer.code) == (503, "daemon_unavailable")
        assert str(tmp_path) not in answer.raw.decode()
        assert str(tmp_path) in (await room.get("/v1/crew")).body["message"]


async def test_a_code_runs_out(tmp_path: Path) -> None:
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        made = await room.ok("POST", f"/v1/groups/{group}/crew/far/invite", json={"hours": 0.0000001})
        answer = await room.post("/v1/redeem", {"code": made["code"]}, token=None)
        assert answer.status == 403


async def listed_as(room: Room, state: str) -> dict[str, Any]:
    """The one agent of the crew, once it is in this state."""
    async with asyncio.timeout(WAIT):
        while True:
            (one,) = (await room.ok("GET", "/v1/crew"))["agents"]
            if one["state"] == state:
                return one
            await asyncio.sleep(0.02)


@pytest.mark.spec("CCCS-042")
async def test_whom_somebody_took_out_of_the_room_the_crew_does_not_let_in_again(tmp_path: Path) -> None:
    agent = {"actor_id": "ada", "driver": "command", "options": ["true"]}
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        await room.ok("POST", f"/v1/groups/{group}/crew", json=agent)
        await listed_as(room, "running")
        assert (await room.append(group, "actor.remove", {"actor_id": "ada"})).status == 201
        again = await room.post(f"/v1/groups/{group}/crew/ada/start")
        assert (again.status, again.code) == (404, "actor_not_found")
        assert not [one for one in room.server.hub.registry._live.values() if one.principal == "ada"]
    async with running(tmp_path, crew=True) as room:
        gone = await listed_as(room, "failed")
        assert "taken out of the room" in gone["reason"]
        assert not [one for one in room.server.hub.registry._live.values() if one.principal == "ada"]


async def test_a_ledger_that_is_away_for_a_moment_does_not_end_the_crew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, crew=True) as room:
        group = await room.group()
        agent = {"actor_id": "ada", "driver": "command", "options": ["true"], "start": False}
        await room.ok("POST", f"/v1/groups/{group}/crew", json=agent)
        ledger = room.server.hub.ledger
        record, falls = ledger.record, [1]

        async def fails(command: Any) -> Any:
            if falls:
                falls.pop()
                raise Unavailable("the writer is starting")
            return await record(command)

        monkeypatch.setattr(ledger, "record", fails)
        await room.ok("POST", f"/v1/groups/{group}/crew/ada/start", json={})
        await listed_as(room, "running")


def test_a_crew_is_off_unless_somebody_says_so() -> None:
    (crew,) = [one for one in dataclasses.fields(HubConfig) if one.name == "crew"]
    assert crew.default is False


@pytest.mark.parametrize("fault", [OSError(), Unavailable("the writer is away"), ValueError("no line")])
async def test_a_start_that_failed_for_a_moment_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    crew = Crew(HubConfig(tmp_path), StoreOptions(), registry=None, ledger=None, drop_tokens=None)
    lives: list[Exception] = []

    async def life(_told: asyncio.Event) -> None:
        lives.append(fault)
        if len(lives) == 1:
            raise fault
        crew._closing.set()

    monkeypatch.setattr(crew, "_life", life)
    monkeypatch.setattr(crews, "AGAIN", Backoff(first=0.001, longest=0.001))
    await crew._keep(asyncio.Event())
    assert len(lives) == 2
