"""Nonsense at the door: whatever a harness says, it gets a result or a documented no, and the hub lives."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from tacit.c2a.errors import number_of
from tacit.c2a.tools import INPUTS
from tests.hub.c2a.stage import capable

STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**12, -(2**53), "", " ", "x", "main", "dm:", "thread:", "dm:ann+ben", "conversation:",
    "channel:main", "@all", "\u0000", "\u202e", "🧟", "a" * 5000, [], [[]], [None], ["x", 1], {}, {"a": {"b": []}},
    [{"type": "text", "text": "hello there"}], [{"type": "text"}], "must_respond", "to_me", "ambient", "thread", "dm",
    "2026-01-13T10:00:00Z", "2026-13-99", "in 5 minutes", "in 99999999999999999999 years", "working", "seen",
)  # fmt: skip


def nonsense(random: Random, ids: list[str], name: str) -> dict[str, Any]:
    members = (
        [*INPUTS[name]["properties"]] if name in INPUTS else ["eventId", "disposition", "error", "mergedInto"]
    )
    chosen = random.sample(members, random.randrange(len(members) + 1))
    if random.random() < 0.1:
        chosen.append(random.choice(["policy", "__proto__", ""]))
    found = {}
    for member in chosen:
        likely = random.random() < 0.6
        found[member] = random.choice(ids) if likely and "Id" in member else random.choice(STRANGE)
        if member == "target" and likely:
            found[member] = random.choice(
                ["channel:main", f"thread:{random.choice(ids)}", "dm:user", "dm:ben"]
            )
        if member == "inReplyTo" and likely:
            found[member] = random.choice(ids)
    return found


@pytest.mark.spec("C2A-016")
@pytest.mark.parametrize("seed", range(4))
async def test_nonsense_in_calls_is_refused_by_the_table_and_never_a_fault_of_the_hubs(stage, seed):
    random = Random(seed)
    await stage.member("ann", roles=["ops"])
    await stage.member("ben", roles=["ops"])
    async with stage.wire("ben"), stage.wire("ann") as wire:
        ids = [
            (await stage.tell(text))["id"]
            for text in ("@ann which port?", "@ops who looks?", "hello", "thanks")
        ]
        ids.append((await stage.tell("psst?", to=["ann"]))["id"])
        edited = await stage.edit({"id": ids[0]}, "@ann which host?")
        assert edited.status == 200, edited.body
        ids.append(edited.body["id"])
        ids.append((await stage.tell("for ben alone", to=["ben"]))["id"])
        names = [*INPUTS, "chat/disposition"]
        for number in range(250):
            name = random.choice(names)
            given = nonsense(random, ids, name)
            params = given if "/" in name else {"name": name, "arguments": given}
            method = name if "/" in name else "tools/call"
            future = await wire.send(method, **params)
            answer = await future
            if "error" in answer:
                data = answer["error"]["data"]
                assert data["code"] != "internal_error", (name, given)
                assert answer["error"]["code"] == number_of(data["code"], data["details"].get("reason")), (
                    answer
                )
                assert data["details"]["row"], answer
            else:
                assert answer["result"].get("ok") is True, (name, given, answer)
            if number % 50 == 49:
                await stage.pass_time(random.choice([1, 60, 400, 4000]))
    assert (await stage.get("/healthz", token=None)).body == {"status": "ok"}


@pytest.mark.parametrize("seed", range(3))
async def test_nonsense_in_frames_ends_in_an_answer_or_in_silence(stage, seed):
    random = Random(seed)
    await stage.member("ann")
    async with stage.wire("ann", capabilities=capable()) as wire:
        methods = ["initialize", "tools/list", "tools/call", "chat/deliver", "notifications/usage", "chat/disposition",
                   "notifications/status", "notifications/typing", "notifications/log", "notifications/progress",
                   "notifications/cancelled", "ping", "", None, 7]  # fmt: skip
        for _ in range(150):
            message = {
                "jsonrpc": random.choice(["2.0", "2.0", "2.0", 2, None]),
                "method": random.choice(methods),
            }
            if random.random() < 0.5:
                message["id"] = random.choice(["n", "é", 1.5, None, [], {}])
            if random.random() < 0.8:
                members = ["status", "detail", "level", "message", "eventIds", "turn", "cost", "tokensIn", "progress",
                           "progressToken", "conversationId", "name", "arguments", "protocolVersion", "capabilities",
                           "clientInfo", "resume", "model", "currency", "promptBytes"]  # fmt: skip
                message["params"] = random.choice(
                    [
                        {name: random.choice(STRANGE) for name in random.sample(members, 6)},
                        random.choice(STRANGE),
                    ]
                )
            await wire.ws.send_str(json.dumps(message))
        # Its own session still works, and nothing was a fault of ours.
        assert await wire.call("ping") == {}
        while not wire.stray.empty():
            assert "internal_error" not in str(wire.stray.get_nowait())


NOTED = {
    "notifications/usage": (
        "eventIds",
        "turn",
        "tokensIn",
        "cost",
        "currency",
        "model",
        "promptBytes",
        "driver",
    ),
    "notifications/status": ("status", "detail"),
    "notifications/typing": ("conversationId",),
    "notifications/log": ("level", "message", "data"),
    "notifications/progress": ("progressToken", "progress", "total", "message"),
    "notifications/cancelled": ("requestId", "reason"),
}
SOUND = {"status": "busy", "progressToken": "t", "progress": 1, "level": "info", "message": "m", "turn": "t1"}


@pytest.mark.spec("C2A-014")
@pytest.mark.parametrize("method", NOTED)
async def test_no_member_of_a_notification_ends_the_connection(stage, method):
    assert (await stage.settings(injected_per_minute=1000)).status == 200
    await stage.member("ann")
    async with stage.wire("ann") as wire:
        for member in NOTED[method]:
            for strange in STRANGE:
                params = {name: SOUND[name] for name in NOTED[method] if name in SOUND}
                await wire.say(method=method, params={**params, member: strange})
        assert await wire.call("ping") == {}
        assert wire.stray.empty()
