"""What one agent, or nobody in particular, may say to a relay without anyone else paying for it."""

import json

import pytest
from tests.relay_support import relay_with

from tacit.base.errors import Bug
from tacit.wire import frames


@pytest.mark.spec("A2ACP-002", "A2ACP-006")
@pytest.mark.parametrize("number", [-(2**63), -(2**70), 2**63, 2**70, -1, 0])
async def test_a_received_number_that_was_never_given_out_changes_nothing(tmp_path, number):
    async with relay_with(tmp_path, "mal", "bob") as (relay, mal, bob), mal, bob:
        await mal.ws.send_str(json.dumps({"frame": "received", "deliveries": [number]}))
        assert await bob.sent(mal.address)
        assert await mal.take()
        await relay.office.settle()
        assert not relay.office.store.died


async def test_a_write_that_meets_any_mistake_costs_its_caller_alone(tmp_path):
    async with relay_with(tmp_path, "bob") as (relay, bob), bob:

        def mistaken(file):
            file.execute("DELETE FROM agents")
            file.execute("SELECT ?", (2**63,))

        with pytest.raises(Bug):
            await relay.office.store.write(mistaken)
        assert await bob.sent(bob.address)
        assert relay.office.store.reader.execute("SELECT count(*) FROM agents").get == 1


@pytest.mark.spec("A2ACP-002")
async def test_a_marker_is_forgotten_by_the_one_whom_it_was_told_and_by_nobody_else(tmp_path):
    async with relay_with(tmp_path, "mal", "bob") as (relay, mal, bob), mal:
        await relay.office.mark(relay.office.agent("bob").account, "q_" + "A" * 22)
        async with bob:
            marker = await bob.hear_a(frames.QueueOverflow)
            await mal.say(frames.Received([marker.delivery]))
            await mal.sent(mal.address)
            count = "SELECT count(*) FROM markers"
            assert relay.office.store.reader.execute(count).get == 1
            await bob.say(frames.Received([marker.delivery]))
            await bob.sent(bob.address)
            await relay.office.settle()
            assert relay.office.store.reader.execute(count).get == 0
