"""What a principal and a group may append in a day; a restart forgives nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tacit.base.errors import Refused
from tacit.base.moment import SECOND, Moment
from tacit.hub.bounds.quotas import (
    CLAIM,
    DAY,
    NOTE,
    Charge,
    QuotaLimits,
    Quotas,
    charged,
    day_of,
    sort_of_call,
)
from tacit.hub.config import Limits
from tacit.ledger.io.store import StoreOptions
from tests.hub.room import running

if TYPE_CHECKING:
    from pathlib import Path

NOON = Moment(20_000 * DAY + DAY // 2)
SMALL = QuotaLimits(events=3, bytes=100, group_events=5, group_bytes=1000)


def refusal(quotas: Quotas, by: str, size: int = 1, now: Moment = NOON) -> dict[str, object]:
    with pytest.raises(Refused) as refused:
        quotas.require("g", Charge(by, size), now)
    assert refused.value.code == "rate_limited"
    return refused.value.details


def test_events_are_counted_for_a_principal_and_the_refusal_says_until_when() -> None:
    quotas = Quotas(SMALL)
    for _ in range(3):
        quotas.require("g", Charge("ada", 10), NOON)
        quotas.count("g", [Charge("ada", 10)], NOON)
    details = refusal(quotas, "ada")
    assert (details["quota"], details["limit"], details["used"]) == ("events_per_day", 3, 3)
    assert details["retry_after_s"] == DAY // 2 // SECOND
    quotas.require("g", Charge("ben", 10), NOON)
    quotas.require("other", Charge("ada", 10), NOON)
    assert quotas.refused == 1


def test_bytes_are_counted_too() -> None:
    quotas = Quotas(SMALL)
    quotas.count("g", [Charge("ada", 90)], NOON)
    quotas.require("g", Charge("ada", 10), NOON)
    assert refusal(quotas, "ada", 11)["quota"] == "bytes_per_day"


def test_a_group_has_a_quota_that_all_share_and_the_owner_is_bound_by_none() -> None:
    quotas = Quotas(SMALL)
    for by in ("ada", "ben", "system", "system", "system"):
        quotas.count("g", [Charge(by, 1)], NOON)
    assert refusal(quotas, "cleo")["quota"] == "group_events_per_day"
    quotas.require("g", Charge("user", 10**12), NOON)
    quotas.require("g", Charge("system", 10**12), NOON)


def test_a_new_day_begins_anew_and_a_clock_that_goes_back_gives_nothing() -> None:
    quotas = Quotas(SMALL)
    quotas.count("g", [Charge("ada", 1)] * 3, NOON)
    refusal(quotas, "ada")
    refusal(quotas, "ada", now=Moment(NOON - DAY))
    quotas.require("g", Charge("ada", 1), Moment(NOON + DAY))
    assert day_of(NOON) == NOON - DAY // 2


class Still:
    """A clock that stands."""

    def now(self) -> Moment:
        return NOON


async def test_a_quota_holds_at_every_door_and_over_a_restart(tmp_path: Path) -> None:
    limits = Limits(quotas=QuotaLimits(events=3))
    options = StoreOptions(clock=Still())
    async with running(tmp_path, limits=limits, options=options) as room:
        group = await room.group()
        token = await room.actor(group, "ada")
        for number in range(3):
            await room.say(group, f"word {number}", token)
        refused = await room.append(group, "chat.message", {"text": "more"}, token)
        assert (refused.status, refused.code) == (429, "rate_limited")
        assert refused.body["details"]["quota"] == "events_per_day"
        assert int(refused.headers["Retry-After"]) == DAY // 2 // SECOND
    async with running(tmp_path, limits=limits, options=options) as room:
        assert (await room.append(group, "chat.message", {"text": "more"}, token)).status == 429
        params = {"name": "chat.send_message", "arguments": {"text": "more"}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert "quota" in str((await room.post("/c2a", call, token=token)).body)
        await room.say(group, "the owner still speaks")
        assert "tacit_quota_refusals 2.0" in (await room.get("/metrics")).raw.decode()


async def test_files_have_a_quota_of_what_is_kept(tmp_path: Path) -> None:
    async with running(tmp_path, limits=Limits(quotas=QuotaLimits(blob_bytes=100))) as room:
        group = await room.group()
        ada, ben = await room.actor(group, "ada"), await room.actor(group, "ben")
        path = f"/v1/groups/{group}/blobs"
        assert (await room.call("POST", path, token=ada, data=b"x" * 100)).status == 201
        refused = await room.call("POST", path, token=ada, data=b"y")
        assert (refused.status, refused.body["details"]["quota"]) == (429, "blob_bytes")
        assert (await room.call("POST", path, token=ben, data=b"z")).status == 201
        assert (await room.call("POST", path, data=b"w")).status == 201


def test_what_the_hub_writes_because_of_a_session_counts_for_it() -> None:
    note = {"what": "log", "session": "ada"}
    assert charged("x.c2a.audit", "system", note, 9) == Charge("ada", 9, NOTE)
    assert charged("x.c2a.audit", "system", {"what": "chat.claim", "session": "ada"}, 9) == Charge("ada", 9)
    taken = {"session": "ada", "action": "take"}
    assert charged("x.c2a.claim", "system", taken, 9) == Charge("ada", 9, CLAIM)
    assert charged("x.c2a.claim", "system", {**taken, "action": "expire"}, 9) == Charge("ada", 9)
    assert charged("x.c2a.delivery", "system", {"session": "ada"}, 9) == Charge("system", 9)
    assert charged("x.c2a.audit", "ada", {"session": "ben"}, 9) == Charge("ada", 9), "nobody charges another"


@pytest.mark.parametrize(
    ("name", "arguments", "sort"),
    [
        ("chat.progress", {"progress": 1}, NOTE),
        ("chat.claim", {"eventId": "e"}, CLAIM),
        ("chat.claim", {"eventId": "e", "release": True}, ""),
        ("chat.react", {"signal": "claimed"}, CLAIM),
        ("chat.react", {"signal": "working"}, CLAIM),
        ("chat.react", {"signal": "seen"}, ""),
        ("chat.react", {"signal": ["working"]}, ""),
        ("chat.send_message", {"signal": "working"}, ""),
    ],
)
def test_a_tool_is_a_note_or_a_claim_by_what_it_would_write(
    name: str, arguments: dict[str, object], sort: str
) -> None:
    assert sort_of_call(name, arguments) == sort


@pytest.mark.parametrize("sort", [NOTE, CLAIM])
def test_notes_and_claims_have_quotas_of_their_own_and_who_is_near_is_known(sort: str) -> None:
    quotas = Quotas(QuotaLimits(notes=5, claims=5, group_notes=8, group_claims=8))
    for _ in range(4):
        quotas.count("g", [Charge("ada", 10, sort)], NOON)
    fullest = quotas.uses(NOON)[0]
    assert (fullest.principal, fullest.quota, fullest.used, fullest.share) == (
        "ada",
        f"{sort}_per_day",
        4,
        0.8,
    )
    quotas.count("g", [Charge("ada", 10, sort)], NOON)
    with pytest.raises(Refused) as refused:
        quotas.require("g", Charge("ada", 0, sort), NOON)
    assert refused.value.details["quota"] == f"{sort}_per_day"
    quotas.require("g", Charge("ada", 0), NOON)
    for _ in range(3):
        quotas.count("g", [Charge("ben", 10, sort)], NOON)
    with pytest.raises(Refused) as refused:
        quotas.require("g", Charge("ben", 0, sort), NOON)
    assert refused.value.details["quota"] == f"group_{sort}_per_day"
    assert quotas.uses(Moment(NOON + DAY)) == []


async def test_the_operator_sees_who_is_near_a_quota_and_nobody_else_does(tmp_path: Path) -> None:
    limits = Limits(quotas=QuotaLimits(events=5, blob_bytes=100))
    async with running(tmp_path, limits=limits, options=StoreOptions(clock=Still())) as room:
        group = await room.group()
        ada = await room.actor(group, "ada")
        calm = (await room.get("/v1/status")).body
        assert (calm["ready"], calm["why"], calm["quotas"]["near"]) == (True, [], [])
        for number in range(4):
            await room.say(group, f"word {number}", ada)
        assert (await room.call("POST", f"/v1/groups/{group}/blobs", token=ada, data=b"x" * 90)).status == 201
        told = (await room.get("/v1/status")).body["quotas"]
        assert [(one["principal"], one["quota"], one["used"], one["limit"]) for one in told["near"]] == [
            ("ada", "blob_bytes", 90, 100),
            ("ada", "events_per_day", 4, 5),
        ]
        assert (told["fullest"], told["refused"]) == (0.9, 0)
        assert (await room.get("/v1/status", token=ada)).status == 403
        exposed = (await room.get("/metrics")).raw.decode()
        assert 'tacit_quota_use{quota="events_per_day"} 0.8' in exposed
        assert "tacit_quotas_near 1.0" in exposed
        assert "ada" not in exposed
