"""How an agent with very many contacts starts: `python -m bench.relay start [--contacts 5000] [--seconds 10]`.

One agent has a thread and a session with each of its contacts, and a packet of somebody waits for it at a real
relay. Measured from the moment it connects: when that packet is there, when a packet of its own is accepted,
and the longest step of its loop from then on for some seconds, while threads are compared.
"""

from __future__ import annotations

import asyncio
import pathlib
import tempfile
import time
from typing import Self

import msgspec

from bench.relay import Served
from tacit.a2acp.post.io.post import Post
from tacit.base.io.system import SystemEntropy
from tacit.base.io.time_service import TimeService
from tacit.seal import identity, primitives, session, x3dh
from tests.agent_support import cleared

BODY = {
    "intent": {"category": "scheduling", "summary": "dinner", "urgency": "low"},
    "context": {"text": "hello"},
}


class Steps:
    """The longest steps of the loop, in time of the processor: others' work on the machine does not count."""

    def __init__(self) -> None:
        self.longest: list[tuple[float, str]] = []

    def __enter__(self) -> Self:
        self._run = run = asyncio.events.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            begun = time.thread_time()
            run(handle)
            took = time.thread_time() - begun
            if took > 0.005:
                self.longest.append((took, str(handle)))

        asyncio.events.Handle._run = timed
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.events.Handle._run = self._run


def befriend(post: Post, count: int, domain: str) -> None:
    """Contacts with keys, a session and an open thread each."""
    entropy, store = SystemEntropy(), post.store
    me, them = store.me().identity, identity.generate(entropy)
    signed, single = entropy.draw(32), entropy.draw(32)
    prekeys = x3dh.PublicPrekeys(
        1, primitives.agreement_public(signed), 2, primitives.agreement_public(single), x3dh.ONE_TIME
    )
    state = msgspec.msgpack.encode((session.begin(me, them.public, prekeys, entropy),))
    rows = [f"agent:contact{number}@{domain}" for number in range(count)]
    with store.transaction():
        for number, address in enumerate(rows):
            store.run(
                "INSERT INTO contacts (address, signing, agreement, serial, trust, encryption, versions, features,"
                " welcome) VALUES (?,?,?,1,'pinned','x25519-ratchet','0.2','thread_sync',1)",
                address, them.public.signing, them.public.agreement,
            )  # fmt: skip
            store.run("INSERT INTO sessions VALUES (?,?)", address, state)
            store.run("INSERT INTO threads (thread_id, peer) VALUES (?,?)", f"thr_{number:06d}", address)
            for way in ("in", "out"):
                for piece in range(5):
                    store.run(
                        "INSERT INTO history (direction, peer, packet_id, thread_id, seq, type, at, state, ready, payload)"
                        " VALUES (?,?,?,?,?,'context',?,?,NULL,?)",
                        way, address, f"pkt_{number}{way}{piece}", f"thr_{number:06d}", piece + 1,
                        int(TimeService().now()), "sent" if way == "out" else "ready", bytes(700),
                    )  # fmt: skip


async def _person(folder: pathlib.Path, served: Served, name: str) -> Post:
    post = await Post(folder / name, clock=TimeService(), entropy=SystemEntropy()).__aenter__()
    await post.directory.register(f"agent:{name}@{served.domain}", served.url, served.codes[name])
    return post


async def _until(condition) -> float:
    begun = time.perf_counter()
    while not condition():
        await asyncio.sleep(0.002)
    return time.perf_counter() - begun


async def start(contacts: int, seconds: float) -> dict:
    """Figures of one start."""
    served = Served(7545, ["anna", "ben"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        anna, ben = await _person(folder, served, "anna"), await _person(folder, served, "ben")
        for one, other in ((anna, ben), (ben, anna)):
            one.inbox.welcome(other.store.me().address)
        await anna.publish()
        befriend(anna, contacts, served.domain)
        running = asyncio.create_task(ben.connection().run())
        ben.outbox.post(cleared(anna.store.me().address, "context", BODY, thread_id="thr_waiting"))
        await _until(lambda: not ben.outbox.waiting())
        running.cancel()
        own = anna.outbox.post(cleared(ben.store.me().address, "context", BODY, thread_id="thr_ownfirst"))
        with Steps() as steps:
            connection = anna.connection()
            running = asyncio.create_task(connection.run())
            there = await _until(lambda: anna.inbox.unhandled(1))
            accepted = there + await _until(lambda: anna.outbox.pending(own) is None)
            await asyncio.sleep(seconds)
            running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        (compared,) = anna.store.row("SELECT count(*) FROM history WHERE type='thread_sync'")
        for post in (anna, ben):
            await post.__aexit__()
            post.store.close()
    served.close()
    took, what = max(steps.longest, default=(0.0, ""))
    return {
        "contacts": contacts,
        "seconds_to_first_received": round(there, 3),
        "seconds_to_own_accepted": round(accepted, 3),
        "longest_step_ms": round(took * 1000, 1),
        "longest_step": what[:120],
        "steps_over_50_ms": sum(one > 0.05 for one, _ in steps.longest),
        "threads_compared": compared,
    }
