"""A real process, killed with SIGKILL in the middle of its work: what it had destroyed by then is in no byte it left."""

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import dataclass, field

import pytest

from tests.a2acp.post.test_erasure import found_in
from tests.a2acp.post.test_protection import PHRASE, protect
from tests.agent_support import people_on
from tests.relay_support import Relay, until


@dataclass
class Life:
    """One life of the process, and the keys that have died in it."""

    process: asyncio.subprocess.Process
    dead: set[bytes]
    reading: asyncio.Task = field(init=False)

    def __post_init__(self):
        self.reading = asyncio.create_task(self._read())

    async def _read(self):
        while line := await self.process.stdout.readline():
            self.dead.add(bytes.fromhex(line.decode().strip()))

    async def end(self, by: signal.Signals) -> int:
        self.process.send_signal(by)
        code = await asyncio.wait_for(self.process.wait(), 60)
        await self.reading
        return code


@contextlib.asynccontextmanager
async def living(folder, dead, *phrase):
    """A life that ends with the test at the latest."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.a2acp.post.erasure_program",
        str(folder),
        env={**os.environ, "ERASURE_PHRASE": "".join(phrase)},
        stdout=asyncio.subprocess.PIPE,
    )
    life = Life(process, dead)
    try:
        yield life
    finally:
        if process.returncode is None:
            await life.end(signal.SIGKILL)


@pytest.mark.spec("A2ACP-245", "A2ACP-212")
@pytest.mark.parametrize(
    "phrase",
    [pytest.param((), id="plain", marks=pytest.mark.soak), pytest.param((PHRASE.decode(),), id="protected")],
)
async def test_no_key_destroyed_by_a_process_is_left_while_it_runs_after_a_kill_or_after_its_exit(
    tmp_path, phrase
):
    async with Relay(tmp_path / "relay") as relay, people_on(relay, tmp_path, "alice", "bob") as (alice, bob):
        if phrase:
            protect(bob.post.store)
        bob.post.store.close()
        await alice.online()
        dead: set[bytes] = set()
        said = 0
        for life in range(3):
            async with living(bob.folder, dead, *phrase) as bobs:
                known = len(dead)
                for _ in range(4):
                    alice.say(bob, f"line {said}")
                    said += 1
                    await until(lambda known=known: len(dead) > known)
                    known = len(dead)
                    assert not found_in(bob.folder, set(dead)), "while it runs"
                if life < 2:
                    # More comes while it dies, so that the kill meets it at work.
                    for _ in range(8):
                        alice.say(bob, f"line {said}")
                        said += 1
                    await until(lambda known=known: len(dead) > known)
                    assert await bobs.end(signal.SIGKILL) == -signal.SIGKILL
                else:
                    # Killed between an answer and its note that it has answered, it answers twice.
                    await until(lambda said=said: len(alice.texts()) >= said)
                    assert await bobs.end(signal.SIGTERM) == 0
            assert not found_in(bob.folder, dead), "after its end"
        # Every wait above was for one more: four in each life, and one before each kill.
        assert len(dead) >= 14
        assert set(alice.texts()) == {"heard"}
