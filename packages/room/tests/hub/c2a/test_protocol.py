"""C2A as a conversation with the hub: what must come first, what was agreed, what is dropped, what is kept."""

from __future__ import annotations

import asyncio

import pytest

from tacit.attention.commands import RunDueTimers
from tacit.base.errors import Refused
from tacit.hub.host import protocol
from tests.hub.c2a.stage import EVERYTHING, GREETING, capable
from tests.hub.room import WAIT, Failed

OLDER = "2026-06-02"


@pytest.mark.spec("C2A-018")
async def test_before_initialize_requests_are_refused_and_notifications_dropped(stage):
    await stage.member("ann")
    async with stage.wire("ann", greet=False) as wire:
        for method, params in (
            ("tools/list", {}),
            ("tools/call", {"name": "chat.list_events", "arguments": {}}),
            ("chat/disposition", {"eventId": "e", "disposition": "ignored"}),
            ("ping", {}),
            ("anything", {}),
        ):
            with pytest.raises(Failed) as no:
                await wire.call(method, **params)
            assert (no.value.rpc, no.value.code) == (-32001, "not_initialized")
        await wire.say(method="notifications/log", params={"level": "info", "message": "too early"})
        await wire.say(method="notifications/progress", params={"progressToken": "t", "progress": 1})
        agreed = await wire.call("initialize", **GREETING)
        assert agreed["session"]["id"] == "ann"
        assert agreed["session"]["group_id"] == stage.group_id
        assert agreed["session"]["settings"]["compose_quiet_ms"] == 3000
        assert agreed["serverInfo"]["name"] == "tacit"
        with pytest.raises(Failed) as twice:
            await wire.call("initialize", **GREETING)
        assert twice.value.rpc == -32602
    assert await stage.recorded("audit", what="log") == []
    assert await stage.recorded("progress") == []


@pytest.mark.spec("C2A-018", "C2A-019", "C2A-024", "C2A-025")
async def test_initialize_agrees_on_a_version_and_on_what_both_can(stage):
    await stage.member("ann")
    for missing in ("protocolVersion", "clientInfo", "capabilities"):
        async with stage.wire("ann", greet=False) as wire:
            with pytest.raises(Failed) as no:
                await wire.call(
                    "initialize", **{key: value for key, value in GREETING.items() if key != missing}
                )
            assert no.value.rpc == -32602
    for wanted, agreed in (("2026-06-24", "2026-06-24"), (OLDER, OLDER), ("2027-01-01", "2026-06-24")):
        async with stage.wire("ann", greet=False) as wire:
            answer = await wire.call("initialize", **{**GREETING, "protocolVersion": wanted})
            assert answer["protocolVersion"] == agreed
    async with stage.wire("ann", greet=False) as wire:
        with pytest.raises(Failed) as old:
            await wire.call("initialize", **{**GREETING, "protocolVersion": "2020-01-01"})
        assert (old.value.rpc, old.value.body["details"]["supported"]) == (-32002, ["2026-06-24", OLDER])
        answer = await wire.call(
            "initialize", **{**GREETING, "capabilities": {"delivery": {"ack": True}, "x": 1}}
        )
        assert answer["capabilities"]["delivery"] == {"ack": True, "redelivery": False, "idempotency": False}
        assert not any(answer["capabilities"]["chatTools"].values())
        assert (await wire.call("tools/list"))["tools"] == []
        with pytest.raises(Failed) as never:
            await wire.tool("chat.list_events")
        assert never.value.rpc == -32003


@pytest.mark.spec("C2A-020", "C2A-027")
async def test_a_harness_that_does_not_acknowledge_hears_by_notification_and_resumes_by_name(stage):
    await stage.member("ann")
    silent = capable(delivery_ack=False)
    async with stage.wire("ann", capabilities=silent) as wire:
        events = [await stage.tell(f"@ann question {number}?") for number in range(3)]
        heard = [await wire.delivery() for _ in events]
        assert all("id" not in one for one in heard)
        assert [one["params"]["eventId"] for one in heard] == [one["id"] for one in events]
    async with stage.wire("ann", capabilities=silent, resume={"lastAckedEventId": events[1]["id"]}) as wire:
        assert (await wire.delivery())["params"]["eventId"] == events[2]["id"]
        later = await stage.tell("@ann one more?")
        assert (await wire.delivery())["params"]["eventId"] == later["id"]
    async with stage.wire("ann", greet=False) as wire:
        with pytest.raises(Failed) as no:
            await wire.call("initialize", **GREETING, resume={"lastAckedEventId": "nothing"})
        assert (no.value.rpc, no.value.code) == (-32005, "event_not_found")


@pytest.mark.spec("C2A-027")
async def test_what_a_resuming_peer_says_makes_no_gap(stage):
    await stage.member("ann")
    async with stage.wire("ann") as wire:
        events = [await stage.tell(f"@ann question {number}?") for number in range(3)]
        heard = [await wire.delivery() for _ in events]
        await wire.accept(heard[1])
        async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
            await stream.event()
    # The peer names the second; the first, which it never acknowledged, still comes.
    async with stage.wire("ann", resume={"lastAckedEventId": events[1]["id"]}) as wire:
        again = [(await wire.delivery())["params"]["eventId"] for _ in range(2)]
        assert again == [events[0]["id"], events[2]["id"]]


@pytest.mark.spec("C2A-008", "C2A-027")
async def test_what_is_said_while_a_session_connects_does_not_overtake_what_it_missed(stage):
    await stage.member("ann")
    async with stage.wire("ann"):
        pass
    for _ in range(5):
        missed = [await stage.tell(f"@ann missed {number}?") for number in range(3)]
        async with stage.wire("ann", greet=False) as wire:
            talking = [asyncio.create_task(stage.tell(f"@ann live {number}?")) for number in range(6)]
            await wire.call("initialize", **GREETING)
            live = await asyncio.gather(*talking)
            heard = []
            for _ in range(len(missed) + len(live)):
                message = await wire.delivery()
                heard.append(message["params"]["timing"]["sequence"])
                await wire.accept(message)
            assert heard == sorted(heard)
            assert len(heard) == len(set(heard)) == 9
            async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
                accepted = set()
                while not {one["id"] for one in (*missed, *live)} <= accepted:
                    accepted |= set((await stream.event())["data"]["event_ids"])


@pytest.mark.spec("C2A-020")
async def test_without_redelivery_nothing_is_tried_again_on_the_same_connection(stage):
    await stage.member("ann")
    await stage.member("ben")
    async with (
        stage.wire("ann", capabilities=capable(delivery_redelivery=False)) as once,
        stage.wire("ben") as more,
    ):
        event = await stage.tell("@ann @ben are you there?")
        await once.delivery()
        first = await more.delivery()
        second = await more.delivery()
        assert (first["params"]["reliability"]["attempt"], second["params"]["reliability"]["attempt"]) == (
            1,
            2,
        )
        await more.accept(second)
        # ben was asked twice by now; what ann hears next is something else.
        other = await stage.tell("@ann and now?")
        assert (await once.delivery())["params"]["eventId"] == other["id"] != event["id"]


@pytest.mark.spec("C2A-030", "C2A-160", "C2A-206")
async def test_only_a_yes_accepts_and_a_refusal_is_kept_and_not_repeated(stage):
    await stage.member("ann")
    async with stage.wire("ann") as wire:
        await stage.tell("@ann are you there?")
        first = await wire.delivery()
        await wire.say(id=first["id"], result={"accepted": False})
        again = await wire.delivery()
        assert again["params"]["reliability"]["attempt"] == 2
        await wire.say(
            id=again["id"], error={"code": -32602, "message": "no", "data": {"code": "invalid_request"}}
        )
        async with stage.stream(stage.group_id, kinds="x.c2a.audit") as stream:
            audit = (await stream.event())["data"]
        assert (audit["what"], audit["session"], audit["event_id"]) == (
            "delivery",
            "ann",
            first["params"]["eventId"],
        )
        assert audit["details"] == {"number": -32602}
        other = await stage.tell("@ann and now?")
        assert (await wire.delivery())["params"]["eventId"] == other["id"]
    assert await stage.recorded("accepted") == []


@pytest.mark.spec("C2A-023", "C2A-184", "C2A-181")
@pytest.mark.parametrize("agreed", [True, False])
async def test_notifications_of_a_utility_that_was_not_agreed_are_dropped(stage, agreed):
    await stage.member("ann")
    tools = capable(utilities_progress=agreed, utilities_logging=agreed, utilities_cancellation=agreed)
    async with stage.wire("ann", capabilities=tools) as wire:
        event = await stage.tell("@ann build it")
        await wire.accept(await wire.delivery())
        await wire.say(
            method="notifications/log",
            params={"level": "warning", "message": "disk is slow", "data": {"x": 1}},
        )
        await wire.say(
            method="notifications/progress",
            params={"progressToken": event["id"], "progress": 3, "total": 10, "message": "compiling"},
        )
        await stage.edit(event, "@ann build it twice")
        edited = await wire.note()
        while edited["method"] != "chat/deliver" or edited["params"]["eventId"] == event["id"]:
            assert edited["method"] == "chat/deliver" or agreed
            edited = await wire.note()
        await wire.call("ping")
    logs = await stage.recorded("audit", what="log")
    assert [one["details"]["message"] for one in logs] == (["disk is slow"] if agreed else [])
    assert [one["message"] for one in await stage.recorded("progress")] == (["compiling"] if agreed else [])
    # A log line is for the audit: nobody hears of it.
    assert len(await stage.recorded("delivery")) == 2
    assert len(await stage.messages()) == 1


@pytest.mark.spec("C2A-179")
async def test_what_is_called_back_while_a_session_is_away_is_called_back_when_it_returns(stage):
    await stage.member("ann")
    async with stage.wire("ann") as wire:
        event = await stage.tell("@ann deploy to production")
        first = await wire.delivery()
        await wire.accept(first)
        async with stage.stream(stage.group_id, kinds="x.c2a.accepted") as stream:
            await stream.event()
    assert (await stage.delete(event)).status == 200
    async with stage.wire("ann") as wire:
        note = await wire.note("notifications/cancelled")
        assert note["params"]["requestId"] == first["id"]
        assert note["params"]["eventId"] == event["id"]
        # An unknown request of the harness's own is ignored.
        await wire.say(method="notifications/cancelled", params={"requestId": "unknown", "reason": "?"})
        assert await wire.call("ping") == {}


async def test_a_fragment_that_a_harness_merged_is_not_called_back_from_it(stage):
    ann = await stage.agent("ann")
    first = await stage.tell("@ann can you look at")
    second = await stage.tell("@ann the failing test?")
    await ann.delivery(second)
    await ann.session.disposition(first["id"], "superseded", merged_into=second["id"])
    last = await stage.tell("@ann still there?")
    await ann.delivery(last)
    assert ann.cancelled == []
    ended = await stage.recorded("disposition", event_id=first["id"])
    assert [(one["disposition"], one["reason"]) for one in ended] == [("superseded", second["id"])]


async def test_the_last_connection_of_a_session_wins_and_goes_on_where_the_first_was(stage):
    await stage.member("ann")
    async with stage.wire("ann") as old:
        event = await stage.tell("@ann are you there?")
        assert (await old.delivery())["params"]["eventId"] == event["id"]
        async with stage.wire("ann") as new:
            again = await new.delivery()
            assert again["params"]["eventId"] == event["id"]
            async with asyncio.timeout(WAIT):
                assert await old.closed == 4009
            await new.accept(again)


async def test_a_token_that_is_no_actors_opens_no_session(stage):
    for token, status in ((stage.owner, 403), ("nonsense", 401)):
        answer = await stage.call(
            "POST", "/c2a", token=token, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}
        )
        assert answer.status == status


@pytest.mark.spec("C2A-175")
async def test_a_deadline_that_could_not_be_written_is_tried_again(stage):
    ann = await stage.agent("ann")
    event = await stage.tell("@ann are you there?")
    await ann.delivery(event)
    host, ledger = stage.server.hub.host, stage.server.hub.ledger
    deciding, failures = ledger.decide, 2

    async def failing(command):
        nonlocal failures
        if isinstance(command, RunDueTimers):
            failures -= 1
            if failures >= 0:
                raise Refused("internal", "a fault of the hub's own; nothing was appended")
        return await deciding(command)

    ledger.decide = failing
    stage.clock.move(151)
    for _ in range(2):
        assert await host.tick() == 0
        stage.clock.move(2)
    host._wake.set()
    # The hub's own timer carries on without being asked.
    async with stage.stream(stage.group_id, kinds="x.c2a.delivery") as stream:
        while (await stream.event())["data"].get("attempt", 1) != 2:
            pass
    assert failures < 0


@pytest.mark.spec("C2A-135", "C2A-225")
@pytest.mark.parametrize(
    ("asked", "row"),
    [
        ({"reactionGlyphs": {"agree": "\u2705"}}, "C2A-135"),
        ({"reactionGlyphs": {"applause": "\U0001f44f"}}, "C2A-135"),
        ({"reactionGlyphs": {"agree": 7}}, "C2A-135"),
        ({"reactionGlyphs": ["agree"]}, "C2A-135"),
        ({"ownSignals": {"x.party": {"glyph": "\u2705", "meaning": "yes"}}}, "C2A-135"),
        ({"ownSignals": {"x.party": {"meaning": "yes"}}}, "C2A-135"),
        ({"ownSignals": {"party": {"glyph": "\U0001f973", "meaning": "yes"}}}, "C2A-225"),
        ({"ownSignals": {"x.party": {"glyph": "\U0001f973"}}}, "C2A-225"),
        (
            {"ownSignals": {"x.party": {"glyph": "\U0001f973", "meaning": "yes", "disposition": "bored"}}},
            "C2A-225",
        ),
    ],
)
async def test_two_signals_on_one_glyph_or_a_strange_signal_end_the_greeting(stage, asked, row):
    await stage.member("ann")
    async with stage.wire("ann", greet=False) as wire:
        with pytest.raises(Failed) as no:
            await wire.call("initialize", **{**GREETING, "capabilities": {**EVERYTHING, **asked}})
        assert (no.value.rpc, no.value.body["details"]["row"]) == (-32602, row)
        # The connection is not initialized by that; the defaults are to be had by asking for nothing.
        with pytest.raises(Failed, match="not_initialized"):
            await wire.call("tools/list")
        assert "reactionGlyphs" not in (await wire.call("initialize", **GREETING))["capabilities"]


@pytest.mark.spec("C2A-135", "C2A-143", "C2A-225")
async def test_agreed_glyphs_and_own_signals_are_the_ones_that_are_written(stage):
    party = {"glyph": "\U0001f973", "meaning": "well done", "disposition": "acknowledged"}
    asked = {**EVERYTHING, "reactionGlyphs": {"agree": "\U0001f197"}, "ownSignals": {"x.party": party}}
    await stage.member("ann")
    async with stage.wire("ann", capabilities=asked) as wire:
        event = await stage.tell("@ann is it done?")
        tools = {tool["name"]: tool for tool in (await wire.call("tools/list"))["tools"]}
        assert "x.party" in tools["chat.react"]["inputSchema"]["properties"]["signal"]["enum"]
        for signal in ("agree", "x.party"):
            given = {"inReplyTo": event["id"], "signal": signal}
            await wire.call("tools/call", name="chat.react", arguments=given)
        undeclared = {"inReplyTo": event["id"], "signal": "x.sulk"}
        with pytest.raises(Failed) as no:
            await wire.call("tools/call", name="chat.react", arguments=undeclared)
        assert no.value.body["details"]["row"] == "C2A-143"
    reactions = await stage.events(stage.group_id, kinds="chat.reaction")
    glyphs = {one["data"]["signal"]: one["data"]["emoji"] for one in reactions}
    assert glyphs == {"agree": "\U0001f197", "x.party": "\U0001f973"}


@pytest.mark.spec("C2A-012")
def test_a_fault_of_ours_is_an_answer_that_says_nothing_of_it():
    error = {"code": "internal_error", "message": "a fault of the hub's own"}
    assert protocol.internal(7) == {
        "jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": error["message"], "data": error},
    }  # fmt: skip
