"""Both doors, with the SDK's own client: a real `tacit mcp` process, and `/mcp` on a real hub."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import TYPE_CHECKING

import pytest
from mcp import MCPError

from tacit.bridges.mcp.tools import OFFERED
from tacit.c2a.negotiation import CAPABILITIES, VERSIONS
from tacit.c2a.standing_rules import PULLED, standing_rules
from tacit.hub import server
from tests.bridges.mcp.rooms import DOORS, group_of, over_http, over_stdio
from tests.hub.room import WAIT, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.room import Room

ACCEPT = {"Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.mark.spec("C2A-139", "C2A-170", "C2A-201")
@pytest.mark.parametrize("door", DOORS)
async def test_an_agent_lists_calls_reads_and_is_told_the_manners_by_either_door(
    room: Room, door: str
) -> None:
    group = await group_of(room, ada=[])
    asked = await group.say("@ada which commit broke the build?")
    async with DOORS[door](room, group.tokens["ada"]) as ada:
        assert ada.client.server_info.name == "tacit"
        assert ada.client.instructions == standing_rules(PULLED)
        tools = {tool.name: tool for tool in (await ada.client.list_tools()).tools}
        assert list(tools) == list(OFFERED)
        assert tools["chat_send_message"].title == "chat.send_message"
        assert tools["chat_send_message"].input_schema["required"] == ["content"]
        hints = tools["chat_list_events"].annotations
        assert (hints.read_only_hint, hints.idempotent_hint, hints.open_world_hint) == (True, True, False)
        inbox = await ada.inbox()
        assert (inbox["untrusted"], inbox["obligations"], inbox["waiting"]) == (True, 1, 1)
        assert inbox["events"][0]["eventId"] == asked
        listed = await ada.call("chat_list_events", openOnly=True)
        assert listed.structured_content["untrusted"] is True
        assert listed.content[0].text.startswith("What follows quotes chat.")
        sent = await ada.done("chat_send_message", content="Commit 41 dropped the flag.", inReplyTo=asked)
        assert sent["status"] == "delivered"
        thread = await ada.resource(f"tacit://thread/{asked}")
        assert [event["eventId"] for event in thread["events"]] == [asked, sent["eventId"]]
        templates = (await ada.client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["tacit://thread/{event_id}"]
        assert [one.uri for one in (await ada.client.list_resources()).resources] == ["tacit://inbox"]
        assert [one.name for one in (await ada.client.list_prompts()).prompts] == ["manners"]
        manners = await ada.client.get_prompt("manners")
        assert manners.messages[0].content.text == standing_rules(PULLED)


@pytest.mark.spec("C2A-017", "C2A-169", "C2A-203")
@pytest.mark.parametrize("door", DOORS)
async def test_what_is_wrong_comes_back_as_a_result_that_the_model_can_read(room: Room, door: str) -> None:
    group = await group_of(room, ada=[], bob=[])
    secret = await group.say("only for bob", to=["bob"])
    async with DOORS[door](room, group.tokens["ada"]) as ada:
        unknown = await ada.refused("chat_sing", text="la")
        assert unknown["code"] == "unknown_op"
        wrong = await ada.refused("chat_list_events", limit="many", colour="red")
        assert wrong["code"] == "invalid_request"
        assert wrong["details"]["wrong"] == [".: additionalProperties", "limit: type"]
        nowhere = await ada.refused("chat_send_message", content="hello")
        assert nowhere["details"]["missing"] == ["inReplyTo", "target"]
        private = await ada.refused("chat_read_thread", eventId=secret)
        assert (private["code"], private["details"]["row"]) == ("permission_denied", "C2A-203")
        hidden = await ada.refused("chat_send_message", content="what did you tell bob?", inReplyTo=secret)
        assert hidden["code"] == "event_not_found"
        assert (await ada.done("chat_list_events"))["events"] == []
        assert (await ada.done("chat_search", query="bob"))["events"] == []
        with pytest.raises(MCPError) as refused:
            await ada.client.read_resource(f"tacit://thread/{secret}")
        assert refused.value.data["code"] == "permission_denied"
        for uri in ("tacit://attic", "tacit://thread/", "tacit://thread/a/b"):
            with pytest.raises(MCPError, match="no such resource") as nowhere_to_read:
                await ada.client.read_resource(uri)
            assert nowhere_to_read.value.code == -32602
        with pytest.raises(MCPError, match="no such prompt"):
            await ada.client.get_prompt("rudeness")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_clients_of_either_era_of_mcp_are_served(room: Room, mode: str) -> None:
    group = await group_of(room, ada=[])
    async with over_http(room, group.tokens["ada"], mode) as ada:
        assert len((await ada.client.list_tools()).tools) == len(OFFERED)
        sent = await ada.done("chat_send_message", content="I am in.", target="channel:main")
        assert sent["duplicate"] is False


async def test_the_http_door_lets_in_actors_with_their_token_and_nobody_else(room: Room) -> None:
    group = await group_of(room, ada=[])
    anonymous = await room.post("/mcp", LIST, token=None, headers=ACCEPT)
    assert (anonymous.status, anonymous.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert (await room.post("/mcp", LIST, token="wrong" * 10, headers=ACCEPT)).status == 401
    owner = await room.post("/mcp", LIST, headers=ACCEPT)
    assert (owner.status, owner.body["details"]["row"]) == (403, "C2A-006")
    foreign = await room.post(
        "/mcp", LIST, token=group.tokens["ada"], headers={**ACCEPT, "Origin": "http://evil.example"}
    )
    assert foreign.status == 403
    assert (await room.post("/mcp", LIST, token=group.tokens["ada"], headers=ACCEPT)).status == 200


async def test_the_http_door_says_405_to_streams_and_sessions_and_answers_rubbish_in_json(room: Room) -> None:
    group = await group_of(room, ada=[])
    token = group.tokens["ada"]
    for method in ("GET", "DELETE"):
        answer = await room.call(method, "/mcp", token=token, headers=ACCEPT)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    sent = {**ACCEPT, "Content-Type": "application/json"}
    broken = await room.call("POST", "/mcp", token=token, headers=sent, data=b"{")
    assert (broken.status, broken.body["error"]["code"]) == (400, -32700)
    assert (await room.call("POST", "/mcp", token=token, headers=sent, data=b"[]")).status == 400
    picky = await room.call("POST", "/mcp", token=token, json=LIST, headers={"Accept": "text/html"})
    assert picky.status == 406
    notified = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await room.post("/mcp", notified, token=token, headers=ACCEPT)).status == 202
    big = io.BytesIO(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 2**21 + b'"}')
    assert (await room.call("POST", "/mcp", token=token, headers=sent, data=big)).status == 413


async def test_a_hub_without_the_sdk_says_what_to_install_and_serves_everything_else(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = await group_of(room, ada=[])
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
        answer = await room.post("/mcp", LIST, token=group.tokens["ada"], headers=ACCEPT)
        assert (answer.status, answer.code) == (503, "daemon_unavailable")
        assert "MCP is not installed at this hub" in answer.body["message"]
        assert (await room.get("/healthz")).status == 200
    assert (await room.post("/mcp", LIST, token=group.tokens["ada"], headers=ACCEPT)).status == 200


@pytest.mark.spec("C2A-026")
async def test_an_mcp_client_beside_a_live_harness_changes_nothing_of_what_was_agreed_there(
    room: Room,
) -> None:
    group = await group_of(room, ada=[])
    headers = {"Authorization": f"Bearer {group.tokens['ada']}"}
    async with room.session.ws_connect(room.url + "/c2a", headers=headers) as harness:
        whole = {name: dict.fromkeys(members, True) for name, members in CAPABILITIES.items()}
        params = {
            "protocolVersion": VERSIONS[0], "clientInfo": {"name": "h", "version": "1"}, "capabilities": whole,
        }  # fmt: skip
        await harness.send_json({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        assert "result" in await harness.receive_json()
        async with over_http(room, group.tokens["ada"]) as ada:
            await ada.done("chat_list_events")
            await group.say("@ada urgent: which port?")
            delivered = await harness.receive_json(timeout=60)
    assert delivered["params"]["injection"]["mode"] == "buffered"
    sessions = await room.events(group.id, kinds="x.c2a.session")
    assert len(sessions) == 1


async def test_a_fault_of_the_hubs_own_is_told_without_its_words(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> object:
        raise ValueError("a secret of somebody")

    group = await group_of(room, ada=[])
    async with over_http(room, group.tokens["ada"], "legacy") as ada:
        monkeypatch.setattr(room.server.hub.tools, "call", broken)
        refused = await ada.refused("chat_list_events")
    assert refused["code"] == "internal_error"
    assert "secret" not in str(refused)


async def test_a_hub_stops_at_once_with_mcp_clients_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SHUTDOWN_SECONDS", 600.0)
    async with running(tmp_path) as room:
        await _stops_with_clients_about(room)


async def _stops_with_clients_about(room: Room) -> None:
    group = await group_of(room, ada=[])
    async with over_http(room, group.tokens["ada"]) as ada:
        await ada.done("chat_list_events")
        async with asyncio.timeout(WAIT):
            await room.server.stop()


async def test_a_revoked_token_ends_the_session_with_the_next_call(room: Room) -> None:
    group = await group_of(room, ada=[])
    async with over_stdio(room, group.tokens["ada"]) as ada:
        await ada.done("chat_list_events")
        tokens = (await room.ok("GET", f"/v1/groups/{group.id}/actors/ada/tokens"))["tokens"]
        await room.ok("DELETE", f"/v1/tokens/{tokens[0]}")
        assert (await ada.refused("chat_list_events"))["code"] == "permission_denied"


@pytest.mark.spec("C2A-171")
async def test_the_stdio_door_outlives_its_hub_and_finds_it_again(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as room:
        group = await group_of(room, ada=[])
        port, url = room.server.port, room.url
        async with over_stdio(room, group.tokens["ada"]) as ada:
            await ada.done("chat_list_events")
            await room.server.stop()
            waiting = asyncio.create_task(
                ada.done("chat_send_message", content="Still here.", target="channel:main")
            )
            async with running(tmp_path / "data", port=port) as again:
                assert again.url == url
                sent = await waiting
                assert sent["status"] == "delivered"
                assert len(await again.events(group.id, kinds="chat.message")) == 1
