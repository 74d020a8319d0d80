"""By every door a search costs its caller's own words: nobody learns another's by what the hub had to do."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.bridges.mcp.rooms import over_http

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.hub.c2a.stage import Stage

FIRST_LOOK = 8
"""Pages that a connection looks at once more or less, by what it remembers; each row found would be some too."""
DM = {"conversation": {"kind": "dm"}}


def looked_at(stage: Stage) -> int:
    """The pages that the hub's readers have looked at so far."""
    connections = stage.server.hub.store._reader_connections
    wanted = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
    return sum(connection.status(one)[0] for connection in connections for one in wanted)


async def doors(stage: Stage, stack: AsyncExitStack) -> dict[str, Callable[[str], Awaitable[Any]]]:
    """Every way to search, for eve, and the one of a person who is outside too."""
    base, group = f"/v1/groups/{stage.group_id}", stage.group_id
    eve = await stage.agent("eve")
    sam = await stage.person("sam")
    socket = await stack.enter_async_context(stage.socket(eve.token))
    mcp = await stack.enter_async_context(over_http(stage, eve.token))
    return {
        "http": lambda words: stage.ok("GET", f"{base}/search", params={"q": words}, token=eve.token),
        "http, a person": lambda words: stage.ok("GET", f"{base}/search", params={"q": words}, token=sam),
        "websocket": lambda words: socket.call("search", group_id=group, q=words),
        "c2a": lambda words: eve.session.tool_result("chat.search", {"query": words}),
        "mcp": lambda words: mcp.done("chat_search", query=words),
    }


@pytest.mark.spec("CCCS-107", "CCCS-110")
async def test_a_foreign_word_costs_by_every_door_what_an_unused_one_does(stage: Stage) -> None:
    ann = await stage.member("ann")
    await stage.member("bob")
    elsewhere = await stage.group("Elsewhere")
    for number in range(40):
        await stage.tell(f"zebra {number} crosses", ann, to=["bob"], **DM)
        await stage.say(elsewhere, f"zebra {number} crosses")
    await stage.tell("an open word")
    async with AsyncExitStack() as stack:
        for door, search in (await doors(stage, stack)).items():
            costs: dict[str, list[int]] = {}
            for words in ("zebra", "zebqa", "zeb", "zec") * 3:
                before = looked_at(stage)
                found = await search(words)
                costs.setdefault(words, []).append(looked_at(stage) - before)
                assert "crosses" not in json.dumps(found), door
            for foreign, unused in (("zebra", "zebqa"), ("zeb", "zec")):
                assert abs(min(costs[foreign]) - min(costs[unused])) <= FIRST_LOOK, (door, costs)
            assert "open word" in json.dumps(await search("ope")), door
