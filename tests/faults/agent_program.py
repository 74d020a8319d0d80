"""An agent in a process of its own, made to be killed: `python -m tests.faults.agent_program FOLDER ROLE PEER COUNT`.

`send` writes COUNT numbered packets, each exactly once over any number of lives; `take` listens. Both run until killed.
"""

from __future__ import annotations

import asyncio
import pathlib
import sys

from tacit.a2acp.post import reception
from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.base.moment import SECOND
from tests.agent_support import body, cleared

THREAD = "thr_faults"


async def main(folder: str, role: str, peer: str, count: int) -> None:
    async with Post(pathlib.Path(folder), clock=TimeService(), entropy=SystemEntropy()) as post:
        connection = post.connection()
        running = asyncio.create_task(connection.run())
        written = post.store.row("SELECT sent_seq FROM threads WHERE thread_id=? AND peer=?", THREAD, peer)
        for number in range(written[0] if written else 0, count if role == "send" else 0):
            post.outbox.post(cleared(peer, "context", body(f"{number}"), thread_id=THREAD))
            await asyncio.sleep(0.005)
        await running


if __name__ == "__main__":
    # On a busy machine twelve lives take longer than the thirty seconds after which a gap is passed over; that
    # rule has its own test, here nothing may be passed over.
    reception.HOLD = 600 * SECOND
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
