"""The chat tools over the socket: what they list, read, send and claim, and that every call is written down."""

from __future__ import annotations

import asyncio

import jsonschema
import pytest

from tacit.attention.io.read_tools import Pull
from tacit.attention.io.state_store import Archive
from tacit.base.errors import Refused
from tacit.c2a.notifications import Status, Usage
from tests.hub.c2a.stage import refused
from tests.hub.room import WAIT, Failed

SEND = {"visibility": "thread", "directedness": "ambient"}


@pytest.mark.spec("C2A-139", "C2A-017", "C2A-170")
async def test_the_tools_are_listed_with_schemas_that_hold(stage):
    ann = await stage.agent("ann")
    await ann.call("chat.list_events")
    tools = {tool["name"]: tool for tool in ann.session.tools}
    seven = ["list_events", "read_thread", "send_message", "react", "claim", "defer", "resolve"]
    assert [*tools][:7] == [f"chat.{name}" for name in seven]
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert set(tool["annotations"]) == {"readOnly", "idempotent"}
        assert tool["description"]
    event = await stage.tell("@ann which one?")
    await ann.delivery(event)
    good = {
        "chat.list_events": {"policy": "must_respond", "limit": 10},
        "chat.read_thread": {"threadId": event["id"], "limit": 200},
        "chat.search": {"query": "which"},
        "chat.claim": {"eventId": event["id"], "ttlMs": 30_000},
        "chat.progress": {"eventId": event["id"], "progress": 0.5},
        "chat.defer": {"eventId": event["id"], "reason": "later"},
        "chat.react": {"inReplyTo": event["id"], "signal": "seen"},
        "chat.send_message": {
            "target": f"thread:{event['id']}", "content": "This one.", "inReplyTo": event["id"],
            "idempotencyKey": "k", "visibility": "thread", "directedness": "ambient",
        },
        "chat.resolve": {"eventId": event["id"], "summary": "done"},
        "chat.leave": {"conversationId": "main"},
        "chat.read_channel": {"conversationId": "main", "limit": 10, "during": event["id"]},
        "chat.members": {"during": event["id"]},
    }  # fmt: skip
    assert set(good) == set(tools)
    for name, arguments in good.items():
        jsonschema.validate(arguments, tools[name]["inputSchema"])
        assert (await ann.call(name, **arguments))["ok"] is True


@pytest.mark.spec("C2A-140")
async def test_list_events_filters_pages_and_refuses_what_it_does_not_understand(stage):
    ann, _ben = await stage.cast("ann", "ben")
    sync = {"op": "set", "store": "context", "key": "channel:dev", "value": {"title": "Development"}}
    await stage.append(stage.group_id, "context.sync", {"ops": [sync]})
    said = []
    for number in range(6):
        stage.clock.move(60)
        aimed = "@ann question" if number % 2 else "plain remark"
        place = {"conversation": {"id": "dev", "kind": "channel"}} if number > 3 else {}
        said.append(await stage.tell(f"{aimed} number {number}", **place))
    await ann.delivery(said[5])

    async def listed(**filters):
        found = await ann.call("chat.list_events", **filters)
        assert found["untrusted"] is True
        return [
            said.index(next(one for one in said if one["id"] == event["eventId"]))
            for event in found["events"]
        ]

    assert await listed() == [0, 1, 2, 3, 4, 5]
    assert await listed(limit=2) == [4, 5]
    assert await listed(policy="must_respond") == [1, 3, 5]
    assert await listed(policy="must_not_respond") == [0, 2, 4]
    assert await listed(conversationId="dev") == [4, 5]
    assert await listed(openOnly=True) == [1, 3, 5]
    assert await listed(openOnly=True, limit=2) == [3, 5]
    assert await listed(openOnly=True, cursor=str(said[1]["seq"])) == [3, 5]
    assert await listed(openOnly=True, since=said[3]["ts"], limit=1) == [3]
    assert await listed(openOnly=True, since=said[2]["ts"], until=said[4]["ts"]) == [3]
    assert await listed(openOnly=True, conversationId="dev") == [5]
    assert await listed(openOnly=True, policy="must_not_respond") == []
    assert await listed(since=said[2]["ts"]) == [2, 3, 4, 5]
    assert await listed(since=said[1]["ts"], until=said[3]["ts"]) == [1, 2, 3]
    first = await ann.call("chat.list_events", cursor="0", limit=4)
    rest = await ann.call("chat.list_events", cursor=first["cursor"])
    assert [one["eventId"] for one in (*first["events"], *rest["events"])] == [one["id"] for one in said]
    assert await listed(cursor=said[3]["seq"], policy=None) == [4, 5]
    assert await listed(cursor=str(2**40 - 1)) == []
    for wrong in ({"limit": 0}, {"limit": 201}, {"limit": "5"}, {"cursor": "x"}, {"policy": "perhaps"},
                  {"cursor": "9" * 30}, {"cursor": "9" * 5000}, {"cursor": 2**40}, {"cursor": -1},
                  {"cursor": True}, {"cursor": ""}, {"policy": ""}, {"policy": "None"},
                  {"since": "yesterday"}, {"colour": "red"}):  # fmt: skip
        with refused("invalid_request"):
            await ann.call("chat.list_events", **wrong)


async def test_what_is_open_is_found_without_a_look_at_everything_else(stage, monkeypatch):
    ann, _ben = await stage.cast("ann", "ben")
    asked = await stage.tell("@ann question")
    await ann.delivery(asked)
    newer = (await stage.edit(asked, "@ann better question")).body["id"]
    await ann.delivery(newer)
    stage.clock.move(61)  # said in one go with the question, the remarks would be more of it
    for number in range(30):
        await stage.tell(f"plain remark {number}")
    read, made = [], []
    form_for, shown = Archive.form_for, Pull.shown
    monkeypatch.setattr(Archive, "form_for", lambda *given: read.append(given) or form_for(*given))
    monkeypatch.setattr(Pull, "shown", lambda *given: made.append(given) or shown(*given))
    found = (await ann.call("chat.list_events", openOnly=True))["events"]
    assert [(one["eventId"], one["supersedes"]) for one in found] == [(newer, asked["id"])]
    assert (len(read), len(made)) == (1, 1)
    assert (await ann.call("chat.list_events", conversationId="elsewhere"))["events"] == []
    assert (await ann.call("chat.list_events", until="2001-01-01T00:00:00Z"))["events"] == []
    assert len(made) == 1


async def test_a_session_takes_one_look_at_a_time_and_leaves_the_readers_to_others(stage, monkeypatch):
    ann = await stage.agent("ann")
    ledger, running, most = stage.server.hub.ledger, 0, 0
    plain = ledger.read

    async def read(query):
        nonlocal running, most
        if not query.__qualname__.startswith("Tools."):
            return await plain(query)
        running += 1
        most = max(most, running)
        try:
            return await plain(query)
        finally:
            running -= 1

    monkeypatch.setattr(ledger, "read", read)
    answers = await asyncio.gather(*(ann.call("chat.list_events") for _ in range(5)))
    assert all(one["ok"] for one in answers)
    assert most == 1


@pytest.mark.spec("C2A-141", "C2A-095")
async def test_read_thread_shows_a_window_with_the_silent_lines(stage):
    ann = await stage.agent("ann")
    root = await stage.tell("@ann what is the plan?")
    await ann.delivery(root)
    answer = await ann.answer(root, "The plan is simple.", visibility="thread")
    thanks = await stage.tell("thanks!", reply_to=answer)
    more = [await stage.tell(f"remark number {number}", reply_to=root["id"]) for number in range(12)]
    ids = [root["id"], answer, thanks["id"], *(one["id"] for one in more)]

    async def read(**arguments):
        found = await ann.call("chat.read_thread", **arguments)
        assert found["untrusted"] is True
        return [one["eventId"] for one in found["events"]]

    assert thanks["id"] not in await stage.delivered(thanks)
    assert thanks["id"] not in [one["eventId"] for one in (await ann.call("chat.list_events"))["events"]]
    assert await read(threadId=root["id"]) == ids
    assert await read(eventId=more[3]["id"]) == ids
    assert (await read(threadId=root["id"], limit=3))[-3:] == ids[-3:]
    assert await read(threadId=root["id"], before=more[0]["id"], limit=2) == ids[1:3]
    assert await read(threadId=root["id"], after=more[0]["id"], limit=2) == ids[4:6]
    assert await read(threadId=root["id"], after=ids[4], before=ids[9]) == ids[5:9]
    assert await read(conversationId="main") == ids
    assert await read(conversationId="main", limit=2) == ids[-2:]
    assert await read(conversationId="main", before=ids[5], limit=2) == ids[3:5]
    assert await read(conversationId="main", after=ids[5], limit=2) == ids[6:8]
    for arguments, code in (
        ({}, "invalid_request"),
        ({"threadId": root["id"], "eventId": root["id"]}, "invalid_request"),
        ({"threadId": root["id"], "limit": 500}, "invalid_request"),
        ({"threadId": "nothing"}, "event_not_found"),
        ({"conversationId": "nowhere"}, "event_not_found"),
        ({"threadId": root["id"], "before": "nothing"}, "event_not_found"),
    ):
        with refused(code):
            await ann.call("chat.read_thread", **arguments)


@pytest.mark.spec("C2A-216")
async def test_reading_a_body_acknowledges_nothing_and_ends_nothing(stage):
    ann = await stage.agent("ann")
    event = await stage.tell("@ann read this", priority="attention")
    await ann.delivery(event)
    await ann.call("chat.read_thread", threadId=event["id"])
    await ann.call("chat.list_events")
    await ann.call("chat.search", query="read")
    assert await stage.events(stage.group_id, kinds="chat.ack") == []
    assert await stage.recorded("disposition") == []
    inbox = (await stage.get(f"/v1/groups/{stage.group_id}/inbox", token=ann.token)).body
    assert [one["id"] for one in inbox["attention"]] == [event["id"]]
    await ann.answer(event, "I have read it: the disk is full.", visibility="thread")
    acks = await stage.events(stage.group_id, kinds="chat.ack")
    assert [(one["by"], one["data"]["event_id"]) for one in acks] == [("ann", event["id"])]


@pytest.mark.spec("C2A-055")
async def test_a_receipt_has_its_own_policy_in_the_older_draft_alone(stage):
    newer = await stage.agent("ann")
    older = await stage.agent("ben", habits={"protocol": "2026-06-02"})
    event = await stage.tell("fire drill at noon", priority="attention", to=["@all"])
    for agent, policy in ((newer, "must_not_respond"), (older, "ack_only")):
        assert (await agent.delivery(event))["policy"] == policy
        listed = (await agent.call("chat.list_events"))["events"]
        assert [one["policy"] for one in listed] == [policy]


@pytest.mark.spec("C2A-142", "C2A-165", "C2A-213", "C2A-010")
async def test_a_send_is_one_message_however_often_and_however_late_it_is_repeated(stage):
    ann = await stage.agent("ann")
    event = await stage.tell("@ann which port?")
    await ann.delivery(event)
    first = await ann.session.send(
        f"thread:{event['id']}", "Port 7434.", key="k1", in_reply_to=event["id"], **SEND
    )
    assert (first.status, first.duplicate, first.warnings) == ("delivered", False, ())
    for hours in (0, 1, 24 * 400):
        await stage.pass_time(hours * 3600)
        again = await ann.session.send(
            f"thread:{event['id']}", "Port 7434.", key="k1", in_reply_to=event["id"], **SEND
        )
        assert (again.event_id, again.status, again.duplicate) == (first.event_id, "delivered", True)
    with refused("idempotency_conflict"):
        await ann.session.send(
            f"thread:{event['id']}", "Port 7433.", key="k1", in_reply_to=event["id"], **SEND
        )
    with refused("idempotency_conflict"):
        await ann.session.send("dm:user", "Port 7434.", key="k1", visibility="dm", directedness="to_me")
    stored = [one for one in await stage.messages() if one["by"] == "ann"]
    assert [(one["id"], one["data"]["client_id"]) for one in stored] == [(first.event_id, "k1")]


@pytest.mark.spec("C2A-142", "C2A-169", "C2A-206")
@pytest.mark.parametrize(
    ("changes", "code", "number"),
    [
        ({"target": None}, "invalid_request", -32602),
        ({"content": "  "}, "invalid_request", -32602),
        ({"content": ["nothing"]}, "invalid_request", -32602),
        ({"idempotencyKey": None}, "invalid_request", -32602),
        ({"visibility": "loud"}, "invalid_request", -32602),
        ({"visibility": "dm"}, "invalid_request", -32602),
        ({"directedness": "to_all"}, "invalid_request", -32602),
        ({"target": "thread:nothing"}, "event_not_found", -32005),
        ({"target": "dm:nobody"}, "event_not_found", -32005),
        ({"target": "channel:nowhere", "visibility": "channel"}, "event_not_found", -32005),
        ({"target": "somewhere"}, "event_not_found", -32005),
        ({"inReplyTo": "nothing"}, "event_not_found", -32005),
        ({"inReplyTo": 7}, "invalid_request", -32602),
        ({"mentions": "ben"}, "invalid_request", -32602),
        ({"mentions": ["agent:ben"]}, "invalid_request", -32602),
        ({"mentions": ["all"], "directedness": "to_my_role"}, "policy_forbids", -32010),
        ({"policy": "must_respond"}, "invalid_request", -32602),
        ({"content": "on it"}, "use_reaction", -32021),
        ({"attachments": [{"path": "nothing"}]}, "invalid_request", -32602),
        ({"attachments": ["x"]}, "invalid_request", -32602),
    ],
)
async def test_a_send_that_cannot_be_is_a_result_the_model_can_read(stage, changes, code, number):
    ann = await stage.agent("ann")
    event = await stage.tell("@ann which port?")
    await ann.delivery(event)
    arguments = {
        "target": f"thread:{event['id']}", "content": "Port 7434.", "inReplyTo": event["id"],
        "idempotencyKey": "k", **SEND, **changes,
    }  # fmt: skip
    result = await ann.session.tool_result(
        "chat.send_message", {name: value for name, value in arguments.items() if value is not None}
    )
    assert (result["ok"], result["error"]["code"]) == (False, code), result
    assert result["error"]["details"]["row"].startswith(("C2A-", "CCCS-"))
    assert len(await stage.messages()) == 1
    async with stage.wire("ann") as wire:
        with pytest.raises(Failed) as no:
            await wire.tool(
                "chat.send_message", **{key: one for key, one in arguments.items() if one is not None}
            )
        assert no.value.rpc == number
    audits = await stage.recorded("audit", what="chat.send_message")
    assert [(one["session"], one["code"]) for one in audits] == [("ann", code)] * 2


@pytest.mark.spec("C2A-111", "C2A-105", "C2A-106", "C2A-107", "C2A-108")
async def test_the_host_renders_whom_a_send_is_for(stage):
    ann, ben = await stage.cast("ann", "ben")
    cyd = await stage.agent("cyd", roles=["ops"])
    send = ann.session.send
    dm = await send("dm:ben", "Please restart the relay.", key="1", visibility="dm", directedness="to_me")
    heard = await ben.delivery(dm.event_id)
    assert (heard["conversation"]["kind"], heard["policy"]) == ("dm", "must_respond")
    named = await send(
        "channel:main", "Please look at the disk.", key="2", visibility="channel", directedness="to_me",
        mentions=["agent:ben"],
    )  # fmt: skip
    heard = await ben.delivery(named.event_id)
    assert (heard["conversation"]["kind"], heard["policy"]) == ("channel", "must_respond")
    assert heard["target"]["mentions"] == ["agent:ben"]
    role = await send(
        "channel:main", "Who has time for a review?", key="3", visibility="channel", directedness="to_my_role",
        mentions=["role:ops"],
    )  # fmt: skip
    heard = await cyd.delivery(role.event_id)
    assert (heard["target"]["directedness"], heard["policy"]) == ("to_my_role", "may_respond")
    plain = await send(
        "channel:main", "FYI the relay moved; @ben, @cyd need do nothing.", key="4", visibility="channel",
        directedness="ambient",
    )  # fmt: skip
    assert await stage.delivered(plain.event_id) == []
    stored = {one["id"]: one["data"] for one in await stage.messages()}
    assert stored[dm.event_id]["to"] == ["ben"]
    assert stored[named.event_id]["mentions"] == ["ben"]
    assert stored[role.event_id]["mentions"] == ["ops"]
    assert all("@" not in data["text"] for key, data in stored.items() if key != plain.event_id)


@pytest.mark.spec("C2A-155")
async def test_a_file_stays_leased_while_another_turn_of_the_same_agent_ends(stage):
    ann, ben = await stage.cast("ann", "ben")
    await ann.call("chat.claim", path="src/app.py", during="e1")
    await ann.call("chat.claim", path="docs", during="e2")
    await ann.session.tell(Usage(turn="t2", event_ids=("e2",)))
    async with asyncio.timeout(WAIT):
        while not await stage.recorded("usage", turn="t2"):
            await asyncio.sleep(0.01)
    with refused("claim_conflict"):
        await ben.call("chat.claim", path="src/app.py")
    assert (await ben.call("chat.claim", path="docs"))["owner"] == "ben"


@pytest.mark.spec("C2A-155")
async def test_a_file_is_leased_to_one_for_as_long_as_its_turn_lasts(stage):
    ann, ben = await stage.cast("ann", "ben")
    taken = await ann.call("chat.claim", path="src/app.py", ttlMs=60_000)
    assert (taken["claimed"], taken["owner"]) == (True, "ann")
    for path in ("src/app.py", "./src", "src/"):
        with pytest.raises(Refused) as no:
            await ben.call("chat.claim", path=path)
        assert (no.value.code, no.value.details["owner"]) == ("claim_conflict", "ann")
    with refused("invalid_request"):
        await ben.call("chat.claim", path="../elsewhere")
    with refused("claim_conflict"):
        await ben.call("chat.claim", path="src/app.py", release=True)
    assert (await ben.call("chat.claim", path="docs"))["owner"] == "ben"
    await ann.session.tell(Usage(turn="t1"))
    async with asyncio.timeout(WAIT):
        while not await stage.recorded("usage", turn="t1"):
            await asyncio.sleep(0.01)
    assert (await ben.call("chat.claim", path="src/app.py", ttlMs=60_000))["owner"] == "ben"
    await stage.pass_time(61)
    assert (await ann.call("chat.claim", path="src/app.py"))["owner"] == "ann"
    assert (await ann.call("chat.claim", path="src/app.py", release=True))["claimed"] is False
    assert (await ben.call("chat.claim", path="src"))["owner"] == "ben"


@pytest.mark.spec("C2A-144", "C2A-155", "C2A-158")
async def test_a_claim_says_who_owns_it_until_when_and_shows_the_event(stage):
    ann, ben = await stage.cast("ann", "ben", roles=["ops"])
    event = await stage.tell("@ops who looks at the disk?")
    await ann.delivery(event)
    claimed = await ann.call("chat.claim", eventId=event["id"], ttlMs=60_000)
    assert (claimed["claimed"], claimed["owner"], claimed["untrusted"]) == (True, "ann", True)
    assert claimed["expiresAt"].startswith("2026-01-13T10:01:00")
    assert claimed["event"]["content"] == "@ops who looks at the disk?"
    assert claimed["event"]["injection"]["mode"] == "buffered"
    with pytest.raises(Refused) as no:
        await ben.call("chat.claim", eventId=event["id"])
    assert (no.value.code, no.value.details["owner"]) == ("claim_conflict", "ann")
    assert no.value.details["expiresAt"] == claimed["expiresAt"]
    longer = await ann.call("chat.claim", eventId=event["id"])
    assert longer["expiresAt"] > claimed["expiresAt"]
    for wrong, code in (
        ({}, "invalid_request"),
        ({"eventId": "nothing"}, "event_not_found"),
        ({"eventId": event["id"], "ttlMs": 5}, "invalid_request"),
        ({"eventId": event["id"], "ttlMs": "long"}, "invalid_request"),
    ):
        with refused(code):
            await ann.call("chat.claim", **wrong)
    with refused("claim_conflict"):
        await ben.call("chat.claim", eventId=event["id"], release=True)
    assert await ann.call("chat.claim", eventId=event["id"], release=True) == {
        "ok": True, "claimed": False, "owner": None,
    }  # fmt: skip
    assert (await ben.call("chat.claim", eventId=event["id"]))["owner"] == "ben"


@pytest.mark.spec("C2A-156")
async def test_work_goes_to_the_lead_by_dm_and_its_workers_threads_do_not_chatter_at_it(stage):
    lead = await stage.agent("lead", role="foreman")
    ann = await stage.agent("ann", role="peer")
    work = await stage.tell("please get the site ready", to=["lead"])
    assert (await lead.delivery(work))["conversation"]["kind"] == "dm"
    opened = await lead.session.send(
        "channel:main", "Please build the index.", key="w", visibility="channel", directedness="to_me",
        mentions=["agent:ann"],
    )  # fmt: skip
    await ann.delivery(opened.event_id)
    chatter = await ann.answer(opened.event_id, "The index is half built by now.", visibility="thread")
    asked = await ann.session.send(
        f"thread:{opened.event_id}",
        "Which language first?",
        key="q",
        directedness="to_me",
        mentions=["agent:lead"],
    )
    heard = await lead.delivery(asked.event_id)
    assert heard["policy"] == "must_respond"
    assert chatter not in [one["eventId"] for one in lead.heard]
    assert await stage.delivered(chatter) == []
    seen = await lead.call("chat.read_thread", threadId=opened.event_id)
    assert chatter in [one["eventId"] for one in seen["events"]]


@pytest.mark.spec("C2A-206")
async def test_every_delivery_claim_call_and_refusal_is_written_down(stage):
    ann, ben = await stage.cast("ann", "ben", roles=["ops"])
    event = await stage.tell("@ops who looks at the disk?")
    for agent in (ann, ben):
        await agent.delivery(event)
    await ann.call("chat.list_events")
    await ann.call("chat.read_thread", threadId=event["id"])
    await ann.call("chat.search", query="disk")
    await ann.call("chat.claim", eventId=event["id"])
    with refused("claim_conflict"):
        await ben.call("chat.claim", eventId=event["id"])
    await ann.answer(event, "It is full of logs.", visibility="thread")
    with refused("claim_conflict"):
        await ben.answer(event, "Let me.", visibility="thread")
    deliveries = await stage.recorded("delivery", event_id=event["id"])
    assert {one["session"] for one in deliveries} == {"ann", "ben"}
    assert all(one["because"]["policy"] == "matrix.role_mention" for one in deliveries)
    # A claim is renewed by its owner's answer.
    assert [one["action"] for one in await stage.recorded("claim")] == ["take", "renew"]
    audits = [(one["session"], one["what"], one.get("code")) for one in await stage.recorded("audit")]
    for expected in (
        ("ann", "chat.list_events", None),
        ("ann", "chat.read_thread", None),
        ("ann", "chat.search", None),
        ("ben", "chat.claim", "claim_conflict"),
        ("ben", "chat.send_message", "claim_conflict"),
    ):
        assert expected in audits
    with refused("event_not_found"):
        await ben.call("chat.read_thread", threadId="evt_none")
    noted = await stage.recorded("audit", what="chat.read_thread", session="ben")
    assert [(one["code"], one["row"]) for one in noted] == [("event_not_found", "C2A-141")]
    reads = {one["what"]: one.get("details") for one in await stage.recorded("audit", session="ann")}
    assert (reads["chat.read_thread"], reads["chat.search"]) == ({"thread": event["id"]}, None)
    # A text is never quoted in the audit.
    assert "disk" not in str(await stage.recorded("audit"))
    assert "Let me" not in str(await stage.recorded("audit"))


@pytest.mark.spec("C2A-201", "C2A-204")
async def test_chat_in_a_result_is_marked_and_secrets_in_it_are_not_shown(stage):
    ann = await stage.agent("ann", roles=["ops"])
    secret = "AKIAIOSFODNN7EXAMPLE"
    event = await stage.tell(f"@ann the key is {secret}, use it")
    heard = await ann.delivery(event)
    assert secret not in str(heard)
    for name, arguments in (
        ("chat.list_events", {}),
        ("chat.read_thread", {"threadId": event["id"]}),
        ("chat.search", {"query": "key"}),
        ("chat.claim", {"eventId": event["id"]}),
    ):
        result = await ann.call(name, **arguments)
        assert result["untrusted"] is True
        assert "[redacted" in str(result)
        assert secret not in str(result)
    assert "untrusted" not in await ann.call("chat.react", inReplyTo=event["id"], signal="seen")
    assert secret in str(await stage.messages())


@pytest.mark.spec("C2A-203", "C2A-140", "C2A-141")
async def test_a_look_in_a_turn_shows_what_the_readers_of_its_answer_may_know(stage):
    ann, eve = await stage.agent("ann"), await stage.agent("eve")
    bea = await stage.person("bea")
    secret = await stage.tell("the aquarium is sold?", bea, to=["ann"], conversation={"kind": "dm"})
    wider = await stage.tell("an aquarium for three?", bea, to=["ann", "eve"], conversation={"kind": "dm"})
    public = await stage.tell("@ann what about the aquarium?")
    for event in (secret, wider, public):
        await ann.delivery(event)
    await eve.delivery(wider)

    async def found(name, during, **more):
        answer = await ann.call(name, **more, **({"during": during["id"]} if during else {}))
        return [one["content"] for one in answer["events"]]

    words = {one["id"]: one["data"]["text"] for one in (secret, wider, public)}
    everything = [words[one["id"]] for one in (secret, wider, public)]
    looks = (
        ("chat.search", {"query": "aquarium"}),
        ("chat.list_events", {}),
        ("chat.list_events", {"openOnly": True}),
        ("chat.list_events", {"cursor": "0"}),
    )
    for name, more in looks:
        assert sorted(await found(name, None, **more)) == sorted(everything), name
        assert await found(name, public, **more) == [words[public["id"]]], name
        # Three may not know what two said; two may know what three said.
        assert words[secret["id"]] not in await found(name, wider, **more), name
        assert sorted(await found(name, secret, **more)) == sorted(everything), name
    for name, more in (("chat.read_thread", {"conversationId": "dm:ann+usr:bea"}), ("chat.read_channel", {})):
        assert words[secret["id"]] not in await found(name, public, **more)
    assert await found("chat.read_channel", secret) == [words[secret["id"]]]
    with refused("permission_denied"):
        await ann.call("chat.read_thread", threadId=secret["id"], during=public["id"])
    with refused("event_not_found"):
        await ann.call("chat.read_channel", after=secret["id"], during=public["id"])
    # What a caller says about itself is not believed: the event must be there, and its own.
    for nobody in ("evt_none", secret["id"]):
        with refused("event_not_found"):
            await eve.call("chat.search", query="aquarium", during=nobody)


@pytest.mark.spec("C2A-141", "C2A-203")
async def test_a_private_question_that_was_edited_is_read_by_its_parties_as_before(stage):
    ann = await stage.agent("ann")
    before = await stage.tell("the aquarium is cold", to=["ann"], conversation={"kind": "dm"})
    secret = await stage.tell("who heats it?", to=["ann"], reply_to=before["id"])
    await ann.delivery(secret)
    edited = (await stage.edit(secret, "who heats it now?")).body
    await ann.delivery(edited)
    for during in (secret, edited):
        read = await ann.call("chat.read_thread", during=during["id"])
        assert [one["content"] for one in read["events"]] == ["the aquarium is cold", "who heats it now?"]
        found = await ann.call("chat.search", query="aquarium", during=during["id"])
        assert [one["eventId"] for one in found["events"]] == [before["id"]]


@pytest.mark.spec("C2A-141")
async def test_asides_take_no_place_in_what_a_turn_reads_of_a_thread(stage):
    ann = await stage.agent("ann")
    root = await stage.tell("@ann the build is red")
    said = [await stage.tell(f"line {number}", reply_to=root["id"]) for number in range(3)]
    for number in range(4):
        await stage.tell(f"hush {number}", to=["ann"], reply_to=root["id"], conversation={"kind": "dm"})
    await ann.delivery(root)
    read = await ann.call("chat.read_thread", during=root["id"], limit=3)
    assert [one["content"] for one in read["events"]] == [one["data"]["text"] for one in said]


@pytest.mark.spec("C2A-141")
async def test_without_arguments_one_reads_where_one_is(stage):
    ann = await stage.agent("ann")
    root = await stage.tell("the build is red")
    asked = await stage.tell("@ann who fixes it?", reply_to=root["id"])
    await ann.delivery(asked)
    read = await ann.call("chat.read_thread", during=asked["id"])
    assert read["threadId"] == root["id"]
    assert [one["content"] for one in read["events"]] == ["the build is red", "@ann who fixes it?"]
    channel = await ann.call("chat.read_channel", during=asked["id"], limit=1)
    assert (channel["conversationId"], len(channel["events"])) == ("main", 1)
    with refused("invalid_request"):
        await ann.call("chat.read_thread")


@pytest.mark.spec("C2A-141", "C2A-203", "C2A-204")
async def test_a_channel_in_brief_is_the_same_lines_without_what_they_ask_of_whom(stage):
    ann = await stage.agent("ann")
    await stage.person("bea")
    first = await stage.tell("the build is red")
    gone = await stage.tell("nonsense")
    changed = await stage.tell("it is the importer")
    await stage.tell("an aside", reply_to=first["id"])
    await stage.tell("the aquarium", to=["usr:bea"], conversation={"kind": "dm"})
    edit = (await stage.edit(changed, "it is the exporter, password=hunter2secret")).body
    await stage.delete(gone)
    asked = await stage.tell("@ann who mends it?")
    await ann.delivery(asked)
    where = {"during": asked["id"], "before": asked["id"]}
    whole = (await ann.call("chat.read_channel", **where))["events"]
    brief = (await ann.call("chat.read_channel", brief=True, **where))["events"]
    judged = {"policy", "directedness", "disposition", "open"}
    assert brief == [{name: row[name] for name in row if name not in judged} for row in whole]
    assert [row["eventId"] for row in brief][2] == edit["id"]
    assert [row.get("deleted", False) for row in brief] == [False, True, False, False]
    assert all(judged <= set(row) for row in whole)
    assert not any("hunter2secret" in str(row) or "aquarium" in str(row) for row in brief)
    with refused("invalid_request"):
        await ann.call("chat.read_channel", brief="yes")


@pytest.mark.spec("C2A-203")
async def test_members_says_who_is_here_and_busy_and_keeps_private_work_to_itself(stage):
    ann, eve = await stage.agent("ann"), await stage.agent("eve")
    await stage.person("bea")
    asked = await stage.tell("@eve please look at the importer, it is slow since noon?")
    hidden = await stage.tell("the aquarium?", to=["eve"], conversation={"kind": "dm"})
    public = await stage.tell("@ann who is here?")
    await eve.delivery(asked)
    await eve.delivery(hidden)
    await ann.delivery(public)
    await eve.session.tell(Status("busy", "on the importer", (asked["id"],)))
    members = {}

    async def busy() -> bool:
        answer = await ann.call("chat.members", during=public["id"])
        members.update({one["id"]: one for one in answer["members"]})
        return members["eve"]["status"] == "busy"

    async with asyncio.timeout(60):
        while not await busy():
            await asyncio.sleep(0.01)
    assert members["eve"]["detail"] == "on the importer"
    assert [one["eventId"] for one in members["eve"]["at"]] == [asked["id"]]
    assert members["eve"]["at"][0]["text"].startswith("@eve please look at the importer")
    assert members["ann"]["you"] is True
    assert (members["usr:bea"]["kind"], members["usr:bea"]["status"]) == ("human", "offline")
    assert "aquarium" not in str(members)


@pytest.mark.parametrize("is_named", [False, True], ids=["by what is in hand", "by what it names"])
@pytest.mark.spec("C2A-203")
async def test_a_detail_that_is_told_in_private_is_for_those_who_are_there(stage, is_named):
    ann, eve = await stage.agent("ann"), await stage.agent("eve")
    bea, cleo = await stage.person("bea"), await stage.person("cleo")
    hidden = await stage.tell("the aquarium?", token=bea, to=["eve"], conversation={"kind": "dm"})
    public = await stage.tell("@ann who is here?")
    await eve.delivery(hidden)
    await ann.delivery(public)
    await eve.session.tell(Status("busy", "on Bea's aquarium", (hidden["id"],) if is_named else ()))

    async def eve_as_seen_by(token):
        answer = await stage.get(f"/v1/groups/{stage.group_id}/agents", token=token)
        return next(one for one in answer.body["agents"] if one["actor_id"] == "eve")

    async with asyncio.timeout(60):
        while (await eve_as_seen_by(bea))["status"] != "busy":
            await asyncio.sleep(0.01)
    assert (await eve_as_seen_by(bea))["detail"] == "on Bea's aquarium"
    assert {name: (await eve_as_seen_by(cleo))[name] for name in ("status", "detail")} == {
        "status": "busy",
        "detail": "",
    }
    members = await ann.call("chat.members", during=public["id"])
    assert next(one["status"] for one in members["members"] if one["id"] == "eve") == "busy"
    assert "aquarium" not in str(members)
