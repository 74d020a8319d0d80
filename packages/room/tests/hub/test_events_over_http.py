"""The HTTP door's events: envelope, authorship, who may write, pages, cursors, filters, capabilities."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tacit.base.errors import Unavailable
from tacit.hub.server import Server
from tacit.ledger.admission import AdmissionSettings
from tacit.ledger.codes import CODES
from tacit.ledger.io.groups import load_group
from tests.hub.room import Room, config, running

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = "00000000-0000-7000-8000-000000000000"


@pytest.mark.spec("CCCS-001", "CCCS-021")
async def test_a_service_an_actor_and_the_owner_share_one_ledger(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    bot = await room.service("svc:com.example.bot")
    async with room.socket(bob) as agent, room.socket(bot) as tool:
        await agent.call("follow", group_id=group, since_seq=2)
        await tool.call("follow", group_id=group, since_seq=2)
        await room.append(group, "x.foo.bar", {"n": 1}, bot)
        sent = [await room.say(group, "from the tool", bot), await room.say(group, "from the agent", bob)]
        for one in (agent, tool):
            assert (await one.event())["kind"] == "x.foo.bar"
            assert [await one.event() for _ in sent] == sent
    assert [event["by"] for event in sent] == ["svc:com.example.bot", "bob"]


@pytest.mark.spec("CCCS-002")
async def test_nothing_changes_or_removes_an_event(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    first = await room.say(group, "look", to=["bob"], priority="attention")
    path = f"/v1/groups/{group}/events"
    before = (await room.get(path, params={"limit": 3})).raw
    for method in ("PUT", "PATCH", "DELETE"):
        for place in (path, f"{path}/{first['id']}", f"/v1/groups/{group}"):
            answer = await room.call(method, place, json={"data": {"text": "changed"}})
            assert (answer.status, answer.code) == (405, "unknown_op")
    await room.append(group, "chat.ack", {"actor_id": "bob", "event_id": first["id"]}, bob)
    await room.append(group, "chat.reaction", {"actor_id": "bob", "event_id": first["id"], "emoji": "+"}, bob)
    await room.append(group, "group.update", {"title": "New"})
    await room.append(group, "actor.remove", {"actor_id": "bob"})
    after = (await room.get(path, params={"limit": 3})).raw
    assert json.loads(after)["events"] == json.loads(before)["events"]
    assert after.split(b'"next_cursor"')[0] == before.split(b'"next_cursor"')[0]


@pytest.mark.spec("CCCS-013", "CCCS-017", "CCCS-041", "CCCS-028")
async def test_members_of_the_envelope_cannot_be_sent_and_client_time_changes_no_order(room: Room) -> None:
    group = await room.group()
    await room.say(group, "one")
    data = {"text": "two", "by": "inner", "client_ts": "1999-01-01T00:00:00Z"}
    forged = {"v": 7, "id": NOBODY, "ts": "1999-01-01T00:00:00Z", "seq": 99, "group_id": "elsewhere"}
    answer = await room.append(group, "chat.message", data, **forged)
    event = answer.body
    assert answer.status == 201
    assert (event["v"], event["seq"], event["group_id"], event["by"]) == (1, 3, group, "user")
    assert event["id"] != NOBODY
    assert event["ts"] > "2026"
    assert event["data"] == data
    assert (await room.events(group))[-1] == event


@pytest.mark.spec("CCCS-022", "CCCS-085")
async def test_unknown_members_of_data_come_back_unchanged(room: Room) -> None:
    group = await room.group()
    data = {
        "text": "x",
        "color": {"deep": [1, 2.5, None, True, "é\u2028"]},
        "refs": [{"kind": "sky", "far": 1}],
    }
    sent = await room.say(group, **data)
    async with room.socket() as socket:
        raw = await socket.call("append", group_id=group, kind="chat.message", data=data)
    assert sent["data"] == raw["data"] == data
    assert [event["data"] for event in await room.events(group, since_seq=1)] == [data, data]


@pytest.mark.spec("CCCS-042")
async def test_a_by_that_differs_from_the_credential_is_refused(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    answer = await room.append(group, "chat.message", {"text": "x"}, bob, by="user")
    assert (answer.status, answer.code) == (403, "permission_denied")
    assert (await room.append(group, "chat.message", {"text": "x"}, bob, by="bob")).body["by"] == "bob"
    answer = await room.get(f"/v1/groups/{group}/inbox", params={"by": "user"}, token=bob)
    assert (answer.status, answer.code) == (403, "permission_denied")
    async with room.socket(bob) as socket:
        answer = await socket.answer_to(
            json.dumps(
                {"jsonrpc": "2.0", "id": "q", "method": "inbox", "params": {"group_id": group, "by": "user"}}
            )
        )
    assert answer["error"]["data"]["code"] == "permission_denied"
    assert await room.last_seq(group) == 3


@pytest.mark.spec("CCCS-042")
async def test_a_credential_of_another_group_is_refused_everywhere(room: Room) -> None:
    home, away = await room.group(), await room.group()
    bob = await room.actor(home, "bob")
    bot = await room.service("svc:com.example.bot", [home])
    event = await room.say(away, "secret")
    for token in (bob, bot):
        for place in ("", "/actors", "/events", "/inbox", "/window", "/search?q=secret", "/context"):
            answer = await room.get(f"/v1/groups/{away}{place}", token=token)
            assert (answer.status, answer.code) == (403, "permission_denied"), place
        assert (await room.get(f"/v1/groups/{away}/events/{event['id']}", token=token)).status == 403
        assert (await room.get(f"/v1/groups/{away}/blobs/{'0' * 64}", token=token)).status == 403
        assert (await room.append(away, "chat.message", {"text": "x"}, token)).status == 403
        groups = (await room.ok("GET", "/v1/groups", token=token))["groups"]
        assert [group["group_id"] for group in groups] == [home]
        answer = await room.get("/v1/groups/g_none", token=token)
        assert (answer.status, answer.code) == (403, "permission_denied")
    assert await room.last_seq(away) == 2


async def test_a_list_of_groups_reads_only_those_that_the_caller_takes_part_in(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = [await room.group() for _ in range(3)]
    bob = await room.actor(second, "bob")
    bot = await room.service("svc:com.example.bot", [third, first, "g_none"])
    loaded: list[str] = []

    def load(connection: Any, group_id: str) -> Any:
        loaded.append(group_id)
        return load_group(connection, group_id)

    monkeypatch.setattr("tacit.ledger.io.reader.load_group", load)
    for token, expected in (("", [first, second, third]), (bob, [second]), (bot, [first, third])):
        loaded.clear()
        groups = (await room.ok("GET", "/v1/groups", token=token))["groups"]
        assert [group["group_id"] for group in groups] == expected
        assert {*expected} == {*loaded} - {"g_none"}


@pytest.mark.spec("CCCS-007", "CCCS-103")
async def test_an_unknown_group_is_not_found(room: Room) -> None:
    assert (await room.get("/v1/groups/g_none/events")).code == "group_not_found"
    assert (await room.append("g_none", "chat.message", {"text": "x"})).code == "group_not_found"
    async with room.stream("g_none") as stream:
        assert stream.response.status == 404
        assert (await stream.response.json())["code"] == "group_not_found"


@pytest.mark.spec("CCCS-005", "CCCS-006")
async def test_a_service_is_registered_once_and_reserved_names_are_kept(room: Room) -> None:
    await room.service("svc:com.example.bot")
    again = await room.post("/v1/services", {"name": "svc:com.example.bot"})
    assert (again.status, again.code) == (403, "permission_denied")
    reserved = await room.post("/v1/services", {"name": "svc:cccc.voice"})
    assert (reserved.status, reserved.code) == (403, "permission_denied")
    assert (await room.post("/v1/services", {"name": "bot"})).code == "invalid_request"


@pytest.mark.spec("CCCS-006")
async def test_a_reserved_service_name_works_when_the_operator_lists_it(tmp_path: Path) -> None:
    async with running(tmp_path, allow_services=frozenset({"svc:cccc.voice"})) as room:
        group = await room.group()
        token = await room.service("svc:cccc.voice")
        assert (await room.say(group, "hello", token))["by"] == "svc:cccc.voice"
        assert (await room.post("/v1/services", {"name": "svc:cccc.other"})).status == 403


@pytest.mark.spec("CCCS-011", "CCCS-012")
async def test_an_actor_id_is_never_given_again_and_roles_are_two(room: Room) -> None:
    group = await room.group()
    await room.actor(group, "bob", role="foreman", title="Bob", roles=["review"])
    await room.actor(group, "ann", role="foreman")
    await room.actor(group, "plain")
    path = f"/v1/groups/{group}/actors"
    assert (await room.post(path, {"actor_id": "bob"})).code == "invalid_request"
    assert (await room.post(path, {"actor_id": "eve", "role": "king"})).code == "invalid_request"
    for name in ("user", "system", "@all", "svc:x", "usr:x", "", "a b", "-x", "x" * 65):
        assert (await room.post(path, {"actor_id": name})).status == 400, name
    shown = (await room.ok("GET", path))["actors"]
    assert [(one["actor_id"], one["role"]) for one in shown] == [
        ("bob", "foreman"),
        ("ann", "foreman"),
        ("plain", None),
    ]
    assert (await room.append(group, "actor.remove", {"actor_id": "bob"})).status == 201
    assert (await room.post(path, {"actor_id": "bob"})).code == "invalid_request"
    assert (await room.append(group, "actor.remove", {"actor_id": "nobody"})).code == "actor_not_found"
    assert (
        await room.append(group, "actor.update", {"actor_id": "ann", "role": "king"})
    ).code == "invalid_request"


WRITERS = {
    "chat.message": {"user", "bob", "fore", "svc:s.bot", "usr:eva"},
    "system.notify": {"user", "svc:s.bot"},
    "group.update": {"user"},
    "actor.add": {"user", "fore"},
    "context.sync": {"user", "bob", "fore", "svc:s.bot", "usr:eva"},
    "x.acme.note": {"user", "bob", "fore", "svc:s.bot", "usr:eva"},
    "x.c2a.claim": set(),
    "x.tacit.person.add": {"user"},
}
BODIES: dict[str, dict[str, Any]] = {
    "chat.message": {"text": "x"},
    "system.notify": {"kind": "info"},
    "group.update": {"title": "x"},
    "actor.add": {},
    "context.sync": {"ops": [{"op": "set", "key": "k", "value": 1}]},
    "x.acme.note": {},
    "x.c2a.claim": {},
    "x.tacit.person.add": {},
}


@pytest.mark.spec("CCCS-045")
@pytest.mark.parametrize("kind", list(WRITERS))
async def test_who_may_write_which_kind(room: Room, kind: str) -> None:
    group = await room.group()
    tokens = {
        "user": room.owner,
        "bob": await room.actor(group, "bob", role="peer"),
        "fore": await room.actor(group, "fore", role="foreman"),
        "svc:s.bot": await room.service("svc:s.bot"),
    }
    body = {"principal": "usr:eva"}
    tokens["usr:eva"] = (await room.ok("POST", f"/v1/groups/{group}/people", json=body))["token"]
    for number, (writer, token) in enumerate(tokens.items()):
        data = dict(BODIES[kind])
        data |= {"actor_id": f"new{number}"} if kind == "actor.add" else {}
        data |= {"principal": f"usr:n{number}"} if kind == "x.tacit.person.add" else {}
        answer = await room.append(group, kind, data, token)
        if writer in WRITERS[kind]:
            assert (answer.status, answer.body["by"]) == (201, writer)
        else:
            assert (answer.status, answer.code) == (403, "permission_denied"), writer


@pytest.mark.spec("CCCS-045")
async def test_what_only_the_owner_may_do_is_refused_to_others(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob", role="foreman")
    for path, body in (
        ("/v1/groups", {"title": "mine"}),
        (f"/v1/groups/{group}/people", {"principal": "usr:x"}),
        ("/v1/services", {"name": "svc:x"}),
        (f"/v1/groups/{group}/actors/bob/tokens", {}),
    ):
        answer = await room.post(path, body, token=bob)
        assert (answer.status, answer.code) == (403, "permission_denied"), path
    assert (await room.get(f"/v1/groups/{group}/actors/bob/tokens", token=bob)).status == 403
    assert (await room.call("DELETE", "/v1/tokens/tok_x", token=bob)).status == 403


@pytest.mark.spec("CCCS-056", "CCCS-057")
async def test_a_repeat_answers_200_with_the_first_event(room: Room) -> None:
    group = await room.group()
    said = {"text": "once", "client_id": "k"}
    first = await room.append(group, "chat.message", said)
    repeat = await room.append(group, "chat.message", said)
    other = await room.append(group, "chat.message", {**said, "text": "twice"})
    assert (first.status, repeat.status, other.status) == (201, 200, 409)
    assert repeat.body == {**first.body, "event_id": first.body["id"], "duplicate": True}
    assert (other.code, other.body["details"]["row"]) == ("idempotency_conflict", "CCCS-057")
    assert await room.last_seq(group) == 2


@pytest.mark.spec("CCCS-055", "CCCS-056")
async def test_concurrent_repeats_of_one_submission_append_once(room: Room) -> None:
    group = await room.group()
    said = {"text": "once", "client_id": "k"}
    answers = await asyncio.gather(*(room.append(group, "chat.message", said) for _ in range(20)))
    assert sorted(answer.status for answer in answers) == [200] * 19 + [201]
    assert len({answer.body["id"] for answer in answers}) == 1
    assert await room.last_seq(group) == 2


@pytest.mark.spec("CCCS-066", "CCCS-065")
async def test_marking_read_and_acknowledging_are_two_events(room: Room) -> None:
    group = await room.group()
    bob = await room.actor(group, "bob")
    asked = await room.say(group, "look", to=["bob"], priority="attention")
    mark = {"actor_id": "bob", "event_id": asked["id"]}
    await room.append(group, "chat.read", mark, bob)
    inbox = await room.ok("GET", f"/v1/groups/{group}/inbox", token=bob)
    assert (inbox["unread_count"], inbox["attention_count"], inbox["cursor"]) == (0, 1, asked["seq"])
    await room.append(group, "chat.ack", mark, bob)
    inbox = await room.ok("GET", f"/v1/groups/{group}/inbox", token=bob)
    assert (inbox["unread_count"], inbox["attention_count"], inbox["cursor"]) == (0, 0, asked["seq"])
    assert [one["kind"] for one in await room.events(group, since_seq=3)] == ["chat.read", "chat.ack"]


@pytest.mark.spec("CCCS-103", "CCCS-104", "CCCS-105", "CCCS-108", "CCCS-026")
async def test_pages_and_all_three_cursors(room: Room) -> None:
    group = await room.group()
    sent = [await room.say(group, f"m{n}") for n in range(10)]
    path = f"/v1/groups/{group}/events"
    page = await room.ok("GET", path, params={"since_seq": 1, "limit": 4})
    assert page == {"events": sent[:4], "next_cursor": 5, "last_seq": 11}
    page = await room.ok("GET", path, params={"since_seq": page["next_cursor"], "limit": 4})
    assert page == {"events": sent[4:8], "next_cursor": 9, "last_seq": 11}
    assert await room.events(group, since_event_id=sent[3]["id"]) == sent[4:]
    late = await room.events(group, since_ts=sent[3]["ts"])
    assert late == [event for event in sent if event["ts"] >= sent[3]["ts"]]
    assert await room.events(group, since_ts="1990-01-01T00:00:00+02:00") == await room.events(group)
    past = await room.ok("GET", path, params={"since_seq": 500})
    assert past["events"] == []
    assert await room.events(group, since_seq=11) == []


@pytest.mark.spec("CCCS-104", "CCCS-105", "CCCS-107", "CCCS-108")
@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("since_seq=1&since_event_id=x", "invalid_request"),
        ("since_seq=1&since_ts=2026-01-13T10:00:00Z", "invalid_request"),
        ("since_event_id=" + NOBODY, "event_not_found"),
        ("since_event_id=rubbish", "event_not_found"),
        ("since_ts=yesterday", "invalid_request"),
        ("since_ts=2026-01-13T10:00:00", "invalid_request"),
        ("since_seq=-1", "invalid_request"),
        ("since_seq=1.5", "invalid_request"),
        ("since_seq=x", "invalid_request"),
        ("since_seq=1&since_seq=2", "invalid_request"),
        ("since_seq=99999999999999999999999999", "invalid_request"),
        ("limit=0", "invalid_request"),
        ("limit=1001", "invalid_request"),
        ("limit=-5", "invalid_request"),
        ("kinds=", "invalid_request"),
        ("kinds=,", "invalid_request"),
    ],
)
async def test_a_wrong_selection_is_refused_on_the_page_and_on_the_stream(
    room: Room, query: str, code: str
) -> None:
    group = await room.group()
    path = f"/v1/groups/{group}/events?{query}"
    for headers in ({}, {"Accept": "text/event-stream"}):
        answer = await room.get(path, headers=headers)
        assert (answer.status, answer.code) == (CODES[code].http, code)


@pytest.mark.spec("CCCS-107", "CCCS-108")
async def test_kinds_filter_by_name_and_by_prefix_and_limit_counts_after_it(room: Room) -> None:
    group = await room.group()
    for n in range(4):
        await room.say(group, f"m{n}")
        await room.append(group, "x.acme.tick", {"n": n})
        await room.append(group, "x.acmeother.tick", {"n": n})
    ticks = await room.events(group, kinds="x.acme.*")
    assert [event["data"]["n"] for event in ticks] == [0, 1, 2, 3]
    two = await room.events(group, kinds="x.acme.tick,chat.message", limit=3)
    assert [event["kind"] for event in two] == ["chat.message", "x.acme.tick", "chat.message"]
    repeated = await room.ok("GET", f"/v1/groups/{group}/events?kinds=chat.message&kinds=x.acme.tick")
    assert len(repeated["events"]) == 8
    assert await room.events(group, kinds="chat.none") == []


@pytest.mark.spec("CCCS-109", "CCCS-116", "CCCS-044")
async def test_capabilities_say_what_the_hub_does(room: Room) -> None:
    shown = await room.ok("GET", "/v1/capabilities")
    assert shown["cccs"] == 1
    assert shown["profiles"] == ["core", "management", "context"]
    assert shown["cursors"] == ["since_seq", "since_event_id", "since_ts"]
    assert shown["filters"] == ["kinds", "limit"]
    assert shown["idempotency_window_s"] == 300
    assert shown["auth"] == "authenticated"
    assert set(shown["error_codes"]) == set(CODES)
    assert shown["limits"]["event_bytes"] == 256 * 1024
    assert set(shown["recipients"]) == {"@all", "@peers", "@foreman", "@user"}
    assert {"chat.message", "chat.ack", "chat.read", "system.notify", "system.notify_ack"} <= set(
        shown["kinds"]
    )
    assert shown["c2a_versions"] == ["2026-06-24", "2026-06-02"]


@pytest.mark.spec("CCCS-116", "CCCS-117", "CCCS-118", "CCCS-119")
async def test_a_profile_that_is_not_offered_is_left_out_and_refused(tmp_path: Path) -> None:
    settings = AdmissionSettings(profiles=frozenset({"core", "management"}))
    async with running(tmp_path, settings=settings) as room:
        group = await room.group()
        shown = await room.ok("GET", "/v1/capabilities")
        assert shown["profiles"] == ["core", "management"]
        assert "context.sync" not in shown["kinds"]
        answer = await room.append(group, "context.sync", {"ops": [{"op": "set", "key": "k", "value": 1}]})
        assert (answer.status, answer.code) == (400, "invalid_request")
        answer = await room.get(f"/v1/groups/{group}/context")
        assert (answer.status, answer.code) == (404, "unknown_op")


@pytest.mark.spec("CCCS-117", "CCCS-008")
async def test_groups_and_actors_are_folded_from_their_events(room: Room) -> None:
    group = await room.group("First", scopes=["file:///a"])
    await room.append(group, "group.update", {"title": "Second"})
    attached = (await room.append(group, "group.attach_scope", {"url": "file:///b"})).body
    await room.append(group, "actor.add", {"actor_id": "bob", "role": "peer"})
    await room.append(group, "actor.update", {"actor_id": "bob", "title": "Bob", "role": None})
    shown = await room.ok("GET", f"/v1/groups/{group}")
    assert shown["title"] == "Second"
    assert [scope["url"] for scope in shown["scopes"]] == ["file:///a", "file:///b"]
    assert shown["scopes"][1]["scope_key"] == attached["data"]["scope_key"]
    assert [(one["actor_id"], one["role"], one["title"]) for one in shown["actors"]] == [("bob", None, "Bob")]
    first = (await room.events(group))[0]
    assert first["kind"] == "group.create"
    assert (await room.append(group, "group.create", {"title": "again"})).code == "invalid_request"
    told = await room.append(group, "chat.message", {"text": "x"}, scope_key=attached["data"]["scope_key"])
    assert told.body["scope_key"] == attached["data"]["scope_key"]


@pytest.mark.spec("CCCS-118", "CCCS-094")
async def test_the_shared_context_and_tasks(room: Room) -> None:
    group = await room.group()
    ops = [
        {"op": "set", "key": "goal", "value": {"a": 1}},
        {"op": "set", "store": "tasks", "key": "T1", "value": {"title": "t"}},
        {"op": "set", "key": "gone", "value": 1},
        {"op": "delete", "key": "gone"},
    ]
    assert (await room.append(group, "context.sync", {"ops": ops})).status == 201
    shown = await room.ok("GET", f"/v1/groups/{group}/context")
    assert shown == {"context": {"goal": {"a": 1}}, "tasks": {"T1": {"title": "t"}}}
    known = await room.append(
        group, "chat.message", {"text": "x", "refs": [{"kind": "task_ref", "task_id": "T1"}]}
    )
    assert known.status == 201
    other = await room.append(
        group, "chat.message", {"text": "x", "refs": [{"kind": "task_ref", "task_id": "T2"}]}
    )
    assert other.code == "invalid_request"


@pytest.mark.spec("CCCS-114")
async def test_fifty_concurrent_submitters_give_fifty_whole_events(room: Room) -> None:
    group = await room.group()
    texts = [f"{n:02}" * 500 for n in range(50)]
    answers = await asyncio.gather(*(room.append(group, "chat.message", {"text": text}) for text in texts))
    assert [answer.status for answer in answers] == [201] * 50
    stored = await room.events(group, since_seq=1)
    assert [event["seq"] for event in stored] == list(range(2, 52))
    assert sorted(event["data"]["text"] for event in stored) == texts
    by_seq = {answer.body["seq"]: answer.body for answer in answers}
    assert [by_seq[event["seq"]] for event in stored] == stored


@pytest.mark.spec("CCCS-114")
async def test_a_second_hub_on_the_same_folder_is_refused(room: Room) -> None:
    with pytest.raises(Unavailable, match="in use by"):
        Server(config(room.server.config.data))


@pytest.mark.spec("CCCS-120")
async def test_the_first_example_vector_an_attention_message_and_its_ack(room: Room) -> None:
    group = await room.group("g_123", scopes=["file:///project"])
    scope = (await room.ok("GET", f"/v1/groups/{group}"))["scopes"][0]["scope_key"]
    foreman = await room.actor(group, "foreman", role="foreman")
    data = {
        "text": "Please review the release checklist today.",
        "format": "plain",
        "priority": "attention",
        "to": ["@foreman"],
    }
    message = (await room.append(group, "chat.message", data, scope_key=scope)).body
    assert (message["v"], message["by"], message["scope_key"], message["data"]) == (1, "user", scope, data)
    inbox = f"/v1/groups/{group}/inbox"
    assert [one["id"] for one in (await room.ok("GET", inbox, token=foreman))["attention"]] == [message["id"]]
    ack = {"actor_id": "foreman", "event_id": message["id"]}
    refused = await room.append(group, "chat.ack", ack)
    assert (refused.status, refused.code) == (403, "permission_denied")
    done = (await room.append(group, "chat.ack", ack, foreman)).body
    assert (done["kind"], done["by"], done["scope_key"], done["data"]) == ("chat.ack", "foreman", "", ack)
    assert (await room.ok("GET", inbox, token=foreman))["attention"] == []


@pytest.mark.spec("CCCS-121", "CCCS-095")
async def test_the_second_example_vector_a_relayed_message(room: Room) -> None:
    source, target = await room.group("g_src"), await room.group("g_dst")
    away = await room.actor(source, "foreman", role="foreman")
    tokens = [await room.actor(target, name) for name in ("a", "b")]
    relay = await room.service("svc:relay")
    asked = await room.say(source, "Please review.", to=["@foreman"], priority="attention")
    data = {
        "text": "Relayed: Please review.",
        "priority": "attention",
        "to": ["@all"],
        "src_group_id": source,
        "src_event_id": asked["id"],
    }
    event = (await room.append(target, "chat.message", data, relay)).body
    assert (event["by"], event["group_id"], event["data"]) == ("svc:relay", target, data)
    for token in tokens:
        assert (await room.ok("GET", f"/v1/groups/{target}/inbox", token=token))["attention_count"] == 1
    assert (await room.ok("GET", f"/v1/groups/{source}/inbox", token=away))["attention_count"] == 1
    for name, token in zip(("a", "b"), tokens, strict=True):
        await room.append(target, "chat.ack", {"actor_id": name, "event_id": event["id"]}, token)
    assert (await room.ok("GET", f"/v1/groups/{source}/inbox", token=away))["attention_count"] == 1


@pytest.mark.spec("CCCS-111", "CCCS-112")
async def test_framework_errors_are_error_objects_too(room: Room) -> None:
    plain = await room.get("/v1/ws")
    assert (plain.status, plain.code) == (400, "invalid_request")
    broken = await room.call("POST", "/v1/groups", data=b"{broken", headers={"Content-Encoding": "gzip"})
    assert (broken.status, broken.code) == (400, "invalid_request")


@pytest.mark.spec("CCCS-111")
async def test_no_error_text_repeats_what_was_sent(room: Room) -> None:
    group = await room.group()
    mark = "MARKER7f3a"
    path = f"/v1/groups/{group}"
    answers = [
        await room.post(f"{path}/actors", {"actor_id": "bob", "role": mark}),
        await room.post(f"{path}/actors", {"actor_id": f"@{mark}"}),
        await room.append(group, "chat.message", {"text": "x", "format": mark}),
        await room.append(group, "chat.message", {"text": "x", "to": [mark]}),
        await room.append(group, mark, {}),
        await room.get(f"{path}/events", params={"since_ts": mark}),
        await room.get(f"{path}/events", params={"limit": mark}),
        await room.get(f"/v1/{mark}"),
        await room.call("POST", "/v1/groups", data=b'{"' + mark.encode() + b'": nope}'),
    ]
    for answer in answers:
        assert answer.status in {400, 404}
        assert mark.encode() not in answer.raw


async def test_the_front_page_is_served_under_a_strict_policy(room: Room) -> None:
    answer = await room.get("/", token=None)
    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert (await room.get("/healthz", token=None)).body == {"status": "ok"}


async def test_the_raw_bytes_of_a_stored_event_are_what_the_sender_was_answered(room: Room) -> None:
    group = await room.group()
    async with room.session.post(
        f"{room.url}/v1/groups/{group}/events",
        json={"kind": "chat.message", "data": {"text": "é"}},
        headers={"Authorization": f"Bearer {room.owner}"},
    ) as response:
        sent = await response.read()
    assert isinstance(response, aiohttp.ClientResponse)
    page = await room.get(f"/v1/groups/{group}/events", params={"since_seq": 1})
    assert sent in page.raw
