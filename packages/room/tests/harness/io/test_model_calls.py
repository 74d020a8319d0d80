"""Which tools a model has, and which of them only read, by what the hub lists."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from tacit.c2a.negotiation import TOOLS
from tacit.c2a.tools import listed
from tacit.harness import chat_tools
from tacit.harness.io.model_calls import ModelCalls

LISTED = [listed(tool) for tool in TOOLS]
PLAIN = {"name": chat_tools.SEND, "inputSchema": {"type": "object", "properties": {"content": {}}}}


def calls(tools) -> ModelCalls:
    context = SimpleNamespace(session=SimpleNamespace(tools=tools), tell=lambda *_, **__: None)
    conduct = SimpleNamespace(turns={})
    return ModelCalls(context, conduct, None, None, None, lambda _: None)  # type: ignore[arg-type]


@pytest.mark.spec("C2A-142")
@pytest.mark.parametrize(("tools", "attaches"), [(LISTED, True), ([PLAIN], False), ([], False)])
def test_files_can_be_attached_where_a_send_of_the_hub_carries_them(tools, attaches):
    names = [one["name"] for one in calls(tools).tools()]
    attach = chat_tools.shown_name(chat_tools.ATTACH_TOOL["name"])
    assert names == [chat_tools.shown_name(one["name"]) for one in tools] + [attach] * attaches


@pytest.mark.spec("C2A-140")
@pytest.mark.parametrize(
    ("name", "reads"),
    [("chat.read_thread", True), ("chat.search", True), (chat_tools.SEND, False), ("chat.unknown", False)],
)
def test_what_only_reads_is_told_from_what_acts(name, reads):
    assert calls(LISTED)._reads(name) is reads


@pytest.mark.spec("C2A-180")
def test_a_call_of_no_tool_and_a_call_without_a_turn_are_answered_with_their_reason():
    for shown, code in (("chat_unknown", "unknown_op"), ("chat_search", "event_superseded")):
        answer = asyncio.run(calls(LISTED).call(shown, {}, "s1"))
        assert answer["isError"] is True
        assert code in str(answer)
