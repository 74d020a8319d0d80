"""A repair survives SIGKILL of either side, before and after each commit that matters."""

import asyncio
import signal
import sys

import pytest

from tests.agent_support import people_on
from tests.relay_support import Relay, until

# A real `tacit agent listen` that kills itself at the first commit after which its file answers a question.
LISTEN_UNTIL_KILLED = """
import contextlib, os, signal, sys
from tacit.a2acp.post.io.store import AgentStore

question, when = sys.argv.pop(1), sys.argv.pop(1)
real = AgentStore.transaction

@contextlib.contextmanager
def transaction(self):
    hit = False
    with real(self):
        yield
        hit = self.row(question) is not None
        if hit and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
    if hit:
        os.kill(os.getpid(), signal.SIGKILL)

AgentStore.transaction = transaction
from tacit.agent.shell.commands.main import agent
agent()
"""

MOMENTS = {
    "the receipt is written": ("bob", "SELECT 1 FROM dropped WHERE state='asked'"),
    "the receipt is heard": ("alice", "SELECT 1 FROM sealings WHERE state IN ('due','repairing')"),
    "the packet is sealed again": (
        "alice",
        "SELECT 1 FROM sealings JOIN outbox USING (peer, packet_id) WHERE tries=1 AND envelope IS NOT NULL",
    ),
    "the packet has opened": ("bob", "SELECT 1 FROM dropped WHERE state='repaired'"),
    "its opening is heard": ("alice", "SELECT 1 FROM sealings WHERE state='repaired'"),
}


async def killed_at(person, question, when):
    """Listen as `person` in a process of its own until that process has killed itself."""
    words = (question, when, "--data", str(person.folder), "listen")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LISTEN_UNTIL_KILLED, *words, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.mark.spec("A2ACP-215", "A2ACP-213")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("moment", list(MOMENTS))
async def test_a_repair_goes_on_after_either_side_was_killed_and_nothing_comes_twice(tmp_path, moment, when):
    who, question = MOMENTS[moment]
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        await bob.online()
        await alice.online()
        alice.say(bob, "one")
        await bob.has("one")
        await bob.sent()
        await bob.offline()
        said = alice.say(bob, "two", thread="thr_other")
        await alice.sent()
        await alice.offline()
        with bob.post.store.transaction():
            bob.post.store.run("DELETE FROM sessions")
        victim, other = (alice, bob) if who == "alice" else (bob, alice)
        await other.online()
        await killed_at(victim, question, when)
        await victim.online()
        await until(lambda: [one.state for one in alice.post.inbox.repairs.known()] == ["repaired"])
        assert bob.texts() == ["one", "two"]
        (row,) = [one for one in bob.post.inbox.repairs.known() if one.packet_id == said]
        assert row.state == "repaired"
        assert bob.notes().count(f"packet {said} from {alice.address}: repaired") == 1
        assert alice.notes().count(f"packet {said} to {bob.address}: repaired") == 1
        await alice.sent()
        await bob.sent()
        await until(lambda: relay.mailboxes.quota.total() == (0, 0))
