"""Agents made to be killed at a chosen moment: `python -m tests.faults.aimed_program`, one JSON line a life.

Each life is a forked process of its own, on the agent's real folder and over a real socket, and ends by SIGKILL where
`aim` says (`before` or `after` the n-th commit, `accepted`: the relay has our packet and we have not written it down,
`received`: we have its packet and have not said so) or by itself when its work is done. The answer is a JSON line:
the signal that ended it, and how many commits it saw.
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import signal
import sys

from tacit.a2acp.post import reception
from tacit.a2acp.post.io.outbox import Outbox
from tacit.a2acp.post.io.post import Post
from tacit.a2acp.post.io.relay_connection import RelayConnection
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tacit.wire import frames
from tests.agent_support import arrived, body, cleared

THREAD = "thr_aimed"
PATIENCE = 60


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class AimedFile:
    """A store's connection that ends the process at one of its commits."""

    def __init__(self, file, when: str, number: int, count: int) -> None:
        self._file, self._when, self._number = file, when, number
        self._count = count

    def __getattr__(self, name):
        return getattr(self._file, name)

    def execute(self, sql, *values):
        commits = sql == "COMMIT"
        if commits:
            seen = os.pread(self._count, 8, 0)
            number = int.from_bytes(seen, "big") + 1
            os.pwrite(self._count, number.to_bytes(8, "big"), 0)
            if self._when == "before" and number == self._number:
                die()
        result = self._file.execute(sql, *values)
        if commits and self._when == "after" and number == self._number:
            die()
        return result


def take_aim(post: Post, when: str, number: int, count: int) -> None:
    post.store._file = AimedFile(post.store._file, when, number, count)
    if when == "accepted":
        Outbox.accepted = lambda *_: die()
    if when == "received":
        say = RelayConnection._say

        async def aimed(self, ws, frame):
            if isinstance(frame, frames.ReceivedFrame):
                die()
            await say(self, ws, frame)

        RelayConnection._say = aimed


async def live(order: dict, count: int) -> None:
    async with Post(pathlib.Path(order["folder"]), clock=TimeService(), entropy=SystemEntropy()) as post:
        take_aim(post, order["when"], order["number"], count)
        running = asyncio.create_task(post.connection().run())
        written = post.store.row(
            "SELECT sent_seq FROM threads WHERE thread_id=? AND peer=?", THREAD, order["peer"]
        )
        if order["role"] == "send":
            for number in range(written[0] if written else 0, order["count"]):
                post.outbox.post(cleared(order["peer"], "context", body(f"{number}"), thread_id=THREAD))
        async with asyncio.timeout(PATIENCE):
            while post.outbox.waiting() if order["role"] == "send" else len(arrived(post)) < order["count"]:
                await asyncio.sleep(0.005)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def main() -> None:
    reception.HOLD = 600 * SECOND
    for line in sys.stdin:
        count = os.memfd_create("commits")
        child = os.fork()
        if child == 0:
            asyncio.run(live(json.loads(line), count))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        commits = int.from_bytes(os.pread(count, 8, 0), "big")
        os.close(count)
        ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        sys.stdout.write(json.dumps({"signal": ended, "commits": commits}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
