"""An agent that tells which of its keys die, made to be killed: `python -m tests.a2acp.post.erasure_program FOLDER [PHRASE]`.

It answers every packet, so that its ratchets turn. A key that was there before a transaction and is nowhere after it is
written to standard output when the transaction has ended; with a PHRASE also what it was wrapped into.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import signal
import sys

from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tests.a2acp.post.test_protection import living
from tests.agent_support import body, cleared


def wrapped(store) -> set[bytes]:
    rows = store.rows("SELECT state FROM sessions UNION ALL SELECT private FROM prekeys")
    return {row[0][-32:] for row in rows}


def telling(store, *, phrase: bool):
    """The store's transactions, each of which tells whom it has buried."""
    plain = store.transaction

    def present() -> set[bytes]:
        return living(store) | (wrapped(store) if phrase else set())

    @contextlib.contextmanager
    def transaction():
        with plain():
            before = present()
            yield
        for key in before - present():
            sys.stdout.write(key.hex() + "\n")
        sys.stdout.flush()

    return transaction


async def main(folder: str, phrase: str) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    post = Post(pathlib.Path(folder), clock=TimeService(), entropy=SystemEntropy())
    if phrase:
        post.store.secrets.unlock(phrase.encode())
    post.store.transaction = telling(post.store, phrase=bool(phrase))
    changed = asyncio.Event()
    async with post:
        running = asyncio.create_task(post.connection(changed.set).run())
        while not stopped.is_set():
            arrived = post.inbox.unhandled()
            for one in arrived:
                post.outbox.post(cleared(one.peer, "context", body("heard"), thread_id=one.thread_id))
            if arrived:
                with post.store.transaction():
                    post.inbox.handled(arrived)
            changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await changed.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    post.store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], os.environ.get("ERASURE_PHRASE", "")))
