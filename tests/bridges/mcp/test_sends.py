"""What the door fills in, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tacit.base.moment import Moment
from tacit.bridges.mcp.resources import INBOX, arranged, look_for
from tacit.bridges.mcp.results import NOTICE, shown
from tacit.bridges.mcp.sends import HOUR, filled
from tacit.bridges.mcp.tools import HIDDEN, OFFERED, SEND, tool_named
from tacit.c2a.errors import Refusal
from tacit.c2a.negotiation import TOOLS
from tacit.c2a.tools import INPUTS

NOON = Moment(1_800_000_000_000_000)
TEXT = some.text(min_size=1, max_size=40)


def whole(now: Moment = NOON, **given: Any) -> dict[str, Any]:
    found = filled(given, now)
    assert isinstance(found, dict)
    return found


@pytest.mark.spec("C2A-147", "C2A-149", "C2A-150", "C2A-151")
@pytest.mark.parametrize(
    ("said", "target", "visibility", "directedness"),
    [
        ({"inReplyTo": "e1"}, "thread:e1", "thread", "to_me"),
        ({"target": "channel:main"}, "channel:main", "channel", "ambient"),
        ({"target": "conversation:design"}, "conversation:design", "channel", "ambient"),
        ({"target": "channel:main", "mentions": ["role:qa"]}, "channel:main", "channel", "to_me"),
        ({"target": "dm:user"}, "dm:user", "dm", "to_me"),
        ({"target": "conversation:dm:ada+user"}, "conversation:dm:ada+user", "dm", "to_me"),
        ({"target": "thread:e1"}, "thread:e1", "thread", "to_my_role"),
        ({"target": "channel:main", "inReplyTo": "e1"}, "channel:main", "channel", "to_me"),
    ],
)
def test_a_send_is_completed_from_what_it_answers_or_where_it_goes(
    said: dict[str, Any], target: str, visibility: str, directedness: str
) -> None:
    found = whole(content="hello", **said)
    assert (found["target"], found["visibility"], found["directedness"]) == (target, visibility, directedness)
    jsonschema.validate(found, INPUTS[SEND])


def test_what_the_caller_says_itself_stays() -> None:
    said = {
        "content": "hello", "target": "channel:main", "visibility": "ephemeral", "directedness": "to_other",
        "idempotencyKey": "mine",
    }  # fmt: skip
    assert filled(said, NOON) == said


@pytest.mark.spec("C2A-147")
def test_a_send_to_nowhere_is_refused_with_the_way_out() -> None:
    refused = filled({"content": "hello", "target": None}, NOON)
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.row) == ("invalid_request", "C2A-147")
    assert "inReplyTo" in refused.remedy


@pytest.mark.spec("C2A-149", "C2A-159")
@given(TEXT, TEXT, some.integers(0, 10**9))
def test_an_answer_keeps_its_key_for_good_and_any_difference_makes_another(
    text: str, event: str, later: int
) -> None:
    key = whole(content=text, inReplyTo=event)["idempotencyKey"]
    assert key == whole(Moment(NOON + later * HOUR), content=text, inReplyTo=event)["idempotencyKey"]
    assert len(key) <= 128
    others = [
        whole(content=text + "!", inReplyTo=event),
        whole(content=text, inReplyTo=event + "0"),
        whole(content=text, inReplyTo=event, mentions=["bob"]),
        whole(content=text, target=f"thread:{event}"),
    ]
    assert key not in {other["idempotencyKey"] for other in others}


def test_a_fresh_post_may_say_the_same_again_when_the_hour_has_passed() -> None:
    first, soon, tomorrow = (
        whole(Moment(NOON + later), content="Nothing to report.", target="channel:main")["idempotencyKey"]
        for later in (0, 1_000_000, 24 * HOUR)
    )
    assert first == soon
    assert first != tomorrow


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
    assert quoting.text.startswith(NOTICE + "\n{")
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
