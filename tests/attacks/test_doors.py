"""Who may do what at which door: every operation, method, tool and route, by every kind of caller.

`doors.toml` says what each is told; whatever the hub's tables have and that file does not fails the check. In all of
it: what is refused appends nothing, nobody outside hears a word of the group, and none but the parties and the
owner a word of what is private.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tacit.base.callers import SocketLimits
from tacit.c2a.negotiation import TOOLS
from tacit.c2a.notifications import METHODS as NOTIFICATIONS
from tacit.hub.config import HubConfig, Limits
from tacit.hub.doors.routes import OPERATIONS, RPC_ONLY
from tacit.hub.doors.websocket import METHODS, OWN_METHODS
from tacit.hub.host.protocol import REQUESTS
from tacit.hub.hub import RunningHub
from tacit.hub.server import application
from tests.attacks.doors import (
    ELSEWHERE,
    OPEN,
    PARTIES,
    PRINCIPALS,
    PRIVATE,
    ROLES,
    UNKNOWN,
    Stage,
    Told,
    asked,
    by_c2a,
    by_http,
    by_mcp,
    by_route,
    by_socket,
    by_stream,
    on_connection,
    staged,
    tool_arguments,
)
from tests.hub.room import running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterator

EXPECTED: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_name("doors.toml").read_text(encoding="utf-8")
)
PATIENT: Final = SocketLimits(
    guest_seconds=600.0, guest_request_seconds=600.0, idle_seconds=600.0, stalled_seconds=600.0
)
QUIET: Final = Limits(
    failed_sign_ins_per_second=1e6,
    sign_in_seconds=600.0,
    read_seconds=600.0,
    heartbeat_seconds=600.0,
    sockets=PATIENT,
)
"""Guesses are not slowed down, and nobody is cut for being slow: that is tested elsewhere."""


def rows(section: str) -> Iterator[tuple[str, str, list[str]]]:
    """Name, variant and the words for each role."""
    for key, words in EXPECTED[section].items():
        name, _, variant = key.partition("@")
        yield name, variant, words.split()


def names(section: str) -> set[str]:
    return {name for name, _variant, _words in rows(section)}


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with running(tmp_path / "data", limits=QUIET) as room:
        made = await staged(room)
        async with made.stack:
            yield made


class Found:
    """What was told otherwise than it stands written."""

    def __init__(self, stage: Stage, *, counts: bool = False) -> None:
        """`counts` where nothing but what is asked here appends: without agents there is no attention."""
        self._stage = stage
        self._counts = counts
        self.faults: list[str] = []

    async def compare(self, role: str, where: str, expected: str, answer: Awaitable[Told]) -> None:
        before = await self._stage.last_seq()
        told = await answer
        if told.word != expected:
            self.faults.append(f"{where}: {role} is told {told.word}, not {expected}")
        if self._counts and told.word != "ok" and await self._stage.last_seq() != before:
            self.faults.append(f"{where}: {role} was refused, and the ledger grew")
        if role in UNKNOWN | ELSEWHERE and OPEN in told.whole:
            self.faults.append(f"{where}: {role} hears what the group says")
        if role not in PARTIES and PRIVATE in told.whole:
            self.faults.append(f"{where}: {role} hears what is private")

    async def at_the_end(self) -> str:
        """All faults; and whoever is from elsewhere has left no trace in the group."""
        events = await self._stage.room.events(self._stage.group)
        traces = [
            f"{event['kind']} of {role}"
            for event in events
            for role in sorted(ELSEWHERE)
            if PRINCIPALS[role] in str(event)
        ]
        return "\n".join(self.faults + traces)


def test_every_row_says_what_each_role_is_told() -> None:
    short = [
        f"{section}.{name}@{variant}"
        for section in EXPECTED
        for name, variant, words in rows(section)
        if len(words) != len(ROLES)
    ]
    assert short == []


def test_every_operation_method_and_tool_has_an_expectation() -> None:
    assert names("operations") == set(METHODS)
    assert names("connection") == OWN_METHODS
    beside = REQUESTS - {"initialize", "tools/call"}
    assert names("tools") == {tool.name for tool in TOOLS} | beside | set(NOTIFICATIONS.values())


async def test_every_route_has_an_expectation(tmp_path: Path) -> None:
    hub = RunningHub(HubConfig(tmp_path / "data"))
    offered = {
        f"{route.method} {route.resource.canonical}"
        for route in application(hub).router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    await hub.close()
    assert names("routes") == offered - {f"{one.method} {one.path}" for one in OPERATIONS}


async def test_every_operation_by_every_role_over_http_and_the_socket(stage: Stage) -> None:
    found = Found(stage, counts=True)
    for name, variant, words in rows("operations"):
        for role, expected in zip(ROLES, words, strict=True):
            where = f"{name}@{variant}"
            if name not in RPC_ONLY:
                params = await asked(stage, role, name, variant)
                await found.compare(role, f"http {where}", expected, by_http(stage, role, name, params))
            params = await asked(stage, role, name, variant)
            await found.compare(role, f"/v1/ws {where}", expected, by_socket(stage, role, name, params))
    assert await found.at_the_end() == ""


async def test_every_route_and_connection_by_every_role(stage: Stage) -> None:
    found = Found(stage)
    for name, variant, words in rows("routes"):
        method, _, path = name.partition(" ")
        for role, expected in zip(ROLES, words, strict=True):
            where = f"{name}@{variant}"
            await found.compare(role, where, expected, by_route(stage, role, (method, path), variant))
    for name, _variant, words in rows("connection"):
        for role, expected in zip(ROLES, words, strict=True):
            await found.compare(role, f"/v1/ws {name}", expected, on_connection(stage, role, name))
    for role, expected in zip(ROLES, EXPECTED["operations"]["events"].split(), strict=True):
        await stage.said(private=True)
        last = await stage.said()
        await found.compare(role, "stream", expected, by_stream(stage, role, last))
    assert await found.at_the_end() == ""


async def test_every_tool_by_every_role_at_both_doors_of_agents(stage: Stage) -> None:
    found = Found(stage)
    doors: dict[str, Any] = {"/c2a": by_c2a, "/mcp": by_mcp}
    for name, variant, words in rows("tools"):
        for role, expected in zip(ROLES, words, strict=True):
            for door, call in doors.items():
                if door == "/mcp" and not name.startswith("chat."):
                    continue
                arguments = await tool_arguments(stage, name, variant)
                where = f"{door} {name}@{variant}"
                await found.compare(role, where, expected, call(stage, role, name, arguments))
    assert await found.at_the_end() == ""
