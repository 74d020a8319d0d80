"""A limit counts what its reader may see: private talk hides nothing open, in every operation with a limit.

The operations come from the table of operations and the tools from theirs, so that a new list without its row
here fails.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.c2a.tools import INPUTS
from tacit.hub.doors.routes import OPERATIONS
from tests.hub.c2a.test_clowl import spoken

if TYPE_CHECKING:
    from tests.hub.c2a.stage import Agent, Stage

DM = {"conversation": {"kind": "dm"}}
SOME = 30

# Operation: its parameters and where the answer's rows are. None: a list that is the owner's alone.
LISTS: dict[str, tuple[dict[str, Any], str] | None] = {
    "events": ({"kinds": "chat.message", "since_seq": "{before}"}, "events"),
    "thread": ({"event_id": "{root}"}, "events"),
    "trace": ({"tid": "t1"}, "events"),
    "window": ({}, "events"),
    "inbox": ({}, "unread"),
    "search": ({"q": "quokka"}, "events"),
    "timeline": ({"root": "{root}"}, "rows"),
    "traces": ({}, "traces"),
    "work": ({}, "work"),
    "crew_log": None,
}
TOOLS: dict[str, dict[str, Any]] = {
    "chat.list_events": {},
    "chat.read_thread": {"threadId": "{root}"},
    "chat.read_channel": {},
    "chat.search": {"query": "quokka"},
}


@pytest.fixture
async def busy(stage: Stage) -> tuple[Stage, Agent, dict[str, Any]]:
    """An open question, thread and trace, then much private talk about the same; eve is outside of it."""
    eve = await stage.agent("eve")
    ann = await stage.person("ann")
    bob = await stage.agent("bob")
    await stage.messages()
    before = await stage.last_seq(stage.group_id)
    said = spoken("m0", "INF", "usr:ann", "*")
    root = await stage.tell("@bob which quokka is open?")
    await stage.append(stage.group_id, "chat.message", {"clowl": said, "reply_to": root["id"]}, ann)
    reply = await stage.tell("this quokka is", ann, reply_to=root["id"])
    await bob.delivery(root)
    for number in range(SOME):
        secret = await stage.tell(f"@bob quokka {number}?", ann, to=["bob"], reply_to=root["id"], **DM)
        message = spoken(f"p{number}", "INF", "usr:ann", "bob")
        data = {"clowl": message, "reply_to": secret["id"], **DM}
        answer = await stage.append(stage.group_id, "chat.message", data, ann)
        assert answer.status == 201, answer.body
    gone = await stage.tell("a quokka that was taken back", ann)
    assert (await stage.delete(gone, ann)).status == 200
    async with asyncio.timeout(60):
        while not (await stage.ok("GET", f"/v1/groups/{stage.group_id}/work"))["work"]:
            await asyncio.sleep(0)
    return stage, eve, {"root": root["id"], "before": str(before), "reply": reply["id"]}


def filled(given: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value.format(**facts) if isinstance(value, str) else value for name, value in given.items()}


@pytest.mark.spec("CCCS-110", "C2A-203")
async def test_private_talk_takes_no_place_in_any_list_of_somebody_outside(busy) -> None:
    stage, eve, facts = busy
    with_limit = {one.name: one for one in OPERATIONS if "limit" in one.params.__struct_fields__}
    assert with_limit.keys() == LISTS.keys()
    async with stage.socket(eve.token) as socket:
        for name, expected in LISTS.items():
            if expected is None:
                continue
            params, member = filled(expected[0], facts), expected[1]
            path = with_limit[name].path.format(group_id=stage.group_id, **params)
            query = {key: value for key, value in params.items() if f"{{{key}}}" not in with_limit[name].path}
            over_http = await stage.ok("GET", path, params={**query, "limit": 1}, token=eve.token)
            typed = {key: int(value) if key == "since_seq" else value for key, value in params.items()}
            typed |= {"kinds": [typed["kinds"]]} if "kinds" in typed else {}
            over_ws = await socket.call(name, group_id=stage.group_id, limit=1, **typed)
            for answer in (over_http, over_ws):
                assert answer[member], name
                assert f"quokka {SOME - 1}" not in str(answer), name


@pytest.mark.spec("CCCS-110", "C2A-203")
async def test_private_talk_takes_no_place_in_any_tool_of_an_agent_outside(busy) -> None:
    _stage, eve, facts = busy
    assert {name for name, schema in INPUTS.items() if "limit" in schema["properties"]} == TOOLS.keys()
    for name, arguments in TOOLS.items():
        answer = await eve.call(name, limit=1, **filled(arguments, facts))
        assert answer["events"], name
        assert f"quokka {SOME - 1}" not in str(answer), name
