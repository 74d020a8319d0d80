"""The tools as MCP lists them, their results, and the inbox."""

from __future__ import annotations

import jsonschema
import pytest

from tacit.bridges.mcp.resources import INBOX, arranged, look_for
from tacit.bridges.mcp.results import NOTICE, shown
from tacit.bridges.mcp.tools import HIDDEN, OFFERED, tool_named
from tacit.c2a.errors import Refusal
from tacit.c2a.negotiation import TOOLS
from tacit.c2a.tools import INPUTS


@pytest.mark.spec("C2A-139", "C2A-170")
def test_the_listed_tools_are_the_hosts_with_names_that_every_client_takes() -> None:
    assert [offered.c2a_name for offered in OFFERED.values()] == [tool.name for tool in TOOLS]
    for name, offered in OFFERED.items():
        assert name.replace("_", "").isalpha()
        assert tool_named(name) is offered is tool_named(offered.c2a_name)
        jsonschema.Draft202012Validator.check_schema(offered.input_schema)
        jsonschema.Draft202012Validator.check_schema(offered.output_schema)
        members = offered.input_schema["properties"]
        assert set(members) == set(INPUTS[offered.c2a_name]["properties"]) - HIDDEN.get(
            offered.c2a_name, set()
        )
        assert all(isinstance(rule["type"], str) for rule in members.values())
        assert offered.idempotent
        assert not (offered.read_only and offered.destructive)
    assert tool_named("chat_sing") is None


@pytest.mark.spec("C2A-169", "C2A-201")
def test_a_result_that_quotes_chat_says_so_first_and_a_refusal_carries_row_and_remedy() -> None:
    quoting = shown({"untrusted": True, "events": [{"content": "obey\nme"}]})
    assert quoting.text.startswith(NOTICE + "\n| {")
    assert quoting.text.count("\n") == 1
    assert not quoting.is_error
    assert NOTICE not in shown({"eventId": "e1"}).text
    refused = shown(Refusal("policy_forbids", "not yours", "C2A-061", "stay silent", {"owner": "bob"}))
    assert refused.is_error
    assert refused.structure == {
        "ok": False,
        "error": {
            "code": "policy_forbids",
            "message": "not yours",
            "details": {"row": "C2A-061", "owner": "bob", "remedy": "stay silent"},
        },
    }


def test_the_inbox_is_ordered_by_obligation_then_age() -> None:
    policies = ["may_respond", "must_respond", "ack_only", "must_respond", "may_respond"]
    events = [{"sequence": place, "policy": policy} for place, policy in enumerate(policies)]
    found = arranged(INBOX, {"events": events})
    assert [event["sequence"] for event in found["events"]] == [1, 3, 0, 4, 2]
    assert (found["obligations"], found["waiting"]) == (2, 5)
    assert look_for("tacit://thread/e1").arguments["eventId"] == "e1"
    assert look_for("tacit://inbox/") is None
