"""The chat tools as a model sees them, and what the harness adds to a call."""

from __future__ import annotations

import pytest

from tacit.base.moment import Moment
from tacit.c2a.messages import read_delivered
from tacit.c2a.negotiation import TOOLS
from tacit.c2a.tools import listed as hub_lists
from tacit.c2a.tools import read_send
from tacit.harness import chat_tools, mcp_door
from tacit.harness.effects import ModelTurn
from tacit.harness.session_view import SessionView
from tests.c2a_peer import delivery

LISTED = {tool["name"]: tool for tool in chat_tools.listed([hub_lists(tool) for tool in TOOLS])}


def turn(**more):
    return ModelTurn("e1.2", (read_delivered(delivery("e1", **more)),), series="e1.0", run=2)


def test_every_tool_of_the_hub_is_there_under_a_name_that_clients_take():
    assert set(LISTED) == {tool.name.replace(".", "_") for tool in TOOLS}
    assert all(name.replace("_", "").isalnum() for name in LISTED)


def test_a_model_need_only_say_what_it_wants_to_say():
    schema = LISTED["chat_send_message"]["inputSchema"]
    assert schema["required"] == ["content"]
    assert not chat_tools.OURS & schema["properties"].keys()
    assert LISTED["chat_react"]["inputSchema"]["required"] == ["signal"]
    assert LISTED["chat_read_thread"]["annotations"]["readOnlyHint"] is True


@pytest.mark.spec("C2A-064", "C2A-148")
def test_a_send_answers_the_turn_s_event_at_its_place_unless_it_says_otherwise():
    filled = chat_tools.filled(chat_tools.SEND, {"content": "hi"}, turn(), None)
    assert filled == {
        "content": "hi",
        "target": "thread:e1",
        "inReplyTo": "e1",
        "visibility": "thread",
        "directedness": "to_me",
        "turn": "e1.0",
        "attempt": 2,
        "startedBy": "e1",
    }


@pytest.mark.spec("C2A-148")
def test_an_answer_says_which_event_started_it_so_that_none_goes_out_without_its_question():
    said = chat_tools.reply(turn(), "hi", "k")
    assert (said["startedBy"], said["inReplyTo"]) == ("e1", "e1")
    lost = read_send({name: value for name, value in said.items() if name != "inReplyTo"}, "ada")
    refused = SessionView("ada").judge(lost, Moment(0))
    assert (refused.code, refused.row, refused.details) == (
        "invalid_request",
        "C2A-148",
        {"missing": ["inReplyTo"]},
    )
    assert SessionView("ada").judge(read_send(said, "ada"), Moment(0)) is None


@pytest.mark.spec("C2A-064")
def test_a_send_elsewhere_is_no_answer():
    filled = chat_tools.filled(chat_tools.SEND, {"content": "hi", "target": "dm:bob"}, turn(), None)
    assert not {"inReplyTo", "startedBy"} & filled.keys()
    assert filled["visibility"] == "dm"
    assert filled["directedness"] == "to_me"


@pytest.mark.spec("C2A-168")
def test_a_member_that_is_null_was_left_out():
    given = {"content": "Done.", "inReplyTo": None, "target": None, "mentions": None}
    assert chat_tools.filled(chat_tools.SEND, given, turn(), None) == chat_tools.filled(
        chat_tools.SEND, {"content": "Done."}, turn(), None
    )


@pytest.mark.parametrize("odd", [["e1"], {}, {"a": 1}, 7])
def test_a_member_of_a_wrong_kind_is_filled_in_around_and_then_refused_by_its_name(odd):
    given = {"content": "x", "inReplyTo": odd, "justification": odd, "target": odd}
    refused = read_send(chat_tools.filled(chat_tools.SEND, given, turn(), None), "ada")
    assert refused.details["wrong"] == ["target", "inReplyTo", "justification"]


def test_a_model_cannot_choose_its_own_key():
    given = {"content": "hi", "idempotencyKey": "mine", "turn": "x", "attempt": 9, "startedBy": "e9"}
    filled = chat_tools.filled(chat_tools.SEND, given, turn(), None)
    assert "idempotencyKey" not in filled
    assert (filled["turn"], filled["attempt"], filled["startedBy"]) == ("e1.0", 2, "e1")


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("chat.react", {"signal": "seen"}, {"signal": "seen", "inReplyTo": "e1"}),
        ("chat.react", {"signal": "seen", "inReplyTo": "e9"}, {"signal": "seen", "inReplyTo": "e9"}),
        ("chat.claim", {}, {"eventId": "e1"}),
        ("chat.claim", {"threadId": "t"}, {"threadId": "t"}),
        ("chat.defer", {"reason": "later"}, {"reason": "later", "eventId": "e1"}),
        ("chat.resolve", {"assignmentId": "a"}, {"assignmentId": "a"}),
    ],
)
def test_the_event_is_filled_in_where_none_is_named(name, given, expected):
    assert chat_tools.filled(name, given, turn(), None) == expected


@pytest.mark.parametrize(
    ("kind", "target", "visibility"),
    [
        ("dm", "conversation:dm:ada+user", "dm"),
        ("dm", "thread:e1", "dm"),
        ("channel", "conversation:main", "channel"),
        ("thread", "thread:e1", "thread"),
    ],
)
@pytest.mark.spec("C2A-150")
def test_an_answer_shows_as_widely_as_the_question(kind, target, visibility):
    asked = turn(conversation__kind=kind, replyTarget=target)
    assert chat_tools.reply(asked, "hi", "k")["visibility"] == visibility


@pytest.mark.spec("C2A-169", "C2A-201")
def test_results_are_texts_flagged_when_they_quote_chat_and_marked_when_they_failed():
    good = chat_tools.result_for_model({"ok": True, "untrusted": True, "events": []})
    assert good["content"][0]["text"].startswith(chat_tools.UNTRUSTED)
    assert good["isError"] is False
    assert chat_tools.result_for_model({"ok": False, "error": {"code": "x"}})["isError"] is True


def asked(method, **params):
    return mcp_door.heard({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, [])


def test_the_door_speaks_what_an_agent_needs_of_mcp():
    assert asked("initialize", protocolVersion="2025-06-18")["result"]["protocolVersion"] == "2025-06-18"
    assert (
        asked("initialize", protocolVersion="1999-01-01")["result"]["protocolVersion"] == mcp_door.VERSIONS[0]
    )
    assert asked("ping")["result"] == {}
    assert asked("tools/list")["result"] == {"tools": []}
    assert asked("resources/list")["error"]["code"] == -32601
    assert asked("tools/call", name="chat_react", arguments=[])["error"]["code"] == -32602
    call = asked("tools/call", name="chat_react", arguments={"signal": "seen"})
    assert mcp_door.called(call, {"content": []}) == {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    assert mcp_door.heard({"jsonrpc": "2.0", "method": "notifications/initialized"}, []) is None
    assert mcp_door.heard([1, 2], [])["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("body", "titles", "said"),
    [
        ("see here", ["plan.md"], "see here"),
        ("", ["plan.md", "map.png"], "plan.md, map.png"),
        ("", [None], "a file"),
        ("words alone", [], "words alone"),
    ],
)
def test_files_go_with_the_words_or_speak_by_their_titles(body, titles, said):
    files = [{"path": "blobs/x"} | ({"title": one} if one else {}) for one in titles]
    sent = chat_tools.reply(turn(), body, "k", files)
    assert (sent["content"], sent.get("attachments", [])) == (said, files)


def test_a_tool_takes_what_the_hub_lists_for_it_and_nothing_of_a_hub_that_lists_none():
    tool = {"name": "chat.send", "inputSchema": {"properties": {"turn": {}}}}
    assert [chat_tools.takes(tool, one) for one in ("turn", "attempt")] == [True, False]
    assert not any(chat_tools.takes(one, "turn") for one in ({}, {"inputSchema": None}, {"inputSchema": {}}))
