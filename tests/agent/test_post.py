import pytest
from tests.agent_support import people_on
from tests.relay_support import Relay


@pytest.mark.spec("A2ACP-002", "A2ACP-209", "A2ACP-243")
async def test_sealed_packets_reach_a_sleeping_agent_in_order(tmp_path):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await bob.offline()
        await alice.online()
        for number in range(5):
            alice.say(bob, f"text {number}")
        await alice.sent()
        await bob.online()
        await bob.has(*[f"text {number}" for number in range(5)])
        bob.say(alice, "answer")
        await alice.has("answer")
        alice.say(bob, "again")
        await bob.has(*[f"text {number}" for number in range(5)], "again")
