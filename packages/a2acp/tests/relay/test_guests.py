"""Guests' links at the relay: who may do what with one, and how much of it (A2ACP-276, A2ACP-277)."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from tacit.base.io.system import SystemEntropy
from tacit.relay.settings import DAY, RelayLimits
from tacit.wire import frames, guests
from tacit.wire.encoding import b64
from tests.relay_support import Bare, Relay, relay_with

GUEST = "abcdefghijklmnopqrstuvwxy2"
PROOF = bytes(range(32))
SEALED = bytes(guests.OVERHEAD + guests.STEP)
EASY = RelayLimits(guest_requests_per_minute=10_000)


def signed(agent: Bare, do: str, *, guest: str = GUEST, relay: str = "", **more) -> dict:
    """A command about a link as an agent signs it; `forged` is changed afterwards."""
    forged = more.pop("forged", {})
    at = more.pop("at", int(agent.relay.clock.now()))
    nonce = b64(SystemEntropy().draw(12))
    owner = more.pop("owner", agent.address)
    command = guests.GuestCommand(owner, at, nonce, do, guest, **more)
    sig = agent.me.sign(guests.signed_bytes(relay or agent.relay.domain, command))
    fields = {name: getattr(command, name) for name in command.__struct_fields__}
    return {**fields, "sig": b64(sig), **forged}


def opening(agent: Bare, *, days: float = 7, question: bytes = SEALED, **more) -> dict:
    until = int(agent.relay.clock.now() + days * DAY)
    digest = b64(hashlib.sha256(PROOF).digest())
    fields = {"until": until, "question": b64(question), "proof_digest": digest, **more}
    return signed(agent, guests.OPEN, **fields)


async def told(relay: Relay, command: dict) -> tuple[int, dict]:
    return await relay.post("/v1/guests", command)


async def submitted(relay: Relay, body: bytes | int = 0, *, proof: bytes = PROOF, guest: str = GUEST, **raw):
    sealed = body if isinstance(body, bytes) else body.to_bytes(4, "big") + SEALED[4:]
    given = {"proof": b64(proof), "answer": b64(sealed), **raw}
    return await relay.post(f"/v1/guests/{guest}/answers", given)


@pytest.mark.spec("A2ACP-276", "A2ACP-277")
async def test_a_link_takes_twenty_answers_also_over_a_restart_and_hands_them_out_in_order(tmp_path):
    async with relay_with(tmp_path, "anna", limits=EASY) as (relay, anna):
        assert (await told(relay, opening(anna)))[0] == 200
        for number in range(12):
            assert await submitted(relay, number) == (200, {"left": 19 - number})
        # The same bytes again are the same answer.
        assert await submitted(relay, 3) == (200, {"left": 8})
    async with Relay(tmp_path, port=relay.port, limits=EASY) as again:
        anna.relay = again
        for number in range(12, 20):
            assert (await submitted(again, number))[0] == 200
        status, refused = await submitted(again, 20)
        assert (status, refused["code"]) == (429, "too_many_answers")
        assert await submitted(again, 19) == (200, {"left": 0})
        taken = []
        while True:
            status, found = await told(again, signed(anna, guests.FETCH, after=len(taken)))
            assert status == 200
            if not found.get("answers"):
                break
            assert len(found["answers"]) <= guests.AT_ONCE
            taken += [one["number"] for one in found["answers"]]
        assert taken == list(range(1, 21))
        # What the agent has is gone from the file, and counts all the same.
        held = again.mailboxes.store.reader.execute("SELECT count(*), sum(length(sealed)) FROM guest_answers")
        assert held.fetchone() == (20, 0)
        assert (await submitted(again, 21))[0] == 429


@pytest.mark.spec("A2ACP-277")
async def test_a_link_that_is_unknown_unproved_over_or_revoked_is_one_and_the_same(tmp_path):
    async with relay_with(tmp_path, "anna", limits=EASY) as (relay, anna):
        await told(relay, opening(anna, days=1))
        await told(relay, opening(anna, guest="b" * 26))
        await told(relay, signed(anna, guests.REVOKE, guest="b" * 26))
        for what, body in (("question", {}), ("answers", {"answer": b64(SEALED)})):

            async def tried(guest: str, proof: bytes, what=what, body=body):
                return await relay.post(f"/v1/guests/{guest}/{what}", {"proof": b64(proof), **body})

            unknown = await tried("z" * 26, PROOF)
            assert unknown[0] == 404
            assert await tried(GUEST, bytes(32)) == unknown
            assert await tried("b" * 26, PROOF) == unknown
            assert await tried("SHORT", PROOF) == unknown
            assert (await tried(GUEST, PROOF))[0] == 200
        relay.clock.ahead += DAY
        assert await relay.post(f"/v1/guests/{GUEST}/question", {"proof": b64(PROOF)}) == unknown
        assert await submitted(relay, 9) == unknown
        # A revoked question is no longer on the disk.
        (left,) = relay.mailboxes.store.reader.execute(
            "SELECT length(question) FROM guests WHERE guest=?", ("b" * 26,)
        ).fetchone()
        assert left == 0


@pytest.mark.spec("A2ACP-276")
async def test_only_the_account_that_made_a_link_speaks_for_it_and_only_by_its_signature(tmp_path):
    async with relay_with(tmp_path, "anna", "mallory", limits=EASY) as (relay, anna, mallory):
        await told(relay, opening(anna))
        await submitted(relay, 1)
        for bad in (
            signed(anna, guests.FETCH, forged={"sig": b64(bytes(64))}),
            signed(anna, guests.FETCH, forged={"after": 1}),
            signed(mallory, guests.FETCH, owner=anna.address),
            signed(anna, guests.FETCH, relay="elsewhere.example"),
            signed(anna, guests.FETCH, at=int(relay.clock.now()) - 6 * 60 * 10**6),
            signed(anna, guests.FETCH, owner="agent:nobody@" + relay.domain),
            signed(anna, guests.FETCH, owner="x"),
        ):
            status, refused = await told(relay, bad)
            assert (status, refused["code"]) == (401, "bad_signature")
        for do in (guests.FETCH, guests.REVOKE):
            assert (await told(relay, signed(mallory, do)))[0] == 404
        assert (await told(relay, opening(mallory)))[0] == 400
        assert len((await told(relay, signed(anna, guests.FETCH)))[1]["answers"]) == 1
        # The same opening again changes nothing, another question under the id is refused.
        assert (await told(relay, opening(anna)))[0] == 200
        assert (await told(relay, opening(anna, question=b"\1" + SEALED[1:])))[0] == 400


@pytest.mark.spec("A2ACP-277")
async def test_sizes_days_and_numbers_are_bounded_and_what_is_not_json_is_refused(tmp_path):
    limits = RelayLimits(guest_requests_per_minute=10_000, guests_open=2, guests_a_week=4)
    async with relay_with(tmp_path, "anna", limits=limits) as (relay, anna):
        for wrong in (
            opening(anna, days=7.01),
            opening(anna, days=-1),
            opening(anna, question=bytes(guests.OVERHEAD + guests.LARGEST_QUESTION + guests.STEP)),
            opening(anna, question=b"short"),
            opening(anna, guest="SHOUTED" * 4),
            opening(anna, proof_digest="x"),
            {**opening(anna), "do": "read"},
            {"owner": 3},
        ):
            assert (await told(relay, wrong))[0] in {400, 401, 413}
        await told(relay, opening(anna))
        assert (await submitted(relay, bytes(guests.OVERHEAD + guests.LARGEST_ANSWER + guests.STEP)))[
            0
        ] == 413
        assert (await submitted(relay, b"tiny"))[0] == 413
        place = f"{relay.url}/v1/guests/{GUEST}/answers"
        for data, kind, expected in (
            (b"not json", "application/json", 400),
            (b"[1]", "application/json", 400),
            (b'{"proof": 5}', "application/json", 400),
            (b"proof=x", "application/x-www-form-urlencoded", 400),
            (b"x" * (guests.LARGEST_SUBMISSION + 1), "application/json", 413),
        ):
            async with relay.http.post(place, data=data, headers={"Content-Type": kind}) as response:
                assert response.status == expected
        # Open ones, and begun in a week though revoked: both are counted on disk.
        assert (await told(relay, opening(anna, guest="b" * 26)))[0] == 200
        assert (await told(relay, opening(anna, guest="c" * 26)))[0] == 429
        await told(relay, signed(anna, guests.REVOKE))
        await told(relay, signed(anna, guests.REVOKE, guest="b" * 26))
        for name in ("c" * 26, "d" * 26):
            assert (await told(relay, opening(anna, guest=name)))[0] == 200
            await told(relay, signed(anna, guests.REVOKE, guest=name))
        assert (await told(relay, opening(anna, guest="e" * 26)))[0] == 429


@pytest.mark.spec("A2ACP-277")
async def test_one_source_is_slowed_down_before_anything_is_looked_up(tmp_path):
    limits = RelayLimits(guest_requests_per_minute=3)
    async with relay_with(tmp_path, "anna", limits=limits) as (relay, anna):
        await told(relay, opening(anna))
        for _ in range(500):
            status, _said = await submitted(relay, 1, proof=bytes(32))
            if status == 429:
                break
            assert status == 404
        assert status == 429
        relay.clock.ahead += 60 * 10**6
        assert (await submitted(relay, 1))[0] == 200


@pytest.mark.spec("A2ACP-277")
async def test_what_is_past_its_time_goes_from_the_file_and_a_deleted_account_takes_its_links_along(tmp_path):
    async with relay_with(tmp_path, "anna", "ben", limits=EASY) as (relay, anna, ben):
        await told(relay, opening(anna))
        await told(relay, opening(ben, guest="b" * 26))
        await submitted(relay, 1)
        await submitted(relay, 1, guest="b" * 26)
        reader = relay.mailboxes.store.reader

        def rows() -> list:
            sql = "SELECT (SELECT sum(length(question)) FROM guests), (SELECT count(*) FROM guest_answers)"
            return list(reader.execute(sql).fetchone())

        relay.clock.ahead += 8 * DAY
        await relay.mailboxes.expire()
        assert rows() == [0, 2]
        assert len((await told(relay, signed(anna, guests.FETCH)))[1]["answers"]) == 1
        from tacit.relay.io import registry

        account = registry.account_of(reader, "ben")[0]
        await relay.mailboxes.store.write(lambda file: registry.delete_account(file, account, ben.address))
        assert rows() == [0, 1]
        relay.clock.ahead += 30 * DAY
        await relay.mailboxes.expire()
        assert rows() == [None, 0]


@pytest.mark.spec("A2ACP-276")
async def test_a_connected_agent_hears_that_there_is_an_answer_and_nothing_else(tmp_path):
    async with relay_with(tmp_path, "anna", limits=EASY) as (relay, anna):
        await told(relay, opening(anna))
        async with anna:
            await submitted(relay, 1)
            notice = await asyncio.wait_for(anna.hear_a(frames.NoticeFrame), 60)
            assert notice.kind == frames.GUEST_ANSWERED


@pytest.mark.spec("A2ACP-276")
async def test_the_page_is_the_same_for_every_link_and_may_load_nothing_from_elsewhere(tmp_path):
    async with Relay(tmp_path) as relay:
        async with relay.http.get(f"{relay.url}/g/{GUEST}") as response:
            page, policy = await response.text(), response.headers["Content-Security-Policy"]
            assert response.headers["Referrer-Policy"] == "no-referrer"
            assert "noindex" in response.headers["X-Robots-Tag"]
        async with relay.http.get(f"{relay.url}/g/{'z' * 26}") as response:
            assert await response.text() == page
        parts = dict(one.strip().split(" ", 1) for one in policy.split(";"))
        assert parts["default-src"] == "'none'"
        assert {parts[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
        assert "http://" not in page
        assert "https://" not in page
        assert "changed page" in page
        for name in ("guest.js", "guest.css"):
            status, text = await relay.get(f"/guest/{name}")
            assert status == 200
            assert b"://" not in text
        assert (await relay.get("/guest/join.html"))[0] == 404
