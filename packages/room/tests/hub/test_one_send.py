"""The same arguments are the same send at every door: the hub's own, MCP's, and a harness's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tacit.base.moment import Moment
from tacit.bridges.mcp.calls import call_tool
from tacit.c2a.errors import Refusal
from tacit.c2a.messages import read_delivered
from tacit.c2a.tools import SEND, Send, read_send
from tacit.harness import chat_tools
from tacit.harness.effects import ModelTurn
from tacit.harness.session_view import SessionView
from tests.c2a_peer import delivery

NOW = Moment(1_800_000_000_000_000)
WHOLE = {"content": "hi", "idempotencyKey": "k", "visibility": "channel", "directedness": "to_me"}


class Caller:
    """Takes what the MCP door would ask of the hub."""

    def __init__(self) -> None:
        self.arguments: dict[str, Any] = {}

    async def call(self, _name: str, arguments: Any) -> dict[str, Any]:
        self.arguments = dict(arguments)
        return {}


async def by_mcp(given: dict[str, Any]) -> Send | Refusal:
    caller = Caller()
    result = await call_tool(caller, "chat_send_message", given, NOW)
    if result.is_error:
        error = result.structure["error"]
        return Refusal(error["code"], error["message"], error["details"]["row"])
    return read_send(caller.arguments, "ada")


def by_harness(given: dict[str, Any], event_id: str = "e1") -> Send | Refusal:
    """As a model calls it in a turn about an event, which wants its answer in its thread."""
    turn = ModelTurn("e1.1", (read_delivered(delivery(event_id)),), series="e1.0", run=1)
    return read_send(chat_tools.filled(SEND, given, turn, None), "ada")


def said(send: Send | Refusal) -> Send:
    """Without what each door adds of its own: the key, and the harness's turn."""
    assert isinstance(send, Send), send
    return replace(send, idempotency_key="", turn="", attempt=1, started_by=None)


PLACES = [
    ("thread:e9", "thread", "thread"),
    ("channel:main", "channel", "channel"),
    ("conversation:design", "channel", "channel"),
    ("dm:bob", "dm", "dm"),
    ("dm:ada+bob", "dm", "dm"),
    ("conversation:dm:ada+bob", "dm", "dm"),
    ("channel:dm:ada+bob", "dm", "dm"),
]
NAMED = [
    (["@all"], (), True),
    (["all"], (), True),
    (["role:ops"], ("ops",), False),
    (["agent:kit", "@bob"], ("kit", "bob"), False),
    (["role:ops", "@everyone"], ("ops",), True),
]


@pytest.mark.spec("C2A-147", "C2A-150", "C2A-151")
@pytest.mark.parametrize(("target", "kind", "visibility"), PLACES)
async def test_a_target_means_the_same_at_every_door(target: str, kind: str, visibility: str) -> None:
    whole = read_send({**WHOLE, "target": target, "visibility": visibility}, "ada")
    assert said(whole).destination.kind == kind
    given = {**WHOLE, "target": target, "visibility": visibility}
    assert said(await by_mcp(given)) == said(by_harness(given)) == said(whole)
    short = {"content": "hi", "target": target}
    assert said(await by_mcp(short)) == said(by_harness(short))
    assert said(by_harness(short)).visibility == visibility


@pytest.mark.spec("C2A-112", "C2A-114")
@pytest.mark.parametrize(("written", "names", "wide"), NAMED)
async def test_mentions_mean_the_same_at_every_door(
    written: list[str], names: tuple[str, ...], wide: bool
) -> None:
    given = {**WHOLE, "target": "channel:main", "mentions": written}
    whole = said(read_send(given, "ada"))
    assert (whole.mentions, whole.channel_wide) == (names, wide)
    assert said(await by_mcp(given)) == said(by_harness(given)) == whole
    refused = SessionView("ada").judge(read_send(given, "ada"), NOW)
    assert (refused.code if refused else None) == ("policy_forbids" if wide else None)


@pytest.mark.spec("C2A-064", "C2A-148")
async def test_an_answer_is_the_same_whether_it_is_named_or_follows_from_the_turn() -> None:
    assert said(await by_mcp({"content": "hi", "inReplyTo": "e1"})) == said(by_harness({"content": "hi"}))
    assert said(by_harness({"content": "hi"})) == said(by_harness({"content": "hi", "inReplyTo": "e1"}))


@pytest.mark.spec("C2A-142")
@pytest.mark.parametrize(
    "odd", [{"target": "channel:main", "content": " "}, {"target": "channel:main", "x": 1}]
)
async def test_what_is_no_send_is_one_at_no_door(odd: dict[str, Any]) -> None:
    found = [read_send({**WHOLE, **odd}, "ada"), await by_mcp({**WHOLE, **odd}), by_harness({**WHOLE, **odd})]
    assert [type(one) for one in found] == [Refusal] * 3
    assert {one.code for one in found} == {"invalid_request"}
