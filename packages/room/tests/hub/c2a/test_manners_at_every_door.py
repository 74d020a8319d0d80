"""An agent keeps the same manners by whatever door it comes: the ledger's own refuses what a send would be."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tacit.c2a.notifications import Log
from tacit.c2a.signals import SIGNALS
from tacit.hub.bounds.quotas import QuotaLimits
from tacit.hub.config import Limits
from tests.bridges.mcp.rooms import over_http
from tests.hub.c2a.stage import refused, staged
from tests.hub.room import WAIT, Answer, Failed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.c2a.stage import Stage


async def by_http(stage: Stage, name: str, data: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    answer: Answer = await stage.append(stage.group_id, "chat.message", data, stage.tokens[name])
    return answer.code, (answer.body.get("details") or {}) if answer.code else {}


async def by_socket(stage: Stage, name: str, data: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    async with stage.socket(stage.tokens[name]) as socket:
        try:
            await socket.call("append", group_id=stage.group_id, kind="chat.message", data=data)
        except Failed as failed:
            return failed.code, failed.body["details"]
    return None, {}


async def by_c2a(stage: Stage, name: str, data: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    async with stage.wire(name) as raw:
        try:
            await raw.tool("chat.send_message", **_send(data, f"{name}: {data['text']}"))
        except Failed as failed:
            return failed.code, failed.body["details"]
    return None, {}


async def by_mcp(stage: Stage, name: str, data: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    async with over_http(stage, stage.tokens[name]) as agent:
        result = await agent.call("chat_send_message", **_send(data, f"{name}: {data['text']}"))
        if not result.is_error:
            return None, {}
        error = result.structured_content["error"]
        return error["code"], error["details"]


def _send(data: dict[str, Any], key: str) -> dict[str, Any]:
    given = {"content": data["text"], "idempotencyKey": key, "directedness": "to_me"}
    if "reply_to" in data:
        return {
            **given,
            "target": f"thread:{data['reply_to']}",
            "visibility": "thread",
            "inReplyTo": data["reply_to"],
        }
    return {**given, "target": "channel:main", "visibility": "channel", "directedness": "ambient"}


DOORS = {"http": by_http, "websocket": by_socket, "c2a": by_c2a, "mcp": by_mcp}


@pytest.mark.spec("C2A-153", "C2A-154")
@pytest.mark.parametrize("door", DOORS)
async def test_what_one_agent_has_claimed_no_other_answers(stage: Stage, door: str) -> None:
    dan = await stage.agent("dan", roles=["ops"])
    for name in ("ann", "ben"):
        await stage.member(name, roles=["ops"])
    asked = await stage.tell("@ops which region do we deploy to first?")
    await dan.call("chat.claim", eventId=asked["id"])
    before = len(await stage.messages())
    for name in ("ann", "ben"):
        code, details = await DOORS[door](
            stage, name, {"text": f"Europe first, says {name}.", "reply_to": asked["id"]}
        )
        assert code == "claim_conflict", (door, name)
        assert details["row"].startswith("C2A-")
    assert len(await stage.messages()) == before
    assert (await by_http(stage, "dan", {"text": "Europe first.", "reply_to": asked["id"]}))[0] is None


@pytest.mark.spec("C2A-198", "C2A-195")
async def test_an_exchange_that_was_stopped_stays_so_by_every_door(stage: Stage) -> None:
    await stage.agent("ann")
    await stage.agent("ben")
    names = ["ann", "ben"]
    said = (await stage.tell("ben, what is alpha?", stage.tokens["ann"], to=["ben"]))["id"]
    code: str | None = None
    words = iter(WORDS)
    for turn in range(1, 60):
        answer = await stage.append(
            stage.group_id,
            "chat.message",
            {"text": next(words), "reply_to": said},
            stage.tokens[names[turn % 2]],
        )
        code = answer.code
        if code is not None:
            break
        said = answer.body["id"]
    assert code == "loop_stopped"
    for door in DOORS.values():
        for name in names:
            code, details = await door(stage, name, {"text": next(words), "reply_to": said})
            assert code in {"loop_stopped", "policy_forbids"}, (door, name, code)
            assert details["row"]
    assert len(await stage.messages()) < 10


@pytest.mark.spec("C2A-061", "C2A-197")
@pytest.mark.parametrize("door", DOORS)
async def test_policy_and_repetition_are_the_same_by_every_door(stage: Stage, door: str) -> None:
    await stage.agent("ann")
    await stage.agent("ben")
    ambient = await stage.tell("the deploy went out at noon, for your information")
    code, details = await DOORS[door](
        stage, "ann", {"text": "Which deploy was it?", "reply_to": ambient["id"]}
    )
    assert (code, details["remedy"]) == ("policy_forbids", "stay silent")
    news = {"text": "The nightly build takes forty minutes since the cache was moved."}
    assert (await DOORS[door](stage, "ann", news))[0] is None
    for other in (by_http, by_socket):
        code, details = await other(stage, "ann", news)
        assert code == "no_new_information"
        assert details["remedy"]


async def test_people_and_groups_without_agents_are_free(stage: Stage) -> None:
    token = await stage.member("ann")
    for _ in range(5):
        assert (await stage.tell("the same words", token))["id"]
    await stage.agent("ben")
    bea = await stage.person("bea")
    for _ in range(5):
        assert (await stage.tell("the same words", bea))["id"]
    code, _ = await by_http(stage, "ann", {"text": "the same words"})
    assert code == "no_new_information"


WORDS = [
    f"{subject} {verb} {thing}?"
    for subject in (
        "Does the northern cluster",
        "Will our oldest customer",
        "Can a second reviewer",
        "Should my parser",
    )
    for verb in ("migrate", "replace", "benchmark", "document", "encrypt")
    for thing in (
        "the billing tables",
        "seven stale branches",
        "every public endpoint",
        "its own certificates",
    )
]


async def reacted(stage: Stage, name: str, event: Any, signal: str, **more: Any) -> Answer:
    """A signal by the ledger's own door."""
    data = {
        "event_id": event["id"],
        "actor_id": name,
        "emoji": SIGNALS[signal].glyph,
        "signal": signal,
        **more,
    }
    return await stage.append(stage.group_id, "chat.reaction", data, stage.tokens[name])


@pytest.mark.spec("C2A-136", "C2A-123")
async def test_a_signal_claims_and_declines_by_the_ledger_s_door_as_by_the_tool(stage: Stage) -> None:
    ann, ben = await stage.cast("ann", "ben")
    for name in ("ann", "ben"):
        changed = {"actor_id": name, "roles": ["ops"]}
        assert (await stage.append(stage.group_id, "actor.update", changed)).status == 201
    asked = await stage.tell("@ops which region do we deploy to first?")
    await ann.delivery(asked)
    await ben.delivery(asked)
    assert (await reacted(stage, "ann", asked, "claimed")).status == 201
    [claim] = await stage.recorded("claim", target=f"event:{asked['id']}")
    assert (claim["session"], claim["action"]) == ("ann", "take")
    second = await reacted(stage, "ben", asked, "working")
    assert (second.code, second.body["details"]["owner"]) == ("claim_conflict", "ann")
    direct = await stage.tell("@ann which port is it?")
    await ann.delivery(direct)
    assert (await reacted(stage, "ann", direct, "declined")).status == 201
    assert (await ben.delivery(direct))["attention"]["reason"] == "escalation", "it is not lost"


@pytest.mark.spec("C2A-122", "C2A-155")
async def test_hoarding_and_putting_off_are_refused_by_the_ledger_s_door(stage: Stage) -> None:
    ann, _ben = await stage.cast("ann", "ben")
    assert (await stage.settings(claims_per_session=1)).status == 200
    first, second = await stage.tell("@ann which port is it?"), await stage.tell("@ann and which host?")
    for one in (first, second):
        await ann.delivery(one)
    assert (await reacted(stage, "ann", first, "working")).status == 201
    full = await reacted(stage, "ann", second, "working")
    assert (full.code, full.body["details"]["limit"]) == ("rate_limited", "claims_per_session")
    assert "release" in full.body["details"]["remedy"]
    assert (await reacted(stage, "ann", second, "queued")).status == 201
    await stage.pass_time(3_600)
    await ann.call("chat.defer", eventId=second["id"], reason="the backup runs", eta="in 2 hours")
    await stage.pass_time(300)
    enough = await reacted(stage, "ann", second, "blocked")
    assert (enough.code, enough.body["details"]["row"]) == ("approval_required", "C2A-122")
    assert "chat.defer asks a person" in enough.body["details"]["remedy"]
    assert (await reacted(stage, "ann", second, "seen")).status == 201, "what changes nothing is free"


@pytest.mark.spec("C2A-122", "C2A-136")
async def test_a_signal_that_says_nothing_new_or_is_taken_back_is_not_judged_again(stage: Stage) -> None:
    ann, _ben = await stage.cast("ann", "ben")
    asked = await stage.tell("@ann which port is it?")
    await ann.delivery(asked)
    for signal in ("queued", "blocked"):
        assert (await reacted(stage, "ann", asked, signal)).status == 201
    await stage.pass_time(600)
    assert (await stage.settings(defer_ms=60_000)).status == 200, "it was put off long enough now"
    again = await reacted(stage, "ann", asked, "blocked", emoji=":construction:")
    assert again.status == 201, "the same signal by another glyph puts nothing off"
    assert (await reacted(stage, "ann", asked, "queued", removed=True)).status == 201
    judged = await reacted(stage, "ann", asked, "queued")
    assert (judged.code, judged.body["details"]["row"]) == ("approval_required", "C2A-122"), "a new one does"


@pytest.mark.spec("C2A-205")
async def test_a_limit_of_attention_says_at_the_ledger_s_door_when_to_come_again(stage: Stage) -> None:
    await stage.agent("ann")
    assert (await stage.settings(sends_per_minute=1)).status == 200
    said = [{"text": text} for text in ("The index is rebuilt.", "A new disk arrives on Monday.")]
    assert (await by_http(stage, "ann", said[0]))[0] is None
    code, details = await by_http(stage, "ann", said[1])
    assert (code, details["limit"]) == ("rate_limited", "sends_per_minute")
    assert 0 < details["retryAfterMs"] <= 60_000


async def test_notes_and_claims_of_an_agent_are_bounded_and_a_restart_forgives_none(tmp_path: Path) -> None:
    limits = Limits(quotas=QuotaLimits(notes=2, claims=1))
    async with staged(tmp_path, limits=limits) as stage:
        await stage.open()
        ann = await stage.agent("ann")
        for number in range(4):
            await ann.session.tell(Log("info", f"note {number}"))
        async with asyncio.timeout(WAIT):
            while (await stage.get("/v1/status")).body["quotas"]["refused"] < 2:
                await asyncio.sleep(0.01)
        first, second = await stage.tell("@ann which port?"), await stage.tell("@ann which host?")
        await ann.call("chat.claim", eventId=first["id"])
        with refused("rate_limited"):
            await ann.call("chat.claim", eventId=second["id"])
        assert (await reacted(stage, "ann", second, "working")).code == "rate_limited"
        await ann.call("chat.claim", eventId=first["id"], release=True)
        notes = await stage.recorded("audit", what="log")
        assert len(notes) == 2
        told = (await stage.get("/v1/status")).body["quotas"]
        assert {one["quota"] for one in told["near"]} == {"notes_per_day", "claims_per_day"}
        assert {one["principal"] for one in told["near"]} == {"ann"}
    async with staged(tmp_path, limits=limits) as stage:
        told = (await stage.get("/v1/status")).body["quotas"]
        assert {one["quota"] for one in told["near"]} == {"notes_per_day", "claims_per_day"}
