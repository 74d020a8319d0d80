"""A relay restored from yesterday's copy: what it had accepted since comes all the same, first messages too."""

from __future__ import annotations

import pytest

from tacit.a2acp.post.io import epochs
from tacit.a2acp.post.io.epochs import RELAY_NOTE
from tacit.a2acp.post.io.relay_connection import RelayConnection
from tacit.base.moment import SECOND, Moment
from tacit.wire import frames
from tests.a2acp.post.test_devices import copied, restart, set_back
from tests.a2acp.post.test_keys import rotate
from tests.agent_support import people_on
from tests.relay_support import Relay, until


@pytest.mark.spec("A2ACP-213", "A2ACP-214", "A2ACP-215")
@pytest.mark.parametrize("known", ["welcome", "stranger", "acquainted"])
async def test_what_a_relay_accepted_after_its_copy_was_made_comes_all_the_same(tmp_path, known):
    async with (
        Relay(tmp_path / "relay") as relay,
        people_on(relay, tmp_path, "alice", "bob", friends=known != "stranger") as (alice, bob),
    ):
        await bob.post.publish()
        before = []
        if known == "acquainted":
            before = ["hello"]
            alice.say(bob, "hello", thread="thr_before")
            await alice.online()
            await bob.online()
            await bob.has("hello")
            bob.say(alice, "hello yourself", thread="thr_before")
            await alice.has("hello yourself")
            await alice.offline()
            await bob.offline()
        await copied(relay, tmp_path / "yesterday")
        alice.say(bob, "dinner on Friday?", thread="thr_first")
        alice.say(bob, "at eight", thread="thr_first")
        await alice.online()
        await alice.sent()
        await alice.offline()
        await set_back(relay, tmp_path / "yesterday")
        await bob.online()
        await alice.online()
        if known == "stranger":
            await until(lambda: bob.post.store.row("SELECT 1 FROM history WHERE state='asked'"))
            bob.post.inbox.welcome(alice.address)
        await bob.has(*before, "dinner on Friday?", "at eight")
        assert alice.notes().count(RELAY_NOTE) == 1
        # Told once: the relay knows again, and another login finds nothing amiss.
        await alice.offline()
        await alice.online()
        await alice.sent()
        assert alice.notes().count(RELAY_NOTE) == 1
        assert bob.texts() == [*before, "dinner on Friday?", "at eight"]


@pytest.mark.spec("A2ACP-215", "A2ACP-243")
async def test_a_relay_that_was_only_restarted_and_an_agent_with_other_keys_raise_no_alarm(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        alice.say(bob, "dinner on Friday?")
        await alice.online()
        await alice.sent()
        await alice.offline()
        await relay.server.stop()
        await restart(relay)
        await alice.online()
        await alice.offline()
        await rotate(relay, alice)
        alice.say(bob, "at eight")
        await alice.online()
        await alice.sent()
        await alice.offline()
        assert RELAY_NOTE not in alice.notes()


@pytest.mark.spec("A2ACP-215")
async def test_a_line_that_dies_before_its_last_statement_arrives_raises_no_alarm(tmp_path, monkeypatch):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.post.publish()
        for number in range(8):
            alice.say(bob, f"line {number}")
        plain_say, plain_bytes, sent, dead = RelayConnection._say, frames.packet_bytes, [], []

        async def say(self, ws, frame):
            if len(sent) == 6 and isinstance(frame, frames.StepsFrame):
                dead.append(frame)
            if not dead:
                await plain_say(self, ws, frame)

        def packet_bytes(envelope, sig):
            sent.append(envelope)
            return b'{"frame":"nothing"}' if dead else plain_bytes(envelope, sig)

        with monkeypatch.context() as patched:
            patched.setattr(RelayConnection, "_say", say)
            patched.setattr(frames, "packet_bytes", packet_bytes)
            await alice.online()
            await until(lambda: len(alice.post.outbox.waiting()) == 2)
            await alice.offline()
        assert dead
        await alice.online()
        await alice.sent()
        await alice.offline()
        assert RELAY_NOTE not in alice.notes()


def shown(steps: int) -> frames.AuthOkFrame:
    """A welcome of a relay that has seen so many steps."""
    return frames.AuthOkFrame("a", 0, 30, 0, None, steps=steps, steps_sig="", prekey_epoch=0, one_time_ids=[])


@pytest.mark.spec("A2ACP-214")
async def test_a_relay_that_pretends_to_be_set_back_is_believed_once_an_hour(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, _):
        store, now, believed = alice.post.store, relay.clock.now(), []
        for minute in range(150):
            at = Moment(now + minute * 60 * SECOND)
            with store.transaction():
                believed += [minute] if epochs.relay_is_behind(store, shown(0), at) else []
            alice.post.outbox.accepted([], 7)
        assert believed == [1, 61, 121]
        with store.transaction():
            assert not epochs.relay_is_behind(store, shown(7), Moment(at + 2**40))
        alice.post.outbox.accepted([], 0)
        assert store.setting("relay_was_told", "").endswith(" 7")


@pytest.mark.spec("A2ACP-214", "A2ACP-259")
async def test_what_is_sent_again_has_a_measure_and_goes_to_nobody_who_is_blocked(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        store, outbox = alice.post.store, alice.post.outbox
        now = relay.clock.now()
        row = (
            "INSERT INTO history (direction, peer, packet_id, thread_id, seq, type, at, state, payload)"
            " VALUES ('out',?,?,'thr_x',?,'context',?,'sent',x'7b7d')"
        )
        with store.transaction():
            for number in range(300):
                peer = f"agent:p{number}@{relay.domain}"
                store.know(peer)
                for seq in (1, 2):
                    store.run(row, peer, f"pkt_{number}_{seq}", seq, int(now))
            store.run(row, f"agent:p299@{relay.domain}", "pkt_old", 3, int(now) - 31 * 24 * 3600 * SECOND)
        alice.say(bob, "before it was blocked")
        alice.post.inbox.block(bob.address)
        with store.transaction():
            store.run("DELETE FROM outbox")
            outbox.unfetched(now)
        again = store.rows("SELECT peer, packet_id, later FROM outbox ORDER BY position")
        assert len(again) == 500 - 1
        assert {later for _, _, later in again} == {1}
        assert bob.address not in {peer for peer, _, _ in again}
        assert "pkt_old" not in {packet_id for _, packet_id, _ in again}
