"""One conformance suite over every transport and both drafts (C2A-007, C2A-008, C2A-009, C2A-010, C2A-011, C2A-012, C2A-013, C2A-014, C2A-015, C2A-027, C2A-028, C2A-029)."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import tacit.attention
from tests.hub.c2a.transports import TRANSPORTS, OverWebhook, OverWebSocket

VERSIONS = ("2026-06-24", "2026-06-02")


@pytest.fixture(params=[(name, version) for name in TRANSPORTS for version in VERSIONS], ids=" ".join)
async def harness(request, stage):
    """ann's harness on one transport, speaking one draft, initialized."""
    name, version = request.param
    await stage.member("ann")
    made = TRANSPORTS[name](stage, "ann", version)
    await made.open()
    answer = await made.initialize()
    assert answer["result"]["protocolVersion"] == version
    yield made
    if isinstance(made, OverWebhook):
        await stage.call("DELETE", f"/v1/groups/{stage.group_id}/actors/ann/webhook")
    await made.close()


@pytest.mark.spec("C2A-007")
def test_attention_imports_no_transport() -> None:
    folder = Path(tacit.attention.__file__).parent
    found = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module or "")
    assert found & {"tacit.attention.decide", "msgspec"}
    roots = {name.split(".")[0] for name in found}
    assert roots.isdisjoint({"aiohttp", "asyncio", "socket", "http", "urllib", "websockets", "subprocess"})
    assert not any(name.startswith(("tacit.hub", "tacit.client", "tacit.cli")) for name in found)


@pytest.mark.spec("C2A-012", "C2A-013", "C2A-017")
async def test_every_request_has_one_answer_and_faults_have_the_same_numbers(harness):
    for text, number, code in (
        ("{", -32700, "invalid_request"),
        ('{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32700, "invalid_request"),
        ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, "invalid_request"),
        ('{"id": 1, "method": "ping"}', -32600, "invalid_request"),
        ("[]", -32600, "invalid_request"),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, "invalid_request"),
        ('{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600, "invalid_request"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602, "invalid_request"),
        ('{"jsonrpc": "2.0", "id": 1, "method": "chat/unknown"}', -32601, "unknown_op"),
    ):
        answer = await harness.exchange(text)
        assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (number, code), text
        assert answer["jsonrpc"] == "2.0"
    unknown = await harness.tool("chat.dance")
    assert unknown["error"]["code"] == -32601
    assert (await harness.request("tools/call", name=3, arguments={}))["error"]["code"] == -32602
    assert (await harness.request("ping"))["result"] == {}


@pytest.mark.spec("C2A-016", "CCCS-111")
async def test_the_door_of_the_operations_says_the_same_numbers(stage):
    group = "no-such-group"
    async with stage.socket() as socket:
        for text, number, code in (
            ("{", -32700, "invalid_request"),
            ('{"jsonrpc": "1.0", "id": 1, "method": "groups"}', -32600, "invalid_request"),
            ("[]", -32600, "invalid_request"),
            ('{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600, "invalid_request"),
            ('{"jsonrpc": "2.0", "id": {}, "method": "groups"}', -32600, "invalid_request"),
            ('{"jsonrpc": "2.0", "id": 1, "method": "groups", "params": []}', -32602, "invalid_request"),
        ):
            error = (await socket.answer_to(text))["error"]
            assert (error["code"], error["data"]["code"]) == (number, code), text
        for method, number, code in (
            ("chat/unknown", -32601, "unknown_op"),
            ("group", -32005, "group_not_found"),
        ):
            answer = await (await socket.send(method, group_id=group))
            assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (number, code)
        assert await socket.call("whoami")


@pytest.mark.spec("C2A-014")
async def test_notifications_are_never_answered(harness):
    for message in (
        {"method": "notifications/unknown", "params": {}},
        {"method": "notifications/progress", "params": {"progressToken": 1}},
        {"method": "notifications/progress", "params": [1]},
        {"method": "notifications/log", "params": {"level": "shout"}},
        {"method": 7},
        {"result": {"accepted": True}, "id": "never sent"},
        {"error": {"code": 1}, "id": "never sent"},
    ):
        assert await harness.tell(json.dumps({"jsonrpc": "2.0", **message})) is None


@pytest.mark.spec("C2A-007", "C2A-011", "C2A-015", "C2A-029", "C2A-160")
async def test_an_accepted_delivery_is_written_down_and_changes_no_disposition(stage, harness):
    event = await stage.tell("@ann is the build green?")
    message = await harness.delivery(event)
    assert isinstance(message["id"], str)
    params = message["params"]
    text = params["content"] if harness.version == VERSIONS[0] else params["content"][0]["text"]
    assert text == "@ann is the build green?"
    assert params["policy"] == params["attention"]["policy"] == "must_respond"
    async with stage.stream(stage.group_id) as stream:
        while True:
            found = await stream.event()
            if found["kind"] == "x.c2a.accepted":
                assert found["data"]["event_ids"] == [event["id"]]
                break
    assert await stage.recorded("disposition") == []
    shown = (await stage.decisions(event)).body["decisions"][0]
    assert (shown["state"], shown["disposition"]) == ("delivered", None)
    sent = {
        "target": f"thread:{event['id']}", "content": "Green since ten.", "inReplyTo": event["id"],
        "idempotencyKey": "k1", "visibility": "thread", "directedness": "ambient",
    }  # fmt: skip
    first = (await harness.tool("chat.send_message", **sent))["result"]
    assert (first["ok"], first["status"], first["duplicate"]) == (True, "delivered", False)
    again = (await harness.tool("chat.send_message", **sent))["result"]
    assert (again["eventId"], again["duplicate"]) == (first["eventId"], True)
    assert [
        one["data"]["disposition"] for one in await stage.events(stage.group_id, kinds="x.c2a.disposition")
    ] == ["responded"]


@pytest.mark.spec("C2A-009", "C2A-011", "C2A-161")
async def test_an_unanswered_delivery_comes_again_under_the_same_name(stage, harness):
    harness.accepting = False
    event = await stage.tell("@ann are you there?")
    first = await harness.delivery(event)
    second = await harness.delivery(event, attempt=2)
    harness.accepting = True
    third = await harness.delivery(event, attempt=3)
    assert first["id"] == second["id"] == third["id"]
    keys = {one["params"]["reliability"]["idempotencyKey"] for one in (first, second, third)}
    assert keys == {f"{event['id']}:ann"}
    attempts = [one["params"]["reliability"]["attempt"] for one in harness.seen]
    assert attempts == [1, 2, 3]
    # The lines before it come with the first alone: by the next time some may have been taken back.
    assert ["threadWindow" in one["params"] for one in (first, second, third)] == [True, False, False]
    stripped = [{**one["params"], "reliability": 0, "threadWindow": 0} for one in (first, second, third)]
    assert stripped[0] == stripped[1] == stripped[2]


@pytest.mark.spec("C2A-008")
async def test_events_of_a_conversation_arrive_in_their_order(stage, harness):
    events = [await stage.tell(f"@ann question {number}?") for number in range(8)]
    await harness.delivery(events[-1])
    assert [one["params"]["eventId"] for one in harness.seen] == [one["id"] for one in events]
    places = [one["params"]["timing"]["sequence"] for one in harness.seen]
    assert places == sorted(places)


@pytest.mark.spec("C2A-011", "C2A-027", "C2A-028")
async def test_what_was_not_accepted_before_the_end_comes_after_it_in_order(stage, harness):
    taken = await stage.tell("@ann first?")
    await harness.delivery(taken)
    async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
        await stream.event()
    await harness.close()
    missed = [await stage.tell(f"@ann missed {number}?") for number in range(3)]
    harness.seen.clear()
    await harness.open()
    if not isinstance(harness, OverWebhook):
        assert await stage.recorded("disposition") == []
        await harness.initialize()
    await harness.delivery(missed[-1])
    assert [one["params"]["eventId"] for one in harness.seen] == [one["id"] for one in missed]


@pytest.mark.spec("C2A-179")
async def test_a_called_back_delivery_is_named_by_its_request(stage, harness):
    event = await stage.tell("@ann deploy to production")
    message = await harness.delivery(event)
    edited = (await stage.edit(event, "@ann deploy to staging")).body["id"]
    await harness.delivery({"id": edited})
    await harness.until(lambda: harness.notes)
    note = harness.notes[0]
    assert "id" not in note
    assert note["method"] == "notifications/cancelled"
    assert note["params"]["requestId"] == message["id"]
    assert note["params"]["eventId"] == event["id"]
    assert note["params"]["reason"]
    late = await harness.tool(
        "chat.send_message", target=f"thread:{event['id']}", content="Done.", inReplyTo=event["id"],
        idempotencyKey="late", visibility="thread", directedness="ambient",
    )  # fmt: skip
    assert late["error"]["code"] == -32014
    assert late["error"]["data"]["details"]["replacedBy"] == edited


@pytest.mark.spec("C2A-007", "C2A-011")
async def test_a_webhook_goes_on_when_the_sessions_own_connection_ended(stage):
    await stage.member("ann")
    hook = OverWebhook(stage, "ann", VERSIONS[0])
    await hook.open()
    await hook.initialize()
    socket = OverWebSocket(stage, "ann", VERSIONS[0])
    await socket.open()
    await socket.initialize()
    meanwhile = await stage.tell("@ann which port?")
    await socket.delivery(meanwhile)
    async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
        await stream.event()
    assert hook.seen == []
    await socket.close()
    later = await stage.tell("@ann and which host?")
    await hook.delivery(later)
    assert [one["params"]["eventId"] for one in hook.seen] == [later["id"]]
    await stage.call("DELETE", f"/v1/groups/{stage.group_id}/actors/ann/webhook")
    await hook.close()
