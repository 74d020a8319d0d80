"""What the door of MCP says of itself: the same to every client, and it never changes while one is connected."""

from __future__ import annotations

import pytest

from tacit.base.tool_results import Fault
from tacit.bridges.mcp import resources, surface
from tacit.c2a.errors import INVALID_PARAMS


@pytest.mark.spec("C2A-139", "C2A-170", "C2A-201")
@pytest.mark.parametrize("channel", [False, True])
def test_a_greeting_offers_what_is_there_and_promises_no_changes(channel: bool) -> None:
    greeted = surface.greeting("2025-06-18", channel=channel)
    assert greeted["protocolVersion"] == "2025-06-18"
    assert greeted["capabilities"] == {
        "prompts": {"listChanged": False},
        "resources": {"listChanged": False, "subscribe": False},
        "tools": {"listChanged": False},
    } | ({"experimental": {"claude/channel": {}}} if channel else {})
    assert (greeted["serverInfo"]["name"], greeted["instructions"]) == ("tacit", surface.instructions())


@pytest.mark.spec("C2A-139", "C2A-170")
def test_what_is_listed_has_a_name_a_title_for_people_and_an_address() -> None:
    (inbox,) = surface.listed_resources()["resources"]
    (thread,) = surface.templates()["resourceTemplates"]
    (manners,) = surface.prompts()["prompts"]
    assert [(one["name"], one["title"]) for one in (inbox, thread, manners)] == [
        ("inbox", "Inbox"),
        ("thread", "Thread"),
        ("manners", "Manners"),
    ]
    assert (inbox["uri"], thread["uriTemplate"]) == (resources.INBOX, resources.THREAD_TEMPLATE)
    assert all(one["description"] for one in (inbox, thread, manners))
    assert inbox["mimeType"] == thread["mimeType"] == resources.MIME
    assert surface.prompt("nothing") == Fault(INVALID_PARAMS, surface.NO_SUCH_PROMPT)
    assert surface.prompt("manners")["messages"][0]["role"] == "user"
