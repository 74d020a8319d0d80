"""SIGKILL where it hurts: at every commit of sender and receiver, and between a packet's upload and its acceptance."""

import asyncio
import contextlib
import json
import signal
import sys

import pytest

from tacit.a2acp.packets.packet import read
from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tests.agent_support import arrived, people_on
from tests.relay_support import Relay


class Lives:
    """A process that starts agents, one life after the other."""

    async def __aenter__(self):
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.aimed_program",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        return self

    async def __aexit__(self, *_):
        self._process.stdin.close()
        await self._process.wait()

    async def live(self, who, role, count, when="never", number=0):
        order = {
            "folder": str(who.folder), "role": role, "peer": who.peer, "count": count, "when": when, "number": number,
        }  # fmt: skip
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        answer = json.loads(await self._process.stdout.readline())
        assert answer["signal"] in {0, signal.SIGKILL}, answer
        return answer


@contextlib.asynccontextmanager
async def two(tmp_path):
    """Alice and bob on a relay, their folders left to others."""
    async with Relay(tmp_path / "relay") as relay, Lives() as lives:
        async with people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
            alice.peer, bob.peer = bob.address, alice.address
            await bob.post.publish()
            await alice.post.publish()
        yield lives, alice, bob


def texts(who):
    post = Post(who.folder, clock=TimeService(), entropy=SystemEntropy())
    try:
        return [read(one.payload).fields["context"]["text"] for one in arrived(post)]
    finally:
        post.store.close()


async def aimed_lives(lives, alice, bob, role, aims):
    """One life for each aim, each with two packets of work; how many were sent in all, and where one died."""
    sent, fell = 0, []
    for when, number in aims:
        sent += 2
        if role == "send":
            end = await lives.live(alice, "send", sent, when, number)
        else:
            await lives.live(alice, "send", sent)
            end = await lives.live(bob, "take", sent, when, number)
        if end["signal"] == 0:
            break
        fell.append((when, number))
    await lives.live(alice, "send", sent)
    await lives.live(bob, "take", sent)
    return sent, fell


@pytest.mark.spec("A2ACP-209", "A2ACP-212", "A2ACP-215")
@pytest.mark.parametrize("role", ["send", "take"])
async def test_a_kill_at_each_of_the_first_commits_loses_and_doubles_nothing(tmp_path, role):
    async with two(tmp_path) as (lives, alice, bob):
        aims = [(("before", "after")[number % 2], number) for number in range(1, 7)]
        sent, fell = await aimed_lives(lives, alice, bob, role, aims)
        assert len(fell) >= 4
        assert texts(bob) == [f"{number}" for number in range(sent)]


@pytest.mark.soak
@pytest.mark.spec("A2ACP-209", "A2ACP-212", "A2ACP-215")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("role", ["send", "take"])
async def test_a_kill_at_every_commit_loses_and_doubles_nothing(tmp_path, role, when):
    async with two(tmp_path) as (lives, alice, bob):
        sent, fell = await aimed_lives(lives, alice, bob, role, [(when, number) for number in range(1, 100)])
        assert len(fell) < 99, "no life was long enough to have every commit aimed at"
        assert texts(bob) == [f"{number}" for number in range(sent)]


@pytest.mark.spec("A2ACP-215", "A2ACP-212")
async def test_a_sender_killed_between_upload_and_acceptance_sends_again_and_the_packet_arrives_once(
    tmp_path,
):
    async with two(tmp_path) as (lives, alice, bob):
        for sent in (1, 2, 3):
            end = await lives.live(alice, "send", sent, "accepted")
            assert end["signal"] == signal.SIGKILL
        await lives.live(bob, "take", 1)
        await lives.live(alice, "send", 3)
        await lives.live(bob, "take", 3)
        assert texts(bob) == ["0", "1", "2"]


@pytest.mark.spec("A2ACP-209", "A2ACP-212")
async def test_a_receiver_killed_before_it_says_received_gets_the_packet_again_and_hands_it_on_once(tmp_path):
    async with two(tmp_path) as (lives, alice, bob):
        for sent in (1, 2, 3):
            await lives.live(alice, "send", sent)
            end = await lives.live(bob, "take", sent + 1, "received")
            assert end["signal"] == signal.SIGKILL
        await lives.live(bob, "take", 3)
        assert texts(bob) == ["0", "1", "2"]
