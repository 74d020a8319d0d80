"""Who gets a one-time prekey: whoever signs for it, within budgets that outlive a restart."""

import pytest

from tacit.base.moment import SECOND
from tacit.relay.settings import DAY, HOUR, MINUTE, RelayLimits
from tacit.wire import frames, records
from tacit.wire.encoding import b64
from tests.relay_support import Bare, Relay, relay_with

LIMITS = RelayLimits(
    lookups_per_minute=10_000,
    prekeys_each_a_day=3,
    prekeys_to_strangers_an_hour=5,
    prekeys_for_contacts=2,
    packets_per_minute=10_000,
    burst=10_000,
)


def prekey(person, kind, number):
    key = b64(number.to_bytes(32, "big"))
    signed = records.prekey_signed_bytes(person.address, kind, number, key)
    return {"id": number, "key": key, "sig": b64(person.me.sign(signed))}


async def stock(person, count):
    await person.say(
        frames.PrekeysFrame(
            signed=prekey(person, "signed", 1000),
            last_resort=prekey(person, "last_resort", 2000),
            one_time=[prekey(person, "one_time", number) for number in range(1, count + 1)],
        )
    )
    assert (await person.hear_a(frames.PrekeysOkFrame)).one_time == count


def left(relay):
    return relay.mailboxes.store.reader.execute("SELECT count(*) FROM prekeys WHERE kind=1").get


async def got_one(requester, owner):
    status, bundle = await requester.prekeys_of(owner)
    assert status == 200
    assert {"record", "signed", "last_resort"} <= bundle.keys()
    return "one_time" in bundle


@pytest.mark.spec("A2ACP-245")
async def test_nobody_takes_a_prekey_without_a_name_of_its_own(tmp_path):
    async with relay_with(tmp_path, "alice", "bob", limits=LIMITS) as (relay, alice, bob), bob:
        await stock(bob, 20)
        nobody = Bare(relay, "nobody")
        path, now = "/v1/agents/bob/prekeys", int(relay.clock.now())
        for body in (
            {},
            nobody.prekey_request(bob.address),
            nobody.prekey_request(bob.address, requester=alice.address),
            alice.prekey_request(alice.address),
            alice.prekey_request(bob.address, at=now - 6 * MINUTE),
            alice.prekey_request(bob.address, at=now + 6 * MINUTE),
            alice.prekey_request(bob.address, requester="no address"),
            alice.prekey_request(bob.address, at=2**70),
        ):
            status, answer = await relay.post(path, body)
            assert (status, answer["code"]) == (401, "bad_signature")
        assert left(relay) == 20
        assert (await relay.post(path, alice.prekey_request(bob.address)))[0] == 200
        assert left(relay) == 19


@pytest.mark.spec("A2ACP-245", "A2ACP-258")
async def test_very_many_requests_leave_a_stock_and_contacts_get_theirs(tmp_path):
    names = ("alice", "bob", "mallory", "trudy", "oscar")
    async with relay_with(tmp_path, *names, limits=LIMITS) as (relay, alice, bob, *strangers), bob:
        await stock(bob, 20)
        await bob.sent(alice.address)
        given = [await got_one(stranger, bob) for stranger in strangers for _ in range(10)]
        # Three a day each, five an hour together.
        assert given.count(True) == 5
        assert left(relay) == 15
        assert [await got_one(alice, bob) for _ in range(4)] == [True, True, True, False]
        relay.clock.ahead += HOUR + SECOND
        assert [await got_one(strangers[2], bob) for _ in range(4)] == [True, True, True, False]
        relay.clock.ahead += DAY
        assert await got_one(alice, bob)


@pytest.mark.spec("A2ACP-245")
async def test_the_last_of_the_stock_are_the_contacts(tmp_path):
    async with relay_with(tmp_path, "alice", "bob", "mallory", limits=LIMITS) as (relay, alice, bob, mallory):
        async with bob:
            await stock(bob, 3)
            await bob.sent(alice.address)
        assert [await got_one(mallory, bob) for _ in range(3)] == [True, False, False]
        assert [await got_one(alice, bob) for _ in range(3)] == [True, True, False]
        assert left(relay) == 0


@pytest.mark.spec("A2ACP-245", "A2ACP-258")
async def test_budgets_and_used_requests_are_known_after_a_restart(tmp_path):
    async with relay_with(tmp_path, "bob", "mallory", limits=LIMITS) as (relay, bob, mallory):
        async with bob:
            await stock(bob, 20)
        used = mallory.prekey_request(bob.address)
        assert (await relay.post("/v1/agents/bob/prekeys", used))[0] == 200
        assert await got_one(mallory, bob)
    async with Relay(tmp_path, port=relay.port, limits=LIMITS) as again:
        bob.relay = mallory.relay = again
        status, answer = await again.post("/v1/agents/bob/prekeys", used)
        assert (status, answer["code"]) == (401, "bad_signature")
        assert [await got_one(mallory, bob) for _ in range(2)] == [True, False]
        assert left(again) == 17
