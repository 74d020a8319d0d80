"""What both sides agree on."""

from __future__ import annotations

from typing import Any

import pytest

from tacit.c2a.errors import Refusal
from tacit.c2a.negotiation import TOOLS, Agreement, agree, tool_allowed
from tacit.c2a.vocabulary import NEWER, OLDER, Mode
from tests.attention.world import event, lead_gets, three

HELLO: dict[str, Any] = {
    "protocolVersion": OLDER,
    "clientInfo": {"name": "x", "version": "1"},
    "capabilities": {
        "delivery": {"ack": True}, "injection": {"buffered": True, "notify": True, "interrupt": False},
        "chatTools": {"readThread": True, "react": True}, "utilities": {"progress": True}, "strange": {"x": True},
    },
}  # fmt: skip


def agreed(**change: Any) -> Agreement:
    found = agree({**HELLO, **change})
    assert isinstance(found, Agreement)
    return found


@pytest.mark.spec("C2A-019", "C2A-021", "C2A-024", "C2A-025")
def test_both_sides_agree_on_a_version_and_on_what_both_can() -> None:
    assert agreed().version == OLDER
    assert agreed(protocolVersion=NEWER).version == NEWER
    assert agreed(protocolVersion="2027-01-01").version == NEWER
    none = agree({**HELLO, "protocolVersion": "2020-01-01"})
    assert isinstance(none, Refusal)
    assert (none.number, none.details["supported"]) == (-32002, [NEWER, OLDER])
    both = agreed()
    assert both.has("delivery", "ack")
    assert not both.has("delivery", "redelivery")
    assert "strange" not in both.capabilities
    assert both.modes == {Mode.BUFFERED, Mode.NOTIFY, Mode.SILENT}
    limited = agree(HELLO, {"delivery": {"ack": False}})
    assert isinstance(limited, Agreement)
    assert not limited.has("delivery", "ack")
    lacking = agree({"protocolVersion": OLDER})
    assert isinstance(lacking, Refusal)
    assert lacking.details["missing"] == ["capabilities", "clientInfo.name", "clientInfo.version"]


@pytest.mark.spec("C2A-022", "C2A-170")
def test_only_agreed_tools_are_listed() -> None:
    both = agreed()
    listed = [
        "chat.list_events", "chat.read_thread", "chat.react", "chat.search", "chat.read_channel",
        "chat.members",
    ]  # fmt: skip
    assert [tool.name for tool in both.tools()] == listed
    refused, unknown = tool_allowed(both, "chat.claim"), tool_allowed(both, "chat.dance")
    assert refused is not None
    assert unknown is not None
    assert (refused.number, unknown.number) == (-32003, -32601)
    assert tool_allowed(both, "chat.react") is None
    assert [tool.name for tool in TOOLS[7:]] == [
        "chat.search", "chat.leave", "chat.progress", "chat.read_channel", "chat.members",
    ]  # fmt: skip
    assert all(tool.idempotent for tool in TOOLS if tool.read_only)
    assert three(lead_gets(event("lunch")))[0] == "ambient"
