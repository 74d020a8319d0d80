"""A relay restored from yesterday's copy: what it had accepted since comes all the same, first messages too."""

from __future__ import annotations

import pytest
from tests.agent.test_devices import copied, restart, set_back
from tests.agent.test_keys import rotate
from tests.agent_support import people_on
from tests.relay_support import Relay, until

from tacit.agent.io.rollback import RELAY_NOTE


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
