"""Prekeys and sessions have ages and counts: what is past them is destroyed, what may still come opens."""

import pytest

from tacit.a2acp.post.io import prekeys, purging
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import Moment
from tacit.seal import limits, session, x3dh
from tacit.seal.limits import DAY
from tests.a2acp.post.test_erasure import found_in, secrets_of
from tests.agent_support import people_on
from tests.relay_support import Relay, until


def pair(tmp_path, relay, **more):
    return people_on(relay, tmp_path, "alice", "bob", **more)


def one_time(person):
    return person.post.store.rows(
        "SELECT id, private, made_at, replaced_at FROM prekeys WHERE kind=?", x3dh.ONE_TIME
    )


def restock(person, left, held=None):
    confirmed = person.post.clock.confirmed()
    return prekeys.restock(
        person.post.store, person.relay.clock, SystemEntropy(), left, held, confirmed=confirmed
    )


def forget(person):
    with person.post.store.transaction():
        now = person.relay.clock.now()
        purging.forget_expired(person.post.store, now, now)


@pytest.mark.spec("A2ACP-245", "A2ACP-257")
async def test_however_often_one_time_keys_are_taken_no_more_than_a_thousand_are_kept(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        for _ in range(20):
            restock(alice, 0)
        assert len(one_time(alice)) == limits.MAX_ONE_TIME
        # Without room nothing is said at all: the last-resort key serves, and nobody is kept busy.
        assert restock(alice, 0) is None
        first = {row[0] for row in one_time(alice)}
        relay.clock.ahead += limits.CROWDED_OUT_AFTER + DAY // 2
        frame = restock(alice, 0)
        assert frame is not None
        assert frame.reset
        assert len(frame.one_time) == limits.STOCK
        assert len(one_time(alice)) == limits.STOCK
        assert not first & {row[0] for row in one_time(alice)}


@pytest.mark.spec("A2ACP-245")
async def test_a_stock_nobody_uses_is_replaced_as_a_whole_and_destroyed_two_months_later(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        assert await alice.post.publish()
        before = {row[0]: row[1] for row in one_time(alice)}
        relay.clock.ahead += limits.ONE_TIME_RENEWED + DAY
        handed_out = await bob.post.directory.prekeys(alice.address)
        assert await alice.post.publish()
        fresh = await bob.post.directory.prekeys(alice.address)
        assert handed_out.single_id in before
        assert fresh.single_id not in before
        # A first packet for what was handed out may still come.
        assert alice.post.store.single(x3dh.ONE_TIME, handed_out.single_id) == before[handed_out.single_id]
        relay.clock.ahead += limits.REPLACED_KEPT + DAY
        forget(alice)
        assert not found_in(alice.folder, before.values())
        assert alice.post.store.single(x3dh.ONE_TIME, fresh.single_id) is not None


@pytest.mark.spec("A2ACP-245", "A2ACP-219")
async def test_a_first_packet_for_one_who_slept_longer_than_keys_are_kept_opens(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        assert await alice.post.publish()
        relay.clock.ahead += limits.REPLACED_KEPT + 5 * DAY
        await bob.online()
        bob.say(alice, "are you awake?")
        await bob.sent()
        relay.clock.ahead += 5 * DAY
        await alice.online()
        await alice.has("are you awake?")


@pytest.mark.spec("A2ACP-245")
async def test_after_a_lost_upload_the_relay_hands_out_nothing_of_before(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        assert await alice.post.publish()
        at_the_relay = {row[0] for row in one_time(alice)}
        relay.clock.ahead += limits.ONE_TIME_RENEWED + DAY
        lost = restock(alice, limits.STOCK)
        assert lost.reset
        assert await alice.post.publish()
        fresh = await bob.post.directory.prekeys(alice.address)
        assert fresh.single_id not in at_the_relay | {one["id"] for one in lost.one_time}


@pytest.mark.spec("A2ACP-245", "A2ACP-212")
async def test_sessions_and_skipped_keys_past_their_time_are_in_no_byte_of_the_folder(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        for number in range(3):
            alice.say(bob, f"line {number}")
        await bob.has("line 0", "line 1", "line 2")
        await alice.sent()
        await alice.offline()
        await bob.offline()
        # Two more of the same chain that Bob never gets, and a third that he does.
        store = alice.post.store
        (towards_bob,) = store.sessions(bob.address)
        ahead = towards_bob.ratchet
        for _ in range(2):
            ahead, _ = session.ratchet.seal(ahead, b"lost", b"", SystemEntropy().draw(24))
        with store.transaction():
            store.set_sessions(bob.address, (session.replace(towards_bob, ratchet=ahead),))
        await bob.online()
        await alice.online()
        alice.say(bob, "after two lost")
        await bob.has("line 0", "line 1", "line 2", "after two lost")
        skipped = {
            one.message_key for each in bob.post.store.sessions(alice.address) for one in each.ratchet.skipped
        }
        assert len(skipped) == 2
        assert found_in(bob.folder, skipped)
        await alice.offline()
        await bob.offline()
        relay.clock.ahead += limits.SKIPPED_KEPT
        forget(bob)
        assert bob.post.store.sessions(alice.address)
        assert not found_in(bob.folder, skipped)


@pytest.mark.spec("A2ACP-245", "A2ACP-212")
async def test_an_opening_without_an_answer_goes_and_the_next_packet_begins_another_session(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        assert await bob.post.publish()
        await alice.online()
        alice.say(bob, "hello")
        await alice.sent()
        await alice.offline()
        store = alice.post.store
        first_flight = secrets_of(store.sessions(bob.address))
        assert len(found_in(alice.folder, first_flight)) == len(first_flight)
        relay.clock.ahead += limits.FIRST_FLIGHT_KEPT
        forget(alice)
        assert store.sessions(bob.address) == ()
        assert not found_in(alice.folder, first_flight)
        await bob.online()
        await alice.online()
        alice.say(bob, "begun anew", thread="thr_other")
        await bob.has("hello", "begun anew")


@pytest.mark.spec("A2ACP-245")
async def test_no_packet_is_sealed_under_an_opening_that_is_about_to_go(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        assert await bob.post.publish()
        await alice.online()
        alice.say(bob, "hello")
        await alice.sent()
        (first,) = alice.post.store.sessions(bob.address)
        relay.clock.ahead += limits.FIRST_FLIGHT_KEPT
        alice.say(bob, "anybody there?", thread="thr_other")
        await alice.sent()
        (second,) = alice.post.store.sessions(bob.address)
        assert second.ephemeral != first.ephemeral
        await bob.online()
        await until(lambda: "anybody there?" in bob.texts())
        bob.say(alice, "yes", thread="thr_other")
        await until(lambda: "yes" in alice.texts())


async def test_sessions_of_thousands_of_contacts_are_looked_at_page_by_page(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "hello")
        await bob.has("hello")
        await alice.sent()
        await alice.offline()
        store = alice.post.store
        sessions = store.sessions(bob.address)
        everybody = [f"agent:a{number:04d}@{relay.domain}" for number in range(2 * purging.PAGE)]
        with store.transaction():
            for address in everybody:
                store.set_sessions(address, sessions)
        relay.clock.ahead += limits.FIRST_FLIGHT_KEPT
        left = []
        for _ in range(3):
            forget(alice)
            left.append(sum(bool(store.sessions(address)) for address in [*everybody, bob.address]))
        assert left == [purging.PAGE + 1, 1, 0]


async def test_the_relays_time_at_a_login_ends_the_doubt_of_a_clock_that_it_agrees_with(tmp_path):
    async with Relay(tmp_path / "relay") as relay, pair(tmp_path, relay) as (alice, _):
        watch = alice.post.inbox.clock
        watch.witness(Moment(relay.clock.now() - 91 * DAY))
        assert watch.doubt()
        assert await alice.post.publish()
        assert not watch.doubt()
        # A relay that doubts its own clock is no witness.
        relay.mailboxes.clock.witness(Moment(relay.clock.now() - 91 * DAY))
        watch.witness(Moment(relay.clock.now() - 91 * DAY))
        assert await alice.post.publish()
        assert watch.doubt()
